//! The methods and functions of a file.
//!
//! **Input**: the text of a file that compiles. **Output**: [`Methods`], which makes contexts and drivers of them, and
//! [`Callable`]s, in the order of the text.

use crate::front::csm::syntax;
use crate::front::csm::syntax::ast::{self, Class, Function, Item, MemberKind};
use crate::source::{FileId, SourceMap};

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
        Methods { text: sources.file(file).text(), parsed: syntax::parse(sources, file).program }
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
