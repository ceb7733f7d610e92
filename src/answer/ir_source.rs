//! CSSAME form as printed in the paper: the lines of the program, with versions after its variables.
//!
//! **Input**: a program, and the values of its `input` constants. **Output**: the lines of its text.
//!
//! **Algorithm**
//! 1. Print the syntax tree, one statement per line, and compile that text: each access is then in the line of its statement.
//! 2. Take from [`CssameAnnotations`] the versions of memory, and the merges that a shown version uses. Registers have no
//!    version, since no other thread sees them.
//! 3. A version follows the name. A write shows the version that it reads or of which it keeps a part, `a_2(a_4)`, if a merge
//!    creates that version.
//! 4. A merge has its own line: pi before the line of the read, chi after the line of the call or join, phi before the head of
//!    its loop, or where the branches of a statement have met.
//!
//! **Limits**: the head of a loop is one line, so the merges before it are evaluated in each iteration. Comments are lost.

use super::ir::IrAnswer;
use cssame_diagnostics::Diagnostics;
use cssame_form as form;
use cssame_form::print::CssameAnnotations;
use cssame_front::csm::syntax;
use cssame_ir::print::{Annotations, Mention, Merge, Site};
use cssame_ir::{BlockId, DefinitionKind, FunctionId, Instruction, SymbolId, Terminator};
use cssame_model::Unit;
use cssame_source::Span;
use cssame_ssa as ssa;
use cssame_ssa::ProgramSsa;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Columns by which the printer indents.
const INDENT: usize = 4;

/// A version of a variable.
type Versioned = (SymbolId, u32);

/// The text of a program in CSSAME form.
///
/// # Errors
///
/// The program has no `main`: what concurrent threads do is known only where one starts them.
pub fn ir_source(unit: Unit, inputs: &[(String, String)]) -> Result<IrAnswer, Diagnostics> {
    let unit = unit.with_main()?;
    let tree = syntax::parse(&unit.sources, unit.file).program;
    let unit = Unit::from_text(unit.name(), &syntax::print_with_lone_heads(&tree), inputs)?;
    let (ssa, form) = (ssa::build_program(&unit.program), form::analyse(&unit.program));
    let annotations = CssameAnnotations::new(&unit.program, &ssa, form.as_ref());
    let mut writer = Writer {
        lines: unit.text().lines().collect(),
        unit: &unit,
        ssa: &ssa,
        annotations,
        names: BTreeMap::new(),
        merges: Vec::new(),
        needs: FxHashMap::default(),
        read: Vec::new(),
    };
    writer.collect();
    Ok(IrAnswer::Source(writer.write()))
}

/// A name in the text.
#[derive(Debug)]
struct Name {
    span: Span,
    symbol: SymbolId,
    /// The version that a write makes.
    made: Option<u32>,
    /// The version that is read, or of which a write keeps a part.
    old: Option<u32>,
}

/// Where a merge stands: before or behind a line, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: usize,
    is_behind: bool,
    indentation: usize,
}

struct Writer<'a> {
    unit: &'a Unit,
    lines: Vec<&'a str>,
    ssa: &'a ProgramSsa,
    annotations: CssameAnnotations<'a>,
    /// By the offsets of their ends.
    names: BTreeMap<u32, Name>,
    merges: Vec<(Place, Merge)>,
    /// The versions that one is made from.
    needs: FxHashMap<Versioned, Vec<Versioned>>,
    /// The versions that are read.
    read: Vec<Versioned>,
}

impl Writer<'_> {
    fn collect(&mut self) {
        let program = &self.unit.program;
        for definition in program.definitions.iter() {
            // The name of a field of a global object stands in its class, not here.
            let is_named = self.unit.sources.text(definition.span) == program.texts.get(definition.name);
            if matches!(definition.kind, DefinitionKind::Initial(_)) && is_named {
                self.name(definition.span, definition.symbol, Some(definition.version), None);
            }
        }
        for function in program.functions.ids() {
            for &block in self.ssa.functions[function].dominators.reverse_postorder() {
                self.block(function, BlockId(block));
            }
        }
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        let program = &self.unit.program;
        for merge in self.annotations.at_head(function, block) {
            if merge.symbol.is_some() {
                self.merge(self.head_place(function, block), merge);
            }
        }
        let content = &program.functions[function].blocks[block];
        for (position, (instruction, &span)) in content.instructions.iter().zip(&content.spans).enumerate() {
            let site = Site { function, block, position };
            let (read, definition) = match *instruction {
                Instruction::Load { read, .. } => (Some(read), None),
                Instruction::Store { definition, .. } => (None, Some(definition)),
                Instruction::Atomic { read, definition, .. } => (Some(read), Some(definition)),
                _ => (None, None),
            };
            for merge in self.annotations.before(site) {
                self.merge(self.before(self.line(read.map_or(span, |read| program.reads[read].span))), merge);
            }
            if let Some(id) = read
                && let of = &program.reads[id]
                && let Some(version) = self.annotations.version(site, Mention::Read(id))
            {
                self.read.push((of.symbol, version.number));
                self.name(of.span, of.symbol, None, Some(version.number));
            }
            if let Some(id) = definition
                && let of = &program.definitions[id]
                && let Some(version) = self.annotations.version(site, Mention::Definition(id))
            {
                let old = version.from.map(|from| (of.symbol, from));
                self.needs.entry((of.symbol, version.number)).or_default().extend(old);
                self.name(of.span, of.symbol, Some(version.number), version.from);
            }
            for merge in self.annotations.after(site) {
                let line = self.line(span);
                let place = Place { line, is_behind: true, indentation: self.indentation(line) };
                self.merge(place, merge);
            }
        }
    }

    fn name(&mut self, span: Span, symbol: SymbolId, made: Option<u32>, old: Option<u32>) {
        let name = self.names.entry(span.end).or_insert(Name { span, symbol, made: None, old: None });
        name.made = name.made.or(made);
        name.old = name.old.or(old);
    }

    fn merge(&mut self, place: Place, merge: Merge) {
        // What a pi function may choose is seen in other threads: control flow does not lead there.
        if let Some(symbol) = merge.symbol
            && merge.function != "pi"
        {
            let arguments = merge.arguments.iter().map(|argument| (symbol, argument.version));
            self.needs.entry((symbol, merge.version)).or_default().extend(arguments);
        }
        self.merges.push((place, merge));
    }

    // ---- Places ----

    fn line(&self, span: Span) -> usize {
        self.unit.sources.line(span) as usize
    }

    fn text(&self, line: usize) -> &str {
        self.lines.get(line - 1).copied().unwrap_or_default()
    }

    fn indentation(&self, line: usize) -> usize {
        let text = self.text(line);
        text.len() - text.trim_start().len()
    }

    fn before(&self, line: usize) -> Place {
        // Before the end of a `do` is within it.
        let inner = if self.text(line).trim_start().starts_with('}') { INDENT } else { 0 };
        Place { line, is_behind: false, indentation: self.indentation(line) + inner }
    }

    /// Where the phi functions of a block stand.
    fn head_place(&self, function: FunctionId, block: BlockId) -> Place {
        let form = &self.ssa.functions[function];
        let is_back = |&from: &u32| form.dominators.dominates(block.0, from);
        if form.graph.predecessors(block.0).iter().any(is_back) {
            return self.before(self.first_line_from(function, block));
        }
        let blocks = &self.unit.program.functions[function].blocks;
        let branch = form.dominators.immediate_dominator(block.0).map_or(block, BlockId);
        let branch_line = self.line(blocks[branch].terminator_span);
        match self.first_line(function, block) {
            Some(line) if line >= branch_line => self.before(line),
            // The next statement is the step of a loop, or none.
            _ => self.behind_statement(branch_line),
        }
    }

    /// The line in which a block begins, or one that it goes on to.
    fn first_line_from(&self, function: FunctionId, mut block: BlockId) -> usize {
        let blocks = &self.unit.program.functions[function].blocks;
        for _ in 0..blocks.len() {
            match (self.first_line(function, block), &blocks[block].terminator) {
                (None, &Terminator::Jump(next)) => block = next,
                (line, _) => return line.unwrap_or(1),
            }
        }
        self.line(blocks[block].terminator_span)
    }

    /// The line of the first instruction, or of what the block ends with; none where it does nothing.
    fn first_line(&self, function: FunctionId, block: BlockId) -> Option<usize> {
        let content = &self.unit.program.functions[function].blocks[block];
        let last = match content.terminator {
            Terminator::Branch { .. } | Terminator::Return(Some(_)) | Terminator::End(_) => {
                Some(&content.terminator_span)
            }
            Terminator::Jump(_) | Terminator::Return(None) => None,
        };
        content.spans.first().or(last).map(|&span| self.line(span))
    }

    /// Behind the statement whose head, or a `case` of which, is that line: the lines below it are indented, or go on with `}` or `else`.
    fn behind_statement(&self, line: usize) -> Place {
        let is_case = self.text(line).trim_start().starts_with("case ");
        let indentation = self.indentation(line) - if is_case { INDENT } else { 0 };
        let goes_on = |line: &usize| {
            let text = self.text(*line).trim_start();
            let own = self.indentation(*line);
            !text.is_empty() && (own > indentation || own == indentation && is_rest(text))
        };
        let count = (line + 1..=self.lines.len()).take_while(goes_on).count();
        Place { line: line + count, is_behind: true, indentation }
    }

    // ---- Text ----

    /// The versions that something shown uses.
    fn used(&mut self) -> FxHashSet<Versioned> {
        let (mut used, mut work) = (FxHashSet::default(), std::mem::take(&mut self.read));
        while let Some(version) = work.pop() {
            if used.insert(version) {
                work.extend(self.needs.remove(&version).unwrap_or_default());
            }
        }
        used
    }

    fn write(mut self) -> Vec<String> {
        let used = self.used();
        let version = |merge: &Merge| merge.symbol.map(|symbol| (symbol, merge.version));
        self.merges.retain(|(_, merge)| version(merge).is_some_and(|version| used.contains(&version)));
        let merged: FxHashSet<Versioned> = self.merges.iter().filter_map(|(_, merge)| version(merge)).collect();
        // Those of one place stay in the order of their evaluation.
        self.merges.sort_by_key(|&(place, _)| place);
        let mut merges = self.merges.iter().peekable();
        let mut lines = Vec::new();
        let file = self.unit.sources.file(self.unit.file);
        for number in 1..=self.lines.len() {
            let mut add = |lines: &mut Vec<String>, is_behind: bool| {
                while let Some((place, merge)) =
                    merges.next_if(|(place, _)| (place.line, place.is_behind) <= (number, is_behind))
                {
                    lines.push(" ".repeat(place.indentation) + &merge.text());
                }
            };
            add(&mut lines, false);
            let range = file.line_range(number - 1).unwrap_or_default();
            lines.push(self.line_with_versions(range.start as u32, self.text(number), &merged));
            add(&mut lines, true);
        }
        lines
    }

    fn line_with_versions(&self, start: u32, text: &str, merged: &FxHashSet<Versioned>) -> String {
        let mut line = String::new();
        let mut from = 0;
        for (&end, name) in self.names.range(start + 1..start + 1 + text.len() as u32) {
            let at = (end - start) as usize;
            line.push_str(&text[from..at]);
            from = at;
            let Some(version) = name.made.or(name.old) else { continue };
            line.push_str(&format!("_{version}"));
            let old = name.old.filter(|&old| name.made.is_some() && merged.contains(&(name.symbol, old)));
            if let Some(old) = old {
                line.push_str(&format!("({}_{old})", self.unit.sources.text(name.span)));
            }
        }
        line + &text[from..]
    }
}

/// Whether a line goes on with a statement that began above.
fn is_rest(text: &str) -> bool {
    text.starts_with('}') || text == "else" || text.starts_with("else ")
}
