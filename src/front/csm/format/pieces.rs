//! The pieces of a text: its tokens and its comments.
//!
//! **Input**: a text. **Output**: a [`Piece`] for each token and each comment, in their order, with the line breaks before it.
//!
//! **Algorithm**
//! 1. The lexer finds the tokens; between two of them are white space and comments.
//! 2. A comment for this tool (`// cssame: …`) holds the line to which it applies: the line that it ends, or otherwise the next
//!    line with a token. No line break is inserted into a held line, and none next to it is removed ([`super::breaks`]), so that
//!    the comment still applies to the same code.
//!
//! **Soundness and limits**: text that is no token is treated as a name, so that nothing is lost.

use crate::csm::COMMENT_MARK;
use crate::csm::syntax::lexer::Token;
use logos::Logos;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind<'t> {
    /// A token.
    Token(Token<'t>),
    /// `// …`, up to the end of its line.
    LineComment,
    /// `/* … */`
    BlockComment,
}

/// A token or a comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'t> {
    /// What it is.
    pub kind: Kind<'t>,
    /// As it is written; a line comment without white space at its end.
    pub text: &'t str,
    /// Line breaks before it: none, one, or two for an empty line.
    pub breaks: u8,
    /// Its line, from 0.
    pub line: u32,
    /// Characters before it in its line.
    pub column: usize,
    /// Whether a comment to this tool is for its line.
    pub is_held: bool,
}

impl<'t> Piece<'t> {
    /// The token, if it is one.
    pub fn token(&self) -> Option<Token<'t>> {
        match self.kind {
            Kind::Token(token) => Some(token),
            Kind::LineComment | Kind::BlockComment => None,
        }
    }

    /// Whether it is a comment.
    pub fn is_comment(&self) -> bool {
        self.token().is_none()
    }

    /// Whether it is a comment of several lines.
    pub fn has_lines(&self) -> bool {
        self.kind == Kind::BlockComment && self.text.contains('\n')
    }
}

/// The pieces of a text.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut scan = Scan { pieces: Vec::new(), line: 0, column: 0, breaks: 0 };
    let mut lexer = Token::lexer(text);
    let mut end = 0;
    while let Some(token) = lexer.next() {
        let span = lexer.span();
        scan.gap(&text[end..span.start]);
        let slice = &text[span.clone()];
        scan.push(Kind::Token(token.unwrap_or(Token::Identifier(slice))), slice);
        end = span.end;
    }
    scan.gap(&text[end..]);
    let mut pieces = scan.pieces;
    if let Some(first) = pieces.first_mut() {
        first.breaks = 0;
    }
    hold(&mut pieces);
    pieces
}

struct Scan<'t> {
    pieces: Vec<Piece<'t>>,
    line: u32,
    column: usize,
    /// Line ends since the last piece, at most two.
    breaks: u8,
}

impl<'t> Scan<'t> {
    /// What stands between two tokens.
    fn gap(&mut self, mut rest: &'t str) {
        while let Some(first) = rest.chars().next() {
            let (kind, length) = match rest.as_bytes().get(..2) {
                Some(b"//") => (Some(Kind::LineComment), rest.find('\n').unwrap_or(rest.len())),
                Some(b"/*") => (Some(Kind::BlockComment), rest[2..].find("*/").map_or(rest.len(), |at| at + 4)),
                _ => (None, first.len_utf8()),
            };
            let (taken, behind) = rest.split_at(length);
            match kind {
                Some(kind) => self.push(kind, taken),
                None => {
                    self.breaks = (self.breaks + u8::from(first == '\n')).min(2);
                    self.pass(taken);
                }
            }
            rest = behind;
        }
    }

    fn push(&mut self, kind: Kind<'t>, taken: &'t str) {
        let text = if kind == Kind::LineComment { taken.trim_end() } else { taken };
        let breaks = std::mem::take(&mut self.breaks);
        self.pieces.push(Piece { kind, text, breaks, line: self.line, column: self.column, is_held: false });
        self.pass(taken);
    }

    /// Counts lines and columns.
    fn pass(&mut self, taken: &str) {
        match taken.rfind('\n') {
            Some(last) => {
                self.line += taken.matches('\n').count() as u32;
                self.column = taken[last + 1..].chars().count();
            }
            None => self.column += taken.chars().count(),
        }
    }
}

/// Step 2.
fn hold(pieces: &mut [Piece<'_>]) {
    let mut held = Vec::new();
    let mut is_next = false;
    for piece in pieces.iter() {
        if piece.token().is_some() && std::mem::take(&mut is_next) {
            held.push(piece.line);
        }
        if piece.kind == Kind::LineComment && is_for_tool(piece.text) {
            held.push(piece.line);
            is_next = true;
        }
    }
    let mut held = held.into_iter().peekable();
    for piece in pieces {
        while held.next_if(|&line| line < piece.line).is_some() {}
        piece.is_held = held.peek() == Some(&piece.line);
    }
}

fn is_for_tool(comment: &str) -> bool {
    let (mark, _) = comment.trim_start_matches('/').split_once(':').unwrap_or_default();
    mark.trim() == COMMENT_MARK
}
