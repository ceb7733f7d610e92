//! Diagnostics: one type for all messages of the tool about a program, the catalogue of codes, and the renderers.
//!
//! In: the findings of the passes, with spans. Out: [`Diagnostic`]s in the order of their places, rendered for a terminal
//! ([`terminal`]), as plain data for JSON ([`json`]), or in the formats of other tools ([`listing`]). [`Diagnostics`] are several
//! diagnostics with their text, as an error.

mod code;
mod excerpt;
pub mod json;
mod list;
pub mod listing;
mod nearest;
pub mod terminal;
mod wrap;

pub use code::Code;
pub use list::Diagnostics;
pub use nearest::nearest;

use cssame_source::Span;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program does not compile, or certainly goes wrong.
    Error,
    /// The program may go wrong, or says something that has no effect.
    Warning,
    /// Something worth knowing.
    Note,
}

impl Severity {
    /// The word that stands in the output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A place that a diagnostic shows, and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is said of it; may be empty.
    pub message: String,
}

/// Something said of a program: a code, a sentence, the places, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind; `cssame explain` says more of it.
    pub code: Code,
    /// How grave.
    pub severity: Severity,
    /// One sentence without a full stop, that names the thing.
    pub message: String,
    /// Where it is; `None` for a diagnostic about a whole run, such as a bound that was hit.
    pub primary: Option<Label>,
    /// Other places that belong to it, such as the other side of a race.
    pub secondary: Vec<Label>,
    /// Further facts.
    pub notes: Vec<String>,
    /// How to mend it.
    pub help: Option<String>,
    /// What is meant to stand at the primary place, if that is known.
    pub replacement: Option<String>,
    /// Where the variables are declared that it is about, if that was asked for: the names in the declarations.
    pub declarations: Vec<Span>,
}

impl Diagnostic {
    /// An error at `span`; `label` is what stands under the place.
    #[must_use]
    pub fn error(code: Code, span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::at(code, Severity::Error, span, message.into(), label.into())
    }

    /// A warning at `span`; `label` is what stands under the place.
    #[must_use]
    pub fn warning(code: Code, span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::at(code, Severity::Warning, span, message.into(), label.into())
    }

    /// A diagnostic that belongs to no place.
    #[must_use]
    pub fn general(code: Code, severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            replacement: None,
            declarations: Vec::new(),
        }
    }

    fn at(code: Code, severity: Severity, span: Span, message: String, label: String) -> Diagnostic {
        Diagnostic { primary: Some(Label { span, message: label }), ..Diagnostic::general(code, severity, message) }
    }

    /// Adds another place.
    #[must_use]
    pub fn with_label(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, message: message.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Says how to mend it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Says what was meant to stand at the primary place.
    #[must_use]
    pub fn with_replacement(mut self, meant: &str) -> Diagnostic {
        self.replacement = Some(meant.to_owned());
        self.with_help(format!("did you mean `{meant}`?"))
    }

    /// The primary place, if there is one.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        self.primary.as_ref().map(|label| label.span)
    }
}

/// Sorts by place, those without one last, then code, then text, and drops exact repetitions: the order in which
/// diagnostics are shown.
pub fn sort(diagnostics: &mut Vec<Diagnostic>) {
    fn key(of: &Diagnostic) -> (bool, Option<Span>, Code, Severity, &str) {
        (of.span().is_none(), of.span(), of.code, of.severity, &of.message)
    }
    diagnostics.sort_by(|a, b| key(a).cmp(&key(b)));
    diagnostics.dedup();
}

/// Whether any of them is an error.
#[must_use]
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}
