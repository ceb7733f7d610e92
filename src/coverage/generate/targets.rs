//! Chooses the instance of a pattern to try next.
//!
//! **Input**: the instances of a universe that some class may cover. **Output**: [`Targets`], which returns the next instances,
//! and is told which were covered.
//!
//! **Algorithm**: a queue, in which the patterns take turns. An instance that was missed a number of times goes to the back, so
//! that no instance is starved. As printed, the loop of the paper never reaches patterns of two variables while one of a single
//! variable is left, which may be infeasible.
//!
//! **Soundness and limits**: if there are very many instances, a random sample of them is taken, with equal numbers for each
//! pattern.

use crate::instance::{Instance, instances, totals};
use crate::pattern::{PATTERNS, PatternId, Slot};
use crate::universe::{AccessId, Universe, VariableNumber};
use cssame_schedule::Random;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Instances of a queue at most.
const MAX_TARGETS: u64 = 40_000;

/// Tests that miss an instance before it goes to the back.
const MISSES: u32 = 2;

/// The instances that were not covered yet.
#[derive(Clone, Debug)]
pub struct Targets {
    queue: VecDeque<(Instance, u32)>,
}

impl Targets {
    /// Those of a universe that are wanted, in an order by the seed.
    #[must_use]
    pub fn new(universe: &Universe, wanted: impl Fn(&Instance) -> bool, random: &mut Random) -> Targets {
        let all: Vec<Instance> = if totals(universe).all <= MAX_TARGETS {
            instances(universe).filter(wanted).collect()
        } else {
            sample(universe, wanted, random)
        };
        let mut by_pattern: Vec<Vec<Instance>> = vec![Vec::new(); PATTERNS.len()];
        for instance in all {
            by_pattern[usize::from(instance.pattern.0)].push(instance);
        }
        by_pattern.iter_mut().for_each(|list| shuffle(list, random));
        let longest = by_pattern.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|turn| by_pattern.iter().filter_map(move |list| list.get(turn)));
        Targets { queue: turns.map(|&instance| (instance, 0)).collect() }
    }

    /// The first ones.
    pub fn first(&self, count: usize) -> Vec<Instance> {
        self.queue.iter().take(count).map(|(instance, _)| *instance).collect()
    }

    /// A test was made for an instance.
    pub fn tried(&mut self, instance: &Instance) {
        let Some(place) = self.queue.iter().position(|(known, _)| known == instance) else { return };
        self.queue[place].1 += 1;
        if self.queue[place].1 >= MISSES
            && let Some((instance, _)) = self.queue.remove(place)
        {
            self.queue.push_back((instance, 0));
        }
    }

    /// These were covered.
    pub fn covered(&mut self, instances: &FxHashSet<Instance>) {
        self.queue.retain(|(instance, _)| !instances.contains(instance));
    }
}

/// Draws instances, as many of each pattern.
fn sample(universe: &Universe, wanted: impl Fn(&Instance) -> bool, random: &mut Random) -> Vec<Instance> {
    let mut found: Vec<Instance> = Vec::new();
    let mut known: FxHashSet<Instance> = FxHashSet::default();
    let tries = MAX_TARGETS / PATTERNS.len() as u64;
    for pattern in PatternId::all() {
        for _ in 0..tries {
            let drawn = draw(universe, pattern, random);
            found.extend(drawn.filter(|instance| wanted(instance) && known.insert(*instance)));
        }
    }
    found
}

fn draw(universe: &Universe, pattern: PatternId, random: &mut Random) -> Option<Instance> {
    let count = universe.variables.len() as u32;
    let x = VariableNumber(random.below(count));
    let y = VariableNumber(random.below(count));
    if pattern.get().has_two_variables() && x == y {
        return None;
    }
    let mut accesses: Vec<AccessId> = Vec::new();
    for letter in pattern.get().letters {
        let list = universe.variables[if letter.slot == Slot::X { x } else { y }].accesses(letter.kind);
        if list.is_empty() {
            return None;
        }
        accesses.push(list[random.below(list.len() as u32) as usize]);
    }
    Some(Instance::new(pattern, &accesses))
}

/// Brings a list into an order by the seed.
pub fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for place in (1..list.len()).rev() {
        list.swap(place, random.below(place as u32 + 1) as usize);
    }
}
