//! The initial values of variables, in Java.
//!
//! In: the type of a variable or a field, and a variable of the program with the same initial value. Out: an expression.

use super::symbol_table::{SymbolTable, Variable, element_type, single_name};
use super::text::{boxed_name, default_value, literal};
use cssame_ir::{LeafKind, ScalarType, Type, Value, VariableId};

/// Objects of an array that are written one by one.
const MANY: u32 = 8;

/// Values of an array that stand in one text: Java bounds the size of a method, and the number of constants of a class.
const LONG: usize = 1_000;

impl SymbolTable<'_> {
    /// The expression that a variable or a field begins with.
    pub(super) fn initial(&self, variable: &Variable) -> String {
        match variable.ty {
            Type::Single(LeafKind::Data(scalar)) => self.scalar(scalar, variable.model, variable.is_cell),
            ty => self.made(ty, variable.model, self.monitors.contains(variable.key)),
        }
    }

    /// What a local in memory begins with.
    pub(super) fn local(&self, ty: Type, variable: VariableId) -> String {
        let model = Some((variable, 0));
        match ty {
            Type::Single(LeafKind::Data(scalar)) => self.scalar(scalar, model, true),
            _ => self.made(ty, model, false),
        }
    }

    fn scalar(&self, scalar: ScalarType, model: Option<(VariableId, u32)>, is_cell: bool) -> String {
        let value = self.value(model, 0).map_or_else(|| default_value(scalar).to_owned(), |value| self.shown(value));
        if is_cell { format!("new Cell<>({value})") } else { value }
    }

    /// A new object of a type that is no scalar.
    pub(super) fn made(&self, ty: Type, model: Option<(VariableId, u32)>, is_monitor: bool) -> String {
        let program = self.input.program;
        if let Some(scalar) = element_type(program, ty) {
            return self.array(scalar, program.size_of(ty), model);
        }
        match ty {
            Type::Class(class) => {
                format!("new {}()", self.classes.get(class.index()).map_or("Object", String::as_str))
            }
            Type::Single(kind) => self.object(kind, model, is_monitor),
            Type::Array(array) => {
                let of = &program.arrays[array];
                let stride = program.size_of(of.element);
                let element = |number: u32| {
                    let model = model.map(|(variable, cell)| (variable, cell + number * stride));
                    self.made(of.element, model, is_monitor)
                };
                let length = of.length.unwrap_or(0);
                let elements: Vec<String> = (0..length).map(element).collect();
                let (inner, dimensions) = program.innermost(ty);
                let name = match inner {
                    Type::Class(class) => self.classes.get(class.index()).map_or("Object", String::as_str),
                    Type::Single(kind) => single_name(kind, is_monitor),
                    Type::Array(_) => "Object",
                };
                match elements.first() {
                    // One statement for each would be too much for a method of Java.
                    Some(first) if length > MANY && elements.iter().all(|element| element == first) => {
                        format!("Array.fill(new {name}[{length}]{}, () -> {first})", "[]".repeat(dimensions - 1))
                    }
                    _ => format!("new {name}{} {{{}}}", "[]".repeat(dimensions), elements.join(", ")),
                }
            }
        }
    }

    fn object(&self, kind: LeafKind, model: Option<(VariableId, u32)>, is_monitor: bool) -> String {
        match kind {
            LeafKind::Lock | LeafKind::ReentrantLock if is_monitor => "new Object()".to_owned(),
            LeafKind::ReentrantLock => "new Lock(true)".to_owned(),
            LeafKind::RwLock if self.input.machine.options().semantics.prefer_writers => "new RwLock(true)".to_owned(),
            LeafKind::Barrier(count) => {
                let declared = model.and_then(|(variable, cell)| self.input.program.leaf_at(variable, cell));
                let count = match declared.map(|(leaf, _)| self.input.program.leaves[leaf].kind) {
                    Some(LeafKind::Barrier(count)) => count,
                    _ => count,
                };
                format!("new Phaser({count})")
            }
            LeafKind::Semaphore => {
                let count = self.value(model, 0).map_or(0, Value::bits);
                format!("new Semaphore({count})")
            }
            LeafKind::Data(_) | LeafKind::Lock | LeafKind::RwLock | LeafKind::Event | LeafKind::Condition => {
                format!("new {}()", single_name(kind, false))
            }
        }
    }

    fn array(&self, scalar: ScalarType, length: u32, model: Option<(VariableId, u32)>) -> String {
        let default = default_value(scalar);
        let values: Vec<String> = (0..length)
            .map(|cell| self.value(model, cell).map_or_else(|| default.to_owned(), |value| self.shown(value)))
            .collect();
        let class = boxed_name(scalar);
        let rest = values.last().map_or(default, String::as_str);
        let own = values.iter().rposition(|value| value != rest).map_or(0, |last| last + 1);
        match (own, length as usize - own) {
            (0, _) if rest == "(Handle) null" => format!("new Array<{class}>({length}, null)"),
            (0, _) => format!("new Array<{class}>({length}, {rest})"),
            (LONG.., _) if scalar != ScalarType::String => {
                let texts: Vec<String> = (0..own as u32).map(|cell| self.readable(model, cell, default)).collect();
                let texts: Vec<String> = texts.chunks(LONG).map(|chunk| format!("\"{}\"", chunk.join(" "))).collect();
                format!("Array.read({length}, {rest}, {class}::valueOf, {})", texts.join(", "))
            }
            (_, same) if same > MANY as usize => {
                format!("Array.begun({length}, {rest}, {})", values[..own].join(", "))
            }
            _ => format!("Array.of({})", values.join(", ")),
        }
    }

    /// The first value of a cell as `valueOf` of its class reads it.
    fn readable(&self, model: Option<(VariableId, u32)>, cell: u32, default: &str) -> String {
        match self.value(model, cell) {
            Some(Value::Double(value)) if value.is_infinite() => {
                if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
            }
            Some(Value::Double(value)) => format!("{value:?}"),
            Some(value) => self.shown(value).trim_end_matches('L').to_owned(),
            None => default.trim_end_matches('L').to_owned(),
        }
    }

    fn shown(&self, value: Value) -> String {
        literal(&self.input.program.texts, value)
    }

    /// The first value of a cell.
    fn value(&self, model: Option<(VariableId, u32)>, more: u32) -> Option<Value> {
        let (variable, cell) = model?;
        let (leaf, element) = self.input.program.leaf_at(variable, cell + more)?;
        self.input.program.leaves[leaf].initial.get(element as usize).copied()
    }
}
