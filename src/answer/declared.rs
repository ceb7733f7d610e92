//! Finds the declarations of the variables of a finding.
//!
//! **Input**: a program, and one of its findings. **Output**: the finding with the declared names.
//!
//! **Algorithm**
//! 1. A label at an access refers to the accessed variable or field.
//! 2. A name in the sentence of the finding (for a deadlock, also in its labels) refers to the entity with that name in the
//!    program: `a.balance` to the field and the object, `Account.balance` to the field. Names of variables that step 1
//!    distinguishes are not mixed up.
//!
//! **Soundness and limits**: two locks with one name, declared in two functions, are not distinguished.

use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::{LeafId, LeafKind, Program, SymbolId};
use cssame_source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The declarations of a program, by places and names.
#[derive(Debug)]
pub struct Declared<'p> {
    program: &'p Program,
    /// By the place of an access, without its file: programs that close a file begin with its text.
    accesses: FxHashMap<(u32, u32), Vec<SymbolId>>,
    leaves: FxHashMap<&'p str, Vec<LeafId>>,
    symbols: FxHashMap<String, Vec<SymbolId>>,
}

impl<'p> Declared<'p> {
    /// Collects the declarations.
    #[must_use]
    pub fn new(program: &'p Program) -> Declared<'p> {
        let mut declared = Declared {
            program,
            accesses: FxHashMap::default(),
            leaves: FxHashMap::default(),
            symbols: FxHashMap::default(),
        };
        let reads = program.reads.iter().map(|read| (read.span, read.symbol));
        let definitions = program.definitions.iter().map(|definition| (definition.span, definition.symbol));
        for (span, symbol) in reads.chain(definitions) {
            declared.accesses.entry((span.start, span.end)).or_default().push(symbol);
        }
        for (id, leaf) in program.leaves.entries() {
            declared.leaves.entry(program.texts.get(leaf.name)).or_default().push(id);
        }
        for (id, symbol) in program.symbols.entries() {
            declared.symbols.entry(symbol.full_name(&program.texts)).or_default().push(id);
        }
        declared
    }

    /// The finding with the declarations that it is about.
    #[must_use]
    pub fn with_declarations(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let labels = diagnostic.primary.iter().chain(&diagnostic.secondary);
        let at_labels = labels.filter_map(|label| self.accesses.get(&(label.span.start, label.span.end)));
        let mut symbols: BTreeSet<SymbolId> = at_labels.flatten().copied().collect();
        symbols.extend(symbols.clone().into_iter().map(|symbol| self.program.symbols[symbol].cells_of));
        let mut spans: BTreeSet<Span> = symbols.iter().map(|&symbol| self.program.symbols[symbol].span).collect();
        for name in names(&diagnostic) {
            let name = without_indices(&name);
            for &leaf in self.leaves.get(name.as_str()).into_iter().flatten() {
                let leaf = &self.program.leaves[leaf];
                let is_other =
                    matches!(leaf.kind, LeafKind::Data(_)) && !symbols.is_empty() && !symbols.contains(&leaf.symbol);
                if !is_other {
                    spans.insert(self.program.symbols[leaf.symbol].span);
                    spans.insert(self.program.variables[leaf.variable].span);
                }
            }
            let of_classes = self.symbols.get(&name).into_iter().flatten();
            let of_classes = of_classes.map(|&symbol| &self.program.symbols[symbol]);
            spans.extend(of_classes.filter(|symbol| symbol.class.is_some()).map(|symbol| symbol.span));
        }
        diagnostic.declarations.extend(spans);
        diagnostic
    }
}

/// What a finding is about: the names in its sentence, and of a deadlock those of what threads wait for. Sorted.
#[must_use]
pub fn names(diagnostic: &Diagnostic) -> Vec<String> {
    let mut texts = vec![diagnostic.message.as_str()];
    if diagnostic.code == Code::Deadlock {
        texts.extend(diagnostic.primary.iter().chain(&diagnostic.secondary).map(|label| label.message.as_str()));
    }
    let names: BTreeSet<&str> = texts.iter().flat_map(|text| text.split('`').skip(1).step_by(2)).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// `fork` of `fork[2]`, `a.balance` of `a[1].balance`.
fn without_indices(name: &str) -> String {
    let mut depth = 0usize;
    let mut kept = String::new();
    for each in name.chars() {
        match each {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(each),
            _ => {}
        }
    }
    kept
}
