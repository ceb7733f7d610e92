//! States whose steps are looked for together.
//!
//! **Input**: states that are known by the numbers of their parts. **Output**: for each its steps that were done before, with the
//! fingerprints of the states that they lead to.
//!
//! **Algorithm**: the places of fingerprints in the table of all states are far apart in memory, and whoever asks for one after the
//! other waits for each. Here all places are asked for at a time, before the steps are entered.

use super::collapse::{first, moves};
use super::memo::{Known, Memo, Origin};
use crate::vm::{Choice, Move, Parts};

/// States that are looked at together, and steps that one of them may have.
pub(super) const STATES: usize = 16;
const STEPS: u64 = 64;

/// A step; if it was done before, its number and the fingerprint of the state that it leads to.
pub(super) type Found = (Choice, Option<(u32, u128)>);

/// A state.
#[derive(Clone, Copy, Debug)]
struct State {
    node: u32,
    fingerprint: u128,
    /// The thread, by its place in the list of moves, of which the step is done alone at first.
    alone: Option<usize>,
    /// Whether its steps were looked for.
    is_known: bool,
    /// Where its numbers and its steps end.
    ends: [usize; 2],
}

/// States with their steps.
#[derive(Default)]
pub(super) struct Ahead {
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

impl Ahead {
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.numbers.clear();
        self.steps.clear();
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Adds a state, and looks for its steps: for those of one thread alone where that may be enough.
    pub(super) fn add<N: Copy>(
        &mut self,
        (parts, memo): (&Parts, &Memo<N>),
        node: u32,
        (numbers, fingerprint): (&[u32], u128),
        is_reduced: bool,
    ) {
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
                let origin = Origin { numbers, cells, slot: thread.index(), alternative };
                let step = match memo.find(&origin, parts) {
                    Known::Step(step) => Some((step, memo.fingerprint_behind(step, fingerprint, &origin, parts))),
                    Known::Open | Known::New => None,
                };
                self.steps.push((Choice { thread, alternative }, step));
            }
        }
        let ends = [self.numbers.len(), self.steps.len()];
        self.states.push(State { node, fingerprint, alone, is_known, ends });
    }

    /// The fingerprints of all states that steps lead to.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = u128> {
        self.steps.iter().filter_map(|&(_, step)| Some(step?.1))
    }

    /// A state, by its place among them.
    pub(super) fn state(&self, index: usize) -> Ready<'_> {
        let [numbers, steps] = index.checked_sub(1).map_or([0; 2], |before| self.states[before].ends);
        let State { node, fingerprint, alone, is_known, ends } = self.states[index];
        let found = &self.steps[steps..ends[1]];
        Ready { node, numbers: &self.numbers[numbers..ends[0]], fingerprint, alone, steps: is_known.then_some(found) }
    }
}
