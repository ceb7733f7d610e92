//! Atomic blocks run in one step, so they must not contain operations that block, create threads or wait for them.
//!
//! In: the lowered program. Out: an error (CS0308) for each such operation in an atomic block, including operations in callees.

use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::sync::Blocking;
use cssame_ir::{BlockId, Function, FunctionId, Instruction, Program};
use cssame_source::Span;

/// Finds blocking operations in atomic blocks.
pub(super) fn check_atomic_blocks(program: &Program) -> Vec<Diagnostic> {
    let atomic = |function: &Function| {
        function
            .blocks
            .iter()
            .flat_map(|block| &block.instructions)
            .any(|each| matches!(each, Instruction::AtomicBegin))
    };
    if !program.functions.iter().any(atomic) {
        return Vec::new();
    }
    let blocking = blocking_functions(program);
    let mut diagnostics = Vec::new();
    for function in program.functions.iter().filter(|function| atomic(function)) {
        check_function(program, function, &blocking, &mut diagnostics);
    }
    diagnostics
}

/// For each function, the place of an operation that it may block at, its own or that of a function that it calls.
fn blocking_functions(program: &Program) -> Vec<Option<Span>> {
    let mut blocking: Vec<Option<Span>> = program.functions.iter().map(own_blocking_operation).collect();
    loop {
        let mut changed = false;
        for (id, function) in program.functions.entries() {
            if blocking[id.index()].is_none() {
                blocking[id.index()] = calls(function).find_map(|callee| blocking[callee.index()]);
                changed |= blocking[id.index()].is_some();
            }
        }
        if !changed {
            return blocking;
        }
    }
}

fn own_blocking_operation(function: &Function) -> Option<Span> {
    let instructions = function.blocks.iter().flat_map(|block| block.instructions.iter().zip(&block.spans));
    instructions.filter(|(instruction, _)| blocks(instruction)).map(|(_, span)| *span).next()
}

fn calls(function: &Function) -> impl Iterator<Item = FunctionId> {
    function.blocks.iter().flat_map(|block| &block.instructions).filter_map(|instruction| match instruction {
        Instruction::Call { function, .. } => Some(*function),
        _ => None,
    })
}

fn blocks(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Synchronise(operation) => {
            let properties = operation.kind.properties();
            properties.blocking != Blocking::Never || properties.chooses
        }
        Instruction::Fork { .. }
        | Instruction::Join
        | Instruction::Spawn { .. }
        | Instruction::JoinThread { .. }
        | Instruction::Choose { .. }
        | Instruction::AtomicBegin => true,
        _ => false,
    }
}

/// Follows the blocks from each atomic begin to its end; atomic blocks are left at their end only.
fn check_function(
    program: &Program,
    function: &Function,
    blocking: &[Option<Span>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut inside = vec![false; function.blocks.len()];
    let mut seen = vec![false; function.blocks.len()];
    let mut waiting = vec![BlockId(0)];
    seen[0] = true;
    while let Some(id) = waiting.pop() {
        let block = &function.blocks[id];
        let mut atomic = inside[id.index()];
        for (instruction, &span) in block.instructions.iter().zip(&block.spans) {
            match instruction {
                Instruction::AtomicBegin if !atomic => atomic = true,
                Instruction::AtomicEnd => atomic = false,
                _ if !atomic => {}
                Instruction::Call { function: callee, .. } => {
                    if let Some(operation) = blocking[callee.index()] {
                        let name = program.texts.get(program.functions[*callee].name);
                        let message = format!("`{name}` may block or choose inside an atomic block");
                        diagnostics.push(report(span, message).with_label(operation, "this operation"));
                    }
                }
                _ if blocks(instruction) => {
                    diagnostics
                        .push(report(span, "this operation may block or choose inside an atomic block".to_owned()));
                }
                _ => {}
            }
        }
        for target in block.terminator.successors() {
            if !std::mem::replace(&mut seen[target.index()], true) {
                inside[target.index()] = atomic;
                waiting.push(target);
            }
        }
    }
}

fn report(span: Span, message: String) -> Diagnostic {
    Diagnostic::error(Code::BlockingInAtomic, span, message, "an atomic block runs in one step")
        .with_help("move it out of the atomic block, or protect the block by a lock instead")
}
