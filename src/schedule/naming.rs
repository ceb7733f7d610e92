//! The names of steps: thread, place and operation.
//!
//! **Input**: a state and a thread that can move in it.
//!
//! **Output**: a [`Step`] in the form of schedules, such as thread `T1`, place `6:24`, operation `read a`.
//!
//! **Soundness and limits**. Names do not depend on numbers that the machine assigns, so they survive small changes of the
//! program.

use super::file::Step;
use super::values::shown_value;
use cssame_ir::{Object, Pointer, Program, ScalarType, Type, Value};
use cssame_source::{SourceMap, Span};
use cssame_vm::{Cell, Choice, Failure, Machine, Pending, State, Tables, ThreadIndex};

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
        Pending::Free { .. } => "free",
        Pending::Divergence => "diverge",
    }
}

impl Naming<'_> {
    /// The variable or object at an address, as the text names it from outside.
    #[must_use]
    pub fn object(&self, state: &State, tables: &Tables, address: u32) -> String {
        self.machine.cell(state, address).map_or_else(|| "?".to_owned(), |cell| self.cell(tables, cell))
    }

    /// The name of a cell. Objects on the heap that were made at one place, but for the first one, have a number: `malloc@31#2.next`.
    #[must_use]
    pub fn cell(&self, tables: &Tables, cell: Cell) -> String {
        let name = cell.name(self.program);
        match self.machine.made_before(tables, cell) {
            0 => name,
            before => {
                let variable = self.program.texts.get(self.program.variables[cell.object.variable].name);
                let rest = name.strip_prefix(variable).unwrap_or_default();
                format!("{variable}#{}{rest}", before + 1)
            }
        }
    }

    /// The name of what a pointer leads to: of a structure where it leads to the beginning of one.
    pub(super) fn pointed(&self, tables: &Tables, cell: Cell) -> String {
        let (name, variable) = (self.cell(tables, cell), &self.program.variables[cell.object.variable]);
        match (cell.part, variable.ty) {
            (0, Type::Class(_)) => name.split('.').next().unwrap_or(&name).to_owned(),
            _ => name,
        }
    }

    /// The name of the object that a cell is a part of.
    fn object_name(&self, tables: &Tables, cell: Cell) -> String {
        let name = self.cell(tables, cell);
        let variable = self.program.texts.get(self.program.variables[cell.object.variable].name).len();
        let rest = name.get(variable..).and_then(|rest| rest.find(['.', '[']));
        rest.map_or(name.clone(), |rest| name[..variable + rest].to_owned())
    }

    /// A value for readers: a pointer is the name of what it leads to.
    #[must_use]
    pub fn value(
        &self,
        (state, tables): (&State, &Tables),
        declared: Option<Span>,
        ty: ScalarType,
        bits: i64,
    ) -> String {
        if let (Value::Pointer(pointer), true) = (Value::from_bits(ty, bits), ty == ScalarType::Pointer)
            && let Some((object @ Object::Local(_), byte)) = pointer.target()
        {
            if let Some(cell) = self.machine.cell_behind(state, tables, pointer) {
                return format!("&{}", self.pointed(tables, cell));
            }
            if let Some(cell) = self.machine.cell_behind(state, tables, Pointer::to(object, 0)) {
                return format!("&{} + {} bytes", self.object_name(tables, cell), byte as i32);
            }
        }
        shown_value(self.program, declared, ty, bits)
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
            | Pending::SpuriousWakeup { address } => format!("{name} {}", self.object(state, tables, address)),
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
