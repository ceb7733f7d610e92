//! The functions that calls and thread creations reach.
//!
//! In: a program, and start functions. Out: these and all functions that they reach; branch conditions are ignored.

use super::{FunctionId, Instruction, NewThread, Program};

/// What leads from one function to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Calls: what the same thread comes to.
    Calls,
    /// Calls, and the making of threads.
    CallsAndThreads,
}

impl Instruction {
    /// The functions that it calls, and that the threads run which it makes.
    #[must_use]
    pub fn callees(&self) -> Vec<FunctionId> {
        match self {
            Instruction::Call { function, .. } => vec![*function],
            _ => self.new_threads().iter().flat_map(NewThread::functions).collect(),
        }
    }
}

impl Program {
    /// The functions that some lead to, these included, in the order of their numbers.
    #[must_use]
    pub fn reached_functions(&self, from: impl IntoIterator<Item = FunctionId>, follow: Follow) -> Vec<FunctionId> {
        let mut is_reached = vec![false; self.functions.len()];
        let mut waiting: Vec<FunctionId> = from.into_iter().collect();
        while let Some(id) = waiting.pop() {
            if std::mem::replace(&mut is_reached[id.index()], true) {
                continue;
            }
            for instruction in self.functions[id].blocks.iter().flat_map(|block| &block.instructions) {
                if follow == Follow::CallsAndThreads || matches!(instruction, Instruction::Call { .. }) {
                    waiting.extend(instruction.callees());
                }
            }
        }
        self.functions.ids().filter(|id| is_reached[id.index()]).collect()
    }
}
