//! Builds small programs by hand, for the tests of the machine and of the layers above it.
//!
//! In: calls that add variables, functions, blocks and instructions. Out: a [`Program`](cssame_ir::Program). Every place in the
//! "text" gets its own span, in the order of the calls.

use cssame_ir::arena::Arena;
use cssame_ir::sync::Kind;
use cssame_ir::*;
use cssame_source::{FileId, Span};

/// A program under construction.
#[derive(Default)]
pub struct ProgramBuilder {
    pub program: Program,
    offset: u32,
}

/// A function under construction: instructions go to its last block.
pub struct FunctionBuilder<'a> {
    builder: &'a mut ProgramBuilder,
    id: FunctionId,
}

impl ProgramBuilder {
    pub fn new() -> ProgramBuilder {
        ProgramBuilder::default()
    }

    fn span(&mut self) -> Span {
        self.offset += 1;
        Span::new(FileId(0), self.offset as usize - 1, self.offset as usize)
    }

    fn variable(&mut self, name: &str, kind: LeafKind, initial: Vec<Value>, storage: Storage) -> VariableId {
        let span = self.span();
        let program = &mut self.program;
        let name = program.texts.intern(name);
        let cells_of = cssame_ir::SymbolId::new(program.symbols.len());
        let symbol = program.symbols.push(Symbol { name, span, class: None, atomic: false, cells_of });
        let (leaf, variable) = (LeafId::new(program.leaves.len()), VariableId::new(program.variables.len()));
        let cells = initial.len() as u32;
        let initial_definition = matches!(kind, LeafKind::Data(_)).then(|| {
            let kind = DefinitionKind::Initial(leaf);
            program.definitions.push(Definition { name, symbol, span, kind, version: 0 })
        });
        let name_end = program.texts.get(name).len() as u32;
        let dimension = Dimension { length: cells, stride: 1, bytes: 1, name_end };
        let dimensions = if cells > kind.width() { vec![dimension] } else { Vec::new() };
        let (offset, byte) = (0, 0);
        let made = Leaf { variable, name, symbol, offset, byte, dimensions, kind, initial, initial_definition };
        program.leaves.push(made);
        let single = Type::Single(kind);
        let array = |program: &mut Program| program.arrays.push(ArrayType { element: single, length: Some(cells) });
        let ty = if cells > kind.width() { Type::Array(array(program)) } else { single };
        program.variables.push(Variable {
            name,
            span,
            storage,
            ty,
            first_leaf: leaf,
            leaf_count: 1,
            size: cells,
            bytes: cells,
            heap: false,
        })
    }

    pub fn int(&mut self, name: &str, initial: i32) -> VariableId {
        self.variable(name, LeafKind::Data(ScalarType::Int), vec![Value::Int(initial)], Storage::Global)
    }

    pub fn local_int(&mut self, function: FunctionId, name: &str) -> VariableId {
        let kind = LeafKind::Data(ScalarType::Int);
        self.variable(name, kind, vec![Value::Int(0)], Storage::Local(function))
    }

    pub fn object(&mut self, name: &str, kind: LeafKind) -> VariableId {
        let cells = if matches!(kind, LeafKind::Barrier(_)) { 2 } else { 1 };
        self.variable(name, kind, vec![Value::Int(0); cells], Storage::Global)
    }

    /// A function with one empty block that returns. The one that is called `main` is where execution begins.
    pub fn function(&mut self, name: &str) -> FunctionId {
        let span = self.span();
        let text = self.program.texts.intern(name);
        let block = Block {
            instructions: Vec::new(),
            spans: Vec::new(),
            terminator: Terminator::Return(None),
            terminator_span: span,
            negated: false,
        };
        let id = self.program.functions.push(Function {
            name: text,
            span,
            kind: if name == "main" { FunctionKind::Main } else { FunctionKind::Arm },
            parameters: Vec::new(),
            result: None,
            registers: Arena::new(),
            blocks: [block].into_iter().collect(),
        });
        if name == "main" {
            self.program.main = Some(id);
        }
        id
    }

    pub fn edit(&mut self, id: FunctionId) -> FunctionBuilder<'_> {
        FunctionBuilder { builder: self, id }
    }

    /// A main that forks those functions and joins them.
    pub fn cobegin(&mut self, arms: &[FunctionId]) -> FunctionId {
        let main = self.function("main");
        self.edit(main).cobegin(arms);
        main
    }
}

impl FunctionBuilder<'_> {
    fn function(&mut self) -> &mut Function {
        &mut self.builder.program.functions[self.id]
    }

    pub fn current(&mut self) -> BlockId {
        BlockId::new(self.function().blocks.len() - 1)
    }

    pub fn push(&mut self, instruction: Instruction) -> &mut Self {
        let span = self.builder.span();
        let block = self.current();
        let block = &mut self.function().blocks[block];
        block.instructions.push(instruction);
        block.spans.push(span);
        self
    }

    /// Begins a new block, into which the last one falls through.
    pub fn block(&mut self) -> BlockId {
        let span = self.builder.span();
        let next = BlockId::new(self.function().blocks.len());
        let last = self.current();
        if self.function().blocks[last].terminator == Terminator::Return(None) {
            self.function().blocks[last].terminator = Terminator::Jump(next);
        }
        self.function().blocks.push(Block {
            instructions: Vec::new(),
            spans: Vec::new(),
            terminator: Terminator::Return(None),
            terminator_span: span,
            negated: false,
        })
    }

    pub fn terminate(&mut self, terminator: Terminator) -> &mut Self {
        let last = self.current();
        self.function().blocks[last].terminator = terminator;
        self
    }

    pub fn register(&mut self, ty: RegisterType) -> RegisterId {
        let span = self.builder.span();
        self.function().registers.push(Register { name: None, span, ty, pointee: None })
    }

    pub fn int_register(&mut self) -> RegisterId {
        self.register(RegisterType::Scalar(ScalarType::Int))
    }

    pub fn parameter(&mut self, ty: RegisterType) -> RegisterId {
        let register = self.register(ty);
        self.function().parameters.push(register);
        register
    }

    pub fn read_id(&mut self, variable: VariableId) -> ReadId {
        let span = self.builder.span();
        let function = self.id;
        let program = &mut self.builder.program;
        let leaf = &program.leaves[program.variables[variable].first_leaf];
        program.reads.push(Read { name: leaf.name, symbol: leaf.symbol, span, function })
    }

    pub fn definition_id(&mut self, variable: VariableId) -> DefinitionId {
        let span = self.builder.span();
        let kind = DefinitionKind::Write(self.id);
        let program = &mut self.builder.program;
        let leaf = &program.leaves[program.variables[variable].first_leaf];
        let version = program.definitions.iter().filter(|other| other.symbol == leaf.symbol).count() as u32;
        program.definitions.push(Definition { name: leaf.name, symbol: leaf.symbol, span, kind, version })
    }

    pub fn load_place(&mut self, variable: VariableId, place: Place) -> RegisterId {
        let (dest, read) = (self.int_register(), self.read_id(variable));
        self.push(Instruction::Load { dest, place, read });
        dest
    }

    pub fn load(&mut self, variable: VariableId) -> RegisterId {
        self.load_place(variable, Place::global(variable))
    }

    pub fn store(&mut self, variable: VariableId, value: impl Into<Operand>) -> DefinitionId {
        let definition = self.definition_id(variable);
        let place = Place::global(variable);
        self.push(Instruction::Store { place, value: value.into(), definition });
        definition
    }

    pub fn binary(&mut self, op: BinaryOperator, left: impl Into<Operand>, right: impl Into<Operand>) -> RegisterId {
        let dest = self.int_register();
        self.push(Instruction::Binary { dest, op, left: left.into(), right: right.into() });
        dest
    }

    pub fn add(&mut self, left: impl Into<Operand>, right: impl Into<Operand>) -> RegisterId {
        self.binary(BinaryOperator::Add(Arithmetic::Int), left, right)
    }

    /// `variable += 1`: a read and a write.
    pub fn increment(&mut self, variable: VariableId) -> &mut Self {
        let old = self.load(variable);
        let new = self.add(old, 1);
        self.store(variable, new);
        self
    }

    pub fn print(&mut self, value: impl Into<Operand>) -> &mut Self {
        let printed = Printed { operand: value.into(), ty: ScalarType::Int, conversion: None };
        self.push(Instruction::Print { arguments: vec![printed], line: Line::Spaced })
    }

    pub fn assert(&mut self, condition: impl Into<Operand>) -> &mut Self {
        self.push(Instruction::Assert { condition: condition.into(), message: None })
    }

    pub fn synchronise(&mut self, kind: Kind, object: VariableId) -> &mut Self {
        self.push(Instruction::Synchronise(Synchronisation::on(kind, Place::global(object))))
    }

    pub fn lock(&mut self, lock: VariableId) -> &mut Self {
        self.synchronise(Kind::Lock, lock)
    }

    pub fn unlock(&mut self, lock: VariableId) -> &mut Self {
        self.synchronise(Kind::Unlock, lock)
    }

    pub fn thread(&mut self, function: FunctionId) -> NewThread {
        let label = ThreadLabel::Name(self.builder.program.functions[function].name);
        NewThread { function, rounds: Vec::new(), arguments: Vec::new(), label, ordinal: None }
    }

    pub fn cobegin(&mut self, arms: &[FunctionId]) -> &mut Self {
        let threads = arms.iter().map(|&arm| self.thread(arm)).collect();
        self.push(Instruction::Fork { threads, bounds: None }).push(Instruction::Join)
    }

    /// Does `body` `count` times.
    pub fn repeat(&mut self, count: i32, body: impl FnOnce(&mut FunctionBuilder<'_>)) -> &mut Self {
        let counter = self.int_register();
        self.push(Instruction::Copy { dest: counter, source: 0.into() });
        let head = self.block();
        let condition = self.binary(BinaryOperator::Less(Arithmetic::Int), counter, count);
        let inside = self.block();
        body(self);
        let op = BinaryOperator::Add(Arithmetic::Int);
        self.push(Instruction::Binary { dest: counter, op, left: counter.into(), right: 1.into() });
        self.terminate(Terminator::Jump(head));
        let behind = self.block();
        let branch = Terminator::Branch { condition: condition.into(), then_block: inside, else_block: behind };
        self.function().blocks[head].terminator = branch;
        self
    }
}

/// Two threads that each add 1 to a shared variable so many times, without a lock.
pub fn unlocked_adds(count: i32) -> Program {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let arms = ["T1", "T2"].map(|name| builder.function(name));
    for arm in arms {
        builder.edit(arm).repeat(count, |body| {
            body.increment(x);
        });
    }
    let main = builder.cobegin(&arms);
    let mut edit = builder.edit(main);
    let result = edit.load(x);
    edit.print(result);
    builder.program
}
