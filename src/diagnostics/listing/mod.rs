//! Listings: the findings of an answer, in the formats of other tools.
//!
//! **Input**: a [`Listing`], which is plain data: the findings of an answer with the decisions about them, and the bounds that
//! were hit. **Output**: the text of a [`ListingFormat`]. Each format is one file here. A new one is that file, a variant, and
//! the changes that the compiler then requires.
//!
//! **Limits**: a listing contains only findings. Terms, outcomes and tables are in the JSON of each command.

mod github;
mod junit;
mod markdown;
mod sarif;

use super::Code;
use super::json::DiagnosticData;

/// A format of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingFormat {
    /// SARIF 2.1.0, for code scanning and editors.
    Sarif,
    /// Workflow commands of GitHub Actions, which annotate the lines of a change.
    Github,
    /// JUnit XML, for the test reports of build servers.
    Junit,
    /// Markdown, for the summary of a job.
    Markdown,
}

/// What an answer has found.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The command.
    pub command: &'static str,
    /// The files that it was asked of.
    pub files: Vec<String>,
    /// In the order in which they are shown.
    pub findings: Vec<Listed>,
    /// Why not all was looked at, if that is so.
    pub bounds: Vec<DiagnosticData>,
    /// The exit status.
    pub status: u8,
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its code.
    pub code: Code,
    /// What is said of it, with the severity that it has in the end.
    pub data: DiagnosticData,
    /// The same as on a terminal, without colour.
    pub text: String,
    /// What has suppressed it.
    pub suppressed: Option<Suppression>,
    /// What tells it from others, and stays when lines are moved.
    pub fingerprint: String,
    /// The steps of an execution that shows it.
    pub steps: Vec<ListedStep>,
}

/// What has suppressed a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Whether that stands in the source.
    pub in_source: bool,
    /// `comment`, `option`, …
    pub by: &'static str,
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedStep {
    /// The thread, by its path.
    pub thread: String,
    /// Line from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// `read a`
    pub operation: String,
}

impl ListingFormat {
    /// The text of a listing, with a newline at its end.
    #[must_use]
    pub fn render(self, listing: &Listing) -> String {
        match self {
            ListingFormat::Sarif => sarif::render(listing),
            ListingFormat::Github => github::render(listing),
            ListingFormat::Junit => junit::render(listing),
            ListingFormat::Markdown => markdown::render(listing),
        }
    }
}

impl Listing {
    /// The findings that nothing suppresses.
    fn shown(&self) -> impl Iterator<Item = &Listed> {
        self.findings.iter().filter(|finding| finding.suppressed.is_none())
    }
}

impl Listed {
    /// The sentence, with what stands under the place, where that says more.
    fn sentence(&self) -> String {
        match self.data.labels.first().map(|label| label.message.as_str()) {
            None | Some("") => self.data.message.clone(),
            Some(label) if self.data.message.contains(label) => self.data.message.clone(),
            Some(label) => format!("{} ({label})", self.data.message),
        }
    }
}
