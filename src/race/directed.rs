//! Race-directed scheduling: brings two threads before two accesses at the same time.
//!
//! **Input**: a pair of places, and a seed. **Output**: a [`Policy`], which knows after the execution whether it has
//! hit the race.
//!
//! **Algorithm** (Sen 2008, Algorithm 1, with the corrections of docs/races.md).
//!
//! 1. Draw a thread that can move and is not postponed. If its next step accesses neither place, the thread does the step.
//! 2. Otherwise compare it with the postponed threads. If one of them stands at the other place, and their accesses race, the
//!    race is real: a *hit*. Two threads at the same one of two places are another race, which is recorded; both stay postponed.
//! 3. A fair coin resolves a hit: either the arriving thread does its step, or it is postponed and all threads that wait in
//!    conflict with it do their steps, one after the other.
//! 4. Without a hit, the thread is postponed.
//! 5. If all threads that can move are postponed, a random one of them does its step. A thread that was postponed while the
//!    others have done more than `max_postponed` steps also does its step. If a place may run more than once, half of the
//!    executions let a thread that reaches it alone pass every second time: the race may be possible only after the first visit.
//! 6. After a hit, half of the executions keep the losers postponed, as in the paper. In the other half no thread is postponed
//!    any more, and the threads are drawn at random. These executions show harm that occurs only after both threads have gone on.
//!
//! Half of the executions draw threads as in step 1. The other half use random priorities, which keep one thread running as long
//! as it can (Burckhardt, Kothari, Musuvathi and Nagarakatte 2010). The first half can hardly reach a race in which a read at the
//! very beginning of a thread must come after many steps of another thread. A thread that has done [`RUN`] steps in a row gets
//! the lowest priority.
//!
//! A thread waits only before an access that may race: a reading thread does not wait for another reading thread.
//!
//! A thread that is released from the postponed ones does its step at once. The text of the paper checks again whether it stands
//! at a place of the pair, which would postpone it for ever.
//!
//! **Soundness and limits**: a hit is a race: both threads stand before their accesses in a reached state. The absence of hits
//! proves nothing.

use cssame_ir::{Access, Program};
use cssame_schedule::{Decision, Lookahead, PendingAccesses, Policy, Random, View};
use cssame_vm::{Choice, Machine, Move, ThreadIndex, Visibility};
use fixedbitset::FixedBitSet;
use std::sync::Arc;

/// A set of sides of a pair: of its first place, of its second place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides(u8);

impl Sides {
    /// Neither place.
    pub const NONE: Sides = Sides(0);

    /// One place, by its number, 0 or 1.
    #[must_use]
    pub fn one(side: usize) -> Sides {
        Sides(1 << side)
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Sides) -> Sides {
        Sides(self.0 | other.0)
    }

    /// Whether a place is in it.
    #[must_use]
    pub fn has(self, side: usize) -> bool {
        self.0 & 1 << side != 0
    }

    /// Whether no place is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Steps in a row after which a thread falls behind all others.
const RUN: u32 = 500;

/// What a directed policy is to bring about. The policies of many executions share it.
#[derive(Debug)]
pub struct Goal {
    reads: [FixedBitSet; 2],
    definitions: [FixedBitSet; 2],
    /// By instruction: whether a step from there may access a place of the pair.
    near: FixedBitSet,
    /// Places that may run more than once.
    repeats: Sides,
    /// Steps of others after which a thread is not postponed any longer.
    max_postponed: u64,
}

impl Goal {
    /// The race of two places: the accesses that may race, the one at the first place first, and which of them may run
    /// more than once.
    #[must_use]
    pub fn new(
        program: &Program,
        machine: &Machine,
        accesses: &[[Access; 2]],
        may_repeat: impl Fn(Access) -> bool,
        max_postponed: u64,
    ) -> Goal {
        let mut reads = [(); 2].map(|()| FixedBitSet::with_capacity(program.reads.len()));
        let mut definitions = [(); 2].map(|()| FixedBitSet::with_capacity(program.definitions.len()));
        let mut repeats = Sides::NONE;
        for (side, &access) in accesses.iter().flat_map(|pair| pair.iter().enumerate()) {
            match access {
                Access::Read(read) => reads[side].insert(read.index()),
                Access::Write(definition) => definitions[side].insert(definition.index()),
            }
            if may_repeat(access) {
                repeats = repeats.with(Sides::one(side));
            }
        }
        let both = |[first, second]: &[FixedBitSet; 2]| first.union(second).collect();
        let near = machine.steps_that_may_access(&Visibility { reads: both(&reads), definitions: both(&definitions) });
        Goal { reads, definitions, near, repeats, max_postponed }
    }

    fn sides(&self, access: Access) -> Sides {
        let is_at = |side: usize| match access {
            Access::Read(read) => self.reads[side].contains(read.index()),
            Access::Write(definition) => self.definitions[side].contains(definition.index()),
        };
        Sides(u8::from(is_at(0)) | u8::from(is_at(1)) << 1)
    }
}

/// A thread that waits at a place of the pair.
#[derive(Clone, Debug)]
struct Postponed {
    thread: ThreadIndex,
    /// The step at which it began to wait.
    since: u64,
}

/// What an execution has shown of the race that it was directed at.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// How many steps had been done at the first hit.
    pub first: Option<usize>,
    /// Which places have gone first in a hit.
    pub went_first: Sides,
    /// For each place: how many steps had been done when two threads first stood at it and raced.
    pub with_itself: [Option<usize>; 2],
}

/// The policy of one execution.
#[derive(Debug)]
pub struct RaceDirected<'a> {
    program: &'a Program,
    goal: Arc<Goal>,
    random: Random,
    lookahead: Lookahead,
    postponed: Vec<Postponed>,
    /// Threads that have won a race and go next.
    next: Vec<ThreadIndex>,
    /// Whether nobody is postponed any more after a hit.
    lets_go: bool,
    /// Whether a thread may pass a place alone.
    passes: bool,
    /// Priorities by slot, where threads are drawn by them; the next one is lower than all.
    priorities: Option<Vec<u64>>,
    lowest: u64,
    /// The thread that has done the last step, and how many in a row.
    run: (ThreadIndex, u32),
    /// Whether nobody is postponed any more.
    undirected: bool,
    steps: u64,
    hits: Hits,
    candidates: Vec<Move>,
}

/// The conflict of an arriving thread with those that are postponed.
#[derive(Default)]
struct Conflict {
    threads: Vec<ThreadIndex>,
    /// The places at which the arriving thread, and the others, stand.
    arriving: Sides,
    waiting: Sides,
}

impl<'a> RaceDirected<'a> {
    /// The policy of a seed.
    #[must_use]
    pub fn new(program: &'a Program, goal: Arc<Goal>, seed: u64) -> RaceDirected<'a> {
        let mut random = Random::new(seed);
        let goal_repeats = goal.repeats;
        let [lets_go, passes, by_priority] = [(); 3].map(|()| random.below(2) == 0);
        RaceDirected {
            program,
            goal,
            random,
            lookahead: Lookahead::default(),
            postponed: Vec::new(),
            next: Vec::new(),
            lets_go,
            passes: passes && !goal_repeats.is_empty(),
            priorities: by_priority.then(Vec::new),
            lowest: u64::from(u32::MAX),
            run: (ThreadIndex(0), 0),
            undirected: false,
            steps: 0,
            hits: Hits::default(),
            candidates: Vec::new(),
        }
    }

    /// What it has met.
    #[must_use]
    pub fn hits(&self) -> &Hits {
        &self.hits
    }

    fn is_postponed(&self, thread: ThreadIndex) -> bool {
        self.postponed.iter().any(|one| one.thread == thread)
    }

    /// Takes a thread out of the postponed ones.
    fn release(&mut self, thread: ThreadIndex) {
        self.postponed.retain(|one| one.thread != thread);
    }

    /// A step of a thread.
    fn step(&mut self, Move { thread, alternatives }: Move) -> Decision {
        self.steps += 1;
        self.run = if self.run.0 == thread { (thread, self.run.1 + 1) } else { (thread, 1) };
        let alternative = if alternatives == 1 { 0 } else { self.random.below(alternatives) };
        Decision::Step(Choice { thread, alternative })
    }

    /// Which threads that are postponed stand in conflict with one that arrives.
    fn conflict(&mut self, view: &View<'_>, arriving: &PendingAccesses) -> Conflict {
        let mut found = Conflict::default();
        for index in 0..self.postponed.len() {
            let thread = self.postponed[index].thread;
            // What a block would access depends on what others have done since.
            let waiting = self.lookahead.accesses(self.program, view, thread);
            let mut is_hit = false;
            for one in arriving {
                for other in waiting.iter().filter(|other| one.races_with(other)) {
                    let (here, there) = (self.goal.sides(one.access), self.goal.sides(other.access));
                    for side in 0..2 {
                        if here.has(side) && there.has(1 - side) {
                            is_hit = true;
                            found.arriving = found.arriving.with(Sides::one(side));
                            found.waiting = found.waiting.with(Sides::one(1 - side));
                        }
                        if here.has(side) && there.has(side) {
                            self.hits.with_itself[side].get_or_insert(self.steps as usize);
                        }
                    }
                }
            }
            if is_hit {
                found.threads.push(thread);
            }
        }
        found
    }

    /// Step 3: who goes first.
    fn resolve(&mut self, thread: ThreadIndex, conflict: Conflict) -> ThreadIndex {
        self.hits.first.get_or_insert(self.steps as usize);
        let arriving_goes = self.random.below(2) == 0;
        let first = if arriving_goes { conflict.arriving } else { conflict.waiting };
        self.hits.went_first = self.hits.went_first.with(first);
        self.undirected = self.lets_go;
        if arriving_goes {
            return thread;
        }
        self.postponed.push(Postponed { thread, since: self.steps });
        conflict.threads.iter().for_each(|&other| self.release(other));
        self.next = conflict.threads;
        self.next.reverse();
        self.next.pop().unwrap_or(thread)
    }

    /// A thread that was postponed for too long.
    fn overdue(&self, moves: &[Move]) -> Option<Move> {
        let limit = self.goal.max_postponed;
        let overdue = self.postponed.iter().find(|one| self.steps - one.since > limit);
        overdue.and_then(|one| move_of(moves, one.thread))
    }

    /// One that is not postponed; none if all are.
    fn draw_free(&mut self, moves: &[Move]) -> Option<Move> {
        if self.postponed.is_empty() {
            return Some(self.pick(moves));
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend(moves.iter().filter(|one| !self.is_postponed(one.thread)));
        let drawn = (!candidates.is_empty()).then(|| self.pick(&candidates));
        self.candidates = candidates;
        drawn
    }

    /// The thread that goes next: steps 1 to 5.
    fn draw(&mut self, view: &View<'_>, moves: &[Move]) -> Move {
        loop {
            if let Some(one) = self.overdue(moves) {
                self.release(one.thread);
                return one;
            }
            let Some(one) = self.draw_free(moves) else {
                let one = moves[self.random.below(moves.len() as u32) as usize];
                self.release(one.thread);
                return one;
            };
            let thread = one.thread;
            // Most steps have nothing to do with the pair.
            if !self.goal.near.contains(view.state.position(thread).0 as usize) {
                return one;
            }
            let mut accesses = self.lookahead.accesses(self.program, view, thread);
            accesses.retain(|access| !self.goal.sides(access.access).is_empty());
            if accesses.is_empty() {
                return one;
            }
            let conflict = self.conflict(view, &accesses);
            if !conflict.threads.is_empty() {
                let goes = self.resolve(thread, conflict);
                return move_of(moves, goes).unwrap_or(one);
            }
            if self.passes && self.random.below(2) == 0 {
                let sides = accesses.iter().fold(Sides::NONE, |all, one| all.with(self.goal.sides(one.access)));
                if (0..2).all(|side| !sides.has(side) || self.goal.repeats.has(side)) {
                    return one;
                }
            }
            self.postponed.push(Postponed { thread, since: self.steps });
        }
    }

    /// One of the candidates: at random, or the one of the highest priority.
    fn pick(&mut self, candidates: &[Move]) -> Move {
        let RaceDirected { priorities, random, lowest, run, .. } = self;
        let Some(priorities) = priorities else {
            return candidates[random.below(candidates.len() as u32) as usize];
        };
        let mut best = (0, candidates[0]);
        for &one in candidates {
            let thread = one.thread;
            while priorities.len() <= thread.index() {
                priorities.push(u64::from(u32::MAX) + 1 + u64::from(random.below(u32::MAX)));
            }
            if run.0 == thread && run.1 >= RUN && candidates.len() > 1 {
                *lowest = lowest.saturating_sub(1);
                priorities[thread.index()] = *lowest;
                run.1 = 0;
            }
            if priorities[thread.index()] > best.0 {
                best = (priorities[thread.index()], one);
            }
        }
        best.1
    }
}

fn move_of(moves: &[Move], thread: ThreadIndex) -> Option<Move> {
    moves.iter().copied().find(|one| one.thread == thread)
}

impl Policy for RaceDirected<'_> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        while let Some(thread) = self.next.pop() {
            if let Some(one) = move_of(moves, thread) {
                return self.step(one);
            }
        }
        if self.undirected {
            let one = moves[self.random.below(moves.len() as u32) as usize];
            return self.step(one);
        }
        let one = self.draw(view, moves);
        debug_assert!(!self.is_postponed(one.thread), "a thread that goes on is not postponed");
        self.step(one)
    }
}

/// The seed of an execution that is directed at a pair: it depends on the places of the text and on a number alone.
#[must_use]
pub fn seed_of(positions: [cssame_source::Position; 2], number: u64) -> u64 {
    let mut mixed = number;
    for part in positions.iter().flat_map(|position| [position.line, position.column]) {
        // A round of SplitMix64 for each part.
        mixed = mixed.wrapping_add(u64::from(part)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
    }
    mixed
}
