//! Kinds of access, and sets of them as bits: 1 reads, 2 writes.

use super::source_variable::SourceVariableId;

/// Reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl AccessKind {
    /// Both, in order.
    pub const ALL: [AccessKind; 2] = [AccessKind::Read, AccessKind::Write];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
        }
    }

    pub(super) fn bit(self) -> u8 {
        match self {
            AccessKind::Read => 1,
            AccessKind::Write => 2,
        }
    }
}

/// The bit of two kinds in a mask of four.
pub(super) fn pair_bit(first: AccessKind, second: AccessKind) -> u8 {
    1 << (2 * (first.bit() - 1) + second.bit() - 1)
}

/// The kinds of access to a variable, in a list sorted by data.
pub(super) fn kinds_in(kinds: &[(SourceVariableId, u8)], variable: SourceVariableId) -> u8 {
    kinds.binary_search_by_key(&variable, |each| each.0).map_or(0, |index| kinds[index].1)
}
