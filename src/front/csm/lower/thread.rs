//! Lowering of threads: forks, joins, spawns.

use super::{Builder, PendingArm, Slot, empty_function, scalar_type};
use crate::csm::hir::{self, StatementKind};
use cssame_ir::{
    Arithmetic, BinaryOperator, FunctionId, FunctionKind, Instruction, NewThread, Operand, Place, RegisterId,
    RegisterType, ScalarType, Terminator, ThreadLabel, TripBounds, Value,
};
use cssame_source::Span;
use cssame_source::texts::TextId;

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
        let class = self.this.and_then(|this| self.function.registers[this].pointee);
        self.lowering.arms.push(PendingArm { id, arm, copy, class });
        let this = arm.uses_this.then_some(self.this).flatten();
        let captures = arm.captures.iter().flat_map(|capture| {
            let reference = match self.slots.get(capture) {
                Some(Slot::Reference(register) | Slot::Register(register)) => Some(*register),
                None => None,
            };
            reference.into_iter().chain(self.lengths.get(capture).copied())
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

    /// What a thread is called whose handle is an element: `w[2]`, by the values of the indices. They are one number, which
    /// the lengths in the label take apart.
    fn handle_name(
        &mut self,
        target: Option<&hir::Place>,
        place: Option<&Place>,
        label: TextId,
    ) -> (ThreadLabel, Option<Operand>) {
        let (Some(target), Some(place)) = (target, place) else { return (ThreadLabel::Name(label), None) };
        let indices = place.indices.iter().zip(&target.indices);
        let mut number: Option<Operand> = None;
        for (index, written) in indices {
            let span = written.value.span;
            let at = self.converted(index.operand, scalar_type(written.value.ty), ScalarType::Long, span);
            number = Some(match number {
                None => at,
                Some(outer) => {
                    let length = self.converted(index.length, ScalarType::Int, ScalarType::Long, span);
                    let rows = self.arithmetic(BinaryOperator::Multiply(Arithmetic::Long), outer, length, span);
                    self.arithmetic(BinaryOperator::Add(Arithmetic::Long), rows, at, span)
                }
            });
        }
        match number {
            None => (ThreadLabel::Name(label), None),
            Some(number) => (ThreadLabel::Element(self.handle_label(target)), Some(number)),
        }
    }

    /// `w[]`, `m[][4]`, `p[].t`: the place of a handle, with the length of each array but the first.
    fn handle_label(&mut self, target: &hir::Place) -> TextId {
        let texts = &self.lowering.program.texts;
        let written = format!("{}{}", texts.get(target.name), texts.get(target.last_indices));
        let mut lengths = target.indices.iter().enumerate().map(|(position, index)| match index.length {
            hir::Length::Constant(length) if position > 0 => length.to_string(),
            _ => String::new(),
        });
        let (mut label, mut depth) = (String::new(), 0);
        // Brackets in a text of an index are no brackets.
        let (mut is_text, mut is_escaped) = (false, false);
        for character in written.chars() {
            if is_text {
                is_text = character != '"' || is_escaped;
                is_escaped = character == '\\' && !is_escaped;
                continue;
            }
            match character {
                '"' => is_text = true,
                '[' => {
                    if depth == 0 {
                        label.push('[');
                        label.push_str(&lengths.next().unwrap_or_default());
                    }
                    depth += 1;
                }
                ']' => {
                    depth -= 1;
                    if depth == 0 {
                        label.push(']');
                    }
                }
                _ if depth == 0 => label.push(character),
                _ => {}
            }
        }
        self.lowering.program.texts.intern(&label)
    }

    fn arithmetic(&mut self, op: BinaryOperator, left: Operand, right: Operand, span: Span) -> Operand {
        let dest = self.temporary(ScalarType::Long, span);
        self.emit(Instruction::Binary { dest, op, left, right }, span);
        Operand::Register(dest)
    }

    pub(super) fn spawn(&mut self, target: Option<&'t hir::Place>, call: &'t hir::Call, label: TextId, span: Span) {
        let place = match target {
            Some(target) if self.register_of(target).is_none() => Some(self.fixed_place(target)),
            _ => None,
        };
        let (label, ordinal) = self.handle_name(target, place.as_ref(), label);
        let arguments = self.arguments(call);
        let function = FunctionId(call.function.0);
        let thread = NewThread { function, rounds: Vec::new(), arguments, label, ordinal };
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
