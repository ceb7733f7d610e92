//! What executions show of the endangered accesses of all selected pairs.
//!
//! In: a program, what the analysis of its correlations has found, and bounds, which hold for all searches together. Out:
//! [`Tears`]: for each selected pair the program in which it was executed, and for each of its endangered accesses an
//! execution that tears it, or why there is none. A program with a `main` is executed as it is; for two methods of a
//! file without one, contexts are made ([`crate::harness::contexts`]), and a search that finds nothing in them proves nothing.

use super::load::name_of;
use crate::budget::{Bound, Budget, Limits, Statistics};
use crate::correlation::{Analysis, Decision, MethodAccess, Pair, Status};
use crate::explore::{self, Tear, Watch};
use crate::front::csm::syntax;
use crate::harness::{Context, contexts};
use crate::ir::Program;
use crate::model::{Model, NoMain, Options, Unit};
use crate::schedule::Step;
use crate::source::SourceMap;
use crate::vm::Choice;
use std::path::Path;

/// States of one context at most: there are many of them.
const CONTEXT_STATES: u64 = 100_000;

/// A program in which pairs are executed.
#[derive(Debug)]
pub(super) struct Setting {
    pub prepared: Model,
    /// The `main` that was added to the file.
    pub added: Option<String>,
}

/// What is known of an endangered access.
#[derive(Debug)]
pub(super) enum Verdict {
    /// This execution tears it.
    Confirmed(Vec<Choice>),
    /// No execution does.
    Refuted,
    /// It is not known, for that reason.
    Open(String),
    /// Its share of the states did not do; it is tried at random, and searched again with what the others have left.
    Postponed(Watch),
}

/// What is known of a pair.
#[derive(Debug)]
pub(super) struct PairTears {
    /// Index of the pair in the analysis.
    pub pair: usize,
    /// Index of the program in which it was executed.
    pub setting: Option<usize>,
    pub accesses: Vec<(MethodAccess, Verdict)>,
}

/// What is known of all selected pairs.
#[derive(Debug, Default)]
pub(super) struct Tears {
    /// A program with a `main` is the first one, and the only one.
    pub settings: Vec<Setting>,
    pub pairs: Vec<PairTears>,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    /// States of all searches.
    pub states: u64,
}

/// What is asked for.
pub(super) struct Question<'a> {
    pub path: &'a Path,
    pub options: &'a Options,
    pub analysis: &'a Analysis,
    /// Pairs of a higher rank are selected.
    pub rank: f64,
    pub budget: &'a Budget<'a>,
}

/// Executes the selected pairs. The program is handed back where it was not needed.
pub(super) fn find(question: &Question<'_>, unit: Unit) -> (Tears, Option<Unit>) {
    let selected: Vec<usize> = (0..question.analysis.pairs.len())
        .filter(|&index| {
            let pair = &question.analysis.pairs[index];
            pair.endangered > 0 && pair.rank() > question.rank
        })
        .collect();
    if selected.is_empty() {
        return (Tears::default(), Some(unit));
    }
    let mut search = Search { question, budget: *question.budget, tears: Tears::default() };
    let loaded = match Model::new(unit, question.options.clone()) {
        Ok(model) => {
            search.program(model, &selected);
            return (search.tears, None);
        }
        Err(NoMain(unit)) => unit,
    };
    let parsed = syntax::parse(&loaded.sources, loaded.file).program;
    for index in selected {
        search.library(&loaded, &parsed, index);
    }
    (search.tears, Some(loaded))
}

struct Search<'a> {
    question: &'a Question<'a>,
    /// What is left of it.
    budget: Budget<'a>,
    tears: Tears,
}

impl Search<'_> {
    /// Gives each access an equal share of the states first, so that a hard one does not use up what easy ones need.
    fn program(&mut self, prepared: Model, selected: &[usize]) {
        let question = self.question;
        let mut open: u64 = selected.iter().map(|&index| question.analysis.pairs[index].endangered as u64).sum();
        for &index in selected {
            let accesses = self.accesses(index, |search, watch| {
                let share = search.left().map_or(u64::MAX, |left| left / open.max(1));
                open = open.saturating_sub(1);
                search.search(&prepared, watch, share.max(1))
            });
            self.tears.pairs.push(PairTears { pair: index, setting: Some(0), accesses });
        }
        let mut pairs = std::mem::take(&mut self.tears.pairs);
        for (_, verdict) in pairs.iter_mut().flat_map(|pair| &mut pair.accesses) {
            if let Verdict::Postponed(watch) = verdict {
                let (watch, machine) = (watch.clone(), prepared.machine());
                *verdict = match explore::tear_at_random(machine, prepared.program(), &watch, &self.budget) {
                    Some(schedule) => Verdict::Confirmed(schedule),
                    None => self.search(&prepared, &watch, u64::MAX),
                };
            }
        }
        self.tears.pairs = pairs;
        self.tears.settings.push(Setting { prepared, added: None });
    }

    /// States that are left of the bound.
    fn left(&self) -> Option<u64> {
        self.budget.limits().max_states
    }

    /// Decides all endangered accesses of a pair.
    fn accesses(
        &mut self,
        index: usize,
        mut decide: impl FnMut(&mut Self, &Watch) -> Verdict,
    ) -> Vec<(MethodAccess, Verdict)> {
        let analysis = self.question.analysis;
        let pair = &analysis.pairs[index];
        let endangered = pair.accesses.iter().filter(|each| each.access.endangered);
        endangered
            .map(|each| {
                let other = other_of(pair, each);
                let verdict = match Watch::new(analysis, each, other) {
                    Some(watch) => decide(self, &watch),
                    None => Verdict::Open("one of the two is private to a thread, and is not watched".to_owned()),
                };
                (*each, verdict)
            })
            .collect()
    }

    fn search(&mut self, prepared: &Model, watch: &Watch, at_most: u64) -> Verdict {
        if self.left() == Some(0) {
            self.tears.bound = Some(Bound::States);
            return open(Bound::States);
        }
        let share = self.budget.share(Limits { max_states: Some(at_most), ..Limits::default() });
        let answer = explore::tear(prepared.machine(), prepared.program(), watch, &share);
        self.tears.states += answer.statistics.states;
        self.budget.spend(&Statistics { states: answer.statistics.states, ..Statistics::default() });
        match answer.tear {
            Tear::Found { schedule } => Verdict::Confirmed(schedule),
            Tear::Impossible => Verdict::Refuted,
            Tear::Undecided(None) => Verdict::Open("it touches too many cells at once".to_owned()),
            Tear::Undecided(Some(Bound::States)) if at_most != u64::MAX => Verdict::Postponed(watch.clone()),
            Tear::Undecided(Some(bound)) => {
                self.tears.bound = Some(bound);
                open(bound)
            }
        }
    }

    /// Runs two methods of a library in contexts, until one tears; the first of them stands for the others if none does.
    fn library(&mut self, loaded: &Unit, parsed: &syntax::ast::Program, index: usize) {
        let pair = &self.question.analysis.pairs[index];
        let text = loaded.text();
        let span = |function| loaded.program.functions[function].span;
        let made = contexts(text, parsed, [span(pair.methods.0), span(pair.methods.1)]);
        let made = match made {
            Ok(made) => made,
            Err(reason) => {
                let accesses = self.accesses(index, |_, _| Verdict::Open(reason.to_owned()));
                self.tears.pairs.push(PairTears { pair: index, setting: None, accesses });
                return;
            }
        };
        let mut best: Option<(usize, Setting, Vec<(MethodAccess, Verdict)>)> = None;
        for context in made {
            let Some(setting) = self.setting(context) else { continue };
            let accesses = self.accesses(index, |search, watch| {
                let Some(watch) = watch.translate(&loaded.program, setting.prepared.program()) else {
                    return Verdict::Open("the methods are not in the context".to_owned());
                };
                match search.search(&setting.prepared, &watch, CONTEXT_STATES) {
                    Verdict::Refuted => Verdict::Open("no execution of the context tears it".to_owned()),
                    Verdict::Postponed(_) if search.left() == Some(0) => {
                        search.tears.bound = Some(Bound::States);
                        open(Bound::States)
                    }
                    Verdict::Postponed(_) => {
                        Verdict::Open(format!("the context has more than {CONTEXT_STATES} states"))
                    }
                    verdict => verdict,
                }
            });
            let confirmed = accesses.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Confirmed(_))).count();
            let all = confirmed == accesses.len();
            if best.as_ref().is_none_or(|best| confirmed > best.0) {
                best = Some((confirmed, setting, accesses));
            }
            if all || self.tears.bound == Some(Bound::Interrupt) {
                break;
            }
        }
        match best {
            Some((_, setting, accesses)) => {
                self.tears.pairs.push(PairTears { pair: index, setting: Some(self.tears.settings.len()), accesses });
                self.tears.settings.push(setting);
            }
            None => {
                let accesses = self.accesses(index, |_, _| Verdict::Open("no context compiles".to_owned()));
                self.tears.pairs.push(PairTears { pair: index, setting: None, accesses });
            }
        }
    }

    fn setting(&self, context: Context) -> Option<Setting> {
        let prepared = Model::from_text(&name_of(self.question.path), &context.text, self.question.options).ok()?;
        Some(Setting { prepared, added: Some(context.main) })
    }
}

fn open(bound: Bound) -> Verdict {
    Verdict::Open(format!("the bound {} was hit before", bound.name()))
}

/// The method that may come between.
pub(super) fn other_of(pair: &Pair, each: &MethodAccess) -> crate::ir::FunctionId {
    if pair.methods.0 == each.method { pair.methods.1 } else { pair.methods.0 }
}

impl Tears {
    /// What is known of a pair.
    pub(super) fn of_pair(&self, pair: usize) -> Option<&PairTears> {
        let place = self.pairs.binary_search_by_key(&pair, |each| each.pair).ok()?;
        self.pairs.get(place)
    }

    /// The program in which a pair was executed.
    pub(super) fn setting_of(&self, pair: usize) -> Option<&Setting> {
        self.settings.get(self.of_pair(pair)?.setting?)
    }

    /// Why a pair was not executed.
    pub(super) fn reason(&self, pair: usize) -> Option<&str> {
        self.of_pair(pair)?.accesses.iter().find_map(|(_, verdict)| match verdict {
            Verdict::Open(reason) => Some(reason.as_str()),
            Verdict::Confirmed(_) | Verdict::Refuted | Verdict::Postponed(_) => None,
        })
    }

    /// The choices of an execution that a report shows by its steps.
    pub(super) fn schedule_of(&self, pair: usize, steps: &[Step]) -> Option<&[Choice]> {
        let naming = self.setting_of(pair)?.prepared.naming();
        let all = self.of_pair(pair)?.accesses.iter().filter_map(|(_, verdict)| match verdict {
            Verdict::Confirmed(schedule) => Some(schedule.as_slice()),
            Verdict::Refuted | Verdict::Open(_) | Verdict::Postponed(_) => None,
        });
        all.into_iter().find(|schedule| naming.steps(schedule) == steps)
    }

    /// What a report says of an access.
    pub(super) fn decision(&self, pair: usize, each: &MethodAccess) -> Decision<Vec<Step>> {
        let Some(of) = self.of_pair(pair) else {
            return Decision::potential("the rank of the pair is not above the threshold");
        };
        match of.accesses.iter().find(|(access, _)| access == each) {
            Some((_, Verdict::Confirmed(schedule))) => {
                let steps = self.setting_of(pair).map(|setting| setting.prepared.naming().steps(schedule));
                Decision { status: Status::Confirmed, reason: None, schedule: steps }
            }
            Some((_, Verdict::Refuted)) => Decision { status: Status::Refuted, reason: None, schedule: None },
            Some((_, Verdict::Open(reason))) => Decision::potential(reason.clone()),
            Some((_, Verdict::Postponed(_))) | None => Decision::potential("it was not executed"),
        }
    }
}

/// What is known where nothing is executed.
pub(super) fn not_executed() -> Decision<Vec<Step>> {
    Decision::potential("nothing was executed")
}

/// The text and the program of a question: they were handed back, or stand in the first setting.
pub(super) fn program<'a>(tears: &'a Tears, loaded: Option<&'a Unit>) -> (&'a SourceMap, &'a Program) {
    let loaded = loaded.unwrap_or_else(|| tears.settings[0].prepared.unit());
    (&loaded.sources, &loaded.program)
}
