//! Looks up the steps of several states before any of them is entered.
//!
//! **Input**: a block of states in the form of numbers of their parts. **Output**: for each state, its steps that were executed
//! before, with the fingerprints of the resulting states, and, if known, their nodes.
//!
//! **Algorithm**: the positions of fingerprints in the table of all states are far apart in memory, and sequential look-ups wait
//! for each. Here several are requested at the same time.

use super::collapse::{first, moves};
use super::frontier::Block;
use super::memo::{Known, Memo};
use super::numbered::NumberReader;
use super::origin::Origin;
use super::visited::Visited;
use cssame_vm::{Choice, Move, Parts, ThreadIndex};

/// States that are looked at together, and steps that one of them may have.
const TOGETHER: usize = 16;
const STEPS: u64 = 64;

/// No step, no node, no thread.
const NONE: u32 = u32::MAX;

/// A step of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Of the state that it leads to, if it was done before.
    pub fingerprint: u128,
    step: u32,
    node: u32,
    alternative: u32,
    thread: ThreadIndex,
}

impl Found {
    pub(super) fn choice(&self) -> Choice {
        Choice { thread: self.thread, alternative: self.alternative }
    }

    /// Its number, if it was done before.
    #[inline]
    pub(super) fn step(&self) -> Option<u32> {
        (self.step != NONE).then_some(self.step)
    }

    /// The node that it leads to, if that was known when it was looked for.
    #[inline]
    pub(super) fn known(&self) -> Option<u32> {
        (self.node != NONE).then_some(self.node)
    }
}

/// A state.
#[derive(Clone, Copy, Debug)]
struct State {
    fingerprint: u128,
    node: u32,
    /// The thread, by its place in the list of moves, of which the step is done alone at first; else [`NONE`].
    alone: u32,
    /// Where its numbers and its steps end.
    ends: [u32; 2],
    /// Whether its steps were looked for.
    is_known: bool,
}

/// The states of a block with their steps.
#[derive(Default)]
pub(super) struct Ahead {
    reader: NumberReader,
    states: Vec<State>,
    numbers: Vec<u32>,
    steps: Vec<Found>,
    moves: Vec<Move>,
}

/// A state with its steps.
#[derive(Clone, Copy)]
pub(super) struct Ready<'a> {
    pub node: u32,
    pub numbers: &'a [u32],
    pub fingerprint: u128,
    pub alone: Option<usize>,
    /// Its steps; none where they were not looked for, and one where that may be enough.
    pub steps: Option<&'a [Found]>,
}

impl Ready<'_> {
    /// How large the state is, in words.
    pub(super) fn words(&self) -> u64 {
        self.numbers.len() as u64 / 2 + 1
    }
}

/// What is known of states and steps.
pub(super) struct Scene<'s> {
    pub parts: &'s Parts,
    pub memo: &'s Memo,
    pub visited: &'s Visited,
    /// Whether the step of one thread alone may be enough.
    pub is_reduced: bool,
}

impl Ahead {
    /// Looks for the steps of the states of a block.
    pub(super) fn look(&mut self, block: &Block, scene: &Scene<'_>) {
        self.states.clear();
        self.numbers.clear();
        self.steps.clear();
        let mut reader = std::mem::take(&mut self.reader);
        reader.begin();
        let mut looked = 0;
        while reader.next(block, scene.parts) {
            self.add(scene, reader.node(), reader.state());
            if self.states.len().is_multiple_of(TOGETHER) {
                find_nodes(&mut self.steps[looked..], scene.visited);
                looked = self.steps.len();
            }
        }
        find_nodes(&mut self.steps[looked..], scene.visited);
        self.reader = reader;
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Memory of what it holds.
    pub(super) fn bytes(&self) -> u64 {
        let states = self.states.capacity() * size_of::<State>() + self.steps.capacity() * size_of::<Found>();
        (states + self.numbers.capacity() * size_of::<u32>()) as u64
    }

    /// Adds a state, and looks for its steps: for those of one thread alone where that may be enough.
    fn add(&mut self, scene: &Scene<'_>, node: u32, (numbers, fingerprint): (&[u32], u128)) {
        let &Scene { parts, memo, is_reduced, .. } = scene;
        self.numbers.extend_from_slice(numbers);
        let is_known = moves(parts, numbers, &mut self.moves);
        let count: u64 = self.moves.iter().map(|one| u64::from(one.alternatives)).sum();
        let is_known = is_known && (1..=STEPS).contains(&count);
        let alone = if is_known && is_reduced { first(parts, numbers, &self.moves) } else { None };
        let cells = parts.cells(numbers);
        let wanted =
            self.moves.iter().enumerate().filter(|&(place, _)| is_known && alone.is_none_or(|one| one == place));
        for (_, &Move { thread, alternatives }) in wanted {
            for alternative in 0..alternatives {
                let origin = Origin::new(numbers, cells, Choice { thread, alternative });
                let (step, fingerprint) = match memo.find(&origin, parts) {
                    Known::Step(step) => (step, memo.fingerprint_behind(step, fingerprint, &origin, parts)),
                    Known::Open | Known::New => (NONE, 0),
                };
                self.steps.push(Found { fingerprint, step, node: NONE, alternative, thread });
            }
        }
        let ends = [self.numbers.len() as u32, self.steps.len() as u32];
        let alone = alone.map_or(NONE, |place| place as u32);
        self.states.push(State { node, fingerprint, alone, is_known, ends });
    }

    /// A state, by its place among them.
    pub(super) fn state(&self, index: usize) -> Ready<'_> {
        let [numbers, steps] = index.checked_sub(1).map_or([0; 2], |before| self.states[before].ends);
        let State { node, fingerprint, alone, is_known, ends } = self.states[index];
        let numbers = &self.numbers[numbers as usize..ends[0] as usize];
        let steps = is_known.then_some(&self.steps[steps as usize..ends[1] as usize]);
        Ready { node, numbers, fingerprint, alone: (alone != NONE).then_some(alone as usize), steps }
    }
}

/// Looks for the nodes that steps lead to, where they are not known.
fn find_nodes(steps: &mut [Found], visited: &Visited) {
    let is_open = |found: &Found| found.step != NONE && found.node == NONE;
    visited.prefetch(steps.iter().filter(|found| is_open(found)).map(|found| found.fingerprint));
    for found in steps.iter_mut().filter(|found| is_open(found)) {
        found.node = visited.find(found.fingerprint).unwrap_or(NONE);
    }
}
