//! The line breaks.
//!
//! **Input**: the pieces of a text with their roles. **Output**: the line breaks before each piece, and the columns before each
//! line.
//!
//! **Algorithm**: the lines of the author, with these changes.
//! 1. A `{` that does not begin a statement is in the line of its construct. There is no empty line at an edge of a list.
//! 2. In a list (of statements, members or arms) with several lines, `{` ends a line, `}` begins one, and each arm begins one. An
//!    `else` or the `while` of a `do` is in the line of a `}` that begins one.
//! 3. A line that is too long is split into a line for each statement.
//! 4. Steps 2 and 3 are repeated until nothing changes, since text further to the right may become too long. A statement moves at
//!    most once for each level of nesting, and there are few levels ([`crate::csm::syntax`]).
//!
//! **Soundness and limits**: held lines ([`super::pieces`]) are kept. No break is inserted before a line comment, and none is
//! removed after one. One statement that is too long stays so.

use super::pieces::{Kind, Piece};
use super::structure::{Placed, Role, Structure};
use crate::csm::syntax::lexer::Token;

/// Columns that a line may have, without a comment at its end.
const MAX_COLUMNS: usize = 100;

/// A text and how it is laid out so far.
#[derive(Debug)]
pub(super) struct Layout<'p, 't> {
    /// The pieces.
    pub pieces: &'p [Piece<'t>],
    /// What each is for.
    pub placed: Vec<Placed>,
    /// Line breaks before each: none, one, or two for an empty line.
    pub breaks: Vec<u8>,
    /// Columns before each that begins a line.
    pub indents: Vec<usize>,
    /// Whether a blank stands before each that does not begin a line.
    pub blanks: Vec<bool>,
}

impl<'p, 't> Layout<'p, 't> {
    /// See the text of the module.
    pub fn new(pieces: &'p [Piece<'t>]) -> Layout<'p, 't> {
        let breaks: Vec<u8> = pieces.iter().map(|piece| piece.breaks).collect();
        let (placed, indents) = place(pieces, &breaks);
        let known = |at: usize| (&pieces[at], placed[at].role);
        let is_blank = |at: usize| at > 0 && super::spacing::has_blank(known(at - 1), known(at));
        let blanks = (0..pieces.len()).map(is_blank).collect();
        let mut layout = Layout { pieces, placed, breaks, indents, blanks };
        layout.join_braces();
        layout.close_edges();
        loop {
            layout.open_lists();
            layout.join_parts();
            layout.indents = place(pieces, &layout.breaks).1;
            if !layout.split_long_lines() {
                return layout;
            }
        }
    }

    /// The lines, by their first pieces and those behind their last ones.
    pub fn lines(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut start = 0;
        std::iter::from_fn(move || {
            let all = self.pieces.len();
            let end = (start + 1..all).find(|&at| self.breaks[at] > 0).unwrap_or(all);
            let line = (start, end);
            start = end;
            (line.0 < all).then_some(line)
        })
    }

    /// Whether lines may change between a piece and the one before.
    fn is_free(&self, at: usize) -> bool {
        !self.pieces[at].is_held && !self.pieces[at - 1].is_held
    }

    /// Puts a line break before a piece. Says whether that has changed anything.
    fn break_at(&mut self, at: usize) -> bool {
        let changes = at > 0 && self.breaks[at] == 0 && self.is_free(at);
        if changes {
            self.breaks[at] = 1;
        }
        changes
    }

    /// The same, before the comments of its line that lead to it.
    fn break_before(&mut self, mut at: usize) -> bool {
        while at > 0 && self.breaks[at] == 0 && self.pieces[at - 1].is_comment() {
            at -= 1;
        }
        self.break_at(at)
    }

    /// Takes the line break before a piece away, if no comment stands there.
    fn join(&mut self, at: usize) {
        if at > 0 && !self.pieces[at - 1].is_comment() && self.is_free(at) {
            self.breaks[at] = 0;
        }
    }

    /// Step 1, braces.
    fn join_braces(&mut self) {
        for at in 1..self.pieces.len() {
            let Placed { role, is_item, .. } = self.placed[at];
            if self.pieces[at].token() == Some(Token::OpenBrace) && role == Role::OpenList && !is_item {
                self.join(at);
            }
        }
    }

    /// Step 1, empty lines.
    fn close_edges(&mut self) {
        for at in 1..self.pieces.len() {
            let is_begin = self.placed[at - 1].role == Role::OpenList;
            let is_end = self.placed[at].role == Role::CloseList && !self.pieces[at - 1].is_comment();
            if is_begin || is_end {
                self.breaks[at] = self.breaks[at].min(1);
            }
        }
    }

    /// Step 2, lists.
    fn open_lists(&mut self) {
        // What is open: where, the lines before, and the labels of its own.
        let mut open: Vec<(usize, usize, Vec<usize>)> = Vec::new();
        let mut lines = 0;
        for at in 0..self.pieces.len() {
            lines += usize::from(self.breaks[at] > 0);
            match self.placed[at].role {
                Role::OpenList => open.push((at, lines, Vec::new())),
                Role::Label => open.last_mut().into_iter().for_each(|(_, _, labels)| labels.push(at)),
                Role::CloseList => {
                    let Some((begin, before, labels)) = open.pop() else { continue };
                    if lines > before {
                        self.open_list(begin, at, &labels);
                    }
                }
                _ => {}
            }
            lines += usize::from(self.pieces[at].has_lines());
        }
    }

    /// Gives a list lines of its own.
    fn open_list(&mut self, begin: usize, end: usize, labels: &[usize]) {
        let is_trailing = |at: &usize| self.pieces[*at].is_comment() && self.breaks[*at] == 0;
        let first = (begin + 1..end).find(|at| !is_trailing(at)).unwrap_or(end);
        if self.breaks[first] == 0 {
            self.break_at(begin + 1);
        }
        self.break_at(end);
        for &label in labels.iter().filter(|&&label| label > begin + 1) {
            if self.placed[label - 1].role != Role::LabelColon {
                self.break_before(label);
            }
        }
        let behind = (end + 1..self.pieces.len()).find(|&at| !is_comment_of_line(self, at));
        if let Some(behind) = behind.filter(|&at| self.placed[at].is_item) {
            self.break_before(behind);
        }
    }

    /// Step 2, what goes on behind a list.
    fn join_parts(&mut self) {
        for at in 2..self.pieces.len() {
            let is_behind_line = self.placed[at - 1].role == Role::CloseList && self.breaks[at - 1] > 0;
            if self.placed[at].role == Role::GoesOn && is_behind_line {
                self.join(at);
            }
        }
    }

    /// Columns of a line, without a comment at its end.
    fn columns(&self, (start, end): (usize, usize)) -> usize {
        let code = (start..end).filter(|&at| self.pieces[at].kind != Kind::LineComment);
        let of = |at: usize| self.pieces[at].text.chars().count() + usize::from(at > start && self.blanks[at]);
        self.indents[start] + code.map(of).sum::<usize>()
    }

    /// Step 3. Says whether anything has changed.
    fn split_long_lines(&mut self) -> bool {
        let long: Vec<(usize, usize)> = self.lines().filter(|&line| self.columns(line) > MAX_COLUMNS).collect();
        let mut has_changed = false;
        for (start, end) in long {
            let last = (start..end).rfind(|&at| !self.pieces[at].is_comment()).unwrap_or(start);
            for at in start + 1..=last {
                has_changed |= self.split(at);
            }
        }
        has_changed
    }

    /// Puts a line break before a piece where the line of a list can end.
    fn split(&mut self, at: usize) -> bool {
        let (role, before) = (self.placed[at].role, self.placed[at - 1].role);
        let is_part = role == Role::GoesOn && self.pieces[at - 1].token() == Some(Token::Semicolon);
        let is_edge = (before == Role::OpenList) != (role == Role::CloseList);
        let stays_with_label = before == Role::LabelColon && matches!(role, Role::OpenList | Role::Label);
        match self.placed[at].is_item && !stays_with_label {
            _ if is_part || is_edge => self.break_at(at),
            true => self.break_before(at),
            false => false,
        }
    }
}

fn is_comment_of_line(layout: &Layout<'_, '_>, at: usize) -> bool {
    layout.pieces[at].is_comment() && layout.breaks[at] == 0
}

/// What each piece is for, and the columns before each that begins a line.
fn place(pieces: &[Piece<'_>], breaks: &[u8]) -> (Vec<Placed>, Vec<usize>) {
    let (mut placed, mut indents) = (vec![Placed::default(); pieces.len()], vec![0; pieces.len()]);
    let mut structure = Structure::new();
    let mut following = pieces.iter().filter_map(Piece::token).skip(1);
    // Beginnings of lines since the last token.
    let mut begun = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at == 0 || breaks[at] > 0 {
            begun.push(at);
        }
        let Some(token) = piece.token() else { continue };
        placed[at] = structure.next(token, following.next(), !begun.is_empty());
        if let Some(own) = begun.pop() {
            indents[own] = placed[at].indent;
        }
        for comment in begun.drain(..) {
            indents[comment] = placed[at].above;
        }
    }
    (placed, indents)
}
