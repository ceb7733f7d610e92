//! Finds the threads that were woken instead: the notifications, raises and settings of an execution, and the threads that have
//! taken each.
//!
//! **Input**: the events of an execution, in order, each with a position chosen by the caller: a row of a trace, a place of the
//! code.
//!
//! **Output**: for a thread that is blocked at the end, the signals on its object since its wait began, and the threads that have
//! taken them ([`Wakeups::since`], [`Wakeups::units`], [`Wakeups::cleared`]).
//!
//! **Algorithm**. Each operation that may release others is recorded as a [`Signal`]. A notification is taken by the threads that
//! it wakes. Its effect consists of their actions until they release a lock or wait again; for a bare notification, of their next
//! action only. A unit of a semaphore is taken by `P`. A `V` of a thread that has such a unit returns it; any other `V` adds a
//! new one. The wait of a thread begins with its last event.
//!
//! **Soundness and limits**. Units of a semaphore are indistinguishable, so it is not a fact which `P` has taken which `V`. It is
//! a fact that a `P` has taken a unit that the blocked thread could have had.

use cssame_vm::{Event, PathId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A thread that a notification has woken.
#[derive(Clone, Copy, Debug)]
pub struct Taken<P> {
    /// The thread.
    pub thread: PathId,
    /// Its wait.
    pub wait: P,
    /// The last thing that it has done before it gave a lock back or waited again; `None` if it did nothing since.
    pub until: Option<P>,
}

/// A notification, a raise or a setting.
#[derive(Clone, Debug)]
pub struct Signal<P> {
    /// Where it is.
    pub at: P,
    /// Whether it gives back what the same thread has taken: a semaphore that is used as a lock.
    pub gives_back: bool,
    /// Those whom it has woken.
    pub taken: Vec<Taken<P>>,
    order: usize,
}

/// A unit of a semaphore that a thread has taken and not given back.
#[derive(Clone, Copy, Debug)]
pub struct Unit<P> {
    /// The thread.
    pub thread: PathId,
    /// Where it took it.
    pub at: P,
    /// Whether that was since the wait began that was asked about.
    pub is_since: bool,
}

/// What it was that woke a thread: the object, and the number of the signal and of the thread among those that it woke.
type Cause = (u32, usize, usize);

/// Stands for bare notifications; no object has this address.
const BARE: u32 = u32::MAX;

/// What may let threads go on, as an execution goes on; the object of bare notifications is `None`.
#[derive(Debug)]
pub struct Wakeups<P> {
    /// Number of events so far.
    order: usize,
    last_event: FxHashMap<PathId, usize>,
    signals: FxHashMap<u32, Vec<Signal<P>>>,
    /// What each waiting thread waits for, and where it has begun to.
    waits: FxHashMap<PathId, (u32, P)>,
    /// What woken threads are still doing with that.
    busy: FxHashMap<PathId, Cause>,
    units: FxHashMap<u32, Vec<(PathId, Vec<(usize, P)>)>>,
    cleared: FxHashMap<u32, (PathId, P)>,
}

impl<P> Default for Wakeups<P> {
    fn default() -> Self {
        Wakeups {
            order: 0,
            last_event: FxHashMap::default(),
            signals: FxHashMap::default(),
            waits: FxHashMap::default(),
            busy: FxHashMap::default(),
            units: FxHashMap::default(),
            cleared: FxHashMap::default(),
        }
    }
}

impl<P: Copy> Wakeups<P> {
    /// Notes an event of a thread.
    pub fn remember(&mut self, thread: PathId, event: Event, at: P) {
        self.order += 1;
        self.last_event.insert(thread, self.order);
        self.go_on(thread, event, at);
        match event {
            Event::Wait { condition, .. } => drop(self.waits.insert(thread, (condition.unwrap_or(BARE), at))),
            Event::Notify { condition, .. } => self.signal(condition.unwrap_or(BARE), at, false),
            Event::Set { address, .. } => self.signal(address, at, false),
            Event::Clear { address, .. } => drop(self.cleared.insert(address, (thread, at))),
            Event::Acquire { address, .. } => {
                let units = self.units.entry(address).or_default();
                match units.iter_mut().find(|(holder, _)| *holder == thread) {
                    Some((_, taken)) => taken.push((self.order, at)),
                    None => units.push((thread, vec![(self.order, at)])),
                }
            }
            Event::Release { address, .. } => {
                let units = self.units.get_mut(&address).into_iter().flatten();
                let gives_back = units.filter(|(holder, _)| *holder == thread).any(|(_, taken)| taken.pop().is_some());
                self.signal(address, at, gives_back);
            }
            _ => {}
        }
    }

    fn signal(&mut self, object: u32, at: P, gives_back: bool) {
        let signal = Signal { at, gives_back, taken: Vec::new(), order: self.order };
        self.signals.entry(object).or_default().push(signal);
    }

    /// Notes what a woken thread does.
    fn go_on(&mut self, thread: PathId, event: Event, at: P) {
        let Some(&(object, signal, place)) = self.busy.get(&thread) else { return };
        if let Some(taken) = self.signals.get_mut(&object).and_then(|all| all.get_mut(signal)?.taken.get_mut(place)) {
            taken.until = Some(at);
        }
        if object == BARE || matches!(event, Event::Unlock { .. } | Event::Wait { .. }) {
            self.busy.remove(&thread);
        }
    }

    /// Notes that a notification has woken a thread, and gives where that notification was.
    pub fn woken(&mut self, thread: PathId) -> Option<P> {
        let &(object, wait) = self.waits.get(&thread)?;
        let signals = self.signals.get_mut(&object)?;
        let number = signals.len().checked_sub(1)?;
        let signal = &mut signals[number];
        signal.taken.push(Taken { thread, wait, until: None });
        self.busy.insert(thread, (object, number, signal.taken.len() - 1));
        Some(signal.at)
    }

    /// All signals of an object, in order.
    #[must_use]
    pub fn all(&self, object: Option<u32>) -> &[Signal<P>] {
        self.signals.get(&object.unwrap_or(BARE)).map_or(&[], Vec::as_slice)
    }

    /// Those since the wait of a blocked thread began.
    #[must_use]
    pub fn since(&self, thread: PathId, object: Option<u32>) -> &[Signal<P>] {
        let began = self.last_event.get(&thread).copied().unwrap_or(0);
        let all = self.all(object);
        &all[all.partition_point(|signal| signal.order <= began)..]
    }

    /// The units of a semaphore that were taken and not given back, by thread in the order in which these took the first one.
    pub fn units(&self, thread: PathId, semaphore: u32) -> impl Iterator<Item = Unit<P>> {
        let began = self.last_event.get(&thread).copied().unwrap_or(0);
        let units = self.units.get(&semaphore).into_iter().flatten();
        units.flat_map(move |&(thread, ref taken)| {
            taken.iter().map(move |&(order, at)| Unit { thread, at, is_since: order > began })
        })
    }

    /// Who has cleared an event last, and where.
    #[must_use]
    pub fn cleared(&self, event: u32) -> Option<(PathId, P)> {
        self.cleared.get(&event).copied()
    }

    /// Cells are made new: what was done to others at their place says nothing of them.
    pub fn forget(&mut self, cells: &Range<u32>) {
        forget(&mut self.signals, cells);
        forget(&mut self.units, cells);
        forget(&mut self.cleared, cells);
        self.busy.retain(|_, (object, ..)| !cells.contains(object));
    }
}

/// Removes what is known of some cells, in the shorter one of two ways.
pub(super) fn forget<T>(known: &mut FxHashMap<u32, T>, cells: &Range<u32>) {
    if cells.len() < known.len() {
        cells.clone().for_each(|address| drop(known.remove(&address)));
    } else {
        known.retain(|address, _| !cells.contains(address));
    }
}
