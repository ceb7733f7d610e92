//! Runs the whole method, or one of the criteria with which it is compared.
//!
//! **Input**: a program, a request, and a budget. **Output**: [`Findings`]; [`super::report`] adds names to them.
//!
//! **Soundness and limits**: everything that the tests show is real. [`Exactness`] says whether anything can be missing.

use super::algorithm::{Explored, MAX_PREDICTED, Method, StoppedBy, TestReason};
use super::analysis::Placing;
use super::complete::completed_behind;
use super::exact::{Exactness, add_missing};
use super::groups::group_in_order;
use super::guided::Script;
use super::interleaving::{Interleaving, Step};
use super::projection::Projection;
use super::prune::prune;
use super::races::Arrays;
use super::run::{Run, Session};
use super::variant_graph::VariantGraph;
use crate::classes::{self, ClassCount, ClassOptions, Counting, PairCounts};
use cssame_budget::{Bound, Budget, Limits};
use cssame_model::Model;
use cssame_schedule::{ExecutionStatus, Random};
use cssame_vm::Choice;

/// Executions and nodes in which classes are counted, to hold the tests to them.
const FEW_CLASSES: u64 = 20_000;

/// Seeds that are tried for a first execution that no assumption discards.
const FIRST_SEEDS: u64 = 1_000;

/// Which execution is the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum First {
    /// Threads in the order of the text, each as long as it can.
    #[default]
    InTurn,
    /// At random, by this seed.
    Seed(u64),
    /// These steps, and then threads in turn.
    Steps(Vec<Choice>),
}

/// What tells tests apart that are to be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// One test for each branch-affect group.
    #[default]
    RaceEquivalent,
    /// One for each class of versions.
    Reachability,
    /// One for each class of versions of each two threads.
    ThreadPairs,
}

impl Criterion {
    /// As it is asked for.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Criterion::RaceEquivalent => "race-equivalent",
            Criterion::Reachability => "reachability",
            Criterion::ThreadPairs => "tpair",
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The first execution.
    pub first: First,
    /// What tells tests apart.
    pub criterion: Criterion,
    /// How arrays race.
    pub arrays: Arrays,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// Tests at most.
    pub max_tests: u64,
    /// States that are visited to hold the method to all executions; none where it is not to be.
    pub explore: Option<u64>,
    /// Nodes of the variant graph of the first execution, at most; none where it is not asked for.
    pub graph: Option<usize>,
    /// Whether it is to be drawn.
    pub draws: bool,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            first: First::InTurn,
            criterion: Criterion::RaceEquivalent,
            arrays: Arrays::Elements,
            max_steps: 100_000,
            max_tests: 10_000,
            explore: Some(200_000),
            graph: Some(100_000),
            draws: true,
        }
    }
}

/// The variant graph of the first execution.
pub struct Graph {
    /// The graph.
    pub graph: VariantGraph,
    /// What its moves are of.
    pub projection: Projection,
    /// For each group, the variants that belong to it, both by number.
    pub groups: Vec<Vec<usize>>,
}

/// What a criterion counts.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// How many classes there are; none where they have no end, or were not all counted.
    pub classes: Option<u128>,
    /// Whether they have no end.
    pub infinite: bool,
    /// Whether they were counted without telling each from the others.
    pub upper_bound: bool,
    /// The bound that was hit.
    pub bound: Option<Bound>,
}

/// What was found.
pub struct Findings {
    /// The first execution, by name.
    pub first: First,
    /// Whether another first execution had to be taken, because an assumption discards that which was asked for.
    pub first_replaced: bool,
    /// The executions, tests and groups.
    pub explored: Explored,
    /// Executions that were made as tests and show nothing that no test shows: they are none.
    pub attempts: usize,
    /// How exact they are.
    pub exactness: Option<Exactness>,
    /// The variant graph.
    pub graph: Option<Graph>,
    /// For another criterion than race equivalence.
    pub counted: Option<Counted>,
}

/// Makes the tests of a program.
#[must_use]
pub fn find<'m>(model: &'m Model, request: &Request, budget: &Budget<'m>) -> (Session<'m>, Findings) {
    let mut session = Session::new(model, request.max_steps);
    let (first, run) = first_run(&mut session, &request.first);
    let mut method = Method::new(&mut session, run, request.max_tests, *budget);
    let (mut counted, mut exactness, mut attempts) = (None, None, 0);
    match request.criterion {
        Criterion::RaceEquivalent => {
            method.run();
            method.test_stuck_nodes();
            if let Some(states) = request.explore {
                let limits = Limits { max_states: Some(states), ..Limits::default() };
                exactness = Some(add_missing(&mut method, &budget.share(limits)));
            }
            method.decide_open();
            // No more than one test for each class of versions shows anything new: classes are counted without executions.
            if method.found.tests.len() as u128 > most_tests(&method, budget) {
                attempts = prune(model, &mut method.found, exactness.as_mut());
            }
        }
        criterion => counted = Some(by_classes(&mut method, criterion, request, budget)),
    }
    let explored = method.found;
    let graph = request.graph.map(|nodes| graph_of(model, &explored, nodes));
    let first_replaced = first != request.first;
    (session, Findings { first, first_replaced, explored, attempts, exactness, graph, counted })
}

/// The first execution, and what it is called. One that an assumption discards is no test; then seeds are tried.
fn first_run(session: &mut Session<'_>, first: &First) -> (First, Run) {
    let run = match first {
        First::InTurn => session.follow(&Script::default(), &[]),
        First::Seed(seed) => session.by_policy(Random::new(*seed)),
        First::Steps(steps) => session.repeat(steps),
    };
    if run.trace.status != ExecutionStatus::Discarded {
        return (first.clone(), run);
    }
    for seed in 0..FIRST_SEEDS {
        let other = session.by_policy(Random::new(seed));
        if other.trace.status != ExecutionStatus::Discarded {
            return (First::Seed(seed), other);
        }
    }
    (first.clone(), run)
}

/// One test for each class of versions, of the program or of each two of its threads.
fn by_classes(method: &mut Method<'_, '_>, criterion: Criterion, request: &Request, budget: &Budget<'_>) -> Counted {
    let model = method.session.model;
    let operations = &method.session.operations;
    let kept = usize::try_from(request.max_tests).unwrap_or(usize::MAX);
    let options = ClassOptions { max_representatives: kept, ..ClassOptions::default() };
    let (counted, representatives) = if criterion == Criterion::Reachability {
        let count = classes::classes(model.machine(), operations, budget, &options);
        (counted(&[&count], false), count.representatives)
    } else {
        let PairCounts { pairs, are_cut, .. } = classes::thread_pairs(model.machine(), operations, budget, &options);
        let counts: Vec<&ClassCount> = pairs.iter().map(|pair| &pair.count).collect();
        let counted = counted(&counts, are_cut);
        (counted, pairs.into_iter().flat_map(|pair| pair.count.representatives).collect())
    };
    let wanted = counted.classes.is_some_and(|classes| classes <= u128::from(request.max_tests));
    for steps in representatives.iter().take(if wanted { usize::MAX } else { 0 }) {
        if budget.check().is_some() {
            break;
        }
        let run = method.session.repeat(steps);
        method.add(run, Some(TestReason::Class));
    }
    method.found.stopped_by = counted.bound.map_or(StoppedBy::Groups, StoppedBy::Bound);
    counted
}

/// As many tests as reachability testing would make: the first execution, and one for each class of versions, where there are few.
fn most_tests(method: &Method<'_, '_>, budget: &Budget<'_>) -> u128 {
    let options = ClassOptions { max_representatives: 0, max_enumerated: FEW_CLASSES, max_counted: FEW_CLASSES };
    let count = classes::classes(method.session.model.machine(), &method.session.operations, budget, &options);
    counted(&[&count], false).classes.map_or(u128::MAX, |classes| classes.saturating_add(1))
}

fn counted(counts: &[&ClassCount], are_cut: bool) -> Counted {
    let infinite = counts.iter().any(|count| count.infinite);
    let bound = counts.iter().find_map(|count| count.bound);
    let sum = counts.iter().fold(0u128, |sum, count| sum.saturating_add(count.classes));
    Counted {
        classes: (!infinite && bound.is_none() && !are_cut).then_some(sum),
        infinite,
        upper_bound: counts.iter().any(|count| count.counting == Counting::Orders { exact: false }),
        bound: bound.or(are_cut.then_some(Bound::TooMany)),
    }
}

/// The variant graph of the first execution, and the groups that its variants belong to.
fn graph_of(model: &Model, explored: &Explored, max_nodes: usize) -> Graph {
    let known = &explored.runs[0];
    let trace = &known.run.trace;
    let projection = Projection::whole(model.program(), trace);
    let spurious = model.options().semantics.spurious_wakeups;
    let interleaving = Interleaving::new(model.program(), trace, &projection, spurious);
    let graph = VariantGraph::new(trace, &interleaving, max_nodes);
    let placing = Placing { program: model.program(), machine: model.machine() };
    let mut groups = vec![Vec::new(); explored.groups.list.len()];
    let most = MAX_CLASSIFIED.min(MAX_PREDICTED / trace.actions.len().max(1));
    for (number, variant) in graph.variants.iter().enumerate().take(most) {
        let mut way: Vec<Step> = graph.path(variant.node);
        way.push(variant.step);
        let order = completed_behind(trace, &interleaving, &way);
        for decision in known.decisions.iter().filter(|decision| decision.affected && decision.same_as.is_none()) {
            let key = group_in_order(placing, trace, decision, &order);
            if let Some(group) = explored.groups.list.get_index_of(&key) {
                groups[group].push(number);
            }
        }
    }
    Graph { graph, projection, groups }
}

/// Variants whose groups are looked up.
const MAX_CLASSIFIED: usize = 2_000;
