//! Local work: the instructions between two visible operations of a thread.
//!
//! **Input**: a running thread, and the maximum number of instructions.
//!
//! **Output**: the place where it has to stop.
//!
//! **Algorithm**: without `effects` it stops before anything that others could notice (a print, an assertion that does not hold,
//! a division by zero, …); with them it does those as well and stops only before a visible operation. An assertion that holds is
//! not an effect.
//!
//! **Soundness and limits**: a thread that exceeds its budget counts as one that runs for ever. The extent of local work does not
//! depend on the actions of other threads, so the verdict does not either.

use super::code::{AtomicKind, Code, CodeIndex, NO_SLOT, Print, Slot, Source, TableIndex};
use super::observe::{Cell, Event, Object, ThreadName};
use super::outcome::{FailureKind, Progress};
use super::places::PointerTo;
use super::state::{Block, State, Thread, ThreadIndex, ThreadStatus, Word};
use super::step::{Run, Stop, writer};
use super::value;
use cssame_ir::Object::Local;
use cssame_ir::{BinaryOperator, Line, Pointer};
use smallvec::SmallVec;

impl super::machine::Machine {
    /// Writes the header of the current frame of a thread: where it returns to, and no children.
    pub(super) fn write_header(&self, state: &mut State, thread: ThreadIndex, return_to: u32) {
        let Thread { base, frame, .. } = state.threads[thread.index()];
        state.stack[(base + frame) as usize] = i64::from(return_to);
    }
}

/// The address of the local that a register refers to by which it was made; 0 where it was not.
fn local_address(bits: i64) -> u32 {
    match Pointer::from_bits(bits).target() {
        Some((Local(start), _)) => start,
        _ => bits as u32,
    }
}

/// The name of a cell.
#[inline(always)]
fn name_of_cell(details: bool, machine: &super::machine::Machine, blocks: &[Block], address: u32) -> Cell {
    let nothing = Cell { object: Object::global(cssame_ir::VariableId(0)), part: 0 };
    let known = if details { machine.layout.cell(blocks, address) } else { None };
    known.unwrap_or(nothing)
}

impl<const WATCHED: bool> Run<'_, WATCHED> {
    /// Does local work up to the next stop.
    pub(super) fn local(&mut self, effects: bool) -> Stop {
        loop {
            let code = self.simple();
            if self.budget == 0 {
                return self.diverge(effects);
            }
            if self.details && self.this().fresh > 0 && code.is_access() {
                self.tell_entered();
                continue;
            }
            self.budget -= 1;
            match code {
                Code::Call { call } => {
                    if !self.call(call) {
                        return self.diverge(effects);
                    }
                }
                Code::Return { value, present } => {
                    if self.return_from_frame(value, present) {
                        return Stop::Ended;
                    }
                }
                Code::End { value, present } => {
                    let result = if present { self.value(value) } else { 0 };
                    while !self.leave_frame(present, result) {}
                    return Stop::Ended;
                }
                Code::Allocate { dest, variable, is_pointer, elements } => {
                    self.allocate(dest, variable, is_pointer, elements);
                }
                Code::Free { pointer, definition } if self.free(pointer, definition, false) => self.this().pc += 1,
                Code::AtomicEnd => {
                    self.event(Event::AtomicEnd);
                    let this = self.this();
                    this.pc += 1;
                    this.atomic = this.atomic.saturating_sub(1);
                    if this.atomic == 0 {
                        return Stop::AtomicEnd;
                    }
                }
                Code::Atomic { atomic } if self.atomic(atomic, false) => self.this().pc += 1,
                Code::WatchedLoad { dest, place, .. } if self.is_passed_over(place) => {
                    self.set_register(dest, 0);
                    self.this().pc += 1;
                }
                code if code.is_visible() => return Stop::Visible,
                _ if !effects => return Stop::Effect,
                code => {
                    if let Some(progress) = self.effect(code) {
                        return Stop::Over(progress);
                    }
                }
            }
        }
    }

    /// Whether a watched read does nothing: it is not this thread that is watched, and the index is within its range.
    fn is_passed_over(&self, place: TableIndex) -> bool {
        let is_watched = self.machine.watched.is_some_and(|watched| watched.thread == self.thread);
        !is_watched && self.machine.cell_at(self.state, self.thread, place).is_some()
    }

    /// The thread runs for ever. Its own step ends the execution; while it runs ahead in a step of somebody, the
    /// others may still move.
    fn diverge(&mut self, effects: bool) -> Stop {
        if effects {
            return Stop::Over(self.fail(self.limit(), None));
        }
        self.this().status = ThreadStatus::Diverged;
        Stop::Effect
    }

    /// The limit that the thread has passed: of calls where it stands before one that would be too deep.
    pub(super) fn limit(&self) -> FailureKind {
        let Thread { depth, .. } = self.state.threads[self.thread.index()];
        match self.code() {
            Code::Call { .. } if depth + 1 >= self.machine.options.frames => FailureKind::CallDepth,
            _ => FailureKind::StepLimit,
        }
    }

    /// Runs what works on registers and private memory; gives the instruction at which it stops.
    fn simple(&mut self) -> Code {
        let Run { machine, state, told, details, thread, budget, .. } = self;
        let compiled = &machine.compiled;
        let State { cells, threads, stack, blocks, .. } = &mut **state;
        let slot = &mut threads[thread.index()];
        let name = ThreadName { path: slot.path, slot: *thread };
        let objects = machine.layout.objects(blocks);
        let mut left = *budget;
        let is_fresh = *details && slot.fresh > 0;
        let start = (slot.base + slot.frame) as usize;
        let frame = &mut stack[start..start + slot.frame_size as usize];
        let constants = &compiled.constants[..];
        let code = &compiled.code[..];
        let mut pc = slot.pc as usize;
        let stopped = loop {
            let instruction = code[pc];
            if left == 0 || is_fresh && instruction.is_access() {
                break instruction;
            }
            left -= 1;
            match instruction {
                Code::Copy { dest, source } => frame[dest as usize] = source.value(frame, constants),
                Code::Binary { dest, op, left, right } => {
                    frame[dest as usize] =
                        value::binary(op, left.value(frame, constants), right.value(frame, constants));
                }
                Code::Branch { condition, then_target, else_target } => {
                    let holds = condition.value(frame, constants) != 0;
                    if WATCHED {
                        told.branch(name, CodeIndex(pc as u32), holds);
                    }
                    pc = if holds { then_target } else { else_target } as usize;
                    continue;
                }
                Code::Jump { target } => {
                    pc = target as usize;
                    continue;
                }
                Code::Unary { dest, op, operand } => {
                    frame[dest as usize] = value::unary(op, operand.value(frame, constants));
                }
                Code::Partial { dest, op, left, right } => {
                    match value::partial(op, left.value(frame, constants), right.value(frame, constants)) {
                        Some(result) => frame[dest as usize] = result,
                        None => break instruction,
                    }
                }
                Code::Load { .. } | Code::LoadAt { .. } => {
                    let (dest, address, read) = match instruction {
                        Code::Load { dest, address, read } => (dest, Some(address), read),
                        Code::LoadAt { dest, place, read } => {
                            (dest, compiled.places[place as usize].address(frame, constants, objects), read)
                        }
                        _ => break instruction,
                    };
                    let Some(address) = address else { break instruction };
                    let cell = cells[address as usize];
                    frame[dest as usize] = cell.value;
                    if WATCHED {
                        let (value, writer) = (cell.value, writer(cell));
                        let cell = name_of_cell(*details, machine, blocks, address);
                        let event = Event::Read { read, cell, address, value, writer, shared: false };
                        told.event(name, CodeIndex(pc as u32), event);
                    }
                }
                Code::Store { .. } | Code::StoreAt { .. } => {
                    let (address, source, definition) = match instruction {
                        Code::Store { address, value, definition } => (Some(address), value, definition),
                        Code::StoreAt { place, value, definition } => {
                            (compiled.places[place as usize].address(frame, constants, objects), value, definition)
                        }
                        _ => break instruction,
                    };
                    let Some(address) = address else { break instruction };
                    let value = source.value(frame, constants);
                    let cell = &mut cells[address as usize];
                    let old = cell.value;
                    *cell = Word { value, writer: definition.0 };
                    if WATCHED {
                        let cell = name_of_cell(*details, machine, blocks, address);
                        let event = Event::Write { definition, cell, address, old, value, shared: false };
                        told.event(name, CodeIndex(pc as u32), event);
                    }
                }
                Code::Address { dest, place } => {
                    let address = compiled.places[place as usize].address(frame, constants, objects);
                    frame[dest as usize] = address.map_or(0, i64::from);
                }
                Code::ElementAddress { dest, place } => {
                    match compiled.places[place as usize].address(frame, constants, objects) {
                        Some(address) => frame[dest as usize] = i64::from(address),
                        None => break instruction,
                    }
                }
                Code::PointerTo { dest, pointer } => {
                    let PointerTo { base, place } = &compiled.pointers[pointer as usize];
                    let Some(bytes) = place.skipped(frame, constants) else { break instruction };
                    let base = Pointer::from_bits(base.value(frame, constants));
                    frame[dest as usize] = base.plus(i64::from(place.address + bytes)).bits();
                }
                Code::CurrentThread { dest } => frame[dest as usize] = i64::from(thread.0) + 1,
                Code::Assert { condition, .. } | Code::Assume { condition } => {
                    if condition.value(frame, constants) == 0 {
                        break instruction;
                    }
                }
                _ => break instruction,
            }
            pc += 1;
        };
        slot.pc = pc as u32;
        *budget = left;
        stopped
    }

    /// Does local work that has an effect. `Some` where it ends the execution.
    fn effect(&mut self, code: Code) -> Option<Progress> {
        let (kind, message) = match code {
            Code::Print { print } => {
                self.print(print);
                return None;
            }
            Code::Assume { .. } => return Some(Progress::Discarded),
            Code::Assert { message, .. } => (FailureKind::Assert, message),
            Code::Error { message } => (FailureKind::Error, message),
            Code::Partial { op, right, .. } => (no_result(op, self.value(right)), None),
            code => (self.out_of_range(code), None),
        };
        Some(self.fail(kind, message))
    }

    fn print(&mut self, print: TableIndex) {
        let mut text = String::new();
        let machine = self.machine;
        let &Print { ref arguments, line } = &machine.compiled.prints[print as usize];
        for (position, &(source, ty, conversion)) in arguments.iter().enumerate() {
            if position > 0 && line == Line::Spaced {
                text.push(' ');
            }
            match conversion {
                Some(conversion) => {
                    value::convert_to_text(&machine.texts, conversion, ty, self.value(source), &mut text)
                }
                None => value::format(&machine.texts, ty, self.value(source), &mut text),
            }
        }
        let before = self.this().output;
        let output = self.tables.append(before, &text, line == Line::Open);
        self.this().output = output;
        if line != Line::Open {
            self.event(Event::Print { output });
        }
        self.this().pc += 1;
    }

    /// An atomic read and write; false where the index is out of range.
    pub(super) fn atomic(&mut self, atomic: TableIndex, shared: bool) -> bool {
        let atomic = self.machine.compiled.atomics[atomic as usize];
        let Some((address, old)) = self.machine.cell_at(self.state, self.thread, atomic.place) else {
            return false;
        };
        let (result, new) = match atomic.kind {
            AtomicKind::CompareAndSwap { old: expected, new, double } => {
                let equal = value::equal(double, old, self.value(expected));
                (i64::from(equal), equal.then(|| self.value(new)))
            }
            AtomicKind::Swap(new) => (old, Some(self.value(new))),
            AtomicKind::FetchAdd(operand, kind) => (old, Some(value::add(kind, old, self.value(operand)))),
            AtomicKind::CompareExchange { old: expected, new } => {
                (old, (old == self.value(expected)).then(|| self.value(new)))
            }
            AtomicKind::FetchModify(modification, operand, ty) => {
                (old, Some(value::modify(modification, ty, old, self.value(operand))))
            }
        };
        let (cell, writer) = (self.cell(address), writer(self.state.cells[address as usize]));
        self.event(Event::Read { read: atomic.read, cell, address, value: old, writer, shared });
        if let Some(value) = new {
            self.state.cells[address as usize] = Word { value, writer: atomic.definition.0 };
            self.event(Event::Write { definition: atomic.definition, cell, address, old, value, shared });
        }
        self.set_register(atomic.dest, result);
        true
    }

    fn allocate(&mut self, dest: u32, variable: cssame_ir::VariableId, is_pointer: bool, elements: Slot) {
        let frame = self.state.frame(self.thread);
        let elements = (elements != NO_SLOT).then(|| frame[elements as usize].clamp(0, i64::from(u16::MAX)) as u32);
        let current = local_address(self.state.frame(self.thread)[dest as usize]);
        let function = self.machine.compiled.origins[self.pc() as usize].function;
        let leaks = self.machine.compiled.functions[function].leaks;
        let owner = self.this().path;
        let layout = &self.machine.layout;
        if current != 0 && !leaks && elements.is_some() {
            layout.free(self.state, current);
        }
        let (address, size) = if current != 0 && !leaks && elements.is_none() {
            (current, layout.renew(self.state, variable, owner, current))
        } else {
            layout.allocate(self.state, self.tables, (variable, elements), owner)
        };
        let value = if is_pointer { Pointer::to(Local(address), 0).bits() } else { i64::from(address) };
        self.set_register(dest, value);
        let known = if self.details { layout.object_at(&self.state.blocks, address) } else { None };
        let object = known.unwrap_or(Object::global(variable));
        self.event(Event::Allocate { object, address, size });
        self.this().pc += 1;
    }

    /// Gives memory back: all cells of an object on the heap are written at last, and gone. False where the pointer leads to none.
    pub(super) fn free(&mut self, pointer: Source, definition: cssame_ir::DefinitionId, shared: bool) -> bool {
        let pointer = Pointer::from_bits(self.value(pointer));
        if pointer == Pointer::NULL {
            return true;
        }
        let Some(block) = self.machine.layout.objects(&self.state.blocks).on_heap(pointer) else { return false };
        if WATCHED {
            for address in block.start..block.start + block.size {
                let (cell, old) = (self.cell(address), self.state.cells[address as usize].value);
                self.event(Event::Write { definition, cell, address, old, value: 0, shared });
            }
        }
        let object =
            Object { variable: cssame_ir::VariableId(block.variable), owner: block.owner, ordinal: block.ordinal };
        self.event(Event::Free { object, address: block.start, size: block.size });
        self.machine.layout.free(self.state, block.start);
        true
    }

    /// Enters a function; false where the calls are too deep.
    fn call(&mut self, call: TableIndex) -> bool {
        let machine = self.machine;
        let call = &machine.compiled.calls[call as usize];
        let function = &machine.compiled.functions[call.function];
        let Thread { base, frame, frame_size, depth, pc, .. } = *self.this();
        if depth + 1 >= machine.options.frames {
            return false;
        }
        let new_frame = frame + frame_size;
        self.state.reserve_segment(self.thread, new_frame + function.frame_size);
        let (below, above) = self.state.stack.split_at_mut((base + new_frame) as usize);
        let caller = &below[(base + frame) as usize..];
        let callee = &mut above[..function.frame_size as usize];
        callee.fill(0);
        callee[0] = i64::from(pc + 1);
        for (&slot, argument) in function.parameters.iter().zip(&call.arguments) {
            callee[slot as usize] = argument.value(caller, &machine.compiled.constants);
        }
        let this = self.this();
        this.frame = new_frame;
        this.frame_size = function.frame_size;
        this.depth = depth + 1;
        this.fresh += 1;
        this.pc = function.entry;
        if self.details {
            let frame = &self.state.stack[(base + new_frame) as usize..];
            let arguments: SmallVec<[i64; 8]> = function.parameters.iter().map(|&slot| frame[slot as usize]).collect();
            let name = self.name();
            self.told.call(name, CodeIndex(pc), call.function, &arguments);
        }
        true
    }

    /// Leaves a function; true where it was the last one of the thread, which then has ended.
    fn return_from_frame(&mut self, value: Source, present: bool) -> bool {
        let result = if present { self.value(value) } else { 0 };
        self.leave_frame(present, result)
    }

    fn leave_frame(&mut self, present: bool, result: i64) -> bool {
        let machine = self.machine;
        let function = &machine.compiled.functions[machine.compiled.origins[self.pc() as usize].function];
        if !function.leaks {
            for &slot in &function.allocations {
                let address = local_address(self.state.frame(self.thread)[slot as usize]);
                if address != 0 {
                    machine.layout.free(self.state, address);
                }
            }
        }
        if WATCHED {
            self.tell_entered();
            if self.details && present {
                self.told.result(self.name(), result);
            }
            self.told.leave(self.name());
        }
        let this = self.this();
        this.fresh = this.fresh.saturating_sub(1);
        if this.depth == 0 {
            self.end_thread(result);
            return true;
        }
        let Thread { base, frame, .. } = *this;
        let return_to = self.state.stack[(base + frame) as usize] as u32;
        let caller = machine.compiled.origins[return_to as usize - 1].function;
        let frame_size = machine.compiled.functions[caller].frame_size;
        let this = self.this();
        this.depth -= 1;
        this.frame -= frame_size;
        this.frame_size = frame_size;
        this.pc = return_to;
        if let Code::Call { call } = machine.compiled.code[return_to as usize - 1] {
            let dest = machine.compiled.calls[call as usize].dest;
            if dest != NO_SLOT {
                self.set_register(dest, result);
            }
        }
        false
    }
}

/// Why an operator has no result, where it has none.
fn no_result(op: BinaryOperator, right: i64) -> FailureKind {
    match op {
        BinaryOperator::ShiftLeft(_) | BinaryOperator::ShiftRight(_) => FailureKind::ShiftCount,
        op if op.divides() && right == 0 => FailureKind::DivisionByZero,
        _ => FailureKind::Overflow,
    }
}
