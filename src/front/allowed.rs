//! Comments that allow findings: `// cssame: allow(CS0401): the counter is only shown`.
//!
//! **Input**: the text of a file. **Output**: [`AllowComments`]: each code that a comment allows, with the line and the
//! declarations to which it applies; errors in such comments; and the positions of functions and classes.
//!
//! **Algorithm**
//! 1. One pass over the text, which recognises strings and block comments, finds the line comments.
//! 2. A comment after code applies to its line. A comment alone on its line applies to the next line with code; other comments
//!    may be in between, an empty line may not.
//! 3. If a function, a method or a class begins in that line, the comment applies to all of it.
//!
//! **Soundness and limits**: block comments allow nothing. The tree is only built for a file with such a comment.

use super::csm::COMMENT_MARK as MARK;
use super::csm::syntax::ast::{Function, Item, MemberKind};
use super::csm::syntax::parse;
use cssame_diagnostics::{Code, Diagnostic, nearest};
use cssame_source::{FileId, SourceFile, SourceMap, Span};

/// The line in programs that were written by the tool ([`crate::PRIVATE_FIELDS_BEHIND`]).
const RECORDED_STATE: &str = "recorded state";

/// How such a comment is written.
const FORM: &str = "write it as `// cssame: allow(CS0401): why`";

/// A code that a comment allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Which.
    pub code: Code,
    /// Where the code stands in the comment.
    pub span: Span,
    /// The line that the comment is for, from 1.
    pub line: u32,
    /// The functions and classes that it is for.
    pub inside: Vec<Span>,
}

/// All comments of a file.
#[derive(Clone, Debug, Default)]
pub struct AllowComments {
    /// In the order of the text.
    pub allowed: Vec<Allowed>,
    /// Comments that were meant so, but say nothing.
    pub problems: Vec<Diagnostic>,
}

/// A function, a method or a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// `f`, `Account.deposit`, `Account`.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// All of it.
    pub span: Span,
}

/// Whether a text may have such comments.
#[must_use]
pub fn may_allow(text: &str) -> bool {
    line_comments(text).any(|comment| is_meant(comment.text))
}

/// The comments of a file.
#[must_use]
pub fn allow_comments(sources: &SourceMap, file: FileId) -> AllowComments {
    let mut found = AllowComments::default();
    let comments: Vec<Comment<'_>> =
        line_comments(sources.file(file).text()).filter(|one| is_meant(one.text)).collect();
    if comments.is_empty() {
        return found;
    }
    let scopes = scopes(sources, file);
    let lines = targets(sources.file(file), &comments);
    for (comment, line) in comments.iter().zip(lines) {
        match one_comment(sources, (file, comment, line), &scopes) {
            Ok(codes) => codes.into_iter().for_each(|code| match code {
                Ok(allowed) => found.allowed.push(allowed),
                Err(problem) => found.problems.push(problem),
            }),
            Err((what, help)) => {
                let place = Span::new(file, comment.start, comment.start + comment.text.len());
                let message = format!("invalid `{MARK}` comment");
                let problem = Diagnostic::warning(Code::BadSuppression, place, message, what);
                found.problems.push(problem.with_help(help));
            }
        }
    }
    found
}

/// What a comment allows, code by code; else what is wrong with it, and what helps.
fn one_comment(
    sources: &SourceMap,
    (file, comment, line): (FileId, &Comment<'_>, Option<u32>),
    scopes: &[Scope],
) -> Result<Vec<Result<Allowed, Diagnostic>>, (&'static str, String)> {
    let codes = codes(comment.text)?;
    let Some(line) = line else {
        return Err((
            "there is no code in the next line",
            "put it in the line of the code, or in the line before it".to_owned(),
        ));
    };
    let begins = |scope: &&Scope| (sources.line(scope.span)..=sources.line(scope.name_span)).contains(&line);
    let inside: Vec<Span> = scopes.iter().filter(begins).map(|scope| scope.span).collect();
    let allowed = codes.into_iter().map(|(start, text)| {
        let span = Span::new(file, comment.start + start, comment.start + start + text.len());
        Ok(Allowed { code: code(text, span)?, span, line, inside: inside.clone() })
    });
    Ok(allowed.collect())
}

/// The functions, methods and classes of a file, as far as it can be parsed.
#[must_use]
pub fn scopes(sources: &SourceMap, file: FileId) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let mut add = |of: &Function, class: Option<&str>| {
        let name = class.map_or_else(|| of.name.name.clone(), |class| format!("{class}.{}", of.name.name));
        scopes.push(Scope { name, name_span: of.name.span, span: of.span });
    };
    let mut classes = Vec::new();
    for item in parse(sources, file).program.items {
        match item {
            Item::Function(function) => add(&function, None),
            Item::Class(class) => {
                for member in &class.members {
                    if let MemberKind::Method(method) | MemberKind::Constructor(method) = &member.kind {
                        add(method, Some(&class.name.name));
                    }
                }
                classes.push(Scope { name: class.name.name, name_span: class.name.span, span: class.span });
            }
            Item::Extern(_) | Item::Input(_) | Item::Enum(_) | Item::Statement(_) | Item::Error(_) => {}
        }
    }
    scopes.extend(classes);
    scopes
}

/// A line comment, without its slashes.
struct Comment<'t> {
    text: &'t str,
    /// Where the text begins.
    start: usize,
    /// Whether it has its line for itself.
    is_alone: bool,
}

/// Step 1.
fn line_comments(text: &str) -> impl Iterator<Item = Comment<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let line_end = move |from: usize| text[from..].find('\n').map_or(text.len(), |length| from + length);
    std::iter::from_fn(move || {
        while at < bytes.len() {
            match (bytes[at], bytes.get(at + 1)) {
                (b'/', Some(b'/')) => {
                    let (start, end) = (at + 2, line_end(at));
                    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
                    let is_alone = text[line..at].trim().is_empty();
                    at = end;
                    return Some(Comment { text: text[start..end].trim_end(), start, is_alone });
                }
                (b'/', Some(b'*')) => at = text[at + 2..].find("*/").map_or(text.len(), |length| at + length + 4),
                (b'"', _) => at = string_end(bytes, at),
                _ => at += 1,
            }
        }
        None
    })
}

/// What stands behind a string, or behind the line that ends it.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' if bytes.get(at + 1).is_some_and(|&next| next != b'\n') => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// Whether somebody has meant this tool: the mark, or nearly, before a colon.
fn is_meant(text: &str) -> bool {
    let Some((mark, rest)) = text.split_once(':') else { return false };
    let (mark, rest) = (mark.trim(), rest.trim_start());
    let is_near =
        || nearest(mark, [MARK]).is_some() && rest.split('(').nth(1).is_some_and(|rest| rest.starts_with("CS"));
    (mark == MARK || is_near()) && rest != RECORDED_STATE
}

/// Step 2: the lines that comments are for.
fn targets(source: &SourceFile, comments: &[Comment<'_>]) -> Vec<Option<u32>> {
    let mut lines: Vec<Option<u32>> = Vec::new();
    // The comment behind, so that no line of many comments is looked at twice.
    let mut behind: Option<(u32, Option<u32>)> = None;
    for comment in comments.iter().rev() {
        let own = source.position(comment.start as u32).line;
        let mut line = if comment.is_alone { own + 1 } else { own };
        let target = loop {
            match behind {
                Some((other, target)) if other == line && comment.is_alone => break target,
                _ => {}
            }
            let text = source.line_text(line).trim();
            if !comment.is_alone || !text.starts_with("//") {
                break (!text.is_empty()).then_some(line);
            }
            line += 1;
        };
        behind = comment.is_alone.then_some((own, target)).or(behind);
        lines.push(target);
    }
    lines.reverse();
    lines
}

/// The codes in the parentheses of a comment, each with the place where it begins; else what is wrong, and what helps.
fn codes(text: &str) -> Result<Vec<(usize, &str)>, (&'static str, String)> {
    let (mark, rest) = text.split_once(':').unwrap_or((text, ""));
    if mark.trim() != MARK {
        return Err(("not the name of this tool", format!("the name is `{MARK}`: {FORM}")));
    }
    let word = rest.split('(').next().unwrap_or_default().trim();
    if word != "allow" {
        let meant =
            nearest(word, ["allow"]).map_or_else(|| FORM.to_owned(), |meant| format!("did you mean `{meant}`? {FORM}"));
        return Err(("only `allow` is possible here", meant));
    }
    let in_parentheses = rest.split_once('(').map(|(_, rest)| rest);
    let Some((list, behind)) = in_parentheses.and_then(|rest| rest.split_once(')')) else {
        return Err(("codes in parentheses must follow `allow`", FORM.to_owned()));
    };
    if !behind.trim().is_empty() && !behind.trim_start().starts_with(':') {
        return Err(("there must be a colon before the reason", FORM.to_owned()));
    }
    if list.trim().is_empty() {
        return Err(("there is no code in the parentheses", FORM.to_owned()));
    }
    let mut start = text.len() - in_parentheses.map_or(0, str::len);
    let mut codes = Vec::new();
    for part in list.split(',') {
        codes.push((start + part.len() - part.trim_start().len(), part.trim()));
        start += part.len() + 1;
    }
    Ok(codes)
}

/// The code of that number, if findings of that kind can be allowed.
fn code(text: &str, span: Span) -> Result<Code, Diagnostic> {
    let problem = |message: String, label: &str| Diagnostic::warning(Code::BadSuppression, span, message, label);
    match Code::parse(text) {
        Some(code) if code.is_suppressible() => Ok(code),
        Some(code) => {
            Err(problem(format!("`{code}` cannot be allowed"), code.title()).with_help(Code::NOT_SUPPRESSIBLE))
        }
        None => {
            let problem = problem(format!("there is no code `{text}`"), "no such code");
            Err(problem.with_help(match Code::nearest(text) {
                Some(meant) => format!("did you mean `{meant}` ({})?", meant.title()),
                None => "`cssame explain` lists all codes".to_owned(),
            }))
        }
    }
}
