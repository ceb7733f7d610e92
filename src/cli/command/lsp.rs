//! `cssame lsp`: the language server.

use crate::available_memory::half_of_memory;
use crate::job::{Common, Help, Job};
use crate::lints::LintOptions;
use crate::load;
use crate::memory::for_searches;
use crate::options::{BoundOptions, Format, OutputOptions, ProcessBounds, parse_size};
use crate::output::Output;
use clap::Args;
use cssame_answer::{Findings, Judged};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_lsp as lsp;
use cssame_lsp::Environment;
use serde::Serialize;
use std::sync::Arc;

/// Arguments of `lsp`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Accepted for clients that pass it; the standard streams are always used
    #[arg(long)]
    pub stdio: bool,
    /// Let each exploration take at most this much memory, such as 500M or 2G [default: half of the memory of the
    /// machine or control group]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The end of a session.
#[derive(Debug, Serialize)]
pub struct Served {}

impl Job for Arguments {
    type Answer = Served;

    const HELP: Help = Help {
        name: "lsp",
        short: "Start the language server, for an editor",
        long: "\
Starts a server for the Language Server Protocol, on standard input and output. An editor starts it; docs/lsp.md \
explains how. The server shows diagnostics while you type, explores the program in the background, and shows at each \
read of shared memory which writes the read may see.",
        examples: "\
Examples:
  cssame lsp

Exit status: 0 when the client ends the session, 2 if the client violates the protocol.",
    };

    fn common(&self) -> Common<'_> {
        Common::new(&[], Format::Human, &self.output)
    }

    /// Explorations have bounds; a session has none.
    fn set_default_bounds(&mut self, _: &BoundOptions) -> ProcessBounds {
        ProcessBounds { memory: Some(u64::MAX), timeout: None }
    }

    fn answer(&self, _: &Output) -> Result<Served, Diagnostics> {
        let environment = Environment {
            lints: Arc::new(|findings: &Findings<'_>| LintOptions::default().lints(findings)),
            read: Arc::new(load::document),
            max_memory: self.max_memory.or_else(half_of_memory).map(|bound| for_searches(bound, 0)),
        };
        lsp::serve_stdio(&environment).map(|()| Served {}).map_err(|error| {
            let message = format!("the client violates the protocol: {error}");
            Diagnostics::general(Diagnostic::general(Code::CannotRead, Severity::Error, message))
        })
    }

    fn print(&self, _: &Served, _: &Judged, _: &mut Output) {}
}
