//! The content of rows of traces: for an event, and for a blocked thread.
//!
//! **Input**: an event and the state after its step. **Output**: its [`Content`], or nothing for an event that others cannot see.
//!
//! **Algorithm**: objects have the names of the touched cells, not the words of the text: through a reference or in a method,
//! `from.balance` may be the field of any object. So two rows about one cell have one name.

use super::naming::Naming;
use super::row::RowKind;
use cssame_ir::ScalarType;
use cssame_source::Span;
use cssame_vm::{Cell, CodeIndex, Event, Failure, Obstacle, PathId, State, Tables, ThreadIndex, ThreadName};

/// What there is behind a step.
#[derive(Clone, Copy)]
pub(super) struct Scene<'s> {
    pub naming: Naming<'s>,
    pub state: &'s State,
    pub tables: &'s Tables,
}

/// What a row says.
pub(super) struct Content {
    pub span: Span,
    pub kind: RowKind,
    pub op: &'static str,
    pub object: Option<String>,
    pub value: Option<String>,
}

impl Scene<'_> {
    /// The name of a thread.
    pub(super) fn name(&self, thread: PathId) -> String {
        self.naming.machine.path_name(self.tables, thread)
    }

    /// What a row says of an event; nothing of one that others cannot see.
    pub(super) fn content_of(&self, at: CodeIndex, event: Event) -> Option<Content> {
        let Naming { program, machine, .. } = self.naming;
        let span = machine.span(at);
        let name = |thread: ThreadName| Some(self.name(thread.path));
        let object = |cell: Cell| Some(self.naming.cell(self.tables, cell));
        let content = |kind, op, object, value| Some(Content { span, kind, op, object, value });
        match event {
            Event::Read { read, cell, value, shared: true, .. } => {
                let (span, value) = (program.reads[read].span, self.value(cell, value));
                Some(Content { span, kind: RowKind::Read, op: "read", object: object(cell), value: Some(value) })
            }
            // What is given back is told behind.
            Event::Write { definition, .. } if program.definitions[definition].is_free() => None,
            Event::Free { object, .. } => {
                let memory = self.naming.pointed(self.tables, Cell { object, part: 0 });
                content(RowKind::Write, "free", Some(memory), None)
            }
            Event::Write { definition, cell, value, shared: true, .. } => {
                let (span, value) = (program.definitions[definition].span, self.value(cell, value));
                Some(Content { span, kind: RowKind::Write, op: "write", object: object(cell), value: Some(value) })
            }
            Event::Lock { cell, by, .. } if by.takes_again() => {
                content(RowKind::Synchronise, "relock", object(cell), None)
            }
            Event::Lock { cell, by, .. } | Event::Nested { cell, by, .. } if by.tries() => {
                content(RowKind::Synchronise, by.word(), object(cell), Some("is true".to_owned()))
            }
            Event::NotTaken { cell, by, .. } => {
                content(RowKind::Synchronise, by.word(), object(cell), Some("is false".to_owned()))
            }
            Event::TimedOut { cell, .. } => content(RowKind::Synchronise, "timeout", object(cell), None),
            Event::WaitToWrite { cell, .. } => {
                content(RowKind::Synchronise, "waits for", object(cell), Some("to write".to_owned()))
            }
            // Those whom it wakes follow, and are added then.
            Event::Notify { cell, .. } => {
                let op = event.synchronisation()?.0.word();
                content(RowKind::Synchronise, op, cell.and_then(object), Some("nobody waits".to_owned()))
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
                let line = self.tables.last_line(output).unwrap_or_default().to_owned();
                content(RowKind::Print, "print", None, Some(line))
            }
            Event::Failure(failure) => Some(self.failure(span, failure)),
            _ => {
                let (kind, _) = event.synchronisation()?;
                content(RowKind::Synchronise, kind.word(), synchronised(event).and_then(object), None)
            }
        }
    }

    fn failure(&self, span: Span, failure: Failure) -> Content {
        let message = self.naming.failure_message(&failure);
        let op = failure.kind.status();
        Content { span, kind: RowKind::Failure, op, object: None, value: Some(message) }
    }

    fn value(&self, cell: Cell, bits: i64) -> String {
        let program = self.naming.program;
        let leaf = cell.leaf(program).map(|leaf| &program.leaves[leaf]);
        let ty = match leaf.map(|leaf| leaf.kind) {
            Some(cssame_ir::LeafKind::Data(ty)) => ty,
            _ => ScalarType::Long,
        };
        self.naming.value((self.state, self.tables), leaf.map(|leaf| program.symbols[leaf.symbol].span), ty, bits)
    }

    /// What a blocked thread waits for: `L (T1)` for a lock that T1 holds, `b, 2 of 3` for a barrier, `set(e)`.
    pub(super) fn obstacle(&self, obstacle: &Obstacle) -> String {
        let object = |address| self.naming.object(self.state, self.tables, address);
        let name = |thread: ThreadIndex| self.name(self.state.path(thread));
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

/// The object of an operation of synchronisation, but for those that have rows of their own.
fn synchronised(event: Event) -> Option<Cell> {
    match event {
        Event::Lock { cell, .. }
        | Event::Unlock { cell, .. }
        | Event::Nested { cell, .. }
        | Event::Set { cell, .. }
        | Event::Clear { cell, .. }
        | Event::Waited { cell, .. }
        | Event::Arrive { cell, .. }
        | Event::Acquire { cell, .. }
        | Event::Release { cell, .. } => Some(cell),
        Event::Wait { cell, .. } => cell,
        _ => None,
    }
}
