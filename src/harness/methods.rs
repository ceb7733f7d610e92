//! The methods and functions of a file.
//!
//! **Input**: the text of a file that compiles. **Output**: [`Methods`], which builds contexts and drivers from them, and
//! [`Callable`]s, in the order of the text.

use super::enums::{most_enumerators, resolve_enums};
use cssame_front::csm::syntax;
use cssame_front::csm::syntax::ast::{self, Class, Declaration, Function, Item, MemberKind, StmtKind, TypeKind};
use cssame_front::csm::syntax::{Literals, literals};
use cssame_source::{FileId, SourceMap};

/// So many enumerators are tried as arguments.
const MAX_ENUMERATORS: usize = 8;

/// The methods of a file, which can be put into contexts and drivers.
#[derive(Debug)]
pub struct Methods<'a> {
    pub(super) text: &'a str,
    pub(super) parsed: ast::Program,
}

impl<'a> Methods<'a> {
    /// The methods of a file that compiles.
    #[must_use]
    pub fn new(sources: &'a SourceMap, file: FileId) -> Methods<'a> {
        let mut parsed = syntax::parse(sources, file).program;
        resolve_enums(&mut parsed);
        Methods { text: sources.file(file).text(), parsed }
    }

    /// The numbers and strings of the file, and the numbers of its enumerators.
    pub(super) fn literals(&self) -> Literals {
        let mut found = literals(self.text);
        for number in 0..most_enumerators(&self.parsed).min(MAX_ENUMERATORS) as i64 {
            if !found.integers.contains(&number) {
                found.integers.push(number);
            }
        }
        found
    }

    /// All of them, in the order of the text.
    pub(super) fn callables(&self) -> Vec<Callable<'_>> {
        let mut all = Vec::new();
        for item in &self.parsed.items {
            match item {
                Item::Function(function) => all.push(Callable { class: None, function, public: true }),
                Item::Class(class) => {
                    let methods = class.members.iter().filter_map(|member| match &member.kind {
                        MemberKind::Method(function) => Some((function, member.public)),
                        _ => None,
                    });
                    all.extend(methods.map(|(function, public)| Callable { class: Some(class), function, public }));
                }
                _ => {}
            }
        }
        all
    }

    /// Whether the file has a `main`, or statements at top level, which are one.
    #[must_use]
    pub fn has_main(&self) -> bool {
        self.parsed.items.iter().any(|item| match item {
            Item::Function(function) => function.name.name == "main",
            Item::Statement(statement) => !matches!(statement.kind, StmtKind::Declare(_)),
            _ => false,
        })
    }

    /// Whether `print` is what the language has; false where a function of the file has taken its place.
    #[must_use]
    pub fn prints(&self) -> bool {
        let takes_its_place = |item: &Item| match item {
            Item::Function(function) => function.name.name == "print",
            Item::Extern(function) => function.name.name == "print",
            _ => false,
        };
        !self.parsed.items.iter().any(takes_its_place)
    }

    /// Whether the file has variables of its own that can be printed.
    pub(super) fn has_globals(&self) -> bool {
        self.parsed.items.iter().any(|item| declaration(item).is_some())
    }

    /// The variables of the file that can be printed.
    #[must_use]
    pub fn globals(&self) -> Vec<&str> {
        self.parsed.items.iter().filter_map(declaration).flat_map(names).collect()
    }

    /// The public fields of a class that can be printed.
    #[must_use]
    pub fn public_fields(&self, class: &str) -> Vec<&str> {
        let classes = self.parsed.items.iter().filter_map(|item| match item {
            Item::Class(found) if found.name.name == class => Some(found),
            _ => None,
        });
        let public = classes.flat_map(|class| &class.members).filter(|member| member.public);
        let fields = public.filter_map(|member| match &member.kind {
            MemberKind::Field(field) if is_printable(&field.ty.kind) && !field.constant => Some(field),
            _ => None,
        });
        fields.flat_map(names).collect()
    }
}

/// The variables that a declaration at top level has, if they are data.
fn declaration(item: &Item) -> Option<&Declaration> {
    match item {
        Item::Statement(statement) => match &statement.kind {
            StmtKind::Declare(declaration) if is_printable(&declaration.ty.kind) && !declaration.constant => {
                Some(declaration)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The names of a declaration that are no arrays.
fn names(declaration: &Declaration) -> impl Iterator<Item = &str> {
    let single = declaration.declarators.iter().filter(|one| one.sizes.is_empty());
    single.map(|declarator| declarator.name.name.as_str())
}

pub(super) fn is_printable(ty: &TypeKind) -> bool {
    matches!(ty, TypeKind::Int | TypeKind::Long | TypeKind::Bool | TypeKind::Double | TypeKind::String)
}

/// A function, or a method with its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Callable<'a> {
    pub class: Option<&'a Class>,
    pub function: &'a Function,
    /// Whether `main` may call it.
    pub public: bool,
}

impl<'a> Callable<'a> {
    pub fn class_name(&self) -> Option<&'a str> {
        self.class.map(|class| class.name.name.as_str())
    }

    /// `Vector.add`, or `add` for a function.
    pub fn name(&self) -> String {
        let name = &self.function.name.name;
        self.class_name().map_or_else(|| name.clone(), |class| format!("{class}.{name}"))
    }

    /// Whether the two are one method.
    pub fn is(&self, other: &Callable<'_>) -> bool {
        self.function.name.span == other.function.name.span
    }
}
