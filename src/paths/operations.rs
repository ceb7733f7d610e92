//! Operations: the accesses that an order of threads may change.
//!
//! **Input**: a program and what is known of its threads. **Output**: [`Operations`]: which reads and writes of the
//! text are operations, and which shared variables are *read-shared*.
//!
//! **Algorithm** (Setiadi, Ohsuga and Maekawa, sections III and V.B). A variable is shared if two threads may access it
//! in parallel, by forks and joins alone. If none of these accesses writes it is read-shared: it is written while one
//! thread is alone, and only read from then on, so that no order of threads can tell. The accesses of all other shared
//! variables are operations, from the first fork on.
//!
//! **Soundness and limits**: shared variables come from the text, not from an execution, which may not show all of
//! them. What the text says is approximate: an access may count as an operation although it is alone in every
//! execution. It then stands in one place of every order.

use crate::concurrency::{ClassId, Concurrency, EventKind, InstanceId};
use crate::ir::{Access, LeafId, Program};
use crate::vm::Visibility;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Which accesses are operations.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    /// The accesses.
    pub accesses: Visibility,
    /// Variables that some operation writes, in the order of the text.
    pub shared: Vec<LeafId>,
    /// Variables that several threads only read.
    pub read_shared: Vec<LeafId>,
}

type Part = (InstanceId, LeafId);

/// The accesses of one part of memory: for each class of blocks one of them.
type Accessors = FxHashMap<Part, Vec<(ClassId, u32)>>;

impl Operations {
    /// The operations of a program.
    #[must_use]
    pub fn new(program: &Program, concurrency: &Concurrency) -> Operations {
        let accessors = accessors(concurrency);
        let mut parallel: FxHashMap<(Part, ClassId), bool> = FxHashMap::default();
        let mut candidates: Vec<(Access, LeafId)> = Vec::new();
        for_each_access(concurrency, &mut |block, part, accesses| {
            let class = concurrency.classes[block as usize];
            let is_parallel = *parallel.entry((part, class)).or_insert_with(|| {
                let others = accessors.get(&part).map_or(&[][..], Vec::as_slice);
                others.iter().any(|&(_, other)| concurrency.structurally_parallel(block, other))
            });
            if is_parallel {
                candidates.extend(accesses.iter().map(|&access| (access, part.1)));
            }
        });
        let mut written = FixedBitSet::with_capacity(program.leaves.len());
        let mut touched = FixedBitSet::with_capacity(program.leaves.len());
        for &(access, leaf) in &candidates {
            touched.insert(leaf.index());
            if access.is_write() {
                written.insert(leaf.index());
            }
        }
        let mut operations = Operations {
            accesses: Visibility::none(program),
            shared: written.ones().map(LeafId::new).collect(),
            read_shared: touched.difference(&written).map(LeafId::new).collect(),
        };
        for_each_access(concurrency, &mut |_, (_, leaf), accesses| {
            for &access in accesses.iter().filter(|_| written.contains(leaf.index())) {
                match access {
                    Access::Read(read) => operations.accesses.reads.insert(read.index()),
                    Access::Write(definition) => operations.accesses.definitions.insert(definition.index()),
                }
            }
        });
        operations
    }

    /// Whether an access is an operation.
    #[must_use]
    pub fn contains(&self, access: Access) -> bool {
        match access {
            Access::Read(read) => self.accesses.read(read),
            Access::Write(definition) => self.accesses.definition(definition),
        }
    }
}

fn for_each_access(concurrency: &Concurrency, visit: &mut dyn FnMut(u32, Part, &[Access])) {
    for block in 0..concurrency.blocks.len() as u32 {
        for event in concurrency.events_of(block) {
            let accesses: &[Access] = match event.kind {
                EventKind::Read(read) => &[Access::Read(read)],
                EventKind::Write(definition) => &[Access::Write(definition)],
                EventKind::Update { read, definition, .. } => &[Access::Read(read), Access::Write(definition)],
                _ => continue,
            };
            for &location in concurrency.locations_of(event) {
                let location = concurrency.locations[location];
                visit(block, (location.instance, location.leaf), accesses);
            }
        }
    }
}

fn accessors(concurrency: &Concurrency) -> Accessors {
    let mut accessors = Accessors::default();
    let mut known: rustc_hash::FxHashSet<(Part, ClassId)> = rustc_hash::FxHashSet::default();
    for_each_access(concurrency, &mut |block, part, _| {
        let class = concurrency.classes[block as usize];
        if known.insert((part, class)) {
            accessors.entry(part).or_default().push((class, block));
        }
    });
    accessors
}
