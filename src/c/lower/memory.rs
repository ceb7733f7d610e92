//! Copies of functions that give memory ([`wrappers`](super::wrappers)).
//!
//! In: nothing; these are tables. Out: what a copy knows of the memory that it gives, and which copies are still to be lowered.

use super::link::DeclKey;
use super::owner::Owner;
use crate::tree::{DeclId, Place as TreePlace, TypeId};
use cssame_ir::{FunctionId, TextId};
use rustc_hash::FxHashMap;

/// What is known of the memory that a copy of a function gives.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The type of its elements, and the unit that it belongs to.
    pub unit: u32,
    pub element: TypeId,
    /// What it is called.
    pub name: TextId,
    pub place: TreePlace,
    pub owner: Owner,
    /// The functions on the way there.
    pub callers: Vec<DeclKey>,
    /// Parameters that are constants at the call.
    pub constants: FxHashMap<DeclId, i128>,
}

/// A copy of a function that is to be lowered.
#[derive(Debug)]
pub struct PendingCopy {
    pub id: FunctionId,
    pub key: DeclKey,
    pub memory: Memory,
}
