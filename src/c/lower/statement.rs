//! Statements.

use super::ask::{Done, call_of, expression_of, meaning};
use super::builder::{Builder, Leavable};
use crate::supported::Reason;
use crate::supported::library::Known;
use crate::tree::{ExprId, LabelId, StmtId, StmtKind};
use cssame_ir::{BlockId, Instruction, Operand, Terminator};
use cssame_source::Span;

impl Builder<'_, '_> {
    pub fn statement(&mut self, id: StmtId) -> Done<()> {
        let stmt = &self.unit.statements[id];
        let span = stmt.place.span;
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Assembly(_) => Ok(()),
            StmtKind::Expression(expr) => self.effect(*expr),
            StmtKind::Block(list) => self.block(list, span),
            StmtKind::Declarations(list) => list.iter().try_for_each(|&decl| self.declare(decl)),
            StmtKind::If { condition, then, otherwise } => self.if_statement(*condition, *then, *otherwise, span),
            StmtKind::While { condition, body } => self.while_loop(Some(*condition), None, *body, span),
            StmtKind::DoWhile { body, condition } => self.do_while_loop(*body, *condition, span),
            StmtKind::For { initial, condition, step, body } => {
                let open = self.cleanups.len();
                if let Some(initial) = initial {
                    self.statement(*initial)?;
                }
                self.while_loop(*condition, *step, *body, span)?;
                self.clean_down_to(open, span)?;
                self.cleanups.truncate(open);
                Ok(())
            }
            StmtKind::Switch { value, body, cases, default } => self.switch(*value, *body, cases, *default),
            StmtKind::Case { body } | StmtKind::Default { body } => {
                let block = self.case_block(*body);
                self.jump_into(block, span);
                self.statement(*body)
            }
            StmtKind::Label { label, body } => {
                let block = self.label_block(*label);
                self.jump_into(block, span);
                self.statement(*body)
            }
            StmtKind::Goto(label) => {
                if !self.cleanups.is_empty() || !self.handlers.is_empty() {
                    return self.refuse(Reason::JumpOverCleanup, stmt.place);
                }
                let block = self.label_block(*label);
                self.leave(Terminator::Jump(block), span);
                Ok(())
            }
            StmtKind::Break | StmtKind::Continue => self.leave_loop(matches!(stmt.kind, StmtKind::Break), span),
            StmtKind::Return(value) => self.return_statement(*value, span),
            StmtKind::Error | StmtKind::ComputedGoto(_) => {
                self.refuse(Reason::Form("statement of this form"), stmt.place)
            }
        }
    }

    fn block(&mut self, list: &[StmtId], span: Span) -> Done<()> {
        let open = self.cleanups.len();
        self.choices_of(list);
        for &stmt in list {
            self.statement(stmt)?;
        }
        let end = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
        self.clean_down_to(open, end)?;
        self.cleanups.truncate(open);
        Ok(())
    }

    pub fn label_block(&mut self, label: LabelId) -> BlockId {
        if let Some(&block) = self.labels.get(&label) {
            return block;
        }
        let block = self.new_block();
        self.labels.insert(label, block);
        block
    }

    fn leave_loop(&mut self, is_break: bool, span: Span) -> Done<()> {
        let target = self.leavable.iter().rev().find_map(|one| {
            let target = if is_break { Some(one.after) } else { one.next };
            Some((target?, one.cleanups))
        });
        if let Some((target, open)) = target {
            self.clean_down_to(open, span)?;
            self.leave(Terminator::Jump(target), span);
        }
        Ok(())
    }

    fn return_statement(&mut self, value: Option<ExprId>, span: Span) -> Done<()> {
        let result = match (value, self.function.result) {
            (Some(value), Some(ty)) => {
                let value = self.value(value)?;
                let value = super::builder::Typed { operand: self.converted(value, ty, span), ty };
                // What is cleaned up may change what the value was read from.
                let value = if self.cleanups.is_empty() { value } else { self.copied(value, span) };
                Some(value.operand)
            }
            (Some(value), None) => {
                match self.result_to {
                    Some(to) => self.return_aggregate(value, to)?,
                    None => self.effect(value)?,
                }
                None
            }
            (None, Some(ty)) => Some(Operand::Constant(super::datum::zero(ty))),
            (None, None) => None,
        };
        self.clean_down_to(0, span)?;
        self.end_of_section(span);
        self.leave(Terminator::Return(result), span);
        Ok(())
    }

    /// The end of a function whose name makes it a section.
    pub fn end_of_section(&mut self, span: Span) {
        if self.is_section {
            self.emit(Instruction::AtomicEnd, span);
        }
    }

    fn if_statement(&mut self, condition: ExprId, then: StmtId, otherwise: Option<StmtId>, span: Span) -> Done<()> {
        // glibc: `if (x) ; else __assert_fail(…);`
        if let (StmtKind::Empty, Some(other)) = (&self.unit.statements[then].kind, otherwise)
            && let Some(call) = expression_of(self.unit, other)
            && self.assertion(condition, call)?
        {
            return Ok(());
        }
        let then_block = self.new_block();
        let else_block = otherwise.map(|_| self.new_block());
        let join = self.new_block();
        self.branch(condition, then_block, else_block.unwrap_or(join))?;
        self.current = then_block;
        self.statement(then)?;
        self.terminate(Terminator::Jump(join), span);
        if let (Some(block), Some(body)) = (else_block, otherwise) {
            self.current = block;
            self.statement(body)?;
            self.terminate(Terminator::Jump(join), span);
        }
        self.current = join;
        Ok(())
    }

    fn while_loop(&mut self, condition: Option<ExprId>, step: Option<ExprId>, body: StmtId, span: Span) -> Done<()> {
        let (head, inside, exit) = (self.new_block(), self.new_block(), self.new_block());
        let next = if step.is_some() { self.new_block() } else { head };
        self.jump_into(head, span);
        match condition {
            Some(condition) => self.branch(condition, inside, exit)?,
            None => self.terminate(Terminator::Jump(inside), span),
        }
        self.current = inside;
        self.loop_body(body, exit, next)?;
        self.terminate(Terminator::Jump(next), span);
        if let Some(step) = step {
            self.current = next;
            self.effect(step)?;
            self.terminate(Terminator::Jump(head), span);
        }
        self.current = exit;
        Ok(())
    }

    fn do_while_loop(&mut self, body: StmtId, condition: ExprId, span: Span) -> Done<()> {
        let (inside, test, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.jump_into(inside, span);
        self.loop_body(body, exit, test)?;
        self.jump_into(test, span);
        self.branch(condition, inside, exit)?;
        self.current = exit;
        Ok(())
    }

    fn loop_body(&mut self, body: StmtId, exit: BlockId, next: BlockId) -> Done<()> {
        self.leavable.push(Leavable { after: exit, next: Some(next), cleanups: self.cleanups.len() });
        self.loops += 1;
        self.statement(body)?;
        self.loops -= 1;
        self.leavable.pop();
        Ok(())
    }

    /// Asserts a condition where `failure` is a call of what `assert` becomes; whether it is one.
    pub fn assertion(&mut self, condition: ExprId, failure: ExprId) -> Done<bool> {
        let Some((decl, arguments)) = call_of(self.unit, failure) else { return Ok(false) };
        let Some(("__assert_fail" | "__assert", Known::Failure)) = meaning(self.unit, decl) else { return Ok(false) };
        let message = arguments.first().and_then(|&text| self.literal_text(text));
        let message = message.map(|text| self.lowering.text(&text));
        let condition_value = self.truth(condition)?.operand;
        self.emit(Instruction::Assert { condition: condition_value, message }, self.span(condition));
        Ok(true)
    }
}
