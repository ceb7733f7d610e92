//! The steps of executions, for readers: those on which the last one depends, with a column for each thread.
//!
//! Very many rows below a finding are not shown, unless everything is requested: the command line that replays them follows.

use crate::screen;
use cssame_answer::words::plural;
use cssame_diagnostics::{Diagnostic, terminal};
use cssame_model::Model;
use cssame_schedule::{self as schedule, RenderOptions, Trace};
use cssame_vm::Choice;
use std::slice::from_ref;

/// Rows beyond which an execution is not shown below a finding.
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
    /// A diagnostic.
    #[must_use]
    pub fn diagnostic(&self, diagnostic: &Diagnostic) -> String {
        terminal::render_all(self.model.sources(), from_ref(diagnostic), screen::of_stdout(self.colour))
    }

    /// A diagnostic, and the steps that lead to it, if they are not very many.
    #[must_use]
    pub fn finding(&self, diagnostic: &Diagnostic, steps: &[Choice]) -> String {
        let text = self.diagnostic(diagnostic);
        let cause = schedule::trace(self.model.naming(), steps).cause();
        if !self.all && cause.rows.len() > LONG && cause.folded().rows.len() > LONG {
            return format!("{text}\nthe execution has {}, too many to show here\n", plural(steps.len(), "step"));
        }
        text + "\n" + &self.marked(cause, steps)
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
        let source = self.source.then(|| self.model.sources());
        schedule::render(trace, &RenderOptions { width: screen::width(), color: self.colour, whole: self.all, source })
    }
}
