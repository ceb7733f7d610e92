//! The common part of all subcommands, and the single place that shows an answer.
//!
//! A subcommand is a [`Job`]: its help text, its common options, and one function that computes an answer, which serialises. It
//! also reports the findings of the answer, prints the answer for readers, and determines how the command ends. [`execute`]
//! combines these. It is the only place that depends on the [`Format`], so a new format is a renderer here, and a list of compile
//! errors.

use super::available_memory::half_of_memory;
use super::config::Config;
use super::deadline::Deadline;
use super::files;
use super::json;
use super::lints::LintOptions;
use super::load::name_of;
use super::memory::PROCESS;
use super::options::{BoundOptions, Format, ListingFile, OutputOptions, ProcessBounds};
use super::output::Output;
use super::status::Status;
use super::view;
use clap::Command;
use cssame_answer::{Findings, Judged, judge, listing, listing_of_failure};
use cssame_diagnostics::json::diagnostic_data;
use cssame_diagnostics::listing::Listing;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the help says of a subcommand.
#[derive(Clone, Copy, Debug)]
pub struct Help {
    /// Its name on the command line and in its answer.
    pub name: &'static str,
    /// A line for the list of all commands.
    pub short: &'static str,
    /// The long description.
    pub long: &'static str,
    /// What stands behind the options.
    pub examples: &'static str,
}

/// What all subcommands can tell of their options.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// The files that it reads; the first is the one that it is about.
    pub files: &'a [PathBuf],
    /// The form of its answer.
    pub format: Format,
    /// How to show the answer.
    pub output: &'a OutputOptions,
    /// Which findings count; none for a command without findings.
    pub lints: Option<&'a LintOptions>,
    /// The files that the findings are written to as well.
    pub written: &'a [ListingFile],
    /// Whether it is to be asked again when the files change.
    pub is_watched: bool,
}

impl<'a> Common<'a> {
    /// Puts it together, for a command without findings.
    pub fn new(files: &'a [PathBuf], format: impl Into<Format>, output: &'a OutputOptions) -> Common<'a> {
        Common { files, format: format.into(), output, lints: None, written: &[], is_watched: false }
    }

    /// The file that it is about.
    fn file(&self) -> Option<&'a Path> {
        self.files.first().map(PathBuf::as_path)
    }
}

/// A subcommand with its arguments.
pub trait Job {
    /// What it finds out.
    type Answer: Serialize;

    /// What its help says.
    const HELP: Help;

    /// Its common options.
    fn common(&self) -> Common<'_>;

    /// Takes the grammar of the command line, if it prints something of it.
    fn set_grammar(&mut self, _: &Command) {}

    /// What is wrong with its arguments, beyond what the grammar tells.
    ///
    /// # Errors
    ///
    /// A sentence for the user.
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Takes bounds of a configuration where it was given none. Gives those on the process, also before a search begins.
    fn set_default_bounds(&mut self, _: &BoundOptions) -> ProcessBounds {
        ProcessBounds::default()
    }

    /// Finds the answer, and writes the files that were asked for. `output` tells whether to show progress.
    ///
    /// # Errors
    ///
    /// The diagnostics that say why there is no answer.
    fn answer(&self, output: &Output) -> Result<Self::Answer, Diagnostics>;

    /// What the answer has found, of which some may be suppressed.
    fn findings<'a>(&self, _: &'a Self::Answer) -> Findings<'a> {
        Findings::default()
    }

    /// Leaves out what is suppressed, where the answer is nothing but findings. Elsewhere what is suppressed is a fact all the
    /// same, and told beside the answer.
    fn judged(&self, answer: Self::Answer, _: &Judged) -> Self::Answer {
        answer
    }

    /// Why not all was looked at, where a bound was hit.
    fn bounds(&self, _: &Self::Answer) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// What the front end has chosen where the text leaves something open: the answer holds within it.
    fn within<'a>(&self, _: &'a Self::Answer) -> &'a [String] {
        &[]
    }

    /// Prints the answer for people, bit by bit: there may be more text than memory.
    fn print(&self, answer: &Self::Answer, judged: &Judged, output: &mut Output);

    /// Does what people wait for with the answer before their eyes; in other formats it comes before the answer.
    ///
    /// # Errors
    ///
    /// The diagnostics that take the place of an answer.
    fn finish(&self, _: &mut Self::Answer, _: &mut Output) -> Result<(), Diagnostics> {
        Ok(())
    }

    /// Whether it shows what is wrong with comments that suppress findings among its own diagnostics.
    fn shows_problems(&self) -> bool {
        false
    }

    /// Whether all that was asked for is known.
    fn is_decided(&self, _: &Self::Answer) -> bool {
        true
    }

    /// How the command ends.
    fn status(&self, answer: &Self::Answer, judged: &Judged) -> Status {
        Status::of_search(judged.has_findings(), self.is_decided(answer))
    }
}

/// A [`Job`] of any kind of answer.
pub trait AnyJob {
    /// As [`Job::set_grammar`].
    fn set_grammar(&mut self, grammar: &Command);

    /// As [`Job::validate`].
    ///
    /// # Errors
    ///
    /// A sentence for the user.
    fn validate(&self) -> Result<(), String>;

    /// The files after whose changes the command is to be asked again, if it is.
    fn watched(&self) -> Option<Vec<PathBuf>>;

    /// Runs it and shows its answer, or why there is none.
    fn execute(&mut self) -> ExitCode;
}

impl<J: Job> AnyJob for J {
    fn set_grammar(&mut self, grammar: &Command) {
        Job::set_grammar(self, grammar);
    }

    fn validate(&self) -> Result<(), String> {
        Job::validate(self)
    }

    fn watched(&self) -> Option<Vec<PathBuf>> {
        let common = self.common();
        common.is_watched.then(|| common.files.to_vec())
    }

    fn execute(&mut self) -> ExitCode {
        execute(self)
    }
}

fn execute<J: Job>(job: &mut J) -> ExitCode {
    let common = job.common();
    let output = Output::new(common.output);
    let config = match (common.lints, common.file()) {
        (Some(lints), Some(file)) => lints.config(file),
        _ => Ok(Config::default()),
    };
    let configured = config.as_ref().map(|config| config.bounds.clone());
    let bounds = job.set_default_bounds(&configured.unwrap_or_default());
    bounds.memory.or_else(half_of_memory).into_iter().for_each(|bytes| PROCESS.bound(bytes));
    let mut output = output.with_deadline(Deadline::after(bounds.timeout));
    let answer = config.and_then(|_| job.answer(&output));
    let shown = answer.and_then(|answer| show(job, answer, &mut output));
    let status = shown.unwrap_or_else(|failure| {
        show_failure(job, &failure, &mut output);
        Status::Invalid
    });
    output.finish(status)
}

/// Shows an answer in the format that was asked for.
fn show<J: Job>(job: &J, answer: J::Answer, output: &mut Output) -> Result<Status, Diagnostics> {
    let (common, name) = (job.common(), J::HELP.name);
    let findings = job.findings(&answer);
    let lints = common.lints.map(|lints| lints.lints(&findings)).transpose()?.unwrap_or_default();
    let mut judged = judge(&findings, &lints);
    common.lints.map_or(Ok(()), |lints| lints.write(&judged))?;
    let is_listed = matches!(common.format, Format::Listing(_)) || !common.written.is_empty();
    let listing = is_listed.then(|| listing(name, &findings, &judged, &job.bounds(&answer)));
    drop(findings);
    let mut answer = job.judged(answer, &judged);
    if job.shows_problems() {
        judged.problems_data.clear();
    }
    match common.format {
        Format::Human => {
            job.print(&answer, &judged, output);
            job.finish(&mut answer, output)?;
            if !job.shows_problems() {
                judged.problems.iter().for_each(|of| output.complain(&of.sources, &of.list));
            }
            output.summary(&view::suppressed::summary(&judged.suppressed));
        }
        Format::Json => {
            job.finish(&mut answer, output)?;
            let within = job.within(&answer);
            json::print(output, name, common.file(), &json::Judged { answer: &answer, judged: &judged, within });
        }
        Format::Listing(_) => job.finish(&mut answer, output)?,
    }
    let status = job.status(&answer, &judged);
    if let Some(listing) = listing.map(|listing| finished(listing, status)) {
        if let Format::Listing(format) = common.format {
            output.print(&format.render(&listing));
        }
        write_listings(common.written, &listing)?;
    }
    Ok(status)
}

fn write_listings(written: &[ListingFile], listing: &Listing) -> Result<(), Diagnostics> {
    written.iter().try_for_each(|ListingFile { format, path }| files::write(path, &format.render(listing)))
}

/// A listing with its exit status. Where that says that a question is open, the listing says so as well.
fn finished(mut listing: Listing, status: Status) -> Listing {
    if status == Status::Undecided && listing.bounds.is_empty() {
        let note = "other findings may still be possible; `--format human` shows the open questions";
        let open =
            Diagnostic::general(Code::ExplorationLimit, Severity::Warning, "not all could be decided").with_note(note);
        listing.bounds.push(diagnostic_data(&SourceMap::default(), &open));
    }
    Listing { status: status.code(), ..listing }
}

/// Shows why a command has no answer: in JSON, an object with `diagnostics` takes the place of the answer.
fn show_failure<J: Job>(job: &J, failure: &Diagnostics, output: &mut Output) {
    let (common, name) = (job.common(), J::HELP.name);
    match common.format {
        Format::Human => output.complain(&failure.sources, &failure.list),
        Format::Json => json::print(output, name, common.file(), failure),
        Format::Listing(format) => {
            let file = common.file().map(name_of);
            output.print(&format.render(&listing_of_failure(name, file, failure)));
        }
    }
}
