//! Locks that are held for the row of an access: `lock(stripe[k]); table[k]++;`, `lock(a[i].guard); a[i].balance = 1;`.
//!
//! **Input**: the unfolded graph, with the [`Row`]s of its events. **Output**: [`RowLocks`]: for each access to an element of an
//! array, the arrays of locks whose element with the same indices it certainly holds.
//!
//! **Algorithm** (forward must-analysis, as [`super::lockset`])
//! 1. A lock with an unknown index adds its rows. A release removes the rows of the lock that it names, in any of their forms. If
//!    that lock is uncertain, it removes all rows of the possible locks.
//! 2. A row is forgotten when one of its registers is written, and when the function of one of them begins again.
//! 3. At an access, a row of a lock counts if its indices are the first indices of the access.
//! 4. If the elements are known, it is also known whether a lock belongs to the row of an access ([`RowLocks::known`]). The first
//!    indices of an access suffice ([`RowLocks::begun`]).
//!
//! **Soundness and limits**: if two accesses both hold the lock of their row in one array of locks, and refer to one cell, they
//! have equal indices, and hold one lock. The analysis does not see tries, activations that are not distinguished, and rows that
//! the creator of a thread has locked.

use super::lockset::Hold;
use super::row::{Row, Rows};
use super::set_table::{SetId, SetTable};
use super::{Concurrency, Event, EventKind, Location, LocationId, forward};
use cssame_ir::sync::{Kind, Mode};
use cssame_ir::{LeafKind, Program};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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
        let Some(element) = cell.element else { return Vec::new() };
        let indices = program.leaves[cell.leaf].indices_of(element);
        self.those(program, concurrency, holds, |of_lock| indices.starts_with(of_lock))
    }

    /// Those of some holds that are locks of the row of an event, of whose element the first indices alone are known.
    pub fn begun(&self, program: &Program, concurrency: &Concurrency, event: u32, holds: &[Hold]) -> Vec<Hold> {
        let Some(rows) = concurrency.rows.get(&event) else { return Vec::new() };
        let is_of = |of_lock: &[u32]| rows.iter().any(|&row| concurrency.row_list[row as usize].begins_with(of_lock));
        self.those(program, concurrency, holds, is_of)
    }

    /// The arrays of those locks of which the indices satisfy a condition.
    fn those(
        &self,
        program: &Program,
        concurrency: &Concurrency,
        holds: &[Hold],
        is_of: impl Fn(&[u32]) -> bool,
    ) -> Vec<Hold> {
        if self.arrays.is_empty() {
            return Vec::new();
        }
        let of_row = holds.iter().filter_map(|hold| {
            let lock = concurrency.locations.get(hold.lock)?;
            let array = *self.arrays.get(&Location { element: None, ..*lock })?;
            let of_lock = program.leaves[lock.leaf].indices_of(lock.element?);
            is_of(&of_lock).then_some(hold.of(array))
        });
        of_row.collect()
    }
}

/// A row of a lock that is held. What a lock is called where it is taken stands for all its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Held {
    taken: u32,
    row: u32,
    mode: Mode,
}

/// Finds the locks of the rows of all accesses.
pub fn find_row_locks(program: &Program, concurrency: &Concurrency) -> RowLocks {
    let mut found = RowLocks::default();
    let finder = Finder { program, concurrency };
    for &event in concurrency.rows.keys() {
        if let Some((rows, _)) = finder.taken(event) {
            let array = concurrency.row_list[rows[0] as usize].array;
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
    /// The rows of an event; not empty.
    fn rows(&self, event: u32) -> Option<&Rows> {
        self.concurrency.rows.get(&event).filter(|rows| !rows.is_empty())
    }

    fn row(&self, held: Held) -> &Row {
        &self.concurrency.row_list[held.row as usize]
    }

    /// The rows of a lock that an event takes.
    fn taken(&self, event: u32) -> Option<(&Rows, Mode)> {
        let EventKind::Synchronise(kind) = self.concurrency.events[event as usize].kind else { return None };
        let is_lock = matches!(kind, Kind::Lock | Kind::ReadLock | Kind::WriteLock);
        let rows = self.rows(event).filter(|_| is_lock)?;
        // Only then is it one array for all threads.
        let array = self.concurrency.row_list[rows[0] as usize].array;
        let instance = self.concurrency.locations[array].instance;
        self.concurrency.instances[instance].unique.then(|| (rows, kind.mode()))
    }

    /// What is held behind a block. `note` is told of each access that holds a lock of its row.
    fn block(
        &self,
        sets: &mut SetTable<Held>,
        mut set: SetId,
        block: u32,
        note: &mut dyn FnMut(u32, Vec<Hold>),
    ) -> SetId {
        let concurrency = self.concurrency;
        let of = concurrency.blocks[block as usize];
        if concurrency.contexts[of.context].entry == block {
            // Other values of the parameters.
            set = sets.retain(set, |held| !self.row(held).is_in(of.context));
        }
        for (_, instruction, events) in concurrency.instructions_of(self.program, block) {
            for event in events {
                set = self.event(sets, set, event, note);
            }
            if let Some(dest) = instruction.dest().filter(|_| set != 0) {
                set = sets.retain(set, |held| !self.row(held).follows(of.context, dest));
            }
        }
        set
    }

    fn event(&self, sets: &mut SetTable<Held>, set: SetId, index: u32, note: &mut dyn FnMut(u32, Vec<Hold>)) -> SetId {
        let event = &self.concurrency.events[index as usize];
        match event.kind {
            EventKind::Synchronise(kind) if kind.only_releases() => self.released(sets, set, index, event),
            EventKind::Synchronise(_) => match self.taken(index) {
                Some((rows, mode)) => {
                    rows.iter().fold(set, |set, &row| sets.with(set, Held { taken: rows[0], row, mode }))
                }
                None => set,
            },
            EventKind::Read(_) | EventKind::Write(_) | EventKind::Update { .. } => {
                if let Some(cells) = self.rows(index).filter(|_| set != 0) {
                    let list = &self.concurrency.row_list;
                    let is_of = |row: &Row| cells.iter().any(|&cell| row.is_of(&list[cell as usize]));
                    let rows = sets.get(set).iter().map(|&held| (self.row(held), held.mode));
                    let mut holds: Vec<Hold> = rows
                        .filter(|(row, _)| is_of(row))
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
        let concurrency = self.concurrency;
        if let Some(named) = self.rows(index) {
            let leaf = concurrency.locations[concurrency.row_list[named[0] as usize].array].leaf;
            let known = sets.get(set).iter().filter(|held| named.contains(&held.row));
            let gone: SmallVec<[u32; 2]> = known.map(|held| held.taken).collect();
            // Two plain locks that one thread holds are two.
            if !gone.is_empty() && self.program.leaves[leaf].kind == LeafKind::Lock {
                return sets.retain(set, |held| !gone.contains(&held.taken));
            }
        }
        let may_be = |held: Held| {
            let array = concurrency.locations[self.row(held).array];
            concurrency.released_by(event).iter().any(|&lock| {
                let lock = concurrency.locations[lock];
                (lock.instance, lock.leaf) == (array.instance, array.leaf)
            })
        };
        sets.retain(set, |held| !may_be(held))
    }
}
