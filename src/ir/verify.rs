//! The verifier of the PFG.
//!
//! In: a program. Out: all violations of the rules of the IR. Form is checked before meaning: first every id must exist
//! (`tables`, `ids`), then types must fit (`types`), then the properties of paths must hold (`paths`): registers are written
//! before they are read, atomic blocks are balanced, forked threads are joined. Structs are destructured completely, so that a
//! new field must be handled here.
//!
//! The type of instructions guarantees that each makes at most one access to memory: only `Load`, `Store` and `Atomic` have a
//! place in memory to access, and each has one.
//!
//! Limitation: it does not check whether the program means the same as its text.

mod ids;
mod paths;
mod tables;
mod types;

use super::{BlockId, Function, FunctionId, Program};
use std::fmt;

/// A broken rule of the IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The function, if it is in one.
    pub function: Option<FunctionId>,
    /// The block, if it is in one.
    pub block: Option<BlockId>,
    /// The instruction of the block; its terminator stands behind the last one.
    pub position: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "function {}", function.0)?;
        }
        if let Some(block) = self.block {
            write!(f, ", block {}", block.0)?;
        }
        if let Some(position) = self.position {
            write!(f, ", instruction {position}")?;
        }
        if self.function.is_some() {
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

/// Checks a program.
///
/// # Errors
///
/// All broken rules. Where an id does not exist, only those of the same kind: nothing further is looked at.
pub fn verify(program: &Program) -> Result<(), Vec<Violation>> {
    let mut faults = Vec::new();
    tables::check_tables(program, &mut faults);
    for (id, function) in program.functions.entries() {
        ids::check_ids(&mut Scope::new(program, id, function, &mut faults));
    }
    if faults.is_empty() {
        tables::check_places(program, &mut faults);
        for (id, function) in program.functions.entries() {
            let mut scope = Scope::new(program, id, function, &mut faults);
            types::check_types(&mut scope);
            paths::check_paths(&mut scope);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// The function that is being checked, and the place in it.
struct Scope<'a> {
    program: &'a Program,
    id: FunctionId,
    function: &'a Function,
    block: Option<BlockId>,
    position: Option<usize>,
    faults: &'a mut Vec<Violation>,
}

impl<'a> Scope<'a> {
    fn new(program: &'a Program, id: FunctionId, function: &'a Function, faults: &'a mut Vec<Violation>) -> Scope<'a> {
        Scope { program, id, function, block: None, position: None, faults }
    }

    fn at(&mut self, block: BlockId, position: Option<usize>) {
        self.block = Some(block);
        self.position = position;
    }

    fn demand(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            let (function, block, position) = (Some(self.id), self.block, self.position);
            self.faults.push(Violation { function, block, position, message: message() });
        }
    }
}

/// Notes a broken rule that is in no function.
fn demand(faults: &mut Vec<Violation>, holds: bool, message: impl FnOnce() -> String) {
    if !holds {
        faults.push(Violation { function: None, block: None, position: None, message: message() });
    }
}
