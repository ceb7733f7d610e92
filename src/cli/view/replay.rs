//! Command lines that people can copy.

use crate::load::name_of;
use cssame_driver::Target;
use cssame_model::Options;
use cssame_schedule::options_of;
use std::path::Path;

/// Directory of the schedules in the command line that writes them.
pub const DIRECTORY: &str = "schedules";

/// The line with the command that replays a schedule file.
#[must_use]
pub fn replay_line(source: &Path, file: &Path) -> String {
    schedule_line("run", source, file)
}

/// The line with the command that takes a schedule file.
#[must_use]
pub fn schedule_line(command: &str, source: &Path, file: &Path) -> String {
    format!("replay: cssame {command} {} --schedule {}\n", quoted(&name_of(source)), quoted(&name_of(file)))
}

/// The line with the command that writes the schedules of an answer; `options` are what it was given, with a space before
/// each.
#[must_use]
pub fn record_line(command: &str, source: &Path, options: &str) -> String {
    format!("record: cssame {command} {}{options} --record-dir {DIRECTORY}\n", quoted(&name_of(source)))
}

/// The line with the command that runs the tests of a package in that directory.
#[must_use]
pub fn test_line(target: Target, out: &str) -> String {
    let command = match target {
        Target::Rust => format!("cargo test --manifest-path {}", quoted(&name_of(&Path::new(out).join("Cargo.toml")))),
        Target::Java | Target::AspectJ => format!("sh {}", quoted(&name_of(&Path::new(out).join("run.sh")))),
    };
    format!("test:   {command}\n")
}

/// What executions depend on, as it is typed on the command line, with a space before each option.
#[must_use]
pub fn options_text(options: &Options) -> String {
    let input = |(name, value): &(String, String)| match (name.strip_prefix("-- "), value.is_empty()) {
        // More options may follow, so what stands behind `--` elsewhere has an option of its own.
        (Some(linked), _) => format!(" --extra-arg={}", quoted(linked)),
        (None, true) if name.starts_with("--") => format!(" {name}"),
        (None, false) if name.starts_with("--") || name == "-p" => format!(" {name} {}", quoted(value)),
        (None, true) if name.starts_with('-') => format!(" --extra-arg={}", quoted(name)),
        (None, false) if name.starts_with('-') => format!(" --extra-arg={}", quoted(&format!("{name}={value}"))),
        (None, _) => format!(" --input {}", quoted(&format!("{name}={value}"))),
    };
    let inputs = options.inputs.iter().map(input);
    inputs.chain(options_of(options.semantics).map(|name| format!(" --{name}"))).collect()
}

/// A word as a shell reads it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |each: char| each.is_alphanumeric() || "_-./=:@,+%".contains(each);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
