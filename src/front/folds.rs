//! The foldable parts of a text for an editor: blocks and comments.
//!
//! **Input**: a text. **Output**: [`Fold`]s, sorted by their ends.
//!
//! **Algorithm**: one pass over the tokens and comments, with a stack of the open constructs: `{` and `cobegin`.
//!
//! **Soundness and limits**: a text with syntax errors has the folds of the closed constructs; a closer without its opener closes
//! nothing.

use super::csm::format::pieces::{Kind, pieces};
use super::csm::syntax::lexer::Token;

/// Lines that can be folded into the first one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The first line, from 0.
    pub first: u32,
    /// The last line that is folded, from 0; a closing brace stays in sight.
    pub last: u32,
    /// Whether it is a comment.
    pub is_comment: bool,
}

/// What can be folded of a text.
#[must_use]
pub fn folds(text: &str) -> Vec<Fold> {
    let mut folds = Vec::new();
    let mut open: Vec<(u32, bool)> = Vec::new();
    // Line comments in lines of their own, one below the other.
    let mut run: Option<(u32, u32)> = None;
    for (index, piece) in pieces(text).iter().enumerate() {
        let is_whole_line = piece.kind == Kind::LineComment && (index == 0 || piece.breaks > 0);
        run = match run {
            Some((first, last)) if is_whole_line && piece.line == last + 1 => Some((first, piece.line)),
            _ => {
                folds.extend(run.and_then(|(first, last)| fold(first, last, true)));
                is_whole_line.then_some((piece.line, piece.line))
            }
        };
        match piece.kind {
            Kind::BlockComment => {
                let last = piece.line + piece.text.matches('\n').count() as u32;
                folds.extend(fold(piece.line, last, true));
            }
            Kind::Token(token @ (Token::OpenBrace | Token::Cobegin)) => {
                open.push((piece.line, token == Token::Cobegin))
            }
            Kind::Token(token @ (Token::CloseBrace | Token::Coend)) => {
                if let Some((first, _)) = open.pop_if(|(_, is_cobegin)| *is_cobegin == (token == Token::Coend)) {
                    folds.extend(fold(first, piece.line.saturating_sub(1), false));
                }
            }
            Kind::Token(_) | Kind::LineComment => {}
        }
    }
    folds.extend(run.and_then(|(first, last)| fold(first, last, true)));
    folds
}

fn fold(first: u32, last: u32, is_comment: bool) -> Option<Fold> {
    (first < last).then_some(Fold { first, last, is_comment })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(u32, u32, bool)> {
        folds(text).into_iter().map(|fold| (fold.first, fold.last, fold.is_comment)).collect()
    }

    #[test]
    fn blocks_and_comments() {
        let text =
            "// a\n// b\n\n// c\nvoid f() {\n  cobegin // d\n    T: { x(); }\n    // e\n    // f\n  coend\n}\n/*\n*/\n";
        assert_eq!(of(text), [(0, 1, true), (7, 8, true), (5, 8, false), (4, 9, false), (11, 12, true)]);
    }

    #[test]
    fn what_is_not_closed_is_not_folded() {
        assert_eq!(of("{\n{\n}\n"), []);
        assert_eq!(of("}\n{\nx\n}\n"), [(1, 2, false)]);
        assert_eq!(of("cobegin\n{\nx\ncoend\n}"), [(1, 3, false)]);
        assert_eq!(of(""), []);
    }
}
