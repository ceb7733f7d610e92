//! Constructors: the classes that have one, its actions, and the declarations that call it.
//!
//! **Input**: the members of a class and the declarations of objects. **Output**: a function for each class whose objects must be
//! constructed, and a [`StatementKind::Construct`] after the declaration of each such object.
//!
//! **Algorithm**: an object must be constructed if its class has a constructor, or a field that must be constructed. In that case
//! a class without a constructor gets one without parameters. A constructor first constructs the fields, in the order of the
//! text, and then runs its body. The arguments of the fields are evaluated in the constructor, without access to its parameters.

use super::item::{Checker, Constructor, Signature};
use super::{Argument, ClassId, Function, FunctionId, Place, Statement, StatementKind, Type};
use crate::csm::syntax::ast::{self, Initialiser, MemberKind};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;
use cssame_source::names::NameKind;

impl<'a> Checker<'a> {
    /// Declares the constructor of a class, if its objects must be constructed.
    pub(super) fn declare_constructor(&mut self, id: ClassId, class: &'a ast::Class) {
        let mut found: Option<Span> = None;
        for member in &class.members {
            let (function, has_result) = match &member.kind {
                MemberKind::Constructor(function) => (function, false),
                MemberKind::Method(function) if function.name.name == class.name.name => (function, true),
                _ => continue,
            };
            let (name, own) = (&function.name, &class.name.name);
            if has_result {
                self.report(
                    Diagnostic::error(
                        Code::BadConstructor,
                        function.result.span,
                        format!("method `{own}` has the name of its class"),
                        "a constructor has no result type",
                    )
                    .with_help(format!("write `{own}(…) {{ … }}` for a constructor, or rename the method")),
                );
            } else if name.name != *own {
                self.report(
                    Diagnostic::error(
                        Code::BadConstructor,
                        name.span,
                        format!("`{}` has no result type", name.name),
                        format!("only the constructor `{own}` has none"),
                    )
                    .with_help(format!("write `void {}(…)` for a method that returns nothing", name.name)),
                );
            } else if let Some(earlier) = found {
                self.report(
                    Diagnostic::error(
                        Code::BadConstructor,
                        name.span,
                        format!("class `{own}` has two constructors"),
                        "the second one",
                    )
                    .with_label(earlier, "the first one")
                    .with_help("keep one, or make the other one a method and call it after the declaration"),
                );
            } else {
                found = Some(name.span);
                self.note(name.span, class.name.span, NameKind::Class);
                // Nobody calls it by name: to all that look at public methods it is none.
                let function = self.declare_function(function, Some((id, false)));
                self.signatures[function.index()].constructs = Some(id);
                self.constructors.insert(id, Constructor { function, public: member.public });
            }
        }
        if found.is_none() && self.constructed.contains(&id) {
            self.declare_implicit_constructor(id, class);
        }
    }

    /// Notes whether objects of a class must be constructed, when those of its fields are known.
    pub(super) fn note_construction(&mut self, id: ClassId) {
        let has_own = self.class_syntax[id.index()]
            .members
            .iter()
            .any(|member| matches!(member.kind, MemberKind::Constructor(_)));
        let mut fields = self.program.classes[id].fields.iter();
        let is_constructed = |ty: Type| matches!(self.program.elements_of(ty).0, Type::Class(inner) if self.constructed.contains(&inner));
        if has_own || fields.any(|field| is_constructed(field.ty)) {
            self.constructed.insert(id);
        }
    }

    fn declare_implicit_constructor(&mut self, id: ClassId, class: &'a ast::Class) {
        let text = format!("{0}.{0}", class.name.name);
        let name = self.intern(&text);
        let end = Span { start: class.span.end.saturating_sub(1), ..class.span };
        let function = self.program.functions.push(Function {
            name,
            span: class.name.span,
            method_of: Some((id, false)),
            parameters: Vec::new(),
            result: None,
            external: None,
            body: Vec::new(),
            end,
        });
        self.signatures.push(Signature { ast: None, parameter_types: Vec::new(), constructs: Some(id) });
        self.constructors.insert(id, Constructor { function, public: true });
    }

    /// The construction of the fields of the object of the enclosing constructor.
    pub(super) fn construct_fields(&mut self, id: ClassId, into: &mut Vec<Statement>) {
        let class = self.class_syntax[id.index()];
        let declared = class.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Field(declaration) => Some(declaration),
            _ => None,
        });
        for declarator in declared.flat_map(|declaration| &declaration.declarators) {
            let span = declarator.name.span;
            let Some(field) = self.program.classes[id].fields.iter().find(|field| field.span == span).cloned() else {
                continue;
            };
            let (Type::Class(_), _) = self.program.elements_of(field.ty) else { continue };
            let Some(place) = self.own_field(id, field.name, span) else { continue };
            let arguments = self.constructor_arguments(field.ty, declarator);
            self.construct(place, arguments, into);
        }
    }

    /// The function that constructs an object of that type and the arguments for it. Nothing where there is nothing to run,
    /// or after an error was reported.
    pub(super) fn constructor_arguments(
        &mut self,
        ty: Type,
        declarator: &'a ast::Declarator,
    ) -> Option<(FunctionId, Vec<Argument>)> {
        let (Type::Class(class), _) = self.program.elements_of(ty) else { return None };
        let given: &'a [ast::Expr] = match &declarator.initialiser {
            None => &[],
            Some(Initialiser::Arguments(arguments)) => arguments,
            // It was reported as no initial value of an object.
            Some(_) => return None,
        };
        let class_name = self.program.texts.get(self.program.classes[class].name).to_owned();
        let name = &declarator.name;
        let Some(&Constructor { function, public }) = self.constructors.get(&class) else {
            if !given.is_empty() {
                let declared = self.program.classes[class].span;
                let message = format!("class `{class_name}` has no constructor");
                self.report(
                    Diagnostic::error(Code::BadConstructor, name.span, message, "takes no arguments")
                        .with_label(declared, "the class is declared here")
                        .with_help(format!("write `{class_name} {};`, or give the class a constructor", name.name)),
                );
            }
            return None;
        };
        let declared = self.program.functions[function].span;
        if !public && self.body.class != Some(class) {
            let message = format!("the constructor of class `{class_name}` is private");
            self.report(
                Diagnostic::error(Code::PrivateMember, name.span, message, "used outside the class")
                    .with_label(declared, "declared private here"),
            );
        }
        let parameters = self.signatures[function.index()].ast.map_or(&[][..], |function| &function.parameters);
        if given.is_empty() && !parameters.is_empty() {
            let list: Vec<&str> = parameters.iter().map(|parameter| parameter.name.name.as_str()).collect();
            let list = list.join(", ");
            let message = format!("`{}` is declared without the arguments of its constructor", name.name);
            self.report(
                Diagnostic::error(Code::BadConstructor, name.span, message, "an object must be constructed")
                    .with_label(declared, "this constructor takes arguments")
                    .with_help(format!("write `{class_name} {}({list});` with values for {list}", name.name)),
            );
            return None;
        }
        let callee = ast::Ident { name: class_name, span: name.span };
        let call = self.call(function, None, &callee, given)?;
        Some((function, call.arguments))
    }

    /// Adds what constructs the object of a place.
    pub(super) fn construct(
        &mut self,
        object: Place,
        constructor: Option<(FunctionId, Vec<Argument>)>,
        into: &mut Vec<Statement>,
    ) {
        let Some((constructor, arguments)) = constructor else { return };
        let span = object.span;
        into.push(Statement { kind: StatementKind::Construct { object, constructor, arguments }, span });
    }

    /// Reports a constructor that is called by its name; false where the name is none.
    pub(super) fn report_constructor_call(&mut self, name: &ast::Ident) -> bool {
        let id = self.intern(&name.name);
        let Some(&class) = self.classes.get(&id) else { return false };
        let declared =
            self.constructors.get(&class).map(|constructor| self.program.functions[constructor.function].span);
        let declared = declared.unwrap_or(self.program.classes[class].span);
        self.report(
            Diagnostic::error(
                Code::BadConstructor,
                name.span,
                format!("the constructor of class `{}` cannot be called", name.name),
                "runs where an object is declared",
            )
            .with_label(declared, "declared here")
            .with_help(format!("declare an object, as in `{} one(…);`", name.name)),
        );
        true
    }
}
