//! Classes and types: the meaning of a written type, and the positions of the fields of an object.

use super::habits::{CONTAINERS, is_container};
use super::item::Checker;
use super::named::has_scalars;
use super::scope::{BodyContext, Meaning};
use super::{Class, ClassId, Constant, Field, Scalar, Type};
use crate::csm::syntax::ast;
use crate::csm::syntax::{of_word, type_meant};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;
use cssame_source::names::NameKind;
use cssame_source::texts::TextId;

/// No variable holds more cells: larger ones would only exhaust the memory.
const MAX_CELLS: u32 = 1 << 20;

impl<'a> Checker<'a> {
    pub(super) fn declare_class(&mut self, class: &'a ast::Class) {
        let name = self.intern(&class.name.name);
        let id = self.program.classes.push(Class {
            name,
            span: class.name.span,
            fields: Vec::new(),
            methods: Vec::new(),
            size: 0,
        });
        self.class_syntax.push(class);
        let enumeration = self.enums.get(&name).copied();
        let earlier = self.classes.insert(name, id).map(|earlier| self.program.classes[earlier].span);
        if let Some(earlier) = earlier.or(enumeration) {
            self.report_duplicate(name, class.name.span, earlier);
        }
        for member in &class.members {
            if let ast::MemberKind::Enum(of) = &member.kind {
                self.declare_enum(of);
            }
        }
    }

    /// Declares the name of an enum, which is a type.
    pub(super) fn declare_enum(&mut self, of: &'a ast::Enum) {
        let Some(written) = &of.name else { return };
        let name = self.intern(&written.name);
        self.enum_syntax.push(of);
        self.note(written.span, written.span, NameKind::Enum);
        let class = self.classes.get(&name).map(|&class| self.program.classes[class].span);
        if let Some(earlier) = self.enums.insert(name, written.span).or(class) {
            self.report_duplicate(name, written.span, earlier);
        }
    }

    /// Names are declared with a type that may be the name of an enum.
    pub(super) fn note_enumeration<'n>(&mut self, ty: &ast::TypeName, names: impl IntoIterator<Item = &'n ast::Ident>) {
        let ast::TypeKind::Class(name) = &ty.kind else { return };
        let Some(name) = self.program.texts.find(name).filter(|name| self.enums.contains_key(name)) else { return };
        names.into_iter().for_each(|declared| self.program.enumerations.declare(declared.span, name));
    }

    /// Names the values of all enums, which are known.
    pub(super) fn name_enumerators(&mut self) {
        for of in std::mem::take(&mut self.enum_syntax) {
            let enumeration = of.name.as_ref().and_then(|name| self.program.texts.find(&name.name));
            for enumerator in &of.enumerators {
                let name = self.program.texts.find(&enumerator.name.name);
                let value = name.and_then(|name| match self.globals.get(&name) {
                    Some(&(Meaning::Variable(variable), _)) => self.named_value(variable)?.integer(),
                    _ => None,
                });
                if let (Some(enumeration), Some(name), Some(value)) = (enumeration, name, value) {
                    self.program.enumerations.add(enumeration, value, name);
                }
            }
        }
    }

    /// Lays out all classes, those first that others hold.
    pub(super) fn lay_out_classes(&mut self) {
        let mut state = vec![Layout::Waiting; self.class_syntax.len()];
        for index in 0..self.class_syntax.len() {
            self.lay_out(ClassId::new(index), &mut state);
        }
    }

    fn lay_out(&mut self, id: ClassId, state: &mut [Layout]) {
        if state[id.index()] != Layout::Waiting {
            return;
        }
        state[id.index()] = Layout::Open;
        let class = self.class_syntax[id.index()];
        self.declare_class_constants(id, class);
        for member in &class.members {
            if let ast::MemberKind::Field(declaration) = &member.kind {
                self.add_fields(id, declaration, member.public, state);
            }
        }
        self.note_construction(id);
        state[id.index()] = Layout::Done;
    }

    fn add_fields(&mut self, id: ClassId, declaration: &'a ast::Declaration, public: bool, state: &mut [Layout]) {
        if declaration.constant && declaration.declarators.iter().all(|one| one.sizes.is_empty()) {
            return;
        }
        let reported = self.diagnostics.len();
        let base = self.resolve_type(&declaration.ty, None);
        if declaration.constant {
            let fits = self.may_be_constant(declaration, base);
            if has_scalars(declaration) {
                // It was reported with the constants.
                self.diagnostics.truncate(reported);
            }
            if !fits {
                return;
            }
        }
        let atomic = self.is_atomic(declaration, base);
        self.note_enumeration(&declaration.ty, declaration.declarators.iter().map(|one| &one.name));
        if let Type::Class(inner) = base {
            // A chain of distinct classes is as long as the text allows; recursion is bounded by its length.
            if state[inner.index()] == Layout::Open {
                let name = self.program.texts.get(self.program.classes[inner].name).to_owned();
                self.report(
                    Diagnostic::error(
                        Code::RecursiveClass,
                        declaration.ty.span,
                        format!("an object of class `{name}` would hold itself"),
                        "this field closes the circle",
                    )
                    .with_help("there are no pointers: hold an index into an array instead"),
                );
                return;
            }
            self.lay_out(inner, state);
        }
        for declarator in declaration.declarators.iter().filter(|one| !declaration.constant || !one.sizes.is_empty()) {
            let body = std::mem::replace(&mut self.body, BodyContext { class: Some(id), ..BodyContext::default() });
            let ty = self.declared_type(base, declarator);
            let (initial, late) = self.constant_initialiser(ty, declarator);
            self.body = body;
            if declaration.constant {
                self.read_only.insert(declarator.name.span);
            }
            if late {
                self.report(Diagnostic::error(
                    Code::NotConstant,
                    declarator.name.span,
                    format!("the initial value of field `{}` is not constant", declarator.name.name),
                    "must be known before the program runs",
                ));
            }
            let name = self.intern(&declarator.name.name);
            let constant = self.class_constants.get(&(id, name)).map(|&(of, _)| self.program.variables[of].span);
            let field = self.program.classes[id].fields.iter().find(|field| field.name == name);
            let earlier = field.map(|field| field.span).or(constant);
            if let Some(earlier) = earlier {
                self.report_duplicate(name, declarator.name.span, earlier);
            }
            let size = self.program.size_of(ty);
            let class = &mut self.program.classes[id];
            let offset = class.size;
            class.size = offset.saturating_add(size);
            if class.size > MAX_CELLS {
                let message = format!("an object of class `{}` is too large", self.program.texts.get(class.name));
                class.size = offset;
                let label = format!("at most {MAX_CELLS} values in one object");
                self.report(Diagnostic::error(Code::BadSize, declarator.name.span, message, label));
                continue;
            }
            class.fields.push(Field { name, span: declarator.name.span, ty, public, offset, initial, atomic });
        }
    }

    pub(super) fn declare_methods(&mut self, class: &'a ast::Class) {
        let name = self.intern(&class.name.name);
        let Some(&id) = self.classes.get(&name) else { return };
        self.declare_constructor(id, class);
        for member in &class.members {
            if let ast::MemberKind::Method(function) = &member.kind
                && function.name.name != class.name.name
            {
                let short = self.intern(&function.name.name);
                if let Some(earlier) = self.find_method(id, short) {
                    let earlier = self.program.functions[earlier].span;
                    self.report_duplicate(short, function.name.span, earlier);
                }
                let method = self.declare_function(function, Some((id, member.public)));
                self.program.classes[id].methods.push(method);
            }
        }
    }

    /// The method of that (short) name.
    pub(super) fn find_method(&self, class: ClassId, name: TextId) -> Option<super::FunctionId> {
        let short = self.program.texts.get(name);
        self.program.classes[class].methods.iter().copied().find(|&method| {
            let qualified = self.program.texts.get(self.program.functions[method].name);
            qualified.rsplit('.').next() == Some(short)
        })
    }

    /// The type that a written name means. `expected_data` only words the error.
    pub(super) fn resolve_type(&mut self, ty: &ast::TypeName, _context: Option<Span>) -> Type {
        match &ty.kind {
            ast::TypeKind::Int => Type::Scalar(Scalar::Int),
            ast::TypeKind::Long => Type::Scalar(Scalar::Long),
            ast::TypeKind::Bool => Type::Scalar(Scalar::Bool),
            ast::TypeKind::Double => Type::Scalar(Scalar::Double),
            ast::TypeKind::String => Type::Scalar(Scalar::String),
            ast::TypeKind::Thread => Type::Scalar(Scalar::Thread),
            ast::TypeKind::Lock => Type::Lock,
            ast::TypeKind::ReentrantLock => Type::ReentrantLock,
            ast::TypeKind::RwLock => Type::RwLock,
            ast::TypeKind::Event => Type::Event,
            ast::TypeKind::Barrier => Type::Barrier,
            ast::TypeKind::Cond => Type::Condition,
            ast::TypeKind::Sem => Type::Semaphore,
            ast::TypeKind::Void => {
                self.report(
                    Diagnostic::error(
                        Code::UnsupportedType,
                        ty.span,
                        "nothing can be of type `void`",
                        "not a type of values",
                    )
                    .with_help("`void` is only the result type of a function that returns nothing"),
                );
                Type::Error
            }
            ast::TypeKind::Class(name) => {
                let id = self.intern(name);
                if let Some(&class) = self.classes.get(&id) {
                    self.note(ty.span, self.program.classes[class].span, NameKind::Class);
                    return Type::Class(class);
                }
                if let Some(&declared) = self.enums.get(&id) {
                    self.note(ty.span, declared, NameKind::Enum);
                    return Type::Scalar(Scalar::Int);
                }
                let message = format!("there is no type `{name}`");
                let diagnostic = Diagnostic::error(Code::UnknownName, ty.span, message, "not declared");
                self.report(match (type_meant(name), of_word(name)) {
                    (Some(meant), _) => {
                        diagnostic.with_replacement(meant).with_help(format!("it is called `{meant}` here"))
                    }
                    (None, Some(advice)) => diagnostic.with_help(advice),
                    (None, None) if is_container(name) => diagnostic.with_help(CONTAINERS),
                    (None, None) => diagnostic.with_help(
                        "the types are int, long, bool, double, string, lock, rwlock, event, barrier, cond, sem, \
                         thread and the classes and enums of the file",
                    ),
                });
                Type::Error
            }
        }
    }

    /// Whether a declaration of names of that type is atomic; reports `atomic` before what is no data.
    pub(super) fn is_atomic(&mut self, declaration: &ast::Declaration, base: Type) -> bool {
        let what = match base {
            _ if !declaration.atomic => return false,
            Type::Scalar(Scalar::Thread) => "a thread handle",
            Type::Scalar(_) => return true,
            Type::Error => return false,
            Type::Class(_) | Type::Array(_) => "an object",
            Type::Lock
            | Type::ReentrantLock
            | Type::RwLock
            | Type::Event
            | Type::Barrier
            | Type::Condition
            | Type::Semaphore => "a synchronisation object",
        };
        let help = match base {
            Type::Class(_) => "write `atomic` before those fields of the class that are used without synchronisation",
            Type::Scalar(_) => "leave `atomic` out",
            _ => "leave `atomic` out: every operation on the object is atomic",
        };
        let start = declaration.span.start;
        let word = Span { start, end: start + "atomic".len() as u32, ..declaration.span };
        let message = format!("{what} cannot be declared `atomic`");
        self.report(
            Diagnostic::error(Code::UnsupportedType, word, message, "only for data")
                .with_label(declaration.ty.span, format!("this is {what}"))
                .with_help(help),
        );
        false
    }

    /// The type of a declared name: an array where it has sizes, the first of which is that of the outermost one.
    pub(super) fn declared_type(&mut self, base: Type, declarator: &ast::Declarator) -> Type {
        let mut ty = base;
        for size in declarator.sizes.iter().rev() {
            let length = self.constant(size, Scalar::Long).and_then(Constant::integer);
            ty = match length {
                _ if ty == Type::Error => Type::Error,
                Some(length) if (1..=i64::from(MAX_CELLS)).contains(&length) => {
                    self.program.array(ty, Some(length as u32))
                }
                Some(length) => {
                    self.report(Diagnostic::error(
                        Code::BadSize,
                        size.span,
                        format!("an array cannot have {length} elements"),
                        format!("must be from 1 to {MAX_CELLS}"),
                    ));
                    Type::Error
                }
                None => Type::Error,
            };
        }
        let cells = self.program.size_of(ty);
        if cells > MAX_CELLS {
            let message = format!("`{}` is too large: it holds {cells} values", declarator.name.name);
            let label = format!("at most {MAX_CELLS} in one variable");
            self.report(Diagnostic::error(Code::BadSize, declarator.name.span, message, label));
            return Type::Error;
        }
        ty
    }

    /// The type of a parameter: a reference to an array where brackets stand behind its name.
    pub(super) fn parameter_type(&mut self, parameter: &ast::Parameter) -> Type {
        let base = self.resolve_type(&parameter.ty, None);
        let mut dimensions = parameter.sizes.iter();
        let Some(first) = dimensions.next() else { return base };
        let mut ty = base;
        for size in dimensions.rev() {
            let length = size.as_ref().and_then(|size| self.constant(size, Scalar::Long)).and_then(Constant::integer);
            match length {
                Some(length) if (1..=i64::from(MAX_CELLS)).contains(&length) && ty != Type::Error => {
                    ty = self.program.array(ty, Some(length as u32));
                }
                _ => {
                    self.report(
                        Diagnostic::error(
                            Code::BadSize,
                            parameter.name.span,
                            format!("the sizes of `{}` are not known", parameter.name.name),
                            "only the first size may be left out",
                        )
                        .with_help(format!("write `{}[][4]`, with the size of a row", parameter.name.name)),
                    );
                    return Type::Error;
                }
            }
        }
        if let Some(size) = first {
            self.report(
                Diagnostic::error(
                    Code::BadSize,
                    size.span,
                    format!("`{}` takes arrays of any length", parameter.name.name),
                    "no size is allowed here",
                )
                .with_help(format!(
                    "write `{0}[]`; inside, `length({0})` is the number of its elements",
                    parameter.name.name
                )),
            );
        }
        if ty == Type::Error { ty } else { self.program.array(ty, None) }
    }

    /// What a variable without initialiser begins with; nothing for objects.
    pub(super) fn initial_zeros(&self, ty: Type) -> Vec<Constant> {
        let (element, count) = self.program.elements_of(ty);
        match element {
            Type::Scalar(scalar) => vec![Constant::zero(scalar, self.empty); count.max(1) as usize],
            Type::Barrier => vec![Constant::Int(1)],
            Type::Lock
            | Type::ReentrantLock
            | Type::RwLock
            | Type::Event
            | Type::Condition
            | Type::Semaphore
            | Type::Error
            | Type::Array(_) => vec![Constant::Int(0)],
            Type::Class(_) => Vec::new(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Waiting,
    Open,
    Done,
}
