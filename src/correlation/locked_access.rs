//! The accesses to some variables in the unfolded graph, with the locks held and the mutex bodies that they lie in.
//!
//! **Input**: the CSSAME form and the variables of interest. **Output**: [`Events`]. The place where its lock is acquired
//! identifies a mutex body ([`cssame_concurrency::mutex_body`]); if there are several places, the first in the text does.
//!
//! **Limits**: locks that may not be held do not count; the walk to the acquisition visits at most [`MAX_VISITED`] blocks.

use super::kind::AccessKind;
use super::source_variable::{SourceVariableId, SourceVariables};
use cssame_concurrency::lockset::{ATOMIC, Hold, Locksets};
use cssame_concurrency::mutex_body::{Direction, LockEffect, Site, Visit, walk};
use cssame_concurrency::{Concurrency, ContextId, EventKind, Location, LocationId};
use cssame_form::Form;
use cssame_ir::sync::Mode;
use cssame_ir::{Access, FunctionId, Program};
use cssame_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Blocks that one search visits.
const MAX_VISITED: usize = 10_000;

/// An access.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub variable: SourceVariableId,
    /// Bit 1 reads, bit 2 writes.
    pub kinds: u8,
    pub block: u32,
    /// Where it stands in the text.
    pub access: Access,
    /// Its index among all events.
    index: u32,
    pub span: Span,
    /// Locks that are certainly held.
    pub locks: Vec<Hold>,
    /// The activations that it belongs to, of one thread, from the inside.
    activations: Vec<(FunctionId, ContextId)>,
}

impl Event {
    /// Whether it belongs to that method, calls inlined.
    pub fn runs_in(&self, method: FunctionId) -> bool {
        self.activation(method).is_some()
    }

    /// The context of the method that it belongs to.
    pub fn activation(&self, method: FunctionId) -> Option<ContextId> {
        self.activations.iter().find(|each| each.0 == method).map(|each| each.1)
    }

    /// `is read`, `is written`
    pub fn done(&self) -> &'static str {
        if self.kinds & AccessKind::Write.bit() == 0 { "is read" } else { "is written" }
    }
}

/// All accesses to some data.
pub(super) struct Events<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
    locksets: &'a Locksets,
    of_variable: FxHashMap<SourceVariableId, Vec<Event>>,
}

impl<'a> Events<'a> {
    /// Collects the accesses to the data that are wanted.
    pub fn collect(
        program: &'a Program,
        form: &'a Form,
        data: &SourceVariables,
        wanted: &FxHashSet<SourceVariableId>,
    ) -> Events<'a> {
        let concurrency = &form.concurrency;
        let mut locksets = form.locksets.clone();
        let mut of_variable: FxHashMap<SourceVariableId, Vec<Event>> = FxHashMap::default();
        for block in 0..concurrency.blocks.len() as u32 {
            let Some(mut set) = locksets.at_entry(block) else { continue };
            let first = concurrency.first_event(block);
            for (offset, event) in concurrency.events_of(block).iter().enumerate() {
                let access = match event.kind {
                    EventKind::Read(read) => Some((Access::Read(read), 1)),
                    EventKind::Write(definition) if program.definitions[definition].is_free() => None,
                    EventKind::Write(definition) => Some((Access::Write(definition), 2)),
                    EventKind::Update { read, .. } => Some((Access::Read(read), 3)),
                    _ => None,
                };
                let mut variables: Vec<SourceVariableId> = Vec::new();
                if let Some((access, _)) = access {
                    variables.push(data.of_symbol(access.symbol(program)));
                    variables.extend(concurrency.locations_of(event).iter().map(|&location| {
                        let location = concurrency.locations[location];
                        data.of_leaf(program, location.leaf, location.element)
                    }));
                }
                variables.sort_unstable();
                variables.dedup();
                variables.retain(|variable| wanted.contains(variable));
                for (variable, (access, kinds)) in variables.into_iter().filter_map(|of| Some((of, access?))) {
                    of_variable.entry(variable).or_default().push(Event {
                        variable,
                        kinds,
                        block,
                        access,
                        index: (first + offset) as u32,
                        span: access.span(program),
                        locks: locksets.locks(set).to_vec(),
                        activations: activations(concurrency, block),
                    });
                }
                set = locksets.step(program, concurrency, set, event);
            }
        }
        Events { program, concurrency, locksets: &form.locksets, of_variable }
    }

    /// The accesses to a variable.
    pub fn of(&self, variable: SourceVariableId) -> impl Iterator<Item = &Event> {
        self.of_variable.get(&variable).into_iter().flatten()
    }

    /// The least lock that all of them hold: writes for themselves, and reads in any mode.
    pub fn common_lock<'e>(&self, events: impl Iterator<Item = &'e Event>) -> Option<LocationId> {
        let mut common: Option<Vec<LocationId>> = None;
        for event in events {
            let writes = event.kinds & AccessKind::Write.bit() != 0;
            let held = event.locks.iter().filter(|hold| !writes || hold.mode == Mode::Exclusive).map(|hold| hold.lock);
            let held: Vec<LocationId> = held.collect();
            match &mut common {
                Some(common) => common.retain(|lock| held.contains(lock)),
                None => common = Some(held),
            }
        }
        common?.into_iter().find(|&lock| lock != ATOMIC)
    }

    /// Whether two accesses may mean the same memory.
    pub fn overlap(&self, a: &Event, b: &Event) -> bool {
        let locations = |event: &Event| self.concurrency.locations_of(&self.concurrency.events[event.index as usize]);
        let others: Vec<_> = locations(b).iter().map(|&id| self.concurrency.locations[id]).collect();
        locations(a).iter().map(|&id| self.concurrency.locations[id]).any(|one| {
            let same = |other: &Location| {
                let elements_differ = one.element.zip(other.element).is_some_and(|(one, other)| one != other);
                (one.instance, one.leaf) == (other.instance, other.leaf) && !elements_differ
            };
            others.iter().any(same)
        })
    }

    /// Where the mutex body is entered in which an access holds a lock: the first in the text, where there are several places.
    pub fn acquired_at(&self, event: &Event, lock: LocationId) -> Option<Span> {
        let offset = event.index - self.concurrency.first_event(event.block) as u32;
        let from = Site { block: event.block, offset };
        let mut found: Option<Span> = None;
        walk(self.concurrency, self.locksets, from, Direction::Backward, MAX_VISITED, |_, event| {
            let acquires = self.concurrency.lock_effect(self.program, event, lock) == LockEffect::Acquires
                || self.concurrency.locks_of(event).contains(&lock);
            if !acquires {
                return Visit::Pass;
            }
            found = Some(found.map_or(event.span, |known| known.min(event.span)));
            Visit::End
        });
        found
    }

    /// Whether the second access can come after the first one in their thread.
    pub fn follows(&self, a: &Event, b: &Event) -> bool {
        if a.block == b.block && a.index < b.index {
            return true;
        }
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut waiting = vec![a.block];
        while let Some(block) = waiting.pop().filter(|_| seen.len() < MAX_VISITED) {
            for &target in self.concurrency.local.successors(block) {
                if target == b.block {
                    return true;
                }
                if seen.insert(target) {
                    waiting.push(target);
                }
            }
        }
        false
    }
}

/// The functions that are active in a block, with their contexts, up to the begin of the thread.
fn activations(concurrency: &Concurrency, block: u32) -> Vec<(FunctionId, ContextId)> {
    let thread = concurrency.thread_of(block);
    let mut found = Vec::new();
    let mut at = Some(concurrency.blocks[block as usize].context);
    while let Some(context) = at {
        let of = &concurrency.contexts[context];
        if of.thread != thread || found.len() > 256 {
            break;
        }
        found.push((of.function, context));
        at = of.caller;
    }
    found
}
