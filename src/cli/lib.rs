//! The command line, and the only place that reads files, prints or exits.
//!
//! In: the arguments. Out: text or JSON on standard output, accompanying text on standard error, and the exit status
//! ([`Status`]). [`arguments`] parses; a subcommand ([`command`]) reads its files ([`load`]) and makes one call of
//! [`cssame_answer`]; [`job`] shows the answer, as JSON ([`json`]) or as text ([`view`]).

pub mod arguments;
mod available_memory;
mod bytes;
mod c_files;
pub mod command;
pub mod config;
pub mod deadline;
pub mod directory;
pub mod files;
pub mod generation;
pub mod internal;
pub mod job;
pub mod json;
pub mod lints;
pub mod load;
pub mod memory;
pub mod options;
pub mod output;
pub mod package;
mod processor;
mod program_options;
pub mod progress;
pub mod record;
pub mod recorded;
mod resident;
mod screen;
#[cfg(feature = "serve")]
pub mod serve;
pub mod shared;
pub mod status;
pub mod target;
mod tree;
pub mod view;
mod watch;

pub use cssame_answer::STACK_BYTES;
pub use status::Status;

use arguments::Parsed;
use options::OutputOptions;
use output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with the arguments of the process; the first is its name.
#[must_use]
pub fn run(arguments: &[OsString]) -> ExitCode {
    match arguments::parse(arguments) {
        Parsed::Command(mut job) => match job.watched() {
            Some(files) => watch::run(arguments, &files),
            None => job.execute(),
        },
        Parsed::Answer { text, asked } => answer(&text, asked),
    }
}

/// What the argument parser has to say: help that was asked for goes to standard output, a usage error does not.
fn answer(text: &str, asked: bool) -> ExitCode {
    let mut output = Output::new(&OutputOptions::default());
    if asked {
        output.print(text);
        return output.finish(Status::Clean);
    }
    output.note(text);
    output.finish(Status::Invalid)
}
