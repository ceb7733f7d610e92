//! Finds the pairs of methods that run at the same time.
//!
//! **Input**: the events of an execution. **Output**: the pairs of public methods that it covers.
//!
//! **Definition** (after CovCon; Choudhary, Lu and Pradel, ICSE 2017): an activation lasts from the step that makes the call to
//! the step in which it returns. A spawned method is called in the step that spawns it. Two activations of different threads
//! overlap, and their pair is covered, if neither returns in a step before the call of the other. So a method that is blocked at
//! its first lock has been called. Pairs of methods that are synchronised as a whole, or have only one step, can be covered.
//!
//! **Algorithm**: the algorithm of [`OpenCalls`], which also finds the pairs of all executions ([`cssame_explore::overlaps`]).
//!
//! **Soundness and limits**: exact for the execution. Calls within the class are activations too, and a method that forks threads
//! overlaps with the methods that these call. The file has n(n+1)/2 pairs for n public methods: pairs are unordered, and include
//! a method with itself.

use cssame_explore::{Asked, NumberPair, OpenCalls};
use cssame_ir::{FunctionId, FunctionKind, Program};
use cssame_source::Span;
use cssame_source::arena::{Arena, id};
use cssame_vm::{CodeIndex, Event, Machine, Observer, ThreadName};
use std::collections::BTreeSet;

id! {
    /// A public method, in text order.
    MethodId
}

/// A public method.
#[derive(Clone, Debug)]
pub struct Method {
    /// `Account.deposit`
    pub name: String,
    /// Its name in the text.
    pub span: Span,
}

/// Two methods, in order; both may be one.
pub type MethodPair = [MethodId; 2];

/// The public methods of a file.
#[derive(Clone, Debug, Default)]
pub struct PublicMethods {
    /// In text order.
    pub list: Arena<MethodId, Method>,
}

impl PublicMethods {
    /// Those of a program.
    #[must_use]
    pub fn new(program: &Program) -> PublicMethods {
        let is_public = |kind| kind == FunctionKind::Method { public: true };
        let mut all: Vec<Method> = program
            .functions
            .iter()
            .filter(|function| is_public(function.kind))
            .map(|function| Method { name: program.texts.get(function.name).to_owned(), span: function.span })
            .collect();
        all.sort_by_key(|method| method.span);
        let mut methods = PublicMethods::default();
        for method in all {
            methods.list.push(method);
        }
        methods
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = MethodPair> + '_ {
        self.list
            .ids()
            .flat_map(|first| self.list.ids().filter(move |&second| second >= first).map(move |second| [first, second]))
    }

    /// Number of pairs.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let methods = self.list.len() as u64;
        methods * (methods + 1) / 2
    }

    /// The method of each function of a program that was compiled from this text, or from one that begins with it.
    #[must_use]
    pub fn bind(&self, program: &Program) -> Vec<Option<MethodId>> {
        let find = |span: Span| self.list.entries().find(|(_, method)| method.span == span).map(|(id, _)| id);
        program.functions.iter().map(|function| find(function.span)).collect()
    }
}

/// What is asked of the search for calls that overlap: the methods, by their numbers.
#[must_use]
pub fn asked(program: &Program, methods: &[Option<MethodId>]) -> Asked {
    Asked::new(program, methods.iter().map(|method| method.map(|id| id.0)).collect())
}

/// The pair of two methods, by their numbers.
#[must_use]
pub fn pair_of(numbers: NumberPair) -> MethodPair {
    numbers.map(MethodId)
}

/// The pairs of methods that an execution covers.
#[derive(Debug)]
pub struct Overlaps<'a> {
    calls: OpenCalls<'a>,
    covered: BTreeSet<MethodPair>,
}

impl<'a> Overlaps<'a> {
    /// Before the first step.
    #[must_use]
    pub fn new(machine: &'a Machine, asked: &'a Asked) -> Overlaps<'a> {
        Overlaps { calls: OpenCalls::new(machine, asked), covered: BTreeSet::new() }
    }

    /// The pairs, in order.
    #[must_use]
    pub fn covered(&self) -> &BTreeSet<MethodPair> {
        &self.covered
    }

    fn take(&mut self) {
        self.covered.extend(self.calls.pairs().iter().map(|&numbers| pair_of(numbers)));
    }
}

impl Observer for Overlaps<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.calls.event(thread, at, event);
    }

    fn begin_step(&mut self, thread: ThreadName) {
        self.calls.begin_step(thread);
    }

    fn end_step(&mut self, _: ThreadName, _: u32) {
        self.take();
    }

    fn call(&mut self, thread: ThreadName, at: CodeIndex, function: FunctionId, arguments: &[i64]) {
        self.calls.call(thread, at, function, arguments);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.calls.leave(thread);
    }
}
