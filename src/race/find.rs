//! Runs the two phases, the exploration and the verdicts, one after the other.
//!
//! **Input**: a model, a request, and a budget. **Output**: [`Findings`].
//!
//! **Soundness and limits**: the time of each part is measured for information only; it influences no decision.

use super::compare::{Comparison, Contender, Granularity, watch_pairs};
use super::ends::{BadEnd, BadEnds, Origin};
use super::judge::{Evidence, PairFinding, Status, judge};
use super::place::{PlacePair, Places};
use super::predict::{Potential, Prediction, PredictionRequest, predict};
use super::trials::{PairAim, PairTrials, TrialRequest, direct_at};
use cssame_budget::{Bound, Budget, Limits};
use cssame_explore::{RacesAnswer, Subject};
use cssame_form::races::{PotentialRaces, potential_races};
use cssame_ir::{Access, LeafId, Program};
use cssame_model::Model;
use cssame_schedule::{Experiment, Random, Scheduler, Trial, Trials};

use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Steps of all directed executions together beyond which no more pairs are tried, unless it is said how many are to
/// be: some seconds. Where there are many threads, a step takes longer, and counts for several. A program of ten
/// thousand statements may have hundreds of thousands of pairs.
const MAX_STEPS: u64 = 20_000_000;

/// Executions that are directed at a pair in any case, if at all: most races are hit by the first.
const FEW_TRIALS: u64 = 5;

/// Threads of a program up to which a step counts as one, and as many states are visited as are asked for by default.
const FEW_THREADS: u64 = 8;

/// Which pairs are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All that are predicted.
    #[default]
    All,
    /// One, whether it is predicted or not.
    Pair(PlacePair),
    /// Those of a variable.
    Variable(LeafId),
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Phase 1.
    pub prediction: PredictionRequest,
    /// Phase 2.
    pub trials: TrialRequest,
    /// Which pairs.
    pub scope: Scope,
    /// Which schedulers make executions; others than the directed one are watched for all pairs.
    pub contenders: Vec<Contender>,
    /// Whether fewer executions are directed at each pair where so many would not do for all pairs.
    pub spread: bool,
    /// Pairs that are tried at most.
    pub max_pairs: Option<usize>,
    /// Whether the executions of phase 1 are made once more without being watched, to compare how long they take.
    pub measure: bool,
    /// States that are visited at most; none where nothing is to be explored.
    pub explore: Option<States>,
}

/// How many states are visited at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// So many.
    Exactly(u64),
    /// So many for few threads, and fewer for many: a state of many threads is large, and has many successors.
    About(u64),
}

impl States {
    /// The number for a program with so many threads.
    fn of(self, threads: u64) -> u64 {
        match self {
            States::Exactly(states) => states,
            States::About(states) => {
                let times = (threads / FEW_THREADS).max(1);
                (states / (times * times)).max(1)
            }
        }
    }

    /// An equal share of them.
    #[must_use]
    pub fn share(self, parts: u64) -> States {
        let part = |states: u64| (states / parts.max(1)).max(1);
        match self {
            States::Exactly(states) => States::Exactly(part(states)),
            States::About(states) => States::About(part(states)),
        }
    }
}

/// How long each part has taken. No answer depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// As many executions as phase 1 has, by the same seeds, that nobody watches; none where they were not asked for.
    pub plain: Option<Duration>,
    /// Phase 1.
    pub prediction: Duration,
    /// Phase 2.
    pub trials: Duration,
    /// The exploration.
    pub exploration: Duration,
}

/// What was found.
#[derive(Debug)]
pub struct Findings {
    /// The places of the program.
    pub places: Places,
    /// The pairs, in text order.
    pub pairs: Vec<PairFinding>,
    /// What phase 1 has found.
    pub prediction: Prediction,
    /// All failures and deadlocks.
    pub ends: BadEnds,
    /// What each scheduler has shown of the pairs, where another one than the directed one was asked for.
    pub comparisons: Vec<Comparison>,
    /// What all states, or those within the bounds, have shown.
    pub exploration: Option<RacesAnswer>,
    /// The first bound that has cut something.
    pub bound: Option<Bound>,
    /// How long it took.
    pub timing: Timing,
}

impl Findings {
    /// Whether every pair is real or impossible.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.pairs.iter().all(|pair| pair.status != Status::Unconfirmed)
    }
}

/// Finds races.
#[must_use]
pub fn find(model: &Model, request: &Request, budget: &Budget<'_>) -> Findings {
    let (machine, program) = (model.machine(), model.program());
    let places = Places::new(program);
    let mut clock = Stopwatch(Instant::now());
    let mut prediction = predict((machine, program, model.form()), &places, &request.prediction, budget);
    narrow(&mut prediction, &places, program, &request.scope);
    let mut timing = Timing { prediction: clock.lap(), ..Timing::default() };
    if request.measure {
        run_plain(model, &request.prediction, budget);
        timing.plain = Some(clock.lap());
    }
    let mut ends = prediction.ends.clone();
    let mut bound = prediction.bound;
    let mut trials = BTreeMap::new();
    let apart = potential_races(program, model.form());
    let is_directed = request.contenders.contains(&Contender::RaceDirected);
    let tried = if is_directed { order_of_trials(&prediction, request.max_pairs) } else { Vec::new() };
    let mut steps = 0;
    let threads = model.form().concurrency.threads.len() as u64;
    let weight = (threads / FEW_THREADS).max(1);
    let trials_of_pair = trials_of_pair(request, u64::from(prediction.longest) * weight, tried.len() as u64);
    let of_pair = TrialRequest { trials: trials_of_pair, ..request.trials };
    for pair in tried {
        if request.max_pairs.is_none() && steps > MAX_STEPS {
            break;
        }
        let accesses = accesses_of(&places, &apart, pair);
        let aim = PairAim { places: &places, races: &apart, pair, accesses: &accesses };
        let found = direct_at(model, aim, &of_pair, budget);
        found.ends.list().iter().for_each(|(end, origin)| ends.add(end.clone(), *origin));
        bound = bound.or(found.bound);
        steps += found.steps * weight;
        trials.insert(pair, found);
    }
    let comparisons = compare(model, &places, &prediction, &trials, request, budget);
    for comparison in &comparisons {
        comparison.ends.list().iter().for_each(|(end, origin)| ends.add_longer(end.clone(), *origin));
        bound = bound.or(comparison.bound);
    }
    timing.trials = clock.lap();
    let exploration = request.explore.map(|states| {
        let share = budget.share(Limits { max_states: Some(states.of(threads)), ..Limits::default() });
        Subject::from(model).races_and_hunt(&open_accesses(&prediction, &trials), &share)
    });
    timing.exploration = clock.lap();
    if let Some(answer) = &exploration {
        add_ends(&mut ends, model, answer);
    }
    let pairs = judge(Evidence {
        program,
        places: &places,
        apart: &apart,
        prediction: &prediction,
        trials,
        comparisons: &comparisons,
        exploration: exploration.as_ref(),
        all: request.scope == Scope::All,
    });
    let bound = bound.or(exploration.as_ref().and_then(|answer| answer.bound));
    Findings { places, pairs, prediction, ends, comparisons, exploration, bound, timing }
}

/// How many executions of so many weighted steps are directed at each of so many pairs: as many as are asked for, or
/// fewer, so that the steps do for more pairs.
fn trials_of_pair(request: &Request, steps: u64, pairs: u64) -> u64 {
    let wanted = request.trials.trials;
    let steps = steps.max(1).saturating_mul(pairs.max(1));
    let affordable = (MAX_STEPS / steps).max(FEW_TRIALS);
    if request.spread && request.max_pairs.is_none() { wanted.min(affordable) } else { wanted }
}

/// Executions at random that nobody watches.
struct Plain;

impl Experiment for Plain {
    type Policy = Random;
    type Observer = ();
    type Outcome = ();

    fn begin(&self, seed: u64) -> (Random, ()) {
        (Random::new(seed), ())
    }

    fn outcome(&self, _: &Trial<'_, Random, ()>) {}
}

fn run_plain(model: &Model, request: &PredictionRequest, budget: &Budget<'_>) {
    let seeds = request.seed..request.seed.saturating_add(request.runs);
    let trials = Trials { machine: model.machine(), seeds, max_steps: request.max_steps, budget };
    trials.run(&Plain, |_, ()| ControlFlow::Continue(()));
}

/// Makes the executions of the other schedulers, and puts those of the directed one beside them.
fn compare(
    model: &Model,
    places: &Places,
    prediction: &Prediction,
    trials: &BTreeMap<PlacePair, PairTrials>,
    request: &Request,
    budget: &Budget<'_>,
) -> Vec<Comparison> {
    if request.contenders == [Contender::RaceDirected] {
        return Vec::new();
    }
    let at_synchronisation = request.trials.at_synchronisation;
    let granularity = if at_synchronisation { Granularity::Synchronisation } else { Granularity::Operation };
    let pairs: Vec<PlacePair> = prediction.pairs.keys().copied().collect();
    let compared = request.contenders.iter().map(|&contender| match contender {
        Contender::RaceDirected => Comparison::directed(trials.iter().map(|(&pair, of)| (pair, of)), granularity),
        other => {
            watch_pairs(model, places, &pairs, (with_steps(other, prediction), granularity), &request.trials, budget)
        }
    });
    compared.collect()
}

/// A bound on the number of steps that is 0 stands for the longest execution of the prediction.
fn with_steps(contender: Contender, prediction: &Prediction) -> Contender {
    match contender {
        Contender::Undirected(Scheduler::Pct { depth, steps: 0 }) => {
            Contender::Undirected(Scheduler::Pct { depth, steps: prediction.longest.max(1) })
        }
        other => other,
    }
}

struct Stopwatch(Instant);

impl Stopwatch {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// Leaves the pairs that are asked for.
fn narrow(prediction: &mut Prediction, places: &Places, program: &Program, scope: &Scope) {
    match *scope {
        Scope::All => {}
        Scope::Variable(leaf) => prediction.pairs.retain(|_, potential| potential.variables.contains(&leaf)),
        Scope::Pair(pair) => {
            let known = prediction.pairs.remove(&pair).unwrap_or_else(|| any_pair(places, pair, program));
            prediction.pairs = BTreeMap::from([(pair, known)]);
        }
    }
}

/// The accesses of a pair that conflict, as they are written.
fn conflicting(places: &Places, pair: PlacePair) -> Vec<[Access; 2]> {
    let [first, second] = pair.map(|place| &places.list[place].accesses);
    let all = first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b]));
    let mut accesses: Vec<[Access; 2]> = all.filter(|[a, b]| a.is_write() || b.is_write()).collect();
    accesses.sort_unstable();
    accesses
}

/// The accesses of a pair that executions are directed at. They come from the text alone, so that an execution depends
/// on the places and its number only, whatever the prediction has seen.
fn accesses_of(places: &Places, apart: &PotentialRaces<'_>, pair: PlacePair) -> Vec<[Access; 2]> {
    let all = conflicting(places, pair);
    let may_race: Vec<[Access; 2]> = all.iter().copied().filter(|&[a, b]| apart.contains(a, b)).collect();
    if may_race.is_empty() { all } else { may_race }
}

/// A pair that nobody has predicted: all its accesses that may conflict.
fn any_pair(places: &Places, pair: PlacePair, program: &Program) -> Potential {
    let accesses = conflicting(places, pair);
    let of_symbol = |leaf: &LeafId| accesses.iter().any(|[a, _]| a.symbol(program) == program.leaves[*leaf].symbol);
    let variables = program.leaves.ids().filter(of_symbol).collect();
    Potential { accesses, variables, ..Potential::default() }
}

/// The pairs to try, one of each variable first.
fn order_of_trials(prediction: &Prediction, most: Option<usize>) -> Vec<PlacePair> {
    let most = most.unwrap_or(usize::MAX);
    let mut by_variable: BTreeMap<Option<LeafId>, Vec<PlacePair>> = BTreeMap::new();
    for (&pair, potential) in &prediction.pairs {
        by_variable.entry(potential.variables.first().copied()).or_default().push(pair);
    }
    let longest = by_variable.values().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..longest).flat_map(|round| by_variable.values().filter_map(move |pairs| pairs.get(round)));
    rounds.copied().take(most).collect()
}

/// The accesses of pairs that no trial has hit: if they are impossible, their order is of interest.
fn open_accesses(prediction: &Prediction, trials: &BTreeMap<PlacePair, PairTrials>) -> Vec<[Access; 2]> {
    let is_hit = |pair: &PlacePair| trials.get(pair).is_some_and(|trials| trials.hits > 0);
    let open = prediction.pairs.iter().filter(|(pair, _)| !is_hit(pair));
    let sorted = |&[a, b]: &[Access; 2]| if b < a { [b, a] } else { [a, b] };
    let all: FxHashSet<[Access; 2]> = open.flat_map(|(_, potential)| potential.accesses.iter().map(sorted)).collect();
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_unstable();
    all
}

/// Adds what the exploration has met.
fn add_ends(ends: &mut BadEnds, model: &Model, answer: &RacesAnswer) {
    let machine = model.machine();
    for failure in &answer.failures {
        let thread = machine.path_name(&answer.tables, failure.path);
        ends.add(BadEnd::failed(failure.failure, thread, failure.schedule.clone()), Origin::default());
    }
    for deadlock in &answer.deadlocks {
        let steps = deadlock.schedule.clone();
        ends.add(BadEnd::blocked(machine, &answer.tables, &deadlock.threads, steps), Origin::default());
    }
}
