//! The functions and methods that `main` may call, as plain data: for modules that write their own programs around a file.
//!
//! **Input**: the methods and functions of a file. **Output**: a [`Signature`] for each function and each public method, in the
//! order of the text; the numbers and strings of the file; and the file followed by a [`MainText`].

use super::effects::{Effects, effects};
use super::methods::{Callable, Methods};
use super::writer::{MainText, ValueOrder};
use cssame_front::csm::syntax::ast::TypeKind;
use cssame_source::Span;

/// A type that has values which can be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueType {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// `true` or `false`.
    Bool,
    /// IEEE double.
    Double,
    /// Text.
    String,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A value.
    Value(ValueType),
    /// An object of that class.
    Object(String),
    /// An object of synchronisation, a thread, or an object that cannot be made.
    Other,
}

/// A function or a public method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The class of a method.
    pub class: Option<String>,
    /// Its own name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// What it takes.
    pub parameters: Vec<ParameterType>,
    /// What it gives; none for `void`, and for a thread.
    pub result: Option<ValueType>,
    /// What it may do to what it does not own.
    pub effects: Effects,
}

impl Signature {
    /// `Vector.add`, or `add` for a function.
    #[must_use]
    pub fn full_name(&self) -> String {
        self.class.as_ref().map_or_else(|| self.name.clone(), |class| format!("{class}.{}", self.name))
    }

    /// Whether arguments for it can be written down.
    #[must_use]
    pub fn is_callable(&self) -> bool {
        !self.parameters.contains(&ParameterType::Other)
    }
}

/// The literals of a file, each once, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileValues {
    /// Integers; negative ones stand without their sign.
    pub integers: Vec<i64>,
    /// Doubles.
    pub doubles: Vec<f64>,
    /// Strings with their quotes.
    pub texts: Vec<String>,
}

impl Methods<'_> {
    /// What `main` may call.
    #[must_use]
    pub fn signatures(&self) -> Vec<Signature> {
        let all = self.callables();
        let effects = effects(&all);
        let constructors = self.constructors();
        let can_be_made = |one: &&Callable<'_>| one.class_name().is_none_or(|class| constructors.can_be_made(class));
        let public = all.iter().filter(|one| one.public).filter(can_be_made);
        public
            .map(|one| Signature {
                class: one.class_name().map(str::to_owned),
                name: one.function.name.name.clone(),
                span: one.function.name.span,
                parameters: one
                    .function
                    .parameters
                    .iter()
                    .map(|parameter| match parameter_type(&parameter.ty.kind) {
                        ParameterType::Object(class) if !constructors.can_be_made(&class) => ParameterType::Other,
                        ty => ty,
                    })
                    .collect(),
                result: value_type(&one.function.result.kind),
                effects: effects.get(one.function.name.name.as_str()).copied().unwrap_or_default(),
            })
            .collect()
    }

    /// The numbers and strings of the file, and the numbers of its enumerators.
    #[must_use]
    pub fn values(&self) -> FileValues {
        let found = self.literals();
        FileValues { integers: found.integers, doubles: found.doubles, texts: found.texts }
    }

    /// A name that begins so, and that the file does not use.
    #[must_use]
    pub fn new_name(&self, name: &str) -> String {
        let is_part = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_';
        let mut name = name.to_owned();
        while self.text.split(|symbol| !is_part(symbol)).any(|word| word == name) {
            name.push('_');
        }
        name
    }

    /// Names for threads: these, or others where the file makes threads of its own that may have these names.
    #[must_use]
    pub fn thread_names(&self, names: [&str; 2]) -> [String; 2] {
        let makes_threads = ["cobegin", "spawn"].iter().any(|word| self.text.contains(word));
        names.map(|name| if makes_threads { self.new_name(name) } else { name.to_owned() })
    }

    /// The file with a `main` behind it, and the number of lines before that.
    #[must_use]
    pub fn with_main(&self, main: &MainText) -> (String, u32) {
        let main = main.text();
        let text = self.writer(ValueOrder::SmallFirst).append(&main);
        let before = &text[..text.len() - main.len()];
        let lines = before.matches('\n').count() as u32;
        (text, lines)
    }
}

fn parameter_type(ty: &TypeKind) -> ParameterType {
    match ty {
        TypeKind::Class(name) => ParameterType::Object(name.clone()),
        _ => value_type(ty).map_or(ParameterType::Other, ParameterType::Value),
    }
}

fn value_type(ty: &TypeKind) -> Option<ValueType> {
    match ty {
        TypeKind::Int => Some(ValueType::Int),
        TypeKind::Long => Some(ValueType::Long),
        TypeKind::Bool => Some(ValueType::Bool),
        TypeKind::Double => Some(ValueType::Double),
        TypeKind::String => Some(ValueType::String),
        TypeKind::Void
        | TypeKind::Lock
        | TypeKind::ReentrantLock
        | TypeKind::RwLock
        | TypeKind::Event
        | TypeKind::Barrier
        | TypeKind::Cond
        | TypeKind::Sem
        | TypeKind::Thread
        | TypeKind::Class(_) => None,
    }
}
