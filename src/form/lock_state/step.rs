//! The effects of a mutex body on a state.
//!
//! **Input**: a state in which a thread is in a body. **Output**: the states in which it is at the beginning of a next block, or
//! has released the lock.
//!
//! **Algorithm**: the instructions of the block are executed in order, with the known values of registers and protected cells.
//! There is one state for each side of an undecided branch, and for each case of an undecided access ([`super::access`]).
//!
//! **Soundness and limits**: each execution of the block is one of the cases. Nothing is known of registers in recursive
//! functions, nor of doubles.

use super::machine::{GivenUp, Inside, Machine, State, site_bit};
use super::protected::{condition_bits, notifies};
use cssame_concurrency::ContextId;
use cssame_concurrency::mutex_body::Site;
use cssame_concurrency::value::{self, AbstractValue, Evaluator, Writers};
use cssame_ir::{Instruction, Operand, RegisterId, RegisterType, ScalarType, Terminator, Value};

/// Whether a thread goes on behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    On,
    /// Its execution ends here, it has left the body, or other states go on in its stead.
    Ended,
}

impl Machine<'_> {
    /// Does the rest of the block in which a thread stands.
    pub fn step(&mut self, mut state: State) -> Result<(), GivenUp> {
        let Some(mut inside) = state.inside.take() else { return Ok(()) };
        let (program, concurrency) = (self.of.program, self.of.concurrency);
        let block = concurrency.blocks[inside.block as usize];
        if let Some(source) = block.source {
            let function = &program.functions[concurrency.contexts[block.context].function];
            while inside.instruction < block.instructions.1 {
                self.steps += 1;
                let instruction = &function.blocks[source].instructions[inside.instruction as usize];
                if self.perform(&mut state, &mut inside, instruction)? == Flow::Ended {
                    return Ok(());
                }
                inside.instruction += 1;
            }
        }
        self.go_on(&state, inside);
        Ok(())
    }

    /// The number of the instruction behind that of an event.
    pub fn instruction_behind(&self, block: u32, offset: u32) -> Result<u32, GivenUp> {
        let concurrency = self.of.concurrency;
        let event = concurrency.first_event(block) as u32 + offset;
        let mut all = concurrency.instructions_of(self.of.program, block);
        all.find(|(_, _, events)| events.end > event).map(|(position, ..)| position + 1).ok_or(GivenUp)
    }

    fn perform(&mut self, state: &mut State, inside: &mut Inside, what: &Instruction) -> Result<Flow, GivenUp> {
        let context = self.context(inside);
        match what {
            Instruction::Copy { dest, source } => {
                let value = self.value(inside, context, *source);
                self.set(inside, context, *dest, value);
            }
            Instruction::Unary { dest, op, operand } => {
                let value = self.value(inside, context, *operand).and_then(|bits| value::unary(*op, bits));
                self.set(inside, context, *dest, value);
            }
            Instruction::Binary { dest, op, left, right } => {
                let (left, right) = (self.value(inside, context, *left), self.value(inside, context, *right));
                let value = left.zip(right).and_then(|(left, right)| value::binary(*op, left, right));
                self.set(inside, context, *dest, value);
            }
            Instruction::Load { .. } | Instruction::Store { .. } | Instruction::Atomic { .. } => {
                return self.access(state, inside, what);
            }
            Instruction::Allocate { .. } => self.allocate(state, inside, what),
            Instruction::Assert { condition, .. } | Instruction::Assume { condition } => {
                match (self.value(inside, context, *condition), condition) {
                    (Some(0), _) => return Ok(Flow::Ended),
                    (None, Operand::Register(register)) => self.set(inside, context, *register, Some(1)),
                    _ => {}
                }
            }
            Instruction::Error { .. } => return Ok(Flow::Ended),
            Instruction::Synchronise(operation) => {
                if let Some(verdict) = operation.verdict {
                    self.set(inside, context, verdict, None);
                }
                return Ok(self.synchronise(state, inside));
            }
            // What was there is read no more.
            Instruction::Free { .. } | Instruction::AtomicBegin | Instruction::AtomicEnd => inside.event += 1,
            Instruction::Call { dest, arguments, .. } => {
                self.call(inside, arguments)?;
                if let Some(dest) = dest {
                    self.set(inside, context, *dest, None);
                }
            }
            Instruction::Address { dest, .. }
            | Instruction::Choose { dest, .. }
            | Instruction::CurrentThread { dest } => {
                self.set(inside, context, *dest, None);
            }
            Instruction::Print { .. } => {}
            Instruction::Fork { .. }
            | Instruction::Spawn { .. }
            | Instruction::Join
            | Instruction::JoinThread { .. } => return Err(GivenUp),
        }
        Ok(Flow::On)
    }

    pub fn context(&self, inside: &Inside) -> ContextId {
        self.of.concurrency.blocks[inside.block as usize].context
    }

    /// The value of an operand, where it is known.
    pub fn value(&mut self, inside: &Inside, context: ContextId, operand: Operand) -> Option<i64> {
        let of = &self.of.concurrency.contexts[context];
        let function = &self.of.program.functions[of.function];
        match operand {
            Operand::Constant(Value::Double(_)) => return None,
            Operand::Constant(value) => return Some(value.bits()),
            Operand::Register(register) => {
                if let Some(&known) = inside.registers.get(&(context, register)) {
                    return Some(known);
                }
                if function.registers[register].ty == RegisterType::Scalar(ScalarType::Double) {
                    return None;
                }
            }
        }
        self.evaluate(context, |evaluator| evaluator.constant(operand))
    }

    /// What holds of registers in a context in all executions.
    fn evaluate<R>(&mut self, context: ContextId, ask: impl FnOnce(&Evaluator<'_>) -> R) -> R {
        let of = &self.of.concurrency.contexts[context];
        let function = &self.of.program.functions[of.function];
        let writers = self.writers.entry(of.function).or_insert_with(|| Writers::of(function));
        ask(&Evaluator::new(self.of.program, function, writers, &of.arguments, self.of.known))
    }

    /// The byte of its variable at which a pointer leads, where it is known without regard to what is in memory.
    pub fn byte_at(&mut self, context: ContextId, register: RegisterId) -> Option<u32> {
        match self.evaluate(context, |evaluator| evaluator.operand(Operand::Register(register))) {
            AbstractValue::References(addresses) => match addresses.as_slice() {
                [only] if only.exact => Some(only.byte),
                _ => None,
            },
            _ => None,
        }
    }

    /// Gives a register a value, where that is known. Several activations of one function have registers of their own.
    pub fn set(&self, inside: &mut Inside, context: ContextId, register: RegisterId, value: Option<i64>) {
        let of = &self.of.concurrency.contexts[context];
        let ty = self.of.program.functions[of.function].registers[register].ty;
        let is_plain = ty != RegisterType::Reference && ty != RegisterType::Scalar(ScalarType::Double);
        match value.filter(|_| is_plain && !of.recursive) {
            Some(value) => inside.registers.insert((context, register), value),
            None => inside.registers.remove(&(context, register)),
        };
    }

    /// Binds the parameters of the function whose entry comes next.
    fn call(&mut self, inside: &mut Inside, arguments: &[Operand]) -> Result<(), GivenUp> {
        let concurrency = self.of.concurrency;
        let block = concurrency.blocks[inside.block as usize];
        let &[entry] = concurrency.local.successors(inside.block) else { return Err(GivenUp) };
        let callee = concurrency.blocks[entry as usize].context;
        let of = &concurrency.contexts[callee];
        if block.terminates || of.entry != entry || inside.instruction + 1 != block.instructions.1 {
            return Err(GivenUp);
        }
        let values: Vec<_> = arguments.iter().map(|&one| self.value(inside, block.context, one)).collect();
        inside.registers.retain(|&(context, _), _| context != callee);
        let parameters = &self.of.program.functions[of.function].parameters;
        for (&parameter, value) in parameters.iter().zip(values) {
            self.set(inside, callee, parameter, value);
        }
        Ok(())
    }

    /// A release ends the body; a notification is noted.
    fn synchronise(&mut self, state: &mut State, inside: &mut Inside) -> Flow {
        let concurrency = self.of.concurrency;
        let event = &concurrency.events_of(inside.block)[inside.event as usize];
        inside.event += 1;
        if concurrency.may_release(event, self.lock) {
            let at = Site { block: inside.block, offset: inside.event - 1 };
            let resumed = self.protected.sites.iter().position(|site| site.at == at);
            state.pending |= resumed.map_or(0, site_bit);
            self.enter(state.clone());
            return Flow::Ended;
        }
        if notifies(event) {
            state.notified |= condition_bits(concurrency, &self.protected.conditions, event);
        }
        Flow::On
    }

    /// Enters the blocks behind one that is done.
    fn go_on(&mut self, state: &State, mut inside: Inside) {
        let concurrency = self.of.concurrency;
        let (block, context) = (inside.block, self.context(&inside));
        let of = concurrency.blocks[block as usize];
        let function = &self.of.program.functions[concurrency.contexts[context].function];
        let terminator = of.source.filter(|_| of.terminates).map(|source| function.blocks[source].terminator);
        if let Some(Terminator::Return(value)) = terminator {
            inside.returned = value.and_then(|value| self.value(&inside, context, value));
        }
        for &next in concurrency.local.successors(block) {
            if self.of.locksets.at_entry(next).is_none() {
                continue;
            }
            let to = concurrency.blocks[next as usize];
            let mut inside = inside.clone();
            if let Some(Terminator::Branch { condition, then_block, else_block }) = terminator {
                let holds = to.source == Some(then_block);
                match self.value(&inside, context, condition) {
                    Some(bits) if to.source != Some(if bits != 0 { then_block } else { else_block }) => continue,
                    None if then_block != else_block => {
                        if let Operand::Register(register) = condition {
                            self.set(&mut inside, context, register, Some(i64::from(holds)));
                        }
                    }
                    _ => {}
                }
            }
            if concurrency.contexts[context].exit == block {
                self.take_result(&mut inside, next);
            }
            (inside.block, inside.instruction, inside.event) = (next, to.instructions.0, 0);
            self.enter(State { inside: Some(inside), ..state.clone() });
        }
    }

    /// Behind a call its register gets the result.
    fn take_result(&self, inside: &mut Inside, next: u32) {
        let concurrency = self.of.concurrency;
        let to = concurrency.blocks[next as usize];
        let function = &self.of.program.functions[concurrency.contexts[to.context].function];
        let call = to.instructions.0.checked_sub(1).zip(to.source);
        let result = inside.returned.take();
        if let Some((position, source)) = call
            && let Instruction::Call { dest: Some(dest), .. } = function.blocks[source].instructions[position as usize]
        {
            self.set(inside, to.context, dest, result);
        }
    }
}
