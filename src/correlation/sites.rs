//! The sites of a function: its accesses to correlated or shared variables, its calls, and its synchronisation.
//!
//! **Input**: a function. **Output**: [`Sites`]: its accesses and calls, each in a synchronisation-free region. A region ends at
//! each synchronisation operation, and at a call that does not return without one. Regions are not united here.

use super::assignment::{Assignment, Assignments};
use super::kind::AccessKind;
use super::partners::Partners;
use super::row::{Row, Rows};
use super::source_variable::{SourceVariableId, SourceVariables};
use super::sync_free_region::{SyncFreeRegions, is_synchronisation};
use cssame_ir::{BlockId, FunctionId, Instruction, Program, RegisterId};

/// A place where a function touches a variable, or calls one that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub variable: SourceVariableId,
    pub kinds: u8,
    pub block: BlockId,
    pub position: u32,
    pub region: u32,
    /// The row that it accesses.
    pub row: Option<Row>,
}

/// A call between two regions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub callee: FunctionId,
    pub block: BlockId,
    pub position: u32,
    pub before: u32,
    pub after: u32,
}

/// The sites of one function.
pub(super) struct Sites {
    pub touches: Vec<Touch>,
    pub calls: Vec<Call>,
    pub regions: SyncFreeRegions,
    /// The regions in which blocks begin and end.
    pub first: Vec<u32>,
    pub last: Vec<u32>,
    pub own: bool,
}

/// Looks through functions.
pub(super) struct Collector<'a> {
    pub program: &'a Program,
    pub data: &'a SourceVariables,
    pub rows: &'a Rows,
    pub assignments: &'a Assignments,
    pub partners: &'a Partners,
}

impl Collector<'_> {
    /// The sites of a function. `through` says whether control may pass through a callee without synchronisation.
    pub fn sites(&self, id: FunctionId, through: impl Fn(FunctionId) -> bool) -> Sites {
        let function = &self.program.functions[id];
        let mut sites = Sites {
            touches: Vec::new(),
            calls: Vec::new(),
            regions: SyncFreeRegions::new(),
            first: Vec::new(),
            last: Vec::new(),
            own: false,
        };
        for (block, content) in function.blocks.entries() {
            let mut region = sites.regions.add();
            sites.first.push(region);
            for (position, instruction) in content.instructions.iter().enumerate() {
                let position = position as u32;
                let cut = is_synchronisation(instruction);
                if cut {
                    region = sites.regions.add();
                }
                let at = Touch { variable: SourceVariableId(0), kinds: 0, block, position, region, row: None };
                self.touches(id, instruction, at, &mut sites);
                if let Instruction::Call { function: callee, .. } = instruction {
                    let before = region;
                    if !through(*callee) {
                        region = sites.regions.add();
                    }
                    sites.calls.push(Call { callee: *callee, block, position, before, after: region });
                } else if cut {
                    // What an atomic access touches stands alone.
                    region = sites.regions.add();
                }
            }
            sites.last.push(region);
            let position = content.instructions.len() as u32;
            let at = Touch { variable: SourceVariableId(0), kinds: 0, block, position, region, row: None };
            if let Some(register) = content.terminator.register() {
                self.touch_register(id, register, AccessKind::Read, at, &mut sites);
            }
        }
        sites
    }

    /// Adds what an instruction touches.
    fn touches(&self, id: FunctionId, instruction: &Instruction, at: Touch, sites: &mut Sites) {
        instruction.uses(&mut |register| self.touch_register(id, register, AccessKind::Read, at, sites));
        if let Instruction::Load { read, .. } | Instruction::Atomic { read, .. } = instruction {
            let variable = self.data.at((id, at.block, at.position), self.program.reads[*read].symbol);
            let row = self.rows.at((id, at.block, at.position));
            self.touch(variable, AccessKind::Read, Touch { row, ..at }, sites);
        }
        if let Some(assignment) = self.assignments.at(id, at.block, at.position as usize) {
            let Assignment { target, row, .. } = self.assignments.all[assignment];
            self.touch(target, AccessKind::Write, Touch { row, ..at }, sites);
        }
    }

    fn touch_register(&self, id: FunctionId, register: RegisterId, kind: AccessKind, at: Touch, sites: &mut Sites) {
        let variable = self.data.of_register(id, register);
        if self.data.is_named(variable) {
            self.touch(variable, kind, at, sites);
        }
    }

    fn touch(&self, variable: SourceVariableId, kind: AccessKind, at: Touch, sites: &mut Sites) {
        let shared = self.data.is_shared(variable);
        sites.own |= shared;
        if shared || self.partners.contains(variable) {
            sites.touches.push(Touch { variable, kinds: kind.bit(), ..at });
        }
    }
}
