//! Tries that certainly took, or did not take, their lock: the results that the branches of a function show.
//!
//! **Input**: a function, and which functions may release a lock. **Output**: for each side of each branch, the try operations
//! (`trylock`, `tryrdlock`, `trywrlock`) whose last result is known there.
//!
//! **Algorithm** (forward must-analysis of implications)
//! 1. For each register, compute as sets of results what its value true implies, and what its value false implies. If a register
//!    cannot have a value, that value implies everything. So `got = a && trylock(L)`, which is control flow, is handled
//!    correctly.
//! 2. The result of a try implies itself; copies, `!`, `&` and `|` propagate implications. Paths meet by intersection.
//! 3. On each side of a branch, the implications of its condition become known.
//! 4. A try makes its own earlier result unknown. An operation that releases some lock, and a call that may do so, make all true
//!    results unknown: the lock may be free again.
//!
//! **Soundness and limits**: a known result on a side of a branch holds on every path to it. A lock that a try is known to have
//! taken has not been released since. The analysis does not see results that are stored in memory, returned or passed.

use cssame_ir::{BinaryOperator, RegisterType};
use cssame_ir::{
    BlockId, Function, FunctionId, Instruction, Operand, Program, RegisterId, ScalarType, Terminator, UnaryOperator,
    Value,
};
use fixedbitset::FixedBitSet;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The place of an operation that tries.
pub(super) type Try = (BlockId, u32);

/// The last verdict of an operation that tries.
pub(super) type Verdict = (Try, bool);

/// Verdicts that a value of a register implies; `None` where it cannot have that value.
type Implied = Option<BTreeSet<Verdict>>;

/// What is known at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Facts {
    known: BTreeSet<Verdict>,
    /// For each register: what its being false implies, and its being true.
    registers: BTreeMap<RegisterId, [Implied; 2]>,
}

/// For both sides of the branches at the ends of blocks, first the one where the condition holds not: what has become known.
pub(super) type Sides = BTreeMap<BlockId, [Vec<Verdict>; 2]>;

/// Functions that may release a lock, in themselves or in what they call.
pub(super) fn releasing_functions(program: &Program) -> FixedBitSet {
    let mut releasing = FixedBitSet::with_capacity(program.functions.len());
    loop {
        let before = releasing.count_ones(..);
        for (id, function) in program.functions.entries() {
            let mut instructions = function.blocks.iter().flat_map(|block| &block.instructions);
            if instructions.any(|instruction| releases(instruction, &releasing)) {
                releasing.insert(id.index());
            }
        }
        if releasing.count_ones(..) == before {
            return releasing;
        }
    }
}

fn releases(instruction: &Instruction, releasing: &FixedBitSet) -> bool {
    match instruction {
        Instruction::Synchronise(operation) => operation.kind.needs_held_lock(),
        Instruction::Call { function, .. } => releasing.contains(function.index()),
        _ => false,
    }
}

/// Whether a function has an operation that tries.
fn has_tries(function: &Function) -> bool {
    let mut instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    instructions.any(|one| matches!(one, Instruction::Synchronise(operation) if operation.kind.tries()))
}

/// What the branches of a function tell of verdicts.
pub(super) fn known_verdicts(program: &Program, id: FunctionId, releasing: &FixedBitSet) -> Sides {
    let function = &program.functions[id];
    let mut sides = Sides::new();
    if !has_tries(function) {
        return sides;
    }
    let mut at_entry: Vec<Option<Facts>> = vec![None; function.blocks.len()];
    let Some(first) = at_entry.first_mut() else { return sides };
    *first = Some(Facts::default());
    let mut waiting = VecDeque::from([BlockId(0)]);
    while let Some(block) = waiting.pop_front() {
        let Some(mut facts) = at_entry[block.index()].clone() else { continue };
        for (position, instruction) in function.blocks[block].instructions.iter().enumerate() {
            facts.step(function, (block, position as u32), instruction, releasing);
        }
        for (target, of_side, holds) in facts.ways(&function.blocks[block].terminator) {
            if let Some(holds) = holds {
                let new = of_side.known.difference(&facts.known).copied().collect();
                sides.entry(block).or_default()[usize::from(holds)] = new;
            }
            let met = match &at_entry[target.index()] {
                Some(known) => known.meet(&of_side),
                None => of_side,
            };
            if at_entry[target.index()].as_ref() != Some(&met) {
                at_entry[target.index()] = Some(met);
                waiting.push_back(target);
            }
        }
    }
    sides
}

impl Facts {
    /// What is known where two ways meet.
    fn meet(&self, other: &Facts) -> Facts {
        let known = self.known.intersection(&other.known).copied().collect();
        let both = |one: &Implied, two: &Implied| match (one, two) {
            (Some(one), Some(two)) => Some(one.intersection(two).copied().collect()),
            (only, None) | (None, only) => only.clone(),
        };
        let registers = self.registers.iter().filter_map(|(register, one)| {
            let two = other.registers.get(register)?;
            Some((*register, [both(&one[0], &two[0]), both(&one[1], &two[1])]))
        });
        Facts { known, registers: registers.collect() }
    }

    fn of(&self, register: RegisterId) -> [Implied; 2] {
        let nothing = || Some(BTreeSet::new());
        self.registers.get(&register).cloned().unwrap_or_else(|| [nothing(), nothing()])
    }

    fn of_operand(&self, operand: Operand) -> [Implied; 2] {
        match operand {
            Operand::Register(register) => self.of(register),
            Operand::Constant(Value::Bool(true)) => [None, Some(BTreeSet::new())],
            Operand::Constant(Value::Bool(false)) => [Some(BTreeSet::new()), None],
            Operand::Constant(_) => [Some(BTreeSet::new()), Some(BTreeSet::new())],
        }
    }

    /// A register gets a value of which that is implied, beside what is known now.
    fn set(&mut self, dest: RegisterId, implied: [Implied; 2]) {
        let implied = implied.map(|of| of.map(|of| of.union(&self.known).copied().collect::<BTreeSet<Verdict>>()));
        let is_trivial = implied.iter().all(|of| of.as_ref().is_some_and(BTreeSet::is_empty));
        if is_trivial {
            self.registers.remove(&dest);
        } else {
            self.registers.insert(dest, implied);
        }
    }

    fn forget(&mut self, is_forgotten: impl Fn(&Verdict) -> bool) {
        self.known.retain(|verdict| !is_forgotten(verdict));
        for implied in self.registers.values_mut().flatten().flatten() {
            implied.retain(|verdict| !is_forgotten(verdict));
        }
    }

    fn step(&mut self, function: &Function, at: Try, instruction: &Instruction, releasing: &FixedBitSet) {
        if releases(instruction, releasing) {
            self.forget(|&(_, taken)| taken);
        }
        match instruction {
            Instruction::Synchronise(operation) if operation.kind.tries() => {
                self.forget(|&(site, _)| site == at);
                if let Some(dest) = operation.verdict {
                    let implied = [false, true].map(|taken| Some(BTreeSet::from([(at, taken)])));
                    self.set(dest, implied);
                }
            }
            Instruction::Copy { dest, source } => self.set(*dest, self.of_operand(*source)),
            Instruction::Unary { dest, op: UnaryOperator::Not, operand } => {
                let [if_false, if_true] = self.of_operand(*operand);
                self.set(*dest, [if_true, if_false]);
            }
            Instruction::Unary { dest, op: UnaryOperator::Convert(from, to), operand } if keeps_truth(*from, *to) => {
                self.set(*dest, self.of_operand(*operand));
            }
            Instruction::Binary { dest, op: op @ (BinaryOperator::And | BinaryOperator::Or), left, right }
                if function.registers[*dest].ty == RegisterType::Scalar(ScalarType::Bool) =>
            {
                let implied = connective(*op == BinaryOperator::And, self.of_operand(*left), self.of_operand(*right));
                self.set(*dest, implied);
            }
            _ => {
                if let Some(dest) = instruction.dest() {
                    self.registers.remove(&dest);
                }
            }
        }
    }

    /// The ways from the end of a block: the target, what is known there, and on which side of a branch it is.
    fn ways(&self, terminator: &Terminator) -> Vec<(BlockId, Facts, Option<bool>)> {
        match *terminator {
            Terminator::Branch { condition: Operand::Register(condition), then_block, else_block } => {
                let [if_false, if_true] = self.of(condition);
                let ways = [(else_block, if_false, false), (then_block, if_true, true)];
                // Where the condition cannot have that value, control does not come.
                let ways = ways.into_iter().filter_map(|(target, implied, holds)| {
                    let mut facts = self.clone();
                    facts.known.extend(implied?);
                    Some((target, facts, Some(holds)))
                });
                ways.collect()
            }
            _ => terminator.successors().map(|target| (target, self.clone(), None)).collect(),
        }
    }
}

/// Whether a conversion gives zero (false) for zero alone.
fn keeps_truth(from: ScalarType, to: ScalarType) -> bool {
    use ScalarType::{Bool, Int, Long};
    matches!((from, to), (Bool, Int | Long) | (Int | Long, Bool) | (Int, Long))
}

/// What `a & b` and `a | b` imply.
fn connective(is_and: bool, left: [Implied; 2], right: [Implied; 2]) -> [Implied; 2] {
    let both = |one: &Implied, two: &Implied| match (one, two) {
        (Some(one), Some(two)) => Some(one.union(two).copied().collect()),
        _ => None,
    };
    let either = |one: &Implied, two: &Implied| match (one, two) {
        (Some(one), Some(two)) => Some(one.intersection(two).copied().collect()),
        (only, None) | (None, only) => only.clone(),
    };
    let ([left_false, left_true], [right_false, right_true]) = (left, right);
    if is_and {
        [either(&left_false, &right_false), both(&left_true, &right_true)]
    } else {
        [both(&left_false, &right_false), either(&left_true, &right_true)]
    }
}
