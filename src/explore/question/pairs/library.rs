//! Executes the pairs of a file without `main`, in contexts that are made for them.

use super::executed::{AccessVerdict, ContextModel, ExecutedPair, TearWitness};
use super::search::{Search, Searched, private, stopped};
use crate::budget::Bound;
use crate::correlation::MethodAccess;
use crate::explore::question::tear::TearPattern;
use crate::harness::{Context, Methods};
use crate::model::{Model, Options, Unit};

/// States of one context at most: there are many of them.
const CONTEXT_STATES: u64 = 100_000;

type Verdicts = Vec<(MethodAccess, AccessVerdict)>;

/// Decides the endangered accesses of the selected pairs as far as contexts tell, and gives the contexts that stand for them.
pub(super) fn execute(
    search: &mut Search<'_>,
    unit: &Unit,
    options: &Options,
    selected: &[usize],
) -> (Vec<ContextModel>, Vec<ExecutedPair>) {
    let methods = Methods::new(&unit.sources, unit.file);
    let mut library = Library { unit, options, settings: Vec::new() };
    let pairs = selected.iter().map(|&index| library.pair(search, &methods, index)).collect();
    (library.settings, pairs)
}

struct Library<'a> {
    unit: &'a Unit,
    options: &'a Options,
    settings: Vec<ContextModel>,
}

impl Library<'_> {
    /// Runs two methods in contexts, until one tears all; the first of those that tear the most stands for the others.
    fn pair(&mut self, search: &mut Search<'_>, methods: &Methods<'_>, index: usize) -> ExecutedPair {
        let (first, second) = search.analysis.pairs[index].methods;
        let spans = [first, second].map(|function| self.unit.program.functions[function].span);
        let made = match methods.contexts(spans) {
            Ok(made) => made,
            Err(reason) => return not_executed(search, index, reason),
        };
        let mut best: Option<(usize, ContextModel, Verdicts)> = None;
        for context in made {
            let Some(context) = self.compile(context) else { continue };
            let accesses = self.accesses(search, &context.model, index);
            let confirmed = accesses.iter().filter(|(_, verdict)| verdict.schedule().is_some()).count();
            let all = confirmed == accesses.len();
            if best.as_ref().is_none_or(|best| confirmed > best.0) {
                best = Some((confirmed, context, accesses));
            }
            if all || search.bound == Some(Bound::Interrupt) {
                break;
            }
        }
        let Some((_, context, accesses)) = best else { return not_executed(search, index, "no context compiles") };
        self.settings.push(context);
        ExecutedPair { pair: index, setting: Some(self.settings.len() - 1), accesses }
    }

    fn compile(&self, Context { text, main }: Context) -> Option<ContextModel> {
        let model = Model::from_text(self.unit.name(), &text, self.options).ok()?;
        Some(ContextModel { model, main })
    }

    fn accesses(&self, search: &mut Search<'_>, model: &Model, index: usize) -> Verdicts {
        let watches = search.watches(index).into_iter();
        let mut verdict =
            |watch: Option<TearPattern>| watch.map_or_else(private, |watch| self.access(search, model, &watch));
        watches.map(|(access, watch)| (access, verdict(watch))).collect()
    }

    fn access(&self, search: &mut Search<'_>, model: &Model, watch: &TearPattern) -> AccessVerdict {
        let other = watch.other.named().unwrap_or(watch.method);
        let Some(watch) = watch.translate(&self.unit.program, model.program()) else {
            return AccessVerdict::Open("the methods are not in the context".to_owned());
        };
        match search.search(model, &watch, CONTEXT_STATES) {
            Searched::Torn(schedule) => AccessVerdict::Confirmed(TearWitness { schedule, by: vec![other] }),
            Searched::Impossible => AccessVerdict::Open("no execution of the context tears it".to_owned()),
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
    let open = |(access, watch): (MethodAccess, Option<TearPattern>)| {
        (access, watch.map_or_else(private, |_| AccessVerdict::Open(reason.to_owned())))
    };
    ExecutedPair { pair: index, setting: None, accesses: search.watches(index).into_iter().map(open).collect() }
}
