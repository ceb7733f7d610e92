//! Abstract schedules: which reads should read from which definitions, and which should not.
//!
//! **Input**: pairs of a read and a definition that it may see, and random numbers. **Output**: [`AbstractSchedule`]s,
//! and mutants of them.
//!
//! **Algorithm**. One of four changes creates a mutant. A constraint on a random pair is inserted, wanted in three of four cases,
//! otherwise unwanted; one constraint is deleted; one is negated; one gets another definition of the same read. Half of the
//! mutants have a second change. There is at most one constraint on a pair, and at most [`AbstractSchedule::MAX`] in total.

use crate::policy::Random;
use cssame_ir::{DefinitionId, ReadId};

/// A read and a definition that it may see: a term of its pi function.
pub type Term = (ReadId, DefinitionId);

/// What an execution is to show, or not to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constraint {
    /// The place that reads.
    pub read: ReadId,
    /// The place that writes.
    pub definition: DefinitionId,
    /// Whether the read is to see the definition at least once, or else never.
    pub wanted: bool,
}

/// Constraints on what reads see.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbstractSchedule {
    /// By rising read and definition; each pair once.
    constraints: Vec<Constraint>,
}

impl AbstractSchedule {
    /// Constraints of a schedule that mutation makes, at most.
    pub const MAX: usize = 16;

    /// A schedule with these constraints; of several on one pair the last one counts.
    #[must_use]
    pub fn new(constraints: &[Constraint]) -> AbstractSchedule {
        let mut schedule = AbstractSchedule::default();
        for &constraint in constraints {
            schedule.insert(constraint);
        }
        schedule
    }

    /// Its constraints, by rising read and definition.
    #[must_use]
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    fn insert(&mut self, constraint: Constraint) {
        let key = (constraint.read, constraint.definition);
        match self.constraints.binary_search_by_key(&key, |known| (known.read, known.definition)) {
            Ok(place) => self.constraints[place] = constraint,
            Err(place) => self.constraints.insert(place, constraint),
        }
    }

    /// A schedule that differs from this one by one or two changes. `terms` are the pairs to choose from.
    pub(super) fn mutant(&self, terms: &[Term], random: &mut Random) -> AbstractSchedule {
        let mut mutant = self.clone();
        for _ in 0..=random.below(2) {
            mutant.change(terms, random);
        }
        mutant
    }

    fn change(&mut self, terms: &[Term], random: &mut Random) {
        let kinds = if self.constraints.len() < AbstractSchedule::MAX { 4 } else { 3 };
        let kind = if self.constraints.is_empty() { 3 } else { random.below(kinds) };
        if kind == 3 {
            if let Some((read, definition)) = one_of(terms, random) {
                let wanted = random.below(4) != 0;
                self.insert(Constraint { read, definition, wanted });
            }
            return;
        }
        let place = random.below(self.constraints.len() as u32) as usize;
        match kind {
            0 => {
                self.constraints.remove(place);
            }
            1 => self.constraints[place].wanted ^= true,
            _ => {
                let Constraint { read, wanted, .. } = self.constraints.remove(place);
                // Terms of one read need not stand together: reads are found as executions show them.
                let count = terms.iter().filter(|term| term.0 == read).count();
                let chosen = random.below(count.max(1) as u32) as usize;
                if let Some(&(_, definition)) = terms.iter().filter(|term| term.0 == read).nth(chosen) {
                    self.insert(Constraint { read, definition, wanted });
                }
            }
        }
    }
}

fn one_of(terms: &[Term], random: &mut Random) -> Option<Term> {
    let chosen = random.below(u32::try_from(terms.len()).unwrap_or(u32::MAX)) as usize;
    terms.get(chosen).copied()
}
