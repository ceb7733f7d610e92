//! Tokens.
//!
//! In: the text of a file. Out: the tokens, by `logos`; blanks and comments are skipped. Text that is no token becomes a
//! [`LexError`], which [`super::tokens`] reports. Names and strings borrow from the text; the escapes of a string are resolved
//! later, by [`super::builder`].

use logos::{FilterResult, Lexer, Logos};

/// Why some text is no token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LexError {
    /// No token begins with this character.
    #[default]
    UnexpectedCharacter,
    /// `/*` without `*/`.
    UnterminatedComment,
    /// A string that its line ends.
    UnterminatedString,
    /// An integer past 64 bits, or a double past the greatest one.
    NumberTooLarge,
    /// `010`, which is eight in C.
    LeadingZero,
    /// `'a'`, or a text in curly quotes.
    ForeignQuotes,
    /// `#define` and the like, up to the end of the line.
    Directive,
    /// A name with letters or digits outside of ASCII; found by [`super::tokens`].
    ForeignLetter,
}

/// The value of an integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntLiteral {
    /// `i64::MIN` stands for 2^63, which only a unary minus makes a number.
    pub(crate) value: i64,
    /// With the suffix `L`, or too large for 32 bits.
    pub(crate) long: bool,
}

/// A token.
#[derive(Clone, Copy, Debug, Logos, PartialEq)]
#[logos(error = LexError)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip("/\\*", skip_comment))]
pub(crate) enum Token<'source> {
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Identifier(&'source str),
    #[regex("[0-9]+[lL]?", decimal)]
    #[regex("0[xX][0-9a-fA-F]+[lL]?", hexadecimal)]
    Integer(IntLiteral),
    #[regex(r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?", double)]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?", double)]
    #[regex("[0-9]+[eE][+-]?[0-9]+", double)]
    Double(f64),
    /// `reentrant`, where `lock` follows; made of an identifier by [`super::tokens`].
    Reentrant,
    /// With its quotes, escapes not resolved.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#, unterminated_string)]
    #[regex(r"'([^'\\\n]|\\[^\n])*'", foreign_quotes)]
    #[regex("[‘“”„«][^‘’“”„«»\n]*[‘’“”«»]", foreign_quotes)]
    #[regex(
        "#[ \t]*(include|define|undef|ifdef|ifndef|if|elif|else|endif|pragma)[^\n]*",
        directive,
        allow_greedy = true
    )]
    Text(&'source str),

    #[token("int")]
    Int,
    #[token("long")]
    Long,
    #[token("bool")]
    Bool,
    #[token("double")]
    DoubleType,
    #[token("string")]
    StringType,
    #[token("void")]
    Void,
    #[token("class")]
    Class,
    #[token("public")]
    Public,
    #[token("private")]
    Private,
    #[token("input")]
    Input,
    #[token("extern")]
    Extern,
    #[token("in")]
    In,
    #[token("cobegin")]
    Cobegin,
    #[token("coend")]
    Coend,
    #[token("parfor")]
    Parfor,
    #[token("synchronized")]
    Synchronized,
    #[token("atomic")]
    Atomic,
    #[token("const")]
    Const,
    #[token("enum")]
    Enum,
    #[token("switch")]
    Switch,
    #[token("case")]
    Case,
    #[token("default")]
    Default,
    #[token("fallthrough")]
    Fallthrough,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("while")]
    While,
    #[token("do")]
    Do,
    #[token("for")]
    For,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("return")]
    Return,
    #[token("spawn")]
    Spawn,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("skip")]
    Skip,
    #[token("this")]
    This,

    #[token("(")]
    OpenParenthesis,
    #[token(")")]
    CloseParenthesis,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(";")]
    Semicolon,
    /// A `;` inside parentheses, so inside the head of a `for`. The lexer never yields it: [`super::tokens`] puts it in
    /// the place of a [`Token::Semicolon`], so that recovery after an error does not stop inside a head.
    HeadSemicolon,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("=")]
    Assign,
    #[token("+=")]
    AddAssign,
    #[token("-=")]
    SubtractAssign,
    #[token("*=")]
    MultiplyAssign,
    #[token("/=")]
    DivideAssign,
    #[token("%=")]
    RemainderAssign,
    #[token("++")]
    Increment,
    #[token("--")]
    Decrement,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("&")]
    Ampersand,
    #[token("^")]
    Caret,
    #[token("|")]
    Bar,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Exclamation,
    #[token("~")]
    Tilde,
}

fn skip_comment<'source>(lexer: &mut Lexer<'source, Token<'source>>) -> Result<logos::Skip, LexError> {
    match lexer.remainder().find("*/") {
        Some(length) => {
            lexer.bump(length + 2);
            Ok(logos::Skip)
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Err(LexError::UnterminatedComment)
        }
    }
}

fn unterminated_string<'source>(_: &mut Lexer<'source, Token<'source>>) -> FilterResult<&'source str, LexError> {
    FilterResult::Error(LexError::UnterminatedString)
}

fn foreign_quotes<'source>(_: &mut Lexer<'source, Token<'source>>) -> FilterResult<&'source str, LexError> {
    FilterResult::Error(LexError::ForeignQuotes)
}

fn directive<'source>(_: &mut Lexer<'source, Token<'source>>) -> FilterResult<&'source str, LexError> {
    FilterResult::Error(LexError::Directive)
}

fn decimal<'source>(lexer: &mut Lexer<'source, Token<'source>>) -> Result<IntLiteral, LexError> {
    let text = lexer.slice();
    if text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit() {
        return Err(LexError::LeadingZero);
    }
    integer(text, 10)
}

fn hexadecimal<'source>(lexer: &mut Lexer<'source, Token<'source>>) -> Result<IntLiteral, LexError> {
    integer(&lexer.slice()[2..], 16)
}

fn integer(text: &str, radix: u32) -> Result<IntLiteral, LexError> {
    let digits = text.trim_end_matches(['l', 'L']);
    let value = u64::from_str_radix(digits, radix).map_err(|_| LexError::NumberTooLarge)?;
    if value > 1 << 63 {
        return Err(LexError::NumberTooLarge);
    }
    Ok(IntLiteral { value: value as i64, long: digits.len() < text.len() || value > i32::MAX as u64 })
}

fn double<'source>(lexer: &mut Lexer<'source, Token<'source>>) -> Result<f64, LexError> {
    match lexer.slice().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(LexError::NumberTooLarge),
    }
}
