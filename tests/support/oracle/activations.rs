//! Which activations of methods overlap in one execution.
//!
//! An activation is from the step in which the method is called to the step in which it returns. Two of different threads
//! overlap if neither returns in a step before the one in which the other is called. Calls and returns are local work, which
//! belongs to the step behind which it is done; but what comes behind something that is printed waits for the next step of its
//! thread, as it does in the tool.

use super::code::Code;
use super::local::Note;
use std::collections::{BTreeMap, BTreeSet};

/// The unordered pairs of public methods, by name: `("A.set", "A.sev")`.
pub type MethodPairs = BTreeSet<(String, String)>;

/// A call of a function.
#[derive(Clone, Copy, Debug)]
struct Activation {
    function: u32,
    thread: usize,
    called: usize,
    returned: usize,
}

/// The activations so far.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    all: Vec<Activation>,
    /// The activations that each thread is in, innermost last.
    open: BTreeMap<usize, Vec<usize>>,
    /// How many steps were made.
    steps: usize,
    /// What threads have done that counts with a step to come, as what is behind something that they have printed.
    waiting: BTreeMap<usize, Vec<Note>>,
}

impl Activations {
    /// What was done before or behind a step.
    pub fn note(&mut self, note: &Note) {
        let (Note::Called { thread, .. } | Note::Returned { thread } | Note::Printed { thread }) = note else { return };
        match self.waiting.get_mut(thread) {
            Some(waiting) => waiting.push(note.clone()),
            None if matches!(note, Note::Printed { .. }) => drop(self.waiting.insert(*thread, Vec::new())),
            None => self.enter(note),
        }
    }

    fn enter(&mut self, note: &Note) {
        match *note {
            Note::Called { thread, function } => {
                self.all.push(Activation { function, thread, called: self.steps, returned: usize::MAX });
                self.open.entry(thread).or_default().push(self.all.len() - 1);
            }
            Note::Returned { thread } => {
                if let Some(activation) = self.open.entry(thread).or_default().pop() {
                    self.all[activation].returned = self.steps;
                }
            }
            Note::Printed { .. } | Note::Access { .. } => {}
        }
    }

    /// What the thread does waits until it steps.
    pub fn hold(&mut self, thread: usize) {
        self.waiting.entry(thread).or_default();
    }

    /// The thread makes a step, and prints in it what it has to.
    pub fn step(&mut self, thread: usize) {
        self.steps += 1;
        self.waiting.remove(&thread).into_iter().flatten().for_each(|note| self.enter(&note));
    }

    /// What tells apart executions that have come to one state, as far as pairs depend on it: the calls that are open, what waits,
    /// and the pairs so far.
    pub fn signature(&self, code: &Code) -> String {
        let function = |activation: &usize| self.all[*activation].function;
        let open = self.open.iter().map(|(thread, calls)| (*thread, calls.iter().map(function).collect()));
        let open: Vec<(usize, Vec<u32>)> = open.filter(|(_, calls): &(_, Vec<u32>)| !calls.is_empty()).collect();
        format!("{open:?} {:?} {:?}", self.waiting, self.pairs(code))
    }

    /// The pairs that are covered.
    pub fn pairs(&self, code: &Code) -> MethodPairs {
        let public = |of: &Activation| {
            let method = code.methods.get(&of.function)?;
            method.public.then(|| method.name.clone())
        };
        let mut pairs = MethodPairs::new();
        for (at, one) in self.all.iter().enumerate() {
            for two in &self.all[at + 1..] {
                let (Some(a), Some(b)) = (public(one), public(two)) else { continue };
                let is_before = one.returned < two.called || two.returned < one.called;
                if one.thread != two.thread && !is_before {
                    pairs.insert(if a < b { (a, b) } else { (b, a) });
                }
            }
        }
        pairs
    }
}

/// All pairs, with itself too.
pub fn all_pairs(code: &Code) -> MethodPairs {
    let names: Vec<&String> = code.methods.values().filter(|method| method.public).map(|method| &method.name).collect();
    let mut pairs = MethodPairs::new();
    for a in &names {
        pairs.extend(names.iter().filter(|b| a.as_str() <= b.as_str()).map(|b| ((*a).clone(), (*b).clone())));
    }
    pairs
}
