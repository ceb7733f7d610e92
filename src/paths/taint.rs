//! Sets of operations from which a value is computed, shared between values.
//!
//! **Input**: operations, and unions of sets. **Output**: [`Taints`], which numbers sets, and lists the members of a set.
//!
//! **Algorithm**: a set is empty, one operation, or the union of two earlier sets. So a union takes constant time, whatever its
//! size. The members are found by a traversal that visits each union once.

use super::ids::ActionId;
use rustc_hash::FxHashSet;

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taint(u32);

impl Taint {
    /// The empty set.
    pub const NONE: Taint = Taint(0);

    /// Whether it has no member.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Taint::NONE
    }
}

#[derive(Clone, Copy, Debug)]
enum Node {
    One(ActionId),
    Union(Taint, Taint),
}

/// The sets of one execution.
#[derive(Clone, Debug, Default)]
pub struct Taints {
    /// The set of number `n + 1`.
    nodes: Vec<Node>,
}

impl Taints {
    /// A set of one operation.
    pub fn one(&mut self, action: ActionId) -> Taint {
        self.push(Node::One(action))
    }

    /// The members of both.
    pub fn union(&mut self, a: Taint, b: Taint) -> Taint {
        if a == b || b.is_empty() {
            a
        } else if a.is_empty() {
            b
        } else {
            self.push(Node::Union(a, b))
        }
    }

    fn push(&mut self, node: Node) -> Taint {
        self.nodes.push(node);
        Taint(self.nodes.len() as u32)
    }

    /// Adds the members of a set to a list, except for those of sets that were seen before.
    pub fn collect(&self, set: Taint, seen: &mut FxHashSet<u32>, into: &mut Vec<ActionId>) {
        let mut waiting = vec![set];
        while let Some(set) = waiting.pop() {
            if set.is_empty() || !seen.insert(set.0) {
                continue;
            }
            match self.nodes[set.0 as usize - 1] {
                Node::One(action) => into.push(action),
                Node::Union(a, b) => waiting.extend([b, a]),
            }
        }
    }
}
