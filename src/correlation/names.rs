//! The names of variables and methods.
//!
//! **Input**: an [`Analysis`]. **Output**: [`Names`]. If two variables have one name, each gets the line of its declaration,
//! `t@12`. The same holds for two methods of one name. **Algorithm**: names are sorted together with their owners. **Limits**:
//! two declarations at one place, such as those of two copies, keep one name.

use super::Analysis;
use super::element_name::element_name;
use super::pattern::Correlation;
use super::source_variable::SourceVariableId;
use cssame_ir::{FunctionId, Program};
use cssame_source::{SourceMap, Span};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The names of variables and methods, made unique.
pub struct Names<'a> {
    sources: &'a SourceMap,
    program: &'a Program,
    pub(super) analysis: &'a Analysis,
    data: FxHashMap<SourceVariableId, String>,
    methods: FxHashMap<FunctionId, String>,
}

impl<'a> Names<'a> {
    /// The names of all that an analysis speaks of.
    #[must_use]
    pub fn new(sources: &'a SourceMap, program: &'a Program, analysis: &'a Analysis) -> Names<'a> {
        let mut data: BTreeSet<SourceVariableId> = analysis.sets.iter().flatten().copied().collect();
        data.extend(analysis.pairs.iter().flat_map(|pair| &pair.dependent));
        let named = data
            .into_iter()
            .map(|variable| (variable, analysis.data.name(program, variable), analysis.data.span(program, variable)));
        let methods = analysis.methods.functions.iter().map(|&id| {
            let function = &program.functions[id];
            (id, program.texts.get(function.name).to_owned(), function.span)
        });
        Names { sources, program, analysis, data: unique(sources, named), methods: unique(sources, methods) }
    }

    /// The name of a variable.
    #[must_use]
    pub fn variable(&self, variable: SourceVariableId) -> String {
        let known = self.data.get(&variable).cloned();
        known.unwrap_or_else(|| self.analysis.data.name(self.program, variable))
    }

    /// The name of a method.
    #[must_use]
    pub fn method(&self, method: FunctionId) -> String {
        let known = self.methods.get(&method).cloned();
        known.unwrap_or_else(|| self.program.texts.get(self.program.functions[method].name).to_owned())
    }

    /// The name of a side of a correlation: of elements that belong together by row, with the index as it is written.
    #[must_use]
    pub fn side(&self, correlation: &Correlation, variable: SourceVariableId) -> String {
        let name = self.variable(variable);
        let (data, program) = (&self.analysis.data, self.program);
        let element = correlation.row.filter(|_| name == data.name(program, variable)).and_then(|row| {
            let [first, second] = row.written;
            let places = if variable == correlation.data.0 { (first, second) } else { (second, first) };
            element_name(self.sources, program, data, variable, places)
        });
        element.unwrap_or(name)
    }

    /// The variables of a correlation, sorted by name; true where that swaps them.
    #[must_use]
    pub fn variables(&self, correlation: &Correlation) -> ([String; 2], bool) {
        let (first, second) = (self.side(correlation, correlation.data.0), self.side(correlation, correlation.data.1));
        if second < first { ([second, first], true) } else { ([first, second], false) }
    }
}

/// Adds the place of the declaration to names that are not unique.
fn unique<K: Copy + Eq + std::hash::Hash>(
    sources: &SourceMap,
    named: impl Iterator<Item = (K, String, Span)>,
) -> FxHashMap<K, String> {
    let mut of_name: BTreeMap<String, Vec<(K, Span)>> = BTreeMap::new();
    for (key, name, span) in named {
        of_name.entry(name).or_default().push((key, span));
    }
    let mut result = FxHashMap::default();
    for (name, keys) in of_name {
        let mut lines: Vec<u32> = keys.iter().map(|(_, span)| sources.line(*span)).collect();
        lines.sort_unstable();
        lines.dedup();
        for &(key, span) in &keys {
            let position = sources.position(span);
            let shown = match (keys.len(), lines.len() == keys.len()) {
                (1, _) => name.clone(),
                (_, true) => format!("{name}@{}", position.line),
                (_, false) => format!("{name}@{}:{}", position.line, position.column),
            };
            result.insert(key, shown);
        }
    }
    result
}
