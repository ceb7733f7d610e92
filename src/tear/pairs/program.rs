//! Executes the pairs of a program with a `main`.
//!
//! **Input**: the selected pairs and the program. **Output**: the result for each endangered access, pair by pair.
//!
//! **Algorithm**: an access is first decided by itself, with any threads in between ([`Other::Anyone`]): if no execution tears
//! it, it is refuted in all pairs. Otherwise each pair is decided: one activation of its other method tears the access, or the
//! other method takes part in a tear. A known execution is tried before a search. Each search first gets an equal share of the
//! states. Searches that need more are tried at random, and then repeated with the states that the others have left.

use super::executed::{AccessVerdict, ExecutedPair, TearWitness};
use super::search::{Search, Searched};
use super::watch::{Watch, other_of};
use crate::{Other, TearPattern, parties, tear_at_random};
use cssame_correlation::MethodAccess;
use cssame_ir::FunctionId;
use cssame_model::Model;
use cssame_vm::Choice;

/// Decides all endangered accesses of the selected pairs.
pub(super) fn execute(search: &mut Search<'_>, model: &Model, selected: &[usize]) -> Vec<ExecutedPair> {
    let mut questions = Questions::new(search, selected);
    let open = questions.accesses.len() + questions.accesses.iter().map(|access| access.pairs.len()).sum::<usize>();
    let open = open + questions.stale.iter().map(|question| question.patterns.len()).sum::<usize>();
    let mut decider = Decider { search, model, open: open as u64, last: false };
    questions.ask(&mut decider);
    // What needs more than its share comes after all others.
    decider.last = true;
    questions.ask(&mut decider);
    questions.enter_stale();
    questions.pairs
}

/// An endangered access, in all pairs.
struct Question {
    pattern: TearPattern,
    each: MethodAccess,
    /// Whether it is torn by anyone, once that is known.
    anyone: Option<Answer>,
    /// The pairs for which it is open, by their place in the list, with their other methods.
    pairs: Vec<(usize, FunctionId)>,
}

/// What is known of a tear.
#[derive(Clone)]
enum Answer {
    Torn(Vec<Choice>),
    Impossible,
    Open(String),
}

/// An endangered access to a local, in one pair.
struct StaleQuestion {
    place: usize,
    each: MethodAccess,
    /// What is asked, one after the other.
    patterns: Vec<TearPattern>,
    decided: Option<Answer>,
}

struct Questions {
    accesses: Vec<Question>,
    stale: Vec<StaleQuestion>,
    pairs: Vec<ExecutedPair>,
}

impl Questions {
    fn new(search: &Search<'_>, selected: &[usize]) -> Questions {
        let mut accesses: Vec<Question> = Vec::new();
        let mut pairs: Vec<ExecutedPair> = Vec::new();
        let mut stale: Vec<StaleQuestion> = Vec::new();
        for &pair in selected {
            let mut of_pair = ExecutedPair { pair, setting: Some(0), accesses: Vec::new(), ends: Vec::new() };
            for (each, watch) in search.watches(pair) {
                of_pair.accesses.push((each, AccessVerdict::Open("it was not executed".to_owned())));
                let pattern = match watch {
                    Watch::Tear(pattern) => pattern.by(Other::Anyone),
                    Watch::Stale(patterns) => {
                        stale.push(StaleQuestion { place: pairs.len(), each, patterns, decided: None });
                        continue;
                    }
                };
                let asked = (pairs.len(), other_of(&search.analysis.pairs[pair], &each));
                match accesses.iter_mut().find(|known| known.each == each) {
                    Some(known) => known.pairs.push(asked),
                    None => accesses.push(Question { pattern, each, anyone: None, pairs: vec![asked] }),
                }
            }
            pairs.push(of_pair);
        }
        Questions { accesses, stale, pairs }
    }

    /// Answers what can be answered.
    fn ask(&mut self, decider: &mut Decider<'_, '_>) {
        for question in self.accesses.iter_mut().filter(|question| question.anyone.is_none()) {
            question.anyone = decider.decide(&question.pattern, &[]);
        }
        for question in &mut self.accesses {
            let Some(anyone) = question.anyone.clone() else { continue };
            let (pairs, each, pattern) = (&mut self.pairs, question.each, &question.pattern);
            question.pairs.retain(|&(place, other)| {
                let verdict = match &anyone {
                    Answer::Impossible => Some(AccessVerdict::Refuted),
                    Answer::Open(reason) => Some(AccessVerdict::Open(reason.clone())),
                    Answer::Torn(schedule) => decider.pair(pattern, schedule, other),
                };
                let Some(verdict) = verdict else { return true };
                let of_pair = pairs[place].accesses.iter_mut().find(|(access, _)| *access == each);
                if let Some(entry) = of_pair {
                    entry.1 = verdict;
                }
                false
            });
        }
        for question in self.stale.iter_mut().filter(|question| question.decided.is_none()) {
            question.decided = decider.stale(&question.patterns);
        }
    }

    /// Enters what is known of locals. What is torn in another pair is not refuted.
    fn enter_stale(&mut self) {
        let torn = |each: MethodAccess| {
            let mut all = self.stale.iter().filter(|known| known.each == each);
            all.find_map(|known| match &known.decided {
                Some(Answer::Torn(schedule)) => Some((schedule.clone(), known.other())),
                _ => None,
            })
        };
        for question in &self.stale {
            let witness = |(schedule, by): (Vec<Choice>, Option<FunctionId>)| TearWitness {
                schedule,
                by: by.into_iter().collect(),
            };
            let verdict = match &question.decided {
                Some(Answer::Torn(schedule)) => AccessVerdict::Confirmed(witness((schedule.clone(), question.other()))),
                Some(Answer::Impossible) => torn(question.each)
                    .map_or(AccessVerdict::Refuted, |elsewhere| AccessVerdict::Elsewhere(witness(elsewhere))),
                Some(Answer::Open(reason)) => AccessVerdict::Open(reason.clone()),
                None => continue,
            };
            let mut accesses = self.pairs[question.place].accesses.iter_mut();
            if let Some(entry) = accesses.find(|(access, _)| *access == question.each) {
                entry.1 = verdict;
            }
        }
    }
}

impl StaleQuestion {
    /// The method that makes the value stale.
    fn other(&self) -> Option<FunctionId> {
        self.patterns.first().and_then(|pattern| pattern.other.named())
    }
}

struct Decider<'a, 'b> {
    search: &'a mut Search<'b>,
    model: &'a Model,
    /// Searches that are still to come.
    open: u64,
    /// Whether searches may use all that is left.
    last: bool,
}

impl Decider<'_, '_> {
    /// Whether there is a tear; nothing where the share of the states did not do. `known` are executions that may show it.
    fn decide(&mut self, pattern: &TearPattern, known: &[Choice]) -> Option<Answer> {
        if !self.by(pattern, known).is_empty() {
            return Some(Answer::Torn(known.to_vec()));
        }
        let share = if self.last {
            let (machine, program) = (self.model.machine(), self.model.program());
            if let Some(schedule) = tear_at_random(machine, program, pattern, &self.search.budget) {
                return Some(Answer::Torn(schedule));
            }
            u64::MAX
        } else {
            let share = self.search.left().map_or(u64::MAX, |left| left / self.open.max(1));
            self.open = self.open.saturating_sub(1);
            share.max(1)
        };
        match self.search.search(self.model, pattern, share) {
            Searched::Torn(schedule) => Some(Answer::Torn(schedule)),
            Searched::Impossible => Some(Answer::Impossible),
            Searched::Open(reason) => Some(Answer::Open(reason)),
            Searched::ShareUsedUp => self.last.then(|| Answer::Open("it was not executed".to_owned())),
        }
    }

    /// Whether one of some patterns is torn; nothing where the share of the states did not do.
    fn stale(&mut self, patterns: &[TearPattern]) -> Option<Answer> {
        let mut known = Answer::Impossible;
        for pattern in patterns {
            match self.decide(pattern, &[])? {
                Answer::Torn(schedule) => return Some(Answer::Torn(schedule)),
                Answer::Open(reason) => known = Answer::Open(reason),
                Answer::Impossible => {}
            }
        }
        Some(known)
    }

    /// Who comes between in an execution, if it shows the tear.
    fn by(&self, pattern: &TearPattern, schedule: &[Choice]) -> Vec<FunctionId> {
        if schedule.is_empty() {
            return Vec::new();
        }
        parties(self.model.machine(), self.model.program(), pattern, schedule)
    }

    /// What is known of an access, which some execution tears, for a pair of which the other method is given.
    fn pair(&mut self, pattern: &TearPattern, known: &[Choice], other: FunctionId) -> Option<AccessVerdict> {
        let alone = pattern.by(Other::Method(other));
        let answer = self.decide(&alone, known)?;
        if let Answer::Torn(schedule) = answer {
            return Some(AccessVerdict::Confirmed(TearWitness { schedule, by: vec![other] }));
        }
        let with = pattern.by(Other::With(other));
        Some(match (self.decide(&with, known)?, answer) {
            (Answer::Torn(schedule), _) => {
                let by = self.by(&with, &schedule);
                AccessVerdict::Confirmed(TearWitness { schedule, by })
            }
            (Answer::Impossible, Answer::Impossible) => {
                let by = self.by(pattern, known);
                AccessVerdict::Elsewhere(TearWitness { schedule: known.to_vec(), by })
            }
            (Answer::Open(reason), _) | (_, Answer::Open(reason)) => AccessVerdict::Open(reason),
            (Answer::Impossible, Answer::Torn(_)) => return None,
        })
    }
}
