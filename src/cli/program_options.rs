//! Options that say which program is meant, and which executions it has.
//!
//! **Input**: the command line. **Output**: the inputs of the front end, with the settings of a compiler of C among them, and the
//! semantics of the machine.

use clap::Args;
use cssame_front::c::{range, settings};
use cssame_model as model;
use cssame_vm::Semantics;

/// Options of every command that reads a program.
#[derive(Args, Clone, Debug)]
pub struct ProgramOptions {
    /// Set an `input` constant of the program, or try all of several values: `n=5`, `n=0..8`, `n=any` (repeatable)
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = parse_input, allow_hyphen_values = true)]
    inputs: Vec<(String, String)>,
    /// C: do not end the program when `main` ends; the other threads continue
    #[arg(long)]
    main_waits: bool,
    /// C: the range of nondeterministic values, such as `0..3` [default: `0..1`, or the range that an assumption gives]
    #[arg(long, value_name = "LOW..HIGH", value_parser = parse_range, allow_hyphen_values = true)]
    nondet: Option<String>,
    /// C: let signed arithmetic wrap where the result does not fit, as `-fwrapv` does
    #[arg(long)]
    wrapv: bool,
    /// C: the directory of a `compile_commands.json`, which has the compiler options of each file
    #[arg(short = 'p', value_name = "DIR")]
    compile_commands: Option<String>,
    /// C: one more option, as after `--` (repeatable)
    #[arg(long = "extra-arg", value_name = "OPTION", allow_hyphen_values = true)]
    extra_arguments: Vec<String>,
    /// C: compiler options (-I, -D, -U, -std, -include, -m32, -fwrapv), and further source files of the program
    #[arg(last = true, value_name = "OPTION", value_parser = clap::value_parser!(String), allow_hyphen_values = true)]
    compiler: Vec<String>,
}

impl ProgramOptions {
    /// What executions depend on.
    #[must_use]
    pub fn with(&self, execution: &ExecutionOptions) -> model::Options {
        model::Options { inputs: self.inputs(), semantics: execution.semantics() }
    }

    /// The inputs of the program, and what says how C is read.
    #[must_use]
    pub fn inputs(&self) -> Vec<(String, String)> {
        let mut inputs = self.inputs.clone();
        inputs.extend(self.main_waits.then(|| ("--main-waits".to_owned(), String::new())));
        inputs.extend(self.wrapv.then(|| ("-fwrapv".to_owned(), String::new())));
        inputs.extend(self.nondet.iter().map(|range| ("--nondet".to_owned(), range.clone())));
        inputs.extend(self.compile_commands.iter().map(|directory| ("-p".to_owned(), directory.clone())));
        // Where something is wrong with them, the front end says so.
        let unread =
            |one: &String| (if one.starts_with('-') { one.clone() } else { format!("-- {one}") }, String::new());
        let compiler: Vec<String> = self.extra_arguments.iter().chain(&self.compiler).cloned().collect();
        inputs.extend(settings(&compiler).unwrap_or_else(|_| compiler.iter().map(unread).collect()));
        inputs
    }

    /// Whether something was given beside how C is read.
    #[must_use]
    pub fn is_given(&self) -> bool {
        !self.inputs.is_empty() || self.main_waits || self.wrapv || self.nondet.is_some()
    }
}

/// Options of every command that executes the program.
#[derive(Args, Clone, Debug, Default)]
pub struct ExecutionOptions {
    /// Let waits for a condition end without a notification
    #[arg(long)]
    pub spurious_wakeups: bool,
    /// Let no thread take a readers-writer lock for reading while another thread waits to write
    #[arg(long)]
    pub prefer_writers: bool,
}

impl ExecutionOptions {
    /// Which executions there are.
    #[must_use]
    pub fn semantics(&self) -> Semantics {
        Semantics { spurious_wakeups: self.spurious_wakeups, prefer_writers: self.prefer_writers }
    }
}

fn parse_range(text: &str) -> Result<String, String> {
    range(text).map(|_| text.to_owned())
}

fn parse_input(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write it as NAME=VALUE, such as `n=5`".to_owned()),
    }
}
