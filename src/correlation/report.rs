//! The findings, as plain data for the command line and other programs.
//!
//! **Input**: an [`Analysis`]. **Output**: [`CorrelationReport`]: names (from [`super::names`]) instead of numbers, lists sorted
//! by name, places as `LINE:COL`.

use super::names::Names;
use super::pattern::{Correlation, Evidence};
use super::{Analysis, MethodAccess, Pair};
use cssame_ir::{FunctionId, Program};
use cssame_source::{SourceMap, Span};
use serde::Serialize;

/// The answer of `correlate`; `S` is a schedule.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CorrelationReport<S = ()> {
    /// Correlations at least as probable as the threshold.
    pub correlations: Vec<CorrelationData>,
    /// Variables that belong together, directly or through others.
    pub sets: Vec<Vec<String>>,
    /// Pairs of methods by falling rank.
    pub pairs: Vec<PairData<S>>,
    /// How many methods and pairs there are.
    pub counts: Counts,
    /// The least probability of a correlation.
    pub threshold: f64,
    /// Pairs of a higher rank are selected.
    pub rank_threshold: f64,
    /// Whether these are all pairs.
    pub complete: bool,
}

/// The reduction of all pairs to the ones that matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Methods.
    pub methods: usize,
    /// Pairs of methods, one with itself too.
    pub pairs_considered: u64,
    /// Those that may run in parallel; `null` where that was not counted.
    pub pairs_parallel: Option<u64>,
    /// Those of them that share a variable which one writes.
    pub pairs_dependent: usize,
    /// Those of them whose rank is above the threshold.
    pub pairs_selected: usize,
    /// Those of them that tear each other in some execution.
    pub pairs_confirmed: usize,
    /// Those of them of which no execution tears anything, whoever comes between.
    pub pairs_refuted: usize,
}

/// A correlation.
#[derive(Clone, Debug, Serialize)]
pub struct CorrelationData {
    /// The two variables, sorted.
    pub variables: [String; 2],
    /// Whether elements of equal index belong together.
    pub by_row: bool,
    /// The patterns that indicate it.
    pub patterns: Vec<&'static str>,
    /// From 0 to 1.
    pub probability: f64,
    /// Whether each variable is shared, in their order.
    pub shared: [bool; 2],
    /// Writes to the dependent side that stand in a pattern, of all.
    pub writes_in_pattern: usize,
    /// All writes to the dependent side.
    pub writes: usize,
    /// Where the patterns stand.
    pub evidence: Vec<EvidenceData>,
}

/// Where a pattern stands.
#[derive(Clone, Debug, Serialize)]
pub struct EvidenceData {
    /// Which.
    pub pattern: &'static str,
    /// The write, or the later of two.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The earlier write or the condition.
    pub with: Option<PlaceData>,
    #[serde(skip)]
    /// The write.
    pub span: Span,
}

/// A place.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PlaceData {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// Two methods that may run in parallel.
#[derive(Clone, Debug, Serialize)]
pub struct PairData<S = ()> {
    /// Their names, in the order of the text.
    pub methods: [String; 2],
    /// Shared variables that both access and one writes, sorted.
    pub dependent: Vec<String>,
    /// Correlation accesses that the pair can violate.
    pub correlation_accesses: usize,
    /// How many of them are endangered.
    pub endangered: usize,
    /// All other accesses.
    pub uncorrelated: usize,
    /// From 0 to 1.
    pub rank: f64,
    /// The rank where any two variables of one set count as correlated, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_rank: Option<f64>,
    /// Whether a rank is above the threshold.
    pub selected: bool,
    /// Confirmed if one of its endangered accesses is, refuted if all are.
    pub status: Status,
    /// What the methods were run in, where the program has no `main`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// All correlation accesses that the pair can violate, endangered or not.
    pub accesses: Vec<ListedAccess>,
    /// The endangered ones, and what executions show of them.
    pub endangered_accesses: Vec<AccessData<S>>,
    /// How the two fail or block in parallel, where they do not one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndData<S>>,
}

/// A failure or a deadlock of a pair.
#[derive(Clone, Debug, Serialize)]
pub struct EndData<S = ()> {
    /// `assert`, `error`, `deadlock`, …
    pub status: &'static str,
    /// What the program says, or who waits for what.
    pub message: String,
    /// The line that fails.
    pub line: Option<u32>,
    /// What the methods were run in.
    pub context: String,
    /// The execution.
    pub schedule: S,
}

/// Whether executions tear an endangered access apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Some execution does, and the other method of the pair has a part in it.
    Confirmed,
    /// Some does, but in none the other method of the pair has a part.
    Elsewhere,
    /// None does, whoever comes between.
    Refuted,
    /// Nobody knows.
    #[default]
    Potential,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Confirmed => "confirmed",
            Status::Elsewhere => "elsewhere",
            Status::Refuted => "refuted",
            Status::Potential => "potential",
        }
    }

    /// Of all endangered accesses of a pair.
    fn of_all(all: impl Iterator<Item = Status>) -> Status {
        let (mut result, mut known) = (None, true);
        for status in all {
            match status {
                Status::Confirmed => return status,
                Status::Elsewhere => result = Some(status),
                Status::Refuted => result = result.or(Some(status)),
                Status::Potential => known = false,
            }
        }
        result.filter(|_| known).unwrap_or_default()
    }
}

/// What is known of an endangered access, and how.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Decision<S = ()> {
    /// Whether executions tear it.
    pub status: Status,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The functions and arms that tear it, in the order in which they come between.
    #[serde(skip)]
    pub by: Vec<FunctionId>,
    /// An execution that tears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<S>,
}

impl<S> Decision<S> {
    /// It is not known, and why.
    #[must_use]
    pub fn potential(reason: impl Into<String>) -> Decision<S> {
        Decision { reason: Some(reason.into()), ..Decision::of(Status::Potential) }
    }

    /// A status without more.
    #[must_use]
    pub fn of(status: Status) -> Decision<S> {
        Decision { status, reason: None, by: Vec::new(), schedule: None }
    }
}

/// A correlation access of a method, as the paper lists them (table 2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ListedAccess {
    /// The method.
    pub method: String,
    /// The two variables, sorted.
    pub variables: [String; 2],
    /// How each is accessed: `read` or `write`.
    pub accesses: [&'static str; 2],
    /// The patterns that tie the two.
    pub patterns: Vec<&'static str>,
    /// Whether the method synchronises in between.
    pub endangered: bool,
}

/// An endangered correlation access.
#[derive(Clone, Debug, Serialize)]
pub struct AccessData<S = ()> {
    /// In terms of the program.
    #[serde(skip)]
    pub of: MethodAccess,
    /// The method.
    pub method: String,
    /// The two variables, sorted.
    pub variables: [String; 2],
    /// How each is accessed: `read` or `write`.
    pub accesses: [&'static str; 2],
    /// Whether executions tear it.
    #[serde(flatten)]
    pub decision: Decision<S>,
    /// Who tears it, in the order in which they come between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

/// Puts an analysis into words. `decide` says what executions show of an endangered access of a pair, by its index.
#[must_use]
pub fn report<S>(
    sources: &SourceMap,
    program: &Program,
    analysis: &Analysis,
    (threshold, rank_threshold): (f64, f64),
    mut decide: impl FnMut(usize, &MethodAccess) -> Decision<S>,
) -> CorrelationReport<S> {
    let names = Names::new(sources, program, analysis);
    let mut correlations: Vec<CorrelationData> = analysis
        .correlations
        .iter()
        .filter(|of| !of.is_of_set())
        .map(|correlation| correlation_data(sources, &names, correlation))
        .collect();
    correlations.sort_by(|a, b| a.variables.cmp(&b.variables));
    let mut sets: Vec<Vec<String>> = analysis
        .sets
        .iter()
        .map(|set| {
            let mut set: Vec<String> = set.iter().map(|&variable| names.variable(variable)).collect();
            set.sort_unstable();
            set
        })
        .collect();
    sets.sort_unstable();
    let pairs = analysis.pairs.iter().enumerate();
    let pairs: Vec<PairData<S>> = pairs
        .map(|(index, pair)| pair_data(&names, pair, rank_threshold, &mut |access| decide(index, access)))
        .collect();
    let counts = Counts {
        methods: analysis.methods.functions.len(),
        pairs_considered: analysis.methods.pair_count(),
        pairs_parallel: analysis.parallel_pairs,
        pairs_dependent: pairs.len(),
        pairs_selected: pairs.iter().filter(|pair| pair.selected).count(),
        pairs_confirmed: pairs.iter().filter(|pair| pair.selected && pair.status == Status::Confirmed).count(),
        pairs_refuted: pairs.iter().filter(|pair| pair.selected && pair.status == Status::Refuted).count(),
    };
    CorrelationReport { correlations, sets, pairs, counts, threshold, rank_threshold, complete: analysis.complete }
}

fn correlation_data(sources: &SourceMap, names: &Names<'_>, correlation: &Correlation) -> CorrelationData {
    let (variables, swapped) = names.variables(correlation);
    let (a, b) = correlation.data;
    let shared = [names.analysis.data.is_shared(a), names.analysis.data.is_shared(b)];
    CorrelationData {
        variables,
        by_row: correlation.row.is_some_and(|row| row.written != [None; 2]),
        patterns: correlation.patterns.iter().map(|pattern| pattern.word()).collect(),
        probability: correlation.probability(),
        shared: if swapped { [shared[1], shared[0]] } else { shared },
        writes_in_pattern: correlation.writes_in_pattern,
        writes: correlation.writes,
        evidence: correlation.evidence.iter().map(|evidence| evidence_data(sources, evidence)).collect(),
    }
}

fn evidence_data(sources: &SourceMap, evidence: &Evidence) -> EvidenceData {
    let place = |span: Span| {
        let position = sources.position(span);
        PlaceData { line: position.line, column: position.column }
    };
    let PlaceData { line, column } = place(evidence.write);
    let with = evidence.other.map(place);
    EvidenceData { pattern: evidence.pattern.word(), line, column, with, span: evidence.write }
}

fn pair_data<S>(
    names: &Names<'_>,
    pair: &Pair,
    rank_threshold: f64,
    decide: &mut dyn FnMut(&MethodAccess) -> Decision<S>,
) -> PairData<S> {
    let mut dependent: Vec<String> = pair.dependent.iter().map(|&variable| names.variable(variable)).collect();
    dependent.sort_unstable();
    let of_set = |each: &MethodAccess| names.analysis.correlations[each.access.correlation as usize].is_of_set();
    let endangered = pair.accesses.iter().filter(|each| each.access.endangered);
    let mut endangered_accesses: Vec<AccessData<S>> =
        endangered.map(|each| access_data(names, each, decide(each))).collect();
    endangered_accesses
        .sort_by(|a, b| (&a.method, &a.variables, &a.accesses).cmp(&(&b.method, &b.variables, &b.accesses)));
    let mut accesses: Vec<ListedAccess> = pair.accesses.iter().map(|each| listed_access(names, each)).collect();
    accesses.sort_unstable();
    PairData {
        methods: [names.method(pair.methods.0), names.method(pair.methods.1)],
        dependent,
        correlation_accesses: pair.accesses.iter().filter(|each| !of_set(each)).count(),
        endangered: pair.endangered,
        uncorrelated: pair.uncorrelated,
        rank: pair.rank(),
        set_rank: pair.set_rank,
        selected: pair.is_selected(rank_threshold),
        status: Status::of_all(endangered_accesses.iter().map(|access| access.decision.status)),
        context: None,
        accesses,
        endangered_accesses,
        ends: Vec::new(),
    }
}

/// The variables of an access, sorted, and how it touches each.
fn sides(names: &Names<'_>, each: &MethodAccess) -> ([String; 2], [&'static str; 2]) {
    let access = &each.access;
    let (variables, swapped) = names.variables(&names.analysis.correlations[access.correlation as usize]);
    let [first, second] = [access.kinds.0.word(), access.kinds.1.word()];
    (variables, if swapped { [second, first] } else { [first, second] })
}

fn listed_access(names: &Names<'_>, each: &MethodAccess) -> ListedAccess {
    let (variables, accesses) = sides(names, each);
    let correlation = &names.analysis.correlations[each.access.correlation as usize];
    let patterns = correlation.patterns.iter().map(|pattern| pattern.word()).collect();
    let endangered = each.access.endangered;
    ListedAccess { method: names.method(each.method), variables, accesses, patterns, endangered }
}

fn access_data<S>(names: &Names<'_>, each: &MethodAccess, decision: Decision<S>) -> AccessData<S> {
    let (variables, accesses) = sides(names, each);
    let by = decision.by.iter().map(|&function| names.method(function)).collect();
    AccessData { of: *each, method: names.method(each.method), variables, accesses, decision, by }
}
