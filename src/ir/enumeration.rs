//! Names of values: the names in the text for the values of variables that are declared with the name of an enum.
//!
//! They are for readers only: to the program such a variable is an `int`.

use super::TextId;
use cssame_source::Span;
use rustc_hash::FxHashMap;

/// The enums of a text, and the names that it declares with them.
#[derive(Clone, Debug, Default)]
pub struct Enumerations {
    /// By a name in its declaration: the enum.
    declared: FxHashMap<Span, TextId>,
    /// By an enum and a value: the first enumerator that has it.
    enumerators: FxHashMap<(TextId, i64), TextId>,
}

impl Enumerations {
    /// A variable, a field or a parameter is declared with the name of an enum.
    pub fn declare(&mut self, declared: Span, enumeration: TextId) {
        self.declared.insert(declared, enumeration);
    }

    /// A value of an enum has a name. The first one stays.
    pub fn add(&mut self, enumeration: TextId, value: i64, name: TextId) {
        self.enumerators.entry((enumeration, value)).or_insert(name);
    }

    /// What the enum of a declared name calls a value.
    #[must_use]
    pub fn name(&self, declared: Span, value: i64) -> Option<TextId> {
        let enumeration = self.declared.get(&declared)?;
        self.enumerators.get(&(*enumeration, value)).copied()
    }
}
