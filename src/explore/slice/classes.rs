//! The parts of memory that the accesses in the text may touch.
//!
//! **Input**: the events of the unfolded program. **Output**: for each read and each write, the classes of cells that it may
//! touch. A class is a scalar, an array, or an element of an array whose elements are only named by constants.
//!
//! **Soundness and limits**: two accesses without a common class never touch the same cell; two with a common class need not.

use cssame_concurrency::{Concurrency, EventKind, Location};
use cssame_ir::{DefinitionId, DefinitionKind, Program, ReadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// No element: the class is the whole leaf.
const WHOLE: u32 = u32::MAX;

/// The classes of all accesses.
#[derive(Debug, Default)]
pub(super) struct Classes {
    reads: Vec<Vec<u32>>,
    definitions: Vec<Vec<u32>>,
    count: usize,
}

impl Classes {
    pub(super) fn new(program: &Program, concurrency: &Concurrency) -> Classes {
        let dynamic = dynamic_leaves(program, concurrency);
        let mut ids: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
        let mut class = |Location { instance, leaf, element }: Location| {
            let whole = dynamic.contains(&(instance.0, leaf.0));
            let element = if whole { WHOLE } else { element.unwrap_or(WHOLE) };
            let next = ids.len() as u32;
            *ids.entry((instance.0, leaf.0, element)).or_insert(next)
        };
        let mut classes = Classes {
            reads: vec![Vec::new(); program.reads.len()],
            definitions: vec![Vec::new(); program.definitions.len()],
            count: 0,
        };
        for event in &concurrency.events {
            let (read, definition) = accesses(event.kind);
            for &location in concurrency.locations_of(event) {
                let location = concurrency.locations[location];
                if read.is_none() && definition.is_none_or(|one| is_declaration(program, one, location)) {
                    continue;
                }
                let class = class(location);
                if let Some(read) = read {
                    classes.reads[read.index()].push(class);
                }
                if let Some(definition) = definition {
                    classes.definitions[definition.index()].push(class);
                }
            }
        }
        for list in classes.reads.iter_mut().chain(&mut classes.definitions) {
            list.sort_unstable();
            list.dedup();
        }
        classes.count = ids.len();
        classes
    }

    pub(super) fn of_read(&self, read: ReadId) -> &[u32] {
        &self.reads[read.index()]
    }

    pub(super) fn of_definition(&self, definition: DefinitionId) -> &[u32] {
        &self.definitions[definition.index()]
    }

    /// Number of classes.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

fn accesses(kind: EventKind) -> (Option<ReadId>, Option<DefinitionId>) {
    match kind {
        EventKind::Read(read) => (Some(read), None),
        EventKind::Write(definition) => (None, Some(definition)),
        EventKind::Update { read, definition, .. } => (Some(read), Some(definition)),
        _ => (None, None),
    }
}

/// Whether the write is that of a declaration which makes all cells of an array anew: no instruction that could be left out.
fn is_declaration(program: &Program, definition: DefinitionId, location: Location) -> bool {
    let is_initial = matches!(program.definitions[definition].kind, DefinitionKind::Initial(_));
    is_initial && location.element.is_none() && program.leaves[location.leaf].is_array()
}

/// Arrays with an index that is not constant.
fn dynamic_leaves(program: &Program, concurrency: &Concurrency) -> FxHashSet<(u32, u32)> {
    let mut dynamic = FxHashSet::default();
    for event in &concurrency.events {
        let (read, definition) = accesses(event.kind);
        if read.is_none() && definition.is_none() {
            continue;
        }
        for &location in concurrency.locations_of(event) {
            let location = concurrency.locations[location];
            let declares = definition.is_some_and(|one| is_declaration(program, one, location));
            if location.element.is_none() && program.leaves[location.leaf].is_array() && !declares {
                dynamic.insert((location.instance.0, location.leaf.0));
            }
        }
    }
    dynamic
}
