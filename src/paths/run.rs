//! One execution of a session, with its trace.
//!
//! **Input**: the program, and the order that the execution should follow. **Output**: a [`Run`]: its trace, and the actions of
//! each thread, so that another execution can follow them.

use super::guided::{Guided, Requirement, Script, ScriptStep};
use super::record::Recorder;
use super::trace::Trace;
use crate::classes::Operations;
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_schedule::{Decision, Policy, Scripted, Then, View};
use cssame_vm::{Choice, CodeIndex, Event, Move, Tables, ThreadName};

/// A program that is tested: names of threads are the same in all its executions.
pub struct Session<'m> {
    /// The program.
    pub model: &'m Model,
    /// Which accesses are operations.
    pub operations: Operations,
    /// Names of threads, and outputs.
    pub tables: Tables,
    /// Steps of one execution at most.
    pub max_steps: u64,
}

/// An execution.
pub struct Run {
    /// What it has done.
    pub trace: Trace,
    /// What each thread has done, step by step.
    pub script: Script,
}

impl<'m> Session<'m> {
    /// Begins.
    #[must_use]
    pub fn new(model: &'m Model, max_steps: u64) -> Session<'m> {
        let operations = Operations::new(model.program(), &model.form().concurrency);
        Session { model, operations, tables: Tables::new(), max_steps }
    }

    /// An execution that follows an order of actions of another one.
    pub fn follow(&mut self, script: &Script, required: &[Requirement]) -> Run {
        self.by_policy(Guided::new(script, required))
    }

    /// The same, with nothing in between that the order does not name, where that can be.
    pub fn follow_strictly(&mut self, script: &Script, required: &[Requirement]) -> Run {
        self.by_policy(Guided::strict(script, required))
    }

    /// An execution that follows steps, and goes on from there as a first run does.
    pub fn repeat(&mut self, steps: &[Choice]) -> Run {
        let none = Script::default();
        self.by_policy(Then::new(Scripted::new(steps), Guided::new(&none, &[])))
    }

    /// An execution by any policy.
    pub fn by_policy(&mut self, policy: impl Policy) -> Run {
        let (machine, program) = (self.model.machine(), self.model.program());
        let mut logged = Logged { policy, log: Script::default(), steps: 0 };
        let mut recorder = Recorder::new(machine, program, &self.operations);
        let tables = std::mem::take(&mut self.tables);
        let execution = schedule::run_named(machine, &mut logged, self.max_steps, &mut recorder, tables);
        let trace = recorder.finish(&execution);
        self.tables = execution.tables;
        Run { trace, script: logged.log }
    }
}

/// Writes down what another policy decides.
struct Logged<P> {
    policy: P,
    log: Script,
    steps: u32,
}

impl<P: Policy> Policy for Logged<P> {
    const OBSERVES: bool = P::OBSERVES;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let decision = self.policy.choose(view, moves);
        if let Decision::Step(Choice { thread, alternative }) = decision {
            let at = view.state.position(thread);
            let step = ScriptStep { position: self.steps, at, alternative };
            self.log.entry(view.state.path(thread)).or_default().push(step);
            self.steps += 1;
        }
        decision
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.policy.event(thread, at, event);
    }
}
