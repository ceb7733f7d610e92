//! The accesses to shared variables, grouped by the data that decides whether they may race.
//!
//! **Input**: the accesses of the form, and the held locks. **Output**: [`Sites`]: for each variable of the unfolded program its
//! groups, and for each access in the text the groups that contain it.
//!
//! **Soundness and limits**: initial definitions are not accesses, and unreachable code is left out.

use crate::Form;
use crate::terms::held_locks;
use cssame_concurrency::lockset::{ATOMIC, Hold, LocksetId, holds_lock};
use cssame_concurrency::set_table::{SetId, SetTable};
use cssame_concurrency::{ClassId, EventKind};
use cssame_ir::{Access, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// What decides whether accesses to a variable are made at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    /// The class of its block.
    pub class: ClassId,
    /// The locks certainly held.
    pub lockset: LocksetId,
    /// Those of them that are locks of the row of the element: see [`Sites::row_locks`].
    pub row_locks: SetId,
    /// Whether it is atomic: in an atomic block, by an atomic expression, or of a variable declared so.
    pub atomic: bool,
}

/// Accesses to one variable with equal keys.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// What they have in common.
    pub key: Key,
    /// The reads, each with its element of an array; sorted, each once.
    pub reads: Vec<(Option<u32>, Access)>,
    /// The writes, likewise.
    pub writes: Vec<(Option<u32>, Access)>,
}

/// An access in one of its contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    /// The access.
    pub access: Access,
    /// The variable of the unfolded program.
    pub variable: u32,
    /// The group among those of the variable.
    pub group: u32,
    /// The element of an array that has one variable; `None` for any.
    pub element: Option<u32>,
    /// The block.
    pub block: u32,
}

/// All accesses to shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Sites {
    /// By variable of the unfolded program.
    pub groups: Vec<Vec<Group>>,
    /// Sorted, each once.
    sites: Vec<Site>,
    rows: SetTable<Hold>,
}

impl Sites {
    /// The accesses of a program that are wanted.
    pub fn collect(program: &Program, form: &Form, is_wanted: impl Fn(Access) -> bool) -> Sites {
        let table = &form.table;
        let held = held_locks(program, &form.concurrency, &form.locksets, table);
        let mut groups: Vec<Vec<Group>> = vec![Vec::new(); table.variables.len()];
        let mut sites = Vec::new();
        let mut rows = SetTable::new(usize::MAX);
        let mut index: FxHashMap<(u32, Key), u32> = FxHashMap::default();
        for (position, of) in table.accesses.iter().enumerate() {
            let access = of.read.map(Access::Read).or(of.definition.map(Access::Write));
            let (Some(access), Some(lockset)) = (access, held[position]) else { continue };
            if access.is_initial(program) || !is_wanted(access) {
                continue;
            }
            let variable = table.variable_of(position as u32);
            let event = &form.concurrency.events[of.event as usize];
            let leaf = &program.leaves[table.variables[variable as usize].leaf];
            let atomic = matches!(event.kind, EventKind::Update { .. })
                || program.symbols[leaf.symbol].atomic
                || program.symbols[access.symbol(program)].atomic
                || holds_lock(form.locksets.locks(lockset), ATOMIC);
            let row_locks = rows.set(locks_of_row(program, form, of.event, lockset));
            let key = Key { class: form.concurrency.classes[of.block as usize], lockset, row_locks, atomic };
            let groups = &mut groups[variable as usize];
            let group = *index.entry((variable, key)).or_insert_with(|| {
                groups.push(Group { key, reads: Vec::new(), writes: Vec::new() });
                groups.len() as u32 - 1
            });
            let of_group = &mut groups[group as usize];
            let list = if access.is_write() { &mut of_group.writes } else { &mut of_group.reads };
            list.push((of.element, access));
            sites.push(Site { access, variable, group, element: of.element, block: of.block });
        }
        for group in groups.iter_mut().flatten() {
            for list in [&mut group.reads, &mut group.writes] {
                list.sort_unstable();
                list.dedup();
            }
        }
        sites.sort_unstable();
        sites.dedup();
        Sites { groups, sites, rows }
    }

    /// The locks of the row of an element; the array of locks stands for each of them.
    pub fn row_locks(&self, set: SetId) -> &[Hold] {
        self.rows.get(set)
    }

    /// Where an access is made; empty where it touches nothing shared, or never runs.
    pub fn of(&self, access: Access) -> &[Site] {
        let start = self.sites.partition_point(|site| site.access < access);
        let end = self.sites.partition_point(|site| site.access <= access);
        &self.sites[start..end]
    }

    /// One of the sites of an access for each variable, group and element.
    pub fn distinct(&self, access: Access) -> impl Iterator<Item = &Site> {
        let same = |a: &Site, b: &Site| (a.variable, a.group, a.element) == (b.variable, b.group, b.element);
        self.of(access).chunk_by(same).filter_map(<[Site]>::first)
    }

    /// One of the sites of an access at a variable for each group and element.
    pub fn distinct_at(&self, access: Access, variable: u32) -> impl Iterator<Item = &Site> {
        let sites = self.of(access);
        let start = sites.partition_point(|site| site.variable < variable);
        let end = sites.partition_point(|site| site.variable <= variable);
        let same = |a: &Site, b: &Site| (a.group, a.element) == (b.group, b.element);
        sites[start..end].chunk_by(same).filter_map(<[Site]>::first)
    }

    /// All sites, by access.
    pub fn all(&self) -> &[Site] {
        &self.sites
    }
}

fn locks_of_row(program: &Program, form: &Form, event: u32, lockset: LocksetId) -> Vec<Hold> {
    let concurrency = &form.concurrency;
    match concurrency.locations_of(&concurrency.events[event as usize]) {
        [only] if concurrency.locations[*only].element.is_some() => {
            form.row_locks.known(program, concurrency, *only, form.locksets.locks(lockset))
        }
        _ => {
            let mut held = form.row_locks.begun(program, concurrency, event, form.locksets.locks(lockset));
            held.extend(form.row_locks.of_event(event));
            held
        }
    }
}

impl Group {
    /// Whether accesses of the two groups conflict: one of them writes, and they may mean one element.
    pub fn conflicts(&self, other: &Group) -> bool {
        let meet = |writes: &[(Option<u32>, Access)], all: &Group| writes.iter().any(|&(element, _)| all.has(element));
        meet(&self.writes, other) || meet(&other.writes, self)
    }

    /// Whether it has an access that may mean an element.
    pub fn has(&self, element: Option<u32>) -> bool {
        self.has_write(element) || rows(&self.reads, element).any(|row| !row.is_empty())
    }

    /// Whether it has a write that may mean an element.
    pub fn has_write(&self, element: Option<u32>) -> bool {
        rows(&self.writes, element).any(|row| !row.is_empty())
    }
}

/// Whether two accesses to an array may mean one element.
pub(crate) fn may_be_one_element(a: Option<u32>, b: Option<u32>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// The parts of a sorted list that may mean an element, each sorted by access.
pub(crate) fn rows(
    list: &[(Option<u32>, Access)],
    element: Option<u32>,
) -> impl Iterator<Item = &[(Option<u32>, Access)]> {
    let run = move |wanted: Option<u32>| {
        let start = list.partition_point(|&(of, _)| of < wanted);
        let end = list.partition_point(|&(of, _)| of <= wanted);
        &list[start..end]
    };
    let parts = match element {
        None => [list, &[]],
        Some(_) => [run(None), run(element)],
    };
    parts.into_iter()
}

/// Adds the accesses of a group that conflict with one of another group, as far as their elements tell.
pub(crate) fn meeting(group: &Group, other: &Group, found: &mut FxHashSet<Access>) {
    let elements = |list: &[(Option<u32>, Access)]| -> FxHashSet<Option<u32>> {
        list.iter().map(|&(element, _)| element).collect()
    };
    let (written, read) = (elements(&other.writes), elements(&other.reads));
    let meets = |element: Option<u32>, others: &FxHashSet<Option<u32>>| {
        !others.is_empty() && (element.is_none() || others.contains(&None) || others.contains(&element))
    };
    let reads = group.reads.iter().filter(|(element, _)| meets(*element, &written));
    let writes = group.writes.iter().filter(|(element, _)| meets(*element, &written) || meets(*element, &read));
    found.extend(reads.chain(writes).map(|&(_, access)| access));
}
