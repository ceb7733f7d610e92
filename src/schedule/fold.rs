//! Traces in a form for readers: calls in one row, atomic operations in one row, atomic blocks in brackets.
//!
//! **Input**: a [`Trace`], perhaps only the rows of a cause. **Output**: a trace for printing.
//!
//! **Algorithm**.
//!
//! 1. The read and the write of a `cas`, `swap` or `fetch_add` become one row: `cas head 1→2 ok`, `cas head failed (is 2)`. The
//!    threads of one fork become one row, too.
//! 2. In a trace of more than [`FOLDED_FROM`] rows, a completed call without rows of other threads inside is one row:
//!    `pool.acquire(0) → 1`. So calls stay open around thread switches, and at the end of the execution.
//! 3. After the row of such a call come the writes that a row of another thread reads, and the rows that a blocked thread waits
//!    for.
//! 4. An open call begins with a separate row.
//!
//! **Soundness and limits**: a call with a single row in the trace stays that row.

use super::calls::Call;
use super::row::{Row, RowKind, Section};
use super::trace::Trace;
use rustc_hash::FxHashMap;

/// Rows up to which calls are not folded: they fit on a screen.
const FOLDED_FROM: usize = 12;

impl Trace {
    /// The same with atomic operations as one row each, and unless it is short, calls that nobody came into.
    #[must_use]
    pub fn folded(&self) -> Trace {
        let trace = self.with_operations().with_forks();
        if trace.rows.len() <= FOLDED_FROM { trace } else { trace.with_calls() }
    }

    /// Step 1; and where atomic blocks begin and end.
    #[must_use]
    pub(super) fn with_operations(&self) -> Trace {
        let mut rows: Vec<Row> = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let before = rows.last_mut().filter(|before| before.step == row.step && before.column == row.column);
            match (&row.section, before) {
                (Section::Operation { op, new }, _) if row.kind == RowKind::Read => {
                    rows.push(row.operation(op, new.as_deref()))
                }
                (Section::Operation { .. }, Some(read)) if read.kind == RowKind::Operation => {
                    read.interrupted |= row.interrupted;
                }
                (Section::Block { .. }, Some(before)) if matches!(before.section, Section::Block { .. }) => {
                    before.section.end(false);
                    rows.push(Row { section: Section::Block { begins: false, ends: true }, ..row.clone() });
                }
                _ => rows.push(row.clone()),
            }
        }
        Trace { threads: self.threads.clone(), rows, calls: self.calls.clone() }
    }

    /// The threads of a fork in one row.
    fn with_forks(mut self) -> Trace {
        let mut rows: Vec<Row> = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            match rows.last_mut().filter(|before| before.is_fork() && row.is_fork() && before.step == row.step) {
                Some(fork) => fork.add_thread(&row),
                None => rows.push(row),
            }
        }
        self.rows = rows;
        self
    }

    /// Steps 2 to 4.
    fn with_calls(self) -> Trace {
        let spans = self.spans();
        let folds = self.folds(&spans);
        let fold_of = |row: &Row| row.call.and_then(|call| folds[call]);
        let shown = self.shown(&fold_of);
        let mut rows: Vec<Row> = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            match fold_of(row) {
                Some(call) => {
                    let span = spans[call];
                    if span.first == place {
                        let is_interrupted = self.rows[span.last].interrupted && !shown[span.last];
                        rows.push(self.calls[call].row(row, is_interrupted));
                    }
                }
                None => self.openings(place, &spans, &mut rows),
            }
            if shown[place] {
                rows.push(row.clone());
            }
        }
        Trace { threads: self.threads, rows, calls: Vec::new() }
    }

    /// The rows of each call and of those that it makes.
    fn spans(&self) -> Vec<Span> {
        let mut spans = vec![Span { first: usize::MAX, last: 0, count: 0, is_whole: true }; self.calls.len()];
        for (place, row) in self.rows.iter().enumerate() {
            if let Some(call) = row.call {
                let is_end = matches!(row.kind, RowKind::Failure | RowKind::Blocked);
                spans[call].add(Span { first: place, last: place, count: 1, is_whole: !is_end });
            }
        }
        // A call is made behind the one that it is made in.
        for call in (0..self.calls.len()).rev() {
            if let Some(outer) = self.calls[call].outer {
                let inner = spans[call];
                spans[outer].add(inner);
            }
        }
        spans
    }

    /// Of each call the outermost one around it, or itself, that is folded.
    fn folds(&self, spans: &[Span]) -> Vec<Option<usize>> {
        let mut folds: Vec<Option<usize>> = Vec::with_capacity(self.calls.len());
        for (place, call) in self.calls.iter().enumerate() {
            let around = call.outer.and_then(|outer| folds[outer]);
            folds.push(around.or((call.is_over && spans[place].is_alone()).then_some(place)));
        }
        folds
    }

    /// Step 3: the rows that are shown.
    fn shown(&self, fold_of: &impl Fn(&Row) -> Option<usize>) -> Vec<bool> {
        let mut shown: Vec<bool> = self.rows.iter().map(|row| fold_of(row).is_none()).collect();
        let places = self.rows.iter().enumerate().flat_map(|(at, row)| row.indices().map(move |index| (index, at)));
        let places: FxHashMap<usize, usize> = places.collect();
        for (at, row) in self.rows.iter().enumerate().rev() {
            let sees = |other: &Row| other.column != row.column && (row.kind == RowKind::Blocked || other.is_write());
            if shown[at] {
                let before = row.depends.iter().filter_map(|index| places.get(index).copied());
                before.filter(|&other| sees(&self.rows[other])).for_each(|other| shown[other] = true);
            }
        }
        shown
    }

    /// Step 4: rows of the calls that a row is the first of.
    fn openings(&self, place: usize, spans: &[Span], rows: &mut Vec<Row>) {
        let around = std::iter::successors(self.rows[place].call, |&call| self.calls[call].outer);
        let begins = around.take_while(|&call| spans[call].first == place);
        let mut begun: Vec<usize> = begins.filter(|&call| spans[call].count > 1).collect();
        while let Some(call) = begun.pop() {
            let of = &self.calls[call];
            rows.push(Row { op: format!("{}:", of.text), value: None, ..of.row(&self.rows[place], false) });
        }
    }
}

/// Where the rows of a call stand.
#[derive(Clone, Copy)]
struct Span {
    first: usize,
    last: usize,
    count: usize,
    /// Whether the execution does not end within it.
    is_whole: bool,
}

impl Span {
    fn add(&mut self, other: Span) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.count += other.count;
        self.is_whole &= other.is_whole;
    }

    /// Whether it is more than a row, and no other thread has a row within it.
    fn is_alone(&self) -> bool {
        self.is_whole && self.count > 1 && self.last - self.first + 1 == self.count
    }
}

impl Call {
    /// Its row, in the place of one within it.
    fn row(&self, within: &Row, interrupted: bool) -> Row {
        Row {
            file: self.file.clone(),
            line: self.line,
            kind: RowKind::Call,
            op: self.text.clone(),
            object: None,
            value: self.result.as_ref().map(|result| format!("→ {result}")),
            interrupted,
            racing: false,
            section: Section::None,
            ..within.clone()
        }
    }
}

impl Row {
    /// Of the read of an atomic operation, the whole operation.
    fn operation(&self, op: &str, new: Option<&str>) -> Row {
        let old = self.value.as_deref().unwrap_or("?");
        let value = match new {
            Some(new) if op == "cas" => format!("{old}→{new} ok"),
            Some(new) => format!("{old}→{new}"),
            None => format!("failed (is {old})"),
        };
        Row { kind: RowKind::Operation, op: op.to_owned(), value: Some(value), ..self.clone() }
    }

    fn is_fork(&self) -> bool {
        self.kind == RowKind::Thread && self.op == "fork"
    }

    /// Adds the thread that another row forks.
    fn add_thread(&mut self, other: &Row) {
        if let (Some(threads), Some(thread)) = (&mut self.object, &other.object) {
            *threads += ", ";
            *threads += thread;
        }
    }

    /// Whether it is, or holds, a write.
    fn is_write(&self) -> bool {
        self.kind == RowKind::Write || matches!(self.section, Section::Operation { new: Some(_), .. })
    }

    /// Its places in the whole trace: the write of an atomic operation stands right behind its read.
    fn indices(&self) -> std::ops::RangeInclusive<usize> {
        self.index..=self.index + usize::from(self.kind == RowKind::Operation && self.is_write())
    }
}

#[cfg(test)]
mod tests;
