//! Distinguishes the reads and definitions at one place of the text.
//!
//! A program whose functions were copied for their calling contexts has several reads and definitions at one place. Each of them
//! is identified by the thread that runs it, the calls on the path to it, and the variable to which it refers.

use super::{DefinitionId, FunctionId, ReadId, TextId};
use cssame_source::Span;
use rustc_hash::FxHashMap;

/// The context of a read or a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccessContext {
    /// The path of the thread; empty where threads are not told apart.
    pub thread: TextId,
    /// The calls on the way there, in this thread and in those that made it; the outermost first.
    pub calls: Vec<Span>,
    /// The variable as it is called from outside: `a.bal` where the text says `from.bal`; else as written.
    pub variable: TextId,
    /// Whether the thread is needed to tell the context from others of the same place.
    pub shows_thread: bool,
    /// Whether the calls are.
    pub shows_calls: bool,
}

/// The contexts of places that have several; those of all other places are not stored.
#[derive(Clone, Debug, Default)]
pub struct AccessContexts {
    /// Of reads.
    pub reads: FxHashMap<ReadId, AccessContext>,
    /// Of definitions.
    pub definitions: FxHashMap<DefinitionId, AccessContext>,
    /// By function: the one that it is a copy of, or itself; empty where nothing was copied.
    pub functions: Vec<FunctionId>,
}
