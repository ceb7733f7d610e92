//! Rows: which cells of two arrays belong together, where elements of equal index do.
//!
//! **Input**: the program and a pattern whose sides belong together by row. **Output**: [`RowCells`], which number the row of each
//! cell of the two variables.
//!
//! **Algorithm**: the cell tells the element, and this the indices of the arrays that it lies in. Those count that both variables have,
//! from the outermost: of `len[i]` and `items[i][j]` the first one.

use super::pattern::TearPattern;
use crate::ir::{Dimension, Leaf, Program, SymbolId, VariableId};
use crate::vm::Cell;

/// The cells of a part of a variable that lie in rows.
#[derive(Clone, Debug)]
struct Cells {
    variable: VariableId,
    offset: u32,
    dimensions: Vec<Dimension>,
    /// How many of the dimensions count.
    counted: usize,
}

/// The rows of two variables.
#[derive(Clone, Debug, Default)]
pub(super) struct RowCells(Vec<Cells>);

impl RowCells {
    /// The rows that a pattern compares; none if it does not.
    pub(super) fn new(program: &Program, pattern: &TearPattern) -> RowCells {
        if !pattern.by_row {
            return RowCells::default();
        }
        let [first, second] = pattern.sides.map(|side| side.symbol);
        let of = |symbol: SymbolId| program.leaves.iter().filter(move |leaf| leaf.symbol == symbol);
        let cells = |leaf: &Leaf, partner: SymbolId| {
            let nearest = of(partner).filter(|other| other.variable == leaf.variable);
            let least = nearest.map(|other| other.dimensions.len()).min();
            let least = least.or_else(|| of(partner).map(|other| other.dimensions.len()).min()).unwrap_or(0);
            Cells {
                variable: leaf.variable,
                offset: leaf.offset,
                dimensions: leaf.dimensions.clone(),
                counted: least.min(leaf.dimensions.len()),
            }
        };
        let both = of(first).map(|leaf| cells(leaf, second)).chain(of(second).map(|leaf| cells(leaf, first)));
        RowCells(both.filter(|cells| cells.counted > 0).collect())
    }

    /// The number of the row of a cell; 0 for all where rows do not matter.
    pub(super) fn row(&self, cell: Cell) -> u32 {
        let of_variable = self.0.iter().filter(|cells| cells.variable == cell.object.variable);
        of_variable.filter_map(|cells| cells.row(cell.part)).next().unwrap_or(0)
    }
}

impl Cells {
    /// The row of a cell; nothing where it is none of these.
    fn row(&self, part: u32) -> Option<u32> {
        let mut rest = part.checked_sub(self.offset)?;
        let mut row = 0;
        for (place, dimension) in self.dimensions.iter().enumerate() {
            let index = rest / dimension.stride;
            if index >= dimension.length {
                return None;
            }
            rest -= index * dimension.stride;
            if place < self.counted {
                row = row * dimension.length + index;
            }
        }
        (rest == 0).then_some(row)
    }
}
