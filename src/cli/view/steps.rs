//! The steps of executions, for people: those that the last one depends on, with a column for each thread.
//!
//! Of an execution with very many rows their number is shown, unless all is asked for.

use super::snippet;
use cssame_answer::words::plural;
use cssame_diagnostics::{Diagnostic, terminal};
use cssame_model::Model;
use cssame_schedule::{self as schedule, RenderOptions, Trace};
use cssame_vm::Choice;
use std::slice::from_ref;

/// Rows beyond which an execution is not shown unasked.
const LONG: usize = 300;

/// How the steps of executions of a program are shown.
#[derive(Clone, Copy)]
pub struct StepsView<'a> {
    /// The program.
    pub model: &'a Model,
    /// Whether nothing is left out: long executions, and what is done in calls.
    pub all: bool,
    /// Whether the text of the source stands beside each step.
    pub source: bool,
    /// Whether there is colour.
    pub colour: bool,
}

impl StepsView<'_> {
    /// A diagnostic, and the steps that lead to it.
    #[must_use]
    pub fn finding(&self, diagnostic: &Diagnostic, steps: &[Choice]) -> String {
        terminal::render_all(self.model.sources(), from_ref(diagnostic), self.colour) + "\n" + &self.cause(steps)
    }

    /// The steps that the last one depends on; with marks where a thread is left that could go on.
    #[must_use]
    pub fn cause(&self, steps: &[Choice]) -> String {
        self.marked(schedule::trace(self.model.naming(), steps).cause(), steps)
    }

    /// All steps of a short execution; of a longer one those that the last one depends on.
    #[must_use]
    pub fn up_to(&self, most: usize, steps: &[Choice]) -> String {
        let trace = schedule::trace(self.model.naming(), steps);
        self.marked(if trace.rows.len() > most { trace.cause() } else { trace }, steps)
    }

    /// The same of an execution whose last two steps begin with accesses that race; both are marked.
    #[must_use]
    pub fn race_up_to(&self, most: usize, steps: &[Choice]) -> String {
        let trace = schedule::trace(self.model.naming(), steps);
        let trace = trace.with_race_after(steps.len().saturating_sub(2));
        self.marked(if trace.rows.len() > most { trace.cause() } else { trace }, steps)
    }

    fn marked(&self, trace: Trace, steps: &[Choice]) -> String {
        self.trace(&trace.with_interruptions(self.model.naming(), steps))
    }

    /// A trace.
    #[must_use]
    pub fn trace(&self, trace: &Trace) -> String {
        let rows = if self.all { trace.rows.len() } else { trace.folded().rows.len() };
        if rows > LONG && !self.all {
            return format!("the execution has {}, which its replay shows\n", plural(rows, "step"));
        }
        let source = self.source.then(|| self.model.sources());
        schedule::render(trace, &RenderOptions { width: snippet::width(), color: self.colour, whole: self.all, source })
    }
}
