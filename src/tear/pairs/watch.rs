//! The events to watch for in executions, for each endangered access of the selected pairs.

use crate::{TearPattern, stale_patterns};
use cssame_correlation::stale::StaleUses;
use cssame_correlation::{Analysis, MethodAccess, Pair};
use cssame_ir::{FunctionId, Program};
use std::collections::BTreeMap;

/// What executions are watched for, for one access.
#[derive(Clone, Debug)]
pub(super) enum Watch {
    /// The two accesses to shared variables, torn apart.
    Tear(TearPattern),
    /// What is kept in a local, stale where it has an effect: any of these. Where there are none, it never has.
    Stale(Vec<TearPattern>),
}

/// The endangered accesses of each selected pair.
pub(super) type Watches = BTreeMap<usize, Vec<(MethodAccess, Watch)>>;

/// What executions are watched for.
pub(super) fn watches(program: &Program, analysis: &Analysis, selected: &[usize]) -> Watches {
    let mut uses: Option<StaleUses> = None;
    let mut all = Watches::new();
    for &index in selected {
        let pair = &analysis.pairs[index];
        let endangered = pair.accesses.iter().filter(|each| each.access.endangered);
        let of_pair = endangered.map(|each| {
            let other = other_of(pair, each);
            let pattern =
                TearPattern::new(analysis, each, other).filter(|pattern| can_be_torn(analysis, each, pattern));
            let watch = pattern.map_or_else(
                || {
                    let uses = uses.get_or_insert_with(|| StaleUses::of(program));
                    Watch::Stale(stale_patterns(program, analysis, uses, each, other))
                },
                Watch::Tear,
            );
            (*each, watch)
        });
        all.insert(index, of_pair.collect());
    }
    all
}

/// The method that may come between.
pub(super) fn other_of(pair: &Pair, each: &MethodAccess) -> FunctionId {
    if pair.methods.0 == each.method { pair.methods.1 } else { pair.methods.0 }
}

/// Whether others can touch both variables, or what both are computed from: nobody comes to a private array.
fn can_be_torn(analysis: &Analysis, each: &MethodAccess, pattern: &TearPattern) -> bool {
    let (a, b) = analysis.correlations[each.access.correlation as usize].data;
    let both = analysis.data.is_shared(a) && analysis.data.is_shared(b);
    both || pattern.copied || !pattern.sources.is_empty()
}
