//! CS0307: code that control cannot reach.
//!
//! **Input**: the flow graph of each function, called or not. **Output**: one warning for each run of unreachable instructions in
//! the order of the text, at its first instruction. `error` has no successor. Instructions of a closing brace (the release at the
//! end of a `synchronized` block, the end of an atomic block) are not in the program text and do not count.
//!
//! **Soundness and limits**: the module does not see conditions that are constant only in some calling context, and calls that
//! never return.

use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::{BlockId, Function, Instruction, Program};
use cssame_source::{SourceMap, Span};

/// Reports unreachable code.
pub(super) fn check(sources: &SourceMap, program: &Program) -> Vec<Diagnostic> {
    program.functions.iter().flat_map(|function| check_function(sources, function)).collect()
}

fn check_function(sources: &SourceMap, function: &Function) -> Vec<Diagnostic> {
    let reached = reached_blocks(function);
    let mut places: Vec<(Span, bool)> = Vec::new();
    for (id, block) in function.blocks.entries() {
        let mut live = reached[id.index()];
        for (instruction, &span) in block.instructions.iter().zip(&block.spans) {
            if sources.text(span).trim() != "}" && !matches!(instruction, Instruction::Join) {
                places.push((span, live));
            }
            live &= !matches!(instruction, Instruction::Error { .. });
        }
    }
    if places.iter().all(|&(_, live)| live) {
        return Vec::new();
    }
    // Of several instructions of one place, such as the releases at a `return`, one that runs is enough.
    places.sort_by_key(|&(span, live)| (span.start, !live, std::cmp::Reverse(span.end)));
    let mut found = Vec::new();
    let mut covered = 0;
    let mut before = true;
    for &(span, live) in &places {
        let inside = span.end <= covered;
        if live || !inside {
            if !live && before {
                found.push(report(span));
            }
            before = live;
        }
        if !live {
            covered = covered.max(span.end);
        }
    }
    found
}

fn report(span: Span) -> Diagnostic {
    Diagnostic::warning(Code::UnreachableCode, span, "this code is never reached", "control never comes here")
        .with_help("remove it, or change the `return`, `break`, `continue`, `error` or endless loop before it")
}

/// The blocks that can be reached from the entry, where `error` ends everything.
fn reached_blocks(function: &Function) -> Vec<bool> {
    let mut reached = vec![false; function.blocks.len()];
    let mut waiting = vec![BlockId(0)];
    if let Some(entry) = reached.first_mut() {
        *entry = true;
    } else {
        return reached;
    }
    while let Some(id) = waiting.pop() {
        let block = &function.blocks[id];
        if block.instructions.iter().any(|instruction| matches!(instruction, Instruction::Error { .. })) {
            continue;
        }
        for target in block.terminator.successors() {
            if !std::mem::replace(&mut reached[target.index()], true) {
                waiting.push(target);
            }
        }
    }
    reached
}
