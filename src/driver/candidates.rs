//! Executions that tests of terms may follow.
//!
//! **Input**: the findings of an exploration, and a budget. **Output**: executions ([`Executions`]).
//!
//! **Algorithm**.
//! 1. Take the schedules of terms and outcomes that the exploration has kept.
//! 2. Take one execution of each future, if these are few ([`executions`]). Then any choice is exact.
//! 3. Otherwise, consider each term without a known execution that differs from the initial picture only in the term. Make a few
//!    random executions that follow the term, and for each other read the only definition that reaches it by control flow
//!    ([`Steered`]).
//! 4. If this fails, search for such an execution as for a selection. If the terms contradict each other, remove one term of the
//!    contradiction, and repeat this some times.
//!
//! **Soundness and limits**: all executions are real. Steps 2 to 4 have small separate budgets, so that they cost little compared
//! with the exploration. If these are used up, fewer executions are known.

use super::Input;
use super::executions::Executions;
use super::witnesses::{InitialPicture, Witness, choose};
use cssame_budget::{Budget, Limits};
use cssame_explore::{Answer, Subject, Verdict, executions};
use cssame_form::Selection;
use cssame_ir::{DefinitionId, ReadId};
use cssame_schedule as schedule;
use cssame_schedule::{AbstractSchedule, Constraint, Random, Steered};
use cssame_vm::Choice;

/// Steps of all executions together: what they show is kept.
const MAX_STEPS: usize = 1_000_000;

/// Futures of which an execution is kept.
const FUTURES: usize = 2_000;

/// The same where one that ends well is looked for.
const FEW: usize = 100;

/// States that are visited to find them, and what that may cost: a fraction of a second.
const OF_FUTURES: Limits = Limits {
    max_states: Some(30_000),
    max_steps: None,
    max_executions: Some(10_000),
    max_work: Some(600_000),
    max_memory: None,
};

/// The same for all selections together, and for one.
const OF_SELECTIONS: Limits = Limits { max_states: Some(100_000), max_executions: Some(100_000), ..OF_FUTURES };
const OF_SELECTION: Limits = Limits { max_states: Some(5_000), max_executions: Some(5_000), ..OF_FUTURES };

/// Selections that are left out one after the other where they contradict each other.
const LEFT_OUT: usize = 8;

/// Pi functions beyond which selections are not asked for: each is a part of every state.
const SELECTED: usize = 100;

/// How often it is asked at most.
const ASKED: usize = 200;

/// Terms for which executions are steered, how many for each, of how many steps, and for how many steps of others a thread is held back.
const STEERED: usize = 500;
const TRIALS: u64 = 6;
const TRIAL_STEPS: u64 = 5_000;
const HELD: u32 = 300;

/// Collects executions for terms that can happen; says whether they are one of each future.
pub(super) fn collect(
    found: &mut Executions<'_>,
    (input, answer): (&Input<'_>, &Answer),
    (picture, terms): (&InitialPicture, &[(ReadId, DefinitionId)]),
    budget: &Budget<'_>,
) -> bool {
    let of_terms = terms.iter().filter_map(|&(read, definition)| answer.term(read, definition)?.schedule.as_deref());
    let of_outcomes = answer.outcomes.iter().filter_map(|outcome| outcome.schedule.as_deref());
    add_all(found, of_terms.chain(of_outcomes));
    if terms.is_empty() || answer.bound.is_some() {
        return false;
    }
    let futures = executions(input.machine, FUTURES, &budget.share(OF_FUTURES).quiet());
    let is_complete = add_all(found, futures.schedules.iter().map(Vec::as_slice)) && futures.is_complete();
    if !is_complete {
        let mut reads: Vec<ReadId> = terms.iter().map(|&(read, _)| read).collect();
        reads.dedup();
        let search = Search { input, picture, terms, reads };
        if search.reads.len() <= SELECTED {
            search.steer(found);
            search.ask(found, budget);
        }
    }
    is_complete
}

/// Executions of a few futures.
pub(super) fn few_futures(input: &Input<'_>, budget: &Budget<'_>) -> Vec<Vec<Choice>> {
    executions(input.machine, FEW, &budget.share(OF_FUTURES).quiet()).schedules
}

/// Adds schedules as long as there is room; says whether there was room for all.
fn add_all<'s>(found: &mut Executions<'_>, mut schedules: impl Iterator<Item = &'s [Choice]>) -> bool {
    schedules.all(|schedule| {
        let has_room = found.steps < MAX_STEPS;
        if has_room {
            found.add(schedule);
        }
        has_room
    })
}

/// What is looked for: executions that differ from the initial picture in one term alone.
struct Search<'a, 'b> {
    input: &'a Input<'b>,
    picture: &'a InitialPicture,
    terms: &'a [(ReadId, DefinitionId)],
    reads: Vec<ReadId>,
}

impl Search<'_, '_> {
    /// The terms of which no such execution is known.
    fn open(&self, found: &Executions<'_>) -> Vec<(ReadId, DefinitionId)> {
        let known = choose(found, self.picture, self.terms);
        let is_open =
            |known: &Option<Witness>| known.is_none_or(|known| known.differences > 0 || known.instance.is_some());
        let open = self.terms.iter().zip(known).filter(|(_, known)| is_open(known)).map(|(&term, _)| term);
        open.filter(|&(read, definition)| !self.picture.has(read, definition)).collect()
    }

    /// The selections of an execution that is looked for, that of the term first.
    fn selections(&self, (read, definition): (ReadId, DefinitionId)) -> Vec<Selection> {
        let others = self.reads.iter().filter(|&&other| other != read);
        let others = others.filter_map(|&other| Some((other, self.picture.only(other)?)));
        let all = [(read, definition)].into_iter().chain(others);
        all.map(|(read, definition)| Selection::of(read, definition)).collect()
    }

    /// Executes the program, held to what is looked for.
    fn steer(&self, found: &mut Executions<'_>) {
        for term in self.open(found).into_iter().take(STEERED) {
            let wanted = self.selections(term).into_iter();
            let wanted = wanted.map(|of| Constraint { read: of.read(), definition: of.definition(), wanted: true });
            let unwanted = self.terms.iter().filter(|of| of.0 == term.0 && of.1 != term.1);
            let unwanted = unwanted.map(|&(read, definition)| Constraint { read, definition, wanted: false });
            let schedule = AbstractSchedule::new(&wanted.chain(unwanted).collect::<Vec<_>>());
            for seed in 0..TRIALS {
                if found.steps >= MAX_STEPS {
                    return;
                }
                let mut policy = Steered::new(Random::new(seed), &schedule, HELD);
                let execution = schedule::run(self.input.machine, &mut policy, TRIAL_STEPS, &mut ());
                found.add(&execution.steps);
            }
        }
    }

    /// Decides whether there is such an execution.
    fn ask(&self, found: &mut Executions<'_>, budget: &Budget<'_>) {
        let Input { program, form, machine, .. } = *self.input;
        let subject = Subject { program, form: Some(form), machine };
        let (mut budget, mut asked) = (budget.share(OF_SELECTIONS).quiet(), 0);
        for term in self.open(found) {
            let mut selections = self.selections(term);
            for _ in 0..=LEFT_OUT {
                let Limits { max_states, max_executions, .. } = *budget.limits();
                if max_states == Some(0) || max_executions == Some(0) || asked >= ASKED || found.steps >= MAX_STEPS {
                    return;
                }
                asked += 1;
                let answer = subject.select(&selections, &budget.share(OF_SELECTION));
                budget.spend(&answer.statistics);
                let Verdict::Inconsistent { core } = answer.verdict else {
                    if let Verdict::Consistent { schedule, .. } = answer.verdict {
                        found.add(&schedule);
                    }
                    break;
                };
                // The term itself stands first, and stays.
                let Some(last) = core.into_iter().max().filter(|&last| last > 0) else { break };
                selections.remove(last);
            }
        }
    }
}
