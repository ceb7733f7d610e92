//! Cycles in one execution.
//!
//! **Input**: the steps of an execution. **Output**: a fair cycle through states that it has visited; or whether its last steps
//! lead back to the state in which they began.
//!
//! **Algorithm**: the steps are repeated. States that do not differ in data relevant to the future count as one. The states and
//! the steps between them are a part of the graph of all states, and are searched for fair components in the same way.
//!
//! **Soundness and limits**: a cycle that is found is a fair cycle of the program: for each visited state, the threads that can
//! move in it are known. The threads that another thread could have woken instead are unknown. States that were not visited are
//! not examined.

use super::Fairness;
use super::components::{Component, Finder};
use super::lasso::lasso;
use super::space::{Label, Space};
use cssame_schedule::Walk;
use cssame_vm::{Choice, Machine, Move, Pending, Progress, State, Tables, ThreadIndex};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// A fair cycle in an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenCycle {
    /// The number of steps of the execution before it.
    pub start: usize,
    /// The steps that lead back to where they began.
    pub cycle: Vec<Choice>,
}

/// What tells states apart that have different futures.
fn future_of(machine: &Machine, state: &State) -> u128 {
    let mut state = state.clone();
    state.forget_past();
    machine.fingerprint(&state)
}

/// Whether the steps behind the first `start` ones lead back to the state in which they begin.
#[must_use]
pub fn returns(machine: &Machine, steps: &[Choice], start: usize) -> bool {
    let (before, cycle) = steps.split_at(start.min(steps.len()));
    let mut tables = Tables::new();
    let mut walk = Walk::new(machine, &mut tables, &mut ());
    if cycle.is_empty() || walk.follow(before, &mut ()).is_err() {
        return false;
    }
    let first = future_of(machine, walk.state());
    walk.follow(cycle, &mut ()) == Ok(Progress::Running) && future_of(machine, walk.state()) == first
}

/// A short fair cycle through states that an execution has visited.
#[must_use]
pub fn cycle_in(machine: &Machine, steps: &[Choice], fairness: Fairness) -> Option<SeenCycle> {
    let visited = visited(machine, steps)?;
    let space = visited.space();
    let mut finder = Finder::new(&space, fairness);
    let states: Vec<u32> = (0..space.len() as u32).collect();
    let mut fair = finder.fair_components(&states, &|_| true);
    fair.sort_by_key(|component: &Component| component.states[0]);
    let depth = |state: u32| visited.first_at[state as usize];
    let found = fair.iter().find_map(|component| lasso(&mut finder, component, &|_| true, None, &depth))?;
    let cycle = found.steps.iter().map(|&(_, step)| visited.choices[step]).collect();
    Some(SeenCycle { start: depth(found.state), cycle })
}

/// The states of an execution, by the order in which it comes to them.
#[derive(Default)]
struct Visited {
    /// By state: after how many steps it is reached first.
    first_at: Vec<usize>,
    /// By state: where its moves begin; one more at the end.
    first_move: Vec<usize>,
    /// Threads that can move for a reason.
    moves: Vec<ThreadIndex>,
    atomic: FixedBitSet,
    /// Steps by the state where they begin, the choice, and the state that they lead to.
    edges: Vec<(u32, Choice, u32)>,
    /// By step of the space: its choice, or one that stands for a step that was not taken.
    choices: Vec<Choice>,
}

/// The states of an execution; `None` where it comes to none twice.
fn visited(machine: &Machine, steps: &[Choice]) -> Option<Visited> {
    let mut tables = Tables::new();
    let mut walk = Walk::new(machine, &mut tables, &mut ());
    let mut found = Visited::default();
    let mut known: FxHashMap<u128, u32> = FxHashMap::default();
    let mut at = found.enter(machine, walk.state(), 0, &mut known);
    for (done, &choice) in steps.iter().enumerate() {
        if walk.step(choice, &mut ()) != Ok(Progress::Running) {
            break;
        }
        let next = found.enter(machine, walk.state(), done + 1, &mut known);
        found.edges.push((at, choice, next));
        at = next;
    }
    let comes_back = found.first_at.len() <= found.edges.len();
    found.first_move.push(found.moves.len());
    found.edges.sort_unstable();
    found.edges.dedup();
    found.number();
    comes_back.then_some(found)
}

impl Visited {
    fn enter(&mut self, machine: &Machine, state: &State, done: usize, known: &mut FxHashMap<u128, u32>) -> u32 {
        let next = self.first_at.len() as u32;
        let number = *known.entry(future_of(machine, state)).or_insert(next);
        if number == next {
            self.first_at.push(done);
            self.first_move.push(self.moves.len());
            let mut moves = Vec::new();
            machine.moves(state, &mut moves);
            let for_a_reason =
                |one: &&Move| !matches!(machine.pending(state, one.thread), Some(Pending::SpuriousWakeup { .. }));
            self.moves.extend(moves.iter().filter(for_a_reason).map(|one| one.thread));
            if state.exclusive().is_some() {
                self.atomic.grow(next as usize + 1);
                self.atomic.insert(next as usize);
            }
        }
        number
    }

    /// Puts the steps of each state in order: those that were taken, then one for each thread that can move.
    fn number(&mut self) {
        let mut edges = self.edges.iter().peekable();
        for state in 0..self.first_at.len() as u32 {
            while let Some((_, choice, _)) = edges.next_if(|edge| edge.0 == state) {
                self.choices.push(*choice);
            }
            let moves = self.moves_of(state).iter().map(|&thread| Choice { thread, alternative: 0 });
            self.choices.extend(moves.collect::<Vec<_>>());
        }
    }

    fn moves_of(&self, state: u32) -> &[ThreadIndex] {
        &self.moves[self.first_move[state as usize]..self.first_move[state as usize + 1]]
    }

    /// As a graph, in which a thread that can move has a step that leads nowhere.
    fn space(&self) -> Space {
        let mut space = Space::default();
        let mut edges = self.edges.iter().peekable();
        let states = self.first_at.len();
        for state in 0..states as u32 {
            space.begin(state);
            while let Some((_, choice, to)) = edges.next_if(|edge| edge.0 == state) {
                // Only the steps that stand for threads that can move tell who can.
                space.add(Some(*to), Label { is_spurious: true, ..Label::of(choice.thread) });
            }
            self.moves_of(state).iter().for_each(|&thread| space.add(None, Label::of(thread)));
        }
        let mut atomic = self.atomic.clone();
        atomic.grow(states);
        space.finish(states, atomic, FixedBitSet::with_capacity(states));
        space
    }
}
