//! The Java text of one function.
//!
//! In: a function of the graph, and the tree of its statements. Out: a method, with the lines of the source as comments.

use super::expression::Scope;
use super::fold::{Declarations, Folding, declare};
use super::line::{Lines, Mark};
use super::regions::regions;
use super::statement::Writer;
use super::symbol_table::SymbolTable;
use super::text::{comment, default_value, type_name};
use super::tree::{At, Node};
use crate::label::Located;
use crate::source_lines::SourceLines;
use cssame_ir::structure::Label;
use cssame_ir::{BlockId, Function, FunctionId, FunctionKind, Instruction, RegisterId, RegisterType};
use cssame_source::Span;

/// A function that is being written.
struct Body<'w, 'a> {
    writer: Writer<'w, 'a>,
    first: Vec<RegisterId>,
    shown: SourceLines,
    /// Monitors that the next jump frees.
    freed: Vec<Mark>,
}

/// The lines of a function; `is_recursive` says whether it may call itself.
pub(super) fn method(symbols: &SymbolTable<'_>, id: FunctionId, tree: Vec<Node>, is_recursive: bool) -> Lines {
    let function = &symbols.input.program.functions[id];
    let folding = Folding::of(function);
    let mut tree = regions(symbols.input.program, id, &symbols.monitors, tree);
    let Declarations { at, first } = declare(function, &folding, &mut tree);
    let scope = Scope::new(symbols, id, folding);
    let writer = Writer { scope, lines: Lines::at(1), declaring: at, at: (BlockId(0), 0) };
    let mut body = Body { writer, first, shown: SourceLines::default(), freed: Vec::new() };
    body.head(is_recursive);
    body.sequence(&tree);
    body.writer.lines.close("}");
    body.writer.lines
}

impl<'a> Body<'_, 'a> {
    fn function(&self) -> &'a Function {
        self.writer.scope.function
    }

    fn head(&mut self, is_recursive: bool) {
        let (function, symbols, id) = (self.function(), self.writer.scope.symbols, self.writer.scope.id);
        let input = symbols.input;
        let method = &symbols.methods[&id];
        let name = comment(input.program.texts.get(function.name));
        let line = input.sources.line(function.span);
        let is_main = input.program.main == Some(id);
        let what = match function.kind {
            FunctionKind::Main => "The main thread".to_owned(),
            FunctionKind::Function => format!("Function `{name}`"),
            FunctionKind::Method { .. } => format!("Method `{name}`"),
            FunctionKind::Arm => format!("Thread `{name}`"),
        };
        let mut parameters = Vec::new();
        for (number, &parameter) in function.parameters.iter().enumerate() {
            if number == 0 && method.class.is_some() {
                self.writer.scope.registers[parameter.index()] = Some("this".to_owned());
                continue;
            }
            let name = self.writer.scope.name(parameter, "length");
            parameters.push(format!("{} {name}", self.writer.scope.register_type(parameter)));
        }
        let modifiers = match (is_main, method.class.is_some()) {
            (true, _) => "public static ",
            (false, true) => "",
            (false, false) => "static ",
        };
        let result = function.result.map_or("void", type_name);
        let lines = &mut self.writer.lines;
        lines.push(format!("/** {what}, line {line}. */"));
        lines.open(format!("{modifiers}{result} {}({}) {{", method.name, parameters.join(", ")));
        if is_recursive {
            lines.push("Threads.call();");
        }
        for register in std::mem::take(&mut self.first) {
            self.declare(register);
        }
    }

    /// A declaration by itself.
    fn declare(&mut self, register: RegisterId) {
        let of = &self.function().registers[register];
        let value = match (of.ty, of.pointee) {
            (RegisterType::Scalar(scalar), _) => default_value(scalar),
            _ => "null",
        };
        let ty = self.writer.scope.register_type(register);
        let name = self.writer.scope.name(register, "v");
        self.writer.lines.push(format!("{ty} {name} = {value};"));
    }

    fn sequence(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Instruction(at) => self.instruction(*at),
            Node::Region { begin, end, body } => {
                let (located, instruction) = self.located(*begin);
                self.source_line(located.span);
                self.writer.begin_region(&located, instruction);
                self.sequence(body);
                let (located, instruction) = self.located(*end);
                self.source_line(located.span);
                let freed = self.writer.leave_region(&located, instruction);
                self.writer.lines.close("}");
                freed.into_iter().for_each(|mark| self.writer.lines.also(mark));
            }
            Node::If { block, condition, negated, then, otherwise } => {
                self.source_line(self.function().blocks[*block].terminator_span);
                let condition = self.writer.scope.condition(condition, *negated);
                self.writer.lines.open(format!("if ({condition}) {{"));
                self.branches(then, otherwise);
            }
            Node::Loop { label, body } => {
                self.writer.lines.open(format!("{}while (true) {{", label_text(*label)));
                self.round(body);
                self.sequence(body);
                self.writer.lines.close("}");
            }
            Node::While { label, block, condition, negated, body } => {
                self.source_line(self.function().blocks[*block].terminator_span);
                let condition = self.writer.scope.condition(condition, *negated);
                self.writer.lines.open(format!("{}while ({condition}) {{", label_text(*label)));
                self.round(body);
                self.sequence(body);
                self.writer.lines.close("}");
            }
            Node::Labelled { label, body } => {
                self.writer.lines.open(format!("{}{{", label_text(Some(*label))));
                self.sequence(body);
                self.writer.lines.close("}");
            }
            Node::Break(label) => self.jump("break", *label),
            Node::Continue(label) => self.jump("continue", *label),
            Node::Return { block, value } => {
                self.source_line(self.function().blocks[*block].terminator_span);
                let value = value.as_ref().map(|value| self.writer.scope.operand(value));
                self.writer.lines.push(value.map_or("return;".to_owned(), |value| format!("return {value};")));
                self.free();
            }
            Node::Declare(register) => self.declare(*register),
        }
    }

    /// The ways of an `if`; an `if` alone on the other way is an `else if`.
    fn branches(&mut self, then: &[Node], otherwise: &[Node]) {
        self.sequence(then);
        match otherwise {
            [] => self.writer.lines.close("}"),
            [Node::If { condition, negated, then, otherwise, .. }] => {
                let condition = self.writer.scope.condition(condition, *negated);
                self.writer.lines.reopen(format!("}} else if ({condition}) {{"));
                self.branches(then, otherwise);
            }
            _ => {
                self.writer.lines.reopen("} else {");
                self.sequence(otherwise);
                self.writer.lines.close("}");
            }
        }
    }

    /// The jump that was written frees monitors.
    fn free(&mut self) {
        for mark in std::mem::take(&mut self.freed) {
            self.writer.lines.also(mark);
        }
    }

    fn jump(&mut self, word: &str, label: Option<Label>) {
        let text = label.map_or_else(|| format!("{word};"), |label| format!("{word} label{};", label.0));
        self.writer.lines.push(text);
        self.free();
    }

    fn instruction(&mut self, at: At) {
        if self.writer.scope.folding.is_folded(at) {
            return;
        }
        let (located, instruction) = self.located(at);
        self.source_line(located.span);
        self.writer.at = at;
        let symbols = self.writer.scope.symbols;
        if symbols.monitors.of(symbols.input.program, self.writer.scope.id, instruction).is_some() {
            // A way out of a region.
            let freed = self.writer.leave_region(&located, instruction);
            self.freed.extend(freed);
        } else {
            self.writer.instruction(&located, instruction);
        }
    }

    fn located(&self, (block, number): At) -> (Located<'a>, &'a Instruction) {
        let block = &self.function().blocks[block];
        let instruction = &block.instructions[number as usize];
        let span = block.spans[number as usize];
        (Located { function: self.writer.scope.id, instruction: Some(instruction), span }, instruction)
    }

    /// The line of the source, where another one begins.
    fn source_line(&mut self, span: Span) {
        if let Some((line, text)) = self.shown.next(self.writer.scope.symbols.input.sources, span) {
            self.writer.lines.push(format!("// {line}: {}", comment(text)));
        }
    }

    /// In a loop that may go round without an event, the plan is asked whether it has lost patience there.
    fn round(&mut self, body: &[Node]) {
        if !self.always_meets_event(body) {
            self.writer.lines.push("Threads.round();");
        }
    }

    /// Whether each round through a sequence comes to an event.
    fn always_meets_event(&self, nodes: &[Node]) -> bool {
        for node in nodes {
            match node {
                Node::Instruction(at) if self.is_event(*at) => return true,
                Node::Region { begin, body, .. } if self.is_event(*begin) || self.always_meets_event(body) => {
                    return true;
                }
                _ if continues(node) => return false,
                _ => {}
            }
        }
        false
    }

    fn is_event(&self, at: At) -> bool {
        let instruction = self.located(at).1;
        matches!(instruction, Instruction::Synchronise(_))
            || self.writer.scope.symbols.input.machine.visibility().access(instruction)
    }
}

/// Whether a statement may begin another round of a loop around it.
fn continues(node: &Node) -> bool {
    matches!(node, Node::Continue(_)) || node.children().flatten().any(continues)
}

fn label_text(label: Option<Label>) -> String {
    label.map_or_else(String::new, |label| format!("label{}: ", label.0))
}
