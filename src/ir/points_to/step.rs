//! How a pointer changes on its way from one set to another.
//!
//! In: a target, and a [`Step`]. Out: where it may lead then.

use super::Target;
use crate::Program;
use smallvec::{SmallVec, smallvec};

/// How targets change on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// They do not.
    Same,
    /// So many cells further, to a member of what they lead to; to any element of an array there if not `exact`.
    Member {
        /// Cells.
        cells: u32,
        /// Whether that is certain.
        exact: bool,
    },
    /// So many cells further by computing.
    Plus(i64),
    /// A multiple of so many cells further or back.
    Times(u32),
}

/// Where a target is moved to.
pub fn moved(program: &Program, target: Target, step: Step) -> SmallVec<[Target; 1]> {
    match step {
        Step::Same => smallvec![target],
        Step::Member { cells, exact } => {
            smallvec![Target { offset: target.offset.wrapping_add(cells), exact: target.exact && exact, ..target }]
        }
        Step::Plus(0) => smallvec![target],
        Step::Plus(cells) if target.exact => {
            smallvec![Target { offset: target.offset.wrapping_add(cells as u32), ..target }]
        }
        Step::Plus(cells) => times(program, target, cells.unsigned_abs() as u32),
        Step::Times(cells) => times(program, target, cells),
    }
}

/// Where a pointer may lead that computing has moved by a multiple of some cells: in a variable that is an array, from one of its
/// elements to the same place in others, if the cells are such a multiple; else to any cell.
fn times(program: &Program, target: Target, cells: u32) -> SmallVec<[Target; 1]> {
    let variable = &program.variables[target.variable];
    if variable.leaf_count == 1 {
        return smallvec![Target { offset: program.leaves[variable.first_leaf].offset, exact: false, ..target }];
    }
    let of_leaf = program.leaf_at(target.variable, target.offset).map(|(leaf, _)| &program.leaves[leaf]);
    if let Some(outermost) = of_leaf.and_then(|leaf| leaf.dimensions.first())
        && outermost.length * outermost.stride == variable.size
        && cells.is_multiple_of(outermost.stride)
    {
        return smallvec![Target { exact: false, ..target }];
    }
    variable.leaves().map(|leaf| Target { offset: program.leaves[leaf].offset, exact: false, ..target }).collect()
}
