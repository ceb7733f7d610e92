//! Where a function touches data, and where it synchronises.
//!
//! In: a function. Out: [`Sites`]: its touches and calls, each in a segment; a segment ends at each operation of
//! synchronisation, and at a call that does not come back without one. Segments are not united here.

use super::access::AccessKind;
use super::assignment::Assignments;
use super::datum::{Data, DatumId};
use super::neighbours::Neighbours;
use super::segment::{Segments, is_synchronisation};
use crate::ir::{BlockId, FunctionId, Instruction, Operand, Program, RegisterId, Terminator};

/// A place where a function touches a datum, or calls one that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub datum: DatumId,
    pub kinds: u8,
    pub block: BlockId,
    pub position: u32,
    pub segment: u32,
}

/// A call between two segments.
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
    pub segments: Segments,
    /// The segments in which blocks begin and end.
    pub first: Vec<u32>,
    pub last: Vec<u32>,
    pub own: bool,
}

/// Looks through functions.
pub(super) struct Collector<'a> {
    pub program: &'a Program,
    pub data: &'a Data,
    pub assignments: &'a Assignments,
    pub neighbours: &'a Neighbours,
}

impl Collector<'_> {
    /// The sites of a function. `through` says whether control may pass through a callee without synchronisation.
    pub fn sites(&self, id: FunctionId, through: impl Fn(FunctionId) -> bool) -> Sites {
        let function = &self.program.functions[id];
        let mut sites = Sites {
            touches: Vec::new(),
            calls: Vec::new(),
            segments: Segments::new(),
            first: Vec::new(),
            last: Vec::new(),
            own: false,
        };
        for (block, content) in function.blocks.entries() {
            let mut segment = sites.segments.add();
            sites.first.push(segment);
            for (position, instruction) in content.instructions.iter().enumerate() {
                let position = position as u32;
                let cut = is_synchronisation(instruction);
                if cut {
                    segment = sites.segments.add();
                }
                let at = Touch { datum: DatumId(0), kinds: 0, block, position, segment };
                self.touches(id, instruction, at, &mut sites);
                if let Instruction::Call { function: callee, .. } = instruction {
                    let before = segment;
                    if !through(*callee) {
                        segment = sites.segments.add();
                    }
                    sites.calls.push(Call { callee: *callee, block, position, before, after: segment });
                } else if cut {
                    // What an atomic access touches stands alone.
                    segment = sites.segments.add();
                }
            }
            sites.last.push(segment);
            let position = content.instructions.len() as u32;
            let at = Touch { datum: DatumId(0), kinds: 0, block, position, segment };
            if let Terminator::Branch { condition: Operand::Register(register), .. }
            | Terminator::Return(Some(Operand::Register(register))) = content.terminator
            {
                self.touch_register(id, register, AccessKind::Read, at, &mut sites);
            }
        }
        sites
    }

    /// Adds what an instruction touches.
    fn touches(&self, id: FunctionId, instruction: &Instruction, at: Touch, sites: &mut Sites) {
        instruction.uses(&mut |register| self.touch_register(id, register, AccessKind::Read, at, sites));
        if let Instruction::Load { read, .. } | Instruction::Atomic { read, .. } = instruction {
            let datum = self.data.of_symbol(self.program.reads[*read].symbol);
            self.touch(datum, AccessKind::Read, at, sites);
        }
        if let Some(assignment) = self.assignments.at(id, at.block, at.position as usize) {
            self.touch(self.assignments.all[assignment].target, AccessKind::Write, at, sites);
        }
    }

    fn touch_register(&self, id: FunctionId, register: RegisterId, kind: AccessKind, at: Touch, sites: &mut Sites) {
        let datum = self.data.of_register(id, register);
        if self.data.is_named(datum) {
            self.touch(datum, kind, at, sites);
        }
    }

    fn touch(&self, datum: DatumId, kind: AccessKind, at: Touch, sites: &mut Sites) {
        let shared = self.data.is_shared(datum);
        sites.own |= shared;
        if shared || self.neighbours.contains(datum) {
            sites.touches.push(Touch { datum, kinds: kind.bit(), ..at });
        }
    }
}
