//! Traces for people: what an execution does, one row for each event that others can see.
//!
//! **Input**: a program and the steps of an execution.
//!
//! **Output**: a [`Trace`]: plain data, with a column for each thread, and for each row its source line, what is done, the
//! variable, and its value.
//!
//! **Algorithm**. The steps are done again; each event that others can see becomes a row, and each thread that is blocked at
//! the end another one. [`Trace::cause`] keeps only the rows in the causal past of the last one: those that it depends on by
//! program order, by what reads saw, and by synchronisation, over any number of others.
//!
//! **Soundness and limits**. Accesses to variables of one thread alone have no rows, although a value may come by way of them.

use super::causality::Causality;
use super::naming::Naming;
use super::walk::Walk;
use crate::ir::{DefinitionId, ReadId, ScalarType, Value};
use crate::source::Span;
use crate::vm::{
    self, Choice, CodeIndex, Event, Failure, Machine, Obstacle, PathId, State, Tables, ThreadIndex, ThreadName,
};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// What kind of thing a row tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// A read of shared memory.
    Read,
    /// A write to shared memory.
    Write,
    /// An operation on a synchronisation object.
    Synchronise,
    /// The life of threads.
    Thread,
    /// A choice.
    Choose,
    /// A printed line.
    Print,
    /// A failure.
    Failure,
    /// A thread that is blocked at the end.
    Blocked,
    /// Accesses of a long atomic block that are not shown one by one.
    Omitted,
}

/// A row of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The step that it belongs to, from 1; 0 is before the first.
    pub step: usize,
    /// The column of its thread.
    pub column: usize,
    /// The source line, from 1.
    pub line: u32,
    /// What kind of thing it tells.
    pub kind: RowKind,
    /// `read`, `lock`, `print`, …
    pub op: String,
    /// The variable or the object, if there is one.
    pub object: Option<String>,
    /// The value that was read, written, chosen or printed, or the message.
    pub value: Option<String>,
    /// Whether it is in the causal past of the last row.
    pub is_cause: bool,
    /// Rows that it depends on.
    #[serde(skip)]
    depends: Vec<usize>,
    /// Of a read: the place that reads, and the definition that it reads from.
    #[serde(skip)]
    term: Option<(ReadId, DefinitionId)>,
}

impl Row {
    /// `read a = 1`, `lock L`, `print 3`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.op.clone();
        if let Some(object) = &self.object {
            text.push(' ');
            text.push_str(object);
        }
        if let Some(value) = &self.value {
            text.push_str(match self.kind {
                RowKind::Read | RowKind::Write | RowKind::Choose => " = ",
                RowKind::Failure => ": ",
                _ => " ",
            });
            text.push_str(value);
        }
        text
    }
}

/// What an execution does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// Names of the threads that do something, by column, in the order in which they are made.
    pub threads: Vec<String>,
    /// What happens, in order.
    pub rows: Vec<Row>,
}

impl Trace {
    /// Only the rows in the causal past of the last one.
    #[must_use]
    pub fn cause(&self) -> Trace {
        let rows = self.rows.iter().filter(|row| row.is_cause).cloned().collect();
        let mut trace = Trace { threads: self.threads.clone(), rows };
        trace.drop_empty_columns();
        trace
    }

    fn drop_empty_columns(&mut self) {
        let used: std::collections::BTreeSet<usize> = self.rows.iter().map(|row| row.column).collect();
        let places: FxHashMap<usize, usize> = used.iter().enumerate().map(|(place, &column)| (column, place)).collect();
        self.threads = used.iter().map(|&column| self.threads[column].clone()).collect();
        self.rows.iter_mut().for_each(|row| row.column = places[&row.column]);
    }

    /// Only the rows in the causal past of the first row that shows each of those terms; as [`Trace::cause`] where there is
    /// none.
    #[must_use]
    pub fn past_of(&self, terms: &[(ReadId, DefinitionId)]) -> Trace {
        let first = |term| self.rows.iter().position(|row| row.term == Some(term));
        let rows: Vec<usize> = terms.iter().filter_map(|&term| first(term)).collect();
        if rows.is_empty() {
            return self.cause();
        }
        let mut trace = self.clone();
        trace.rows.iter_mut().for_each(|row| row.is_cause = false);
        trace.mark(rows);
        trace.cause()
    }

    fn mark_cause(&mut self) {
        let last = self.rows.len().checked_sub(1);
        // All rows about blocked threads stand at the end together.
        let blocked = (0..self.rows.len()).rev().take_while(|&row| self.rows[row].kind == RowKind::Blocked);
        self.mark(blocked.chain(last).collect());
    }

    fn mark(&mut self, mut work: Vec<usize>) {
        while let Some(row) = work.pop() {
            if !std::mem::replace(&mut self.rows[row].is_cause, true) {
                work.extend(&self.rows[row].depends);
            }
        }
    }
}

/// Rows of one step behind which accesses are not shown one by one: an atomic block may make millions of them.
const MAX_STEP_ROWS: usize = 1_000;

/// Does the steps of an execution again, as far as they are possible, and writes down what happens.
#[must_use]
pub fn trace(naming: Naming<'_>, steps: &[Choice]) -> Trace {
    let mut writer = Writer {
        naming,
        trace: Trace::default(),
        columns: FxHashMap::default(),
        by_name: FxHashMap::default(),
        causality: Causality::default(),
    };
    let mut tables = Tables::new();
    let mut events: Vec<(ThreadName, CodeIndex, Event)> = Vec::new();
    let mut walk = Walk::new(naming.machine, &mut tables, &mut events);
    writer.step(0, &mut events, &Scene::new(naming, &walk));
    for (index, &choice) in steps.iter().enumerate() {
        if walk.step(choice, &mut events).is_err() {
            break;
        }
        writer.step(index + 1, &mut events, &Scene::new(naming, &walk));
    }
    if naming.machine.is_deadlock(walk.state()) {
        writer.blocked(steps.len(), &Scene::new(naming, &walk));
    }
    writer.trace.drop_empty_columns();
    writer.trace.mark_cause();
    writer.trace
}

struct Writer<'a> {
    naming: Naming<'a>,
    trace: Trace,
    columns: FxHashMap<PathId, usize>,
    by_name: FxHashMap<String, usize>,
    causality: Causality,
}

impl Writer<'_> {
    /// Writes down the events of one step.
    fn step(&mut self, step: usize, events: &mut Vec<(ThreadName, CodeIndex, Event)>, scene: &Scene<'_>) {
        let first = self.trace.rows.len();
        let mut omitted = None;
        for (ThreadName { path: thread, .. }, at, event) in events.drain(..) {
            if let Event::Fork { child } | Event::Spawn { child } = event {
                // The row of the fork comes first, and main before its threads.
                self.column(thread, scene);
                self.column(child.path, scene);
            }
            let is_access = matches!(event, Event::Read { shared: true, .. } | Event::Write { shared: true, .. });
            if is_access && self.trace.rows.len() - first >= MAX_STEP_ROWS {
                omitted = Some(self.omit(omitted, step, (thread, at, event), scene));
                continue;
            }
            match self.content_of(at, event, scene) {
                Some(content) => {
                    let depends = self.causality.dependences(thread, event);
                    let column = self.column(thread, scene);
                    let row = self.push(step, column, content, depends);
                    if let Event::Read { read, writer: Some(definition), .. } = event {
                        self.trace.rows[row].term = Some((read, definition));
                    }
                    self.causality.remember(row, thread, event);
                }
                None => self.causality.pass(thread, event),
            }
        }
        if let Some((row, count)) = omitted {
            self.trace.rows[row].value = Some(format!("{count} more accesses"));
        }
    }

    /// Takes an access into the row that stands for all accesses of a step that are not shown one by one. Gives that row, and
    /// how many it stands for.
    fn omit(
        &mut self,
        omitted: Option<(usize, usize)>,
        step: usize,
        (thread, at, event): (PathId, CodeIndex, Event),
        scene: &Scene<'_>,
    ) -> (usize, usize) {
        let (row, count) = omitted.unwrap_or_else(|| {
            let column = self.column(thread, scene);
            let span = self.naming.machine.span(at);
            let content = Content { span, kind: RowKind::Omitted, op: "and", object: None, value: None };
            (self.push(step, column, content, Vec::new()), 0)
        });
        for earlier in self.causality.dependences(thread, event) {
            let depends = &mut self.trace.rows[row].depends;
            if earlier != row && !depends.contains(&earlier) {
                depends.push(earlier);
            }
        }
        self.causality.remember(row, thread, event);
        (row, count + 1)
    }

    /// The column of a thread. Threads of one name share one.
    fn column(&mut self, thread: PathId, scene: &Scene<'_>) -> usize {
        let Writer { trace: Trace { threads, .. }, columns, by_name, .. } = self;
        *columns.entry(thread).or_insert_with(|| {
            let name = scene.name(thread);
            *by_name.entry(name.clone()).or_insert_with(|| {
                threads.push(name);
                threads.len() - 1
            })
        })
    }

    fn push(&mut self, step: usize, column: usize, content: Content, depends: Vec<usize>) -> usize {
        let Content { span, kind, op, object, value } = content;
        let line = self.naming.sources.line(span);
        let op = op.to_owned();
        self.trace.rows.push(Row { step, column, line, kind, op, object, value, is_cause: false, depends, term: None });
        self.trace.rows.len() - 1
    }

    /// What a row says of an event; nothing of one that others cannot see.
    fn content_of(&self, at: CodeIndex, event: Event, scene: &Scene<'_>) -> Option<Content> {
        let Naming { program, machine, .. } = self.naming;
        let Scene { state, tables, .. } = *scene;
        let span = machine.span(at);
        let name = |thread: ThreadName| Some(scene.name(thread.path));
        let object = |address: u32| Some(self.naming.object(state, address));
        let content = |kind, op, object, value| Some(Content { span, kind, op, object, value });
        match event {
            Event::Read { read, address, value, shared: true, .. } => {
                let value = self.value(state, address, value);
                let (span, object) = (program.reads[read].span, self.element(state, program.reads[read].name, address));
                Some(Content { span, kind: RowKind::Read, op: "read", object, value: Some(value) })
            }
            Event::Write { definition, address, value, shared: true, .. } => {
                let value = self.value(state, address, value);
                let definition = &program.definitions[definition];
                let object = self.element(state, definition.name, address);
                Some(Content { span: definition.span, kind: RowKind::Write, op: "write", object, value: Some(value) })
            }
            Event::Lock { address, by, .. } if by.takes_again() => {
                content(RowKind::Synchronise, "relock", object(address), None)
            }
            Event::Lock { address, by, .. } | Event::Nested { address, by, .. } if by.tries() => {
                content(RowKind::Synchronise, by.word(), object(address), Some("is true".to_owned()))
            }
            Event::NotTaken { address, by, .. } => {
                content(RowKind::Synchronise, by.word(), object(address), Some("is false".to_owned()))
            }
            Event::TimedOut { address, .. } => content(RowKind::Synchronise, "timeout", object(address), None),
            Event::WaitToWrite { address, .. } => {
                content(RowKind::Synchronise, "waits for", object(address), Some("to write".to_owned()))
            }
            // A wait, the last arrival at a barrier, and the operation of a verdict have told it already.
            Event::Unlock { by, .. } if by.takes_again() => None,
            Event::Leave { .. } | Event::Verdict { .. } => None,
            Event::Fork { child } => content(RowKind::Thread, "fork", name(child), None),
            Event::Spawn { child } => content(RowKind::Thread, "spawn", name(child), None),
            Event::Join => content(RowKind::Thread, "join", None, None),
            Event::JoinThread { child } => content(RowKind::Thread, "join", name(child), None),
            Event::Choose { value } => {
                let input = self.naming.chosen(span).map(str::to_owned);
                content(RowKind::Choose, "choose", input, Some(value.to_string()))
            }
            Event::Print { output } => {
                content(RowKind::Print, "print", None, Some(tables.last_line(output).unwrap_or_default().to_owned()))
            }
            Event::Failure(failure) => Some(self.failure(span, failure)),
            _ => event
                .synchronisation()
                .and_then(|(kind, address)| content(RowKind::Synchronise, kind.word(), address.and_then(object), None)),
        }
    }

    fn failure(&self, span: Span, failure: Failure) -> Content {
        let message = self.naming.failure_message(&failure);
        let op = failure.kind.status();
        Content { span, kind: RowKind::Failure, op, object: None, value: Some(message) }
    }

    /// A variable as written at a place, with the index of an element.
    fn element(&self, state: &State, name: crate::ir::TextId, address: u32) -> Option<String> {
        let Naming { program, machine, .. } = self.naming;
        let name = program.texts.get(name);
        let Some((leaf, element)) = machine.leaf_at(state, address) else { return Some(name.to_owned()) };
        // What is written ends in the variable or field; the indices behind that belong to it.
        let leaf = &program.leaves[leaf];
        let own = leaf.dimensions.iter().zip(leaf.indices_of(element));
        let end = program.texts.get(leaf.name).len();
        let own = own.filter(|(dimension, _)| dimension.name_end as usize == end);
        Some(name.to_owned() + &own.map(|(_, index)| format!("[{index}]")).collect::<String>())
    }

    fn value(&self, state: &State, address: u32, bits: i64) -> String {
        let Naming { program, machine, .. } = self.naming;
        let ty = match machine.leaf_at(state, address).map(|(leaf, _)| program.leaves[leaf].kind) {
            Some(crate::ir::LeafKind::Data(ty)) => ty,
            _ => ScalarType::Long,
        };
        match Value::from_bits(ty, bits) {
            Value::String(text) => format!("{:?}", program.texts.get(text)),
            _ => vm::format_value(&program.texts, ty, bits),
        }
    }

    /// The last rows of a deadlock: where every thread is blocked.
    fn blocked(&mut self, step: usize, scene: &Scene<'_>) {
        let Naming { machine, .. } = self.naming;
        let Scene { state, .. } = *scene;
        for thread in state.threads() {
            let Some(obstacle) = machine.obstacle(state, thread) else { continue };
            let span = machine.span(state.position(thread));
            let value = self.obstacle(&obstacle, scene);
            let content = Content { span, kind: RowKind::Blocked, op: "waits for", object: None, value: Some(value) };
            let path = state.path(thread);
            let depends = self.causality.last_row(path).into_iter().collect();
            let column = self.column(path, scene);
            self.push(step, column, content, depends);
        }
    }
}

impl Writer<'_> {
    /// What a blocked thread waits for: `L (T1)` for a lock that T1 holds, `b, 2 of 3` for a barrier, `set(e)`.
    fn obstacle(&self, obstacle: &Obstacle, scene: &Scene<'_>) -> String {
        let object = |address| self.naming.object(scene.state, address);
        let name = |thread: ThreadIndex| scene.name(scene.state.path(thread));
        let names = |threads: &[ThreadIndex]| threads.iter().map(|&thread| name(thread)).collect::<Vec<_>>().join(", ");
        match *obstacle {
            Obstacle::Lock { address, holder: Some(holder), .. } => {
                format!("{} ({})", object(address), name(holder))
            }
            Obstacle::Lock { address, holder: None, .. } => object(address),
            Obstacle::Readers { address, ref threads } | Obstacle::Writers { address, ref threads } => {
                match threads.as_slice() {
                    [] => object(address),
                    threads => format!("{} ({})", object(address), names(threads)),
                }
            }
            Obstacle::Barrier { address, arrived, count } => format!("{}, {arrived} of {count}", object(address)),
            Obstacle::Condition { address } => format!("notify({})", object(address)),
            Obstacle::Notification => "notify()".to_owned(),
            Obstacle::Event { address } => format!("set({})", object(address)),
            Obstacle::Semaphore { address } => format!("V({})", object(address)),
            Obstacle::Children { ref threads } => names(threads),
            Obstacle::Thread { thread } => name(thread),
            Obstacle::AtomicBlock { thread } => format!("the atomic block of {}", name(thread)),
        }
    }
}

/// What there is behind a step.
struct Scene<'s> {
    machine: &'s Machine,
    state: &'s State,
    tables: &'s Tables,
}

impl<'s> Scene<'s> {
    fn new(naming: Naming<'s>, walk: &'s Walk<'_>) -> Scene<'s> {
        Scene { machine: naming.machine, state: walk.state(), tables: walk.tables() }
    }

    fn name(&self, thread: PathId) -> String {
        self.machine.path_name(self.tables, thread)
    }
}

/// What a row says.
struct Content {
    span: Span,
    kind: RowKind,
    op: &'static str,
    object: Option<String>,
    value: Option<String>,
}
