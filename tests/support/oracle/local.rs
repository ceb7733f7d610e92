//! Local work: what a thread does between two visible operations.
//!
//! The contract counts local work to the step of the *next* visible operation. It touches nothing that another thread
//! can see, so it is done at once here; only what can be observed, lines printed and failures, waits for the step.

use super::code::{Atomic, Code, NONE, Op, Sync};
use super::state::{Condition, State, Thread, Writer};
use super::trace::{Access, Tracer};
use super::value::{Status, Strings, Ty, Value, binary, unary};
use super::ways::Ways;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Instructions that local work may take before it counts as endless.
const FUEL: u32 = 100_000;
/// Frames of one thread.
const MAX_CALLS: u32 = 1000;

/// A read or a choice on the path to the current state.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// False for reads of variables that are not shared: they are pairs, but no part of a future.
    pub visible: bool,
    pub thread: u32,
    pub ordinal: u32,
    /// Name of the read; [`NONE`] for a choice, whose result is the ordinal of the writer.
    pub name: u32,
    pub writer: Writer,
    /// Where the read stands in its calls, where somebody wants to know.
    pub located: u32,
}

/// An access to a cell, which reads or writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    pub address: u32,
    /// Name of the access.
    pub name: u32,
    pub write: bool,
    pub atomic: bool,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A read or a write, or both in one; initial definitions are none.
    Access {
        thread: usize,
        name: u32,
        address: u32,
        read: bool,
        write: bool,
        clock: Rc<[u32]>,
    },
    /// A call of a function, or the start of the thread that executes it.
    Called {
        thread: usize,
        function: u32,
    },
    Returned {
        thread: usize,
    },
    /// It prints, outside atomic blocks: that is a part of its next step, and what follows as well.
    Printed {
        thread: usize,
    },
}

/// What is not part of a state: the code, what is visible, tables, and the path to the current state.
pub struct Machine<'c> {
    pub code: &'c Code,
    /// Of each variable, whether its accesses are steps.
    pub visible: Vec<bool>,
    pub lines: Strings,
    /// Outputs as lists: a line and the output before it.
    pub outputs: Vec<(u32, u32)>,
    output_index: FxHashMap<(u32, u32), u32>,
    pub paths: Strings,
    /// Of each path, where its thread belongs in the order of threads.
    pub path_keys: FxHashMap<u32, Vec<(u32, u32, u32)>>,
    pub trail: Vec<Event>,
    /// The accesses inside atomic blocks, where somebody wants to know.
    pub log: Option<Vec<Logged>>,
    /// All that threads do, in its order, where somebody wants to know.
    pub journal: Option<Vec<Note>>,
    /// Follows the flow of values and keeps the history of each thread, where somebody wants to know.
    pub tracer: Option<Box<Tracer>>,
    /// The calls that lead to each access, where somebody wants to know.
    pub ways: Option<Ways>,
    /// A variable that two parallel threads use although it is not visible.
    pub newly_shared: Option<u32>,
    pub watch_sharing: bool,
    pub max_steps: u32,
    pub merge_ends: bool,
    /// Whether threads that wait for a readers-writer lock to write keep readers out.
    pub prefer_writers: bool,
}

impl<'c> Machine<'c> {
    pub fn new(code: &'c Code, visible: Vec<bool>, max_steps: u32, merge_ends: bool) -> Machine<'c> {
        Machine {
            code,
            visible,
            lines: Strings::default(),
            outputs: Vec::new(),
            output_index: FxHashMap::default(),
            paths: Strings::default(),
            path_keys: FxHashMap::default(),
            trail: Vec::new(),
            log: None,
            journal: None,
            tracer: None,
            ways: None,
            newly_shared: None,
            watch_sharing: false,
            max_steps,
            merge_ends,
            prefer_writers: false,
        }
    }

    /// Runs local work until the thread stands in front of a visible operation.
    pub fn advance(&mut self, state: &mut State, t: usize) {
        for _ in 0..FUEL {
            let op = self.code.ops[state.threads[t].pc as usize];
            match self.local(state, t, op) {
                Ok(true) => {
                    if let Some(tracer) = &mut self.tracer {
                        tracer.executed(self.code, state, t, op);
                    }
                    state.threads[t].pc += 1;
                }
                Ok(false) => return,
                Err(condition) => {
                    state.threads[t].condition = condition;
                    return;
                }
            }
        }
        state.threads[t].condition = Condition::Failing(Status::StepLimit);
    }

    /// Does one instruction if it is local; says whether it was.
    fn local(&mut self, state: &mut State, t: usize, op: Op) -> Result<bool, Condition> {
        let thread = &mut state.threads[t];
        match op {
            Op::Load { .. } | Op::Store { .. } | Op::StoreInitial { .. } | Op::Atomic { .. } => {
                return self.local_access(state, t, op);
            }
            Op::Box { slot, variable } => {
                let value = thread.pop();
                let address = state.allocate(self.code, value, variable, Some(t));
                self.locate_initial(state, t, address);
                *state.threads[t].slot(slot) = Value::Ref(address);
            }
            Op::Allocate { slot, layout } => {
                let address = state.cells.len() as u32;
                for init in &self.code.layouts[layout as usize] {
                    let cell = state.allocate(self.code, init.value, init.variable, Some(t));
                    self.locate_initial(state, t, cell);
                }
                *state.threads[t].slot(slot) = Value::Ref(address);
            }
            Op::Print(count) => {
                if let Some(journal) = self.journal.as_mut().filter(|_| thread.atomic == 0) {
                    journal.push(Note::Printed { thread: t });
                }
                self.print(thread, count as usize);
            }
            Op::Assert | Op::Assume => {
                let violated =
                    if matches!(op, Op::Assert) { Condition::Failing(Status::Assert) } else { Condition::Discarding };
                if !thread.pop().truth() {
                    return Err(violated);
                }
            }
            Op::Fail(status) => return Err(Condition::Failing(status)),
            Op::AtomicBegin if thread.atomic > 0 => thread.atomic += 1,
            Op::AtomicEnd => {
                thread.atomic -= 1;
                if thread.atomic == 0 {
                    // What the block printed belongs to the step of the block.
                    thread.printed = thread.ahead;
                    state.exclusive = None;
                }
            }
            Op::SlotAtomic { kind, slot, ty } => {
                let old = *thread.slot(slot);
                let (result, new) = atomic(thread, kind, ty, old);
                if let Some(new) = new {
                    *thread.slot(slot) = new;
                }
                thread.push(result);
            }
            Op::End if self.merge_ends => {
                self.end(state, t);
                return Ok(false);
            }
            _ => return self.compute(thread, t, op),
        }
        Ok(true)
    }

    /// Instructions that touch only the stack of the thread.
    fn compute(&mut self, thread: &mut Thread, t: usize, op: Op) -> Result<bool, Condition> {
        match op {
            Op::Push(value) => thread.push(value),
            Op::Pop => {
                thread.pop();
            }
            Op::Repeat => thread.push(thread.peek(0)),
            Op::LoadSlot(slot) => {
                let value = *thread.slot(slot);
                thread.push(value);
            }
            Op::StoreSlot(slot) => *thread.slot(slot) = thread.pop(),
            Op::Offset(offset) => {
                let object = thread.pop();
                thread.push(object.member(offset));
            }
            Op::Index { len, stride } => {
                let index = thread.pop().long();
                let array = thread.pop();
                thread.push(array.index(index, len, stride));
            }
            Op::Measure(len) => {
                let array = thread.pop();
                thread.push(array.measured(len));
            }
            Op::Length => {
                let Value::Array { len, .. } = thread.pop() else { unreachable!("the compiler measures arrays") };
                thread.push(Value::Int(len as i32));
            }
            Op::Formed if thread.peek(0) == Value::Astray => {
                return Err(Condition::Failing(Status::IndexOutOfRange));
            }
            Op::Formed => {}
            Op::Sync(Sync::Join) if thread.peek(0).long() < 0 => return Err(Condition::Failing(Status::Error)),
            Op::Sync(sync) if thread.stack.iter().rev().take(operands_of(sync)).any(|&each| each == Value::Astray) => {
                return Err(Condition::Failing(Status::IndexOutOfRange));
            }
            Op::Unary(op) => {
                let operand = thread.pop();
                thread.push(unary(op, operand));
            }
            Op::Binary(op) => {
                let right = thread.pop();
                let left = thread.pop();
                thread.push(binary(op, left, right).map_err(Condition::Failing)?);
            }
            Op::Convert(ty) => {
                let value = thread.pop();
                thread.push(value.convert(ty));
            }
            Op::DecideBegin | Op::DecideEnd => {}
            Op::Jump(target) => thread.pc = target - 1,
            Op::JumpFalse(target) | Op::JumpTrue(target) => {
                let holds = thread.pop().truth();
                if let Some(tracer) = &mut self.tracer {
                    tracer.branch(t, thread, holds);
                }
                if holds == matches!(op, Op::JumpTrue(_)) {
                    thread.pc = target - 1;
                }
            }
            Op::Frame => thread.stack.extend([Value::Int(0); 2]),
            Op::Call { function, arguments } => {
                if let Some(tracer) = &mut self.tracer {
                    tracer.called(t, thread.pc);
                }
                if let Some(journal) = &mut self.journal {
                    journal.push(Note::Called { thread: t, function });
                }
                thread.calls += 1;
                if thread.calls > MAX_CALLS {
                    return Err(Condition::Failing(Status::StepLimit));
                }
                let base = thread.stack.len() - arguments as usize;
                // Where nobody asks for the way, its number is always the same.
                thread.stack[base - 2] = Value::Long(i64::from(thread.pc) | i64::from(thread.way) << 32);
                if let Some(ways) = &mut self.ways {
                    thread.way = ways.call(thread.way, function, self.code.places[thread.pc as usize]);
                }
                thread.stack[base - 1] = Value::Long(i64::from(thread.base));
                thread.base = base as u32;
                thread.pc = self.code.functions[function as usize].entry - 1;
            }
            Op::Enter(slots) => thread.stack.resize((thread.base + slots) as usize, Value::Int(0)),
            Op::Return => {
                if let Some(journal) = &mut self.journal {
                    journal.push(Note::Returned { thread: t });
                }
                let result = thread.pop();
                let base = thread.base as usize;
                let back = thread.stack[base - 2].long();
                (thread.pc, thread.way) = (back as u32, (back >> 32) as u32);
                thread.base = thread.stack[base - 1].long() as u32;
                thread.stack.truncate(base - 2);
                thread.push(result);
                thread.calls = thread.calls.saturating_sub(1);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn print(&mut self, thread: &mut Thread, count: usize) {
        let from = thread.stack.len() - count;
        let parts: Vec<String> = thread.stack[from..].iter().map(|value| value.print(&self.code.strings)).collect();
        thread.stack.truncate(from);
        let entry = (self.lines.intern(&parts.join(" ")), thread.ahead);
        let next = self.outputs.len() as u32;
        thread.ahead = *self.output_index.entry(entry).or_insert(next);
        if thread.ahead == next {
            self.outputs.push(entry);
        }
    }

    /// An access to a cell is local where the variable is not shared, or inside an atomic block.
    fn local_access(&mut self, state: &mut State, t: usize, op: Op) -> Result<bool, Condition> {
        let address = place(&state.threads[t], op).map_err(Condition::Failing)?;
        let variable = state.cells[address as usize].variable;
        let visible = variable != NONE && self.visible[variable as usize];
        let is_step = match op {
            Op::StoreInitial { step, .. } => step && visible,
            _ => visible,
        };
        if is_step && state.threads[t].atomic == 0 {
            return Ok(false);
        }
        self.access(state, t, op);
        Ok(true)
    }

    /// Reads or writes a cell; the place has been checked.
    pub fn access(&mut self, state: &mut State, t: usize, op: Op) {
        let Ok(address) = place(&state.threads[t], op) else { return };
        self.touch(state, t, address);
        let variable = state.cells[address as usize].variable;
        let located = self.located(&state.threads[t], variable, element(&state.threads[t], op));
        let counted = variable != NONE && self.visible[variable as usize];
        let State { cells, threads, .. } = state;
        let (thread, cell) = (&mut threads[t], &mut cells[address as usize]);
        let (read, written, name, result) = match op {
            Op::Load { name, .. } => (true, None, name, Some(cell.value)),
            Op::Store { name, .. } => (false, Some(thread.pop()), name, None),
            Op::StoreInitial { .. } => (false, Some(thread.pop()), cell.writer.name, None),
            Op::Atomic { kind, name, ty, .. } => {
                let (result, new) = atomic(thread, kind, ty, cell.value);
                (true, new, name, Some(result))
            }
            other => unreachable!("{other:?} is no access"),
        };
        thread.pop();
        if let (Some(log), true) = (&mut self.log, thread.atomic > 0 && !matches!(op, Op::StoreInitial { .. })) {
            let logged = |write| Logged { address, name, write, atomic: true };
            log.extend(read.then(|| logged(false)).into_iter().chain(written.map(|_| logged(true))));
        }
        if let (Some(journal), false) = (&mut self.journal, matches!(op, Op::StoreInitial { .. })) {
            let (write, clock) = (written.is_some(), Rc::clone(&thread.clock));
            journal.push(Note::Access { thread: t, name, address, read, write, clock });
        }
        if read && variable != NONE && self.code.variables[variable as usize].candidate {
            let (thread_path, ordinal) = (thread.path, thread.reads);
            let writer = cell.writer;
            self.trail.push(Event { visible: counted, thread: thread_path, ordinal, name, writer, located });
            thread.reads += u32::from(counted);
        }
        if let Some(value) = written {
            cell.value = value;
            if !matches!(op, Op::StoreInitial { .. }) {
                cell.writer = Writer { name, thread: thread.path, ordinal: thread.writes, located };
                thread.writes += u32::from(counted);
            }
        }
        if let Some(result) = result {
            thread.push(result);
        }
        if let Some(tracer) = &mut self.tracer {
            let is_initial = matches!(op, Op::StoreInitial { .. });
            let atomic = thread.atomic > 0
                || matches!(op, Op::Atomic { .. })
                || variable != NONE && self.code.variables[variable as usize].atomic;
            let (counted, write) = (counted && !is_initial, written.is_some());
            tracer.access(state, t, op, &Access { address, name, read, write, atomic, counted });
        }
    }

    /// The number of an access in its calls; [`NONE`] where nobody asks.
    fn located(&mut self, thread: &Thread, variable: u32, element: u32) -> u32 {
        let Some(ways) = &mut self.ways else { return NONE };
        ways.locate(thread.way, thread.path, (variable, element))
    }

    /// A new cell of a local is written by whoever makes it.
    fn locate_initial(&mut self, state: &mut State, t: usize, address: u32) {
        let variable = state.cells[address as usize].variable;
        state.cells[address as usize].writer.located = self.located(&state.threads[t], variable, NONE);
    }

    /// Notes who uses the cell, and whether two threads do that may run in parallel.
    fn touch(&mut self, state: &mut State, t: usize, address: u32) {
        let State { cells, threads, .. } = state;
        let (cell, clock) = (&mut cells[address as usize], &threads[t].clock);
        if !self.watch_sharing
            || cell.variable == NONE
            || self.visible[cell.variable as usize]
            || !self.code.variables[cell.variable as usize].candidate
        {
            return;
        }
        if clock.get(cell.last_thread as usize).copied().unwrap_or(0) < cell.last_epoch {
            self.newly_shared = Some(cell.variable);
        }
        (cell.last_thread, cell.last_epoch) = (t as u32, clock[t]);
    }
}

/// The index of the element that an access is about to use; [`NONE`] for a scalar.
fn element(thread: &Thread, op: Op) -> u32 {
    thread.peek(operands(op)).element().unwrap_or(NONE)
}

/// The number of values above the place of an access.
fn operands(op: Op) -> usize {
    match op {
        Op::Load { .. } => 0,
        Op::Atomic { kind: Atomic::Cas, .. } => 2,
        _ => 1,
    }
}

/// The number of objects that an operation is on.
fn operands_of(sync: Sync) -> usize {
    match sync {
        Sync::BareWait | Sync::BareNotify | Sync::BareNotifyAll => 0,
        Sync::CondWait | Sync::TimedWait => 2,
        _ => 1,
    }
}

/// The address that an access is about to use; its indices are checked.
pub fn place(thread: &Thread, op: Op) -> Result<u32, Status> {
    match thread.peek(operands(op)) {
        Value::Astray => Err(Status::IndexOutOfRange),
        place => Ok(place.address()),
    }
}

/// Pops the operands of an atomic expression: its result, and what it writes.
fn atomic(thread: &mut Thread, kind: Atomic, ty: Ty, old: Value) -> (Value, Option<Value>) {
    let last = thread.pop();
    match kind {
        Atomic::Swap => (old, Some(last.convert(ty))),
        Atomic::FetchAdd => {
            let sum = binary(cssame::front::csm::syntax::ast::BinaryOp::Add, old, last).unwrap_or(old);
            (old, Some(sum.convert(ty)))
        }
        Atomic::Cas => {
            let expected = thread.pop();
            let equal =
                binary(cssame::front::csm::syntax::ast::BinaryOp::Equal, old, expected) == Ok(Value::Bool(true));
            (Value::Bool(equal), equal.then(|| last.convert(ty)))
        }
    }
}
