//! Contexts for two methods of a file without `main`: programs in which they run in parallel.
//!
//! **Input**: the text of the file, its syntax tree, and the positions of the names of the two methods.
//!
//! **Output**: [`Context`]s: the text followed by a `main`. The original text is unchanged, so that all its places are those of
//! the file.
//!
//! **Algorithm**: each `main` makes the objects, makes some calls to bring them into another state, and then calls both methods
//! in parallel; methods of one class are called on one object. [`PairContexts`] provides the possible preceding calls, one by
//! one, and writes the programs. The module that executes them chooses the sequences of calls (`pairs` of the layer `explore`).
//! 1. The arguments of calls are the literals of the file and the boundary values of each type, in turn. If parameters are used
//!    as an index, there are two additional choices, in which all of them are 1 or 0, so that both methods reach one element.
//! 2. Each public method may be called before, with two choices of arguments.
//! 3. Each public method may be called before so often that one more call reaches a number of the file: a counter is then about
//!    to reach its limit.
//!
//! **Soundness and limits**: an execution of a context belongs to a program that uses the classes, but it may break rules of use
//! that the text does not state. There are other contexts. Synchronisation objects and threads are not arguments. Arms of a
//! `cobegin` have no contexts, since nothing can call them.

use super::construction::Constructors;
use super::methods::{Callable, Methods};
use super::writer::{ARGUMENTS, MainText, ValueOrder, Writer, call, labels, repeated};
use cssame_front::csm::syntax::ast::TypeKind;
use cssame_source::Span;

/// The elements that both methods take in some of the choices.
const ELEMENTS: [&str; 2] = ["1", "0"];

/// A program in which two methods run in parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The whole text.
    pub text: String,
    /// What was added to the file.
    pub main: String,
}

/// The contexts of two methods.
#[derive(Debug)]
pub struct PairContexts<'a> {
    writer: Writer<'a>,
    constructors: Constructors<'a>,
    pair: [Callable<'a>; 2],
    /// Of each of the two, whether its parameters are used as an index.
    indices: [Vec<bool>; 2],
    /// The methods that may be called before.
    before: Vec<Callable<'a>>,
}

impl Methods<'_> {
    /// The contexts of two methods, given by the places of their names.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn contexts(&self, methods: [Span; 2]) -> Result<PairContexts<'_>, &'static str> {
        let all = self.callables();
        let find = |span: Span| all.iter().copied().find(|one| one.function.name.span == span);
        let (Some(first), Some(second)) = (find(methods[0]), find(methods[1])) else {
            return Err("an arm of a cobegin or parfor cannot be called by itself");
        };
        let writer = self.writer(ValueOrder::LiteralsFirst);
        let constructors = self.constructors();
        let callable = |one: &Callable<'_>| constructors.can_call(*one, &writer);
        let is_out_of_reach =
            |one: &Callable<'_>| one.class_name().is_some_and(|class| !constructors.can_be_made(class));
        if is_out_of_reach(&first) || is_out_of_reach(&second) {
            return Err("the constructor of the class is private, or takes what cannot be made");
        }
        if !callable(&first) || !callable(&second) {
            return Err("a parameter is an object of synchronisation, a thread, or an object that cannot be made");
        }
        let before = all.iter().copied().filter(|one| {
            let same = one.class.is_some()
                && (one.class_name() == first.class_name() || one.class_name() == second.class_name());
            let functions = first.class.is_none() && second.class.is_none() && one.class.is_none();
            (same || functions) && one.public && callable(one)
        });
        let before = before.collect();
        Ok(PairContexts { writer, constructors, pair: [first, second], indices: Default::default(), before })
    }
}

impl PairContexts<'_> {
    /// How many choices of arguments there are for the two calls, without those that take one element.
    pub const CHOICES: usize = ARGUMENTS;

    /// Says of each of the two which parameters are used as an index.
    #[must_use]
    pub fn with_indices(self, indices: [Vec<bool>; 2]) -> Self {
        PairContexts { indices, ..self }
    }

    /// The choices in which both calls take one element.
    #[must_use]
    pub fn element_choices(&self) -> std::ops::Range<usize> {
        let both = self.indices.iter().all(|all| all.contains(&true));
        Self::CHOICES..Self::CHOICES + if both { ELEMENTS.len() } else { 0 }
    }

    /// The calls that may come before, each as lines of a `main`.
    #[must_use]
    pub fn calls(&self) -> Vec<Vec<String>> {
        let mut calls: Vec<Vec<String>> = Vec::new();
        for (one, turn) in self.before.iter().flat_map(|&one| [(one, 0), (one, 1)]) {
            let lines = repeated(&write_call(&self.writer, one, &mut { turn }), 1);
            if !calls.contains(&lines) {
                calls.push(lines);
            }
        }
        calls
    }

    /// The same calls, made so often that one more makes a number of the file.
    #[must_use]
    pub fn repeated_calls(&self) -> Vec<Vec<String>> {
        let often = |calls: i64| {
            let lines = move |one: &Callable<'_>| repeated(&write_call(&self.writer, *one, &mut 0), calls);
            self.before.iter().map(lines)
        };
        self.writer.repeats().into_iter().flat_map(often).collect()
    }

    /// The program that only makes some calls.
    #[must_use]
    pub fn alone(&self, before: &[String]) -> String {
        let lines =
            |all: &[String], indent: &str| -> String { all.iter().map(|line| format!("{indent}{line}\n")).collect() };
        let main = format!("{}\nvoid main() {{\n{}}}\n", lines(&self.objects(), ""), lines(before, "  "));
        self.writer.append(&main)
    }

    /// The program that makes some calls and then the two in parallel; `choice` says which of the arguments come first.
    #[must_use]
    pub fn parallel(&self, before: &[String], choice: usize) -> Context {
        let calls = self.pair_calls(choice).map(|call| vec![call]);
        let (objects, before) = (self.objects(), before.to_vec());
        let main = MainText { objects, before, labels: labels(), calls, after: Vec::new() }.text();
        Context { text: self.writer.append(&main), main }
    }

    /// The program that makes the two calls one after the other instead, the second one first if they are `swapped`.
    #[must_use]
    pub fn serial(&self, before: &[String], choice: usize, swapped: bool) -> String {
        let [first, second] = self.pair_calls(choice);
        let mut all = before.to_vec();
        all.extend(if swapped { [second, first] } else { [first, second] });
        self.alone(&all)
    }

    fn pair_calls(&self, choice: usize) -> [String; 2] {
        let element = choice.checked_sub(Self::CHOICES).and_then(|element| ELEMENTS.get(element));
        let mut next = if element.is_some() { 0 } else { choice };
        [0, 1].map(|side| {
            let indices: &[bool] = if element.is_some() { &self.indices[side] } else { &[] };
            let element = element.map_or("", |element| *element);
            write_call_at(&self.writer, self.pair[side], &mut next, (indices, element)) + ";"
        })
    }

    /// The declarations of all objects.
    fn objects(&self) -> Vec<String> {
        let mut objects: Vec<String> = Vec::new();
        for one in self.pair.iter().chain(&self.before) {
            let receiver = one.class_name().map(|class| ("receiver", class));
            let arguments = one.function.parameters.iter().filter_map(|parameter| match &parameter.ty.kind {
                TypeKind::Class(name) => Some(("argument", name.as_str())),
                _ => None,
            });
            for (role, class) in receiver.into_iter().chain(arguments) {
                let name = self.writer.object(role, class);
                if !objects.iter().any(|line| line.starts_with(&format!("{class} {name}"))) {
                    let value = |ty: &TypeKind| self.writer.values(ty).into_iter().next().unwrap_or_default();
                    self.constructors.declare((class, &name), &self.writer, &value, &mut objects);
                }
            }
        }
        objects.into_iter().map(|line| line + ";").collect()
    }
}

fn write_call(writer: &Writer<'_>, one: Callable<'_>, turn: &mut usize) -> String {
    write_call_at(writer, one, turn, (&[], ""))
}

/// A call in which some parameters get the number of an element, where they can.
fn write_call_at(
    writer: &Writer<'_>,
    one: Callable<'_>,
    turn: &mut usize,
    (indices, element): (&[bool], &str),
) -> String {
    let argument = |(position, ty): (usize, &TypeKind)| {
        if let TypeKind::Class(name) = ty {
            *turn += 1;
            return writer.object("argument", name);
        }
        let values = writer.values(ty);
        if indices.get(position) == Some(&true)
            && let Some(value) = values.iter().find(|value| value.trim_end_matches('L') == element)
        {
            return value.clone();
        }
        *turn += 1;
        values.get((*turn - 1) % values.len().max(1)).cloned().unwrap_or_default()
    };
    let types = one.function.parameters.iter().map(|parameter| &parameter.ty.kind);
    let arguments: Vec<String> = types.enumerate().map(argument).collect();
    let receiver = one.class_name().map(|class| writer.object("receiver", class));
    call(receiver.as_deref(), one, &arguments)
}
