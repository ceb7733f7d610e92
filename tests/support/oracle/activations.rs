//! Which activations of methods overlap in one execution, each making a step while the other is open.
//!
//! An activation is open from its first step to its return. A return is local work, which can be taken in two ways: it is
//! made at once behind the last step, or with the next step of its thread. In the first way an activation with one step
//! overlaps with none.

use super::code::Code;
use super::local::Note;
use std::collections::{BTreeMap, BTreeSet};

/// The unordered pairs of public methods, by name: `("A.set", "A.sev")`.
pub type MethodPairs = BTreeSet<(String, String)>;

/// What is open, step by step.
#[derive(Debug, Default)]
pub struct Activations {
    /// The function of each activation, and its thread.
    functions: Vec<(u32, usize)>,
    /// The number of steps before the return of each.
    returned: Vec<usize>,
    /// The activations that each thread is in before its next step, innermost last.
    open: BTreeMap<usize, Vec<usize>>,
    /// Of each step, its thread and the activations that it is a step of.
    steps: Vec<(usize, Vec<usize>)>,
}

impl Activations {
    /// What was done before or behind a step.
    pub fn note(&mut self, note: &Note) {
        match *note {
            Note::Called { thread, function } => {
                self.functions.push((function, thread));
                self.returned.push(usize::MAX);
                self.open.entry(thread).or_default().push(self.functions.len() - 1);
            }
            Note::Returned { thread } => {
                if let Some(activation) = self.open.entry(thread).or_default().pop() {
                    self.returned[activation] = self.steps.len();
                }
            }
            Note::Access { .. } => {}
        }
    }

    /// The thread makes a step.
    pub fn step(&mut self, thread: usize) {
        self.steps.push((thread, self.open.get(&thread).cloned().unwrap_or_default()));
    }

    /// The steps of an activation, and the range of steps in which it is open.
    fn span(&self, activation: usize, late: bool) -> (Vec<usize>, std::ops::Range<usize>) {
        let thread = self.functions[activation].1;
        let is_step = |at: &usize| self.steps[*at].1.contains(&activation);
        let steps: Vec<usize> = (0..self.steps.len()).filter(is_step).collect();
        let (Some(&first), Some(&last)) = (steps.first(), steps.last()) else { return (steps, 0..0) };
        let end = if late {
            (last + 1..self.steps.len()).find(|&at| self.steps[at].0 == thread).unwrap_or(usize::MAX)
        } else {
            self.returned[activation]
        };
        (steps, first..end)
    }

    /// The pairs that are covered, if returns are made at once, or `late`.
    pub fn pairs(&self, code: &Code, late: bool) -> MethodPairs {
        let mut pairs = MethodPairs::new();
        let public = |activation: usize| {
            let method = code.methods.get(&self.functions[activation].0)?;
            method.public.then(|| method.name.clone())
        };
        for one in 0..self.functions.len() {
            for two in one + 1..self.functions.len() {
                let (Some(a), Some(b)) = (public(one), public(two)) else { continue };
                let ((steps_a, open_a), (steps_b, open_b)) = (self.span(one, late), self.span(two, late));
                let overlap = steps_a.iter().any(|at| open_b.contains(at))
                    && steps_b.iter().any(|at| open_a.contains(at))
                    && self.functions[one].1 != self.functions[two].1;
                if overlap {
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
