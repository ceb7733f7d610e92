//! Rows of traces: the actions of a thread in a form for readers.
//!
//! **Input**: a kind, an operation, an object and a value. **Output**: a [`Row`], and its text.

use cssame_ir::{DefinitionId, ReadId};
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
    /// A `cas`, `swap` or `fetch_add` as one row; only of traces to be printed.
    Operation,
    /// A call as one row, or the beginning of one; only of traces to be printed.
    Call,
}

/// What a row is a part of, beside its step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    /// Nothing.
    #[default]
    None,
    /// A `cas`, `swap` or `fetch_add`, and what it writes.
    Operation {
        /// Its name.
        op: &'static str,
        /// Of the read: what is written then.
        new: Option<String>,
    },
    /// An atomic block.
    Block {
        /// Whether nothing of the block stands before it.
        begins: bool,
        /// Whether nothing of the block stands behind it.
        ends: bool,
    },
}

impl Section {
    /// A row of a block, by itself.
    pub(super) const BLOCK: Section = Section::Block { begins: true, ends: true };

    /// Says whether a row of a block is its last.
    pub(super) fn end(&mut self, is_last: bool) {
        if let Section::Block { ends, .. } = self {
            *ends = is_last;
        }
    }
}

/// What the words of all notifications begin with.
const NOTIFY: &str = "notify";

/// A row of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The step that it belongs to, from 1; 0 is before the first.
    pub step: usize,
    /// The column of its thread.
    pub column: usize,
    /// The file of the line, where it stands beside the one that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The source line, from 1.
    pub line: u32,
    /// What kind of thing it tells.
    pub kind: RowKind,
    /// `read`, `lock`, `print`, …
    pub op: String,
    /// The variable or the object, if there is one: the one that is touched, by its name from outside (`a.balance`, also
    /// where the text says `from.balance`).
    pub object: Option<String>,
    /// The value that was read, written, chosen or printed, the message, or whom a notification wakes.
    pub value: Option<String>,
    /// Whether it is in the causal past of the last row.
    pub is_cause: bool,
    /// Rows of the whole trace, by their indices from 0, right before it in the causal order: what the same thread did, the write that
    /// a read sees, who has let a lock go, made or ended the thread, or woken it.
    #[serde(rename = "after")]
    pub(super) depends: Vec<usize>,
    /// Of a read: the place that reads, and the definition that it reads from. Of a write: its definition.
    #[serde(skip)]
    pub(super) term: Option<(Option<ReadId>, DefinitionId)>,
    /// Of a notification: whether it wakes a thread.
    #[serde(skip)]
    pub(super) wakes: bool,
    /// Whether the thread is left behind it although it could go on.
    #[serde(skip)]
    pub(super) interrupted: bool,
    /// Whether it is one of two accesses before which both threads stood at once.
    #[serde(skip)]
    pub(super) racing: bool,
    /// Its place in the whole trace.
    #[serde(skip)]
    pub(super) index: usize,
    /// The call that it is made in, by its place in the list of calls.
    #[serde(skip)]
    pub(super) call: Option<usize>,
    /// What it is a part of.
    #[serde(skip)]
    pub(super) section: Section,
}

impl Row {
    /// `read a = 1`, `lock L`, `print 3`.
    #[must_use]
    pub fn text(&self) -> String {
        self.words().join(" ")
    }

    /// The words of its text, between two of which a line may end. A value is one, whatever stands in it.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = self.words_of_what_is_done();
        if let Section::Block { begins, ends } = self.section {
            if let (true, Some(first)) = (begins, words.first_mut()) {
                first.insert(0, '[');
            }
            if let (true, Some(last)) = (ends, words.last_mut()) {
                last.push(']');
            }
        }
        words.extend(self.racing.then(|| "(races)".to_owned()));
        words.extend(self.interrupted.then(|| "(interrupted)".to_owned()));
        words
    }

    fn words_of_what_is_done(&self) -> Vec<String> {
        let named = self.op.split(' ').chain(self.object.iter().flat_map(|object| object.split(' ')));
        let mut words: Vec<String> = named.map(str::to_owned).collect();
        let Some(value) = &self.value else { return words };
        match self.kind {
            RowKind::Read | RowKind::Write | RowKind::Choose => words.push(format!("= {value}")),
            RowKind::Print => words.push(value.clone()),
            RowKind::Failure
            | RowKind::Synchronise
            | RowKind::Thread
            | RowKind::Blocked
            | RowKind::Omitted
            | RowKind::Operation
            | RowKind::Call => {
                // A message, or whom a notification wakes.
                let is_sentence = self.kind == RowKind::Failure || self.op.starts_with(NOTIFY);
                if let (true, Some(last)) = (is_sentence, words.last_mut()) {
                    last.push(':');
                }
                words.extend(value.split(' ').map(str::to_owned));
            }
        }
        words
    }
}
