//! Finds the places where threads skipped an operation that would have released a blocked thread.
//!
//! **Input**: the branches and calls of an execution, and the reason why a thread is blocked at its end.
//!
//! **Output**: for each ended thread, the last branch at which it skipped an operation that releases the blocked thread: a
//! notification of its condition, a `set` of its event, a `V` of its semaphore, an arrival at its barrier, an `unlock` of its
//! lock ([`Branches::passed`]).
//!
//! **Algorithm**.
//!
//! 1. For each branch and direction that a thread has taken, the last time is kept, with the references of the call.
//! 2. A branch skips the operation if the direction not taken can reach the operation without returning to the branch, and the
//!    direction taken cannot reach it.
//! 3. The last such branch of a thread counts, unless the thread executed such an operation on the object after it.
//!
//! **Soundness and limits**. Every reported branch is correct: an operation counts only if its object is certainly the one in
//! question. It must be a global, or a part of an argument of the call, without an index or with a constant index. Objects behind
//! references that a thread was created with, or behind a computed index, are not found. Only the last [`MAX_PASSED`] threads
//! count.

use super::naming::Naming;
use cssame_ir::sync::{Kind, Synchronisation};
use cssame_ir::{
    Base, BlockId, Function, FunctionId, Instruction, Operand, Place, RegisterId, RegisterType, Terminator,
};
use cssame_source::Span;
use cssame_vm::{CodeIndex, Event, Observer, Obstacle, PathId, ThreadName};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Threads that are said to have passed by one object.
const MAX_PASSED: usize = 3;

/// Calls that an operation is looked for in, below a branch.
const MAX_CALLS: usize = 100;

/// The references that a call was given, by register; those that are not known are missing.
type References = Vec<(RegisterId, u32)>;

/// A branch that a thread has come to, the way that it went, and what the references of the call were.
type Turn = (CodeIndex, bool, Rc<References>);

/// What a thread has done.
#[derive(Default)]
struct Done {
    calls: Vec<Rc<References>>,
    /// When it went which way last, and the row of its that comes before.
    turns: FxHashMap<Turn, (usize, Option<usize>)>,
    /// When it did an operation on an object last.
    operations: FxHashMap<(Kind, Option<u32>), usize>,
    is_ended: bool,
}

/// A branch at which a thread has left an operation aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The thread.
    pub thread: PathId,
    /// The branch.
    pub at: CodeIndex,
    /// The operation.
    pub operation: Span,
    /// The last row of the thread before the branch, where rows were told of.
    pub row: Option<usize>,
    order: usize,
}

/// The branches of an execution, as it goes on.
pub struct Branches<'a> {
    naming: Naming<'a>,
    threads: FxHashMap<PathId, Done>,
    now: usize,
}

impl<'a> Branches<'a> {
    /// Nothing has happened.
    #[must_use]
    pub fn new(naming: Naming<'a>) -> Branches<'a> {
        Branches { naming, threads: FxHashMap::default(), now: 0 }
    }

    /// Notes the way that a thread goes at a branch, and its last row before that.
    pub fn turn(&mut self, thread: PathId, at: CodeIndex, holds: bool, row: Option<usize>) {
        self.now += 1;
        let done = self.threads.entry(thread).or_default();
        let references = done.calls.last().cloned().unwrap_or_default();
        done.turns.insert((at, holds, references), (self.now, row));
    }

    /// Notes a call of a thread.
    pub fn enter(&mut self, thread: PathId, function: FunctionId, arguments: &[i64]) {
        let function = &self.naming.program.functions[function];
        let is_reference = |register: RegisterId| function.registers[register].ty == RegisterType::Reference;
        let references = function.parameters.iter().zip(arguments).filter(|&(&register, _)| is_reference(register));
        let known = references.filter_map(|(&register, &bits)| Some((register, u32::try_from(bits).ok()?))).collect();
        self.threads.entry(thread).or_default().calls.push(Rc::new(known));
    }

    /// Notes that a thread leaves a function.
    pub fn exit(&mut self, thread: PathId) {
        self.threads.entry(thread).or_default().calls.pop();
    }

    /// Notes an event of a thread.
    pub fn remember(&mut self, thread: PathId, event: Event) {
        self.now += 1;
        let (kind, object) = match event {
            Event::Notify { condition: Some(address), .. } => (Kind::Notify, Some(address)),
            Event::Notify { condition: None, .. } => (Kind::NotifyBare, None),
            Event::Set { address, .. } => (Kind::Set, Some(address)),
            Event::Release { address, .. } => (Kind::Release, Some(address)),
            Event::Arrive { address, .. } => (Kind::Barrier, Some(address)),
            Event::Unlock { address, .. } => (Kind::Unlock, Some(address)),
            Event::End { .. } => {
                self.threads.entry(thread).or_default().is_ended = true;
                return;
            }
            _ => return,
        };
        self.threads.entry(thread).or_default().operations.insert((kind, object), self.now);
    }

    /// Step 3: who has passed by what would let a blocked thread go on, in the order in which they did.
    #[must_use]
    pub fn passed(&self, obstacle: &Obstacle) -> Vec<Passed> {
        let Some(duty) = Duty::of(obstacle) else { return Vec::new() };
        let mut found: Vec<Passed> = self
            .threads
            .iter()
            .filter(|(_, done)| done.is_ended)
            .filter_map(|(&thread, done)| self.last_turn(thread, done, duty))
            .collect();
        found.sort_by_key(|passed| passed.order);
        found.drain(..found.len().saturating_sub(MAX_PASSED));
        found
    }

    fn last_turn(&self, thread: PathId, done: &Done, duty: Duty) -> Option<Passed> {
        let since = done.operations.get(&(duty.kind, duty.object)).copied().unwrap_or(0);
        let mut turns: Vec<_> = done.turns.iter().filter(|&(_, &(order, _))| order > since).collect();
        turns.sort_by_key(|&(_, &(order, _))| std::cmp::Reverse(order));
        turns.into_iter().find_map(|((at, holds, references), &(order, row))| {
            let operation = self.left_aside(*at, *holds, references, duty)?;
            Some(Passed { thread, at: *at, operation, row, order })
        })
    }

    /// Step 2: the operation that a branch has passed by.
    fn left_aside(&self, at: CodeIndex, holds: bool, references: &References, duty: Duty) -> Option<Span> {
        let origin = self.naming.machine.origin(at);
        let function = &self.naming.program.functions[origin.function];
        let Terminator::Branch { then_block, else_block, .. } = function.blocks[origin.block].terminator else {
            return None;
        };
        let (taken, other) = if holds { (then_block, else_block) } else { (else_block, then_block) };
        let search = |from| {
            let blocks = reached(function, from, origin.block);
            self.find(function, &blocks, references, duty, &mut FxHashSet::default())
        };
        search(other).filter(|_| search(taken).is_none())
    }

    /// The first such operation in some blocks of a function, or in what they call.
    fn find(
        &self,
        function: &Function,
        blocks: &[BlockId],
        references: &References,
        duty: Duty,
        seen: &mut FxHashSet<(FunctionId, References)>,
    ) -> Option<Span> {
        let within = blocks.iter().flat_map(|&block| {
            let block = &function.blocks[block];
            block.instructions.iter().zip(&block.spans)
        });
        within.into_iter().find_map(|(instruction, &span)| match instruction {
            Instruction::Synchronise(operation) => self.is(function, operation, references, duty).then_some(span),
            Instruction::Call { function: id, arguments, .. } => {
                let callee = &self.naming.program.functions[*id];
                let passed = callee.parameters.iter().zip(arguments);
                let known = passed.filter_map(|(&parameter, &argument)| {
                    let Operand::Register(register) = argument else { return None };
                    Some((parameter, self.reference(function, register, references)?))
                });
                let known: References = known.collect();
                if seen.len() >= MAX_CALLS || !seen.insert((*id, known.clone())) {
                    return None;
                }
                let blocks: Vec<BlockId> = callee.blocks.ids().collect();
                self.find(callee, &blocks, &known, duty, seen)
            }
            _ => None,
        })
    }

    /// Whether an operation is certainly one that is looked for.
    fn is(&self, function: &Function, operation: &Synchronisation, references: &References, duty: Duty) -> bool {
        let place = operation.object.as_ref();
        normal(operation.kind) == Some(duty.kind)
            && place.map(|place| self.address(function, place, references)) == duty.object.map(Some)
    }

    /// The cell that a place certainly is.
    fn address(&self, function: &Function, place: &Place, references: &References) -> Option<u32> {
        let base = match place.base {
            Base::Global(variable) => self.naming.machine.global_address(variable)?,
            Base::Reference(register) => self.reference(function, register, references)?,
            Base::Pointer(_) => return None,
        };
        place.indices.iter().try_fold(base.checked_add(place.offset)?, |address, index| {
            let Operand::Constant(value) = index.operand else { return None };
            address.checked_add(u32::try_from(value.bits()).ok()?.checked_mul(index.stride)?)
        })
    }

    /// What a reference certainly points to: a parameter, or the only place that it is made from.
    fn reference(&self, function: &Function, register: RegisterId, references: &References) -> Option<u32> {
        if let Some(&(_, address)) = references.iter().find(|&&(known, _)| known == register) {
            return Some(address);
        }
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        let mut made = instructions.filter(|instruction| instruction.dest() == Some(register));
        match (made.next(), made.next()) {
            (Some(Instruction::Address { place, .. }), None) if place.base != Base::Reference(register) => {
                self.address(function, place, references)
            }
            _ => None,
        }
    }
}

/// What would let a blocked thread go on.
#[derive(Clone, Copy)]
struct Duty {
    kind: Kind,
    object: Option<u32>,
}

impl Duty {
    fn of(obstacle: &Obstacle) -> Option<Duty> {
        let (kind, object) = match *obstacle {
            Obstacle::Condition { address } => (Kind::Notify, Some(address)),
            Obstacle::Notification => (Kind::NotifyBare, None),
            Obstacle::Event { address } => (Kind::Set, Some(address)),
            Obstacle::Semaphore { address } => (Kind::Release, Some(address)),
            Obstacle::Barrier { address, .. } => (Kind::Barrier, Some(address)),
            Obstacle::Lock { address, .. } | Obstacle::Readers { address, .. } => (Kind::Unlock, Some(address)),
            Obstacle::Writers { .. }
            | Obstacle::Children { .. }
            | Obstacle::Thread { .. }
            | Obstacle::AtomicBlock { .. } => return None,
        };
        Some(Duty { kind, object })
    }
}

/// One kind for all operations that let threads go on alike.
fn normal(kind: Kind) -> Option<Kind> {
    match kind {
        Kind::Notify | Kind::NotifyAll => Some(Kind::Notify),
        Kind::NotifyBare | Kind::NotifyAllBare => Some(Kind::NotifyBare),
        Kind::Unlock | Kind::UnlockRw => Some(Kind::Unlock),
        Kind::Set | Kind::Release | Kind::Barrier => Some(kind),
        _ => None,
    }
}

/// The blocks that can be reached from one without coming to another, in the order in which they are found.
fn reached(function: &Function, from: BlockId, without: BlockId) -> Vec<BlockId> {
    let mut seen = FxHashSet::from_iter([without]);
    let (mut work, mut found) = (vec![from], Vec::new());
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            found.push(block);
            work.extend(function.blocks[block].terminator.successors());
        }
    }
    found
}

impl Observer for Branches<'_> {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        self.remember(thread.path, event);
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        self.turn(thread.path, at, holds, None);
    }

    fn call(&mut self, thread: ThreadName, _: CodeIndex, function: FunctionId, arguments: &[i64]) {
        self.enter(thread.path, function, arguments);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.exit(thread.path);
    }
}
