//! The goal of a search for a tear if one of the two variables is a local.
//!
//! **Input**: an endangered access of a method to a shared variable and a local, and the use of stale values in the method
//! ([`StaleUses`]). **Output**: a [`TearPattern`] for each variable that such a value reaches. The method reads the shared
//! variable into the local. Then one activation of the other method changes it, and touches the variables that the method then
//! writes; or the method reads the variable again, and uses both values. A value that only steers a write counts if the two
//! variables belong together or are the same. There is no pattern if the value reaches nothing: then the method could have run
//! before.

use super::pattern::{Other, OwnPlaces, Side, TearPattern};
use cssame_correlation::source_variable::SourceVariableKind;
use cssame_correlation::stale::{Effect, StaleUses};
use cssame_correlation::{AccessKind, Analysis, MethodAccess};
use cssame_ir::{Access, FunctionId, Program, SymbolId};
use std::collections::{BTreeMap, BTreeSet};

/// What the value reaches: a variable that is written, or nothing where the variable itself is read anew.
type Reached = Option<SymbolId>;

/// The patterns of an access to a shared variable and a local.
#[must_use]
pub fn stale_patterns(
    program: &Program,
    analysis: &Analysis,
    uses: &StaleUses,
    each: &MethodAccess,
    other: FunctionId,
) -> Vec<TearPattern> {
    let (a, b) = analysis.correlations[each.access.correlation as usize].data;
    let (symbol, part, local) = match (analysis.data.kind(a), analysis.data.kind(b)) {
        (SourceVariableKind::Memory(symbol), SourceVariableKind::Local(function, register))
        | (SourceVariableKind::Local(function, register), SourceVariableKind::Memory(symbol)) => {
            (symbol, None, (function, register))
        }
        (SourceVariableKind::Part(part), SourceVariableKind::Local(function, register))
        | (SourceVariableKind::Local(function, register), SourceVariableKind::Part(part)) => {
            (part.symbol, Some(part), (function, register))
        }
        _ => return Vec::new(),
    };
    let mut reached: BTreeMap<Reached, (BTreeSet<Access>, BTreeSet<Access>)> = BTreeMap::new();
    for (read, effect, itself) in uses.reached(program, each.method, local, symbol) {
        match effect {
            Effect::Write(definition) => {
                let target = program.definitions[definition].symbol;
                if !itself && target != symbol && !belongs_together(analysis, symbol, target) {
                    continue;
                }
                let of = reached.entry(Some(target)).or_default();
                of.0.insert(Access::Read(read));
                of.1.insert(Access::Write(definition));
            }
            Effect::Repeated => {
                let of = reached.entry(None).or_default();
                of.0.insert(Access::Read(read));
                let again = program.reads.ids().filter(|&other| program.reads[other].symbol == symbol);
                of.1.extend(again.map(Access::Read));
            }
        }
    }
    let pattern = |(target, (first, second)): (Reached, (BTreeSet<Access>, BTreeSet<Access>))| {
        let read = Side { symbol, part, kind: AccessKind::Read };
        let effect = target.map_or(read, |symbol| Side { symbol, part: None, kind: AccessKind::Write });
        TearPattern {
            method: each.method,
            other: Other::Method(other),
            sides: [read, effect],
            copied: false,
            sources: Vec::new(),
            by_row: false,
            only: Some(OwnPlaces { first: first.into_iter().collect(), second: second.into_iter().collect() }),
        }
    };
    reached.into_iter().map(pattern).collect()
}

/// Whether two variables, or parts of them, are correlated.
fn belongs_together(analysis: &Analysis, first: SymbolId, second: SymbolId) -> bool {
    let symbol = |variable| match analysis.data.kind(variable) {
        SourceVariableKind::Memory(symbol) => Some(symbol),
        SourceVariableKind::Part(part) => Some(part.symbol),
        SourceVariableKind::Local(..) => None,
    };
    let mut all = analysis.correlations.iter().map(|of| (symbol(of.data.0), symbol(of.data.1)));
    all.any(|(a, b)| (a, b) == (Some(first), Some(second)) || (b, a) == (Some(first), Some(second)))
}
