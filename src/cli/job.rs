//! What all subcommands have in common, and the one place that shows an answer.
//!
//! A subcommand is a [`Job`]: its name, its common options, and one function to an [`Answer`]. An answer serialises, prints
//! itself for people, and has a status. [`execute`] puts the two together: it is the only place that looks at the
//! [`Format`], so a new one is a renderer here, and a list of compile errors.

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
use cssame_answer::{Findings, Judged, judge, listing, listing_of_failure};
use cssame_diagnostics::json::diagnostic_data;
use cssame_diagnostics::listing::Listing;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What all subcommands can tell of themselves.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// Its name on the command line and in its answer.
    pub name: &'static str,
    /// The file that it is about.
    pub file: Option<&'a Path>,
    /// The form of its answer.
    pub format: Format,
    /// How to show the answer.
    pub output: &'a OutputOptions,
    /// Which findings count; none for a command without findings.
    pub lints: Option<&'a LintOptions>,
    /// The files that the findings are written to as well.
    pub written: &'a [ListingFile],
}

impl<'a> Common<'a> {
    /// Puts it together.
    pub fn new(
        name: &'static str,
        file: Option<&'a PathBuf>,
        format: impl Into<Format>,
        output: &'a OutputOptions,
    ) -> Common<'a> {
        Common { name, file: file.map(PathBuf::as_path), format: format.into(), output, lints: None, written: &[] }
    }

    /// The same, for a command that has findings.
    pub fn with_lints(self, lints: &'a LintOptions) -> Common<'a> {
        Common { lints: Some(lints), ..self }
    }
}

/// A subcommand with its arguments.
pub trait Job {
    /// What it finds out.
    type Answer: Answer;

    /// Its name and its common options.
    fn common(&self) -> Common<'_>;

    /// What is wrong with its arguments, beyond what the grammar tells.
    ///
    /// # Errors
    ///
    /// A sentence for the user.
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Takes bounds of a configuration where it was given none.
    fn set_default_bounds(&mut self, _: &BoundOptions) {}

    /// The bounds on the process, also before a search begins.
    fn process_bounds(&self) -> ProcessBounds {
        ProcessBounds::default()
    }

    /// The files after whose changes the command is to be asked again, if it is.
    fn watched(&self) -> Option<&[PathBuf]> {
        None
    }

    /// Finds the answer, and writes the files that were asked for. `output` tells whether to show progress.
    ///
    /// # Errors
    ///
    /// The diagnostics that say why there is no answer.
    fn answer(&self, output: &Output) -> Result<Self::Answer, Diagnostics>;
}

/// What a subcommand has found out: as JSON, for people, and as an exit status.
pub trait Answer: Serialize {
    /// What it has found, of which some may be suppressed.
    fn findings(&self) -> Findings<'_>;

    /// Leaves out what is suppressed, where the answer is nothing but findings. Elsewhere what is suppressed is a fact all the
    /// same, and told beside the answer.
    #[must_use]
    fn judged(self, _: &Judged) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Why not all was looked at, where a bound was hit.
    fn bounds(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Prints it for people, bit by bit: there may be more text than memory.
    fn print(&self, judged: &Judged, output: &mut Output);

    /// Does what people wait for with the answer before their eyes; in other formats it comes before the answer.
    ///
    /// # Errors
    ///
    /// The diagnostics that take the place of an answer.
    fn finish(&mut self, _: &mut Output) -> Result<(), Diagnostics> {
        Ok(())
    }

    /// Whether it shows what is wrong with comments that suppress findings among its own diagnostics.
    fn shows_problems(&self) -> bool {
        false
    }

    /// How the command ends.
    fn status(&self, judged: &Judged) -> Status;
}

/// A [`Job`] of any kind of answer.
pub trait AnyJob {
    /// As [`Job::validate`].
    ///
    /// # Errors
    ///
    /// A sentence for the user.
    fn validate(&self) -> Result<(), String>;

    /// As [`Job::watched`].
    fn watched(&self) -> Option<Vec<PathBuf>>;

    /// Runs it and shows its answer, or why there is none.
    fn execute(&mut self) -> ExitCode;
}

impl<J: Job> AnyJob for J {
    fn validate(&self) -> Result<(), String> {
        Job::validate(self)
    }

    fn watched(&self) -> Option<Vec<PathBuf>> {
        Job::watched(self).map(<[PathBuf]>::to_vec)
    }

    fn execute(&mut self) -> ExitCode {
        execute(self)
    }
}

fn execute(job: &mut impl Job) -> ExitCode {
    let common = job.common();
    let mut output = Output::new(common.output.color, common.output.quiet);
    let config = match (common.lints, common.file) {
        (Some(lints), Some(file)) => lints.config(file),
        _ => Ok(Config::default()),
    };
    let config = config.map(|config| job.set_default_bounds(&config.bounds));
    let bounds = job.process_bounds();
    bounds.memory.or_else(half_of_memory).into_iter().for_each(|bytes| PROCESS.bound(bytes));
    output = output.with_deadline(Deadline::after(bounds.timeout));
    let common = job.common();
    let answer = config.and_then(|()| job.answer(&output));
    let shown = answer.and_then(|answer| show(&common, answer, &mut output));
    let status = shown.unwrap_or_else(|failure| {
        show_failure(&common, &failure, &mut output);
        Status::Invalid
    });
    output.finish(status)
}

/// Shows an answer in the format that was asked for.
fn show<A: Answer>(common: &Common<'_>, answer: A, output: &mut Output) -> Result<Status, Diagnostics> {
    let findings = answer.findings();
    let lints = common.lints.map(|lints| lints.lints(&findings)).transpose()?.unwrap_or_default();
    let mut judged = judge(&findings, &lints);
    common.lints.map_or(Ok(()), |lints| lints.write(&judged))?;
    let is_listed = matches!(common.format, Format::Listing(_)) || !common.written.is_empty();
    let listing = is_listed.then(|| listing(common.name, &findings, &judged, &answer.bounds()));
    drop(findings);
    let mut answer = answer.judged(&judged);
    if answer.shows_problems() {
        judged.problems_data.clear();
    }
    match common.format {
        Format::Human => {
            answer.print(&judged, output);
            answer.finish(output)?;
            if !answer.shows_problems() {
                judged.problems.iter().for_each(|of| output.complain(&of.sources, &of.list));
            }
            output.summary(&view::suppressed::summary(&judged.suppressed));
        }
        Format::Json => {
            answer.finish(output)?;
            json::print(output, common.name, common.file, &json::Judged { answer: &answer, judged: &judged });
        }
        Format::Listing(_) => answer.finish(output)?,
    }
    let status = answer.status(&judged);
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
        let note = "what was not found may still be possible; `--format human` shows what is open";
        let open =
            Diagnostic::general(Code::ExplorationLimit, Severity::Warning, "not all could be decided").with_note(note);
        listing.bounds.push(diagnostic_data(&SourceMap::default(), &open));
    }
    Listing { status: status.code(), ..listing }
}

/// Shows why a command has no answer: in JSON, an object with `diagnostics` takes the place of the answer.
fn show_failure(common: &Common<'_>, failure: &Diagnostics, output: &mut Output) {
    match common.format {
        Format::Human => output.complain(&failure.sources, &failure.list),
        Format::Json => json::print(output, common.name, common.file, failure),
        Format::Listing(format) => {
            let file = common.file.map(name_of);
            output.print(&format.render(&listing_of_failure(common.name, file, failure)));
        }
    }
}
