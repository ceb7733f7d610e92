//! Phrases that several answers share.

/// `1 term`, `2 terms`
#[must_use]
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// The executions with few preemptions: `without a preemption`, `with at most 2 preemptions`
#[must_use]
pub fn with_preemptions(most: u32) -> String {
    match most {
        0 => "without a preemption".to_owned(),
        _ => format!("with at most {}", plural(most as usize, "preemption")),
    }
}
