//! The executions that the tests of terms follow.
//!
//! **Input**: terms, and executions with their observations. **Output**: for each term one of these executions ([`Witness`]).
//!
//! **Algorithm**. In the *initial picture*, each read sees a definition that reaches it by control flow. A *difference* from it
//! is an evaluation of another pi function that sees the write of a parallel thread.
//! 1. From the executions that have a term, keep only those in which every evaluation of the read sees the definition; if there
//!    is none, keep all. From these, keep only those that end well; if there is none, keep all.
//! 2. If the definition of a term is the write of a parallel thread, keep only those with the fewest differences.
//! 3. Match terms with outcomes, so that the tests show as many outcomes as these executions can (a maximum matching by
//!    augmenting paths). Terms of step 2 come first; outcomes of few differences are tried first.
//! 4. A term without its own outcome gets the execution with the fewest differences, and among these the shortest.
//!
//! **Soundness and limits**: the choice is optimal for the given executions. If the search for augmenting paths takes too long, a
//! term gets its own outcome only if one is free.

use super::executions::{Ending, Evaluations, Executions, Shown};
use cssame_form::Form;
use cssame_ir::{DefinitionId, ReadId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Edges between terms and outcomes that are looked at.
const MAX_EDGES: usize = 20_000_000;

/// What reads see before parallel threads have written.
pub(super) struct InitialPicture {
    /// By read with a pi function: the definitions that reach it by control flow.
    control: FxHashMap<ReadId, Vec<DefinitionId>>,
}

impl InitialPicture {
    pub(super) fn new(form: &Form, terms: &[(ReadId, DefinitionId)]) -> InitialPicture {
        let mut control = FxHashMap::default();
        for &(read, _) in terms {
            control.entry(read).or_insert_with(|| form.control_definitions(read));
        }
        InitialPicture { control }
    }

    /// Whether the definition reaches the read by control flow, or the read has no pi function.
    pub(super) fn has(&self, read: ReadId, definition: DefinitionId) -> bool {
        self.control.get(&read).is_none_or(|control| control.contains(&definition))
    }

    /// The definition that alone reaches a read by control flow.
    pub(super) fn only(&self, read: ReadId) -> Option<DefinitionId> {
        match self.control.get(&read)?.as_slice() {
            &[only] => Some(only),
            _ => None,
        }
    }

    /// The differences of an execution from this picture.
    pub(super) fn differences<'a>(&'a self, shown: &'a Shown) -> impl Iterator<Item = &'a Evaluations> {
        shown.evaluations.iter().filter(|of| !self.has(of.read, of.definition))
    }
}

/// The execution of a test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Witness {
    /// Its place in the list of executions.
    pub execution: usize,
    /// The evaluation of the read that sees the definition, if not every one does.
    pub instance: Option<u32>,
    /// Evaluations that differ from the initial picture, beside those that the term asks for.
    pub differences: u32,
}

/// An execution that a term may have, and what it shows.
#[derive(Clone, Copy)]
struct Candidate {
    witness: Witness,
    outcome: usize,
}

/// Chooses an execution for each term; none where no execution has it.
pub(super) fn choose(
    executions: &Executions<'_>,
    picture: &InitialPicture,
    terms: &[(ReadId, DefinitionId)],
) -> Vec<Option<Witness>> {
    let candidates = candidates(executions, picture, terms);
    let mut order: Vec<usize> = (0..terms.len()).collect();
    // The sort is stable: within both parts the order of the text is kept.
    order.sort_by_key(|&term| picture.has(terms[term].0, terms[term].1));
    let outcomes = candidates.iter().flatten().map(|one| one.outcome + 1).max().unwrap_or(0);
    let matched = Matching::new(&candidates, outcomes).of_terms(&order);
    let chosen = candidates.iter().zip(matched);
    chosen.map(|(all, matched)| all.get(matched.unwrap_or(0)).map(|one| one.witness)).collect()
}

/// By term: the best execution of each outcome that is left behind step 2, those with the fewest differences first.
fn candidates(
    executions: &Executions<'_>,
    picture: &InitialPicture,
    terms: &[(ReadId, DefinitionId)],
) -> Vec<Vec<Candidate>> {
    let places: FxHashMap<(ReadId, DefinitionId), usize> =
        terms.iter().enumerate().map(|(place, &term)| (term, place)).collect();
    let mut all: Vec<Vec<Candidate>> = vec![Vec::new(); terms.len()];
    let mut outcomes = FxHashMap::default();
    for (execution, shown) in executions.list.iter().enumerate() {
        let next = outcomes.len();
        let outcome = *outcomes.entry(shown.outcome()).or_insert(next);
        let differences: u32 = picture.differences(shown).map(|of| of.count).sum();
        for &Evaluations { read, definition, .. } in &shown.evaluations {
            let (Some(&place), Some(instance)) = (places.get(&(read, definition)), shown.instance(read, definition))
            else {
                continue;
            };
            let evaluations = shown.of_read(read);
            let own: u32 = evaluations.iter().filter(|of| !picture.has(read, of.definition)).map(|of| of.count).sum();
            let others: u32 = evaluations.iter().filter(|of| of.definition != definition).map(|of| of.count).sum();
            let witness = Witness { execution, instance, differences: differences - own + others };
            all[place].push(Candidate { witness, outcome });
        }
    }
    for (list, &(read, definition)) in all.iter_mut().zip(terms) {
        narrow(list, executions, picture.has(read, definition));
    }
    all
}

/// Keeps the candidates that steps 1 and 2 leave, of each outcome the best one.
fn narrow(list: &mut Vec<Candidate>, executions: &Executions<'_>, is_initial: bool) {
    let shown = |one: &Candidate| &executions.list[one.witness.execution];
    let rank = |one: &Candidate| {
        let fails = shown(one).ending != Ending::Ok;
        let differences = if is_initial { 0 } else { one.witness.differences };
        (one.witness.instance.is_some(), fails, differences)
    };
    let Some(best) = list.iter().map(rank).min() else { return };
    list.retain(|one| rank(one) == best);
    list.sort_by_key(|one| (one.witness.differences, shown(one).schedule.len(), one.witness.execution));
    let mut known = rustc_hash::FxHashSet::default();
    list.retain(|one| known.insert(one.outcome));
}

/// Which term has which outcome for its own.
struct Matching<'a> {
    candidates: &'a [Vec<Candidate>],
    /// By outcome: its term.
    owner: Vec<Option<usize>>,
    /// By term: the candidate that has its outcome.
    matched: Vec<Option<usize>>,
    /// Edges that may still be looked at.
    left: usize,
}

impl Matching<'_> {
    fn new(candidates: &[Vec<Candidate>], outcomes: usize) -> Matching<'_> {
        let matched = vec![None; candidates.len()];
        Matching { candidates, owner: vec![None; outcomes], matched, left: MAX_EDGES }
    }

    /// Matches the terms in that order; gives for each the place of its candidate.
    fn of_terms(mut self, order: &[usize]) -> Vec<Option<usize>> {
        order.iter().for_each(|&term| self.augment(term));
        self.matched
    }

    /// Looks for an outcome for a term, breadth first: others that have one may take another one instead.
    fn augment(&mut self, start: usize) {
        // By outcome: the term, and which of its candidates, that has led to it.
        let mut by: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        let mut waiting = VecDeque::from([start]);
        while let Some(term) = waiting.pop_front() {
            let candidates: &[Candidate] = &self.candidates[term];
            for (place, &Candidate { outcome, .. }) in candidates.iter().enumerate() {
                self.left = self.left.saturating_sub(1);
                if by.contains_key(&outcome) {
                    continue;
                }
                by.insert(outcome, (term, place));
                match self.owner[outcome] {
                    None => return self.hand_over(outcome, &by),
                    Some(owner) if self.left > 0 => waiting.push_back(owner),
                    Some(_) => {}
                }
            }
        }
    }

    /// Gives a free outcome to the term that has led to it, that one's former outcome to the one before, and so on.
    fn hand_over(&mut self, free: usize, by: &FxHashMap<usize, (usize, usize)>) {
        let mut outcome = free;
        while let Some(&(term, place)) = by.get(&outcome) {
            let former = self.matched[term].replace(place);
            self.owner[outcome] = Some(term);
            let Some(former) = former else { return };
            outcome = self.candidates[term][former].outcome;
        }
    }
}
