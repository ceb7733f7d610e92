//! Small sets of data that a value is computed from.

use super::row::Row;
use super::source_variable::SourceVariableId;
use smallvec::SmallVec;

/// A value keeps at most that many.
const MAX_SOURCES: usize = 32;

/// A variable that a value is computed from, and the row of it where there is one.
type Source = (SourceVariableId, Option<Row>);

/// The data that a value is computed from, sorted; what exceeds the bound is left out. Of an array it is known which row is read,
/// unless there are several, or it is read through something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources(SmallVec<[Source; 4]>);

impl Sources {
    /// A set of one.
    pub fn one(variable: SourceVariableId, row: Option<Row>) -> Sources {
        Sources(SmallVec::from_slice(&[(variable, row)]))
    }

    /// Adds one, of which no row is known; true if that changed anything.
    pub fn insert(&mut self, variable: SourceVariableId) -> bool {
        self.insert_source((variable, None))
    }

    fn insert_source(&mut self, source: Source) -> bool {
        match self.0.binary_search_by_key(&source.0, |known| known.0) {
            Err(position) if self.0.len() < MAX_SOURCES => {
                self.0.insert(position, source);
                true
            }
            Ok(position) if self.0[position].1.is_some() && self.0[position] != source => {
                self.0[position].1 = None;
                true
            }
            _ => false,
        }
    }

    /// Adds those of another set; true if that changed anything.
    pub fn add(&mut self, other: &Sources) -> bool {
        other.0.iter().fold(false, |changed, &source| self.insert_source(source) | changed)
    }

    pub fn contains(&self, variable: SourceVariableId) -> bool {
        self.0.binary_search_by_key(&variable, |known| known.0).is_ok()
    }

    pub fn retain(&mut self, mut keep: impl FnMut(SourceVariableId) -> bool) {
        self.0.retain(|source| keep(source.0));
    }

    /// Forgets the rows: those of another function say nothing here.
    pub fn without_rows(mut self) -> Sources {
        self.0.iter_mut().for_each(|source| source.1 = None);
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = SourceVariableId> + '_ {
        self.0.iter().map(|source| source.0)
    }

    /// The variables with their rows.
    pub fn with_rows(&self) -> impl Iterator<Item = Source> + '_ {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
