//! The comments of tests of a whole program.
//!
//! **Input**: terms, outcomes, and the observations of executions. **Output**: lines of text.

use super::Input;
use super::executions::{Evaluations, Shown};
use super::manifest::name_in_contexts;
use super::test_case::selection_line;
use super::witnesses::InitialPicture;
use cssame_explore::report::ThreadOutput;
use cssame_form::{Selection, definition_in_context, read_in_context, selected_definition};

/// Differences that a comment names.
const DIFFERENCES: usize = 6;

/// `READ=DEF`, as for `--select`.
pub(super) fn equation(input: &Input<'_>, term: &Selection) -> String {
    format!("{}={}", name_in_contexts(input, term), selected_definition(input.sources, input.program, term))
}

/// What the test of a term shows.
pub(super) fn term(input: &Input<'_>, term: &Selection, is_exact: bool) -> Vec<String> {
    let mut lines = vec![selection_line(input, term)];
    if let Some(instance) = term.instance {
        let none = if is_exact {
            "In no execution does every evaluation"
        } else {
            "No execution was found in which every evaluation does"
        };
        let rest = if is_exact { " of the read see this definition" } else { "" };
        lines.push(format!("{none}{rest}: this is evaluation {instance} of the read in its thread."));
    }
    lines
}

/// What is printed, and how it ends.
pub(super) fn outcome(status: &str, by_thread: &[ThreadOutput]) -> String {
    format!("The outcome `{status}`: {}.", printed(by_thread))
}

/// What the test of a program without pi functions shows.
pub(super) fn without_pi(by_thread: &[ThreadOutput]) -> String {
    format!("Each read of the program can read from one definition only. Here {}.", printed(by_thread))
}

fn printed(by_thread: &[ThreadOutput]) -> String {
    let one = |of: &ThreadOutput| format!("{} prints {}", of.thread, of.output.join(", "));
    match by_thread {
        [] => "nothing is printed".to_owned(),
        some => some.iter().map(one).collect::<Vec<_>>().join("; "),
    }
}

/// In what an execution differs from the initial picture, beside the terms that its test is about.
pub(super) fn differences(input: &Input<'_>, picture: &InitialPicture, shown: &Shown, terms: &[Selection]) -> String {
    let is_other =
        |of: &&Evaluations| !terms.iter().any(|term| term.selects(of.read) && term.accepts(Some(of.definition)));
    let others: Vec<&Evaluations> = picture.differences(shown).filter(is_other).collect();
    let Input { sources, program, .. } = input;
    let one = |of: &&Evaluations| {
        let read = read_in_context(sources, program, of.read);
        format!("`{read}` from `{}`", definition_in_context(sources, program, of.definition))
    };
    let named: Vec<String> = others.iter().take(DIFFERENCES).map(one).collect();
    match others.len().saturating_sub(DIFFERENCES) {
        _ if named.is_empty() => "No other pi function takes the write of a parallel thread.".to_owned(),
        0 => format!("Other reads of writes of parallel threads: {}.", named.join(", ")),
        more => format!("Other reads of writes of parallel threads: {} and {more} more.", named.join(", ")),
    }
}
