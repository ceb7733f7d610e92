//! The answer of `hunt`: the bugs with few preemptions, and the number of preemptions up to which there are no others.

use super::endless::{self, EndlessFindings};
use cssame_budget::{Bound, Budget};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_explore::report::{DeadlockReport, FailureReport};
use cssame_explore::{self as explore, EndlessRequest, HuntRace, HuntRequest, Subject};
use cssame_ir::{Access, LeafId};
use cssame_model::Model;
use cssame_schedule::Step;
use cssame_source::Span;
use serde::Serialize;

/// What goes wrong, and what is sure.
#[derive(Debug, Serialize)]
pub struct HuntReport {
    /// Whether all executions were looked at.
    pub complete: bool,
    /// Whether all failures and deadlocks are known; races may be missing.
    pub decided: bool,
    /// The bound that was hit.
    pub bound: Option<&'static str>,
    /// Up to where all executions were looked at.
    pub bounds: HuntBounds,
    /// Executions that were followed to their end.
    pub executions: u64,
    /// Different states that were visited.
    pub states: u64,
    /// Where the program can fail.
    pub failures: Vec<WithPreemptions<FailureReport>>,
    /// Deadlocks.
    pub deadlocks: Vec<WithPreemptions<DeadlockReport>>,
    /// Accesses before which two threads stand at once; null where an assumption discards executions: they were not looked for.
    pub races: Option<Vec<WithPreemptions<MetRace>>>,
    /// Executions without end.
    #[serde(flatten)]
    pub endless: EndlessFindings,
}

/// Up to where all executions were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HuntBounds {
    /// All executions with so many preemptions were; null if not even those without one.
    pub preemptions: Option<u32>,
}

/// Something that was found, with the preemptions of its schedule.
#[derive(Clone, Debug, Serialize)]
pub struct WithPreemptions<T> {
    /// How often the schedule leaves a thread that could go on.
    pub preemptions: u32,
    /// What was found.
    #[serde(flatten)]
    pub found: T,
}

/// Two accesses before which two threads stand at once.
#[derive(Clone, Debug, Serialize)]
pub struct MetRace {
    /// The first place.
    pub a: String,
    /// The other one.
    pub b: String,
    /// The variable.
    pub variable: String,
    /// What happens at `a` and at `b`: `write`, `read`.
    pub kinds: [&'static str; 2],
    /// The threads at `a` and at `b`.
    pub threads: [String; 2],
    /// Whether one access is atomic and the other one is not.
    pub mixed: bool,
    /// An execution up to the state that shows it.
    pub schedule: Vec<Step>,
    /// The same for other views.
    #[serde(skip)]
    pub spans: [Span; 2],
    /// The variables whose cells were raced for.
    #[serde(skip)]
    pub leaves: Vec<LeafId>,
}

/// The report, with what it was made from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct HuntAnswer {
    /// With names.
    pub report: HuntReport,
    /// As the search has found it; failures and deadlocks are in the order of the report.
    #[serde(skip)]
    pub answer: explore::HuntAnswer,
    /// What was asked.
    #[serde(skip)]
    pub request: HuntRequest,
}

/// Looks for what goes wrong, those with the fewest preemptions first; and for executions without end.
#[must_use]
pub fn hunt(model: &Model, request: HuntRequest, endless: EndlessRequest, budget: &Budget<'_>) -> HuntAnswer {
    let search = || Subject::from(model).hunt(&request, budget);
    let (answer, endless) = endless::around_hunt(model, endless, budget, search);
    let naming = model.naming();
    let failure = |(witness, preemptions): &(explore::FailureWitness, u32)| WithPreemptions {
        preemptions: *preemptions,
        found: FailureReport::of(
            &naming,
            &witness.failure,
            naming.machine.path_name(&answer.tables, witness.path),
            &witness.schedule,
        ),
    };
    let deadlock = |(deadlock, preemptions): &(explore::Deadlock, u32)| WithPreemptions {
        preemptions: *preemptions,
        found: DeadlockReport::of(&naming, &deadlock.schedule),
    };
    let race = |race: &HuntRace| met_race(model, &answer, race);
    let report = HuntReport {
        complete: answer.is_complete,
        decided: answer.has_all_ends,
        bound: answer.bound.map(Bound::name),
        bounds: HuntBounds { preemptions: answer.finished },
        executions: answer.statistics.executions,
        states: answer.statistics.states,
        failures: answer.failures.iter().map(failure).collect(),
        deadlocks: answer.deadlocks.iter().map(deadlock).collect(),
        races: answer.races.as_ref().map(|races| races.iter().map(race).collect()),
        endless,
    };
    HuntAnswer { report, answer, request }
}

fn met_race(model: &Model, answer: &explore::HuntAnswer, race: &HuntRace) -> WithPreemptions<MetRace> {
    let (naming, program) = (model.naming(), model.program());
    let place = |access: Access| {
        let name = program.texts.get(access.name(program));
        format!("{name}@{}", model.sources().place(access.span(program)))
    };
    let [a, b] = race.accesses.map(place);
    let mut leaves: Vec<LeafId> = race.cells.iter().filter_map(|cell| cell.leaf(program)).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let found = MetRace {
        a,
        b,
        variable: race.cells.first().map_or_else(String::new, |cell| cell.name(program)),
        kinds: race.accesses.map(Access::word),
        threads: race.threads.map(|thread| naming.machine.path_name(&answer.tables, thread)),
        mixed: race.mixed,
        schedule: naming.steps(&race.schedule),
        spans: race.accesses.map(|access| access.span(program)),
        leaves,
    };
    WithPreemptions { preemptions: race.preemptions, found }
}

impl HuntAnswer {
    /// Whether nothing goes wrong in what was looked at.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let HuntReport { failures, deadlocks, races, endless, .. } = &self.report;
        let has_race = races.as_ref().is_some_and(|races| !races.is_empty());
        failures.is_empty() && deadlocks.is_empty() && endless.endless.is_empty() && !has_race
    }

    /// Whether all failures, deadlocks and executions without end are known.
    #[must_use]
    pub fn has_all_ends(&self) -> bool {
        self.report.decided && self.report.endless.endless_complete
    }

    /// Whether there are no other races, failures and deadlocks.
    pub(super) fn has_all_races(&self) -> bool {
        self.report.complete && self.report.races.is_some()
    }

    /// Whether it is known of all executions that none fails or blocks.
    pub(super) fn all_end_well(&self) -> bool {
        self.report.decided && self.report.failures.is_empty() && self.report.deadlocks.is_empty()
    }

    /// Whether a finding of the text warns of a failure or a deadlock that no execution has.
    pub(super) fn refutes(&self, finding: &Diagnostic) -> bool {
        let warns_of_ends = [Code::WaitKeepsLock, Code::NotifyWithoutLock, Code::AssertionWithoutLock];
        self.all_end_well() && warns_of_ends.contains(&finding.code)
    }

    /// Whether all that was asked for is decided: all executions, or all with as many preemptions as were asked for.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let all = self.report.complete && self.report.endless.endless_complete;
        all || self.request.preemptions.is_some() && self.answer.finished == self.request.preemptions
    }
}
