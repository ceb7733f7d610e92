//! The statements of a function in the nesting of Java.
//!
//! In: the structured control flow of a function ([`cssame_ir::structure`]). Out: a tree whose leaves are single instructions.

use cssame_ir::structure::{Label, Structured};
use cssame_ir::{BlockId, Function, Operand, RegisterId};

/// The instruction of that number of a block.
pub(super) type At = (BlockId, u32);

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// An instruction.
    Instruction(At),
    /// `synchronized`, between two instructions.
    Region { begin: At, end: At, body: Vec<Node> },
    /// `if`; the block is that whose terminator it is.
    If { block: BlockId, condition: Operand, negated: bool, then: Vec<Node>, otherwise: Vec<Node> },
    /// `while (true)`
    Loop { label: Option<Label>, body: Vec<Node> },
    /// `while`; all instructions of the block are folded into the condition.
    While { label: Option<Label>, block: BlockId, condition: Operand, negated: bool, body: Vec<Node> },
    /// A block that is left by its label.
    Labelled { label: Label, body: Vec<Node> },
    /// `break`
    Break(Option<Label>),
    /// `continue`
    Continue(Option<Label>),
    /// `return`
    Return { block: BlockId, value: Option<Operand> },
    /// The declaration of a variable that several statements behind it use.
    Declare(RegisterId),
}

/// What a jump may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leavable {
    label: Option<Label>,
    is_loop: bool,
}

impl Node {
    /// The sequences of statements in it.
    pub(super) fn children(&self) -> impl Iterator<Item = &[Node]> {
        let (first, second) = match self {
            Node::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            Node::Region { body, .. }
            | Node::Loop { body, .. }
            | Node::While { body, .. }
            | Node::Labelled { body, .. } => (Some(body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second).map(Vec::as_slice)
    }

    /// The same, to be changed.
    pub(super) fn children_mut(&mut self) -> impl Iterator<Item = &mut Vec<Node>> {
        let (first, second) = match self {
            Node::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            Node::Region { body, .. }
            | Node::Loop { body, .. }
            | Node::While { body, .. }
            | Node::Labelled { body, .. } => (Some(body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// What a jump inside of it may leave.
    pub(super) fn leavable(&self) -> Option<Leavable> {
        match self {
            Node::Loop { label, .. } | Node::While { label, .. } => Some(Leavable { label: *label, is_loop: true }),
            Node::Labelled { label, .. } => Some(Leavable { label: Some(*label), is_loop: false }),
            _ => None,
        }
    }

    /// The place in a list of what lies around it, outermost first, of what a jump leaves.
    pub(super) fn left(&self, around: &[Leavable]) -> Option<usize> {
        match self {
            Node::Break(None) | Node::Continue(None) => around.iter().rposition(|of| of.is_loop),
            Node::Break(label) | Node::Continue(label) => around.iter().rposition(|of| of.label == *label),
            _ => None,
        }
    }
}

/// The tree of a function, without regions.
pub(super) fn tree(function: &Function, statements: &[Structured]) -> Vec<Node> {
    let mut nodes = Vec::new();
    for statement in statements {
        match statement {
            Structured::Block(block) => {
                let count = function.blocks[*block].instructions.len() as u32;
                nodes.extend((0..count).map(|number| Node::Instruction((*block, number))));
            }
            Structured::If { block, condition, negated, then, otherwise } => {
                let (then, otherwise) = (tree(function, then), tree(function, otherwise));
                nodes.push(Node::If { block: *block, condition: *condition, negated: *negated, then, otherwise });
            }
            Structured::Loop { label, body } => nodes.push(Node::Loop { label: *label, body: tree(function, body) }),
            Structured::While { label, block, condition, negated, body } => nodes.push(Node::While {
                label: *label,
                block: *block,
                condition: *condition,
                negated: *negated,
                body: tree(function, body),
            }),
            Structured::Labelled { label, body } => {
                nodes.push(Node::Labelled { label: *label, body: tree(function, body) });
            }
            Structured::Break(label) => nodes.push(Node::Break(*label)),
            Structured::Continue(label) => nodes.push(Node::Continue(*label)),
            Structured::Return { block, value } => nodes.push(Node::Return { block: *block, value: *value }),
        }
    }
    nodes
}
