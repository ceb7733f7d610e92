//! The possible orders of the moves of threads, one move at a time.
//!
//! **Input**: a [`Projection`] of a trace. **Output**: [`Interleaving`]: the state before the first move, the moves that a state
//! allows, the moves that it forbids and why, and the state after a move.
//!
//! **Algorithm**: the extended variant graph of the paper (section IV.C), with flags for the whole language. A state consists of
//! the number of moves that each thread has done (the *index*), the object that each thread waits for (the *wait flag*), and the
//! value of each object: whether a lock is held (the *lock flag*) or an event set, the count of a semaphore, the number of
//! threads that have arrived at a barrier.
//!
//! - A `lock` is forbidden while the lock is held, a `rdlock` while a writer holds it. A wait on a condition releases its lock,
//!   and acquires it again as a separate move.
//! - A thread with a wait flag cannot move. A notification clears the flags of all waiting threads, or of one. Then each of them
//!   makes a separate move. A notification without a waiting thread is lost.
//! - Creating a thread and waiting for its end are not moves: they happen as soon as they can.
//!
//! A successful try of a lock is a move like `lock`. A failed try is no move, and neither is a time-out: from then on the thread
//! needs no notification.
//!
//! **Soundness and limits**: values of variables and results of tries are unknown here, so an order may prove impossible when it
//! is tried.

use super::ids::ActionId;
use super::projection::{Projection, barrier_count};
use super::trace::{ActionKind, Trace};
use cssame_ir::Program;
use cssame_vm::{Cell, PathId};

/// Threads of which orders are looked for: each state costs their cube.
pub const MAX_THREADS: usize = 64;

/// A state, as words: the index, the wait flags, the objects.
pub type Words = Vec<u32>;

/// A move: who, and which thread it wakes where it notifies one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The thread, by its number.
    pub thread: usize,
    /// The thread that is woken.
    pub wakes: Option<usize>,
}

/// Why a thread that is not at its end cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A lock is held.
    Lock,
    /// It waits for a notification, or at a barrier.
    Wait,
    /// An event is not set, a semaphore is 0, a thread has not been made or has not ended.
    Other,
}

/// The flag of a thread that waits bare; those that wait for an object have its number, and two more.
const BARE: u32 = 1;

/// The value of a lock that a thread holds for itself; below that a readers-writer lock has the number of its readers.
const TAKEN: u32 = u32::MAX;

/// A program of moves.
pub struct Interleaving<'a> {
    trace: &'a Trace,
    /// What is left of the trace.
    pub projection: &'a Projection,
    /// By thread: who makes it, at which move.
    makers: Vec<Option<(usize, usize)>>,
    /// By object: for a barrier, how many threads it is for.
    counts: Vec<u32>,
    /// Whether a thread may go on without a notification.
    spurious: bool,
}

impl<'a> Interleaving<'a> {
    /// The moves of a projection.
    #[must_use]
    pub fn new(program: &Program, trace: &'a Trace, projection: &'a Projection, spurious: bool) -> Interleaving<'a> {
        let mut makers = vec![None; projection.threads.len()];
        for (place, thread) in projection.threads.iter().enumerate() {
            for (number, actions) in thread.moves.iter().enumerate() {
                for &id in actions {
                    if let ActionKind::Fork(child) | ActionKind::Spawn(child) = trace.actions[id].kind
                        && let Some(child) = projection.thread(child)
                    {
                        makers[child] = Some((place, number));
                    }
                }
            }
        }
        let counts = projection.objects.iter().map(|&(cell, _)| barrier_count(program, cell)).collect();
        Interleaving { trace, projection, makers, counts, spurious }
    }

    fn threads(&self) -> usize {
        self.projection.threads.len()
    }

    /// The state before the first move.
    #[must_use]
    pub fn initial(&self) -> Words {
        let mut words = vec![0; 2 * self.threads()];
        words.extend(self.projection.objects.iter().map(|&(_, value)| value));
        self.settle(&mut words);
        words
    }

    /// The actions of the next move of a thread; none at its end.
    #[must_use]
    pub fn next(&self, words: &[u32], thread: usize) -> Option<&'a [ActionId]> {
        let projection: &'a Projection = self.projection;
        projection.threads[thread].moves.get(words[thread] as usize).map(Vec::as_slice)
    }

    /// Whether a thread has done all its moves and waits for nothing.
    #[must_use]
    pub fn is_done(&self, words: &[u32], thread: usize) -> bool {
        self.next(words, thread).is_none() && words[self.threads() + thread] == 0
    }

    fn is_done_path(&self, words: &[u32], path: PathId) -> bool {
        self.projection.thread(path).is_none_or(|thread| self.is_done(words, thread))
    }

    fn object(&self, cell: Cell) -> usize {
        2 * self.threads() + self.projection.number(cell)
    }

    fn flag(&self, condition: Option<Cell>) -> u32 {
        condition.map_or(BARE, |cell| 2 + self.projection.number(cell) as u32)
    }

    /// Why a thread cannot do its next move; `None` where it can, or is at its end.
    #[must_use]
    pub fn obstacle(&self, words: &[u32], thread: usize) -> Option<Obstacle> {
        let actions = self.next(words, thread)?;
        if self.makers[thread].is_some_and(|(maker, number)| words[maker] as usize <= number) {
            return Some(Obstacle::Other);
        }
        let first = self.trace.actions[*actions.first()?].kind;
        let may_go_on = match first {
            ActionKind::Relock { timed_out, .. } => timed_out || self.spurious,
            _ => false,
        };
        if words[self.threads() + thread] != 0 && !may_go_on {
            return Some(Obstacle::Wait);
        }
        match first {
            ActionKind::Lock(cell) | ActionKind::Relock { lock: cell, .. } if words[self.object(cell)] != 0 => {
                Some(Obstacle::Lock)
            }
            ActionKind::ReadLock(cell) if words[self.object(cell)] == TAKEN => Some(Obstacle::Lock),
            ActionKind::WaitEvent(cell) | ActionKind::Acquire(cell) if words[self.object(cell)] == 0 => {
                Some(Obstacle::Other)
            }
            ActionKind::JoinThread(child) if !self.is_done_path(words, child) => Some(Obstacle::Other),
            ActionKind::Join if !self.may_join(words, thread) => Some(Obstacle::Other),
            _ => None,
        }
    }

    /// Whether all threads have ended that a thread has forked so far.
    fn may_join(&self, words: &[u32], thread: usize) -> bool {
        let done = &self.projection.threads[thread].moves[..words[thread] as usize];
        done.iter().flatten().all(|&id| match self.trace.actions[id].kind {
            ActionKind::Fork(child) => self.is_done_path(words, child),
            _ => true,
        })
    }

    fn is_silent(&self, actions: &[ActionId]) -> bool {
        actions.iter().all(|&id| self.trace.actions[id].kind.is_of_threads())
    }

    /// Does all moves of making threads and waiting for their ends that can be done.
    fn settle(&self, words: &mut Words) {
        loop {
            let silent = (0..self.threads()).find(|&thread| {
                self.next(words, thread).is_some_and(|actions| self.is_silent(actions))
                    && self.obstacle(words, thread).is_none()
            });
            let Some(thread) = silent else { return };
            words[thread] += 1;
        }
    }

    /// Whether a thread does nothing but make threads and wait for their ends.
    #[must_use]
    pub fn is_silent_thread(&self, thread: usize) -> bool {
        self.projection.threads[thread].moves.iter().all(|actions| self.is_silent(actions))
    }

    /// The moves that a thread can do in a state: none, one, or one for each thread that it may wake.
    #[must_use]
    pub fn steps(&self, words: &[u32], thread: usize) -> Vec<Step> {
        let Some(actions) = self.next(words, thread) else { return Vec::new() };
        if self.obstacle(words, thread).is_some() {
            return Vec::new();
        }
        let notified = actions.iter().find_map(|&id| match self.trace.actions[id].kind {
            ActionKind::Notify { condition, all: false } => Some(self.flag(condition)),
            _ => None,
        });
        if let Some(flag) = notified {
            let flags = &words[self.threads()..2 * self.threads()];
            let waiting = flags.iter().enumerate().filter(|&(_, &of)| of == flag);
            let steps: Vec<Step> = waiting.map(|(wakes, _)| Step { thread, wakes: Some(wakes) }).collect();
            if !steps.is_empty() {
                return steps;
            }
        }
        vec![Step { thread, wakes: None }]
    }

    /// The state behind a move.
    #[must_use]
    pub fn apply(&self, words: &[u32], step: Step) -> Words {
        let mut after = words.to_vec();
        let threads = self.threads();
        after[step.thread] += 1;
        if self.spurious {
            after[threads + step.thread] = 0;
        }
        for &id in self.next(words, step.thread).unwrap_or_default() {
            match self.trace.actions[id].kind {
                ActionKind::Lock(cell) | ActionKind::Relock { lock: cell, .. } => {
                    after[self.object(cell)] = TAKEN;
                    // Whoever has given up waiting is notified no more.
                    after[threads + step.thread] = 0;
                }
                ActionKind::Set(cell) => after[self.object(cell)] = 1,
                ActionKind::ReadLock(cell) => after[self.object(cell)] += 1,
                ActionKind::ReadUnlock(cell) => after[self.object(cell)] = after[self.object(cell)].saturating_sub(1),
                ActionKind::Unlock(cell) | ActionKind::Clear(cell) => after[self.object(cell)] = 0,
                ActionKind::Acquire(cell) => after[self.object(cell)] = after[self.object(cell)].saturating_sub(1),
                ActionKind::Release(cell) => after[self.object(cell)] = after[self.object(cell)].saturating_add(1),
                ActionKind::Wait { condition } => {
                    after[threads + step.thread] = self.flag(condition.map(|pair| pair.0));
                    if let Some((_, lock)) = condition {
                        after[self.object(lock)] = 0;
                    }
                }
                ActionKind::Notify { condition, all } => {
                    let flag = self.flag(condition);
                    for thread in 0..threads {
                        if after[threads + thread] == flag && (all || step.wakes == Some(thread)) {
                            after[threads + thread] = 0;
                        }
                    }
                }
                ActionKind::Arrive(cell) => self.arrive(&mut after, step.thread, cell),
                _ => {}
            }
        }
        self.settle(&mut after);
        after
    }

    fn arrive(&self, words: &mut Words, thread: usize, cell: Cell) {
        let (threads, object, flag) = (self.threads(), self.object(cell), self.flag(Some(cell)));
        words[object] += 1;
        if words[object] < self.counts[object - 2 * threads] {
            words[threads + thread] = flag;
            return;
        }
        words[object] = 0;
        for other in 0..threads {
            if words[threads + other] == flag {
                words[threads + other] = 0;
            }
        }
    }
}
