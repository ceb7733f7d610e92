//! Races: predicts them, makes them real, separates harmful from harmless ones, and proves others impossible.
//!
//! **Input**: a program with its machine and its form ([`Model`](cssame_model::Model)), a [`Request`], and a budget. **Output**:
//! [`Findings`]: every pair of places that may race, with a verdict and an execution that shows it; all failures and deadlocks
//! that occurred. [`report`] adds names to them.
//!
//! **Algorithm** (Sen, "Race directed random testing of concurrent programs", 2008; docs/races.md lists the deviations).
//!
//! 1. `predict`: pairs that may race, from executions under the hybrid detector (`hybrid`), and from the text.
//! 2. `trials`: for each pair, random executions that are directed at it (`directed`).
//! 3. [`races`](cssame_explore::races()): all states, if there are not too many.
//! 4. `judge`: the verdict of each pair.
//!
//! Drivers close a file without `main` (`library`), and each driver is analysed in this way.
//!
//! **Soundness and limits**: every real race has an execution. Every impossible race has a proof. The answer is the same for any
//! number of cores, unless the time runs out.

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
pub use library::{DriverFindings, Library, fails_alone, find_in_drivers};
pub use place::{Place, PlaceId, PlacePair, Places};
pub use predict::{Means, Potential, Prediction, PredictionRequest, predict};
pub use scene::{Actor, Scene, scene};
pub use trials::{HitExecution, PairAim, PairTrials, TrialRequest, direct_at};
