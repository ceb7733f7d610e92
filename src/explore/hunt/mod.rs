//! Searches for bugs. Failures, deadlocks and races with the fewest preemptions come first.
//!
//! **Input**: a program, a [`HuntRequest`], and a budget. **Output**: a [`HuntAnswer`]: the bugs, each with the fewest
//! preemptions that lead to it and an execution that shows it; and the number of preemptions up to which all executions were
//! examined.
//!
//! A *preemption* is a switch from a thread that could continue to another one. A switch from a thread that blocks, waits or has
//! ended is free. Most bugs need one or two (Musuvathi and Qadeer, "Iterative context bounding for systematic testing of
//! multithreaded programs", 2007), and executions with few preemptions are few even if there are too many executions in total.
//!
//! **Algorithm**
//! 1. Run [`HUNT_SAMPLES`] executions by priorities of operations (POS): they reach bugs far from the beginning.
//! 2. [`search`] through states with no preemption, one, two, and so on, until nothing is left or a bound is hit.
//! 3. If this takes many states, the other strategies ([`portfolio`](crate::portfolio)) run before it continues: programs with
//!    many threads have few futures, or small slices.
//! 4. Findings of the search are shown unchanged. Findings of samples alone are shown with fewer switches.
//!
//! **Soundness and limits**: every finding is real. For a completed number of preemptions, nothing is missed. The values that
//! reads see and the output are ignored. For executions without end, the answer only says whether they are possible
//! ([`endless`](crate::endless()) finds them).

mod beside;
mod claims;
mod going_on;
mod path;
mod races;
mod samples;
mod search;

use crate::answer::{Answer, FailureWitness, Query};
use crate::deadlock::Deadlock;
use crate::liveness::may_run_for_ever;
use crate::portfolio::width;
use crate::question::bad_ends::BadEnds;
use crate::states::End;
use crate::subject::Subject;
use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_ir::{Access, Instruction, Program};
use cssame_schedule::{Walk, preemptions};
use cssame_vm::{Cell, Choice, Machine, PathId, Tables};
use path::whole;
use races::Races;
use samples::{Sampled, samples};
use search::{Over, Search};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HuntRequest {
    /// Preemptions at most; as many as there may be where nothing is given.
    pub preemptions: Option<u32>,
    /// Whether to stop at the first failure or deadlock.
    pub stops_at_first: bool,
    /// Whether to stop where all failures and deadlocks are known, though races may be missing.
    pub stops_at_ends: bool,
    /// Executions by priorities of operations before the search.
    pub samples: u64,
}

/// Executions before the search where nothing else is asked for.
pub const HUNT_SAMPLES: u64 = 1_000;

impl Default for HuntRequest {
    fn default() -> HuntRequest {
        HuntRequest { preemptions: None, stops_at_first: false, stops_at_ends: false, samples: HUNT_SAMPLES }
    }
}

/// Two accesses before which two threads stand at once.
#[derive(Clone, Debug)]
pub struct HuntRace {
    /// The accesses, in order.
    pub accesses: [Access; 2],
    /// Whether one of them is atomic.
    pub mixed: bool,
    /// The cells, in order.
    pub cells: Vec<Cell>,
    /// An execution up to the state that shows it.
    pub schedule: Vec<Choice>,
    /// The steps that make them from there.
    pub steps: [Choice; 2],
    /// Who stands there.
    pub threads: [PathId; 2],
    /// Preemptions of the schedule: there are none with fewer, if all with fewer were looked at.
    pub preemptions: u32,
}

/// What goes wrong.
#[derive(Clone, Debug)]
pub struct HuntAnswer {
    /// Failures, by place, each with the preemptions of its schedule.
    pub failures: Vec<(FailureWitness, u32)>,
    /// Deadlocks, those with the fewest preemptions first.
    pub deadlocks: Vec<(Deadlock, u32)>,
    /// Races, those with the fewest preemptions first; `None` where they were not looked for.
    pub races: Option<Vec<HuntRace>>,
    /// All executions with so many preemptions were looked at; `None` if not even those without one.
    pub finished: Option<u32>,
    /// Whether all executions were looked at.
    pub is_complete: bool,
    /// Whether all failures and deadlocks are known: also where another strategy has decided that.
    pub has_all_ends: bool,
    /// Whether it is known that all executions end.
    pub all_end: bool,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
    /// Names that the ids belong to.
    pub tables: Tables,
}

/// States that are visited before another strategy has a turn where few threads run at a time, and those that it may visit: about a
/// second each. A state with many threads takes longer, so the other strategy has no more than a part of the time.
const FIRST_STATES: u64 = 200_000;
const OTHER_STATES: u64 = 500_000;
const OTHER_TIME: f64 = 0.4;

impl Subject<'_> {
    /// Looks for what goes wrong, by the number of preemptions.
    #[must_use]
    pub fn hunt(&self, request: &HuntRequest, budget: &Budget<'_>) -> HuntAnswer {
        let first_states = FIRST_STATES / (1 + (width(self.machine) as u64 / 4).pow(2));
        let may_need_others = request.preemptions.is_none()
            && !request.stops_at_first
            && budget.limits().max_states.is_none_or(|most| most > first_states);
        let sampled = samples(self.machine, request, budget);
        if !may_need_others {
            return self.hunt_alone(request, budget, sampled);
        }
        let share = |max_states| budget.share(Limits { max_states: Some(max_states), ..Limits::default() });
        let first = self.hunt_alone(request, &share(first_states), sampled.clone());
        if first.bound != Some(Bound::States) {
            return first;
        }
        let ends = self.futures(&Query::WITHOUT_OUTCOMES, &share(OTHER_STATES).with_part_of_time(OTHER_TIME));
        let is_enough = ends.is_complete() && request.stops_at_ends;
        let mut all =
            if is_enough { HuntAnswer { bound: None, ..first } } else { self.hunt_alone(request, budget, sampled) };
        if ends.is_complete() && !all.has_all_ends {
            (all.has_all_ends, all.all_end) = (true, ends.all_end);
            all.take_ends(self.machine, &ends);
        }
        all
    }

    /// Looks for it by the search alone, behind samples.
    fn hunt_alone(&self, request: &HuntRequest, budget: &Budget<'_>, mut sampled: Sampled) -> HuntAnswer {
        let (machine, race_free) = (self.machine, self.race_free());
        let races = (!may_discard(self.program)).then(|| Races::new(machine, self.program));
        let mut search = Search::new(machine, &race_free, budget, request.stops_at_first, races);
        search.tables = std::mem::take(&mut sampled.tables);
        if may_run_for_ever(self.program) {
            search.watch_for_cycles();
        }
        let stops = request.stops_at_first && !sampled.bad.is_empty();
        let over = if stops { Over::Stopped } else { search.run(request.preemptions) };
        let finished = match over {
            Over::Complete | Over::Asked => Some(search.preemptions),
            Over::Stopped => search.preemptions.checked_sub(1),
        };
        let schedule = |node: u32| whole(machine, &race_free, &search.path_to(node));
        let races = search.races.as_ref().map(|races| {
            let race = |(&accesses, met): (&[Access; 2], &races::Met)| HuntRace {
                accesses,
                mixed: met.mixed,
                cells: met.cells.clone(),
                schedule: schedule(met.node),
                steps: met.steps,
                threads: met.threads,
                preemptions: met.preemptions,
            };
            races.met.iter().map(race).collect()
        });
        let mut shown: Vec<Vec<Choice>> =
            search.bad.clone().into_witnesses().into_iter().map(|(node, _)| schedule(node)).collect();
        // A search that has looked at all has found all.
        if over != Over::Complete {
            shown.extend(std::mem::take(&mut sampled.bad).into_witnesses());
        }
        let (failures, deadlocks) = listed(machine, bad_ends(machine, &mut search.tables, &shown));
        HuntAnswer {
            failures,
            deadlocks,
            races,
            finished,
            is_complete: over == Over::Complete,
            has_all_ends: over == Over::Complete,
            all_end: over == Over::Complete && search.all_end(),
            bound: search.bound,
            statistics: Statistics {
                executions: search.statistics.executions + sampled.executions,
                ..search.statistics
            },
            tables: search.tables,
        }
    }
}

impl HuntAnswer {
    /// The executions that end in failures and deadlocks.
    fn bad_schedules(&self) -> impl Iterator<Item = &Vec<Choice>> {
        let failures = self.failures.iter().map(|(of, _)| &of.schedule);
        failures.chain(self.deadlocks.iter().map(|(of, _)| &of.schedule))
    }

    /// Takes over the failures and deadlocks that it does not have.
    fn take_ends(&mut self, machine: &Machine, ends: &Answer) {
        let others = ends.failures.iter().map(|of| &of.schedule).chain(ends.deadlocks.iter().map(|of| &of.schedule));
        let schedules: Vec<Vec<Choice>> = self.bad_schedules().chain(others).cloned().collect();
        (self.failures, self.deadlocks) = listed(machine, bad_ends(machine, &mut self.tables, &schedules));
    }
}

/// Whether an execution may be discarded. If so, what comes later decides whether a state counts. More exact than
/// [`Machine::may_discard`], which counts every choice.
fn may_discard(program: &Program) -> bool {
    let instructions = program.functions.iter().flat_map(|function| function.blocks.iter());
    instructions.flat_map(|block| &block.instructions).any(Instruction::may_discard)
}

/// The failures and deadlocks, as other searches tell them.
impl From<HuntAnswer> for Answer {
    fn from(hunted: HuntAnswer) -> Answer {
        Answer {
            bound: hunted.bound.filter(|_| !hunted.has_all_ends),
            statistics: hunted.statistics,
            futures: None,
            all_end: hunted.all_end,
            finished: hunted.finished,
            from_slices: false,
            threads: 0,
            terms: Vec::new(),
            undecided: Vec::new(),
            outcomes: Vec::new(),
            failures: hunted.failures.into_iter().map(|(of, _)| of).collect(),
            deadlocks: hunted.deadlocks.into_iter().map(|(of, _)| of).collect(),
            open: Vec::new(),
            tables: hunted.tables,
        }
    }
}

/// Failures by place, and deadlocks, those with the fewest preemptions first.
fn listed(machine: &Machine, bad: BadEnds<(u32, Vec<Choice>)>) -> (Vec<(FailureWitness, u32)>, Vec<(Deadlock, u32)>) {
    let (failures, deadlocks) = bad.witnesses(machine);
    let failure = |(failure, path, (preemptions, schedule))| (FailureWitness { failure, path, schedule }, preemptions);
    let deadlock = |(threads, (preemptions, schedule))| (Deadlock { threads, schedule }, preemptions);
    let mut deadlocks: Vec<_> = deadlocks.into_iter().map(deadlock).collect();
    deadlocks.sort_by_key(|&(_, preemptions)| preemptions);
    (failures.into_iter().map(failure).collect(), deadlocks)
}

/// The failures and deadlocks that these executions end in, each with the preemptions and the steps of the first one that does.
fn bad_ends(machine: &Machine, tables: &mut Tables, schedules: &[Vec<Choice>]) -> BadEnds<(u32, Vec<Choice>)> {
    let mut bad = BadEnds::default();
    note_ends((machine, tables), schedules, &mut bad, |steps| (preemptions(machine, steps), steps.clone()));
    bad
}

/// Notes how executions end.
///
/// The states of the search do not tell where locks were taken, so the executions are made again.
fn note_ends<'s, W>(
    (machine, tables): (&Machine, &mut Tables),
    schedules: impl IntoIterator<Item = &'s Vec<Choice>>,
    bad: &mut BadEnds<W>,
    witness: impl Fn(&Vec<Choice>) -> W,
) {
    for steps in schedules {
        let mut walk = Walk::new(machine, tables, &mut ());
        if walk.follow(steps, &mut ()).is_err() {
            continue;
        }
        let (progress, state) = (walk.progress(), walk.into_state());
        if let Some(end) = End::of(machine, &state, progress) {
            bad.note((machine, tables, &state), end, || witness(steps));
        }
    }
}
