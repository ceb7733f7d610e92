//! The data of a policy for each thread.
//!
//! **Input**: a state, a thread in it. **Output**: the stored value for that thread, or an initial one.
//!
//! **Algorithm**. Values are in a vector by slot, each with the name of its thread: if another thread now has the slot, the slot
//! has no value. So there is no hashing, and no allocation except for a slot higher than all before.

use cssame_vm::{PathId, State, ThreadIndex};

/// Values by thread.
#[derive(Clone, Debug, Default)]
pub(super) struct PerThread<T>(Vec<Option<(PathId, T)>>);

impl<T> PerThread<T> {
    /// Nothing is kept for any thread.
    pub fn new() -> PerThread<T> {
        PerThread(Vec::with_capacity(8))
    }

    /// The value of a thread that has a slot; `first` makes it where there is none.
    pub fn get_or_insert_with(&mut self, state: &State, thread: ThreadIndex, first: impl FnOnce() -> T) -> &mut T {
        let path = state.path(thread);
        if self.0.len() <= thread.index() {
            self.0.resize_with(thread.index() + 1, || None);
        }
        let slot = &mut self.0[thread.index()];
        if slot.as_ref().is_some_and(|(owner, _)| *owner != path) {
            *slot = None;
        }
        &mut slot.get_or_insert_with(|| (path, first())).1
    }

    /// Whether there is a value of a thread that has a slot.
    pub fn has(&self, state: &State, thread: ThreadIndex) -> bool {
        let slot = self.0.get(thread.index());
        matches!(slot, Some(Some((owner, _))) if *owner == state.path(thread))
    }

    /// Forgets the value of a thread.
    pub fn remove(&mut self, thread: ThreadIndex) {
        if let Some(slot) = self.0.get_mut(thread.index()) {
            *slot = None;
        }
    }

    /// Forgets the values of those threads that `keep` is false for. Threads that are gone have none.
    pub fn retain(&mut self, mut keep: impl FnMut(ThreadIndex) -> bool) {
        for (index, slot) in self.0.iter_mut().enumerate() {
            if slot.is_some() && !keep(ThreadIndex(index as u16)) {
                *slot = None;
            }
        }
    }
}
