//! The suppressed findings, for readers.

use cssame_answer::words::plural;
use cssame_answer::{By, Suppressed};

/// How many findings are suppressed and by what, in a line; nothing where there are none.
#[must_use]
pub fn summary(suppressed: &[Suppressed]) -> String {
    if suppressed.is_empty() {
        return String::new();
    }
    let words =
        [(By::Comment, "comments"), (By::Option, "options"), (By::Config, "configuration"), (By::Baseline, "baseline")];
    let count = |(by, word): (By, &str)| match suppressed.iter().filter(|one| one.by == by).count() {
        0 => None,
        count => Some(format!("{count} by {word}")),
    };
    let parts: Vec<String> = words.into_iter().filter_map(count).collect();
    format!("{} suppressed: {}\n", plural(suppressed.len(), "finding"), parts.join(", "))
}
