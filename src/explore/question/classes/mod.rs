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
//! 2. [`orders`]: count classes without running an execution of each, by the orders of steps that depend on each other.
//! 3. [`enumerate`]: tell all classes apart, by a search through states with what the threads have done. Where there are too
//!    many for that, the number of orders is the answer, and [`sample`] gives executions of some classes.
//! 4. [`pairs`]: TPAIR counts the classes of each two threads that are run alone ([`scope`]).
//!
//! **Soundness and limits**: see [`Counting`]. Executions that an assumption discards do not count. Executions without an end
//! are not counted either: where they perform operations without an end, `infinite` says so.

mod course;
mod cycles;
mod enumerate;
mod footprint;
mod operations;
mod orders;
mod pairs;
mod sample;
mod scope;

pub use operations::Operations;
pub use pairs::{MAX_THREADS, PairCount, PairCounts, thread_pairs};

use crate::budget::{Bound, Budget, Limits, Statistics};
use crate::vm::{Choice, Machine, Tables};
use orders::NoNumber;
use scope::Scope;

/// How classes were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Each class was told from the others.
    Enumerated,
    /// The orders of steps that depend on each other were counted; no execution was run of each.
    Orders {
        /// Whether each of them is a class. Else there may be fewer classes: orders in which locks are taken, or other
        /// synchronisation takes place, count apart, though no version may show them.
        exact: bool,
    },
}

/// What is asked of a count beyond the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassOptions {
    /// Executions that are kept, one for each class, at most.
    pub max_representatives: usize,
    /// States, told apart by what their threads have done, up to which classes are enumerated.
    pub max_enumerated: u64,
    /// Nodes up to which classes are counted that are too many to be enumerated.
    pub max_counted: u64,
}

impl Default for ClassOptions {
    fn default() -> ClassOptions {
        ClassOptions { max_representatives: 1_000, max_enumerated: 200_000, max_counted: 1_000_000 }
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
    let most = options.max_representatives;
    let cycles = cycles::find_cycles(machine, tables, what, &limited(options.max_enumerated));
    let orders = if cycles.with_operation {
        Err(NoNumber::Cycle)
    } else {
        let max_nodes = budget.limits().max_states.map_or(options.max_counted, |limit| limit.min(options.max_counted));
        orders::count_orders(machine, tables, what, budget, max_nodes)
    };
    // Of classes without an end a few will do, and of those whose number is known already. There are at least as many states
    // with what threads have done as without.
    let is_known = orders.as_ref().is_ok_and(|orders| orders.is_exact && orders.count > most as u128);
    let is_hopeless = cycles.with_operation || cycles.bound.is_some() || is_known;
    let states = if is_hopeless { options.max_enumerated / 16 } else { options.max_enumerated };
    let found = enumerate::enumerate(machine, tables, what, &limited(states), most);
    let (mut known, mut representatives) = (found.classes, found.representatives);
    let mut bound = found.searched.bound;
    let mut statistics = found.searched.statistics;
    let mut add = |done: &Statistics| {
        statistics.states += done.states;
        statistics.steps += done.steps;
    };
    add(&cycles.statistics);
    let (mut classes, mut counting) = (known.len() as u128, Counting::Enumerated);
    if bound.is_some() {
        sample::sample(machine, tables, what, budget, (&mut known, &mut representatives, most));
        classes = known.len() as u128;
        if let Ok(orders) = orders {
            add(&orders.statistics);
            (classes, counting, bound) = (orders.count, Counting::Orders { exact: orders.is_exact }, None);
        }
    }
    ClassCount { classes, representatives, counting, infinite: cycles.with_operation, bound, statistics }
}

#[cfg(test)]
mod tests;
