//! The accesses to shared memory, as SSA variables.
//!
//! **Input**: the events of the unfolded graph. **Output**: [`Table`]: the accesses by block, each with its variable; and, at the
//! marker of each merge of all branches, one use of every variable that may have changed since the branches parted.
//!
//! **Algorithm**
//! 1. Track the shared leaves of all instances, and the leaves that a shared read may also touch.
//! 2. A variable is a tracked leaf. An array whose elements are only named by constant indices has one variable for each element.
//! 3. A write is a definition if it certainly replaces the whole variable (one location, one cell, always written). Otherwise it
//!    is a weak definition, which also depends on the old value.
//!
//! **Soundness and limits**: a definition never replaces more than it certainly names.

use cssame_concurrency::{AndJoin, Concurrency, Event, EventKind, InstanceId, Location, ThreadId};
use cssame_ir::{DefinitionId, DefinitionKind, LeafId, Program, ReadId};
use cssame_ssa::{AccessKind, Accesses};
use rustc_hash::{FxHashMap, FxHashSet};

/// An access, beside its entry in [`Accesses`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The block.
    pub block: u32,
    /// Index of the event; `u32::MAX` for a use that only asks for a version.
    pub event: u32,
    /// What it reads.
    pub read: Option<ReadId>,
    /// What it writes.
    pub definition: Option<DefinitionId>,
    /// The element of an array that has one variable.
    pub element: Option<u32>,
}

/// A variable of SSA.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub instance: InstanceId,
    pub leaf: LeafId,
}

/// All accesses to shared memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub variables: Vec<Variable>,
    pub accesses: Vec<Access>,
    /// For each event, its accesses.
    pub of_event: Vec<(u32, u32)>,
    /// What SSA sees.
    pub ssa: Accesses,
    /// For each merge at which all branches have run, and each variable that may have changed since they parted: the use that asks for
    /// the version at the parting.
    pub markers: FxHashMap<(u32, u32), u32>,
    by_definition: FxHashMap<DefinitionId, Vec<u32>>,
    ids: FxHashMap<(InstanceId, LeafId, Option<u32>), u32>,
    /// Arrays with an index that is not constant.
    dynamic: FxHashSet<(InstanceId, LeafId)>,
    elements: FxHashMap<(InstanceId, LeafId), Vec<u32>>,
    /// What has variables: all that is shared, and what a read that may touch something shared may read instead (a method
    /// runs on shared and on private objects).
    tracked: FxHashSet<(InstanceId, LeafId)>,
}

impl Table {
    pub fn block_of(&self, access: u32) -> u32 {
        self.accesses[access as usize].block
    }

    /// The accesses that make a definition.
    pub fn events_of_definition(&self, definition: DefinitionId) -> &[u32] {
        self.by_definition.get(&definition).map_or(&[], Vec::as_slice)
    }

    /// The variable of an access.
    pub fn variable_of(&self, access: u32) -> u32 {
        self.ssa.all()[access as usize].variable
    }

    fn variable(&mut self, instance: InstanceId, leaf: LeafId, element: Option<u32>) -> u32 {
        let variables = &mut self.variables;
        *self.ids.entry((instance, leaf, element)).or_insert_with(|| {
            variables.push(Variable { instance, leaf });
            variables.len() as u32 - 1
        })
    }

    /// The variables that a location stands for, each with the element where several share a variable.
    fn variables_of(&mut self, program: &Program, location: Location) -> Vec<(u32, Option<u32>)> {
        let key = (location.instance, location.leaf);
        if !program.leaves[location.leaf].is_array() {
            return vec![(self.variable(key.0, key.1, None), None)];
        }
        if self.dynamic.contains(&key) {
            return vec![(self.variable(key.0, key.1, None), location.element)];
        }
        let elements = match location.element {
            Some(element) => vec![element],
            None => self.elements.get(&key).cloned().unwrap_or_default(),
        };
        elements.into_iter().map(|element| (self.variable(key.0, key.1, Some(element)), None)).collect()
    }
}

/// Collects the accesses to shared memory.
pub(super) fn collect(program: &Program, concurrency: &Concurrency) -> Table {
    let mut table = Table { of_event: vec![(0, 0); concurrency.events.len()], ..Table::default() };
    find_tracked(concurrency, &mut table);
    find_elements(program, concurrency, &mut table);
    let written = written_by_thread(program, concurrency, &mut table);
    let changed = changed_between(concurrency, &written);
    let mut markers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (index, join) in concurrency.and_joins.iter().enumerate() {
        markers.entry(join.marker).or_default().push(index as u32);
    }
    for block in 0..concurrency.flow.node_count() as u32 {
        let first = concurrency.first_event(block);
        for (offset, event) in concurrency.events_of(block).iter().enumerate() {
            let start = table.accesses.len() as u32;
            add_event(program, concurrency, &mut table, block, (first + offset) as u32, event);
            table.of_event[first + offset] = (start, table.accesses.len() as u32);
        }
        for &join in markers.get(&block).map_or(&[][..], Vec::as_slice) {
            for &variable in &changed[join as usize] {
                let access = push(
                    &mut table,
                    variable,
                    AccessKind::Use,
                    Access { block, event: u32::MAX, read: None, definition: None, element: None },
                );
                table.markers.insert((join, variable), access);
            }
        }
        table.ssa.end_block();
    }
    table
}

fn push(table: &mut Table, variable: u32, kind: AccessKind, access: Access) -> u32 {
    let index = table.accesses.len() as u32;
    if let Some(definition) = access.definition {
        table.by_definition.entry(definition).or_default().push(index);
    }
    table.accesses.push(access);
    table.ssa.push(variable, kind);
    index
}

/// What an event reads and writes.
fn parts(event: &Event) -> (Option<ReadId>, Option<DefinitionId>, bool) {
    match event.kind {
        EventKind::Read(read) => (Some(read), None, true),
        EventKind::Write(definition) => (None, Some(definition), true),
        EventKind::Update { read, definition, always } => (Some(read), Some(definition), always),
        _ => (None, None, true),
    }
}

fn add_event(program: &Program, concurrency: &Concurrency, table: &mut Table, block: u32, index: u32, event: &Event) {
    let (read, definition, always) = parts(event);
    if read.is_none() && definition.is_none() {
        return;
    }
    let locations = concurrency.locations_of(event);
    for &id in locations {
        let location = concurrency.locations[id];
        if !table.tracked.contains(&(location.instance, location.leaf)) {
            continue;
        }
        let read = read.filter(|&read| concurrency.sharing.read(read));
        // A declaration makes the whole variable anew; everything else kills only what it certainly names.
        let declares = definition.is_some_and(|definition| {
            matches!(program.definitions[definition].kind, DefinitionKind::Initial(_)) && location.element.is_none()
        });
        let single = concurrency.instances[location.instance].single;
        let certain = locations.len() == 1 && (concurrency.kills(program, id) || (declares && single));
        let frees = definition.is_some_and(|definition| program.definitions[definition].is_free());
        for (variable, element) in table.variables_of(program, location) {
            let base = Access { block, event: index, read: None, definition: None, element };
            if read.is_some() {
                push(table, variable, AccessKind::Use, Access { read, ..base });
            }
            if frees {
                // Nothing comes from it to a read.
                push(table, variable, AccessKind::Use, Access { definition, ..base });
            } else if definition.is_some() {
                let kills = certain && always && (element.is_none() || declares);
                let kind = if kills { AccessKind::Definition } else { AccessKind::WeakDefinition };
                push(table, variable, kind, Access { definition, ..base });
            }
        }
    }
}

fn find_tracked(concurrency: &Concurrency, table: &mut Table) {
    table.tracked = concurrency.sharing.instances.keys().copied().collect();
    for event in &concurrency.events {
        let (Some(read), ..) = parts(event) else { continue };
        if concurrency.sharing.read(read) {
            let locations = concurrency.locations_of(event).iter().map(|&id| concurrency.locations[id]);
            table.tracked.extend(locations.map(|location| (location.instance, location.leaf)));
        }
    }
}

/// Finds the elements of the arrays whose indices are all constant.
fn find_elements(program: &Program, concurrency: &Concurrency, table: &mut Table) {
    for event in &concurrency.events {
        let (read, definition, _) = parts(event);
        // These mean all elements, whatever the others are.
        let whole = definition.is_some_and(|id| !matches!(program.definitions[id].kind, DefinitionKind::Write(_)));
        if read.is_none() && definition.is_none() {
            continue;
        }
        for &id in concurrency.locations_of(event) {
            let location = concurrency.locations[id];
            let key = (location.instance, location.leaf);
            if !program.leaves[location.leaf].is_array() {
                continue;
            }
            match location.element {
                Some(element) => table.elements.entry(key).or_default().push(element),
                None if whole => {}
                None => {
                    table.dynamic.insert(key);
                }
            }
        }
    }
    for elements in table.elements.values_mut() {
        elements.sort_unstable();
        elements.dedup();
    }
}

/// Uses at markers up to which merges are asked about what comes through other merges as well.
const MAX_MARKERS: usize = 200_000;

/// For each merge at which all branches have run the variables that may have one value where the branches part and another one where
/// they meet. Those are what its threads write, and what comes to them by merges before: behind a wait for an event a thread holds what
/// others have written, and takes it to the next merge.
fn changed_between(concurrency: &Concurrency, written: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let (mut learned, mut by_signals) = (written.to_vec(), vec![Vec::new(); written.len()]);
    let union = |of: &[Vec<u32>], threads: &mut dyn Iterator<Item = ThreadId>| {
        let mut all: Vec<u32> = threads.flat_map(|thread| of[thread.index()].iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let written_alone =
        || concurrency.and_joins.iter().map(|join| union(written, &mut join.threads.iter().copied())).collect();
    loop {
        let mut changed = false;
        for join in &concurrency.and_joins {
            let here = concurrency.thread_of(join.block);
            // The meeting of a barrier stands in no thread; all that come to it learn.
            let is_meeting = concurrency.blocks[join.block as usize].source.is_none();
            for &thread in if is_meeting { join.threads.as_slice() } else { std::slice::from_ref(&here) } {
                let others = union(&learned, &mut join.threads.iter().copied().filter(|&other| other != thread));
                changed |= extend(&mut learned[thread.index()], &others);
                // The join of a fork stands in the thread that has forked: what its threads have done is its own.
                if join.threads.contains(&thread) {
                    extend(&mut by_signals[thread.index()], &others);
                }
            }
        }
        if learned.iter().map(Vec::len).sum::<usize>() > MAX_MARKERS {
            return written_alone();
        }
        if !changed {
            break;
        }
    }
    let learned_by = |join: &AndJoin| &by_signals[concurrency.thread_of(join.block).index()];
    let size = |join: &AndJoin| {
        let of_threads: usize = join.threads.iter().map(|thread| learned[thread.index()].len()).sum();
        of_threads + learned_by(join).len()
    };
    if concurrency.and_joins.iter().map(size).sum::<usize>() > MAX_MARKERS {
        return written_alone();
    }
    let of_join = |join: &AndJoin| {
        let mut all = union(&learned, &mut join.threads.iter().copied());
        extend(&mut all, learned_by(join));
        all
    };
    concurrency.and_joins.iter().map(of_join).collect()
}

/// Adds to a sorted list what it does not have, each once; whether something was new.
fn extend(list: &mut Vec<u32>, more: &[u32]) -> bool {
    let new: Vec<u32> = more.iter().copied().filter(|one| list.binary_search(one).is_err()).collect();
    list.extend(&new);
    if !new.is_empty() {
        list.sort_unstable();
    }
    !new.is_empty()
}

/// The variables that each thread or a thread below it writes.
fn written_by_thread(program: &Program, concurrency: &Concurrency, table: &mut Table) -> Vec<Vec<u32>> {
    let mut written: Vec<Vec<u32>> = vec![Vec::new(); concurrency.threads.len()];
    if concurrency.and_joins.is_empty() {
        return written;
    }
    for block in 0..concurrency.blocks.len() as u32 {
        let thread = concurrency.thread_of(block);
        for event in concurrency.events_of(block) {
            if parts(event).1.is_none() {
                continue;
            }
            for &id in concurrency.locations_of(event) {
                let location = concurrency.locations[id];
                if table.tracked.contains(&(location.instance, location.leaf)) {
                    let variables = table.variables_of(program, location);
                    written[thread.index()].extend(variables.into_iter().map(|(variable, _)| variable));
                }
            }
        }
    }
    for thread in concurrency.threads.ids().rev() {
        let mut own = std::mem::take(&mut written[thread.index()]);
        own.sort_unstable();
        own.dedup();
        if let Some(parent) = concurrency.threads[thread].parent {
            written[parent.index()].extend(&own);
        }
        written[thread.index()] = own;
    }
    written
}
