//! The program as a process: how tests call it, and what a call leaves behind.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// What a call of the program has left.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    /// The diagnostics, wherever they are shown.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Whether it complains in these words, wherever its lines end.
    pub fn complains(&self, words: &str) -> bool {
        self.stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The programs of `samples`, sorted; those of its folders are not among them.
pub fn samples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join("samples")).expect("the samples").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "csm"));
    files.sort();
    assert!(files.len() > 40, "{} samples", files.len());
    files
}

/// The program, in the root of the project, with nothing in the environment that changes what it shows.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cssame"));
    command.current_dir(root()).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

pub fn finish(command: &mut Command) -> Answer {
    let output = command.output().expect("the program starts");
    let answer = Answer {
        status: output.status.code().unwrap_or_else(|| panic!("{command:?}: killed by a signal: {output:?}")),
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    };
    assert!(
        !answer.stderr.contains("internal error in") && !answer.stdout.contains("internal error in"),
        "{command:?}: an internal error:\n{}",
        answer.stderr
    );
    answer
}

/// Calls the program with the words of `line`, then `more`.
pub fn call<S: AsRef<OsStr>>(line: &str, more: &[S]) -> Answer {
    finish(program().args(line.split_whitespace()).args(more))
}

/// A directory for files of a test.
pub struct Files(pub TempDir);

impl Files {
    pub fn new() -> Files {
        Files(tempfile::tempdir().expect("a directory for the test"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file for the test");
        path
    }
}

/// The program in the current directory and environment.
pub fn plain() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cssame"));
    command.env_remove("COLUMNS");
    command
}

/// Runs a command, which must end with that status.
pub fn ends_with(command: &mut Command, status: i32) -> Output {
    let output = command.output().expect("the program starts");
    assert_eq!(output.status.code(), Some(status), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
