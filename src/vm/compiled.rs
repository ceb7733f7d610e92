//! A program as code, with its side tables.

use super::code::{Atomic, Call, Code, FunctionCode, Origin, Print, Slot, Start};
use super::places::{ComputedPlace, PointerTo};
use cssame_ir::FunctionId;
use cssame_ir::arena::Arena;
use cssame_source::Span;

/// A program as code.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    pub code: Vec<Code>,
    pub constants: Vec<i64>,
    pub places: Vec<ComputedPlace>,
    pub pointers: Vec<PointerTo>,
    pub atomics: Vec<Atomic>,
    pub calls: Vec<Call>,
    pub prints: Vec<Print>,
    pub forks: Vec<Box<[Start]>>,
    pub functions: Arena<FunctionId, FunctionCode>,
    /// Whether joins ask for what threads have returned.
    pub has_results: bool,
    /// Whether memory is given back that others may use.
    pub frees: bool,
    /// Whether the end of main ends the program.
    pub ends_with_main: bool,
    /// By function: whether its threads are interchangeable iterations of a `parfor`.
    pub interchangeable: Vec<bool>,
    /// By function: the one that it is a copy of; empty where nothing was copied.
    pub copied_from: Vec<FunctionId>,
    /// By code index.
    pub origins: Vec<Origin>,
    /// By code index.
    pub spans: Vec<Span>,
    /// By code index: a range of `live_slots`.
    pub live: Vec<(u32, u32)>,
    /// Slots that matter to a frame which stands or is suspended there.
    pub live_slots: Vec<Slot>,
}

impl Compiled {
    /// The slots that determine what a frame does which stands at that instruction.
    #[inline]
    pub(super) fn live_at(&self, at: u32) -> &[Slot] {
        let (start, end) = self.live[at as usize];
        &self.live_slots[start as usize..end as usize]
    }
}
