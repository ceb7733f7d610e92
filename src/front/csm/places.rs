//! The positions of statements: for changes of a text around or before a statement.
//!
//! **Input**: a file. **Output**: [`StatementPlace`]s, outer ones before the inner ones.

use super::syntax::ast::{Block, Function, Item, MemberKind, Stmt, StmtKind};
use super::syntax::parse;
use cssame_source::{FileId, SourceMap, Span};

/// What matters of a statement to those who change a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementForm {
    /// An assignment, a step, or a call.
    Simple,
    /// `if (…) …` without `else`; where its branch stands.
    If(Span),
    /// `return …;`
    Return,
    /// A block; the body of a function has this form too.
    Block,
    /// An arm of a `cobegin`, without its label.
    Arm,
    /// Any other one.
    Other,
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementPlace {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub form: StatementForm,
    /// Whether others may stand before and behind it.
    pub in_list: bool,
}

/// All statements of a file.
#[must_use]
pub fn statement_places(sources: &SourceMap, file: FileId) -> Vec<StatementPlace> {
    let mut walk = Walk::default();
    for item in &parse(sources, file).program.items {
        match item {
            Item::Function(function) => walk.function(function),
            Item::Statement(statement) => walk.statement(statement, true),
            Item::Class(class) => {
                for member in &class.members {
                    if let MemberKind::Method(function) | MemberKind::Constructor(function) = &member.kind {
                        walk.function(function);
                    }
                }
            }
            Item::Extern(_) | Item::Input(_) | Item::Enum(_) | Item::Error(_) => {}
        }
    }
    walk.places
}

#[derive(Default)]
struct Walk {
    places: Vec<StatementPlace>,
}

impl Walk {
    fn add(&mut self, span: Span, form: StatementForm, in_list: bool) {
        self.places.push(StatementPlace { span, form, in_list });
    }

    fn function(&mut self, function: &Function) {
        self.block(&function.body, false);
    }

    fn block(&mut self, block: &Block, in_list: bool) {
        self.add(block.span, StatementForm::Block, in_list);
        self.list(&block.statements);
    }

    fn list(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|statement| self.statement(statement, true));
    }

    /// The depth of a tree is bounded by the parser.
    fn statement(&mut self, statement: &Stmt, in_list: bool) {
        let span = statement.span;
        let form = match &statement.kind {
            StmtKind::Block(block) => return self.block(block, in_list),
            StmtKind::Assign { .. } | StmtKind::Step { .. } | StmtKind::Call(_) => StatementForm::Simple,
            StmtKind::If { then_branch, else_branch: None, .. } => StatementForm::If(then_branch.span),
            StmtKind::Return(_) => StatementForm::Return,
            _ => StatementForm::Other,
        };
        self.add(span, form, in_list);
        match &statement.kind {
            StmtKind::If { then_branch, else_branch, .. } => {
                self.statement(then_branch, false);
                else_branch.iter().for_each(|branch| self.statement(branch, false));
            }
            StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Parfor { body, .. } => self.statement(body, false),
            StmtKind::Switch { cases, .. } => cases.iter().for_each(|case| self.list(&case.statements)),
            StmtKind::Cobegin(arms) => {
                for arm in arms {
                    if let (Some(first), Some(last)) = (arm.statements.first(), arm.statements.last()) {
                        self.add(first.span.to(last.span), StatementForm::Arm, false);
                    }
                    self.list(&arm.statements);
                }
            }
            StmtKind::Synchronized { body, .. } | StmtKind::Atomic(body) => self.block(body, false),
            _ => {}
        }
    }
}
