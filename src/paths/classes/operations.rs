//! Determines the cells whose accesses are operations.
//!
//! **Input**: a program and the facts about its threads. **Output**: [`Operations`]: the cells of shared variables that some
//! thread may write while others may access them; and the *read-shared* variables, which are only read in that situation.
//!
//! **Algorithm** (Setiadi, Ohsuga and Maekawa, "Efficient Execution Path Exploration for Detecting Races in Concurrent Programs",
//! 2013, sections III and V.B). A write counts if another thread may access the same part of memory in parallel with it, by forks
//! and joins alone. A shared variable without such a write is read-shared: it is written while one thread is alone, and only read
//! from then on, so that the order of threads has no influence.
//!
//! **Soundness and limits**: a leaf counts as a whole, without its instances or elements: if one element of an array is written,
//! the array is written. The text is approximate: an access may count although it is alone in every execution. It then has one
//! position in every order.

use cssame_concurrency::{ClassId, Concurrency, EventKind, InstanceId};
use cssame_ir::{LeafId, Program};
use cssame_vm::Cell;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// The cells whose accesses are operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// By variable and offset: whether it is such a cell.
    cells: Vec<FixedBitSet>,
    shared: Vec<LeafId>,
    read_shared: Vec<LeafId>,
}

/// A variable in a context, and a part of it.
type Part = (InstanceId, LeafId);

impl Operations {
    /// Those of a program.
    #[must_use]
    pub fn new(program: &Program, concurrency: &Concurrency) -> Operations {
        let accessors = accessors(concurrency);
        let mut parallel: FxHashMap<(Part, ClassId), bool> = FxHashMap::default();
        let mut written = FixedBitSet::with_capacity(program.leaves.len());
        for_each_access(concurrency, &mut |block, part, writes| {
            let class = concurrency.classes[block as usize];
            let is_parallel = || {
                let others = accessors.get(&part).map_or(&[][..], Vec::as_slice);
                others.iter().any(|&other| concurrency.structurally_parallel(block, other))
            };
            if writes && *parallel.entry((part, class)).or_insert_with(is_parallel) {
                written.insert(part.1.index());
            }
        });
        let shared = &concurrency.sharing.leaves;
        let is_read_only = |leaf: &usize| !written.contains(*leaf);
        let read_shared = shared.ones().filter(is_read_only).map(LeafId::new).collect();
        written.intersect_with(shared);
        Operations {
            cells: cells_of(program, &written),
            shared: written.ones().map(LeafId::new).collect(),
            read_shared,
        }
    }

    /// Every visible access is an operation.
    #[must_use]
    pub fn all(program: &Program) -> Operations {
        let mut leaves = FixedBitSet::with_capacity(program.leaves.len());
        leaves.insert_range(..);
        Operations {
            cells: cells_of(program, &leaves),
            shared: program.leaves.ids().collect(),
            read_shared: Vec::new(),
        }
    }

    /// The leaves whose accesses are operations, in the order of the text.
    #[must_use]
    pub fn shared(&self) -> &[LeafId] {
        &self.shared
    }

    /// The shared leaves that are only read in parallel: their accesses are no operations.
    #[must_use]
    pub fn read_shared(&self) -> &[LeafId] {
        &self.read_shared
    }

    /// Whether visible accesses to a cell are operations.
    #[inline]
    #[must_use]
    pub fn contains(&self, cell: Cell) -> bool {
        self.cells.get(cell.object.variable.index()).is_some_and(|cells| cells.contains(cell.part as usize))
    }
}

/// Calls `visit` with each access: its block, what it accesses, and whether it writes.
fn for_each_access(concurrency: &Concurrency, visit: &mut dyn FnMut(u32, Part, bool)) {
    for block in 0..concurrency.blocks.len() as u32 {
        for event in concurrency.events_of(block) {
            let writes = match event.kind {
                EventKind::Read(_) => false,
                EventKind::Write(_) | EventKind::Update { .. } => true,
                _ => continue,
            };
            for &location in concurrency.locations_of(event) {
                let location = concurrency.locations[location];
                visit(block, (location.instance, location.leaf), writes);
            }
        }
    }
}

/// The blocks that access each part: one of each class, since blocks of a class are parallel with the same ones.
fn accessors(concurrency: &Concurrency) -> FxHashMap<Part, Vec<u32>> {
    let mut accessors: FxHashMap<Part, Vec<u32>> = FxHashMap::default();
    let mut known: FxHashSet<(Part, ClassId)> = FxHashSet::default();
    for_each_access(concurrency, &mut |block, part, _| {
        if known.insert((part, concurrency.classes[block as usize])) {
            accessors.entry(part).or_default().push(block);
        }
    });
    accessors
}

fn cells_of(program: &Program, leaves: &FixedBitSet) -> Vec<FixedBitSet> {
    let cells = program.variables.iter().map(|variable| {
        let mut cells = FixedBitSet::with_capacity(variable.size as usize);
        for id in variable.leaves().filter(|leaf| leaves.contains(leaf.index())) {
            let leaf = &program.leaves[id];
            cells.extend(leaf.cells().map(|cell| cell as usize));
        }
        cells
    });
    cells.collect()
}
