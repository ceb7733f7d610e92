//! What the front end has chosen where the text leaves something open: what is said of a program holds within it.

use super::snippet::wrap_behind;

/// A line of these, or nothing where there are none.
#[must_use]
pub fn limits(limits: &[String]) -> String {
    if limits.is_empty() { String::new() } else { wrap_behind("within:", "  ", &format!(" {}", limits.join("; "))) }
}
