//! The value flow within one function, for [`super::StaleUses`].
//!
//! **Input**: a function, and the summaries of its callees. **Output**: its [`Summary`].
//!
//! **Algorithm**: a worklist in reverse postorder over the states at the entries of blocks. States only grow, except for the set
//! of re-tested variables, which is the intersection over all paths to a place.
//!
//! **Soundness and limits**: at most [`MAX_ORIGINS`] origins of one register, and [`MAX_PASSES`] passes; anything beyond is left
//! out.

use super::super::control::Control;
use super::super::sync_free_region::is_synchronisation;
use super::object::{Object, Objects};
use super::state::{State, Values};
use super::{Effect, From, Level, Origin, Summary};
use cssame_ir::{
    BlockId, DefinitionId, Function, FunctionId, Instruction, Operand, Program, RegisterId, SymbolId, Terminator, flow,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Origins that a register keeps.
const MAX_ORIGINS: usize = 64;
/// Passes over a function.
const MAX_PASSES: usize = 16;

/// The pass over one function.
pub(super) struct Flow<'a> {
    program: &'a Program,
    summaries: &'a [Summary],
    id: FunctionId,
    function: &'a Function,
    control: Control,
    /// What reference registers point into.
    objects: Rc<Objects>,
    out: Summary,
}

impl<'a> Flow<'a> {
    pub fn new(program: &'a Program, summaries: &'a [Summary], id: FunctionId) -> Flow<'a> {
        let function = &program.functions[id];
        let (control, objects) = (Control::of(function), Rc::new(Objects::of(function)));
        Flow { program, summaries, id, function, control, objects, out: Summary::default() }
    }

    pub fn run(mut self) -> Summary {
        let function = self.function;
        let order = flow::reverse_postorder(function, flow::Successors::InOrder);
        let mut entries: BTreeMap<BlockId, State> = BTreeMap::new();
        let mut first = State::default();
        for (position, &parameter) in function.parameters.iter().enumerate() {
            let from = From::Parameter(position as u32);
            first.registers.insert(parameter, BTreeSet::from([(Origin::of(from), Level::Fresh)]));
            self.out.holds.insert((self.id, parameter, from));
        }
        entries.insert(BlockId(0), first);
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for &block in &order {
                let Some(mut state) = entries.get(&block).cloned() else { continue };
                self.block(block, &mut state);
                for target in function.blocks[block].terminator.successors() {
                    changed |= match entries.get_mut(&target) {
                        Some(known) => known.join(&state),
                        None => entries.insert(target, state.clone()).is_none(),
                    };
                }
            }
            if !changed {
                break;
            }
        }
        self.find_writes(&entries);
        self.out
    }

    fn block(&mut self, block: BlockId, state: &mut State) {
        let content = &self.function.blocks[block];
        for instruction in &content.instructions {
            self.instruction(block, state, instruction);
        }
        match content.terminator {
            Terminator::Branch { condition, .. } => self.branch(block, state, condition),
            Terminator::Return(value) | Terminator::End(value) => {
                let values = value.map_or_else(Values::new, |value| state.operand(value));
                self.show(&values);
                self.out.returns.extend(values);
                self.out.synchronises |= state.synchronised;
            }
            Terminator::Jump(_) => {}
        }
    }

    fn branch(&self, block: BlockId, state: &mut State, condition: Operand) {
        let values = state.operand(condition);
        for &(origin, level) in &values {
            if let (From::Read(read), Level::Fresh) = (origin.from, level) {
                let symbol = self.program.reads[read].symbol;
                state.tested.insert(symbol);
                let stale = values.iter().filter(|each| each.1 != Level::Fresh || each.0 != origin);
                state.compared.extend(stale.map(|each| (symbol, each.0.from)));
            }
        }
        state.branches.insert(block, values);
    }

    fn instruction(&mut self, block: BlockId, state: &mut State, instruction: &Instruction) {
        match instruction {
            Instruction::Load { dest, place, read } => {
                let object = self.objects.of_base(place.base);
                self.read_anew(state, (self.program.reads[*read].symbol, object));
                let origin = Origin { object, ..Origin::of(From::Read(*read)) };
                self.set(block, state, *dest, BTreeSet::from([(origin, Level::Fresh)]));
            }
            Instruction::Store { value, definition, .. } => {
                let values = state.operand(*value);
                self.write(block, state, *definition, &values);
            }
            Instruction::Atomic { dest, op, read, definition, .. } => {
                state.cross();
                for value in op.operands().filter(|_| !op.may_fail()) {
                    let values = state.operand(value);
                    self.write(block, state, *definition, &values);
                }
                self.set(block, state, *dest, BTreeSet::from([(Origin::of(From::Read(*read)), Level::Stale)]));
            }
            Instruction::Copy { dest, source } => {
                let mut values = state.operand(*source);
                // Which of several values it gets, the branches decide.
                for branch in self.control.direct(block).iter().filter(|&&branch| !self.control.is_loop_branch(branch))
                {
                    values.extend(state.branches.get(branch).into_iter().flatten());
                }
                self.set(block, state, *dest, values);
            }
            Instruction::Unary { dest, operand: only, .. } => {
                let values = state.operand(*only);
                self.set(block, state, *dest, values);
            }
            Instruction::Binary { dest, left, right, .. } => {
                let mut values = state.operand(*left);
                values.extend(state.operand(*right));
                self.set(block, state, *dest, values);
            }
            Instruction::Call { dest, function, arguments } => self.call(block, state, (*dest, *function, arguments)),
            Instruction::Print { arguments, .. } => {
                arguments.iter().for_each(|one| self.show(&state.operand(one.operand)));
            }
            Instruction::Assert { condition, .. } => self.show(&state.operand(*condition)),
            _ => {
                if is_synchronisation(instruction) {
                    state.cross();
                }
                if let Some(dest) = instruction.dest() {
                    state.registers.remove(&dest);
                }
            }
        }
    }

    /// Which of several values it is, the branches decide.
    fn add_choice(&self, block: BlockId, state: &State, values: &mut Values) {
        for branch in self.control.direct(block).iter().filter(|&&branch| !self.control.is_loop_branch(branch)) {
            let deciding = state.branches.get(branch).into_iter().flatten();
            values.extend(deciding.map(|&(origin, level)| (origin.steering(), level)));
        }
    }

    /// A register gets a value.
    fn set(&mut self, block: BlockId, state: &mut State, dest: RegisterId, mut values: Values) {
        if self.function.registers[dest].name.is_some() {
            self.add_choice(block, state, &mut values);
            self.out.holds.extend(values.iter().map(|value| (self.id, dest, value.0.from)));
        }
        while values.len() > MAX_ORIGINS {
            values.pop_last();
        }
        state.registers.insert(dest, values);
    }

    /// A variable is read: what was read of it before is now one of two values.
    fn read_anew(&mut self, state: &mut State, (symbol, object): (SymbolId, Object)) {
        self.out.reads.insert((symbol, object));
        let program = self.program;
        for values in state.all() {
            let again = |&(origin, level): &(Origin, Level)| match origin.from {
                From::Read(read)
                    if level == Level::Stale
                        && program.reads[read].symbol == symbol
                        && origin.object.may_be(object) =>
                {
                    (origin, Level::Repeated)
                }
                _ => (origin, level),
            };
            *values = values.iter().map(again).collect();
        }
    }

    /// The values are printed, returned or asserted.
    fn show(&mut self, values: &Values) {
        let repeated = values.iter().filter(|value| value.1 == Level::Repeated && !value.0.steers);
        self.out.uses.extend(repeated.map(|value| (value.0, Level::Repeated, Effect::Repeated)));
    }

    fn write(&mut self, block: BlockId, state: &mut State, definition: DefinitionId, values: &Values) {
        let effect = Effect::Write(definition);
        for &(origin, level) in values {
            let compared = self.symbol(origin).is_some_and(|symbol| state.compared.contains(&(symbol, origin.from)));
            if !compared {
                self.note(origin, level, effect);
            }
        }
        self.under_branches(block, state, |flow, origin, level| {
            if flow.symbol(origin).is_none_or(|symbol| !state.tested.contains(&symbol)) {
                flow.note(origin.steering(), level, effect);
            }
        });
        self.draw(state, self.program.definitions[definition].symbol);
    }

    /// A variable is written: what was read of it in the same region is meant to be the old value.
    fn draw(&self, state: &mut State, symbol: SymbolId) {
        for values in state.all() {
            let drawn = |&(origin, level): &(Origin, Level)| {
                let own = level == Level::Fresh && self.symbol(origin) == Some(symbol);
                (if own { origin.steering() } else { origin }, level)
            };
            *values = values.iter().map(drawn).collect();
        }
    }

    fn note(&mut self, origin: Origin, level: Level, effect: Effect) {
        // What a caller hands over may be stale already.
        if level != Level::Fresh || matches!(origin.from, From::Parameter(_)) {
            self.out.uses.insert((origin, level, effect));
        }
    }

    /// Calls `f` with what decides whether a block runs.
    fn under_branches(&mut self, block: BlockId, state: &State, mut f: impl FnMut(&mut Self, Origin, Level)) {
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut waiting: Vec<BlockId> = self.control.direct(block).to_vec();
        while let Some(branch) = waiting.pop() {
            if !seen.insert(branch) {
                continue;
            }
            waiting.extend(self.control.direct(branch));
            for &(origin, level) in state.branches.get(&branch).into_iter().flatten() {
                f(self, origin, level);
            }
        }
    }

    fn symbol(&self, origin: Origin) -> Option<SymbolId> {
        match origin.from {
            From::Read(read) => Some(self.program.reads[read].symbol),
            From::Parameter(_) => None,
        }
    }

    fn call(
        &mut self,
        block: BlockId,
        state: &mut State,
        (dest, callee, arguments): (Option<RegisterId>, FunctionId, &[Operand]),
    ) {
        let summary = &self.summaries[callee.index()];
        let objects = Rc::clone(&self.objects);
        let handed_on = |state: &State, origin: Origin, level: Level| match origin.from {
            From::Read(_) => {
                let object = objects.of_argument(origin.object, arguments);
                BTreeSet::from([(Origin { object, ..origin }, level)])
            }
            From::Parameter(position) => {
                let argument = arguments.get(position as usize);
                let values = argument.map_or_else(Values::new, |&argument| state.operand(argument));
                let handed = |(own, before): (Origin, Level)| {
                    (Origin { steers: own.steers || origin.steers, ..own }, before.max(level))
                };
                values.into_iter().map(handed).collect()
            }
        };
        for &(function, register, from) in &summary.holds {
            let values = handed_on(state, Origin::of(from), Level::Fresh);
            self.out.holds.extend(values.iter().map(|value| (function, register, value.0.from)));
        }
        for &(origin, level, effect) in &summary.uses {
            for (origin, level) in handed_on(state, origin, level) {
                self.note(origin, level, effect);
            }
        }
        for (definition, after, tested) in &summary.writes {
            let least = if *after { Level::Stale } else { Level::Fresh };
            self.under_branches(block, state, |flow, origin, level| {
                let symbol = flow.symbol(origin);
                let known = |symbol: SymbolId| tested.contains(&symbol) || !after && state.tested.contains(&symbol);
                if symbol.is_none_or(|symbol| !known(symbol)) {
                    flow.note(origin.steering(), level.max(least), Effect::Write(*definition));
                }
            });
        }
        let mut returned = Values::new();
        for &(origin, level) in &summary.returns {
            returned.extend(handed_on(state, origin, level));
        }
        if summary.synchronises {
            state.cross();
        }
        for &(symbol, object) in &summary.reads {
            let object = objects.of_argument(object, arguments);
            self.read_anew(state, (symbol, object));
        }
        if let Some(dest) = dest {
            self.set(block, state, dest, returned);
        }
    }

    /// The writes of the function and its callees, for those who call it under a condition.
    fn find_writes(&mut self, entries: &BTreeMap<BlockId, State>) {
        for (&block, state) in entries {
            let mut state = state.clone();
            for instruction in &self.function.blocks[block].instructions {
                match instruction {
                    Instruction::Store { definition, .. } | Instruction::Atomic { definition, .. } => {
                        let known = (*definition, state.synchronised, state.tested.clone());
                        self.out.writes.push(known);
                    }
                    Instruction::Call { function, .. } => {
                        for (definition, after, tested) in &self.summaries[function.index()].writes {
                            let own = if *after { BTreeSet::new() } else { state.tested.clone() };
                            let tested = tested.union(&own).copied().collect();
                            self.out.writes.push((*definition, *after || state.synchronised, tested));
                        }
                    }
                    _ => {}
                }
                self.instruction(block, &mut state, instruction);
            }
        }
        self.out.writes.sort();
        self.out.writes.dedup();
        self.out.writes.truncate(MAX_ORIGINS * MAX_ORIGINS);
    }
}
