//! Decides whether there is a blank between two pieces of a line.
//!
//! **Input**: two neighbours with their roles. **Output**: yes or no.
//!
//! **Algorithm**: a table of adjacent pieces; all other pieces have a blank in between. Two signs that would be read as one
//! operator are never adjacent.

use super::pieces::{Kind, Piece};
use super::structure::Role;
use crate::csm::syntax::lexer::Token;

/// A piece and its role.
pub(super) type Known<'p, 't> = (&'p Piece<'t>, Role);

/// Whether a blank stands between.
pub(super) fn has_blank(left: Known<'_, '_>, right: Known<'_, '_>) -> bool {
    !stand_close(left, right) || would_join(left.0, right.0)
}

fn stand_close((left, left_role): Known<'_, '_>, (right, right_role): Known<'_, '_>) -> bool {
    if right.kind == Kind::LineComment {
        return false;
    }
    let is_open =
        matches!(left.token(), Some(Token::OpenParenthesis | Token::OpenBracket | Token::Dot | Token::DotDot));
    if is_open || matches!(left_role, Role::Unary | Role::OpenValues) {
        return true;
    }
    match right.token() {
        Some(Token::CloseParenthesis | Token::CloseBracket | Token::Comma | Token::Dot | Token::DotDot) => true,
        Some(Token::Semicolon) => !matches!(left_role, Role::OpenList | Role::LabelColon),
        Some(Token::OpenParenthesis) => matches!(left.token(), Some(Token::Identifier(_) | Token::CloseBracket)),
        Some(Token::OpenBracket) => left.token().is_some(),
        _ => matches!(right_role, Role::Postfix | Role::LabelColon | Role::CloseValues),
    }
}

/// Whether the lexer would see something else if they stood close: `- -x`, `0.. .5`.
fn would_join(left: &Piece<'_>, right: &Piece<'_>) -> bool {
    let (last, first) = (left.text.chars().next_back(), right.text.chars().next());
    last == first && matches!(last, Some('+' | '-' | '.'))
}
