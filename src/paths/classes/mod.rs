//! Counts the classes of executions that reachability testing and TPAIR distinguish.
//!
//! Two executions are in one class if each thread performs the same operations on the same versions of the same cells, draws the
//! same values, and both end in the same way (Carver and Lei: reachability testing runs one execution of each class). An
//! operation is a visible access to a shared cell that some thread writes ([`Operations`]). The version of a cell is the number
//! of writes to it so far; a write carries the version that it creates. The orders of locks and notifications alone do not
//! distinguish classes. An end is the end of all threads, a failure and its place, or a deadlock and the positions of the
//! threads.
//!
//! **Input**: a machine, its operations, a budget. **Output**: the number of classes, and executions of them.
//!
//! **Algorithm**
//! 1. [`cycles`]: decide whether a reachable cycle of states contains an operation. If so, the number of classes is infinite.
//! 2. [`orders`]: count classes by the orders of dependent steps, without running an execution of each.
//! 3. Distinguish classes. If the orders are not too many, run an execution of each ([`orders`]). If classes seem to be few, or
//!    orders have no number, search through states with the history of the threads ([`enumerate`]). If that exceeds the bounds as
//!    well, the number of orders is the answer, and [`sample`] provides executions of some classes.
//! 4. [`pairs`]: TPAIR counts the classes of each pair of threads that run alone ([`scope`]).
//!
//! **Soundness and limits**: see [`Counting`]. Discarded executions do not count. Endless executions are not counted either: if
//! they perform operations without end, `infinite` says so.

mod course;
mod cycles;
mod enumerate;
mod footprint;
mod found;
mod operations;
mod orders;
mod pairs;
mod sample;
mod scope;

pub use operations::Operations;
pub use pairs::{MAX_THREADS, PairCount, PairCounts, thread_pairs};

use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_vm::{Choice, Machine, Tables};
use found::{Classes, Found};
use orders::{NoNumber, Orders};
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
    /// Executions, or states with what their threads have done, up to which classes are enumerated.
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
    let mut counted = Count { machine, tables, what, budget, options, statistics: Statistics::default() };
    let mut found = Found { classes: Classes::default(), schedules: Vec::new(), most: options.max_representatives };
    let cycles = cycles::find_cycles(machine, tables, what, &counted.limited(options.max_enumerated));
    counted.add(&cycles.statistics);
    let infinite = cycles.with_operation;
    let orders = if infinite { Err(NoNumber::Cycle) } else { counted.orders() };
    let (counting, bound) = match &orders {
        Ok(orders) => counted.with_orders(orders, &mut found),
        // Of classes without an end a few will do; and there are at least as many states with what threads have done as
        // without.
        Err(_) if infinite || cycles.bound.is_some() => counted.by_states(options.max_enumerated / 16, &mut found),
        Err(_) => counted.by_states(options.max_enumerated, &mut found),
    };
    let is_enumerated = counting == Counting::Enumerated;
    if !is_enumerated || bound.is_some() {
        let missing = found.most.saturating_sub(found.schedules.len());
        sample::sample(machine, tables, what, budget, (&mut found, 4 * missing));
    }
    let classes = orders.ok().filter(|_| !is_enumerated).map_or(found.classes.len() as u128, |orders| orders.count);
    let statistics = counted.statistics;
    ClassCount { classes, representatives: found.schedules, counting, infinite, bound, statistics }
}

/// Executions from which it is guessed whether classes are few.
const GUESSES: usize = 256;

/// A count that goes on.
struct Count<'a> {
    machine: &'a Machine,
    tables: &'a Tables,
    what: (&'a Operations, &'a Scope),
    budget: &'a Budget<'a>,
    options: &'a ClassOptions,
    statistics: Statistics,
}

impl<'a> Count<'a> {
    fn limited(&self, states: u64) -> Budget<'a> {
        self.budget.share(Limits { max_states: Some(states), ..Limits::default() })
    }

    /// Adds what a search has cost.
    fn add(&mut self, done: &Statistics) {
        self.statistics.states += done.states;
        self.statistics.steps += done.steps;
        self.statistics.executions += done.executions;
    }

    fn orders(&mut self) -> Result<Orders, NoNumber> {
        let max_counted = self.options.max_counted;
        let max_nodes = self.budget.limits().max_states.map_or(max_counted, |limit| limit.min(max_counted));
        let orders = orders::count_orders(self.machine, self.tables, self.what, self.budget, max_nodes);
        if let Ok(orders) = &orders {
            self.add(&orders.statistics);
        }
        orders
    }

    /// Tells classes apart where there are not too many orders, or few classes for them.
    fn with_orders(&mut self, orders: &Orders, found: &mut Found) -> (Counting, Option<Bound>) {
        let counting = Counting::Orders { exact: orders.is_exact };
        if orders.is_exact && orders.count > found.most as u128 {
            return (counting, None);
        }
        if orders.count <= u128::from(self.options.max_enumerated) {
            match orders::run_orders(self.machine, self.tables, self.what, self.budget, found) {
                Ok(done) => {
                    self.add(&done);
                    return (Counting::Enumerated, None);
                }
                Err(_) => return (counting, None),
            }
        }
        let mut guess = Found { classes: Classes::default(), schedules: Vec::new(), most: 0 };
        sample::sample(self.machine, self.tables, self.what, self.budget, (&mut guess, GUESSES));
        if orders.is_exact || guess.classes.len() > GUESSES / 2 {
            return (counting, None);
        }
        match self.by_states(self.options.max_enumerated, found) {
            (enumerated, None) => (enumerated, None),
            (_, Some(_)) => (counting, None),
        }
    }

    /// Tells classes apart by states with what threads have done.
    fn by_states(&mut self, states: u64, found: &mut Found) -> (Counting, Option<Bound>) {
        let searched = enumerate::enumerate(self.machine, self.tables, self.what, &self.limited(states), found);
        self.add(&searched.statistics);
        (Counting::Enumerated, searched.bound)
    }
}

#[cfg(test)]
mod tests;
