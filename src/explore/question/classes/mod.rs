//! Counts the classes of executions that reachability testing, and TPAIR, tell apart.
//!
//! Two executions are in one class if each thread performs the same operations on the same versions of the same cells, draws
//! the same values, and both end in the same way (Carver and Lei: reachability testing runs one execution of each class).
//! An operation is a visible access to a shared cell that somebody writes ([`Operations`]); the version of a cell is the
//! number of writes to it so far; a write carries the version that it creates. Orders of locks and notifications alone
//! tell no classes apart. An end is the end of all threads, a failure and its place, or a deadlock and who stands where.
//!
//! **Input**: a machine, its operations, a budget. **Output**: the number of classes, and executions of them.
//!
//! **Algorithm**
//! 1. [`cycles`]: can a cycle of states be reached in which an operation happens? Then classes have no end.
//! 2. [`enumerate`]: tell all classes apart, by a search through states with what the threads have done.
//! 3. [`pairs`]: TPAIR counts the classes of each two threads that are run alone ([`scope`]).
//!
//! **Soundness and limits**: see [`Counting`]. Executions that an assumption discards do not count. Executions without an end
//! are not counted either: where they perform operations without an end, `infinite` says so.

mod course;
mod cycles;
mod enumerate;
mod operations;
mod pairs;
mod scope;

pub use operations::Operations;
pub use pairs::{MAX_THREADS, PairCount, PairCounts, thread_pairs};

use crate::budget::{Bound, Budget, Limits, Statistics};
use crate::vm::{Choice, Machine, Tables};
use scope::Scope;

/// How classes were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Each class was told from the others.
    Enumerated,
}

/// What is asked of a count beyond the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassOptions {
    /// Executions that are kept, one for each class, at most.
    pub max_representatives: usize,
    /// States, told apart by what their threads have done, up to which classes are enumerated.
    pub max_enumerated: u64,
}

impl Default for ClassOptions {
    fn default() -> ClassOptions {
        ClassOptions { max_representatives: 1_000, max_enumerated: 500_000 }
    }
}

/// How many classes there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// The classes that were counted.
    pub classes: u128,
    /// An execution of each of the first classes, in a fixed order.
    pub representatives: Vec<Vec<Choice>>,
    /// How they were counted.
    pub counting: Counting,
    /// Whether it is proven that classes have no end.
    pub infinite: bool,
    /// The bound that was hit; with it there may be more classes.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
}

/// Counts the classes of a program: what reachability testing runs.
#[must_use]
pub fn classes(machine: &Machine, operations: &Operations, budget: &Budget<'_>, options: &ClassOptions) -> ClassCount {
    count(machine, &Tables::new(), (operations, &Scope::All), budget, options)
}

fn count(
    machine: &Machine,
    tables: &Tables,
    what: (&Operations, &Scope),
    budget: &Budget<'_>,
    options: &ClassOptions,
) -> ClassCount {
    let limited = |states| budget.share(Limits { max_states: Some(states), ..Limits::default() });
    let cycles = cycles::find_cycles(machine, tables, what, &limited(options.max_enumerated));
    // Of classes without an end a few will do.
    let states = if cycles.with_operation { options.max_enumerated / 8 } else { options.max_enumerated };
    let found = enumerate::enumerate(machine, tables, what, &limited(states), options.max_representatives);
    let mut statistics = found.searched.statistics;
    statistics.states += cycles.statistics.states;
    statistics.steps += cycles.statistics.steps;
    ClassCount {
        classes: u128::from(found.classes),
        representatives: found.representatives,
        counting: Counting::Enumerated,
        infinite: cycles.with_operation,
        bound: found.searched.bound,
        statistics,
    }
}

#[cfg(test)]
mod tests;
