//! Declarations of objects, with arguments for their constructors.
//!
//! **Input**: the classes of a file. **Output**: for each class, whether `main` can declare an object of it, and the necessary
//! declarations.
//!
//! **Algorithm**: a constructor gets the same values as methods. An object argument is declared before, one for each class, with
//! the name `part_Queue`; several constructors share it.
//!
//! **Soundness and limits**: there is no object of a class whose constructor is private, takes a synchronisation object or a
//! thread, or takes (perhaps through other classes) an object of its own class.

use super::methods::{Callable, Methods};
use super::writer::{ValueOrder, Writer};
use cssame_front::csm::syntax::ast::{Class, Function, Item, MemberKind, Program, TypeKind};
use cssame_source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The constructors of the classes of a file.
#[derive(Debug, Default)]
pub(super) struct Constructors<'a> {
    by_class: BTreeMap<&'a str, &'a Function>,
    /// Classes of which no object can be made.
    out_of_reach: BTreeSet<&'a str>,
}

impl<'a> Constructors<'a> {
    pub fn new(program: &'a Program) -> Constructors<'a> {
        let mut found = Constructors::default();
        let classes = program.items.iter().filter_map(|item| match item {
            Item::Class(class) => Some(class),
            _ => None,
        });
        for class in classes {
            if let Some((function, public)) = constructor(class) {
                found.by_class.insert(&class.name.name, function);
                if !public {
                    found.out_of_reach.insert(&class.name.name);
                }
            }
        }
        found.find_out_of_reach();
        found
    }

    /// An object can be made when all that its constructor takes can: what is never found so cannot be made.
    fn find_out_of_reach(&mut self) {
        let private = std::mem::take(&mut self.out_of_reach);
        let mut waiting = self.by_class.clone();
        waiting.retain(|class, _| !private.contains(class));
        let values = Writer::new("", ValueOrder::SmallFirst);
        loop {
            let is_ready = |function: &Function| {
                function.parameters.iter().all(|parameter| match &parameter.ty.kind {
                    TypeKind::Class(class) => {
                        !waiting.contains_key(class.as_str()) && !private.contains(class.as_str())
                    }
                    ty => !values.values(ty).is_empty(),
                })
            };
            let ready: Vec<&'a str> = waiting.iter().filter(|(_, of)| is_ready(of)).map(|(&class, _)| class).collect();
            if ready.is_empty() {
                break;
            }
            for class in ready {
                waiting.remove(class);
            }
        }
        self.out_of_reach = private.into_iter().chain(waiting.into_keys()).collect();
    }

    /// Whether arguments for a call can be made: values, and objects of classes, its receiver among them.
    pub fn can_call(&self, one: Callable<'_>, writer: &Writer<'_>) -> bool {
        let has_arguments = |ty: &TypeKind| match ty {
            TypeKind::Class(class) => self.can_be_made(class),
            _ => !writer.values(ty).is_empty(),
        };
        one.class_name().is_none_or(|class| self.can_be_made(class))
            && one.function.parameters.iter().all(|parameter| has_arguments(&parameter.ty.kind))
    }

    /// The constructors as something that calls functions.
    pub fn calls<'b>(&self, methods: &'b Methods<'_>) -> impl Iterator<Item = Callable<'b>> {
        let classes = methods.parsed.items.iter().filter_map(|item| match item {
            Item::Class(class) => Some(class),
            _ => None,
        });
        let with_constructor = classes.filter_map(|class| Some((class, constructor(class)?.0)));
        with_constructor.map(|(class, function)| Callable { class: Some(class), function, public: false })
    }

    /// Whether `main` can declare an object of a class.
    pub fn can_be_made(&self, class: &str) -> bool {
        !self.out_of_reach.contains(class)
    }

    /// The constructors of classes of which no object can be made, by class.
    pub fn out_of_reach(&self) -> impl Iterator<Item = (&'a str, &'a Function)> {
        self.out_of_reach.iter().filter_map(|class| Some((*class, *self.by_class.get(class)?)))
    }

    /// Adds the declaration of an object, without its `;`, and before it those of the objects that it is made of, unless they
    /// are there.
    pub fn declare(
        &self,
        (class, name): (&str, &str),
        writer: &Writer<'_>,
        value: &dyn Fn(&TypeKind) -> String,
        into: &mut Vec<String>,
    ) {
        let Some(function) = self.by_class.get(class) else {
            into.push(format!("{class} {name}"));
            return;
        };
        let mut arguments = Vec::new();
        for parameter in &function.parameters {
            arguments.push(match &parameter.ty.kind {
                TypeKind::Class(part) => {
                    let name = writer.object("part", part);
                    if !into.iter().any(|line| line.starts_with(&format!("{part} {name}"))) {
                        self.declare((part, &name), writer, value, into);
                    }
                    name
                }
                ty => value(ty),
            });
        }
        into.push(match arguments.is_empty() {
            true => format!("{class} {name}"),
            false => format!("{class} {name}({})", arguments.join(", ")),
        });
    }
}

/// The constructor of a class, and whether it is public.
fn constructor(class: &Class) -> Option<(&Function, bool)> {
    class.members.iter().find_map(|member| match &member.kind {
        MemberKind::Constructor(function) => Some((function, member.public)),
        _ => None,
    })
}

impl Methods<'_> {
    pub(super) fn constructors(&self) -> Constructors<'_> {
        Constructors::new(&self.parsed)
    }

    /// The declarations, without their `;`, that make an object of a class.
    #[must_use]
    pub fn object_declarations(&self, class: &str, name: &str) -> Vec<String> {
        let writer = self.writer(ValueOrder::SmallFirst);
        let value = |ty: &TypeKind| writer.values(ty).into_iter().next().unwrap_or_default();
        let mut lines = Vec::new();
        self.constructors().declare((class, name), &writer, &value, &mut lines);
        lines
    }

    /// The classes of which no object can be made, with the places of their constructors.
    #[must_use]
    pub fn classes_out_of_reach(&self) -> Vec<(&str, Span)> {
        self.constructors().out_of_reach().map(|(class, function)| (class, function.name.span)).collect()
    }
}
