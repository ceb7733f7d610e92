//! Memory of `malloc` and the like.
//!
//! In: calls. Out: for each place that asks for memory a function that the text does not show, which makes an object of the type
//! that the result becomes a pointer to, and a call of it. Objects of one place are told apart where the program runs.

use super::ask::{Done, call_of, meaning};
use super::builder::{Builder, Typed};
use super::objects::NewVariable;
use super::owner::Owner;
use super::program::empty;
use super::shape::MOST_VARIABLE;
use crate::supported::Reason;
use crate::tree::{Conversion, ExprId, ExprKind, Length, TypeId, TypeKind, Unit};
use cssame_ir::{
    Arithmetic, BinaryOperator, Block, Function, FunctionId, FunctionKind, Instruction, Operand, Register,
    RegisterType, ScalarType, Storage, Terminator, Value,
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
    let mut at = expr;
    while let ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand } =
        unit.expressions[at].kind
    {
        at = operand;
    }
    if !matches!(unit.expressions[at].kind, ExprKind::Call { .. }) {
        return None;
    }
    let (called, _) = call_of(unit, at)?;
    meaning(unit, called).filter(|(name, _)| GIVES.contains(name)).map(|_| at)
}

/// How much memory a call asks for.
#[derive(Clone, Copy)]
enum Amount {
    /// So many elements.
    Elements(u32),
    /// As many as this `long` says.
    Computed(cssame_ir::RegisterId),
}

impl Builder<'_, '_> {
    /// The memory that a call asks for, where the result becomes a pointer to `element`.
    pub fn memory(&mut self, call: ExprId, element: TypeId) -> Done<Typed> {
        let place = self.expr(call).place;
        let Some((called, arguments)) = call_of(self.unit, call) else {
            return self.refuse(Reason::HeapAllocation, place);
        };
        let name = self.unit.declarations[called].name.clone().unwrap_or_default();
        if self.is_flexible(element) {
            return self.refuse(Reason::UnclearMemory("for a structure that ends with an array of any length"), place);
        }
        let Some(size) = self.unit.types[element].size.filter(|&size| size > 0) else {
            return self.refuse(Reason::UnclearMemory(UNTYPED), place);
        };
        let factors = match (&*name, arguments) {
            ("calloc", [count, each]) => vec![*count, *each],
            ("aligned_alloc", [_, bytes]) | (_, [bytes]) => vec![*bytes],
            _ => return self.refuse(Reason::HeapAllocation, place),
        };
        let amount = self.amount(&factors, size, call)?;
        let key = (self.key.unit, call);
        let function = match self.lowering.makers.get(&key) {
            Some(&known) => known,
            None => {
                let made = self.maker(&name, call, element, amount)?;
                self.lowering.makers.insert(key, made);
                made
            }
        };
        let dest = self.temporary(ScalarType::Pointer, place.span);
        let arguments = match amount {
            Amount::Elements(_) => Vec::new(),
            Amount::Computed(register) => vec![Operand::Register(register)],
        };
        self.emit(Instruction::Call { dest: Some(dest), function, arguments }, place.span);
        Ok(Typed::register(dest, ScalarType::Pointer))
    }

    /// The type that memory is for that becomes no pointer of a type at once: that of all pointers which the variable becomes that it
    /// is assigned to; none where they differ.
    pub fn type_of_memory(&self, call: ExprId) -> Option<TypeId> {
        let unit = self.unit;
        let of_declaration = unit.declarations.entries().find_map(|(decl, declared)| {
            let [only] = declared.initial.as_deref()? else { return None };
            (request(unit, only.value) == Some(call)).then_some(decl)
        });
        let of_assignment = || {
            unit.expressions.iter().find_map(|expr| match expr.kind {
                ExprKind::Assign { target, value, .. } if request(unit, value) == Some(call) => {
                    match unit.expressions[target].kind {
                        ExprKind::Name(decl) => Some(decl),
                        _ => None,
                    }
                }
                _ => None,
            })
        };
        let decl = of_declaration.or_else(of_assignment)?;
        let mut types = unit.expressions.iter().filter_map(|expr| {
            let (ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand }) = expr.kind
            else {
                return None;
            };
            let ExprKind::Convert { conversion: Conversion::Read, operand: place } = unit.expressions[operand].kind
            else {
                return None;
            };
            let target = unit.pointee(expr.ty)?;
            let is_it = unit.expressions[place].kind == ExprKind::Name(decl) && unit.types[target].size.is_some();
            (is_it && !matches!(unit.types[target].kind, TypeKind::Void)).then_some(target)
        });
        let first = types.next()?;
        types.all(|other| other == first).then_some(first)
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
        let differing = self.temporary(ScalarType::Long, span);
        self.emit(Instruction::Binary { dest: differing, op: BinaryOperator::Xor, left: one, right: other }, span);
        // What is above the number of the cell says which object it is.
        let (left, right) = (Operand::Register(differing), Operand::Constant(Value::Long(32)));
        let objects = self.temporary(ScalarType::Long, span);
        let op = BinaryOperator::ShiftRight(Arithmetic::Long);
        self.emit(Instruction::Binary { dest: objects, op, left, right }, span);
        let (left, right) = (Operand::Register(objects), Operand::Constant(Value::Long(0)));
        let dest = self.temporary(ScalarType::Bool, span);
        self.emit(Instruction::Binary { dest, op: BinaryOperator::NotEqual, left, right }, span);
        self.fail_if(Operand::Register(dest), DIFFERENT_OBJECTS, span);
    }

    /// Whether a structure ends with an array of as many elements as there is memory.
    fn is_flexible(&self, ty: TypeId) -> bool {
        let TypeKind::Record(record) = self.unit.types[ty].kind else { return false };
        let last = self.unit.records[record].fields.last();
        last.is_some_and(|field| match self.unit.types[field.ty].kind {
            TypeKind::Array { length, .. } => matches!(length, Length::Unknown | Length::Fixed(0)),
            _ => self.is_flexible(field.ty),
        })
    }

    /// How many elements of a size make up the product of some numbers of bytes.
    fn amount(&mut self, factors: &[ExprId], size: u64, call: ExprId) -> Done<Amount> {
        let place = self.expr(call).place;
        let constants: Option<Vec<i128>> = factors.iter().map(|&factor| self.unit.integer(factor)).collect();
        if let Some(constants) = constants {
            let bytes = constants.iter().try_fold(1_i128, |all, &one| all.checked_mul(one));
            let whole = bytes.filter(|bytes| bytes % i128::from(size) == 0).map(|bytes| bytes / i128::from(size));
            return match whole.and_then(|count| u32::try_from(count).ok()) {
                Some(count) => Ok(Amount::Elements(count)),
                None => self.refuse(Reason::UnclearMemory("whose size is no multiple of that of its type"), place),
            };
        }
        let span = place.span;
        let mut bytes = Operand::Constant(Value::Long(1));
        for (index, &factor) in factors.iter().enumerate() {
            let value = self.value(factor)?;
            let value = self.converted(value, ScalarType::Long, span);
            bytes = if index == 0 { value } else { self.computed_long(BinaryOperator::Multiply, bytes, value, span) };
        }
        let each = Operand::Constant(Value::Long(size as i64));
        let count = self.computed_long(BinaryOperator::Divide, bytes, each, span);
        let count = self.in_register(Typed { operand: count, ty: ScalarType::Long }, span);
        let text = self.lowering.text_at(span);
        let text = self.lowering.program.texts.get(text).to_owned();
        let most = Operand::Constant(Value::Long(i64::from(MOST_VARIABLE)));
        let message = format!("memory for more than {MOST_VARIABLE} elements is not read: `{text}`");
        self.fail_where((most, Operand::Register(count)), Arithmetic::Long, &message, span);
        Ok(Amount::Computed(count))
    }

    fn computed_long(
        &mut self,
        op: fn(Arithmetic) -> BinaryOperator,
        left: Operand,
        right: Operand,
        span: Span,
    ) -> Operand {
        let dest = self.temporary(ScalarType::Long, span);
        self.emit(Instruction::Binary { dest, op: op(Arithmetic::Long), left, right }, span);
        Operand::Register(dest)
    }

    /// The function that makes the object of a place.
    fn maker(&mut self, called: &str, call: ExprId, element: TypeId, amount: Amount) -> Done<FunctionId> {
        let place = self.expr(call).place;
        let position = self.input().sources.position(place.span);
        let mut name = format!("{called}@{}", position.line);
        let plain = self.lowering.text(&name);
        if !self.lowering.maker_names.insert(plain) {
            name = format!("{name}:{}", position.column);
        }
        let name = self.lowering.text(&name);
        self.lowering.maker_names.insert(name);
        let owner = Owner::Memory(self.key.unit, call);
        let length = match amount {
            Amount::Elements(1) => None,
            Amount::Elements(count) => Some(count),
            Amount::Computed(_) => Some(MOST_VARIABLE),
        };
        self.lowering.memory_types.insert((self.key.unit, call), element);
        let (unit, ty) = (self.key.unit, element);
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
            Amount::Computed(_) => Some(register(ScalarType::Long, None)),
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
}
