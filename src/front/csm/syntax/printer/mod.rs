//! Prints a syntax tree as source text.
//!
//! In: a [`Program`]. Out: text that parses to the same tree, except for spans: four spaces of indentation, one statement per
//! line, and parentheses only where precedence requires them. Error nodes are printed as comments, so the text of a program with
//! errors parses, but not to the same tree. Comments and the layout of the original text are lost.

mod expression;

use super::ast::*;
use expression::LOOSEST;
use std::fmt::Write;

/// The text of a program.
#[must_use]
pub fn print(program: &Program) -> String {
    print_in(Printer::default(), program)
}

fn print_in(mut printer: Printer, program: &Program) -> String {
    let mut apart = false;
    for (index, item) in program.items.iter().enumerate() {
        let large = matches!(item, Item::Function(_) | Item::Class(_));
        if index > 0 && (large || apart) {
            printer.out.push('\n');
        }
        apart = large;
        printer.item(item);
    }
    printer.out
}

/// As [`print()`], but an `if` behind an `else` begins a line of its own, so that lines can be put before it.
#[must_use]
pub fn print_with_lone_heads(program: &Program) -> String {
    print_in(Printer { lone_heads: true, ..Printer::default() }, program)
}

/// The text of a statement, as [`print()`] writes it without indentation.
#[must_use]
pub fn print_statement(statement: &Stmt) -> String {
    let mut printer = Printer::default();
    printer.statement(statement);
    printer.out.truncate(printer.out.trim_end().len());
    printer.out
}

/// The text of an expression.
#[must_use]
pub fn print_expression(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expression(expr, LOOSEST);
    printer.out
}

#[derive(Default)]
struct Printer {
    out: String,
    indentation: usize,
    /// Whether the head of an `if` always begins a line.
    lone_heads: bool,
}

impl Printer {
    // ---- Layout ----

    /// Begins a line.
    fn begin(&mut self) {
        for _ in 0..self.indentation {
            self.out.push_str("    ");
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn format(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.out.write_fmt(arguments);
    }

    fn indented(&mut self, content: impl FnOnce(&mut Printer)) {
        self.indentation += 1;
        content(self);
        self.indentation -= 1;
    }

    fn list<T>(&mut self, elements: &[T], mut each: impl FnMut(&mut Printer, &T)) {
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            each(self, element);
        }
    }

    // ---- Items ----

    fn item(&mut self, item: &Item) {
        match item {
            Item::Function(function) => {
                self.begin();
                self.function(function);
            }
            Item::Class(class) => self.class(class),
            Item::Enum(of) => {
                self.enumeration(of);
                self.text("\n");
            }
            Item::Extern(declaration) => {
                self.format(format_args!("extern {} {}", type_name(&declaration.result), declaration.name.name));
                self.parameters(&declaration.parameters);
                if let Some((lowest, highest)) = &declaration.range {
                    self.text(" in ");
                    self.expression(lowest, LOOSEST);
                    self.text("..");
                    self.expression(highest, LOOSEST);
                }
                self.text(";\n");
            }
            Item::Input(input) => {
                self.format(format_args!("input {} {} = ", type_name(&input.ty), input.name.name));
                self.expression(&input.value, LOOSEST);
                if let Some((lowest, highest)) = &input.range {
                    self.text(" in ");
                    self.expression(lowest, LOOSEST);
                    self.text("..");
                    self.expression(highest, LOOSEST);
                }
                self.text(";\n");
            }
            Item::Statement(statement) => self.line(statement),
            Item::Error(_) => self.text("/* error */\n"),
        }
    }

    fn function(&mut self, function: &Function) {
        self.format(format_args!("{} {}", type_name(&function.result), function.name.name));
        self.rest_of_function(function);
    }

    /// Parameters and body.
    fn rest_of_function(&mut self, function: &Function) {
        self.parameters(&function.parameters);
        self.text(" ");
        self.block(&function.body);
        self.text("\n");
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        self.text("(");
        self.list(parameters, |printer, parameter| {
            printer.format(format_args!("{} {}", type_name(&parameter.ty), parameter.name.name));
            for size in &parameter.sizes {
                printer.text("[");
                if let Some(size) = size {
                    printer.expression(size, LOOSEST);
                }
                printer.text("]");
            }
        });
        self.text(")");
    }

    fn class(&mut self, class: &Class) {
        self.format(format_args!("class {} {{\n", class.name.name));
        self.indented(|printer| {
            for member in &class.members {
                printer.begin();
                if !member.public {
                    printer.text("private ");
                }
                match &member.kind {
                    MemberKind::Field(declaration) => {
                        printer.declaration(declaration);
                        printer.text(";\n");
                    }
                    MemberKind::Method(function) => printer.function(function),
                    MemberKind::Constructor(function) => {
                        printer.text(&function.name.name);
                        printer.rest_of_function(function);
                    }
                    MemberKind::Enum(of) => {
                        printer.enumeration(of);
                        printer.text("\n");
                    }
                    MemberKind::Error(_) => printer.text("/* error */;\n"),
                }
            }
        });
        self.text("}\n");
    }

    fn enumeration(&mut self, of: &Enum) {
        self.text("enum ");
        if let Some(name) = &of.name {
            self.format(format_args!("{} ", name.name));
        }
        if of.enumerators.is_empty() {
            return self.text("{};");
        }
        self.text("{ ");
        self.list(&of.enumerators, |printer, enumerator| {
            printer.text(&enumerator.name.name);
            if let Some(value) = &enumerator.value {
                printer.text(" = ");
                printer.expression(value, LOOSEST);
            }
        });
        self.text(" };");
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let atomic = if declaration.atomic { "atomic " } else { "" };
        let constant = if declaration.constant { "const " } else { "" };
        self.format(format_args!("{atomic}{constant}{} ", type_name(&declaration.ty)));
        self.list(&declaration.declarators, |printer, declarator| {
            printer.text(&declarator.name.name);
            for size in &declarator.sizes {
                printer.text("[");
                printer.expression(size, LOOSEST);
                printer.text("]");
            }
            match &declarator.initialiser {
                None => {}
                Some(Initialiser::Value(value)) => {
                    printer.text(" = ");
                    printer.expression(value, LOOSEST);
                }
                Some(Initialiser::List(values)) => {
                    printer.text(" = {");
                    printer.list(values, |printer, value| printer.expression(value, LOOSEST));
                    printer.text("}");
                }
                Some(Initialiser::Rows(rows)) => {
                    printer.text(" = {");
                    printer.list(rows, Printer::row);
                    printer.text("}");
                }
                Some(Initialiser::Arguments(arguments)) => {
                    printer.text("(");
                    printer.list(arguments, |printer, argument| printer.expression(argument, LOOSEST));
                    printer.text(")");
                }
            }
        });
    }

    fn row(&mut self, row: &Row) {
        self.text("{");
        match row {
            Row::Values(values, _) => self.list(values, |printer, value| printer.expression(value, LOOSEST)),
            Row::Rows(rows, _) => self.list(rows, Printer::row),
        }
        self.text("}");
    }

    // ---- Statements ----

    /// A statement on a line of its own.
    fn line(&mut self, statement: &Stmt) {
        self.begin();
        self.statement(statement);
        self.text("\n");
    }

    fn block(&mut self, block: &Block) {
        if block.statements.is_empty() {
            return self.text("{}");
        }
        self.text("{\n");
        self.lines(&block.statements);
        self.begin();
        self.text("}");
    }

    fn lines(&mut self, statements: &[Stmt]) {
        self.indented(|printer| statements.iter().for_each(|statement| printer.line(statement)));
    }

    /// A statement without the newline behind it; what comes before it on the line is written.
    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::If { condition, then_branch, else_branch } => {
                self.if_statement(condition, then_branch, else_branch.as_deref());
            }
            StmtKind::While { condition, body } => {
                self.text("while (");
                self.expression(condition, LOOSEST);
                self.text(")");
                self.body(body);
            }
            StmtKind::DoWhile { body, condition } => {
                self.text("do");
                self.body(body);
                self.continue_after(body);
                self.text("while (");
                self.expression(condition, LOOSEST);
                self.text(");");
            }
            StmtKind::For { initial, condition, step, body } => {
                self.head("for", initial.as_deref(), condition.as_ref(), step.as_deref());
                self.body(body);
            }
            StmtKind::Parfor { initial, condition, step, body } => {
                self.head("parfor", Some(initial), Some(condition), Some(step));
                self.body(body);
            }
            StmtKind::Cobegin(arms) => self.cobegin(arms),
            StmtKind::Switch { value, cases } => self.switch(value, cases),
            StmtKind::Synchronized { lock, body } => {
                self.text("synchronized (");
                self.expression(lock, LOOSEST);
                self.text(") ");
                self.block(body);
            }
            StmtKind::Atomic(body) => {
                self.text("atomic ");
                self.block(body);
            }
            StmtKind::Error => self.text("/* error */;"),
            _ => {
                self.simple(statement);
                self.text(";");
            }
        }
    }

    /// A statement that ends in `;`, without it.
    fn simple(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Assign { target, op, value } => {
                self.expression(target, LOOSEST);
                self.format(format_args!(" {}= ", op.map_or("", BinaryOp::symbol)));
                self.expression(value, LOOSEST);
            }
            StmtKind::Step { target, increment } => {
                self.expression(target, LOOSEST);
                self.text(if *increment { "++" } else { "--" });
            }
            StmtKind::Fallthrough => self.text("fallthrough"),
            StmtKind::Break => self.text("break"),
            StmtKind::Continue => self.text("continue"),
            StmtKind::Return(None) => self.text("return"),
            StmtKind::Return(Some(value)) => {
                self.text("return ");
                self.expression(value, LOOSEST);
            }
            StmtKind::Call(call) => self.expression(call, LOOSEST),
            _ => self.text("skip"),
        }
    }

    fn if_statement(&mut self, condition: &Expr, then_branch: &Stmt, else_branch: Option<&Stmt>) {
        self.text("if (");
        self.expression(condition, LOOSEST);
        self.text(")");
        let Some(else_branch) = else_branch else { return self.body(then_branch) };
        if takes_else(then_branch) {
            self.text(" {\n");
            self.lines(std::slice::from_ref(then_branch));
            self.begin();
            self.text("} ");
        } else {
            self.body(then_branch);
            self.continue_after(then_branch);
        }
        self.text("else");
        if matches!(else_branch.kind, StmtKind::If { .. }) && !self.lone_heads {
            self.text(" ");
            self.statement(else_branch);
        } else {
            self.body(else_branch);
        }
    }

    /// The statement that a head rules: a block on the same line, anything else on the next.
    fn body(&mut self, body: &Stmt) {
        if let StmtKind::Block(block) = &body.kind {
            self.text(" ");
            return self.block(block);
        }
        self.text("\n");
        self.indented(|printer| {
            printer.begin();
            printer.statement(body);
        });
    }

    /// Where the keyword behind a body stands: behind the brace, or on the next line.
    fn continue_after(&mut self, body: &Stmt) {
        if matches!(body.kind, StmtKind::Block(_)) {
            self.text(" ");
        } else {
            self.text("\n");
            self.begin();
        }
    }

    fn head(&mut self, keyword: &str, initial: Option<&Stmt>, condition: Option<&Expr>, step: Option<&Stmt>) {
        self.format(format_args!("{keyword} ("));
        if let Some(initial) = initial {
            self.simple(initial);
        }
        self.text(";");
        if let Some(condition) = condition {
            self.text(" ");
            self.expression(condition, LOOSEST);
        }
        self.text(";");
        if let Some(step) = step {
            self.text(" ");
            self.simple(step);
        }
        self.text(")");
    }

    fn switch(&mut self, value: &Expr, cases: &[Case]) {
        self.text("switch (");
        self.expression(value, LOOSEST);
        self.text(") {\n");
        self.indented(|printer| {
            for case in cases {
                for label in &case.labels {
                    printer.begin();
                    match &label.value {
                        Some(value) => {
                            printer.text("case ");
                            printer.expression(value, LOOSEST);
                        }
                        None => printer.text("default"),
                    }
                    printer.text(":\n");
                }
                printer.lines(&case.statements);
            }
        });
        self.begin();
        self.text("}");
    }

    fn cobegin(&mut self, arms: &[Arm]) {
        self.text("cobegin\n");
        self.indented(|printer| {
            for arm in arms {
                printer.begin();
                printer.format(format_args!("{}:", arm.label.name));
                match arm.statements.as_slice() {
                    [Stmt { kind: StmtKind::Block(block), .. }] => {
                        printer.text(" ");
                        printer.block(block);
                        printer.text("\n");
                    }
                    statements => {
                        printer.text("\n");
                        printer.lines(statements);
                    }
                }
            }
        });
        self.begin();
        self.text("coend");
    }
}

/// A type as it is written.
fn type_name(ty: &TypeName) -> &str {
    match &ty.kind {
        TypeKind::Int => "int",
        TypeKind::Long => "long",
        TypeKind::Bool => "bool",
        TypeKind::Double => "double",
        TypeKind::String => "string",
        TypeKind::Void => "void",
        TypeKind::Lock => "lock",
        TypeKind::ReentrantLock => "reentrant lock",
        TypeKind::RwLock => "rwlock",
        TypeKind::Event => "event",
        TypeKind::Barrier => "barrier",
        TypeKind::Cond => "cond",
        TypeKind::Sem => "sem",
        TypeKind::Thread => "thread",
        TypeKind::Class(name) => name,
    }
}

/// Whether an `else` behind this statement would belong to it.
fn takes_else(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::If { else_branch: None, .. } => true,
        StmtKind::If { else_branch: Some(last), .. } => takes_else(last),
        StmtKind::While { body, .. } | StmtKind::For { body, .. } | StmtKind::Parfor { body, .. } => takes_else(body),
        _ => false,
    }
}
