//! Regions: the code that one monitor protects, and atomic blocks.
//!
//! In: the tree of a function, and the locks that are monitors. Out: the tree with a node for each region.

use super::locks::{Monitors, region_end};
use super::tree::{At, Node};
use cssame_ir::sync::Kind;
use cssame_ir::{FunctionId, Instruction, Program};

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
