//! The runtime of the free tests of this package: plain threads and real memory, for a race detector.
//!
//! Memory is a list of slots. Data is read and written without added synchronisation: if the program races, this package races,
//! and a detector (such as ThreadSanitizer) should find it. Accesses are volatile, so that a loop that waits for another thread
//! reads again. Each synchronisation object has its own gate, so that no order is added that the program does not have. The gate
//! of a readers-writer lock is one of the standard library, so that readers are not ordered either. A thread that waits to write
//! keeps no thread out, even if the executions were recorded with preferred writers. An atomic block holds one gate that all such
//! blocks share.
//!
//! Tests differ in the order of locks that they approximate, which is that of their recorded execution: a thread that is about to
//! acquire a lock waits for a moment (`CSSAME_FREE_TURN`, 20 ms) until the earlier locks are acquired, and then continues anyway.
//! A relaxed counter and sleeping report this, and they order nothing for a detector.
//!
//! `CSSAME_FREE_ROUNDS=N` sets how often each test runs the program (20). `CSSAME_LATCH_SECONDS=N` sets how long a thread waits
//! before this counts as a deadlock (10 s).

#[rustfmt::skip]
pub mod program;

use std::cell::{Cell, RefCell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A value that memory begins with.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Int(i32),
    Long(i64),
    Bool(bool),
    Double(f64),
    Text(&'static str),
    Thread(i64),
}

/// A thread handle; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handle(pub i64);

/// Types of the program, and how a slot holds them.
pub trait Data: Copy + PartialEq {
    fn bits(self) -> i64;
    fn of(bits: i64) -> Self;
}

impl Data for i32 {
    fn bits(self) -> i64 {
        i64::from(self)
    }
    fn of(bits: i64) -> i32 {
        bits as i32
    }
}

impl Data for i64 {
    fn bits(self) -> i64 {
        self
    }
    fn of(bits: i64) -> i64 {
        bits
    }
}

impl Data for bool {
    fn bits(self) -> i64 {
        i64::from(self)
    }
    fn of(bits: i64) -> bool {
        bits != 0
    }
}

impl Data for f64 {
    fn bits(self) -> i64 {
        self.to_bits() as i64
    }
    fn of(bits: i64) -> f64 {
        f64::from_bits(bits as u64)
    }
}

/// A text is kept for ever, and its number is in the slot; equal texts have one number.
static TEXTS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

impl Data for &'static str {
    fn bits(self) -> i64 {
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_empty() {
            return 0;
        }
        let known = texts.iter().position(|&text| text == self);
        known.unwrap_or_else(|| {
            texts.push(self);
            texts.len() - 1
        }) as i64
            + 1
    }
    fn of(bits: i64) -> &'static str {
        let texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        if bits == 0 { "" } else { texts[bits as usize - 1] }
    }
}

impl Data for Handle {
    fn bits(self) -> i64 {
        self.0
    }
    fn of(bits: i64) -> Handle {
        Handle(bits)
    }
}

/// Types that `fetch_add` adds.
pub trait Add: Data {
    fn add(self, other: Self) -> Self;
}

impl Add for i32 {
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Add for i64 {
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Add for f64 {
    fn add(self, other: Self) -> Self {
        self + other
    }
}

impl Value {
    fn bits(self) -> i64 {
        match self {
            Value::Int(value) => value.bits(),
            Value::Long(value) | Value::Thread(value) => value,
            Value::Bool(value) => value.bits(),
            Value::Double(value) => value.bits(),
            Value::Text(value) => value.bits(),
        }
    }
}

/// What an object of synchronisation knows; its meaning is that of the operations.
#[derive(Default)]
struct Object {
    value: i64,
    more: i64,
    round: i64,
}

struct Slot {
    data: UnsafeCell<i64>,
    object: Mutex<Object>,
    changed: Condvar,
    /// Of a readers-writer lock.
    gate: RwLock<()>,
}

/// What the slot of a re-entrant lock begins with.
const REENTRANT: i64 = 1 << 62;

impl Slot {
    fn new(bits: i64) -> Slot {
        let object = if bits == REENTRANT {
            Object { round: REENTRANT, ..Object::default() }
        } else {
            Object { value: bits, ..Object::default() }
        };
        Slot { data: UnsafeCell::new(bits), object: Mutex::new(object), changed: Condvar::new(), gate: RwLock::new(()) }
    }
}

/// A place in memory.
#[derive(Clone, Copy)]
pub struct Place(*const Slot);

// A place is only followed while the run that owns its slots goes on; what two threads do to it is the program's affair.
unsafe impl Send for Place {}
unsafe impl Sync for Place {}

/// No place: what a variable begins with.
pub const NOWHERE: Place = Place(std::ptr::null());

impl Place {
    pub fn at(self, offset: usize) -> Place {
        Place(self.0.wrapping_add(offset))
    }

    /// An element of an array; the index was checked.
    pub fn index(self, index: impl Into<i64>) -> Place {
        self.at(index.into() as usize)
    }

    /// An element of an array of objects, or of arrays, of so many slots each; the index was checked.
    pub fn element(self, index: impl Into<i64>, stride: usize) -> Place {
        self.at(index.into() as usize * stride)
    }

    fn slot(&self) -> &Slot {
        unsafe { &*self.0 }
    }

    /// The gate of a readers-writer lock. It is there as long as the run, and so are its guards.
    fn gate(self) -> &'static RwLock<()> {
        unsafe { &(*self.0).gate }
    }
}

/// The slots of a variable. They stay where they are until the run is over.
struct Slots(Box<[Slot]>);

unsafe impl Send for Slots {}
unsafe impl Sync for Slots {}

fn slots(values: &[Value]) -> Slots {
    Slots(values.iter().map(|value| Slot::new(value.bits())).collect())
}

/// The run is over.
#[derive(Debug)]
pub struct Stop;

/// What a step of the program gives, unless the run is over.
pub type Flow<T> = Result<T, Stop>;

/// What a thread runs.
pub type Body = Box<dyn FnOnce(&Thread) -> Flow<()> + Send>;

/// Boxes what a thread runs.
pub fn body(run: impl FnOnce(&Thread) -> Flow<()> + Send + 'static) -> Body {
    Box::new(run)
}

/// What a thread of the recorded execution did: the threads that it made, by their places in the list, and the places of the
/// locks that it took in the order of all locks.
#[derive(Debug)]
pub struct Turns {
    pub made: &'static [usize],
    pub locks: &'static [usize],
}

struct Run {
    turns: &'static [Turns],
    /// Locks that were taken, counted in the order of the recorded execution.
    taken: AtomicUsize,
    turn: Duration,
    globals: Slots,
    locals: Mutex<Vec<Slots>>,
    /// Threads by their handles, less 1.
    spawned: Mutex<Vec<Option<JoinHandle<()>>>>,
    bare: Slot,
    atomic: Mutex<()>,
    over: AtomicBool,
    failure: Mutex<Option<String>>,
    discarded: AtomicBool,
    seed: AtomicU64,
    patience: Duration,
}

unsafe impl Sync for Run {}

/// The guard of a lock that was there to take.
fn open<T>(tried: Result<T, TryLockError<T>>) -> Option<T> {
    match tried {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread of the program.
pub struct Thread<'r> {
    run: &'r Arc<Run>,
    number: i64,
    turns: Option<&'static Turns>,
    made: Cell<usize>,
    locks: Cell<usize>,
    forked: RefCell<Vec<JoinHandle<()>>>,
    /// Readers-writer locks that it holds for reading, how often, and for writing.
    reads: RefCell<Vec<(*const Slot, u32, RwLockReadGuard<'static, ()>)>>,
    writes: RefCell<Vec<(*const Slot, RwLockWriteGuard<'static, ()>)>>,
    atomic: RefCell<Option<MutexGuard<'r, ()>>>,
    depth: Cell<u32>,
    nested: Cell<u32>,
}

/// Calls in each other beyond which a thread counts as endless.
const DEPTH: u32 = 1000;

static NUMBER: AtomicI64 = AtomicI64::new(1);

impl Thread<'_> {
    /// `place` is that of the thread in the recorded execution.
    fn start(run: &Arc<Run>, place: Option<usize>, body: Body) -> JoinHandle<()> {
        let run = Arc::clone(run);
        let turns = place.and_then(|place| run.turns.get(place));
        let begin = move || {
            let thread = Thread {
                run: &run,
                number: NUMBER.fetch_add(1, Ordering::Relaxed),
                turns,
                made: Cell::new(0),
                locks: Cell::new(0),
                forked: RefCell::default(),
                reads: RefCell::default(),
                writes: RefCell::default(),
                atomic: RefCell::default(),
                depth: Cell::new(0),
                nested: Cell::new(0),
            };
            let _ = body(&thread);
            thread.atomic.borrow_mut().take();
            thread.join_forked();
            // A lock that a thread has not given back stays taken.
            std::mem::forget((thread.reads.take(), thread.writes.take()));
        };
        thread::Builder::new().stack_size(16 << 20).spawn(begin).expect("the system has no more threads")
    }

    fn fail<T>(&self, message: String) -> Flow<T> {
        held(&self.run.failure).get_or_insert(message);
        self.run.over.store(true, Ordering::SeqCst);
        Err(Stop)
    }

    pub fn global(&self, address: usize) -> Place {
        Place(self.run.globals.0.as_ptr()).at(address)
    }

    pub fn allocate(&self, values: &[Value]) -> Place {
        let slots = slots(values);
        let place = Place(slots.0.as_ptr());
        held(&self.run.locals).push(slots);
        place
    }

    pub fn read<T: Data>(&self, place: Place) -> T {
        T::of(unsafe { place.slot().data.get().read_volatile() })
    }

    pub fn write<T: Data>(&self, place: Place, value: T) {
        unsafe { place.slot().data.get().write_volatile(value.bits()) }
    }

    fn atomically<T: Data, R>(&self, place: Place, mut step: impl FnMut(T) -> (R, Option<T>)) -> R {
        let cell = unsafe { AtomicI64::from_ptr(place.slot().data.get()) };
        loop {
            let old = cell.load(Ordering::SeqCst);
            let (result, new) = step(T::of(old));
            let Some(new) = new else { return result };
            if cell.compare_exchange(old, new.bits(), Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return result;
            }
        }
    }

    pub fn compare_and_swap<T: Data>(&self, place: Place, old: T, new: T) -> bool {
        self.atomically(place, |value: T| (value == old, (value == old).then_some(new)))
    }

    pub fn swap<T: Data>(&self, place: Place, new: T) -> T {
        self.atomically(place, |value: T| (value, Some(new)))
    }

    pub fn fetch_add<T: Add>(&self, place: Place, more: T) -> T {
        self.atomically(place, |value: T| (value, Some(value.add(more))))
    }

    /// Waits at an object until `ready` gives something.
    fn wait_at<T>(&self, slot: &Slot, at: &str, mut ready: impl FnMut(&mut Object) -> Option<T>) -> Flow<T> {
        let began = Instant::now();
        let mut object = held(&slot.object);
        loop {
            if self.run.over.load(Ordering::SeqCst) {
                return Err(Stop);
            }
            if let Some(result) = ready(&mut object) {
                return Ok(result);
            }
            if began.elapsed() > self.run.patience {
                drop(object);
                return self.fail(format!("deadlock: a thread waits at {at}"));
            }
            let waited = slot.changed.wait_timeout(object, Duration::from_millis(50));
            object = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn change(&self, slot: &Slot, step: impl FnOnce(&mut Object)) -> Flow<()> {
        step(&mut held(&slot.object));
        slot.changed.notify_all();
        if self.run.over.load(Ordering::SeqCst) { Err(Stop) } else { Ok(()) }
    }

    /// The place of the next thread that it makes.
    fn next_made(&self) -> Option<usize> {
        let made = self.made.replace(self.made.get() + 1);
        self.turns.and_then(|turns| turns.made.get(made).copied())
    }

    /// Waits a moment for the locks that come before the next one of this thread; the place behind that one.
    fn await_turn(&self) -> usize {
        let next = self.locks.replace(self.locks.get() + 1);
        let Some(&place) = self.turns.and_then(|turns| turns.locks.get(next)) else { return 0 };
        let began = Instant::now();
        let early = || self.run.taken.load(Ordering::Relaxed) < place && !self.run.over.load(Ordering::Relaxed);
        while early() && began.elapsed() < self.run.turn {
            thread::sleep(Duration::from_micros(200));
        }
        place + 1
    }

    pub fn lock(&self, place: Place, at: &str) -> Flow<()> {
        let turn = self.await_turn();
        self.wait_at(place.slot(), at, |object| self.take(object, 1))?;
        self.run.taken.fetch_max(turn, Ordering::Relaxed);
        Ok(())
    }

    pub fn try_lock(&self, place: Place, _: &str) -> Flow<bool> {
        let mut is_taken = false;
        self.change(place.slot(), |object| is_taken = self.take(object, 1).is_some())?;
        Ok(is_taken)
    }

    /// Takes a lock that is free, or that is re-entrant and held by this thread: `round` marks those, `more` counts levels.
    fn take(&self, object: &mut Object, levels: i64) -> Option<()> {
        let is_own = object.value == self.number && object.round == REENTRANT;
        (object.value == 0 || is_own).then(|| {
            object.value = self.number;
            object.more += levels;
        })
    }

    pub fn unlock(&self, place: Place, at: &str) -> Flow<()> {
        self.give_back(place, at, |_| 1).map(|_| ())
    }

    /// Gives levels of a lock back; how many.
    fn give_back(&self, place: Place, at: &str, levels: impl Fn(i64) -> i64) -> Flow<i64> {
        let mut given = 0;
        self.change(place.slot(), |object| {
            if object.value == self.number {
                given = levels(object.more);
                object.more -= given;
                if object.more == 0 {
                    object.value = 0;
                }
            }
        })?;
        if given > 0 { Ok(given) } else { self.fail(format!("unlock of a lock that is not held at {at}")) }
    }

    /// Waits for a lock of the standard library until it is there.
    fn poll<T>(&self, at: &str, mut ready: impl FnMut() -> Option<T>) -> Flow<T> {
        let began = Instant::now();
        loop {
            if self.run.over.load(Ordering::SeqCst) {
                return Err(Stop);
            }
            if let Some(result) = ready() {
                return Ok(result);
            }
            if began.elapsed() > self.run.patience {
                return self.fail(format!("deadlock: a thread waits at {at}"));
            }
            thread::sleep(Duration::from_micros(200));
        }
    }

    /// Takes a readers-writer lock for reading, unless somebody writes. A thread that reads may read again.
    fn take_for_reading(&self, place: Place) -> Option<()> {
        let mut reads = self.reads.borrow_mut();
        if let Some(hold) = reads.iter_mut().find(|hold| hold.0 == place.0) {
            hold.1 += 1;
            return Some(());
        }
        let guard = open(place.gate().try_read())?;
        reads.push((place.0, 1, guard));
        Some(())
    }

    fn take_for_writing(&self, place: Place) -> Option<()> {
        let guard = open(place.gate().try_write())?;
        self.writes.borrow_mut().push((place.0, guard));
        Some(())
    }

    pub fn read_lock(&self, place: Place, at: &str) -> Flow<()> {
        let turn = self.await_turn();
        self.poll(at, || self.take_for_reading(place))?;
        self.run.taken.fetch_max(turn, Ordering::Relaxed);
        Ok(())
    }

    pub fn write_lock(&self, place: Place, at: &str) -> Flow<()> {
        let turn = self.await_turn();
        self.poll(at, || self.take_for_writing(place))?;
        self.run.taken.fetch_max(turn, Ordering::Relaxed);
        Ok(())
    }

    pub fn try_read_lock(&self, place: Place, _: &str) -> Flow<bool> {
        Ok(self.take_for_reading(place).is_some())
    }

    pub fn try_write_lock(&self, place: Place, _: &str) -> Flow<bool> {
        Ok(self.take_for_writing(place).is_some())
    }

    pub fn unlock_rw(&self, place: Place, at: &str) -> Flow<()> {
        let mut writes = self.writes.borrow_mut();
        if let Some(index) = writes.iter().position(|hold| hold.0 == place.0) {
            drop(writes.swap_remove(index));
            return Ok(());
        }
        let mut reads = self.reads.borrow_mut();
        let Some(index) = reads.iter().position(|hold| hold.0 == place.0) else {
            return self.fail(format!("unlock of a lock that is not held at {at}"));
        };
        reads[index].1 -= 1;
        if reads[index].1 == 0 {
            drop(reads.swap_remove(index));
        }
        Ok(())
    }

    pub fn set(&self, place: Place, _: &str) -> Flow<()> {
        self.change(place.slot(), |object| object.value = 1)
    }

    pub fn clear(&self, place: Place, _: &str) -> Flow<()> {
        self.change(place.slot(), |object| object.value = 0)
    }

    pub fn wait_event(&self, place: Place, at: &str) -> Flow<()> {
        self.wait_at(place.slot(), at, |object| (object.value != 0).then_some(()))
    }

    pub fn barrier(&self, place: Place, at: &str) -> Flow<()> {
        let mut round = 0;
        self.change(place.slot(), |object| {
            round = object.round;
            object.more += 1;
            if object.more >= object.value {
                object.more = 0;
                object.round += 1;
            }
        })?;
        self.wait_at(place.slot(), at, |object| (object.round != round).then_some(()))
    }

    /// Lets one waiting thread go, or all: `more` counts those that wait, `value` those that may go.
    fn wake(&self, slot: &Slot, all: bool) -> Flow<()> {
        self.change(slot, |object| object.value = if all { object.more } else { (object.value + 1).min(object.more) })
    }

    fn sleep(&self, slot: &Slot, at: &str, before: impl FnOnce() -> Flow<()>) -> Flow<()> {
        held(&slot.object).more += 1;
        before()?;
        self.wait_at(slot, at, |object| {
            (object.value > 0).then(|| {
                object.value -= 1;
                object.more -= 1;
            })
        })
    }

    /// Takes a lock again after a wait, at as many levels as before.
    fn take_again(&self, place: Place, at: &str, levels: i64) -> Flow<()> {
        let turn = self.await_turn();
        self.wait_at(place.slot(), at, |object| self.take(object, levels))?;
        self.run.taken.fetch_max(turn, Ordering::Relaxed);
        Ok(())
    }

    pub fn wait_condition(&self, condition: Place, lock: Place, at: &str) -> Flow<()> {
        let mut levels = 0;
        self.sleep(condition.slot(), at, || {
            levels = self.give_back(lock, at, |all| all)?;
            Ok(())
        })?;
        self.take_again(lock, at, levels)
    }

    /// Waits for some time, up to 8 ms; whether it was notified.
    pub fn timed_wait(&self, condition: Place, lock: Place, at: &str) -> Flow<bool> {
        let slot = condition.slot();
        held(&slot.object).more += 1;
        let levels = self.give_back(lock, at, |all| all)?;
        let seed = self.run.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let (began, time) = (Instant::now(), Duration::from_micros((seed >> 32) % 8_000));
        let is_notified = self.wait_at(slot, at, |object| {
            let is_notified = object.value > 0;
            (is_notified || began.elapsed() >= time).then(|| {
                object.value -= i64::from(is_notified);
                object.more -= 1;
                is_notified
            })
        })?;
        self.take_again(lock, at, levels)?;
        Ok(is_notified)
    }

    pub fn notify(&self, place: Place, _: &str) -> Flow<()> {
        self.wake(place.slot(), false)
    }

    pub fn notify_all(&self, place: Place, _: &str) -> Flow<()> {
        self.wake(place.slot(), true)
    }

    pub fn wait_bare(&self, at: &str) -> Flow<()> {
        self.sleep(&self.run.bare, at, || Ok(()))
    }

    pub fn notify_bare(&self, _: &str) -> Flow<()> {
        self.wake(&self.run.bare, false)
    }

    pub fn notify_all_bare(&self, _: &str) -> Flow<()> {
        self.wake(&self.run.bare, true)
    }

    pub fn acquire(&self, place: Place, at: &str) -> Flow<()> {
        self.wait_at(place.slot(), at, |object| (object.value > 0).then(|| object.value -= 1))
    }

    pub fn release(&self, place: Place, _: &str) -> Flow<()> {
        self.change(place.slot(), |object| object.value = object.value.wrapping_add(1))
    }

    pub fn atomic_begin(&self) {
        if self.nested.replace(self.nested.get() + 1) == 0 {
            *self.atomic.borrow_mut() = Some(held(&self.run.atomic));
        }
    }

    pub fn atomic_end(&self) {
        self.nested.set(self.nested.get().saturating_sub(1));
        if self.nested.get() == 0 {
            self.atomic.borrow_mut().take();
        }
    }

    pub fn fork(&self, _: &str, bodies: Vec<Body>) -> Flow<()> {
        let started = bodies.into_iter().map(|body| Thread::start(self.run, self.next_made(), body));
        self.forked.borrow_mut().extend(started);
        Ok(())
    }

    pub fn spawn(&self, _: &str, body: Body) -> Flow<Handle> {
        let mut spawned = held(&self.run.spawned);
        spawned.push(Some(Thread::start(self.run, self.next_made(), body)));
        Ok(Handle(spawned.len() as i64))
    }

    fn join_forked(&self) {
        let forked: Vec<JoinHandle<()>> = self.forked.borrow_mut().drain(..).collect();
        forked.into_iter().for_each(|thread| {
            let _ = thread.join();
        });
    }

    pub fn join(&self, _: &str) -> Flow<()> {
        self.join_forked();
        if self.run.over.load(Ordering::SeqCst) { Err(Stop) } else { Ok(()) }
    }

    pub fn join_thread(&self, handle: Handle, at: &str) -> Flow<()> {
        if handle.0 == 0 {
            return self.fail(format!("join of no thread at {at}"));
        }
        loop {
            let mut spawned = held(&self.run.spawned);
            let thread = &mut spawned[handle.0 as usize - 1];
            if thread.as_ref().is_none_or(JoinHandle::is_finished) {
                let thread = thread.take();
                drop(spawned);
                if let Some(thread) = thread {
                    let _ = thread.join();
                }
                return Ok(());
            }
            drop(spawned);
            if self.run.over.load(Ordering::SeqCst) {
                return Err(Stop);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Any value of the range.
    pub fn choose(&self, _: &str, low: i32, high: i32) -> Flow<i32> {
        if low > high {
            return self.assume(false, "");
        }
        let seed = self.run.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32;
        let width = (i64::from(high) - i64::from(low) + 1) as u64;
        Ok((i64::from(low) + (mixed % width) as i64) as i32)
    }

    pub fn print(&self, _: &str, line: String) -> Flow<()> {
        println!("{line}");
        Ok(())
    }

    pub fn check(&self, holds: bool, _: &str, message: &str) -> Flow<()> {
        if holds { Ok(()) } else { self.fail(message.to_owned()) }
    }

    /// An assumption that does not hold: this run counts for nothing.
    pub fn assume<T: Default>(&self, holds: bool, _: &str) -> Flow<T> {
        if holds {
            return Ok(T::default());
        }
        self.run.discarded.store(true, Ordering::SeqCst);
        self.run.over.store(true, Ordering::SeqCst);
        Err(Stop)
    }

    /// Another round of a loop.
    pub fn round(&self) -> Flow<()> {
        if self.run.over.load(Ordering::Relaxed) { Err(Stop) } else { Ok(()) }
    }

    /// A call.
    pub fn call<T>(&self, run: impl FnOnce() -> Flow<T>) -> Flow<T> {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() >= DEPTH {
            return self.fail("the calls do not end".to_owned());
        }
        let result = run();
        self.depth.set(self.depth.get() - 1);
        result
    }
}

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs the program some times, near to the recorded order of locks. `told` are the source file and the schedule.
///
/// # Panics
///
/// The program fails, or a thread waits too long.
pub fn free(main: fn(&Thread) -> Flow<()>, globals: fn() -> Vec<Value>, turns: &'static [Turns], told: &str) {
    let patience = Duration::from_secs(number_from("CSSAME_LATCH_SECONDS").unwrap_or(10));
    for round in 0..number_from("CSSAME_FREE_ROUNDS").unwrap_or(20) {
        let run = Arc::new(Run {
            turns,
            taken: AtomicUsize::new(0),
            turn: Duration::from_millis(number_from("CSSAME_FREE_TURN").unwrap_or(20)),
            globals: slots(&globals()),
            locals: Mutex::default(),
            spawned: Mutex::default(),
            bare: Slot::new(0),
            atomic: Mutex::new(()),
            over: AtomicBool::new(false),
            failure: Mutex::new(None),
            discarded: AtomicBool::new(false),
            seed: AtomicU64::new(round),
            patience,
        });
        let ended = Thread::start(&run, Some(0), body(main)).join();
        loop {
            let thread = held(&run.spawned).iter_mut().find_map(Option::take);
            let Some(thread) = thread else { break };
            let _ = thread.join();
        }
        assert!(ended.is_ok(), "a thread of the program panicked");
        if run.discarded.load(Ordering::SeqCst) {
            continue;
        }
        let failure = held(&run.failure).take();
        if let Some(message) = failure {
            panic!("in round {} of {told}: {message}", round + 1);
        }
    }
}
