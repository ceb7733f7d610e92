//! Plans as plain data: the actions of each thread in a recorded execution, the output, the final values, and the kind of end.
//!
//! A plan is independent of the language of its test: each target writes it in its own way.

use super::datum::Datum;
use cssame_vm::Choice;

/// An operation on a synchronisation object, or another event that has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Takes a lock that it did not hold; also behind a wait for a condition.
    Lock,
    /// Frees a lock; also where it begins to wait for a condition.
    Unlock,
    /// Takes a lock that it holds once more, or gives one of several holds back.
    Nested,
    /// Tries to take a lock that it may not take now.
    NotTaken,
    /// Gives up a timed wait.
    TimedOut,
    /// Sets an event.
    Set,
    /// Clears an event.
    Clear,
    /// Goes on because an event is set.
    WaitEvent,
    /// Arrives at a barrier.
    Arrive,
    /// Goes on because all have arrived.
    Leave,
    /// Begins to wait for a condition, or bare.
    Wait,
    /// Is notified, or wakes up for no reason.
    Woken,
    /// Notifies.
    Notify,
    /// Lowers a semaphore.
    Acquire,
    /// Raises a semaphore.
    Release,
    /// Gives memory of a program in C back.
    Free,
    /// Goes on because other threads have ended.
    Join,
    /// Ends.
    End,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is this one, from before the first write.
    Initial(Datum),
    /// The write with that latch.
    Latch(usize),
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Reads that value, which comes from there.
    Read(Source, Datum),
    /// Writes that value.
    Write(Datum),
    /// An operation.
    Plain(Operation),
    /// Makes the thread of that number.
    Fork(usize),
    /// Makes the thread of that number, and gets that handle.
    Spawn(usize, i64),
    /// Chooses that value.
    Choose(i64),
    /// Makes a local variable of a program in C, the address of which is that pointer, by its bits.
    Allocate(i64),
    /// Prints that line.
    Print(String),
    /// Fails with that message.
    Fail(String),
}

/// What comes out of an atomic expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Whether it has written: `cas`.
    Compare,
    /// What was there before: `swap`, `fetch_add`.
    Old,
}

/// An event of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEvent {
    /// Its latch, which is its number in the whole execution: by their latches all events of all threads are in total order,
    /// without a gap from 0 on.
    pub latch: usize,
    /// What happens.
    pub act: Act,
    /// Where: `a@6:24`, `lock L@5:3`.
    pub at: String,
    /// The element of an array that it reads or writes.
    pub element: Option<u32>,
    /// Whether it is an access to memory that is a visible step of its thread. False for what is no access.
    pub shared: bool,
    /// Of [`Operation::Notify`]: the numbers of the threads that it wakes.
    pub wakes: Vec<usize>,
    /// Of [`Operation::Woken`]: whether it wakes up for no reason.
    pub spurious: bool,
    /// Of a read or a write that is a part of an atomic expression: what comes out of that.
    pub exchange: Option<Exchange>,
    /// Of an operation that has a verdict, such as `trylock`: this.
    pub verdict: Option<bool>,
    /// Latches that have to be open before.
    pub after: Vec<usize>,
}

impl PlannedEvent {
    /// Where, with the element of an array: `a@6:24`, `row@7:5[3]`.
    #[must_use]
    pub fn place(&self) -> String {
        let element = self.element.map_or_else(String::new, |element| format!("[{element}]"));
        format!("{}{element}", self.at)
    }
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadPlan {
    /// Its path.
    pub name: String,
    /// In order.
    pub events: Vec<PlannedEvent>,
}

/// How the execution ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads end.
    Ok,
    /// The program fails with that message.
    Fails(String),
    /// These threads wait for ever.
    Deadlock(Vec<WaitingThread>),
}

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingThread {
    /// Its number.
    pub thread: usize,
    /// Where it stands: `lock b@9:5`.
    pub at: String,
    /// ``waits for the lock `b`, which T2 holds since 15:5``
    pub waits: String,
}

/// A shared cell in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastValue {
    /// Its name: a global `a[1].balance`; a local with its declaration, `x@3:7`, a later instance of it `x@3:7#2`.
    pub name: String,
    /// Where it gets its last value.
    pub source: Source,
    /// That value.
    pub value: Datum,
}

/// A recorded execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Main first, then in the order in which they were made.
    pub threads: Vec<ThreadPlan>,
    /// What each thread prints, by its number, in the order of names; those that print nothing are left out. Names alone
    /// would not do: an arm may have the label `main`.
    pub output: Vec<(usize, Vec<String>)>,
    /// The cells of shared variables in the end. Globals come first.
    pub shared: Vec<LastValue>,
    /// How it ends.
    pub end: End,
    /// The same, as schedules have it.
    pub status: &'static str,
    /// The steps of the whole execution.
    pub steps: Vec<Choice>,
}
