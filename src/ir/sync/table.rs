//! The table of synchronisation: one row for each kind of operation.
//!
//! **Input**: a [`Kind`]. **Output**: its [`Properties`]. A row lists the differences from an operation without special
//! properties.

use super::{Blocking, Edge, Kind, Mode, ObjectKind, Operand, Properties};

/// An operation with nothing special to it; the rows of the table say what differs.
const PLAIN: Properties = Properties {
    word: "",
    name: "",
    operands: &[],
    acquires: None,
    tries: false,
    mode: Mode::Exclusive,
    releases: None,
    waits_for: &[],
    blocking: Blocking::Never,
    chooses: false,
    edge: Edge::None,
};

const LOCK: Properties = Properties {
    word: "lock",
    name: "lock",
    operands: &[ObjectKind::Lock],
    acquires: Some(Operand::Object),
    waits_for: &[Kind::Unlock, Kind::WaitCondition, Kind::TimedWait],
    blocking: Blocking::Before,
    ..PLAIN
};
const TRY_LOCK: Properties = Properties {
    word: "trylock",
    name: "try_lock",
    operands: &[ObjectKind::Lock],
    acquires: Some(Operand::Object),
    tries: true,
    ..PLAIN
};
const UNLOCK: Properties = Properties {
    word: "unlock",
    name: "unlock",
    operands: &[ObjectKind::Lock],
    releases: Some(Operand::Object),
    ..PLAIN
};
const READ_LOCK: Properties = Properties {
    word: "rdlock",
    name: "read_lock",
    operands: &[ObjectKind::RwLock],
    acquires: Some(Operand::Object),
    mode: Mode::Shared,
    waits_for: &[Kind::UnlockRw],
    blocking: Blocking::Before,
    ..PLAIN
};
const TRY_READ_LOCK: Properties = Properties {
    word: "tryrdlock",
    name: "try_read_lock",
    operands: &[ObjectKind::RwLock],
    acquires: Some(Operand::Object),
    tries: true,
    mode: Mode::Shared,
    ..PLAIN
};
const WRITE_LOCK: Properties = Properties {
    word: "wrlock",
    name: "write_lock",
    operands: &[ObjectKind::RwLock],
    acquires: Some(Operand::Object),
    waits_for: &[Kind::UnlockRw],
    blocking: Blocking::Before,
    ..PLAIN
};
const TRY_WRITE_LOCK: Properties = Properties {
    word: "trywrlock",
    name: "try_write_lock",
    operands: &[ObjectKind::RwLock],
    acquires: Some(Operand::Object),
    tries: true,
    ..PLAIN
};
const UNLOCK_RW: Properties = Properties {
    word: "unlock",
    name: "unlock_rw",
    operands: &[ObjectKind::RwLock],
    releases: Some(Operand::Object),
    ..PLAIN
};
const SET: Properties =
    Properties { word: "set", name: "set", operands: &[ObjectKind::Event], edge: Edge::Source, ..PLAIN };
const CLEAR: Properties = Properties { word: "clear", name: "clear", operands: &[ObjectKind::Event], ..PLAIN };
const WAIT_EVENT: Properties = Properties {
    word: "wait",
    name: "wait_event",
    operands: &[ObjectKind::Event],
    waits_for: &[Kind::Set],
    blocking: Blocking::Before,
    edge: Edge::Target,
    ..PLAIN
};
const WAIT_CONDITION: Properties = Properties {
    word: "wait",
    name: "wait_condition",
    operands: &[ObjectKind::Condition, ObjectKind::Lock],
    acquires: Some(Operand::Lock),
    releases: Some(Operand::Lock),
    waits_for: &[Kind::Notify, Kind::NotifyAll],
    blocking: Blocking::Behind,
    ..PLAIN
};
const TIMED_WAIT: Properties = Properties { word: "timedwait", name: "timed_wait", ..WAIT_CONDITION };
const WAIT_BARE: Properties = Properties {
    word: "wait",
    name: "wait_bare",
    waits_for: &[Kind::NotifyBare, Kind::NotifyAllBare],
    blocking: Blocking::Behind,
    edge: Edge::Target,
    ..PLAIN
};
const NOTIFY: Properties =
    Properties { word: "notify", name: "notify", operands: &[ObjectKind::Condition], chooses: true, ..PLAIN };
const NOTIFY_BARE: Properties =
    Properties { word: "notify", name: "notify_bare", chooses: true, edge: Edge::Source, ..PLAIN };
const NOTIFY_ALL: Properties =
    Properties { word: "notifyAll", name: "notify_all", operands: &[ObjectKind::Condition], ..PLAIN };
const NOTIFY_ALL_BARE: Properties =
    Properties { word: "notifyAll", name: "notify_all_bare", edge: Edge::Source, ..PLAIN };
const BARRIER: Properties = Properties {
    word: "barrier",
    name: "barrier",
    operands: &[ObjectKind::Barrier],
    waits_for: &[Kind::Barrier],
    blocking: Blocking::Behind,
    edge: Edge::Meeting,
    ..PLAIN
};
const ACQUIRE: Properties = Properties {
    word: "P",
    name: "acquire",
    operands: &[ObjectKind::Semaphore],
    acquires: Some(Operand::Object),
    waits_for: &[Kind::Release],
    blocking: Blocking::Before,
    edge: Edge::Target,
    ..PLAIN
};
const RELEASE: Properties = Properties {
    word: "V",
    name: "release",
    operands: &[ObjectKind::Semaphore],
    releases: Some(Operand::Object),
    edge: Edge::Source,
    ..PLAIN
};

impl Kind {
    /// What is known of it.
    #[must_use]
    pub const fn properties(self) -> &'static Properties {
        match self {
            Kind::Lock => &LOCK,
            Kind::TryLock => &TRY_LOCK,
            Kind::Unlock => &UNLOCK,
            Kind::ReadLock => &READ_LOCK,
            Kind::TryReadLock => &TRY_READ_LOCK,
            Kind::WriteLock => &WRITE_LOCK,
            Kind::TryWriteLock => &TRY_WRITE_LOCK,
            Kind::UnlockRw => &UNLOCK_RW,
            Kind::Set => &SET,
            Kind::Clear => &CLEAR,
            Kind::WaitEvent => &WAIT_EVENT,
            Kind::WaitCondition => &WAIT_CONDITION,
            Kind::TimedWait => &TIMED_WAIT,
            Kind::WaitBare => &WAIT_BARE,
            Kind::Notify => &NOTIFY,
            Kind::NotifyBare => &NOTIFY_BARE,
            Kind::NotifyAll => &NOTIFY_ALL,
            Kind::NotifyAllBare => &NOTIFY_ALL_BARE,
            Kind::Barrier => &BARRIER,
            Kind::Acquire => &ACQUIRE,
            Kind::Release => &RELEASE,
        }
    }
}
