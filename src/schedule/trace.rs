//! Traces for readers: the actions of an execution, one row for each event that others can see.
//!
//! **Input**: a program and the steps of an execution.
//!
//! **Output**: a [`Trace`]: plain data, with a column for each thread, and for each row its source line, its action, the
//! variable, and its value.
//!
//! **Algorithm**. The steps are repeated. Each event that others can see becomes a row (`describe`), and so does each thread that
//! is blocked at the end. [`Trace::cause`] keeps only the rows in the causal past of the last one: the rows on which it depends,
//! directly or indirectly, by program order, by the writes that reads saw, and by synchronisation (`causality`). Blocked threads
//! depend also on the rows that removed what they wait for, and on the rows before which others have skipped an operation that
//! would have released them (`passed`).
//!
//! **Soundness and limits**. Accesses to variables of a single thread have no rows, although values may flow through them.

use super::calls::{Call, Stacks, file_and_line};
use super::causality::Causality;
use super::describe::{Content, Scene};
use super::naming::Naming;
use super::passed::Branches;
use super::row::{Row, RowKind, Section};
use super::walk::Walk;
use cssame_ir::{DefinitionId, FunctionId, Instruction, ReadId};
use cssame_vm::{Choice, CodeIndex, Event, Observer, Obstacle, PathId, Tables, ThreadName};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// What an execution does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// Names of the threads that do something, by column, in the order in which they are made.
    pub threads: Vec<String>,
    /// What happens, in order.
    pub rows: Vec<Row>,
    /// The calls that rows belong to.
    #[serde(skip)]
    pub(super) calls: Vec<Call>,
}

impl Trace {
    /// Only the rows in the causal past of the last one.
    #[must_use]
    pub fn cause(&self) -> Trace {
        let rows = self.rows.iter().filter(|row| row.is_cause).cloned().collect();
        let mut trace = Trace { threads: self.threads.clone(), rows, calls: self.calls.clone() };
        trace.drop_empty_columns();
        trace
    }

    /// The same with the accesses marked that come behind the first steps: those before which two threads stand there.
    #[must_use]
    pub fn with_race_after(mut self, steps: usize) -> Trace {
        let accesses = |row: &&mut Row| row.step > steps && matches!(row.kind, RowKind::Read | RowKind::Write);
        self.rows.iter_mut().filter(accesses).for_each(|row| row.racing = true);
        self
    }

    /// The rows of the first steps, and the others.
    #[must_use]
    pub fn parted(self, steps: usize) -> (Trace, Trace) {
        let (first, others) = self.rows.into_iter().partition(|row| row.step <= steps);
        let part = |rows| Trace { threads: self.threads.clone(), rows, calls: self.calls.clone() };
        (part(first), part(others))
    }

    /// The rows right before a row in the causal order, of the trace as a whole.
    pub fn before(&self, row: usize) -> impl Iterator<Item = usize> {
        self.rows[row].depends.iter().copied()
    }

    fn drop_empty_columns(&mut self) {
        let used: std::collections::BTreeSet<usize> = self.rows.iter().map(|row| row.column).collect();
        let places: FxHashMap<usize, usize> = used.iter().enumerate().map(|(place, &column)| (column, place)).collect();
        self.threads = used.iter().map(|&column| self.threads[column].clone()).collect();
        self.rows.iter_mut().for_each(|row| row.column = places[&row.column]);
    }

    /// Only the rows in the causal past of the first row that shows each of those terms, or writes where there is no read; as
    /// [`Trace::cause`] where there is none.
    #[must_use]
    pub fn past_of(&self, terms: &[(Option<ReadId>, DefinitionId)]) -> Trace {
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
        branches: Branches::new(naming),
        stacks: Stacks::default(),
        in_block: false,
    };
    let mut tables = Tables::new();
    let mut events = Heard::default();
    let mut walk = Walk::new(naming.machine, &mut tables, &mut events);
    writer.step(0, &mut events, &scene(naming, &walk));
    for (index, &choice) in steps.iter().enumerate() {
        if walk.step(choice, &mut events).is_err() {
            break;
        }
        writer.step(index + 1, &mut events, &scene(naming, &walk));
    }
    if naming.machine.is_deadlock(walk.state()) {
        writer.blocked(steps.len(), &scene(naming, &walk));
    }
    writer.trace.drop_empty_columns();
    writer.trace.mark_cause();
    writer.trace
}

/// What is told of a step, in order.
enum Told {
    Event(PathId, CodeIndex, Event),
    Branch(PathId, CodeIndex, bool),
    Call(PathId, CodeIndex, FunctionId, Box<[i64]>),
    Result(PathId, i64),
    Leave(PathId),
}

/// All that is told of one step.
#[derive(Default)]
struct Heard(Vec<Told>);

impl Observer for Heard {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.0.push(Told::Event(thread.path, at, event));
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        self.0.push(Told::Branch(thread.path, at, holds));
    }

    fn call(&mut self, thread: ThreadName, at: CodeIndex, function: FunctionId, arguments: &[i64]) {
        self.0.push(Told::Call(thread.path, at, function, arguments.into()));
    }

    fn result(&mut self, thread: ThreadName, bits: i64) {
        self.0.push(Told::Result(thread.path, bits));
    }

    fn leave(&mut self, thread: ThreadName) {
        self.0.push(Told::Leave(thread.path));
    }
}

fn scene<'s>(naming: Naming<'s>, walk: &'s Walk<'_>) -> Scene<'s> {
    Scene { naming, state: walk.state(), tables: walk.tables() }
}

struct Writer<'a> {
    naming: Naming<'a>,
    trace: Trace,
    columns: FxHashMap<PathId, usize>,
    by_name: FxHashMap<String, usize>,
    causality: Causality,
    branches: Branches<'a>,
    stacks: Stacks,
    /// Whether an atomic block has begun.
    in_block: bool,
}

impl Writer<'_> {
    /// Writes down the events of one step.
    fn step(&mut self, step: usize, events: &mut Heard, scene: &Scene<'_>) {
        let first = self.trace.rows.len();
        let mut omitted = None;
        for told in events.0.drain(..) {
            let (thread, at, event) = match told {
                Told::Event(thread, at, event) => (thread, at, event),
                Told::Branch(thread, at, holds) => {
                    self.branches.turn(thread, at, holds, self.causality.last_row(thread));
                    continue;
                }
                Told::Call(thread, at, function, arguments) => {
                    self.branches.enter(thread, function, &arguments);
                    let span = self.naming.machine.span(at);
                    self.stacks.call(&mut self.trace.calls, (thread, span), (function, &arguments), scene);
                    continue;
                }
                Told::Result(thread, bits) => {
                    self.stacks.result(&mut self.trace.calls, thread, bits, scene);
                    continue;
                }
                Told::Leave(thread) => {
                    self.branches.exit(thread);
                    self.stacks.leave(&mut self.trace.calls, thread);
                    continue;
                }
            };
            self.branches.remember(thread, event);
            match event {
                Event::AtomicBegin => self.in_block = true,
                Event::AtomicEnd => self.in_block = false,
                _ => {}
            }
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
            match scene.content_of(at, event) {
                Some(content) => {
                    let depends = self.causality.dependences(thread, event);
                    let column = self.column(thread, scene);
                    let row = self.push(step, column, content, depends);
                    let section = self.section(at, event);
                    let written = &mut self.trace.rows[row];
                    written.term = match event {
                        Event::Read { read, writer: Some(definition), .. } => Some((Some(read), definition)),
                        Event::Write { definition, .. } => Some((None, definition)),
                        _ => None,
                    };
                    (written.call, written.section) = (self.stacks.of(thread), section);
                    self.complete(row);
                    self.causality.remember(row, thread, event);
                }
                None => {
                    let notification = self.causality.pass(thread, event);
                    if let Some(row) = notification {
                        self.wakes(row, &scene.name(thread));
                    }
                }
            }
        }
        if let Some((row, count)) = omitted {
            self.trace.rows[row].value = Some(format!("{count} more accesses"));
        }
    }

    /// What the row of an event is a part of.
    fn section(&self, at: CodeIndex, event: Event) -> Section {
        let Naming { program, machine, .. } = self.naming;
        let origin = machine.origin(at);
        let block = &program.functions[origin.function].blocks[origin.block];
        match (block.instructions.get(origin.instruction as usize), event) {
            _ if self.in_block => Section::BLOCK,
            (Some(Instruction::Atomic { op, .. }), Event::Read { .. } | Event::Write { .. }) => {
                Section::Operation { op: op.word(), new: None }
            }
            _ => Section::None,
        }
    }

    /// Notes in the row of the read of an atomic operation what the row behind it writes.
    fn complete(&mut self, row: usize) {
        let (before, [write, ..]) = self.trace.rows.split_at_mut(row) else { return };
        let read = before.last_mut().filter(|read| read.step == write.step && read.column == write.column);
        if let (RowKind::Write, Section::Operation { .. }, Some(read)) = (write.kind, &write.section, read)
            && let Section::Operation { new, .. } = &mut read.section
        {
            new.clone_from(&write.value);
        }
    }

    /// Notes in the row of a notification that it wakes a thread.
    fn wakes(&mut self, row: usize, thread: &str) {
        let row = &mut self.trace.rows[row];
        row.value = match row.value.take() {
            Some(others) if row.wakes => Some(format!("{others}, {thread}")),
            _ => Some(format!("wakes {thread}")),
        };
        row.wakes = true;
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
        let (file, line) = file_and_line(self.naming.sources, span);
        let op = op.to_owned();
        self.trace.rows.push(Row {
            step,
            column,
            file,
            line,
            kind,
            op,
            object,
            value,
            is_cause: false,
            depends,
            term: None,
            wakes: false,
            interrupted: false,
            racing: false,
            index: self.trace.rows.len(),
            call: None,
            section: Section::None,
        });
        self.trace.rows.len() - 1
    }

    /// The last rows of threads before they passed by what would have let a blocked thread go on.
    fn passed(&self, obstacle: &Obstacle) -> Vec<usize> {
        let holders: Option<Vec<PathId>> = match *obstacle {
            Obstacle::Lock { address, .. } | Obstacle::Readers { address, .. } => {
                Some(self.causality.holders(address).map(|(thread, _)| thread).collect())
            }
            _ => None,
        };
        let passed = self.branches.passed(obstacle).into_iter();
        let in_the_way = passed.filter(|one| holders.as_ref().is_none_or(|holders| holders.contains(&one.thread)));
        in_the_way.filter_map(|one| one.row).collect()
    }

    /// The last rows of a deadlock: where every thread is blocked.
    fn blocked(&mut self, step: usize, scene: &Scene<'_>) {
        let Scene { naming: Naming { machine, .. }, state, .. } = *scene;
        for thread in state.threads() {
            let Some(obstacle) = machine.obstacle(state, thread) else { continue };
            let span = machine.span(state.position(thread));
            let value = scene.obstacle(&obstacle);
            let content = Content { span, kind: RowKind::Blocked, op: "waits for", object: None, value: Some(value) };
            let path = state.path(thread);
            let mut depends = self.causality.blocked(path, &obstacle);
            depends.extend(self.passed(&obstacle));
            let column = self.column(path, scene);
            let row = self.push(step, column, content, depends);
            self.trace.rows[row].call = self.stacks.of(path);
        }
    }
}

#[cfg(test)]
mod tests;
