//! Interned texts: names, literals and messages, each stored once.

use super::arena::id;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

id! {
    /// An interned text: a name, a literal, a message.
    TextId
}

/// Interned texts; equal texts have equal ids.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    set: IndexSet<String, FxBuildHasher>,
}

impl Texts {
    /// The id of a text.
    pub fn intern(&mut self, text: &str) -> TextId {
        if let Some(index) = self.set.get_index_of(text) {
            return TextId::new(index);
        }
        TextId::new(self.set.insert_full(text.to_owned()).0)
    }

    /// The text of an id that this table made.
    #[must_use]
    pub fn get(&self, id: TextId) -> &str {
        &self.set[id.index()]
    }

    /// The id of a text that is in the table.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<TextId> {
        self.set.get_index_of(text).map(TextId::new)
    }

    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}
