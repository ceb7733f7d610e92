//! The computation of the indices of places: expressions of registers, where equal expressions have equal values.
//!
//! **Input**: a place at a [`Site`]: an instruction of a context. **Output**: for each of its indices, and those of the places
//! from which its reference was made, an expression of registers ([`Term`]s) that has the value of the index at this site.
//!
//! **Algorithm** (value numbering)
//! 1. A register that was computed earlier in the same block is replaced by its expression, as long as none of the registers in
//!    the expression is written in between.
//! 2. A parameter that the function never writes is replaced by the argument of the only call of the context.
//! 3. A register with a single writer is replaced by the expression that the writer computes, if it contains only such parameters
//!    and registers of callers: these do not change while the function runs.
//! 4. Any other register stands for itself.
//! 5. A reference is followed in the same way, to the place whose address it is.
//!
//! **Soundness and limits**: an expression has the value of the index as long as none of its registers is written. Nothing is
//! followed into the creator of the thread, through contexts that stand for several calls, or through memory. Expressions of more
//! than [`MAX_TERMS`] terms stay registers. No laws of arithmetic are applied: `1 + h` and `h + 1` are different.

use super::ContextId;
use super::context::{Site, Unfolding};
use super::unrolling::NO_ITERATION;
use super::value::{AbstractValue, Evaluator};
use cssame_ir::{Base, BinaryOperator, Function, Instruction, Operand, Place, Program, RegisterId, UnaryOperator};
use rustc_hash::FxHashMap;

/// A part of an expression, which is written with operators behind their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// What a register of a context holds.
    Register(ContextId, RegisterId),
    /// A constant.
    Constant(i64),
    /// An operator of one operand.
    Unary(UnaryOperator),
    /// An operator of two.
    Binary(BinaryOperator),
}

/// Terms of an expression at most.
const MAX_TERMS: usize = 16;

/// Registers that are followed one behind the other, and instructions that are looked back over.
const MAX_DEPTH: u32 = 8;
const MAX_BACK: usize = 64;

/// What a place consists of.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// The reference that it is behind, unless what that means is known.
    pub behind: Option<(ContextId, RegisterId)>,
    /// The cells from one element to the next, and the value, of each index that is not constant; the outer ones first.
    pub indices: Vec<(u32, Vec<Term>)>,
}

impl Path {
    fn terms(&self) -> impl Iterator<Item = Term> {
        let behind = self.behind.map(|(context, register)| Term::Register(context, register));
        self.indices.iter().flat_map(|(_, terms)| terms.iter().copied()).chain(behind)
    }
}

/// Finds expressions.
pub(super) struct IndexValues<'a> {
    pub program: &'a Program,
    pub unfolding: &'a Unfolding,
    /// The only call of each context; none of those with several.
    pub callers: &'a FxHashMap<ContextId, Option<Site>>,
}

impl<'a> IndexValues<'a> {
    fn function(&self, at: Site) -> &'a Function {
        &self.program.functions[self.unfolding.contexts[at.context].function]
    }

    fn evaluate<R>(&self, at: Site, f: impl FnOnce(&Evaluator<'_>) -> R) -> R {
        self.unfolding.evaluate(self.program, (at.context, at.iteration), f)
    }

    fn constant(&self, at: Site, operand: Operand) -> Option<i64> {
        self.evaluate(at, |evaluator| evaluator.constant(operand))
    }

    /// The only call that a context stands for, and the operand that it passes for a parameter.
    fn argument(&self, context: ContextId, register: RegisterId) -> Option<(Site, Operand)> {
        let of = &self.unfolding.contexts[context];
        let position = self.unfolding.writers[of.function.index()].parameter(register)?;
        let caller = (*self.callers.get(&context)?)?;
        let is_one =
            |context: ContextId| !self.unfolding.contexts[context].recursive && !self.unfolding.is_merged(context);
        if !is_one(context) || !is_one(caller.context) {
            return None;
        }
        match self.function(caller).blocks[caller.block].instructions.get(caller.position as usize)? {
            Instruction::Call { arguments, .. } => Some((caller, *arguments.get(position as usize)?)),
            _ => None,
        }
    }

    /// Whether the call at a site writes none of some registers when it returns.
    fn survive_call(&self, call: Site, mut terms: impl Iterator<Item = Term>) -> bool {
        let block = &self.function(call).blocks[call.block];
        let result = block.instructions.get(call.position as usize).and_then(Instruction::dest);
        result.is_none_or(|result| terms.all(|term| term != Term::Register(call.context, result)))
    }

    /// Whether registers keep their values as long as a context runs.
    fn are_stable(&self, context: ContextId, mut terms: impl Iterator<Item = Term>) -> bool {
        let writers = &self.unfolding.writers[self.unfolding.contexts[context].function.index()];
        terms.all(|term| match term {
            Term::Register(of, register) => of != context || writers.parameter(register).is_some(),
            _ => true,
        })
    }

    /// Step 1: where a register was written last in the block before a site, and whether it and all that is written since
    /// leave some terms alone.
    fn written_before(&self, at: Site, register: RegisterId) -> Option<(Site, Vec<RegisterId>)> {
        let before = &self.function(at).blocks[at.block].instructions[..at.position as usize];
        let mut since = Vec::new();
        for (position, instruction) in before.iter().enumerate().rev().take(MAX_BACK) {
            since.extend(instruction.dest());
            if instruction.dest() == Some(register) {
                return Some((Site { position: position as u32, ..at }, since));
            }
        }
        None
    }

    /// Step 3: the only place that writes a register, in any iteration.
    fn only_writer(&self, at: Site, register: RegisterId) -> Option<Site> {
        let function = self.unfolding.contexts[at.context].function;
        let (block, position) = self.unfolding.writers[function.index()].place(register)?;
        Some(Site { iteration: NO_ITERATION, block, position, ..at })
    }

    fn instruction(&self, at: Site) -> Option<&'a Instruction> {
        self.function(at).blocks[at.block].instructions.get(at.position as usize)
    }

    fn operand(&self, at: Site, operand: Operand, depth: u32) -> Vec<Term> {
        match operand {
            Operand::Constant(value) => vec![Term::Constant(value.bits())],
            Operand::Register(register) => self.value(at, register, depth),
        }
    }

    /// The value of a register before the instruction at a site.
    fn value(&self, at: Site, register: RegisterId, depth: u32) -> Vec<Term> {
        if let Some(bits) = self.constant(at, Operand::Register(register)) {
            return vec![Term::Constant(bits)];
        }
        let itself = vec![Term::Register(at.context, register)];
        let Some(depth) = depth.checked_sub(1) else { return itself };
        if let Some((place, since)) = self.written_before(at, register) {
            let found = self.computed(place, depth);
            return found.filter(|terms| is_untouched(at.context, &since, terms.iter().copied())).unwrap_or(itself);
        }
        if let Some((call, argument)) = self.argument(at.context, register) {
            let found = self.operand(call, argument, depth);
            return if self.survive_call(call, found.iter().copied()) { found } else { itself };
        }
        let found = self.only_writer(at, register).and_then(|place| self.computed(place, depth));
        found.filter(|terms| self.are_stable(at.context, terms.iter().copied())).unwrap_or(itself)
    }

    /// What an instruction computes, of registers before it.
    fn computed(&self, at: Site, depth: u32) -> Option<Vec<Term>> {
        let terms = match *self.instruction(at)? {
            Instruction::Copy { source, .. } => self.operand(at, source, depth),
            Instruction::Unary { op, operand, .. } => {
                let mut terms = self.operand(at, operand, depth);
                terms.push(Term::Unary(op));
                terms
            }
            Instruction::Binary { op, left, right, .. } => {
                let mut terms = self.operand(at, left, depth);
                terms.extend(self.operand(at, right, depth));
                terms.push(Term::Binary(op));
                terms
            }
            _ => return None,
        };
        (terms.len() <= MAX_TERMS).then_some(terms)
    }

    /// Step 5: what the place of an instruction at a site consists of.
    pub fn path(&self, at: Site, place: &Place) -> Path {
        self.path_of(at, place, MAX_DEPTH)
    }

    fn path_of(&self, at: Site, place: &Place, depth: u32) -> Path {
        let mut path = match place.base {
            Base::Global(_) => Path::default(),
            Base::Reference(register) => self.reference(at, register, depth),
            Base::Pointer(register) => Path { behind: Some((at.context, register)), indices: Vec::new() },
        };
        for index in &place.indices {
            if let (Operand::Register(register), None) = (index.operand, self.constant(at, index.operand)) {
                path.indices.push((index.stride, self.value(at, register, depth)));
            }
        }
        path
    }

    /// The place that a reference leads to.
    fn reference(&self, at: Site, register: RegisterId, depth: u32) -> Path {
        let is_exact = self.evaluate(at, |evaluator| match evaluator.operand(Operand::Register(register)) {
            AbstractValue::References(addresses) => addresses.iter().all(|address| address.exact),
            _ => false,
        });
        if is_exact {
            return Path::default();
        }
        let itself = Path { behind: Some((at.context, register)), indices: Vec::new() };
        let Some(depth) = depth.checked_sub(1) else { return itself };
        if let Some((place, since)) = self.written_before(at, register) {
            let found = self.made(place, depth);
            return found.filter(|path| is_untouched(at.context, &since, path.terms())).unwrap_or(itself);
        }
        if let Some((call, Operand::Register(argument))) = self.argument(at.context, register) {
            let found = self.reference(call, argument, depth);
            return if self.survive_call(call, found.terms()) { found } else { itself };
        }
        let found = self.only_writer(at, register).and_then(|place| self.made(place, depth));
        found.filter(|path| self.are_stable(at.context, path.terms())).unwrap_or(itself)
    }

    /// The place that an instruction makes a reference to.
    fn made(&self, at: Site, depth: u32) -> Option<Path> {
        match self.instruction(at)? {
            Instruction::Address { place, .. } => Some(self.path_of(at, place, depth)),
            Instruction::Copy { source: Operand::Register(source), .. } => Some(self.reference(at, *source, depth)),
            _ => None,
        }
    }
}

/// Whether none of the registers of a context that were written stands in some terms.
fn is_untouched(context: ContextId, written: &[RegisterId], mut terms: impl Iterator<Item = Term>) -> bool {
    terms.all(|term| match term {
        Term::Register(of, register) => of != context || !written.contains(&register),
        _ => true,
    })
}
