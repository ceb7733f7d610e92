//! The flow of values within one function, for [`super::StaleUses`].
//!
//! **Input**: a function, and what its callees do. **Output**: its [`Summary`].
//!
//! **Algorithm**: a worklist in reverse postorder over the states at the entries of blocks. States only grow, but for what was
//! tested anew, which is what all ways to a place have tested.
//!
//! **Soundness and limits**: at most [`MAX_ORIGINS`] origins of one register, and [`MAX_PASSES`] passes; what exceeds them is left out.

use super::super::control::Control;
use super::super::sync_free_region::is_synchronisation;
use super::{Effect, Level, Origin, Summary};
use crate::ir::{
    AtomicOperation, BlockId, DefinitionId, Function, FunctionId, Instruction, Operand, Program, RegisterId, SymbolId,
    Terminator, flow,
};
use std::collections::{BTreeMap, BTreeSet};

/// Origins that a register keeps.
const MAX_ORIGINS: usize = 64;
/// Passes over a function.
const MAX_PASSES: usize = 16;

type Values = BTreeSet<(Origin, Level)>;

/// What is known at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    registers: BTreeMap<RegisterId, Values>,
    /// What the branches were decided by that were passed, each as it was passed last.
    branches: BTreeMap<BlockId, Values>,
    /// Variables that were read and tested since the last synchronisation, on all ways.
    tested: BTreeSet<SymbolId>,
    /// What they were tested against.
    compared: BTreeSet<(SymbolId, Origin)>,
    /// Whether others may have been let in since the function began.
    synchronised: bool,
}

impl State {
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        for (&register, values) in &other.registers {
            self.registers.entry(register).or_default().extend(values);
        }
        for (&branch, values) in &other.branches {
            self.branches.entry(branch).or_default().extend(values);
        }
        self.tested.retain(|symbol| other.tested.contains(symbol));
        self.compared.retain(|pair| other.compared.contains(pair));
        self.synchronised |= other.synchronised;
        *self != before
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Values> {
        self.registers.values_mut().chain(self.branches.values_mut())
    }

    /// Others are let in.
    fn cross(&mut self) {
        self.all().for_each(|values| *values = raised(values, Level::Stale));
        self.tested.clear();
        self.compared.clear();
        self.synchronised = true;
    }
}

/// Values with at least that level.
fn raised(values: &Values, level: Level) -> Values {
    values.iter().map(|&(origin, own)| (origin, own.max(level))).collect()
}

/// The pass over one function.
pub(super) struct Flow<'a> {
    program: &'a Program,
    summaries: &'a [Summary],
    id: FunctionId,
    function: &'a Function,
    control: Control,
    out: Summary,
}

impl<'a> Flow<'a> {
    pub fn new(program: &'a Program, summaries: &'a [Summary], id: FunctionId) -> Flow<'a> {
        let function = &program.functions[id];
        Flow { program, summaries, id, function, control: Control::of(function), out: Summary::default() }
    }

    pub fn run(mut self) -> Summary {
        let function = self.function;
        let order = flow::reverse_postorder(function, flow::Successors::InOrder);
        let mut entries: BTreeMap<BlockId, State> = BTreeMap::new();
        let mut first = State::default();
        for (position, &parameter) in function.parameters.iter().enumerate() {
            let origin = Origin::Parameter(position as u32);
            first.registers.insert(parameter, BTreeSet::from([(origin, Level::Fresh)]));
            self.out.holds.insert((self.id, parameter, origin));
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
            Terminator::Return(value) => {
                let values = value.map_or_else(Values::new, |value| operand(state, value));
                self.show(&values);
                self.out.returns.extend(values);
                self.out.synchronises |= state.synchronised;
            }
            Terminator::Jump(_) => {}
        }
    }

    fn branch(&self, block: BlockId, state: &mut State, condition: Operand) {
        let values = operand(state, condition);
        for &(origin, level) in &values {
            if let (Origin::Read(read), Level::Fresh) = (origin, level) {
                let symbol = self.program.reads[read].symbol;
                state.tested.insert(symbol);
                let stale = values.iter().filter(|each| each.1 != Level::Fresh || each.0 != origin);
                state.compared.extend(stale.map(|each| (symbol, each.0)));
            }
        }
        state.branches.insert(block, values);
    }

    fn instruction(&mut self, block: BlockId, state: &mut State, instruction: &Instruction) {
        match instruction {
            Instruction::Load { dest, read, .. } => {
                self.read_anew(state, self.program.reads[*read].symbol);
                self.set(block, state, *dest, BTreeSet::from([(Origin::Read(*read), Level::Fresh)]));
            }
            Instruction::Store { value, definition, .. } => {
                let values = operand(state, *value);
                self.write(block, state, *definition, &values);
            }
            Instruction::Atomic { dest, op, read, definition, .. } => {
                state.cross();
                match op {
                    AtomicOperation::CompareAndSwap { .. } => {}
                    AtomicOperation::Swap(value) | AtomicOperation::FetchAdd(value, _) => {
                        let values = operand(state, *value);
                        self.write(block, state, *definition, &values);
                    }
                }
                self.set(block, state, *dest, BTreeSet::from([(Origin::Read(*read), Level::Stale)]));
            }
            Instruction::Copy { dest, source } => {
                let mut values = operand(state, *source);
                // Which of several values it gets, the branches decide.
                for branch in self.control.direct(block).iter().filter(|&&branch| !self.control.is_loop_branch(branch))
                {
                    values.extend(state.branches.get(branch).into_iter().flatten());
                }
                self.set(block, state, *dest, values);
            }
            Instruction::Unary { dest, operand: only, .. } => {
                let values = operand(state, *only);
                self.set(block, state, *dest, values);
            }
            Instruction::Binary { dest, left, right, .. } => {
                let mut values = operand(state, *left);
                values.extend(operand(state, *right));
                self.set(block, state, *dest, values);
            }
            Instruction::Call { dest, function, arguments } => self.call(block, state, (*dest, *function, arguments)),
            Instruction::Print { arguments } => {
                arguments.iter().for_each(|(argument, _)| self.show(&operand(state, *argument)));
            }
            Instruction::Assert { condition, .. } => self.show(&operand(state, *condition)),
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

    /// A register gets a value.
    fn set(&mut self, block: BlockId, state: &mut State, dest: RegisterId, mut values: Values) {
        if self.function.registers[dest].name.is_some() {
            for branch in self.control.direct(block).iter().filter(|&&branch| !self.control.is_loop_branch(branch)) {
                values.extend(state.branches.get(branch).into_iter().flatten());
            }
            self.out.holds.extend(values.iter().map(|value| (self.id, dest, value.0)));
        }
        while values.len() > MAX_ORIGINS {
            values.pop_last();
        }
        state.registers.insert(dest, values);
    }

    /// A variable is read: what was read of it before is now one of two values.
    fn read_anew(&mut self, state: &mut State, symbol: SymbolId) {
        self.out.reads.insert(symbol);
        let program = self.program;
        for values in state.all() {
            let again = |&(origin, level): &(Origin, Level)| match origin {
                Origin::Read(read) if level == Level::Stale && program.reads[read].symbol == symbol => {
                    (origin, Level::Repeated)
                }
                _ => (origin, level),
            };
            *values = values.iter().map(again).collect();
        }
    }

    /// The values are printed, returned or asserted.
    fn show(&mut self, values: &Values) {
        let repeated = values.iter().filter(|value| value.1 == Level::Repeated);
        self.out.uses.extend(repeated.map(|value| (value.0, Level::Repeated, Effect::Repeated)));
    }

    fn write(&mut self, block: BlockId, state: &State, definition: DefinitionId, values: &Values) {
        let effect = Effect::Write(definition);
        for &(origin, level) in values {
            let compared = self.symbol(origin).is_some_and(|symbol| state.compared.contains(&(symbol, origin)));
            if !compared {
                self.note(origin, level, effect);
            }
        }
        self.under_branches(block, state, |flow, origin, level| {
            if flow.symbol(origin).is_none_or(|symbol| !state.tested.contains(&symbol)) {
                flow.note(origin, level, effect);
            }
        });
    }

    fn note(&mut self, origin: Origin, level: Level, effect: Effect) {
        // What a caller hands over may be stale already.
        if level != Level::Fresh || matches!(origin, Origin::Parameter(_)) {
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
        match origin {
            Origin::Read(read) => Some(self.program.reads[read].symbol),
            Origin::Parameter(_) => None,
        }
    }

    fn call(
        &mut self,
        block: BlockId,
        state: &mut State,
        (dest, callee, arguments): (Option<RegisterId>, FunctionId, &[Operand]),
    ) {
        let summary = &self.summaries[callee.index()];
        let argument = |state: &State, position: u32| {
            arguments.get(position as usize).map_or_else(Values::new, |&argument| operand(state, argument))
        };
        let handed_on = |state: &State, origin: Origin, level: Level| match origin {
            Origin::Read(_) => BTreeSet::from([(origin, level)]),
            Origin::Parameter(position) => raised(&argument(state, position), level),
        };
        for &(function, register, origin) in &summary.holds {
            let values = handed_on(state, origin, Level::Fresh);
            self.out.holds.extend(values.iter().map(|value| (function, register, value.0)));
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
                    flow.note(origin, level.max(least), Effect::Write(*definition));
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
        summary.reads.iter().for_each(|&symbol| self.read_anew(state, symbol));
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

fn operand(state: &State, operand: Operand) -> Values {
    match operand {
        Operand::Register(register) => state.registers.get(&register).cloned().unwrap_or_default(),
        Operand::Constant(_) => Values::new(),
    }
}
