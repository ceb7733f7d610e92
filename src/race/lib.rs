//! Races: predicted, made real, told apart from harmless ones, and proven impossible.
//!
//! **Input**: a program with its machine and its form ([`Model`](cssame_model::Model)), what is asked for
//! ([`Request`]), and a budget. **Output**: [`Findings`]: every pair of places that may race, with a verdict and an
//! execution that shows it; all failures and deadlocks that were met. [`report`] gives names to them.
//!
//! **Algorithm** (Sen, "Race directed random testing of concurrent programs", 2008; docs/races.md has the deviations).
//!
//! 1. `predict`: pairs that may race, from executions that the hybrid detector watches (`hybrid`), and from the text.
//! 2. `trials`: for each pair, executions at random that are directed at it (`directed`).
//! 3. [`races`](cssame_explore::races()): all states, if there are not too many.
//! 4. `judge`: the verdict of each pair.
//!
//! A file without `main` is closed by drivers (`library`), and each of them is looked at so.
//!
//! **Soundness and limits**: what is real has an execution. What is impossible was proven so. The answer is the same
//! for any number of cores, unless the time is up.

mod aim;
mod compare;
mod directed;
mod ends;
mod find;
mod hold;
mod hybrid;
mod judge;
mod library;
mod place;
mod predict;
pub mod report;
mod scene;
mod trials;

pub use aim::{Aim, AimFinding, Target, aims, direct_at_aim};
pub use compare::{Comparison, Contender, Granularity, PairRow, watch_pairs};
pub use directed::{Goal, Hits, RaceDirected, Sides, seed_of};
pub use ends::{BadEnd, BadEnds, EndKey, Origin};
pub use find::{Findings, Request, Scope, States, Timing, find};
pub use hold::{Hold, Rule};
pub use hybrid::{HybridDetector, Predicted};
pub use judge::{PairFinding, Proof, Status, Witness};
pub use library::{DriverFindings, Library, find_in_drivers};
pub use place::{Place, PlaceId, PlacePair, Places};
pub use predict::{Means, Potential, Prediction, PredictionRequest, predict};
pub use scene::{Actor, Scene, scene};
pub use trials::{HitExecution, PairAim, PairTrials, TrialRequest, direct_at};
