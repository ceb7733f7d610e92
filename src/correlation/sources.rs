//! Small sets of data that a value is computed from.

use super::source_variable::SourceVariableId;
use smallvec::SmallVec;

/// A value keeps at most that many.
const MAX_SOURCES: usize = 32;

/// The data that a value is computed from, sorted; what exceeds the bound is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources(SmallVec<[SourceVariableId; 4]>);

impl Sources {
    /// A set of one.
    pub fn one(variable: SourceVariableId) -> Sources {
        Sources(SmallVec::from_slice(&[variable]))
    }

    /// Adds one; true if it was not there.
    pub fn insert(&mut self, variable: SourceVariableId) -> bool {
        match self.0.binary_search(&variable) {
            Err(position) if self.0.len() < MAX_SOURCES => {
                self.0.insert(position, variable);
                true
            }
            _ => false,
        }
    }

    /// Adds those of another set; true if there are new ones.
    pub fn add(&mut self, other: &Sources) -> bool {
        other.0.iter().fold(false, |changed, &variable| self.insert(variable) | changed)
    }

    pub fn contains(&self, variable: SourceVariableId) -> bool {
        self.0.binary_search(&variable).is_ok()
    }

    pub fn retain(&mut self, mut keep: impl FnMut(SourceVariableId) -> bool) {
        self.0.retain(|variable| keep(*variable));
    }

    pub fn iter(&self) -> impl Iterator<Item = SourceVariableId> + '_ {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
