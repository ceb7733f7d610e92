//! Operations that the monitors of a search remember, each kept once.
//!
//! **Input**: operations and sets of locks, from the monitors of all states. **Output**: numbers for them, which monitors use in
//! their sets.
//!
//! **Soundness and limits**: numbers are compared for equality only, and within one search; no result depends on them.

use cssame_ir::Access;
use cssame_vm::{Cell, PathId};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::cell::{Ref, RefCell};
use std::hash::Hash;

/// An operation, without its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Record {
    /// Who has done it.
    pub thread: PathId,
    /// That thread, or the one that has forked it if it has ended, and so on.
    pub owner: PathId,
    pub access: Access,
    pub cell: Cell,
    /// The number of the set of locks that the thread held.
    pub locks: u32,
    pub atomic: bool,
}

/// Values with numbers.
#[derive(Debug)]
pub(super) struct Interned<T>(RefCell<IndexSet<T, FxBuildHasher>>);

impl<T: Eq + Hash> Default for Interned<T> {
    fn default() -> Self {
        Interned(RefCell::new(IndexSet::default()))
    }
}

impl<T: Eq + Hash> Interned<T> {
    /// The number of a value.
    pub(super) fn number(&self, value: T) -> u32 {
        if let Some(number) = self.read().get_index_of(&value) {
            return number as u32;
        }
        self.0.borrow_mut().insert_full(value).0 as u32
    }

    /// The values, by number, while none is added.
    pub(super) fn read(&self) -> Ref<'_, IndexSet<T, FxBuildHasher>> {
        self.0.borrow()
    }
}
