//! Names: for each name in the text, its declaration.
//!
//! **Input**: the results of [`check`](super::check). **Output**: [`Name`]s in the order of the text, including those of
//! declarations.
//!
//! **Soundness and limits**: unresolved names, the keywords of the language and the operations on synchronisation objects are not
//! included. A program with errors has the names that could be resolved.

use super::item::Checker;
use super::{Checked, Type, Variable, VariableId, VariableKind};
use cssame_source::names::{Name, NameKind};
use cssame_source::texts::TextId;
use cssame_source::{SourceMap, Span};
use rustc_hash::FxHashMap;

impl Checker<'_> {
    /// Notes what a name means.
    pub(super) fn note(&mut self, span: Span, declared: Span, kind: NameKind) {
        self.names.push(Name { span, declared, kind });
    }

    /// Notes that a name means a variable.
    pub(super) fn note_variable(&mut self, span: Span, variable: VariableId) {
        let of = &self.program.variables[variable];
        self.note(span, of.span, kind_of(&self.program, of));
    }

    /// Notes that a name means a field of that type.
    pub(super) fn note_field(&mut self, span: Span, declared: Span, ty: Type) {
        let kind = if is_object(&self.program, ty) { NameKind::Object } else { NameKind::Field };
        self.note(span, declared, kind);
    }

    /// Notes that a name means a function or a method.
    pub(super) fn note_function(&mut self, span: Span, function: super::FunctionId) {
        let of = &self.program.functions[function];
        let kind = if of.method_of.is_some() { NameKind::Method } else { NameKind::Function };
        self.note(span, of.span, kind);
    }
}

impl Checked {
    /// All names of the program.
    #[must_use]
    pub fn names(&self, sources: &SourceMap) -> Vec<Name> {
        let mut names = self.uses.clone();
        let program = &self.program;
        // What the checker has made by itself has a place that reads otherwise, such as a barrier that is only a count.
        let mut declare = |name: TextId, span: Span, kind| {
            let name = program.texts.get(name);
            let last = name.rsplit('.').next().unwrap_or(name);
            if sources.text(span) == last {
                names.push(Name { span, declared: span, kind });
            }
        };
        for class in program.classes.iter() {
            declare(class.name, class.span, NameKind::Class);
            for field in &class.fields {
                let kind = if is_object(program, field.ty) { NameKind::Object } else { NameKind::Field };
                declare(field.name, field.span, kind);
            }
        }
        for variable in program.variables.iter() {
            declare(variable.name, variable.span, kind_of(program, variable));
        }
        for function in program.functions.iter() {
            let kind = if function.method_of.is_some() { NameKind::Method } else { NameKind::Function };
            declare(function.name, function.span, kind);
        }
        // A constructor has the name of its class, which comes first among the kinds; a name may have been resolved twice.
        names.sort_by_key(|name| (name.span, name.kind));
        names.dedup_by_key(|name| name.span);
        // An input with a range is a variable to those who use it.
        let declared = names.iter().filter(|name| name.span == name.declared).map(|name| (name.span, name.kind));
        let kinds: FxHashMap<Span, NameKind> = declared.collect();
        for name in &mut names {
            name.kind = kinds.get(&name.declared).copied().unwrap_or(name.kind);
        }
        names
    }
}

fn kind_of(program: &super::Program, variable: &Variable) -> NameKind {
    match variable.kind {
        _ if is_object(program, variable.ty) => NameKind::Object,
        VariableKind::Constant => NameKind::Constant,
        VariableKind::Parameter | VariableKind::ReferenceParameter => NameKind::Parameter,
        VariableKind::Global | VariableKind::Local => NameKind::Variable,
    }
}

/// Whether a type is one of synchronisation objects, or of arrays of them.
fn is_object(program: &super::Program, ty: Type) -> bool {
    !matches!(program.elements_of(ty).0, Type::Scalar(_) | Type::Class(_) | Type::Array(_) | Type::Error)
}
