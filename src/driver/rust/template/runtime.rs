//! The runtime of a test of this package: threads that follow a recorded execution.
//!
//! Every event of the execution has a single-assignment latch, numbered in the order of the recording. A read asks its pi for a
//! value: it waits for the latch of the chosen write, and takes the value from there. A write puts its value into its latch.
//! Locks, events, barriers, conditions, semaphores, forks and joins wait for the previous event on the same object. So the
//! outcome does not depend on timing.
//!
//! `CSSAME_LATCH_SECONDS=N` sets how long a thread waits for a latch while no other one opens (10 s). `CSSAME_DELAYS=SEED`
//! inserts random delays before and after every event.

#[rustfmt::skip]
pub mod program;

use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A value of the program.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Int(i32),
    Long(i64),
    Bool(bool),
    Double(f64),
    Text(&'static str),
    Thread(i64),
    /// An `unsigned long` of C; shorter integers are a `Long`.
    Unsigned(u64),
    /// A pointer of C and the name of what it leads to. Behind a write it is a `Long`.
    Pointer(i64, &'static str),
}

impl Value {
    /// Whether both are the same bits.
    fn is(self, other: Value) -> bool {
        match (self, other) {
            (Value::Int(left), Value::Int(right)) => left == right,
            (Value::Long(left), Value::Long(right)) | (Value::Thread(left), Value::Thread(right)) => left == right,
            (Value::Pointer(left, _), Value::Pointer(right, _) | Value::Long(right)) => left == right,
            (Value::Long(left), Value::Pointer(right, _)) => left == right,
            (Value::Unsigned(left), Value::Unsigned(right)) => left == right,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Double(left), Value::Double(right)) => left.to_bits() == right.to_bits(),
            (Value::Text(left), Value::Text(right)) => left == right,
            _ => false,
        }
    }
}

/// As `print` writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Long(value) => write!(f, "{value}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Double(value) => write!(f, "{value:?}"),
            Value::Text(value) => f.write_str(value),
            Value::Thread(value) => write!(f, "thread {value}"),
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Pointer(_, name) => f.write_str(name),
        }
    }
}

/// A thread handle; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handle(pub i64);

/// Types of the program.
pub trait Data: Copy + PartialEq {
    fn value(self) -> Value;
    fn data(value: Value) -> Option<Self>;
}

macro_rules! data {
    ($type:ty, $variant:ident) => {
        impl Data for $type {
            fn value(self) -> Value {
                Value::$variant(self)
            }
            fn data(value: Value) -> Option<Self> {
                if let Value::$variant(value) = value { Some(value) } else { None }
            }
        }
    };
}

data!(i32, Int);
data!(u64, Unsigned);
data!(bool, Bool);
data!(f64, Double);
data!(&'static str, Text);

impl Data for Handle {
    fn value(self) -> Value {
        Value::Thread(self.0)
    }
    fn data(value: Value) -> Option<Self> {
        if let Value::Thread(value) = value { Some(Handle(value)) } else { None }
    }
}

/// A `long`, or a pointer of C.
impl Data for i64 {
    fn value(self) -> Value {
        Value::Long(self)
    }
    fn data(value: Value) -> Option<Self> {
        if let Value::Long(value) | Value::Pointer(value, _) = value { Some(value) } else { None }
    }
}

macro_rules! short {
    ($($type:ty)*) => {
        $(impl Data for $type {
            fn value(self) -> Value {
                Value::Long(self.into())
            }
            fn data(value: Value) -> Option<Self> {
                if let Value::Long(value) = value { value.try_into().ok() } else { None }
            }
        })*
    };
}

short!(i8 u8 i16 u16 u32);

/// What the function of a thread returns.
pub trait Outcome {
    fn outcome(self) -> Value;
}

impl Outcome for () {
    fn outcome(self) -> Value {
        Value::Bool(true)
    }
}

impl<T: Data> Outcome for T {
    fn outcome(self) -> Value {
        self.value()
    }
}

/// The pointer so many cells behind another one: the upper half of one to an object is the object. Of an integer, so much more.
pub fn behind(pointer: i64, cells: i64) -> i64 {
    if pointer >> 62 == 1 {
        pointer >> 32 << 32 | i64::from((pointer as u32).wrapping_add(cells as u32))
    } else {
        pointer.wrapping_add(cells)
    }
}

/// Types that `fetch_add` adds.
pub trait Add: Data {
    fn add(self, other: Self) -> Self;
}

macro_rules! add {
    ($($type:ty)*) => {
        $(impl Add for $type {
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        })*
    };
}

add!(i32 i64 u32 u64);

impl Add for f64 {
    fn add(self, other: Self) -> Self {
        self + other
    }
}

/// Where a read gets its value.
#[derive(Clone, Copy, Debug)]
pub enum From {
    /// The value before the first write.
    Initial(Value),
    /// The write with that latch.
    Latch(usize),
}

/// What a thread does in one event.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Read(From),
    Write(Value),
    Lock,
    Unlock,
    /// Takes a lock that the thread holds once more, or gives one of several holds back.
    Nested,
    /// A try finds the lock taken.
    NotTaken,
    /// A wait for a condition is given up.
    TimedOut,
    Set,
    Clear,
    WaitEvent,
    Arrive,
    Leave,
    Wait,
    Woken,
    Notify,
    Acquire,
    Release,
    /// Makes the thread of that number.
    Fork(usize),
    /// As `Fork`; the number is followed by the handle.
    Spawn(usize, i64),
    Join,
    Choose(i32),
    /// Gives memory of C back.
    Free,
    /// Makes a local variable of C, with that address.
    Allocate(i64),
    Print(&'static str),
    /// The program fails, and says this.
    Fail(&'static str),
    End,
}

/// An event of the recorded execution: its latch, what happens, where, and the latches that must be open before.
#[derive(Clone, Copy, Debug)]
pub struct Event(pub usize, pub Act, pub &'static str, pub &'static [usize]);

/// A thread of the recorded execution.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub name: &'static str,
    pub events: &'static [Event],
}

/// How the recorded execution ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// All threads end.
    Ok,
    /// The program fails, and says this.
    Fails(&'static str),
    /// The threads of these numbers wait for ever, each at that place, and for what the words say.
    Deadlock(&'static [(usize, &'static str, &'static str)]),
}

/// A recorded execution and what comes of it.
#[derive(Clone, Copy, Debug)]
pub struct Future {
    pub threads: &'static [Plan],
    /// What each thread prints, by its number.
    pub output: &'static [(usize, &'static [&'static str])],
    /// Shared variables, where they get their last value, and that value.
    pub shared: &'static [(&'static str, From, Value)],
    pub end: End,
    /// Where the program fails, else its source file.
    pub place: &'static str,
    /// The values that the failure comes from.
    pub facts: &'static [&'static str],
    /// The file of the execution in this package.
    pub schedule: &'static str,
}

/// Events that a failed test shows.
const SHOWN: usize = 40;

impl Future {
    /// The value that an event reads.
    fn value(&self, from: From) -> Option<Value> {
        match from {
            From::Initial(value) => Some(value),
            From::Latch(latch) => {
                let mut events = self.threads.iter().flat_map(|plan| plan.events);
                events.find_map(|event| match event.1 {
                    Act::Write(value) if event.0 == latch => Some(value),
                    _ => None,
                })
            }
        }
    }

    /// The last events of the execution, in their order, with what they read and write.
    fn events(&self) -> String {
        let of = |plan: &'static Plan| plan.events.iter().map(|event| (plan.name, event));
        let mut events: Vec<(&str, &Event)> = self.threads.iter().flat_map(of).collect();
        events.retain(|(_, event)| !matches!(event.1, Act::End | Act::Leave | Act::Fork(_) | Act::Allocate(_)));
        events.sort_by_key(|(_, event)| event.0);
        let mut text = format!("\nthe schedule, from {}:", self.schedule);
        if events.len() > SHOWN {
            text += &format!("\n  … {} events before", events.len() - SHOWN);
        }
        let shown = events.into_iter().rev().take(SHOWN).rev();
        let line = |(thread, Event(_, act, place, _)): (&str, &Event)| {
            let value = match *act {
                Act::Read(from) => self.value(from),
                Act::Write(value) => Some(value),
                _ => None,
            };
            match (act, value) {
                (_, Some(value)) => format!("\n  {thread}: {} {place} = {value}", word(*act)),
                (Act::Print(line), _) => format!("\n  {thread}: print {line}"),
                _ => format!("\n  {thread}: {place}"),
            }
        };
        let mut lines: Vec<String> = shown.map(line).collect();
        // A wait gives its lock back and begins to wait: two events of one place.
        lines.dedup();
        text + &lines.concat()
    }
}

/// What a test wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A program without failures.
    Program,
    /// What was recorded, also where it is a failure.
    Recorded,
}

/// Why a thread does not go on.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// The recorded execution is over for it.
    Over,
    /// The program has failed as recorded.
    Failed,
    /// The thread has ended within a function that it has called.
    Ended(Value),
    /// The execution has departed from the recorded one.
    Departed,
}

/// What a part of the program returns.
pub type Flow<T> = Result<T, Stop>;

/// The body of a thread.
pub type Body = Box<dyn FnOnce(&Thread) -> Flow<Value> + Send>;

/// A thread to be made, for `fork`.
pub fn body<T: Outcome>(run: impl FnOnce(&Thread) -> Flow<T> + Send + 'static) -> Body {
    Box::new(|t| run(t).map(T::outcome))
}

struct State {
    latches: Vec<Option<Value>>,
    output: Vec<Vec<String>>,
    /// By thread: where it stands that does not go on.
    stands: Vec<Option<&'static str>>,
    running: Vec<JoinHandle<()>>,
    departure: Option<String>,
    /// When the last latch was opened.
    moved: Instant,
}

struct Run {
    future: &'static Future,
    state: Mutex<State>,
    changed: Condvar,
    patience: Duration,
    delays: Option<u64>,
}

impl Run {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn depart(&self, message: String) -> Stop {
        self.state().departure.get_or_insert(message);
        self.changed.notify_all();
        Stop::Departed
    }

    /// Keeps a thread until it has ended, and lets go of those that have.
    fn keep(&self, thread: JoinHandle<()>) -> Flow<()> {
        let mut state = self.state();
        let (ended, running) = state.running.drain(..).partition(JoinHandle::is_finished);
        let ended: Vec<JoinHandle<()>> = ended;
        state.running = running;
        state.running.push(thread);
        drop(state);
        ended.into_iter().try_for_each(|thread| match thread.join() {
            Ok(()) => Ok(()),
            Err(_) => Err(self.depart("a thread of the program panicked".to_owned())),
        })
    }

    /// What a latch stands for.
    fn latch_name(&self, latch: usize) -> String {
        let all = self.future.threads.iter().flat_map(|plan| plan.events.iter().map(move |event| (plan.name, event)));
        match all.into_iter().find(|(_, event)| event.0 == latch) {
            Some((name, event)) => format!("latch {latch} ({} of {name} at {})", word(event.1), event.2),
            None => format!("latch {latch}"),
        }
    }
}

/// The word for what a thread does.
fn word(act: Act) -> &'static str {
    match act {
        Act::Read(_) => "read",
        Act::Write(_) => "write",
        Act::Lock => "lock",
        Act::Unlock => "unlock",
        Act::Nested => "lock or unlock of a lock that is held several times",
        Act::NotTaken => "try of a lock that is taken",
        Act::TimedOut => "time-out",
        Act::Set => "set",
        Act::Clear => "clear",
        Act::WaitEvent => "wait for the event",
        Act::Arrive => "arrival",
        Act::Leave => "departure",
        Act::Wait => "wait",
        Act::Woken => "wake-up",
        Act::Notify => "notification",
        Act::Acquire => "P",
        Act::Release => "V",
        Act::Fork(_) => "fork",
        Act::Spawn(..) => "spawn",
        Act::Join => "join",
        Act::Choose(_) => "choice",
        Act::Free => "free",
        Act::Allocate(_) => "local variable",
        Act::Print(_) => "print",
        Act::Fail(_) => "failure",
        Act::End => "end",
    }
}

/// Local work between two events beyond which a thread runs for ever.
const LOCAL_ROUNDS: u32 = 1_000_000;

/// Calls beyond which they are endless.
const DEPTH: u32 = 1_000;

/// Room for so many calls.
const STACK: usize = 64 << 20;

/// What a thread fails with that does local work beyond a limit, or whose calls are too deep.
const TOO_LONG: &str = "the thread computes too long";
const TOO_DEEP: &str = "the calls are too deep";

/// A thread of the program: its plan, and how far it has come.
pub struct Thread {
    run: Arc<Run>,
    number: usize,
    handle: Handle,
    next: Cell<usize>,
    rounds: Cell<u32>,
    depth: Cell<u32>,
    /// The element of an array that it comes to now.
    element: Cell<Option<i64>>,
    random: Cell<u64>,
}

impl Thread {
    fn new(run: &Arc<Run>, number: usize, handle: Handle) -> Thread {
        let seed = run.delays.unwrap_or(0).wrapping_add(number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let (next, rounds, depth) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let (element, random) = (Cell::new(None), Cell::new(seed));
        Thread { run: Arc::clone(run), number, handle, next, rounds, depth, element, random }
    }

    fn plan(&self) -> &'static Plan {
        &self.run.future.threads[self.number]
    }

    fn planned(&self) -> Option<&'static Event> {
        self.plan().events.get(self.next.get())
    }

    /// Waits a little, if delays are asked for.
    fn delay(&self) {
        if self.run.delays.is_some() {
            let mut random = self.random.get();
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            self.random.set(random);
            thread::sleep(Duration::from_micros(random % 1_000));
        }
    }

    /// Says which element of an array the next access is to.
    pub fn element(&self, index: impl Into<i64>) -> &Thread {
        self.element.set(Some(index.into()));
        self
    }

    /// Whether an event is planned for this place, and for this element if it is one of an array.
    fn is_at(&self, at: &str, event: &Event) -> bool {
        let Some(element) = self.element.get() else { return event.2 == at };
        let planned = event.2.strip_prefix(at).and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']')?.parse().ok());
        planned == Some(element)
    }

    /// The event that is planned now, if it is the one that the program has come to.
    fn expect(&self, at: &'static str, kind: &str, fits: impl Fn(Act) -> bool) -> Flow<&'static Event> {
        self.rounds.set(0);
        match self.planned() {
            None => {
                self.run.state().stands[self.number] = Some(at);
                Err(Stop::Over)
            }
            Some(event) if self.is_at(at, event) && fits(event.1) => Ok(event),
            Some(&Event(_, Act::Fail(message), place, _)) if place == at || is_limit(message) => {
                Err(self.failed(message))
            }
            Some(event) => {
                let name = self.plan().name;
                let planned = format!("the {} at {} is planned", word(event.1), event.2);
                let element = self.element.get().map_or(String::new(), |element| format!("[{element}]"));
                Err(self.run.depart(format!("{name} has come to the {kind} at {at}{element}, but {planned}")))
            }
        }
    }

    /// Waits for a latch, and gives what is in it.
    fn wait_for(&self, latch: usize, at: &str) -> Flow<Value> {
        let mut state = self.run.state();
        loop {
            if state.departure.is_some() {
                return Err(Stop::Departed);
            }
            if let Some(value) = state.latches[latch] {
                return Ok(value);
            }
            let left = self.run.patience.saturating_sub(state.moved.elapsed());
            if left.is_zero() {
                drop(state);
                let (latch, name) = (self.run.latch_name(latch), self.plan().name);
                let waited = format!("{latch} did not open within {:?}", self.run.patience);
                return Err(self.run.depart(format!("{waited}; {name} waits for it at {at}")));
            }
            state = self.run.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait_all(&self, event: &Event) -> Flow<()> {
        self.delay();
        event.3.iter().try_for_each(|&latch| self.wait_for(latch, event.2).map(|_| ()))
    }

    /// Opens the latch of an event, and goes on to the next one.
    fn open(&self, event: &Event, value: Value) -> Flow<()> {
        let twice = {
            let mut state = self.run.state();
            state.moved = Instant::now();
            state.latches[event.0].replace(value).is_some()
        };
        if twice {
            return Err(self.run.depart(format!("{} was opened twice", self.run.latch_name(event.0))));
        }
        self.next.set(self.next.get() + 1);
        self.element.set(None);
        self.run.changed.notify_all();
        self.delay();
        Ok(())
    }

    /// An event without a value.
    fn pass(&self, at: &'static str, kind: &str, fits: impl Fn(Act) -> bool) -> Flow<()> {
        let event = self.expect(at, kind, fits)?;
        self.wait_all(event)?;
        self.open(event, Value::Bool(true))
    }

    fn failed(&self, message: &str) -> Stop {
        match self.planned() {
            None => Stop::Over,
            Some(event @ &Event(_, Act::Fail(planned), ..)) if planned == message => {
                let done = self.wait_all(event).and_then(|()| self.open(event, Value::Bool(true)));
                done.err().unwrap_or(Stop::Failed)
            }
            Some(event) => {
                let planned = format!("the {} at {} is planned", word(event.1), event.2);
                self.run.depart(format!("{} fails ({message}), but {planned}", self.plan().name))
            }
        }
    }

    /// A read: the value of the write that was chosen for it.
    pub fn pi<T: Data>(&self, at: &'static str) -> Flow<T> {
        let event = self.expect(at, "read", |act| matches!(act, Act::Read(_)))?;
        let Act::Read(from) = event.1 else { return Err(Stop::Departed) };
        self.wait_all(event)?;
        let value = match from {
            From::Initial(value) => value,
            From::Latch(latch) => self.wait_for(latch, at)?,
        };
        self.open(event, value)?;
        T::data(value).ok_or_else(|| self.run.depart(format!("the read at {at} has another type than {value:?}")))
    }

    /// A write: it trips the latch that its readers wait for.
    pub fn define<T: Data>(&self, at: &'static str, value: T) -> Flow<()> {
        let event = self.expect(at, "write", |act| matches!(act, Act::Write(_)))?;
        let value = value.value();
        match event.1 {
            Act::Write(planned) if !planned.is(value) => {
                let name = self.plan().name;
                Err(self.run.depart(format!("{name} writes {value:?} at {at}, but {planned:?} is planned")))
            }
            _ => {
                self.wait_all(event)?;
                self.open(event, value)
            }
        }
    }

    pub fn compare_and_swap<T: Data>(&self, read: &'static str, write: &'static str, old: T, new: T) -> Flow<bool> {
        Ok(self.compare_exchange(read, write, old, new)? == old)
    }

    pub fn swap<T: Data>(&self, read: &'static str, write: &'static str, new: T) -> Flow<T> {
        self.modify(read, write, |_| new)
    }

    pub fn fetch_add<T: Add>(&self, read: &'static str, write: &'static str, more: T) -> Flow<T> {
        self.modify(read, write, |old: T| old.add(more))
    }

    /// Writes where the cell holds `old`; what it held.
    pub fn compare_exchange<T: Data>(&self, read: &'static str, write: &'static str, old: T, new: T) -> Flow<T> {
        let element = self.element.get();
        let held: T = self.pi(read)?;
        if held == old {
            self.element.set(element);
            self.define(write, new)?;
        }
        Ok(held)
    }

    /// Writes what the function makes of what the cell holds; what it held.
    pub fn modify<T: Data>(&self, read: &'static str, write: &'static str, new: impl Fn(T) -> T) -> Flow<T> {
        let element = self.element.get();
        let old: T = self.pi(read)?;
        self.element.set(element);
        self.define(write, new(old))?;
        Ok(old)
    }

    /// The handle of the thread itself.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Makes a local variable of C: its address.
    pub fn allocate(&self, at: &'static str) -> Flow<i64> {
        let event = self.expect(at, "local variable", |act| matches!(act, Act::Allocate(_)))?;
        self.open(event, Value::Bool(true))?;
        if let Act::Allocate(pointer) = event.1 { Ok(pointer) } else { Err(Stop::Departed) }
    }

    /// Gives memory of C back; the null pointer is none.
    pub fn free(&self, at: &'static str, pointer: i64) -> Flow<()> {
        if pointer == 0 { Ok(()) } else { self.pass(at, "free", |act| matches!(act, Act::Free)) }
    }

    pub fn choose(&self, at: &'static str, low: i32, high: i32) -> Flow<i32> {
        let event =
            self.expect(at, "choice", |act| matches!(act, Act::Choose(value) if value >= low && value <= high))?;
        self.wait_all(event)?;
        self.open(event, Value::Bool(true))?;
        if let Act::Choose(value) = event.1 { Ok(value) } else { Err(Stop::Departed) }
    }

    pub fn lock(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "lock", |act| matches!(act, Act::Lock | Act::Nested))
    }

    /// Whether the lock was taken in the recorded execution.
    pub fn try_lock(&self, at: &'static str) -> Flow<bool> {
        let is_taken = !matches!(self.planned(), Some(Event(_, Act::NotTaken, ..)));
        self.pass(at, "try of a lock", |act| matches!(act, Act::Lock | Act::Nested | Act::NotTaken))?;
        Ok(is_taken)
    }

    pub fn unlock(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "unlock", |act| matches!(act, Act::Unlock | Act::Nested))
    }

    pub fn set(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "set", |act| matches!(act, Act::Set))
    }

    pub fn clear(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "clear", |act| matches!(act, Act::Clear))
    }

    pub fn wait_event(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "wait for the event", |act| matches!(act, Act::WaitEvent))
    }

    pub fn barrier(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "arrival", |act| matches!(act, Act::Arrive))?;
        self.pass(at, "departure", |act| matches!(act, Act::Leave))
    }

    /// Frees the lock, waits for a notification, takes the lock again.
    pub fn wait_condition(&self, at: &'static str) -> Flow<()> {
        self.unlock(at)?;
        self.wait_bare(at)?;
        self.lock(at)
    }

    /// As [`Thread::wait_condition`]; whether the wait was notified in the recorded execution.
    pub fn timed_wait(&self, at: &'static str) -> Flow<bool> {
        self.unlock(at)?;
        self.pass(at, "wait", |act| matches!(act, Act::Wait))?;
        let is_notified = !matches!(self.planned(), Some(Event(_, Act::TimedOut, ..)));
        self.pass(at, "wake-up", |act| matches!(act, Act::Woken | Act::TimedOut))?;
        self.lock(at)?;
        Ok(is_notified)
    }

    pub fn wait_bare(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "wait", |act| matches!(act, Act::Wait))?;
        self.pass(at, "wake-up", |act| matches!(act, Act::Woken))
    }

    pub fn notify(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "notification", |act| matches!(act, Act::Notify))
    }

    pub fn acquire(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "P", |act| matches!(act, Act::Acquire))
    }

    pub fn release(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "V", |act| matches!(act, Act::Release))
    }

    fn start(&self, number: usize, handle: Handle, run: Body) -> Flow<()> {
        let shared = Arc::clone(&self.run);
        let name = shared.future.threads[number].name;
        let begun = thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(move || {
            Thread::new(&shared, number, handle).follow(run);
        });
        match begun {
            Ok(handle) => self.run.keep(handle),
            Err(error) => Err(self.run.depart(format!("{name} cannot be started: {error}"))),
        }
    }

    fn follow(&self, run: Body) {
        // How a thread has stopped is noted where it does.
        let result = match run(self) {
            Ok(value) | Err(Stop::Ended(value)) => Ok(value),
            Err(stop) => Err(stop),
        };
        let end = |value| {
            let event = self.expect("end", "end", |act| matches!(act, Act::End))?;
            self.wait_all(event)?;
            self.open(event, value)
        };
        let _ = result.and_then(end);
        if let Some(event) = self.planned() {
            let missing = format!("the {} at {} is planned and does not come", word(event.1), event.2);
            self.run.depart(format!("{}: {missing}", self.plan().name));
        }
    }

    /// Makes the threads of a cobegin, or one of a parfor.
    pub fn fork(&self, at: &'static str, bodies: Vec<Body>) -> Flow<()> {
        bodies.into_iter().try_for_each(|body| {
            let event = self.expect(at, "fork", |act| matches!(act, Act::Fork(_)))?;
            let Act::Fork(number) = event.1 else { return Err(Stop::Departed) };
            self.wait_all(event)?;
            self.open(event, Value::Bool(true))?;
            self.start(number, Handle(0), body)
        })
    }

    pub fn spawn(&self, at: &'static str, body: Body) -> Flow<Handle> {
        let event = self.expect(at, "spawn", |act| matches!(act, Act::Spawn(..)))?;
        let Act::Spawn(number, handle) = event.1 else { return Err(Stop::Departed) };
        self.wait_all(event)?;
        self.open(event, Value::Bool(true))?;
        self.start(number, Handle(handle), body)?;
        Ok(Handle(handle))
    }

    /// Ends the thread, from within any call.
    pub fn end(&self, result: impl Outcome) -> Stop {
        Stop::Ended(result.outcome())
    }

    /// Waits for the threads of a cobegin or a parfor, or for a spawned one.
    pub fn join(&self, at: &'static str) -> Flow<()> {
        self.pass(at, "join", |act| matches!(act, Act::Join))
    }

    /// Waits for a spawned thread: the pointer that its function returns, 0 where it returns nothing.
    pub fn join_for_result(&self, at: &'static str) -> Flow<i64> {
        let event = self.expect(at, "join", |act| matches!(act, Act::Join))?;
        self.wait_all(event)?;
        let ends = self.run.future.threads.iter().filter_map(|plan| plan.events.last());
        let end = ends.filter(|last| matches!(last.1, Act::End)).find(|last| event.3.contains(&last.0));
        let result = end.map_or(Ok(Value::Long(0)), |end| self.wait_for(end.0, at))?;
        self.open(event, Value::Bool(true))?;
        Ok(i64::data(result).unwrap_or(0))
    }

    pub fn print(&self, at: &'static str, line: String) -> Flow<()> {
        let event = self.expect(at, "print", |act| matches!(act, Act::Print(_)))?;
        self.wait_all(event)?;
        self.run.state().output[self.number].push(line);
        self.open(event, Value::Bool(true))
    }

    /// The program fails where the condition does not hold.
    pub fn check(&self, holds: bool, at: &'static str, message: &'static str) -> Flow<()> {
        if holds {
            return Ok(());
        }
        if self.planned().is_none() {
            self.run.state().stands[self.number] = Some(at);
        }
        Err(self.failed(message))
    }

    /// The recorded execution violates no assumption.
    pub fn assume(&self, holds: bool, at: &'static str) -> Flow<()> {
        match self.planned() {
            _ if holds => Ok(()),
            None => Err(Stop::Over),
            Some(_) => Err(self.run.depart(format!("{} violates the assumption at {at}", self.plan().name))),
        }
    }

    /// The limit that the thread passes here in the recorded execution, which counts finer than this runtime.
    fn limit(&self) -> Option<&'static str> {
        match self.planned() {
            Some(&Event(_, Act::Fail(message), ..)) if is_limit(message) => Some(message),
            _ => None,
        }
    }

    /// Counts a round of local work: no thread runs for ever without being noticed.
    pub fn round(&self) -> Flow<()> {
        self.rounds.set(self.rounds.get() + 1);
        let own = (self.rounds.get() > LOCAL_ROUNDS).then_some(TOO_LONG);
        match self.limit().or(own) {
            Some(message) => Err(self.failed(message)),
            None => Ok(()),
        }
    }

    /// A call.
    pub fn call<T>(&self, run: impl FnOnce() -> Flow<T>) -> Flow<T> {
        self.depth.set(self.depth.get() + 1);
        let own = (self.depth.get() >= DEPTH).then_some(TOO_DEEP);
        if let Some(message) = self.limit().or(own) {
            return Err(self.failed(message));
        }
        let result = run();
        self.depth.set(self.depth.get() - 1);
        result
    }
}

fn is_limit(message: &str) -> bool {
    message == TOO_LONG || message == TOO_DEEP
}

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs the program along a recorded execution.
///
/// # Panics
///
/// The execution departs from the recorded one, a latch does not open in time, output or shared values are not the
/// predicted ones; or the program fails, and the test does not expect that.
pub fn check<T: Outcome + 'static>(main: fn(&Thread) -> Flow<T>, future: &'static Future, expect: Expect) {
    let latches = future.threads.iter().flat_map(|plan| plan.events).map(|event| event.0 + 1).max().unwrap_or(0);
    let state = State {
        latches: vec![None; latches],
        output: vec![Vec::new(); future.threads.len()],
        stands: vec![None; future.threads.len()],
        running: Vec::new(),
        departure: None,
        moved: Instant::now(),
    };
    let run = Arc::new(Run {
        future,
        state: Mutex::new(state),
        changed: Condvar::new(),
        patience: Duration::from_secs(number_from("CSSAME_LATCH_SECONDS").unwrap_or(10)),
        delays: number_from("CSSAME_DELAYS"),
    });
    // The handle of main in C is that of the first thread.
    let _ = Thread::new(&run, 0, Handle(1)).start(0, Handle(1), body(main));
    loop {
        let running = run.state().running.pop();
        let Some(thread) = running else { break };
        assert!(thread.join().is_ok(), "a thread of the program panicked");
    }
    judge(&run, expect);
}

fn judge(run: &Run, expect: Expect) {
    let state = run.state();
    if let Some(departure) = &state.departure {
        let Future { place, schedule, .. } = run.future;
        panic!("the execution departs from the recorded one: {departure}\n({place}, along {schedule})");
    }
    let mut predicted: Vec<&[&str]> = vec![&[]; run.future.threads.len()];
    for &(number, lines) in run.future.output {
        predicted[number] = lines;
    }
    for ((plan, printed), lines) in run.future.threads.iter().zip(&state.output).zip(predicted) {
        assert_eq!(printed, lines, "output of {}", plan.name);
    }
    for (name, from, expected) in run.future.shared {
        let value = match *from {
            From::Initial(value) => Some(value),
            From::Latch(latch) => state.latches[latch],
        };
        assert!(value.is_some_and(|value| value.is(*expected)), "{name} is {value:?}, not {expected:?}");
    }
    if let End::Deadlock(blocked) = run.future.end {
        for &(number, place, _) in blocked {
            let plan = &run.future.threads[number];
            let last = plan.events.last().map(|event| event.2);
            assert_eq!(state.stands[number].or(last), Some(place), "where {} waits", plan.name);
        }
    }
    match run.future.end {
        End::Fails(message) if expect == Expect::Program => {
            let Future { place, facts, .. } = run.future;
            let facts = if facts.is_empty() { String::new() } else { format!("\n{}", facts.join(", ")) };
            panic!("{place}: {message}{facts}{}", run.future.events());
        }
        End::Deadlock(blocked) if expect == Expect::Program => {
            let name = |number: usize| run.future.threads[number].name;
            let line =
                |&(number, place, waits): &(usize, &str, &str)| format!("\n  {} at {place} {waits}", name(number));
            let blocked: String = blocked.iter().map(line).collect();
            panic!("{}: deadlock:{blocked}{}", run.future.place, run.future.events());
        }
        _ => {}
    }
}
