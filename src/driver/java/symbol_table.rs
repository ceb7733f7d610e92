//! The representation of the parts of a program in Java: their names, and the storage of their values.
//!
//! In: a program and the functions to write. Out: a [`SymbolTable`]. A class stays a class, a global is a static field of
//! `Program`, and a function is a static method. A method, or an arm of a method, is a method of its class.
//!
//! Scalars are fields, and volatile if threads share them. A scalar with an atomic expression is a `Cell`, and so is a local that
//! arms use. Each array of data is one `Array`, over all its dimensions; arrays of objects are Java arrays.

use super::key::{Key, key_of};
use super::locks::Monitors;
use super::text::{boxed_name, identifier, type_name};
use crate::Input;
use crate::names::Names;
use cssame_ir::{
    ClassId, FunctionId, FunctionKind, Instruction, LeafKind, Program, RegisterType, ScalarType, Storage, SymbolId,
    Type, VariableId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// The method of the main thread: no other thing gets this name.
const MAIN: &str = "main";

/// What a variable or a field is in Java.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) key: Key,
    pub(super) is_volatile: bool,
    /// Whether it is a scalar that a `Cell` holds.
    pub(super) is_cell: bool,
    /// A variable of the program and its first cell that begins as this does.
    pub(super) model: Option<(VariableId, u32)>,
}

/// What a function is in Java.
#[derive(Clone, Debug)]
pub(super) struct Method {
    pub(super) name: String,
    /// Whose method it is; none for a static one of `Program`.
    pub(super) class: Option<ClassId>,
}

/// How the parts of a program appear in Java.
pub(super) struct SymbolTable<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) methods: FxHashMap<FunctionId, Method>,
    /// Names of classes.
    pub(super) classes: Vec<String>,
    /// By class: its fields.
    pub(super) fields: Vec<Vec<Variable>>,
    /// In the order of the text.
    pub(super) globals: Vec<(VariableId, Variable)>,
    global_numbers: FxHashMap<VariableId, usize>,
    /// Names that a local would hide.
    pub(super) outer: FxHashSet<String>,
    pub(super) monitors: Monitors,
}

impl<'a> SymbolTable<'a> {
    pub(super) fn new(input: &'a Input<'a>, functions: &[FunctionId], monitors: Monitors) -> SymbolTable<'a> {
        let program = input.program;
        let mut names = Names::new(identifier);
        let mut symbols = SymbolTable {
            input,
            methods: FxHashMap::default(),
            classes: program.classes.iter().map(|class| names.fresh(program.texts.get(class.name))).collect(),
            fields: Vec::new(),
            globals: Vec::new(),
            global_numbers: FxHashMap::default(),
            outer: FxHashSet::default(),
            monitors,
        };
        symbols.add_variables(&mut names);
        // By class: its methods, which are called on an object of it.
        let mut own_names: FxHashMap<ClassId, Names<'_>> = FxHashMap::default();
        for &id in functions {
            let class = class_of(program, id);
            let text = program.texts.get(program.functions[id].name);
            let name = match class {
                _ if program.main == Some(id) => MAIN.to_owned(),
                None => names.fresh(text),
                Some(class) => {
                    let own = text.rsplit('.').next().unwrap_or(text);
                    let is_constructor = program.texts.get(program.classes[class].name) == own;
                    let of_class = own_names.entry(class).or_insert_with(|| Names::new(identifier));
                    of_class.fresh(if is_constructor { "construct" } else { own })
                }
            };
            symbols.methods.insert(id, Method { name, class });
        }
        symbols.outer = names.taken().clone();
        symbols
    }

    fn add_variables(&mut self, names: &mut Names<'_>) {
        let program = self.input.program;
        let shared = self.shared_symbols();
        let cells = self.cells();
        let models = models(program);
        let symbols: FxHashMap<_, SymbolId> = program.symbols.entries().map(|(id, of)| (of.span, id)).collect();
        let globals = program.variables.entries().filter(|(_, variable)| variable.storage == Storage::Global);
        for (id, variable) in globals {
            let symbol = program.leaves.get(variable.first_leaf).map(|leaf| leaf.symbol);
            let made = Variable {
                name: names.fresh(program.texts.get(variable.name)),
                ty: variable.ty,
                key: Key::Global(id),
                is_volatile: symbol.is_some_and(|symbol| shared.contains(&symbol)),
                is_cell: cells.contains(&Key::Global(id)),
                model: Some((id, 0)),
            };
            self.global_numbers.insert(id, self.globals.len());
            self.globals.push((id, made));
        }
        let taken = names.taken().clone();
        for (class, declared) in program.classes.entries() {
            let mut own = Names::below(identifier, &taken);
            let fields = (0..).zip(&declared.fields).map(|(number, field)| {
                let key = Key::Field(class, number);
                let model = models.get(&class).map(|&(variable, cell)| (variable, cell + field.offset));
                Variable {
                    name: own.fresh(program.texts.get(field.name)),
                    ty: field.ty,
                    key,
                    is_volatile: symbols.get(&field.span).is_some_and(|symbol| shared.contains(symbol)),
                    is_cell: cells.contains(&key),
                    model,
                }
            });
            let fields: Vec<Variable> = fields.collect();
            fields.iter().for_each(|field| names.reserve(&field.name));
            self.fields.push(fields);
        }
    }

    /// The symbols whose cells threads share.
    fn shared_symbols(&self) -> FxHashSet<SymbolId> {
        let Input { program, machine, .. } = *self.input;
        let visible = machine.visibility();
        let reads = program.reads.entries().filter(|(id, _)| visible.read(*id)).map(|(_, read)| read.symbol);
        let definitions = program.definitions.entries().filter(|(id, _)| visible.definition(*id));
        reads.chain(definitions.map(|(_, definition)| definition.symbol)).collect()
    }

    /// Variables and fields that atomic expressions work on.
    fn cells(&self) -> FxHashSet<Key> {
        let mut cells = FxHashSet::default();
        for (id, function) in self.input.program.functions.entries() {
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                if let Instruction::Atomic { place, .. } = instruction {
                    cells.extend(key_of(self.input.program, id, place).map(|(key, _)| key));
                }
            }
        }
        cells
    }

    pub(super) fn global(&self, id: VariableId) -> Option<&Variable> {
        Some(&self.globals.get(*self.global_numbers.get(&id)?)?.1)
    }

    pub(super) fn field(&self, class: ClassId, number: u32) -> Option<&Variable> {
        self.fields.get(class.index())?.get(number as usize)
    }

    /// The type in Java of something that is declared so; `key` is that of a variable or a field.
    pub(super) fn type_text(&self, ty: Type, key: Option<Key>, is_cell: bool) -> String {
        let program = self.input.program;
        let (inner, dimensions) = program.innermost(ty);
        if let (Type::Single(LeafKind::Data(scalar)), true) = (inner, dimensions > 0) {
            return format!("Array<{}>", boxed_name(scalar));
        }
        let name = match inner {
            Type::Single(LeafKind::Data(scalar)) if is_cell => format!("Cell<{}>", boxed_name(scalar)),
            Type::Single(kind) => single_name(kind, key.is_some_and(|key| self.monitors.contains(key))).to_owned(),
            Type::Class(class) => self.classes.get(class.index()).cloned().unwrap_or_default(),
            Type::Array(_) => String::new(),
        };
        name + &"[]".repeat(dimensions)
    }
}

/// The class of one thing of a kind.
pub(super) fn single_name(kind: LeafKind, is_monitor: bool) -> &'static str {
    match kind {
        LeafKind::Data(scalar) => type_name(scalar),
        LeafKind::Lock | LeafKind::ReentrantLock if is_monitor => "Object",
        LeafKind::Lock | LeafKind::ReentrantLock => "Lock",
        LeafKind::RwLock => "RwLock",
        LeafKind::Event => "Event",
        LeafKind::Barrier(_) => "Phaser",
        LeafKind::Condition => "Condition",
        LeafKind::Semaphore => "Semaphore",
    }
}

/// The data that an array holds, if it holds data.
pub(super) fn element_type(program: &Program, ty: Type) -> Option<ScalarType> {
    match program.innermost(ty) {
        (Type::Single(LeafKind::Data(scalar)), 1..) => Some(scalar),
        _ => None,
    }
}

/// The class that a function is a method of, or an arm of a method.
fn class_of(program: &Program, id: FunctionId) -> Option<ClassId> {
    let function = &program.functions[id];
    let this = &function.registers[*function.parameters.first()?];
    let is_own = matches!(function.kind, FunctionKind::Method { .. } | FunctionKind::Arm) && this.name.is_none();
    match this.pointee {
        Some(Type::Class(class)) if is_own && this.ty == RegisterType::Reference => Some(class),
        _ => None,
    }
}

/// For each class a variable that holds an object of it, and the first cell of that.
fn models(program: &Program) -> FxHashMap<ClassId, (VariableId, u32)> {
    let mut models = FxHashMap::default();
    for (id, variable) in program.variables.entries() {
        let mut waiting = vec![(variable.ty, 0)];
        while let Some((ty, cell)) = waiting.pop() {
            match ty {
                Type::Array(array) => waiting.push((program.arrays[array].element, cell)),
                Type::Class(class) => {
                    if let Entry::Vacant(vacant) = models.entry(class) {
                        vacant.insert((id, cell));
                        let fields = &program.classes[class].fields;
                        waiting.extend(fields.iter().map(|field| (field.ty, cell + field.offset)));
                    }
                }
                Type::Single(_) => {}
            }
        }
    }
    models
}
