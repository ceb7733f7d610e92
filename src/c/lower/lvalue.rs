//! Places: from lvalues, and from pointers to what they point at, to places of the graph.
//!
//! In: an expression. Out: an [`Lvalue`]: a register, or a place in memory with the owner that it is known by. An array whose name
//! is there is indexed within its bounds; any other pointer is computed, and tested where it is used.

use super::ask::Done;
use super::builder::{Builder, Slot, Typed};
use super::home::{Home, Lvalue, part_at};
use super::owner::Owner;
use crate::supported::Reason;
use crate::tree::{
    BinaryOperator as Operator, Conversion, DeclId, ExprId, ExprKind, Place as TreePlace, RecordId, Storage, TypeId,
    TypeKind, UnaryOperator,
};
use cssame_ir::{Base, Index, Instruction, LeafKind, Object, Operand, Place, Pointer, ScalarType, Value, VariableId};
use cssame_source::Span;

/// The address of a variable.
fn start_of(variable: VariableId) -> Pointer {
    Pointer::to(Object::Global(variable), 0)
}

impl<'a> Builder<'_, 'a> {
    /// The place of an lvalue.
    pub fn lvalue(&mut self, expr: ExprId) -> Done<Lvalue> {
        let node = self.expr(expr);
        match &node.kind {
            ExprKind::Name(decl) => {
                let home = self.home(*decl, expr)?;
                Ok(self.named(home, expr))
            }
            ExprKind::CompoundLiteral(decl) => {
                self.compound_literal(*decl)?;
                let home = self.home(*decl, expr)?;
                Ok(self.named(home, expr))
            }
            ExprKind::String(string) => {
                let variable = self.lowering.literal(self.key.unit, *string, Some(node.ty), node.place)?;
                Ok(self.named(Home::Memory(Place::global(variable)), expr))
            }
            ExprKind::Member { base, field } => {
                let base = self.lvalue(*base)?;
                let Some(record) = self.lowering.record_of(self.key.unit, base.ty) else {
                    return self.refuse(Reason::Form("member of no structure"), node.place);
                };
                if self.input().records.role(self.key.unit, record).is_some() {
                    return self.refuse(Reason::OpaqueObject, node.place);
                }
                let cells = self.input().cell_of_field(self.key.unit, record, *field as usize, node.place)?;
                let Home::Memory(place) = base.home else {
                    return self.refuse(Reason::Form("member of no structure"), node.place);
                };
                let place = part_at(place, cells, self.byte_of_field(record, *field));
                let named = self.named(Home::Memory(place), expr);
                Ok(if self.is_use_of_macro(expr, *field) { Lvalue { span: base.span, ..named } } else { named })
            }
            ExprKind::Subscript { base, index } => {
                let place = self.element(*base, *index, expr)?;
                Ok(self.named(Home::Memory(place), expr))
            }
            ExprKind::Unary { operator: UnaryOperator::Dereference, operand } => {
                let pointed = self.pointed(*operand)?;
                let named = self.named(pointed.home, expr);
                // `*&x` is `x`, and what stands in a header is not shown.
                let is_spelled = self.lowering.starts_with(node.place.span, &['*', '(']);
                Ok(if is_spelled { named } else { Lvalue { span: pointed.span, ..named } })
            }
            ExprKind::Call { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Comma { .. }
            | ExprKind::Assign { .. }
            | ExprKind::StatementExpression(_)
                if self.is_aggregate(expr) =>
            {
                self.held_aggregate(expr)
            }
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => {
                let inner = self.lvalue(*operand)?;
                Ok(Lvalue { ty: node.ty, ..inner })
            }
            _ => self.refuse(Reason::Form("place of this form"), node.place),
        }
    }

    /// Whether what stands at a member is not its name but a macro of a header.
    fn is_use_of_macro(&self, expr: ExprId, field: u32) -> bool {
        let ExprKind::Member { base, .. } = self.expr(expr).kind else { return false };
        let TypeKind::Record(record) = self.unit.types[self.expr(base).ty].kind else { return false };
        let name = self.unit.records[record].fields.get(field as usize).and_then(|field| field.name.as_deref());
        name.is_some_and(|name| !self.input().sources.text(self.expr(expr).place.span).ends_with(name))
    }

    /// An lvalue that is known by its expression.
    fn named(&self, home: Home, expr: ExprId) -> Lvalue {
        let node = self.expr(expr);
        let owner = self.input().owner(self.key.unit, expr);
        let scalar = match home {
            Home::Register(register) => match self.function.registers[register].ty {
                cssame_ir::RegisterType::Scalar(ty) => Some(ty),
                cssame_ir::RegisterType::Reference => None,
            },
            Home::Memory(_) => self.lowering.scalar_of(self.key.unit, node.ty, &owner),
        };
        let atomic = self.unit.types[node.ty].qualifiers.atomic;
        let held = scalar.and_then(|_| self.type_in_union(expr)).filter(|&held| Some(held) != scalar);
        let (scalar, seen_as) = if held.is_some() { (held, scalar) } else { (scalar, None) };
        Lvalue { home, scalar, seen_as, ty: node.ty, owner, atomic, span: self.lowering.balanced(node.place.span) }
    }

    /// The type of the cell of a member of a union, and of what lies in one.
    fn type_in_union(&self, expr: ExprId) -> Option<ScalarType> {
        let (mut at, mut byte, mut found) = (expr, 0, None);
        loop {
            match self.expr(at).kind {
                ExprKind::Member { base, field } => {
                    let ty = self.expr(base).ty;
                    let TypeKind::Record(record) = self.unit.types[ty].kind else { break };
                    byte += self.unit.records[record].fields.get(field as usize)?.offset;
                    if self.unit.records[record].union {
                        found = Some((ty, byte));
                    }
                    at = base;
                }
                // All elements are of one type.
                ExprKind::Subscript { base, .. } => match self.expr(base).kind {
                    ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } => at = operand,
                    _ => break,
                },
                _ => break,
            }
        }
        let (ty, byte) = found?;
        let (ty, owner) = self.input().type_at(self.key.unit, ty, byte)?;
        self.lowering.scalar_of(self.key.unit, ty, &owner)
    }

    /// Where a declared object is.
    fn home(&mut self, decl: DeclId, expr: ExprId) -> Done<Home> {
        let key = self.input().links.resolve(self.unit, self.key.unit, decl);
        if let Some(own) = self.own_named(decl) {
            return self.own_home(own);
        }
        if let Some(variable) = self.lowering.variable_of(key) {
            return Ok(Home::Memory(Place::global(variable)));
        }
        let declared = &self.unit.declarations[decl];
        if declared.storage != Storage::Automatic {
            let name = declared.name.clone().unwrap_or_default();
            return self.refuse(Reason::UnknownObject(name), self.expr(expr).place);
        }
        Ok(match self.slot(decl)? {
            Slot::Register(register, _) => Home::Register(register),
            Slot::Memory(register, _) => Home::Memory(Place::at(Base::Pointer(register), 0)),
            Slot::Global(variable) => Home::Memory(Place::global(variable)),
        })
    }

    /// The array that became a pointer, if it has a length.
    fn array_of(&self, pointer: ExprId) -> Option<ExprId> {
        match self.expr(pointer).kind {
            ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } => {
                let ty = self.expr(operand).ty;
                let length = self.input().length(self.key.unit, ty, self.expr(pointer).place);
                let has_length = self.length_register(ty).is_some() || length.is_ok_and(|length| length > 0);
                has_length.then_some(operand)
            }
            _ => None,
        }
    }

    /// The place of an element.
    fn element(&mut self, pointer: ExprId, index: ExprId, expr: ExprId) -> Done<Place> {
        let place = self.expr(expr).place;
        let Some(array) = self.array_of(pointer) else {
            let base = self.value(pointer)?;
            let moved = self.moved(base, pointer, index, false, place.span)?;
            return Ok(self.place_at(moved, self.expr(expr).ty, place.span));
        };
        let (unit, ty) = (self.key.unit, self.expr(array).ty);
        let known = self.length_register(ty);
        let length = if known.is_some() { 0 } else { self.input().length(unit, ty, place)? };
        let (cells, bytes) = match self.unit.types[ty].kind {
            TypeKind::Array { element, .. } => {
                (self.input().cells(unit, element, place)?, self.input().size(unit, element, place)?)
            }
            _ => (1, 1),
        };
        let array = self.lvalue(array)?;
        let Home::Memory(found) = array.home else {
            return self.refuse(Reason::Form("element of no array"), place);
        };
        match self.unit.integer(index) {
            Some(constant) if (0..i128::from(length)).contains(&constant) => {
                let index = constant as u32;
                Ok(part_at(found, index * cells, index * bytes))
            }
            _ => {
                let value = self.value(index)?;
                let operand = match value.ty {
                    ScalarType::Int => value.operand,
                    _ => self.converted(value, ScalarType::Long, place.span),
                };
                let length = known.map_or(Operand::Constant(Value::Int(length as i32)), Operand::Register);
                let stride = if matches!(found.base, Base::Pointer(_)) { bytes } else { cells };
                let mut found = found;
                found.indices.push(Index { operand, length, stride });
                Ok(found)
            }
        }
    }

    /// What a pointer points at, as it is written; the place is tested where it is used.
    pub fn pointed(&mut self, pointer: ExprId) -> Done<Lvalue> {
        let node = self.expr(pointer);
        match node.kind {
            ExprKind::Unary { operator: UnaryOperator::AddressOf, operand } => return self.lvalue(operand),
            ExprKind::Binary { operator: Operator::Add, left, right } => {
                let (array, index) = match (self.array_of(left), self.array_of(right)) {
                    (Some(_), _) => (Some(left), right),
                    (_, Some(_)) => (Some(right), left),
                    _ => (None, right),
                };
                if let Some(array) = array {
                    let place = self.element(array, index, pointer)?;
                    return Ok(self.target(Home::Memory(place), pointer));
                }
            }
            ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } => {
                let array = self.lvalue(operand)?;
                return Ok(Lvalue { span: array.span, ..self.target(array.home, pointer) });
            }
            // A pointer to `void` leads to what it was made of.
            ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand }
                if super::ask::without_void(self.unit, pointer) != pointer
                    && self.unit.pointee(self.expr(operand).ty).is_some() =>
            {
                let inner = self.pointed(operand)?;
                return Ok(inner);
            }
            _ => {}
        }
        let value = self.value(pointer)?;
        let ty = self.unit.pointee(node.ty).unwrap_or(node.ty);
        let place = self.place_at(value, ty, node.place.span);
        Ok(self.target(Home::Memory(place), pointer))
    }

    /// What a pointer points at, known by the pointer.
    fn target(&self, home: Home, pointer: ExprId) -> Lvalue {
        let node = self.expr(pointer);
        let owner = self.input().target(self.key.unit, pointer);
        let ty = self.unit.pointee(node.ty).unwrap_or(node.ty);
        let scalar = self.lowering.scalar_of(self.key.unit, ty, &owner);
        let atomic = self.unit.types[ty].qualifiers.atomic;
        Lvalue { home, scalar, seen_as: None, ty, owner, atomic, span: self.lowering.balanced(node.place.span) }
    }

    /// The place that a value of a pointer leads to.
    fn place_at(&mut self, value: Typed, ty: TypeId, span: Span) -> Place {
        if let Operand::Constant(Value::Pointer(pointer)) = value.operand
            && let Some((Object::Global(variable), byte)) = pointer.target()
            && let Some((leaf, element)) = self.lowering.program.leaf_at_byte(variable, byte)
        {
            let cell = self.lowering.program.leaves[leaf].cell(element);
            if self.fits(variable, cell, ty) {
                return Place { offset: cell, ..Place::global(variable) };
            }
        }
        let operand = self.converted(value, ScalarType::Pointer, span);
        let register = self.in_register(Typed { operand, ty: ScalarType::Pointer }, span);
        Place::at(Base::Pointer(register), 0)
    }

    /// Whether a cell of a variable may be accessed by its name as one of a type.
    fn fits(&mut self, variable: VariableId, cell: u32, ty: TypeId) -> bool {
        if self.input().scalar(self.key.unit, ty).is_none() {
            let place = TreePlace::plain(self.function.span);
            let wanted = self.lowering.ir_type(self.key.unit, ty, &Owner::Text(place.span), place);
            let program = &self.lowering.program;
            let at = Place { offset: cell, ..Place::global(variable) };
            let parts =
                wanted.ok().and_then(|wanted| program.parts_of(program.variables[variable].ty, &at, |ty| ty == wanted));
            return parts.is_some();
        }
        let program = &self.lowering.program;
        let Some((leaf, _)) = program.leaf_at(variable, cell) else { return false };
        match (self.input().scalar(self.key.unit, ty), program.leaves[leaf].kind) {
            (Some(scalar), LeafKind::Data(held)) => scalar == held,
            _ => false,
        }
    }

    /// The address of a place.
    pub fn address(&mut self, lvalue: &Lvalue, expr: ExprId) -> Done<Typed> {
        let Home::Memory(place) = &lvalue.home else {
            return self.refuse(Reason::Form("address of a register"), self.expr(expr).place);
        };
        let ty = ScalarType::Pointer;
        match (place.base, place.offset, place.indices.as_slice()) {
            (Base::Global(variable), 0, []) => Ok(Typed::constant(Value::Pointer(start_of(variable)))),
            (Base::Pointer(register), 0, []) => Ok(Typed::register(register, ty)),
            _ => {
                let Some(place) = self.behind_pointer(place, lvalue.span) else {
                    return self.refuse(Reason::Form("address of this form"), self.expr(expr).place);
                };
                let dest = self.temporary(ty, lvalue.span);
                self.emit(Instruction::Address { dest, place }, lvalue.span);
                Ok(Typed::register(dest, ty))
            }
        }
    }

    /// A place behind a name as one behind a pointer to it, which counts bytes.
    fn behind_pointer(&mut self, place: &Place, span: Span) -> Option<Place> {
        let Base::Global(variable) = place.base else { return Some(place.clone()) };
        let (leaf, element) = self.lowering.program.leaf_at(variable, place.offset)?;
        let leaf = self.lowering.program.leaves[leaf].clone();
        let mut dimensions = leaf.dimensions.iter();
        let in_bytes = |index: &Index| {
            let dimension = dimensions.find(|dimension| dimension.stride == index.stride)?;
            Some(Index { stride: dimension.bytes, ..*index })
        };
        let indices = place.indices.iter().map(in_bytes).collect::<Option<_>>()?;
        let pointer = self.in_register(Typed::constant(Value::Pointer(start_of(variable))), span);
        Some(Place { base: Base::Pointer(pointer), offset: leaf.byte(element), indices })
    }

    /// The bytes of a structure before one of its members.
    fn byte_of_field(&self, record: RecordId, field: u32) -> u32 {
        self.unit.records[record].fields.get(field as usize).map_or(0, |field| field.offset as u32)
    }

    /// The address of an lvalue, whose last index is not tested: `&a[n]` is no access.
    pub fn address_of(&mut self, operand: ExprId) -> Done<Typed> {
        match self.expr(operand).kind {
            ExprKind::Subscript { base, index } => {
                let pointer = self.value(base)?;
                self.moved(pointer, base, index, false, self.span(operand))
            }
            ExprKind::Unary { operator: UnaryOperator::Dereference, operand } => self.value(operand),
            ExprKind::Member { base, field } => {
                let Some(record) = self.lowering.record_of(self.key.unit, self.expr(base).ty) else {
                    return self.refuse(Reason::Form("member of no structure"), self.expr(operand).place);
                };
                let place = self.expr(operand).place;
                if self.input().records.role(self.key.unit, record).is_some() {
                    return self.refuse(Reason::OpaqueObject, place);
                }
                let owner = self.input().owner(self.key.unit, operand);
                if let Some(ty) = self.lowering.scalar_of(self.key.unit, self.expr(operand).ty, &owner)
                    && self.type_in_union(operand).is_some_and(|held| held != ty)
                {
                    return self.refuse(Reason::Union, place);
                }
                let bytes = self.byte_of_field(record, field);
                let start = self.address_of(base)?;
                Ok(self.plus(start, Operand::Constant(Value::Long(i64::from(bytes))), place.span))
            }
            _ => {
                let lvalue = self.lvalue(operand)?;
                self.address(&lvalue, operand)
            }
        }
    }

    /// Reads a place.
    pub fn load(&mut self, lvalue: &Lvalue, expr: ExprId) -> Done<Typed> {
        let Some(ty) = lvalue.scalar else {
            return self.refuse(Reason::StructByValue, self.expr(expr).place);
        };
        match &lvalue.home {
            Home::Register(register) => Ok(Typed::register(*register, ty)),
            Home::Memory(place) => {
                self.plain_cell(lvalue, expr)?;
                let read = self.new_read(lvalue);
                let dest = self.temporary(ty, lvalue.span);
                self.emit(Instruction::Load { dest, place: place.clone(), read }, lvalue.span);
                let value = Typed::register(dest, ty);
                Ok(match lvalue.seen_as {
                    Some(ty) => Typed { operand: self.converted(value, ty, lvalue.span), ty },
                    None => value,
                })
            }
        }
    }

    /// Writes a place.
    pub fn store(&mut self, lvalue: &Lvalue, value: Typed, expr: ExprId) -> Done<()> {
        let Some(ty) = lvalue.scalar else {
            return self.refuse(Reason::StructByValue, self.expr(expr).place);
        };
        let value = match lvalue.seen_as {
            Some(ty) => Typed { operand: self.converted(value, ty, lvalue.span), ty },
            None => value,
        };
        let value = self.converted(value, ty, lvalue.span);
        match &lvalue.home {
            Home::Register(register) => self.emit(Instruction::Copy { dest: *register, source: value }, lvalue.span),
            Home::Memory(place) => {
                self.plain_cell(lvalue, expr)?;
                let definition = self.new_definition(lvalue);
                self.emit(Instruction::Store { place: place.clone(), value, definition }, lvalue.span);
            }
        }
        Ok(())
    }

    /// Synchronisation objects that are integers are no numbers.
    pub fn plain_cell(&self, lvalue: &Lvalue, expr: ExprId) -> Done<()> {
        if lvalue.atomic && lvalue.seen_as.is_some() {
            return self.refuse(Reason::Union, self.expr(expr).place);
        }
        let role = self.input().facts.roles.get(&lvalue.owner).and_then(|role| role.leaf());
        match role {
            Some(_) => self.refuse(Reason::OpaqueObject, self.expr(expr).place),
            None => Ok(()),
        }
    }
}
