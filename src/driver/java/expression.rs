//! Expressions in Java: operands, operators, and places in memory.
//!
//! In: operands and places of an instruction. Out: their text. A folded expression is written in place, in parentheses if it is
//! an operand itself.

use super::fold::Folding;
use super::key::fits;
use super::operators;
use super::symbol_table::{SymbolTable, element_type};
use super::text::{identifier, literal};
use crate::names::Names;
use cssame_ir::types::Part;
use cssame_ir::{
    Arithmetic, Base, BinaryOperator, Function, FunctionId, Index, Instruction, LeafKind, Operand, Place, RegisterId,
    RegisterType, ScalarType, Type, UnaryOperator, Value,
};

/// Where data is: how it is read and written.
pub(super) enum Slot {
    /// A field or a static field.
    Field(String),
    /// A `Cell`.
    Cell(String),
    /// An element of an `Array`, by its number.
    Element(String, String),
}

impl Slot {
    pub(super) fn read(&self) -> String {
        match self {
            Slot::Field(name) => name.clone(),
            Slot::Cell(name) => format!("{name}.get()"),
            Slot::Element(array, index) => format!("{array}.get({index})"),
        }
    }

    pub(super) fn write(&self, value: &str) -> String {
        match self {
            Slot::Field(name) => format!("{name} = {value};"),
            Slot::Cell(name) => format!("{name}.set({value});"),
            Slot::Element(array, index) => format!("{array}.set({index}, {value});"),
        }
    }

    /// The join point of a read: what it is, and the name of the field or the method.
    pub(super) fn read_by(&self) -> (&'static str, String) {
        match self {
            Slot::Field(name) => ("get", last_name(name)),
            Slot::Cell(_) | Slot::Element(..) => ("call", "get".to_owned()),
        }
    }

    /// The join point of a write.
    pub(super) fn written_by(&self) -> (&'static str, String) {
        match self {
            Slot::Field(name) => ("set", last_name(name)),
            Slot::Cell(_) | Slot::Element(..) => ("call", "set".to_owned()),
        }
    }

    /// A call of a method that reads and writes.
    pub(super) fn call(&self, method: &str, arguments: &str) -> String {
        match self {
            // A scalar with atomic expressions is a cell, so this is not reached.
            Slot::Field(name) | Slot::Cell(name) => format!("{name}.{method}({arguments})"),
            Slot::Element(array, index) => format!("{array}.{method}({index}, {arguments})"),
        }
    }
}

fn last_name(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_owned()
}

/// What the expressions of a function need.
pub(super) struct Scope<'w, 'a> {
    pub(super) symbols: &'w SymbolTable<'a>,
    pub(super) id: FunctionId,
    pub(super) function: &'a Function,
    pub(super) folding: Folding,
    pub(super) names: Names<'w>,
    /// By register, where it has a name already.
    pub(super) registers: Vec<Option<String>>,
}

impl<'w, 'a> Scope<'w, 'a> {
    pub(super) fn new(symbols: &'w SymbolTable<'a>, id: FunctionId, folding: Folding) -> Scope<'w, 'a> {
        let function = &symbols.input.program.functions[id];
        let names = Names::below(identifier, &symbols.outer);
        Scope { symbols, id, function, folding, names, registers: vec![None; function.registers.len()] }
    }

    /// The name of a register; `hint` is for one that has none in the text.
    pub(super) fn name(&mut self, register: RegisterId, hint: &str) -> String {
        if let Some(name) = &self.registers[register.index()] {
            return name.clone();
        }
        let texts = &self.symbols.input.program.texts;
        let name = match self.function.registers[register].name {
            Some(name) => self.names.fresh(texts.get(name)),
            None => self.names.numbered(hint),
        };
        self.registers[register.index()] = Some(name.clone());
        name
    }

    /// The type of a register in Java.
    pub(super) fn register_type(&self, register: RegisterId) -> String {
        let of = &self.function.registers[register];
        match (of.ty, of.pointee) {
            (RegisterType::Scalar(scalar), _) => super::text::type_name(scalar).to_owned(),
            (RegisterType::Reference, Some(ty)) => {
                let is_scalar = matches!(ty, Type::Single(LeafKind::Data(_)));
                self.symbols.type_text(ty, None, is_scalar)
            }
            (RegisterType::Reference, None) => "Object".to_owned(),
        }
    }

    /// An operand by itself.
    pub(super) fn operand(&mut self, operand: &Operand) -> String {
        self.shown(operand).0
    }

    /// An operand of an operator, a method or a cast.
    pub(super) fn inner(&mut self, operand: &Operand) -> String {
        let (text, is_single) = self.shown(operand);
        if is_single { text } else { format!("({text})") }
    }

    /// The text of an operand, and whether it binds tighter than any operator.
    fn shown(&mut self, operand: &Operand) -> (String, bool) {
        let register = match operand {
            Operand::Constant(value) => {
                let text = literal(&self.symbols.input.program.texts, *value);
                let is_single = !text.starts_with(['-', '(']);
                return (text, is_single);
            }
            Operand::Register(register) => *register,
        };
        match self.folding.source(register) {
            Some((block, number)) => {
                let function = self.function;
                self.result(&function.blocks[block].instructions[number as usize])
            }
            None => (self.name(register, "v"), true),
        }
    }

    /// The value of a pure instruction.
    pub(super) fn result(&mut self, instruction: &Instruction) -> (String, bool) {
        match instruction {
            Instruction::Copy { source, .. } => self.shown(source),
            Instruction::Unary { op, operand, .. } => self.unary(*op, operand),
            Instruction::Binary { op, left, right, .. } => (self.binary(*op, left, right), false),
            Instruction::Address { dest, place } => {
                let wanted = self.function.registers[*dest].pointee;
                (self.reference(place, wanted), true)
            }
            _ => ("null".to_owned(), true),
        }
    }

    fn unary(&mut self, op: UnaryOperator, operand: &Operand) -> (String, bool) {
        let value = self.inner(operand);
        operators::unary(op, &value).map_or_else(|| self.shown(operand), |text| (text, false))
    }

    fn binary(&mut self, op: BinaryOperator, left: &Operand, right: &Operand) -> String {
        if let (BinaryOperator::Divide(kind) | BinaryOperator::Remainder(kind), Operand::Constant(divisor)) =
            (op, right)
            && kind != Arithmetic::Double
            && divisor.bits() == 0
        {
            // The check before it fails, and javac warns of the division.
            return if kind == Arithmetic::Long { "0L" } else { "0" }.to_owned();
        }
        let (first, second) = (self.inner(left), self.inner(right));
        match op {
            // The program said `x > 1`.
            BinaryOperator::Less(_) if matches!(left, Operand::Constant(_)) => format!("{second} > {first}"),
            BinaryOperator::LessEqual(_) if matches!(left, Operand::Constant(_)) => format!("{second} >= {first}"),
            _ => operators::binary(op, self.is_text(left), &first, &second),
        }
    }

    fn is_text(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Constant(value) => value.ty() == ScalarType::String,
            Operand::Register(register) => {
                self.function.registers[*register].ty == RegisterType::Scalar(ScalarType::String)
            }
        }
    }

    /// A condition, perhaps the negation of one.
    pub(super) fn condition(&mut self, condition: &Operand, negated: bool) -> String {
        if !negated {
            return self.operand(condition);
        }
        let function = self.function;
        if let Operand::Register(register) = condition
            && let Some((block, number)) = self.folding.source(*register)
            && let Instruction::Binary { op, left, right, .. } = &function.blocks[block].instructions[number as usize]
            && let Some((op, swaps)) = operators::opposite(*op)
        {
            return if swaps { self.binary(op, right, left) } else { self.binary(op, left, right) };
        }
        match condition {
            Operand::Constant(Value::Bool(truth)) => (!truth).to_string(),
            _ => format!("!{}", self.inner(condition)),
        }
    }

    /// Where a scalar is.
    pub(super) fn slot(&mut self, place: &Place) -> Slot {
        let (text, array, is_cell) = self.path(place, |ty| matches!(ty, Type::Single(_)));
        match array {
            Some(number) => Slot::Element(text, number),
            None if is_cell => Slot::Cell(text),
            None => Slot::Field(text),
        }
    }

    /// An object, an array or a cell of that type; a synchronisation object where no type is given.
    pub(super) fn reference(&mut self, place: &Place, wanted: Option<Type>) -> String {
        let program = self.symbols.input.program;
        let (text, row, _) =
            self.path(place, |ty| wanted.map_or(matches!(ty, Type::Single(_)), |wanted| fits(program, ty, wanted)));
        match (row, wanted) {
            // A row of an array of data: all elements are in one.
            (Some(first), Some(ty)) => {
                let length = program.size_of(ty);
                format!("{text}.row({first}, {length})")
            }
            _ => text,
        }
    }

    /// The path to a place; in an array of data, that array and the number of the element; and whether a cell holds it.
    fn path(&mut self, place: &Place, wanted: impl Fn(Type) -> bool) -> (String, Option<String>, bool) {
        let program = self.symbols.input.program;
        let parts = program.base_type(self.id, place).and_then(|base| program.parts_of(base, place, wanted));
        let (mut text, mut ty, mut is_cell) = self.base(place);
        let mut number: Option<String> = None;
        for part in parts.into_iter().flatten() {
            match part {
                Part::Field(class, field) => {
                    if let Some(field) = self.symbols.field(class, field) {
                        text = format!("{text}.{}", field.name);
                        (ty, is_cell) = (field.ty, field.is_cell);
                    }
                }
                Part::Index(_) | Part::Element(_) => {
                    let index = self.index(place, part);
                    let is_data = element_type(program, ty).is_some();
                    if let Type::Array(array) = ty {
                        ty = program.arrays[array].element;
                    }
                    if is_data {
                        // The elements of what this index leads to stand together.
                        let stride = program.size_of(ty);
                        let index = if stride == 1 { index } else { format!("{} * {stride}", grouped(&index)) };
                        number = Some(number.map_or(index.clone(), |outer| format!("{outer} + {}", grouped(&index))));
                    } else {
                        text = format!("{text}[{index}]");
                    }
                }
            }
        }
        (text, number, is_cell)
    }

    fn base(&mut self, place: &Place) -> (String, Type, bool) {
        let nothing = Type::Single(LeafKind::Lock);
        match place.base {
            Base::Global(variable) => match self.symbols.global(variable) {
                Some(global) => {
                    let prefix = if self.symbols.methods[&self.id].class.is_some() { "Program." } else { "" };
                    (format!("{prefix}{}", global.name), global.ty, global.is_cell)
                }
                None => ("null".to_owned(), nothing, false),
            },
            Base::Reference(register) | Base::Pointer(register) => {
                let ty = self.function.registers[register].pointee.unwrap_or(nothing);
                let text = self.operand(&Operand::Register(register));
                (text, ty, matches!(ty, Type::Single(LeafKind::Data(_))))
            }
        }
    }

    /// An index of Java: an `int`. That it is in range has been checked.
    fn index(&mut self, place: &Place, part: Part) -> String {
        match part {
            Part::Element(number) => number.to_string(),
            Part::Index(number) => {
                let operand = place.indices[number as usize].operand;
                match operand {
                    Operand::Constant(value) => value.bits().to_string(),
                    Operand::Register(_) if self.is_long(&operand) => format!("(int) {}", self.inner(&operand)),
                    Operand::Register(_) => self.operand(&operand),
                }
            }
            Part::Field(..) => String::new(),
        }
    }

    fn is_long(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Constant(value) => value.ty() == ScalarType::Long,
            Operand::Register(register) => {
                self.function.registers[*register].ty == RegisterType::Scalar(ScalarType::Long)
            }
        }
    }

    /// Whether an index is in range, as a condition of Java; none where both are constants and it is.
    pub(super) fn in_range(&mut self, index: &Index) -> Option<String> {
        if let (Operand::Constant(at), Operand::Constant(length)) = (index.operand, index.length) {
            let is_in = (0..length.bits()).contains(&at.bits());
            return (!is_in).then(|| "false".to_owned());
        }
        let (at, length) = (self.inner(&index.operand), self.inner(&index.length));
        Some(match index.operand {
            Operand::Constant(number) if number.bits() < 0 => "false".to_owned(),
            Operand::Constant(_) => format!("{at} < {length}"),
            Operand::Register(_) => format!("0 <= {at} && {at} < {length}"),
        })
    }

    /// Whether a divisor is not zero, as a condition of Java; none where it is a constant and is not.
    pub(super) fn is_no_zero(&mut self, divisor: &Operand) -> Option<String> {
        match divisor {
            Operand::Constant(value) => (value.bits() == 0).then(|| "false".to_owned()),
            Operand::Register(_) => Some(format!("{} != 0", self.inner(divisor))),
        }
    }

    /// How many indices of a place lead into the array of data that holds it.
    pub(super) fn array_indices(&self, place: &Place) -> usize {
        let program = self.symbols.input.program;
        let base = program.base_type(self.id, place);
        let parts = base.and_then(|base| program.parts_of(base, place, |ty| matches!(ty, Type::Single(_))));
        let parts = parts.unwrap_or_default();
        parts.iter().rev().take_while(|part| !matches!(part, Part::Field(..))).count()
    }

    /// The number of the element that an access by index means, as plans count it; none without an index.
    pub(super) fn element(&mut self, place: &Place) -> Option<String> {
        let (first, further) = place.indices.split_first()?;
        let mut number = self.operand(&first.operand);
        for index in further {
            let (length, at) = (self.inner(&index.length), self.inner(&index.operand));
            number = format!("{} * {length} + {at}", grouped(&number));
        }
        Some(number)
    }
}

/// An expression as an operand.
fn grouped(text: &str) -> String {
    let is_single = text.chars().all(|each| each.is_alphanumeric() || matches!(each, '_' | '.'));
    if is_single { text.to_owned() } else { format!("({text})") }
}
