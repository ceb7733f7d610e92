//! A list that grows without being moved.
//!
//! **Input**: items, one after the other. **Output**: the items by their places.
//!
//! **Algorithm**: pieces of a fixed length. The first piece grows like a vector, so that a small list is small. Later pieces are
//! allocated in full. So at most one piece is empty, and a growing list is never held twice.

/// Items of a piece.
const PIECE: usize = 1 << 16;

/// A list of small items.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks { pieces: Vec::new(), len: 0 }
    }
}

impl<T: Copy> Chunks<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let items: usize = self.pieces.iter().map(Vec::capacity).sum();
        (items * size_of::<T>()) as u64
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.len.is_multiple_of(PIECE) {
            let capacity = if self.len == 0 { 0 } else { PIECE };
            self.pieces.push(Vec::with_capacity(capacity));
        }
        if let Some(last) = self.pieces.last_mut() {
            last.push(item);
            self.len += 1;
        }
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> T {
        self.pieces[index / PIECE][index % PIECE]
    }

    #[inline]
    pub(crate) fn set(&mut self, index: usize, item: T) {
        self.pieces[index / PIECE][index % PIECE] = item;
    }

    /// Keeps the first items alone.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len.div_ceil(PIECE));
        if let Some(last) = self.pieces.last_mut() {
            last.truncate(len - (len.div_ceil(PIECE) - 1) * PIECE);
        }
        self.len = self.len.min(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_places() {
        let mut chunks = Chunks::default();
        (0..3 * PIECE + 5).for_each(|item| chunks.push(item));
        assert!((0..3 * PIECE + 5).all(|item| chunks.get(item) == item));
        assert_eq!(chunks.bytes(), (4 * PIECE * size_of::<usize>()) as u64);
        for len in [3 * PIECE, 2 * PIECE + 1, 7, 0] {
            chunks.truncate(len);
            assert_eq!(chunks.len(), len);
            chunks.push(len);
            assert_eq!(chunks.get(len), len);
            chunks.truncate(len);
        }
        (0..10).for_each(|item| chunks.push(item));
        chunks.set(3, 30);
        assert_eq!((chunks.get(3), chunks.get(4)), (30, 4));
    }
}
