//! Executes the method pairs that endanger correlated variables.
//!
//! **Input**: a compiled file, the analysis of its correlations, and bounds, which hold for all searches together.
//!
//! **Output**: [`ExecutedPairs`]: for each selected pair, the program in which it was executed; for each of its endangered
//! accesses, an execution that tears it, or the reason why there is none. [`SerialSearch`] then looks for executions in which the
//! two methods of a pair run one after the other.
//!
//! **Algorithm**:
//! 1. Select the pairs with an endangered access and a rank above the threshold.
//! 2. Execute a program with a `main` as it is (`program`): first for each access, with any other threads in between, then for
//!    the pairs of the torn accesses. Each search gets an equal share of the states. Searches that need more are tried at random,
//!    and then repeated with the states that the others have left.
//! 3. For two methods of a file without `main`, make contexts ([`cssame_harness`]), and search them in turn until one tears all
//!    accesses (`library`). If none does, the first context with the most tears represents the pair. The contexts begin in states
//!    that short sequences of calls reach (`reached`). Failures and blocking of the pair in them are recorded.
//!
//! **Soundness and limits**: a shown execution belongs to the program, or to the context that is shown with it. In a program with
//! a `main`, an access is refuted only if all executions were visited and none tears it, whichever threads come between. In
//! contexts, an unsuccessful search proves nothing. An access to a local is torn if the value is stale when it has an effect
//! (`watch`). An access whose value has no effect is refuted without an execution.

mod call_origin;
mod executed;
mod library;
mod program;
mod reached;
mod recorded;
mod search;
mod serial;
mod watch;

pub use executed::{AccessVerdict, ExecutedPair, ExecutedPairs, PairEnd, Setting, TearWitness};
pub use recorded::{RecordedContext, record_contexts};
pub use serial::SerialSearch;

use cssame_budget::Budget;
use cssame_correlation::Analysis;
use cssame_model::{Model, NoMain, Options, Unit};
use executed::Host;
use search::Search;

/// Which pairs are executed, and how.
#[derive(Clone, Copy, Debug)]
pub struct PairQuery<'a> {
    /// The pairs.
    pub analysis: &'a Analysis,
    /// Pairs of a higher rank are selected.
    pub rank: f64,
    /// What executions depend on.
    pub options: &'a Options,
}

/// Executes the selected pairs of a file, in all ways.
#[must_use]
pub fn execute_pairs(query: &PairQuery<'_>, unit: Unit, budget: &Budget<'_>) -> ExecutedPairs {
    let pairs = query.analysis.pairs.iter().enumerate();
    let selected = pairs.filter(|(_, pair)| pair.is_selected(query.rank));
    let selected: Vec<usize> = selected.map(|(index, _)| index).collect();
    if selected.is_empty() {
        return ExecutedPairs::none(unit);
    }
    let watches = watch::watches(&unit.program, query.analysis, &selected);
    let mut search = Search::new(query.analysis, watches, budget);
    let (host, pairs) = match Model::new(unit, query.options.clone()) {
        Ok(model) => {
            let pairs = program::execute(&mut search, &model, &selected);
            (Host::Program(Box::new(model)), pairs)
        }
        Err(NoMain(unit)) => {
            let (contexts, pairs) = library::execute(&mut search, &unit, query.options, &selected);
            (Host::Library { unit: Box::new(unit), contexts }, pairs)
        }
    };
    ExecutedPairs { host, pairs, bound: search.bound, states: search.states }
}
