//! Lines of generated Java.
//!
//! In: statements, one after the other. Out: text, with or without the lines that make threads follow a plan; and for each
//! statement that is an event, its line in the file.

/// A line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    indent: usize,
    text: String,
    /// Whether it only holds the thread to the plan, and does nothing for the program.
    is_hook: bool,
    /// The events that its statement is.
    events: Vec<Mark>,
}

/// An event of the program, as an aspect sees it: a join point of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// `get` and `set` of a field, `call` of a method, `lock` and `unlock` of a monitor.
    pub(crate) join_point: &'static str,
    /// The name of the field or the method; `-` for a monitor.
    pub(crate) member: String,
    /// As plans name it.
    pub(crate) place: String,
}

/// Lines, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    indent: usize,
}

impl Mark {
    pub(super) fn new(join_point: &'static str, member: &str, place: &str) -> Mark {
        Mark { join_point, member: member.to_owned(), place: place.to_owned() }
    }
}

impl Lines {
    pub(crate) fn at(indent: usize) -> Lines {
        Lines { lines: Vec::new(), indent }
    }

    pub(crate) fn push(&mut self, text: impl Into<String>) {
        self.lines.push(Line { indent: self.indent, text: text.into(), is_hook: false, events: Vec::new() });
    }

    /// A line that holds the thread to the plan.
    pub(super) fn hook(&mut self, text: impl Into<String>) {
        self.lines.push(Line { indent: self.indent, text: text.into(), is_hook: true, events: Vec::new() });
    }

    /// A statement that is an event.
    pub(super) fn event(&mut self, text: impl Into<String>, mark: Mark) {
        self.push(text);
        self.also(mark);
    }

    /// Opens a block: what follows stands deeper.
    pub(crate) fn open(&mut self, text: impl Into<String>) {
        self.push(text);
        self.indent += 1;
    }

    /// Closes a block.
    pub(crate) fn close(&mut self, text: impl Into<String>) {
        self.indent = self.indent.saturating_sub(1);
        self.push(text);
    }

    /// Closes a block, and opens another one in the same line.
    pub(crate) fn reopen(&mut self, text: impl Into<String>) {
        self.close(text);
        self.indent += 1;
    }

    /// An event of the last statement.
    pub(super) fn also(&mut self, mark: Mark) {
        if let Some(last) = self.lines.last_mut() {
            last.events.push(mark);
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    /// Whether a line has that word.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        self.lines.iter().any(|line| line.text.contains(word))
    }

    pub(crate) fn append(&mut self, other: Lines) {
        self.lines.extend(other.lines);
    }

    /// The text, and the events by their lines, counted from 1.
    pub(crate) fn finish(&self, with_hooks: bool) -> (String, Vec<(usize, Mark)>) {
        let (mut text, mut events, mut number) = (String::new(), Vec::new(), 0);
        for line in self.lines.iter().filter(|line| with_hooks || !line.is_hook) {
            number += 1;
            if !line.text.is_empty() {
                text.extend(std::iter::repeat_n("    ", line.indent));
                text.push_str(&line.text);
            }
            text.push('\n');
            events.extend(line.events.iter().map(|mark| (number, mark.clone())));
        }
        (text, events)
    }
}
