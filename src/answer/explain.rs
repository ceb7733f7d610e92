//! The answer of `explain`: pages of the manual.

use cssame_diagnostics::Code;
use serde::Serialize;

/// The pages that were asked for.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainReport {
    /// By number.
    pub codes: Vec<CodePage>,
}

/// The page of a code.
#[derive(Clone, Debug, Serialize)]
pub struct CodePage {
    /// `CS0401`
    pub code: &'static str,
    /// A few words.
    pub title: &'static str,
    /// In Markdown.
    pub page: &'static str,
}

/// The page of a code, or all of them.
#[must_use]
pub fn explain(code: Option<Code>) -> ExplainReport {
    let codes: Vec<Code> = code.map_or_else(|| Code::all().collect(), |code| vec![code]);
    let page = |code: Code| CodePage { code: code.number(), title: code.title(), page: code.page() };
    ExplainReport { codes: codes.into_iter().map(page).collect() }
}
