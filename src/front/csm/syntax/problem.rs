//! Problems during parsing, recorded in a small form without text.
//!
//! In: findings of the token stream and of the parser's actions. Out: [`Problem`]s, which [`super::report`] converts to
//! diagnostics once the whole file is known.

use super::expected::Expected;
use super::lexer::LexError;
use super::limits::{MAX_PROBLEMS, RECOVERY_BUDGET};
use std::cell::{Cell, RefCell};

/// A problem and its place in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: ProblemKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ProblemKind {
    /// Text that is no token.
    Lexical(LexError),
    /// An escape that no string knows.
    BadEscape,
    /// An opener without its closer. The place is that of the token that came instead, or the end of the file.
    Unclosed {
        opener: Opener,
        /// Where the opener stands.
        opened: (u32, u32),
        /// Whether the file ended.
        at_end: bool,
    },
    /// A closer without its opener.
    Unmatched(Opener),
    /// More open at this place than [`super::limits`] allow; parsing stopped.
    TooDeep,
    /// A statement so long that it would take too long to skip it; parsing stopped.
    TooLong,
    /// A tree that is higher than [`super::ast::MAX_DEPTH`]; an error node stands in its place.
    TooHigh(&'static str),
    /// A token (or, without extent, the end of the file) that cannot stand here.
    Unexpected(Expected),
    /// A token before which a `;` is missing.
    MissingSemicolon,
    /// A function, class or the like inside a block.
    NestedDefinition(&'static str),
    /// A statement of a cobegin before its first label.
    BeforeFirstLabel,
    /// A statement of a switch before its first label.
    BeforeFirstCase,
    /// A cobegin without threads.
    NoArms,
}

/// What opens a bracketed part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opener {
    Parenthesis,
    Bracket,
    Brace,
    Cobegin,
}

impl Opener {
    /// As it is written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Opener::Parenthesis => "(",
            Opener::Bracket => "[",
            Opener::Brace => "{",
            Opener::Cobegin => "cobegin",
        }
    }

    /// What closes it.
    pub(crate) fn closer(self) -> &'static str {
        match self {
            Opener::Parenthesis => ")",
            Opener::Bracket => "]",
            Opener::Brace => "}",
            Opener::Cobegin => "coend",
        }
    }
}

/// The problems of one file, noted by the token stream and by the parser's actions in turn.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: RefCell<Vec<Problem>>,
    /// What it costs to skip the token at which the stream stands; see [`RECOVERY_BUDGET`].
    pub(crate) cost: Cell<u64>,
    spent: Cell<u64>,
    exhausted: Cell<bool>,
}

impl Problems {
    /// Notes a problem.
    pub(crate) fn note(&self, start: u32, end: u32, kind: ProblemKind) {
        let mut list = self.list.borrow_mut();
        list.push(Problem { start, end, kind });
        if list.len() >= MAX_PROBLEMS {
            self.exhausted.set(true);
        }
    }

    /// Notes a character that begins no token; a run of them is one problem.
    pub(crate) fn note_character(&self, start: u32, end: u32) {
        if self.in_characters(start) {
            if let Some(last) = self.list.borrow_mut().last_mut() {
                last.end = end;
            }
            return;
        }
        self.note(start, end, ProblemKind::Lexical(LexError::UnexpectedCharacter));
    }

    /// Whether a run of characters that begin no token ends there.
    pub(crate) fn in_characters(&self, end: u32) -> bool {
        let list = self.list.borrow();
        let is_run = |last: &Problem| {
            matches!(last.kind, ProblemKind::Lexical(LexError::UnexpectedCharacter)) && last.end == end
        };
        list.last().is_some_and(is_run)
    }

    /// Accounts for tokens that were skipped after an error.
    pub(crate) fn spend(&self, skipped: usize) {
        let spent = self.spent.get() + skipped as u64 * self.cost.get();
        self.spent.set(spent);
        if spent > RECOVERY_BUDGET {
            self.exhausted.set(true);
        }
    }

    /// Whether there are so many problems that parsing should stop.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// All that were noted, in no particular order.
    pub(crate) fn into_list(self) -> Vec<Problem> {
        self.list.into_inner()
    }
}
