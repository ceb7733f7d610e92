//! Typed indices and the arenas that only they can index.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed index: a newtype over `u32`.
pub trait Id: Copy + Eq + Ord {
    /// The id of that index; indices fit into 32 bits.
    fn new(index: usize) -> Self;
    /// The index.
    fn index(self) -> usize;
}

/// Declares a typed index.
#[macro_export]
macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of that index; indices fit into 32 bits.
            #[must_use]
            pub fn new(index: usize) -> Self {
                debug_assert!(u32::try_from(index).is_ok());
                $name(index as u32)
            }

            /// The index.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $crate::arena::Id for $name {
            fn new(index: usize) -> Self {
                $name::new(index)
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
pub use id;

/// A list that is indexed by ids of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena<I, T> {
    items: Vec<T>,
    ids: PhantomData<fn() -> I>,
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena { items: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> Arena<I, T> {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Arena::default()
    }

    /// An arena of `count` equal items.
    #[must_use]
    pub fn filled(item: T, count: usize) -> Self
    where
        T: Clone,
    {
        Arena { items: vec![item; count], ids: PhantomData }
    }

    /// Adds an item and names it.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// All items, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All items, in order.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All items with their ids, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::new(index), item))
    }

    /// The item of that id, if there is one.
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for Arena<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        Arena { items: items.into_iter().collect(), ids: PhantomData }
    }
}
