//! Instructions of a program that runs freely: with real memory, and its own synchronisation objects.
//!
//! In: an instruction that touches memory, an object, or threads. Out: the line of Rust that calls the runtime
//! `template/free.rs`. Places are computed as in the machine: a base, cells to skip, a checked index. All other instructions are
//! as in a package with latches.

use super::registers::Registers;
use super::value::datum;
use crate::Input;
use crate::datum::Datum;
use crate::label::Located;
use cssame_ir::{
    AtomicOperation, Base, Index, Instruction, LeafKind, Operand, Place, Program, RegisterId, Storage, Synchronisation,
    VariableId,
};

/// The line of an instruction that is another one here.
pub(super) fn line(
    input: &Input<'_>,
    registers: &mut Registers<'_>,
    at: &Located<'_>,
    instruction: &Instruction,
) -> Option<String> {
    Writer { input, registers }.line(at, instruction)
}

struct Writer<'b, 'a> {
    input: &'b Input<'b>,
    registers: &'b mut Registers<'a>,
}

impl Writer<'_, '_> {
    fn line(&mut self, at: &Located<'_>, instruction: &Instruction) -> Option<String> {
        let label = at.label(self.input);
        Some(match instruction {
            Instruction::Load { dest, place, .. } => {
                let call = format!("t.read({})", self.place(place));
                self.registers.assign(Some(*dest), Some(&label), &call)
            }
            Instruction::Store { place, value, .. } => {
                let value = self.registers.receiver(value);
                format!("t.write({}, {value});", self.place(place))
            }
            Instruction::Atomic { dest, op, place, .. } => {
                let place = self.place(place);
                let call = match op {
                    AtomicOperation::CompareAndSwap { old, new, .. } => {
                        let (old, new) = (self.registers.receiver(old), self.registers.receiver(new));
                        format!("t.compare_and_swap({place}, {old}, {new})")
                    }
                    AtomicOperation::Swap(value) => format!("t.swap({place}, {})", self.registers.receiver(value)),
                    AtomicOperation::CompareExchange { .. } | AtomicOperation::FetchModify(..) => return None,
                    AtomicOperation::FetchAdd(value, _) => {
                        format!("t.fetch_add({place}, {})", self.registers.receiver(value))
                    }
                };
                self.registers.assign(Some(*dest), Some(&label), &call)
            }
            Instruction::Address { dest, place } => {
                let place = self.place(place);
                self.registers.assign(Some(*dest), None, &place)
            }
            Instruction::Allocate { dest, variable, .. } => {
                let values = values_of(self.input.program, *variable).join(", ");
                self.registers.assign(Some(*dest), None, &format!("t.allocate(&[{values}])"))
            }
            Instruction::Copy { dest, source } => {
                let value = self.registers.operand(source);
                self.registers.assign(Some(*dest), None, &value)
            }
            Instruction::Synchronise(operation) if operation.kind.has_verdict() => {
                self.registers.assign(operation.verdict, None, &self.operation(operation, &label))
            }
            Instruction::Synchronise(operation) => format!("{};", self.operation(operation, &label)),
            Instruction::JoinThread { handle, .. } => {
                format!("t.join_thread({}, {label:?})?;", self.registers.operand(handle))
            }
            Instruction::Assume { condition } => {
                format!("t.assume::<()>({}, {label:?})?;", self.registers.operand(condition))
            }
            Instruction::AtomicBegin => "t.atomic_begin();".to_owned(),
            Instruction::AtomicEnd => "t.atomic_end();".to_owned(),
            _ => return None,
        })
    }

    fn operation(&self, operation: &Synchronisation, label: &str) -> String {
        let places: String = operation.places().map(|place| format!("{}, ", self.place(place))).collect();
        format!("t.{}({places}{label:?})?", operation.kind.name())
    }

    /// `t.global(3)`, `account.at(1)`, `t.global(4).index(i)`
    fn place(&self, place: &Place) -> String {
        let index = |index: &Index| {
            let operand = match index.operand {
                Operand::Register(_) => self.registers.operand(&index.operand),
                Operand::Constant(_) => self.registers.receiver(&index.operand),
            };
            match index.stride {
                1 => format!(".index({operand})"),
                stride => format!(".element({operand}, {stride})"),
            }
        };
        let index: String = place.indices.iter().map(index).collect();
        let base = match place.base {
            Base::Global(variable) => {
                let address = self.input.machine.global_address(variable).unwrap_or(0) + place.offset;
                format!("t.global({address})")
            }
            Base::Reference(register) | Base::Pointer(register) => self.reference(register, place.offset),
        };
        base + &index
    }

    fn reference(&self, register: RegisterId, offset: u32) -> String {
        let name = self.registers.name(register);
        if offset == 0 { name.to_owned() } else { format!("{name}.at({offset})") }
    }
}

/// What the cells of a variable begin with.
fn values_of(program: &Program, variable: VariableId) -> Vec<String> {
    let of = &program.variables[variable];
    let mut values = vec!["Value::Int(0)".to_owned(); of.size as usize];
    for leaf in of.leaves().map(|leaf| &program.leaves[leaf]) {
        for (element, &value) in (0..).zip(&leaf.initial) {
            let text = datum(&Datum::of(program, &program.texts, value.ty(), value.bits()));
            values[leaf.cell(element) as usize] = format!("Value::{text}");
        }
        if leaf.kind == LeafKind::ReentrantLock {
            leaf.cells().for_each(|cell| values[cell as usize] = "Value::Long(1 << 62)".to_owned());
        }
    }
    values
}

/// The function that gives the memory which the globals begin with.
pub(super) fn memory(input: &Input<'_>) -> String {
    let program = input.program;
    let globals = program.variables.ids().filter(|&id| program.variables[id].storage == Storage::Global);
    let mut cells: Vec<String> = Vec::new();
    for (variable, address) in globals.filter_map(|id| Some((id, input.machine.global_address(id)? as usize))) {
        let values = values_of(program, variable);
        let end = address + values.len();
        if cells.len() < end {
            cells.resize(end, "Value::Int(0)".to_owned());
        }
        cells.splice(address..end, values);
    }
    let lines: String = cells.iter().map(|cell| format!("        {cell},\n")).collect();
    format!("\n/// What the globals begin with.\npub fn memory() -> Vec<Value> {{\n    vec![\n{lines}    ]\n}}\n")
}
