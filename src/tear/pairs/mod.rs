//! What executions show of the method pairs that endanger correlated variables.
//!
//! **Input**: a compiled file, what the analysis of its correlations has found, and bounds, which hold for all searches
//! together.
//!
//! **Output**: [`ExecutedPairs`]: for each selected pair the program in which it was executed, and for each of its endangered
//! accesses an execution that tears it, or why there is none. [`SerialSearch`] then looks for executions in which the two methods of
//! a pair run one after the other.
//!
//! **Algorithm**:
//! 1. The pairs with an endangered access and a rank above the threshold are selected.
//! 2. A program with a `main` is executed as it is (`program`): first for each access, whoever comes between, then for the
//!    pairs of those that are torn. Each search gets an equal share of the states; those that need more are tried at
//!    random, and then searched again with what the others have left.
//! 3. For two methods of a file without `main`, contexts are made ([`cssame_harness`]) and searched in turn, until
//!    one tears all accesses (`library`). If none does, the first of those that tear the most stands for the pair. They begin in
//!    states that short sequences of calls reach (`reached`). How the pair fails or blocks in them is noted.
//!
//! **Soundness and limits**: an execution that is shown is one of the program, or of the context that is shown beside it.
//! In a program with a `main` an access is refuted only where all executions were visited and none tears it, whoever comes
//! between; in contexts, a search that
//! finds nothing proves nothing. An access to a local is torn where the value is stale when it has an effect (`watch`); one that has
//! none is refuted without executing anything.

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
