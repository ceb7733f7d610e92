//! The goal of a search for a tear.
//!
//! **Input**: an endangered access of a method to a correlation, and the threads that may come between. **Output**: a
//! [`TearPattern`]: the method, the others, the two variables with the kinds of access, and the source from which both are
//! computed.

use cssame_correlation::source_variable::{Part, SourceVariableKind};
use cssame_correlation::{AccessKind, Analysis, MethodAccess, SourceVariableId};
use cssame_ir::{
    Access, DefinitionId, DefinitionKind, FunctionId, Instruction, Leaf, LeafId, Program, ReadId, SymbolId, VariableId,
};
use cssame_vm::{Cell, Machine};

/// The variable on one side of a correlation, and how the method accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The variable or field.
    pub symbol: SymbolId,
    /// The object or element that it is a part of, where that is told apart.
    pub part: Option<Part>,
    /// How it is touched.
    pub kind: AccessKind,
}

/// Who may come between the two accesses of a method, in other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// One activation of this method, which may be the torn method itself.
    Method(FunctionId),
    /// Whatever other threads do, if an access of this method has a part in it.
    With(FunctionId),
    /// Whatever other threads do.
    Anyone,
}

impl Other {
    /// The method that must have a part in it.
    #[must_use]
    pub fn named(self) -> Option<FunctionId> {
        match self {
            Other::Method(function) | Other::With(function) => Some(function),
            Other::Anyone => None,
        }
    }

    /// Whether one activation alone has to make both accesses.
    pub(super) fn is_one_activation(self) -> bool {
        matches!(self, Other::Method(_))
    }
}

/// Two accesses of a method, and who may come between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TearPattern {
    /// Who makes both.
    pub method: FunctionId,
    /// Who may come between.
    pub other: Other,
    /// The two. They may come in either order, but for a copy: that is read first and then written.
    pub sides: [Side; 2],
    /// Whether the two are the read and the write of one variable, by way of a private copy.
    pub copied: bool,
    /// What both variables are computed from, if the method writes both.
    pub sources: Vec<(SymbolId, Option<Part>)>,
    /// Whether only cells of one row belong together: elements with equal indices.
    pub by_row: bool,
    /// Which places of the method count, where not all do: it then makes the first access before the second.
    pub only: Option<OwnPlaces>,
}

/// The places at which a method makes the two accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlaces {
    /// Of the first one.
    pub first: Vec<Access>,
    /// Of the second one.
    pub second: Vec<Access>,
}

impl OwnPlaces {
    fn translate(&self, from: &Program, to: &Program) -> OwnPlaces {
        let all = |places: &[Access]| places.iter().flat_map(|&place| same_places(place, from, to)).collect();
        OwnPlaces { first: all(&self.first), second: all(&self.second) }
    }
}

/// The places in another program that stand where one stands.
fn same_places(place: Access, from: &Program, to: &Program) -> Vec<Access> {
    let span = place.span(from);
    match place {
        Access::Read(_) => to.reads.ids().filter(|&read| to.reads[read].span == span).map(Access::Read).collect(),
        Access::Write(_) => {
            let same = to.definitions.ids().filter(|&definition| to.definitions[definition].span == span);
            same.map(Access::Write).filter(|access| !access.is_initial(to)).collect()
        }
    }
}

impl TearPattern {
    /// The pattern for an endangered access, which one activation of the other method tears; `None` where one side is a
    /// private variable, whose accesses no event tells of.
    #[must_use]
    pub fn new(analysis: &Analysis, each: &MethodAccess, other: FunctionId) -> Option<TearPattern> {
        let correlation = &analysis.correlations[each.access.correlation as usize];
        let symbol = |variable: SourceVariableId| match analysis.data.kind(variable) {
            SourceVariableKind::Memory(symbol) => Some((symbol, None)),
            SourceVariableKind::Part(part) => Some((part.symbol, Some(part))),
            SourceVariableKind::Local(..) => None,
        };
        let side = |(symbol, part), kind| Side { symbol, part, kind };
        let (first, second) = each.access.kinds;
        let both = (AccessKind::Write, AccessKind::Write);
        let (method, other) = (each.method, Other::Method(other));
        let by_row = correlation.row.is_some();
        let pattern =
            |sides, copied, sources| TearPattern { method, other, sides, copied, sources, by_row, only: None };
        let (symbol, copied) = match (symbol(correlation.data.0), symbol(correlation.data.1)) {
            (Some(a), Some(b)) => {
                let sources = correlation.common.iter().filter_map(|&variable| symbol(variable));
                let sources = if each.access.kinds == both { sources.collect() } else { Vec::new() };
                let sides = [side(a, first), side(b, second)];
                return Some(pattern(sides, false, sources));
            }
            (Some(one), None) | (None, Some(one)) => (one, correlation.mutual && each.access.kinds == both),
            (None, None) => return None,
        };
        let sides = [side(symbol, AccessKind::Read), side(symbol, AccessKind::Write)];
        copied.then(|| pattern(sides, true, Vec::new()))
    }

    /// The same two accesses, and another who may come between.
    #[must_use]
    pub fn by(&self, other: Other) -> TearPattern {
        TearPattern { other, ..self.clone() }
    }

    /// Whether any accesses to the two variables count that no serial order explains, not only certain ones.
    pub(super) fn is_plain(&self) -> bool {
        !self.copied && self.only.is_none()
    }

    /// The same in another program, whose text begins with that of the first: names stand at the same places.
    #[must_use]
    pub fn translate(&self, from: &Program, to: &Program) -> Option<TearPattern> {
        let function =
            |id: FunctionId| to.functions.ids().find(|&other| to.functions[other].span == from.functions[id].span);
        let symbol = |id: SymbolId| to.symbols.ids().find(|&other| to.symbols[other].span == from.symbols[id].span);
        let part = |of: Option<Part>| of.map_or(Some(None), |part| translate_part(part, from, to).map(Some));
        let side = |side: Side| Some(Side { symbol: symbol(side.symbol)?, part: part(side.part)?, kind: side.kind });
        Some(TearPattern {
            method: function(self.method)?,
            other: match self.other {
                Other::Method(one) => Other::Method(function(one)?),
                Other::With(one) => Other::With(function(one)?),
                Other::Anyone => Other::Anyone,
            },
            sides: [side(self.sides[0])?, side(self.sides[1])?],
            copied: self.copied,
            // A source that is not there, such as a local of `main`, does not change there.
            sources: self.sources.iter().filter_map(|&of| Some((symbol(of.0)?, part(of.1)?))).collect(),
            by_row: self.by_row,
            only: self.only.as_ref().map(|only| only.translate(from, to)),
        })
    }
}

/// The same part of the same variable in another program.
fn translate_part(part: Part, from: &Program, to: &Program) -> Option<Part> {
    let variable = from.leaves[part.leaf].variable;
    let span = from.variables[variable].span;
    let same = to.variables.ids().find(|&other| to.variables[other].span == span)?;
    let place = part.leaf.index() - from.variables[variable].first_leaf.index();
    let leaf = to.variables[same].leaves().nth(place)?;
    Some(Part { leaf, symbol: to.leaves[leaf].symbol, ..part })
}

/// The cells of a part of a variable.
#[derive(Clone, Copy, Debug)]
struct Cells {
    variable: VariableId,
    first: u32,
    end: u32,
}

impl Cells {
    fn of(program: &Program, part: Part) -> Cells {
        let leaf = &program.leaves[part.leaf];
        let (first, end) = match part.element {
            Some(element) => (leaf.cell(element), leaf.cell(element) + 1),
            None => (leaf.offset, leaf.end()),
        };
        Cells { variable: leaf.variable, first, end }
    }

    fn contains(self, cell: Cell) -> bool {
        cell.object.variable == self.variable && (self.first..self.end).contains(&cell.part)
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
    pub(super) fn between(program: &Program, first: Side, second: Side) -> Option<Distance> {
        if let (Some(one), Some(two)) = (first.part, second.part) {
            let (one, two) = (Cells::of(program, one), Cells::of(program, two));
            // Different objects are told apart by what is watched; one may have several instances.
            return (one.variable == two.variable).then(|| Distance {
                least: i64::from(two.first) + 1 - i64::from(one.end),
                most: i64::from(two.end) - 1 - i64::from(one.first),
            });
        }
        if first.part.is_some() || second.part.is_some() {
            return None;
        }
        let (first, second) = (first.symbol, second.symbol);
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
        let length = |leaf: &Leaf| i64::from(leaf.end() - leaf.offset);
        Some(Distance { least: apart + 1 - length(one), most: apart - 1 + length(two) })
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
/// The place is one at which the method makes the first access, where not all are.
pub(super) const OWN_FIRST: u8 = 8;
/// The same for the second access.
pub(super) const OWN_SECOND: u8 = 16;

/// Which places of the program touch what a pattern looks at.
#[derive(Debug)]
pub(super) struct Places {
    pub reads: Vec<u8>,
    pub definitions: Vec<u8>,
    /// Which of the cells of a symbol are meant, by bit; nothing where all are.
    cells: Vec<(u8, Cells)>,
}

impl Places {
    pub(super) fn new(program: &Program, pattern: &TearPattern) -> Places {
        let [first, second] = pattern.sides;
        let of = |symbol: SymbolId| {
            let source = if pattern.sources.iter().any(|of| of.0 == symbol) { SOURCE } else { 0 };
            let first = if symbol == first.symbol { FIRST } else { 0 };
            source | first | if symbol == second.symbol { SECOND } else { 0 }
        };
        let written = |definition: &cssame_ir::Definition| match definition.kind {
            DefinitionKind::Write(_) => of(definition.symbol),
            DefinitionKind::Initial(_) | DefinitionKind::Free(_) => 0,
        };
        let sides = [(FIRST, first.part), (SECOND, second.part)].into_iter();
        // A source that stands for a whole symbol lets all cells of the sources pass.
        let sources = pattern.sources.iter().map(|of| (SOURCE, of.1));
        let sources = sources.filter(|_| pattern.sources.iter().all(|of| of.1.is_some()));
        let cells = sides.chain(sources).filter_map(|(bit, part)| Some((bit, Cells::of(program, part?))));
        let mut places = Places {
            cells: cells.collect(),
            reads: program.reads.iter().map(|read| of(read.symbol)).collect(),
            definitions: program.definitions.iter().map(written).collect(),
        };
        if let Some(only) = &pattern.only {
            only.first.iter().for_each(|&place| places.add(place, OWN_FIRST));
            only.second.iter().for_each(|&place| places.add(place, OWN_SECOND));
        }
        places
    }

    /// Whether no other thread can come between two accesses: none of them is a step, so all are ordered by forks and joins, and no
    /// thread is spawned. Between two accesses of a thread then come only those of threads that it has
    /// forked in between and waits for, and they are a part of it.
    pub(super) fn is_ordered(&self, machine: &Machine, program: &Program) -> bool {
        let looked_at = |bits: &&u8| **bits & (FIRST | SECOND | SOURCE) != 0;
        let visible = machine.visibility();
        let reads = self.reads.iter().zip(0..).filter(|(bits, _)| looked_at(bits));
        let definitions = self.definitions.iter().zip(0..).filter(|(bits, _)| looked_at(bits));
        let mut blocks = program.functions.iter().flat_map(|function| function.blocks.iter());
        reads.map(|(_, read)| ReadId(read)).all(|read| !visible.read(read))
            && definitions.map(|(_, definition)| DefinitionId(definition)).all(|one| !visible.definition(one))
            && !blocks.any(|block| block.instructions.iter().any(|one| matches!(one, Instruction::Spawn { .. })))
    }

    fn add(&mut self, place: Access, bit: u8) {
        match place {
            Access::Read(read) => self.reads[read.index()] |= bit,
            Access::Write(definition) => self.definitions[definition.index()] |= bit,
        }
    }

    /// Those of the bits of a place that hold for the cell that it touches.
    pub(super) fn bits(&self, bits: u8, cell: Cell) -> u8 {
        if bits == 0 || self.cells.is_empty() {
            return bits;
        }
        let holds = |bit: u8| {
            let mut all = self.cells.iter().filter(|of| of.0 == bit).peekable();
            all.peek().is_none() || all.any(|of| of.1.contains(cell))
        };
        let held: u8 = [FIRST, SECOND, SOURCE].into_iter().filter(|&bit| bits & bit != 0 && holds(bit)).sum();
        held | bits & (OWN_FIRST | OWN_SECOND)
    }
}
