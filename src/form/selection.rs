//! Selections of pi terms.

use crate::ir::{DefinitionId, ReadId};

/// A read that is to read from a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The read.
    pub read: ReadId,
    /// Which instance of it in its thread, from 1; `None` is satisfied by any instance.
    pub instance: Option<u32>,
    /// The definition.
    pub definition: DefinitionId,
}
