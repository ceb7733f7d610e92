//! Determines which iterations of a `parfor` are interchangeable.
//!
//! **Input**: a program. **Output**: for each function, whether it is the body of a `parfor` whose iterations differ only in
//! their numbers: their actions depend on the live values, not on the iteration.
//!
//! **Algorithm**: a body counts if neither it nor its callees print or create threads, so that no name of an iteration is
//! visible, and no thread and no handle refers to it; and if it does not use the number of its iteration.
//!
//! **Soundness and limits**: iterations that use their number, such as those that each work on an element of an array, are left
//! out. They would rarely be equal, and sorting takes time.

use cssame_ir::{FunctionId, Instruction, Program, RegisterId, RegisterType};

/// By function: whether it is the body of a `parfor` that neither prints nor makes threads nor asks for its number.
#[must_use]
pub fn bodies(program: &Program) -> Vec<bool> {
    let mut bodies = vec![false; program.functions.len()];
    let instructions = program.functions.iter().flat_map(|function| function.blocks.iter());
    for instruction in instructions.flat_map(|block| &block.instructions) {
        if let Instruction::Fork { threads, .. } = instruction {
            for thread in threads.iter().filter(|thread| thread.ordinal.is_some()) {
                thread.functions().for_each(|function| bodies[function.index()] = true);
            }
        }
    }
    (0..bodies.len()).map(|body| bodies[body] && is_like_others(program, FunctionId::new(body))).collect()
}

fn is_like_others(program: &Program, body: FunctionId) -> bool {
    let function = &program.functions[body];
    let mut uses_value = false;
    let mut note = |register: RegisterId| {
        let is_value = function.registers[register].ty != RegisterType::Reference;
        uses_value |= is_value && function.parameters.contains(&register);
    };
    for block in function.blocks.iter() {
        block.instructions.iter().for_each(|instruction| instruction.uses(&mut note));
        block.terminator.register().into_iter().for_each(&mut note);
    }
    !uses_value && is_quiet(program, body)
}

/// Whether a function, and all that it calls, neither prints nor makes threads.
fn is_quiet(program: &Program, function: FunctionId) -> bool {
    let mut seen = vec![false; program.functions.len()];
    let mut work = vec![function];
    while let Some(function) = work.pop() {
        if std::mem::replace(&mut seen[function.index()], true) {
            continue;
        }
        for instruction in program.functions[function].blocks.iter().flat_map(|block| &block.instructions) {
            match instruction {
                Instruction::Print { .. } | Instruction::Fork { .. } | Instruction::Spawn { .. } => return false,
                Instruction::Call { function, .. } => work.push(*function),
                _ => {}
            }
        }
    }
    true
}
