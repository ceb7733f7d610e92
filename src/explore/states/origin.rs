//! The state in which a step begins, and the observations of a step.

use cssame_vm::{Choice, CodeIndex, Event, Footprint, Parts, Standing, ThreadName};
use smallvec::SmallVec;

/// An event, where it happened.
pub(super) type Happened = (ThreadName, CodeIndex, Event);

/// A state that a step begins in: the numbers of its parts, and how many of these stand before the threads.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub numbers: &'a [u32],
    pub cells: usize,
    pub slot: usize,
    pub alternative: u32,
}

impl<'a> Origin<'a> {
    /// The state with these numbers, so many of which stand before the threads, and a choice.
    #[inline]
    pub(super) fn new(numbers: &'a [u32], cells: usize, choice: Choice) -> Origin<'a> {
        Origin { numbers, cells, slot: choice.thread.index(), alternative: choice.alternative }
    }

    /// The number of the thread.
    #[inline]
    pub(super) fn thread(&self) -> u32 {
        self.numbers[self.cells + self.slot]
    }

    /// The threads that stand so: their slots and numbers; which slots are free depends on how many there are as well.
    pub(super) fn group(&self, standing: Standing, parts: &Parts) -> Group {
        let count = (standing == Standing::Free).then(|| (self.numbers.len() - self.cells) as u32);
        let threads = parts.group(standing, self.numbers).flat_map(|(slot, number)| [slot as u32, number]);
        count.into_iter().chain(threads).collect()
    }
}

/// A list of threads.
pub(super) type Group = SmallVec<[u32; 8]>;

/// What was seen of a step that the machine has done.
pub(super) struct Seen<'a> {
    pub footprint: &'a Footprint,
    /// The numbers of the state that it has led to; none where the execution was discarded.
    pub behind: Option<&'a [u32]>,
    pub events: &'a [Happened],
}
