//! Threads to be made, and what they are called.
//!
//! In: the label that the text gives a thread, and the number of its iteration or element. Out: its name, as in `w[2]`.

use super::place::Operand;
use super::{FunctionId, RegisterId, TextId};

/// What a thread is called, below the path of the thread that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadLabel {
    /// An arm's label, the handle's name, or the function's.
    Name(TextId),
    /// `parfor@LINE[k]`: the text before the bracket; `k` is the ordinal.
    Iteration(TextId),
    /// A handle that is an element, such as `w[]`, `m[][4]`, `p[].t`: the ordinal is the number of the element, of several
    /// arrays the last one first, by the lengths in the brackets.
    Element(TextId),
}

/// The name of a thread by its label and the number of its iteration or element: `t`, `w[2]`, `m[1][3]`, `p[0].t`; with `*`
/// where the number is not known.
#[must_use]
pub fn thread_name(label: &str, number: Option<i64>) -> String {
    // From the last bracket on, each length takes a part of the number; what is left is the first index.
    let lengths: Vec<Option<i64>> = label.split('[').skip(1).map(|rest| rest.split(']').next()?.parse().ok()).collect();
    let mut rest = number;
    let mut indices: Vec<Option<i64>> = Vec::with_capacity(lengths.len());
    for length in lengths.iter().rev() {
        indices.push(rest.map(|rest| length.map_or(rest, |length| rest.rem_euclid(length.max(1)))));
        rest = rest.map(|rest| length.map_or(0, |length| rest.div_euclid(length.max(1))));
    }
    let mut parts = label.split('[');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let index = indices.pop().flatten().map_or_else(|| "*".to_owned(), |index| index.to_string());
        name.push_str(&format!("[{index}]{}", part.split_once(']').map_or("", |(_, behind)| behind)));
    }
    name
}

/// A thread to be made: a function, its arguments, and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NewThread {
    /// What it runs.
    pub function: FunctionId,
    /// For a `parfor` whose iterations run copies of their own (`specialise` of the layer `concurrency`): what each runs, by
    /// ordinal; an ordinal beyond them runs `function`.
    pub rounds: Vec<FunctionId>,
    /// With these arguments.
    pub arguments: Vec<Operand>,
    /// What it is called.
    pub label: ThreadLabel,
    /// The ordinal of an iteration of a `parfor`; of a handle, the number of the element.
    pub ordinal: Option<Operand>,
}

/// Bounds of a `parfor` in the canonical form `i = first; i < limit; i += step`, for analyses that unroll it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TripBounds {
    /// First value of the loop variable.
    pub first: Operand,
    /// The loop ends where the variable is not below it.
    pub limit: Operand,
    /// Added each round; positive.
    pub step: i64,
}

impl NewThread {
    /// What it may run.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + '_ {
        let own = (!self.rounds.contains(&self.function)).then_some(self.function);
        own.into_iter().chain(self.rounds.iter().copied())
    }

    /// What the iteration of that ordinal runs.
    #[must_use]
    pub fn function_of_round(&self, round: usize) -> FunctionId {
        self.rounds.get(round).copied().unwrap_or(self.function)
    }

    pub(super) fn uses(&self, f: &mut impl FnMut(RegisterId)) {
        for operand in self.arguments.iter().chain(&self.ordinal) {
            if let Operand::Register(register) = operand {
                f(*register);
            }
        }
    }
}
