//! Nesting: whether a thread is in a call of one function, and how deeply.
//!
//! **Input**: the calls and returns of a thread.
//!
//! **Output**: the depth of the thread within the outermost call of the function ([`Nesting`]). The state of a search cannot
//! afford to remember more.
//!
//! **Algorithm**. Calls and returns are counted from the outermost call of the function on.
//!
//! **Soundness and limits**. A thread enters a function when the first step or event within it begins, not when it arrives before
//! the function, which may be many steps of other threads earlier.

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
    use cssame_ir::FunctionId;

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
}
