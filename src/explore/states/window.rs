//! The blocks that a search looks at ahead of time, and what it has found of them.
//!
//! **Input**: blocks of a level, and what is done with them by the [helpers](super::helpers), in any order. **Output**: the blocks in
//! their order, each when it was looked at; their new states as blocks of the next level, in theirs.
//!
//! **Soundness and limits**: what stands in the window follows from the blocks, not from who is how fast.

use super::ahead::Ahead;
use super::entering::{Entered, New};
use super::frontier::Frontier;
use super::helpers::{Done, Helpers, Looked, Task};
use super::numbered::NumberWriter;
use super::visited::{Recent, Share};
use std::collections::VecDeque;
use std::mem;

/// A list whose items are done in any order and taken in order.
pub(super) struct InOrder<T> {
    /// The number of the first item.
    first: usize,
    items: VecDeque<Option<T>>,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        InOrder { first: 0, items: VecDeque::new() }
    }
}

impl<T> InOrder<T> {
    /// Adds an item that is not done; gives its number.
    pub(super) fn open(&mut self) -> usize {
        self.items.push_back(None);
        self.first + self.items.len() - 1
    }

    pub(super) fn done(&mut self, number: usize, item: T) {
        self.items[number - self.first] = Some(item);
    }

    /// The first item, if it is done.
    pub(super) fn front(&self) -> Option<&T> {
        self.items.front()?.as_ref()
    }

    /// Takes the first item, if it is done.
    pub(super) fn take(&mut self) -> Option<T> {
        self.front()?;
        self.first += 1;
        self.items.pop_front().flatten()
    }

    /// The items that are done.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// The window, and what rounds have found.
pub(super) struct Rounds<N> {
    pub helpers: Helpers<N>,
    /// Blocks that are looked at, and were; and how many of them belong to this level.
    pub window: InOrder<Box<Looked>>,
    pub of_level: usize,
    /// States in the window, and their words.
    size: (usize, u64),
    /// Blocks whose new states are not written yet.
    pub entered: Vec<Entered>,
    pub written: InOrder<Vec<NumberWriter>>,
    pub shares: InOrder<Share>,
    /// New states that were entered into the table of all states last, and blocks of the window that were looked at before that.
    pub earlier: Recent,
    pub stale: usize,
    /// New states that are not in the table of all states yet: to find them, and in order.
    pub recent: Recent,
    pub fresh: Vec<(u128, u32)>,
    /// Whether the nodes that were not known are to be looked for once more.
    pub finds_again: bool,
    /// Lists of blocks that are done with.
    pub spare: (Vec<Ahead>, Vec<Vec<New>>),
    /// Memory of what was found of the window when a round has ended, at most.
    most: u64,
    /// Blocks that were entered, to check their steps when the machine may.
    pub unchecked: Vec<Ahead>,
}

impl<N: Copy + Send + Sync + 'static> Rounds<N> {
    pub(super) fn new() -> Rounds<N> {
        Rounds {
            helpers: Helpers::new(),
            window: InOrder::default(),
            of_level: 0,
            size: (0, 0),
            entered: Vec::new(),
            written: InOrder::default(),
            shares: InOrder::default(),
            earlier: Recent::default(),
            stale: 0,
            recent: Recent::default(),
            fresh: Vec::new(),
            finds_again: false,
            spare: (Vec::new(), Vec::new()),
            most: 0,
            unchecked: Vec::new(),
        }
    }

    /// Memory that they take, but for the blocks; the same for any number of threads.
    pub(super) fn bytes(&self) -> u64 {
        let new = size_of::<(u128, u32)>() as u64 + 2 * Recent::BYTES;
        // The lists have room for more than they hold, there are those of blocks whose new states are written, and an allocator keeps
        // apart what each thread has given back.
        5 * self.most + self.fresh.capacity() as u64 * new
    }

    /// Takes blocks into the window, while it has less than so many states with no more than so many words, but not the last ones;
    /// gives the number of states that were taken, and their memory.
    pub(super) fn fill(&mut self, from: &mut Frontier, but: usize, (states, words): (usize, u64)) -> (usize, u64) {
        let mut taken = (0, 0);
        while from.blocks() > but
            && let Some((true, len, more)) = from.first()
            && (self.window.is_empty() || self.size.0 < states && self.size.1 + more <= words)
            && let Some(block) = from.take()
        {
            self.size = (self.size.0 + len, self.size.1 + more);
            taken = (taken.0 + len, taken.1 + block.bytes());
            let (number, ahead) = (self.window.open(), self.spare.0.pop().unwrap_or_default());
            self.helpers.give(Task::Look(number, Box::new(Looked { block, ahead })));
        }
        taken
    }

    /// Looks once more for the nodes that were not known.
    pub(super) fn find_again(&mut self) {
        (self.finds_again, self.stale) = (false, 0);
        for index in 0..self.window.len() {
            if let Some(looked) = self.window.items[index].take() {
                self.helpers.give(Task::Find(self.window.first + index, looked));
            }
        }
    }

    /// Waits for a task; false if there is none.
    pub(super) fn wait(&mut self) -> bool {
        match self.helpers.next() {
            None => return false,
            Some(Done::Looked(number, looked)) => self.window.done(number, looked),
            Some(Done::Inserted(number, share)) => self.shares.done(number, share),
            Some(Done::Written(number, written, entered)) => {
                self.written.done(number, written);
                self.put_by(entered);
            }
        }
        true
    }

    /// Keeps the lists of blocks that are done with.
    pub(super) fn put_by(&mut self, entered: Vec<Entered>) {
        for Entered { ahead, new } in entered {
            self.spare.0.push(ahead);
            self.spare.1.push(new);
        }
    }

    /// The first block of the window, when it was looked at; nothing if the window is empty.
    pub(super) fn wait_for_front(&mut self) -> Option<&Looked> {
        while self.window.front().is_none() && self.wait() {}
        self.window.front().map(Box::as_ref)
    }

    /// Waits for all tasks: the round has ended.
    pub(super) fn wait_for_all(&mut self) {
        while self.wait() {}
        self.most = self.most.max(self.window.iter_mut().map(|looked| looked.ahead.bytes()).sum());
    }

    /// Takes the first block off the window.
    pub(super) fn take(&mut self) -> Option<Looked> {
        let looked = self.window.take()?;
        self.of_level -= 1;
        self.stale = self.stale.saturating_sub(1);
        self.size = (self.size.0 - looked.block.len(), self.size.1 - looked.block.words());
        Some(*looked)
    }

    /// The new states of a block are to be written: with those of others, as soon as there are as many as a block has.
    pub(super) fn write(&mut self, entered: Entered, size: usize) {
        self.entered.push(entered);
        if self.entered.iter().map(|entered| entered.new.len()).sum::<usize>() >= size {
            let entered = mem::take(&mut self.entered);
            let number = self.written.open();
            self.helpers.give(Task::Write(number, entered, size));
        }
    }
}
