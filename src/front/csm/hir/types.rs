//! Types of variables and of data.
//!
//! In: a type. Out: its size in cells, the contents of an array, and the names of types of data.

use super::{ArrayId, ClassId, Program};

/// Types of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Data.
    Scalar(Scalar),
    /// Elements of one type.
    Array(ArrayId),
    /// A lock.
    Lock,
    /// A lock that its holder may take again; it goes where a lock is wanted.
    ReentrantLock,
    /// A readers-writer lock.
    RwLock,
    /// An event.
    Event,
    /// A barrier.
    Barrier,
    /// A condition.
    Condition,
    /// A semaphore.
    Semaphore,
    /// An object.
    Class(ClassId),
    /// Stands for a type that was reported as wrong.
    Error,
}

/// A type of arrays. Types that are the same have the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Array {
    /// What it holds; of several dimensions, arrays.
    pub element: Type,
    /// How many of them; none for a parameter `int t[]`, which takes arrays of any length.
    pub length: Option<u32>,
}

/// Types of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// Truth.
    Bool,
    /// Binary64.
    Double,
    /// Text.
    String,
    /// A thread handle.
    Thread,
    /// Stands for a type that was reported as wrong.
    Error,
}

impl Program {
    /// The type of arrays of so many elements.
    pub fn array(&mut self, element: Type, length: Option<u32>) -> Type {
        let array = Array { element, length };
        let arrays = &mut self.arrays;
        Type::Array(*self.array_ids.entry(array).or_insert_with(|| arrays.push(array)))
    }

    /// Number of cells of a variable of that type; 0 for an array of unknown length.
    #[must_use]
    pub fn size_of(&self, ty: Type) -> u32 {
        match ty {
            Type::Scalar(_)
            | Type::Lock
            | Type::ReentrantLock
            | Type::RwLock
            | Type::Event
            | Type::Condition
            | Type::Semaphore
            | Type::Error => 1,
            Type::Barrier => 2,
            Type::Array(id) => {
                let Array { element, length } = self.arrays[id];
                self.size_of(element).saturating_mul(length.unwrap_or(0))
            }
            Type::Class(class) => self.classes[class].size,
        }
    }

    /// What an array holds in the end, behind all its dimensions, and how many of them; a type that is no array holds one
    /// of itself.
    #[must_use]
    pub fn elements_of(&self, ty: Type) -> (Type, u32) {
        match ty {
            Type::Array(id) => {
                let (element, count) = self.elements_of(self.arrays[id].element);
                (element, count.saturating_mul(self.arrays[id].length.unwrap_or(0)))
            }
            _ => (ty, 1),
        }
    }
}

impl Scalar {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Int => "int",
            Scalar::Long => "long",
            Scalar::Bool => "bool",
            Scalar::Double => "double",
            Scalar::String => "string",
            Scalar::Thread => "thread",
            Scalar::Error => "unknown",
        }
    }
}
