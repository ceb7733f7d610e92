//! A program in figures, in the columns of table 3 of Jannesari and Wolf (2015).
//!
//! **Input**: a file, the analysis of its correlations, and the results of executions. **Output**: [`Summary`].
//!
//! **Algorithm**: each figure is counted where it is known: lines in the text, objects in the declarations, threads and parallel
//! methods in the structure of the threads, calls in the call graph. Low-level races are the pairs of places of CS0401 warnings
//! of `check`; high-level races are the confirmed correlation accesses.
//!
//! **Soundness and limits**: an unknown figure is left out (`null`). Static threads are counted, not running ones: iterations
//! that are not distinguished count as one. At most [`MAX_RACES`] pairs of places are counted. Results of other race detectors,
//! and times, are not included.

use cssame_concurrency::Concurrency;
use cssame_correlation::Analysis;
use cssame_correlation::report::{CorrelationReport, Status};
use cssame_form::races::potential_races;
use cssame_front::lines_of_code;
use cssame_ir::{Program, VariableId};
use cssame_model::{Unit, form_in_contexts};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of places beyond that many are not counted.
const MAX_RACES: usize = 100_000;

/// A program in figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Lines of the file that hold more than blanks and comments.
    pub lines: usize,
    /// Methods, as pairs are made of them.
    pub methods: usize,
    /// Calls that may be open at once in a thread, its first function included; `null` where a function may call itself.
    pub call_depth: Option<u32>,
    /// Declared objects of classes, each element of an array and each part that is an object.
    pub objects: u64,
    /// Static threads, `main` included; `null` without a `main`.
    pub threads: Option<usize>,
    /// Methods that may run in parallel with some method; `null` where there are too many to count.
    pub parallel_methods: Option<u64>,
    /// Pairs of methods that may run in parallel, likewise.
    pub parallel_pairs: Option<u64>,
    /// Correlations at least as probable as the threshold.
    pub correlations: usize,
    /// Pairs of places that may race; `null` without a `main`, or where there are too many to count.
    pub low_level_races: Option<usize>,
    /// Correlation accesses that executions tear; `null` where nothing was executed.
    pub high_level_races: Option<usize>,
}

impl Summary {
    /// What the text tells; the rest is left out.
    pub(super) fn of_text(unit: &Unit, analysis: &Analysis, threads: Option<&Concurrency>) -> Summary {
        Summary {
            lines: lines_of_code(unit.sources.file(unit.file).text()),
            methods: analysis.methods.functions.len(),
            call_depth: analysis.call_depth,
            objects: objects(&unit.program),
            threads: threads.map(|of| of.threads.len()),
            parallel_methods: analysis.parallel_methods,
            parallel_pairs: analysis.parallel_pairs,
            correlations: analysis.correlations.iter().filter(|of| !of.is_of_set()).count(),
            low_level_races: low_level_races(&unit.program),
            high_level_races: None,
        }
    }
}

/// The correlation accesses that are confirmed, each once in whatever pairs it is.
pub(super) fn high_level_races<S>(report: &CorrelationReport<S>) -> usize {
    let accesses = report.pairs.iter().flat_map(|pair| &pair.endangered_accesses);
    let confirmed = accesses.filter(|access| access.decision.status == Status::Confirmed);
    confirmed.map(|access| access.of).collect::<BTreeSet<_>>().len()
}

fn low_level_races(program: &Program) -> Option<usize> {
    let (program, form) = form_in_contexts(program)?;
    let count = potential_races(&program, &form).pairs().take(MAX_RACES + 1).count();
    (count <= MAX_RACES).then_some(count)
}

/// An object is what the name of one of its parts has before a point, so often as there are elements of the arrays that it lies in.
fn objects(program: &Program) -> u64 {
    let mut counts: BTreeMap<(VariableId, &str), u64> = BTreeMap::new();
    for leaf in program.leaves.iter() {
        let name = program.texts.get(leaf.name);
        for (end, _) in name.match_indices('.') {
            let around = leaf.dimensions.iter().filter(|dimension| dimension.name_end as usize <= end);
            let count = around.fold(1, |count: u64, dimension| count.saturating_mul(dimension.length.into()));
            counts.insert((leaf.variable, &name[..end]), count);
        }
    }
    counts.values().fold(0, |all, &count| all.saturating_add(count))
}
