//! The inclusions that a program says directly.
//!
//! In: a program. Out: [`Constraints`]: sets by number, what they hold from the start, and how values flow from one to another.

use super::Target;
use super::step::{Step, moved};
use crate::{
    Base, BinaryOperator, Function, FunctionId, Instruction, LeafId, NewThread, Object, Operand, Place, Program,
    RegisterId, Terminator, UnaryOperator, Value,
};

use rustc_hash::FxHashMap;

/// A number of a set.
pub type Set = u32;

/// An access through a pointer.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// What is there flows into the set.
    Load(Set),
    /// The set flows there.
    Store(Set),
    /// The target itself is put there.
    Put(Target),
}

/// All that is asked for.
#[derive(Debug, Default)]
pub struct Constraints {
    /// By function: the number of its first register.
    pub firsts: Vec<u32>,
    /// The set of the first leaf; leaves follow each other.
    pub first_leaf: Set,
    /// Number of all sets.
    pub count: usize,
    /// What sets hold from the start.
    pub initial: Vec<(Set, Target)>,
    /// From, to, and what happens in between.
    pub flows: Vec<(Set, Set, Step)>,
    /// Accesses through a pointer: its set, and the bytes behind it.
    pub accesses: Vec<(Set, u32, Access)>,
}

/// Gathers the constraints of a program.
pub fn constraints(program: &Program) -> Constraints {
    let mut firsts = Vec::with_capacity(program.functions.len());
    let mut next: u32 = 0;
    for function in program.functions.iter() {
        firsts.push(next);
        next += function.registers.len() as u32;
    }
    let (first_result, first_leaf) = (next, next + program.functions.len() as u32 + 1);
    let count = first_leaf as usize + program.leaves.len();
    let constraints = Constraints { firsts, first_leaf, count, ..Constraints::default() };
    let mut gather =
        Gather { program, constraints, first_result, function: FunctionId(0), factors: FxHashMap::default() };
    gather.initial_values();
    for (id, function) in program.functions.entries() {
        gather.function = id;
        gather.factors = factors(function);
        gather.add_function(function);
    }
    gather.constraints
}

struct Gather<'p> {
    program: &'p Program,
    constraints: Constraints,
    /// The set of the first function's result; behind all of them that of threads.
    first_result: Set,
    function: FunctionId,
    /// By register of the function: the constant that the only instruction which writes it multiplies by.
    factors: FxHashMap<RegisterId, u32>,
}

/// What a value is made of.
enum Source {
    Set(Set),
    Target(Target),
    Nothing,
}

impl Gather<'_> {
    fn initial_values(&mut self) {
        for (id, leaf) in self.program.leaves.entries() {
            for target in leaf.initial.iter().filter_map(|&value| target_of(value)) {
                let set = self.constraints.first_leaf + id.0;
                self.constraints.initial.push((set, target));
            }
        }
    }

    fn register_of(&self, function: FunctionId, register: RegisterId) -> Set {
        self.constraints.firsts[function.index()] + register.0
    }

    fn register(&self, register: RegisterId) -> Set {
        self.register_of(self.function, register)
    }

    fn result(&self, function: FunctionId) -> Set {
        self.first_result + function.0
    }

    fn thread_result(&self) -> Set {
        self.first_result + self.program.functions.len() as u32
    }

    fn source(&self, operand: Operand) -> Source {
        match operand {
            Operand::Register(register) => Source::Set(self.register(register)),
            Operand::Constant(value) => target_of(value).map_or(Source::Nothing, Source::Target),
        }
    }

    fn flow(&mut self, from: Operand, to: Set, step: Step) {
        match self.source(from) {
            Source::Set(from) => self.constraints.flows.push((from, to, step)),
            Source::Target(target) => {
                let moved = moved(self.program, target, step);
                self.constraints.initial.push((to, moved));
            }
            Source::Nothing => {}
        }
    }

    /// The leaf of a place in a global.
    fn leaf(&self, place: &Place) -> Option<LeafId> {
        let Base::Global(variable) = place.base else { return None };
        self.program.leaf_at(variable, place.offset).map(|(leaf, _)| leaf)
    }

    fn load(&mut self, place: &Place, dest: RegisterId) {
        let dest = self.register(dest);
        if let Some(leaf) = self.leaf(place) {
            self.constraints.flows.push((self.constraints.first_leaf + leaf.0, dest, Step::Same));
        } else if let Some(base) = place.base.register() {
            let base = self.register(base);
            self.constraints.accesses.push((base, place.offset, Access::Load(dest)));
        }
    }

    fn store(&mut self, place: &Place, value: Operand) {
        let source = self.source(value);
        if let Some(leaf) = self.leaf(place) {
            self.flow(value, self.constraints.first_leaf + leaf.0, Step::Same);
        } else if let Some(base) = place.base.register() {
            let access = match source {
                Source::Set(set) => Access::Store(set),
                Source::Target(target) => Access::Put(target),
                Source::Nothing => return,
            };
            let base = self.register(base);
            self.constraints.accesses.push((base, place.offset, access));
        }
    }

    fn address(&mut self, place: &Place, dest: RegisterId) {
        let dest = self.register(dest);
        let (mut skipped, mut exact) = (place.offset, true);
        for index in &place.indices {
            match index.operand {
                Operand::Constant(value) => {
                    skipped = skipped.wrapping_add((value.bits() as u32).wrapping_mul(index.stride))
                }
                Operand::Register(_) => exact = false,
            }
        }
        match place.base {
            Base::Global(variable) => {
                if let Some(byte) = self.program.byte_of(variable, skipped) {
                    self.constraints.initial.push((dest, Target { variable, byte: Some(byte), exact }));
                }
            }
            Base::Reference(base) | Base::Pointer(base) => {
                let base = self.register(base);
                self.constraints.flows.push((base, dest, Step::Member { bytes: skipped, exact }));
            }
        }
    }

    fn pass(&mut self, function: FunctionId, arguments: &[Operand]) {
        let parameters = self.program.functions[function].parameters.clone();
        for (parameter, &argument) in parameters.into_iter().zip(arguments) {
            let to = self.register_of(function, parameter);
            self.flow(argument, to, Step::Same);
        }
    }

    fn start(&mut self, thread: &NewThread) {
        let functions: Vec<FunctionId> = thread.functions().collect();
        for function in functions {
            self.pass(function, &thread.arguments);
            let (from, to) = (self.result(function), self.thread_result());
            self.constraints.flows.push((from, to, Step::Same));
        }
    }

    fn add_function(&mut self, function: &Function) {
        for block in function.blocks.iter() {
            for instruction in &block.instructions {
                self.add(instruction);
            }
            match block.terminator {
                Terminator::Return(Some(value)) => self.flow(value, self.result(self.function), Step::Same),
                Terminator::End(Some(value)) => self.flow(value, self.thread_result(), Step::Same),
                _ => {}
            }
        }
    }

    fn add(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Copy { dest, source } => self.flow(*source, self.register(*dest), Step::Same),
            Instruction::Unary { dest, op, operand } => {
                let step = if matches!(op, UnaryOperator::Convert(..)) { Step::Same } else { Step::Times(1) };
                self.flow(*operand, self.register(*dest), step);
            }
            Instruction::Binary { dest, op, left, right } => self.binary(*dest, *op, *left, *right),
            Instruction::Load { dest, place, .. } => self.load(place, *dest),
            Instruction::Store { place, value, .. } => self.store(place, *value),
            Instruction::Atomic { dest, op, place, .. } => {
                self.load(place, *dest);
                op.operands().for_each(|operand| self.store(place, operand));
            }
            Instruction::Address { dest, place } => self.address(place, *dest),
            Instruction::Allocate { dest, variable, .. } => {
                let target = Target { variable: *variable, byte: Some(0), exact: true };
                self.constraints.initial.push((self.register(*dest), target));
            }
            Instruction::Call { dest, function, arguments } => {
                self.pass(*function, arguments);
                if let Some(dest) = dest {
                    let (from, to) = (self.result(*function), self.register(*dest));
                    self.constraints.flows.push((from, to, Step::Same));
                }
            }
            Instruction::JoinThread { dest: Some(dest), .. } => {
                let (from, to) = (self.thread_result(), self.register(*dest));
                self.constraints.flows.push((from, to, Step::Same));
            }
            _ => instruction.new_threads().iter().for_each(|thread| self.start(thread)),
        }
    }

    /// A number that what a register holds is a multiple of.
    fn factor(&self, register: RegisterId) -> u32 {
        self.factors.get(&register).copied().unwrap_or(1)
    }

    fn binary(&mut self, dest: RegisterId, op: BinaryOperator, left: Operand, right: Operand) {
        let dest = self.register(dest);
        match (op, right) {
            (BinaryOperator::PointerAdd, Operand::Constant(bytes)) => self.flow(left, dest, Step::Plus(bytes.bits())),
            (BinaryOperator::PointerAdd, Operand::Register(bytes)) => {
                let step = Step::Times(self.factor(bytes));
                self.flow(left, dest, step);
            }
            (
                BinaryOperator::Less(_)
                | BinaryOperator::LessEqual(_)
                | BinaryOperator::Equal
                | BinaryOperator::NotEqual
                | BinaryOperator::EqualDouble
                | BinaryOperator::NotEqualDouble,
                _,
            ) => {}
            _ => [left, right].into_iter().for_each(|operand| self.flow(operand, dest, Step::Times(1))),
        }
    }
}

/// The registers of a function that are a multiple of a constant.
fn factors(function: &Function) -> FxHashMap<RegisterId, u32> {
    let mut factors: FxHashMap<RegisterId, u32> = FxHashMap::default();
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        let Some(dest) = instruction.dest() else { continue };
        let factor = match instruction {
            Instruction::Binary { op: BinaryOperator::Multiply(_), right: Operand::Constant(value), .. } => {
                u32::try_from(value.bits().unsigned_abs()).unwrap_or(1).max(1)
            }
            _ => 1,
        };
        // Of what several instructions write nothing is said.
        factors.entry(dest).and_modify(|known| *known = 1).or_insert(factor);
    }
    factors
}

/// What a constant leads to.
fn target_of(value: Value) -> Option<Target> {
    match value {
        Value::Pointer(pointer) => match pointer.target()? {
            (Object::Global(variable), byte) => Some(Target { variable, byte: Some(byte), exact: true }),
            (Object::Local(_), _) => None,
        },
        _ => None,
    }
}
