//! Coverage, for readers: the amount covered, the missing instances and the reasons, and the failures of executions.

mod cobertura;
mod counts;
mod ends;
mod generated;
mod lcov;
mod listing;
mod missing;
mod others;

pub use cobertura::cobertura;
pub use generated::generated_summary;
pub use lcov::lcov;
pub use listing::listing;

use super::endless;
use super::snippet::{self, wrap};
use cssame_answer::words::plural;
use cssame_answer::{Compiled, CoverageAnswer, EndlessFindings, GenerateAnswer, Judged};
use cssame_coverage::Findings;
use cssame_coverage::report::{CoverageReport, MetReport};
use std::path::Path;

/// An answer, what it was made from, and how it is shown.
pub struct CoverageView<'a> {
    /// What is covered.
    pub coverage: Covered<'a>,
    /// The program, or the file without `main`.
    pub subject: &'a Compiled,
    /// The source file.
    pub file: &'a Path,
    /// What the answer depends on beside the program, as it was typed, with a space before each option.
    pub options: &'a str,
    /// The inputs and options of executions, in the same way.
    pub inputs: &'a str,
    /// Where the schedules were written to.
    pub record_dir: Option<&'a Path>,
    /// Whether nothing is left out.
    pub all: bool,
    /// Which findings are suppressed.
    pub judged: &'a Judged,
    /// Whether there is colour.
    pub colour: bool,
}

/// What executions cover, of any kind.
#[derive(Clone, Copy)]
pub struct Covered<'a> {
    report: &'a CoverageReport,
    findings: &'a Findings,
    met: Option<&'a MetReport>,
    endless: Option<&'a EndlessFindings>,
}

impl<'a> From<&'a CoverageAnswer> for Covered<'a> {
    fn from(answer: &'a CoverageAnswer) -> Covered<'a> {
        Covered {
            report: &answer.report,
            findings: &answer.findings,
            met: Some(&answer.met),
            endless: Some(&answer.endless),
        }
    }
}

impl<'a> From<&'a GenerateAnswer> for Covered<'a> {
    fn from(answer: &'a GenerateAnswer) -> Covered<'a> {
        Covered { report: &answer.report, findings: &answer.findings, met: None, endless: None }
    }
}

/// How much was found, in a line.
#[must_use]
pub fn summary(answer: &CoverageAnswer) -> String {
    let (report, met) = (&answer.report, &answer.met);
    let (patterns, pairs) = (&report.patterns.all, &report.method_pairs);
    let of = |feasible: Option<u64>, total: u64, word: &str| match feasible {
        Some(feasible) => plural(feasible as usize, &format!("possible {word}")),
        None => plural(total as usize, word),
    };
    let mut text = format!(
        "{}: {} of {}, {} of {}",
        plural(report.executions as usize, "execution"),
        patterns.covered,
        of(patterns.feasible, patterns.total, "instance"),
        pairs.covered,
        of(pairs.feasible, pairs.total, "method pair"),
    );
    if answer.findings.is_program {
        let (failures, deadlocks) = (plural(met.failures.len(), "failure"), plural(met.deadlocks.len(), "deadlock"));
        text += &format!(", {failures}, {deadlocks}");
    }
    text + "\n"
}

impl CoverageView<'_> {
    /// The whole answer but for the summary.
    #[must_use]
    pub fn text(&self) -> String {
        let mut blocks = self.coverage_blocks();
        if let Some(met) = self.coverage.met {
            blocks.extend(self.failures(met));
            blocks.extend(self.deadlocks(met));
        }
        if let Some(findings) = self.coverage.endless {
            blocks.push(endless::told_beside(findings, &self.subject.unit().sources, self.judged));
        }
        joined(blocks)
    }

    /// How much is covered, and what is missing.
    fn coverage_blocks(&self) -> Vec<String> {
        let report = self.coverage.report;
        let mut blocks = vec![self.headline(report), self.patterns(report), self.variables(report)];
        blocks.push(self.missing(report));
        blocks.push(self.excluded());
        blocks.extend(report.pi_terms.as_ref().map(|terms| self.terms(terms)));
        blocks.push(self.method_pairs(&report.method_pairs));
        blocks.push(self.executions(report));
        blocks
    }

    /// How many of them are shown.
    fn limit(&self, limit: usize) -> usize {
        if self.all { usize::MAX } else { limit }
    }

    /// The executions, how they have ended, and what is not known.
    fn executions(&self, report: &CoverageReport) -> String {
        let mut lines = Vec::new();
        let ends: Vec<String> = report.ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
        let mut line = plural(report.executions as usize, "execution");
        if !ends.is_empty() {
            line += &format!(": {}", ends.join(", "));
        }
        if report.discarded > 0 {
            line += &format!("; {} more discarded by an assumption, which cover nothing", report.discarded);
        }
        lines.push(line + ".");
        if let Some(count) = report.ends.get("step-limit") {
            let which = if *count == 1 { "One was" } else { "Some were" };
            lines.push(format!("{which} not over after the bound of steps (--max-steps): the steps until then count."));
        }
        if !report.drivers.is_empty() {
            let programs = plural(report.drivers.len(), "program");
            lines.push(format!("They are those of {programs} in which two methods run in parallel."));
            if self.all {
                lines.extend(report.drivers.iter().cloned());
            }
        }
        let is_bad = |end: &str| !["ok", "step-limit", "stopped"].contains(&end);
        if self.coverage.met.is_some()
            && !self.coverage.findings.is_program
            && report.ends.keys().any(|end| is_bad(end))
        {
            let line = "Those that fail are not findings here: `cssame races` and `--generate` judge uses of the file.";
            lines.push(line.to_owned());
        }
        lines.extend(self.unknown(report).map(str::to_owned));
        let text: String = lines.iter().map(|line| wrap("  ", line)).collect();
        snippet::title("executions", self.colour) + &text
    }

    /// Why it is not known how many instances can happen.
    fn unknown(&self, report: &CoverageReport) -> Option<&'static str> {
        if report.patterns.all.feasible.is_some() || report.patterns.all.total == 0 {
            return None;
        }
        Some(match (self.subject, self.coverage.findings.is_whole()) {
            (Compiled::Library(_), _) => {
                "How many instances can happen is not known: it depends on the clients of the file. Excluded instances \
                 are excluded for every client."
            }
            (Compiled::Program(_), true) => {
                "How many instances can happen is not known: no states were searched (--no-exploration)."
            }
            (Compiled::Program(_), false) => "How many instances can happen is not known: a bound was hit.",
        })
    }
}

fn joined(mut blocks: Vec<String>) -> String {
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}
