//! The token stream: the input of the parser.
//!
//! In: the text of a file. Out: tokens in which `(`, `[`, `{` and `cobegin` always match their closers. Missing closers are
//! inserted and stray ones removed, each with a recorded problem. Text that is no token is removed too. So the parser never loses
//! count of the blocks, and an error inside a block does not affect the code after its end.
//!
//! A closer that does not match closes everything up to its own opener, except that `)` and `]` do not reach over a brace or a
//! cobegin. A token that can only begin a statement closes open parentheses before it. An optional `;` after `coend` and after
//! the body of a class or an enum is removed.
//!
//! The stream stops if too many constructs are open at the same time ([`super::limits`]): each open bracket, statement without
//! braces, `?` and prefix operator takes a place on the stack of the parser.

use super::lexer::{IntLiteral, LexError, Token};
use super::limits::{MAX_NESTING, MAX_PREFIXES, RECOVERY_BUDGET};
use super::problem::{Opener, ProblemKind, Problems};
use logos::{Lexer, Logos};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Parsing was given up; the reason was noted as a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop;

/// A token with its place in bytes.
type Spanned<'source> = (u32, Token<'source>, u32);

/// What has begun in one bracket and not ended; it holds places on the parser's stack.
#[derive(Clone, Copy, Default)]
struct Open {
    /// `if`, `while`, … whose statement has not ended.
    statements: u32,
    /// `?` of the current expression.
    conditionals: u32,
    /// Prefix operators that wait for their operand.
    prefixes: u32,
    /// A statement has just ended; without an `else` as the next token, nothing stays open.
    settled: bool,
}

impl Open {
    fn sum(self) -> u32 {
        self.statements + self.conditionals + self.prefixes
    }
}

/// An open bracket.
struct Frame {
    opener: Opener,
    place: (u32, u32),
    /// How many `;` it may still hold: two in the head of a `for`.
    semicolons: u8,
    /// The braces of a class or an enum.
    is_definition: bool,
    /// What was open around the bracket.
    around: Open,
}

/// See the text of the module.
pub(crate) struct TokenStream<'source, 'problems> {
    lexer: Lexer<'source, Token<'source>>,
    problems: &'problems Problems,
    frames: Vec<Frame>,
    /// What is open in the innermost bracket.
    open: Open,
    /// Sum over all brackets around the innermost.
    open_around: u32,
    /// Closers that were put in, and the token behind them.
    pending: VecDeque<Spanned<'source>>,
    previous: Token<'source>,
    before_previous: Token<'source>,
    previous_end: u32,
    /// Sum of the costs of the tokens since the last one after which the parser certainly stops skipping.
    run: u64,
    /// A `;` that comes next is left out.
    optional_semicolon: bool,
    /// A comment had no end, so that missing closers are no news.
    cut_off: bool,
    /// Names with letters outside of ASCII that were seen.
    foreign: FxHashSet<&'source str>,
}

impl<'source, 'problems> TokenStream<'source, 'problems> {
    /// The tokens of `text`.
    pub(crate) fn new(text: &'source str, problems: &'problems Problems) -> Self {
        TokenStream {
            lexer: Token::lexer(text),
            problems,
            frames: Vec::new(),
            open: Open::default(),
            open_around: 0,
            pending: VecDeque::new(),
            previous: Token::Semicolon,
            before_previous: Token::Semicolon,
            previous_end: 0,
            run: 0,
            optional_semicolon: false,
            cut_off: false,
            foreign: FxHashSet::default(),
        }
    }

    /// The next token of the lexer. What is no token is noted; it is left out, or replaced where its kind is clear.
    fn lex(&mut self) -> Option<Spanned<'source>> {
        loop {
            let token = self.lexer.next()?;
            let span = self.lexer.span();
            let (start, end) = (span.start as u32, span.end as u32);
            if let Ok(Token::Identifier(_)) | Err(LexError::UnexpectedCharacter) = token
                && !self.problems.in_characters(start)
                && let Some(name) = self.foreign_name(span.start)
            {
                return Some(name);
            }
            let error = match token {
                Ok(Token::Integer(IntLiteral { value: i64::MIN, .. })) if self.previous != Token::Minus => {
                    LexError::NumberTooLarge
                }
                // No reserved word: it is one only before a type of locks.
                Ok(Token::Identifier("reentrant"))
                    if self.lexer.clone().next() == Some(Ok(Token::Identifier("lock"))) =>
                {
                    return Some((start, Token::Reentrant, end));
                }
                Ok(token) => return Some((start, token, end)),
                Err(error) => error,
            };
            match error {
                LexError::UnexpectedCharacter => self.problems.note_character(start, end),
                _ => self.problems.note(start, end, ProblemKind::Lexical(error)),
            }
            match error {
                LexError::UnterminatedString => return Some((start, Token::Text("\"\""), end)),
                // A character is a number elsewhere, and goes where a number does.
                LexError::ForeignQuotes if !self.lexer.slice().starts_with('\'') || end - start > 3 => {
                    return Some((start, Token::Text("\"\""), end));
                }
                LexError::UnterminatedComment => self.cut_off = true,
                LexError::NumberTooLarge | LexError::LeadingZero | LexError::ForeignQuotes => {
                    return Some((start, Token::Integer(IntLiteral { value: 0, long: false }), end));
                }
                LexError::UnexpectedCharacter | LexError::Directive if self.problems.exhausted() => return None,
                LexError::UnexpectedCharacter | LexError::Directive | LexError::ForeignLetter => {}
            }
        }
    }

    /// A name that begins there, or goes on behind the token there, with letters or digits outside of ASCII. The first place of
    /// each such name is noted; it counts as a name, so that nothing else is said of it.
    fn foreign_name(&mut self, start: usize) -> Option<Spanned<'source>> {
        let source = self.lexer.source();
        let is_part = |each: char| each.is_alphanumeric() || each == '_';
        let behind = self.lexer.remainder().find(|each: char| !is_part(each)).unwrap_or(self.lexer.remainder().len());
        let end = self.lexer.span().end + behind;
        let name = source.get(start..end)?;
        if name.is_ascii() || !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            return None;
        }
        self.lexer.bump(behind);
        if self.foreign.insert(name) {
            self.problems.note(start as u32, end as u32, ProblemKind::Lexical(LexError::ForeignLetter));
        }
        Some((start as u32, Token::Identifier(name), end as u32))
    }

    /// Takes a token into account and gives the one that the parser sees in its place, if any.
    fn advance(&mut self, (start, token, end): Spanned<'source>) -> Result<Option<Spanned<'source>>, Stop> {
        let mut token = token;
        if std::mem::take(&mut self.optional_semicolon) && token == Token::Semicolon {
            return Ok(None);
        }
        match token {
            Token::Semicolon => token = self.semicolon(start, end),
            Token::CloseParenthesis => return Ok(self.close(Opener::Parenthesis, (start, token, end))),
            Token::CloseBracket => return Ok(self.close(Opener::Bracket, (start, token, end))),
            Token::CloseBrace => return Ok(self.close(Opener::Brace, (start, token, end))),
            Token::Coend => return Ok(self.close(Opener::Cobegin, (start, token, end))),
            // Braces behind `=` hold the values of an array, also in the head of a `for`.
            Token::OpenBrace if self.previous == Token::Assign => {}
            _ if begins_statement(token) => self.close_parentheses(start, end),
            _ => {}
        }
        self.count(token);
        self.check(token, start, end)?;
        match token {
            Token::OpenParenthesis => self.open(Opener::Parenthesis, start, end)?,
            Token::OpenBracket => self.open(Opener::Bracket, start, end)?,
            Token::OpenBrace => self.open(Opener::Brace, start, end)?,
            Token::Cobegin => self.open(Opener::Cobegin, start, end)?,
            _ => {}
        }
        Ok(Some(self.emit(start, token, end)))
    }

    fn emit(&mut self, start: u32, token: Token<'source>, end: u32) -> Spanned<'source> {
        self.before_previous = self.previous;
        self.previous = token;
        self.previous_end = end;
        (start, token, end)
    }

    fn open(&mut self, opener: Opener, start: u32, end: u32) -> Result<(), Stop> {
        if self.frames.len() >= MAX_NESTING {
            return self.stop(start, end, ProblemKind::TooDeep);
        }
        let is_head = opener == Opener::Parenthesis && matches!(self.previous, Token::For | Token::Parfor);
        let around = std::mem::take(&mut self.open);
        self.open_around += around.sum();
        self.frames.push(Frame {
            opener,
            place: (start, end),
            semicolons: if is_head { 2 } else { 0 },
            is_definition: opener == Opener::Brace
                && (matches!(self.before_previous, Token::Class | Token::Enum) || self.previous == Token::Enum),
            around,
        });
        Ok(())
    }

    /// Removes the innermost bracket, which is closed.
    fn pop(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.open_around -= frame.around.sum();
        self.open = frame.around;
        match frame.opener {
            Opener::Parenthesis if is_scalar_type(self.previous) => self.open.prefixes += 1,
            Opener::Parenthesis | Opener::Bracket => self.open.prefixes = 0,
            Opener::Brace | Opener::Cobegin => self.open.settled = true,
        }
        self.optional_semicolon = frame.is_definition || frame.opener == Opener::Cobegin;
    }

    /// A closer: closes all up to its opener, or is left out where there is none.
    fn close(&mut self, opener: Opener, closer: Spanned<'source>) -> Option<Spanned<'source>> {
        let (start, token, end) = closer;
        let within_statement = matches!(opener, Opener::Parenthesis | Opener::Bracket);
        let reach = self
            .frames
            .iter()
            .rev()
            .take_while(|frame| !within_statement || matches!(frame.opener, Opener::Parenthesis | Opener::Bracket));
        let Some(above) = reach.map(|frame| frame.opener).position(|other| other == opener) else {
            self.problems.note(start, end, ProblemKind::Unmatched(opener));
            return None;
        };
        for _ in 0..above {
            self.put_in_closer(start, end, false);
        }
        self.pop();
        Some(self.emit(start, token, end))
    }

    /// Closes the innermost bracket, whose closer is missing before the token at `start..end`.
    fn put_in_closer(&mut self, start: u32, end: u32, at_end: bool) {
        let Some(frame) = self.frames.last() else { return };
        let (opener, opened) = (frame.opener, frame.place);
        if !self.cut_off {
            self.problems.note(start, end, ProblemKind::Unclosed { opener, opened, at_end });
        }
        let token = match opener {
            Opener::Parenthesis => Token::CloseParenthesis,
            Opener::Bracket => Token::CloseBracket,
            Opener::Brace => Token::CloseBrace,
            Opener::Cobegin => Token::Coend,
        };
        self.pop();
        let at = self.previous_end;
        let closer = self.emit(at, token, at);
        self.pending.push_back(closer);
    }

    /// Closes parentheses and square brackets before what can only begin a statement.
    fn close_parentheses(&mut self, start: u32, end: u32) {
        while let Some(Frame { opener: Opener::Parenthesis | Opener::Bracket, .. }) = self.frames.last() {
            self.put_in_closer(start, end, false);
        }
    }

    /// A `;` ends a statement, or a part of the head of a `for`.
    fn semicolon(&mut self, start: u32, end: u32) -> Token<'source> {
        while let Some(frame) = self.frames.last_mut() {
            match frame.opener {
                Opener::Parenthesis if frame.semicolons > 0 => {
                    frame.semicolons -= 1;
                    return Token::HeadSemicolon;
                }
                Opener::Parenthesis | Opener::Bracket => self.put_in_closer(start, end, false),
                Opener::Brace | Opener::Cobegin => break,
            }
        }
        Token::Semicolon
    }

    /// Counts what a token leaves open.
    fn count(&mut self, token: Token<'source>) {
        if self.open.settled && token != Token::Else {
            self.open = Open::default();
        }
        self.open.settled = false;
        match token {
            Token::Identifier(_) | Token::Integer(_) | Token::This | Token::True | Token::False => {
                self.open.prefixes = 0;
            }
            Token::Semicolon => self.open.settled = true,
            Token::Comma | Token::HeadSemicolon => {
                self.open.conditionals = 0;
                self.open.prefixes = 0;
            }
            Token::If | Token::While | Token::For | Token::Do | Token::Parfor => self.open.statements += 1,
            Token::Question => self.open.conditionals += 1,
            Token::Exclamation | Token::Tilde => self.open.prefixes += 1,
            Token::Minus if !ends_operand(self.previous) => self.open.prefixes += 1,
            _ => {}
        }
    }

    /// Stops where too much is open, and where skipping the statement would take long.
    fn check(&mut self, token: Token<'source>, start: u32, end: u32) -> Result<(), Stop> {
        let prefixes = self.open_around + self.open.sum();
        let open = 1 + self.frames.len() as u64 + u64::from(prefixes);
        self.problems.cost.set(open * open);
        self.run = if token == Token::Semicolon || begins_statement(token) { 0 } else { self.run + open * open };
        if prefixes > MAX_PREFIXES {
            return self.stop(start, end, ProblemKind::TooDeep);
        }
        if self.run > RECOVERY_BUDGET {
            return self.stop(start, end, ProblemKind::TooLong);
        }
        Ok(())
    }

    fn stop(&mut self, start: u32, end: u32, reason: ProblemKind) -> Result<(), Stop> {
        self.problems.note(start, end, reason);
        Err(Stop)
    }
}

impl<'source> Iterator for TokenStream<'source, '_> {
    type Item = Result<Spanned<'source>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(token) = self.pending.pop_front() {
                return Some(Ok(token));
            }
            if self.problems.exhausted() {
                return Some(Err(Stop));
            }
            match self.lex() {
                Some(token) => match self.advance(token) {
                    Ok(Some(token)) if self.pending.is_empty() => return Some(Ok(token)),
                    Ok(Some(token)) => self.pending.push_back(token),
                    Ok(None) => {}
                    Err(Stop) => return Some(Err(Stop)),
                },
                None if self.frames.is_empty() => return None,
                None => {
                    let end = self.previous_end;
                    while !self.frames.is_empty() {
                        self.put_in_closer(end, end, true);
                    }
                }
            }
        }
    }
}

/// Tokens that no expression and no head of a statement holds.
fn begins_statement(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::OpenBrace
            | Token::If
            | Token::Else
            | Token::While
            | Token::Do
            | Token::For
            | Token::Break
            | Token::Continue
            | Token::Return
            | Token::Cobegin
            | Token::Parfor
            | Token::Synchronized
            | Token::Atomic
            | Token::Class
            | Token::Enum
            | Token::Switch
            | Token::Case
            | Token::Default
            | Token::Fallthrough
    )
}

fn is_scalar_type(token: Token<'_>) -> bool {
    matches!(token, Token::Int | Token::Long | Token::Bool | Token::DoubleType)
}

fn ends_operand(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Identifier(_)
            | Token::Integer(_)
            | Token::Double(_)
            | Token::Text(_)
            | Token::This
            | Token::True
            | Token::False
            | Token::CloseParenthesis
            | Token::CloseBracket
    )
}
