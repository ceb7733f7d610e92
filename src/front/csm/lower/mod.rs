//! Lowering: the typed tree becomes the parallel flow graph.
//!
//! In: a program of `hir` without errors. Out: the [`Program`], and the errors that only the flow graph shows (a blocking
//! operation in an atomic block). Function `i` of the tree is function `i` of the graph; the arms of `cobegin` and `parfor`
//! follow. Constant conditions are folded: code that cannot run is not lowered.

mod atomic;
mod expression;
mod layout;
mod statement;
mod switch;
mod thread;
mod types;

use crate::csm::hir;
use cssame_diagnostics::Diagnostic;
use cssame_ir::{
    Base, Block, BlockId, DefinitionId, DefinitionKind, Function, FunctionId, FunctionKind, Instruction, Operand,
    Place, Program, Read, ReadId, Register, RegisterId, RegisterType, ScalarType, SymbolId, Terminator, Value,
    VariableId, number_versions,
};
use cssame_source::Span;
use cssame_source::arena::Arena;
use cssame_source::texts::TextId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lowers a program. The diagnostics are errors; with any of them the program must not be run.
#[must_use]
pub fn lower(tree: hir::Program) -> (Program, Vec<Diagnostic>) {
    let mut tree = tree;
    let mut program = Program {
        texts: std::mem::take(&mut tree.texts),
        enumerations: std::mem::take(&mut tree.enumerations),
        ..Program::default()
    };
    types::lower_types(&mut program, &tree);
    let mut symbols = Symbols::of(&tree);
    let mut variables = FxHashMap::default();
    for (id, variable) in tree.variables.entries() {
        if variable.kind == hir::VariableKind::Global {
            let lowered = layout::lower_variable(&mut program, &mut symbols, &tree, id, cssame_ir::Storage::Global);
            variables.insert(id, lowered);
        }
    }
    let mut lowering =
        Lowering { tree: &tree, program, symbols, globals: variables, arms: Vec::new(), passed: Vec::new() };
    for (id, function) in tree.functions.entries() {
        let kind = match function.method_of {
            _ if tree.main == Some(id) => FunctionKind::Main,
            Some((_, public)) => FunctionKind::Method { public },
            None => FunctionKind::Function,
        };
        lowering.program.functions.push(empty_function(function.name, function.span, kind));
    }
    for (id, function) in tree.functions.entries() {
        lowering.lower_function(FunctionId(id.0), function);
        // The arms of a function are lowered behind it; they may hold arms themselves.
        while let Some(arm) = lowering.arms.pop() {
            lowering.lower_arm(arm);
        }
    }
    lowering.program.main = tree.main.map(|main| FunctionId(main.0));
    let passed = lowering.passed;
    let mut program = lowering.program;
    join_passed(&mut program, &passed);
    number_versions(&mut program);
    let diagnostics = atomic::check_atomic_blocks(&program);
    (program, diagnostics)
}

fn empty_function(name: TextId, span: Span, kind: FunctionKind) -> Function {
    Function { name, span, kind, parameters: Vec::new(), result: None, registers: Arena::new(), blocks: Arena::new() }
}

/// Arrays and the parameters that take them name the same cells: they count as one. A parameter is `atomic` where all that it
/// takes is.
fn join_passed(program: &mut Program, passed: &[(SymbolId, SymbolId)]) {
    let mut groups = petgraph::unionfind::UnionFind::<usize>::new(program.symbols.len());
    for &(array, parameter) in passed {
        groups.union(array.index(), parameter.index());
    }
    let mut first: FxHashMap<usize, SymbolId> = FxHashMap::default();
    let parameters: FxHashSet<SymbolId> = passed.iter().map(|&(_, parameter)| parameter).collect();
    // A variable stands for its group, not a parameter.
    let ids = || program.symbols.ids();
    for id in ids().filter(|id| !parameters.contains(id)).chain(ids().filter(|id| parameters.contains(id))) {
        first.entry(groups.find(id.index())).or_insert(id);
    }
    let plain: FxHashSet<usize> = passed
        .iter()
        .filter(|(array, _)| !parameters.contains(array) && !program.symbols[*array].atomic)
        .map(|(array, _)| groups.find(array.index()))
        .collect();
    for id in program.symbols.ids().collect::<Vec<_>>() {
        let group = groups.find(id.index());
        let symbol = &mut program.symbols[id];
        symbol.cells_of = first.get(&group).copied().unwrap_or(id);
        symbol.atomic |= parameters.contains(&id) && !plain.contains(&group);
    }
}

/// Symbols by the place of their declaration.
struct Symbols {
    by_span: FxHashMap<Span, SymbolId>,
    /// The places of declarations that begin with `atomic`.
    atomic: FxHashSet<Span>,
    /// The classes of fields, by the places of their declarations.
    classes: FxHashMap<Span, TextId>,
}

impl Symbols {
    fn of(tree: &hir::Program) -> Symbols {
        let variables = tree.variables.iter().filter(|variable| variable.atomic).map(|variable| variable.span);
        let fields = tree.classes.iter().flat_map(|class| &class.fields);
        let fields = fields.filter(|field| field.atomic).map(|field| field.span);
        let of_class = |class: &hir::Class| {
            let name = class.name;
            class.fields.iter().map(move |field| (field.span, name)).collect::<Vec<_>>()
        };
        Symbols {
            by_span: FxHashMap::default(),
            atomic: variables.chain(fields).collect(),
            classes: tree.classes.iter().flat_map(of_class).collect(),
        }
    }

    fn get(&mut self, program: &mut Program, name: TextId, span: Span) -> SymbolId {
        let next = program.symbols.len();
        let symbol = || cssame_ir::Symbol {
            name,
            span,
            class: self.classes.get(&span).copied(),
            atomic: self.atomic.contains(&span),
            cells_of: SymbolId::new(next),
        };
        *self.by_span.entry(span).or_insert_with(|| program.symbols.push(symbol()))
    }
}

/// An arm that waits to be lowered.
struct PendingArm<'t> {
    id: FunctionId,
    arm: &'t hir::Arm,
    /// The object of the enclosing method and the captures are its first parameters, in this order.
    copy: Option<hir::VariableId>,
    /// The type of the object.
    class: Option<cssame_ir::Type>,
}

/// What stands for a variable of the tree in a function.
#[derive(Clone, Copy)]
enum Slot {
    /// A private scalar.
    Register(RegisterId),
    /// A memory variable, by its address.
    Reference(RegisterId),
}

/// What is true of the whole lowering.
struct Lowering<'t> {
    tree: &'t hir::Program,
    program: Program,
    symbols: Symbols,
    globals: FxHashMap<hir::VariableId, VariableId>,
    arms: Vec<PendingArm<'t>>,
    /// Arrays that are passed by reference, and the parameters that take them.
    passed: Vec<(SymbolId, SymbolId)>,
}

/// A loop, or a switch, in which `break` may stand.
#[derive(Clone, Copy)]
struct Leavable {
    /// Where `break` goes.
    after: BlockId,
    /// Where `continue` goes; nowhere in a switch, where it concerns the loop around it.
    next: Option<BlockId>,
    /// How many locks of `synchronized` were held where it begins.
    held: usize,
}

/// The function that is being lowered.
struct Builder<'l, 't> {
    lowering: &'l mut Lowering<'t>,
    id: FunctionId,
    function: Function,
    current: BlockId,
    slots: FxHashMap<hir::VariableId, Slot>,
    /// The lengths of the arrays that parameters take.
    lengths: FxHashMap<hir::VariableId, RegisterId>,
    this: Option<RegisterId>,
    /// Open loops and switches.
    loops: Vec<Leavable>,
    /// Locks of the open `synchronized` blocks.
    held: Vec<Place>,
}

impl<'t> Lowering<'t> {
    fn builder(&mut self, id: FunctionId) -> Builder<'_, 't> {
        let template = &self.program.functions[id];
        let function = empty_function(template.name, template.span, template.kind);
        let mut builder = Builder {
            lowering: self,
            id,
            function,
            current: BlockId(0),
            slots: FxHashMap::default(),
            lengths: FxHashMap::default(),
            this: None,
            loops: Vec::new(),
            held: Vec::new(),
        };
        builder.current = builder.new_block();
        builder
    }

    fn lower_function(&mut self, id: FunctionId, function: &'t hir::Function) {
        let result = function.result.map(scalar_type);
        let mut builder = self.builder(id);
        builder.function.result = result;
        if function.method_of.is_some() {
            let class = function.method_of.map(|(class, _)| cssame_ir::Type::Class(types::class_id(class)));
            let this = builder.new_reference(None, function.span, class);
            builder.function.parameters.push(this);
            builder.this = Some(this);
        }
        for &parameter in &function.parameters {
            builder.lower_parameter(parameter);
        }
        if let Some((low, high)) = function.external {
            builder.lower_external(low, high, function.end);
        } else {
            builder.statements(&function.body);
            builder.terminate(Terminator::Return(builder.default_result()), function.end);
        }
        let done = builder.function;
        self.program.functions[id] = done;
    }

    fn lower_arm(&mut self, pending: PendingArm<'t>) {
        let PendingArm { id, arm, copy, class } = pending;
        let mut builder = self.builder(id);
        if arm.uses_this {
            let this = builder.new_reference(None, arm.span, class);
            builder.function.parameters.push(this);
            builder.this = Some(this);
        }
        for &capture in &arm.captures {
            let declared = &builder.lowering.tree.variables[capture];
            let (name, span, ty) = (declared.name, declared.span, types::lower_type(declared.ty));
            let register = builder.new_reference(Some(name), span, Some(ty));
            builder.function.parameters.push(register);
            builder.slots.insert(capture, Slot::Reference(register));
            builder.lower_length(capture);
        }
        if let Some(copy) = copy {
            builder.lower_parameter(copy);
        }
        builder.statements(&arm.body);
        let end = arm.body.last().map_or(arm.span, |last| Span { start: last.span.end.saturating_sub(1), ..last.span });
        builder.terminate(Terminator::Return(None), end);
        let done = builder.function;
        self.program.functions[id] = done;
    }
}

impl<'t> Builder<'_, 't> {
    fn new_block(&mut self) -> BlockId {
        self.function.blocks.push(Block {
            instructions: Vec::new(),
            spans: Vec::new(),
            terminator: Terminator::Return(None),
            terminator_span: self.function.span,
            negated: false,
        })
    }

    fn new_register(&mut self, name: Option<TextId>, span: Span, ty: RegisterType) -> RegisterId {
        self.function.registers.push(Register { name, span, ty, pointee: None })
    }

    fn new_reference(&mut self, name: Option<TextId>, span: Span, pointee: Option<cssame_ir::Type>) -> RegisterId {
        self.function.registers.push(Register { name, span, ty: RegisterType::Reference, pointee })
    }

    fn temporary(&mut self, ty: ScalarType, span: Span) -> RegisterId {
        self.new_register(None, span, RegisterType::Scalar(ty))
    }

    fn emit(&mut self, instruction: Instruction, span: Span) {
        let block = &mut self.function.blocks[self.current];
        block.instructions.push(instruction);
        block.spans.push(span);
    }

    /// Ends the current block.
    fn terminate(&mut self, terminator: Terminator, span: Span) {
        let block = &mut self.function.blocks[self.current];
        block.terminator = terminator;
        block.terminator_span = span;
    }

    /// Ends the current block with a jump, and goes on in `target`.
    fn jump_into(&mut self, target: BlockId, span: Span) {
        self.terminate(Terminator::Jump(target), span);
        self.current = target;
    }

    fn new_read(&mut self, place: &hir::Place) -> ReadId {
        let program = &mut self.lowering.program;
        let symbol = self.lowering.symbols.get(program, place.symbol.0, place.symbol.1);
        program.reads.push(Read { name: place.name, symbol, span: place.span, function: self.id })
    }

    fn new_definition(&mut self, place: &hir::Place) -> DefinitionId {
        let program = &mut self.lowering.program;
        let symbol = self.lowering.symbols.get(program, place.symbol.0, place.symbol.1);
        program.definitions.push(cssame_ir::Definition {
            name: place.name,
            symbol,
            span: place.span,
            kind: DefinitionKind::Write(self.id),
            version: 0,
        })
    }

    fn lower_parameter(&mut self, parameter: hir::VariableId) {
        let declared = &self.lowering.tree.variables[parameter];
        let (name, span) = (declared.name, declared.span);
        let register_type = match declared.ty {
            hir::Type::Scalar(scalar) => RegisterType::Scalar(scalar_type(scalar)),
            _ => RegisterType::Reference,
        };
        let captured = declared.captured;
        let pointee = (register_type == RegisterType::Reference).then(|| types::lower_type(declared.ty));
        let register = self.new_register(Some(name), span, register_type);
        self.function.registers[register].pointee = pointee;
        self.function.parameters.push(register);
        match register_type {
            RegisterType::Reference => {
                self.slots.insert(parameter, Slot::Reference(register));
                self.lower_length(parameter);
            }
            RegisterType::Scalar(_) if captured => {
                let (variable, reference) = self.allocate(parameter, span);
                let definition = self.initial_definition(variable, 0);
                let place = Place::at(Base::Reference(reference), 0);
                self.emit(Instruction::Store { place, value: Operand::Register(register), definition }, span);
            }
            RegisterType::Scalar(_) => {
                self.slots.insert(parameter, Slot::Register(register));
            }
        }
    }

    /// Behind the reference to an array of any length stands a parameter for its length.
    fn lower_length(&mut self, parameter: hir::VariableId) {
        let tree = self.lowering.tree;
        let declared = &tree.variables[parameter];
        if matches!(declared.ty, hir::Type::Array(id) if tree.arrays[id].length.is_none()) {
            let length = self.temporary(ScalarType::Int, declared.span);
            self.function.parameters.push(length);
            self.lengths.insert(parameter, length);
        }
    }

    /// Makes a local memory variable.
    fn allocate(&mut self, id: hir::VariableId, span: Span) -> (VariableId, RegisterId) {
        let storage = cssame_ir::Storage::Local(self.id);
        let lowering = &mut *self.lowering;
        let variable = layout::lower_variable(&mut lowering.program, &mut lowering.symbols, lowering.tree, id, storage);
        let (name, ty) = (lowering.tree.variables[id].name, types::lower_type(lowering.tree.variables[id].ty));
        let reference = self.new_reference(Some(name), span, Some(ty));
        self.emit(Instruction::Allocate { dest: reference, variable, elements: None }, span);
        self.slots.insert(id, Slot::Reference(reference));
        (variable, reference)
    }

    fn initial_definition(&self, variable: VariableId, cell: u32) -> DefinitionId {
        let program = &self.lowering.program;
        let leaf = program.leaf_at(variable, cell).and_then(|(leaf, _)| program.leaves[leaf].initial_definition);
        // Only data has values, so there always is one; the fallback keeps lowering total.
        leaf.unwrap_or(DefinitionId(0))
    }

    /// The base of a place of the tree.
    fn base(&self, root: hir::Root) -> Base {
        match root {
            hir::Root::This => Base::Reference(self.this.unwrap_or(RegisterId(0))),
            hir::Root::Variable(id) => match (self.slots.get(&id), self.lowering.globals.get(&id)) {
                (Some(Slot::Reference(register) | Slot::Register(register)), _) => Base::Reference(*register),
                (None, Some(&variable)) => Base::Global(variable),
                (None, None) => Base::Reference(RegisterId(0)),
            },
        }
    }

    /// The register of a place that is a private scalar.
    fn register_of(&self, place: &hir::Place) -> Option<RegisterId> {
        match place.root {
            hir::Root::Variable(id) => match self.slots.get(&id) {
                Some(&Slot::Register(register)) => Some(register),
                _ => None,
            },
            hir::Root::This => None,
        }
    }

    fn default_result(&self) -> Option<Operand> {
        // Every path of a function with a result ends in a return; what stands behind is never run.
        self.function.result.map(|ty| Operand::Constant(Value::from_bits(ty, 0)))
    }

    fn lower_external(&mut self, low: i32, high: i32, span: Span) {
        let result = match self.function.result {
            None => None,
            Some(ty) if low == high => Some(Operand::Constant(match ty {
                ScalarType::Double => Value::Double(f64::from(low)),
                _ => Value::from_bits(ty, i64::from(low)),
            })),
            Some(ty) => {
                let chosen = self.temporary(ScalarType::Int, span);
                let (low, high) = (Operand::Constant(Value::Int(low)), Operand::Constant(Value::Int(high)));
                self.emit(Instruction::Choose { dest: chosen, low, high }, span);
                Some(self.converted(Operand::Register(chosen), ScalarType::Int, ty, span))
            }
        };
        self.terminate(Terminator::Return(result), span);
    }

    /// Converts an operand, where that changes anything.
    fn converted(&mut self, operand: Operand, from: ScalarType, to: ScalarType, span: Span) -> Operand {
        if from == to {
            return operand;
        }
        let dest = self.temporary(to, span);
        self.emit(Instruction::Unary { dest, op: cssame_ir::UnaryOperator::Convert(from, to), operand }, span);
        Operand::Register(dest)
    }
}

/// The type of the graph for a type of the tree.
fn scalar_type(scalar: hir::Scalar) -> ScalarType {
    match scalar {
        hir::Scalar::Int | hir::Scalar::Error => ScalarType::Int,
        hir::Scalar::Long => ScalarType::Long,
        hir::Scalar::Bool => ScalarType::Bool,
        hir::Scalar::Double => ScalarType::Double,
        hir::Scalar::String => ScalarType::String,
        hir::Scalar::Thread => ScalarType::Thread,
    }
}

fn value(constant: hir::Constant) -> Value {
    match constant {
        hir::Constant::Int(value) => Value::Int(value),
        hir::Constant::Long(value) => Value::Long(value),
        hir::Constant::Bool(value) => Value::Bool(value),
        hir::Constant::Double(value) => Value::Double(value),
        hir::Constant::String(text) => Value::String(text),
        hir::Constant::NoThread => Value::NoThread,
    }
}
