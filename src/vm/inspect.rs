//! Inspection of a state: registers, and the holders of locks.
//!
//! **Input**: a state after a step that has failed. **Output**: the last values of the registers of the thread, and the holder of
//! a lock.
//!
//! **Algorithm**: two registers of a function share a slot if their ranges do not overlap, so a machine for searches forgets the
//! operands of an instruction before the program fails. [`Machine::keeping_registers`] is the same machine with a slot for each
//! register.
//!
//! **Soundness and limits**: the two machines have the same instructions, steps and choices; a state of one is not a state of the
//! other.

use super::compile::{self, Slots};
use super::machine::Machine;
use super::obstacle::Obstacle;
use super::state::{State, ThreadIndex};
use cssame_ir::sync::Mode;
use cssame_ir::{Program, RegisterId};

impl Machine {
    /// The same machine with a slot for each register: it does the same steps, and forgets no value of the frames that it
    /// is in. `program` must be the one that the machine was made of.
    #[must_use]
    pub fn keeping_registers(&self, program: &Program) -> Machine {
        let compiled = compile::compile(program, self.visibility(), &self.layout, Slots::OnePerRegister);
        let machine = Machine { compiled, watched: None, ..self.clone() };
        match self.watched {
            Some(watched) => machine.watching(watched),
            None => machine,
        }
    }

    /// The value that a register of the innermost frame of a thread was given last, in a state of a machine that
    /// [keeps registers](Machine::keeping_registers).
    #[must_use]
    pub fn register(&self, state: &State, thread: ThreadIndex, register: RegisterId) -> i64 {
        state.frame(thread).get(compile::own_slot(register) as usize).copied().unwrap_or(0)
    }

    /// Who holds a lock, as what is in the way of one that wants it for itself; `None` where nobody does.
    #[must_use]
    pub fn holders(&self, state: &State, lock: u32) -> Option<Obstacle> {
        let obstacle = self.lock_obstacle(state, lock, Mode::Exclusive);
        let is_free = matches!(&obstacle, Obstacle::Readers { threads, .. } if threads.is_empty());
        (!is_free).then_some(obstacle)
    }
}
