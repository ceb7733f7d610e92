//! Leaves: the parts of memory variables, and the arrays that contain them.
//!
//! **Input**: a cell or a byte of a variable, or the number of an element. **Output**: the corresponding other ones, and names.
//! Elements of nested arrays are numbered consecutively, the last dimension first.
//!
//! Places that are named count cells, of which each holds one value. Pointers count bytes, since what a program computes with them
//! it computes in bytes; both ways to count keep the order of the leaves. Where a language shows no bytes, a cell is one.

use super::{DefinitionId, LeafId, Program, RegisterType, ScalarType, SymbolId, TextId, Texts, Value, VariableId};

/// What the cells of a leaf hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafKind {
    /// Data of that type.
    Data(ScalarType),
    /// A lock: one cell, 0 when free, else the holder.
    Lock,
    /// A lock that its holder may take again: one cell, as of a lock, with the levels.
    ReentrantLock,
    /// A readers-writer lock: one cell, who writes and how many read.
    RwLock,
    /// An event: one cell, 1 when set.
    Event,
    /// A barrier for that many threads: two cells, the count and the number that have arrived.
    Barrier(u32),
    /// A condition: one cell, which only gives it an address.
    Condition,
    /// A semaphore: one cell, its count.
    Semaphore,
}

impl LeafKind {
    /// Whether its cells may be accessed through a pointer as data of that type. A reference is never stored.
    #[must_use]
    pub fn holds(self, ty: RegisterType) -> bool {
        matches!((self, ty), (LeafKind::Data(data), RegisterType::Scalar(ty)) if data.shares_bits(ty))
    }
}

/// A part of a memory variable.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The variable that it is a part of.
    pub variable: VariableId,
    /// As the text names it from outside: `a`, `acc.balance`, `t`.
    pub name: TextId,
    /// The declared variable or field.
    pub symbol: SymbolId,
    /// First cell, counted from that of the variable.
    pub offset: u32,
    /// First byte, counted from that of the variable.
    pub byte: u32,
    /// The arrays that it lies in, outermost first; none for a part that there is once in its variable.
    pub dimensions: Vec<Dimension>,
    /// What the cells hold.
    pub kind: LeafKind,
    /// What the first cell of each element begins with, in the order of the elements; zero beyond its end.
    pub initial: Vec<Value>,
    /// Its initial definition; only data has one.
    pub initial_definition: Option<DefinitionId>,
}

/// An array that a leaf lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Number of its elements.
    pub length: u32,
    /// Cells from one element to the next.
    pub stride: u32,
    /// Bytes from one element to the next.
    pub bytes: u32,
    /// Where in the name of the leaf the index stands, in bytes: of `a.balance` behind `a` for an array of objects.
    pub name_end: u32,
}

impl Leaf {
    /// Whether it has elements (also a single one), not just one thing.
    #[must_use]
    pub fn is_array(&self) -> bool {
        !self.dimensions.is_empty()
    }

    /// Number of its elements, over all dimensions; 1 where it is no array. They are numbered from 0, the last dimension
    /// first.
    #[must_use]
    pub fn element_count(&self) -> u32 {
        self.dimensions.iter().map(|dimension| dimension.length).product()
    }

    /// The first cell of an element, counted from that of the variable.
    #[must_use]
    pub fn cell(&self, element: u32) -> u32 {
        self.skipped(self.offset, element, |dimension| dimension.stride)
    }

    /// The first byte of an element, counted from that of the variable.
    #[must_use]
    pub fn byte(&self, element: u32) -> u32 {
        self.skipped(self.byte, element, |dimension| dimension.bytes)
    }

    fn skipped(&self, first: u32, element: u32, stride: impl Fn(&Dimension) -> u32) -> u32 {
        let mut rest = element;
        let mut skipped = first;
        for dimension in self.dimensions.iter().rev() {
            skipped += rest % dimension.length * stride(dimension);
            rest /= dimension.length;
        }
        skipped
    }

    /// Behind its last cell, counted from that of the variable.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.cell(self.element_count().saturating_sub(1)) + self.kind.width()
    }

    /// The element that a cell of the variable belongs to; none where the cell is no part of the leaf.
    #[must_use]
    pub fn element_at(&self, cell: u32) -> Option<u32> {
        let (element, rest) = self.divided(cell.checked_sub(self.offset)?, |dimension| dimension.stride)?;
        (rest < self.kind.width()).then_some(element)
    }

    /// The element that begins with a byte of the variable.
    #[must_use]
    pub fn element_at_byte(&self, byte: u32) -> Option<u32> {
        let (element, rest) = self.divided(byte.checked_sub(self.byte)?, |dimension| dimension.bytes)?;
        (rest == 0).then_some(element)
    }

    /// The element that so much behind the first one lies in, and how far behind its start.
    fn divided(&self, skipped: u32, stride: impl Fn(&Dimension) -> u32) -> Option<(u32, u32)> {
        let mut rest = skipped;
        let mut element = 0;
        for dimension in &self.dimensions {
            let index = rest / stride(dimension);
            if index >= dimension.length {
                return None;
            }
            rest -= index * stride(dimension);
            element = element * dimension.length + index;
        }
        Some((element, rest))
    }

    /// The cells of all elements, counted from that of the variable.
    pub fn cells(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.element_count()).flat_map(|element| {
            let first = self.cell(element);
            first..first + self.kind.width()
        })
    }

    /// The indices of an element, one for each dimension.
    #[must_use]
    pub fn indices_of(&self, element: u32) -> Vec<u32> {
        let mut rest = element;
        let mut indices: Vec<u32> = Vec::with_capacity(self.dimensions.len());
        for dimension in self.dimensions.iter().rev() {
            indices.push(rest % dimension.length);
            rest /= dimension.length;
        }
        indices.reverse();
        indices
    }

    /// The name of an element: `t[3]`, `a[1].balance`; of a leaf that is no array, its name.
    #[must_use]
    pub fn element_name(&self, texts: &Texts, element: u32) -> String {
        self.name_with(texts, self.indices_of(element).into_iter().map(|index| index.to_string()))
    }

    /// The name of an element that is not known: `t[i]`, `a[i].log[j]`.
    #[must_use]
    pub fn row_name(&self, texts: &Texts) -> String {
        self.name_with(texts, ["i", "j", "k"].into_iter().chain(std::iter::repeat("_")).map(str::to_owned))
    }

    /// Its name with the texts of indices, one for each dimension.
    pub fn name_with(&self, texts: &Texts, indices: impl Iterator<Item = String>) -> String {
        let name = texts.get(self.name);
        let mut text = String::with_capacity(name.len() + 4);
        let mut done = 0;
        for (index, dimension) in indices.zip(&self.dimensions) {
            let end = dimension.name_end as usize;
            text.push_str(name.get(done..end).unwrap_or_default());
            text.push_str(&format!("[{index}]"));
            done = end;
        }
        text.push_str(name.get(done..).unwrap_or_default());
        text
    }
}

impl LeafKind {
    /// Number of cells of one thing of that kind.
    #[must_use]
    pub fn width(self) -> u32 {
        match self {
            LeafKind::Barrier(_) => 2,
            LeafKind::Data(_)
            | LeafKind::Lock
            | LeafKind::ReentrantLock
            | LeafKind::RwLock
            | LeafKind::Event
            | LeafKind::Condition
            | LeafKind::Semaphore => 1,
        }
    }
}

impl Program {
    /// The leaf of a variable that holds a cell, and the number of the element.
    #[must_use]
    pub fn leaf_at(&self, variable: VariableId, cell: u32) -> Option<(LeafId, u32)> {
        self.leaf_behind(variable, |leaf| leaf.offset <= cell, |leaf| leaf.element_at(cell))
    }

    /// The leaf that an element of begins with a byte of a variable, and the number of the element.
    #[must_use]
    pub fn leaf_at_byte(&self, variable: VariableId, byte: u32) -> Option<(LeafId, u32)> {
        self.leaf_behind(variable, |leaf| leaf.byte <= byte, |leaf| leaf.element_at_byte(byte))
    }

    /// The byte that a cell of a variable begins with.
    #[must_use]
    pub fn byte_of(&self, variable: VariableId, cell: u32) -> Option<u32> {
        let (leaf, element) = self.leaf_at(variable, cell)?;
        let leaf = &self.leaves[leaf];
        (leaf.cell(element) == cell).then(|| leaf.byte(element))
    }

    fn leaf_behind(
        &self,
        variable: VariableId,
        begins_before: impl Fn(&Leaf) -> bool,
        element: impl Fn(&Leaf) -> Option<u32>,
    ) -> Option<(LeafId, u32)> {
        let variable = self.variables.get(variable)?;
        let (first, count) = (variable.first_leaf.index(), variable.leaf_count as usize);
        // It begins no later than the cell. Of an array of objects all fields begin in the first one, so the last leaf
        // that begins before the cell need not be the one.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if begins_before(self.leaves.get(LeafId::new(first + middle))?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut earlier = (first..first + low).rev().map(LeafId::new);
        earlier.find_map(|leaf| Some((leaf, element(&self.leaves[leaf])?)))
    }
}
