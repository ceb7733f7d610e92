//! A program without output, for questions that ignore the output.
//!
//! **Input**: a program, its visible accesses, and its machine. **Output**: a program with its machine whose executions are those
//! of the whole program without its prints, and a conversion of the findings back.
//!
//! **Algorithm**:
//! 1. Local work without effect replaces each `print`. So states that differ only in their output count as one, printing threads
//!    may be interchangeable, and slices need not contain the printed values.
//! 2. Schedules are repeated in the whole program ([`replay`](super::replay)), with the prints in their places.
//!
//! **Soundness and limits**: a print decides nothing: it reads no memory, cannot fail, and waits for no thread. A loop that
//! prints has a step in each iteration, and none without the print. If this matters, local work reaches its limit, the conversion
//! back fails, and the whole program has to be searched.

use super::Preserved;
use super::program::Slice;
use super::replay::Replay;
use crate::answer::{Answer, FailureWitness};
use crate::deadlock::{Deadlock, blocked_threads};
use cssame_concurrency::Sharing;
use cssame_ir::{Instruction, Operand, Program, ReadId, Register, RegisterType, ScalarType, Value};
use cssame_source::Span;
use cssame_vm::{Machine, Progress, Tables, Visibility};

/// A program without its prints.
pub(crate) struct Silent {
    slice: Slice,
    pub(crate) machine: Machine,
}

/// Functions, arms of threads among them, beyond which executions take too long to be done again.
const MAX_FUNCTIONS: usize = 500;

impl Silent {
    /// Takes out the prints; `None` where there are none, or the program is too large.
    pub(crate) fn new(program: &Program, sharing: &Sharing, whole: &Machine) -> Option<Silent> {
        if program.functions.len() > MAX_FUNCTIONS {
            return None;
        }
        let program = without_prints(program)?;
        let visible = Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() };
        let machine = Machine::with_options(&program, &visible, *whole.options());
        let steps = Visibility::none(&program);
        let kept = program.reads.ids().map(ReadId::index).collect();
        Some(Silent { slice: Slice { program, visible, kept, steps, is_smaller: true }, machine })
    }

    /// The program without its prints.
    pub(crate) fn program(&self) -> &Program {
        &self.slice.program
    }

    /// Puts what was found without prints into terms of the whole program. `None` where an execution is none of it.
    pub(crate) fn in_whole(&self, whole: &Machine, mut answer: Answer) -> Option<Answer> {
        let (slice, parts) = (&self.machine, &self.slice);
        let replay = Replay { whole, slice, parts, preserved: Preserved::Reads, dropped: None };
        let tables = &mut Tables::new();
        for term in &mut answer.terms {
            let Some(schedule) = &mut term.schedule else { continue };
            let replayed = replay.run(schedule, Some((term.read, term.definition, term.step)), tables)?;
            (*schedule, term.step) = (replayed.schedule, replayed.seen?);
        }
        for FailureWitness { failure, path, schedule } in &mut answer.failures {
            let replayed = replay.run(schedule, None, tables)?;
            let Progress::Failed(found) = replayed.progress else { return None };
            if found.kind.is_limit() {
                return None;
            }
            (*failure, *path, *schedule) = (found, replayed.state.path(found.thread), replayed.schedule);
        }
        for Deadlock { threads, schedule } in &mut answer.deadlocks {
            let replayed = replay.run(schedule, None, tables)?;
            if !whole.is_deadlock(&replayed.state) {
                return None;
            }
            (*threads, *schedule) = (blocked_threads(whole, tables, &replayed.state), replayed.schedule);
        }
        let again = |open: &Vec<_>| replay.run(open, None, tables).map(|replayed| replayed.schedule);
        answer.open = answer.open.iter().filter_map(again).collect();
        answer.tables = std::mem::take(tables);
        Some(answer)
    }
}

fn without_prints(program: &Program) -> Option<Program> {
    let prints = |instruction: &Instruction| matches!(instruction, Instruction::Print { .. });
    let mut made: Option<Program> = None;
    for (id, function) in program.functions.entries() {
        let has = function.blocks.iter().any(|block| block.instructions.iter().any(prints));
        if !has {
            continue;
        }
        let function = &mut made.get_or_insert_with(|| program.clone()).functions[id];
        let ty = RegisterType::Scalar(ScalarType::Int);
        let dest = function.registers.push(Register { name: None, span: Span::default(), ty, pointee: None });
        for block in function.blocks.iter_mut() {
            for instruction in block.instructions.iter_mut().filter(|one| prints(one)) {
                *instruction = Instruction::Copy { dest, source: Operand::Constant(Value::Int(0)) };
            }
        }
    }
    made
}
