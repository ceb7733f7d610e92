//! Explores the states of a lock.
//!
//! **Input**: the cells that the lock protects, and the order of its sites. **Output**: [`Seen`]: for each read, by event, the
//! definitions that it may see.
//!
//! **Algorithm**: depth-first search over states with a set of visited states. A state between bodies leads to one state for each
//! site that may run in it. A state at the beginning of a block of a body leads to the states after the block (`step`).
//!
//! **Soundness and limits**: see [`super`]. The search gives up beyond the limits there.

use super::protected::{Change, Protected};
use super::{LockStates, MAX_STATES, MAX_STEPS, Order};
use crate::constants::{Written, written_constants};
use cssame_concurrency::mutex_body::Site;
use cssame_concurrency::value::Writers;
use cssame_concurrency::{ContextId, LocationId};
use cssame_ir::{DefinitionId, FunctionId, LeafKind, RegisterId, ScalarType, Storage};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// For each read, by event, the definitions that it may see.
pub(super) type Seen = FxHashMap<u32, FxHashSet<DefinitionId>>;

/// Which values states hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// All that can be computed.
    All,
    /// Those that stores of constants write.
    Constants,
    /// None of memory.
    Nothing,
}

/// The last definition of a cell, and its value, where that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub definition: Option<DefinitionId>,
    pub value: Option<i64>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The sites that have run.
    pub done: u64,
    /// The conditions that have been notified.
    pub notified: u32,
    /// The sites behind a wait at which a thread waits.
    pub pending: u64,
    pub cells: Vec<Cell>,
    /// Where a thread stands in a body; `None` between bodies.
    pub inside: Option<Inside>,
}

/// Where a thread stands in a body, and what its registers hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Inside {
    pub block: u32,
    /// The next instruction.
    pub instruction: u32,
    /// The next event of the block.
    pub event: u32,
    /// Registers whose value is known.
    pub registers: BTreeMap<(ContextId, RegisterId), i64>,
    /// What the function that was left last gave back.
    pub returned: Option<i64>,
}

/// The bodies of a lock cannot be followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenUp;

/// The bit of a site; none for an observer.
pub(super) fn site_bit(index: usize) -> u64 {
    1u64.checked_shl(index as u32).unwrap_or(0)
}

/// Explores the states of one lock.
pub(super) struct Machine<'a> {
    pub of: &'a LockStates<'a>,
    pub lock: LocationId,
    pub protected: &'a Protected,
    order: &'a Order,
    pub values: Values,
    /// What definitions write, where that is a constant.
    constants: FxHashMap<DefinitionId, Written>,
    pub writers: FxHashMap<FunctionId, Writers>,
    visited: FxHashSet<State>,
    waiting: Vec<State>,
    pub steps: usize,
    pub max_steps: usize,
    pub seen: Seen,
}

impl<'a> Machine<'a> {
    pub fn new(
        of: &'a LockStates<'a>,
        lock: LocationId,
        (protected, order): (&'a Protected, &'a Order),
        values: Values,
    ) -> Machine<'a> {
        let constants = match values {
            Values::All | Values::Nothing => FxHashMap::default(),
            Values::Constants => written_constants(of.program, of.known),
        };
        let events = protected.inside.iter().copied().chain(protected.observers.iter().map(|&(event, _)| event));
        Machine {
            of,
            lock,
            protected,
            order,
            values,
            constants,
            writers: FxHashMap::default(),
            visited: FxHashSet::default(),
            waiting: Vec::new(),
            steps: 0,
            max_steps: MAX_STEPS,
            seen: events.map(|event| (event, FxHashSet::default())).collect(),
        }
    }

    /// Explores all states that come of one; false where it gave up.
    pub fn run(&mut self, from: State) -> bool {
        self.enter(from);
        while let Some(state) = self.waiting.pop() {
            let done = if state.inside.is_some() { self.step(state) } else { self.leave(&state) };
            if done.is_err() || self.steps > self.max_steps || self.visited.len() > MAX_STATES {
                return false;
            }
        }
        true
    }

    /// What was found.
    pub fn into_seen(self) -> Seen {
        self.seen
    }

    /// Notes a state to be looked at, if it is new.
    pub fn enter(&mut self, state: State) {
        if !self.visited.contains(&state) {
            self.visited.insert(state.clone());
            self.waiting.push(state);
        }
    }

    /// Notes a state to be looked at that is not worth remembering.
    pub fn enter_anew(&mut self, state: State) {
        self.waiting.push(state);
    }

    /// The state before anything has run.
    pub fn initial(&self) -> State {
        let mut cells = vec![Cell::default(); self.protected.cell_count];
        for (&(_, leaf), &(first, length)) in &self.protected.cells {
            let leaf = &self.of.program.leaves[leaf];
            // A local has no value before its declaration.
            if self.of.program.variables[leaf.variable].storage != Storage::Global {
                continue;
            }
            for element in 0..length {
                // Beyond what is written in the text there are zeros.
                let value = leaf.initial.get(element).map_or(0, |value| value.bits());
                let value = Some(value).filter(|_| leaf.kind != LeafKind::Data(ScalarType::Double));
                cells[first + element] = Cell { definition: leaf.initial_definition, value };
            }
        }
        State { done: 0, notified: self.protected.notified_outside, pending: 0, cells, inside: None }
    }

    /// The value that a cell holds behind a write.
    pub fn kept(&self, definition: DefinitionId, value: Option<i64>) -> Option<i64> {
        match (self.values, self.constants.get(&definition)) {
            (Values::All, _) => value,
            (Values::Constants, Some(Written::Constant(bits))) => Some(*bits),
            (Values::Constants | Values::Nothing, _) => None,
        }
    }

    /// Whether a site or an observer, by its place behind the sites, may run in a state.
    fn may_run(&self, index: usize, state: &State) -> bool {
        let (order, done) = (self.order, state.done);
        order.certain[index] & !done == 0
            && done & !order.possible[index] == 0
            && state.pending & !order.parallel[index] & !site_bit(index) == 0
    }

    /// Goes on from a state between bodies.
    fn leave(&mut self, state: &State) -> Result<(), GivenUp> {
        self.observe(state);
        let protected = self.protected;
        for (index, site) in protected.sites.iter().enumerate() {
            self.steps += 1;
            if !self.may_run(index, state) {
                continue;
            }
            let mut next = state.clone();
            next.done |= site_bit(index);
            let event = &self.of.concurrency.events_of(site.at.block)[site.at.offset as usize];
            match site.change {
                Change::Write(event) => {
                    self.write_outside(&next, event, site.at.block)?;
                    continue;
                }
                Change::Resume => {
                    let conditions = &protected.conditions;
                    let bits = super::protected::condition_bits(self.of.concurrency, conditions, event);
                    if state.notified & bits == 0 || state.pending & site_bit(index) == 0 {
                        continue;
                    }
                    if self.order.parallel[index] & site_bit(index) != 0 {
                        // Another thread may wait there still.
                        self.resume(next.clone(), site.at)?;
                    }
                    next.pending &= !site_bit(index);
                }
                Change::Acquire => {}
            }
            self.resume(next, site.at)?;
        }
        Ok(())
    }

    /// A thread goes on in a body, behind the event at which that begins.
    fn resume(&mut self, mut next: State, at: Site) -> Result<(), GivenUp> {
        // While the body runs, a read outside may see what it has not changed yet.
        self.observe(&next);
        let instruction = self.instruction_behind(at.block, at.offset)?;
        next.inside = Some(Inside { block: at.block, instruction, event: at.offset + 1, ..Inside::default() });
        self.enter(next);
        Ok(())
    }

    /// The reads outside that may run in a state see its definitions.
    fn observe(&mut self, state: &State) {
        let protected = self.protected;
        for (index, &(event, _)) in protected.observers.iter().enumerate() {
            self.steps += 1;
            if !self.may_run(protected.sites.len() + index, state) {
                continue;
            }
            for cell in self.cells_of(event) {
                self.see(event, state.cells[cell].definition);
            }
        }
    }

    /// A read may see a definition.
    pub fn see(&mut self, event: u32, definition: Option<DefinitionId>) {
        if let (Some(seen), Some(definition)) = (self.seen.get_mut(&event), definition) {
            seen.insert(definition);
        }
    }

    /// The cells that the operand of an event may mean by the graph; empty where they are not protected.
    pub fn cells_of(&self, event: u32) -> std::ops::Range<usize> {
        let concurrency = self.of.concurrency;
        let [location] = concurrency.locations_of(&concurrency.events[event as usize]) else { return 0..0 };
        let location = &concurrency.locations[*location];
        match (self.protected.cells.get(&(location.instance, location.leaf)), location.element) {
            (None, _) => 0..0,
            (Some(&(first, length)), None) => first..first + length,
            (Some(&(first, length)), Some(element)) if (element as usize) < length => {
                first + element as usize..first + element as usize + 1
            }
            (Some(_), Some(_)) => 0..0,
        }
    }
}
