//! The effects of accesses to memory on a state.
//!
//! **Input**: a state, and a load, a store, an atomic operation or a declaration. **Output**: the state after it, or one state
//! for each case of the unknown data.
//!
//! **Algorithm**: a write replaces the definition and the value of its cell, and a read records the definition that it sees.
//! There is one state for each element to which an unknown index may refer, for each value of an unknown `bool`, and for each
//! result of a `cas`.
//!
//! **Soundness and limits**: see [`super::step`].

use super::machine::{Cell, GivenUp, Inside, Machine, State, Values};
use super::protected::{MAX_LENGTH, definition_of};
use super::step::Flow;
use cssame_concurrency::{event_count, value};
use cssame_ir::{
    AtomicOperation, BinaryOperator, DefinitionId, Instruction, LeafKind, Operand, Place, RegisterId, ScalarType,
};

/// The cell that an access means.
enum Target {
    /// None that is protected.
    Other,
    Cell(usize),
    /// One of several: there is a state for each.
    Split,
}

impl Machine<'_> {
    /// Index of the next event among those of all blocks.
    fn next_event(&self, inside: &Inside) -> u32 {
        self.of.concurrency.first_event(inside.block) as u32 + inside.event
    }

    pub fn access(&mut self, state: &mut State, inside: &mut Inside, what: &Instruction) -> Result<Flow, GivenUp> {
        let (event, context) = (self.next_event(inside), self.context(inside));
        let (Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. }) =
            what
        else {
            return Err(GivenUp);
        };
        let target = self.target(state, inside, place, event)?;
        let (Target::Other | Target::Cell(_)) = target else { return Ok(Flow::Ended) };
        let cell = if let Target::Cell(cell) = target { Some(cell) } else { None };
        match *what {
            Instruction::Load { dest, .. } => {
                if let Some(cell) = cell {
                    if self.split_bool(state, inside, cell, event) {
                        return Ok(Flow::Ended);
                    }
                    self.see(event, state.cells[cell].definition);
                }
                self.set(inside, context, dest, cell.and_then(|cell| state.cells[cell].value));
            }
            Instruction::Store { value, definition, .. } => {
                let value = self.value(inside, context, value);
                self.write(state, cell, definition, value);
            }
            Instruction::Atomic { dest, op, definition, .. } => {
                if let Some(cell) = cell {
                    self.see(event, state.cells[cell].definition);
                }
                self.update(state, inside, cell, (dest, op, definition));
            }
            _ => {}
        }
        inside.event += 1;
        Ok(Flow::On)
    }

    /// Stores a value in a protected cell.
    fn write(&self, state: &mut State, cell: Option<usize>, definition: DefinitionId, value: Option<i64>) {
        if let Some(cell) = cell {
            state.cells[cell] = Cell { definition: Some(definition), value: self.kept(definition, value) };
        }
    }

    /// An atomic read and write.
    fn update(
        &mut self,
        state: &mut State,
        inside: &mut Inside,
        cell: Option<usize>,
        (dest, op, definition): (RegisterId, AtomicOperation, DefinitionId),
    ) {
        let context = self.context(inside);
        let before = cell.and_then(|cell| state.cells[cell].value);
        let (result, value) = match op {
            AtomicOperation::Swap(operand) => (before, self.value(inside, context, operand)),
            AtomicOperation::FetchAdd(operand, arithmetic) => {
                let added = self.value(inside, context, operand);
                let sum = before.zip(added).and_then(|(a, b)| value::binary(BinaryOperator::Add(arithmetic), a, b));
                (before, sum)
            }
            AtomicOperation::CompareAndSwap { old, new, double } => {
                let old = self.value(inside, context, old);
                let swaps = before.zip(old).filter(|_| !double).map(|(before, old)| before == old);
                if swaps != Some(true) {
                    // It may do nothing.
                    let mut failed = inside.clone();
                    self.set(&mut failed, context, dest, Some(0));
                    (failed.instruction, failed.event) = (failed.instruction + 1, failed.event + 1);
                    self.enter_anew(State { inside: Some(failed), ..state.clone() });
                }
                (Some(1), self.value(inside, context, new))
            }
            AtomicOperation::CompareExchange { old, new } => {
                let old = self.value(inside, context, old);
                if before.zip(old).is_none_or(|(before, old)| before != old) {
                    // It may do nothing.
                    let mut failed = inside.clone();
                    self.set(&mut failed, context, dest, before);
                    (failed.instruction, failed.event) = (failed.instruction + 1, failed.event + 1);
                    self.enter_anew(State { inside: Some(failed), ..state.clone() });
                }
                (old, self.value(inside, context, new))
            }
            AtomicOperation::FetchModify(..) => (before, None),
        };
        self.set(inside, context, dest, result);
        self.write(state, cell, definition, value);
    }

    /// A declaration makes its variable anew.
    pub fn allocate(&mut self, state: &mut State, inside: &mut Inside, what: &Instruction) {
        for _ in 0..event_count(self.of.program, what) {
            let event = self.next_event(inside);
            let definition = definition_of(&self.of.concurrency.events[event as usize]);
            for cell in self.cells_of(event) {
                state.cells[cell] = Cell { definition, value: None };
            }
            inside.event += 1;
        }
    }

    /// The cell that a place means. Where an index is not known, there is a state for each element.
    fn target(&mut self, state: &State, inside: &Inside, place: &Place, event: u32) -> Result<Target, GivenUp> {
        let cells = self.cells_of(event);
        if cells.len() < 2 {
            return Ok(if cells.is_empty() { Target::Other } else { Target::Cell(cells.start) });
        }
        let context = self.context(inside);
        let mut skipped = i64::from(place.offset);
        for index in &place.indices {
            let length = self.value(inside, context, index.length).ok_or(GivenUp)?;
            let Some(at) = self.value(inside, context, index.operand) else {
                self.split_index(state, inside, index.operand, length)?;
                return Ok(Target::Split);
            };
            if !(0..length).contains(&at) {
                // Outside the array the program fails.
                return Ok(Target::Split);
            }
            skipped += at * i64::from(index.stride);
        }
        let skipped = u32::try_from(skipped).map_err(|_| GivenUp)?;
        let base = match place.base.register() {
            Some(register) => Some(self.byte_at(context, register).ok_or(GivenUp)?),
            None => None,
        };
        let concurrency = self.of.concurrency;
        let location = &concurrency.locations[concurrency.locations_of(&concurrency.events[event as usize])[0]];
        let leaf = &self.of.program.leaves[location.leaf];
        let element = match base {
            Some(byte) => byte.checked_add(skipped).and_then(|byte| leaf.element_at_byte(byte)),
            None => leaf.element_at(skipped),
        };
        let element = element.ok_or(GivenUp)?;
        let cell = cells.start + element as usize;
        if cells.contains(&cell) { Ok(Target::Cell(cell)) } else { Err(GivenUp) }
    }

    /// Goes on in a state for each element that an index may mean.
    fn split_index(&mut self, state: &State, inside: &Inside, operand: Operand, length: i64) -> Result<(), GivenUp> {
        let Operand::Register(register) = operand else { return Err(GivenUp) };
        if length > i64::from(MAX_LENGTH) {
            return Err(GivenUp);
        }
        let context = self.context(inside);
        for element in 0..length {
            let mut inside = inside.clone();
            self.set(&mut inside, context, register, Some(element));
            if self.value(&inside, context, operand) != Some(element) {
                return Err(GivenUp);
            }
            self.enter_anew(State { inside: Some(inside), ..state.clone() });
        }
        Ok(())
    }

    /// Where a `bool` is not known, there is a state for each value.
    fn split_bool(&mut self, state: &State, inside: &Inside, cell: usize, event: u32) -> bool {
        let concurrency = self.of.concurrency;
        let location = concurrency.locations_of(&concurrency.events[event as usize])[0];
        let kind = self.of.program.leaves[concurrency.locations[location].leaf].kind;
        let is_open = self.values != Values::Nothing && state.cells[cell].value.is_none();
        if kind != LeafKind::Data(ScalarType::Bool) || !is_open {
            return false;
        }
        for value in 0..2 {
            let mut next = State { inside: Some(inside.clone()), ..state.clone() };
            next.cells[cell].value = Some(value);
            self.enter_anew(next);
        }
        true
    }

    /// A write outside the bodies.
    pub fn write_outside(&mut self, state: &State, event: u32, block: u32) -> Result<(), GivenUp> {
        let concurrency = self.of.concurrency;
        let offset = event - concurrency.first_event(block) as u32;
        let position = self.instruction_behind(block, offset)? - 1;
        let of = concurrency.blocks[block as usize];
        let function = concurrency.contexts[of.context].function;
        let source = of.source.ok_or(GivenUp)?;
        let what = &self.of.program.functions[function].blocks[source].instructions[position as usize];
        let definition = definition_of(&concurrency.events[event as usize]);
        let nothing = Inside { block, instruction: position, event: offset, ..Inside::default() };
        let value = match (what, definition) {
            (Instruction::Store { value, .. }, Some(definition)) => {
                let value = self.value(&nothing, of.context, *value);
                self.kept(definition, value)
            }
            _ => None,
        };
        let cells = self.cells_of(event);
        if matches!(what, Instruction::Allocate { .. }) {
            let mut next = state.clone();
            cells.for_each(|cell| next.cells[cell] = Cell { definition, value: None });
            self.enter(next);
            return Ok(());
        }
        if matches!(what, Instruction::Atomic { op, .. } if op.may_fail()) {
            self.enter(state.clone());
        }
        for cell in cells {
            let mut next = state.clone();
            next.cells[cell] = Cell { definition, value };
            self.enter(next);
        }
        Ok(())
    }
}
