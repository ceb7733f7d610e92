//! The 17 memory-access patterns of Wang et al., table I, and what of them an execution covers, by the definitions.
//!
//! A pattern is a word: which of two threads, whether it reads or writes, which of two variables. An *instance* has, for
//! each letter, an access: a place of the text as a reader or as a writer. All instances are listed by loops over the
//! accesses, with ordered pairs of distinct variables (Algorithm 3), and counted by the formula for T_C. What an
//! execution covers is found by loops over all of its subsequences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

/// Table I, in its order.
pub const TABLE: [&str; 17] = [
    "aRx bWx",
    "aWx bRx",
    "aWx bWx",
    "aRx bWx aRx",
    "aWx bWx aRx",
    "aWx bRx aWx",
    "aRx bWx aWx",
    "aWx bWx aWx",
    "aWx bWx bWy aWy",
    "aWx bWy bWx aWy",
    "aWx bWy aWy bWx",
    "aWx bRx bRy aWy",
    "aWx bRy bRx aWy",
    "aRx bWx bWy aRy",
    "aRx bWy bWx aRy",
    "aRx bWy aRy bWx",
    "aWx bRy aWy bRx",
];

/// A letter of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Letter {
    /// 0 for `a`, 1 for `b`.
    pub thread: usize,
    pub write: bool,
    /// 0 for `x`, 1 for `y`.
    pub variable: usize,
}

/// The letters of a word.
pub fn word(text: &str) -> Vec<Letter> {
    let letter = |letter: &str| Letter {
        thread: usize::from(letter.starts_with('b')),
        write: letter.contains('W'),
        variable: usize::from(letter.ends_with('y')),
    };
    text.split(' ').map(letter).collect()
}

/// A place that accesses a variable, and whether it is the reader or the writer there that is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// `th@4:9`.
    pub place: String,
    pub write: bool,
}

/// An instance of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    /// From 1.
    pub pattern: usize,
    pub steps: Vec<Access>,
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = |access: &Access| format!("{} {}", if access.write { "write" } else { "read" }, access.place);
        let steps: Vec<String> = self.steps.iter().map(step).collect();
        write!(f, "{}: {}", self.pattern, steps.join(", "))
    }
}

/// The places of the text that read a variable, and those that write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub reads: BTreeSet<String>,
    pub writes: BTreeSet<String>,
}

/// Variables by name.
pub type Variables = BTreeMap<String, Places>;

/// All instances: every choice of two distinct variables (one, where the pattern has one), and of an access for each
/// letter.
pub fn all_instances(variables: &Variables) -> BTreeSet<Instance> {
    let mut instances = BTreeSet::new();
    for (index, text) in TABLE.iter().enumerate() {
        let word = word(text);
        for (x, of_x) in variables {
            if word.iter().all(|letter| letter.variable == 0) {
                choose(index + 1, &word, [of_x, of_x], &mut Vec::new(), &mut instances);
                continue;
            }
            for (_, of_y) in variables.iter().filter(|(y, _)| *y != x) {
                choose(index + 1, &word, [of_x, of_y], &mut Vec::new(), &mut instances);
            }
        }
    }
    instances
}

fn choose(
    pattern: usize,
    word: &[Letter],
    variables: [&Places; 2],
    steps: &mut Vec<Access>,
    found: &mut BTreeSet<Instance>,
) {
    let Some(letter) = word.get(steps.len()) else {
        found.insert(Instance { pattern, steps: steps.clone() });
        return;
    };
    let of = variables[letter.variable];
    for place in if letter.write { &of.writes } else { &of.reads } {
        steps.push(Access { place: place.clone(), write: letter.write });
        choose(pattern, word, variables, steps, found);
        steps.pop();
    }
}

/// T_C, pattern by pattern, by the formula of the paper with ordered pairs.
pub fn totals(variables: &Variables) -> [u64; 17] {
    let mut totals = [0; 17];
    let sizes: Vec<(u64, u64)> =
        variables.values().map(|places| (places.reads.len() as u64, places.writes.len() as u64)).collect();
    for (x, &(r, w)) in sizes.iter().enumerate() {
        let single = [r * w, w * r, w * w, r * r * w, r * w * w, r * w * w, r * w * w, w * w * w];
        (0..8).for_each(|pattern| totals[pattern] += single[pattern]);
        for (y, &(ry, wy)) in sizes.iter().enumerate() {
            if x != y {
                (8..11).for_each(|pattern| totals[pattern] += w * w * wy * wy);
                (11..17).for_each(|pattern| totals[pattern] += w * r * wy * ry);
            }
        }
    }
    totals
}

/// How many of the instances are of each pattern.
pub fn by_pattern<'i>(instances: impl IntoIterator<Item = &'i Instance>) -> [u64; 17] {
    let mut counts = [0; 17];
    instances.into_iter().for_each(|instance| counts[instance.pattern - 1] += 1);
    counts
}

/// One access of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub thread: usize,
    /// The vector clock of its thread, of fork and join alone.
    pub clock: Rc<[u32]>,
    pub cell: u32,
    /// Number of its variable.
    pub variable: u32,
    /// Its place as a reader, and as a writer: numbers of accesses.
    pub read: Option<u32>,
    pub write: Option<u32>,
}

impl Event {
    /// The access with which it can play the letter.
    pub fn plays(&self, letter: Letter) -> Option<u32> {
        if letter.write { self.write } else { self.read }
    }

    /// Whether fork and join put it before a later one.
    pub fn is_before(&self, later: &Event) -> bool {
        later.clock.get(self.thread).copied().unwrap_or(0) >= self.clock[self.thread]
    }
}

/// What a trace covers: pattern (from 0) and accesses.
pub fn covered(trace: &[Event]) -> BTreeSet<(usize, Vec<u32>)> {
    let mut found = BTreeSet::new();
    for (pattern, text) in TABLE.iter().enumerate() {
        subsequences(trace, &word(text), &mut Vec::new(), &mut |chosen| {
            let accesses = chosen.iter().zip(word(text)).map(|(event, letter)| event.plays(letter));
            found.insert((pattern, accesses.flatten().collect()));
        });
    }
    found
}

/// Every subsequence of as many events as the word has letters; `found` sees those that match.
fn subsequences<'e>(
    trace: &'e [Event],
    word: &[Letter],
    chosen: &mut Vec<&'e Event>,
    found: &mut dyn FnMut(&[&'e Event]),
) {
    if chosen.len() == word.len() {
        if is_match(chosen, word) {
            found(chosen);
        }
        return;
    }
    for (at, event) in trace.iter().enumerate() {
        if event.plays(word[chosen.len()]).is_some() {
            chosen.push(event);
            subsequences(&trace[at + 1..], word, chosen, found);
            chosen.pop();
        }
    }
}

/// The definition: the same letters for threads and variables are the same threads and cells, different ones are
/// different threads and variables, and neighbours in different threads are not ordered.
fn is_match(chosen: &[&Event], word: &[Letter]) -> bool {
    let pairs = (0..word.len()).flat_map(|i| (i + 1..word.len()).map(move |j| (i, j)));
    for (i, j) in pairs {
        let (one, two) = (chosen[i], chosen[j]);
        if (word[i].thread == word[j].thread) != (one.thread == two.thread) {
            return false;
        }
        if word[i].variable == word[j].variable {
            if one.cell != two.cell {
                return false;
            }
        } else if one.variable == two.variable {
            return false;
        }
        if j == i + 1 && one.thread != two.thread && one.is_before(two) {
            return false;
        }
    }
    true
}
