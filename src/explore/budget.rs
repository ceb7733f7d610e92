//! Bounds of an exploration, and what it tells while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bounds of an exploration; `None` is no bound.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Different states.
    pub max_states: Option<u64>,
    /// Steps of one execution.
    pub max_steps: Option<u32>,
    /// Executions that are followed to their end.
    pub max_executions: Option<u64>,
    /// What executions may cost together: a step, or eight operations that are held against a read, cost one.
    pub max_work: Option<u64>,
    /// Bytes of memory that states and the steps between them may take.
    pub max_memory: Option<u64>,
    /// Time by the clock.
    pub timeout: Option<Duration>,
    /// Stops the exploration when somebody sets it.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Cores that may be used: 0 is as good as 1. The answer does not depend on it.
    pub jobs: usize,
}

impl Limits {
    /// What is left of the bounds for a search that begins now, if time runs since then.
    #[must_use]
    pub fn after(&self, began: Instant) -> Limits {
        Limits { timeout: self.timeout.map(|timeout| timeout.saturating_sub(began.elapsed())), ..self.clone() }
    }
}

/// A bound that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// [`Limits::max_states`], or as many states as can be numbered.
    States,
    /// [`Limits::max_steps`].
    Steps,
    /// [`Limits::max_executions`], or [`Limits::max_work`].
    Executions,
    /// [`Limits::max_memory`].
    Memory,
    /// [`Limits::timeout`].
    Timeout,
    /// [`Limits::interrupt`], or the caller's progress function.
    Interrupt,
}

impl Bound {
    /// As users read it: the option that raises it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bound::States => "max-states",
            Bound::Steps => "max-steps",
            Bound::Executions => "max-executions",
            Bound::Memory => "max-memory",
            Bound::Timeout => "timeout",
            Bound::Interrupt => "interrupt",
        }
    }
}

/// How far an exploration has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Different states that were met.
    pub states: u64,
    /// States that wait to be expanded.
    pub waiting: u64,
    /// Steps that were done.
    pub steps: u64,
    /// Steps of the executions that are looked at now.
    pub depth: u32,
    /// Executions that were followed to their end.
    pub executions: u64,
    /// How many executions there will be in all, as far as can be guessed from those so far; 0 where that cannot be.
    pub expected: u64,
    /// Pairs of a read and the definition that it sees that were met.
    pub terms: u64,
}

/// Watches the bounds that need a clock or a flag.
#[derive(Debug)]
pub(super) struct Watch {
    deadline: Option<Instant>,
    interrupt: Option<Arc<AtomicBool>>,
}

impl Watch {
    /// Starts the clock.
    pub(super) fn new(limits: &Limits) -> Watch {
        let deadline = limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Watch { deadline, interrupt: limits.interrupt.clone() }
    }

    /// The bound that is hit now.
    pub(super) fn check(&self) -> Option<Bound> {
        if self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Bound::Interrupt);
        }
        self.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| Bound::Timeout)
    }
}
