//! Rows: the cells of two arrays that belong together, where elements of equal index do.
//!
//! **Input**: the program and a pattern whose sides belong together by row. **Output**: [`RowCells`], which number the row of each
//! cell of the two variables.
//!
//! **Algorithm**: the cell determines the element, and the element determines the indices of the arrays that contain it. The
//! indices that both variables have count, from the outermost: for `len[i]` and `items[i][j]`, the first one.

use super::pattern::TearPattern;
use cssame_ir::{Leaf, Program, SymbolId};
use cssame_vm::Cell;

/// A leaf whose cells lie in rows.
#[derive(Clone, Debug)]
struct Cells {
    leaf: Leaf,
    /// The elements that lie in one row.
    inner: u32,
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
            (least > 0 && leaf.is_array()).then(|| {
                let inner = leaf.dimensions.iter().skip(least).map(|dimension| dimension.length).product();
                Cells { leaf: leaf.clone(), inner }
            })
        };
        let both = of(first).map(|leaf| cells(leaf, second)).chain(of(second).map(|leaf| cells(leaf, first)));
        RowCells(both.flatten().collect())
    }

    /// The number of the row of a cell; 0 for all where rows do not matter.
    pub(super) fn row(&self, cell: Cell) -> u32 {
        let of_variable = self.0.iter().filter(|cells| cells.leaf.variable == cell.object.variable);
        let element = |cells: &Cells| Some(cells.leaf.element_at(cell.part)? / cells.inner.max(1));
        of_variable.filter_map(element).next().unwrap_or(0)
    }
}
