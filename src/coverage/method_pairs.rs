//! Which pairs of methods run at the same time.
//!
//! **Input**: the events of an execution. **Output**: the pairs of public methods that it covers.
//!
//! **Algorithm** (after CovCon; Choudhary, Lu and Pradel, ICSE 2017): two activations in different threads overlap if each makes
//! a step while the other one is open. An activation is open from its first step to its return. At each step of a thread,
//! each of its activations has made a step while those of other threads are open; a pair is covered where both have.
//!
//! **Soundness and limits**: exact for the execution. Calls within the class are activations too. There are n(n+1)/2 pairs
//! for n public methods of the file: unordered, a method with itself as well.

use cssame_ir::{FunctionId, FunctionKind, Program};
use cssame_source::Span;
use cssame_source::arena::{Arena, id};
use cssame_vm::{CodeIndex, Event, Observer, ThreadIndex, ThreadName};
use rustc_hash::FxHashSet;
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

/// A call of a public method that has not returned.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// None for other functions.
    method: Option<MethodId>,
    /// Its number in the execution.
    number: u32,
    /// Whether it has made a step.
    stepped: bool,
}

/// The pairs of methods that an execution covers.
#[derive(Debug)]
pub struct Overlaps<'a> {
    /// By function.
    methods: &'a [Option<MethodId>],
    /// By slot: the calls of the thread in it.
    calls: Vec<Vec<Call>>,
    count: u32,
    /// Whose step is being done, if its calls have not been told of it yet.
    stepping: Option<ThreadIndex>,
    /// The first call has made a step while the second one was open.
    seen: FxHashSet<(u32, u32)>,
    covered: BTreeSet<MethodPair>,
}

impl<'a> Overlaps<'a> {
    /// Before the first step; the methods are those of each function.
    #[must_use]
    pub fn new(methods: &'a [Option<MethodId>]) -> Overlaps<'a> {
        Overlaps {
            methods,
            calls: Vec::new(),
            count: 0,
            stepping: None,
            seen: FxHashSet::default(),
            covered: BTreeSet::new(),
        }
    }

    /// The pairs, in order.
    #[must_use]
    pub fn covered(&self) -> &BTreeSet<MethodPair> {
        &self.covered
    }

    fn slot(&mut self, thread: ThreadName) -> &mut Vec<Call> {
        let index = thread.slot.index();
        if self.calls.len() <= index {
            self.calls.resize(index + 1, Vec::new());
        }
        &mut self.calls[index]
    }

    /// The thread makes its step in the calls that it is in now.
    fn step(&mut self, thread: ThreadName) {
        if self.stepping != Some(thread.slot) {
            return;
        }
        self.stepping = None;
        self.slot(thread).iter_mut().for_each(|call| call.stepped = true);
        let index = thread.slot.index();
        let is_open = |call: &&Call| call.stepped && call.method.is_some();
        for own in self.calls[index].iter().filter(is_open) {
            let others = self.calls.iter().enumerate().filter(|&(slot, _)| slot != index);
            for other in others.flat_map(|(_, calls)| calls).filter(is_open) {
                self.seen.insert((own.number, other.number));
                if self.seen.contains(&(other.number, own.number))
                    && let (Some(first), Some(second)) = (own.method, other.method)
                {
                    self.covered.insert([first.min(second), first.max(second)]);
                }
            }
        }
    }
}

impl Observer for Overlaps<'_> {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        self.step(thread);
        if let Event::End { .. } = event {
            self.slot(thread).clear();
        }
    }

    fn begin_step(&mut self, thread: ThreadName) {
        self.stepping = Some(thread.slot);
    }

    fn end_step(&mut self, thread: ThreadName, _: u32) {
        self.step(thread);
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        let (method, number) = (self.methods.get(function.index()).copied().flatten(), self.count);
        self.count += 1;
        self.slot(thread).push(Call { method, number, stepped: false });
    }

    fn leave(&mut self, thread: ThreadName) {
        self.step(thread);
        self.slot(thread).pop();
    }
}
