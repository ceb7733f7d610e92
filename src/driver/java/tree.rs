//! The statements of a function as Java nests them.
//!
//! In: the structured control flow of a function ([`crate::ir::structure`]). Out: a tree whose leaves are single instructions, in
//! which what one monitor protects, and each atomic block, is a region of its own.

use super::locks::{Monitors, region_end};
use crate::ir::structure::{Label, Structured};
use crate::ir::sync::Kind;
use crate::ir::{BlockId, Function, FunctionId, Instruction, Operand, Program, RegisterId};

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

/// Makes regions of what a monitor protects, and of atomic blocks.
pub(super) fn regions(program: &Program, id: FunctionId, monitors: &Monitors, nodes: Vec<Node>) -> Vec<Node> {
    // By position of the end: what was begun before.
    let mut open: Vec<(usize, At, Vec<Node>)> = Vec::new();
    let mut done: Vec<Node> = Vec::new();
    let ends: Vec<Option<usize>> = (0..nodes.len()).map(|begin| end_of(program, id, monitors, &nodes, begin)).collect();
    for (position, mut node) in nodes.into_iter().enumerate() {
        for child in node.children_mut() {
            *child = regions(program, id, monitors, std::mem::take(child));
        }
        let Node::Instruction(at) = node else {
            done.push(node);
            continue;
        };
        if let Some((_, begin, outer)) = open.pop_if(|(end, ..)| *end == position) {
            let body = std::mem::replace(&mut done, outer);
            done.push(Node::Region { begin, end: at, body });
        } else if let Some(end) = ends[position] {
            open.push((end, at, std::mem::take(&mut done)));
        } else {
            done.push(node);
        }
    }
    // Regions nest, so this happens only where one was begun in another and ends behind it, which monitors never do.
    while let Some((_, begin, outer)) = open.pop() {
        let body = std::mem::replace(&mut done, outer);
        done.push(Node::Instruction(begin));
        done.extend(body);
    }
    done
}

/// The position of the instruction that ends the region which begins at a position.
fn end_of(program: &Program, id: FunctionId, monitors: &Monitors, nodes: &[Node], begin: usize) -> Option<usize> {
    let instruction = |node: &Node| match *node {
        Node::Instruction((block, number)) => Some(&program.functions[id].blocks[block].instructions[number as usize]),
        _ => None,
    };
    match instruction(nodes.get(begin)?)? {
        Instruction::AtomicBegin => {
            let is_end = |node: &Node| matches!(instruction(node), Some(Instruction::AtomicEnd));
            nodes[begin..].iter().position(is_end).map(|end| begin + end)
        }
        instruction => match monitors.of(program, id, instruction)? {
            (Kind::Lock, _) => region_end(program, id, nodes, begin),
            _ => None,
        },
    }
}
