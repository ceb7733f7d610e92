//! Lowering of threads: forks, joins, spawns.

use super::{Builder, PendingArm, Slot, empty_function};
use crate::front::csm::hir::{self, StatementKind};
use crate::ir::{
    Arithmetic, BinaryOperator, FunctionId, FunctionKind, Instruction, NewThread, Operand, RegisterId, RegisterType,
    ScalarType, Terminator, ThreadLabel, TripBounds, Value,
};
use crate::source::Span;
use crate::source::texts::TextId;

impl<'t> Builder<'_, 't> {
    pub(super) fn cobegin(&mut self, barriers: &[hir::VariableId], arms: &'t [hir::Arm], span: Span) {
        for &barrier in barriers {
            self.allocate(barrier, span);
        }
        let threads = arms
            .iter()
            .map(|arm| {
                let (function, arguments) = self.new_arm(arm, None);
                NewThread {
                    function,
                    rounds: Vec::new(),
                    arguments,
                    label: ThreadLabel::Name(arm.label),
                    ordinal: None,
                }
            })
            .collect();
        self.emit(Instruction::Fork { threads, bounds: None }, span);
        self.emit(Instruction::Join, end_of(span, 5));
    }

    /// A function for an arm, and the references that it takes.
    fn new_arm(&mut self, arm: &'t hir::Arm, copy: Option<hir::VariableId>) -> (FunctionId, Vec<Operand>) {
        let id = self.lowering.program.functions.push(empty_function(arm.label, arm.span, FunctionKind::Arm));
        self.lowering.arms.push(PendingArm { id, arm, copy });
        let this = arm.uses_this.then_some(self.this).flatten();
        let captures = arm.captures.iter().filter_map(|capture| match self.slots.get(capture) {
            Some(Slot::Reference(register) | Slot::Register(register)) => Some(*register),
            None => None,
        });
        (id, this.into_iter().chain(captures).map(Operand::Register).collect())
    }

    pub(super) fn parfor(&mut self, statement: &'t hir::Statement) {
        let StatementKind::Parfor { barriers, variable, first, condition, step, copy, arm, canonical, .. } =
            &statement.kind
        else {
            return;
        };
        let span = statement.span;
        for &barrier in barriers {
            self.allocate(barrier, span);
        }
        let start = self.expression(first);
        let name = self.lowering.tree.variables[*variable].name;
        let header = self.new_register(Some(name), span, RegisterType::Scalar(ScalarType::Int));
        self.slots.insert(*variable, Slot::Register(header));
        self.emit(Instruction::Copy { dest: header, source: start }, first.span);
        let ordinal = self.temporary(ScalarType::Int, span);
        self.emit(Instruction::Copy { dest: ordinal, source: Operand::Constant(Value::Int(0)) }, span);
        let (head, inside, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.jump_into(head, span);
        self.branch(condition, inside, exit);
        self.current = inside;
        let (function, mut arguments) = self.new_arm(arm, Some(*copy));
        arguments.push(Operand::Register(header));
        let label = ThreadLabel::Iteration(arm.label);
        let thread =
            NewThread { function, rounds: Vec::new(), arguments, label, ordinal: Some(Operand::Register(ordinal)) };
        let bounds = canonical.as_ref().and_then(|(limit, step)| {
            let limit = limit.constant()?;
            Some(TripBounds { first: start, limit: Operand::Constant(super::value(limit)), step: *step })
        });
        self.emit(Instruction::Fork { threads: vec![thread], bounds }, span);
        self.increment(ordinal, span);
        self.statements(std::slice::from_ref(step));
        self.terminate(Terminator::Jump(head), span);
        self.current = exit;
        self.emit(Instruction::Join, end_of(span, 1));
    }

    fn increment(&mut self, register: RegisterId, span: Span) {
        let one = Operand::Constant(Value::Int(1));
        let op = BinaryOperator::Add(Arithmetic::Int);
        self.emit(Instruction::Binary { dest: register, op, left: Operand::Register(register), right: one }, span);
    }

    pub(super) fn spawn(&mut self, target: Option<&'t hir::Place>, call: &'t hir::Call, label: TextId, span: Span) {
        let place = match target {
            Some(target) if self.register_of(target).is_none() => Some(self.place(target)),
            _ => None,
        };
        let arguments = self.arguments(call);
        let function = FunctionId(call.function.0);
        let thread =
            NewThread { function, rounds: Vec::new(), arguments, label: ThreadLabel::Name(label), ordinal: None };
        let dest = target.map(|_| self.temporary(ScalarType::Thread, span));
        self.emit(Instruction::Spawn { dest, thread }, span);
        let (Some(target), Some(dest)) = (target, dest) else { return };
        let value = Operand::Register(dest);
        match (self.register_of(target), place) {
            (Some(register), _) => self.emit(Instruction::Copy { dest: register, source: value }, span),
            (None, Some(place)) => {
                let definition = self.new_definition(target);
                self.emit(Instruction::Store { place, value, definition }, target.span);
            }
            (None, None) => {}
        }
    }
}

/// The last `length` bytes of a span.
fn end_of(span: Span, length: u32) -> Span {
    Span { start: span.end.saturating_sub(length).max(span.start), ..span }
}
