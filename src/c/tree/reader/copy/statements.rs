//! Statements, node by node.

use super::{Copier, decl, expr, stmt};
use crate::tree::ids::ExprId;
use crate::tree::statement::{Assembly, Case, Stmt, StmtKind};
use rucc_sema::{Asm, AsmOperandList, Stmt as Read};

impl Copier<'_> {
    pub(super) fn statement(&mut self, id: rucc_sema::StmtId) -> Stmt {
        let place = self.input.place(self.input.tree().stmt_span(id));
        Stmt { kind: self.statement_kind(self.input.tree()[id]), place }
    }

    fn statement_kind(&mut self, read: Read) -> StmtKind {
        let tree = self.input.tree();
        match read {
            Read::Error => StmtKind::Error,
            Read::Empty => StmtKind::Empty,
            Read::Expr(id) => StmtKind::Expression(expr(id)),
            Read::Block(list) => StmtKind::Block(tree[list].iter().map(|&id| stmt(id)).collect()),
            Read::Decls(list) => StmtKind::Declarations(tree[list].iter().map(|&id| decl(id)).collect()),
            Read::If { cond, then, otherwise } => {
                StmtKind::If { condition: expr(cond), then: stmt(then), otherwise: otherwise.map(stmt) }
            }
            Read::While { cond, body } => StmtKind::While { condition: expr(cond), body: stmt(body) },
            Read::DoWhile { body, cond } => StmtKind::DoWhile { body: stmt(body), condition: expr(cond) },
            Read::For { init, cond, step, body } => StmtKind::For {
                initial: init.map(stmt),
                condition: cond.map(expr),
                step: step.map(expr),
                body: stmt(body),
            },
            Read::Switch { cond, body, cases, default } => StmtKind::Switch {
                value: expr(cond),
                body: stmt(body),
                cases: cases
                    .iter()
                    .map(|id| tree[id])
                    .map(|case| Case { low: case.low, high: case.high, body: stmt(case.body) })
                    .collect(),
                default: default.map(stmt),
            },
            Read::Case { body, .. } => StmtKind::Case { body: stmt(body) },
            Read::Default { body } => StmtKind::Default { body: stmt(body) },
            Read::Label { label, body } => StmtKind::Label { label: self.label(label), body: stmt(body) },
            Read::Goto(label) => StmtKind::Goto(self.label(label)),
            Read::IndirectGoto(target) => StmtKind::ComputedGoto(expr(target)),
            Read::Asm(id) => StmtKind::Assembly(self.assembly(tree[id])),
            Read::Break => StmtKind::Break,
            Read::Continue => StmtKind::Continue,
            Read::Return(value) => StmtKind::Return(value.map(expr)),
        }
    }

    fn assembly(&mut self, read: Asm) -> Assembly {
        let tree = self.input.tree();
        let operands =
            |list: AsmOperandList| -> Box<[ExprId]> { tree[list].iter().map(|one| expr(one.value)).collect() };
        let outputs = operands(read.outputs);
        Assembly {
            template: self.input.text(read.template),
            inputs: operands(read.inputs),
            clobbers: tree[read.clobbers].iter().map(|&id| self.input.text(id)).collect(),
            labels: tree[read.labels].iter().map(|&id| self.label(id)).collect(),
            volatile: read.quals.has(rucc_ast::AsmQuals::VOLATILE) || outputs.is_empty(),
            outputs,
        }
    }
}
