//! Words that several answers share.

/// `1 term`, `2 terms`
#[must_use]
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
