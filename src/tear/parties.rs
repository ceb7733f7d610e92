//! Names the threads that come between in an execution that tears, if the search did not fix them.
//!
//! **Input**: an execution that tears the two accesses of a pattern apart. **Output**: the functions and arms whose accesses
//! come between and conflict with the two, in the order of these accesses.
//!
//! **Algorithm**: the execution is repeated, and the monitor of the search watches it. Accesses to the two variables are recorded
//! with the innermost function that makes them. When the tear is complete, the accesses since the first touch are examined. If
//! the tear needs further accesses of the method, such as the other one of the two, the result is the accesses that came between
//! when the method was first in a cycle.
//!
//! **Soundness and limits**: all conflicting accesses in between are named, including those of threads without which the tear
//! would still occur.

use super::monitor::TearMonitor;
use super::pattern::{SOURCE, TearPattern};
use super::pending::{Access, PendingAccess};
use super::setup::Fixed;
use cssame_correlation::AccessKind;
use cssame_ir::{FunctionId, Program};
use cssame_schedule as schedule;
use cssame_schedule::Scripted;
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, ThreadIndex, ThreadName};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The functions and arms that come between in an execution, in this order; none if it does not tear the two.
#[must_use]
pub fn parties(machine: &Machine, program: &Program, pattern: &TearPattern, schedule: &[Choice]) -> Vec<FunctionId> {
    let fixed = Arc::new(Fixed::new(program, pattern));
    let monitor = TearMonitor::new(Arc::clone(&fixed));
    let mut watcher = Watcher {
        fixed,
        monitor,
        calls: Vec::new(),
        log: Vec::new(),
        begun: BTreeMap::new(),
        cycle: None,
        found: None,
    };
    schedule::run(machine, &mut Scripted::new(schedule), schedule.len() as u64, &mut watcher);
    let half = if watcher.monitor.half { watcher.cycle } else { None };
    watcher.found.or(half).unwrap_or_default()
}

/// An access to one of the variables.
struct Noted {
    thread: ThreadIndex,
    function: Option<FunctionId>,
    access: Access,
}

struct Watcher {
    fixed: Arc<Fixed>,
    monitor: TearMonitor,
    /// The calls of each thread, outermost first.
    calls: Vec<Vec<FunctionId>>,
    log: Vec<Noted>,
    /// When each access that is kept was made: thread, side, cell and kind.
    begun: BTreeMap<(u16, (u8, u32, AccessKind)), usize>,
    /// Who has come between in the last cycle.
    cycle: Option<Vec<FunctionId>>,
    found: Option<Vec<FunctionId>>,
}

impl Watcher {
    fn calls(&mut self, thread: ThreadIndex) -> &mut Vec<FunctionId> {
        if self.calls.len() <= thread.index() {
            self.calls.resize(thread.index() + 1, Vec::new());
        }
        &mut self.calls[thread.index()]
    }

    /// The access to a watched variable that an event is.
    fn access(&self, event: Event) -> Option<Access> {
        let access = match event {
            Event::Read { read, cell, address, value, .. } => {
                let of = self.fixed.places.bits(self.fixed.places.reads[read.index()], cell);
                let (row, place) = (self.fixed.rows.row(cell), read.0);
                Access { of, kind: AccessKind::Read, cell: address, place, row, old: value, value }
            }
            Event::Write { definition, cell, address, old, value, .. } => {
                let of = self.fixed.places.bits(self.fixed.places.definitions[definition.index()], cell);
                let row = self.fixed.rows.row(cell);
                Access { of, kind: AccessKind::Write, cell: address, place: 0, row, old, value }
            }
            _ => return None,
        };
        (access.of != 0).then_some(access)
    }

    /// The access of the method that waits and that this event completes; where the other one fails, what it has seen of.
    fn completed(&self, thread: ThreadIndex, access: Option<Access>) -> Option<(ThreadIndex, PendingAccess)> {
        let threads = self.monitor.threads.iter().enumerate();
        let mut waiting = threads
            .flat_map(|(index, watched)| watched.pending.iter().map(move |touch| (ThreadIndex(index as u16), touch)));
        let found = waiting.find(|(owner, touch)| match access {
            Some(access) => *owner == thread && touch.is_torn_by(&self.fixed, access),
            None => *owner != thread && touch.between.iter().any(|one| one.thread == thread.0 && one.first),
        });
        found.map(|(owner, touch)| (owner, touch.clone()))
    }

    /// Who has made an access since a touch that conflicts with it or with the one that completes the tear.
    fn parties(&self, owner: ThreadIndex, touch: &PendingAccess, last: Option<Access>) -> Vec<FunctionId> {
        let from = self.begun.get(&(owner.0, touch.key())).copied().unwrap_or(0);
        let partner = self.fixed.pattern.sides[1 - usize::from(touch.side)].kind;
        let partner = last.map_or(partner, |last| last.kind);
        let conflict = |one: &Access, kind: AccessKind| [one.kind, kind].contains(&AccessKind::Write);
        let conflicts = |one: &Access| {
            let second = last.map_or(one.cell != touch.cell, |last| one.cell == last.cell);
            one.cell == touch.cell && conflict(one, touch.kind)
                || second && conflict(one, partner)
                || one.of & SOURCE != 0 && one.kind == AccessKind::Write
        };
        let mut found: Vec<FunctionId> = Vec::new();
        let since = self.log.iter().skip(from);
        for function in since.filter(|one| one.thread != owner && conflicts(&one.access)).filter_map(|one| one.function)
        {
            if !found.contains(&function) {
                found.push(function);
            }
        }
        found
    }
}

impl Observer for Watcher {
    fn event(&mut self, name: ThreadName, at: CodeIndex, event: Event) {
        if self.found.is_some() {
            return;
        }
        let thread = name.slot;
        let access = self.access(event);
        let fails = matches!(event, Event::Failure(_)) && self.monitor.counts(thread);
        let completed = if access.is_some() || fails { self.completed(thread, access) } else { None };
        self.monitor.event(name, at, event);
        if let Some((owner, touch)) = completed.filter(|_| self.monitor.torn || self.fixed.signals.mixed_view.get()) {
            self.found = Some(self.parties(owner, &touch, access));
            return;
        }
        if let Some((owner, touch)) = self.monitor.begun.take() {
            self.cycle = Some(self.parties(owner, &touch, access));
        }
        if self.monitor.torn {
            self.found = self.cycle.take();
            return;
        }
        if let Some(access) = access {
            let function = self.calls(thread).last().copied();
            if let Some(watched) = self.monitor.threads.get(thread.index()) {
                // A later access to the cell begins nothing anew once others have done something that counts.
                let begins = |touch: &&PendingAccess| {
                    touch.cell == access.cell && touch.between.is_empty() && touch.written.is_empty()
                };
                for touch in watched.pending.iter().filter(begins) {
                    self.begun.insert((thread.0, touch.key()), self.log.len() + 1);
                }
            }
            self.log.push(Noted { thread, function, access });
        }
        if let Event::End { .. } = event {
            self.calls(thread).clear();
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        self.calls(thread.slot).push(function);
        self.monitor.enter(thread, function);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.calls(thread.slot).pop();
        self.monitor.leave(thread);
    }
}
