//! How a pointer changes on its way from one set to another.
//!
//! In: a target, and a [`Step`]. Out: where it may lead then.

use super::Target;
use crate::{Dimension, Leaf, Program};

/// How targets change on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// They do not.
    Same,
    /// So many bytes further, to a member of what they lead to; to any element of an array there if not `exact`.
    Member {
        /// Bytes.
        bytes: u32,
        /// Whether that is certain.
        exact: bool,
    },
    /// So many bytes further by computing.
    Plus(i64),
    /// A multiple of so many bytes further or back.
    Times(u32),
}

/// Where a target is moved to.
pub fn moved(program: &Program, target: Target, step: Step) -> Target {
    match step {
        Step::Same | Step::Plus(0) => target,
        Step::Member { bytes, exact } => Target { exact: target.exact && exact, ..target.behind(bytes) },
        Step::Plus(bytes) if target.exact => target.behind(bytes as u32),
        Step::Plus(bytes) => times(program, target, bytes.unsigned_abs() as u32),
        Step::Times(bytes) => times(program, target, bytes),
    }
}

/// Where a pointer may lead that computing has moved by a multiple of some bytes: in a variable that is an array, from one of its
/// elements to the same place in others, if the bytes are such a multiple; else to any byte.
fn times(program: &Program, target: Target, bytes: u32) -> Target {
    let variable = &program.variables[target.variable];
    let leaf = target.byte.and_then(|byte| program.leaf_at_byte(target.variable, byte));
    let of_leaf = leaf.map(|(leaf, _)| &program.leaves[leaf]);
    let has_whole = |leaf: &&Leaf| {
        let outermost = leaf.dimensions.first();
        let is_outermost = outermost.is_some_and(|outermost| {
            outermost.length * outermost.stride == variable.size && bytes.is_multiple_of(outermost.bytes)
        });
        // All that the variable holds are the elements of one array.
        let innermost = leaf.dimensions.last().filter(|_| variable.leaf_count == 1 && leaf.byte == 0);
        let is_element = innermost.is_some_and(|innermost| {
            let of_elements = |dimension: &Dimension| dimension.bytes.is_multiple_of(innermost.bytes);
            bytes.is_multiple_of(innermost.bytes) && leaf.dimensions.iter().all(of_elements)
        });
        is_outermost || is_element
    };
    match of_leaf.filter(has_whole) {
        Some(_) => Target { exact: false, ..target },
        None => Target { byte: None, exact: false, ..target },
    }
}
