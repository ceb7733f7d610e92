//! `--watch`: runs a command again whenever its files change.
//!
//! **Input**: the arguments of the process, and the files that the command reads. **Output**: the answers, one after another, until Ctrl-C.
//!
//! **Algorithm**: a separate process computes each answer, with the same arguments except `--watch`, so that its limits on memory
//! and time and the effect of Ctrl-C are those of the command. The directories of the files are watched, since editors replace
//! files rather than write them.
//!
//! **Limits**: only the configuration that is nearest when the watching begins is watched.

use super::config;
use super::load::STANDARD_INPUT;
use super::options::OutputOptions;
use super::output::Output;
use super::status::Status;
use notify::{Event, EventKind, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The option.
const OPTION: &str = "--watch";

/// A change is over when nothing has followed for that long.
const QUIET: Duration = Duration::from_millis(50);

/// Clears a terminal, and goes to its first line.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

/// Asks again and again.
#[must_use]
pub fn run(arguments: &[OsString], files: &[PathBuf]) -> ExitCode {
    let mut output = Output::new(&OutputOptions::default());
    match watch(arguments, files, &mut output) {
        Ok(()) => output.finish(Status::Clean),
        Err(error) => {
            output.note(&format!("error: {error}\n"));
            output.finish(Status::Invalid)
        }
    }
}

fn watch(arguments: &[OsString], files: &[PathBuf], output: &mut Output) -> Result<(), String> {
    if files.iter().any(|file| file.as_os_str() == STANDARD_INPUT) {
        return Err("standard input cannot be watched".to_owned());
    }
    let configurations = files.iter().filter_map(|file| config::find(file));
    let watched: Vec<PathBuf> = files.iter().cloned().chain(configurations).collect();
    let (sender, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |event| {
        // Whoever receives it ends only with the process.
        let _ = sender.send(event);
    })
    .map_err(|error| error.to_string())?;
    let directories: BTreeSet<&Path> = watched.iter().map(|file| directory_of(file)).collect();
    for directory in directories {
        let told = watcher.watch(directory, RecursiveMode::NonRecursive);
        told.map_err(|error| format!("`{}` cannot be watched: {error}", directory.display()))?;
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    // What stands behind `--` is a file, whatever it is called.
    let options = arguments.iter().take_while(|argument| *argument != "--").count();
    let (options, rest) = arguments.split_at(options);
    let options = options.iter().skip(1).filter(|argument| *argument != OPTION);
    let own: Vec<&OsString> = options.chain(rest).collect();
    loop {
        if std::io::stdout().is_terminal() {
            output.print(CLEAR);
            output.flush();
        }
        Command::new(&program).args(&own).status().map_err(|error| error.to_string())?;
        output.note("watching; Ctrl-C ends\n");
        wait(&changes, &watched)?;
    }
}

/// Waits for a change of one of the files, and for its end.
fn wait(changes: &Receiver<notify::Result<Event>>, watched: &[PathBuf]) -> Result<(), String> {
    let names: BTreeSet<&OsStr> = watched.iter().filter_map(|file| file.file_name()).collect();
    loop {
        let event = changes.recv().map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        if is_change(&event, &names) {
            break;
        }
    }
    while changes.recv_timeout(QUIET).is_ok() {}
    Ok(())
}

/// Whether an event changes what one of the names stands for. To read a file is no change.
fn is_change(event: &Event, names: &BTreeSet<&OsStr>) -> bool {
    let changes = matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_));
    changes && event.paths.iter().filter_map(|path| path.file_name()).any(|name| names.contains(name))
}

fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
