//! Predicts the accesses of the next step of a thread.
//!
//! **Input**: a state and a thread that can move in it. **Output**: the accesses to visible memory that its next step
//! makes.
//!
//! **Algorithm**: an access before which the thread stands names its cell itself. A step that begins with an effect, such as a
//! `print`, or that is an atomic block, is executed on a copy of the state under an observer.
//!
//! **Soundness and limits**: exact in this state. The accesses of a block may change after a step of another thread. A step that
//! begins with a choice makes no access.

use super::policy::View;
use cssame_ir::{Access, Program};
use cssame_vm::{Choice, CodeIndex, Event, Observer, Pending, State, Tables, ThreadIndex, ThreadName};
use smallvec::SmallVec;

/// An access that a step would make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingAccess {
    /// The place in the text.
    pub access: Access,
    /// The cell, by its location.
    pub address: u32,
    /// Whether nothing can come between it and what belongs to it.
    pub atomic: bool,
}

impl PendingAccess {
    /// Whether two accesses of different threads race: they mean one cell, one of them writes, and not both are atomic.
    #[must_use]
    pub fn races_with(&self, other: &PendingAccess) -> bool {
        self.address == other.address
            && (self.access.is_write() || other.access.is_write())
            && !(self.atomic && other.atomic)
    }
}

/// A list of accesses, which is short.
pub type PendingAccesses = SmallVec<[PendingAccess; 2]>;

/// Finds out what threads would access. It keeps room for the copies that it needs, and names of one execution.
#[derive(Debug, Default)]
pub struct Lookahead {
    state: State,
    tables: Tables,
}

impl Lookahead {
    /// The accesses of the next step of a thread, each place and cell once.
    pub fn accesses(&mut self, program: &Program, view: &View<'_>, thread: ThreadIndex) -> PendingAccesses {
        let one = |access: Access, address: Option<u32>| {
            let atomic = program.symbols[access.symbol(program)].atomic;
            address.map(|address| PendingAccess { access, address, atomic }).into_iter().collect()
        };
        match view.machine.pending(view.state, thread) {
            Some(Pending::Read { read, address }) => one(Access::Read(read), address),
            Some(Pending::Write { definition, address }) => one(Access::Write(definition), address),
            Some(Pending::Atomic { read, definition, address, writes, .. }) => {
                let access = |access| address.map(|address| PendingAccess { access, address, atomic: true });
                let write = access(Access::Write(definition)).filter(|_| writes);
                access(Access::Read(read)).into_iter().chain(write).collect()
            }
            Some(Pending::Effect { .. } | Pending::AtomicBlock | Pending::Free { .. }) => {
                self.try_out(program, view, thread)
            }
            _ => PendingAccesses::new(),
        }
    }

    /// Does the step on a copy.
    #[cold]
    fn try_out(&mut self, program: &Program, view: &View<'_>, thread: ThreadIndex) -> PendingAccesses {
        let Lookahead { state, tables } = self;
        state.clone_from(view.state);
        tables.catch_up(view.tables);
        let marks = tables.marks();
        let mut seen = Seen { view, program, blocks: 0, accesses: PendingAccesses::new() };
        view.machine.step(state, tables, Choice { thread, alternative: 0 }, &mut seen);
        tables.truncate(marks);
        seen.accesses
    }
}

struct Seen<'a> {
    view: &'a View<'a>,
    program: &'a Program,
    blocks: u32,
    accesses: PendingAccesses,
}

impl Observer for Seen<'_> {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, at: CodeIndex, event: Event) {
        let (access, address) = match event {
            Event::Read { read, address, shared: true, .. } => (Access::Read(read), address),
            Event::Write { definition, address, shared: true, .. } => (Access::Write(definition), address),
            Event::AtomicBegin => {
                self.blocks += 1;
                return;
            }
            Event::AtomicEnd => {
                self.blocks = self.blocks.saturating_sub(1);
                return;
            }
            _ => return,
        };
        let declared = self.program.symbols[access.symbol(self.program)].atomic;
        let atomic = self.blocks > 0 || declared || self.view.machine.is_atomic(at);
        let access = PendingAccess { access, address, atomic };
        if !self.accesses.contains(&access) {
            self.accesses.push(access);
        }
    }
}
