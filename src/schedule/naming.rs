//! The names of steps: thread, place and operation.
//!
//! **Input**: a state and a thread that can move in it.
//!
//! **Output**: a [`Step`] in the form of schedules, such as thread `T1`, place `6:24`, operation `read a`.
//!
//! **Soundness and limits**. Names do not depend on numbers that the machine assigns, so they survive small changes of the
//! program.

use super::file::Step;
use cssame_ir::Program;
use cssame_source::{SourceMap, Span};
use cssame_vm::{Choice, Failure, Machine, Pending, State, Tables, ThreadIndex};

/// Gives names to steps of a program.
#[derive(Clone, Copy)]
pub struct Naming<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its text.
    pub sources: &'a SourceMap,
    /// The machine that was made of it.
    pub machine: &'a Machine,
}

/// What an operation is called, without what it works on.
#[must_use]
pub fn operation_name(pending: Pending) -> &'static str {
    match pending {
        Pending::Read { .. } => "read",
        Pending::Write { .. } => "write",
        Pending::Synchronise { kind, .. } => kind.word(),
        Pending::Atomic { name, .. } | Pending::Effect { name } => name,
        Pending::Relock { .. } => "relock",
        Pending::WaitToWrite { .. } => "await",
        Pending::TimeOut { .. } => "timeout",
        Pending::SpuriousWakeup { .. } => "wake",
        Pending::Fork => "fork",
        Pending::Join | Pending::JoinThread { .. } => "join",
        Pending::Spawn => "spawn",
        Pending::Choose => "choose",
        Pending::AtomicBlock => "atomic",
        Pending::Divergence => "diverge",
    }
}

impl Naming<'_> {
    /// The variable or object at an address, as the text names it from outside.
    #[must_use]
    pub fn object(&self, state: &State, address: u32) -> String {
        match self.machine.leaf_at(state, address) {
            Some((leaf, element)) => self.program.leaves[leaf].element_name(&self.program.texts, element),
            None => "?".to_owned(),
        }
    }

    /// Where the operation stands that a thread's next step begins with: the name of the variable, or the statement.
    #[must_use]
    pub fn span(&self, state: &State, thread: ThreadIndex) -> Span {
        match self.machine.pending(state, thread) {
            Some(Pending::Read { read, .. } | Pending::Atomic { read, .. }) => self.program.reads[read].span,
            Some(Pending::Write { definition, .. }) => self.program.definitions[definition].span,
            _ => self.machine.span(state.position(thread)),
        }
    }

    /// The operation that a thread's next step begins with: `read a`, `lock L`, `fork`; empty for a thread that waits to
    /// be woken or has ended.
    #[must_use]
    pub fn operation(&self, state: &State, tables: &Tables, thread: ThreadIndex) -> String {
        let Some(pending) = self.machine.pending(state, thread) else { return String::new() };
        let name = operation_name(pending);
        let texts = &self.program.texts;
        match pending {
            Pending::Read { read, .. } | Pending::Atomic { read, .. } => {
                format!("{name} {}", texts.get(self.program.reads[read].name))
            }
            Pending::Write { definition, .. } => {
                format!("{name} {}", texts.get(self.program.definitions[definition].name))
            }
            Pending::Synchronise { address: Some(address), .. }
            | Pending::Relock { address: Some(address) }
            | Pending::WaitToWrite { address }
            | Pending::TimeOut { address }
            | Pending::SpuriousWakeup { address } => format!("{name} {}", self.object(state, address)),
            Pending::JoinThread { thread: Some(thread) } => {
                format!("{name} {}", self.machine.path_name(tables, state.path(thread)))
            }
            Pending::Choose => match self.chosen(self.span(state, thread)) {
                Some(input) => format!("{name} {input}"),
                None => name.to_owned(),
            },
            _ => name.to_owned(),
        }
    }

    /// The input that a choice at this place sets: it stands where the input is declared.
    #[must_use]
    pub fn chosen(&self, span: Span) -> Option<&str> {
        let symbol = self.program.symbols.iter().find(|symbol| symbol.span == span)?;
        Some(self.program.texts.get(symbol.name))
    }

    /// The name of a thread's next step. `alternatives` is the number of its alternatives.
    #[must_use]
    pub fn step(&self, state: &State, tables: &Tables, choice: Choice, alternatives: u32) -> Step {
        Step {
            thread: self.machine.path_name(tables, state.path(choice.thread)),
            at: self.sources.place(self.span(state, choice.thread)),
            op: self.operation(state, tables, choice.thread),
            alternative: (alternatives > 1).then_some(choice.alternative),
        }
    }

    /// What the program says when it fails, or what is wrong.
    #[must_use]
    pub fn failure_message(&self, failure: &Failure) -> String {
        let text = failure.message.map_or(failure.kind.sentence(), |message| self.program.texts.get(message));
        text.to_owned()
    }
}
