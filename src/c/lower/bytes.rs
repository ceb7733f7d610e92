//! `memset`, `memcpy` and their like, where they mean whole objects.
//!
//! In: calls. Out: a write for each cell of data, and a read where it is copied, in a loop where there are many or their number is
//! computed. What would split a cell, or is of unlike types, is refused by name.

use super::aggregate::Part;
use super::ask::{Done, without_void};
use super::builder::{Builder, Typed};
use super::heap::Amount;
use super::home::{Home, Lvalue};
use crate::supported::Reason;
use crate::tree::{ExprId, ExprKind, Place as TreePlace, TypeId, TypeKind, UnaryOperator};
use cssame_ir::{
    Arithmetic, Base, BinaryOperator, Instruction, Operand, Place, RegisterId, ScalarType, Terminator, Value,
};

/// Cells that are written one by one.
const MOST_UNROLLED: usize = 256;

/// What bytes are set to.
#[derive(Clone, Copy)]
enum Fill {
    /// This.
    Byte(u8),
    /// What is computed, of objects of one byte.
    Computed(Typed),
}

/// Objects one behind the other.
struct Objects {
    pointer: ExprId,
    element: TypeId,
    /// Bytes of an element.
    bytes: u32,
    parts: Vec<Part>,
}

/// Where objects were written.
enum Target {
    Place(Lvalue, ExprId),
    Pointer(Typed),
}

impl Builder<'_, '_> {
    /// A call of such a function; none where it is no such one.
    pub fn bytes(&mut self, name: &str, arguments: &[ExprId], expr: ExprId, wanted: bool) -> Done<Option<Typed>> {
        let target = match (name, arguments) {
            ("memset", &[pointer, byte, size]) => {
                let fill = match self.unit.integer(byte) {
                    Some(constant) => Fill::Byte(constant as u8),
                    None => {
                        let value = self.value(byte)?;
                        Fill::Computed(self.copied(value, self.span(byte)))
                    }
                };
                self.fill(pointer, fill, size, expr)
            }
            ("bzero", &[pointer, size]) => self.fill(pointer, Fill::Byte(0), size, expr),
            ("memcpy" | "memmove", &[to, from, size]) => self.copy_objects(to, from, size, expr),
            ("bcopy", &[from, to, size]) => self.copy_objects(to, from, size, expr),
            _ => return Ok(None),
        }?;
        match target {
            Target::Place(lvalue, pointer) if wanted => self.address(&lvalue, pointer).map(Some),
            Target::Place(..) => Ok(Some(Typed::int(0))),
            Target::Pointer(pointer) => Ok(Some(pointer)),
        }
    }

    fn objects_at(&mut self, pointer: ExprId, place: TreePlace) -> Done<Objects> {
        let pointer = without_void(self.unit, pointer);
        let element = self.unit.pointee(self.expr(pointer).ty);
        let is_known = |ty: &TypeId| {
            self.unit.types[*ty].size.is_some_and(|size| size > 0)
                && !matches!(self.unit.types[*ty].kind, TypeKind::Void | TypeKind::Function(_))
        };
        // In a copy of a function that gives memory, its type is known.
        let given = self.memory.as_ref().filter(|memory| memory.unit == self.key.unit).map(|memory| memory.element);
        let is_void = element.is_some_and(|ty| matches!(self.unit.types[ty].kind, TypeKind::Void));
        let Some(element) = element.filter(is_known).or(given.filter(|_| is_void)) else {
            return self.refuse(Reason::MixedSize, place);
        };
        if let ExprKind::Unary { operator: UnaryOperator::AddressOf, operand } = self.expr(pointer).kind
            && self.is_in_other_member(operand)
        {
            return self.refuse(Reason::Union, place);
        }
        let owner = self.input().target(self.key.unit, pointer);
        let parts = self.lowering.parts(self.key.unit, element, &owner, place)?;
        let bytes = self.input().size(self.key.unit, element, place)?;
        Ok(Objects { pointer, element, bytes, parts })
    }

    fn fill(&mut self, pointer: ExprId, fill: Fill, size: ExprId, expr: ExprId) -> Done<Target> {
        let place = self.expr(expr).place;
        let objects = self.objects_at(pointer, place)?;
        let amount = self.amount_of(&objects, size, expr)?;
        if matches!(amount, Amount::Elements(0)) {
            return self.base_of(&objects).map(|base| Target::Pointer(Typed::register(base, ScalarType::Pointer)));
        }
        let mut values = Vec::with_capacity(objects.parts.len());
        for part in &objects.parts {
            let ty = self.lowering.part_type(self.key.unit, part);
            values.push(self.filled(fill, ty, place)?);
        }
        match amount {
            Amount::Elements(1) => {
                let lvalue = self.pointed(objects.pointer)?;
                self.store_parts(&lvalue, &objects.parts, &values);
                Ok(Target::Place(lvalue, objects.pointer))
            }
            Amount::Elements(count) if count as usize * objects.parts.len() <= MOST_UNROLLED => {
                let base = self.base_of(&objects)?;
                for index in 0..count {
                    let lvalue = self.object_behind(&objects, base, index * objects.bytes);
                    let parts = numbered(&objects.parts, index);
                    self.store_parts(&lvalue, &parts, &values);
                }
                Ok(Target::Pointer(Typed::register(base, ScalarType::Pointer)))
            }
            _ => {
                let base = self.base_of(&objects)?;
                self.for_each_object(amount, None, place, |builder, index| {
                    let at = builder.moved_base(base, index, objects.bytes, place);
                    let lvalue = builder.object_behind(&objects, at, 0);
                    builder.store_parts(&lvalue, &objects.parts, &values);
                    Ok(())
                })?;
                Ok(Target::Pointer(Typed::register(base, ScalarType::Pointer)))
            }
        }
    }

    /// The value that a cell has all of whose bytes are set so.
    fn filled(&mut self, fill: Fill, ty: ScalarType, place: TreePlace) -> Done<Typed> {
        match (fill, ty) {
            (Fill::Byte(0), ScalarType::Thread) => Ok(Typed::constant(Value::NoThread)),
            (Fill::Byte(0), _) => Ok(Typed::constant(super::datum::zero(ty))),
            (Fill::Byte(byte), _) => match ty.integer() {
                Some(integer) if ty != ScalarType::Bool => {
                    let bits = integer.wrap(i64::from_ne_bytes([byte; 8]));
                    Ok(Typed::constant(Value::from_bits(ty, bits)))
                }
                _ => self.refuse(Reason::MixedSize, place),
            },
            (Fill::Computed(value), ScalarType::SignedChar | ScalarType::UnsignedChar) => {
                let operand = self.converted(value, ty, place.span);
                Ok(Typed { operand, ty })
            }
            (Fill::Computed(_), _) => self.refuse(Reason::MixedSize, place),
        }
    }

    fn copy_objects(&mut self, to: ExprId, from: ExprId, size: ExprId, expr: ExprId) -> Done<Target> {
        let place = self.expr(expr).place;
        let (to, from) = (self.objects_at(to, place)?, self.objects_at(from, place)?);
        let form = |builder: &Self, of: &Objects| {
            let parts = of.parts.iter().map(|part| (part.byte, builder.lowering.part_type(builder.key.unit, part)));
            (of.bytes, parts.collect::<Vec<_>>())
        };
        if form(self, &to) != form(self, &from) {
            return self.refuse(Reason::MixedSize, place);
        }
        let amount = self.amount_of(&to, size, expr)?;
        match amount {
            Amount::Elements(1) => {
                let target = self.pointed(to.pointer)?;
                let source = self.pointed(from.pointer)?;
                let values = self.load_parts(&source, &from.parts);
                self.store_parts(&target, &to.parts, &values);
                Ok(Target::Place(target, to.pointer))
            }
            Amount::Elements(count) if count as usize * to.parts.len() <= MOST_UNROLLED => {
                let (target, source) = (self.base_of(&to)?, self.base_of(&from)?);
                let mut values = Vec::new();
                for index in 0..count {
                    let lvalue = self.object_behind(&from, source, index * from.bytes);
                    values.push(self.load_parts(&lvalue, &numbered(&from.parts, index)));
                }
                for (index, values) in (0..count).zip(&values) {
                    let lvalue = self.object_behind(&to, target, index * to.bytes);
                    self.store_parts(&lvalue, &numbered(&to.parts, index), values);
                }
                Ok(Target::Pointer(Typed::register(target, ScalarType::Pointer)))
            }
            _ => {
                let (target, source) = (self.base_of(&to)?, self.base_of(&from)?);
                self.for_each_object(amount, Some((target, source)), place, |builder, index| {
                    let at = builder.moved_base(source, index, from.bytes, place);
                    let values = builder.load_parts(&builder.object_behind(&from, at, 0), &from.parts);
                    let at = builder.moved_base(target, index, to.bytes, place);
                    builder.store_parts(&builder.object_behind(&to, at, 0), &to.parts, &values);
                    Ok(())
                })?;
                Ok(Target::Pointer(Typed::register(target, ScalarType::Pointer)))
            }
        }
    }

    /// How many objects make up some bytes. A structure with an array of any length is one, without that array.
    fn amount_of(&mut self, objects: &Objects, size: ExprId, expr: ExprId) -> Done<Amount> {
        let amount = self.amount(&[size], u64::from(objects.bytes), expr)?;
        let is_flexible = match self.unit.types[objects.element].kind {
            TypeKind::Record(record) => self.input().flexible(self.key.unit, record).is_some(),
            _ => false,
        };
        if is_flexible && !matches!(amount, Amount::Elements(0 | 1)) {
            return self.refuse(Reason::MixedSize, self.expr(expr).place);
        }
        Ok(amount)
    }

    /// The address of the first object.
    fn base_of(&mut self, objects: &Objects) -> Done<RegisterId> {
        let span = self.span(objects.pointer);
        let operand = self.value_as(objects.pointer, ScalarType::Pointer)?;
        Ok(self.in_register(Typed { operand, ty: ScalarType::Pointer }, span))
    }

    /// An object so many bytes behind an address.
    fn object_behind(&self, objects: &Objects, base: RegisterId, offset: u32) -> Lvalue {
        let home = Home::Memory(Place::at(Base::Pointer(base), offset));
        let owner = self.input().target(self.key.unit, objects.pointer);
        let span = self.lowering.balanced(self.span(objects.pointer));
        Lvalue::whole(home, objects.element, owner, span)
    }

    fn moved_base(&mut self, base: RegisterId, index: RegisterId, bytes: u32, place: TreePlace) -> RegisterId {
        let span = place.span;
        let each = Operand::Constant(Value::Long(i64::from(bytes)));
        let skipped = self.long_binary(BinaryOperator::Multiply, Operand::Register(index), each, span);
        let moved = self.plus(Typed::register(base, ScalarType::Pointer), skipped, span);
        self.in_register(moved, span)
    }

    /// Does something for each of some objects, by their numbers: where they are copied to an address behind where they are, the last one
    /// first, for they may overlap.
    fn for_each_object(
        &mut self,
        amount: Amount,
        copied: Option<(RegisterId, RegisterId)>,
        place: TreePlace,
        each: impl FnOnce(&mut Self, RegisterId) -> Done<()>,
    ) -> Done<()> {
        let span = place.span;
        let long = |value: i64| Operand::Constant(Value::Long(value));
        let count = match amount {
            Amount::Elements(count) => long(i64::from(count)),
            Amount::Computed(register) | Amount::Tail(register) => Operand::Register(register),
        };
        let (index, step, left) = (
            self.temporary(ScalarType::Long, span),
            self.temporary(ScalarType::Long, span),
            self.temporary(ScalarType::Long, span),
        );
        self.emit(Instruction::Copy { dest: left, source: count }, span);
        self.emit(Instruction::Copy { dest: index, source: long(0) }, span);
        self.emit(Instruction::Copy { dest: step, source: long(1) }, span);
        let (head, body, exit) = (self.new_block(), self.new_block(), self.new_block());
        if let Some((to, from)) = copied {
            let bits = |builder: &mut Self, register| {
                builder.converted(Typed::register(register, ScalarType::Pointer), ScalarType::Long, span)
            };
            let (from, to) = (bits(self, from), bits(self, to));
            let condition = self.operation(BinaryOperator::Less(Arithmetic::Long), ScalarType::Bool, (from, to), span);
            let backward = self.new_block();
            self.terminate(Terminator::Branch { condition, then_block: backward, else_block: head }, span);
            self.current = backward;
            let last = self.long_binary(BinaryOperator::Subtract, count, long(1), span);
            self.emit(Instruction::Copy { dest: index, source: last }, span);
            self.emit(Instruction::Copy { dest: step, source: long(-1) }, span);
        }
        self.jump_into(head, span);
        let operands = (long(0), Operand::Register(left));
        let condition = self.operation(BinaryOperator::Less(Arithmetic::Long), ScalarType::Bool, operands, span);
        self.terminate(Terminator::Branch { condition, then_block: body, else_block: exit }, span);
        self.current = body;
        each(self, index)?;
        let next = self.long_binary(BinaryOperator::Add, Operand::Register(index), Operand::Register(step), span);
        self.emit(Instruction::Copy { dest: index, source: next }, span);
        let rest = self.long_binary(BinaryOperator::Subtract, Operand::Register(left), long(1), span);
        self.emit(Instruction::Copy { dest: left, source: rest }, span);
        self.terminate(Terminator::Jump(head), span);
        self.current = exit;
        Ok(())
    }
}

/// The cells of an element of an array.
fn numbered(parts: &[Part], index: u32) -> Vec<Part> {
    parts.iter().map(|part| Part { path: format!("[{index}]{}", part.path), ..part.clone() }).collect()
}
