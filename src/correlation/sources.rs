//! Small sets of data from which a value is computed.
//!
//! **Input**: variables, with the row that is read, and for a private variable the function that owns it. **Output**:
//! [`Sources`], their union. **Algorithm**: sorted lists are merged. **Limits**: a set keeps [`MAX_SOURCES`] members. If a
//! variable occurs twice with different rows or owners, the row or the owner is forgotten.

use super::row::Row;
use super::source_variable::SourceVariableId;
use cssame_ir::FunctionId;
use smallvec::SmallVec;

/// A value keeps at most that many.
const MAX_SOURCES: usize = 32;

/// A variable that a value is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    variable: SourceVariableId,
    /// The row of it, where there is one.
    row: Option<Row>,
    /// Of a private variable, the function that has it, as it is bound; nothing where several do.
    owner: Option<FunctionId>,
}

/// The data that a value is computed from, sorted; what exceeds the bound is left out. Of an array it is known which row is read,
/// unless there are several, or it is read through something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources(SmallVec<[Source; 4]>);

impl Sources {
    /// A set of one.
    pub fn one(variable: SourceVariableId, row: Option<Row>) -> Sources {
        Sources(SmallVec::from_slice(&[Source { variable, row, owner: None }]))
    }

    /// A private variable of a function.
    pub fn private(variable: SourceVariableId, owner: FunctionId) -> Sources {
        Sources(SmallVec::from_slice(&[Source { variable, row: None, owner: Some(owner) }]))
    }

    /// Adds one, of which no row is known; true if that changed anything.
    pub fn insert(&mut self, variable: SourceVariableId) -> bool {
        self.insert_source(Source { variable, row: None, owner: None })
    }

    fn insert_source(&mut self, source: Source) -> bool {
        match self.0.binary_search_by_key(&source.variable, |known| known.variable) {
            Err(position) if self.0.len() < MAX_SOURCES => {
                self.0.insert(position, source);
                true
            }
            Err(_) => false,
            Ok(position) => {
                let known = &mut self.0[position];
                let before = *known;
                known.row = known.row.filter(|row| source.row == Some(*row));
                known.owner = known.owner.filter(|owner| source.owner == Some(*owner));
                *known != before
            }
        }
    }

    /// Adds those of another set; true if that changed anything.
    pub fn add(&mut self, other: &Sources) -> bool {
        other.0.iter().fold(false, |changed, &source| self.insert_source(source) | changed)
    }

    pub fn contains(&self, variable: SourceVariableId) -> bool {
        self.0.binary_search_by_key(&variable, |known| known.variable).is_ok()
    }

    /// The variables of both sets that may have one value in both; private variables of two functions do not.
    pub fn common<'a>(&'a self, other: &'a Sources) -> impl Iterator<Item = SourceVariableId> + 'a {
        let find = |source: &Source| other.0.binary_search_by_key(&source.variable, |known| known.variable).ok();
        let owner = move |source: &Source| find(source).map(|position| other.0[position].owner);
        let same = move |source: &&Source| {
            owner(source).is_some_and(|of| of.zip(source.owner).is_none_or(|(one, other)| one == other))
        };
        self.0.iter().filter(same).map(|source| source.variable)
    }

    pub fn retain(&mut self, mut keep: impl FnMut(SourceVariableId) -> bool) {
        self.0.retain(|source| keep(source.variable));
    }

    /// Forgets the rows: those of another function say nothing here.
    pub fn without_rows(mut self) -> Sources {
        self.0.iter_mut().for_each(|source| source.row = None);
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = SourceVariableId> + '_ {
        self.0.iter().map(|source| source.variable)
    }

    /// The variables with their rows.
    pub fn with_rows(&self) -> impl Iterator<Item = (SourceVariableId, Option<Row>)> + '_ {
        self.0.iter().map(|source| (source.variable, source.row))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
