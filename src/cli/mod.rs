//! The command line: one file for each subcommand, and the only place that prints or exits.
//!
//! In: the arguments. Out: text or JSON on standard output, what accompanies it on standard error, and the exit status
//! ([`Status`]). [`arguments`] parses, [`load`] reads and compiles, a subcommand calls the library and hands its data
//! to [`output`], in human words or as JSON ([`json`]).

pub mod arguments;
pub mod check;
pub mod correlate;
mod correlate_text;
pub mod directory;
pub mod drive;
mod drive_pairs;
pub mod explain;
pub mod files;
pub mod finding;
pub mod futures;
mod futures_text;
pub mod internal;
pub mod ir;
pub mod json;
pub mod load;
pub mod options;
pub mod output;
pub mod pi;
pub mod progress;
mod reason;
mod record;
pub mod run;
pub mod snippet;
pub mod status;
mod tears;

pub use status::Status;

use crate::diagnostics::Diagnostics;
use arguments::{Job, Parsed};
use options::{ColorChoice, Format};
use output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

/// Trees and graphs of the input are walked by recursion in a few places, for which the usual stack may be too small.
pub const STACK_BYTES: usize = 256 << 20;

/// Runs the program with the arguments of the process; the first is its name.
#[must_use]
pub fn run(arguments: &[OsString]) -> ExitCode {
    let command = match arguments::parse(arguments) {
        Parsed::Command(command) => command,
        Parsed::Answer { text, asked } => return answer(&text, asked),
    };
    let job = command.job();
    let mut output = Output::new(job.output_options().color, job.output_options().quiet);
    let status = job.execute(&mut output).unwrap_or_else(|failure| {
        report_failure(job, &failure, &mut output);
        Status::Invalid
    });
    output.finish(status)
}

/// What the argument parser has to say: help that was asked for goes to standard output, a usage error does not.
fn answer(text: &str, asked: bool) -> ExitCode {
    let mut output = Output::new(ColorChoice::Auto, false);
    if asked {
        output.print(text);
        return output.finish(Status::Clean);
    }
    output.note(text);
    output.finish(Status::Invalid)
}

/// Shows why a command has no answer: in JSON, an object with `diagnostics` takes the place of the answer.
fn report_failure(job: &dyn Job, failure: &Diagnostics, output: &mut Output) {
    match job.format() {
        Format::Json => json::print(output, job.name(), job.file(), failure),
        Format::Human | Format::Dot => output.complain(&failure.sources, &failure.list),
    }
}
