//! The contents of the boxes of a picture.
//!
//! **Input**: the data of a program. **Output**: a [`Column`] for each function and thread, `main` first, with the lines of its blocks.

use super::locks::locks_held;
use crate::json::{BlockData, FunctionData, MergeData, ProgramData};
use std::collections::BTreeMap;

/// What a line of a box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The name of a block.
    Name,
    /// A function of versions.
    Merge,
    /// An instruction.
    Instruction,
}

/// A line of a box.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it says.
    pub text: String,
    /// What it is.
    pub kind: LineKind,
    /// The locks that are held there, as far as the function takes them itself.
    pub locks: Vec<String>,
}

/// A block.
pub(super) struct Content {
    /// Its number in its function.
    pub(super) block: u32,
    pub(super) lines: Vec<Line>,
    /// For each instruction its line.
    pub(super) line_of: Vec<usize>,
    /// The pi functions: their line, and which instruction they stand before.
    pub(super) pis: Vec<(usize, MergeData)>,
    /// Columns of the same frame that may come next, by their places in it.
    pub(super) successors: Vec<usize>,
}

/// A function or a thread.
pub(super) struct Column {
    pub(super) function: u32,
    pub(super) title: String,
    pub(super) boxes: Vec<Content>,
}

/// All functions and threads, `main` first.
pub(super) fn columns(data: &ProgramData) -> Vec<Column> {
    let mut functions: Vec<&FunctionData> = data.functions.iter().collect();
    functions.sort_by_key(|function| (function.kind != "main", function.id));
    functions.into_iter().map(column).collect()
}

fn column(of: &FunctionData) -> Column {
    let kind = if of.kind == "arm" { "thread" } else { of.kind };
    let title = if of.kind == "main" { of.name.clone() } else { format!("{} ({kind})", of.name) };
    let reachable: Vec<&BlockData> = of.blocks.iter().filter(|block| block.reachable).collect();
    let places: BTreeMap<u32, usize> = reachable.iter().enumerate().map(|(at, block)| (block.id, at)).collect();
    let held = locks_held(of);
    let boxes = reachable.iter().map(|block| {
        let successors = block.successors.iter().filter_map(|next| places.get(next).copied()).collect();
        content(block, held.get(&block.id).map_or(&[], Vec::as_slice), successors)
    });
    Column { function: of.id, title, boxes: boxes.collect() }
}

fn content(block: &BlockData, held: &[Vec<String>], successors: Vec<usize>) -> Content {
    let name = Line { text: format!("b{}:", block.id), kind: LineKind::Name, locks: Vec::new() };
    let mut one = Content { block: block.id, lines: vec![name], line_of: Vec::new(), pis: Vec::new(), successors };
    let locks_at = |at: usize| held.get(at).cloned().unwrap_or_default();
    block.merges.iter().for_each(|merge| one.merge(merge, locks_at(0)));
    for (at, instruction) in block.instructions.iter().enumerate() {
        instruction.before.iter().for_each(|merge| one.merge(merge, locks_at(at)));
        one.line_of.push(one.lines.len());
        let (text, kind) = (instruction.text.clone(), LineKind::Instruction);
        one.lines.push(Line { text, kind, locks: locks_at(at) });
        instruction.after.iter().for_each(|merge| one.merge(merge, locks_at(at)));
    }
    one
}

impl Content {
    fn merge(&mut self, merge: &MergeData, locks: Vec<String>) {
        if merge.function == "pi" {
            self.pis.push((self.lines.len(), merge.clone()));
        }
        let arguments: Vec<&str> = merge.arguments.iter().map(|argument| argument.version.as_str()).collect();
        let text = format!("{} = {}({})", merge.version, merge.function, arguments.join(", "));
        self.lines.push(Line { text, kind: LineKind::Merge, locks });
    }
}
