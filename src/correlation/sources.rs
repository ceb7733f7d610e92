//! Small sets of data that a value is computed from.

use super::datum::DatumId;
use smallvec::SmallVec;

/// A value keeps at most that many.
const MAX_SOURCES: usize = 32;

/// The data that a value is computed from, sorted; what exceeds the bound is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources(SmallVec<[DatumId; 4]>);

impl Sources {
    /// A set of one.
    pub fn one(datum: DatumId) -> Sources {
        Sources(SmallVec::from_slice(&[datum]))
    }

    /// Adds one; true if it was not there.
    pub fn insert(&mut self, datum: DatumId) -> bool {
        match self.0.binary_search(&datum) {
            Err(position) if self.0.len() < MAX_SOURCES => {
                self.0.insert(position, datum);
                true
            }
            _ => false,
        }
    }

    /// Adds those of another set; true if there are new ones.
    pub fn add(&mut self, other: &Sources) -> bool {
        other.0.iter().fold(false, |changed, &datum| self.insert(datum) | changed)
    }

    pub fn contains(&self, datum: DatumId) -> bool {
        self.0.binary_search(&datum).is_ok()
    }

    pub fn retain(&mut self, mut keep: impl FnMut(DatumId) -> bool) {
        self.0.retain(|datum| keep(*datum));
    }

    pub fn iter(&self) -> impl Iterator<Item = DatumId> + '_ {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
