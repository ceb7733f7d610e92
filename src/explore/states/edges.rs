//! The edges of the graph of a search, a few bytes each.
//!
//! **Input**: the targets of the edges of each node, in the order of the nodes. **Output**: the targets for one node, for all
//! nodes in order, or as lists with random access.
//!
//! **Algorithm**: the nodes are numbered in the order in which edges first lead to them. So an edge leads to the next number, or
//! back to an earlier one. The encoding says which case applies, and for the latter the distance, in groups of seven bits. Every
//! [`STRIDE`]th node has a mark at the beginning of its edges.
//!
//! **Soundness and limits**: exact. Reading the edges of one node costs reading up to [`STRIDE`] nodes.

use super::chunks::Chunks;
use smallvec::SmallVec;

/// The target of an edge that leads to a discarded execution.
pub const DISCARDED: u32 = u32::MAX;

/// Nodes from one mark to the next.
const STRIDE: usize = 32;

/// The edges of a node end here.
const END: u64 = 0;
/// An edge that leads to a discarded execution.
const TO_NOTHING: u64 = 1;
/// An edge to the next number. Higher ones lead back by so much more.
const TO_NEXT: u64 = 2;

/// Where the edges of a node begin, and how many nodes edges have led to before.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: u64,
    known: u32,
}

/// The edges of the nodes that were expanded.
pub(crate) struct Edges {
    bytes: Chunks<u8>,
    marks: Chunks<Mark>,
    /// Nodes whose edges were begun.
    begun: usize,
    last: Mark,
    /// Edges of all nodes, and of those before the last one.
    count: u64,
    count_before: u64,
    /// Nodes that edges lead to; the first node is one of them.
    known: u32,
    /// The target of the first edge that leads to the node that it comes from, or to one before.
    back: Option<u32>,
}

impl Default for Edges {
    fn default() -> Self {
        let (bytes, marks) = (Chunks::default(), Chunks::default());
        Edges {
            bytes,
            marks,
            begun: 0,
            last: Mark { at: 0, known: 1 },
            count: 0,
            count_before: 0,
            known: 1,
            back: None,
        }
    }
}

impl Edges {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.bytes() + self.marks.bytes()
    }

    /// Number of edges.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The target of an edge that leads to the node that it comes from, or to one before: the first such edge, if there is any.
    pub(crate) fn back(&self) -> Option<u32> {
        self.back
    }

    /// Begins the edges of a node; those before that were not begun have none.
    pub(crate) fn begin(&mut self, node: u32) {
        while self.begun <= node as usize {
            if self.begun > 0 {
                self.write(END);
            }
            self.last = Mark { at: self.bytes.len() as u64, known: self.known };
            self.count_before = self.count;
            if self.begun.is_multiple_of(STRIDE) {
                self.marks.push(self.last);
            }
            self.begun += 1;
        }
    }

    /// Adds an edge to the node whose edges were begun last.
    pub(crate) fn add(&mut self, target: u32) {
        if self.begun == 0 {
            return;
        }
        self.count += 1;
        if target == DISCARDED {
            self.write(TO_NOTHING);
        } else if target == self.known {
            self.known += 1;
            self.write(TO_NEXT);
        } else {
            self.write(TO_NEXT + u64::from(self.known - target));
            if target < self.begun as u32 && self.back.is_none() {
                self.back = Some(target);
            }
        }
    }

    /// Forgets the edges of the node whose edges were begun last.
    pub(crate) fn cancel(&mut self, node: u32) {
        if self.begun == node as usize + 1 {
            self.bytes.truncate(self.last.at as usize);
            self.known = self.last.known;
            self.count = self.count_before;
        }
    }

    fn write(&mut self, mut number: u64) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// The targets of the edges of a node.
    pub(crate) fn of(&self, node: u32) -> SmallVec<[u32; 8]> {
        let mut targets = SmallVec::new();
        if (node as usize) < self.begun {
            let first = node as usize / STRIDE;
            let mut reader = Reader { edges: self, mark: self.marks.get(first) };
            (first * STRIDE..node as usize).for_each(|_| reader.node(|_| ()));
            reader.node(|target| targets.push(target));
        }
        targets
    }

    /// Tells of all edges, in the order of the nodes that they come from.
    pub(crate) fn each(&self, mut tell: impl FnMut(u32, u32)) {
        let mut reader = Reader { edges: self, mark: Mark { at: 0, known: 1 } };
        for node in 0..self.begun as u32 {
            reader.node(|target| tell(node, target));
        }
    }
}

/// Reads the edges of one node after the other.
struct Reader<'a> {
    edges: &'a Edges,
    mark: Mark,
}

impl Reader<'_> {
    fn node(&mut self, mut tell: impl FnMut(u32)) {
        loop {
            match self.number() {
                END => return,
                TO_NOTHING => tell(DISCARDED),
                TO_NEXT => {
                    tell(self.mark.known);
                    self.mark.known += 1;
                }
                number => tell(self.mark.known - (number - TO_NEXT) as u32),
            }
        }
    }

    /// The next number; the edges of the last node end where there is none.
    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while (self.mark.at as usize) < self.edges.bytes.len() {
            let byte = self.edges.bytes.get(self.mark.at as usize);
            self.mark.at += 1;
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                break;
            }
        }
        number
    }
}

/// The targets of the edges of all nodes, which can be asked for in any order.
pub(crate) struct EdgeLists {
    first: Vec<usize>,
    targets: Vec<u32>,
}

impl EdgeLists {
    /// Of the edges of so many nodes.
    pub(crate) fn new(edges: &Edges, nodes: usize) -> EdgeLists {
        let (mut first, mut targets) = (Vec::with_capacity(nodes + 1), Vec::new());
        edges.each(|from, target| {
            first.resize(from as usize + 1, targets.len());
            targets.push(target);
        });
        first.resize(nodes + 1, targets.len());
        EdgeLists { first, targets }
    }

    /// The targets of the edges of a node.
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        &self.targets[self.first[node as usize]..self.first[node as usize + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_read_as_they_were_written() {
        let mut edges = Edges::default();
        let (mut known, mut expected) = (1, Vec::new());
        for node in 0..10_000u32 {
            let mut targets = Vec::new();
            // Every seventh node was not expanded.
            if !node.is_multiple_of(7) {
                edges.begin(node);
                for place in 0..node % 5 {
                    let target = match place {
                        0 => known,
                        1 => known / 2,
                        2 => 0,
                        _ => DISCARDED,
                    };
                    known += u32::from(place == 0);
                    edges.add(target);
                    targets.push(target);
                }
            }
            expected.push(targets);
        }
        let lists = EdgeLists::new(&edges, 10_001);
        assert!(lists.of(10_000).is_empty());
        for (node, targets) in expected.iter().enumerate() {
            assert_eq!(&edges.of(node as u32)[..], &targets[..]);
            assert_eq!(lists.of(node as u32), &targets[..]);
        }
        assert_eq!(edges.of(10_000).len(), 0);
        edges.cancel(9_999);
        assert_eq!(edges.of(9_999).len(), 0);
        assert_eq!(&edges.of(9_998)[..], &expected[9_998][..]);
    }
}
