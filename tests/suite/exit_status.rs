//! The exit status of every command on samples, of all in a long run: 1 where something is wrong with the program, and only there.
//!
//! Input: the samples, and the tables that say what is wrong with them: golden outcomes, races, classes with a bug, and
//! static diagnostics. Output: each command ends with 1 on what it is to find, and never on a program that is right: it
//! ends with 0 there, or with 3 where [`UNDECIDED`] says that a bound is hit.
//! Soundness and limits: without `--confirm`, `check` says what may be, of three right programs too ([`MAY_RACE`]).

use crate::race_samples::RACES;
use crate::samples::GOLDEN;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use support::classes::{CLASSES, Kind};
use support::root;

/// Samples that fail or block in some execution, have no golden outcomes, and are no broken twin.
const FAILING: &[&str] = &["choice", "event_cleared", "treiber_aba"];

/// Samples whose accesses a semaphore, or a flag that is read under a lock, keeps apart: `check` alone cannot tell.
const MAY_RACE: &[&str] = &["races_read_copy", "races_task_queue", "readers_writer"];

/// Samples that are right, and of which a command does not know it within its bounds.
const UNDECIDED: &[(&str, &str)] = &[
    // Their branches have more orders, or longer ones, than are looked at.
    ("paths", "barrier_phases"),
    ("paths", "bounded_buffer"),
    ("paths", "state_machine"),
    ("paths", "timed_wait"),
    // Of a library nothing is refuted by executions: other contexts are possible.
    ("correlate", "classes/bank_account"),
    ("correlate", "classes/event_bus"),
    ("correlate", "classes/once"),
    ("correlate", "classes/read_write_cache"),
    ("drive --pairs", "classes/bank_account"),
    ("drive --pairs", "classes/read_write_cache"),
];

/// Of classes whose bug is in several variables, those in which no two variables are correlated.
const NOT_CORRELATED: &[&str] = &["striped_map"];

/// A sample: its path below `samples`, without ending, and what is wrong with it.
#[derive(Debug)]
struct Sample {
    name: String,
    /// Whether it has something to run.
    runs: bool,
    /// Some execution fails or blocks.
    fails: bool,
    /// Some execution has a race.
    races: bool,
    /// Correlated variables are touched in two regions of a lock, and some execution shows it.
    tears: bool,
    /// A class with a bug.
    bug: Option<(&'static str, Kind)>,
    /// The lines of its static diagnostics.
    diagnostics: Vec<String>,
}

impl Sample {
    fn new(name: String, diagnostics: Vec<String>) -> Sample {
        let stem = name.as_str();
        let has = |code: &str| diagnostics.iter().any(|line| line.contains(code));
        let golden = GOLDEN.iter().find(|(sample, ..)| *sample == stem);
        let listed = RACES.iter().find(|(sample, _)| *sample == stem);
        let is_real = |race: &&str| !race.ends_with(" impossible") && !race.ends_with(" unconfirmed");
        let class = |sample: &&support::classes::ClassSample| format!("classes/{}_broken", sample.name) == stem;
        let runs = !stem.starts_with("classes/") && is_program(stem);
        let fails = golden.map_or_else(
            || runs && (stem.ends_with("_broken") || FAILING.contains(&stem)),
            |(_, outcomes, _)| outcomes.iter().any(|outcome| !outcome.ends_with(": ok")),
        );
        let races = match listed {
            Some((_, races)) => races.iter().any(is_real),
            None => has("CS0401") && !MAY_RACE.contains(&stem),
        };
        let tears = has("CS0501");
        let bug = CLASSES.iter().find(class).map(|sample| (sample.name, sample.kind));
        Sample { runs, fails, races, tears, bug, diagnostics, name }
    }

    fn path(&self) -> String {
        format!("samples/{}.csm", self.name)
    }

    /// Whether `check` warns of it.
    fn is_warned(&self) -> bool {
        self.diagnostics.iter().any(|line| line.contains(" warning ") || line.contains(" error "))
    }

    /// Whether nothing is wrong with it.
    fn is_right(&self) -> bool {
        !self.fails && !self.races && !self.tears && self.bug.is_none()
    }

    fn has_bug(&self, kinds: &[Kind]) -> bool {
        self.bug.is_some_and(|(_, kind)| kinds.contains(&kind))
    }
}

/// Whether a sample has a body to run: `main`, or statements at top level.
fn is_program(stem: &str) -> bool {
    let text = fs::read_to_string(root().join(format!("samples/{stem}.csm"))).unwrap();
    cssame::model::Model::from_text(stem, &text, &cssame::model::Options::default()).is_ok()
}

/// All samples.
static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(samples);

/// All samples, by the table of their static diagnostics.
fn samples() -> Vec<Sample> {
    let table = fs::read_to_string(root().join("tests/diagnostics/samples.txt")).unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut name = String::new();
    for line in table.lines() {
        if line.starts_with("  ") {
            found.entry(name.clone()).or_default().push(line.to_owned());
        } else {
            name = line.trim_end_matches(": nothing").trim_end_matches(".csm").to_owned();
            found.entry(name.clone()).or_default();
        }
    }
    let samples: Vec<Sample> = found.into_iter().map(|(name, diagnostics)| Sample::new(name, diagnostics)).collect();
    let right = samples.iter().filter(|sample| sample.is_right()).count();
    assert!(right > 50 && samples.len() > 2 * right, "{right} of {}", samples.len());
    samples
}

/// What a status is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// 1.
    Finding,
    /// 0, or 3 where that is listed.
    Nothing,
    /// Anything: the program is wrong, but by what this command need not find.
    Any,
}

/// What is to be where the command finds all that is asked for here, and nothing is to be found in a right program.
fn found_if(finds: bool, sample: &Sample) -> Expected {
    match (finds, sample.is_right()) {
        (true, _) => Expected::Finding,
        (false, true) => Expected::Nothing,
        (false, false) => Expected::Any,
    }
}

/// Of how many samples a command is asked in a usual run: those that take long of some.
fn asked_of(command: &str) -> usize {
    match command {
        "races" | "correlate" | "drive --pairs" => 12,
        "coverage" | "paths" | "check --confirm" | "drive" | "run" => 40,
        _ => 100,
    }
}

/// Calls a command on samples, and compares its exit status.
fn assert_statuses(command: &str, more: &[&str], with_libraries: bool, expected: impl Fn(&Sample) -> Expected) {
    let mut wrong = Vec::new();
    let samples = SAMPLES.iter().filter(|sample| with_libraries || sample.runs).collect();
    for sample in support::part(samples, asked_of(command)) {
        let mut call = Command::new(env!("CARGO_BIN_EXE_cssame"));
        call.current_dir(root()).args(command.split(' ')).arg(sample.path()).args(more).arg("-q");
        let status = call.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code();
        let is_undecided = UNDECIDED.contains(&(command, sample.name.as_str()));
        let is_right = match expected(sample) {
            Expected::Finding => status == Some(1),
            Expected::Nothing if is_undecided => status == Some(3),
            Expected::Nothing => status == Some(0),
            Expected::Any => matches!(status, Some(0 | 1 | 3)),
        };
        if !is_right {
            wrong.push(format!("{command} {}: {status:?}, expected {:?}", sample.path(), expected(sample)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Bounds within which all but [`UNDECIDED`] is known.
const STATES: [&str; 2] = ["--max-states", "20000"];

#[test]
fn pi_finds_nothing_wrong() {
    assert_statuses("pi", &[], false, |_| Expected::Nothing);
}

#[test]
fn check_ends_as_its_diagnostics_say() {
    let warned = |sample: &Sample| if sample.is_warned() { Expected::Finding } else { Expected::Nothing };
    assert_statuses("check", &[], true, warned);
    for sample in SAMPLES.iter().filter(|sample| sample.is_right() && sample.is_warned()) {
        assert!(MAY_RACE.contains(&sample.name.as_str()), "{sample:?}");
    }
}

#[test]
fn check_takes_back_what_no_execution_has() {
    let confirmed = |sample: &Sample| {
        let finds = sample.races || sample.tears || sample.has_bug(&[Kind::DataRace, Kind::Deadlock]);
        found_if(finds, sample)
    };
    assert_statuses("check --confirm", &STATES, true, confirmed);
}

#[test]
fn run_fails_only_where_the_program_does() {
    for seed in ["1", "2"] {
        assert_statuses("run", &["--seed", seed], false, |sample| match sample.fails {
            true => Expected::Any,
            false => Expected::Nothing,
        });
    }
}

/// What commands find that look at failures and deadlocks alone.
fn by_failures(sample: &Sample) -> Expected {
    if sample.fails { Expected::Finding } else { Expected::Nothing }
}

#[test]
fn futures_finds_what_fails() {
    assert_statuses("futures", &STATES, false, by_failures);
}

#[test]
fn drive_finds_what_fails() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("driver");
    let more = [&STATES[..], &["--out", out.to_str().unwrap()]].concat();
    assert_statuses("drive", &more, false, by_failures);
}

#[test]
fn drive_of_pairs_finds_nothing_in_right_programs() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("driver");
    let more = [&STATES[..], &["--out", out.to_str().unwrap()]].concat();
    assert_statuses("drive --pairs", &more, true, |sample| found_if(false, sample));
}

#[test]
fn correlate_finds_what_is_torn() {
    assert_statuses("correlate", &STATES, true, |sample| {
        let torn = sample.bug.is_some_and(|(name, _)| !NOT_CORRELATED.contains(&name));
        found_if(sample.tears || torn && sample.has_bug(&[Kind::AtomicityOfSeveral]), sample)
    });
}

#[test]
fn races_finds_races_failures_and_deadlocks() {
    let more = [&STATES[..], &["--trials", "5"]].concat();
    assert_statuses("races", &more, true, |sample| {
        let bug = sample.has_bug(&[Kind::DataRace, Kind::Deadlock]);
        found_if(sample.races || sample.runs && sample.fails || bug, sample)
    });
}

#[test]
fn paths_finds_races_failures_and_deadlocks() {
    let more = [&STATES[..], &["--max-executions", "100"]].concat();
    assert_statuses("paths", &more, false, |sample| found_if(sample.races || sample.fails, sample));
}

#[test]
fn coverage_finds_nothing_in_right_programs() {
    let more = [&STATES[..], &["--runs", "5"]].concat();
    assert_statuses("coverage", &more, true, |sample| found_if(false, sample));
}
