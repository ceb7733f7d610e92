//! Determines the object of each access: functions are distinguished by the bindings of their parameters.
//!
//! **Input**: a program. **Output**: [`BoundProgram`]: the program with a function for each binding of its parameters, in which
//! calls and forks name the bound function; and for each access the part of memory that it refers to ([`Target`]).
//!
//! **Algorithm** (propagation of references and constants over the call graph)
//! 1. Begin with `main`, or, if there is none, with all functions that may be called from outside. Functions that nobody calls
//!    come last. Their parameters are *formal*: objects that have no name.
//! 2. At each call, fork and spawn, evaluate the arguments. A callee is bound to the objects that it gets, and to the constants
//!    that flow into an index.
//! 3. Each binding is one function; the first one is the function of the program itself. The base of a place then determines the
//!    object, and a constant index determines the element.
//!
//! **Soundness and limits**: a function has at most [`MAX_BINDINGS`] bindings with constants, and twice as many in total. Further
//! calls share one binding in which nothing is known. The information about an access covers all its executions.

use cssame_concurrency::value::{AbstractValue, Address, Evaluator, Writers};
use cssame_concurrency::{InstanceId, KnownReads};
use cssame_ir::{
    BlockId, Function, FunctionId, FunctionKind, Instruction, LeafId, LeafKind, Operand, Place, Program, RegisterType,
    Storage, SymbolId, VariableId,
};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Bindings of one function in which constants are told apart.
const MAX_BINDINGS: usize = 16;

/// A place in a function that accesses memory.
pub(super) type AccessSite = (FunctionId, BlockId, u32);

/// What an access means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A declared variable, or a field of a declared object; of an array the element, where it is known.
    Leaf(LeafId, Option<u32>),
    /// A field of an object that comes from outside, by its number.
    Formal(u32),
    /// One of several, or nobody knows.
    Unknown,
}

/// A program in which functions are told apart by their bindings.
#[derive(Clone, Debug)]
pub(super) struct BoundProgram<'a> {
    /// The functions of the program stand first.
    pub program: Cow<'a, Program>,
    /// The function of the text that each one is.
    pub origin: Vec<FunctionId>,
    /// What accesses mean, but for variables of which there is just one.
    pub targets: FxHashMap<AccessSite, Target>,
    /// Local variables that threads other than their owner get.
    pub captured: FxHashSet<VariableId>,
    /// For each function of the text, the parameters that flow into an index.
    pub index_parameters: Vec<FixedBitSet>,
    /// The parameters that are bound to a constant, by their position.
    pub constants: FxHashMap<(FunctionId, u32), i64>,
}

impl BoundProgram<'_> {
    /// The function of the text that a function is.
    pub fn origin(&self, function: FunctionId) -> FunctionId {
        self.origin.get(function.index()).copied().unwrap_or(function)
    }
}

/// Tells functions apart by what their parameters are bound to.
pub(super) fn bind(program: &Program) -> BoundProgram<'_> {
    let asked = ambiguous_symbols(program);
    if asked.count_ones(..) == 0 {
        return BoundProgram {
            program: Cow::Borrowed(program),
            origin: program.functions.ids().collect(),
            targets: FxHashMap::default(),
            captured: FxHashSet::default(),
            index_parameters: Vec::new(),
            constants: FxHashMap::default(),
        };
    }
    let mut binder = Binder::new(program, asked);
    binder.run();
    let constants = binder.constants();
    let program = Program { functions: binder.functions, ..program.clone() };
    BoundProgram {
        program: Cow::Owned(program),
        origin: binder.origin,
        targets: binder.targets,
        captured: binder.captured,
        index_parameters: binder.indices,
        constants,
    }
}

/// Symbols that may stand for several cells: fields, and arrays.
fn ambiguous_symbols(program: &Program) -> FixedBitSet {
    let mut asked = FixedBitSet::with_capacity(program.symbols.len());
    for (id, symbol) in program.symbols.entries() {
        asked.set(id.index(), symbol.class.is_some() || symbol.cells_of != id);
    }
    for leaf in program.leaves.iter().filter(|leaf| leaf.is_array() && matches!(leaf.kind, LeafKind::Data(_))) {
        asked.insert(leaf.symbol.index());
    }
    asked
}

/// What the parameters of a function are bound to.
type Binding = Vec<Option<Bound>>;

/// What is told apart of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Bound {
    Address(Address),
    Constant(i64),
}

struct Binder<'a> {
    program: &'a Program,
    asked: FixedBitSet,
    /// For each function of the text, the parameters that flow into an index.
    indices: Vec<FixedBitSet>,
    functions: cssame_source::arena::Arena<FunctionId, Function>,
    origin: Vec<FunctionId>,
    /// What is known of the parameters of each function.
    arguments: Vec<Vec<AbstractValue>>,
    known: FxHashMap<(FunctionId, Binding), FunctionId>,
    /// Number of bindings of each function of the text.
    counts: Vec<usize>,
    formals: u32,
    waiting: VecDeque<FunctionId>,
    targets: FxHashMap<AccessSite, Target>,
    captured: FxHashSet<VariableId>,
}

impl<'a> Binder<'a> {
    fn new(program: &'a Program, asked: FixedBitSet) -> Binder<'a> {
        let count = program.functions.len();
        Binder {
            program,
            asked,
            indices: index_parameters(program),
            functions: program.functions.clone(),
            origin: program.functions.ids().collect(),
            arguments: vec![Vec::new(); count],
            known: FxHashMap::default(),
            counts: vec![0; count],
            formals: program.variables.len() as u32,
            waiting: VecDeque::new(),
            targets: FxHashMap::default(),
            captured: FxHashSet::default(),
        }
    }

    fn run(&mut self) {
        match self.program.main {
            Some(main) => self.begin(main),
            None => {
                for (id, function) in self.program.functions.entries() {
                    if !matches!(function.kind, FunctionKind::Arm | FunctionKind::Method { public: false }) {
                        self.begin(id);
                    }
                }
            }
        }
        self.follow();
        for id in self.program.functions.ids() {
            if self.counts[id.index()] == 0 {
                self.begin(id);
                self.follow();
            }
        }
    }

    /// A function that is called from outside.
    fn begin(&mut self, id: FunctionId) {
        let function = &self.program.functions[id];
        let mut values = Vec::new();
        for &parameter in &function.parameters {
            values.push(match function.registers[parameter].ty {
                RegisterType::Reference => {
                    self.formals += 1;
                    AbstractValue::References(vec![Address::of(InstanceId(self.formals - 1))])
                }
                RegisterType::Scalar(_) => AbstractValue::Unknown,
            });
        }
        self.bound(id, &values);
    }

    fn follow(&mut self) {
        while let Some(function) = self.waiting.pop_front() {
            self.visit(function);
        }
    }

    fn constants(&self) -> FxHashMap<(FunctionId, u32), i64> {
        let mut found = FxHashMap::default();
        for (function, arguments) in self.arguments.iter().enumerate() {
            for (position, argument) in arguments.iter().enumerate() {
                if let AbstractValue::Constant(bits) = argument {
                    found.insert((FunctionId::new(function), position as u32), *bits);
                }
            }
        }
        found
    }

    /// The function that stands for one with these arguments.
    fn bound(&mut self, id: FunctionId, values: &[AbstractValue]) -> FunctionId {
        let indices = &self.indices[id.index()];
        let count = self.counts[id.index()];
        let bound = |(position, value): (usize, &AbstractValue)| match value {
            AbstractValue::References(targets) if count < 2 * MAX_BINDINGS => match targets.as_slice() {
                &[address] => Some(Bound::Address(address)),
                _ => None,
            },
            AbstractValue::Constant(bits) if count < MAX_BINDINGS && indices.contains(position) => {
                Some(Bound::Constant(*bits))
            }
            _ => None,
        };
        let binding: Binding = values.iter().enumerate().map(bound).collect();
        if let Some(&known) = self.known.get(&(id, binding.clone())) {
            return known;
        }
        let arguments = binding.iter().map(|each| match *each {
            Some(Bound::Address(address)) => AbstractValue::References(vec![address]),
            Some(Bound::Constant(bits)) => AbstractValue::Constant(bits),
            None => AbstractValue::Unknown,
        });
        let arguments: Vec<AbstractValue> = arguments.collect();
        let made = if count == 0 {
            self.arguments[id.index()] = arguments;
            id
        } else {
            self.origin.push(id);
            self.arguments.push(arguments);
            self.functions.push(self.program.functions[id].clone())
        };
        self.counts[id.index()] += 1;
        self.known.insert((id, binding), made);
        self.waiting.push_back(made);
        made
    }

    /// Finds out what the accesses of a function mean, and binds what it calls.
    fn visit(&mut self, id: FunctionId) {
        let program = self.program;
        let function = &program.functions[self.origin[id.index()]];
        let writers = Writers::of(function);
        let arguments = self.arguments[id.index()].clone();
        let known = KnownReads::default();
        let instance = |variable: VariableId| InstanceId(variable.0);
        let evaluator =
            Evaluator { instance: &instance, ..Evaluator::new(program, function, &writers, &arguments, &known) };
        for (block, content) in function.blocks.entries() {
            for (position, instruction) in content.instructions.iter().enumerate() {
                let site = (id, block, position as u32);
                match instruction {
                    Instruction::Load { place, read, .. } | Instruction::Atomic { place, read, .. } => {
                        self.access(site, &evaluator, place, program.reads[*read].symbol);
                    }
                    Instruction::Store { place, definition, .. } => {
                        self.access(site, &evaluator, place, program.definitions[*definition].symbol);
                    }
                    Instruction::Call { .. } | Instruction::Fork { .. } | Instruction::Spawn { .. } => {
                        self.call(site, &evaluator, instruction);
                    }
                    _ => {}
                }
            }
        }
    }

    fn call(&mut self, (id, block, position): AccessSite, evaluator: &Evaluator<'_>, instruction: &Instruction) {
        let values = |arguments: &[Operand]| -> Vec<AbstractValue> {
            arguments.iter().map(|&argument| evaluator.operand(argument)).collect()
        };
        let mut renamed = instruction.clone();
        match &mut renamed {
            Instruction::Call { function, arguments, .. } => *function = self.bound(*function, &values(arguments)),
            Instruction::Fork { threads, .. } => {
                for thread in threads {
                    thread.function = self.capture(thread.function, &values(&thread.arguments));
                }
            }
            Instruction::Spawn { thread, .. } => {
                thread.function = self.capture(thread.function, &values(&thread.arguments));
            }
            _ => {}
        }
        self.functions[id].blocks[block].instructions[position as usize] = renamed;
    }

    /// Binds what another thread runs.
    fn capture(&mut self, function: FunctionId, values: &[AbstractValue]) -> FunctionId {
        for value in values {
            if let AbstractValue::References(targets) = value {
                self.captured.extend(targets.iter().map(|target| VariableId(target.instance.0)));
            }
        }
        self.bound(function, values)
    }

    fn access(&mut self, site: AccessSite, evaluator: &Evaluator<'_>, place: &Place, symbol: SymbolId) {
        if !self.asked.contains(symbol.index()) {
            return;
        }
        let target = match evaluator.targets(place).as_slice() {
            &[Address { instance, byte, exact }] => match self.program.leaf_at_byte(VariableId(instance.0), byte) {
                Some((leaf, element)) => {
                    Target::Leaf(leaf, Some(element).filter(|_| exact && self.program.leaves[leaf].is_array()))
                }
                None if instance.index() < self.program.variables.len() => Target::Unknown,
                None => Target::Formal(instance.0 - self.program.variables.len() as u32),
            },
            _ => Target::Unknown,
        };
        self.targets.insert(site, target);
    }
}

/// For each function, the positions of the parameters that an index is computed from, here or in a callee.
#[must_use]
pub fn index_parameters(program: &Program) -> Vec<FixedBitSet> {
    let mut found: Vec<FixedBitSet> =
        program.functions.iter().map(|function| FixedBitSet::with_capacity(function.parameters.len())).collect();
    let mut changed = true;
    let mut rounds = 0;
    // Callees mostly stand before their callers.
    while std::mem::take(&mut changed) && rounds < 8 {
        rounds += 1;
        for (id, function) in program.functions.entries() {
            let needed = index_registers(function, &found);
            for (position, parameter) in function.parameters.iter().enumerate() {
                if needed.contains(parameter.index()) && !found[id.index()].put(position) {
                    changed = true;
                }
            }
        }
    }
    found
}

/// The registers that an index is computed from.
fn index_registers(function: &Function, parameters: &[FixedBitSet]) -> FixedBitSet {
    let mut needed = FixedBitSet::with_capacity(function.registers.len());
    let mut note = |operand: Operand| {
        if let Operand::Register(register) = operand {
            needed.insert(register.index());
        }
    };
    let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
    for instruction in instructions() {
        match instruction {
            Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. } => {
                place.indices.iter().for_each(|index| note(index.operand));
            }
            Instruction::Call { function, arguments, .. } => {
                parameters[function.index()].ones().filter_map(|index| arguments.get(index)).for_each(|&one| note(one));
            }
            _ => {}
        }
        for thread in instruction.new_threads() {
            let positions = parameters[thread.function.index()].ones();
            positions.filter_map(|index| thread.arguments.get(index)).for_each(|&one| note(one));
        }
    }
    let rest: Vec<&Instruction> = instructions().collect();
    for instruction in rest.into_iter().rev() {
        let computes =
            matches!(instruction, Instruction::Copy { .. } | Instruction::Unary { .. } | Instruction::Binary { .. });
        if computes && instruction.dest().is_some_and(|dest| needed.contains(dest.index())) {
            instruction.uses(&mut |register| needed.insert(register.index()));
        }
    }
    needed
}

/// Whether a leaf is part of a local variable.
pub(super) fn is_local(program: &Program, leaf: LeafId) -> bool {
    matches!(program.variables[program.leaves[leaf].variable].storage, Storage::Local(_))
}
