//! Diagnostics of the front end in our form.

use super::sources::{HEADERS, Mirror};
use super::tokens::Tokens;
use cssame_diagnostics::{Code, Diagnostic, Label, Severity};
use cssame_source::Span;
use rucc_diag::{Diagnostic as Read, Severity as Grade, Span as ReadSpan};

/// Where spans of the front end lead to: before the parser they are those of files, behind it those of tokens.
pub enum Spans<'a> {
    /// Of the preprocessor.
    Files(&'a Mirror),
    /// Of what comes behind it.
    Tokens(&'a Tokens),
}

impl Spans<'_> {
    /// The place that a user knows, and whether it lies in a file of the user's.
    fn find(&self, span: ReadSpan, is_user: &dyn Fn(Span) -> bool) -> Option<(Span, bool)> {
        match self {
            Spans::Files(mirror) => mirror.span(span),
            Spans::Tokens(tokens) => tokens.place(span).map(|place| (place.span, is_user(place.span))),
        }
    }
}

/// One diagnostic; `None` for a warning about one of our headers. `main` is the place of what has none.
pub fn diagnostic(read: &Read, spans: &Spans<'_>, main: Span, is_user: &dyn Fn(Span) -> bool) -> Option<Diagnostic> {
    let found = spans.find(read.span, is_user);
    let severity = match read.severity {
        Grade::Error | Grade::Ice => Severity::Error,
        Grade::Warning => Severity::Warning,
        Grade::Note | Grade::Help => Severity::Note,
    };
    if severity != Severity::Error && found.is_some_and(|(_, is_user)| !is_user) {
        return None;
    }
    let code = if severity == Severity::Error { Code::NotC } else { Code::DoubtfulC };
    let mut ours = Diagnostic::general(code, severity, sentence(&read.message));
    ours.primary = Some(Label { span: found.map_or(main, |(span, _)| span), message: String::new() });
    for child in &read.children {
        let place = spans.find(child.span, is_user).filter(|(_, is_user)| *is_user).map(|(span, _)| span);
        match (child.severity, place) {
            (Grade::Help, _) if ours.help.is_none() => ours.help = Some(sentence(&child.message)),
            (Grade::Note, Some(span)) if Some(span) != ours.span() => {
                ours = ours.with_label(span, sentence(&child.message));
            }
            _ => ours = ours.with_note(sentence(&child.message)),
        }
    }
    Some(ours)
}

/// The header that was not found, if a diagnostic of the preprocessor says so.
pub fn missing_header(read: &Read) -> Option<String> {
    let name = read.message.strip_prefix('`')?.strip_suffix("` file not found")?;
    (read.code == Some("E0341")).then(|| name.to_owned())
}

/// A message of the front end as one line without control characters.
fn sentence(message: &str) -> String {
    let message = message.replace(HEADERS, "the headers of cssame");
    message.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}
