//! Internal errors: a panic is a bug of the tool, and is reported as one.
//!
//! In: the panic of any thread, which a hook intercepts in place of Rust's message. Out: a diagnostic CS0999 and exit status 2.

use super::json;
use super::options::OutputOptions;
use super::output::Output;
use super::status::Status;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_source::SourceMap;
use std::ffi::OsString;
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;
use std::sync::OnceLock;

/// The first panic of the process; later ones follow from it.
static PANIC: OnceLock<String> = OnceLock::new();

/// Keeps the message of a panic for [`report`], and prints nothing.
pub fn keep_panics() {
    panic::set_hook(Box::new(|information| {
        PANIC.get_or_init(|| describe(information));
    }));
}

fn describe(information: &PanicHookInfo<'_>) -> String {
    let payload = information.payload();
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown cause".to_owned());
    match information.location() {
        Some(location) => format!("{message} ({}:{})", location.file(), location.line()),
        None => message,
    }
}

/// Says that the tool has failed, and how to report it.
#[must_use]
pub fn report(arguments: &[OsString]) -> ExitCode {
    let cause = PANIC.get().map_or("unknown cause", String::as_str);
    let line: Vec<_> = arguments.iter().skip(1).map(|argument| argument.to_string_lossy()).collect();
    let message = format!("internal error in cssame {}: {cause}", env!("CARGO_PKG_VERSION"));
    let diagnostic = Diagnostic::general(Code::Internal, Severity::Error, message)
        .with_note("this is a bug of cssame, not of the program")
        .with_note(format!("the command was: cssame {}", line.join(" ")))
        .with_help("report it with the command, the program and this message");
    let mut output = Output::new(&OutputOptions::default());
    if wants_json(&line) {
        // What the command had printed so far is lost with its buffer: this is the only object.
        let data = Diagnostics::general(diagnostic);
        output.print(&json::document(line.first().map_or("", |command| command.as_ref()), None, &data));
    } else {
        output.complain(&SourceMap::default(), &[diagnostic]);
    }
    output.finish(Status::Invalid)
}

fn wants_json(line: &[std::borrow::Cow<'_, str>]) -> bool {
    line.iter().any(|argument| argument == "--format=json")
        || line.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}
