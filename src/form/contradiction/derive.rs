//! Collects the events that must happen, and derives orders until there is a cycle or no new order.

use super::facts::Facts;
use super::orders::Orders;
use super::{Explanation, Ground, NoCycle, OrderKind, Site};
use crate::Form;
use crate::Selection;
use cssame_concurrency::lockset::ATOMIC;
use cssame_concurrency::mutex_body::MutexBody;
use cssame_concurrency::{EventKind, LocationId};
use cssame_ir::{DefinitionId, DefinitionKind, Program, ReadId, Storage};

/// Events that are looked at.
const MAX_EVENTS: usize = 300;

/// Cases that are looked at.
const MAX_CASES: usize = 32;

/// A selected read and its write.
#[derive(Clone, Copy)]
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
    bodies: Vec<Vec<MutexBody>>,
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
        let mut cases: Vec<Vec<Choice>> = vec![Vec::new()];
        for (place, selection) in selections.iter().enumerate() {
            let choices = match self.choices(place, selection) {
                Ok(choices) if choices.len() * cases.len() <= MAX_CASES => choices,
                Ok(_) => return Explanation::None(NoCycle::ManyReads(place)),
                Err(why) => return Explanation::None(why),
            };
            let extended = |case: &Vec<Choice>| {
                let case = case.clone();
                choices.iter().map(move |&choice| case.iter().copied().chain([choice]).collect()).collect::<Vec<_>>()
            };
            cases = cases.iter().flat_map(extended).collect();
        }
        let count = cases.len();
        let mut shown: Option<Explanation> = None;
        for case in cases {
            match self.case(case, count) {
                Explanation::None(why) => return Explanation::None(why),
                found if shown.is_none() => shown = Some(found),
                found @ Explanation::Cycle { .. } if matches!(shown, Some(Explanation::Exclusive { .. })) => {
                    shown = Some(found);
                }
                _ => {}
            }
        }
        shown.unwrap_or(Explanation::None(NoCycle::Consistent))
    }

    fn case(&mut self, case: Vec<Choice>, cases: usize) -> Explanation {
        self.cells = case.iter().filter_map(|choice| choice.cell).collect();
        self.choices = case;
        self.orders = Orders::default();
        self.bodies.clear();
        self.waiting.clear();
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
                Explanation::Cycle { orders, cycle, cases }
            }
        }
    }

    /// The events that a selection may mean, if each of them happens at most once.
    fn choices(&mut self, place: usize, selection: &Selection) -> Result<Vec<Choice>, NoCycle> {
        let reads = self.all(|kind| read_of(kind).is_some_and(|read| selection.selects(read)));
        let writes = self.all(|kind| selection.accepts(definition_of(kind)));
        if reads.is_empty() || !reads.iter().all(|site| self.facts.once(site.block)) {
            return Err(NoCycle::ManyReads(place));
        }
        let initial = selection.definitions.iter().any(|&one| self.is_initial_of_global(one));
        if (writes.is_empty() && !initial) || !writes.iter().all(|site| self.facts.once(site.block)) {
            return Err(NoCycle::ManyWrites(place));
        }
        // What a global begins with is there before an initialiser runs.
        let sources: Vec<Option<Site>> =
            initial.then_some(None).into_iter().chain(writes.into_iter().map(Some)).collect();
        let certain = |site: Site| self.facts.concurrency.certain_location(self.facts.program, self.facts.event(site));
        let choice = |read: Site, write: Option<Site>| {
            let cell = certain(read).or_else(|| write.and_then(certain));
            Choice { selection: place, read, write, cell }
        };
        Ok(reads
            .iter()
            .flat_map(|&read| sources.iter().map(move |&write| (read, write)))
            .map(|(r, w)| choice(r, w))
            .collect())
    }

    fn is_initial_of_global(&self, definition: DefinitionId) -> bool {
        let DefinitionKind::Initial(leaf) = self.facts.program.definitions[definition].kind else { return false };
        let variable = self.facts.program.leaves[leaf].variable;
        self.facts.program.variables[variable].storage == Storage::Global
    }

    /// All events of a kind.
    fn all(&self, wanted: impl Fn(EventKind) -> bool) -> Vec<Site> {
        let blocks = 0..self.facts.concurrency.blocks.len() as u32;
        blocks
            .flat_map(|block| self.facts.sites(block))
            .filter(|&site| wanted(self.facts.event(site).kind))
            .take(MAX_CASES + 1)
            .collect()
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
    fn given(&mut self, first: Site, second: Site) -> Option<OrderKind> {
        let concurrency = self.facts.concurrency;
        let child = &concurrency.threads[self.facts.thread(second)];
        if child.parent == Some(self.facts.thread(first)) {
            let forks = self.facts.event(first).kind == EventKind::Fork && child.fork == first.block;
            // The fork of a `parfor` is no event of its own: what its loop does not come to again is before it.
            let in_loop = !self.facts.once(child.fork);
            if forks || (in_loop && !self.facts.reaches(child.fork, first.block)) {
                return Some(OrderKind::Fork);
            }
        }
        let facts = &self.facts;
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
                        Some(other) if body.excludes(&other) => self.exclude((a, Some(body)), (b, Some(other)))?,
                        // Two readers.
                        Some(_) => {}
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
    fn exclude(&mut self, (a, first): (Site, Option<MutexBody>), (b, second): (Site, Option<MutexBody>)) -> Step {
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
