//! Contexts for two methods of a file without `main`: programs in which they run in parallel.
//!
//! **Input**: the text of the file, its syntax tree, and where the names of the two methods stand.
//!
//! **Output**: [`Context`]s: the text with a `main` behind it. The text before stays what it is, so that all its places are
//! those of the file.
//!
//! **Algorithm**: each `main` makes the objects, calls some method to bring them into another state, and then calls both
//! methods in parallel, those of one class on one object.
//! 1. The arguments of calls are the literals of the file and the boundary values of each type, in turn. Some are tried
//!    with the objects as they are made.
//! 2. Each public method is called once before, with two of the arguments.
//! 3. Each public method is called so often before that one call more makes a number of the file: a counter is then about to
//!    reach its limit. Steps 2 and 3 alternate, so that both come in where the number of contexts is bounded.
//!
//! **Soundness and limits**: an execution of a context is one of a program that uses the classes, but it may break rules of
//! use that stand nowhere in the text. There are other contexts. Objects of synchronisation and threads are no arguments,
//! and arms of a `cobegin` have no contexts, since nobody can call them.

use super::methods::{Callable, Methods};
use super::writer::{ARGUMENTS, MainText, ValueOrder, Writer, call, labels, repeated};
use crate::front::csm::syntax::ast::TypeKind;
use crate::source::Span;

/// Contexts of two methods at most.
const MAX_CONTEXTS: usize = 16;

/// A program in which two methods run in parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The whole text.
    pub text: String,
    /// What was added to the file.
    pub main: String,
}

impl Methods<'_> {
    /// The contexts of two methods, given by the places of their names, the plainest first.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn contexts(&self, methods: [Span; 2]) -> Result<Vec<Context>, &'static str> {
        let all = self.callables();
        let find = |span: Span| all.iter().copied().find(|one| one.function.name.span == span);
        let (Some(first), Some(second)) = (find(methods[0]), find(methods[1])) else {
            return Err("an arm of a cobegin or parfor cannot be called by itself");
        };
        let writer = Writer::new(self.text, ValueOrder::LiteralsFirst);
        let callable = |one: &Callable<'_>| {
            one.function.parameters.iter().all(|parameter| writer.has_arguments(&parameter.ty.kind))
        };
        if !callable(&first) || !callable(&second) {
            return Err("a parameter is an object of synchronisation or a thread");
        }
        let preludes = all.iter().copied().filter(|one| {
            let same = one.class.is_some()
                && (one.class_name() == first.class_name() || one.class_name() == second.class_name());
            same && one.public && callable(one)
        });
        let mut found: Vec<Context> = Vec::new();
        for (prelude, turn) in settings(&preludes.collect::<Vec<_>>(), &writer.repeats()) {
            let main = main(&writer, [first, second], prelude, turn);
            if found.len() < MAX_CONTEXTS && !found.iter().any(|known| known.main == main) {
                found.push(Context { text: writer.append(&main), main });
            }
        }
        Ok(found)
    }
}

/// What is called before, how often, and which of the arguments come first.
type Setting<'a> = (Option<(Callable<'a>, i64)>, usize);

fn settings<'a>(preludes: &[Callable<'a>], repeats: &[i64]) -> Vec<Setting<'a>> {
    let plain = (0..ARGUMENTS).map(|turn| (None, turn));
    let once = preludes.iter().flat_map(|&one| [(Some((one, 1)), 0), (Some((one, 1)), 1)]);
    let often = repeats.iter().flat_map(|&calls| preludes.iter().map(move |&one| (Some((one, calls)), 0)));
    plain.chain(interleave(once.collect(), often.collect())).collect()
}

/// One of each in turn, so that both come in where there are many.
fn interleave<T>(first: Vec<T>, second: Vec<T>) -> Vec<T> {
    let mut all = Vec::new();
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        let next = [first.next(), second.next()];
        if next.iter().all(Option::is_none) {
            return all;
        }
        all.extend(next.into_iter().flatten());
    }
}

/// The objects and the `main`; `turn` says which of the arguments come first.
fn main(writer: &Writer<'_>, pair: [Callable<'_>; 2], prelude: Option<(Callable<'_>, i64)>, turn: usize) -> String {
    let mut objects: Vec<String> = Vec::new();
    for one in pair.into_iter().chain(prelude.map(|prelude| prelude.0)) {
        let receiver = one.class_name().map(|class| ("receiver", class));
        let arguments = one.function.parameters.iter().filter_map(|parameter| match &parameter.ty.kind {
            TypeKind::Class(name) => Some(("argument", name.as_str())),
            _ => None,
        });
        for (role, class) in receiver.into_iter().chain(arguments) {
            let line = format!("{class} {};", writer.object(role, class));
            if !objects.contains(&line) {
                objects.push(line);
            }
        }
    }
    let mut next = turn;
    let before = prelude.map(|(one, calls)| repeated(&write_call(writer, one, &mut next), calls));
    next = turn;
    let calls = pair.map(|one| vec![write_call(writer, one, &mut next) + ";"]);
    MainText { objects, before: before.unwrap_or_default(), labels: labels(), calls, after: Vec::new() }.text()
}

fn write_call(writer: &Writer<'_>, one: Callable<'_>, turn: &mut usize) -> String {
    let argument = |ty: &TypeKind| {
        *turn += 1;
        match ty {
            TypeKind::Class(name) => writer.object("argument", name),
            _ => {
                let values = writer.values(ty);
                values.get((*turn - 1) % values.len().max(1)).cloned().unwrap_or_default()
            }
        }
    };
    let arguments: Vec<String> =
        one.function.parameters.iter().map(|parameter| &parameter.ty.kind).map(argument).collect();
    let receiver = one.class_name().map(|class| writer.object("receiver", class));
    call(receiver.as_deref(), one, &arguments)
}
