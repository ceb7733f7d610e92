//! The closing of a file without `main`: one program that runs everything that `main` may call in parallel. It is analysed, and
//! never executed.
//!
//! **Input**: the text of the file and its syntax tree. **Output**: a [`Closing`]: the text followed by a `main`. The original
//! text is unchanged, so that all its places are those of the file.
//!
//! **Algorithm**
//! 1. The entries are the public methods, and the functions that nothing else in the file calls. If functions call each other in
//!    a cycle that no entry reaches, the first of them is an entry too. The methods of a class are not entries if another class
//!    has a field of it and it has no synchronisation object itself: its owner protects it.
//! 2. Each entry has a thread. In it, the receiver of a method is the first object of its class, and an argument of that class is
//!    the second one. In further threads, the two objects of classes that are parameters are exchanged, as `second.m(first)`
//!    beside `first.m(second)`. Finally, each entry has one more thread that calls it in the same way as the first thread.
//! 3. Values are results of extern functions, so that they decide no branch.
//! 4. The name of a thread is that of its entry: `add`, the second `add_2`.
//!
//! **Soundness and limits**: other programs can do more: one object passed twice, three objects, several calls in a row by one
//! thread. Methods that take a synchronisation object or a thread are left out, and so are all threads from [`MAX_THREADS`] on.

use super::arrangement::{Object, exchanges, objects};
use super::effects::functions_called;
use super::methods::{Callable, Methods};
use super::writer::{ValueOrder, Writer, call};
use cssame_front::csm::syntax::ast::{Class, Item, MemberKind, TypeKind};
use std::collections::BTreeSet;

/// The threads of a closing at most.
pub const MAX_THREADS: usize = 1024;

/// A file with a `main` in which what it offers runs in parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The whole text.
    pub text: String,
    /// The methods and functions that run: `Vector.add`, or `add` for a function.
    pub methods: Vec<String>,
    /// The objects that they share.
    pub objects: Vec<SharedObject>,
    /// Whether [`MAX_THREADS`] has left calls out.
    pub has_more: bool,
}

/// An object that was added to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedObject {
    /// Its name, which the file does not use.
    pub name: String,
    /// Its class.
    pub class: String,
}

impl Methods<'_> {
    /// The closing of a file without `main`; none where it has one, or where nothing of it can be called.
    #[must_use]
    pub fn closing(&self) -> Option<Closing> {
        if self.has_main() {
            return None;
        }
        let (writer, constructors) = (self.writer(ValueOrder::SmallFirst), self.constructors());
        let entries = self.entries(&writer);
        let (calls, has_more) = calls(&entries);
        // The first round has each entry once; what is cut off there is not looked at.
        let methods = entries.iter().take(calls.len()).map(Callable::name).collect();
        let used: BTreeSet<Object<'_>> = calls.iter().flat_map(|(_, objects)| objects.iter().copied()).collect();
        let name = |object: &Object<'_>| writer.object(object.role(), object.class);
        let value = self.new_name("any_value");
        let mut main = format!("extern int {value}() in 0..1;\n");
        let any_value = |ty: &TypeKind| match ty {
            TypeKind::String => format!("{value}() == 0 ? \"\" : \"a\""),
            _ => format!("{value}()"),
        };
        let mut declared = Vec::new();
        for object in &used {
            constructors.declare((object.class, &name(object)), &writer, &any_value, &mut declared);
        }
        declared.iter().for_each(|line| main += &format!("{line};\n"));
        main += "\nvoid main() {\n  cobegin\n";
        let mut labels = BTreeSet::new();
        for (one, objects) in &calls {
            let mut objects = objects.iter().map(name);
            let receiver = one.class.and_then(|_| objects.next());
            let arguments = one.function.parameters.iter().map(|parameter| match &parameter.ty.kind {
                TypeKind::Class(_) => objects.next().unwrap_or_default(),
                ty => any_value(ty),
            });
            let arguments: Vec<String> = arguments.collect();
            let label = new_label(&entries, *one, &mut labels);
            main += &format!("    {label}:\n      {};\n", call(receiver.as_deref(), *one, &arguments));
        }
        main += "  coend\n}\n";
        let shared = |object: &Object<'_>| SharedObject { name: name(object), class: object.class.to_owned() };
        let objects = used.iter().map(shared).collect();
        (!calls.is_empty()).then(|| Closing { text: writer.append(&main), methods, objects, has_more })
    }

    /// What `main` may call and nobody else is there to call.
    fn entries(&self, writer: &Writer<'_>) -> Vec<Callable<'_>> {
        let (all, constructors) = (self.callables(), self.constructors());
        let can_be_called = |one: &Callable<'_>| one.public && constructors.can_call(*one, writer);
        let parts = self.parts();
        let calls: Vec<Vec<usize>> = all.iter().map(|&one| called_by(one, &all)).collect();
        let by_constructors: Vec<usize> = constructors.calls(self).flat_map(|one| called_by(one, &all)).collect();
        let is_called = |at: usize| {
            by_constructors.contains(&at)
                || calls.iter().enumerate().any(|(other, called)| other != at && called.contains(&at))
        };
        let mut is_entry: Vec<bool> = (0..all.len())
            .map(|at| match all[at].class_name() {
                Some(class) => all[at].public && !parts.contains(class),
                None => !is_called(at),
            })
            .collect();
        let mut reached = vec![false; all.len()];
        let mut waiting: Vec<usize> = (0..all.len()).filter(|&at| is_entry[at] || all[at].class.is_some()).collect();
        waiting.extend(&by_constructors);
        for at in 0..=all.len() {
            while let Some(next) = waiting.pop() {
                if !std::mem::replace(&mut reached[next], true) {
                    waiting.extend(&calls[next]);
                }
            }
            if at < all.len() && !reached[at] {
                is_entry[at] = true;
                waiting.push(at);
            }
        }
        let entries = all.iter().zip(is_entry).filter(|(one, is_entry)| *is_entry && can_be_called(one));
        entries.map(|(&one, _)| one).collect()
    }

    /// Classes without an object of synchronisation that are fields of other classes.
    fn parts(&self) -> BTreeSet<&str> {
        let classes: Vec<&Class> = self
            .parsed
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Class(class) => Some(class),
                _ => None,
            })
            .collect();
        let has_locks = |name: &str| {
            let of = classes.iter().filter(|class| class.name.name == name);
            of.flat_map(|class| fields(class)).any(|kind| {
                matches!(kind, TypeKind::Lock | TypeKind::Event | TypeKind::Barrier | TypeKind::Cond | TypeKind::Sem)
            })
        };
        let owned = classes.iter().flat_map(|class| fields(class)).filter_map(|kind| match kind {
            TypeKind::Class(name) => Some(name.as_str()),
            _ => None,
        });
        owned.filter(|name| !has_locks(name)).collect()
    }
}

/// The types of the fields of a class.
fn fields(class: &Class) -> impl Iterator<Item = &TypeKind> {
    class.members.iter().filter_map(|member| match &member.kind {
        MemberKind::Field(field) => Some(&field.ty.kind),
        _ => None,
    })
}

/// The functions of the file that a method or function calls.
fn called_by(one: Callable<'_>, all: &[Callable<'_>]) -> Vec<usize> {
    let names = functions_called(one);
    let hidden = |name: &str| {
        let same = |other: &&Callable<'_>| other.class.is_some() && other.class_name() == one.class_name();
        all.iter().filter(same).any(|other| other.function.name.name == name)
    };
    let is_called = |other: &Callable<'_>| {
        let name = other.function.name.name.as_str();
        other.class.is_none() && names.contains(name) && !hidden(name)
    };
    (0..all.len()).filter(|&at| is_called(&all[at])).collect()
}

/// The calls with their objects, one for each thread, and whether some were left out.
fn calls<'a>(entries: &[Callable<'a>]) -> (Vec<(Callable<'a>, Vec<Object<'a>>)>, bool) {
    let parameters = entries.iter().flat_map(|one| &one.function.parameters);
    let taken: BTreeSet<&str> = parameters
        .filter_map(|parameter| match &parameter.ty.kind {
            TypeKind::Class(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let plain = || entries.iter().map(|&one| (one, objects(one, &[])));
    let exchanged = entries.iter().flat_map(|&one| {
        let first = objects(one, &[]);
        let sets = exchanges(one).into_iter().filter(|set| set.iter().all(|class| taken.contains(class)));
        let others = sets.map(|set| objects(one, &set)).collect::<Vec<_>>().into_iter();
        others
            .filter(move |objects| objects.iter().any(|object| first.contains(object)))
            .map(move |objects| (one, objects))
    });
    let mut calls: Vec<_> = plain().chain(exchanged).chain(plain()).take(MAX_THREADS + 1).collect();
    let has_more = calls.len() > MAX_THREADS;
    calls.truncate(MAX_THREADS);
    (calls, has_more)
}

/// `add`, or `Vector_add` where another entry is called so too; with a number where another thread is called so.
fn new_label(entries: &[Callable<'_>], one: Callable<'_>, labels: &mut BTreeSet<String>) -> String {
    let name = &one.function.name.name;
    let same = entries.iter().filter(|other| other.function.name.name == *name).count();
    let plain = match one.class_name() {
        Some(class) if same > 1 => format!("{class}_{name}"),
        _ => name.clone(),
    };
    let mut label = plain.clone();
    let mut number = 2;
    while !labels.insert(label.clone()) {
        label = format!("{plain}_{number}");
        number += 1;
    }
    label
}
