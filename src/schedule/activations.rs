//! Activations: which call of which function a step belongs to.
//!
//! **Input**: the events of an execution, with the calls and returns of each thread.
//!
//! **Output**: for each thread the calls that it is in ([`Activations`]); or, for one function, how deep a thread is in the
//! outermost call of it ([`Nesting`]), which is all that the state of a search can afford to remember.
//!
//! **Algorithm**. A call is pushed when a thread enters a function and popped when it leaves it. With the end of a thread all its
//! calls are over, and the next thread in its slot begins without any.
//!
//! **Soundness and limits**. A thread enters a function when the first step or event within it begins, not when it comes to stand
//! before it, which may be earlier by many steps of other threads.

use crate::ir::FunctionId;
use crate::vm::{CodeIndex, Event, Observer, ThreadIndex, ThreadName};

/// A call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The function.
    pub function: FunctionId,
    /// Its number in the execution, from 0, in the order in which functions are entered.
    pub number: u32,
}

/// The calls that the threads of an execution are in.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    /// By slot: the calls of the thread in it, the outermost one first.
    calls: Vec<Vec<Activation>>,
    /// How many calls there were.
    count: u32,
}

impl Activations {
    /// The calls that a thread is in, the outermost one first.
    #[must_use]
    pub fn of(&self, thread: ThreadIndex) -> &[Activation] {
        self.calls.get(thread.index()).map_or(&[], Vec::as_slice)
    }

    /// The outermost call of a function that a thread is in.
    #[must_use]
    pub fn outermost(&self, thread: ThreadIndex, function: FunctionId) -> Option<Activation> {
        self.of(thread).iter().copied().find(|call| call.function == function)
    }

    fn slot(&mut self, thread: ThreadIndex) -> &mut Vec<Activation> {
        if self.calls.len() <= thread.index() {
            self.calls.resize(thread.index() + 1, Vec::new());
        }
        &mut self.calls[thread.index()]
    }
}

impl Observer for Activations {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        if let Event::End { .. } = event {
            self.slot(thread.slot).clear();
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        let number = self.count;
        self.count += 1;
        self.slot(thread.slot).push(Activation { function, number });
    }

    fn leave(&mut self, thread: ThreadName) {
        self.slot(thread.slot).pop();
    }
}

/// How deep a thread is in the outermost call of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// Frames from that call on; 0 outside.
    frames: u32,
}

impl Nesting {
    /// The nesting with that number of frames.
    #[must_use]
    pub fn from_frames(frames: u32) -> Nesting {
        Nesting { frames }
    }

    /// Frames from the outermost call of the function on; 0 outside.
    #[must_use]
    pub fn frames(self) -> u32 {
        self.frames
    }

    /// Whether the thread is in a call of the function.
    #[must_use]
    pub fn is_inside(self) -> bool {
        self.frames > 0
    }

    /// Whether the thread is in the outermost call itself, so that it leaves the function with its next return.
    #[must_use]
    pub fn is_outermost(self) -> bool {
        self.frames == 1
    }

    /// The thread enters a function; `is_it` tells whether it is the one that is counted.
    pub fn enter(&mut self, is_it: bool) {
        self.frames += u32::from(self.is_inside() || is_it);
    }

    /// The thread returns from a function.
    pub fn leave(&mut self) {
        self.frames = self.frames.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: FunctionId = FunctionId(0);
    const METHOD: FunctionId = FunctionId(1);
    const HELPER: FunctionId = FunctionId(2);

    #[test]
    fn a_thread_is_inside_until_the_outermost_call_returns() {
        let mut nesting = Nesting::default();
        // main calls the method, which calls a helper, which calls the method again.
        let depths: Vec<u32> = [MAIN, METHOD, HELPER, METHOD]
            .iter()
            .map(|&function| {
                nesting.enter(function == METHOD);
                nesting.frames()
            })
            .collect();
        assert_eq!(depths, [0, 1, 2, 3]);
        nesting.leave();
        nesting.leave();
        assert!(nesting.is_inside() && nesting.is_outermost());
        nesting.leave();
        assert!(!nesting.is_inside());
        nesting.leave();
        assert_eq!(nesting, Nesting::default(), "a return of main");
    }

    fn name(slot: u16) -> ThreadName {
        ThreadName { path: crate::vm::PathId(u32::from(slot)), slot: ThreadIndex(slot) }
    }

    #[test]
    fn calls_are_told_apart_and_end_with_their_thread() {
        let (mut activations, thread, other) = (Activations::default(), name(0), name(3));
        activations.enter(thread, MAIN);
        activations.enter(thread, METHOD);
        activations.enter(other, METHOD);
        activations.enter(thread, METHOD);
        let calls: Vec<u32> = activations.of(thread.slot).iter().map(|call| call.number).collect();
        assert_eq!(calls, [0, 1, 3]);
        assert_eq!(activations.outermost(thread.slot, METHOD).unwrap().number, 1);
        activations.leave(thread);
        activations.leave(thread);
        assert_eq!(activations.outermost(thread.slot, METHOD), None);
        activations.event(other, CodeIndex(0), Event::End { parent: None });
        assert_eq!(activations.of(other.slot), []);
    }
}
