//! Lowering of `switch`.
//!
//! The value is evaluated once. Then the labels are compared with it in the order of the text, each by a separate branch whose
//! place is the label; `default` comes last, wherever it is written. If the value is constant, nothing is compared, and bodies
//! that no label leads to are not lowered. A switch on a bool with both labels needs one comparison.

use super::{Builder, Leavable, value};
use crate::csm::hir::{Constant, Expression, Scalar, SwitchCase};
use cssame_ir::{BinaryOperator, BlockId, Instruction, Operand, ScalarType, Terminator};
use cssame_source::Span;

impl<'t> Builder<'_, 't> {
    pub(super) fn switch(&mut self, on: &'t Expression, cases: &'t [SwitchCase], span: Span) {
        let exit = self.new_block();
        let chosen = on.constant().map(|constant| chosen(cases, constant));
        let mut is_reached = vec![true; cases.len()];
        if let Some(chosen) = chosen {
            let mut is_run = false;
            for (at, case) in cases.iter().enumerate() {
                is_run |= chosen == Some(at);
                is_reached[at] = is_run;
                is_run &= case.falls;
            }
        }
        // A body that is not reached has no block.
        let bodies: Vec<BlockId> =
            is_reached.iter().map(|&is_reached| if is_reached { self.new_block() } else { exit }).collect();
        match chosen {
            Some(chosen) => self.terminate(Terminator::Jump(chosen.map_or(exit, |at| bodies[at])), span),
            None => self.compare(on, cases, &bodies, exit),
        }
        self.loops.push(Leavable { after: exit, next: None, held: self.held.len() });
        for (at, case) in cases.iter().enumerate().filter(|(at, _)| is_reached[*at]) {
            self.current = bodies[at];
            self.statements(&case.body);
            let end = Span { start: case.span.end.saturating_sub(1).max(case.span.start), ..case.span };
            let next = bodies.get(at + 1).copied().filter(|_| case.falls).unwrap_or(exit);
            self.terminate(Terminator::Jump(next), end);
        }
        self.loops.pop();
        self.current = exit;
    }

    fn compare(&mut self, on: &'t Expression, cases: &'t [SwitchCase], bodies: &[BlockId], exit: BlockId) {
        let operand = self.expression(on);
        let labels =
            || cases.iter().zip(bodies).flat_map(|(case, body)| case.labels.iter().map(move |one| (one, *body)));
        let default = labels().find(|(label, _)| label.value.is_none()).map(|(_, body)| body);
        let mut values: Vec<(Constant, Span, BlockId)> =
            labels().filter_map(|(label, body)| Some((label.value?, label.span, body))).collect();
        let last = match (on.ty, values.len()) {
            (Scalar::Bool, 2) => values.pop().map(|(_, _, body)| body),
            _ => default,
        };
        for (constant, span, body) in values {
            let next = self.new_block();
            let dest = self.temporary(ScalarType::Bool, span);
            let right = Operand::Constant(value(constant));
            self.emit(Instruction::Binary { dest, op: BinaryOperator::Equal, left: operand, right }, span);
            let condition = Operand::Register(dest);
            self.terminate(Terminator::Branch { condition, then_block: body, else_block: next }, span);
            self.current = next;
        }
        self.terminate(Terminator::Jump(last.unwrap_or(exit)), on.span);
    }
}

/// The case that runs where the value is that constant.
fn chosen(cases: &[SwitchCase], constant: Constant) -> Option<usize> {
    let of =
        |wanted: Option<Constant>| cases.iter().position(|case| case.labels.iter().any(|label| label.value == wanted));
    of(Some(constant)).or_else(|| of(None))
}
