//! Makes a program in C that shows a mistake smaller, as long as it still shows it.
//!
//! One edit after the other is tried: leave out a line, a block with what is in it, or the block around what is in it; after the
//! head, a list of declarations and functions is text like all other. Whether the outcome is a valid program is for the caller's
//! test to say.

/// The smallest program found for which `fails` still holds. `fails` must not hold of programs that do not compile.
pub fn shrink(text: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    loop {
        let before = lines.len();
        let mut at = lines.len();
        while at > 0 {
            at -= 1;
            for candidate in edits(&lines, at) {
                if fails(&candidate.join("\n")) {
                    lines = candidate;
                    at = at.min(lines.len());
                    break;
                }
            }
        }
        if lines.len() == before {
            return lines.join("\n");
        }
    }
}

fn edits(lines: &[String], at: usize) -> Vec<Vec<String>> {
    let balance = |line: &String| line.matches('{').count() as i64 - line.matches('}').count() as i64;
    let without = |from: usize, to: usize| [&lines[..from], &lines[to..]].concat();
    if balance(&lines[at]) <= 0 {
        return if balance(&lines[at]) == 0 { vec![without(at, at + 1)] } else { Vec::new() };
    }
    let mut open = 0;
    for end in at..lines.len() {
        open += balance(&lines[end]);
        if open == 0 {
            let inside = [&lines[..at], &lines[at + 1..end], &lines[end + 1..]].concat();
            return vec![without(at, end + 1), inside];
        }
    }
    Vec::new()
}
