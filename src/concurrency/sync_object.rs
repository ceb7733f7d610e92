//! The synchronisation events that may be ends of happens-before edges, indexed by their object.

use super::builder::GraphBuilder;
use super::{Event, LocationId};
use cssame_ir::sync::{Edge, Kind};
use rustc_hash::{FxHashMap, FxHashSet};

/// At most that many signals, and that many barriers, are used: each takes a fact of every block.
pub(super) const MAX_OBJECTS: usize = 64;

/// The synchronisation events that may be ends of happens-before edges, by what they certainly work on.
pub(super) struct Objects {
    /// For each kind and object (`None` for bare operations): blocks of the events.
    pub certain: FxHashMap<(Kind, Option<LocationId>), Vec<u32>>,
    /// Locations that some event may mean without certainty.
    doubtful: FxHashSet<LocationId>,
}

impl Objects {
    pub fn of(builder: &GraphBuilder<'_>) -> Objects {
        let mut result = Objects { certain: FxHashMap::default(), doubtful: FxHashSet::default() };
        for (index, block) in builder.blocks.iter().enumerate() {
            for event in &builder.events[block.events.0 as usize..block.events.1 as usize] {
                if let Some(kind) = event.kind.synchronisation()
                    && kind.properties().edge != Edge::None
                {
                    result.note(builder, kind, event, index as u32);
                }
            }
        }
        result
    }

    fn note(&mut self, builder: &GraphBuilder<'_>, kind: Kind, event: &Event, block: u32) {
        let operands = &builder.operands[event.operands.0 as usize..event.operands.1 as usize];
        let object = match operands {
            _ if kind.operands().is_empty() => None,
            [only] if builder.unfolding.instances[builder.locations[*only].instance].unique => Some(*only),
            _ => {
                self.doubtful.extend(operands);
                return;
            }
        };
        self.certain.entry((kind, object)).or_default().push(block);
    }

    /// The blocks of the events of a kind that certainly work on an object.
    pub fn blocks(&self, kind: Kind, object: Option<LocationId>) -> &[u32] {
        self.certain.get(&(kind, object)).map_or(&[], Vec::as_slice)
    }

    /// Whether every event of the program that may work on an object certainly does.
    pub fn is_certain(&self, object: Option<LocationId>) -> bool {
        object.is_none_or(|location| !self.doubtful.contains(&location))
    }
}
