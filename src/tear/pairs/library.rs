//! Executes the pairs of a file without `main`, in contexts that are made for them.
//!
//! **Input**: the selected pairs of a file. **Output**: the result for each endangered access, the contexts that represent the
//! pairs, and the failures of the pairs.
//!
//! **Algorithm**: the contexts of a pair begin with freshly made objects, with several choices of arguments. Further contexts
//! begin in each state that a short sequence of calls reaches ([`super::reached`]), and with calls that are repeated up to a
//! number of the file. They are searched in this order until one tears all accesses. The first context with the most tears
//! represents the pair. A failure or a deadlock in a context counts for the pair if the two calls do not end in the same way one
//! after the other; otherwise the context breaks a rule of use.
//!
//! **Soundness and limits**: at most [`MAX_CONTEXTS`] contexts, each with at most [`CONTEXT_STATES`] states. No tear is refuted.

use super::executed::{AccessVerdict, ContextModel, ExecutedPair, PairEnd, TearWitness};
use super::reached::{sequences, serial_ends};
use super::search::{Search, Searched, stopped};
use super::watch::Watch;
use crate::TearPattern;
use cssame_budget::{Bound, Limits, Statistics};
use cssame_correlation::{MethodAccess, index_parameters};
use cssame_explore::futures;
use cssame_explore::{OutcomeStatus, Query};
use cssame_harness::{Methods, PairContexts};
use cssame_ir::{FunctionId, FunctionKind};
use cssame_model::{Model, Options, Unit};
use cssame_schedule::ExecutionStatus;
use fixedbitset::FixedBitSet;

/// Contexts of two methods at most.
const MAX_CONTEXTS: usize = 48;

/// States of one context at most: there are many of them.
const CONTEXT_STATES: u64 = 100_000;

/// Contexts of a pair in which its ends are looked for, at most, and states of each.
const MAX_ENDED: usize = 12;
const ENDED_STATES: u64 = 20_000;

/// What is said of an access that a context does not tear.
const NOT_TORN: &str = "no execution of the context tears it";

type Verdicts = Vec<(MethodAccess, AccessVerdict)>;

/// Decides the endangered accesses of the selected pairs as far as contexts tell, and gives the contexts that stand for them.
pub(super) fn execute(
    search: &mut Search<'_>,
    unit: &Unit,
    options: &Options,
    selected: &[usize],
) -> (Vec<ContextModel>, Vec<ExecutedPair>) {
    let methods = Methods::new(&unit.sources, unit.file);
    let mut library = Library { unit, options, indices: index_parameters(&unit.program), settings: Vec::new() };
    let pairs = selected.iter().map(|&index| library.pair(search, &methods, index)).collect();
    (library.settings, pairs)
}

struct Library<'a> {
    unit: &'a Unit,
    options: &'a Options,
    /// Of each function, the parameters that are used as an index.
    indices: Vec<FixedBitSet>,
    settings: Vec<ContextModel>,
}

/// What comes before the two calls, and which arguments these have.
type Setup = (Vec<String>, usize);

impl Library<'_> {
    /// Runs two methods in contexts, until one tears all; the first of those that tear the most stands for the others.
    fn pair(&mut self, search: &mut Search<'_>, methods: &Methods<'_>, index: usize) -> ExecutedPair {
        let (first, second) = search.analysis.pairs[index].methods;
        let spans = [first, second].map(|function| self.unit.program.functions[function].span);
        let contexts = match methods.contexts(spans) {
            Ok(contexts) => contexts.with_indices([first, second].map(|function| self.index_arguments(function))),
            Err(reason) => return not_executed(search, index, reason),
        };
        let setups = self.setups(search, &contexts);
        let mut best: Option<(usize, ContextModel, Verdicts)> = None;
        let mut tried = 0;
        for (before, choice) in &setups {
            if search.is_over() {
                break;
            }
            let Some(context) = self.compile(&contexts, before, *choice) else { continue };
            tried += 1;
            let accesses = self.accesses(search, &context.model, index);
            let confirmed = accesses.iter().filter(|(_, verdict)| verdict.schedule().is_some()).count();
            let decided =
                |verdict: &AccessVerdict| verdict.schedule().is_some() || matches!(verdict, AccessVerdict::Refuted);
            let all = accesses.iter().all(|(_, verdict)| decided(verdict));
            if best.as_ref().is_none_or(|best| confirmed > best.0) {
                best = Some((confirmed, context, accesses));
            }
            if all {
                break;
            }
        }
        let Some((_, context, mut accesses)) = best else {
            let reason = search.budget.check().map_or_else(|| "no context compiles".to_owned(), stopped);
            return not_executed(search, index, &reason);
        };
        for (_, verdict) in &mut accesses {
            if matches!(verdict, AccessVerdict::Open(reason) if reason == NOT_TORN) {
                *verdict = AccessVerdict::Open(format!("{NOT_TORN}, which tears the most of {tried} that were tried"));
            }
        }
        let ends = self.ends(search, &contexts, &setups);
        self.settings.push(context);
        ExecutedPair { pair: index, setting: Some(self.settings.len() - 1), accesses, ends }
    }

    /// Which arguments of a method are used as an index.
    fn index_arguments(&self, function: FunctionId) -> Vec<bool> {
        let parameters = &self.unit.program.functions[function].parameters;
        // The object of a method is no argument.
        let own = usize::from(matches!(self.unit.program.functions[function].kind, FunctionKind::Method { .. }));
        let used = self.indices.get(function.index());
        (own..parameters.len()).map(|position| used.is_some_and(|used| used.contains(position))).collect()
    }

    /// All setups of a pair, without two that are the same program.
    fn setups(&self, search: &Search<'_>, contexts: &PairContexts<'_>) -> Vec<Setup> {
        let sequences = sequences(contexts, (self.unit.name(), self.options), &search.budget);
        let (short, long): (Vec<_>, Vec<_>) = sequences.into_iter().partition(|lines| lines.len() <= 1);
        let elements = contexts.element_choices();
        let plain = (0..PairContexts::CHOICES).chain(elements.clone()).map(|choice| (Vec::new(), choice));
        let short = interleave(short.into_iter().skip(1).collect(), contexts.repeated_calls());
        let reached = short.into_iter().chain(long).flat_map(|lines| {
            let choices = [0, 1].into_iter().chain(elements.clone().take(1));
            choices.map(move |choice| (lines.clone(), choice))
        });
        let (mut setups, mut known): (Vec<Setup>, Vec<String>) = (Vec::new(), Vec::new());
        for setup in plain.chain(reached) {
            let main = contexts.parallel(&setup.0, setup.1).main;
            if setups.len() < MAX_CONTEXTS && !known.contains(&main) {
                known.push(main);
                setups.push(setup);
            }
        }
        setups
    }

    /// How the two calls fail or block in contexts, where they do not so one after the other.
    fn ends(&mut self, search: &mut Search<'_>, contexts: &PairContexts<'_>, setups: &[Setup]) -> Vec<PairEnd> {
        let mut ends: Vec<PairEnd> = Vec::new();
        let mut known: Vec<(&'static str, Option<u32>)> = Vec::new();
        for (before, choice) in setups.iter().take(MAX_ENDED) {
            if search.left() == Some(0) || search.is_over() {
                break;
            }
            let Some(context) = self.compile(contexts, before, *choice) else { continue };
            let serial = serial_ends(contexts, (before, *choice), (self.unit.name(), self.options));
            let share = search.budget.share(Limits { max_states: Some(ENDED_STATES), ..Limits::default() });
            let answer = futures(context.model.machine(), &Query::default(), &share);
            let states = answer.statistics.states;
            search.states += states;
            search.budget.spend(&Statistics { states, ..Statistics::default() });
            let mut setting = None;
            for outcome in &answer.outcomes {
                let of_pair = match (outcome.status, outcome.failure) {
                    (OutcomeStatus::Deadlock, _) => {
                        serial.len() == 2 && serial.iter().all(|end| *end != ExecutionStatus::Deadlock)
                    }
                    (OutcomeStatus::Failed(_), Some(failure)) => {
                        let same = |end: &ExecutionStatus| matches!(end, ExecutionStatus::Failed(other) if other.kind == failure.kind);
                        serial.len() == 2 && !serial.iter().any(same)
                    }
                    _ => false,
                };
                let line = outcome
                    .failure
                    .map(|failure| context.model.sources().line(context.model.machine().span(failure.at)));
                let key = (outcome.status.word(), line);
                let Some(schedule) = outcome.schedule.clone().filter(|_| of_pair && !known.contains(&key)) else {
                    continue;
                };
                known.push(key);
                let setting = *setting.get_or_insert(self.settings.len());
                ends.push(PairEnd { setting, failure: outcome.failure, schedule });
            }
            if setting.is_some() {
                self.settings.push(context);
            }
        }
        ends
    }

    fn compile(&self, contexts: &PairContexts<'_>, before: &[String], choice: usize) -> Option<ContextModel> {
        let context = contexts.parallel(before, choice);
        let model = Model::from_text(self.unit.name(), &context.text, self.options).ok()?;
        Some(ContextModel { model, main: context.main })
    }

    fn accesses(&self, search: &mut Search<'_>, model: &Model, index: usize) -> Verdicts {
        let watches = search.watches(index).into_iter();
        let mut verdict = |watch: Watch| match watch {
            Watch::Tear(pattern) => self.access(search, model, &pattern),
            Watch::Stale(patterns) => {
                let mut known = AccessVerdict::Refuted;
                for pattern in &patterns {
                    if known.schedule().is_none() {
                        known = self.access(search, model, pattern);
                    }
                }
                known
            }
        };
        watches.map(|(access, watch)| (access, verdict(watch))).collect()
    }

    fn access(&self, search: &mut Search<'_>, model: &Model, watch: &TearPattern) -> AccessVerdict {
        let other = watch.other.named().unwrap_or(watch.method);
        let Some(watch) = watch.translate(&self.unit.program, model.program()) else {
            return AccessVerdict::Open("the methods are not in the context".to_owned());
        };
        match search.search(model, &watch, CONTEXT_STATES) {
            Searched::Torn(schedule) => AccessVerdict::Confirmed(TearWitness { schedule, by: vec![other] }),
            Searched::Impossible => AccessVerdict::Open(NOT_TORN.to_owned()),
            Searched::Open(reason) => AccessVerdict::Open(reason),
            Searched::ShareUsedUp if search.left() == Some(0) => {
                search.bound = Some(Bound::States);
                AccessVerdict::Open(stopped(Bound::States))
            }
            Searched::ShareUsedUp => AccessVerdict::Open(format!("the context has more than {CONTEXT_STATES} states")),
        }
    }
}

fn not_executed(search: &Search<'_>, index: usize, reason: &str) -> ExecutedPair {
    let open = |(access, watch): (MethodAccess, Watch)| match watch {
        Watch::Stale(patterns) if patterns.is_empty() => (access, AccessVerdict::Refuted),
        _ => (access, AccessVerdict::Open(reason.to_owned())),
    };
    ExecutedPair {
        pair: index,
        setting: None,
        ends: Vec::new(),
        accesses: search.watches(index).into_iter().map(open).collect(),
    }
}

/// One of each in turn, so that both come in where there are many.
fn interleave<T>(first: Vec<T>, second: Vec<T>) -> Vec<T> {
    let mut all = Vec::new();
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        let next = [first.next(), second.next()];
        if next.iter().all(Option::is_none) {
            return all;
        }
        all.extend(next.into_iter().flatten());
    }
}
