//! Named constants: inputs, `const` with a constant initialiser, and enumerators.
//!
//! **Input**: the declarations of a file, or of a class or a block. **Output**: a meaning for each name; a named constant is a
//! variable of the kind [`VariableKind::Constant`], which has no cell.
//!
//! **Algorithm**: constants at top level may use each other in any order. Each constant is evaluated after all names in its
//! initialiser. A stack of waiting constants replaces recursion, so that no chain is too long. A `const` whose initialiser
//! contains more than constants becomes a global variable that nothing assigns to.
//!
//! **Soundness and limits**: constants of a class and of a block use the declarations before them. Constness is a matter of form:
//! literals, names of constants, operators, casts and `?:`, without a failure such as a division by zero.

use super::item::Checker;
use super::scope::{BodyContext, Meaning};
use super::{ClassId, Constant, Scalar, Type, Variable, VariableId, VariableKind};
use crate::csm::syntax::ast::{self, ExprKind, Initialiser, Item, StmtKind};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;
use cssame_source::texts::TextId;
use rustc_hash::FxHashMap;

/// A constant at top level that is to be evaluated.
#[derive(Clone, Copy)]
enum Pending<'a> {
    Input(&'a ast::Input),
    Const(&'a ast::Declaration, &'a ast::Declarator),
    /// An enumerator, and the one before it.
    Enumerator(&'a ast::Enumerator, Option<&'a ast::Ident>),
}

impl<'a> Pending<'a> {
    fn name(self) -> &'a ast::Ident {
        match self {
            Pending::Input(input) => &input.name,
            Pending::Const(_, declarator) => &declarator.name,
            Pending::Enumerator(enumerator, _) => &enumerator.name,
        }
    }

    /// The expressions that must be evaluated for it.
    fn expressions(self) -> Vec<&'a ast::Expr> {
        match self {
            Pending::Input(input) => {
                let range = input.range.iter().flat_map(|(low, high)| [low, high]);
                std::iter::once(&input.value).chain(range).collect()
            }
            Pending::Const(_, declarator) => match &declarator.initialiser {
                Some(Initialiser::Value(value)) => vec![value],
                _ => Vec::new(),
            },
            Pending::Enumerator(enumerator, _) => enumerator.value.iter().collect(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Open,
    Done,
}

impl<'a> Checker<'a> {
    /// Declares all inputs, constants and enumerators at top level.
    pub(super) fn declare_constants(&mut self, program: &'a ast::Program) {
        let pending = pending(program);
        let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
        for (index, one) in pending.iter().enumerate() {
            by_name.entry(&one.name().name).or_insert(index);
        }
        let mut states = vec![State::Waiting; pending.len()];
        let mut stack = Vec::new();
        for index in 0..pending.len() {
            stack.push(index);
            while let Some(&top) = stack.last() {
                if states[top] == State::Done {
                    stack.pop();
                    continue;
                }
                states[top] = State::Open;
                let needed = needed(pending[top], &by_name, &states);
                match needed {
                    Some((other, span)) if states[other] == State::Open => {
                        self.report_circle(pending[top].name(), span);
                        self.declare_failed(pending[top]);
                        states[top] = State::Done;
                    }
                    Some((other, _)) => stack.push(other),
                    None => {
                        self.declare_pending(pending[top]);
                        states[top] = State::Done;
                    }
                }
            }
        }
    }

    fn report_circle(&mut self, name: &ast::Ident, used: Span) {
        let message = format!("the value of `{}` depends on itself", name.name);
        self.report(
            Diagnostic::error(Code::NotConstant, used, message, "not known yet")
                .with_label(name.span, "needed for this")
                .with_help("give one of them a value of its own"),
        );
    }

    /// Declares a constant whose value was reported as wrong.
    fn declare_failed(&mut self, pending: Pending<'a>) {
        let name = pending.name();
        let id = self.intern(&name.name);
        let ty = match pending {
            Pending::Input(input) => &input.ty,
            Pending::Const(declaration, _) => &declaration.ty,
            Pending::Enumerator(..) => return self.declare_constant_global(id, name.span, Constant::Int(0)),
        };
        let ty = match self.resolve_type(ty, None) {
            Type::Scalar(ty) => ty,
            _ => Scalar::Int,
        };
        let zero = Constant::zero(ty, self.empty);
        self.declare_constant_global(id, name.span, zero);
        if matches!(pending, Pending::Input(_)) {
            self.input_names.push(id);
        }
    }

    fn declare_pending(&mut self, pending: Pending<'a>) {
        match pending {
            Pending::Input(input) => self.declare_input(input),
            Pending::Const(declaration, declarator) => {
                let base = self.resolve_type(&declaration.ty, None);
                let id = self.intern(&declarator.name.name);
                match self.named_constant(base, declarator) {
                    Some(constant) => self.declare_constant_global(id, declarator.name.span, constant),
                    None => self.declare_read_only_global(base, declarator),
                }
            }
            Pending::Enumerator(enumerator, before) => {
                let before = before.and_then(|before| self.program.texts.find(&before.name)).and_then(|before| {
                    let Some(&(Meaning::Variable(variable), _)) = self.globals.get(&before) else { return None };
                    self.named_value(variable)
                });
                let value = self.enumerator_value(enumerator, before.and_then(Constant::integer));
                let id = self.intern(&enumerator.name.name);
                self.declare_constant_global(id, enumerator.name.span, value);
            }
        }
    }

    fn declare_constant_global(&mut self, name: TextId, span: Span, value: Constant) {
        let variable = self.new_constant(name, span, value);
        self.declared_constants.insert(span);
        self.declare_global_name(name, Meaning::Variable(variable), span);
    }

    /// A global of a `const` declaration whose value is found at run time. Its initialiser is looked at later.
    fn declare_read_only_global(&mut self, base: Type, declarator: &ast::Declarator) {
        let zeros = self.initial_zeros(base);
        let variable = self.new_variable(declarator, base, VariableKind::Global, zeros);
        let name = self.program.variables[variable].name;
        self.read_only.insert(declarator.name.span);
        self.declared_constants.insert(declarator.name.span);
        self.declare_global_name(name, Meaning::Variable(variable), declarator.name.span);
    }

    /// A variable without cells that stands for a value.
    pub(super) fn new_constant(&mut self, name: TextId, span: Span, value: Constant) -> VariableId {
        self.program.variables.push(Variable {
            name,
            span,
            ty: Type::Scalar(value.ty()),
            kind: VariableKind::Constant,
            initial: vec![value],
            captured: false,
            atomic: false,
        })
    }

    /// The value of a named constant.
    pub(super) fn named_value(&self, variable: VariableId) -> Option<Constant> {
        let declared = &self.program.variables[variable];
        (declared.kind == VariableKind::Constant).then(|| declared.initial.first().copied()).flatten()
    }

    /// The value of a scalar declarator of a `const` declaration, if its initialiser is constant. After an error that
    /// was reported it is some value.
    pub(super) fn named_constant(&mut self, base: Type, declarator: &'a ast::Declarator) -> Option<Constant> {
        let (Type::Scalar(ty), true, Some(Initialiser::Value(value))) =
            (base, declarator.sizes.is_empty(), &declarator.initialiser)
        else {
            return None;
        };
        if ty == Scalar::Thread || !self.has_constant_form(value) {
            return None;
        }
        let value = self.expression(value);
        let value = self.coerce(value, ty, "the constant", Some(declarator.name.span));
        if value.ty == Scalar::Error {
            return Some(Constant::zero(ty, self.empty));
        }
        value.constant()
    }

    /// Whether an expression is made of literals and constants alone.
    fn has_constant_form(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Int { .. } | ExprKind::Double(_) | ExprKind::Bool(_) | ExprKind::String(_) => true,
            ExprKind::Name(name) => self.program.texts.find(name).is_some_and(|name| self.names_constant(name)),
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => self.has_constant_form(operand),
            ExprKind::Binary { left, right, .. } => self.has_constant_form(left) && self.has_constant_form(right),
            ExprKind::Conditional { condition, then_value, else_value } => {
                [condition, then_value, else_value].iter().all(|part| self.has_constant_form(part))
            }
            _ => false,
        }
    }

    fn names_constant(&self, name: TextId) -> bool {
        if let Some((variable, _)) = self.body.find(name) {
            return self.named_value(variable).is_some();
        }
        if let Some(class) = self.body.class {
            if self.class_constants.contains_key(&(class, name)) {
                return true;
            }
            if self.program.classes[class].fields.iter().any(|field| field.name == name) {
                return false;
            }
        }
        match self.globals.get(&name) {
            Some(&(Meaning::Variable(variable), _)) => self.named_value(variable).is_some(),
            Some((Meaning::Input(_), _)) => true,
            None => false,
        }
    }

    /// The value of an enumerator behind one with the value `before`.
    fn enumerator_value(&mut self, enumerator: &'a ast::Enumerator, before: Option<i64>) -> Constant {
        if let Some(value) = &enumerator.value {
            if let Some(call) = call_in(value) {
                let message = "this value is not constant";
                self.report(
                    Diagnostic::error(Code::NotConstant, call, message, "not known before the program runs")
                        .with_help("use literals, inputs and constants here"),
                );
                return Constant::Int(0);
            }
            return self.constant(value, Scalar::Int).unwrap_or(Constant::Int(0));
        }
        let value = before.map_or(0, |before| before + 1);
        match i32::try_from(value) {
            Ok(value) => Constant::Int(value),
            Err(_) => {
                let message = format!("the value of `{}` does not fit", enumerator.name.name);
                let label = "one more than the greatest int";
                self.report(
                    Diagnostic::error(Code::BadSize, enumerator.name.span, message, label)
                        .with_help("give it a value of its own by `=`"),
                );
                Constant::Int(0)
            }
        }
    }

    /// Declares the constants and enumerators of a class.
    pub(super) fn declare_class_constants(&mut self, id: ClassId, class: &'a ast::Class) {
        let body = std::mem::replace(&mut self.body, BodyContext { class: Some(id), ..BodyContext::default() });
        for member in &class.members {
            match &member.kind {
                ast::MemberKind::Field(declaration) if declaration.constant => {
                    self.declare_class_const(id, declaration, member.public);
                }
                ast::MemberKind::Enum(of) => {
                    let mut before = None;
                    for enumerator in &of.enumerators {
                        let value = self.enumerator_value(enumerator, before);
                        before = value.integer();
                        self.declare_class_constant(id, &enumerator.name, value, member.public);
                    }
                }
                _ => {}
            }
        }
        self.body = body;
    }

    fn declare_class_const(&mut self, id: ClassId, declaration: &'a ast::Declaration, public: bool) {
        if !has_scalars(declaration) {
            return;
        }
        let base = self.resolve_type(&declaration.ty, None);
        if !self.may_be_constant(declaration, base) {
            return;
        }
        for declarator in declaration.declarators.iter().filter(|one| one.sizes.is_empty()) {
            let value = self.named_constant(base, declarator).unwrap_or_else(|| {
                if declarator.initialiser.is_some() {
                    self.report(
                        Diagnostic::error(
                            Code::NotConstant,
                            declarator.name.span,
                            format!("the value of constant `{}` of a class is not constant", declarator.name.name),
                            "must be known before the program runs",
                        )
                        .with_help("leave `const` out, and set the field in the constructor"),
                    );
                }
                Constant::zero(if let Type::Scalar(ty) = base { ty } else { Scalar::Int }, self.empty)
            });
            self.declare_class_constant(id, &declarator.name, value, public);
        }
    }

    fn declare_class_constant(&mut self, id: ClassId, name: &ast::Ident, value: Constant, public: bool) {
        let text = self.intern(&name.name);
        let variable = self.new_constant(text, name.span, value);
        if let Some((earlier, _)) = self.class_constants.insert((id, text), (variable, public)) {
            let earlier = self.program.variables[earlier].span;
            self.report_duplicate(text, name.span, earlier);
        }
    }

    /// Whether a `const` declaration declares what can be constant; reports it where it does not, and constants without a
    /// value.
    pub(super) fn may_be_constant(&mut self, declaration: &'a ast::Declaration, base: Type) -> bool {
        let what = match base {
            Type::Scalar(Scalar::Thread) => "a thread handle",
            Type::Scalar(_) | Type::Array(..) => {
                for declarator in declaration.declarators.iter().filter(|one| one.initialiser.is_none()) {
                    let name = &declarator.name.name;
                    let message = format!("constant `{name}` has no value");
                    let help = if !declarator.sizes.is_empty() { "= {1, 2}" } else { "= 1" };
                    self.report(
                        Diagnostic::error(Code::NotConstant, declarator.name.span, message, "would be zero for ever")
                            .with_help(format!("give it one, as in `{name} {help}`, or leave `const` out")),
                    );
                }
                return true;
            }
            Type::Error => return false,
            Type::Class(_) => "an object",
            _ => "a synchronisation object",
        };
        let start = declaration.span.start;
        let word = Span { start, end: start + "const".len() as u32, ..declaration.span };
        let message = format!("{what} cannot be declared `const`");
        self.report(
            Diagnostic::error(Code::UnsupportedType, word, message, "only for data")
                .with_label(declaration.ty.span, format!("this is {what}"))
                .with_help("leave `const` out"),
        );
        false
    }
}

/// The first call in an expression: functions are not known yet where constants are evaluated.
fn call_in(expr: &ast::Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Call { .. } => Some(expr.span),
        ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => call_in(operand),
        ExprKind::Binary { left, right, .. } => call_in(left).or_else(|| call_in(right)),
        ExprKind::Conditional { condition, then_value, else_value } => {
            [condition, then_value, else_value].into_iter().find_map(|part| call_in(part))
        }
        _ => None,
    }
}

/// Whether a declaration declares something that is no array.
pub(super) fn has_scalars(declaration: &ast::Declaration) -> bool {
    declaration.declarators.iter().any(|one| one.sizes.is_empty())
}

/// All constants at top level, in the order of the text.
fn pending(program: &ast::Program) -> Vec<Pending<'_>> {
    let mut pending = Vec::new();
    for item in &program.items {
        match item {
            Item::Input(input) => pending.push(Pending::Input(input)),
            Item::Enum(of) => {
                let mut before = None;
                for enumerator in &of.enumerators {
                    pending.push(Pending::Enumerator(enumerator, before.replace(&enumerator.name)));
                }
            }
            Item::Statement(ast::Stmt { kind: StmtKind::Declare(declaration), .. }) if declaration.constant => {
                let scalars = declaration
                    .declarators
                    .iter()
                    .filter(|one| one.sizes.is_empty() && matches!(one.initialiser, Some(Initialiser::Value(_))));
                pending.extend(scalars.map(|declarator| Pending::Const(declaration, declarator)));
            }
            _ => {}
        }
    }
    pending
}

/// The first constant that is needed and not done, and where it is named.
fn needed(of: Pending<'_>, by_name: &FxHashMap<&str, usize>, states: &[State]) -> Option<(usize, Span)> {
    if let Pending::Enumerator(ast::Enumerator { value: None, .. }, Some(before)) = of
        && let Some(&index) = by_name.get(before.name.as_str())
        && states[index] != State::Done
    {
        return Some((index, before.span));
    }
    let mut work = of.expressions();
    while let Some(expr) = work.pop() {
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(&index) = by_name.get(name.as_str())
                    && states[index] != State::Done
                {
                    return Some((index, expr.span));
                }
            }
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => work.push(operand),
            ExprKind::Binary { left, right, .. } => work.extend([&**right, &**left]),
            ExprKind::Conditional { condition, then_value, else_value } => {
                work.extend([&**else_value, &**then_value, &**condition]);
            }
            _ => {}
        }
    }
    None
}
