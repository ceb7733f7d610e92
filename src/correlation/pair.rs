//! Method pairs and their correlation rank.
//!
//! **Input**: the accesses of the methods, and the pairs of methods that may run in parallel. **Output**: a [`Pair`] for each two
//! methods that may run in parallel and depend on each other, by decreasing rank.
//!
//! **Algorithm** (Jannesari and Wolf, sections 4.3 and 4.5)
//! 1. A variable is *strongly parallel dependent* for a pair if both methods access it and one writes it. Shared variables index
//!    the pairs, so that independent methods cost nothing.
//! 2. A correlation can be violated if one of its variables is strongly parallel dependent, or a variable from which both are
//!    computed in a horizontal pattern. The strict filter of the text (both variables) would give the paper's own example the
//!    rank 0.
//! 3. The rank is the fraction of endangered correlation accesses among all accesses of the pair, including accesses to
//!    uncorrelated variables.
//!
//! **Soundness and limits**: at most [`MAX_PAIRS`] pairs are kept; the answer says if some were left out.

use super::access::{Accesses, CorrelationAccess};
use super::method::Methods;
use super::pattern::Correlation;
use super::source_variable::{SourceVariableId, SourceVariables};
use cssame_concurrency::Concurrency;
use cssame_ir::FunctionId;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs beyond that many are left out, and the answer says so.
const MAX_PAIRS: usize = 20_000;
/// Two methods are looked at together that often, at most.
const MAX_MEETINGS: usize = 4_000_000;

/// A correlation access of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MethodAccess {
    /// The method.
    pub method: FunctionId,
    /// Its access.
    pub access: CorrelationAccess,
}

/// Two methods that may run in parallel and depend on each other.
#[derive(Clone, Debug)]
pub struct Pair {
    /// In the order of the text; they may be the same.
    pub methods: (FunctionId, FunctionId),
    /// Source variables that both access and one writes.
    pub dependent: Vec<SourceVariableId>,
    /// Accesses to correlations that the pair can violate.
    pub accesses: Vec<MethodAccess>,
    /// How many of them are endangered.
    pub endangered: usize,
    /// All other accesses.
    pub uncorrelated: usize,
    /// The rank where any two variables of one set count as correlated, if that was asked for.
    pub set_rank: Option<f64>,
}

impl Pair {
    /// The correlation rank, from 0 to 1.
    #[must_use]
    pub fn rank(&self) -> f64 {
        rank(self.endangered, self.uncorrelated)
    }

    /// Whether one of its ranks is above a threshold.
    #[must_use]
    pub fn is_selected(&self, threshold: f64) -> bool {
        self.rank() > threshold || self.set_rank.is_some_and(|rank| rank > threshold)
    }
}

fn rank(endangered: usize, uncorrelated: usize) -> f64 {
    if endangered == 0 { 0.0 } else { endangered as f64 / (endangered + uncorrelated) as f64 }
}

/// Ranks all pairs; false where some were left out.
pub(super) fn rank_pairs(
    data: &SourceVariables,
    correlations: &[Correlation],
    accesses: &[Accesses],
    methods: &mut Methods,
    concurrency: Option<&Concurrency>,
) -> (Vec<Pair>, bool) {
    let (candidates, complete) = find_candidates(data, accesses, methods, concurrency);
    let mut pairs: Vec<Pair> = candidates
        .into_iter()
        .map(|(a, b)| rank_pair(data, correlations, accesses, (methods.functions[a], methods.functions[b])))
        .collect();
    pairs.sort_by(|a, b| b.rank().total_cmp(&a.rank()).then(a.methods.cmp(&b.methods)));
    (pairs, complete)
}

/// Pairs of methods, by index, that may run in parallel and both access a variable that one of them writes.
fn find_candidates(
    data: &SourceVariables,
    accesses: &[Accesses],
    methods: &mut Methods,
    concurrency: Option<&Concurrency>,
) -> (BTreeSet<(usize, usize)>, bool) {
    let mut of_variable: BTreeMap<SourceVariableId, Vec<(usize, bool)>> = BTreeMap::new();
    for (method, function) in methods.functions.iter().enumerate() {
        for &(variable, kinds) in &accesses[function.index()].kinds {
            if data.is_shared(variable) {
                of_variable.entry(variable).or_default().push((method, kinds & 2 != 0));
            }
        }
    }
    let mut candidates = BTreeSet::new();
    let mut meetings = 0;
    for users in of_variable.values() {
        for &(writer, _) in users.iter().filter(|user| user.1) {
            for &(user, _) in users {
                meetings += 1;
                if candidates.len() == MAX_PAIRS || meetings == MAX_MEETINGS {
                    return (candidates, false);
                }
                let pair = (writer.min(user), writer.max(user));
                if !candidates.contains(&pair) && methods.parallel(concurrency, pair.0, pair.1) {
                    candidates.insert(pair);
                }
            }
        }
    }
    (candidates, true)
}

fn rank_pair(
    data: &SourceVariables,
    correlations: &[Correlation],
    accesses: &[Accesses],
    methods: (FunctionId, FunctionId),
) -> Pair {
    let (first, second) = (&accesses[methods.0.index()], &accesses[methods.1.index()]);
    let dependent: Vec<SourceVariableId> = first
        .kinds
        .iter()
        .filter(|&&(variable, kinds)| {
            let others = second.kinds_of(variable);
            data.is_shared(variable) && others != 0 && (kinds | others) & 2 != 0
        })
        .map(|each| each.0)
        .collect();
    let depends = |variable: &SourceVariableId| dependent.binary_search(variable).is_ok();
    let violable = |correlation: &Correlation| {
        depends(&correlation.data.0) || depends(&correlation.data.1) || correlation.common.iter().any(depends)
    };
    let mut both = vec![methods.0];
    if methods.1 != methods.0 {
        both.push(methods.1);
    }
    let mut found: Vec<MethodAccess> = Vec::new();
    for &method in &both {
        let of = accesses[method.index()].correlated.iter();
        let of = of.filter(|access| violable(&correlations[access.correlation as usize]));
        found.extend(of.map(|&access| MethodAccess { method, access }));
    }
    let count = |found: &[MethodAccess]| {
        let of = |each: &MethodAccess| correlations[each.access.correlation as usize].data;
        let mut covered: Vec<SourceVariableId> = found.iter().map(of).flat_map(|(a, b)| [a, b]).collect();
        covered.sort_unstable();
        covered.dedup();
        let others: u32 = both
            .iter()
            .flat_map(|method| &accesses[method.index()].kinds)
            .filter(|(variable, _)| data.is_shared(*variable) && covered.binary_search(variable).is_err())
            .map(|(_, kinds)| kinds.count_ones())
            .sum();
        let endangered = found.iter().filter(|each| each.access.endangered).count();
        (endangered, found.len() - endangered + others as usize)
    };
    let of_set = |each: &MethodAccess| correlations[each.access.correlation as usize].is_of_set();
    let of_paper: Vec<MethodAccess> = found.iter().copied().filter(|each| !of_set(each)).collect();
    let (endangered, uncorrelated) = count(&of_paper);
    let set_rank = correlations.last().is_some_and(Correlation::is_of_set).then(|| {
        let (endangered, uncorrelated) = count(&found);
        rank(endangered, uncorrelated)
    });
    Pair { methods, dependent, accesses: found, endangered, uncorrelated, set_rank }
}
