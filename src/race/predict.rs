//! Phase 1: predicts which pairs of places may race.
//!
//! **Input**: a program, a number of random executions, and the result of the static analysis. **Output**: [`Prediction`]: the
//! pairs of places, their accesses, and the observations of them; also the failures and deadlocks that occurred.
//!
//! **Algorithm**: the [`HybridDetector`] watches each execution. The pairs of all executions are united with those of the static
//! analysis.
//!
//! **Soundness and limits**: the static analysis contains every race; executions contain only the races that they reach. The
//! pairs found do not depend on the number of cores.

use super::ends::{BadEnd, BadEnds, Origin};
use super::hybrid::{HybridDetector, Predicted};
use super::place::{PlacePair, Places};
use cssame_budget::{Bound, Budget};
use cssame_form::Form;
use cssame_form::races::potential_races;
use cssame_ir::sync::Mode;
use cssame_ir::{Access, LeafId, Program};
use cssame_schedule::{ExecutionStatus, Experiment, Random, Trial, Trials, TrialsEnd};
use cssame_vm::{Cell, Machine};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How pairs are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Means {
    /// From executions alone.
    Dynamic,
    /// From the text alone.
    Static,
    /// From both.
    #[default]
    Both,
}

impl Means {
    /// Whether executions are watched.
    #[must_use]
    pub fn has_executions(self) -> bool {
        self != Means::Static
    }

    /// Whether the static analysis is asked.
    #[must_use]
    pub fn has_analysis(self) -> bool {
        self != Means::Dynamic
    }

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Means::Dynamic => "dynamic",
            Means::Static => "static",
            Means::Both => "both",
        }
    }
}

/// One side of a pair, as it was seen in an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenSide {
    /// Its thread.
    pub thread: String,
    /// The locks that it held.
    pub locks: Vec<(Cell, Mode)>,
}

/// What is predicted of a pair of places.
#[derive(Clone, Debug, Default)]
pub struct Potential {
    /// The accesses that may race, the one at the first place first, sorted.
    pub accesses: Vec<[Access; 2]>,
    /// The variables that they may race for, sorted.
    pub variables: Vec<LeafId>,
    /// The first time that it was seen: both sides, in the order of the places.
    pub seen: Option<[SeenSide; 2]>,
    /// Whether an atomic access was seen to race with one that is not.
    pub mixed: bool,
    /// Whether the static analysis has it.
    pub is_static: bool,
}

/// The pairs that may race, in text order.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// By pair of places.
    pub pairs: BTreeMap<PlacePair, Potential>,
    /// Failures and deadlocks of the executions.
    pub ends: BadEnds,
    /// Executions that were watched, but for those that are discarded.
    pub executions: u64,
    /// How many of them have failed or ended in a deadlock.
    pub failed: u64,
    /// How many were cut after as many steps as are allowed.
    pub cut: u64,
    /// Steps of the longest one.
    pub longest: u32,
    /// The bound that has stopped them.
    pub bound: Option<Bound>,
}

impl Prediction {
    /// The pair of two accesses; none where one of them is an initial definition.
    fn pair(&mut self, places: &Places, accesses: [Access; 2]) -> Option<(&mut Potential, bool)> {
        let (pair, turned) = places.pair(accesses)?;
        let potential = self.pairs.entry(pair).or_default();
        let oriented = if turned { [accesses[1], accesses[0]] } else { accesses };
        if let Err(place) = potential.accesses.binary_search(&oriented) {
            potential.accesses.insert(place, oriented);
        }
        Some((potential, turned))
    }

    /// Adds a pair of the static analysis, or of a search.
    pub fn add(&mut self, places: &Places, accesses: [Access; 2]) -> Option<&mut Potential> {
        self.pair(places, accesses).map(|(potential, _)| potential)
    }

    fn add_seen(&mut self, places: &Places, seen: NamedPrediction) {
        let Some((potential, turned)) = self.pair(places, seen.accesses) else { return };
        potential.mixed |= seen.mixed;
        potential.variables.extend(seen.variables);
        potential.variables.sort_unstable();
        potential.variables.dedup();
        potential.seen.get_or_insert_with(|| {
            let [first, second] = seen.sides;
            if turned { [second, first] } else { [first, second] }
        });
    }
}

/// [`Predicted`] with names in the place of numbers.
struct NamedPrediction {
    accesses: [Access; 2],
    sides: [SeenSide; 2],
    mixed: bool,
    variables: Vec<LeafId>,
}

/// What is kept of a watched execution.
struct Watched {
    predictions: Vec<NamedPrediction>,
    end: Option<BadEnd>,
    is_discarded: bool,
    is_cut: bool,
    steps: u32,
}

struct Watch<'a> {
    machine: &'a Machine,
    program: &'a Program,
}

impl<'a> Experiment for Watch<'a> {
    type Policy = Random;
    type Observer = HybridDetector<'a>;
    type Outcome = Watched;

    fn begin(&self, seed: u64) -> (Random, HybridDetector<'a>) {
        (Random::new(seed), HybridDetector::new(self.machine, self.program))
    }

    fn outcome(&self, trial: &Trial<'_, Random, HybridDetector<'a>>) -> Watched {
        let named = |predicted: &Predicted| NamedPrediction {
            accesses: predicted.accesses,
            sides: predicted
                .sides
                .clone()
                .map(|side| SeenSide { thread: self.machine.path_name(trial.tables, side.thread), locks: side.locks }),
            mixed: predicted.mixed,
            variables: predicted.cells.iter().filter_map(|&cell| cell.leaf(self.program)).collect(),
        };
        Watched {
            predictions: trial.observer.found().iter().map(named).collect(),
            end: BadEnd::of(self.machine, trial.tables, (trial.status, trial.steps, trial.state)),
            is_discarded: *trial.status == ExecutionStatus::Discarded,
            is_cut: *trial.status == ExecutionStatus::StepLimit,
            steps: u32::try_from(trial.steps.len()).unwrap_or(u32::MAX),
        }
    }
}

/// What the prediction depends on.
#[derive(Clone, Copy, Debug)]
pub struct PredictionRequest {
    /// How.
    pub means: Means,
    /// How many executions are watched.
    pub runs: u64,
    /// The seed of the first one.
    pub seed: u64,
    /// Steps of one at most.
    pub max_steps: u64,
}

/// Predicts races.
#[must_use]
pub fn predict(
    (machine, program, form): (&Machine, &Program, &Form),
    places: &Places,
    request: &PredictionRequest,
    budget: &Budget<'_>,
) -> Prediction {
    let mut found = Prediction::default();
    if request.means.has_analysis() {
        add_static(&mut found, places, program, form);
    }
    if !request.means.has_executions() {
        return found;
    }
    let seeds = request.seed..request.seed.saturating_add(request.runs);
    let trials = Trials { machine, seeds, max_steps: request.max_steps, budget };
    let end = trials.run(&Watch { machine, program }, |seed, watched| {
        // What an execution predicts holds whether it is discarded or not: another one may go on.
        watched.predictions.into_iter().for_each(|seen| found.add_seen(places, seen));
        found.executions += u64::from(!watched.is_discarded);
        found.failed += u64::from(watched.end.is_some());
        found.cut += u64::from(watched.is_cut);
        found.longest = found.longest.max(watched.steps);
        if let Some(end) = watched.end {
            found.ends.add(end, Origin { seed: Some(seed), pair: None });
        }
        ControlFlow::Continue(())
    });
    if let TrialsEnd::Stopped(bound) = end {
        found.bound = Some(bound);
    }
    found
}

fn add_static(found: &mut Prediction, places: &Places, program: &Program, form: &Form) {
    let races = potential_races(program, form);
    for variable in races.variables() {
        for accesses in races.pairs_of(variable) {
            if let Some(potential) = found.add(places, accesses) {
                potential.is_static = true;
                potential.variables.push(variable);
            }
        }
    }
    for potential in found.pairs.values_mut() {
        potential.variables.sort_unstable();
        potential.variables.dedup();
    }
}
