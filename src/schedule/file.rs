//! The schedule file: an execution that can be replayed.
//!
//! **Input**: the text of a file (JSON, `docs/schedule.md`).
//!
//! **Output**: a [`Schedule`], or a description of the error; and the reverse conversion.
//!
//! **Soundness and limits**. Unknown keys are an error, so that a newer file is not followed partially.

use cssame_vm::Semantics;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format.
pub const SCHEMA: &str = "cssame-schedule/1";

/// An option of executions, as schedules and the command line name it, and where it stands.
type NamedOption = (&'static str, fn(&mut Semantics) -> &mut bool);

/// The options of executions that a schedule may name.
const OPTIONS: [NamedOption; 2] =
    [("spurious-wakeups", |of| &mut of.spurious_wakeups), ("prefer-writers", |of| &mut of.prefer_writers)];

/// The names of the options that are set.
pub fn options_of(mut semantics: Semantics) -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().filter(move |(_, place)| *place(&mut semantics)).map(|&(name, _)| name)
}

/// One step of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The thread, by its path: `main`, `T1`, `outer/inner#2`.
    pub thread: String,
    /// `LINE:COL` of the variable, or of the statement.
    pub at: String,
    /// `read a`, `write a`, `lock L`, `fork`, …
    pub op: String,
    /// Where there is more than one: which value of a `choose` from its lowest, or which of the waiting threads is
    /// notified, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<u32>,
}

/// A recorded execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the tool that has written it.
    pub tool: String,
    /// The name of the source file, as the user gave it.
    pub file: String,
    /// [`source_hash`] of its text.
    pub hash: String,
    /// Values of `input` constants that the command line gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// Other options that the execution depends on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The seed, if the execution was a random one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How the execution has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The number of steps after which the rest, done again and again, is an execution without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<usize>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Why a schedule file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// It is no JSON, or a key is missing or unknown.
    #[error("not a schedule: {0}")]
    Format(#[from] serde_json::Error),
    /// It has another version.
    #[error("the schedule has the format `{found}`, this version reads `{SCHEMA}`")]
    Version {
        /// What it says of itself.
        found: String,
    },
}

impl Schedule {
    /// A schedule of a file with that text.
    #[must_use]
    pub fn new(file: &str, text: &str, steps: Vec<Step>) -> Schedule {
        Schedule {
            schema: SCHEMA.to_owned(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            file: file.to_owned(),
            hash: source_hash(text),
            inputs: BTreeMap::new(),
            options: BTreeMap::new(),
            seed: None,
            status: None,
            cycle: None,
            steps,
        }
    }

    /// The same, recorded with these inputs and options.
    #[must_use]
    pub fn recorded_with(mut self, inputs: &[(String, String)], semantics: Semantics) -> Schedule {
        self.inputs = inputs.iter().cloned().collect();
        self.options.extend(options_of(semantics).map(|name| (name.to_owned(), "true".to_owned())));
        self
    }

    /// The options of the executions that it is one of.
    ///
    /// # Errors
    ///
    /// An option that this version does not know, and its value.
    pub fn semantics(&self) -> Result<Semantics, (&str, &str)> {
        let mut semantics = Semantics::default();
        for (name, value) in &self.options {
            let known = OPTIONS.iter().find(|known| known.0 == name).zip(value.parse().ok());
            let Some(((_, place), value)) = known else { return Err((name, value)) };
            *place(&mut semantics) = value;
        }
        Ok(semantics)
    }

    /// Reads a schedule.
    ///
    /// # Errors
    ///
    /// The text is no schedule, or one of another version.
    pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        #[derive(Deserialize)]
        struct Version {
            schema: String,
        }
        // The version first: the keys of another version are no news to the user.
        let Version { schema: found } = serde_json::from_str(text)?;
        if found != SCHEMA {
            return Err(ScheduleError::Version { found });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The text of the file: one line for each step.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut head = self.clone();
        head.steps.clear();
        // A schedule has only keys that are strings, so this cannot fail.
        let head = serde_json::to_string_pretty(&head).unwrap_or_default();
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("    {}", serde_json::to_string(step).unwrap_or_default())).collect();
        let list = if steps.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", steps.join(",\n")) };
        format!("{}\n", head.replacen("\"steps\": []", &format!("\"steps\": {list}"), 1))
    }

    /// Whether it was recorded from that text.
    #[must_use]
    pub fn is_of(&self, text: &str) -> bool {
        self.hash == source_hash(text)
    }
}

/// The hash of a source text that schedules carry: FNV-1a of 64 bits, 16 hexadecimal digits.
#[must_use]
pub fn source_hash(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
