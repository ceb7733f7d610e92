//! Explains why no execution has a selection: a cycle of orders that all such executions would have.
//!
//! **Input**: the CSSAME form, and selected terms. **Output**: an [`Explanation`]: a cycle of orders, each of which holds in
//! every execution in which all selected reads read from their selected writes; or the reason why no such cycle can be shown.
//!
//! **Algorithm** (saturation of happens-before with reads-from, as in Gibbons and Korach 1997)
//! 1. Begin with the selected reads and writes. A place in the text may be several events, in different threads or calls. Then
//!    each case must have its own cycle.
//! 2. Add the events that must then happen as well: the dominators of an event, the threads that a passed join waits for, the
//!    signal that a passed wait waits for. Only events that happen at most once are used.
//! 3. Order the events by program order, forks, joins, barriers, signals and the selected reads-from.
//! 4. Derive further orders until there is a cycle or no new order:
//!    - *coherence*: r reads from w, and w' writes the cell before r; then w' is before w;
//!    - *from-read*: r reads from w, and w' writes the cell after w (or w is the initial value); then r is before w';
//!    - *lock order*: an event in one mutex body of a lock is before an event in another; then the first body is left before the
//!      second is entered. An atomic block is a body that excludes everything else.
//!
//! **Soundness and limits**: a derived order names its premises, so the result is a proof. The module does not see values,
//! branches, events that may happen more than once, and the order that conditions and counting semaphores impose.

mod derive;
mod facts;
mod name;
mod orders;

pub use name::{OrderReport, PlaceReport, ReasonReport, reason_report};

use crate::Form;
use crate::Selection;
use cssame_ir::Program;
use derive::Derivation;

pub use cssame_concurrency::mutex_body::Site;

/// Why one event comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// One thread does both, in this order.
    Program,
    /// A thread does nothing before it is made.
    Fork,
    /// A join waits for the whole thread.
    Join,
    /// A round of a barrier lies between.
    Barrier,
    /// A wait for what only the other does.
    Signal,
    /// A selected term.
    ReadsFrom,
    /// The selected read sees a later write.
    Coherence,
    /// The selected read sees an earlier write.
    FromRead,
    /// Two bodies of a lock, or something and an atomic block.
    Lock,
}

impl OrderKind {
    /// The word of the contract.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            OrderKind::Program => "program-order",
            OrderKind::Fork => "fork",
            OrderKind::Join => "join",
            OrderKind::Barrier => "barrier",
            OrderKind::Signal => "signal",
            OrderKind::ReadsFrom => "reads-from",
            OrderKind::Coherence => "coherence",
            OrderKind::FromRead => "from-read",
            OrderKind::Lock => "lock-order",
        }
    }
}

/// What an order that was derived rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Nothing but the program and the selection.
    Given,
    /// The selection of that place, and that these orders lead from one event to another.
    Read {
        /// The selection.
        selection: usize,
        /// Places of the orders; none where the read sees the initial value.
        path: Vec<usize>,
    },
    /// Two events in bodies of a lock (`None`: in an atomic block, and something else), and the orders that lead from one to
    /// the other.
    Bodies {
        /// What takes the lock.
        lock: Site,
        /// What stands in the first body.
        first: Site,
        /// What stands in the second.
        second: Site,
        /// Places of the orders.
        path: Vec<usize>,
    },
}

/// An order of two events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What comes first.
    pub from: Site,
    /// What comes later.
    pub to: Site,
    /// Why.
    pub kind: OrderKind,
    /// What it rests on.
    pub ground: Ground,
}

/// Why no execution has all the selections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// Orders that would form a cycle.
    Cycle {
        /// All orders that are needed; one that was derived stands behind those that it rests on.
        orders: Vec<Order>,
        /// The places of those that form the cycle, each of which ends where the next begins.
        cycle: Vec<usize>,
        /// Where a read or a write stands in a function that several threads run: in how many cases there is a cycle, of which
        /// this is the first.
        cases: usize,
    },
    /// Two events of one thread that lie on different branches.
    Exclusive {
        /// One.
        first: Site,
        /// The other.
        second: Site,
    },
    /// No order forbids it, as far as this analysis sees.
    None(NoCycle),
}

/// Why no cycle can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCycle {
    /// The orders that are known do not contradict each other: values, branches or other synchronisation decide.
    Consistent,
    /// The read of that selection may happen more than once in a thread, or in too many threads.
    ManyReads(usize),
    /// Its write may.
    ManyWrites(usize),
    /// There are too many events.
    TooLarge,
}

/// Looks for orders that forbid an execution with all the selections.
#[must_use]
pub fn explain(program: &Program, form: &Form, selections: &[Selection]) -> Explanation {
    if form.concurrency.merged {
        return Explanation::None(NoCycle::TooLarge);
    }
    Derivation::new(program, form).run(selections)
}
