//! JSON answers: one object, which begins with the schema, the command and the file.

use super::load::name_of;
use super::output::{Output, write_json};
use serde::Serialize;
use std::io::{self, Write};
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
    /// What the answer holds within.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub within: &'a [String],
}

/// The text of an answer, with a newline at its end. `data` must serialise to an object.
#[must_use]
pub fn document<T: Serialize>(command: &str, file: Option<&Path>, data: &T) -> String {
    let mut bytes = Vec::new();
    text(&mut bytes, &Document { schema: SCHEMA, command, file: file.map(name_of), data });
    String::from_utf8_lossy(&bytes).into_owned() + "\n"
}

/// The text of an answer without white space, for a place where nobody reads it. `data` must serialise to an object.
#[must_use]
pub fn compact<T: Serialize>(command: &str, file: &str, data: &T) -> String {
    let mut compact = Compact::default();
    text(&mut compact, &Document { schema: SCHEMA, command, file: Some(file.to_owned()), data });
    String::from_utf8_lossy(&compact.bytes).into_owned()
}

fn text<T: Serialize>(to: &mut dyn Write, data: &T) {
    // Only a map with keys that are no strings could fail, and no answer has one.
    if let Err(error) = write_json(to, data) {
        let _ = write!(to, "{{\"error\": \"{error}\"}}");
    }
}

/// Writes an answer, with a newline at its end, as [`document`] does. It is written as it is serialised, so
/// that its text, which may be large, is never in memory as a whole.
pub fn print<T: Serialize>(output: &mut Output, command: &str, file: Option<&Path>, data: &T) {
    output.print_json(&Document { schema: SCHEMA, command, file: file.map(name_of), data });
    output.print("\n");
}

/// Takes JSON, and leaves out the white space between its values.
#[derive(Default)]
struct Compact {
    bytes: Vec<u8>,
    is_in_string: bool,
    is_escaped: bool,
}

impl Write for Compact {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        for &byte in json {
            if self.is_in_string || !byte.is_ascii_whitespace() {
                self.bytes.push(byte);
            }
            self.is_in_string ^= byte == b'"' && !self.is_escaped;
            self.is_escaped = self.is_in_string && byte == b'\\' && !self.is_escaped;
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_left_out_between_values_alone() {
        let data = serde_json::json!({ "a b": [1, " \" \\", { "\n": "\\\" x\\\\" }, []] });
        let compact = compact("of", "a file", &data);
        let plain = serde_json::to_string(&data).unwrap();
        assert_eq!(
            compact,
            format!("{{\"schema\":\"cssame/1\",\"command\":\"of\",\"file\":\"a file\",{}", &plain[1..])
        );
    }
}
