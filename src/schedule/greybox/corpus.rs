//! The abstract schedules whose executions have shown something new.
//!
//! **Input**: abstract schedules with the results of their executions. **Output**: mutants to try next.
//!
//! **Algorithm**.
//!
//! 1. An abstract schedule is kept if its execution has shown a new term, or a new combination of terms (the set of all terms of
//!    an execution). If there is no room, only those with a new term are kept. They replace the one that was chosen most often.
//! 2. Initially the abstract schedule without constraints is kept. When it is chosen for the first time, it is tried unchanged.
//! 3. To make a mutant, a few of the kept ones are drawn ([`DRAWN`]). The one with the rarest combination is changed; if several
//!    are equal, the one that was chosen least often. For the one without constraints, which shows many combinations, the number
//!    of times that it was chosen counts instead.
//!
//! **Soundness and limits**. 64-bit sums identify combinations: if two combinations collide, an abstract schedule is not kept.
//! The result depends only on the order in which executions are entered, and on the seed.

use super::abstract_schedule::{AbstractSchedule, Term};
use crate::policy::Random;
use rustc_hash::{FxHashMap, FxHashSet};

/// Abstract schedules that are kept.
const ROOM: usize = 1_024;

/// Combinations whose executions are counted; others count as new.
const COMBINATIONS: usize = 1 << 16;

/// Of so many that are drawn the rarest one is changed.
const DRAWN: u32 = 4;

/// What an execution has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// Terms that were not known when it was begun, by rising read and definition.
    pub unknown: Vec<Term>,
    /// Stands for the set of all its terms.
    pub combination: u64,
}

#[derive(Clone, Debug)]
struct Kept {
    schedule: AbstractSchedule,
    /// What its execution has shown; `None` for the one that is kept from the beginning.
    combination: Option<u64>,
    chosen: u32,
}

/// What is kept of executions.
#[derive(Clone, Debug)]
pub(super) struct Corpus {
    kept: Vec<Kept>,
    /// Terms that executions have shown.
    known: FxHashSet<Term>,
    combinations: FxHashMap<u64, u32>,
    /// Terms to choose from.
    terms: Vec<Term>,
    listed: FxHashSet<Term>,
    random: Random,
}

impl Corpus {
    /// One schedule without constraints; these terms to choose from, beside those that executions show.
    pub fn new(terms: &[Term], seed: u64) -> Corpus {
        let (mut listed, mut own) = (FxHashSet::default(), Vec::new());
        own.extend(terms.iter().copied().filter(|&term| listed.insert(term)));
        let first = Kept { schedule: AbstractSchedule::default(), combination: None, chosen: 0 };
        let (known, combinations) = (FxHashSet::default(), FxHashMap::default());
        Corpus { kept: vec![first], known, combinations, terms: own, listed, random: Random::new(seed) }
    }

    /// Terms that executions have shown.
    pub fn known(&self) -> &FxHashSet<Term> {
        &self.known
    }

    /// How many schedules are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// The next schedule to try.
    pub fn next(&mut self) -> AbstractSchedule {
        let count = self.kept.len() as u32;
        let mut chosen = self.random.below(count) as usize;
        for _ in 1..DRAWN {
            let other = self.random.below(count) as usize;
            if self.energy(other) < self.energy(chosen) {
                chosen = other;
            }
        }
        let kept = &mut self.kept[chosen];
        kept.chosen += 1;
        if kept.combination.is_none() && kept.chosen == 1 {
            return kept.schedule.clone();
        }
        kept.schedule.mutant(&self.terms, &mut self.random)
    }

    /// The less, the sooner it is chosen.
    fn energy(&self, place: usize) -> (u32, u32) {
        let Kept { combination, chosen, .. } = self.kept[place];
        let count = combination.map_or(chosen, |known| self.combinations.get(&known).copied().unwrap_or(0));
        (count, chosen)
    }

    /// An execution of a schedule has shown this.
    pub fn enter(&mut self, schedule: AbstractSchedule, shown: Shown) {
        let Shown { unknown, combination } = shown;
        let mut is_new = false;
        for term in unknown {
            is_new |= self.known.insert(term);
            if self.listed.insert(term) {
                self.terms.push(term);
            }
        }
        let has_room = self.combinations.len() < COMBINATIONS;
        let is_rare = match self.combinations.get_mut(&combination) {
            Some(count) => {
                *count = count.saturating_add(1);
                false
            }
            None => {
                if has_room {
                    self.combinations.insert(combination, 1);
                }
                true
            }
        };
        if !(is_new || is_rare) || self.kept.iter().any(|kept| kept.schedule == schedule) {
            return;
        }
        let entry = Kept { schedule, combination: Some(combination), chosen: 0 };
        if self.kept.len() < ROOM {
            self.kept.push(entry);
        } else if is_new && let Some(place) = (0..self.kept.len()).max_by_key(|&place| self.kept[place].chosen) {
            self.kept[place] = entry;
        }
    }
}
