//! How deep trees can be, measured on tokens before they are parsed.
//!
//! Parser and analysis recurse, and the stack has an end: a program that nests deeper than [`LIMIT`] is refused. The measure is
//! an upper bound. Brackets nest; within them each operator, since `a + b + c` is a tree as deep as it is long; and each
//! head of a statement that has not ended, `if (a) if (b) …`, `else if …`, `case 1: case 2: …`. Before that, brackets are counted in
//! the bytes of a file, for the preprocessor, which recurses on arguments of macros.

use rucc_diag::Span as ReadSpan;
use rucc_lex::{Keyword, Punct, Token, TokenKind};

/// Levels that a tree may have.
const LIMIT: u32 = 10_000;

/// Levels of brackets that a file may have: the parser takes some 250, arguments of macros take time that grows with the square.
const BRACKETS: usize = 1_000;

/// The first byte of a file at which too many brackets are open, comments and texts included.
pub fn too_deep_text(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    text.iter().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > BRACKETS
    })
}

/// What is open within a pair of brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Whether the brackets are braces.
    braces: bool,
    /// Operators since the last comma or semicolon.
    operators: u32,
    /// Commas since the last semicolon: a chain of them is a tree, too.
    commas: u32,
    /// Heads of statements that have not ended.
    heads: u32,
}

impl Level {
    /// How deep the tree can be at this level; commas in braces separate values of an initialiser, unless a `;` follows.
    fn depth(&self) -> u32 {
        self.operators + self.heads + if self.braces { 0 } else { self.commas }
    }
}

/// The span of the first token that is nested too deeply.
pub fn too_deep(tokens: &[Token]) -> Option<ReadSpan> {
    let mut levels = vec![Level { braces: true, ..Level::default() }];
    let mut around = 0_u32;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        match token.kind {
            TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) => {
                around += levels.last().map_or(0, Level::depth) + 1;
                levels.push(Level { braces: is(token, Punct::LBrace), ..Level::default() });
            }
            TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace) if levels.len() > 1 => {
                levels.pop();
                around = around.saturating_sub(levels.last().map_or(0, Level::depth) + 1);
                close(&mut levels, token, next);
            }
            _ => step(levels.last_mut()?, token, next),
        }
        let top = levels.last()?;
        let commas = if is(token, Punct::Semi) { top.commas } else { 0 };
        if around + top.depth() + commas > LIMIT {
            return Some(token.span);
        }
        if is(token, Punct::Semi) {
            levels.last_mut()?.commas = 0;
        }
    }
    None
}

fn is(token: &Token, punct: Punct) -> bool {
    token.kind == TokenKind::Punct(punct)
}

/// What a closed bracket is for the level around it: the end of a statement, or one more operator.
fn close(levels: &mut [Level], token: &Token, next: Option<&Token>) {
    let Some(level) = levels.last_mut() else { return };
    if is(token, Punct::RBrace) && level.braces {
        end_statement(level, next);
    } else {
        level.operators += 1;
    }
}

/// A statement has ended; its heads have not where an `else` follows.
fn end_statement(level: &mut Level, next: Option<&Token>) {
    level.operators = 0;
    if next.and_then(|next| next.keyword()) != Some(Keyword::Else) {
        level.heads = 0;
    }
}

/// A token that is no bracket.
fn step(level: &mut Level, token: &Token, next: Option<&Token>) {
    use Keyword::{Case, Default, Do, Else, For, If, Sizeof, Switch, While};
    match token.kind {
        TokenKind::Punct(Punct::Comma) => {
            level.operators = 0;
            level.commas += 1;
        }
        TokenKind::Punct(Punct::Semi) => end_statement(level, next),
        TokenKind::Punct(_) | TokenKind::Keyword(Sizeof) => level.operators += 1,
        TokenKind::Keyword(If | Else | For | While | Do | Switch | Case | Default) => level.heads += 1,
        TokenKind::Ident if next.is_some_and(|next| is(next, Punct::Colon)) => level.heads += 1,
        _ => {}
    }
}
