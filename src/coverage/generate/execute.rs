//! Executes one test, and judges its behaviour.
//!
//! **Input**: a test, the instances that it is directed at, and bounds. **Output**: a [`TestRun`]: the coverage of its
//! executions, with each violation and each note once.
//!
//! **Algorithm**.
//!
//! 1. All serial orders of the calls define the correct behaviour ([`SerialEnds`]). A test whose prefix fails or waits is
//!    useless.
//! 2. Some executions are directed at the instances in turn; the others are random.
//! 3. If the states are not too many, all executions are examined. Then the verdict about the test is exact.
//!
//! **Soundness and limits**: every violation found is real. If there are too many states, a test may have further violations.

use super::directed::{Aim, Directed};
use super::program::TestProgram;
use super::subject::Subject;
use super::test::TestCase;
use super::verdict::{Judge, SerialEnds, Unusable, Verdict, ViolationKind};
use crate::linear::{CallEnd, CallOrders, CallTracker, calls};
use crate::measure::{Ended, OneMeasured, Watched};
use crate::method_pairs::PublicMethods;
use crate::universe::{Binding, Universe};
use cssame_budget::{Bound, Budget, Limits};
use cssame_explore::{BlockedThread, OutcomeStatus, WaitsFor};
use cssame_model::Options;
use cssame_schedule::{Execution, ExecutionStatus, Policy, Random, run};
use cssame_source::Span;
use cssame_vm::Choice;

/// What executions of tests need to know.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// How the file is called.
    pub name: &'a str,
    /// What the executions depend on.
    pub options: &'a Options,
    /// The accesses of the file.
    pub universe: &'a Universe,
    /// Its public methods.
    pub methods: &'a PublicMethods,
    /// The class that is the reference.
    pub reference: Option<&'a str>,
    /// Executions of a test.
    pub executions: u32,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// States of all executions of a test that are looked at; none where they are not.
    pub explore: Option<u64>,
}

/// States of serial orders of a test, at most.
const SERIAL_STATES: u64 = 30_000;

/// What tells violations and notes apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingKey {
    /// Which; none for a note.
    pub kind: Option<ViolationKind>,
    /// `assert`, `deadlock`, `not-linearizable`, `note`, …
    pub status: &'static str,
    /// Where: positions of the file, calls of the test; of a note the variables.
    pub places: Vec<String>,
    /// Whether it needs no interleaving of calls.
    pub sequential: bool,
}

/// A violation or a note, and an execution that shows it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What.
    pub key: FindingKey,
    /// How the execution ends.
    pub end: CallEnd,
    /// The execution of the test that has shown it first, and steps of the executions up to its end; none where a search has.
    pub found_by: Option<(u64, u64)>,
}

/// One execution.
#[derive(Clone, Debug)]
pub struct OneExecution {
    /// What it covers.
    pub measured: OneMeasured,
    /// Its steps.
    pub steps: Vec<Choice>,
    /// How it has ended.
    pub status: &'static str,
    /// The violation or note that it shows.
    pub shows: Option<FindingKey>,
}

/// What a test has shown.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// Its executions.
    pub executions: Vec<OneExecution>,
    /// Each violation and each note once.
    pub findings: Vec<Finding>,
    /// Whether all executions were looked at.
    pub exact: bool,
}

/// Why a test has shown nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRun {
    /// It is of no use.
    Unusable(Unusable),
    /// Its text does not compile.
    Text,
    /// The time is up, or the user has stopped the work.
    Stopped(Bound),
}

impl From<Unusable> for NoRun {
    fn from(unusable: Unusable) -> NoRun {
        match unusable {
            Unusable::TooLarge(bound @ (Bound::Timeout | Bound::Processor | Bound::Interrupt)) => NoRun::Stopped(bound),
            other => NoRun::Unusable(other),
        }
    }
}

/// A test that was compiled, with what is right for it.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// The class.
    pub subject: &'a Subject<'a>,
    /// The test.
    pub test: &'a TestCase,
    /// The program.
    pub program: TestProgram,
    /// Says what its executions show.
    pub judge: Judge,
    /// The same test on the reference class.
    pub reference: Option<TestProgram>,
}

impl<'a> Prepared<'a> {
    /// Compiles a test, and finds its serial orders.
    ///
    /// # Errors
    ///
    /// Why it shows nothing.
    pub fn new(
        context: &Context<'_>,
        subject: &'a Subject<'a>,
        test: &'a TestCase,
        budget: &Budget<'_>,
    ) -> Result<Prepared<'a>, NoRun> {
        let compile = |instead| {
            TestProgram::new(subject, test, instead, (context.name, context.options)).map_err(|_| NoRun::Text)
        };
        let program = compile(None)?;
        let own = SerialEnds::new(&program, test, SERIAL_STATES, budget)?;
        let reference = context.reference.map(|class| compile(Some(class))).transpose()?;
        let of_reference = reference.as_ref().map(|program| SerialEnds::new(program, test, SERIAL_STATES, budget));
        let judge = Judge::new(own, of_reference.transpose()?);
        Ok(Prepared { subject, test, program, judge, reference })
    }

    /// What an execution shows that has ended so; none for nothing.
    #[must_use]
    pub fn key(&self, end: &CallEnd) -> Option<FindingKey> {
        match self.judge.verdict(end) {
            Verdict::Fine => None,
            Verdict::Note(cells) => {
                let program = self.program.model.program();
                let leaf = |cell: usize| program.leaves[self.program.leaves[cell].0].name;
                let mut places: Vec<String> =
                    cells.into_iter().map(|cell| program.texts.get(leaf(cell)).to_owned()).collect();
                places.dedup();
                Some(FindingKey { kind: None, status: "note", places, sequential: false })
            }
            Verdict::Violation { kind, sequential } => {
                let status =
                    if kind == ViolationKind::NotLinearizable { "not-linearizable" } else { end.status.word() };
                Some(FindingKey { kind: Some(kind), status, places: self.places(end, sequential), sequential })
            }
        }
    }

    /// Where an execution fails, or its threads wait; where they wait for themselves without others, those alone.
    fn places(&self, end: &CallEnd, sequential: bool) -> Vec<String> {
        let machine = self.program.model.machine();
        let for_itself = sequential && end.blocked.iter().any(BlockedThread::waits_for_itself);
        let waits = end.blocked.iter().filter(|thread| {
            let is_last = !matches!(thread.waits_for, WaitsFor::Threads(_));
            is_last && (!for_itself || thread.waits_for_itself())
        });
        let at = end.failure.map(|failure| failure.at).into_iter().chain(waits.map(|thread| thread.at));
        let mut places: Vec<String> = at.map(|at| self.place(machine.span(at))).collect();
        places.sort();
        places.dedup();
        places
    }

    /// A position of the file, or the call that stands there.
    #[must_use]
    pub fn place(&self, span: Span) -> String {
        let position = self.program.model.sources().position(span);
        let call = self.program.call_in_line(position.line);
        call.and_then(|call| self.test.source_of(self.subject, call)).unwrap_or_else(|| position.to_string())
    }

    /// How all executions of the test end, as far as the bound allows; and the bound that was hit.
    #[must_use]
    pub fn explore(&self, max_states: u64, budget: &Budget<'_>) -> (Vec<CallEnd>, Option<Bound>) {
        let limits = Limits { max_states: Some(max_states), ..Limits::default() };
        let answer = calls(self.program.model.machine(), CallOrders::All, &self.program.cells, &budget.share(limits));
        (answer.ends, answer.bound)
    }

    /// How an execution under a policy ends; none where it is cut or discarded.
    pub fn execute(&self, policy: &mut impl Policy, max_steps: u64) -> Option<CallEnd> {
        let mut tracker = CallTracker::new();
        let execution = run(self.program.model.machine(), policy, max_steps, &mut tracker);
        self.end(&execution, &tracker)
    }

    /// How an execution ends.
    fn end(&self, execution: &Execution, tracker: &CallTracker) -> Option<CallEnd> {
        let status = match execution.status {
            ExecutionStatus::Ok => (OutcomeStatus::Ok, None),
            ExecutionStatus::Failed(failure) => (OutcomeStatus::Failed(failure.kind), Some(failure)),
            ExecutionStatus::Deadlock => (OutcomeStatus::Deadlock, None),
            ExecutionStatus::Discarded | ExecutionStatus::StepLimit | ExecutionStatus::Stopped => return None,
        };
        let machine = (self.program.model.machine(), &execution.tables, &execution.state);
        Some(CallEnd::new(machine, status, tracker, &self.program.cells, execution.steps.clone()))
    }
}

/// Executes a test.
///
/// # Errors
///
/// Why it has shown nothing.
pub fn execute(
    context: &Context<'_>,
    (subject, test): (&Subject<'_>, &TestCase),
    aims: &[Aim],
    seed: u64,
    budget: &Budget<'_>,
) -> Result<TestRun, NoRun> {
    let prepared = Prepared::new(context, subject, test, budget)?;
    let model = &prepared.program.model;
    let watched = Watched::new(model, context.universe, context.methods);
    let binding = Binding::new(context.universe, model.program());
    let mut found = TestRun { executions: Vec::new(), findings: Vec::new(), exact: false };
    let mut steps = 0;
    for number in 0..u64::from(context.executions) {
        if let Some(bound) = budget.check() {
            return Err(NoRun::Stopped(bound));
        }
        let seed = mix(seed, number);
        let mut observer = (watched.watch(), CallTracker::new());
        let execution = match aims.get(number as usize) {
            Some(aim) => {
                let mut policy = Directed::new((model.program(), &binding), &subject.labels, aim, seed);
                run(model.machine(), &mut policy, context.max_steps, &mut observer)
            }
            None => run(model.machine(), &mut Random::new(seed), context.max_steps, &mut observer),
        };
        let Execution { status, steps: done, state, tables } = &execution;
        steps += done.len() as u64;
        let measured = OneMeasured::new(&watched, &observer.0, &Ended { status, steps: done, state, tables });
        let end = prepared.end(&execution, &observer.1);
        let shows = end.and_then(|end| add(&mut found.findings, &prepared, end, Some((number, steps))));
        found.executions.push(OneExecution {
            measured,
            status: execution.status.word(),
            steps: execution.steps,
            shows,
        });
    }
    if let Some(max_states) = context.explore {
        let (ends, bound) = prepared.explore(max_states, budget);
        if let Some(bound @ (Bound::Timeout | Bound::Processor | Bound::Interrupt)) = bound {
            return Err(NoRun::Stopped(bound));
        }
        found.exact = bound.is_none();
        for end in ends {
            add(&mut found.findings, &prepared, end, None);
        }
    }
    Ok(found)
}

/// Adds what an execution shows that has ended so, and says what that is.
fn add(
    findings: &mut Vec<Finding>,
    prepared: &Prepared<'_>,
    end: CallEnd,
    found_by: Option<(u64, u64)>,
) -> Option<FindingKey> {
    let key = prepared.key(&end)?;
    if !findings.iter().any(|known| known.key == key) {
        findings.push(Finding { key: key.clone(), end, found_by });
    }
    Some(key)
}

/// A seed of many.
#[must_use]
pub fn mix(seed: u64, number: u64) -> u64 {
    // A round of SplitMix64.
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number.wrapping_mul(0xd1b5_4a32_d192_ed03));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
