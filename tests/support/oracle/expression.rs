//! Expressions to [`Code`](super::code::Code): operands left to right, every read of a cell under its name and place.

use super::code::{Op, Shape, Slot};
use super::compile::{Compiler, Field, Global, Result};
use super::value::{Ty, Value};
use cssame::front::csm::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use cssame::front::csm::syntax::print_expression;

/// Where an assignment or an atomic expression writes.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// A private scalar.
    Slot(Slot, Ty),
    /// A cell, whose reference has been pushed.
    Cell { ty: Ty, name: u32 },
}

impl Target {
    pub fn ty(self) -> Ty {
        match self {
            Target::Slot(_, ty) | Target::Cell { ty, .. } => ty,
        }
    }
}

impl Compiler<'_> {
    /// Pushes the value of the expression.
    pub fn expr(&mut self, expr: &Expr) -> Result<Ty> {
        let place = expr.span.start;
        match &expr.kind {
            ExprKind::Int { value, long } => Ok(self.push(
                if *long { Value::Long(*value) } else { Value::Int(*value as i32) },
                if *long { Ty::Long } else { Ty::Int },
                place,
            )),
            ExprKind::Double(value) => Ok(self.push(Value::Double(*value), Ty::Double, place)),
            ExprKind::Bool(value) => Ok(self.push(Value::Bool(*value), Ty::Bool, place)),
            ExprKind::String(text) => {
                let id = self.code.strings.intern(text);
                Ok(self.push(Value::Str(id), Ty::Str, place))
            }
            ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. } => self.read(expr),
            ExprKind::Call { receiver, callee, arguments } => self
                .call(expr, receiver.as_deref(), callee, arguments)?
                .ok_or_else(|| format!("{} has no value", callee.name)),
            ExprKind::Unary { op, operand } => {
                let ty = self.expr(operand)?;
                if !ty.is_number() || (ty == Ty::Double && *op != UnaryOp::Negate) {
                    return Err(format!("{} of a {ty:?}", op.symbol()));
                }
                self.emit(Op::Unary(*op), place);
                Ok(match op {
                    UnaryOp::Not => Ty::Bool,
                    _ if ty == Ty::Bool => Ty::Int,
                    _ => ty,
                })
            }
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => self.short_circuit(expr),
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.emit(Op::Binary(*op), place);
                result_of(*op, left, right)
            }
            ExprKind::Conditional { condition, then_value, else_value } => {
                self.conditional(condition, then_value, else_value, place)
            }
            ExprKind::Cast { ty, operand } => {
                let ty = self.ty(ty)?;
                if !self.expr(operand)?.is_number() || !ty.is_number() {
                    return Err("a cast of a string".to_owned());
                }
                self.emit(Op::Convert(ty), place);
                Ok(ty)
            }
            ExprKind::This | ExprKind::Spawn(_) | ExprKind::Error => Err("no value".to_owned()),
        }
    }

    /// Pushes the value of the expression, converted.
    pub fn convert(&mut self, expr: &Expr, ty: Ty) -> Result<()> {
        let given = self.expr(expr)?;
        let is_small = |compiler: &mut Self| {
            let value = if compiler.names_a_variable(expr) { None } else { compiler.constant(expr) };
            value.is_some_and(|value| i32::try_from(value.long()).is_ok())
        };
        // A constant long becomes an int where it fits.
        if !given.fits(ty) && !((given, ty) == (Ty::Long, Ty::Int) && is_small(self)) {
            return Err(format!("a {given:?} is given where a {ty:?} is expected"));
        }
        if given != ty {
            self.emit(Op::Convert(ty), expr.span.start);
        }
        Ok(())
    }

    fn push(&mut self, value: Value, ty: Ty, place: u32) -> Ty {
        self.emit(Op::Push(value), place);
        ty
    }

    fn read(&mut self, expr: &Expr) -> Result<Ty> {
        if let ExprKind::Name(name) = &expr.kind
            && let Some((ty, value)) = self.named_constant(name)
        {
            return Ok(self.push(value, ty, expr.span.start));
        }
        let target = self.target(expr)?;
        if !target.ty().is_data() {
            return Err("an object is no value".to_owned());
        }
        self.load(target, expr.span.start);
        Ok(target.ty())
    }

    /// The value of `&&` or `||`.
    fn short_circuit(&mut self, expr: &Expr) -> Result<Ty> {
        let place = expr.span.start;
        self.emit(Op::DecideBegin, place);
        let violated = self.unless(expr)?;
        self.emit(Op::Push(Value::Bool(true)), place);
        let end = self.emit(Op::Jump(0), place);
        self.land_all(violated);
        self.emit(Op::Push(Value::Bool(false)), place);
        self.land(end);
        self.emit(Op::DecideEnd, place);
        Ok(Ty::Bool)
    }

    /// Tests a condition and goes on where it holds; gives the jumps that are taken where it does not. Each operand of
    /// `&&` and `||` is a branch of its own, with the `!` before it, unless it is constant.
    pub fn unless(&mut self, condition: &Expr) -> Result<Vec<usize>> {
        self.test(condition, false)
    }

    /// Goes on where the condition does not hold.
    fn when(&mut self, condition: &Expr) -> Result<Vec<usize>> {
        self.test(condition, true)
    }

    /// Jumps where the condition is `wanted`.
    fn test(&mut self, condition: &Expr, wanted: bool) -> Result<Vec<usize>> {
        self.test_at(condition, condition.span.start, wanted)
    }

    /// The same under a place that is not that of the condition's own text.
    fn test_at(&mut self, condition: &Expr, place: u32, wanted: bool) -> Result<Vec<usize>> {
        match &condition.kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } if is_junction(operand) => {
                return self.test(operand, !wanted);
            }
            // With a constant in front that decides nothing, the whole is one condition.
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right }
                if self.constant_condition(left) == Some(*op == BinaryOp::And) =>
            {
                return self.test_at(right, place, wanted);
            }
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                // One operand decides alone: the left one of `&&` if it is false, that of `||` if it is true.
                if (*op == BinaryOp::Or) == wanted {
                    let mut jumps = self.test(left, wanted)?;
                    jumps.extend(self.test(right, wanted)?);
                    return Ok(jumps);
                }
                let decided = if wanted { self.unless(left)? } else { self.when(left)? };
                let jumps = self.test(right, wanted)?;
                self.land_all(decided);
                return Ok(jumps);
            }
            _ => {}
        }
        if let Some(value) = self.constant_condition(condition) {
            return Ok(if value == wanted { vec![self.emit(Op::Jump(0), place)] } else { Vec::new() });
        }
        self.convert(condition, Ty::Bool)?;
        Ok(vec![self.emit(if wanted { Op::JumpTrue(0) } else { Op::JumpFalse(0) }, place)])
    }

    fn constant_condition(&mut self, condition: &Expr) -> Option<bool> {
        if self.names_a_variable(condition) {
            return None;
        }
        self.constant(condition).map(Value::truth)
    }

    /// Whether a local variable or a field stands in it, which may have the name of an input.
    pub fn names_a_variable(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.named_constant(name).is_none() && (self.local(name).is_some() || self.field(name).is_some())
            }
            ExprKind::Conditional { condition, then_value, else_value } => {
                [condition, then_value, else_value].into_iter().any(|part| self.names_a_variable(part))
            }
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => self.names_a_variable(operand),
            ExprKind::Binary { left, right, .. } => self.names_a_variable(left) || self.names_a_variable(right),
            _ => false,
        }
    }

    fn conditional(&mut self, condition: &Expr, yes: &Expr, no: &Expr, place: u32) -> Result<Ty> {
        self.emit(Op::DecideBegin, place);
        let otherwise = self.unless(condition)?;
        let yes = self.expr(yes)?;
        // The common type is known only after the other side.
        let conversion = self.emit(Op::Convert(yes), place);
        let end = self.emit(Op::Jump(0), place);
        self.land_all(otherwise);
        let no = self.expr(no)?;
        if !(yes == no || yes.is_number() && no.is_number()) {
            return Err("a choice between different types".to_owned());
        }
        let ty = yes.common(no);
        self.emit(Op::Convert(ty), place);
        self.code.ops[conversion] = Op::Convert(ty);
        self.land(end);
        self.emit(Op::DecideEnd, place);
        Ok(ty)
    }

    /// The field of that name of the class around this function.
    pub fn field(&self, name: &str) -> Option<&Field<'_>> {
        self.classes[self.frame.class?].fields.get(name)
    }

    /// Finds what is written or read, and pushes its place.
    pub fn target(&mut self, expr: &Expr) -> Result<Target> {
        let place = expr.span.start;
        match &expr.kind {
            ExprKind::Name(name) => match self.local(name) {
                Some(local) if !local.boxed => Ok(Target::Slot(local.slot, local.ty)),
                _ => {
                    let ty = self.scalar(expr)?;
                    let name = self.name_at(name, expr.span);
                    self.own(name, expr)?;
                    Ok(Target::Cell { ty, name })
                }
            },
            ExprKind::Field { .. } | ExprKind::Index { .. } => {
                let ty = self.scalar(expr)?;
                let variable = without_indices(expr);
                let name = self.name_at(&written(variable), variable.span);
                self.own(name, variable)?;
                Ok(Target::Cell { ty, name })
            }
            _ => Err(format!("no variable at byte {place}")),
        }
    }

    fn scalar(&mut self, expr: &Expr) -> Result<Ty> {
        match self.address(expr)? {
            (ty, dims) if dims.is_empty() => Ok(ty),
            _ => Err("an array without an index".to_owned()),
        }
    }

    /// Pushes the value at a place that has been pushed.
    pub fn load(&mut self, target: Target, place: u32) {
        match target {
            Target::Slot(slot, _) => self.emit(Op::LoadSlot(slot), place),
            Target::Cell { name, .. } => self.emit(Op::Load { name }, place),
        };
    }

    /// Writes the value on top to the place below it.
    pub fn store(&mut self, target: Target, place: u32) {
        match target {
            Target::Slot(slot, _) => self.emit(Op::StoreSlot(slot), place),
            Target::Cell { name, .. } => self.emit(Op::Store { name }, place),
        };
    }

    /// Pushes a reference to an object, an array or a boxed variable; says its type and dimensions.
    pub fn address(&mut self, expr: &Expr) -> Result<Shape> {
        let place = expr.span.start;
        match &expr.kind {
            ExprKind::This => {
                let class = self.frame.class.ok_or("this outside a class")?;
                self.emit(Op::LoadSlot(0), place);
                Ok((Ty::Class(class), Vec::new()))
            }
            ExprKind::Name(name) => {
                if let Some(local) = self.local(name) {
                    if !local.boxed {
                        return Err(format!("{name} is no object"));
                    }
                    self.emit(Op::LoadSlot(local.slot), place);
                    return Ok((local.ty, local.dims));
                }
                if let Some(Field { ty, dims, offset, .. }) = self.field(name) {
                    let (ty, dims, offset) = (*ty, dims.clone(), *offset);
                    self.emit(Op::LoadSlot(0), place);
                    self.emit(Op::Offset(offset), place);
                    return Ok((ty, dims));
                }
                let Global { ty, dims, address } =
                    self.globals.get(name.as_str()).ok_or_else(|| format!("no variable {name}"))?.clone();
                self.emit(Op::Push(Value::Ref(address)), place);
                Ok((ty, dims))
            }
            ExprKind::Field { object, field } => {
                let Ty::Class(class) = self.scalar(object)? else { return Err("a field of no object".to_owned()) };
                let Field { ty, dims, offset, .. } =
                    self.classes[class].fields.get(field.name.as_str()).ok_or("no such field")?.clone();
                self.emit(Op::Offset(offset), place);
                Ok((ty, dims))
            }
            ExprKind::Index { array, index } => self.element(array, index, place),
            _ => Err(format!("no object at byte {place}")),
        }
    }
}

/// An array without the indices behind it; anything else as it is.
pub fn without_indices(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Index { array, .. } => without_indices(array),
        _ => expr,
    }
}

/// Whether it is `&&` or `||`, perhaps negated: its operands are the branches.
fn is_junction(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary { op: UnaryOp::Not, operand } => is_junction(operand),
        ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => true,
        _ => false,
    }
}

/// A variable as it is written: `x`, `acc.balance`, `a[i].balance`; the `this.` before a field is left out.
pub fn written(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Field { object, field } if object.kind == ExprKind::This => field.name.clone(),
        ExprKind::Field { object, field } => format!("{}.{}", written(object), field.name),
        ExprKind::Index { array, index } => format!("{}[{}]", written(array), print_expression(index)),
        _ => String::new(),
    }
}

/// The type of `left op right`; an error where the operator is not for these types.
pub fn result_of(op: BinaryOp, left: Ty, right: Ty) -> Result<Ty> {
    use BinaryOp as B;
    let is_equality = matches!(op, B::Equal | B::NotEqual);
    let strings = left == Ty::Str && right == Ty::Str && is_equality;
    let numbers = left.is_number() && right.is_number();
    let doubles = left == Ty::Double || right == Ty::Double;
    let for_doubles = is_equality
        || matches!(
            op,
            B::Less | B::LessEqual | B::Greater | B::GreaterEqual | B::Add | B::Subtract | B::Multiply | B::Divide
        );
    if !strings && (!numbers || doubles && !for_doubles) {
        return Err(format!("{left:?} {} {right:?}", op.symbol()));
    }
    Ok(match op {
        B::Less | B::LessEqual | B::Greater | B::GreaterEqual | B::Equal | B::NotEqual => Ty::Bool,
        B::BitAnd | B::BitOr | B::BitXor if left == Ty::Bool && right == Ty::Bool => Ty::Bool,
        B::ShiftLeft | B::ShiftRight if left == Ty::Bool => Ty::Int,
        B::ShiftLeft | B::ShiftRight => left,
        _ if left == Ty::Bool && right == Ty::Bool => Ty::Int,
        _ => left.common(right),
    })
}
