//! Locks that are held of the row of an access: `lock(stripe[k]); table[k]++;`, `lock(a[i].guard); a[i].balance = 1;`.
//!
//! **Input**: the unfolded graph, with the [`Row`]s of its events. **Output**: [`RowLocks`]: for each access to an element of an
//! array the arrays of locks of which it certainly holds the one with the same indices.
//!
//! **Algorithm** (forward must-analysis, as [`super::lockset`])
//! 1. A lock with an index that is not known adds its row. Giving back a lock takes away the row that it names, and where
//!    that is not certain, all rows of locks that it may be.
//! 2. A row is forgotten where one of its registers is written, and where its function begins anew.
//! 3. At an access, a row of a lock counts whose indices are the first ones of the access.
//! 4. Where the elements are known, so is whether a lock is that of the row of an access ([`RowLocks::known`]).
//!
//! **Soundness and limits**: two accesses that both hold the lock of their row in one array of locks, and that mean one cell,
//! have equal indices, and hold one lock. Not seen: tries, activations that are not told apart, and rows that a caller has
//! locked.

use super::lockset::Hold;
use super::row::Row;
use super::set_table::{SetId, SetTable};
use super::{Concurrency, Event, EventKind, Location, LocationId, forward};
use cssame_ir::sync::{Kind, Mode};
use cssame_ir::{LeafKind, Program};
use rustc_hash::FxHashMap;

/// The locks of the rows of accesses. The array of locks stands for the lock.
#[derive(Clone, Debug, Default)]
pub struct RowLocks {
    /// By event; those that hold none are left out.
    of_event: FxHashMap<u32, Vec<Hold>>,
    /// Of each array of locks of which some row is held, the location that stands for any element.
    arrays: FxHashMap<Location, LocationId>,
}

impl RowLocks {
    /// The locks of its row that an event with an unknown element certainly holds.
    pub fn of_event(&self, event: u32) -> &[Hold] {
        self.of_event.get(&event).map_or(&[], Vec::as_slice)
    }

    /// Those of some holds that are locks of the row of a known element.
    pub fn known(&self, program: &Program, concurrency: &Concurrency, at: LocationId, holds: &[Hold]) -> Vec<Hold> {
        let cell = concurrency.locations[at];
        let (Some(element), false) = (cell.element, self.arrays.is_empty()) else { return Vec::new() };
        let indices = program.leaves[cell.leaf].indices_of(element);
        let of_row = holds.iter().filter_map(|hold| {
            let lock = concurrency.locations.get(hold.lock)?;
            let array = *self.arrays.get(&Location { element: None, ..*lock })?;
            let of_lock = program.leaves[lock.leaf].indices_of(lock.element?);
            indices.starts_with(&of_lock).then_some(hold.of(array))
        });
        of_row.collect()
    }
}

/// A row of a lock that is held.
type Held = (u32, Mode);

/// Finds the locks of the rows of all accesses.
pub fn find_row_locks(program: &Program, concurrency: &Concurrency) -> RowLocks {
    let mut found = RowLocks::default();
    let finder = Finder { program, concurrency };
    for (&event, row) in &concurrency.rows {
        if finder.taken(event).is_some() {
            let array = concurrency.row_list[*row as usize].array;
            found.arrays.insert(concurrency.locations[array], array);
        }
    }
    if found.arrays.is_empty() {
        return found;
    }
    let mut sets = SetTable::new(usize::MAX);
    let behind = |sets: &mut SetTable<Held>, before, block| finder.block(sets, before, block, &mut |_, _| {});
    let at_entry = forward::solve(concurrency, &mut sets, behind, SetTable::intersection);
    for block in 0..concurrency.blocks.len() as u32 {
        if let Some(set) = at_entry[block as usize] {
            finder.block(&mut sets, set, block, &mut |event, holds| {
                found.of_event.insert(event, holds);
            });
        }
    }
    found
}

struct Finder<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
}

impl Finder<'_> {
    fn row(&self, event: u32) -> Option<(u32, &Row)> {
        let id = *self.concurrency.rows.get(&event)?;
        Some((id, &self.concurrency.row_list[id as usize]))
    }

    /// The row of a lock that an event takes.
    fn taken(&self, event: u32) -> Option<Held> {
        let EventKind::Synchronise(kind) = self.concurrency.events[event as usize].kind else { return None };
        let is_lock = matches!(kind, Kind::Lock | Kind::ReadLock | Kind::WriteLock);
        let (id, row) = self.row(event).filter(|_| is_lock)?;
        // Only then is it one array for all threads.
        let instance = self.concurrency.locations[row.array].instance;
        self.concurrency.instances[instance].unique.then(|| (id, kind.mode()))
    }

    /// What is held behind a block. `note` is told of each access that holds a lock of its row.
    fn block(
        &self,
        sets: &mut SetTable<Held>,
        mut set: SetId,
        block: u32,
        note: &mut dyn FnMut(u32, Vec<Hold>),
    ) -> SetId {
        let (concurrency, rows) = (self.concurrency, &self.concurrency.row_list);
        let of = concurrency.blocks[block as usize];
        if concurrency.contexts[of.context].entry == block {
            // Other values of the parameters.
            set = sets.retain(set, |held| rows[held.0 as usize].context != of.context);
        }
        for (_, instruction, events) in concurrency.instructions_of(self.program, block) {
            for event in events {
                set = self.event(sets, set, event, note);
            }
            if let Some(dest) = instruction.dest().filter(|_| set != 0) {
                let follows =
                    |held: Held| rows[held.0 as usize].context == of.context && rows[held.0 as usize].follows(dest);
                set = sets.retain(set, |held| !follows(held));
            }
        }
        set
    }

    fn event(&self, sets: &mut SetTable<Held>, set: SetId, index: u32, note: &mut dyn FnMut(u32, Vec<Hold>)) -> SetId {
        let event = &self.concurrency.events[index as usize];
        match event.kind {
            EventKind::Synchronise(kind) if kind.only_releases() => self.released(sets, set, index, event),
            EventKind::Synchronise(_) => match self.taken(index) {
                Some(held) => sets.with(set, held),
                None => set,
            },
            EventKind::Read(_) | EventKind::Write(_) | EventKind::Update { .. } => {
                if let Some((_, cell)) = self.row(index).filter(|_| set != 0) {
                    let rows = sets.get(set).iter().map(|held| (&self.concurrency.row_list[held.0 as usize], held.1));
                    let mut holds: Vec<Hold> = rows
                        .filter(|(row, _)| row.is_of(cell))
                        .map(|(row, mode)| Hold::outermost(row.array, mode))
                        .collect();
                    holds.sort_unstable();
                    holds.dedup();
                    if !holds.is_empty() {
                        note(index, holds);
                    }
                }
                set
            }
            _ => set,
        }
    }

    /// Takes away what an event gives back.
    fn released(&self, sets: &mut SetTable<Held>, set: SetId, index: u32, event: &Event) -> SetId {
        let (concurrency, rows) = (self.concurrency, &self.concurrency.row_list);
        if let Some((id, row)) = self.row(index) {
            let leaf = concurrency.locations[row.array].leaf;
            let is_held = sets.get(set).iter().any(|held| held.0 == id);
            // Two plain locks that one thread holds are two.
            if is_held && self.program.leaves[leaf].kind == LeafKind::Lock {
                return sets.retain(set, |held| held.0 != id);
            }
        }
        let may_be = |held: Held| {
            let array = concurrency.locations[rows[held.0 as usize].array];
            concurrency.released_by(event).iter().any(|&lock| {
                let lock = concurrency.locations[lock];
                (lock.instance, lock.leaf) == (array.instance, array.leaf)
            })
        };
        sets.retain(set, |held| !may_be(held))
    }
}
