//! Determines which parts of memory are shared: accessed by two threads that may run in parallel.
//!
//! **Input**: the accesses of all blocks, and MHP by forks and joins alone (no locks, events or barriers). **Output**: the shared
//! leaves, and the reads and writes in the text that touch one: these are the visible steps of the machine.
//!
//! **Algorithm**
//! 1. For each leaf of an instance, collect one accessing block for each class (blocks of a class are parallel with the same
//!    blocks).
//! 2. A leaf is shared if two of these blocks may run in parallel, or one with itself. If contexts or threads are not
//!    distinguished, this is too coarse for a local: it is shared only if, in addition, two threads may use one instance of it in
//!    parallel ([`super::confined`]).
//!    Where there are pointers, a global that nobody writes is not shared: a read that may lead to several of them sees what they
//!    begin with, whatever other threads do.
//! 3. A read or write in the text is shared if some location of some of its events is shared.
//!
//! **Soundness and limits**: order by events and barriers is ignored on purpose, so that the visible accesses of the machine do
//! not depend on the precision of other analyses.

use super::confined::find_clashing;
use super::repetition::may_be_many;
use super::{Concurrency, EventKind, InstanceId};
use cssame_ir::points_to::has_pointers;
use cssame_ir::{DefinitionId, LeafId, LeafKind, Program, ReadId};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is shared.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// By [`LeafId`].
    pub leaves: FixedBitSet,
    /// By [`ReadId`]: the read may touch a shared leaf.
    pub reads: FixedBitSet,
    /// By [`DefinitionId`]: the write may touch a shared leaf; initial definitions of shared leaves too.
    pub definitions: FixedBitSet,
    /// Shared leaves in their contexts.
    pub instances: FxHashMap<(InstanceId, LeafId), ()>,
}

impl Sharing {
    /// Whether a leaf of an instance is shared.
    #[must_use]
    pub fn is_shared(&self, instance: InstanceId, leaf: LeafId) -> bool {
        self.instances.contains_key(&(instance, leaf))
    }

    /// Whether a read in the text may touch something shared.
    #[must_use]
    pub fn read(&self, read: ReadId) -> bool {
        self.reads.contains(read.index())
    }

    /// Whether a write in the text may touch something shared.
    #[must_use]
    pub fn definition(&self, definition: DefinitionId) -> bool {
        self.definitions.contains(definition.index())
    }
}

/// Finds what is shared.
pub(super) fn find_shared(program: &Program, concurrency: &Concurrency) -> Sharing {
    // One block for each class of blocks that accesses a leaf is enough: blocks of a class are parallel with the same ones.
    let mut accessors: FxHashMap<(InstanceId, LeafId), Vec<(super::ClassId, u32)>> = FxHashMap::default();
    let mut written: FxHashSet<(InstanceId, LeafId)> = FxHashSet::default();
    let has_pointers = has_pointers(program);
    for block in 0..concurrency.blocks.len() as u32 {
        for event in concurrency.events_of(block) {
            if !is_access(event.kind) {
                continue;
            }
            for &location in concurrency.locations_of(event) {
                let location = concurrency.locations[location];
                if has_pointers && !matches!(event.kind, EventKind::Read(_)) {
                    written.insert((location.instance, location.leaf));
                }
                let list = accessors.entry((location.instance, location.leaf)).or_default();
                let class = concurrency.classes[block as usize];
                if list.last().is_none_or(|last| last.0 != class)
                    && !list.iter().rev().take(32).any(|known| known.0 == class)
                {
                    list.push((class, block));
                }
            }
        }
    }
    let mut sharing = Sharing {
        leaves: FixedBitSet::with_capacity(program.leaves.len()),
        reads: FixedBitSet::with_capacity(program.reads.len()),
        definitions: FixedBitSet::with_capacity(program.definitions.len()),
        instances: FxHashMap::default(),
    };
    let mut clashing = None;
    for (&key, list) in &accessors {
        if has_pointers && concurrency.instances[key.0].context.is_none() && !written.contains(&key) {
            continue;
        }
        if is_coarse(concurrency, key.0, list) {
            let variable = concurrency.instances[key.0].variable;
            if !clashing.get_or_insert_with(|| find_clashing(program)).contains(variable.index()) {
                continue;
            }
        }
        let parallel = list
            .iter()
            .enumerate()
            .any(|(position, &(_, a))| list[..=position].iter().any(|&(_, b)| concurrency.structurally_parallel(a, b)));
        if parallel || (has_pointers && ends_in_parallel(concurrency, key.0, list)) {
            sharing.instances.insert(key, ());
            sharing.leaves.insert(key.1.index());
        }
    }
    mark_sites(program, concurrency, &mut sharing);
    sharing
}

/// Whether blocks are too coarse for a local: it may be several variables at once (of a recursion, of calls that are not told
/// apart, of threads that are not), or is accessed where threads are not told apart.
fn is_coarse(concurrency: &Concurrency, instance: InstanceId, accessors: &[(super::ClassId, u32)]) -> bool {
    let of = &concurrency.instances[instance];
    let is_merged = |&(_, block): &(_, u32)| concurrency.threads[concurrency.thread_of(block)].unordered;
    of.context.is_some_and(|context| {
        !of.single
            || may_be_many(&concurrency.threads, concurrency.contexts[context].thread)
            || accessors.iter().any(is_merged)
    })
}

/// Whether the function that a local belongs to may return while another thread accesses the local through a pointer.
fn ends_in_parallel(concurrency: &Concurrency, instance: InstanceId, accessors: &[(super::ClassId, u32)]) -> bool {
    let Some(context) = concurrency.instances[instance].context else { return false };
    let (end, own) = (concurrency.contexts[context].exit, concurrency.contexts[context].thread);
    let others = accessors.iter().filter(|&&(_, block)| concurrency.thread_of(block) != own);
    others.into_iter().any(|&(_, block)| concurrency.structurally_parallel(block, end))
}

fn is_access(kind: EventKind) -> bool {
    matches!(kind, EventKind::Read(_) | EventKind::Write(_) | EventKind::Update { .. })
}

fn mark_sites(program: &Program, concurrency: &Concurrency, sharing: &mut Sharing) {
    for event in &concurrency.events {
        if !is_access(event.kind) {
            continue;
        }
        let shared = concurrency.locations_of(event).iter().any(|&location| {
            let location = concurrency.locations[location];
            sharing.is_shared(location.instance, location.leaf)
        });
        // Who works on a lock makes no access to it, but must not do so when its memory is gone.
        let frees_objects = matches!(event.kind, EventKind::Write(definition) if program.definitions[definition].is_free())
            && concurrency.locations_of(event).iter().any(|&location| {
                let leaf = concurrency.locations[location].leaf;
                !matches!(program.leaves[leaf].kind, LeafKind::Data(_))
            });
        if !shared && !frees_objects {
            continue;
        }
        match event.kind {
            EventKind::Read(read) => sharing.reads.insert(read.index()),
            EventKind::Write(definition) => sharing.definitions.insert(definition.index()),
            EventKind::Update { read, definition, .. } => {
                sharing.reads.insert(read.index());
                sharing.definitions.insert(definition.index());
            }
            _ => {}
        }
    }
    for leaf in sharing.leaves.ones() {
        if let Some(definition) = program.leaves[LeafId::new(leaf)].initial_definition {
            sharing.definitions.insert(definition.index());
        }
    }
}
