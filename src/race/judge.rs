//! Verdicts: the knowledge about each pair of places, from trials, from all states, and from the text.
//!
//! **Input**: the prediction, the trials of each pair, and the exploration, if there was one. **Output**: a [`PairFinding`] for
//! each pair.
//!
//! **Algorithm**.
//!
//! 1. A pair is *real* if a trial has hit it, or if the exploration has found a state in which it is pending.
//! 2. It is *impossible* in three cases: the exploration has visited all states and found no such state; it has visited all
//!    executions up to reordering and each of them orders the two accesses; or the static analysis keeps all its accesses apart.
//! 3. Otherwise it is *unconfirmed*.
//! 4. It is harmful if a failure or a deadlock was observed after one of the two went first. If the exploration is complete, it
//!    decides this, and whether outcomes depend on the order.
//!
//! **Soundness and limits**: a proof holds for the program with its inputs. For a file without `main`, it holds only for the
//! contexts that were made for it.

use super::compare::Comparison;
use super::place::{PlacePair, Places};
use super::predict::{Potential, Prediction};
use super::trials::{HitExecution, PairTrials};
use cssame_explore::{AlwaysBefore, Race, RacesAnswer};
use cssame_form::races::{PotentialRaces, Separation};
use cssame_ir::{Access, LeafId, Program};
use cssame_vm::Choice;
use std::collections::BTreeMap;

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Two threads stand before both at once in some execution.
    Real,
    /// In no execution.
    Impossible,
    /// It is not known.
    Unconfirmed,
}

impl Status {
    /// The word in answers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Real => "real",
            Status::Impossible => "impossible",
            Status::Unconfirmed => "unconfirmed",
        }
    }
}

/// Why a pair is impossible.
#[derive(Clone, Debug)]
pub enum Proof {
    /// The text keeps each two accesses of the pair apart.
    Apart(Vec<Separation>),
    /// All states were visited; if it is so, one place always comes before the other.
    Exhausted {
        /// How many states there are.
        states: u64,
        /// The number of the place, 0 or 1, that always comes first.
        first: Option<usize>,
    },
    /// One execution of each future was followed, and in none of them are the accesses of the pair without an order.
    Executions {
        /// How many there are.
        executions: u64,
    },
}

/// An execution that shows a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// All its steps.
    pub steps: Vec<Choice>,
    /// How many of them lead to the state in which both accesses are pending.
    pub before: usize,
    /// The seed of the trial; none where a search has found it.
    pub seed: Option<u64>,
}

impl From<&HitExecution> for Witness {
    fn from(hit: &HitExecution) -> Witness {
        Witness { steps: hit.steps.clone(), before: hit.before, seed: Some(hit.seed) }
    }
}

/// A pair of places with its verdict.
#[derive(Clone, Debug)]
pub struct PairFinding {
    /// The places.
    pub places: PlacePair,
    /// The accesses that race, or may race, the one at the first place first.
    pub accesses: Vec<[Access; 2]>,
    /// The variables that they race for, or may race for.
    pub variables: Vec<LeafId>,
    /// What was predicted.
    pub potential: Potential,
    /// What executions that were directed at it have shown; none where it was not tried.
    pub trials: PairTrials,
    /// The verdict.
    pub status: Status,
    /// For each place, whether a failure or a deadlock can follow when it goes first.
    pub fails: [bool; 2],
    /// Whether the order decides what comes out.
    pub outcomes_differ: Option<bool>,
    /// Whether one is atomic and the other one is not.
    pub mixed: bool,
    /// An execution that shows it: one that fails, if there is one.
    pub witness: Option<Witness>,
    /// Why it is impossible.
    pub proof: Option<Proof>,
}

impl PairFinding {
    /// Whether a failure or a deadlock can follow.
    #[must_use]
    pub fn is_harmful(&self) -> bool {
        self.fails.contains(&true)
    }

    /// Whether it is known that nothing comes of it.
    #[must_use]
    pub fn is_benign(&self) -> bool {
        self.status == Status::Real && !self.is_harmful() && self.outcomes_differ == Some(false)
    }

    /// The seed of the trial that shows most: a failure, else the race.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        let failing = self.trials.failing.iter().flatten().map(|hit| hit.seed).min();
        failing.or(self.trials.first.as_ref().map(|hit| hit.seed))
    }
}

/// What verdicts are made from.
pub(super) struct Evidence<'a> {
    pub program: &'a Program,
    pub places: &'a Places,
    pub apart: &'a PotentialRaces<'a>,
    pub prediction: &'a Prediction,
    pub trials: BTreeMap<PlacePair, PairTrials>,
    pub comparisons: &'a [Comparison],
    pub exploration: Option<&'a RacesAnswer>,
    /// Whether the pairs of the exploration that nobody has predicted are wanted.
    pub all: bool,
}

/// The races of the exploration between two places, with their sides in the order of the places.
type Explored<'a> = Vec<(&'a Race, bool)>;

/// Judges all pairs.
pub(super) fn judge(evidence: Evidence<'_>) -> Vec<PairFinding> {
    let mut explored: BTreeMap<PlacePair, Explored<'_>> = BTreeMap::new();
    for race in evidence.exploration.iter().flat_map(|answer| &answer.races) {
        if let Some((pair, turned)) = evidence.places.pair(race.accesses) {
            explored.entry(pair).or_default().push((race, turned));
        }
    }
    let mut pairs: BTreeMap<PlacePair, Potential> = evidence.prediction.pairs.clone();
    if evidence.all {
        for &pair in explored.keys() {
            pairs.entry(pair).or_default();
        }
    }
    // A place that was seen to race with itself in the trials of another pair.
    let mut met: BTreeMap<PlacePair, Witness> = BTreeMap::new();
    for (&pair, trials) in &evidence.trials {
        for (side, hit) in trials.with_itself.iter().enumerate() {
            if let (Some(hit), true) = (hit, pair[0] != pair[1]) {
                met.entry([pair[side]; 2]).or_insert_with(|| Witness { seed: None, ..Witness::from(hit) });
            }
        }
    }
    for row in evidence.comparisons.iter().flat_map(|comparison| &comparison.pairs) {
        if let Some(hit) = &row.execution {
            met.entry(row.pair).or_insert_with(|| Witness { seed: None, ..Witness::from(hit) });
        }
    }
    let judge_one = |(places, potential)| {
        let trials = evidence.trials.get(&places).cloned().unwrap_or_default();
        let races = explored.get(&places).map_or(&[][..], Vec::as_slice);
        evidence.finding((places, potential), trials, races, met.get(&places))
    };
    pairs.into_iter().map(judge_one).collect()
}

impl Evidence<'_> {
    fn finding(
        &self,
        (places, potential): (PlacePair, Potential),
        trials: PairTrials,
        races: &[(&Race, bool)],
        met: Option<&Witness>,
    ) -> PairFinding {
        let complete = self.exploration.is_some_and(RacesAnswer::is_complete);
        let is_real = trials.hits > 0 || !races.is_empty() || met.is_some();
        let proof = if is_real { None } else { self.proof(places, &potential) };
        let mut finding = PairFinding {
            places,
            accesses: potential.accesses.clone(),
            variables: potential.variables.clone(),
            status: match proof {
                _ if is_real => Status::Real,
                Some(_) => Status::Impossible,
                None => Status::Unconfirmed,
            },
            fails: [0, 1].map(|side| trials.failing[side].is_some()),
            outcomes_differ: if is_real && complete { Some(false) } else { None },
            mixed: potential.mixed,
            witness: trials
                .failing
                .iter()
                .flatten()
                .min_by_key(|hit| hit.seed)
                .or(trials.first.as_ref())
                .map(Witness::from),
            potential,
            trials,
            proof,
        };
        if finding.witness.is_none() {
            finding.witness = met.cloned();
        }
        if complete && !races.is_empty() {
            finding.accesses.clear();
            finding.variables.clear();
        }
        for &(race, turned) in races {
            self.add_race(&mut finding, race, turned);
        }
        // Of one place with itself it does not matter which thread is called the first one.
        if places[0] == places[1] {
            finding.fails = [finding.is_harmful(), false];
        }
        finding
    }

    fn add_race(&self, finding: &mut PairFinding, race: &Race, turned: bool) {
        let turn = |pair: [Access; 2]| if turned { [pair[1], pair[0]] } else { pair };
        let accesses = turn(race.accesses);
        if let Err(place) = finding.accesses.binary_search(&accesses) {
            finding.accesses.insert(place, accesses);
        }
        finding.variables.extend(race.cells.iter().filter_map(|&cell| cell.leaf(self.program)));
        finding.variables.sort_unstable();
        finding.variables.dedup();
        finding.mixed |= race.mixed;
        finding.outcomes_differ = match (finding.outcomes_differ, race.outcomes_differ) {
            (Some(known), Some(here)) => Some(known || here),
            _ => None,
        };
        for side in 0..2 {
            let of_place = if turned { 1 - side } else { side };
            finding.fails[of_place] |= race.failing[side].is_some();
        }
        let failing = race.failing.iter().flatten().min_by_key(|failing| failing.schedule.len());
        let steps = failing.map_or(&race.schedule, |failing| &failing.schedule);
        let before = failing.map_or(race.schedule.len(), |failing| failing.before);
        // A search finds shortest executions; of several accesses at the places, one that fails tells most.
        let known = finding.witness.as_ref().filter(|known| known.seed.is_none());
        let known_fails = known.is_some_and(|known| known.steps.len() > known.before);
        if known.is_none() || failing.is_some() && !known_fails {
            finding.witness = Some(Witness { steps: steps.clone(), before, seed: None });
        }
    }

    /// Why a pair that nobody has seen is impossible.
    fn proof(&self, places: PlacePair, potential: &Potential) -> Option<Proof> {
        if !potential.is_static {
            let apart: Vec<Separation> =
                potential.accesses.iter().flat_map(|&[a, b]| self.apart.separations(a, b)).collect();
            let all = potential.accesses.iter().all(|&[a, b]| !self.apart.contains(a, b));
            if all && !apart.is_empty() {
                return Some(Proof::Apart(apart));
            }
        }
        let racing = self.exploration.and_then(|answer| answer.racing.as_ref());
        if let Some(racing) = racing {
            let sorted = |&[a, b]: &[Access; 2]| [a.min(b), a.max(b)];
            let are_apart = potential.accesses.iter().map(sorted).all(|pair| racing.keeps_apart(pair));
            return are_apart.then_some(Proof::Executions { executions: racing.executions });
        }
        let answer = self.exploration.filter(|answer| answer.is_complete())?;
        Some(Proof::Exhausted { states: answer.statistics.states, first: self.always_first(places, potential, answer) })
    }

    /// The place whose accesses all come before those of the other one.
    fn always_first(&self, places: PlacePair, potential: &Potential, answer: &RacesAnswer) -> Option<usize> {
        let sides = potential.accesses.iter().map(|&pair| {
            let has =
                |&AlwaysBefore { first, second }: &AlwaysBefore| [first, second] == pair || [second, first] == pair;
            let order = answer.ordered.iter().find(|order| has(order))?;
            Some(usize::from(self.places.of(order.first) != Some(places[0])))
        });
        let mut sides: Vec<Option<usize>> = sides.collect();
        sides.dedup();
        match sides[..] {
            [side] => side,
            _ => None,
        }
    }
}
