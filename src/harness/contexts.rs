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

use crate::front::csm::syntax::ast::{self, Class, Function, Item, MemberKind, TypeKind};
use crate::front::csm::syntax::{self, Literals, literals};
use crate::source::{FileId, SourceMap, Span};

/// Contexts of two methods at most.
const MAX_CONTEXTS: usize = 16;

/// So many arguments are tried with the objects as they are made.
const ARGUMENTS: usize = 4;

/// A method is called at most so often before.
const MAX_CALLS: i64 = 1000;

/// So many numbers of calls are tried.
const REPEATS: usize = 2;

/// A program in which two methods run in parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The whole text.
    pub text: String,
    /// What was added to the file.
    pub main: String,
}

/// A function, or a method with its class.
#[derive(Clone, Copy)]
struct Callable<'a> {
    class: Option<&'a Class>,
    function: &'a Function,
}

impl Callable<'_> {
    fn class_name(&self) -> Option<&str> {
        self.class.map(|class| class.name.name.as_str())
    }
}

/// The methods of a file, which can be put into contexts.
#[derive(Debug)]
pub struct Methods<'a> {
    text: &'a str,
    parsed: ast::Program,
}

impl<'a> Methods<'a> {
    /// The methods of a file that compiles.
    #[must_use]
    pub fn new(sources: &'a SourceMap, file: FileId) -> Methods<'a> {
        Methods { text: sources.file(file).text(), parsed: syntax::parse(sources, file).program }
    }

    /// The contexts of two methods, given by the places of their names, the plainest first.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn contexts(&self, methods: [Span; 2]) -> Result<Vec<Context>, &'static str> {
        contexts(self.text, &self.parsed, methods)
    }
}

fn contexts(text: &str, file: &ast::Program, methods: [Span; 2]) -> Result<Vec<Context>, &'static str> {
    let all = callables(file);
    let find = |span: Span| all.iter().copied().find(|one| one.function.name.span == span);
    let (Some(first), Some(second)) = (find(methods[0]), find(methods[1])) else {
        return Err("an arm of a cobegin or parfor cannot be called by itself");
    };
    let writer = Writer { text, literals: literals(text) };
    for one in [first, second] {
        if one.function.parameters.iter().any(|parameter| writer.values(&parameter.ty.kind).is_empty()) {
            return Err("a parameter is an object of synchronisation or a thread");
        }
    }
    let preludes = all.iter().copied().filter(|one| {
        let same =
            one.class.is_some() && (one.class_name() == first.class_name() || one.class_name() == second.class_name());
        same && is_public(*one)
            && one.function.parameters.iter().all(|parameter| !writer.values(&parameter.ty.kind).is_empty())
    });
    let mut found: Vec<Context> = Vec::new();
    let plain = (0..ARGUMENTS).map(|turn| (None, turn));
    let numbers = writer.literals.integers.iter().filter(|&&number| (3..=MAX_CALLS).contains(&number));
    let repeats: Vec<i64> = numbers.take(REPEATS).map(|number| number - 1).collect();
    let preludes: Vec<Callable<'_>> = preludes.collect();
    let once = preludes.iter().flat_map(|&one| [(Some((one, 1)), 0), (Some((one, 1)), 1)]);
    let often = repeats.iter().flat_map(|&calls| preludes.iter().map(move |&one| (Some((one, calls)), 0)));
    let all: Vec<_> = plain.chain(interleave(once.collect(), often.collect())).collect();
    for (prelude, turn) in all {
        let main = writer.main([first, second], prelude, turn);
        if found.len() < MAX_CONTEXTS && !found.iter().any(|known| known.main == main) {
            let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
            found.push(Context { text: format!("{text}{gap}{main}"), main });
        }
    }
    Ok(found)
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

fn callables(file: &ast::Program) -> Vec<Callable<'_>> {
    let mut all = Vec::new();
    for item in &file.items {
        match item {
            Item::Function(function) => all.push(Callable { class: None, function }),
            Item::Class(class) => {
                let methods = class.members.iter().filter_map(|member| match &member.kind {
                    MemberKind::Method(function) => Some(function),
                    _ => None,
                });
                all.extend(methods.map(|function| Callable { class: Some(class), function }));
            }
            _ => {}
        }
    }
    all
}

fn is_public(one: Callable<'_>) -> bool {
    one.class.is_none_or(|class| {
        class.members.iter().any(|member| {
            member.public
                && matches!(&member.kind, MemberKind::Method(function) if std::ptr::eq(function, one.function))
        })
    })
}

struct Writer<'a> {
    text: &'a str,
    literals: Literals,
}

impl Writer<'_> {
    /// What may be passed as an argument of a type; none where nothing can.
    fn values(&self, ty: &TypeKind) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        let mut add = |value: String| {
            if !values.contains(&value) {
                values.push(value);
            }
        };
        match ty {
            TypeKind::Int => {
                let fits = self.literals.integers.iter().filter(|&&value| i32::try_from(value).is_ok());
                fits.filter(|&&value| value > 1).take(ARGUMENTS).for_each(|value| add(value.to_string()));
                ["1", "0", "-1", "2147483647"].into_iter().for_each(|value| add(value.to_owned()));
            }
            TypeKind::Long => {
                let large = self.literals.integers.iter().filter(|&&value| value > 1);
                large.take(ARGUMENTS).for_each(|value| add(format!("{value}L")));
                ["1L", "0L", "-1L", "9223372036854775807L"].into_iter().for_each(|value| add(value.to_owned()));
            }
            TypeKind::Double => {
                self.literals.doubles.iter().take(ARGUMENTS).for_each(|value| add(format!("{value:?}")));
                ["1.0", "0.0", "-1.0"].into_iter().for_each(|value| add(value.to_owned()));
            }
            TypeKind::Bool => ["true", "false"].into_iter().for_each(|value| add(value.to_owned())),
            TypeKind::String => {
                self.literals.texts.iter().take(ARGUMENTS).for_each(|text| add(text.clone()));
                add("\"\"".to_owned());
            }
            TypeKind::Class(name) => add(self.object("argument", name)),
            TypeKind::Void
            | TypeKind::Lock
            | TypeKind::Event
            | TypeKind::Barrier
            | TypeKind::Cond
            | TypeKind::Sem
            | TypeKind::Thread => {}
        }
        values
    }

    /// A name for an object of a class that the file does not use.
    fn object(&self, role: &str, class: &str) -> String {
        let mut name = format!("{role}_{class}");
        while self.text.contains(&name) {
            name.push('_');
        }
        name
    }

    fn call(&self, one: Callable<'_>, turn: &mut usize) -> String {
        let arguments: Vec<String> = one
            .function
            .parameters
            .iter()
            .map(|parameter| {
                let values = self.values(&parameter.ty.kind);
                *turn += 1;
                values.get((*turn - 1) % values.len().max(1)).cloned().unwrap_or_default()
            })
            .collect();
        let receiver = one.class.map_or_else(String::new, |class| self.object("receiver", &class.name.name) + ".");
        format!("{receiver}{}({});", one.function.name.name, arguments.join(", "))
    }

    /// The objects and the `main`; `turn` says which of the arguments come first.
    fn main(&self, pair: [Callable<'_>; 2], prelude: Option<(Callable<'_>, i64)>, turn: usize) -> String {
        let mut objects: Vec<String> = Vec::new();
        for one in pair.into_iter().chain(prelude.map(|prelude| prelude.0)) {
            let receiver = one.class.map(|class| ("receiver", class.name.name.clone()));
            let arguments = one.function.parameters.iter().filter_map(|parameter| match &parameter.ty.kind {
                TypeKind::Class(name) => Some(("argument", name.clone())),
                _ => None,
            });
            for (role, class) in receiver.into_iter().chain(arguments) {
                let line = format!("{class} {};\n", self.object(role, &class));
                if !objects.contains(&line) {
                    objects.push(line);
                }
            }
        }
        let mut next = turn;
        let before = match prelude {
            None => String::new(),
            Some((one, 1)) => format!("  {}\n", self.call(one, &mut next)),
            Some((one, calls)) => {
                let call = self.call(one, &mut next);
                format!("  for (int call = 0; call < {calls}; call++) {{\n    {call}\n  }}\n")
            }
        };
        next = turn;
        let [first, second] = pair.map(|one| self.call(one, &mut next));
        format!(
            "{}\nvoid main() {{\n{before}  cobegin\n    first:\n      {first}\n    second:\n      {second}\n  coend\n}}\n",
            objects.concat()
        )
    }
}
