//! Where the versions and merges of CSSAME form stand in the text of a program.
//!
//! **Input**: a program. **Output**: [`SourceForm`]: the names of its text that have a version, and its merges with their lines.
//!
//! **Algorithm**
//! 1. Take from [`CssameAnnotations`] the versions of memory, and the merges that a shown version uses. Registers have no
//!    version, since no other thread sees them.
//! 2. A write has the version that it makes, and the one that it reads or of which it keeps a part.
//! 3. A merge has a line: pi before the line of the read, chi after the line of the call or join, phi before the head of its loop,
//!    or where the branches of a statement have met.
//!
//! **Limits**: the head of a loop is one line, so the merges before it are evaluated in each iteration. Indentation tells where a
//! statement ends. Of a program in several files, only the one that was named has a form.

use cssame_form as form;
use cssame_form::print::CssameAnnotations;
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

/// The versions and the merges of a program, by place.
pub(crate) struct SourceForm {
    /// The names that have a version, by the offsets of their ends.
    pub(crate) names: BTreeMap<u32, Name>,
    /// The merges that make a version which is read or merged; those of one place in the order of their evaluation.
    pub(crate) merges: Vec<(Place, Merge)>,
    /// The merge that makes a version.
    makers: FxHashMap<Versioned, usize>,
}

/// A name in the text.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) span: Span,
    symbol: SymbolId,
    /// The version that a write makes.
    made: Option<u32>,
    /// The version that is read, or of which a write keeps a part.
    old: Option<u32>,
}

/// Where a merge stands: before or behind a line, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) is_behind: bool,
    pub(crate) indentation: usize,
}

impl SourceForm {
    /// The form of a program that has a `main`.
    pub(crate) fn of(unit: &Unit) -> SourceForm {
        let (ssa, form) = (ssa::build_program(&unit.program), form::analyse(&unit.program));
        let mut collector = Collector {
            lines: unit.text().lines().collect(),
            unit,
            ssa: &ssa,
            annotations: CssameAnnotations::new(&unit.program, &ssa, form.as_ref()),
            names: BTreeMap::new(),
            merges: Vec::new(),
            needs: FxHashMap::default(),
            read: Vec::new(),
        };
        collector.collect();
        collector.finish()
    }

    /// What follows a name: `_2`, or `_2(a_4)` for a write that keeps a part of a version that a merge has made.
    pub(crate) fn suffix(&self, name: &Name, text: &str) -> String {
        let old = name.old.filter(|&old| name.made.is_some() && self.makers.contains_key(&(name.symbol, old)));
        match (name.made.or(name.old), old) {
            (None, _) => String::new(),
            (Some(version), None) => format!("_{version}"),
            (Some(version), Some(old)) => format!("_{version}({text}_{old})"),
        }
    }

    /// The pi function that makes the version which a name reads.
    pub(crate) fn pi_of(&self, name: &Name) -> Option<&Merge> {
        let maker = self.makers.get(&(name.symbol, name.old?))?;
        Some(&self.merges[*maker].1).filter(|merge| merge.function == "pi")
    }
}

struct Collector<'a> {
    unit: &'a Unit,
    lines: Vec<&'a str>,
    ssa: &'a ProgramSsa,
    annotations: CssameAnnotations<'a>,
    names: BTreeMap<u32, Name>,
    merges: Vec<(Place, Merge)>,
    /// The versions that one is made from.
    needs: FxHashMap<Versioned, Vec<Versioned>>,
    /// The versions that are read.
    read: Vec<Versioned>,
}

impl Collector<'_> {
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
                let is_here = self.is_here(program.functions[function].blocks[block].terminator_span);
                self.merge(is_here.then(|| self.head_place(function, block)), merge);
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
                let span = read.map_or(span, |read| program.reads[read].span);
                self.merge(self.is_here(span).then(|| self.before(self.line(span))), merge);
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
                self.merge(self.is_here(span).then(|| self.behind(self.line(span))), merge);
            }
        }
    }

    fn name(&mut self, span: Span, symbol: SymbolId, made: Option<u32>, old: Option<u32>) {
        if !self.is_here(span) {
            return;
        }
        let name = self.names.entry(span.end).or_insert(Name { span, symbol, made: None, old: None });
        name.made = name.made.or(made);
        name.old = name.old.or(old);
    }

    /// `place` is nothing for a merge in another file.
    fn merge(&mut self, place: Option<Place>, merge: Merge) {
        // What a pi function may choose is seen in other threads: control flow does not lead there.
        if let Some(symbol) = merge.symbol
            && merge.function != "pi"
        {
            let arguments = merge.arguments.iter().map(|argument| (symbol, argument.version));
            self.needs.entry((symbol, merge.version)).or_default().extend(arguments);
        }
        self.merges.extend(place.map(|place| (place, merge)));
    }

    // ---- Places ----

    fn is_here(&self, span: Span) -> bool {
        span.file == self.unit.file
    }

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

    fn behind(&self, line: usize) -> Place {
        Place { line, is_behind: true, indentation: self.indentation(line) }
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

    // ---- What is shown ----

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

    fn finish(mut self) -> SourceForm {
        let used = self.used();
        let version = |merge: &Merge| merge.symbol.map(|symbol| (symbol, merge.version));
        self.merges.retain(|(_, merge)| version(merge).is_some_and(|version| used.contains(&version)));
        // The sort keeps those of one place in the order of their evaluation.
        self.merges.sort_by_key(|&(place, _)| place);
        let makers = self.merges.iter().enumerate().filter_map(|(index, (_, merge))| Some((version(merge)?, index)));
        SourceForm { makers: makers.collect(), names: self.names, merges: self.merges }
    }
}

/// Whether a line goes on with a statement that began above.
fn is_rest(text: &str) -> bool {
    text.starts_with('}') || text == "else" || text.starts_with("else ")
}
