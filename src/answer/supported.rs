//! The answer of `check --supported`: the files in C that can be read, and the obstacles in the others.
//!
//! Each file is examined separately. A function that another of the files defines is a separate reason: the two files must be
//! read together.

use super::check::{CheckReport, on_cores};
use cssame_c::library;
use cssame_c::lower::{NotLowered, Settings, lower};
use cssame_c::supported::{Obstacle, Reason, is_cpp, obstacles, offered, refusal};
use cssame_c::tree::{self, Files, KnownFiles, Options, Unit};
use cssame_diagnostics::Severity;
use cssame_source::{SourceMap, Span};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What `check` answers.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum CheckAnswer {
    /// What was found in the files.
    Checked(Box<CheckReport>),
    /// Which of them are read.
    Supported(SupportedReport),
}

/// Files to look at.
pub struct SupportedInput<'a> {
    /// Their names.
    pub files: &'a [String],
    /// Where their text comes from.
    pub reader: &'a dyn Files,
    /// How each of them is read.
    pub options: &'a (dyn Fn(&str) -> Result<Options, String> + Sync),
}

/// Which files are read.
#[derive(Debug, Serialize)]
pub struct SupportedReport {
    /// Those that are, by name.
    pub read: Vec<String>,
    /// The others, by name.
    pub refused: Vec<Refused>,
    /// What stands in the way, by the number of files, the greatest first.
    pub reasons: Vec<SupportedReason>,
}

/// A file that is not read.
#[derive(Debug, Serialize)]
pub struct Refused {
    /// Its name.
    pub file: String,
    /// What stands in the way, each reason once, in the order of its first place.
    pub obstacles: Vec<SupportedObstacle>,
}

/// Something that stands in the way in one file.
#[derive(Clone, Debug, Serialize)]
pub struct SupportedObstacle {
    /// What it is.
    pub reason: String,
    /// The stage of the front end in which it comes.
    pub stage: Option<u8>,
    /// How often it is met.
    pub uses: usize,
    /// The first of these places: the file.
    pub at: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// Its column, from 1.
    pub column: Option<u32>,
    /// What a compiler says, where the file is no program in C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What stands in the way of some of the files.
#[derive(Debug, Serialize)]
pub struct SupportedReason {
    /// What it is.
    pub reason: String,
    /// The stage of the front end in which it comes.
    pub stage: Option<u8>,
    /// In how many files.
    pub files: usize,
    /// Of how many files it is the only reason.
    pub alone: usize,
    /// The first of its places.
    pub first: SupportedObstacle,
}

/// What was found in one file.
#[derive(Default)]
struct Found {
    offered: Vec<String>,
    obstacles: Vec<(Reason, SupportedObstacle)>,
}

/// Looks at all files, as many at a time as there are jobs.
#[must_use]
pub fn supported(input: &SupportedInput<'_>, jobs: usize) -> SupportedReport {
    let look = |name: &String| look_at(name, input);
    let together = jobs > 1 && input.files.len() > 1;
    let found = if together { on_cores(input.files, jobs, &look) } else { None };
    let mut found: Vec<Found> = found.unwrap_or_else(|| input.files.iter().map(look).collect());
    let offered: BTreeSet<String> = found.iter_mut().flat_map(|file| std::mem::take(&mut file.offered)).collect();
    let mut report = SupportedReport { read: Vec::new(), refused: Vec::new(), reasons: Vec::new() };
    for (file, found) in input.files.iter().zip(found) {
        if found.obstacles.is_empty() {
            report.read.push(file.clone());
        } else {
            let obstacles = found.obstacles.into_iter().map(|(reason, of)| linked(reason, of, &offered)).collect();
            report.refused.push(Refused { file: file.clone(), obstacles });
        }
    }
    report.reasons = reasons(&report.refused);
    report
}

/// An obstacle, where it is known what the other files define.
fn linked(reason: Reason, obstacle: SupportedObstacle, offered: &BTreeSet<String>) -> SupportedObstacle {
    match reason {
        Reason::UnknownFunction(name) if offered.contains(&*name) => {
            SupportedObstacle { reason: Reason::OtherFile(name).to_string(), ..obstacle }
        }
        _ => obstacle,
    }
}

fn look_at(name: &str, input: &SupportedInput<'_>) -> Found {
    let path = Path::new(name);
    let refused = |reason: Reason| {
        let obstacle = obstacle(&reason, 1, None);
        Found { offered: Vec::new(), obstacles: vec![(reason, obstacle)] }
    };
    if is_cpp(path) {
        return refused(Reason::CPlusPlus);
    }
    let Some(bytes) = input.reader.read(path) else { return refused(Reason::Unreadable) };
    let mut sources = SourceMap::default();
    let main = tree::add_bytes(&mut sources, name, &bytes);
    let options = match (input.options)(name) {
        Ok(options) => options,
        Err(problem) => {
            let obstacle = SupportedObstacle { message: Some(problem), ..obstacle(&Reason::NoCommand, 1, None) };
            return Found { offered: Vec::new(), obstacles: vec![(Reason::NoCommand, obstacle)] };
        }
    };
    let reading = tree::read(&mut sources, main, input.reader, &options);
    match &reading.unit {
        Some(unit) => Found {
            offered: offered(unit).map(str::to_owned).collect(),
            obstacles: grouped(&unread(unit, &mut sources), &sources),
        },
        None => {
            let reason = refusal(&reading);
            let error = reading.diagnostics.iter().find(|one| one.severity == Severity::Error);
            let place = error.and_then(|error| error.span()).map(|span| (&sources, span));
            let message = error.map(|error| error.message.clone());
            let obstacle = SupportedObstacle { message, ..obstacle(&reason, 1, place) };
            Found { offered: Vec::new(), obstacles: vec![(reason, obstacle)] }
        }
    }
}

/// What of a unit is not read: by its tree, or else where it is lowered.
fn unread(unit: &Unit, sources: &mut SourceMap) -> Vec<Obstacle> {
    let found = obstacles(unit);
    if !found.is_empty() {
        return found;
    }
    let mut linked = None;
    if library::is_used([unit]) {
        let file = sources.add_beside(library::NAME, library::TEXT);
        linked = tree::read(sources, file, &KnownFiles::new(&sources.clone()), &Options::default()).unit;
    }
    let units: Vec<&Unit> = std::iter::once(unit).chain(&linked).collect();
    match lower(sources, &units, &Settings::default()) {
        Err(NotLowered::Unread(found)) => found,
        Ok(_) | Err(NotLowered::Failed(_)) => found,
    }
}

fn obstacle(reason: &Reason, uses: usize, place: Option<(&SourceMap, Span)>) -> SupportedObstacle {
    let position = place.map(|(sources, span)| sources.position(span));
    SupportedObstacle {
        reason: reason.to_string(),
        stage: reason.stage(),
        uses,
        at: place.map(|(sources, span)| sources.file(span.file).name().to_owned()),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        message: None,
    }
}

/// Each reason of a file once, with its first place.
fn grouped(found: &[Obstacle], sources: &SourceMap) -> Vec<(Reason, SupportedObstacle)> {
    let mut first: Vec<(&Reason, usize, Span)> = Vec::new();
    for one in found {
        match first.iter_mut().find(|(reason, ..)| *reason == &one.reason) {
            Some((_, uses, _)) => *uses += 1,
            None => first.push((&one.reason, 1, one.place.used)),
        }
    }
    let shown = first.into_iter();
    shown.map(|(reason, uses, span)| (reason.clone(), obstacle(reason, uses, Some((sources, span))))).collect()
}

fn reasons(refused: &[Refused]) -> Vec<SupportedReason> {
    let mut by_name: BTreeMap<&str, SupportedReason> = BTreeMap::new();
    for file in refused {
        for one in &file.obstacles {
            let new = || SupportedReason {
                reason: one.reason.clone(),
                stage: one.stage,
                files: 0,
                alone: 0,
                first: SupportedObstacle { at: one.at.clone().or_else(|| Some(file.file.clone())), ..one.clone() },
            };
            let reason = by_name.entry(&one.reason).or_insert_with(new);
            reason.files += 1;
            reason.alone += usize::from(file.obstacles.len() == 1);
        }
    }
    let mut reasons: Vec<SupportedReason> = by_name.into_values().collect();
    reasons.sort_by_key(|reason| Reverse(reason.files));
    reasons
}
