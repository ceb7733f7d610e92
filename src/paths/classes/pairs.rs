//! TPAIR: the classes of each pair of threads that run alone.
//!
//! **Input**: a machine, its operations, a budget. **Output**: for each pair of threads, the classes of its executions.
//!
//! **Algorithm**
//! 1. A few plain executions show the existing threads. In one, threads keep running as long as they can, starting from the
//!    first; in one, starting from the last; in one, they take turns; some are random.
//! 2. Two threads are a pair if each has performed an operation in some execution, and both existed at the same time. A thread
//!    that has created the other one (usually main) must have performed an operation while the other existed; otherwise it only
//!    waits for it.
//! 3. The classes of each pair are counted like those of a program, but the other threads move only until both threads exist
//!    ([`scope`](super::scope)).
//!
//! **Soundness and limits**: a thread that occurs in none of these executions has no pairs. Threads are named as usual, with
//! their instance numbers. At most [`MAX_THREADS`] threads at one time are considered; the answer says if some are left out. The
//! choices of another thread before the two exist distinguish classes, although neither of the two has made them.

use super::operations::Operations;
use super::scope::Scope;
use super::{ClassCount, ClassOptions, count};
use cssame_budget::Budget;
use cssame_schedule as schedule;
use cssame_schedule::{Decision, ExecutionStatus, Policy, Random, RoundRobin, View};
use cssame_vm::{Choice, CodeIndex, Event, Machine, Move, Observer, PathId, Tables, ThreadIndex, ThreadName};
use std::collections::BTreeSet;

/// Threads at one time of which pairs are made.
pub const MAX_THREADS: usize = 64;

/// Steps of one of the plain executions.
const STEPS: u64 = 10_000;

/// Executions at random.
const RANDOM: u64 = 16;

/// The classes of two threads that are run alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairCount {
    /// The names of the two.
    pub threads: [String; 2],
    /// Their classes. A schedule has the steps of others that bring the two into being; it ends where both stand still.
    pub count: ClassCount,
}

/// The classes of all pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// By pair, in the order of threads.
    pub pairs: Vec<PairCount>,
    /// Whether threads were left out: there were too many at one time.
    pub are_cut: bool,
}

impl PairCounts {
    /// The classes of all pairs together.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.pairs.iter().fold(0, |sum, pair| sum.saturating_add(pair.count.classes))
    }
}

/// Counts the classes of each two threads: what TPAIR runs.
#[must_use]
pub fn thread_pairs(
    machine: &Machine,
    operations: &Operations,
    budget: &Budget<'_>,
    options: &ClassOptions,
) -> PairCounts {
    let seen = observe(machine, operations, budget);
    let pair = |members: [PathId; 2]| {
        let scope = Scope::pair(&seen.tables, members);
        let count = count(machine, &seen.tables, (operations, &scope), budget, options);
        PairCount { threads: members.map(|path| machine.path_name(&seen.tables, path)), count }
    };
    PairCounts { pairs: seen.pairs().into_iter().map(pair).collect(), are_cut: seen.is_cut }
}

/// What plain executions have shown.
struct Seen {
    tables: Tables,
    performed: BTreeSet<PathId>,
    /// Two threads that were there at the same time.
    together: BTreeSet<[PathId; 2]>,
    /// A thread that has performed an operation while another was there.
    beside: BTreeSet<[PathId; 2]>,
    is_cut: bool,
}

fn observe(machine: &Machine, operations: &Operations, budget: &Budget<'_>) -> Seen {
    let (performed, together, beside) = Default::default();
    let mut seen = Seen { tables: Tables::new(), performed, together, beside, is_cut: false };
    seen.run(machine, operations, &mut Keep { last: None, from_end: false });
    seen.run(machine, operations, &mut Keep { last: None, from_end: true });
    seen.run(machine, operations, &mut RoundRobin::new());
    for seed in 1..=RANDOM {
        if budget.check().is_some() {
            break;
        }
        seen.run(machine, operations, &mut Random::new(seed));
    }
    seen
}

impl Seen {
    fn run(&mut self, machine: &Machine, operations: &Operations, policy: &mut impl Policy) {
        let mut threads = Present { operations, present: Vec::new(), facts: Facts::default() };
        let execution = schedule::run(machine, policy, STEPS, &mut threads);
        if execution.status == ExecutionStatus::Discarded {
            return;
        }
        let Facts { performed, together, beside, is_cut } = threads.facts;
        let mut adopt = |path| self.tables.adopt_path(&execution.tables, path);
        self.performed.extend(performed.into_iter().map(&mut adopt));
        self.together.extend(together.into_iter().map(|two| two.map(&mut adopt)));
        self.beside.extend(beside.into_iter().map(|two| two.map(&mut adopt)));
        self.is_cut |= is_cut;
    }

    /// The pairs, each in the order of threads.
    fn pairs(&self) -> Vec<[PathId; 2]> {
        let mut threads: Vec<PathId> = self.performed.iter().copied().collect();
        threads.sort_by(|&left, &right| self.tables.compare_paths(left, right));
        let pairs = threads.iter().enumerate().flat_map(|(index, &first)| {
            let others = threads[index + 1..].iter().map(move |&second| [first, second]);
            others.filter(|&[first, second]| self.is_pair(first, second))
        });
        pairs.collect()
    }

    fn is_pair(&self, first: PathId, second: PathId) -> bool {
        let together = self.together.contains(&[first, second]) || self.together.contains(&[second, first]);
        let waits = |maker, made| self.is_below(made, maker) && !self.beside.contains(&[maker, made]);
        together && !waits(first, second) && !waits(second, first)
    }

    /// Whether a thread was made by another, or by one that was made by it.
    fn is_below(&self, thread: PathId, maker: PathId) -> bool {
        let parent = |path: PathId| self.tables.path(path).and_then(|path| path.parent);
        std::iter::successors(parent(thread), |&path| parent(path)).any(|path| path == maker)
    }
}

/// What one execution shows, by the names that it gives to threads.
#[derive(Default)]
struct Facts {
    performed: BTreeSet<PathId>,
    together: BTreeSet<[PathId; 2]>,
    beside: BTreeSet<[PathId; 2]>,
    is_cut: bool,
}

/// Watches which threads are there, and who performs operations.
struct Present<'a> {
    operations: &'a Operations,
    present: Vec<PathId>,
    facts: Facts,
}

impl Present<'_> {
    fn begin(&mut self, path: PathId) {
        if self.present.len() >= MAX_THREADS {
            self.facts.is_cut = true;
            return;
        }
        self.facts.together.extend(self.present.iter().map(|&other| [other, path]));
        self.present.push(path);
    }
}

impl Observer for Present<'_> {
    fn begin_main(&mut self, main: ThreadName) {
        self.begin(main.path);
    }

    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        match event {
            Event::Fork { child } | Event::Spawn { child } => self.begin(child.path),
            Event::End { .. } => self.present.retain(|&path| path != thread.path),
            Event::Read { cell, shared: true, .. } | Event::Write { cell, shared: true, .. }
                if self.operations.contains(cell) && self.present.contains(&thread.path) =>
            {
                self.facts.performed.insert(thread.path);
                self.facts.beside.extend(self.present.iter().map(|&other| [thread.path, other]));
            }
            _ => {}
        }
    }
}

/// Keeps the thread that has moved last, as long as it can; then the first or the last one that can.
struct Keep {
    last: Option<ThreadIndex>,
    from_end: bool,
}

impl Policy for Keep {
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Decision {
        let same = moves.iter().find(|one| Some(one.thread) == self.last);
        let other = if self.from_end { moves.last() } else { moves.first() };
        let next = same.or(other);
        self.last = next.map(|one| one.thread);
        next.map_or(Decision::Done, |one| Decision::Step(Choice { thread: one.thread, alternative: 0 }))
    }
}
