//! Expressions: types, implicit conversions, folding.

use super::constant::{fold_binary, fold_unary};
use super::habits::with_article;
use super::item::Checker;
use super::place::Resolved;
use super::{Constant, Expression, ExpressionKind, Place, Scalar, Type};
use crate::csm::syntax::ast::{self, BinaryOp, ExprKind, UnaryOp};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;

impl Expression {
    /// The constant that it is, if it is one.
    #[must_use]
    pub fn constant(&self) -> Option<Constant> {
        if let ExpressionKind::Constant(constant) = self.kind { Some(constant) } else { None }
    }

    pub(super) fn error(span: Span) -> Expression {
        Expression { kind: ExpressionKind::Constant(Constant::Int(0)), ty: Scalar::Error, span }
    }

    pub(super) fn of(constant: Constant, span: Span) -> Expression {
        Expression { kind: ExpressionKind::Constant(constant), ty: constant.ty(), span }
    }
}

impl<'a> Checker<'a> {
    /// Checks an expression.
    pub(super) fn expression(&mut self, expr: &ast::Expr) -> Expression {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int { value, long: true } => Expression::of(Constant::Long(*value), span),
            ExprKind::Int { value, long: false } => Expression::of(Constant::Int(*value as i32), span),
            ExprKind::Double(value) => Expression::of(Constant::Double(*value), span),
            ExprKind::Bool(value) => Expression::of(Constant::Bool(*value), span),
            ExprKind::String(text) => {
                let id = self.intern(text);
                Expression::of(Constant::String(id), span)
            }
            ExprKind::Name(_) | ExprKind::This | ExprKind::Field { .. } | ExprKind::Index { .. } => self.value_of(expr),
            ExprKind::Call { receiver, callee, arguments } => {
                self.call_value(receiver.as_deref(), callee, arguments, span)
            }
            ExprKind::Spawn(_) => {
                self.report(
                    Diagnostic::error(
                        Code::BadThreadHandle,
                        span,
                        "`spawn` is not a value",
                        "cannot be used in an expression",
                    )
                    .with_help("write `thread t = spawn f(…);`"),
                );
                Expression::error(span)
            }
            ExprKind::Unary { op, operand } => self.unary(*op, operand, span),
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, span),
            ExprKind::Conditional { condition, then_value, else_value } => {
                self.conditional(condition, then_value, else_value, span)
            }
            ExprKind::Cast { ty, operand } => self.cast(ty, operand, span),
            ExprKind::Error => Expression::error(span),
        }
    }

    fn value_of(&mut self, expr: &ast::Expr) -> Expression {
        match self.resolve(expr) {
            Resolved::Constant(constant, _) => Expression::of(constant, expr.span),
            Resolved::Error => Expression::error(expr.span),
            Resolved::Place(place) => match place.ty {
                Type::Scalar(ty) => Expression { kind: ExpressionKind::Read(Box::new(place)), ty, span: expr.span },
                _ => {
                    self.report_not_data(&place, expr.span);
                    Expression::error(expr.span)
                }
            },
        }
    }

    fn report_not_data(&mut self, place: &Place, span: Span) {
        if place.ty == Type::Error {
            return;
        }
        let name = self.program.texts.get(place.name).to_owned();
        let what = self.type_name(place.ty);
        self.report(
            Diagnostic::error(Code::WrongType, span, format!("`{name}` is {what} and has no value"), "not data")
                .with_label(place.symbol.1, "declared here"),
        );
    }

    /// A type in words, with its article.
    pub(super) fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Scalar(scalar) => format!("of type {}", scalar.name()),
            Type::Array(id) => {
                let (element, _) = self.program.elements_of(ty);
                let element = match element {
                    Type::Scalar(scalar) => scalar.name().to_owned(),
                    Type::Class(class) => self.program.texts.get(self.program.classes[class].name).to_owned(),
                    other => self.type_name(other).trim_start_matches("an ").trim_start_matches("a ").to_owned(),
                };
                match self.program.arrays[id].length {
                    Some(length) if !matches!(self.program.arrays[id].element, Type::Array(_)) => {
                        format!("an array of {length} {element}")
                    }
                    _ => format!("an array of {element}"),
                }
            }
            Type::Lock => "a lock".to_owned(),
            Type::ReentrantLock => "a reentrant lock".to_owned(),
            Type::RwLock => "a readers-writer lock".to_owned(),
            Type::Event => "an event".to_owned(),
            Type::Barrier => "a barrier".to_owned(),
            Type::Condition => "a condition".to_owned(),
            Type::Semaphore => "a semaphore".to_owned(),
            Type::Class(class) => {
                format!("an object of class {}", self.program.texts.get(self.program.classes[class].name))
            }
            Type::Error => "of unknown type".to_owned(),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expression {
        let mut operand = self.expression(operand);
        match op {
            UnaryOp::Not => operand = self.condition_value(operand),
            UnaryOp::Negate | UnaryOp::Complement => {
                if operand.ty == Scalar::Bool {
                    operand = self.convert(operand, Scalar::Int);
                }
                let fits = match op {
                    UnaryOp::Complement => matches!(operand.ty, Scalar::Int | Scalar::Long | Scalar::Error),
                    _ => matches!(operand.ty, Scalar::Int | Scalar::Long | Scalar::Double | Scalar::Error),
                };
                if !fits {
                    let message = format!("`{}` does not take {}", op.symbol(), with_article(operand.ty.name()));
                    self.report(Diagnostic::error(Code::WrongType, operand.span, message, "wrong type"));
                    return Expression::error(span);
                }
            }
        }
        let ty = operand.ty;
        if let Some(folded) = operand.constant().and_then(|constant| fold_unary(op, constant)) {
            return Expression { kind: ExpressionKind::Constant(folded), ty, span };
        }
        Expression { kind: ExpressionKind::Unary(op, Box::new(operand)), ty, span }
    }

    fn binary(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expression {
        let left = self.expression(left);
        let right = self.expression(right);
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let (left, right) = (self.condition_value(left), self.condition_value(right));
            return short_circuit(op, left, right, span);
        }
        let Some(common) = self.common_type(op, &left, &right, span) else { return Expression::error(span) };
        self.apply(op, common, left, right, span)
    }

    /// Applies an operator in a type that both operands can be converted to.
    pub(super) fn apply(
        &mut self,
        op: BinaryOp,
        common: Scalar,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Expression {
        let left = self.convert(left, common);
        let shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        let right = self.convert(right, if shift { Scalar::Long } else { common });
        let ty = result_type(op, common);
        if ty != Scalar::Error
            && let (Some(a), Some(b)) = (left.constant(), right.constant())
            && let Some(folded) = fold_binary(op, a, b)
        {
            return Expression { kind: ExpressionKind::Constant(folded), ty, span };
        }
        Expression { kind: ExpressionKind::Binary(op, common, Box::new(left), Box::new(right)), ty, span }
    }

    /// The type in which an operator of two operands is computed, or nothing after an error was reported.
    pub(super) fn common_type(
        &mut self,
        op: BinaryOp,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Option<Scalar> {
        use BinaryOp as Op;
        let (a, b) = (left.ty, right.ty);
        if a == Scalar::Error || b == Scalar::Error {
            return Some(Scalar::Error);
        }
        let number = |ty| matches!(ty, Scalar::Int | Scalar::Long | Scalar::Bool | Scalar::Double);
        let integer = |ty| matches!(ty, Scalar::Int | Scalar::Long | Scalar::Bool);
        let wider = if a == Scalar::Double || b == Scalar::Double {
            Scalar::Double
        } else if a == Scalar::Long || b == Scalar::Long {
            Scalar::Long
        } else {
            Scalar::Int
        };
        let common = match op {
            Op::Equal | Op::NotEqual if a == b => Some(a),
            Op::BitAnd | Op::BitOr | Op::BitXor if a == Scalar::Bool && b == Scalar::Bool => Some(Scalar::Bool),
            Op::ShiftLeft | Op::ShiftRight if integer(a) && integer(b) => {
                Some(if a == Scalar::Long { Scalar::Long } else { Scalar::Int })
            }
            Op::Remainder | Op::BitAnd | Op::BitOr | Op::BitXor if integer(a) && integer(b) => Some(wider),
            Op::Remainder | Op::BitAnd | Op::BitOr | Op::BitXor | Op::ShiftLeft | Op::ShiftRight => None,
            _ if number(a) && number(b) => Some(wider),
            _ => None,
        };
        if common.is_none() {
            let message =
                format!("`{}` does not take {} and {}", op.symbol(), with_article(a.name()), with_article(b.name()));
            self.report(
                Diagnostic::error(Code::WrongType, span, message, "wrong types")
                    .with_label(left.span, format!("of type {}", a.name()))
                    .with_label(right.span, format!("of type {}", b.name())),
            );
        }
        common
    }

    fn conditional(
        &mut self,
        condition: &ast::Expr,
        then_value: &ast::Expr,
        else_value: &ast::Expr,
        span: Span,
    ) -> Expression {
        let condition = self.condition(condition);
        let (a, b) = (self.expression(then_value), self.expression(else_value));
        let Some(common) = self.common_type(BinaryOp::Equal, &a, &b, span) else { return Expression::error(span) };
        let (a, b) = (self.convert(a, common), self.convert(b, common));
        match condition.constant() {
            Some(Constant::Bool(true)) => a,
            Some(Constant::Bool(false)) => b,
            _ => Expression {
                kind: ExpressionKind::Conditional(Box::new(condition), Box::new(a), Box::new(b)),
                ty: common,
                span,
            },
        }
    }

    fn cast(&mut self, ty: &ast::TypeName, operand: &ast::Expr, span: Span) -> Expression {
        let operand = self.expression(operand);
        let Type::Scalar(target) = self.resolve_type(ty, None) else { return Expression::error(span) };
        if operand.ty == Scalar::Error {
            return Expression::error(span);
        }
        let numeric = |ty| matches!(ty, Scalar::Int | Scalar::Long | Scalar::Bool | Scalar::Double);
        if operand.ty != target && !(numeric(operand.ty) && numeric(target)) {
            let message = format!("{} cannot become {}", with_article(operand.ty.name()), with_article(target.name()));
            self.report(Diagnostic::error(Code::WrongType, span, message, "no such conversion"));
            return Expression::error(span);
        }
        Expression { span, ..self.convert(operand, target) }
    }

    /// Converts without asking whether it may be implicit.
    pub(super) fn convert(&mut self, value: Expression, ty: Scalar) -> Expression {
        if value.ty == ty || value.ty == Scalar::Error || ty == Scalar::Error {
            return value;
        }
        let span = value.span;
        match value.constant().and_then(|constant| constant.convert(ty)) {
            Some(constant) => Expression::of(constant, span),
            None => Expression { kind: ExpressionKind::Convert(Box::new(value)), ty, span },
        }
    }

    /// Converts implicitly to the type of what takes the value, or reports that it cannot be.
    pub(super) fn coerce(&mut self, value: Expression, ty: Scalar, what: &str, declared: Option<Span>) -> Expression {
        use Scalar::{Bool, Double, Error, Int, Long, Thread};
        let fits = match (value.ty, ty) {
            (a, b) if a == b => true,
            (Error, _) | (_, Error) => true,
            (Int | Bool, Int | Long | Bool | Double) | (Long, Bool | Double) => true,
            // A constant that fits loses nothing.
            (Long, Int) => {
                value.constant().and_then(Constant::integer).is_some_and(|value| i32::try_from(value).is_ok())
            }
            _ => false,
        };
        if fits {
            return self.convert(value, ty);
        }
        let message = format!("{what} is of type {}, this value of type {}", ty.name(), value.ty.name());
        let mut diagnostic = Diagnostic::error(Code::WrongType, value.span, message, with_article(value.ty.name()));
        if let Some(declared) = declared {
            diagnostic = diagnostic.with_label(declared, "declared here");
        }
        match (value.ty, ty) {
            (Long, Int) | (Double, Int | Long) => {
                diagnostic =
                    diagnostic.with_help(format!("write `({}) …` to convert it and lose what does not fit", ty.name()));
            }
            (_, Thread) => {
                diagnostic = diagnostic.with_help("a thread is started by `spawn`: `thread t = spawn f(…);`")
            }
            _ => {}
        }
        self.report(diagnostic);
        Expression::error(value.span)
    }

    /// Checks a condition: a bool, or a number that counts as true where it is not zero.
    pub(super) fn condition(&mut self, expr: &ast::Expr) -> Expression {
        let value = self.expression(expr);
        self.condition_value(value)
    }

    pub(super) fn condition_value(&mut self, value: Expression) -> Expression {
        match value.ty {
            Scalar::Bool | Scalar::Error => value,
            Scalar::Int | Scalar::Long => self.convert(value, Scalar::Bool),
            Scalar::Double | Scalar::String | Scalar::Thread => {
                let message =
                    format!("a condition must be a bool or an integer, this is {}", with_article(value.ty.name()));
                self.report(Diagnostic::error(Code::WrongType, value.span, message, "not a condition"));
                Expression::error(value.span)
            }
        }
    }

    /// A value that must be known before the program runs; `None` after an error was reported.
    pub(super) fn constant(&mut self, expr: &ast::Expr, ty: Scalar) -> Option<Constant> {
        let value = self.expression(expr);
        if value.ty == Scalar::Error {
            return None;
        }
        if value.constant().is_none() {
            if let Some(input) = self.ranged_input_in(&value) {
                let message = format!("this value must be constant, but input `{input}` has a range");
                let label = "this value must be the same in every execution";
                let diagnostic = Diagnostic::error(Code::NotConstant, expr.span, message, label);
                self.report(diagnostic.with_help(format!("give one value at a time: `--input {input}=VALUE`")));
                return None;
            }
            let diagnostic = Diagnostic::error(
                Code::NotConstant,
                expr.span,
                "this value is not constant",
                "not known before the program runs",
            );
            self.report(match &value.kind {
                ExpressionKind::Read(place) if self.read_only.contains(&place.symbol.1) => diagnostic
                    .with_label(place.symbol.1, "this `const` gets its value at run time")
                    .with_help("compute its own value from literals, inputs and constants"),
                _ => diagnostic.with_help("use literals, inputs and constants here"),
            });
            return None;
        }
        let value = self.coerce(value, ty, "the value wanted here", None);
        if value.ty == Scalar::Error { None } else { value.constant() }
    }
}

/// `&&` and `||`, folded where the left side decides.
fn short_circuit(op: BinaryOp, left: Expression, right: Expression, span: Span) -> Expression {
    let decides = op == BinaryOp::Or;
    match left.constant() {
        Some(Constant::Bool(value)) if value == decides => Expression::of(Constant::Bool(value), span),
        Some(Constant::Bool(_)) => Expression { span, ..right },
        _ => Expression {
            kind: ExpressionKind::Binary(op, Scalar::Bool, Box::new(left), Box::new(right)),
            ty: Scalar::Bool,
            span,
        },
    }
}

fn result_type(op: BinaryOp, common: Scalar) -> Scalar {
    use BinaryOp as Op;
    match op {
        _ if common == Scalar::Error => Scalar::Error,
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual | Op::Equal | Op::NotEqual | Op::And | Op::Or => {
            Scalar::Bool
        }
        _ => common,
    }
}
