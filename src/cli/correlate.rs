//! `cssame correlate FILE`: correlated variables, endangered correlations, and method pairs by rank.

use super::arguments::Job;
use super::json;
use super::load::{self, Loaded};
use super::options::{Format, FormatOption, OutputOptions, ProgramOptions};
use super::output::Output;
use super::snippet::{self, Table, plural};
use super::status::{Failure, Status};
use crate::concurrency;
use crate::correlation::report::{CorrelationData, CorrelationReport, EvidenceData, PairData};
use crate::correlation::{self, Options};
use crate::source::SourceMap;
use anstyle::{AnsiColor, Style};
use clap::Args;
use std::path::{Path, PathBuf};

/// The long description of the command.
pub const ABOUT: &str = "\
Finds variables that belong together: one is computed from the other, is written where a condition on the other \
holds, or both are computed from a third. Then ranks the pairs of methods that may run in parallel: a pair ranks high \
where a method touches two such variables with synchronisation in between, so that another method can come between and \
see, or leave, halves that do not fit.

What belongs together is a guess from the text, with a probability, and so is the rank: it says where to test first.

In a program with a `main`, methods are its functions and the arms that touch shared variables themselves. In a file of \
classes without a `main`, any two public methods may run in parallel, one with itself too.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame correlate samples/jannesari_fig9.csm
  cssame correlate --rank 0.3 samples/order_pool_broken.csm
  cssame correlate --threshold 0.8 --format json samples/bank_account.csm

Exit status: 0 nothing endangered, 1 some pair has an endangered correlation and
a rank above the threshold, 2 the program does not compile, 3 there are too many
pairs to rank them all, and none of the ranked ones is endangered.";

/// Places that the table shows of a correlation.
const MAX_PLACES: usize = 3;

/// Pairs of rank 0 that the table shows.
const MAX_SAFE_PAIRS: usize = 20;

/// Arguments of `correlate`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Least probability of a correlation, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = parse_part)]
    pub threshold: f64,
    /// Select pairs of a higher rank than R, from 0 to 1 (Jannesari and Wolf take 0.3)
    #[arg(long, value_name = "R", default_value_t = 0.0, value_parser = parse_part)]
    pub rank: f64,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "write it as a number from 0 to 1, such as `0.5`".to_owned())
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "correlate"
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.file)
    }

    fn format(&self) -> Format {
        self.format.format.into()
    }

    fn output_options(&self) -> &OutputOptions {
        &self.output
    }

    fn execute(&self, output: &mut Output) -> Result<Status, Failure> {
        let Loaded { sources, program, .. } = load::load(&self.file, &self.program.inputs)?;
        let concurrency = concurrency::analyse(&program);
        let options = Options { threshold: self.threshold };
        let analysis = correlation::analyse(&program, concurrency.as_ref(), &options);
        let report = correlation::report(&sources, &program, &analysis, (self.threshold, self.rank));
        match self.format() {
            Format::Json => output.print(&json::document(self.name(), self.file(), &report)),
            _ => {
                output.print(&human(&sources, &report, output.colour()));
                output.summary(&summary(&report));
            }
        }
        Ok(Status::of_search(report.counts.pairs_selected > 0, report.complete))
    }
}

fn human(sources: &SourceMap, report: &CorrelationReport, colour: bool) -> String {
    let mut text = String::new();
    if !report.correlations.is_empty() {
        text += &snippet::title("Correlated variables", colour);
        text += &correlations(sources, report);
        let merged: Vec<String> =
            report.sets.iter().filter(|set| set.len() > 2).map(|set| format!("  {}\n", set.join(", "))).collect();
        if !merged.is_empty() {
            text += &snippet::title("\nTogether, in sets", colour);
            text += &merged.concat();
        }
    }
    if !report.pairs.is_empty() {
        let title = if text.is_empty() { "Method pairs" } else { "\nMethod pairs" };
        text += &snippet::title(title, colour);
        text += &pairs(report, colour);
    }
    text
}

/// A row for each correlation, and one for each place that ties its variables.
fn correlations(sources: &SourceMap, report: &CorrelationReport) -> String {
    let mut table = Table::new("  ");
    for of in &report.correlations {
        let mut places = of.evidence.iter().take(MAX_PLACES).map(|evidence| place(sources, evidence));
        let mut row = vec![of.variables.join(", "), percent(of.probability), of.patterns.join(", ")];
        row.extend(places.next());
        table.row(row);
        for place in places {
            table.row(vec![String::new(), String::new(), String::new(), place]);
        }
        let more = of.evidence.len().saturating_sub(MAX_PLACES);
        if more > 0 {
            table.row(vec![String::new(), String::new(), String::new(), format!("and {more} more")]);
        }
    }
    let shared: Vec<String> = report.correlations.iter().flat_map(private).collect();
    let mut text = table.lines().concat();
    if !shared.is_empty() {
        let mut names = shared;
        names.sort_unstable();
        names.dedup();
        let line = format!("private to a thread: {}", names.join(", "));
        text += &format!("  ({})\n", snippet::shorten(&line, snippet::WIDTH - 4));
    }
    text
}

/// The variables of a correlation that are not shared.
fn private(of: &CorrelationData) -> Vec<String> {
    let variables = of.variables.iter().zip(of.shared);
    variables.filter(|(_, shared)| !shared).map(|(name, _)| name.clone()).collect()
}

/// `line 12, 9  x = y + 1;`
fn place(sources: &SourceMap, evidence: &EvidenceData) -> String {
    let with = evidence.with.map(|with| with.line).filter(|&line| line != evidence.line);
    let lines = with.map_or_else(|| evidence.line.to_string(), |line| format!("{line}, {}", evidence.line));
    format!("{lines}: {}", snippet::statement(sources, evidence.span))
}

fn pairs(report: &CorrelationReport, colour: bool) -> String {
    let mut text = String::new();
    let (selected, others): (Vec<&PairData>, Vec<&PairData>) = report.pairs.iter().partition(|pair| pair.selected);
    for pair in selected {
        let style = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
        let title = format!("{} || {}", pair.methods[0], pair.methods[1]);
        text += &format!("  {}\n", snippet::styled(&format!("{}  {title}", percent(pair.rank)), style, colour));
        text += &format!("    {}\n", counts(pair));
        let mut table = Table::new("      ");
        for access in &pair.endangered_accesses {
            let [first, second] = &access.variables;
            let how = format!("{}s {first}, {}s {second}", access.accesses[0], access.accesses[1]);
            table.row(vec![access.method.clone(), how]);
        }
        text += &table.lines().concat();
    }
    let mut table = Table::new("  ");
    for pair in others.iter().take(MAX_SAFE_PAIRS) {
        let title = format!("{} || {}", pair.methods[0], pair.methods[1]);
        table.row(vec![percent(pair.rank), title, counts(pair)]);
    }
    text += &table.lines().concat();
    if others.len() > MAX_SAFE_PAIRS {
        text += &format!("  and {} more that are not selected\n", others.len() - MAX_SAFE_PAIRS);
    }
    text
}

fn counts(pair: &PairData) -> String {
    format!(
        "{} endangered of {}, {} uncorrelated or safe",
        pair.endangered,
        plural(pair.correlation_accesses, "correlation access").replace("accesss", "accesses"),
        pair.uncorrelated
    )
}

/// ` 67 %`
fn percent(part: f64) -> String {
    format!("{:>3.0} %", part * 100.0)
}

fn summary(report: &CorrelationReport) -> String {
    let counts = &report.counts;
    let parallel = counts.pairs_parallel.map_or_else(String::new, |count| format!("{count} parallel, "));
    let incomplete = if report.complete { "" } else { "; there are more pairs than were ranked" };
    format!(
        "{}; {}: {parallel}{} dependent, {} selected{incomplete}\n",
        plural(report.correlations.len(), "correlation"),
        plural(counts.pairs_considered as usize, "method pair"),
        counts.pairs_dependent,
        counts.pairs_selected,
    )
}
