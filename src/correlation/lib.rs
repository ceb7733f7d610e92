//! Correlated variables, endangered correlations, and the ranks of method pairs.
//!
//! **Input**: a program and, if it has a `main`, its threads. **Output**: [`Analysis`].
//!
//! **Algorithm** (Jannesari and Wolf, "Automatic Generation of Unit Tests for Correlated Variables in Parallel Programs", 2015,
//! sections 4.2 to 4.5)
//! 0. [`binding`]: distinguish functions by the bindings of their parameters, and so the objects that they access.
//!    [`value_context`]: distinguish functions also by the sources of the values that they get. [`row`] (with [`row_values`] and
//!    [`value`]): find which accesses to elements have the same index.
//! 1. [`assignment`]: find the sources of each assignment, and the conditions on which it is control dependent.
//! 2. [`sequence`]: find which assignments may directly follow each assignment.
//! 3. [`pattern`]: derive correlations, with probabilities, from five patterns of assignments; [`sets`] merges them.
//! 4. [`access`] (with [`sites`] and [`partners`]): find which methods access both variables of a correlation, and whether they
//!    synchronise in between. [`row_access`] considers each row separately.
//! 5. [`method`] and [`pair`]: find which methods may run in parallel, and rank the pairs.
//!
//! docs/correlation.md lists the departures from the paper.
//!
//! **Soundness and limits**: a heuristic. The correlation of two variables is a guess from the text; only an execution can show
//! that an endangered correlation is really torn. Each pass is linear in the size of the program, apart from bounded factors.
//! Data beyond a bound is left out; each module names its bounds.

pub mod access;
mod assignment;
mod binding;
mod calls;
pub mod check;
mod control;
mod element_name;
mod function;
pub mod kind;
mod locked_access;
pub mod method;
mod names;
pub mod pair;
mod partners;
pub mod pattern;
mod reachability;
pub mod report;
mod row;
mod row_access;
mod row_values;
mod sequence;
mod sets;
mod sites;
pub mod source_variable;
mod sources;
pub mod stale;
mod sync_free_region;
mod text_rows;
mod value;
mod value_context;

pub use access::{Accesses, CorrelationAccess};
pub use binding::index_parameters;
pub use kind::AccessKind;
pub use pair::{MethodAccess, Pair};
pub use pattern::{Correlation, Evidence, Pattern};
pub use report::{CorrelationReport, Decision, Status, report};
pub use source_variable::{SourceVariableId, SourceVariables};

use cssame_concurrency::Concurrency;
use cssame_ir::Program;
use method::Methods;

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Correlations below that probability are none.
    pub threshold: f64,
    /// Whether any two variables of one set count as correlated too.
    pub sets: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { threshold: 0.5, sets: false }
    }
}

/// What was found in a program.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// All variables.
    pub data: SourceVariables,
    /// The correlations that are probable enough.
    pub correlations: Vec<Correlation>,
    /// They merged into sets, each sorted.
    pub sets: Vec<Vec<SourceVariableId>>,
    /// What each function touches, calls inlined; by function.
    pub accesses: Vec<Accesses>,
    /// The methods.
    pub methods: Methods,
    /// Number of pairs of methods that may run in parallel, if it could be found.
    pub parallel_pairs: Option<u64>,
    /// Number of methods that are in such a pair, likewise.
    pub parallel_methods: Option<u64>,
    /// Calls that may be open at once in a thread, its first function included; nothing where a function calls itself.
    pub call_depth: Option<u32>,
    /// Pairs that may run in parallel and depend on each other, by falling rank.
    pub pairs: Vec<Pair>,
    /// Whether these are all such pairs.
    pub complete: bool,
    /// Which accesses of the text lie in one row, if some correlation is by row.
    rows: text_rows::TextRows,
}

/// The program with its functions told apart by their objects, and by what their values are computed from.
fn bind(program: &Program) -> binding::BoundProgram<'_> {
    let bound = binding::bind(program);
    let data = SourceVariables::new(program, &bound);
    let components = calls::components(&bound.program);
    let sources = assignment::find_sources(&bound, &data, &row::Rows::new(&bound), &components);
    value_context::split(&bound, &sources).unwrap_or(bound)
}

/// Finds correlations and ranks method pairs. Without `concurrency` (a file without `main`), any two methods may run in parallel.
#[must_use]
pub fn analyse(program: &Program, concurrency: Option<&Concurrency>, options: &Options) -> Analysis {
    let bound = bind(program);
    let data = SourceVariables::new(program, &bound);
    let components = calls::components(&bound.program);
    let mut rows = row::Rows::new(&bound);
    let assignments = assignment::find_assignments(&bound, &data, &rows, &components);
    let consecutive = sequence::consecutive(&bound.program, &components, &assignments, &mut rows);
    let mut correlations = pattern::find_correlations(&data, &assignments, &consecutive, &rows);
    correlations.retain(|correlation| correlation.probability() >= options.threshold);
    let sets = sets::merge(&correlations);
    if options.sets {
        let tied = sets::within(&data, &sets, &correlations);
        correlations.extend(tied);
    }
    let accesses = access::find_accesses((&bound.program, &data, &assignments), &correlations, &mut rows, &components);
    let accesses = access::of_text(program, &bound, accesses);
    let mut methods = method::find_methods(program, &accesses, concurrency);
    let parallel = methods.parallel_counts(concurrency);
    let call_depth = calls::depth(program);
    let (pairs, complete) = pair::rank_pairs(&data, &correlations, &accesses, &mut methods, concurrency);
    let by_row = correlations.iter().any(|correlation| correlation.row.is_some());
    let rows = if by_row { text_rows::TextRows::new(&bound, rows) } else { text_rows::TextRows::default() };
    Analysis {
        data,
        correlations,
        sets,
        accesses,
        methods,
        parallel_pairs: parallel.map(|counts| counts.pairs),
        parallel_methods: parallel.map(|counts| counts.methods),
        call_depth,
        pairs,
        complete,
        rows,
    }
}
