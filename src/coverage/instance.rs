//! Instances of patterns, and how many there are.
//!
//! **Input**: the [`Universe`] of a program. **Output**: [`Instance`]s, one by one, and, without making them, the [`Totals`] of a
//! pattern, of a variable, and of all (T_C of the paper).
//!
//! **Algorithm**: an instance is a pattern with an access for each letter. The access has the kind of the letter, and accesses
//! the variable of its slot. The number for a pattern and given variables is the product of the numbers of such accesses.
//! Two-variable patterns range over ordered pairs of distinct variables: the instance with x and y exchanged is another instance
//! of the same pattern. (With unordered pairs in the sum, as the paper's formula reads, executions cover more than 100 %.)
//!
//! **Soundness and limits**: numbers have 64 bits, and saturate at the largest.

use super::pattern::{Letter, MAX_LETTERS, Pattern, PatternId, Slot};
use super::universe::{AccessId, Universe, VariableNumber};
use std::collections::BTreeMap;

/// A pattern with an access for each of its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    /// The pattern.
    pub pattern: PatternId,
    /// One access for each letter; what stands behind them is [`NO_ACCESS`].
    steps: [AccessId; MAX_LETTERS],
}

/// Stands where a pattern has no letter.
const NO_ACCESS: AccessId = AccessId(u32::MAX);

impl Instance {
    /// The instance of a pattern with these accesses, one for each letter.
    #[must_use]
    pub fn new(pattern: PatternId, accesses: &[AccessId]) -> Instance {
        let mut steps = [NO_ACCESS; MAX_LETTERS];
        for (step, &access) in steps.iter_mut().zip(accesses.iter().take(pattern.get().letters.len())) {
            *step = access;
        }
        Instance { pattern, steps }
    }

    /// Its accesses, in order.
    #[must_use]
    pub fn accesses(&self) -> &[AccessId] {
        &self.steps[..self.pattern.get().letters.len()]
    }

    /// Letters with their accesses, in order.
    pub fn steps(&self) -> impl Iterator<Item = (Letter, AccessId)> + '_ {
        self.pattern.get().letters.iter().copied().zip(self.accesses().iter().copied())
    }

    /// The variable of its first access.
    #[must_use]
    pub fn variable(&self, universe: &Universe) -> VariableNumber {
        universe.accesses[self.steps[0]].variable
    }
}

/// Numbers of instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Of all patterns.
    pub all: u64,
    /// By pattern.
    pub by_pattern: BTreeMap<PatternId, u64>,
    /// By variable: those that begin with it. They add up to all.
    pub by_variable: BTreeMap<VariableNumber, u64>,
    /// By pattern and access: those that begin with it. They add up to all.
    pub by_access: BTreeMap<(PatternId, AccessId), u64>,
}

/// How many instances a universe has.
#[must_use]
pub fn totals(universe: &Universe) -> Totals {
    let mut totals = Totals::default();
    totals.by_pattern.extend(PatternId::all().map(|pattern| (pattern, 0)));
    // Sums of products over all y, so that the cost is that of the variables, not of their pairs.
    for pattern in PatternId::all() {
        let factor = |slot: Slot, variable: VariableNumber| factor(universe, pattern.get(), slot, variable);
        let sum = universe.variables.ids().fold(0, |sum: u64, y| sum.saturating_add(factor(Slot::Y, y)));
        for x in universe.variables.ids() {
            let others = if pattern.get().has_two_variables() { sum.saturating_sub(factor(Slot::Y, x)) } else { 1 };
            let count = factor(Slot::X, x).saturating_mul(others);
            let add = |to: &mut u64, count: u64| *to = to.saturating_add(count);
            add(&mut totals.all, count);
            add(totals.by_pattern.entry(pattern).or_default(), count);
            add(totals.by_variable.entry(x).or_default(), count);
            let first = pattern.get().letters.first().map_or(&[][..], |one| universe.variables[x].accesses(one.kind));
            for &access in first.iter().filter(|_| count > 0) {
                // Each of them begins as many as any other.
                add(totals.by_access.entry((pattern, access)).or_default(), count / first.len() as u64);
            }
        }
    }
    totals
}

/// In how many ways the letters of a slot can be played by accesses to a variable.
fn factor(universe: &Universe, pattern: &Pattern, slot: Slot, variable: VariableNumber) -> u64 {
    let letters = pattern.letters.iter().filter(|letter| letter.slot == slot);
    let count = |letter: &Letter| universe.variables[variable].accesses(letter.kind).len() as u64;
    letters.fold(1, |product: u64, letter| product.saturating_mul(count(letter)))
}

/// All instances of a universe, in order of pattern, variables and accesses.
pub fn instances(universe: &Universe) -> impl Iterator<Item = Instance> + '_ {
    PatternId::all().flat_map(move |pattern| {
        let second = move |x: VariableNumber| {
            let two = pattern.get().has_two_variables();
            universe.variables.ids().filter(move |&y| if two { y != x } else { y == x })
        };
        let pairs = universe.variables.ids().flat_map(move |x| second(x).map(move |y| (x, y)));
        pairs.flat_map(move |(x, y)| Choices::new(universe, pattern, x, y))
    })
}

/// All choices of accesses for a pattern and its variables, as a number with one digit for each letter.
struct Choices<'a> {
    pattern: PatternId,
    lists: Vec<&'a [AccessId]>,
    digits: Vec<usize>,
    is_over: bool,
}

impl<'a> Choices<'a> {
    fn new(universe: &'a Universe, pattern: PatternId, x: VariableNumber, y: VariableNumber) -> Choices<'a> {
        let list = |letter: &Letter| {
            let variable = if letter.slot == Slot::X { x } else { y };
            universe.variables[variable].accesses(letter.kind)
        };
        let lists: Vec<&[AccessId]> = pattern.get().letters.iter().map(list).collect();
        let is_over = lists.iter().any(|list| list.is_empty());
        Choices { pattern, digits: vec![0; lists.len()], lists, is_over }
    }
}

impl Iterator for Choices<'_> {
    type Item = Instance;

    fn next(&mut self) -> Option<Instance> {
        if self.is_over {
            return None;
        }
        let accesses: Vec<AccessId> = self.lists.iter().zip(&self.digits).map(|(list, &digit)| list[digit]).collect();
        self.is_over = true;
        for (digit, list) in self.digits.iter_mut().zip(&self.lists).rev() {
            *digit += 1;
            if *digit < list.len() {
                self.is_over = false;
                break;
            }
            *digit = 0;
        }
        Some(Instance::new(self.pattern, &accesses))
    }
}
