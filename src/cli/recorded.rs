//! Recorded executions as files: individually named schedules, and those of a package of tests.

use super::load::{self, name_of};
use cssame_coverage::RecordedProgram;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver::{MANIFEST, Recording};
use cssame_model::{Model, Options, Unit};
use cssame_schedule::{Departure, Schedule, Step};
use cssame_source::SourceMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A recorded execution.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its file.
    pub path: PathBuf,
    /// What is in it.
    pub schedule: Schedule,
    /// The program that it belongs to; none where that is the source file.
    pub program: Option<PathBuf>,
}

/// Reads a schedule file; also a bare list of steps, as the JSON answers have them.
///
/// # Errors
///
/// It cannot be read, or is no schedule.
pub fn read_schedule(path: &Path, source: &Path) -> Result<Schedule, Diagnostics> {
    let text = read_text(path)?;
    let parsed = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text)
            .map(|steps: Vec<Step>| Schedule { hash: String::new(), ..Schedule::new(&name_of(source), "", steps) })
            .map_err(|error| error.to_string())
    } else {
        Schedule::parse(&text).map_err(|error| error.to_string())
    };
    parsed.map_err(|error| mismatch(path, &error))
}

/// Reads the recorded executions of a package: its directory, or its manifest.
///
/// # Errors
///
/// A file cannot be read, is no manifest or no schedule, or the package is of a version that has none.
pub fn read_package(path: &Path, source: &Path) -> Result<Vec<Recorded>, Diagnostics> {
    let manifest = if path.is_dir() { path.join(MANIFEST) } else { path.to_owned() };
    let recording = Recording::parse(&read_text(&manifest)?).map_err(|error| mismatch(&manifest, &error))?;
    let directory = manifest.parent().unwrap_or(Path::new(""));
    let recorded = recording.tests.iter().map(|test| {
        let Some(schedule) = &test.schedule else {
            let problem = format!("`{}`: the test `{}` has no recorded execution", name_of(&manifest), test.name);
            let problem = Diagnostic::general(Code::ScheduleMismatch, Severity::Error, problem);
            return Err(Diagnostics::general(problem.with_help("write the package again")));
        };
        let path = directory.join(schedule);
        let schedule = read_schedule(&path, source)?;
        Ok(Recorded { path, schedule, program: test.program.as_ref().map(|program| directory.join(program)) })
    });
    recorded.collect()
}

/// Puts together what was recorded of a file without `main`: its programs, each with the executions that follow each other.
///
/// # Errors
///
/// A program cannot be read or does not compile, or its text does not begin with the file; or there is none.
pub fn programs(recorded: &[Recorded], unit: &Unit, options: &Options) -> Result<Vec<RecordedProgram>, Diagnostics> {
    let mut programs: Vec<RecordedProgram> = Vec::new();
    for list in recorded.chunk_by(|one, other| one.program == other.program) {
        let Some(path) = list.first().and_then(|one| one.program.as_ref()) else {
            let problem = Diagnostic::general(Code::NoMain, Severity::Error, "only a program has recorded executions");
            let problem = problem.with_help("leave out the schedule, or name the file that has the `main`");
            return Err(Diagnostics::new(unit.sources.clone(), vec![problem]));
        };
        let text = read_text(path)?;
        if !text.starts_with(unit.text()) {
            let problem = format!("it does not begin with the text of `{}`, which has changed since", unit.name());
            return Err(mismatch(path, &problem));
        }
        let model = Model::from_text(&name_of(path), &text, options)?;
        let schedules = list.iter().map(|one| one.schedule.clone()).collect();
        programs.push(RecordedProgram { model, schedules });
    }
    Ok(programs)
}

/// The diagnostic of a schedule that does not fit.
#[must_use]
pub fn departed(model: &Model, path: &Path, schedule: &Schedule, departure: &Departure) -> Diagnostics {
    let message = format!("`{}` does not fit the program at {departure}", name_of(path));
    let diagnostic = Diagnostic::general(Code::ScheduleMismatch, Severity::Error, message);
    Diagnostics::general(match other_program(model, schedule) {
        Some(note) => diagnostic.with_note(note).with_help(format!(
            "if OLD.csm is the program that it was recorded from, `cssame diff --schedule {} --record NEW.json OLD.csm \
             {}` carries it over as far as it fits; otherwise record a new schedule",
            name_of(path),
            model.unit().name(),
        )),
        None => diagnostic.with_help("record a new schedule"),
    })
}

/// That a schedule was recorded from another file, or from another text of this one.
fn other_program(model: &Model, schedule: &Schedule) -> Option<String> {
    let base = |name: &str| Path::new(name).file_name().map(OsStr::to_owned);
    if model.has_recorded(schedule) {
        return None;
    }
    Some(if base(&schedule.file) == base(model.unit().name()) {
        "the program has changed since the schedule was recorded".to_owned()
    } else {
        format!("the schedule was recorded from `{}`, this is `{}`", schedule.file, model.unit().name())
    })
}

fn read_text(path: &Path) -> Result<String, Diagnostics> {
    let mut sources = SourceMap::default();
    let file = load::read(&mut sources, path).map_err(Diagnostics::general)?;
    Ok(sources.file(file).text().to_owned())
}

fn mismatch(path: &Path, problem: &str) -> Diagnostics {
    Diagnostics::error(Code::ScheduleMismatch, format!("`{}`: {problem}", name_of(path)))
}
