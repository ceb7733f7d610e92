//! JSON answers: one object, which begins with the schema, the command and the file.

use super::load::name_of;
use super::output::Output;
use serde::Serialize;
use std::path::Path;

/// The value of `"schema"` in every answer.
pub const SCHEMA: &str = "cssame/1";

#[derive(Serialize)]
struct Document<'a, T: Serialize> {
    schema: &'static str,
    command: &'a str,
    file: Option<String>,
    #[serde(flatten)]
    data: &'a T,
}

/// An answer with what was suppressed of it.
#[derive(Serialize)]
pub struct Judged<'a, T: Serialize> {
    /// The answer.
    #[serde(flatten)]
    pub answer: &'a T,
    /// What has become of its findings.
    #[serde(flatten)]
    pub judged: &'a cssame_answer::Judged,
}

/// The text of an answer, with a newline at its end. `data` must serialise to an object.
#[must_use]
pub fn document<T: Serialize>(command: &str, file: Option<&Path>, data: &T) -> String {
    let document = Document { schema: SCHEMA, command, file: file.map(name_of), data };
    // Only a map with keys that are no strings could fail, and no answer has one.
    let mut text =
        serde_json::to_string_pretty(&document).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    text.push('\n');
    text
}

/// The text of an answer without white space, for a place where nobody reads it. `data` must serialise to an object.
#[must_use]
pub fn compact<T: Serialize>(command: &str, file: &str, data: &T) -> String {
    let document = Document { schema: SCHEMA, command, file: Some(file.to_owned()), data };
    serde_json::to_string(&document).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"))
}

/// Writes an answer, with a newline at its end, as [`document`] does. It is written as it is serialised, so
/// that its text, which may be large, is never in memory as a whole.
pub fn print<T: Serialize>(output: &mut Output, command: &str, file: Option<&Path>, data: &T) {
    output.print_json(&Document { schema: SCHEMA, command, file: file.map(name_of), data });
    output.print("\n");
}
