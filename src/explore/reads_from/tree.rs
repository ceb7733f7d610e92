//! The steps of executions as a tree: executions share the steps up to the point where they branch.
//!
//! **Input**: the steps as they are executed. **Output**: the steps up to any of them, and the nearest stored state before it,
//! from which the machine can return there.
//!
//! **Algorithm**: each step knows the one before it. Steps are numbered in the order of their execution. The search leaves the
//! last position first, so the steps after an abandoned position are the last ones, and are dropped. A state is stored from time
//! to time, and is dropped together with its step.

use super::operation::NONE;
use cssame_vm::{Choice, State};

/// Before the first step.
pub(super) const START: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The step before it, or [`START`].
    pub before: u32,
    pub choice: Choice,
    /// The operation of the log that it is; [`NONE`] for local work.
    pub operation: u32,
}

/// Where an execution stands: the state, and what it holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Position {
    pub state: State,
    /// By cell: the write that it holds.
    pub holds: Vec<u32>,
    /// The step that has led here, or [`START`].
    pub last: u32,
    /// How many steps have.
    pub length: u32,
}

impl Position {
    pub fn copy_from(&mut self, other: &Position) {
        self.state.clone_from(&other.state);
        self.holds.clone_from(&other.holds);
        (self.last, self.length) = (other.last, other.length);
    }

    /// The write that a cell holds, [`NONE`] for the initial value.
    pub fn held(&self, cell: u32) -> u32 {
        self.holds.get(cell as usize).copied().unwrap_or(NONE)
    }

    pub fn hold(&mut self, cell: u32, write: u32) {
        let index = cell as usize;
        if self.holds.len() <= index {
            self.holds.resize(index + 1, NONE);
        }
        self.holds[index] = write;
    }
}

/// The tree. It has always a kept position: that before the first step.
#[derive(Debug)]
pub(super) struct Tree {
    steps: Vec<Step>,
    /// Before the first step.
    start: Position,
    /// Kept positions, by rising step.
    kept: Vec<Position>,
    /// Positions that are not used now.
    spare: Vec<Position>,
    /// Bytes of all kept positions.
    bytes: usize,
}

impl Tree {
    pub fn new(start: Position) -> Tree {
        Tree { steps: Vec::new(), bytes: bytes(&start), start, kept: Vec::new(), spare: Vec::new() }
    }

    /// Adds a step behind another one.
    pub fn push(&mut self, before: u32, choice: Choice) -> u32 {
        self.steps.push(Step { before, choice, operation: NONE });
        self.len() - 1
    }

    /// Says which operation a step is.
    pub fn set_operation(&mut self, step: u32, operation: u32) {
        self.steps[step as usize].operation = operation;
    }

    /// The step before a step.
    pub fn before(&self, step: u32) -> u32 {
        self.steps[step as usize].before
    }

    /// How many steps there are.
    pub fn len(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Drops all but the first steps.
    pub fn truncate(&mut self, length: u32) {
        self.steps.truncate(length as usize);
        while self.kept.last().is_some_and(|last| last.last >= length) {
            let Some(last) = self.kept.pop() else { return };
            self.bytes -= bytes(&last);
            self.spare.push(last);
        }
    }

    /// Keeps a position, unless that is kept already.
    pub fn keep(&mut self, position: &Position) {
        let Err(place) = self.place_of(position.last) else { return };
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.copy_from(position);
        self.bytes += bytes(&copy);
        self.kept.insert(place, copy);
    }

    fn place_of(&self, step: u32) -> Result<usize, usize> {
        if step == START {
            return Ok(0);
        }
        self.kept.binary_search_by_key(&step, |kept| kept.last)
    }

    /// Memory that it takes.
    pub fn bytes(&self) -> usize {
        self.bytes + self.steps.capacity() * size_of::<Step>()
    }

    /// Memory of positions that are not used now.
    pub fn bytes_of_spare(&self) -> usize {
        self.spare.iter().map(bytes).sum()
    }

    /// The steps before a place, the last one first, with their numbers.
    pub fn back_from(&self, last: u32) -> impl Iterator<Item = (u32, Step)> {
        let step = |number: u32| self.steps.get(number as usize).map(|&step| (number, step));
        std::iter::successors(step(last), move |(_, of)| step(of.before))
    }

    /// The choices up to a place.
    pub fn choices(&self, last: u32) -> Vec<Choice> {
        let mut choices: Vec<Choice> = self.back_from(last).map(|(_, step)| step.choice).collect();
        choices.reverse();
        choices
    }

    /// The nearest position that is kept at a place or before it; the steps from there to the place are put into `behind`.
    pub fn nearest(&self, place: u32, behind: &mut Vec<Step>) -> &Position {
        behind.clear();
        let mut found = &self.start;
        for (number, step) in self.back_from(place) {
            if let Ok(kept) = self.kept.binary_search_by_key(&number, |kept| kept.last) {
                found = &self.kept[kept];
                break;
            }
            behind.push(step);
        }
        behind.reverse();
        found
    }
}

fn bytes(position: &Position) -> usize {
    position.state.bytes() + position.holds.len() * size_of::<u32>()
}
