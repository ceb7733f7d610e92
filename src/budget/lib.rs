//! Bounds of long work, the clock, the wish of a user to stop, and what is told while the work goes on.
//!
//! **Input**: the bounds of a user ([`Limits`]), the time that is left, a flag that stops the work, the number of cores, and
//! somebody to report to. **Output**: a [`Budget`], which is handed down to everything that may take long.
//!
//! 1. It is made once, with the deadline as a point in time: whoever gets it asks the same clock.
//! 2. [`Budget::share`] gives a part of it to one of several searches. The part has the same clock, flag and reports.
//! 3. [`Budget::spend`] takes off what a search has cost before the next one begins.
//! 4. The work asks [`Budget::check`] now and then, or [`Budget::report`], which also tells how far it has come.
//!
//! States, steps, executions and memory are counted by the work itself: only it knows what a state is. It stops with the
//! [`Bound`] that was hit. Where the allocator of the program counts as well ([`Budget::with_memory`]), work that counts nothing
//! itself stops by that.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bounds that can be counted; `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Different states.
    pub max_states: Option<u64>,
    /// Steps of one execution.
    pub max_steps: Option<u32>,
    /// Executions that are followed to their end.
    pub max_executions: Option<u64>,
    /// What executions may cost together: a step, or eight operations that are held against a read, cost one.
    pub max_work: Option<u64>,
    /// Bytes of memory that may be kept: states, the steps between them, and what was found.
    pub max_memory: Option<u64>,
}

impl Limits {
    /// For each bound the stricter one of the two.
    #[must_use]
    pub fn stricter(self, other: Limits) -> Limits {
        Limits {
            max_states: stricter(self.max_states, other.max_states),
            max_steps: stricter(self.max_steps, other.max_steps),
            max_executions: stricter(self.max_executions, other.max_executions),
            max_work: stricter(self.max_work, other.max_work),
            max_memory: stricter(self.max_memory, other.max_memory),
        }
    }
}

fn stricter<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
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
    /// What is done for outcomes where there are very many, and nobody has asked for all of them.
    Outcomes,
    /// There are more instances, or threads at one time, than are looked at one by one. No option raises this bound.
    TooMany,
    /// The deadline.
    Timeout,
    /// Processor time.
    Processor,
    /// Somebody has asked to stop.
    Interrupt,
}

impl Bound {
    /// As users read it: the option that raises it, if there is one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bound::States => "max-states",
            Bound::Steps => "max-steps",
            Bound::Executions => "max-executions",
            Bound::Memory => "max-memory",
            Bound::Outcomes => "outcomes",
            Bound::TooMany => "too-many",
            Bound::Timeout => "timeout",
            Bound::Processor => "max-cpu",
            Bound::Interrupt => "interrupt",
        }
    }
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Different states that were met.
    pub states: u64,
    /// States that wait to be expanded.
    pub waiting: u64,
    /// Steps that were done.
    pub steps: u64,
    /// Steps of the executions that are looked at now.
    pub depth: u32,
    /// Up to how many steps all states were met, where longer executions were left out by partial-order reduction.
    pub all_states_to: Option<u32>,
    /// Executions that were followed to their end.
    pub executions: u64,
    /// How many executions there will be in all, as far as can be guessed from those so far; 0 where that cannot be.
    pub expected: u64,
    /// Pairs of a read and the definition that it sees that were met.
    pub terms: u64,
}

/// Is told how far the work has come, from any thread.
pub type Reporter<'a> = &'a (dyn Fn(&Statistics) + Sync);

/// What work may cost, and whom it tells how far it has come. Cheap to copy; threads may share one.
#[derive(Clone, Copy, Default)]
pub struct Budget<'a> {
    limits: Limits,
    deadline: Option<Instant>,
    /// A clock of the processor time that the process has had, and how much it may have.
    processor: Option<(fn() -> Duration, Duration)>,
    interrupt: Option<&'a AtomicBool>,
    /// Counters of the bytes that the process has, and how many it may have.
    memory: Option<(&'a [AtomicU64], u64)>,
    jobs: usize,
    reporter: Option<Reporter<'a>>,
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Budget { limits, deadline, interrupt, jobs, .. } = self;
        let mut text = formatter.debug_struct("Budget");
        text.field("limits", limits).field("deadline", deadline).field("interrupt", interrupt).field("jobs", jobs);
        text.finish_non_exhaustive()
    }
}

impl From<Limits> for Budget<'_> {
    fn from(limits: Limits) -> Self {
        Budget { limits, ..Budget::default() }
    }
}

impl<'a> Budget<'a> {
    /// A budget without any bound, for one core, that tells nobody.
    #[must_use]
    pub fn unlimited() -> Budget<'a> {
        Budget::default()
    }

    /// The same with a deadline: this time from now on.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Budget<'a> {
        Budget { deadline: Instant::now().checked_add(timeout), ..self }
    }

    /// The same with a bound on the processor time that the process has had by a clock.
    #[must_use]
    pub fn with_processor(self, clock: fn() -> Duration, most: Duration) -> Budget<'a> {
        Budget { processor: Some((clock, most)), ..self }
    }

    /// The same with a part of the time that is left, where there is a bound on it.
    #[must_use]
    pub fn with_part_of_time(self, part: f64) -> Budget<'a> {
        let now = Instant::now();
        let deadline = self.deadline.map(|deadline| now + deadline.saturating_duration_since(now).mul_f64(part));
        let processor = self.processor.map(|(clock, most)| {
            let used = clock();
            (clock, used + most.saturating_sub(used).mul_f64(part))
        });
        Budget { deadline, processor, ..self }
    }

    /// The same, stopped as soon as somebody sets the flag.
    #[must_use]
    pub fn with_interrupt(self, interrupt: &'a AtomicBool) -> Budget<'a> {
        Budget { interrupt: Some(interrupt), ..self }
    }

    /// The same, stopped where the process has more bytes than that by any of its counters. What a search counts itself stops it
    /// sooner ([`Limits::max_memory`]), and at the same place in each run.
    #[must_use]
    pub fn with_memory(self, counters: &'a [AtomicU64], most: u64) -> Budget<'a> {
        Budget { memory: Some((counters, most)), ..self }
    }

    /// The same for work on that many cores. No answer depends on it.
    #[must_use]
    pub fn with_jobs(self, jobs: usize) -> Budget<'a> {
        Budget { jobs, ..self }
    }

    /// The same, telling how far the work has come.
    #[must_use]
    pub fn with_reporter(self, reporter: Reporter<'a>) -> Budget<'a> {
        Budget { reporter: Some(reporter), ..self }
    }

    /// The same, telling nobody: for the small parts of work whose progress is told as a whole.
    #[must_use]
    pub fn quiet(self) -> Budget<'a> {
        Budget { reporter: None, ..self }
    }

    /// The bounds that can be counted.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Cores that may be used, at least one.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.jobs.max(1)
    }

    /// A part of it, for one of several searches: bounds that are given hold as well. Clock, flag, cores and reports are
    /// the same.
    #[must_use]
    pub fn share(&self, limits: Limits) -> Budget<'a> {
        Budget { limits: self.limits.stricter(limits), ..*self }
    }

    /// Takes what a search has cost off the states, executions and work that are left.
    pub fn spend(&mut self, done: &Statistics) {
        let spend = |left: &mut Option<u64>, cost: u64| *left = left.map(|left| left.saturating_sub(cost));
        spend(&mut self.limits.max_states, done.states);
        spend(&mut self.limits.max_executions, done.executions);
        spend(&mut self.limits.max_work, done.steps);
    }

    /// The bound that is hit now, of those that need a clock, a flag, or the memory of the process.
    #[must_use]
    pub fn check(&self) -> Option<Bound> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Bound::Interrupt);
        }
        if self.memory.is_some_and(|(counters, most)| counters.iter().any(|bytes| bytes.load(Ordering::Relaxed) > most))
        {
            return Some(Bound::Memory);
        }
        if self.processor.is_some_and(|(clock, most)| clock() >= most) {
            return Some(Bound::Processor);
        }
        self.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| Bound::Timeout)
    }

    /// Tells how far the work has come.
    ///
    /// # Errors
    ///
    /// The bound that is hit now: see [`Budget::check`].
    pub fn report(&self, done: &Statistics) -> Result<(), Bound> {
        if let Some(reporter) = self.reporter {
            reporter(done);
        }
        self.check().map_or(Ok(()), Err)
    }

    /// Whether so many bytes are more than may be kept.
    #[must_use]
    pub fn exceeds_memory(&self, bytes: u64) -> bool {
        self.limits.max_memory.is_some_and(|limit| bytes > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn limits(states: u64, work: Option<u64>) -> Limits {
        Limits { max_states: Some(states), max_work: work, ..Limits::default() }
    }

    #[test]
    fn a_share_is_never_more_than_the_whole() {
        let whole = Budget::from(limits(100, None));
        assert_eq!(*whole.share(limits(500, Some(7))).limits(), limits(100, Some(7)));
        assert_eq!(*whole.share(limits(5, None)).share(limits(50, None)).limits(), limits(5, None));
        assert_eq!(*whole.share(Limits::default()).limits(), limits(100, None));
    }

    #[test]
    fn what_is_spent_is_not_there_for_the_next_search() {
        let mut budget = Budget::from(limits(100, Some(30)));
        budget.spend(&Statistics { states: 60, steps: 10, ..Statistics::default() });
        assert_eq!(*budget.limits(), limits(40, Some(20)));
        budget.spend(&Statistics { states: 60, ..Statistics::default() });
        assert_eq!(*budget.limits(), limits(0, Some(20)));
    }

    #[test]
    fn shares_stop_with_the_whole() {
        let flag = AtomicBool::new(false);
        let whole = Budget::unlimited().with_interrupt(&flag).with_timeout(Duration::from_secs(1 << 40));
        let share = whole.share(limits(1, None));
        assert_eq!((whole.check(), share.check()), (None, None));
        flag.store(true, Ordering::Relaxed);
        assert_eq!((whole.check(), share.check()), (Some(Bound::Interrupt), Some(Bound::Interrupt)));
        let over = whole.with_timeout(Duration::ZERO).with_part_of_time(0.5).share(limits(1, None));
        flag.store(false, Ordering::Relaxed);
        assert_eq!(Budget::unlimited().with_part_of_time(0.5).check(), None);
        let second = || Duration::from_secs(1);
        let processor = |most| Budget::unlimited().with_processor(second, Duration::from_secs(most));
        assert_eq!((processor(1).check(), processor(2).check()), (Some(Bound::Processor), None));
        assert_eq!(processor(2).with_part_of_time(0.0).check(), Some(Bound::Processor));
        assert_eq!(over.report(&Statistics::default()), Err(Bound::Timeout));
    }

    #[test]
    fn the_memory_of_the_process_is_a_bound() {
        let counters = [AtomicU64::new(10), AtomicU64::new(0)];
        let budget = Budget::unlimited().with_memory(&counters, 10);
        assert_eq!(budget.check(), None);
        counters[1].store(11, Ordering::Relaxed);
        assert_eq!(
            (budget.check(), budget.share(Limits::default()).check()),
            (Some(Bound::Memory), Some(Bound::Memory))
        );
    }

    #[test]
    fn threads_report_to_one() {
        let told = AtomicU64::new(0);
        let reporter = |done: &Statistics| {
            told.fetch_add(done.executions, Ordering::Relaxed);
        };
        let budget = Budget::unlimited().with_reporter(&reporter);
        thread::scope(|scope| {
            for executions in 1..=4 {
                let done = Statistics { executions, ..Statistics::default() };
                scope.spawn(move || budget.share(Limits::default()).report(&done));
            }
        });
        assert_eq!(told.load(Ordering::Relaxed), 10);
    }
}
