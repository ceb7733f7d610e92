//! What a search for a tear looks out for.
//!
//! **Input**: an endangered access of a method to a correlation, and the other method of its pair. **Output**: a
//! [`TearPattern`]: the two methods, the two variables with the kinds of access, and what both are computed from.

use crate::correlation::source_variable::SourceVariableKind;
use crate::correlation::{AccessKind, Analysis, MethodAccess, SourceVariableId};
use crate::ir::{DefinitionKind, FunctionId, LeafId, Program, SymbolId};

/// The variable on one side of a correlation, and how the method pending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The variable or field.
    pub symbol: SymbolId,
    /// How it is touched.
    pub kind: AccessKind,
}

/// Two pending of a method, and another method that may come between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TearPattern {
    /// Who pending both.
    pub method: FunctionId,
    /// Who may come between, in another thread; it may be the same method.
    pub other: FunctionId,
    /// The two pending. They may come in either order, but for a copy: that is read first and then written.
    pub sides: [Side; 2],
    /// Whether the two are the read and the write of one variable, by way of a private copy.
    pub copied: bool,
    /// What both variables are computed from, if the method writes both.
    pub sources: Vec<SymbolId>,
}

impl TearPattern {
    /// The pattern for an endangered access; `None` where one side is a private variable, whose accesses no event tells of.
    #[must_use]
    pub fn new(analysis: &Analysis, each: &MethodAccess, other: FunctionId) -> Option<TearPattern> {
        let correlation = &analysis.correlations[each.access.correlation as usize];
        let symbol = |variable: SourceVariableId| match analysis.data.kind(variable) {
            SourceVariableKind::Memory(symbol) => Some(symbol),
            SourceVariableKind::Local(..) => None,
        };
        let (first, second) = each.access.kinds;
        let both = (AccessKind::Write, AccessKind::Write);
        let pattern = |sides, copied, sources| TearPattern { method: each.method, other, sides, copied, sources };
        let (symbol, copied) = match (symbol(correlation.data.0), symbol(correlation.data.1)) {
            (Some(a), Some(b)) => {
                let sources = correlation.common.iter().filter_map(|&variable| symbol(variable));
                let sources = if each.access.kinds == both { sources.collect() } else { Vec::new() };
                let sides = [Side { symbol: a, kind: first }, Side { symbol: b, kind: second }];
                return Some(pattern(sides, false, sources));
            }
            (Some(one), None) | (None, Some(one)) => (one, correlation.mutual && each.access.kinds == both),
            (None, None) => return None,
        };
        let sides = [Side { symbol, kind: AccessKind::Read }, Side { symbol, kind: AccessKind::Write }];
        copied.then(|| pattern(sides, true, Vec::new()))
    }

    /// The same in another program, whose text begins with that of the first: names stand at the same places.
    #[must_use]
    pub fn translate(&self, from: &Program, to: &Program) -> Option<TearPattern> {
        let function =
            |id: FunctionId| to.functions.ids().find(|&other| to.functions[other].span == from.functions[id].span);
        let symbol = |id: SymbolId| to.symbols.ids().find(|&other| to.symbols[other].span == from.symbols[id].span);
        let side = |side: Side| Some(Side { symbol: symbol(side.symbol)?, kind: side.kind });
        Some(TearPattern {
            method: function(self.method)?,
            other: function(self.other)?,
            sides: [side(self.sides[0])?, side(self.sides[1])?],
            copied: self.copied,
            sources: self.sources.iter().map(|&source| symbol(source)).collect::<Option<_>>()?,
        })
    }
}

/// Where the second variable lies, counted from the first, if both are fields of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    least: i64,
    most: i64,
}

impl Distance {
    /// The distance of two fields of one class; `None` where the two are not that, so that any cells belong together.
    pub(super) fn between(program: &Program, first: SymbolId, second: SymbolId) -> Option<Distance> {
        let prefix = |leaf: LeafId| {
            let name = program.texts.get(program.leaves[leaf].name);
            name.rfind('.').map(|end| &name[..end])
        };
        let of = |symbol: SymbolId| program.leaves.ids().filter(move |&leaf| program.leaves[leaf].symbol == symbol);
        // Objects of a class are laid out alike, so the first one tells of all.
        let one = of(first).next()?;
        let object = prefix(one)?;
        let variable = program.leaves[one].variable;
        let two = of(second).find(|&leaf| program.leaves[leaf].variable == variable && prefix(leaf) == Some(object))?;
        let (one, two) = (&program.leaves[one], &program.leaves[two]);
        let apart = i64::from(two.offset) - i64::from(one.offset);
        Some(Distance { least: apart + 1 - i64::from(one.length), most: apart - 1 + i64::from(two.length) })
    }

    /// Whether a cell of the first and one of the second belong to one object.
    pub(super) fn fits(self, first: u32, second: u32) -> bool {
        (self.least..=self.most).contains(&(i64::from(second) - i64::from(first)))
    }
}

/// The first variable is touched.
pub(super) const FIRST: u8 = 1;
/// The second variable is touched.
pub(super) const SECOND: u8 = 2;
/// What both are computed from is touched.
pub(super) const SOURCE: u8 = 4;

/// Which places of the program touch what a pattern looks at.
#[derive(Debug)]
pub(super) struct Places {
    pub reads: Vec<u8>,
    pub definitions: Vec<u8>,
}

impl Places {
    pub(super) fn new(program: &Program, pattern: &TearPattern) -> Places {
        let [first, second] = pattern.sides;
        let of = |symbol: SymbolId| {
            let source = if pattern.sources.contains(&symbol) { SOURCE } else { 0 };
            let first = if symbol == first.symbol { FIRST } else { 0 };
            source | first | if symbol == second.symbol { SECOND } else { 0 }
        };
        let written = |definition: &crate::ir::Definition| match definition.kind {
            DefinitionKind::Write(_) => of(definition.symbol),
            DefinitionKind::Initial(_) => 0,
        };
        Places {
            reads: program.reads.iter().map(|read| of(read.symbol)).collect(),
            definitions: program.definitions.iter().map(written).collect(),
        }
    }
}
