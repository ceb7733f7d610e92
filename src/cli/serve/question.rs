//! A question of the page: a command with its bounds, as the arguments of a process.
//!
//! **Input**: a JSON object. **Output**: arguments of the tool. The program is passed by standard input.
//!
//! **Soundness**: no text of the page is a separate argument. If a text is part of an argument, it follows `--option=`. No bound
//! is larger than that of the server.

use cssame_schedule::{Schedule, Step};
use cssame_vm::Semantics;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most that a question may take.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Time of each search.
    pub time: Duration,
    /// Bytes of the process.
    pub memory: u64,
}

/// Steps of an execution that the page shows.
const MAX_STEPS: &str = "20000";

/// Time beside that of searches.
const MORE_TIME: Duration = Duration::from_secs(10);

/// What stands behind the arguments of each command.
const END: [&str; 3] = ["--progress=lines", "--color=never", "-"];

/// The number of searches of `report`.
const SEARCHES: u32 = 4;

/// Where the files of a question are.
#[derive(Debug)]
pub(super) struct Places {
    /// The package of `drive`, which does not exist before.
    pub(super) out: PathBuf,
    /// The schedule of `replay`.
    pub(super) schedule: PathBuf,
}

impl Places {
    /// In a directory that is for one question alone.
    pub(super) fn below(directory: &Path) -> Places {
        Places { out: directory.join("package"), schedule: directory.join("schedule.json") }
    }
}

/// A question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    command: Command,
    /// The program.
    pub(super) text: String,
    /// The name of the program, if it is one of the served files: its configuration holds.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// Time of a search in seconds.
    #[serde(default)]
    seconds: Option<f64>,
    #[serde(default)]
    megabytes: Option<u64>,
    #[serde(default)]
    max_states: Option<u64>,
    /// `NAME=VALUE` each.
    #[serde(default)]
    inputs: Vec<String>,
    /// Of `run`.
    #[serde(default)]
    seed: Option<u64>,
    /// Of `replay`: the execution, as an answer has it.
    #[serde(default)]
    steps: Vec<Step>,
    /// Of `replay`: the number of steps before those that repeat.
    #[serde(default)]
    cycle: Option<usize>,
    /// Of `drive`.
    #[serde(default)]
    target: Target,
    #[serde(default)]
    spurious_wakeups: bool,
    #[serde(default)]
    prefer_writers: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Command {
    Report,
    Run,
    Replay,
    Futures,
    Races,
    Drive,
    Hunt,
    Check,
    Pi,
    Ir,
    Paths,
    Coverage,
    Correlate,
}

impl Command {
    /// Whether its answer is what it prints for people: the page has no view of its data.
    fn is_text(self) -> bool {
        self.is_static() || matches!(self, Command::Hunt | Command::Paths | Command::Coverage | Command::Correlate)
    }

    /// Whether it searches nothing, so that it has no bounds.
    fn is_static(self) -> bool {
        matches!(self, Command::Check | Command::Pi | Command::Ir)
    }

    /// Its own arguments.
    fn words(self) -> &'static [&'static str] {
        match self {
            Command::Report => &["report", "--out=-"],
            Command::Run | Command::Replay => &["run", "--max-steps", MAX_STEPS],
            Command::Futures => &["futures"],
            Command::Races => &["races"],
            Command::Drive => &["drive"],
            Command::Hunt => &["hunt"],
            Command::Check => &["check"],
            Command::Pi => &["pi"],
            Command::Ir => &["ir", "--emit=source"],
            Command::Paths => &["paths"],
            Command::Coverage => &["coverage"],
            Command::Correlate => &["correlate"],
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Rust,
    Java,
    Aspectj,
}

impl Question {
    /// Whether it writes files.
    pub(super) fn writes(&self) -> bool {
        self.command == Command::Drive
    }

    /// Whether the answer is what is printed for people.
    pub(super) fn is_text(&self) -> bool {
        self.command.is_text()
    }

    /// The schedule that is followed, if one is.
    pub(super) fn schedule(&self) -> Option<Schedule> {
        let inputs = self.inputs.iter().filter_map(|input| input.split_once('='));
        let inputs: Vec<(String, String)> = inputs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let Question { spurious_wakeups, prefer_writers, cycle, .. } = *self;
        let schedule = Schedule::new("-", &self.text, self.steps.clone());
        let schedule = schedule.recorded_with(&inputs, Semantics { spurious_wakeups, prefer_writers });
        (self.command == Command::Replay).then_some(Schedule { cycle, ..schedule })
    }

    fn time(&self, most: &Most) -> Duration {
        let asked = self.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        // Nothing is not a time that a search could take.
        asked.filter(|time| !time.is_zero()).map_or(most.time, |time| time.min(most.time))
    }

    /// When the process is ended if it has not ended by itself.
    pub(super) fn deadline(&self, most: &Most) -> Duration {
        self.time(most) * SEARCHES + MORE_TIME
    }

    /// The arguments.
    pub(super) fn arguments(&self, most: &Most, places: &Places) -> Vec<String> {
        let megabytes = self.megabytes.map_or(u64::MAX, |megabytes| megabytes.max(1).saturating_mul(1 << 20));
        let memory = format!("--max-memory={}", megabytes.min(most.memory));
        let mut arguments: Vec<String> = self.command.words().iter().map(|&word| word.to_owned()).collect();
        let end = || (!self.is_text()).then_some("--format=json").into_iter().chain(END).map(str::to_owned);
        if !self.command.is_static() {
            arguments.push(format!("--timeout={}", self.time(most).as_secs_f64()));
        }
        match self.command {
            Command::Run => arguments.push(format!("--seed={}", self.seed.unwrap_or_default())),
            Command::Replay => {
                // The schedule says with which inputs and options it was recorded.
                arguments.push(format!("--schedule={}", places.schedule.display()));
                arguments.extend(end());
                return arguments;
            }
            _ if self.command.is_static() => {}
            _ => {
                arguments.push(memory);
                arguments.extend(self.max_states.map(|states| format!("--max-states={}", states.max(1))));
            }
        }
        if self.command == Command::Drive {
            let target = match self.target {
                Target::Rust => "rust",
                Target::Java => "java",
                Target::Aspectj => "aspectj",
            };
            arguments.extend([format!("--target={target}"), format!("--out={}", places.out.display())]);
        }
        arguments.extend(self.inputs.iter().map(|input| format!("--input={input}")));
        let flags = [(self.spurious_wakeups, "--spurious-wakeups"), (self.prefer_writers, "--prefer-writers")];
        let is_set = |&(is_set, _): &(bool, &str)| is_set && !self.command.is_static();
        arguments.extend(flags.into_iter().filter(is_set).map(|(_, flag)| flag.to_owned()));
        arguments.extend(end());
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    const MOST: Most = Most { time: Duration::from_secs(60), memory: 1 << 30 };

    fn arguments(question: serde_json::Value) -> String {
        let question: Question = from_value(question).expect("a question");
        question.arguments(&MOST, &Places::below(Path::new("DIR"))).join(" ")
    }

    #[test]
    fn bounds_are_those_of_the_server_at_most() {
        let all = |seconds: f64, megabytes: u64| {
            arguments(json!({ "command": "futures", "text": "", "seconds": seconds, "megabytes": megabytes }))
        };
        let end = "--format=json --progress=lines --color=never -";
        assert_eq!(all(2.5, 100), format!("futures --timeout=2.5 --max-memory=104857600 {end}"));
        for seconds in [1e9, 0.0, -1.0, 1e300] {
            assert_eq!(all(seconds, u64::MAX), format!("futures --timeout=60 --max-memory=1073741824 {end}"));
        }
    }

    #[test]
    fn no_text_is_an_argument_of_its_own() {
        let question = json!({ "command": "drive", "text": "--x", "inputs": ["--run", "n=1"], "target": "java" });
        let words = arguments(question);
        assert!(words.contains("--target=java --out=DIR/package --input=--run --input=n=1 --format"), "{words}");
    }

    #[test]
    fn what_searches_nothing_has_no_bounds_and_what_has_no_view_answers_in_text() {
        let asked = |command: &str| arguments(json!({ "command": command, "text": "", "spurious_wakeups": true }));
        assert_eq!(asked("ir"), "ir --emit=source --progress=lines --color=never -");
        let hunted = "hunt --timeout=60 --max-memory=1073741824 --spurious-wakeups --progress=lines --color=never -";
        assert_eq!(asked("hunt"), hunted);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for question in [
            json!({ "command": "fmt", "text": "" }),
            json!({ "command": "run" }),
            json!({ "command": "run", "text": "", "out": "x" }),
            json!({ "command": "drive", "text": "", "target": "--run" }),
        ] {
            assert!(from_value::<Question>(question.clone()).is_err(), "{question}");
        }
    }
}
