//! Decides which findings are shown and counted: every command passes its findings through this module.
//!
//! **Input**: the [`Findings`] of an answer, and [`Lints`]: the rules of options, configuration files and a baseline. **Output**:
//! [`Judged`].
//!
//! **Algorithm**, for each finding
//! 1. A comment that allows its code suppresses it: in the line of its place, in the line of the declaration of a variable that
//!    it is about, or in that of a surrounding function or class.
//! 2. Otherwise the level of its code suppresses it, or changes its severity ([`super::levels`]).
//! 3. Otherwise it is suppressed if the baseline contains it.
//!
//! Comments that have suppressed nothing are reported if the command has searched the whole file for their code.
//!
//! **Soundness and limits**: errors that prevent compilation are never suppressed. The answer itself stays unchanged: a
//! suppressed failure is still an outcome.

use super::baseline::{Baseline, Entry, without_numbers};
use super::declared::names;
use super::levels::{Levels, Origin, Rule};
use cssame_diagnostics as diagnostics;
use cssame_diagnostics::json::{DiagnosticData, diagnostic_data};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_front::{AllowComments, Allowed, Scope, allow_comments, scopes};
use cssame_schedule::Step;
use cssame_source::{FileId, SourceMap, Span};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A file that an answer is about.
#[derive(Clone, Debug)]
pub struct Examined<'a> {
    /// Where its text is.
    pub sources: &'a SourceMap,
    /// The file.
    pub file: FileId,
    /// The codes of which it is known that nothing else in the file has them.
    pub looked_for: Vec<Code>,
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// What is said of it, with its declarations.
    pub diagnostic: Diagnostic,
    /// What it points into.
    pub sources: &'a SourceMap,
    /// Whether it keeps the program from being compiled.
    pub is_fatal: bool,
    /// The steps of an execution that shows it, where the answer has one.
    pub steps: &'a [Step],
}

/// All findings of an answer.
#[derive(Clone, Debug, Default)]
pub struct Findings<'a> {
    /// The files; findings without a place belong to the first one.
    pub files: Vec<Examined<'a>>,
    /// In the order in which they are shown.
    pub list: Vec<Finding<'a>>,
}

/// What is said of the findings of a file.
#[derive(Clone, Debug, Default)]
pub struct FileLints {
    /// The name of the file, as in the answer.
    pub name: String,
    /// The same in a baseline.
    pub baseline_name: String,
    /// The rules of its configuration.
    pub config: Vec<Rule>,
}

/// What is said of findings beside comments.
#[derive(Clone, Debug, Default)]
pub struct Lints {
    /// The rules of the command line.
    pub options: Vec<Rule>,
    /// File by file.
    pub files: Vec<FileLints>,
    /// The findings that are known.
    pub baseline: Option<Baseline>,
    /// Whether all findings that nothing else suppresses are taken into a new baseline.
    pub collects: bool,
}

/// What has suppressed a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A comment.
    Comment,
    /// An option.
    Option,
    /// A configuration file.
    Config,
    /// The baseline.
    Baseline,
}

impl By {
    /// `comment`, `option`, …
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            By::Comment => "comment",
            By::Option => "option",
            By::Config => "config",
            By::Baseline => "baseline",
        }
    }
}

/// A finding that is suppressed, as it stands in JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Suppressed {
    /// `CS0401`
    pub code: &'static str,
    /// The sentence.
    pub message: String,
    /// Name of the file, where the finding has a place.
    pub file: Option<String>,
    /// Line from 1.
    pub line: Option<u32>,
    /// What has suppressed it.
    pub by: By,
}

/// What has become of findings. It serialises to the keys that every answer has beside its own.
#[derive(Debug, Default, Serialize)]
pub struct Judged {
    /// The findings that are suppressed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Suppressed>,
    /// What is wrong with comments that allow findings.
    #[serde(rename = "suppression_diagnostics", skip_serializing_if = "Vec::is_empty")]
    pub problems_data: Vec<DiagnosticData>,
    /// The same file by file, for other views.
    #[serde(skip)]
    pub problems: Vec<Diagnostics>,
    /// For each finding its severity; none where it is suppressed.
    #[serde(skip)]
    pub severities: Vec<Option<Severity>>,
    /// The findings that nothing else than a baseline suppresses.
    #[serde(skip)]
    pub collected: Option<Baseline>,
    #[serde(skip)]
    by_text: BTreeMap<Key, Option<Severity>>,
}

/// What tells findings apart. Files do not: programs that close a file begin with its text.
type Key = (Code, Option<(u32, u32)>, String);

fn key(of: &Diagnostic) -> Key {
    (of.code, of.span().map(|span| (span.start, span.end)), of.message.clone())
}

impl Judged {
    /// The diagnostic of a finding as it is shown; none where it is suppressed.
    #[must_use]
    pub fn shown(&self, diagnostic: Diagnostic) -> Option<Diagnostic> {
        match self.by_text.get(&key(&diagnostic)) {
            None => Some(diagnostic),
            Some(&severity) => Some(Diagnostic { severity: severity?, ..diagnostic }),
        }
    }

    /// Whether a finding is left, or a comment counts as an error.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        let problems = self.problems.iter().flat_map(|of| &of.list);
        self.severities.iter().any(Option::is_some) || problems.into_iter().any(|of| of.severity == Severity::Error)
    }
}

/// Finds out which findings are shown.
#[must_use]
pub fn judge(findings: &Findings<'_>, lints: &Lints) -> Judged {
    let mut judge = Judge {
        files: findings.files.iter().map(|of| File::new(of, lints)).collect(),
        baseline: lints.baseline.clone(),
        collected: lints.collects.then(Baseline::default),
        options: &lints.options,
    };
    let mut judged = Judged::default();
    for finding in &findings.list {
        let verdict = if finding.is_fatal { Ok(finding.diagnostic.severity) } else { judge.verdict(finding) };
        judged.severities.push(verdict.ok());
        judged.by_text.insert(key(&finding.diagnostic), verdict.ok());
        if let Err(by) = verdict {
            let span = finding.diagnostic.span();
            judged.suppressed.push(Suppressed {
                code: finding.diagnostic.code.number(),
                message: finding.diagnostic.message.clone(),
                file: span.map(|span| finding.sources.file(span.file).name().to_owned()),
                line: span.map(|span| finding.sources.line(span)),
                by,
            });
        }
    }
    judged.problems = judge.files.iter().map(|file| file.problems(&lints.options)).collect();
    judged.problems.retain(|of| !of.list.is_empty());
    let data = judged.problems.iter().flat_map(|of| of.list.iter().map(|one| diagnostic_data(&of.sources, one)));
    judged.problems_data = data.collect();
    judged.collected = judge.collected;
    judged
}

struct Judge<'a> {
    files: Vec<File<'a>>,
    baseline: Option<Baseline>,
    collected: Option<Baseline>,
    options: &'a [Rule],
}

/// A file with what is said of its findings.
struct File<'a> {
    examined: &'a Examined<'a>,
    lints: Option<&'a FileLints>,
    comments: AllowComments,
    used: BTreeSet<usize>,
    /// Only where a baseline asks for them.
    scopes: Vec<Scope>,
}

impl Judge<'_> {
    /// The severity of a finding.
    ///
    /// # Errors
    ///
    /// What suppresses it.
    fn verdict(&mut self, finding: &Finding<'_>) -> Result<Severity, By> {
        let diagnostic = &finding.diagnostic;
        let name = diagnostic.span().map(|span| finding.sources.file(span.file).name());
        let named =
            self.files.iter().position(|file| name == Some(file.examined.sources.file(file.examined.file).name()));
        let mut file = self.files.get_mut(named.unwrap_or(0));
        if file.as_mut().is_some_and(|file| file.allows(diagnostic)) {
            return Err(By::Comment);
        }
        let config = file.as_ref().and_then(|file| file.lints).map_or(&[][..], |lints| &lints.config);
        let levels = Levels { options: self.options, config };
        let severity = levels.severity(diagnostic.code, diagnostic.severity).map_err(|origin| match origin {
            Origin::Option => By::Option,
            Origin::Config => By::Config,
        })?;
        if self.collected.is_none() && self.baseline.is_none() {
            return Ok(severity);
        }
        let scopes = file.as_ref().map_or(&[][..], |file| &file.scopes);
        let name = file.as_ref().and_then(|file| file.lints).map(|lints| lints.baseline_name.clone());
        let entry = entry(diagnostic, scopes, name);
        if let Some(collected) = &mut self.collected {
            collected.add(entry);
            return Err(By::Baseline);
        }
        let is_known = self.baseline.as_mut().is_some_and(|baseline| baseline.take(&entry));
        if is_known { Err(By::Baseline) } else { Ok(severity) }
    }
}

/// A finding in a baseline, of a file with these functions and classes.
pub(super) fn entry(diagnostic: &Diagnostic, scopes: &[Scope], file: Option<String>) -> Entry {
    let span = diagnostic.span();
    let inside = |scope: &&Scope| span.is_some_and(|span| contains(scope.span, span));
    let around = scopes.iter().filter(inside).min_by_key(|of| of.span.end - of.span.start);
    Entry {
        code: diagnostic.code.number().to_owned(),
        file: span.and(file),
        function: around.map(|scope| scope.name.clone()),
        names: names(diagnostic),
        message: without_numbers(&diagnostic.message),
    }
}

/// Whether a place begins in another one, of the same text.
fn contains(around: Span, span: Span) -> bool {
    (around.start..around.end).contains(&span.start)
}

impl<'a> File<'a> {
    fn new(examined: &'a Examined<'a>, lints: &'a Lints) -> File<'a> {
        let name = examined.sources.file(examined.file).name();
        let has_baseline = lints.baseline.is_some() || lints.collects;
        File {
            examined,
            lints: lints.files.iter().find(|of| of.name == name),
            comments: allow_comments(examined.sources, examined.file),
            used: BTreeSet::new(),
            scopes: if has_baseline { scopes(examined.sources, examined.file) } else { Vec::new() },
        }
    }

    /// Whether a comment allows a finding; those that do are used.
    fn allows(&mut self, diagnostic: &Diagnostic) -> bool {
        let line = |span: Span| self.examined.sources.line(Span { file: self.examined.file, ..span });
        let place = diagnostic.span();
        let lines: BTreeSet<u32> = diagnostic.declarations.iter().copied().chain(place).map(line).collect();
        let is_meant = |allowed: &Allowed| {
            let around = || place.is_some_and(|place| allowed.inside.iter().any(|&scope| contains(scope, place)));
            allowed.code == diagnostic.code && (lines.contains(&allowed.line) || around())
        };
        let all = self.comments.allowed.iter().enumerate();
        let meant: Vec<usize> = all.filter(|(_, allowed)| is_meant(allowed)).map(|(index, _)| index).collect();
        self.used.extend(&meant);
        !meant.is_empty()
    }

    /// What is wrong with its comments.
    fn problems(&self, options: &[Rule]) -> Diagnostics {
        let unused =
            self.comments.allowed.iter().enumerate().filter(|(index, allowed)| {
                !self.used.contains(index) && self.examined.looked_for.contains(&allowed.code)
            });
        let unused = unused.map(|(_, allowed)| {
            let (code, title) = (allowed.code, allowed.code.title());
            let message = format!("`{code}` ({title}) is allowed here, but none was found");
            let note = Diagnostic::error(Code::UnusedSuppression, allowed.span, message, "suppresses nothing");
            Diagnostic { severity: Severity::Note, ..note }.with_help("take it out")
        });
        let levels = Levels { options, config: self.lints.map_or(&[], |lints| &lints.config) };
        let leveled = self.comments.problems.iter().cloned().chain(unused).filter_map(|one| {
            let severity = levels.severity(one.code, one.severity).ok()?;
            Some(Diagnostic { severity, ..one })
        });
        let mut list: Vec<Diagnostic> = leveled.collect();
        diagnostics::sort(&mut list);
        let sources = if list.is_empty() { SourceMap::default() } else { self.examined.sources.clone() };
        Diagnostics::new(sources, list)
    }
}
