//! The search: every execution, one after the other, by depth-first choice of the next step.
//!
//! No state is remembered as visited and no interleaving is left out. At a branch point the state is copied; the last
//! way out of it takes the state itself.

use super::code::NONE;
use super::local::{Event, Machine};
use super::state::{Condition, State};
use super::step::{Move, Progress};
use super::value::Status;
use rustc_hash::{FxHashMap, FxHashSet};

/// A branch point on the current path.
struct Node {
    state: State,
    /// Its moves that are left: the end of the stack of moves, from here.
    moves: usize,
    /// Length of the trail there.
    trail: usize,
}

/// What the search found, in the terms of the machine.
#[derive(Debug, Default)]
pub struct Found {
    pub complete: bool,
    pub executions: u64,
    pub discarded: u64,
    /// Name of the read, name of the write, whether the variable is shared.
    pub pairs: FxHashSet<(u32, u32, bool)>,
    /// The same with where they stand in their calls: read, its place; write, its place; and whether the read is a step.
    pub located: FxHashSet<([u32; 4], bool)>,
    /// Of each execution what its threads read: thread, read and place, write and place.
    pub profiles: FxHashSet<Vec<[u32; 5]>>,
    /// The status, then path and output of each thread that printed.
    pub outcomes: FxHashMap<(Status, Vec<(u32, u32)>), u64>,
    /// Encoded futures, see [`future`].
    pub futures: FxHashSet<Vec<u32>>,
    /// The status of each future, by the first word of its code.
    pub statuses: Vec<Status>,
}

/// Bounds and wishes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_executions: u64,
    pub futures: bool,
    /// Whether it is kept what each execution reads; needs the ways of the machine.
    pub profiles: bool,
}

/// Words of an encoded event: thread, ordinal, name of the read, and name, thread and ordinal of the write.
pub const EVENT_WORDS: usize = 6;

struct Search<'m, 'c> {
    machine: &'m mut Machine<'c>,
    found: Found,
    limits: Limits,
    nodes: Vec<Node>,
    moves: Vec<Move>,
    /// States whose memory can be used again.
    spare: Vec<State>,
    /// How much of the trail is already in `found`.
    committed: usize,
}

/// Explores all executions; stops early where a variable turns out to be shared (see [`Machine::newly_shared`]).
pub fn search(machine: &mut Machine<'_>, limits: Limits) -> Found {
    let found = Found { complete: true, ..Found::default() };
    let mut search =
        Search { machine, found, limits, nodes: Vec::new(), moves: Vec::new(), spare: Vec::new(), committed: 0 };
    search.run();
    search.found
}

impl Search<'_, '_> {
    fn run(&mut self) {
        let main = self.machine.paths.intern("main");
        let mut state = State::initial(self.machine.code, main);
        self.machine.advance(&mut state, 0);
        loop {
            self.descend(&mut state);
            loop {
                if self.machine.newly_shared.is_some() {
                    return;
                }
                if self.found.executions + self.found.discarded >= self.limits.max_executions {
                    self.found.complete &= self.nodes.is_empty();
                    return;
                }
                let Some(next) = self.backtrack(&mut state) else { return };
                if self.go(&mut state, next) {
                    break;
                }
            }
        }
    }

    /// Follows the first way from each branch point to the end of an execution.
    fn descend(&mut self, state: &mut State) {
        loop {
            let from = self.moves.len();
            self.machine.moves(state, &mut self.moves);
            if self.moves.len() == from {
                let blocked = state.threads.iter().any(|thread| thread.condition != Condition::Ended);
                return self.end(state, if blocked { Status::Deadlock } else { Status::Ok });
            }
            let Some(first) = self.moves.pop() else { return };
            if self.moves.len() > from {
                let mut copy = self.spare.pop().unwrap_or_default();
                copy.clone_from(state);
                self.nodes.push(Node { state: copy, moves: from, trail: self.machine.trail.len() });
            }
            if !self.go(state, first) {
                return;
            }
        }
    }

    /// One step; false where it ended the execution.
    fn go(&mut self, state: &mut State, next: Move) -> bool {
        match self.machine.step(state, next) {
            Progress::Going => self.machine.newly_shared.is_none(),
            Progress::Ended(status) => {
                self.end(state, status);
                false
            }
            Progress::Discarded => {
                self.found.discarded += 1;
                false
            }
        }
    }

    /// Goes back to the last branch point with a way left, and says which.
    fn backtrack(&mut self, state: &mut State) -> Option<Move> {
        let node = self.nodes.last()?;
        self.machine.trail.truncate(node.trail);
        self.committed = self.committed.min(node.trail);
        let next = self.moves.pop()?;
        if self.moves.len() > node.moves {
            state.clone_from(&node.state);
        } else if let Some(mut node) = self.nodes.pop() {
            std::mem::swap(state, &mut node.state);
            self.spare.push(node.state);
        }
        Some(next)
    }

    fn end(&mut self, state: &State, status: Status) {
        self.found.executions += 1;
        // An execution that ran into the bound on steps says nothing of what comes behind it.
        self.found.complete &= state.steps <= self.machine.max_steps;
        for event in &self.machine.trail[self.committed..] {
            if event.name != NONE {
                self.found.pairs.insert((event.name, event.writer.name, event.visible));
                if event.located != NONE {
                    let Event { name, located, writer, visible, .. } = *event;
                    self.found.located.insert(([name, located, writer.name, writer.located], visible));
                }
            }
        }
        self.committed = self.machine.trail.len();
        if self.limits.profiles {
            self.found.profiles.insert(profile(self.machine));
        }
        let mut outputs: Vec<(u32, u32)> = state
            .threads
            .iter()
            // In a deadlock every thread has come as far as it could.
            .map(|thread| (thread.path, if status == Status::Deadlock { thread.ahead } else { thread.printed }))
            .filter(|&(_, output)| output != NONE)
            .collect();
        outputs.sort_unstable();
        *self.found.outcomes.entry((status, outputs)).or_insert(0) += 1;
        if self.limits.futures {
            let word = self.found.statuses.iter().position(|&known| known == status).unwrap_or_else(|| {
                self.found.statuses.push(status);
                self.found.statuses.len() - 1
            });
            let code = future(self.machine, state, status, word as u32);
            self.found.futures.insert(code);
        }
    }
}

/// What each thread reads, in its order.
fn profile(machine: &Machine<'_>) -> Vec<[u32; 5]> {
    let reads = machine.trail.iter().filter(|event| event.visible && event.name != NONE);
    let words = |event: &Event| [event.thread, event.name, event.located, event.writer.name, event.writer.located];
    let mut reads: Vec<[u32; 5]> = reads.map(words).collect();
    reads.sort_by_key(|read| read[0]);
    reads
}

/// The future of an execution as words: status, number of blocked threads, their paths and places, then the visible
/// reads and choices by thread and number.
fn future(machine: &Machine<'_>, state: &State, status: Status, word: u32) -> Vec<u32> {
    let mut blocked: Vec<(u32, u32)> = Vec::new();
    if status == Status::Deadlock {
        for thread in state.threads.iter().filter(|thread| thread.condition != Condition::Ended) {
            let behind = matches!(thread.condition, Condition::AtBarrier(_) | Condition::BareWaiting);
            let pc = if behind { thread.pc - 1 } else { thread.pc };
            blocked.push((thread.path, machine.code.places[pc as usize]));
        }
        blocked.sort_unstable();
    }
    let mut events: Vec<&Event> = machine.trail.iter().filter(|event| event.visible).collect();
    events.sort_unstable_by_key(|event| (event.thread, event.name == NONE, event.ordinal));
    let mut words = Vec::with_capacity(2 + 2 * blocked.len() + EVENT_WORDS * events.len());
    words.extend([word, blocked.len() as u32]);
    for (path, place) in blocked {
        words.extend([path, place]);
    }
    for event in events {
        let writer = event.writer;
        words.extend([event.thread, event.ordinal, event.name, writer.name, writer.thread, writer.ordinal]);
    }
    words
}
