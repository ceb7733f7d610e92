//! `cssame serve`: a page in a browser for editing programs.

use crate::available_memory::half_of_memory;
use crate::job::{Common, Help, Job};
use crate::options::{Format, JobsOption, OutputOptions, parse_seconds, parse_size};
use crate::output::Output;
use crate::serve::{Folder, Most, Server, Settings};
use clap::Args;
use cssame_answer::Judged;
use cssame_diagnostics::{Code, Diagnostics};
use serde::Serialize;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// The time of a search where nobody says.
const SECONDS: u64 = 60;

/// The memory of a question where nobody says.
const MEMORY: u64 = 1 << 30;

/// Arguments of `serve`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// A source file, or a directory whose `.csm` files can be opened [default: only the samples of the tool]
    #[arg(value_name = "FILE|DIR")]
    pub path: Option<PathBuf>,
    /// Listen on this port [default: any free port]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Let no search take longer than this, whatever the page asks [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
    /// Let no command and no editor take more memory than this [default: 1G, or half of the memory if that is less]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
}

/// A server that listens.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Served {
    address: String,
    /// The server until it runs, and what Ctrl-C notifies.
    #[serde(skip)]
    server: Option<(Server, Arc<Notify>)>,
}

impl Job for Arguments {
    type Answer = Served;

    const HELP: Help = Help {
        name: "serve",
        short: "Start a web page with an editor, commands and their answers",
        long: "\
Serves a page to a browser on this machine. The page has an editor with the language server, samples to open, and \
buttons for report, run, futures, races and drive, with bounds and a Stop button. It shows the answers to click \
through. Nobody else can use it: the server listens only on the loopback address, and the address that it prints \
contains a token. The server writes nothing except the files of FILE or DIR that you save.",
        examples: "\
Examples:
  cssame serve
  cssame serve samples
  cssame serve samples/peterson.csm --port 8123 --timeout 30

Exit status: 0 after Ctrl-C, 2 if FILE or DIR cannot be read or the port is taken.",
    };

    fn common(&self) -> Common<'_> {
        Common::new(&[], Format::Human, &self.output)
    }

    fn answer(&self, _: &Output) -> Result<Served, Diagnostics> {
        let folder = Folder::new(self.path.clone())?;
        let memory = self.max_memory.unwrap_or_else(|| half_of_memory().unwrap_or(MEMORY).min(MEMORY));
        let most = Most { time: self.timeout.unwrap_or(Duration::from_secs(SECONDS)), memory };
        let program = std::env::current_exe().map_err(|error| failure(&error))?;
        let settings = Settings { program, folder, most, cores: self.jobs.cores() };
        let server = Server::listen(self.port, settings).map_err(|error| failure(&error))?;
        Ok(Served { address: server.address(), server: Some((server, notified_by_ctrl_c())) })
    }

    fn print(&self, served: &Served, _: &Judged, output: &mut Output) {
        output.print(&format!("{}\n", served.address));
        output.summary("open this address in a browser of this machine; Ctrl-C ends\n");
    }

    fn finish(&self, served: &mut Served, output: &mut Output) -> Result<(), Diagnostics> {
        output.flush();
        served.server.take().map_or(Ok(()), |(server, end)| server.run(&end).map_err(|error| failure(&error)))
    }
}

/// Takes Ctrl-C from now on. This is before the address is printed: who has read it may end the server at once.
fn notified_by_ctrl_c() -> Arc<Notify> {
    let end = Arc::new(Notify::new());
    let told = Arc::clone(&end);
    // Where no handler can be set, Ctrl-C ends the process, as it does anywhere.
    let _ = ctrlc::set_handler(move || told.notify_one());
    end
}

fn failure(error: &io::Error) -> Diagnostics {
    Diagnostics::error(Code::CannotRead, format!("the page cannot be served: {error}"))
}
