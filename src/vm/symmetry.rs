//! Threads that can be taken for one another.
//!
//! In: a state. Out: words that are the same for two states if the one comes of the other by exchanging iterations of a
//! `parfor` (Ip and Dill: "Better Verification Through Symmetry", 1996; Emerson and Sistla, 1996). The threads that may be
//! exchanged are listed by what they are about to do, in sorted order, without their numbers and names; a lock that one of
//! them holds is written down with its holder. Everything else is written as it is. So equal words mean that there is such
//! an exchange, and two states of which one comes of the other have the same futures, but for the names of those threads.
//!
//! Only the body of a `parfor` that neither prints nor makes threads is taken so: then no name of it is seen, no
//! thread points to it, and no handle. A body that asks for the number of its iteration is left out: it would seldom be like
//! another one, and sorting takes time.
//!
//! It does not see exchanges that take memory along, such as those of threads that each use an element of an array.

use super::encode::pair;
use super::liveness;
use super::machine::Machine;
use super::state::{NO_THREAD, State, Thread, ThreadStatus};
use crate::ir::{FunctionId, Instruction, Program, RegisterId, RegisterType};

/// The words, and room to sort in.
#[derive(Clone, Debug, Default)]
pub(super) struct Canonical {
    words: Vec<u64>,
    /// What the threads that may be exchanged are about to do, one behind the other, and where each begins and ends.
    contents: Vec<u64>,
    ranges: Vec<(u32, u32)>,
    /// By thread: whether it may be exchanged.
    exchangeable: Vec<bool>,
    /// Locks that such threads hold: the thread and the address.
    held: Vec<(u16, u32)>,
}

impl Canonical {
    /// Nothing where threads are not taken for one another.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Stands for the holder of a lock that may be exchanged.
const SOMEBODY: u64 = u64::MAX;

impl Machine {
    pub(super) fn encode_up_to_symmetry(&self, state: &State, out: &mut Canonical) {
        let Canonical { words, contents, ranges, exchangeable, held } = out;
        exchangeable.clear();
        exchangeable.extend(state.threads.iter().map(|thread| self.may_be_exchanged(state, thread)));
        words.clear();
        words.push(pair(state.cells.len() as u32, state.blocks.len() as u32));
        let exclusive = exchangeable.get(usize::from(state.exclusive)).is_none_or(|&may| !may);
        let holder = if exclusive { u32::from(state.exclusive) } else { u32::from(NO_THREAD) + 1 };
        words.push(pair(holder, state.closed.len() as u32));
        self.encode_cells(state, exchangeable, held, words);
        for block in &state.blocks {
            words.extend([pair(block.start, block.size), u64::from(block.variable)]);
        }
        words.extend(state.closed.iter().map(|closed| pair(closed.path.0, closed.output.0)));
        contents.clear();
        ranges.clear();
        for (index, thread) in state.threads.iter().enumerate() {
            if thread.status == ThreadStatus::Free {
                continue;
            }
            if !exchangeable[index] {
                words.push(index as u64);
                self.encode_thread(state, thread, words);
                continue;
            }
            let start = contents.len();
            self.encode_thread(state, thread, contents);
            // The second word is its name.
            contents[start + 1] = u64::from(usize::from(state.exclusive) == index);
            let locks = held.iter().filter(|(holder, _)| usize::from(*holder) == index);
            contents.extend(locks.map(|&(_, address)| u64::from(address)));
            ranges.push((start as u32, contents.len() as u32));
        }
        let content = |&(start, end): &(u32, u32)| &contents[start as usize..end as usize];
        ranges.sort_unstable_by(|left, right| content(left).cmp(content(right)));
        for range in &*ranges {
            words.push(SOMEBODY - 1 - u64::from(range.1 - range.0));
            words.extend(content(range));
        }
    }

    fn encode_cells(&self, state: &State, exchangeable: &[bool], held: &mut Vec<(u16, u32)>, words: &mut Vec<u64>) {
        held.clear();
        let start = words.len();
        words.extend(state.cells.iter().map(|cell| cell.value as u64));
        self.layout.each_lock(&state.blocks, |address| {
            let holder = usize::try_from(state.cells[address as usize].value - 1).unwrap_or(usize::MAX);
            if exchangeable.get(holder) == Some(&true) {
                held.push((holder as u16, address));
                words[start + address as usize] = SOMEBODY;
            }
        });
        held.sort_unstable();
        words.extend(state.cells.iter().map(|cell| u64::from(cell.writer)));
    }

    fn may_be_exchanged(&self, state: &State, thread: &Thread) -> bool {
        let in_play = !matches!(thread.status, ThreadStatus::Free | ThreadStatus::Ended);
        in_play && !thread.spawned && self.compiled.symmetric[self.root_function(state, thread).index()]
    }

    /// The function that a thread has begun with.
    fn root_function(&self, state: &State, thread: &Thread) -> FunctionId {
        let (mut frame, mut at) = (thread.frame, thread.pc);
        for _ in 0..thread.depth {
            at = (state.stack[(thread.base + frame) as usize] as u32).wrapping_sub(1);
            let function = self.compiled.origins[at as usize].function;
            frame -= self.compiled.functions[function].frame_size;
        }
        self.compiled.origins[at as usize].function
    }
}

/// By function: whether it is the body of a `parfor` that neither prints nor makes threads nor asks for its number.
pub(super) fn symmetric_functions(program: &Program) -> Vec<bool> {
    let mut bodies = vec![false; program.functions.len()];
    let instructions = program.functions.iter().flat_map(|function| function.blocks.iter());
    for instruction in instructions.flat_map(|block| &block.instructions) {
        if let Instruction::Fork { threads, .. } = instruction {
            for thread in threads.iter().filter(|thread| thread.ordinal.is_some()) {
                bodies[thread.function.index()] = true;
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
        liveness::terminator_uses(&block.terminator, &mut note);
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
