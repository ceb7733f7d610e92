//! Mutex bodies: the parts of a thread between the acquisition of a lock and its release.
//!
//! **Input**: the unfolded graph and its locksets. **Output**: the effect of an event on a lock ([`LockEffect`]); the mutex
//! bodies that contain an event ([`MutexBodies`]); the walk to the nearest events of some kind before or after an event
//! ([`walk`]), on which all questions about mutex bodies are based.
//!
//! **Algorithm** (Novillo, Unrau and Schaeffer 1998)
//! 1. The locks whose bodies contain an event are those of its lockset, before or after it.
//! 2. A body is entered at the acquisition of the lock that every backward path meets first, and left at the release that every
//!    forward path meets first.
//! 3. An atomic block is the body of a lock that all other threads respect ([`ATOMIC`]). A `wait` on a condition ends one
//!    body of its lock and enters another.
//!
//! **Soundness and limits**: locks are those that are *certainly* held. A body that is entered at several places, or by an
//! operation on a reference that may refer to several locks, is left out. A body that is left at several places has no end.
//! Unreachable blocks are ignored. A body of a readers-writer lock that is held for reading excludes only the bodies of writers
//! ([`MutexBody::excludes`]). The body of a try begins after the branch that tests its result, so it is smaller than the range in
//! which the lock is held.

use super::lockset::{ATOMIC, Hold, Locksets};
use super::{Concurrency, Event, EventKind, LocationId};
use cssame_ir::Program;
use cssame_ir::sync::Mode;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// An event of the unfolded program, by its block and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The block.
    pub block: u32,
    /// The place of the event in it.
    pub offset: u32,
}

/// What an event does to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockEffect {
    /// Nothing.
    None,
    /// It certainly acquires it.
    Acquires,
    /// It certainly releases it.
    Releases,
    /// It releases it and acquires it again, it tries to acquire it, or it is not certain which lock it works on.
    Uncertain,
}

impl Concurrency {
    /// Whether an event may acquire a lock.
    #[must_use]
    pub fn may_acquire(&self, event: &Event, lock: LocationId) -> bool {
        match event.kind {
            EventKind::AtomicBegin => lock == ATOMIC,
            _ => self.acquired_by(event).contains(&lock),
        }
    }

    /// Whether an event may release a lock, if only for a while.
    #[must_use]
    pub fn may_release(&self, event: &Event, lock: LocationId) -> bool {
        match event.kind {
            EventKind::AtomicEnd => lock == ATOMIC,
            _ => self.released_by(event).contains(&lock),
        }
    }

    /// What an event does to a lock.
    #[must_use]
    pub fn lock_effect(&self, program: &Program, event: &Event, lock: LocationId) -> LockEffect {
        let certain = |locks: &[LocationId]| lock == ATOMIC || self.certain(program, locks).is_some();
        match (self.may_acquire(event, lock), self.may_release(event, lock)) {
            (false, false) => LockEffect::None,
            (true, false) if !event.kind.tries() && certain(self.acquired_by(event)) => LockEffect::Acquires,
            (false, true) if certain(self.released_by(event)) => LockEffect::Releases,
            _ => LockEffect::Uncertain,
        }
    }
}

/// Which way a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From a place to what can come after it.
    Forward,
    /// From a place to what can come before it.
    Backward,
}

/// What a walk does behind an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// It goes on.
    Pass,
    /// It does not go on this way.
    End,
    /// It ends at once.
    Abort,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// Some event aborted it.
    Aborted,
    /// It would visit more blocks than it may.
    TooFar,
    /// On every way it met an event that ends it, or ways may go round for ever.
    All,
    /// On some way it came to the begin or the end of the thread.
    Open,
}

/// Walks through a thread from an event, which is not visited itself, over all ways in one direction, nearest blocks first.
/// Operations on inner levels of locks ([`Locksets::is_inner`]) are not visited either: they are no ends of bodies.
pub fn walk(
    concurrency: &Concurrency,
    locksets: &Locksets,
    from: Site,
    direction: Direction,
    max_blocks: usize,
    mut visit: impl FnMut(Site, &Event) -> Visit,
) -> Walked {
    let mut events_until_end = |block: u32, offsets: std::ops::Range<u32>| {
        let events = concurrency.events_of(block);
        let first = concurrency.first_event(block) as u32;
        let mut at = |offset: u32| match locksets.is_inner(first + offset) {
            true => Visit::Pass,
            false => visit(Site { block, offset }, &events[offset as usize]),
        };
        let mut met = match direction {
            Direction::Forward => offsets.map(&mut at).find(|&met| met != Visit::Pass),
            Direction::Backward => offsets.rev().map(&mut at).find(|&met| met != Visit::Pass),
        };
        met.take().unwrap_or(Visit::Pass)
    };
    let count = |block: u32| concurrency.events_of(block).len() as u32;
    let rest = match direction {
        Direction::Forward => from.offset + 1..count(from.block),
        Direction::Backward => 0..from.offset,
    };
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut open = false;
    let mut waiting = VecDeque::from([(from.block, rest)]);
    while let Some((block, offsets)) = waiting.pop_front() {
        match events_until_end(block, offsets) {
            Visit::Abort => return Walked::Aborted,
            Visit::End => continue,
            Visit::Pass => {}
        }
        let next = match direction {
            Direction::Forward => concurrency.local.successors(block),
            Direction::Backward => concurrency.local.predecessors(block),
        };
        open |= next.is_empty();
        for &block in next {
            // What control never reaches holds no locks.
            if locksets.at_entry(block).is_some() && seen.insert(block) {
                if seen.len() > max_blocks {
                    return Walked::TooFar;
                }
                waiting.push_back((block, 0..count(block)));
            }
        }
    }
    if open { Walked::Open } else { Walked::All }
}

/// A mutex body: where it is entered, and where it is left, if that is one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutexBody {
    /// Its lock.
    pub lock: LocationId,
    /// Whom it excludes.
    pub mode: Mode,
    /// The acquisition.
    pub enter: Site,
    /// The release.
    pub leave: Option<Site>,
}

impl MutexBody {
    /// Whether one of two bodies of two threads ends before the other one begins.
    #[must_use]
    pub fn excludes(&self, other: &MutexBody) -> bool {
        self.lock == other.lock && self.mode.excludes(other.mode)
    }
}

/// Finds mutex bodies.
#[derive(Clone, Debug)]
pub struct MutexBodies<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
    locksets: Locksets,
}

impl<'a> MutexBodies<'a> {
    /// Of an unfolded program and its locksets.
    #[must_use]
    pub fn new(program: &'a Program, concurrency: &'a Concurrency, locksets: Locksets) -> MutexBodies<'a> {
        MutexBodies { program, concurrency, locksets }
    }

    /// The mutex bodies that an event lies in, its ends included.
    pub fn of(&mut self, site: Site) -> Vec<MutexBody> {
        // Step 1: the locks held before and behind the event.
        let Some(mut set) = self.locksets.at_entry(site.block) else { return Vec::new() };
        let mut locks = Vec::new();
        for event in &self.concurrency.events_of(site.block)[..=site.offset as usize] {
            locks = self.locksets.locks(set).to_vec();
            set = self.locksets.step(self.program, self.concurrency, set, event);
        }
        locks.extend(self.locksets.locks(set));
        locks.sort_unstable();
        locks.dedup();
        locks.into_iter().filter_map(|hold| self.body(site, hold)).collect()
    }

    /// Step 2: where the body of a lock is entered and left.
    fn body(&self, site: Site, Hold { lock, mode, .. }: Hold) -> Option<MutexBody> {
        let event = &self.concurrency.events_of(site.block)[site.offset as usize];
        let index = self.concurrency.first_event(site.block) as u32 + site.offset;
        let here = match self.locksets.is_inner(index) {
            true => LockEffect::None,
            false => self.concurrency.lock_effect(self.program, event, lock),
        };
        let enter = match here {
            LockEffect::Acquires => site,
            _ => self.only(site, lock, Direction::Backward, LockEffect::Acquires)?,
        };
        let leave = match here {
            LockEffect::Releases => Some(site),
            _ => self.only(site, lock, Direction::Forward, LockEffect::Releases),
        };
        Some(MutexBody { lock, mode, enter, leave })
    }

    /// The one event with an effect on a lock that every way meets first, where it has that effect. A way forwards on which
    /// there is none does not count: what is asked for has left the body.
    fn only(&self, site: Site, lock: LocationId, direction: Direction, wanted: LockEffect) -> Option<Site> {
        let mut found: Option<Site> = None;
        let walked = walk(self.concurrency, &self.locksets, site, direction, usize::MAX, |at, event| {
            match self.concurrency.lock_effect(self.program, event, lock) {
                LockEffect::None => Visit::Pass,
                effect if effect == wanted && found.is_none_or(|known| known == at) => {
                    found = Some(at);
                    Visit::End
                }
                _ => Visit::Abort,
            }
        });
        match (direction, walked) {
            (_, Walked::Aborted | Walked::TooFar) | (Direction::Backward, Walked::Open) => None,
            _ => found,
        }
    }
}
