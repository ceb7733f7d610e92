//! Accesses to memory in the text: the common part of reads and definitions.

use super::{DefinitionId, DefinitionKind, Program, ReadId, SymbolId, TextId};
use cssame_source::Span;

/// A place in the text that reads or writes memory. What does both, such as `x += 1` or `swap(x, 1)`, is one of each,
/// and the two stand at the same span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It reads.
    Read(ReadId),
    /// It writes.
    Write(DefinitionId),
}

impl Access {
    /// Where the name of the variable stands.
    #[must_use]
    pub fn span(self, program: &Program) -> Span {
        match self {
            Access::Read(read) => program.reads[read].span,
            Access::Write(definition) => program.definitions[definition].span,
        }
    }

    /// The variable as written at that place.
    #[must_use]
    pub fn name(self, program: &Program) -> TextId {
        match self {
            Access::Read(read) => program.reads[read].name,
            Access::Write(definition) => program.definitions[definition].name,
        }
    }

    /// The declared variable or field.
    #[must_use]
    pub fn symbol(self, program: &Program) -> SymbolId {
        match self {
            Access::Read(read) => program.reads[read].symbol,
            Access::Write(definition) => program.definitions[definition].symbol,
        }
    }

    /// The symbol whose cells it accesses: other accesses to the same cell have the same one.
    #[must_use]
    pub fn cells_of(self, program: &Program) -> SymbolId {
        program.symbols[self.symbol(program)].cells_of
    }

    /// Whether it writes.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Access::Write(_))
    }

    /// `read` or `write`.
    #[must_use]
    pub fn word(self) -> &'static str {
        if self.is_write() { "write" } else { "read" }
    }

    /// Whether it is the value before the first write, which no thread makes by a step.
    #[must_use]
    pub fn is_initial(self, program: &Program) -> bool {
        let Access::Write(definition) = self else { return false };
        matches!(program.definitions[definition].kind, DefinitionKind::Initial(_))
    }
}
