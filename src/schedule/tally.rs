//! Tallies: the frequency of each outcome in many executions by seeds.
//!
//! **Input**: a machine, a range of seeds, a policy for each of them, and a [`Budget`] for the clock and the number of cores.
//!
//! **Output**: a [`Tallied`]: each outcome once (the output of each thread and the end of the execution), with the number of
//! executions that have it and the first of their seeds.
//!
//! **Algorithm**.
//!
//! 1. The seeds are taken in rounds, each of chunks of consecutive seeds. Rounds grow, so that a program that fails soon, or has
//!    long executions, gets an early answer. The workers of a round draw its chunks one by one.
//! 2. A worker counts the outcomes of a chunk under the ids of its own tables. The only allocation for an execution is the one
//!    for a new outcome.
//! 3. After a round, the counts of its chunks are added in the order of the seeds.
//! 4. If the first bad end should stop the tally, all workers know the lowest seed that has one: no higher seed is started any
//!    more, every lower one is completed, and higher ones do not count.
//!
//! **Soundness and limits**. The answer does not depend on the number of cores. If the time is up or the user stops the work, the
//! executions made by then are counted; their seeds depend on the clock. At most [`MAX_OUTCOMES`] outcomes are distinguished;
//! executions with further outcomes are counted together.

use super::execution::{ExecutionStatus, Room};
use super::policy::Policy;
use cssame_budget::{Bound, Budget, Statistics};
use cssame_ir::TextId;
use cssame_vm::{CodeIndex, Failure, FailureKind, Machine, OutputId, PathId, State, Tables};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Outcomes that are told apart.
pub const MAX_OUTCOMES: usize = 100_000;

/// Chunks of a round for each core: enough that no core waits for long at its end.
const CHUNKS: u64 = 4;

/// Seeds of a chunk at most.
const MAX_CHUNK: u64 = 4_096;

/// How much larger the chunks are than those of the round before.
const GROWTH: u64 = 4;

/// Bytes of names and outputs from which on the tables of a worker are emptied.
const MAX_TABLES: u64 = 64 << 20;

/// Executions to make and count.
#[derive(Clone, Debug)]
pub struct Tally<'a> {
    /// The program.
    pub machine: &'a Machine,
    /// One execution for each of them.
    pub seeds: Range<u64>,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// Whether to stop at the first seed whose execution fails or ends in a deadlock.
    pub stops_at_first: bool,
    /// The clock, the wish of the user to stop, and the cores that may be used. What can be counted is not looked at.
    pub budget: &'a Budget<'a>,
}

/// How executions end, where only the place matters at which they fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    Ok,
    Failed(FailureKind, Option<TextId>, CodeIndex),
    Deadlock,
    Discarded,
    StepLimit,
    Stopped,
}

/// What tells the outcomes of a chunk apart: outputs sorted by thread, and the end.
type Key = (SmallVec<[(PathId, OutputId); 4]>, End);

/// The executions of a chunk, or of all seeds, that have one outcome.
#[derive(Clone, Debug)]
struct Count {
    status: ExecutionStatus,
    executions: u64,
    first_seed: u64,
}

/// An outcome.
#[derive(Clone, Debug)]
pub struct TalliedOutcome {
    /// What is printed, in the order of threads; those that have printed nothing are left out.
    pub outputs: Vec<(PathId, OutputId)>,
    /// How the execution of the first seed ends.
    pub status: ExecutionStatus,
    /// Executions that have it.
    pub executions: u64,
    /// The lowest seed of those.
    pub first_seed: u64,
}

/// What was counted.
#[derive(Clone, Debug)]
pub struct Tallied {
    /// By falling number of executions, and rising first seed.
    pub outcomes: Vec<TalliedOutcome>,
    /// Executions that were made.
    pub executions: u64,
    /// Those of them whose outcomes are not told apart, because there were too many before.
    pub others: u64,
    /// The lowest seed whose execution fails or ends in a deadlock.
    pub first_bad: Option<u64>,
    /// Why not all seeds were tried, where that is not for a bad end.
    pub bound: Option<Bound>,
    /// Names of threads, and outputs.
    pub tables: Tables,
}

impl Tally<'_> {
    /// Makes the executions, each by the policy of its seed, and counts them.
    pub fn run<P: Policy>(&self, policy: impl Fn(u64) -> P + Sync) -> Tallied {
        let mut rooms: Vec<Room> = (0..self.budget.jobs()).map(|_| Room::default()).collect();
        let mut sum = Sum::default();
        let lowest_bad = AtomicU64::new(u64::MAX);
        let (mut first, mut size) = (self.seeds.start, 1);
        let mut bound = None;
        while first < self.seeds.end && bound.is_none() && (sum.first_bad.is_none() || !self.stops_at_first) {
            let done = Statistics {
                executions: sum.executions,
                expected: self.seeds.end - self.seeds.start,
                ..Statistics::default()
            };
            if let Err(hit) = self.budget.report(&done) {
                bound = Some(hit);
                break;
            }
            let all = size * CHUNKS * rooms.len() as u64;
            let round = Round {
                tally: self,
                seeds: first..self.seeds.end.min(first.saturating_add(all)),
                size,
                lowest_bad: &lowest_bad,
            };
            let chunks = round.run(&policy, &mut rooms);
            for chunk in chunks {
                if chunk.is_cut {
                    bound = Some(self.budget.check().unwrap_or(Bound::Interrupt));
                }
                // Of a chunk behind the first bad end nothing counts.
                if !self.stops_at_first || chunk.first_seed <= lowest_bad.load(Ordering::Relaxed) {
                    sum.add(&rooms[chunk.room].tables, chunk);
                }
            }
            for room in &mut rooms {
                if room.tables.bytes() > MAX_TABLES {
                    room.tables = Tables::new();
                }
            }
            first = round.seeds.end;
            size = (size * GROWTH).min(MAX_CHUNK);
        }
        sum.list(bound)
    }
}

/// The counts of one chunk, under the ids of the tables of a room.
struct Chunk {
    room: usize,
    first_seed: u64,
    /// By rising first seed.
    outcomes: Vec<(Key, Count)>,
    first_bad: Option<u64>,
    /// Whether the clock or the user has ended it.
    is_cut: bool,
}

/// Chunks that are counted at the same time.
struct Round<'a> {
    tally: &'a Tally<'a>,
    seeds: Range<u64>,
    /// Seeds of a chunk.
    size: u64,
    /// The lowest seed known to end badly; other workers may find lower ones.
    lowest_bad: &'a AtomicU64,
}

impl Round<'_> {
    /// The chunks, in the order of their seeds.
    fn run<P: Policy>(&self, policy: &(impl Fn(u64) -> P + Sync), rooms: &mut [Room]) -> Vec<Chunk> {
        let next = AtomicU64::new(self.seeds.start);
        let chunks = Mutex::new(Vec::new());
        let work = |number: usize, room: &mut Room| {
            loop {
                let first = next.fetch_add(self.size, Ordering::Relaxed);
                if first >= self.seeds.end {
                    return;
                }
                let chunk =
                    self.chunk(policy, first..self.seeds.end.min(first.saturating_add(self.size)), (number, room));
                // A worker that panics takes all with it, at the end of the scope.
                chunks.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
            }
        };
        match rooms {
            [room] => work(0, room),
            rooms => thread::scope(|scope| {
                for (number, room) in rooms.iter_mut().enumerate() {
                    scope.spawn(move || work(number, room));
                }
            }),
        }
        let mut chunks = chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
        chunks.sort_unstable_by_key(|chunk: &Chunk| chunk.first_seed);
        chunks
    }

    fn chunk<P: Policy>(
        &self,
        policy: &impl Fn(u64) -> P,
        seeds: Range<u64>,
        (number, room): (usize, &mut Room),
    ) -> Chunk {
        let Tally { machine, max_steps, stops_at_first, budget, .. } = *self.tally;
        let mut chunk =
            Chunk { room: number, first_seed: seeds.start, outcomes: Vec::new(), first_bad: None, is_cut: false };
        let mut places: FxHashMap<Key, usize> = FxHashMap::default();
        for seed in seeds {
            if stops_at_first && seed > self.lowest_bad.load(Ordering::Relaxed) {
                break;
            }
            if budget.check().is_some() {
                chunk.is_cut = true;
                break;
            }
            let status = room.run(machine, &mut policy(seed), max_steps, &mut ());
            if status.is_bad() {
                chunk.first_bad = chunk.first_bad.or(Some(seed));
                if stops_at_first {
                    self.lowest_bad.fetch_min(seed, Ordering::Relaxed);
                }
            }
            chunk.count(machine, (&room.state, &room.tables), &mut places, status, seed);
        }
        chunk
    }
}

impl Chunk {
    fn count(
        &mut self,
        machine: &Machine,
        (state, tables): (&State, &Tables),
        places: &mut FxHashMap<Key, usize>,
        status: ExecutionStatus,
        seed: u64,
    ) {
        let mut outputs: SmallVec<[(PathId, OutputId); 4]> = state.printed(tables).collect();
        outputs.sort_unstable();
        match places.entry((outputs, End::of(machine, &status))) {
            Entry::Occupied(known) => self.outcomes[*known.get()].1.executions += 1,
            Entry::Vacant(new) => {
                let key = new.key().clone();
                new.insert(self.outcomes.len());
                self.outcomes.push((key, Count { status, executions: 1, first_seed: seed }));
            }
        }
    }
}

impl End {
    fn of(machine: &Machine, status: &ExecutionStatus) -> End {
        match *status {
            ExecutionStatus::Ok => End::Ok,
            ExecutionStatus::Failed(Failure { kind, message, at, .. }) => End::Failed(kind, message, machine.place(at)),
            ExecutionStatus::Deadlock => End::Deadlock,
            ExecutionStatus::Discarded => End::Discarded,
            ExecutionStatus::StepLimit => End::StepLimit,
            ExecutionStatus::Stopped => End::Stopped,
        }
    }
}

/// The counts of all chunks so far, under ids of its own.
#[derive(Default)]
struct Sum {
    tables: Tables,
    counts: FxHashMap<(Vec<(PathId, OutputId)>, End), Count>,
    executions: u64,
    others: u64,
    first_bad: Option<u64>,
}

impl Sum {
    fn add(&mut self, tables: &Tables, chunk: Chunk) {
        self.first_bad = self.first_bad.or(chunk.first_bad);
        for ((outputs, end), count) in chunk.outcomes {
            self.executions += count.executions;
            let known = self.tables.marks();
            let mut outputs: Vec<(PathId, OutputId)> = outputs
                .into_iter()
                .map(|(path, output)| (self.tables.adopt_path(tables, path), self.tables.adopt_output(tables, output)))
                .collect();
            outputs.sort_by(|left, right| self.tables.compare_paths(left.0, right.0));
            let is_full = self.counts.len() >= MAX_OUTCOMES;
            match self.counts.entry((outputs, end)) {
                Entry::Occupied(mut sum) => sum.get_mut().executions += count.executions,
                Entry::Vacant(_) if is_full => {
                    self.others += count.executions;
                    self.tables.truncate(known);
                }
                Entry::Vacant(new) => {
                    new.insert(count);
                }
            }
        }
    }

    fn list(self, bound: Option<Bound>) -> Tallied {
        let Sum { tables, counts, executions, others, first_bad } = self;
        let outcome = |((outputs, _), count): ((Vec<(PathId, OutputId)>, End), Count)| TalliedOutcome {
            outputs,
            status: count.status,
            executions: count.executions,
            first_seed: count.first_seed,
        };
        let mut outcomes: Vec<TalliedOutcome> = counts.into_iter().map(outcome).collect();
        outcomes.sort_unstable_by_key(|outcome| (std::cmp::Reverse(outcome.executions), outcome.first_seed));
        Tallied { outcomes, executions, others, first_bad, bound, tables }
    }
}

#[cfg(test)]
mod tests;
