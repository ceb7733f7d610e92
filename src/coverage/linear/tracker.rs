//! Tracks the progress of the two threads of a test through their calls.
//!
//! **Input**: the events of an execution of a program in which main forks two threads, once, each of which calls functions or
//! methods one after the other. **Output**: for each thread, whether it is inside a call, how many calls have returned, and
//! whether it has ended. For a search without interleaved calls, also the state in which the last call was made, and the threads
//! that could not make their next call there.
//!
//! **Algorithm**: the threads are those that main itself forks, outside of any call. A call is open from its first visible
//! operation to its return. If calls are not interleaved, only a thread with an open call and the threads that it has created may
//! move. A thread that has returned from its last call ends before others go on.
//!
//! **Soundness and limits**: threads that a call has spawned and that outlive it may move at any time.

use cssame_explore::frame::{Monitor, fingerprint_of};
use cssame_ir::FunctionId;
use cssame_vm::{CodeIndex, Event, Machine, Move, Observer, Progress, State, ThreadIndex, ThreadName};

/// How far one of the two threads is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// Its slot, as long as it runs.
    pub slot: Option<ThreadIndex>,
    /// Whether it has ended.
    pub ended: bool,
    /// Calls that have returned.
    pub done: u32,
    /// Frames that it has entered; the first one is its own.
    depth: u32,
    /// Whether it has done something in the call that it is in that others can notice.
    open: bool,
}

impl Arm {
    /// Whether it is inside of a call. Local work at the beginning of one is done ahead, together with the step before, and
    /// nobody notices it.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        self.open
    }
}

/// Watches an execution, and says how far the two threads are.
#[derive(Clone, Debug, Default)]
pub struct CallTracker {
    arms: [Arm; 2],
    /// How many of them were forked.
    forked: usize,
    /// Frames that main has entered.
    main_depth: u32,
    /// Where calls are not interleaved.
    serial: Option<SerialOrder>,
}

/// What is kept where calls are not interleaved.
#[derive(Clone, Copy, Debug, Default)]
struct SerialOrder {
    /// How many calls each thread makes.
    calls: [u32; 2],
    /// The state from which the call was made that is open, or the state now.
    base: u128,
    /// Which threads could not go on there.
    blocked: [bool; 2],
}

impl CallTracker {
    /// Before an execution.
    #[must_use]
    pub fn new() -> CallTracker {
        CallTracker::default()
    }

    /// The same, for a search that does not interleave calls, of which each thread makes so many.
    pub(super) fn serial(calls: [u32; 2]) -> CallTracker {
        CallTracker { serial: Some(SerialOrder { calls, ..SerialOrder::default() }), ..CallTracker::default() }
    }

    /// The two threads.
    #[must_use]
    pub fn arms(&self) -> &[Arm; 2] {
        &self.arms
    }

    /// Whether main has forked them.
    #[must_use]
    pub fn has_forked(&self) -> bool {
        self.forked > 0
    }

    /// Whether both have ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.arms.iter().all(|arm| arm.ended)
    }

    /// Which of the two a slot belongs to.
    #[must_use]
    pub fn arm_of(&self, thread: ThreadIndex) -> Option<usize> {
        self.arms.iter().position(|arm| arm.slot == Some(thread))
    }

    /// The state from which the open call was made, and which threads could not go on from there: the one inside of a call,
    /// and those that could not begin theirs.
    pub(super) fn stuck(&self) -> (u128, [bool; 2]) {
        let Some(serial) = self.serial else { return (0, [false; 2]) };
        let is_stuck =
            |index: usize| !self.arms[index].ended && (self.arms[index].is_inside() || serial.blocked[index]);
        (serial.base, [is_stuck(0), is_stuck(1)])
    }

    fn is_main(&self, thread: ThreadName) -> bool {
        thread.slot == ThreadIndex(0)
    }

    fn arm_mut(&mut self, thread: ThreadIndex) -> Option<&mut Arm> {
        self.arms.iter_mut().find(|arm| arm.slot == Some(thread))
    }
}

impl Observer for CallTracker {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        match event {
            Event::Fork { child } if self.is_main(thread) && self.main_depth <= 1 && self.forked < 2 => {
                self.arms[self.forked].slot = Some(child.slot);
                self.forked += 1;
            }
            Event::End { .. } => {
                if let Some(arm) = self.arm_mut(thread.slot) {
                    *arm = Arm { slot: None, ended: true, depth: 0, open: false, ..*arm };
                }
            }
            Event::Read { shared: false, .. }
            | Event::Write { shared: false, .. }
            | Event::Allocate { .. }
            | Event::Print { .. }
            | Event::Failure(_) => {}
            _ => {
                if let Some(arm) = self.arm_mut(thread.slot) {
                    arm.open |= arm.depth > 1;
                }
            }
        }
    }

    fn enter(&mut self, thread: ThreadName, _: FunctionId) {
        if self.is_main(thread) {
            self.main_depth += 1;
        } else if let Some(arm) = self.arm_mut(thread.slot) {
            arm.depth += 1;
        }
    }

    fn leave(&mut self, thread: ThreadName) {
        if self.is_main(thread) {
            self.main_depth = self.main_depth.saturating_sub(1);
        } else if let Some(arm) = self.arm_mut(thread.slot) {
            arm.done += u32::from(arm.depth == 2);
            arm.open &= arm.depth != 2;
            arm.depth = arm.depth.saturating_sub(1);
        }
    }
}

/// Stands for no slot.
const NO_SLOT: u64 = u16::MAX as u64;

impl Monitor for CallTracker {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(self.forked as u64 | u64::from(self.main_depth) << 32);
        for arm in &self.arms {
            let slot = arm.slot.map_or(NO_SLOT, |slot| u64::from(slot.0));
            words.push(slot | u64::from(arm.ended) << 16 | u64::from(arm.open) << 17 | u64::from(arm.depth) << 32);
            words.push(u64::from(arm.done));
        }
        if let Some(SerialOrder { base, blocked, .. }) = self.serial {
            let blocked = u64::from(blocked[0]) | u64::from(blocked[1]) << 1;
            words.extend([base as u64, (base >> 64) as u64, blocked]);
        }
    }

    fn decode(&mut self, words: &[u64]) {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        (self.forked, self.main_depth) = (word(0) as u32 as usize, (word(0) >> 32) as u32);
        for (index, arm) in self.arms.iter_mut().enumerate() {
            let (first, done) = (word(1 + 2 * index), word(2 + 2 * index));
            let slot = first & NO_SLOT;
            *arm = Arm {
                slot: (slot != NO_SLOT).then_some(ThreadIndex(slot as u16)),
                ended: first >> 16 & 1 != 0,
                open: first >> 17 & 1 != 0,
                done: done as u32,
                depth: (first >> 32) as u32,
            };
        }
        if let Some(serial) = &mut self.serial {
            serial.base = u128::from(word(5)) | u128::from(word(6)) << 64;
            serial.blocked = [word(7) & 1 != 0, word(7) & 2 != 0];
        }
    }

    fn restrict(&self, _: &State, moves: &mut Vec<Move>) {
        let Some(serial) = self.serial else { return };
        let has_precedence = |arm: &Arm, calls: u32| arm.is_inside() || arm.slot.is_some() && arm.done >= calls;
        let first = self.arms.iter().zip(serial.calls).position(|(arm, calls)| has_precedence(arm, calls));
        if let Some(first) = first {
            moves.retain(|one| self.arm_of(one.thread).is_none_or(|arm| arm == first));
        }
    }

    fn settle(&mut self, machine: &Machine, state: &mut State) {
        let arms = self.arms;
        let Some(serial) = &mut self.serial else { return };
        if arms.iter().any(Arm::is_inside) {
            return;
        }
        serial.base = fingerprint_of(machine, state, Progress::Running);
        serial.blocked = arms.map(|arm| arm.slot.is_some_and(|slot| machine.alternatives_of(state, slot) == 0));
    }
}
