//! Collects the events that must happen, and derives orders until there is a cycle or nothing new.

use super::facts::{Body, Facts};
use super::orders::Orders;
use super::{Explanation, Ground, NoCycle, OrderKind, Site};
use crate::concurrency::lockset::ATOMIC;
use crate::concurrency::{EventKind, LocationId};
use crate::cssame::Form;
use crate::explore::select::Selection;
use crate::ir::{DefinitionId, DefinitionKind, Program, ReadId};

/// Events that are looked at.
const MAX_EVENTS: usize = 300;

/// A selected read and its write.
struct Choice {
    selection: usize,
    read: Site,
    /// None for the value that a global begins with.
    write: Option<Site>,
    /// The cell, where it is known.
    cell: Option<LocationId>,
}

pub(super) struct Derivation<'a> {
    facts: Facts<'a>,
    orders: Orders,
    choices: Vec<Choice>,
    cells: Vec<LocationId>,
    /// By event, in the order of the events: the mutex bodies that it lies in.
    bodies: Vec<Vec<Body>>,
    waiting: Vec<Site>,
}

/// Why a derivation ends.
enum Stop {
    /// An order that closes a cycle.
    Cycle(usize),
    Exclusive(Site, Site),
    TooLarge,
}

type Step = Result<(), Stop>;

impl<'a> Derivation<'a> {
    pub fn new(program: &'a Program, form: &'a Form) -> Derivation<'a> {
        Derivation {
            facts: Facts::new(program, form),
            orders: Orders::default(),
            choices: Vec::new(),
            cells: Vec::new(),
            bodies: Vec::new(),
            waiting: Vec::new(),
        }
    }

    pub fn run(mut self, selections: &[Selection]) -> Explanation {
        for (place, selection) in selections.iter().enumerate() {
            match self.choice(place, selection) {
                Ok(choice) => self.choices.push(choice),
                Err(why) => return Explanation::None(why),
            }
        }
        self.cells = self.choices.iter().filter_map(|choice| choice.cell).collect();
        match self.derive() {
            Ok(()) => Explanation::None(NoCycle::Consistent),
            Err(Stop::TooLarge) => Explanation::None(NoCycle::TooLarge),
            Err(Stop::Exclusive(first, second)) => Explanation::Exclusive { first, second },
            Err(Stop::Cycle(order)) => {
                let last = &self.orders.list[order];
                let mut cycle = vec![order];
                if last.from != last.to {
                    cycle.extend(self.orders.path(last.to, last.from));
                }
                let (orders, cycle) = self.orders.proof(&cycle);
                Explanation::Cycle { orders, cycle }
            }
        }
    }

    /// The events of a selection, if each is a single one.
    fn choice(&mut self, place: usize, selection: &Selection) -> Result<Choice, NoCycle> {
        let reads = |kind: EventKind| read_of(kind) == Some(selection.read);
        let writes = |kind: EventKind| definition_of(kind) == Some(selection.definition);
        let read = self.only(reads).filter(|_| selection.instance.is_none_or(|instance| instance == 1));
        let read = read.ok_or(NoCycle::ManyReads(place))?;
        let definition = &self.facts.program.definitions[selection.definition];
        let initial = match definition.kind {
            DefinitionKind::Initial(leaf) => {
                let variable = self.facts.program.leaves[leaf].variable;
                self.facts.program.variables[variable].storage == crate::ir::Storage::Global
            }
            DefinitionKind::Write(_) => false,
        };
        // The initialiser of a global may be an instruction, too.
        let write = self.only(writes);
        if write.is_none() && (!initial || self.any(writes)) {
            return Err(NoCycle::ManyWrites(place));
        }
        let certain = |site: Site| self.facts.concurrency.certain_location(self.facts.program, self.facts.event(site));
        let cell = certain(read).or_else(|| write.and_then(certain));
        Ok(Choice { selection: place, read, write, cell })
    }

    fn any(&self, wanted: impl Fn(EventKind) -> bool) -> bool {
        self.facts.concurrency.events.iter().any(|event| wanted(event.kind))
    }

    /// The only event of a kind, if it happens at most once.
    fn only(&mut self, wanted: impl Fn(EventKind) -> bool) -> Option<Site> {
        let mut found = None;
        for block in 0..self.facts.concurrency.blocks.len() as u32 {
            for (offset, event) in self.facts.concurrency.events_of(block).iter().enumerate() {
                if wanted(event.kind) && found.replace(Site { block, offset: offset as u32 }).is_some() {
                    return None;
                }
            }
        }
        found.filter(|site| self.facts.once(site.block))
    }

    fn derive(&mut self) -> Step {
        for place in 0..self.choices.len() {
            let Choice { read, write, .. } = self.choices[place];
            self.waiting.push(read);
            self.waiting.extend(write);
        }
        self.insert_all()?;
        for place in 0..self.choices.len() {
            let Choice { read, write, .. } = self.choices[place];
            if let Some(write) = write {
                self.add(write, read, OrderKind::ReadsFrom, Ground::Given)?;
            }
        }
        loop {
            let known = (self.orders.sites.len(), self.orders.list.len());
            self.reads()?;
            self.locks()?;
            if known == (self.orders.sites.len(), self.orders.list.len()) {
                return Ok(());
            }
        }
    }

    fn add(&mut self, from: Site, to: Site, kind: OrderKind, ground: Ground) -> Step {
        self.orders.add(from, to, kind, ground).map_or(Ok(()), |order| Err(Stop::Cycle(order)))
    }

    /// Adds the events that wait, and those that they imply.
    fn insert_all(&mut self) -> Step {
        while let Some(site) = self.waiting.pop() {
            if self.orders.contains(site) || !self.facts.once(site.block) {
                continue;
            }
            if self.orders.sites.len() >= MAX_EVENTS {
                return Err(Stop::TooLarge);
            }
            let bodies = self.facts.bodies(site);
            self.orders.add_site(site);
            self.bodies.push(bodies);
            self.imply(site);
            self.order_with_others(site)?;
        }
        Ok(())
    }

    /// What must have happened where an event happens.
    fn imply(&mut self, site: Site) {
        let earlier = self.facts.sites(site.block).filter(|other| other.offset < site.offset);
        self.waiting.extend(earlier.filter(|&other| self.is_of_interest(other)).collect::<Vec<Site>>());
        self.imply_blocks(self.facts.dominators_of(site.block));
        // The thread has ended: it has come to its exit.
        if matches!(self.facts.event(site).kind, EventKind::Join | EventKind::JoinThread) {
            for (id, thread) in self.facts.concurrency.threads.entries() {
                let exit = self.facts.concurrency.contexts[thread.root].exit;
                if self.facts.joins_of(id).contains(&site) && self.facts.dominates(thread.fork, site.block) {
                    self.imply_blocks(self.facts.dominators_of(exit));
                }
            }
        }
        for (signal, waits) in self.facts.concurrency.signals() {
            if site.offset == 0 && waits.contains(&site.block) {
                self.waiting.extend(self.signal(signal));
            }
        }
    }

    fn imply_blocks(&mut self, blocks: Vec<u32>) {
        for block in blocks {
            let sites: Vec<Site> = self.facts.sites(block).filter(|&site| self.is_of_interest(site)).collect();
            self.waiting.extend(sites);
        }
    }

    /// The event that ends a block with a signal.
    fn signal(&self, block: u32) -> Option<Site> {
        self.facts.sites(block).last()
    }

    /// Whether orders may follow from an event: all but accesses to other cells.
    fn is_of_interest(&self, site: Site) -> bool {
        let event = self.facts.event(site);
        match event.kind {
            EventKind::Read(_) => false,
            EventKind::Write(_) | EventKind::Update { .. } => {
                self.facts.concurrency.locations_of(event).iter().any(|location| self.cells.contains(location))
            }
            _ => true,
        }
    }

    /// Adds the given orders of a new event and the others.
    fn order_with_others(&mut self, site: Site) -> Step {
        for place in 0..self.orders.sites.len() {
            let other = self.orders.sites[place];
            if other == site {
                continue;
            }
            if self.facts.thread(site) == self.facts.thread(other) {
                match self.facts.program_order(site, other) {
                    Some(true) => self.add(site, other, OrderKind::Program, Ground::Given)?,
                    Some(false) => self.add(other, site, OrderKind::Program, Ground::Given)?,
                    None => return Err(Stop::Exclusive(other, site)),
                }
                continue;
            }
            for (first, second) in [(site, other), (other, site)] {
                if let Some(kind) = self.given(first, second) {
                    self.add(first, second, kind, Ground::Given)?;
                }
            }
        }
        Ok(())
    }

    /// Why an event of one thread certainly comes before one of another.
    fn given(&self, first: Site, second: Site) -> Option<OrderKind> {
        let facts = &self.facts;
        let concurrency = facts.concurrency;
        let makes = |site: Site| {
            facts.event(site).kind == EventKind::Fork
                && concurrency.threads[facts.thread(second)].parent.is_some()
                && concurrency.threads[facts.thread(second)].fork == site.block
        };
        if makes(first) {
            return Some(OrderKind::Fork);
        }
        let joins = matches!(facts.event(second).kind, EventKind::Join | EventKind::JoinThread);
        if joins && facts.joins_of(facts.thread(first)).contains(&second) {
            return Some(OrderKind::Join);
        }
        let mut signals = concurrency.signals();
        if signals.any(|(signal, waits)| {
            self.signal(signal) == Some(first) && second.offset == 0 && waits.contains(&second.block)
        }) {
            return Some(OrderKind::Signal);
        }
        concurrency.barrier_between(first.block, second.block).then_some(OrderKind::Barrier)
    }

    /// Coherence and from-read of the selected reads.
    fn reads(&mut self) -> Step {
        for place in 0..self.choices.len() {
            let Choice { selection, read, write, cell } = self.choices[place];
            let Some(cell) = cell else { continue };
            for index in 0..self.orders.sites.len() {
                let other = self.orders.sites[index];
                if other == read || Some(other) == write || !self.writes(other, cell) {
                    continue;
                }
                match write {
                    Some(write) => {
                        if self.orders.before(other, read) && !self.orders.before(other, write) {
                            let ground = Ground::Read { selection, path: self.orders.path(other, read) };
                            self.add(other, write, OrderKind::Coherence, ground)?;
                        }
                        if self.orders.before(write, other) && !self.orders.before(read, other) {
                            let ground = Ground::Read { selection, path: self.orders.path(write, other) };
                            self.add(read, other, OrderKind::FromRead, ground)?;
                        }
                    }
                    None if !self.orders.before(read, other) => {
                        let ground = Ground::Read { selection, path: Vec::new() };
                        self.add(read, other, OrderKind::FromRead, ground)?;
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Whether an event certainly writes a cell. A `cas` may write nothing, unless a selected read sees what it wrote.
    fn writes(&self, site: Site, cell: LocationId) -> bool {
        let event = self.facts.event(site);
        let selected = || self.choices.iter().any(|choice| choice.write == Some(site));
        let writes = match event.kind {
            EventKind::Write(_) => true,
            EventKind::Update { always, .. } => always || selected(),
            _ => false,
        };
        writes && self.facts.concurrency.certain_location(self.facts.program, event) == Some(cell)
    }

    /// Bodies of one lock come one after the other, and nothing comes into an atomic block.
    fn locks(&mut self) -> Step {
        for first in 0..self.orders.sites.len() {
            for second in 0..self.orders.sites.len() {
                let (a, b) = (self.orders.sites[first], self.orders.sites[second]);
                if self.facts.thread(a) == self.facts.thread(b) || !self.orders.before(a, b) {
                    continue;
                }
                for body in self.bodies[first].clone() {
                    let other = self.bodies[second].iter().find(|other| other.lock == body.lock).copied();
                    match other {
                        Some(other) => self.exclude((a, Some(body)), (b, Some(other)))?,
                        None if body.lock == ATOMIC => self.exclude((a, Some(body)), (b, None))?,
                        None => {}
                    }
                }
                let alone = self.bodies[second].iter().find(|body| body.lock == ATOMIC).copied();
                if let Some(body) = alone
                    && !self.bodies[first].iter().any(|body| body.lock == ATOMIC)
                {
                    self.exclude((a, None), (b, Some(body)))?;
                }
            }
        }
        Ok(())
    }

    /// An event in one body, or in none, comes before one in another: the first body is left before the second is entered.
    fn exclude(&mut self, (a, first): (Site, Option<Body>), (b, second): (Site, Option<Body>)) -> Step {
        let from = match first {
            Some(body) => body.leave.filter(|leave| self.facts.once(leave.block)).unwrap_or(a),
            None => a,
        };
        let to = match second {
            Some(body) if self.facts.once(body.enter.block) => body.enter,
            _ => b,
        };
        if self.orders.before(from, to) || (from, to) == (a, b) {
            return Ok(());
        }
        let path = self.orders.path(a, b);
        self.waiting.extend([from, to]);
        self.insert_all()?;
        if self.orders.before(from, to) {
            return Ok(());
        }
        let lock = first.or(second).map_or(a, |body| body.enter);
        self.add(from, to, OrderKind::Lock, Ground::Bodies { lock, first: a, second: b, path })
    }
}

/// The read of an event.
pub(super) fn read_of(kind: EventKind) -> Option<ReadId> {
    match kind {
        EventKind::Read(read) | EventKind::Update { read, .. } => Some(read),
        _ => None,
    }
}

/// The definition of an event.
pub(super) fn definition_of(kind: EventKind) -> Option<DefinitionId> {
    match kind {
        EventKind::Write(definition) | EventKind::Update { definition, .. } => Some(definition),
        _ => None,
    }
}
