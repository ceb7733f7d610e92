//! Calls: of functions and methods of the program, and of the built-in functions.
//!
//! A method of the enclosing class, and then a function of the program, take precedence over a built-in function of the same
//! name.

use super::habits::{CONTAINERS, is_container, operation_meant, with_article};
use super::item::Checker;
use super::operation::{self, has_verdict};
use super::{
    Argument, Call, ClassId, Expression, ExpressionKind, FunctionId, Length, Place, Scalar, StatementKind, Type,
};
use crate::csm::syntax::ast::{self, BinaryOp, ExprKind};
use crate::csm::syntax::of_word;
use cssame_diagnostics::nearest;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;
use cssame_source::texts::TextId;

/// What a call turned out to be.
enum Callee {
    Function(FunctionId, Option<Place>),
    BuiltIn,
    Error,
}

impl<'a> Checker<'a> {
    fn callee(&mut self, receiver: Option<&ast::Expr>, name: &ast::Ident) -> Callee {
        let id = self.intern(&name.name);
        if let Some(receiver) = receiver {
            let Some(place) = self.place(receiver) else { return Callee::Error };
            let Type::Class(class) = place.ty else {
                if place.ty != Type::Error {
                    let object = self.program.texts.get(place.name).to_owned();
                    let what = self.type_name(place.ty);
                    let message = format!("`{object}` is {what} and has no method `{}`", name.name);
                    let error = Diagnostic::error(Code::UnknownMember, name.span, message, "no such method");
                    self.report(match operation_meant(place.ty, &name.name, self.sources.text(receiver.span)) {
                        Some(help) => error.with_help(help),
                        None => error.with_help("only an object of a class has methods"),
                    });
                }
                return Callee::Error;
            };
            return self.method(class, id, name, Some(place));
        }
        if let Some(class) = self.body.class
            && self.find_method(class, id).is_some()
        {
            let this = self.this_place(name.span);
            return self.method(class, id, name, this);
        }
        match self.functions.get(&id) {
            Some(&function) => {
                self.note_function(name.span, function);
                Callee::Function(function, None)
            }
            None => Callee::BuiltIn,
        }
    }

    fn method(&mut self, class: ClassId, id: TextId, name: &ast::Ident, receiver: Option<Place>) -> Callee {
        let class_name = self.program.texts.get(self.program.classes[class].name).to_owned();
        let Some(method) = self.find_method(class, id) else {
            if class_name == name.name {
                self.report_constructor_call(name);
                return Callee::Error;
            }
            let message = format!("class `{class_name}` has no method `{}`", name.name);
            let mut diagnostic = Diagnostic::error(Code::UnknownMember, name.span, message, "no such method");
            let methods = self.program.classes[class].methods.iter();
            let qualified = methods.map(|&method| self.program.texts.get(self.program.functions[method].name));
            let methods = qualified.filter_map(|name| name.rsplit('.').next());
            let methods: Vec<&str> = methods.collect();
            diagnostic = match nearest(&name.name, methods.iter().copied()) {
                Some(near) => diagnostic.with_replacement(near),
                None if methods.is_empty() => diagnostic.with_help("the class has no methods: write one"),
                None => diagnostic.with_help(format!("its methods are `{}`", methods.join("`, `"))),
            };
            self.report(diagnostic);
            return Callee::Error;
        };
        let function = &self.program.functions[method];
        if matches!(function.method_of, Some((_, false))) && self.body.class != Some(class) {
            let declared = function.span;
            self.report(
                Diagnostic::error(
                    Code::PrivateMember,
                    name.span,
                    format!("method `{}` of class `{class_name}` is private", name.name),
                    "used outside the class",
                )
                .with_label(declared, "declared private here"),
            );
        }
        self.note_function(name.span, method);
        Callee::Function(method, receiver)
    }

    /// Checks the arguments of a call of a function of the program.
    pub(super) fn call(
        &mut self,
        function: FunctionId,
        receiver: Option<Place>,
        name: &ast::Ident,
        arguments: &[ast::Expr],
    ) -> Option<Call> {
        let types = self.signatures[function.index()].parameter_types.clone();
        let declared = self.program.functions[function].span;
        if types.len() != arguments.len() {
            let message = format!("`{}` takes {}, not {}", name.name, count(types.len(), "argument"), arguments.len());
            self.report(
                Diagnostic::error(Code::WrongArgumentCount, name.span, message, "called here")
                    .with_label(declared, "declared here"),
            );
            arguments.iter().for_each(|argument| self.argument_of_unknown_type(argument));
            return None;
        }
        let mut checked = Vec::with_capacity(arguments.len());
        for (argument, ty) in arguments.iter().zip(types) {
            checked.push(match ty {
                Type::Scalar(scalar) => {
                    let value = self.expression(argument);
                    Argument::Value(self.coerce(value, scalar, "this parameter", Some(declared)))
                }
                Type::Array(_) => {
                    let place = self.array(argument, ty)?;
                    let length = self.length_of(&place)?;
                    Argument::Array(place, length)
                }
                _ => Argument::Reference(self.object(argument, ty)?),
            });
        }
        Some(Call { function, receiver, arguments: checked })
    }

    pub(super) fn argument_of_unknown_type(&mut self, argument: &ast::Expr) {
        let data = !matches!(argument.kind, ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. });
        if data {
            self.expression(argument);
        } else {
            self.resolve(argument);
        }
    }

    /// A place that must be an array of such elements, of any length.
    fn array(&mut self, expr: &ast::Expr, ty: Type) -> Option<Place> {
        let place = self.place(expr)?;
        if let (Type::Array(given), Type::Array(wanted)) = (place.ty, ty)
            && fits(self.program.arrays[given].element, self.program.arrays[wanted].element)
        {
            return Some(place);
        }
        self.report_wrong_object(&place, expr.span, ty, "");
        None
    }

    /// A place that must be of that type: an object or a synchronisation object.
    pub(super) fn object(&mut self, expr: &ast::Expr, ty: Type) -> Option<Place> {
        let place = self.place(expr)?;
        self.expect(place, ty, expr.span)
    }

    /// Checks that a place is of that type.
    pub(super) fn expect(&mut self, place: Place, ty: Type, span: Span) -> Option<Place> {
        self.expect_of(place, ty, span, "")
    }

    /// Checks that a place is of the type that an operation of that word works on.
    pub(super) fn expect_of(&mut self, place: Place, ty: Type, span: Span, word: &str) -> Option<Place> {
        if fits(place.ty, ty) || ty == Type::Error {
            return Some(place);
        }
        self.report_wrong_object(&place, span, ty, word);
        None
    }

    fn report_wrong_object(&mut self, place: &Place, span: Span, ty: Type, word: &str) {
        if place.ty != Type::Error {
            let name = self.program.texts.get(place.name).to_owned();
            let message =
                format!("`{name}` is {}, and {} is wanted here", self.type_name(place.ty), self.type_name(ty));
            let diagnostic = Diagnostic::error(Code::WrongType, span, message, "wrong type")
                .with_label(place.symbol.1, "declared here");
            self.report(match (place.ty, ty) {
                (Type::RwLock, Type::Lock) => diagnostic
                    .with_help("a readers-writer lock is taken by `rdlock` or `wrlock`, and freed by `unlock`"),
                (Type::Lock | Type::ReentrantLock, Type::RwLock) => {
                    diagnostic.with_help(format!("declare `{name}` as `rwlock`, or take it by `lock`"))
                }
                (Type::Lock, Type::ReentrantLock) => {
                    diagnostic.with_help(format!("declare `{name}` as `reentrant lock`"))
                }
                (given, _) => match operation_meant(given, word, self.sources.text(span)) {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                },
            });
        }
    }

    /// A call as a value.
    pub(super) fn call_value(
        &mut self,
        receiver: Option<&ast::Expr>,
        name: &ast::Ident,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expression {
        let (function, receiver) = match self.callee(receiver, name) {
            Callee::Function(function, receiver) => (function, receiver),
            Callee::Error => return Expression::error(span),
            Callee::BuiltIn => return self.built_in_value(name, arguments, span),
        };
        let result = self.program.functions[function].result;
        let Some(call) = self.call(function, receiver, name, arguments) else { return Expression::error(span) };
        let Some(ty) = result else {
            let declared = self.program.functions[function].span;
            let message = format!("`{}` returns nothing", name.name);
            self.report(
                Diagnostic::error(Code::WrongType, span, message, "has no value")
                    .with_label(declared, "declared here")
                    .with_help(format!(
                        "write `thread t = spawn {0}(…);` for a thread that runs it, or `{0}(…);` as a statement of its own",
                        name.name
                    )),
            );
            return Expression::error(span);
        };
        Expression { kind: ExpressionKind::Call(Box::new(call)), ty, span }
    }

    fn built_in_value(&mut self, name: &ast::Ident, arguments: &[ast::Expr], span: Span) -> Expression {
        match (name.name.as_str(), arguments) {
            ("choose", [low, high]) => {
                let (low, high) = (self.expression(low), self.expression(high));
                let low = self.coerce(low, Scalar::Int, "the low end of `choose`", None);
                let high = self.coerce(high, Scalar::Int, "the high end of `choose`", None);
                Expression { kind: ExpressionKind::Choose(Box::new(low), Box::new(high)), ty: Scalar::Int, span }
            }
            ("cas", [target, old, new]) => {
                let Some((place, ty)) = self.atomic_target(target) else { return Expression::error(span) };
                let (old, new) = (self.expression(old), self.expression(new));
                let old = Box::new(self.coerce(old, ty, "the variable", Some(place.symbol.1)));
                let new = Box::new(self.coerce(new, ty, "the variable", Some(place.symbol.1)));
                let kind = ExpressionKind::CompareAndSwap(Box::new(place), old, new);
                Expression { kind, ty: Scalar::Bool, span }
            }
            ("swap" | "fetch_add", [target, value]) => {
                let Some((place, ty)) = self.atomic_target(target) else { return Expression::error(span) };
                let value = self.expression(value);
                let value = Box::new(self.coerce(value, ty, "the variable", Some(place.symbol.1)));
                if name.name == "swap" {
                    return Expression { kind: ExpressionKind::Swap(Box::new(place), value), ty, span };
                }
                if !matches!(ty, Scalar::Int | Scalar::Long | Scalar::Double) {
                    let message = format!("`fetch_add` does not add to {}", with_article(ty.name()));
                    self.report(Diagnostic::error(Code::WrongType, span, message, "not a number"));
                    return Expression::error(span);
                }
                Expression { kind: ExpressionKind::FetchAdd(Box::new(place), value), ty, span }
            }
            ("length", [array]) => self.length(array, span),
            ("choose" | "cas" | "swap" | "fetch_add" | "length", _) => {
                let wanted = match name.name.as_str() {
                    "cas" => 3,
                    "length" => 1,
                    _ => 2,
                };
                self.report_count(name, wanted, arguments.len());
                Expression::error(span)
            }
            (other, _) if has_verdict(other) => match self.operation(name, arguments) {
                Some(operation) => {
                    let kind = ExpressionKind::Synchronise(Box::new(operation));
                    Expression { kind, ty: Scalar::Bool, span }
                }
                None => Expression::error(span),
            },
            (other, _) if is_statement_built_in(other) => {
                let message = format!("`{other}` has no value");
                self.report(
                    Diagnostic::error(Code::MisplacedStatement, span, message, "is a statement")
                        .with_help(format!("write `{other}(…);` as a statement of its own")),
                );
                Expression::error(span)
            }
            _ if self.report_constructor_call(name) => {
                arguments.iter().for_each(|argument| self.argument_of_unknown_type(argument));
                Expression::error(span)
            }
            (other, _) => {
                let message = format!("there is no function `{other}`");
                let mut diagnostic = Diagnostic::error(Code::UnknownName, name.span, message, "not declared");
                let declared = self.functions.keys().map(|&id| self.program.texts.get(id));
                let built_ins: Vec<&str> = built_ins().collect();
                if let Some(near) = nearest(other, declared.chain(built_ins)) {
                    diagnostic = diagnostic.with_replacement(near);
                } else if let Some(help) = self.function_meant(other, arguments) {
                    diagnostic = diagnostic.with_help(help);
                } else if let Some(help) = of_word(other) {
                    diagnostic = diagnostic.with_help(help);
                } else if is_container(other) {
                    diagnostic = diagnostic.with_help(CONTAINERS);
                }
                self.report(diagnostic);
                arguments.iter().for_each(|argument| self.argument_of_unknown_type(argument));
                Expression::error(span)
            }
        }
    }

    /// `length(t)`: the number of elements in the first dimension.
    fn length(&mut self, array: &ast::Expr, span: Span) -> Expression {
        let Some(place) = self.place(array) else { return Expression::error(span) };
        match self.length_of(&place) {
            Some(Length::Constant(length)) => Expression::of(super::Constant::Int(length as i32), span),
            Some(Length::Parameter(parameter)) => {
                Expression { kind: ExpressionKind::Length(parameter), ty: Scalar::Int, span }
            }
            None => {
                if place.ty != Type::Error {
                    let name = self.program.texts.get(place.name).to_owned();
                    let message = format!("`{name}` is {} and has no length", self.type_name(place.ty));
                    self.report(
                        Diagnostic::error(Code::WrongType, array.span, message, "not an array")
                            .with_label(place.symbol.1, "declared here"),
                    );
                }
                Expression::error(span)
            }
        }
    }

    fn atomic_target(&mut self, target: &ast::Expr) -> Option<(Place, Scalar)> {
        let place = self.target(target)?;
        match place.ty {
            Type::Scalar(ty) => Some((place, ty)),
            Type::Error => None,
            other => {
                let message = format!("`{}` is {}", self.program.texts.get(place.name), self.type_name(other));
                self.report(Diagnostic::error(Code::WrongType, target.span, message, "a scalar variable is wanted"));
                None
            }
        }
    }

    pub(super) fn report_count(&mut self, name: &ast::Ident, wanted: usize, given: usize) {
        let message = format!("`{}` takes {}, not {given}", name.name, count(wanted, "argument"));
        self.report(Diagnostic::error(Code::WrongArgumentCount, name.span, message, "called here"));
    }

    /// A call as a statement.
    pub(super) fn call_statement(
        &mut self,
        receiver: Option<&ast::Expr>,
        name: &ast::Ident,
        arguments: &[ast::Expr],
        span: Span,
    ) -> StatementKind {
        match self.callee(receiver, name) {
            Callee::Error => StatementKind::Skip,
            Callee::Function(function, receiver) => {
                let ty = self.program.functions[function].result.unwrap_or(Scalar::Int);
                match self.call(function, receiver, name, arguments) {
                    Some(call) => {
                        StatementKind::Evaluate(Expression { kind: ExpressionKind::Call(Box::new(call)), ty, span })
                    }
                    None => StatementKind::Skip,
                }
            }
            Callee::BuiltIn => self.built_in_statement(name, arguments, span),
        }
    }

    fn built_in_statement(&mut self, name: &ast::Ident, arguments: &[ast::Expr], span: Span) -> StatementKind {
        match (name.name.as_str(), arguments) {
            ("print", _) => StatementKind::Print(arguments.iter().map(|argument| self.expression(argument)).collect()),
            ("assert", [condition] | [condition, _]) => {
                let condition = self.condition(condition);
                let message = arguments.get(1).and_then(|message| self.message(message));
                StatementKind::Assert { condition, message }
            }
            ("error", []) => StatementKind::Error(None),
            ("error", [message]) => StatementKind::Error(self.message(message)),
            ("assume", [condition]) => StatementKind::Assume(self.condition(condition)),
            ("sleep", [time]) => {
                let time = self.expression(time);
                let time = self.coerce(time, Scalar::Double, "the time", None);
                if time.constant().is_some() { StatementKind::Skip } else { StatementKind::Evaluate(time) }
            }
            ("join", [handle]) => {
                let handle = self.expression(handle);
                if !matches!(handle.ty, Scalar::Thread | Scalar::Error) {
                    let message = format!("`join` waits for a thread, this is {}", with_article(handle.ty.name()));
                    self.report(
                        Diagnostic::error(Code::BadThreadHandle, handle.span, message, "not a thread handle")
                            .with_help("join the handle of a thread: `thread t = spawn f(…);` and then `join(t);`"),
                    );
                    return StatementKind::Skip;
                }
                StatementKind::Join(handle)
            }
            ("cas" | "swap" | "fetch_add" | "choose" | "length", _) => {
                StatementKind::Evaluate(self.built_in_value(name, arguments, span))
            }
            (other, _) if is_statement_built_in(other) => self.synchronisation(name, arguments),
            _ => {
                self.built_in_value(name, arguments, span);
                StatementKind::Skip
            }
        }
    }

    fn message(&mut self, expr: &ast::Expr) -> Option<TextId> {
        if let ExprKind::String(text) = &expr.kind {
            return Some(self.intern(text));
        }
        self.report(
            Diagnostic::error(Code::NotConstant, expr.span, "the message must be a text in quotes", "not a literal")
                .with_help("print the values before, and give a fixed message here"),
        );
        None
    }

    /// Applies `op` to `place` and a value: the type to compute in, and the value converted.
    pub(super) fn update(
        &mut self,
        place: &Place,
        op: BinaryOp,
        value: Expression,
        span: Span,
    ) -> Option<(Scalar, Expression)> {
        let Type::Scalar(ty) = place.ty else { return None };
        let probe = Expression { kind: ExpressionKind::Read(Box::new(place.clone())), ty, span: place.span };
        let common = self.common_type(op, &probe, &value, span)?;
        let result = Expression { ty: common, ..probe };
        // The result must fit back into the variable.
        if self.coerce(result, ty, "the variable", Some(place.symbol.1)).ty == Scalar::Error && common != Scalar::Error
        {
            return None;
        }
        let shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        let value = self.convert(value, if shift { Scalar::Long } else { common });
        Some((common, value))
    }
}

/// Built-in functions that are statements, beside the operations on synchronisation objects.
const STATEMENTS: &[&str] = &["join", "print", "assert", "error", "assume", "sleep"];

/// Whether an object goes where one of a type is wanted: a re-entrant lock goes where a lock is.
fn fits(given: Type, wanted: Type) -> bool {
    given == wanted || (given, wanted) == (Type::ReentrantLock, Type::Lock)
}

/// All built-in functions that are statements.
fn statements() -> impl Iterator<Item = &'static str> {
    STATEMENTS.iter().copied().chain(operation::words())
}

/// The names of all built-in functions.
pub fn built_ins() -> impl Iterator<Item = &'static str> {
    statements().chain(VALUES.iter().copied())
}

/// Built-in functions that have a value.
const VALUES: &[&str] = &["choose", "cas", "swap", "fetch_add", "length"];

fn is_statement_built_in(name: &str) -> bool {
    statements().any(|word| word == name)
}

fn count(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}"),
        1 => format!("one {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
