//! Messages for the problems of a file.
//!
//! In: the text and the noted [`Problem`]s. Out: diagnostics in the order of their places, and a note if the parser has stopped
//! because there are too many. A second pass of the lexer, made only if there are problems, finds the token before each of them.
//! A missing `;` is shown after this token. Consequences of an earlier problem are left out: an unexpected token on the line of
//! an earlier problem in the same statement, one inside parentheses that are not closed, and a label or a function inside a block
//! where a `}` is missing.

use super::advice::{Around, advice, of_threads, of_word};
use super::expected::Expected;
use super::lexer::{LexError, Token};
use super::limits::MAX_NESTING;
use super::problem::{Opener, Problem, ProblemKind, Problems};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_source::{FileId, SourceFile, Span};
use logos::Logos;

/// Quotation marks in which no text stands.
const QUOTES: [char; 8] = ['\'', '‘', '’', '“', '”', '„', '«', '»'];

const STRAIGHT_QUOTES: &str = "write a text in straight double quotes: `\"…\"`";

/// A problem with what the second pass found out.
struct Placed {
    problem: Problem,
    /// The token before it; empty at the start of the file.
    previous: (u32, u32),
    /// How many statements have ended before it.
    statement: usize,
}

impl Placed {
    /// The place that is shown: behind the token before, where something is missing.
    fn shown(&self) -> (u32, u32) {
        match self.problem.kind {
            ProblemKind::MissingSemicolon
            | ProblemKind::Unclosed { at_end: true, .. }
            | ProblemKind::Unclosed { opener: Opener::Parenthesis | Opener::Bracket, .. } => {
                (self.previous.1, self.previous.1)
            }
            _ => (self.problem.start, self.problem.end),
        }
    }
}

/// All diagnostics of a file.
pub(crate) fn diagnostics(source: &SourceFile, file: FileId, problems: Problems) -> Vec<Diagnostic> {
    let exhausted = problems.exhausted();
    let list = problems.into_list();
    if list.is_empty() {
        return Vec::new();
    }
    let kept = without_consequences(source, settle_unclosed(source.text(), place(source.text(), list)));
    let writer = Writer { source, file, suspect: find_suspect(source.text(), &kept) };
    let mut shown: Vec<Diagnostic> = kept.iter().map(|placed| writer.diagnostic(placed)).collect();
    if exhausted {
        let message = "too many errors: the rest of the file was not read";
        shown.push(Diagnostic::general(Code::TooManyErrors, Severity::Note, message));
    }
    shown
}

/// Finds the token before each problem and the statement that it belongs to.
fn place(text: &str, mut problems: Vec<Problem>) -> Vec<Placed> {
    problems.sort_by_key(|problem| (problem.start, problem.end));
    let mut lexer = Token::lexer(text);
    let (mut previous, mut statement) = ((0, 0), 0);
    let mut next = lexer.next();
    let mut placed = Vec::with_capacity(problems.len());
    for problem in problems {
        while let Some(token) = next {
            let span = lexer.span();
            if span.start as u32 >= problem.start {
                break;
            }
            previous = (span.start as u32, span.end as u32);
            statement += usize::from(matches!(token, Ok(Token::Semicolon | Token::CloseBrace | Token::Coend)));
            next = lexer.next();
        }
        placed.push(Placed { problem, previous, statement });
    }
    placed
}

/// Brackets that are not closed are noticed late. If something inside parentheses did not fit, that is the better place
/// for the missing closer, and all that was found inside is left out; so are labels inside braces that `coend` closed.
fn settle_unclosed(text: &str, placed: Vec<Placed>) -> Vec<Placed> {
    let mut moves: Vec<(usize, usize)> = Vec::new();
    let mut dropped = vec![false; placed.len()];
    for (index, unclosed) in placed.iter().enumerate() {
        let ProblemKind::Unclosed { opener, opened, at_end: false } = unclosed.problem.kind else { continue };
        let braces = matches!(opener, Opener::Brace | Opener::Cobegin);
        let mut first = None;
        for at in (0..index).rev().take_while(|&at| placed[at].problem.start > opened.0) {
            match &placed[at].problem.kind {
                ProblemKind::Unexpected(expected) if braces => {
                    dropped[at] |= expected.assignment && text[placed[at].problem.start as usize..].starts_with(':');
                }
                ProblemKind::MissingSemicolon if braces => {}
                ProblemKind::Unexpected(expected) => {
                    dropped[at] = true;
                    first = if expected.operator { Some(at) } else { first };
                }
                ProblemKind::MissingSemicolon => dropped[at] = true,
                _ => {}
            }
        }
        moves.extend(first.map(|first| (index, first)));
    }
    let mut placed = placed;
    for (index, first) in moves {
        let (previous, statement) = (placed[first].previous, placed[first].statement);
        let (start, end) = (placed[first].problem.start, placed[first].problem.end);
        let unclosed = &mut placed[index];
        (unclosed.previous, unclosed.statement) = (previous, statement);
        (unclosed.problem.start, unclosed.problem.end) = (start, end);
    }
    let mut kept: Vec<Placed> =
        placed.into_iter().zip(dropped).filter(|(_, dropped)| !dropped).map(|(placed, _)| placed).collect();
    kept.sort_by_key(Placed::shown);
    kept
}

/// Leaves out what only follows from another problem.
fn without_consequences(source: &SourceFile, placed: Vec<Placed>) -> Vec<Placed> {
    let brace_missing =
        placed.iter().any(|placed| matches!(placed.problem.kind, ProblemKind::Unclosed { opener: Opener::Brace, .. }));
    // Line and statement of the last problem that may have others in its train.
    let mut last = None;
    let mut stands_alone = |placed: &Placed| {
        let here = Some((source.position(placed.shown().0).line, placed.statement));
        match placed.problem.kind {
            ProblemKind::Unexpected(_) | ProblemKind::MissingSemicolon if last == here => return false,
            ProblemKind::NestedDefinition(_) => return !brace_missing,
            ProblemKind::TooHigh(_) | ProblemKind::BadEscape => return true,
            _ => last = here,
        }
        true
    };
    placed.into_iter().filter(|placed| stands_alone(placed)).collect()
}

/// Where a `}` is missing at the end of the file: the first `{` whose `}` stands on a line of other indentation, for
/// that one is probably not its own.
fn find_suspect(text: &str, kept: &[Placed]) -> Option<(u32, u32)> {
    let missing = |placed: &Placed| {
        matches!(placed.problem.kind, ProblemKind::Unclosed { opener: Opener::Brace, at_end: true, .. })
    };
    if !kept.iter().any(missing) {
        return None;
    }
    let mut lexer = Token::lexer(text);
    let mut open: Vec<(u32, usize, usize)> = Vec::new();
    let (mut line_start, mut indentation, mut seen) = (0, 0, 0);
    while let Some(token) = lexer.next() {
        let span = lexer.span();
        let first_of_line = text[seen..span.start].rfind('\n').map(|at| seen + at + 1);
        if let Some(start) = first_of_line {
            (line_start, indentation) = (start, span.start - start);
        }
        seen = span.start;
        match token {
            Ok(Token::OpenBrace) => open.push((span.start as u32, line_start, indentation)),
            Ok(Token::CloseBrace) => {
                let (at, line, expected) = open.pop()?;
                if line != line_start && first_of_line.is_some() && expected != indentation {
                    return Some((at, at + 1));
                }
            }
            _ => {}
        }
    }
    None
}

/// Words one problem.
struct Writer<'source> {
    source: &'source SourceFile,
    file: FileId,
    suspect: Option<(u32, u32)>,
}

impl Writer<'_> {
    fn span(&self, (start, end): (u32, u32)) -> Span {
        Span { file: self.file, start, end }
    }

    /// A token as it stands in the text, shortened if it is long.
    fn quote(&self, (start, end): (u32, u32)) -> String {
        const LONGEST: usize = 30;
        let text = self.source.text().get(start as usize..end as usize).unwrap_or("");
        match text.char_indices().nth(LONGEST) {
            Some((at, _)) => format!("`{}…`", &text[..at]),
            None => format!("`{text}`"),
        }
    }

    fn diagnostic(&self, placed: &Placed) -> Diagnostic {
        let place = placed.shown();
        match &placed.problem.kind {
            ProblemKind::Lexical(kind) => self.lexical(*kind, place),
            ProblemKind::BadEscape => {
                let message = format!("unknown escape {} in a string", self.quote(place));
                self.error(Code::BadEscape, place, message, "unknown escape")
                    .with_help("the escapes are `\\n`, `\\t`, `\\r`, `\\0`, `\\\\` and `\\\"`")
            }
            ProblemKind::Unclosed { opener, opened, at_end } => self.unclosed(placed, *opener, *opened, *at_end),
            ProblemKind::Unmatched(opener) => {
                let (open, close) = (opener.text(), opener.closer());
                let message = format!("`{close}` without a `{open}`");
                self.error(Code::UnexpectedToken, place, message, "nothing to close here")
                    .with_help(format!("remove this `{close}`, or open a `{open}` before it"))
            }
            ProblemKind::TooDeep | ProblemKind::TooLong | ProblemKind::TooHigh(_) => self.limit(placed),
            ProblemKind::Unexpected(expected) => self.unexpected(placed, expected),
            ProblemKind::MissingSemicolon => {
                let before = self.quote(placed.previous);
                self.error(Code::UnexpectedToken, place, format!("missing `;` after {before}"), "expected `;`")
                    .with_help(match self.advice_on_semicolon(placed) {
                        Some(help) => help.to_owned(),
                        None => format!("put `;` after {before}"),
                    })
            }
            ProblemKind::NestedDefinition(what) => {
                let message = format!("{what} {} inside a block", self.quote(place));
                self.error(Code::UnexpectedToken, place, message, "not possible here")
                    .with_help(format!("move the {what} to top level, or close the block before it with `}}`"))
            }
            ProblemKind::BeforeFirstLabel => {
                let message = "statement before the first label of a cobegin";
                self.error(Code::UnexpectedToken, place, message, "belongs to no thread")
                    .with_help("put a label in front, such as `T1:`")
            }
            ProblemKind::BeforeFirstCase => {
                let message = "statement before the first label of a switch";
                self.error(Code::UnexpectedToken, place, message, "is never run")
                    .with_help("put a label in front, such as `case 1:` or `default:`, or move it before the switch")
            }
            ProblemKind::NoArms => self
                .error(Code::UnexpectedToken, place, "cobegin without threads", "no label inside")
                .with_help("write at least one labelled statement, such as `T1: skip;`"),
        }
    }

    fn error(&self, code: Code, place: (u32, u32), message: impl Into<String>, label: &str) -> Diagnostic {
        Diagnostic::error(code, self.span(place), message, label)
    }

    /// Something past a bound of [`super::limits`].
    fn limit(&self, placed: &Placed) -> Diagnostic {
        let (code, place) = (Code::NestingTooDeep, placed.shown());
        match placed.problem.kind {
            ProblemKind::TooHigh(what) => self
                .error(code, place, format!("{what} nested too deeply"), "too deep from here")
                .with_note(format!("at most {MAX_NESTING} expressions, or statements, may be nested"))
                .with_help(if what == "expression" {
                    "split it by local variables"
                } else {
                    "split it into functions"
                }),
            ProblemKind::TooLong => self
                .error(code, place, "statement too long", "too long at this depth")
                .with_note("the rest of the file was not read"),
            _ => self
                .error(code, place, format!("nested too deeply at {}", self.quote(place)), "too much is open here")
                .with_note(format!("at most {MAX_NESTING} brackets may be open; the rest of the file was not read")),
        }
    }

    fn lexical(&self, kind: LexError, place: (u32, u32)) -> Diagnostic {
        match kind {
            LexError::UnexpectedCharacter => {
                let message = format!("unexpected character {}", self.quote(place));
                let error = self.error(Code::UnexpectedCharacter, place, message, "no token begins with this");
                if self.text(place).contains(QUOTES) { error.with_help(STRAIGHT_QUOTES) } else { error }
            }
            LexError::ForeignQuotes => {
                let text = self.text(place);
                let inner = text.trim_matches(QUOTES);
                let label = if text.starts_with('\'') { "single quotes" } else { "curly quotes" };
                let message = format!("{} stands in {label}", self.quote(place));
                let error = self.error(Code::UnexpectedCharacter, place, message, label);
                let mut letters = inner.chars();
                match (letters.next(), letters.next()) {
                    (Some(only), None) if text.starts_with('\'') => error.with_help(format!(
                        "there are no characters: write the text `\"{only}\"`, or the number {}",
                        u32::from(only)
                    )),
                    _ => error.with_help(STRAIGHT_QUOTES),
                }
            }
            LexError::ForeignLetter => {
                let message = format!("the name {} has letters outside of ASCII", self.quote(place));
                self.error(Code::UnexpectedCharacter, place, message, "not possible in a name")
                    .with_help("names have the letters `a` to `z` and `A` to `Z`, digits and underscores")
            }
            LexError::UnterminatedComment => {
                let start = (place.0, place.0 + 2);
                self.error(Code::UnterminatedComment, start, "unterminated comment", "this comment has no end")
                    .with_help("end the comment with `*/`")
            }
            LexError::UnterminatedString => self
                .error(Code::UnterminatedString, place, "unterminated string", "this string has no end on its line")
                .with_help("end the string with `\"`; write `\\n` for a line break"),
            LexError::LeadingZero => {
                let message = format!("number {} begins with 0", self.quote(place));
                let text = self.source.text().get(place.0 as usize..place.1 as usize).unwrap_or("");
                let decimal = text.trim_start_matches('0');
                let decimal = if decimal.starts_with(|first: char| first.is_ascii_digit()) { decimal } else { "0" };
                self.error(Code::LeadingZero, place, message, "octal in C, decimal elsewhere")
                    .with_help(format!("write `{decimal}` for the decimal number; octal numbers do not exist here"))
            }
            LexError::Directive => {
                let message = format!("there is no preprocessor: {}", self.quote(place));
                let help = if self.source.text()[place.0 as usize..].starts_with("#include") {
                    "leave it out: a program is one file, and all operations are built in"
                } else {
                    "a constant is `const int N = 5;`, and one that the command line can set `input int n = 5;`"
                };
                self.error(Code::UnexpectedCharacter, place, message, "this line means nothing here").with_help(help)
            }
            LexError::NumberTooLarge => {
                let message = format!("number {} is too large", self.quote(place));
                self.error(Code::NumberTooLarge, place, message, "does not fit")
                    .with_help("an integer is at most 9223372036854775807, a double at most 1.7976931348623157e308")
            }
        }
    }

    fn unclosed(&self, placed: &Placed, opener: Opener, opened: (u32, u32), at_end: bool) -> Diagnostic {
        let (open, close) = (opener.text(), opener.closer());
        let label = if placed.shown() == (placed.problem.start, placed.problem.end) && !at_end {
            format!("expected `{close}` before this")
        } else {
            format!("expected `{close}`")
        };
        let mut error =
            Diagnostic::error(Code::UnexpectedToken, self.span(placed.shown()), format!("missing `{close}`"), label);
        if let Some(suspect) = self.suspect.filter(|&suspect| opener == Opener::Brace && at_end && suspect != opened) {
            error = error.with_label(self.span(suspect), "the `}` of this `{` is indented differently");
        }
        error.with_label(self.span(opened), format!("this `{open}` is not closed")).with_help(format!("add `{close}`"))
    }

    fn unexpected(&self, placed: &Placed, expected: &Expected) -> Diagnostic {
        let place = placed.shown();
        let found = if place.0 == place.1 { "end of file".to_owned() } else { self.quote(place) };
        let message = match expected.phrase.as_str() {
            "" => format!("unexpected {found}"),
            phrase => format!("unexpected {found}, expected {phrase}"),
        };
        let label = if expected.phrase.is_empty() { "unexpected" } else { &format!("expected {}", expected.phrase) };
        let error = Diagnostic::error(Code::UnexpectedToken, self.span(place), message, label);
        match advice(&found, &self.around(placed), expected) {
            Some(advice) => error.with_help(advice),
            None => error,
        }
    }

    /// What was meant by a statement that goes on where a `;` is missing.
    fn advice_on_semicolon(&self, placed: &Placed) -> Option<&'static str> {
        let found = self.quote((placed.problem.start, placed.problem.end));
        of_threads(&found, &self.around(placed)).or_else(|| of_word(self.text(placed.previous)))
    }

    fn around(&self, placed: &Placed) -> Around<'_> {
        let text = self.source.text();
        let earlier = text.get(..placed.previous.0 as usize).unwrap_or("").trim_end();
        let word = earlier.rfind(|each: char| !each.is_ascii_alphanumeric() && each != '_').map_or(0, |at| at + 1);
        Around {
            before: self.text(placed.previous),
            earlier: earlier.get(word..).unwrap_or(""),
            rest: text.get(placed.problem.start as usize..).unwrap_or(""),
        }
    }

    fn text(&self, (start, end): (u32, u32)) -> &str {
        self.source.text().get(start as usize..end as usize).unwrap_or("")
    }
}
