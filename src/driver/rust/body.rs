//! The Rust text of one function.
//!
//! In: a function of the IR. Out: straight-line Rust if it has no branches, otherwise a loop over its blocks. A block that only
//! one jump leads to is grouped with the block of that jump. A register that is only used in one such group is a `let` there,
//! with a new version for each definition; the others are variables of the function.

use super::instruction::{Emitter, OPEN_LINE, opens_lines};
use super::names::comment;
use super::registers::{Memory, Registers};
use super::value::{rust_default, rust_type};
use crate::Input;
use crate::label::Located;
use crate::names::FunctionNames;
use crate::source_lines::SourceLines;
use cssame_ir::flow::{Successors, predecessors, reverse_postorder};
use cssame_ir::{BlockId, Function, FunctionId, FunctionKind, RegisterType, Terminator};
use cssame_source::Span;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// A function that is being written.
pub(super) struct Body<'a> {
    input: &'a Input<'a>,
    id: FunctionId,
    function: &'a Function,
    functions: &'a FunctionNames,
    /// Blocks that run one after the other.
    groups: Vec<Vec<BlockId>>,
    /// By block that begins a group: the number of the group.
    numbers: FxHashMap<BlockId, usize>,
    registers: Registers<'a>,
    shown: SourceLines,
}

impl<'a> Body<'a> {
    pub(super) fn new(input: &'a Input<'a>, functions: &'a FunctionNames, id: FunctionId, memory: Memory) -> Body<'a> {
        let function = &input.program.functions[id];
        let groups = groups(function);
        let heads = groups.iter().enumerate().filter_map(|(number, group)| Some((*group.first()?, number)));
        let registers = Registers::new(input, functions, id, &groups, memory);
        Body {
            input,
            id,
            function,
            functions,
            numbers: heads.collect(),
            groups,
            registers,
            shown: SourceLines::default(),
        }
    }

    /// The text of the function.
    pub(super) fn emit(mut self) -> String {
        let line = self.input.sources.line(self.function.span);
        let name = self.input.program.texts.get(self.function.name);
        let public = if self.input.program.main == Some(self.id) { "pub " } else { "" };
        let kind = kind_word(self.function.kind);
        let what = if public.is_empty() { format!("{kind} `{name}`") } else { kind.to_owned() };
        let result = self.function.result.map_or("()", rust_type);
        let mut text = format!("/// {what}, line {line}.\n{public}fn {}(t: &Thread", self.functions.get(self.id));
        for &parameter in &self.function.parameters {
            if let Some(ty) = self.registers.type_of(parameter) {
                let _ = write!(text, ", mut {}: {ty}", self.registers.name(parameter));
            }
        }
        let _ = writeln!(text, ") -> Flow<{result}> {{");
        text += &self.declarations();
        if let [only] = &self.groups[..]
            && !self.loops(only)
        {
            let only = only.clone();
            text += &self.group(&only, 4, true);
        } else {
            text += &self.blocks();
        }
        text + "}\n"
    }

    fn loops(&self, group: &[BlockId]) -> bool {
        group.last().is_some_and(|&last| {
            !matches!(self.function.blocks[last].terminator, Terminator::Return(_) | Terminator::End(_))
        })
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        if opens_lines(self.function) {
            let _ = writeln!(text, "    let mut {OPEN_LINE} = String::new();");
        }
        for (id, register) in self.function.registers.entries() {
            if let (Some(name), Some(ty)) = (self.registers.mutable_name(id), self.registers.type_of(id))
                && !self.function.parameters.contains(&id)
            {
                let first = match register.ty {
                    RegisterType::Scalar(ty) => rust_default(ty),
                    RegisterType::Reference => "NOWHERE",
                };
                let _ = writeln!(text, "    let mut {name}: {ty} = {first};");
            }
        }
        text
    }

    fn blocks(&mut self) -> String {
        let mut text = "    let mut block = 0;\n    loop {\n        t.round()?;\n        match block {\n".to_owned();
        let groups = self.groups.clone();
        for (number, group) in groups.iter().enumerate() {
            let pattern = if number + 1 == groups.len() { "_".to_owned() } else { number.to_string() };
            let _ = writeln!(text, "            {pattern} => {{");
            self.shown.forget();
            text += &self.group(group, 16, false);
            text += "            }\n";
        }
        text + "        }\n    }\n"
    }

    fn group(&mut self, group: &[BlockId], indent: usize, tail: bool) -> String {
        let mut lines = Vec::new();
        let function = self.function;
        for (place, &id) in group.iter().enumerate() {
            let block = &function.blocks[id];
            for (instruction, &span) in block.instructions.iter().zip(&block.spans) {
                let located = Located { function: self.id, instruction: Some(instruction), span };
                let mut emitter =
                    Emitter { input: self.input, functions: self.functions, registers: &mut self.registers };
                let code = emitter.lines(located);
                if !code.is_empty() {
                    lines.extend(self.source_line(span));
                    lines.extend(code);
                }
            }
            if place + 1 == group.len() {
                lines.push(self.terminator(&block.terminator, tail));
            }
        }
        let pad = " ".repeat(indent);
        lines.iter().flat_map(|line| [pad.as_str(), line, "\n"]).collect()
    }

    /// The line of the source, where another one begins.
    fn source_line(&mut self, span: Span) -> Option<String> {
        let (line, text) = self.shown.next(self.input.sources, span)?;
        Some(format!("// {line}: {}", comment(text)))
    }

    fn number_of(&self, block: BlockId) -> usize {
        self.numbers.get(&block).copied().unwrap_or(0)
    }

    fn terminator(&mut self, terminator: &Terminator, tail: bool) -> String {
        match terminator {
            Terminator::Jump(target) => format!("block = {};", self.number_of(*target)),
            Terminator::Branch { condition, then_block, else_block } => {
                let (then_block, else_block) = (self.number_of(*then_block), self.number_of(*else_block));
                format!("block = if {} {{ {then_block} }} else {{ {else_block} }};", self.registers.operand(condition))
            }
            Terminator::End(value) => {
                let value = value.map_or_else(|| "()".to_owned(), |value| self.registers.receiver(&value));
                if tail { format!("Err(t.end({value}))") } else { format!("return Err(t.end({value}));") }
            }
            Terminator::Return(value) => {
                let value = match (value, self.function.result) {
                    (Some(value), _) => self.registers.operand(value),
                    (None, Some(ty)) => rust_default(ty).to_owned(),
                    (None, None) => "()".to_owned(),
                };
                if tail { format!("Ok({value})") } else { format!("return Ok({value});") }
            }
        }
    }
}

/// What kind of function it is, for its comment.
fn kind_word(kind: FunctionKind) -> &'static str {
    match kind {
        FunctionKind::Main => "The main thread",
        FunctionKind::Function => "Function",
        FunctionKind::Method { .. } => "Method",
        FunctionKind::Arm => "Thread",
    }
}

/// The reachable blocks; a block that only one jump leads to joins the group of that jump.
fn groups(function: &Function) -> Vec<Vec<BlockId>> {
    let order = reverse_postorder(function, Successors::InOrder);
    let mut reached = vec![false; function.blocks.len()];
    order.iter().for_each(|block| reached[block.index()] = true);
    let follows = |block: BlockId, sources: &[BlockId]| {
        let mut live = sources.iter().filter(|source| reached[source.index()]);
        let only = live.next().filter(|_| live.next().is_none());
        block != BlockId(0)
            && only.is_some_and(|&source| matches!(function.blocks[source].terminator, Terminator::Jump(_)))
    };
    let all = predecessors(function);
    let heads = order.iter().copied().filter(|&block| !follows(block, &all[block.index()]));
    let chain = |head: BlockId| {
        let mut group = vec![head];
        while let Some(&last) = group.last()
            && let Terminator::Jump(target) = function.blocks[last].terminator
            && follows(target, &all[target.index()])
            && !group.contains(&target)
        {
            group.push(target);
        }
        group
    };
    heads.map(chain).collect()
}
