//! The outputs and ends of executions, numbered, so that one can be requested.

use super::{endless, snippet};
use crate::screen;
use cssame_explore::report::{OutcomeReport, ThreadOutput};
use std::borrow::Cow;

/// Outcomes that are shown where not all are asked for.
const OUTCOMES: usize = 20;

/// A table of outcomes, each with its number; `all` of them, or the first ones. Of one that prints very much it has the first and the
/// last lines.
#[must_use]
pub fn table(outcomes: &[OutcomeReport], all: bool) -> String {
    let shown = if all { outcomes.len() } else { outcomes.len().min(OUTCOMES) };
    let width = outcomes.len().to_string().len();
    let end_width = outcomes.iter().map(|outcome| outcome.status.len()).chain([3]).max().unwrap_or(0);
    let mut text = format!("  {:>width$}  {:end_width$}  output\n", "#", "end");
    for (number, outcome) in (1..).zip(&outcomes[..shown]) {
        let (status, behind) = (outcome.status, endless::behind(outcome.status));
        let line = format!("  {number:>width$}  {status:end_width$}  {}{behind}", printed(&outcome.by_thread));
        if line.chars().count() <= screen::width() {
            text += &(line + "\n");
        } else {
            let in_short = |of: &ThreadOutput| {
                let (thread, output) = (of.thread.clone(), snippet::in_short(&of.output).into_owned());
                ThreadOutput { thread, output }
            };
            let by_thread: Vec<ThreadOutput> = outcome.by_thread.iter().map(in_short).collect();
            text += &format!("  {number:>width$}  {status}{behind}\n{}", snippet::outputs(&by_thread));
        }
    }
    if shown < outcomes.len() {
        text += &format!("  and {} more (--all shows them)\n", outcomes.len() - shown);
    }
    text
}

/// The places of the outcomes that a user means: by the number in the table, or by a part of its line.
#[must_use]
pub fn meant(outcomes: &[OutcomeReport], asked: &str) -> Vec<usize> {
    let number = asked.strip_prefix('#').unwrap_or(asked).parse::<usize>().ok();
    if let Some(place) = number.and_then(|number| number.checked_sub(1)).filter(|&place| place < outcomes.len()) {
        return vec![place];
    }
    let holds = |outcome: &OutcomeReport| {
        outcome.status == asked
            || on_one_line(&outcome.by_thread, |output| Cow::Borrowed(output)).contains(asked)
            || outcome.message.as_deref() == Some(asked)
    };
    (0..outcomes.len()).filter(|&place| holds(&outcomes[place])).take(OUTCOMES).collect()
}

/// What an outcome prints, in a line; of very much the first and the last lines.
#[must_use]
pub fn printed(by_thread: &[ThreadOutput]) -> String {
    on_one_line(by_thread, snippet::in_short)
}

fn on_one_line(by_thread: &[ThreadOutput], lines: impl Fn(&[String]) -> Cow<'_, [String]>) -> String {
    let line = |of: &ThreadOutput| format!("{}: {}", of.thread, snippet::one_line(&lines(&of.output).join(", ")));
    let threads: Vec<String> = by_thread.iter().map(line).collect();
    if threads.is_empty() { "(nothing printed)".to_owned() } else { threads.join("; ") }
}
