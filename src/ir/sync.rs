//! The vocabulary of synchronisation: the operations of the language, and the properties of each that all layers need.
//!
//! **Input**: a [`Kind`]. **Output**: its [`Properties`], one row of the table below: its syntax, its objects, which of them it
//! acquires and releases, its signals and waits, where it blocks, and whether it can be an end of a happens-before edge that
//! holds in every execution.
//!
//! A new operation is a variant of [`Kind`], a row of [`Kind::properties`], and its effect in `vm::synchronise`. Every `match`
//! that must handle it fails to compile without it.

mod table;

use super::{LeafKind, Place, RegisterId};

/// Operations on synchronisation objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `lock(L)`: blocks until the lock is free, then acquires it. A re-entrant lock that the thread holds it takes again, a
    /// level deeper.
    Lock,
    /// `trylock(L)`: acquires the lock where `lock(L)` would not block; says whether it has.
    TryLock,
    /// `unlock(L)`: releases a lock that this thread holds, or one level of it, else fails.
    Unlock,
    /// `rdlock(R)`: blocks while another thread or this one writes, then acquires the lock for reading. Readers may nest.
    ReadLock,
    /// `tryrdlock(R)`: acquires the lock for reading where `rdlock(R)` would not block; says whether it has.
    TryReadLock,
    /// `wrlock(R)`: blocks until nobody holds the lock, this thread included, then acquires it for writing.
    WriteLock,
    /// `trywrlock(R)`: acquires the lock for writing where `wrlock(R)` would not block; says whether it has.
    TryWriteLock,
    /// `unlock(R)` of a readers-writer lock: gives one hold back that this thread has, else fails.
    UnlockRw,
    /// `set(e)`: sets an event.
    Set,
    /// `clear(e)`: unsets an event.
    Clear,
    /// `wait(e)`: blocks until the event is set.
    WaitEvent,
    /// `wait(c, L)`: releases the lock, which this thread must hold, waits to be notified, then acquires it again.
    WaitCondition,
    /// `timedwait(c, L)`: as `wait(c, L)`, but the thread may give up waiting; says whether it was notified.
    TimedWait,
    /// `wait()`: waits for a bare notification.
    WaitBare,
    /// `notify(c)`: wakes one thread that waits on the condition.
    Notify,
    /// `notify()`: wakes one thread that waits bare.
    NotifyBare,
    /// `notifyAll(c)`: wakes all threads that wait on the condition.
    NotifyAll,
    /// `notifyAll()`: wakes all threads that wait bare.
    NotifyAllBare,
    /// `barrier(b)`: arrives at a barrier and blocks until all have.
    Barrier,
    /// `P(s)`: blocks until the semaphore is positive, then lowers it.
    Acquire,
    /// `V(s)`: raises the semaphore.
    Release,
}

/// Kinds of synchronisation objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// `lock`, `reentrant lock`
    Lock,
    /// `rwlock`
    RwLock,
    /// `event`
    Event,
    /// `cond`
    Condition,
    /// `barrier`
    Barrier,
    /// `sem`
    Semaphore,
}

/// One of the objects that an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The first: the object itself.
    Object,
    /// The second: the lock of a wait on a condition.
    Lock,
}

/// Whom the holder of a lock excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Everybody: a lock, or a readers-writer lock for writing.
    Exclusive,
    /// Writers alone: a readers-writer lock for reading.
    Shared,
}

impl Mode {
    /// Whether two threads cannot hold one lock in these modes at once.
    #[must_use]
    pub fn excludes(self, other: Mode) -> bool {
        self == Mode::Exclusive || other == Mode::Exclusive
    }
}

/// When the thread that performs an operation is blocked by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Never.
    Never,
    /// Before it: the operation is possible only where the object allows it.
    Before,
    /// Behind it: the thread performs it and then waits to be woken by another one.
    Behind,
}

/// Which end of a happens-before edge that holds in every execution an operation may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// None: which operations it is ordered with depends on the schedule.
    None,
    /// The source: what it signals comes after it.
    Source,
    /// The target: it comes after what it waits for.
    Target,
    /// Both: what stands before it in any participant comes before what stands behind it in all.
    Meeting,
}

/// What is known of a kind of operation.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// As it is written in source text and as schedules name it; kinds are told apart by their operands.
    pub word: &'static str,
    /// Its name where every kind has a name of its own: in generated code.
    pub name: &'static str,
    /// The objects that it works on, in order.
    pub operands: &'static [ObjectKind],
    /// What it holds afterwards; one that tries, only where its verdict is true.
    pub acquires: Option<Operand>,
    /// Whether it has a verdict instead of waiting until it can acquire.
    pub tries: bool,
    /// In which mode it acquires.
    pub mode: Mode,
    /// What it gives up, if only for a while.
    pub releases: Option<Operand>,
    /// The operations one of which lets a thread go on that is blocked at this one.
    pub waits_for: &'static [Kind],
    /// When it blocks.
    pub blocking: Blocking,
    /// Whether it has several results for the schedule to choose from.
    pub chooses: bool,
    /// The ends of happens-before edges that it may be.
    pub edge: Edge,
}

impl Kind {
    /// All kinds.
    pub const ALL: &[Kind] = &[
        Kind::Lock,
        Kind::TryLock,
        Kind::Unlock,
        Kind::ReadLock,
        Kind::TryReadLock,
        Kind::WriteLock,
        Kind::TryWriteLock,
        Kind::UnlockRw,
        Kind::Set,
        Kind::Clear,
        Kind::WaitEvent,
        Kind::WaitCondition,
        Kind::TimedWait,
        Kind::WaitBare,
        Kind::Notify,
        Kind::NotifyBare,
        Kind::NotifyAll,
        Kind::NotifyAllBare,
        Kind::Barrier,
        Kind::Acquire,
        Kind::Release,
    ];

    /// As it is written: `lock`, `P`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.properties().word
    }

    /// A name that no other kind has: `lock`, `wait_event`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// The objects that it works on.
    #[must_use]
    pub const fn operands(self) -> &'static [ObjectKind] {
        self.properties().operands
    }

    /// Whether it acquires an object, waiting for it, and does not give up the same one before.
    #[must_use]
    pub fn only_acquires(self) -> bool {
        self.properties().acquires.is_some() && self.properties().releases.is_none() && !self.tries()
    }

    /// Whether it acquires an object only where nobody is in its way, and says whether it has.
    #[must_use]
    pub const fn tries(self) -> bool {
        self.properties().tries
    }

    /// In which mode it acquires a lock.
    #[must_use]
    pub const fn mode(self) -> Mode {
        self.properties().mode
    }

    /// Whether it gives its lock up for a while and then takes it again: the waits on a condition.
    #[must_use]
    pub fn takes_again(self) -> bool {
        self.properties().acquires.is_some() && self.properties().releases.is_some()
    }

    /// Whether it has a verdict, a bool: those that try, and the wait that may time out.
    #[must_use]
    pub fn has_verdict(self) -> bool {
        self.tries() || self == Kind::TimedWait
    }

    /// Whether its object is a lock of some kind.
    #[must_use]
    pub fn is_on_lock(self) -> bool {
        self.is_on(ObjectKind::Lock) || self.is_on(ObjectKind::RwLock)
    }

    /// Whether it releases an object for good.
    #[must_use]
    pub fn only_releases(self) -> bool {
        self.properties().releases.is_some() && self.properties().acquires.is_none()
    }

    /// Whether it fails where the thread does not hold the lock that it releases. A semaphore has no holder.
    #[must_use]
    pub fn needs_held_lock(self) -> bool {
        let properties = self.properties();
        let kind = properties.releases.and_then(|operand| self.operand_kind(operand));
        matches!(kind, Some(ObjectKind::Lock | ObjectKind::RwLock))
    }

    /// Whether it lets go on a thread that is blocked at an operation of another kind.
    #[must_use]
    pub fn signals(self, wait: Kind) -> bool {
        self != wait && wait.properties().waits_for.contains(&self)
    }

    /// Whether its object is of that kind.
    #[must_use]
    pub fn is_on(self, object: ObjectKind) -> bool {
        self.operands().first() == Some(&object)
    }

    /// What one of its operands must be; `None` where it has none such.
    #[must_use]
    pub fn operand_kind(self, operand: Operand) -> Option<ObjectKind> {
        match operand {
            Operand::Object => self.operands().first().copied(),
            Operand::Lock => self.operands().get(1).copied(),
        }
    }
}

impl ObjectKind {
    /// Whether a part of memory is such an object.
    #[must_use]
    pub fn fits(self, leaf: LeafKind) -> bool {
        match self {
            ObjectKind::Lock => matches!(leaf, LeafKind::Lock | LeafKind::ReentrantLock),
            ObjectKind::RwLock => leaf == LeafKind::RwLock,
            ObjectKind::Event => leaf == LeafKind::Event,
            ObjectKind::Condition => leaf == LeafKind::Condition,
            ObjectKind::Barrier => matches!(leaf, LeafKind::Barrier(_)),
            ObjectKind::Semaphore => leaf == LeafKind::Semaphore,
        }
    }
}

/// An operation and the places of its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Synchronisation {
    /// Which operation.
    pub kind: Kind,
    /// Its object, unless it is bare.
    pub object: Option<Place>,
    /// The lock of a wait on a condition.
    pub lock: Option<Place>,
    /// Gets the verdict of an operation that has one, a bool; `None` where nobody wants it.
    pub verdict: Option<RegisterId>,
}

impl Synchronisation {
    /// An operation on one object.
    #[must_use]
    pub fn on(kind: Kind, object: Place) -> Synchronisation {
        Synchronisation { kind, object: Some(object), lock: None, verdict: None }
    }

    /// An operation without an object.
    #[must_use]
    pub fn bare(kind: Kind) -> Synchronisation {
        Synchronisation { kind, object: None, lock: None, verdict: None }
    }

    /// The places of the objects that it works on.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.object.iter().chain(&self.lock)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Operand};

    #[test]
    fn a_word_and_its_operands_name_one_kind() {
        for &kind in Kind::ALL {
            let same = |other: &&Kind| other.word() == kind.word() && other.operands() == kind.operands();
            assert_eq!(Kind::ALL.iter().filter(same).collect::<Vec<_>>(), [&kind]);
            let named = Kind::ALL.iter().filter(|other| other.name() == kind.name());
            assert_eq!(named.collect::<Vec<_>>(), [&kind]);
        }
    }

    #[test]
    fn what_is_acquired_and_released_is_an_operand() {
        for &kind in Kind::ALL {
            let properties = kind.properties();
            for operand in [properties.acquires, properties.releases].into_iter().flatten() {
                assert!(kind.operand_kind(operand).is_some(), "{kind:?} {operand:?}");
            }
            assert_eq!(kind.operand_kind(Operand::Lock).is_some(), kind.operands().len() > 1);
        }
    }

    #[test]
    fn what_tries_does_not_block() {
        use super::Blocking;
        for &kind in Kind::ALL.iter().filter(|kind| kind.tries()) {
            assert!(kind.properties().acquires.is_some() && kind.properties().blocking == Blocking::Never, "{kind:?}");
            assert!(kind.has_verdict());
        }
    }

    #[test]
    fn every_blocking_operation_waits_for_something() {
        use super::Blocking;
        for &kind in Kind::ALL {
            let properties = kind.properties();
            assert_eq!(properties.blocking == Blocking::Never, properties.waits_for.is_empty(), "{kind:?}");
        }
    }
}
