//! Building blocks for observers: none, two at a time, a borrowed one; and one that adds up the work of steps.
//!
//! **Input**: the calls of an [`Observer`]. **Output**: the same calls to each part, in order.

use super::code::CodeIndex;
use super::observe::{Event, Observer, ThreadName};
use cssame_ir::FunctionId;

/// Watches nothing.
impl Observer for () {
    const ACTIVE: bool = false;
    const DETAILS: bool = false;

    #[inline(always)]
    fn event(&mut self, _: ThreadName, _: CodeIndex, _: Event) {}
}

/// Adds up the instructions of steps: how much work they are, whatever the number of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work(pub u64);

impl Observer for Work {
    const ACTIVE: bool = false;
    const DETAILS: bool = false;

    #[inline(always)]
    fn event(&mut self, _: ThreadName, _: CodeIndex, _: Event) {}

    #[inline(always)]
    fn end_step(&mut self, _: ThreadName, instructions: u32) {
        self.0 += u64::from(instructions);
    }
}

/// Both watch, the first one first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;
    const DETAILS: bool = A::DETAILS || B::DETAILS;

    #[inline]
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        if A::ACTIVE {
            self.0.event(thread, at, event);
        }
        if B::ACTIVE {
            self.1.event(thread, at, event);
        }
    }

    #[inline(always)]
    fn begin_main(&mut self, main: ThreadName) {
        self.0.begin_main(main);
        self.1.begin_main(main);
    }

    #[inline(always)]
    fn begin_step(&mut self, thread: ThreadName) {
        self.0.begin_step(thread);
        self.1.begin_step(thread);
    }

    #[inline(always)]
    fn end_step(&mut self, thread: ThreadName, instructions: u32) {
        self.0.end_step(thread, instructions);
        self.1.end_step(thread, instructions);
    }

    #[inline(always)]
    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        self.0.branch(thread, at, holds);
        self.1.branch(thread, at, holds);
    }

    #[inline]
    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        self.0.enter(thread, function);
        self.1.enter(thread, function);
    }

    #[inline]
    fn leave(&mut self, thread: ThreadName) {
        self.0.leave(thread);
        self.1.leave(thread);
    }

    #[inline]
    fn call(&mut self, thread: ThreadName, at: CodeIndex, function: FunctionId, arguments: &[i64]) {
        self.0.call(thread, at, function, arguments);
        self.1.call(thread, at, function, arguments);
    }

    #[inline]
    fn result(&mut self, thread: ThreadName, bits: i64) {
        self.0.result(thread, bits);
        self.1.result(thread, bits);
    }
}

impl<O: Observer> Observer for &mut O {
    const ACTIVE: bool = O::ACTIVE;
    const DETAILS: bool = O::DETAILS;

    #[inline]
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        (**self).event(thread, at, event);
    }

    #[inline(always)]
    fn begin_main(&mut self, main: ThreadName) {
        (**self).begin_main(main);
    }

    #[inline(always)]
    fn begin_step(&mut self, thread: ThreadName) {
        (**self).begin_step(thread);
    }

    #[inline(always)]
    fn end_step(&mut self, thread: ThreadName, instructions: u32) {
        (**self).end_step(thread, instructions);
    }

    #[inline(always)]
    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        (**self).branch(thread, at, holds);
    }

    #[inline]
    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        (**self).enter(thread, function);
    }

    #[inline]
    fn leave(&mut self, thread: ThreadName) {
        (**self).leave(thread);
    }

    #[inline]
    fn call(&mut self, thread: ThreadName, at: CodeIndex, function: FunctionId, arguments: &[i64]) {
        (**self).call(thread, at, function, arguments);
    }

    #[inline]
    fn result(&mut self, thread: ThreadName, bits: i64) {
        (**self).result(thread, bits);
    }
}

/// Keeps all events.
impl Observer for Vec<(ThreadName, CodeIndex, Event)> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.push((thread, at, event));
    }
}
