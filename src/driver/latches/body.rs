//! The Java text of one function, in CSSAME form.
//!
//! **Input**: a function, its structured statements, and the versions. **Output**: the lines of its body.
//!
//! A definition assigns a field. Pi functions and phi functions are calls whose results are assigned to fields. Everything else
//! is plain Java. The lines of the source precede it as comments.

use super::expression::{Expression, binary, unary};
use super::registers::Registers;
use super::sites::Sites;
use super::versions::{Seen, Versions};
use crate::Input;
use crate::java::line::Lines;
use crate::java::text::{comment, default_value, string};
use crate::label::{Located, operand_type};
use crate::source_lines::SourceLines;
use cssame_ir::structure::Structured;
use cssame_ir::sync::Kind;
use cssame_ir::thread_name;
use cssame_ir::{
    BlockId, DefinitionId, Function, FunctionId, Instruction, NewThread, Operand, Place, ReadId, RegisterType,
    ThreadLabel,
};
use cssame_source::Span;
use cssame_vm::FailureKind;
use rustc_hash::FxHashMap;

/// What all bodies need.
pub(super) struct Context<'c, 'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) sites: &'c Sites<'a>,
    pub(super) versions: &'c Versions<'a>,
    /// By function: its method or its class.
    pub(super) names: &'c FxHashMap<FunctionId, String>,
}

/// A body that is being written.
pub(super) struct Body<'c, 'a> {
    context: &'c Context<'c, 'a>,
    id: FunctionId,
    function: &'a Function,
    registers: Registers<'a>,
    lines: Lines,
    shown: SourceLines,
}

/// The lines of a body, at that depth.
pub(super) fn body<'c, 'a>(
    context: &'c Context<'c, 'a>,
    registers: Registers<'a>,
    statements: &[Structured],
    indent: usize,
) -> Lines {
    let id = registers.id;
    let function = &context.input.program.functions[id];
    let mut body = Body { context, id, function, registers, lines: Lines::at(indent), shown: SourceLines::default() };
    for line in body.registers.first.clone().into_iter().chain(body.registers.parameter_fields()) {
        body.lines.push(line);
    }
    if context.input.program.main == Some(id) {
        body.globals();
    }
    body.sequence(statements);
    body.lines
}

impl<'a> Body<'_, 'a> {
    /// The initial definitions of globals.
    fn globals(&mut self) {
        let program = self.context.input.program;
        for (id, variable) in program.variables.entries() {
            if variable.storage == cssame_ir::Storage::Global && self.context.versions.plain(id).is_none() {
                self.source_line(variable.span);
                self.context.versions.beginning(id).into_iter().for_each(|line| self.lines.push(line));
            }
        }
    }

    fn sequence(&mut self, statements: &[Structured]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Structured) {
        match statement {
            Structured::Block(block) => self.block(*block),
            Structured::If { block, condition, negated, then, otherwise } => {
                let condition = self.terminator_operand(*block, condition).condition(*negated);
                self.source_line(self.function.blocks[*block].terminator_span);
                self.lines.open(format!("if ({condition}) {{"));
                self.sequence(then);
                if !otherwise.is_empty() {
                    self.lines.reopen("} else {");
                    self.sequence(otherwise);
                }
                self.lines.close("}");
            }
            Structured::Loop { label, body } => {
                self.lines.open(format!("{}while (true) {{", label.map_or_else(String::new, label_text)));
                self.lines.push("Threads.round();");
                self.sequence(body);
                self.lines.close("}");
            }
            // No block may be a test, so there is none.
            Structured::While { body, .. } => self.sequence(body),
            Structured::Labelled { label, body } => {
                self.lines.open(format!("{}{{", label_text(*label)));
                self.sequence(body);
                self.lines.close("}");
            }
            Structured::Break(label) => self.jump("break", *label),
            Structured::Continue(label) => self.jump("continue", *label),
            Structured::Return { block, value } => {
                self.source_line(self.function.blocks[*block].terminator_span);
                let value = value.map(|value| self.terminator_operand(*block, &value).text);
                self.lines.push(value.map_or("return;".to_owned(), |value| format!("return {value};")));
            }
        }
    }

    fn jump(&mut self, word: &str, label: Option<cssame_ir::structure::Label>) {
        let text = label.map_or_else(|| format!("{word};"), |label| format!("{word} label{};", label.0));
        self.lines.push(text);
    }

    fn terminator_operand(&self, block: BlockId, operand: &Operand) -> Expression {
        self.registers.operand((block, self.function.blocks[block].instructions.len()), operand)
    }

    fn block(&mut self, block: BlockId) {
        for phi in self.registers.phis.get(&block).cloned().unwrap_or_default() {
            self.lines.push(format!("{} = {}({});", phi.field, phi.method, phi.arguments.join(", ")));
        }
        let content = &self.function.blocks[block];
        for (position, (instruction, &span)) in content.instructions.iter().zip(&content.spans).enumerate() {
            let lines = self.instruction((block, position), instruction, span);
            if !lines.is_empty() {
                self.source_line(span);
                lines.into_iter().for_each(|line| self.lines.push(line));
            }
        }
    }

    /// The line of the source, where another one begins.
    fn source_line(&mut self, span: Span) {
        if let Some((line, text)) = self.shown.next(self.context.input.sources, span) {
            self.lines.push(format!("// {line}: {}", comment(text)));
        }
    }

    fn instruction(&mut self, at: (BlockId, usize), instruction: &Instruction, span: Span) -> Vec<String> {
        let located = Located { function: self.id, instruction: None, span };
        match instruction {
            Instruction::Copy { source, .. } => {
                let value = self.operand(at, source);
                self.registers.define(at, value, true).into_iter().collect()
            }
            Instruction::Unary { op, operand, .. } => {
                let value = unary(*op, &self.operand(at, operand));
                self.registers.define(at, value, true).into_iter().collect()
            }
            Instruction::Binary { op, left, right, .. } => {
                let divisor = self.operand(at, right);
                let ty = operand_type(self.context.input, self.id, left);
                let value = binary(*op, ty, &self.operand(at, left), &divisor);
                let is_certain = matches!(right, Operand::Constant(value) if value.bits() != 0);
                let check = (op.divides() && !is_certain)
                    .then(|| self.check(&located, &format!("{} != 0", divisor.inner()), FailureKind::DivisionByZero));
                check.into_iter().chain(self.registers.define(at, value, true)).collect()
            }
            Instruction::Load { place, read, .. } => self.load(at, place, *read),
            Instruction::Store { place, value, definition } => self.store(at, place, value, *definition),
            Instruction::Allocate { variable, .. } => self.context.versions.beginning(*variable).into_iter().collect(),
            Instruction::Print { arguments, .. } => {
                let parts: Vec<String> = arguments.iter().map(|one| self.operand(at, &one.operand).text).collect();
                vec![format!("Output.print({});", parts.join(", "))]
            }
            Instruction::Assert { condition, message } => {
                let condition = self.operand(at, condition).text;
                vec![self.check_with(&located, &condition, (FailureKind::Assert, *message))]
            }
            Instruction::Error { message } => {
                vec![self.check_with(&located, "false", (FailureKind::Error, *message))]
            }
            Instruction::Call { function, arguments, .. } => {
                let call = format!("{}({})", self.name(*function), self.arguments(at, *function, arguments));
                self.registers.define(at, Expression::call(call), false).into_iter().collect()
            }
            Instruction::Synchronise(operation) => {
                let object = operation.object.as_ref().and_then(|place| self.context.sites.variable(self.id, place));
                let name = object.and_then(|object| self.context.versions.plain(object)).map_or("", |of| &of.name);
                vec![format!("{name}.{}();", method(operation.kind))]
            }
            Instruction::Fork { threads, .. } => {
                let threads: Vec<String> = threads.iter().map(|thread| self.thread(at, thread)).collect();
                vec![format!("Threads.fork({});", threads.join(", "))]
            }
            Instruction::Spawn { thread, .. } => {
                let call = format!("Threads.spawn({})", self.thread(at, thread));
                self.registers.define(at, Expression::call(call), false).into_iter().collect()
            }
            Instruction::Join => vec!["Threads.join();".to_owned()],
            // `unwritten` has refused the program.
            Instruction::CurrentThread { .. } => Vec::new(),
            Instruction::JoinThread { handle, .. } => {
                let handle = self.operand(at, handle);
                let check = self.check(&located, &format!("{} != null", handle.inner()), FailureKind::EmptyHandle);
                vec![check, format!("Threads.join({});", handle.text)]
            }
            // References are nothing at run time; the rest is refused.
            Instruction::Address { .. }
            | Instruction::Atomic { .. }
            | Instruction::Free { .. }
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd
            | Instruction::Choose { .. }
            | Instruction::Assume { .. } => Vec::new(),
        }
    }

    fn operand(&self, at: (BlockId, usize), operand: &Operand) -> Expression {
        self.registers.operand(at, operand)
    }

    fn load(&mut self, at: (BlockId, usize), place: &Place, read: ReadId) -> Vec<String> {
        let versions = self.context.versions;
        let Some(variable) = self.context.sites.variable(self.id, place) else { return Vec::new() };
        let Some(seen) = versions.seen(variable, read) else {
            let name = versions.plain(variable).map_or_else(String::new, |plain| plain.name.clone());
            return self.registers.define(at, Expression::name(name), false).into_iter().collect();
        };
        let (mut lines, field) = match seen {
            Seen::Pi(pi) => {
                let terms = versions.versions(&pi.terms).join(", ");
                (vec![format!("{} = {}({terms});", pi.field, pi.method)], pi.field.clone())
            }
            Seen::Version(field) => (Vec::new(), field.to_owned()),
            Seen::Nothing => {
                let input = self.context.input;
                let name = cssame_form::read_name(input.sources, input.program, read);
                let ty = Located { function: self.id, instruction: self.at(at), span: input.program.reads[read].span }
                    .cell_type(input);
                let message = string(&format!("no definition reaches {name}"));
                (vec![format!("Failure.check(false, {message});")], default_value(ty).to_owned())
            }
        };
        if !self.registers.stand_for(at, &field) {
            lines.extend(self.registers.define(at, Expression::name(field), false));
        }
        lines
    }

    fn at(&self, (block, position): (BlockId, usize)) -> Option<&'a Instruction> {
        self.function.blocks[block].instructions.get(position)
    }

    fn store(&mut self, at: (BlockId, usize), place: &Place, value: &Operand, definition: DefinitionId) -> Vec<String> {
        let versions = self.context.versions;
        let plain = self.context.sites.variable(self.id, place).and_then(|variable| versions.plain(variable));
        let name = versions.version(definition).or(plain.map(|plain| plain.name.as_str()));
        name.map(|name| format!("{name} = {};", self.operand(at, value).text)).into_iter().collect()
    }

    fn name(&self, function: FunctionId) -> &str {
        self.context.names.get(&function).map_or("", String::as_str)
    }

    /// The values that a function takes.
    fn arguments(&self, at: (BlockId, usize), function: FunctionId, given: &[Operand]) -> String {
        let callee = &self.context.input.program.functions[function];
        let values = callee
            .parameters
            .iter()
            .zip(given)
            .filter(|(parameter, _)| matches!(callee.registers[**parameter].ty, RegisterType::Scalar(_)));
        values.map(|(_, value)| self.operand(at, value).text).collect::<Vec<_>>().join(", ")
    }

    fn thread(&self, at: (BlockId, usize), thread: &NewThread) -> String {
        let texts = &self.context.input.program.texts;
        let label = match thread.label {
            ThreadLabel::Name(name) => texts.get(name).to_owned(),
            ThreadLabel::Iteration(name) | ThreadLabel::Element(name) => thread_name(texts.get(name), None),
        };
        let arguments = self.arguments(at, thread.function, &thread.arguments);
        format!("Threads.thread({}, new {}({arguments}))", string(&label), self.name(thread.function))
    }

    fn check(&self, located: &Located<'_>, condition: &str, kind: FailureKind) -> String {
        self.check_with(located, condition, (kind, None))
    }

    fn check_with(
        &self,
        located: &Located<'_>,
        condition: &str,
        (kind, message): (FailureKind, Option<cssame_ir::TextId>),
    ) -> String {
        let message = string(&located.failure(self.context.input, kind, message));
        format!("Failure.check({condition}, {message});")
    }
}

fn label_text(label: cssame_ir::structure::Label) -> String {
    format!("label{}: ", label.0)
}

/// The method of an operation that the form has.
fn method(kind: Kind) -> &'static str {
    match kind {
        Kind::Unlock => "unlock",
        Kind::Set => "set",
        Kind::Clear => "clear",
        Kind::WaitEvent | Kind::Barrier => "await",
        Kind::Acquire => "acquire",
        Kind::Release => "release",
        _ => "lock",
    }
}
