//! The possible meanings of the operands of events: locations, and rows of arrays.
//!
//! **Input**: a place in an iteration of a context. **Output**: the [`Location`]s to which it may refer; if that is an unknown
//! element, its [`Row`]s.
//!
//! **Soundness and limits**: an unknown element of data is one location, which stands for any element. An unknown element of
//! synchronisation objects is all elements of the array; if there are more than 64, elements are not distinguished.

use super::builder::{GraphBuilder, Walk};
use super::index_value::IndexValues;
use super::row::{COPIES, Row, Rows, indices_of, written_path};
use super::value::{Address, Evaluator};
use super::{ContextId, IterationId, Location, LocationId};
use cssame_ir::{Base, LeafKind, Place};

/// The elements of larger arrays of synchronisation objects are not told apart: each operation of which the index is not
/// known may mean any of them.
const MAX_SYNCHRONISATION_ELEMENTS: u32 = 64;

impl GraphBuilder<'_> {
    pub fn location(&mut self, location: Location) -> LocationId {
        let locations = &mut self.locations;
        *self.location_ids.entry(location).or_insert_with(|| locations.push(location))
    }

    /// The locations that a place may mean in an iteration of a context. Where that is behind a pointer, `fits` says of what is there
    /// whether it is what the place is used as: else the program fails.
    pub fn locations(
        &mut self,
        at: (ContextId, IterationId),
        place: &Place,
        fits: &dyn Fn(LeafKind) -> bool,
    ) -> (u32, u32) {
        let is_pointer = matches!(place.base, Base::Pointer(_));
        let program = self.program;
        let targets = self.unfolding.evaluate(program, at, |evaluator: &Evaluator<'_>| evaluator.targets(place));
        let start = self.operands.len() as u32;
        for Address { instance, byte, exact } in targets {
            let variable = self.unfolding.instances[instance].variable;
            let Some((leaf, element)) = program.leaf_at_byte(variable, byte) else { continue };
            let of = &program.leaves[leaf];
            if is_pointer && !fits(of.kind) {
                continue;
            }
            let (count, data) = (of.element_count(), matches!(of.kind, LeafKind::Data(_)));
            // Synchronisation objects are told apart by element, so that two operations may mean the same object exactly
            // where they have a location in common; of large arrays none is told apart.
            let elements = match () {
                () if !of.is_array() => 0..1,
                () if data && !exact || !data && count > MAX_SYNCHRONISATION_ELEMENTS => 0..0,
                () if exact => element..element + 1,
                () => 0..count,
            };
            if elements.is_empty() {
                let id = self.location(Location { instance, leaf, element: None });
                self.operands.push(id);
            }
            for element in elements {
                let element = of.is_array().then_some(element);
                let id = self.location(Location { instance, leaf, element });
                self.operands.push(id);
            }
        }
        // Two addresses that are not known may mean the same elements.
        let mut operands = self.operands.split_off(start as usize);
        operands.sort_unstable();
        operands.dedup();
        self.operands.append(&mut operands);
        (start, self.operands.len() as u32)
    }

    /// Notes the rows of the event that comes next, where its place means one element that is not known.
    pub fn note_rows(&mut self, walk: &Walk, position: u32, place: &Place, operands: (u32, u32)) {
        let means = &self.operands[operands.0 as usize..operands.1 as usize];
        let Some(first) = means.first().map(|&first| self.locations[first]) else { return };
        let of = &self.program.leaves[first.leaf];
        let is_known = means.len() == 1 && first.element.is_some();
        let of_context = &self.unfolding.contexts[walk.context];
        // A pointer may be moved: what it leads to is no part of a row that is known.
        let is_pointer = matches!(place.base, Base::Pointer(_));
        if !of.is_array() || is_known || is_pointer || of_context.recursive || self.unfolding.is_merged(walk.context) {
            return;
        }
        let program = self.program;
        let before = &program.functions[of_context.function].blocks[walk.at].instructions[..position as usize];
        let found = self.unfolding.evaluate(program, (walk.context, walk.iteration), |evaluator: &Evaluator<'_>| {
            let [Address { instance, byte, exact: false }] = evaluator.targets(place)[..] else { return None };
            let (leaf, element) = program.leaf_at_byte(self.unfolding.instances[instance].variable, byte)?;
            let written = COPIES.map(|copies| written_path(evaluator, walk.context, before, place, copies));
            Some((instance, leaf, element, written))
        });
        let Some((instance, leaf, element, written)) = found else { return };
        let values = IndexValues { program, unfolding: &self.unfolding, callers: &self.callers };
        let computed = values.path(walk.site(position), place);
        let array = self.location(Location { instance, leaf, element: None });
        let mut rows = Rows::new();
        for path in written.into_iter().chain([computed]) {
            if let Some(indices) = indices_of(&program.leaves[leaf], element, &path) {
                let id = self.row(Row { behind: path.behind, indices, array });
                if !rows.contains(&id) {
                    rows.push(id);
                }
            }
        }
        if !rows.is_empty() {
            self.rows.insert(self.events.len() as u32, rows);
        }
    }

    fn row(&mut self, row: Row) -> u32 {
        if let Some(&known) = self.row_ids.get(&row) {
            return known;
        }
        let id = self.row_list.len() as u32;
        self.row_list.push(row.clone());
        self.row_ids.insert(row, id);
        id
    }
}
