//! The PFG as a Graphviz graph.
//!
//! In: a program and the [`Annotations`] of a form. Out: DOT text: one cluster for each function, and a node for each block, cut
//! after forks and before joins so that the arms are in between. Solid edges are control flow. Dashed edges lead from a fork to
//! the entries of its threads, and from their returns to the join that waits for them.
//!
//! A fork belongs to the joins that it reaches without passing another one. Limitation: it does not see for which spawned thread
//! a `join(t)` waits; a spawned thread only has an incoming edge.

use super::print::{Annotations, Merge, Printer, Site};
use super::{BlockId, Function, FunctionId, Instruction, NewThread, Program, Terminator};
use cssame_source::SourceMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The DOT text of a program.
#[must_use]
pub fn dot_program(program: &Program, sources: &SourceMap, annotations: &dyn Annotations) -> String {
    let mut text =
        String::from("digraph pfg {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n");
    let mut threads = Vec::new();
    for id in program.functions.ids() {
        let printer = Printer::new(program, sources, id, annotations);
        let blocks = printer.layout();
        let _ = writeln!(text, "  subgraph cluster_{} {{\n    label={};", id.0, quoted(&printer.heading()));
        for &(block, _) in &blocks {
            write_block(&mut text, program, &printer, (id, block), annotations);
        }
        text.push_str("  }\n");
        for &(block, _) in &blocks {
            write_flow(&mut text, program, (id, block));
            threads.extend(thread_edges(program, id, block));
        }
    }
    threads.sort_unstable();
    threads.dedup();
    for (from, to) in threads {
        let _ = writeln!(text, "  {from} -> {to} [style=dashed];");
    }
    text.push_str("}\n");
    text
}

/// Where the pieces of a block begin: behind each instruction that makes threads, and at each one that waits for them.
fn pieces(program: &Program, (function, block): (FunctionId, BlockId)) -> Vec<usize> {
    let mut starts = vec![0];
    for (position, instruction) in program.functions[function].blocks[block].instructions.iter().enumerate() {
        match instruction {
            Instruction::Fork { .. } | Instruction::Spawn { .. } => starts.push(position + 1),
            Instruction::Join | Instruction::JoinThread { .. } => starts.push(position),
            _ => {}
        }
    }
    starts.dedup();
    starts
}

/// The name of the node that holds an instruction.
fn node((function, block): (FunctionId, BlockId), pieces: &[usize], position: usize) -> String {
    let piece = pieces.partition_point(|&start| start <= position) - 1;
    format!("f{}_b{}_{piece}", function.0, block.0)
}

fn write_block(
    text: &mut String,
    program: &Program,
    printer: &Printer<'_>,
    (function, block): (FunctionId, BlockId),
    annotations: &dyn Annotations,
) {
    let starts = pieces(program, (function, block));
    let count = program.functions[function].blocks[block].instructions.len();
    for (piece, &start) in starts.iter().enumerate() {
        let mut lines = Vec::new();
        if piece == 0 {
            lines.push(format!("b{}:", block.0));
            lines.extend(annotations.at_head(function, block).iter().map(Merge::text));
        }
        let end = starts.get(piece + 1).copied().unwrap_or(count + 1);
        for position in start..end {
            lines.extend(printer.site_lines(Site { function, block, position }));
        }
        // Each line ends in \l, which aligns it left.
        let label: String = lines.iter().map(|line| format!("{}\\l", escaped(line))).collect();
        let _ = writeln!(text, "    f{}_b{}_{piece} [label=\"{label}\"];", function.0, block.0);
    }
}

fn write_flow(text: &mut String, program: &Program, (function, block): (FunctionId, BlockId)) {
    let last = pieces(program, (function, block)).len() - 1;
    for piece in 0..last {
        let name = format!("f{}_b{}", function.0, block.0);
        let _ = writeln!(text, "  {name}_{piece} -> {name}_{};", piece + 1);
    }
    let terminator = &program.functions[function].blocks[block].terminator;
    let labels = match terminator {
        Terminator::Branch { .. } => [" [label=T]", " [label=F]"],
        Terminator::Jump(_) | Terminator::Return(_) | Terminator::End(_) => ["", ""],
    };
    for (target, label) in terminator.successors().zip(labels) {
        let _ = writeln!(text, "  f{}_b{}_{last} -> f{}_b{}_0{label};", function.0, block.0, function.0, target.0);
    }
}

/// The edges between the threads that a block makes and the block, and the joins that wait for them.
fn thread_edges(program: &Program, function: FunctionId, block: BlockId) -> Vec<(String, String)> {
    let mut edges = Vec::new();
    // Found once for a block: looking for them takes a walk through its instructions.
    let mut known: FxHashMap<BlockId, Vec<usize>> = FxHashMap::default();
    let mut node_at = |block, position| {
        let pieces = known.entry(block).or_insert_with(|| pieces(program, (function, block)));
        node((function, block), pieces, position)
    };
    for (position, instruction) in program.functions[function].blocks[block].instructions.iter().enumerate() {
        let entry = |callee: FunctionId| format!("f{}_b0_0", callee.0);
        match instruction {
            Instruction::Spawn { thread, .. } => edges.push((node_at(block, position), entry(thread.function))),
            Instruction::Fork { threads, .. } => {
                let from = node_at(block, position);
                let joins = joins_after(&program.functions[function], block, position + 1);
                let joins: Vec<String> = joins.into_iter().map(|(block, position)| node_at(block, position)).collect();
                for function in threads.iter().flat_map(NewThread::functions) {
                    edges.push((from.clone(), entry(function)));
                    for end in returns(program, function) {
                        edges.extend(joins.iter().map(|join| (end.clone(), join.clone())));
                    }
                }
            }
            _ => {}
        }
    }
    edges
}

/// The joins (block and position) that are reached from there without passing another join.
pub fn joins_after(function: &Function, block: BlockId, position: usize) -> Vec<(BlockId, usize)> {
    let mut joins = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = vec![(block, position)];
    while let Some((block, first)) = work.pop() {
        let content = &function.blocks[block];
        let mut later = content.instructions.iter().enumerate().skip(first);
        if let Some((position, _)) = later.find(|(_, instruction)| matches!(instruction, Instruction::Join)) {
            joins.push((block, position));
        } else {
            work.extend(content.terminator.successors().filter(|&next| seen.insert(next)).map(|next| (next, 0)));
        }
    }
    joins
}

/// The nodes that return from a function, those that the entry does not reach left out.
fn returns(program: &Program, function: FunctionId) -> Vec<String> {
    let blocks = &program.functions[function].blocks;
    let order = super::flow::reverse_postorder(&program.functions[function], super::flow::Successors::InOrder);
    let ends = order.into_iter().filter(|&block| matches!(blocks[block].terminator, Terminator::Return(_)));
    let node_at_end =
        |block: BlockId| node((function, block), &pieces(program, (function, block)), blocks[block].instructions.len());
    ends.map(node_at_end).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}
