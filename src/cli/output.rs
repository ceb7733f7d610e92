//! Writes to the two standard streams, with or without colour.
//!
//! In: text. Out: bytes. A reader that has closed the pipe (`cssame … | head`) is no error: the rest is dropped. Any other
//! failure to write standard output makes the exit status 2.

use super::deadline::Deadline;
use super::options::OutputOptions;
use super::screen;
use super::status::Status;
use cssame_diagnostics::terminal::{self, Screen};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_source::SourceMap;
use serde::Serialize;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// What is written to standard output at once; answers can be large.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes to standard error while an answer is looked for.
pub(super) fn note_at_once(text: &str) {
    // There is no better place to complain about a broken standard error.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes data. There is one kind of serializer for all places, since each kind is compiled for all answers.
pub(super) fn write_json<T: Serialize>(to: &mut dyn Write, data: &T) -> serde_json::Result<()> {
    serde_json::to_writer_pretty(to, data)
}

/// The standard streams of one run, and the time it has.
#[derive(Debug)]
pub struct Output {
    stdout: BufWriter<Stdout>,
    failed: Option<io::Error>,
    stdout_colour: bool,
    stderr_colour: bool,
    options: OutputOptions,
    deadline: Deadline,
    /// What searches have done, where people are to be told.
    searched: Mutex<String>,
}

impl Output {
    /// The streams as they are asked for.
    #[must_use]
    pub fn new(options: &OutputOptions) -> Output {
        Output {
            stdout: BufWriter::with_capacity(BUFFER_BYTES, io::stdout()),
            failed: None,
            stdout_colour: options.color.wanted(io::stdout().is_terminal()),
            stderr_colour: options.color.wanted(io::stderr().is_terminal()),
            options: options.clone(),
            deadline: Deadline::none(),
            searched: Mutex::default(),
        }
    }

    /// The same, with an end of the time before a search.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline) -> Output {
        Output { deadline, ..self }
    }

    /// What is left of the time.
    pub(super) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Whether standard output is to be coloured.
    #[must_use]
    pub fn colour(&self) -> bool {
        self.stdout_colour
    }

    /// Where diagnostics on standard output are shown.
    #[must_use]
    pub fn screen(&self) -> Screen {
        screen::of_stdout(self.colour())
    }

    /// The options that it was made with.
    pub(super) fn options(&self) -> &OutputOptions {
        &self.options
    }

    /// Whether to show how far a search has come: on a terminal that can redraw a line, unless quiet.
    #[must_use]
    pub fn shows_progress(&self) -> bool {
        !self.options.quiet && io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// Takes what searches have done, for the last line.
    pub(super) fn set_searched(&self, line: String) {
        *self.searched.lock().unwrap_or_else(PoisonError::into_inner) = line;
    }

    /// Writes to standard output.
    pub fn print(&mut self, text: &str) {
        if self.failed.is_none()
            && let Err(error) = self.stdout.write_all(text.as_bytes())
        {
            self.failed = Some(error);
        }
    }

    /// Writes data as JSON to standard output, while it is serialised.
    pub fn print_json<T: Serialize>(&mut self, data: &T) {
        if self.failed.is_none()
            && let Err(error) = write_json(&mut self.stdout, data)
        {
            self.failed = Some(error.into());
        }
    }

    /// Writes to standard error. What was printed before comes first.
    pub fn note(&mut self, text: &str) {
        self.flush();
        note_at_once(text);
    }

    /// Writes to standard error, unless quiet.
    pub fn summary(&mut self, text: &str) {
        if !self.options.quiet {
            self.note(text);
        }
    }

    /// Renders diagnostics to standard error.
    pub fn complain(&mut self, sources: &SourceMap, diagnostics: &[Diagnostic]) {
        let text = terminal::render_all(sources, diagnostics, screen::of_stdout(self.stderr_colour));
        self.note(&text);
    }

    /// Writes out what is left, and ends the run.
    #[must_use]
    pub fn finish(mut self, status: Status) -> ExitCode {
        let searched = std::mem::take(self.searched.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.note(&searched);
        let status = match self.failed.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                let message = format!("standard output cannot be written: {error}");
                self.complain(
                    &SourceMap::default(),
                    &[Diagnostic::general(Code::CannotWrite, Severity::Error, message)],
                );
                Status::Invalid
            }
            _ => status,
        };
        // Nothing is left to write; the buffer of a broken pipe must not be tried again.
        let _ = self.stdout.into_parts();
        ExitCode::from(status.code())
    }

    /// Writes what is kept to standard output.
    pub fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.stdout.flush()
        {
            self.failed = Some(error);
        }
    }
}
