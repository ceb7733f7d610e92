//! Goals of directed executions other than races: deadlocks, tears, lost notifications, terms.
//!
//! **Input**: a model, the [`Target`], and the number of executions to make. **Output**: an [`AimFinding`] for each single goal
//! that the target contains, such as a cycle of locks.
//!
//! **Algorithm**: the static analyses list the possible events. For each of them, executions hold threads back at the necessary
//! places ([`super::hold`]), and each execution is checked for the event:
//!
//! - a cycle of the lock-order graph: some execution ends in a deadlock in which a thread waits at one of its places;
//! - an endangered correlation: an execution tears it ([`tears`]);
//! - a wait for a notification: an execution ends in a deadlock in which a thread waits there;
//! - a term: the read has seen the definition.
//!
//! **Soundness and limits**: every event found is real. An event that is not found may still be possible.

use super::directed::seed_of;
use super::ends::{BadEnd, BadEnds, Origin};
use super::hold::{Hold, Rule};
use super::trials::TrialRequest;
use cssame_budget::{Bound, Budget};
use cssame_correlation::Analysis;
use cssame_form::check::lock_cycles;
use cssame_form::{definition_name, read_name};
use cssame_ir::sync::Kind;
use cssame_ir::{DefinitionId, Instruction, Program, ReadId, SymbolId};
use cssame_model::Model;
use cssame_schedule::{ExecutionStatus, Experiment, Trial, Trials, TrialsEnd};
use cssame_source::{Position, Span};
use cssame_tear::{TearPattern, tears};
use cssame_vm::{Choice, Machine};
use std::ops::ControlFlow;
use std::sync::Arc;

impl Target {
    /// The word on the command line.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Target::Deadlocks => "deadlocks",
            Target::Correlations => "correlations",
            Target::Notifications => "notifications",
            Target::Term(..) => "term",
        }
    }
}

/// What executions are directed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Cycles in which threads take locks.
    Deadlocks,
    /// Accesses that belong together, with synchronisation in between.
    Correlations,
    /// Waits that a notification may come too early for.
    Notifications,
    /// A read that sees a definition.
    Term(ReadId, DefinitionId),
}

/// One thing to bring about.
#[derive(Clone, Debug)]
pub struct Aim {
    /// In words.
    pub what: String,
    /// The places in the text that it is about.
    pub places: Vec<Span>,
    kind: AimKind,
}

#[derive(Clone, Debug)]
enum AimKind {
    /// A deadlock with a thread at one of the places `at`; threads are held back before the operations `held`.
    Blocked {
        at: Vec<Span>,
        held: Vec<Span>,
    },
    Tear(TearPattern),
    Term((ReadId, DefinitionId), bool),
}

/// What executions have shown of an aim.
#[derive(Clone, Debug)]
pub struct AimFinding {
    /// The aim.
    pub aim: Aim,
    /// Executions that were made, but for those that are discarded.
    pub trials: u64,
    /// How many have reached it.
    pub hits: u64,
    /// The first one that has: its seed and its steps.
    pub first: Option<(u64, Vec<Choice>)>,
    /// Failures and deadlocks on the way.
    pub ends: BadEnds,
    /// The bound that has stopped the executions.
    pub bound: Option<Bound>,
}

/// The things that a target means. `analysis` is what is known of correlations.
#[must_use]
pub fn aims(model: &Model, target: &Target, analysis: impl FnOnce() -> Analysis) -> Vec<Aim> {
    let (sources, program) = (model.sources(), model.program());
    match target {
        Target::Deadlocks => {
            let cycles = lock_cycles(sources, program, model.form()).into_iter();
            let aim = |cycle: cssame_form::check::LockCycle| {
                let locks: Vec<String> = cycle.locks.iter().map(|lock| format!("`{lock}`")).collect();
                let what = format!("{} are taken in a cycle", locks.join(", "));
                let kind = AimKind::Blocked { at: cycle.taken.clone(), held: cycle.taken.clone() };
                Aim { what, places: cycle.taken, kind }
            };
            cycles.map(aim).collect()
        }
        Target::Notifications => wait_aims(program),
        Target::Correlations => correlation_aims(program, &analysis()),
        &Target::Term(read, definition) => {
            let of = &program.definitions[definition];
            let initial = matches!(of.kind, cssame_ir::DefinitionKind::Initial(_));
            let places = vec![program.reads[read].span, of.span];
            let kind = AimKind::Term((read, definition), initial);
            let (read, definition) = (read_name(sources, program, read), definition_name(sources, program, definition));
            vec![Aim { what: format!("`{read}` reads `{definition}`"), places, kind }]
        }
    }
}

/// The waits for a notification, in text order. Where a wait gives a lock back, the notifier can come between a test
/// and the wait only before this lock is taken: threads are held back there too.
fn wait_aims(program: &Program) -> Vec<Aim> {
    let mut found: Vec<(Span, Vec<Span>)> = Vec::new();
    for function in program.functions.iter() {
        let operations = function.blocks.iter().flat_map(|block| block.instructions.iter().zip(&block.spans));
        let kinds = operations.filter_map(|(instruction, &span)| match instruction {
            Instruction::Synchronise(of) => Some((of.kind, span)),
            _ => None,
        });
        let kinds: Vec<(Kind, Span)> = kinds.collect();
        let locks: Vec<Span> = {
            let takes = kinds.iter().filter(|of| of.0.only_acquires() && of.0.is_on_lock());
            takes.map(|of| of.1).collect()
        };
        for &(kind, span) in kinds.iter().filter(|of| matches!(of.0, Kind::WaitCondition | Kind::WaitBare)) {
            let locks = if kind == Kind::WaitCondition { &locks[..] } else { &[] };
            found.push((span, [&[span][..], locks].concat()));
        }
    }
    found.sort_unstable();
    found.dedup();
    let aim = |(span, held): (Span, Vec<Span>)| {
        let what = "a notification comes before the wait that needs it".to_owned();
        Aim { what, places: vec![span], kind: AimKind::Blocked { at: vec![span], held } }
    };
    found.into_iter().map(aim).collect()
}

fn correlation_aims(program: &Program, analysis: &Analysis) -> Vec<Aim> {
    let mut found: Vec<Aim> = Vec::new();
    for pair in &analysis.pairs {
        for each in pair.accesses.iter().filter(|each| each.access.endangered) {
            let other = if pair.methods.0 == each.method { pair.methods.1 } else { pair.methods.0 };
            let Some(pattern) = TearPattern::new(analysis, each, other) else { continue };
            let name = |symbol: SymbolId| program.texts.get(program.symbols[symbol].name);
            let function = |function| program.texts.get(program.functions[function].name);
            let [first, second] = pattern.sides.map(|side| name(side.symbol));
            let methods = (function(pattern.method), function(other));
            let what = format!("`{}` comes between `{first}` and `{second}` of `{}`", methods.1, methods.0);
            let places = vec![program.functions[pattern.method].span, program.functions[other].span];
            if !found.iter().any(|known| known.what == what) {
                found.push(Aim { what, places, kind: AimKind::Tear(pattern) });
            }
        }
    }
    found
}

/// Makes the executions of an aim.
#[must_use]
pub fn direct_at_aim(model: &Model, aim: Aim, request: &TrialRequest, budget: &Budget<'_>) -> AimFinding {
    let (machine, program) = (model.machine(), model.program());
    let rule = Arc::new(match &aim.kind {
        AimKind::Blocked { held, .. } => Rule::At(held.clone()),
        AimKind::Tear(pattern) => Rule::AfterAccess(pattern.sides.map(|side| side.symbol).to_vec()),
        AimKind::Term(term, initial) => Rule::Term { term: *term, initial: *initial },
    });
    let positions = [aim.places.first(), aim.places.last()]
        .map(|span| span.map_or(Position { line: 0, column: 0 }, |&span| model.sources().position(span)));
    let policy = |seed: u64| Hold::new(program, Arc::clone(&rule), request.max_postponed, seed_of(positions, seed));
    let seeds = request.seed..request.seed.saturating_add(request.trials);
    let trials = Trials { machine, seeds, max_steps: request.max_steps, budget };
    let mut found = AimFinding { aim, trials: 0, hits: 0, first: None, ends: BadEnds::default(), bound: None };
    let end = match found.aim.kind.clone() {
        AimKind::Tear(pattern) => tears(&trials, program, &pattern, policy, |seed, torn| {
            let Some(torn) = torn else { return ControlFlow::Continue(()) };
            note(&mut found, request, (seed, torn.tears.then_some(torn.steps)), None)
        }),
        kind => trials.run(&Held { machine, kind, policy }, |seed, done| match done {
            None => ControlFlow::Continue(()),
            Some(done) => note(&mut found, request, (seed, done.hit), done.end),
        }),
    };
    if let TrialsEnd::Stopped(bound) = end {
        found.bound = Some(bound);
    }
    found
}

fn note(
    found: &mut AimFinding,
    request: &TrialRequest,
    (seed, hit): (u64, Option<Vec<Choice>>),
    end: Option<BadEnd>,
) -> ControlFlow<()> {
    found.trials += 1;
    if let Some(end) = end {
        found.ends.add(end, Origin { seed: Some(seed), pair: None });
    }
    let Some(steps) = hit else { return ControlFlow::Continue(()) };
    found.hits += 1;
    found.first.get_or_insert((seed, steps));
    if request.until_hit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Executions that are held back, and what is asked of each.
struct Held<'a, F> {
    machine: &'a Machine,
    kind: AimKind,
    policy: F,
}

/// What is kept of an execution.
struct Done {
    hit: Option<Vec<Choice>>,
    end: Option<BadEnd>,
}

impl<'a, F: Fn(u64) -> Hold<'a> + Sync> Experiment for Held<'_, F> {
    type Policy = Hold<'a>;
    type Observer = ();
    type Outcome = Option<Done>;

    fn begin(&self, seed: u64) -> (Hold<'a>, ()) {
        ((self.policy)(seed), ())
    }

    fn outcome(&self, trial: &Trial<'_, Hold<'a>, ()>) -> Option<Done> {
        if *trial.status == ExecutionStatus::Discarded {
            return None;
        }
        let blocked_at = |spans: &[Span]| {
            let mut threads = trial.state.threads();
            let stands = |thread| spans.contains(&self.machine.span(trial.state.position(thread)));
            *trial.status == ExecutionStatus::Deadlock
                && threads.any(|thread| self.machine.obstacle(trial.state, thread).is_some() && stands(thread))
        };
        let is_hit = match &self.kind {
            AimKind::Blocked { at, .. } => blocked_at(at),
            AimKind::Term(..) => trial.policy.has_seen(),
            AimKind::Tear(_) => false,
        };
        Some(Done {
            hit: is_hit.then(|| trial.steps.to_vec()),
            end: BadEnd::of(self.machine, trial.tables, (trial.status, trial.steps, trial.state)),
        })
    }
}
