//! A program that is ready to run: loaded, analysed, and compiled for the machine.

use super::load::{self, Loaded, name_of};
use super::options::{ExecutionOptions, ProgramOptions};
use super::status::Failure;
use crate::diagnostics::Code;
use crate::explore::Subject;
use crate::form::{self, Form};
use crate::schedule::{Naming, Schedule, Step};
use crate::source::SourceMap;
use crate::vm::{Machine, Options, Visibility};
use std::path::Path;

/// The key under which a schedule keeps [`ExecutionOptions::spurious_wakeups`].
const SPURIOUS_WAKEUPS: &str = "spurious-wakeups";

/// What `--input` gives: names and values.
pub type Inputs = Vec<(String, String)>;

/// A program, what is known of it without running it, and its machine.
#[derive(Debug)]
pub struct Prepared {
    /// The program and its text.
    pub loaded: Loaded,
    /// Its CSSAME form.
    pub form: Option<Form>,
    /// Executes it; what is shared is visible.
    pub machine: Machine,
    inputs: Inputs,
    spurious_wakeups: bool,
}

/// Loads a program and makes it ready to run.
///
/// # Errors
///
/// It cannot be read, does not compile, or has no main.
pub fn prepare(path: &Path, inputs: &ProgramOptions, options: &ExecutionOptions) -> Result<Prepared, Failure> {
    prepare_with(path, inputs.inputs.clone(), options.spurious_wakeups)
}

/// As [`prepare`], with the inputs and options that a schedule was recorded with; the command line overrides them.
///
/// # Errors
///
/// As [`prepare`].
pub fn prepare_for(
    schedule: &Schedule,
    path: &Path,
    inputs: &ProgramOptions,
    options: &ExecutionOptions,
) -> Result<Prepared, Failure> {
    let known =
        |(name, value): &(&String, &String)| *name == SPURIOUS_WAKEUPS && ["true", "false"].contains(&value.as_str());
    if let Some((name, value)) = schedule.options.iter().find(|option| !known(option)) {
        let message = format!("the schedule has the option `{name}` = `{value}`, which this version does not know");
        return Err(Failure::error(Code::ScheduleMismatch, message));
    }
    let mut all: Inputs = schedule.inputs.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    all.retain(|(name, _)| inputs.inputs.iter().all(|(given, _)| given != name));
    all.extend(inputs.inputs.iter().cloned());
    let recorded = schedule.options.get(SPURIOUS_WAKEUPS).is_some_and(|value| value == "true");
    prepare_with(path, all, options.spurious_wakeups || recorded)
}

fn prepare_with(path: &Path, inputs: Inputs, spurious_wakeups: bool) -> Result<Prepared, Failure> {
    let loaded = load::load_executable(path, &inputs)?;
    Ok(ready(loaded, inputs, spurious_wakeups))
}

/// Analyses and compiles a program. One without a main has a machine that does nothing.
#[must_use]
pub fn ready(loaded: Loaded, inputs: Inputs, spurious_wakeups: bool) -> Prepared {
    let form = form::analyse(&loaded.program);
    let visible = match &form {
        Some(form) => {
            let sharing = &form.concurrency.sharing;
            Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() }
        }
        None => Visibility::all(&loaded.program),
    };
    let options = Options { spurious_wakeups, ..Options::default() };
    let machine = Machine::with_options(&loaded.program, &visible, options);
    Prepared { loaded, form, machine, inputs, spurious_wakeups }
}

impl Prepared {
    /// The files.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.loaded.sources
    }

    /// The values that the command line, or the schedule, gives to inputs.
    #[must_use]
    pub fn inputs(&self) -> &[(String, String)] {
        &self.inputs
    }

    /// The program as explorations see it.
    #[must_use]
    pub fn subject(&self) -> Subject<'_> {
        let concurrency = self.form.as_ref().map(|form| &form.concurrency);
        Subject { program: &self.loaded.program, concurrency, machine: &self.machine }
    }

    /// Gives names to steps.
    #[must_use]
    pub fn naming(&self) -> Naming<'_> {
        Naming { program: &self.loaded.program, sources: &self.loaded.sources, machine: &self.machine }
    }

    /// The schedule file of an execution: with all that it depends on.
    #[must_use]
    pub fn schedule(&self, path: &Path, steps: Vec<Step>, status: &str) -> Schedule {
        let text = self.loaded.sources.file(self.loaded.file).text();
        let mut schedule = Schedule::new(&name_of(path), text, steps);
        schedule.inputs = self.inputs.iter().cloned().collect();
        if self.spurious_wakeups {
            schedule.options.insert(SPURIOUS_WAKEUPS.to_owned(), "true".to_owned());
        }
        schedule.status = Some(status.to_owned());
        schedule
    }

    /// Whether a schedule was recorded from this very text, as far as it says.
    #[must_use]
    pub fn has_recorded(&self, schedule: &Schedule) -> bool {
        schedule.hash.is_empty() || schedule.is_of(self.loaded.sources.file(self.loaded.file).text())
    }

    /// Options of the command line that an execution depends on, as they are typed, with a space before each.
    #[must_use]
    pub fn options_text(&self) -> String {
        let inputs = self.inputs.iter().map(|(name, value)| format!(" --input {name}={value}"));
        let spurious = self.spurious_wakeups.then(|| format!(" --{SPURIOUS_WAKEUPS}"));
        inputs.chain(spurious).collect()
    }
}
