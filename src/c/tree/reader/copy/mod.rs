//! The tree of the front end, copied into ours.
//!
//! In: [`Input`], a tree without errors. Out: a [`Unit`]. Each arena is copied from beginning to end, so that ids keep their
//! numbers, deep trees need no stack, and time is linear; types, string literals and labels are copied when something first names
//! them.

mod builtins;
mod declarations;
mod expressions;
mod fold;
mod statements;
mod types;

use super::tokens::Tokens;
use crate::tree::expression::{Constant, Expr};
use crate::tree::ids::{DeclId, ExprId, LabelId, StmtId, StringId};
use crate::tree::place::Place;
use crate::tree::statement::Label;
use crate::tree::unit::{StringLiteral, Unit};
use cssame_source::arena::Arena;
use cssame_source::{FileId, Span};
use rucc_base::{Idx, Interner, Symbol};
use rucc_diag::Span as ReadSpan;
use rucc_lex::Pragma;
use rucc_sema::{Checked, StrId, Tast};
use rucc_target::TargetInfo;
use rustc_hash::FxHashMap;

/// What a copy is made of.
pub struct Input<'a> {
    /// The tree and the types.
    pub checked: &'a Checked,
    /// The spellings of names.
    pub names: &'a Interner,
    /// What fixes widths.
    pub target: &'a TargetInfo,
    /// Where tokens stand.
    pub places: &'a Tokens,
    /// The main file.
    pub main: FileId,
    /// The `#pragma` lines.
    pub pragmas: &'a [Pragma],
    /// Whether arithmetic on types with a sign wraps.
    pub wraps: bool,
}

impl Input<'_> {
    fn tree(&self) -> &Tast {
        &self.checked.tast
    }

    fn name(&self, symbol: Symbol) -> Box<str> {
        self.names.resolve(symbol).into()
    }

    fn place(&self, span: ReadSpan) -> Place {
        self.places.place(span).unwrap_or_else(|| Place::plain(Span::new(self.main, 0, 0)))
    }

    fn text(&self, string: StrId) -> Box<str> {
        self.tree()[string].elements.iter().filter_map(|&sign| char::from_u32(sign)).collect()
    }
}

fn expr(id: rucc_sema::ExprId) -> ExprId {
    ExprId(id.raw())
}

fn stmt(id: rucc_sema::StmtId) -> StmtId {
    StmtId(id.raw())
}

fn decl(id: rucc_sema::DeclId) -> DeclId {
    DeclId(id.raw())
}

/// The ids of an arena of so many items.
fn ids<T>(count: usize) -> impl Iterator<Item = Idx<T>> {
    (0..count).map(Idx::from_usize)
}

/// What has been named, numbered in the order of the first naming.
struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    order: Vec<T>,
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    fn new() -> Self {
        Numbered { numbers: FxHashMap::default(), order: Vec::new() }
    }

    fn number(&mut self, of: T) -> u32 {
        *self.numbers.entry(of).or_insert_with(|| {
            self.order.push(of);
            self.order.len() as u32 - 1
        })
    }
}

/// A copy in progress.
struct Copier<'a> {
    input: &'a Input<'a>,
    types: types::Types<'a>,
    strings: Numbered<StrId>,
    labels: Numbered<rucc_sema::LabelId>,
    /// What is constant, but no constant as written.
    constants: FxHashMap<ExprId, Constant>,
}

impl Copier<'_> {
    fn string(&mut self, id: StrId) -> StringId {
        StringId(self.strings.number(id))
    }

    fn label(&mut self, id: rucc_sema::LabelId) -> LabelId {
        LabelId(self.labels.number(id))
    }

    /// All expressions, with the values of those of integer type that are constant.
    fn expressions(&mut self, count: usize) -> Arena<ExprId, Expr> {
        let mut copied: Arena<ExprId, Expr> = Arena::new();
        for id in ids(count) {
            let read = self.expression(id);
            let value = |id: ExprId| match self.constants.get(&id) {
                Some(Constant::Integer(value)) => Some(*value),
                _ => fold::integer(&copied.get(id)?.kind),
            };
            let folded = self.types.integer_of(read.ty).and_then(|of| fold::fold(&read.kind, of, &value));
            let id = copied.push(read);
            if let Some(folded) = folded {
                self.constants.insert(id, Constant::Integer(folded));
            }
        }
        copied
    }

    fn literal(&self, id: StrId) -> StringLiteral {
        let literal = &self.input.tree()[id];
        let width = literal.encoding.element_width(self.input.target) / 8;
        StringLiteral { bytes: literal.bytes(self.input.target).into(), width }
    }
}

/// Copies a tree.
pub fn copy(input: &Input<'_>) -> Unit {
    let tree = input.tree();
    let counts = tree.counts();
    let mut copier = Copier {
        input,
        types: types::Types::new(input),
        strings: Numbered::new(),
        labels: Numbered::new(),
        constants: FxHashMap::default(),
    };
    let expressions = copier.expressions(counts.exprs);
    let declarations = ids(counts.decls).map(|id| copier.declaration(id)).collect();
    let statements = ids(counts.stmts).map(|id| copier.statement(id)).collect();
    let strings = copier.strings.order.iter().map(|&id| copier.literal(id)).collect();
    let labels = copier.labels.order.iter().map(|&id| tree[id]);
    let labels = labels.map(|label| Label { name: input.name(label.name), body: label.stmt.map(stmt) }).collect();
    let pragmas = input.pragmas.iter().filter_map(|line| {
        let word = line.tokens.first()?.ident()?;
        Some((input.name(word), input.place(line.span)))
    });
    let (types, records, enumerations) = copier.types.finish();
    Unit {
        file: input.main,
        types,
        records,
        enumerations,
        declarations,
        expressions,
        statements,
        strings,
        labels,
        constants: copier.constants,
        globals: tree.top_level().iter().map(|&id| decl(id)).collect(),
        assembly: tree.file_asms().iter().map(|one| input.place(one.span)).collect(),
        pragmas: pragmas.collect(),
        wraps: input.wraps,
    }
}
