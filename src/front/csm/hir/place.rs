//! Names and places: the target of a variable, a field or an element in the text.

use super::item::Checker;
use super::scope::Meaning;
use super::{ClassId, Constant, Index, Length, Place, Root, Scalar, Type, VariableId};
use crate::csm::syntax::ast::{self, ExprKind};
use crate::csm::syntax::{of_word, print_expression};
use cssame_diagnostics::nearest;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;
use cssame_source::names::NameKind;
use cssame_source::texts::TextId;

/// What a name turned out to be.
pub(super) enum Resolved {
    /// A variable or a part of one.
    Place(Place),
    /// A constant of the command line, or a named one with its declaration.
    Constant(Constant, Option<VariableId>),
    /// Nothing; an error was reported.
    Error,
}

impl<'a> Checker<'a> {
    /// Resolves an expression that stands for a place or an input.
    pub(super) fn resolve(&mut self, expr: &ast::Expr) -> Resolved {
        match &expr.kind {
            ExprKind::Name(name) => self.resolve_name(name, expr.span),
            ExprKind::This => match self.this_place(expr.span) {
                Some(place) => Resolved::Place(place),
                None => Resolved::Error,
            },
            ExprKind::Field { object, field } => match self.resolve(object) {
                Resolved::Place(place) => self.field_of(place, field, matches!(object.kind, ExprKind::This)),
                Resolved::Constant(..) => {
                    self.report_no_member(object.span, &field.name);
                    Resolved::Error
                }
                Resolved::Error => Resolved::Error,
            },
            ExprKind::Index { array, index } => self.element_of(array, index),
            _ => {
                let label = "a value has no place in memory";
                self.report(
                    Diagnostic::error(Code::NotAssignable, expr.span, "this is not a variable", label)
                        .with_help("name a variable, a field or an array element here"),
                );
                Resolved::Error
            }
        }
    }

    /// The place that an expression stands for, or nothing after an error was reported.
    pub(super) fn place(&mut self, expr: &ast::Expr) -> Option<Place> {
        match self.resolve(expr) {
            Resolved::Place(place) if !self.is_ranged_input(&place) => Some(place),
            Resolved::Constant(_, Some(constant)) => {
                self.report_constant(expr.span, self.program.variables[constant].name, constant);
                None
            }
            Resolved::Place(_) | Resolved::Constant(_, None) => {
                self.report(
                    Diagnostic::error(
                        Code::NotAssignable,
                        expr.span,
                        "an input cannot be changed",
                        "an input is a constant",
                    )
                    .with_help("copy it into a variable, or set it with `--input`"),
                );
                None
            }
            Resolved::Error => None,
        }
    }

    /// The place that an expression stands for, to be written.
    pub(super) fn target(&mut self, expr: &ast::Expr) -> Option<Place> {
        let place = self.place(expr)?;
        if self.read_only.contains(&place.symbol.1) {
            let name = self.program.texts.get(place.name).to_owned();
            self.report_read_only(expr.span, &name, place.symbol.1);
            return None;
        }
        Some(place)
    }

    fn report_constant(&mut self, span: Span, name: TextId, constant: VariableId) {
        let name = self.program.texts.get(name).to_owned();
        let declared = self.program.variables[constant].span;
        self.report_read_only(span, &name, declared);
    }

    fn report_read_only(&mut self, span: Span, name: &str, declared: Span) {
        self.report(
            Diagnostic::error(Code::NotAssignable, span, format!("constant `{name}` cannot be changed"), "a constant")
                .with_label(declared, "declared constant here")
                .with_help("copy it into a variable, or leave `const` out"),
        );
    }

    fn resolve_name(&mut self, name: &str, span: Span) -> Resolved {
        let id = self.intern(name);
        if let Some((variable, depth)) = self.body.find(id) {
            self.note_variable(span, variable);
            if let Some(value) = self.named_value(variable) {
                return Resolved::Constant(value, Some(variable));
            }
            if self.body.capture(variable, depth) {
                self.program.variables[variable].captured = true;
            }
            return Resolved::Place(self.whole(variable, span));
        }
        if let Some(class) = self.body.class {
            if let Some(&(constant, _)) = self.class_constants.get(&(class, id))
                && let Some(value) = self.named_value(constant)
            {
                self.note_variable(span, constant);
                return Resolved::Constant(value, Some(constant));
            }
            if let Some(place) = self.own_field(class, id, span) {
                return Resolved::Place(place);
            }
        }
        match self.globals.get(&id) {
            Some(&(Meaning::Variable(variable), _)) => {
                self.note_variable(span, variable);
                match self.named_value(variable) {
                    Some(value) => Resolved::Constant(value, Some(variable)),
                    None => Resolved::Place(self.whole(variable, span)),
                }
            }
            Some(&(Meaning::Input(constant), declared)) => {
                self.note(span, declared, NameKind::Constant);
                Resolved::Constant(constant, None)
            }
            None => {
                self.report_unknown(name, span);
                Resolved::Error
            }
        }
    }

    fn report_unknown(&mut self, name: &str, span: Span) {
        let id = self.intern(name);
        let mut diagnostic =
            Diagnostic::error(Code::UnknownName, span, format!("there is no variable `{name}`"), "not declared here");
        if self.functions.contains_key(&id) {
            diagnostic = diagnostic.with_help(format!("`{name}` is a function: call it as `{name}(…)`"));
        } else if let Some(help) = of_word(name) {
            diagnostic = diagnostic.with_help(help);
        } else if let Some(near) = self.nearest_name(name) {
            diagnostic = diagnostic.with_replacement(&near);
        } else {
            diagnostic = diagnostic.with_help(format!("declare it, for example `int {name} = 0;`"));
        }
        self.report(diagnostic);
    }

    /// A variable or an input that may be meant.
    fn nearest_name(&self, name: &str) -> Option<String> {
        let locals = self.body.locals.iter().map(|&(name, _, _)| name);
        let fields = self.body.class.into_iter().flat_map(|class| &self.program.classes[class].fields);
        let names = self.globals.keys().copied().chain(locals).chain(fields.map(|field| field.name));
        nearest(name, names.map(|id| self.program.texts.get(id))).map(str::to_owned)
    }

    /// The place of a whole variable.
    pub(super) fn whole(&self, variable: VariableId, span: Span) -> Place {
        let declared = &self.program.variables[variable];
        Place {
            root: Root::Variable(variable),
            offset: 0,
            indices: Vec::new(),
            name: declared.name,
            last_indices: self.empty,
            span,
            symbol: (declared.name, declared.span),
            ty: declared.ty,
        }
    }

    pub(super) fn own_field(&mut self, class: ClassId, name: TextId, span: Span) -> Option<Place> {
        let field = self.program.classes[class].fields.iter().find(|field| field.name == name)?;
        let place = Place {
            root: Root::This,
            offset: field.offset,
            indices: Vec::new(),
            name,
            last_indices: self.empty,
            span,
            symbol: (name, field.span),
            ty: field.ty,
        };
        self.body.arms.iter_mut().for_each(|arm| arm.uses_this = true);
        self.note_field(span, place.symbol.1, place.ty);
        Some(place)
    }

    /// The object of the enclosing method.
    pub(super) fn this_place(&mut self, span: Span) -> Option<Place> {
        let Some(class) = self.body.class else {
            self.report(
                Diagnostic::error(Code::MisplacedStatement, span, "`this` outside a method", "there is no object here")
                    .with_help("name the object"),
            );
            return None;
        };
        self.body.arms.iter_mut().for_each(|arm| arm.uses_this = true);
        let name = self.intern("this");
        let symbol = (name, self.program.classes[class].span);
        Some(Place {
            root: Root::This,
            offset: 0,
            indices: Vec::new(),
            name,
            last_indices: self.empty,
            span,
            symbol,
            ty: Type::Class(class),
        })
    }

    fn field_of(&mut self, object: Place, field: &ast::Ident, through_this: bool) -> Resolved {
        let Type::Class(class) = object.ty else {
            if object.ty != Type::Error {
                self.report_no_member(object.span, &field.name);
            }
            return Resolved::Error;
        };
        let id = self.intern(&field.name);
        let class_name = self.program.texts.get(self.program.classes[class].name).to_owned();
        if let Some(&(constant, public)) = self.class_constants.get(&(class, id))
            && let Some(value) = self.named_value(constant)
        {
            if !public && self.body.class != Some(class) {
                let declared = self.program.variables[constant].span;
                let message = format!("constant `{}` of class `{class_name}` is private", field.name);
                self.report(
                    Diagnostic::error(Code::PrivateMember, field.span, message, "used outside the class")
                        .with_label(declared, "declared private here"),
                );
            }
            self.note_variable(field.span, constant);
            return Resolved::Constant(value, Some(constant));
        }
        let Some(found) = self.program.classes[class].fields.iter().find(|candidate| candidate.name == id).cloned()
        else {
            let message = format!("class `{class_name}` has no field `{}`", field.name);
            let mut diagnostic = Diagnostic::error(Code::UnknownMember, field.span, message, "no such field");
            let fields = self.program.classes[class].fields.iter().map(|field| self.program.texts.get(field.name));
            if let Some(near) = nearest(&field.name, fields) {
                diagnostic = diagnostic.with_replacement(near);
            }
            self.report(diagnostic);
            return Resolved::Error;
        };
        if !found.public && self.body.class != Some(class) {
            self.report(
                Diagnostic::error(
                    Code::PrivateMember,
                    field.span,
                    format!("field `{}` of class `{class_name}` is private", field.name),
                    "used outside the class",
                )
                .with_label(found.span, "declared private here")
                .with_help("use a method of the class, or make the field public"),
            );
        }
        self.note_field(field.span, found.span, found.ty);
        // `this.f` is named like the bare field.
        let name = if through_this {
            id
        } else {
            let texts = &self.program.texts;
            let text = format!("{}{}.{}", texts.get(object.name), texts.get(object.last_indices), field.name);
            self.intern(&text)
        };
        Resolved::Place(Place {
            root: object.root,
            offset: object.offset + found.offset,
            indices: object.indices,
            name,
            last_indices: self.empty,
            span: object.span.to(field.span),
            symbol: (id, found.span),
            ty: found.ty,
        })
    }

    fn report_no_member(&mut self, span: Span, field: &str) {
        self.report(Diagnostic::error(
            Code::UnknownMember,
            span,
            format!("this is not an object and has no member `{field}`"),
            "not an object",
        ));
    }

    fn element_of(&mut self, array: &ast::Expr, index: &ast::Expr) -> Resolved {
        let place = match self.resolve(array) {
            Resolved::Place(place) => Some(place),
            Resolved::Constant(..) => {
                self.report(Diagnostic::error(
                    Code::WrongType,
                    array.span,
                    "a constant is not an array",
                    "cannot be indexed",
                ));
                None
            }
            Resolved::Error => None,
        };
        let written = print_expression(index);
        let index = self.expression(index);
        let index_span = index.span;
        if !matches!(index.ty, Scalar::Int | Scalar::Long | Scalar::Error) {
            let message = format!("an index must be an integer, this is of type {}", index.ty.name());
            self.report(Diagnostic::error(Code::WrongType, index_span, message, "not an integer"));
            return Resolved::Error;
        }
        let Some(mut place) = place else { return Resolved::Error };
        let Type::Array(id) = place.ty else {
            if place.ty != Type::Error {
                let name = self.program.texts.get(place.name).to_owned();
                self.report(
                    Diagnostic::error(
                        Code::WrongType,
                        array.span,
                        format!("`{name}` is not an array"),
                        "cannot be indexed",
                    )
                    .with_label(place.symbol.1, "declared here"),
                );
            }
            return Resolved::Error;
        };
        let element = self.program.arrays[id].element;
        let stride = self.program.size_of(element);
        let Some(length) = self.length_of(&place) else { return Resolved::Error };
        let text = format!("{}[{written}]", self.program.texts.get(place.last_indices));
        place.last_indices = self.intern(&text);
        place.indices.push(Index { value: index, length, stride });
        place.ty = element;
        Resolved::Place(place)
    }

    /// The number of elements of a place, if it is an array.
    pub(super) fn length_of(&self, place: &Place) -> Option<Length> {
        let Type::Array(id) = place.ty else { return None };
        match (self.program.arrays[id].length, place.root) {
            (Some(length), _) => Some(Length::Constant(length)),
            // Only a whole parameter is an array of unknown length.
            (None, Root::Variable(parameter)) => Some(Length::Parameter(parameter)),
            (None, Root::This) => None,
        }
    }
}
