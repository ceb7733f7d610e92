//! Makes a program that shows a mistake smaller, as long as it still shows it.
//!
//! One edit after the other is tried: leave out an item, a statement, an arm, a branch, an initialiser, an operand;
//! put the body of a statement in its place. Whether the outcome is a valid program is for the caller's test to say.

use cssame::front::csm::syntax::ast::{Block, Declaration, Expr, ExprKind, Item, MemberKind, Program, Stmt, StmtKind};
use cssame::source::SourceMap;

/// The smallest program found for which `fails` still holds. `fails` must not hold of programs that do not compile.
pub fn shrink(source: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("shrink.csm", source);
    let mut program = cssame::front::csm::syntax::parse(&sources, file).program;
    // Edits are printed, so they are compared with what the printer makes of the source.
    let mut best = cssame::front::csm::syntax::print(&program);
    if !fails(&best) {
        return source.to_owned();
    }
    loop {
        let before = best.clone();
        let mut edit = 0;
        loop {
            let mut candidate = program.clone();
            let mut editor = Editor { wanted: edit, seen: 0, done: false };
            editor.program(&mut candidate);
            if !editor.done {
                break;
            }
            let text = cssame::front::csm::syntax::print(&candidate);
            if text.len() < best.len() && fails(&text) {
                best = text;
                program = candidate;
            } else {
                edit += 1;
            }
        }
        if best == before {
            return best;
        }
    }
}

/// Walks the tree and does the edit of a number.
struct Editor {
    wanted: usize,
    seen: usize,
    done: bool,
}

impl Editor {
    /// Whether it is this edit's turn.
    fn turn(&mut self) -> bool {
        let turn = !self.done && self.seen == self.wanted;
        self.seen += 1;
        self.done |= turn;
        turn
    }

    fn program(&mut self, program: &mut Program) {
        for index in 0..program.items.len() {
            if self.turn() {
                program.items.remove(index);
                return;
            }
        }
        let mut index = 0;
        while index < program.items.len() && !self.done {
            match &mut program.items[index] {
                Item::Function(function) => self.block(&mut function.body),
                Item::Class(class) => {
                    for member in 0..class.members.len() {
                        if self.turn() {
                            class.members.remove(member);
                            return;
                        }
                    }
                    for member in &mut class.members {
                        match &mut member.kind {
                            MemberKind::Method(method) | MemberKind::Constructor(method) => {
                                self.block(&mut method.body)
                            }
                            MemberKind::Field(declaration) => self.declaration(declaration),
                            MemberKind::Enum(_) | MemberKind::Error(_) => {}
                        }
                    }
                }
                Item::Statement(statement) => {
                    if let Some(inner) = self.unwrap(statement) {
                        program.items.splice(index..=index, inner.into_iter().map(Item::Statement));
                        return;
                    }
                    self.statement(statement);
                }
                _ => {}
            }
            index += 1;
        }
    }

    fn block(&mut self, block: &mut Block) {
        self.statements(&mut block.statements);
    }

    fn statements(&mut self, statements: &mut Vec<Stmt>) {
        for index in 0..statements.len() {
            if self.turn() {
                statements.remove(index);
                return;
            }
        }
        for index in 0..statements.len() {
            if self.done {
                return;
            }
            if let Some(inner) = self.unwrap(&mut statements[index]) {
                statements.splice(index..=index, inner);
                return;
            }
            self.statement(&mut statements[index]);
        }
    }

    /// Offers to put the parts of a statement in its place.
    fn unwrap(&mut self, statement: &mut Stmt) -> Option<Vec<Stmt>> {
        let parts: Vec<Vec<Stmt>> = match &statement.kind {
            StmtKind::Block(block) | StmtKind::Atomic(block) => vec![block.statements.clone()],
            StmtKind::Synchronized { body, .. } => vec![body.statements.clone()],
            StmtKind::If { then_branch, else_branch, .. } => {
                let otherwise = else_branch.iter().map(|branch| vec![(**branch).clone()]);
                std::iter::once(vec![(**then_branch).clone()]).chain(otherwise).collect()
            }
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => vec![vec![(**body).clone()]],
            StmtKind::For { initial, body, .. } => {
                vec![initial.iter().map(|initial| (**initial).clone()).chain([(**body).clone()]).collect()]
            }
            StmtKind::Parfor { initial, body, .. } => vec![vec![(**initial).clone(), (**body).clone()]],
            StmtKind::Switch { cases, .. } => cases.iter().map(|case| case.statements.clone()).collect(),
            StmtKind::Cobegin(arms) if arms.len() == 1 => vec![arms[0].statements.clone()],
            _ => Vec::new(),
        };
        parts.into_iter().find(|_| self.turn())
    }

    fn statement(&mut self, statement: &mut Stmt) {
        match &mut statement.kind {
            StmtKind::Block(block) | StmtKind::Atomic(block) => self.block(block),
            StmtKind::Synchronized { body, .. } => self.block(body),
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Assign { op, value, .. } => {
                if op.is_some() && self.turn() {
                    *op = None;
                }
                self.expr(value);
            }
            StmtKind::If { condition, then_branch, else_branch } => {
                self.expr(condition);
                if else_branch.is_some() && self.turn() {
                    *else_branch = None;
                }
                self.statement(then_branch);
                if let Some(else_branch) = else_branch {
                    self.statement(else_branch);
                }
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
                self.expr(condition);
                self.statement(body);
            }
            StmtKind::For { body, .. } | StmtKind::Parfor { body, .. } => self.statement(body),
            StmtKind::Switch { value, cases } => {
                self.expr(value);
                for index in 0..cases.len() {
                    if self.turn() {
                        cases.remove(index);
                        return;
                    }
                }
                for case in cases {
                    self.statements(&mut case.statements);
                }
            }
            StmtKind::Return(Some(value)) | StmtKind::Call(value) => self.expr(value),
            StmtKind::Cobegin(arms) => {
                for index in 0..arms.len() {
                    if arms.len() > 1 && self.turn() {
                        arms.remove(index);
                        return;
                    }
                }
                for arm in arms {
                    self.statements(&mut arm.statements);
                }
            }
            _ => {}
        }
    }

    fn declaration(&mut self, declaration: &mut Declaration) {
        for declarator in &mut declaration.declarators {
            if declarator.initialiser.is_some() && self.turn() {
                declarator.initialiser = None;
            }
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        let smaller: Vec<Expr> = match &expr.kind {
            ExprKind::Binary { left, right, .. } => vec![(**left).clone(), (**right).clone()],
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => vec![(**operand).clone()],
            ExprKind::Conditional { condition, then_value, else_value } => {
                vec![(**condition).clone(), (**then_value).clone(), (**else_value).clone()]
            }
            ExprKind::Index { index, .. } => vec![(**index).clone()],
            _ => Vec::new(),
        };
        for smaller in smaller {
            if self.turn() {
                *expr = smaller;
                return;
            }
        }
        match &mut expr.kind {
            ExprKind::Call { arguments, .. } => {
                for index in 0..arguments.len() {
                    if arguments.len() > 1 && self.turn() {
                        arguments.remove(index);
                        return;
                    }
                }
                arguments.iter_mut().for_each(|argument| self.expr(argument));
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional { condition, then_value, else_value } => {
                self.expr(condition);
                self.expr(then_value);
                self.expr(else_value);
            }
            _ => {}
        }
    }
}
