//! Memory of `malloc` and the like, and `free`.
//!
//! In: calls. Out: for each place that asks for memory a function that the text does not show, which makes an object of the type
//! that the result becomes a pointer to, and a call of it. Objects of one place are told apart where the program runs.

use super::ask::{Done, call_of, called_for, meaning};
use super::builder::{Builder, Typed};
use super::objects::NewVariable;
use super::owner::Owner;
use super::program::empty;
use super::shape::MOST_VARIABLE;
use crate::supported::Reason;
use crate::tree::{ExprId, TypeId, TypeKind, Unit};
use cssame_ir::{
    Arithmetic, BinaryOperator, Block, Definition, DefinitionKind, Function, FunctionId, FunctionKind, Instruction,
    Operand, Register, RegisterType, ScalarType, Storage, Terminator, Value,
};
use cssame_source::Span;

/// The functions that give memory.
pub const GIVES: &[&str] = &["malloc", "calloc", "aligned_alloc", "valloc"];

/// Why memory is not read that never becomes a pointer of a type.
pub const UNTYPED: &str = "whose type the text does not say where it is asked for";

/// What is said where pointers into different objects are compared or subtracted.
const DIFFERENT_OBJECTS: &str = "pointers into different objects are compared by `<`, or subtracted";

/// The call of a function that gives memory that an expression is, behind conversions.
pub fn request(unit: &Unit, expr: ExprId) -> Option<ExprId> {
    let at = called_for(unit, expr)?;
    let (called, _) = call_of(unit, at)?;
    meaning(unit, called).filter(|(name, _)| GIVES.contains(name)).map(|_| at)
}

/// How much memory a call asks for.
#[derive(Clone, Copy)]
pub enum Amount {
    /// So many elements.
    Elements(u32),
    /// As many as this `long` says.
    Computed(cssame_ir::RegisterId),
    /// One structure, with so many elements of the array at its end.
    Tail(cssame_ir::RegisterId),
}

impl Builder<'_, '_> {
    /// The memory that a call asks for, where the result becomes a pointer to `element` of a unit.
    pub fn memory_given(&mut self, call: ExprId, (unit, element): (u32, TypeId)) -> Done<Typed> {
        let place = self.expr(call).place;
        let Some((called, arguments)) = call_of(self.unit, call) else {
            return self.refuse(Reason::HeapAllocation, place);
        };
        let name = self.unit.declarations[called].name.clone().unwrap_or_default();
        let tree = self.lowering.unit(unit);
        let Some(size) = tree.types[element].size.filter(|&size| size > 0) else {
            return self.refuse(Reason::UnclearMemory(UNTYPED), place);
        };
        let factors = match (&*name, arguments) {
            ("calloc", [count, each]) => vec![*count, *each],
            ("aligned_alloc", [_, bytes]) | (_, [bytes]) => vec![*bytes],
            _ => return self.refuse(Reason::HeapAllocation, place),
        };
        let amount = match self.tail_of(unit, element) {
            Some((offset, each)) => self.tail(&factors, offset, each, call)?,
            None => self.amount(&factors, size, call)?,
        };
        let key = (self.id, call);
        let function = match self.lowering.makers.get(&key) {
            Some(&known) => known,
            None => {
                let made = self.maker(&name, call, (unit, element), amount)?;
                self.lowering.makers.insert(key, made);
                made
            }
        };
        let dest = self.temporary(ScalarType::Pointer, place.span);
        let arguments = match amount {
            Amount::Elements(_) => Vec::new(),
            Amount::Computed(register) | Amount::Tail(register) => vec![Operand::Register(register)],
        };
        self.emit(Instruction::Call { dest: Some(dest), function, arguments }, place.span);
        Ok(Typed::register(dest, ScalarType::Pointer))
    }

    /// `free`.
    pub fn give_back(&mut self, pointer: ExprId, expr: ExprId) -> Done<()> {
        let span = self.span(expr);
        let value = self.value(pointer)?;
        let operand = self.converted(value, ScalarType::Pointer, span);
        let pointer = self.in_register(Typed { operand, ty: ScalarType::Pointer }, span);
        let symbol = self.lowering.symbol(&Owner::Text(span), false, span);
        let (name, kind) = (self.lowering.text_at(span), DefinitionKind::Free(self.id));
        let made = Definition { name, symbol, span, kind, version: 0 };
        let definition = self.lowering.program.definitions.push(made);
        self.emit(Instruction::Free { pointer, definition }, span);
        Ok(())
    }

    /// Ends the program where two pointers lead to different objects: C says nothing of which of them is less, or how far they lie apart,
    /// and where an object on the heap lies is for the search to choose.
    pub fn test_same_object(&mut self, one: Operand, other: Operand, span: Span) {
        if !self.input().facts.asks_memory {
            return;
        }
        let long = |builder: &mut Self, operand| {
            builder.converted(Typed { operand, ty: ScalarType::Pointer }, ScalarType::Long, span)
        };
        let (one, other) = (long(self, one), long(self, other));
        let differing = self.operation(BinaryOperator::Xor, ScalarType::Long, (one, other), span);
        // What is above the number of the cell says which object it is.
        let above = Operand::Constant(Value::Long(32));
        let objects = self.long_binary(BinaryOperator::ShiftRight, differing, above, span);
        let operands = (objects, Operand::Constant(Value::Long(0)));
        let differ = self.operation(BinaryOperator::NotEqual, ScalarType::Bool, operands, span);
        self.fail_if(differ, DIFFERENT_OBJECTS, span);
    }

    /// How many elements of a size make up the product of some numbers of bytes.
    pub fn amount(&mut self, factors: &[ExprId], size: u64, call: ExprId) -> Done<Amount> {
        let place = self.expr(call).place;
        let constants: Option<Vec<i128>> = factors.iter().map(|&factor| self.known_integer(factor)).collect();
        if let Some(constants) = constants {
            let bytes = constants.iter().try_fold(1_i128, |all, &one| all.checked_mul(one));
            let whole = bytes.filter(|bytes| bytes % i128::from(size) == 0).map(|bytes| bytes / i128::from(size));
            return match whole.and_then(|count| u32::try_from(count).ok()) {
                Some(count) => Ok(Amount::Elements(count)),
                None => self.refuse(Reason::UnclearMemory("whose size is no multiple of that of its type"), place),
            };
        }
        let bytes = self.product(factors, place.span)?;
        if size > 1 {
            let each = Operand::Constant(Value::Long(size as i64));
            let rest = self.long_binary(BinaryOperator::Remainder, bytes, each, place.span);
            let zero = Operand::Constant(Value::Long(0));
            self.fail_where((zero, rest), Arithmetic::Long, "a part of an element is not read", place.span);
        }
        self.count_of(bytes, size, place.span).map(Amount::Computed)
    }

    /// The product of some numbers, as a `long`.
    fn product(&mut self, factors: &[ExprId], span: Span) -> Done<Operand> {
        let mut bytes = Operand::Constant(Value::Long(1));
        for (index, &factor) in factors.iter().enumerate() {
            let value = match self.known_integer(factor).map(i64::try_from) {
                Some(Ok(known)) => Operand::Constant(Value::Long(known)),
                _ => {
                    let value = self.value(factor)?;
                    self.converted(value, ScalarType::Long, span)
                }
            };
            bytes = if index == 0 { value } else { self.long_binary(BinaryOperator::Multiply, bytes, value, span) };
        }
        Ok(bytes)
    }

    /// Where the array begins that a structure of a type ends with, and the size of its elements, in bytes.
    fn tail_of(&self, unit: u32, ty: TypeId) -> Option<(u64, u64)> {
        let tree = self.lowering.unit(unit);
        let TypeKind::Record(record) = tree.types[ty].kind else { return None };
        let element = self.input().flexible(unit, record)?;
        Some((tree.records[record].fields.last()?.offset, tree.types[element].size.filter(|&size| size > 0)?))
    }

    /// How many elements of that array there is memory for.
    fn tail(&mut self, factors: &[ExprId], offset: u64, each: u64, call: ExprId) -> Done<Amount> {
        let span = self.span(call);
        let bytes = self.product(factors, span)?;
        let before = Operand::Constant(Value::Long(offset as i64));
        let behind = self.long_binary(BinaryOperator::Subtract, bytes, before, span);
        self.count_of(behind, each, span).map(Amount::Tail)
    }

    /// How many elements of a size there are in some bytes; more than are kept is an error.
    fn count_of(&mut self, bytes: Operand, size: u64, span: Span) -> Done<cssame_ir::RegisterId> {
        let each = Operand::Constant(Value::Long(size as i64));
        let count = self.long_binary(BinaryOperator::Divide, bytes, each, span);
        let count = self.in_register(Typed { operand: count, ty: ScalarType::Long }, span);
        let text = self.lowering.text_at(span);
        let text = self.lowering.program.texts.get(text).to_owned();
        let most = Operand::Constant(Value::Long(i64::from(MOST_VARIABLE)));
        let message = format!("more than {MOST_VARIABLE} elements are not read: `{text}`");
        let zero = Operand::Constant(Value::Long(0));
        self.fail_where((Operand::Register(count), zero), Arithmetic::Long, &message, span);
        self.fail_where((most, Operand::Register(count)), Arithmetic::Long, &message, span);
        Ok(count)
    }

    /// The function that makes the object of a place.
    fn maker(&mut self, called: &str, call: ExprId, memory: (u32, TypeId), amount: Amount) -> Done<FunctionId> {
        let place = self.expr(call).place;
        let position = self.input().sources.position(place.span);
        let own = format!("{called}@{}", position.line);
        let (name, place, owner) = match &self.memory {
            Some(memory) => {
                (self.lowering.program.texts.get(memory.name).to_owned(), memory.place, memory.owner.clone())
            }
            None => (own, place, Owner::Memory(self.key.unit, call)),
        };
        let name = self.maker_name(&name, position.column);
        let length = match amount {
            Amount::Elements(1) | Amount::Tail(_) => None,
            Amount::Elements(count) => Some(count),
            Amount::Computed(_) => Some(MOST_VARIABLE),
        };
        if let Owner::Memory(unit, call) = owner {
            self.lowering.memory_types.insert((unit, call), memory);
        }
        let (unit, ty) = memory;
        let function = FunctionId::new(self.lowering.program.functions.len());
        let storage = Storage::Local(function);
        let new = NewVariable { name, place, storage, unit, ty, owner, heap: true, length };
        let variable = self.lowering.variable(&new)?;
        let ty = self.lowering.program.variables[variable].ty;
        let mut made =
            Function { result: Some(ScalarType::Pointer), ..empty(name, place.span, FunctionKind::Function) };
        let mut register = |ty: ScalarType, pointee| {
            made.registers.push(Register { name: None, span: place.span, ty: RegisterType::Scalar(ty), pointee })
        };
        let elements = match amount {
            Amount::Elements(_) => None,
            Amount::Computed(_) | Amount::Tail(_) => Some(register(ScalarType::Long, None)),
        };
        let dest = register(ScalarType::Pointer, Some(ty));
        made.parameters.extend(elements);
        made.blocks.push(Block {
            instructions: vec![Instruction::Allocate { dest, variable, elements }],
            spans: vec![place.span],
            terminator: Terminator::Return(Some(Operand::Register(dest))),
            terminator_span: place.span,
            negated: false,
        });
        self.lowering.program.functions.push(made);
        Ok(function)
    }

    /// A name that no other maker has.
    fn maker_name(&mut self, name: &str, column: u32) -> cssame_ir::TextId {
        let with_column = format!("{name}:{column}");
        let more = (2..).map(|number| format!("{with_column}/{number}"));
        let mut names = [name.to_owned(), with_column.clone()].into_iter().chain(more);
        loop {
            let text = self.lowering.text(&names.next().unwrap_or_default());
            if self.lowering.maker_names.insert(text) {
                return text;
            }
        }
    }
}
