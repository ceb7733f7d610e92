//! The answer of `drive --race`: a test for each order of two accesses that race.
//!
//! **Input**: a program and a pair of places. **Output**: a package; or the statement that the pair is no race, or that this is
//! unknown.
//!
//! **Algorithm**.
//!
//! 1. Look for an execution that leads to a state in which both accesses are pending ([`race::find`]).
//! 2. For each order, execute the two steps from there, one directly after the other, and continue with all threads in turn.
//! 3. If that ends well, look for a failing execution of the order: do the same from the states that are known to lead to
//!    failures, and otherwise take such an execution unchanged.
//! 4. If no execution of an order ends, try some random ones.
//!
//! **Soundness and limits**: each execution begins like one that shows the race. The answer says that an assumption discards
//! every execution of an order only if all states were visited.

use super::drive::{DriveAnswer, input};
use super::races::{RacesRequest, plain};
use cssame_budget::Budget;
use cssame_driver::{DriveError, NoOrder, Options, Order, OrderCase, OrderedAccess, RaceEntry, drive_orders};
use cssame_explore as explore;
use cssame_model::Model;
use cssame_race as race;
use cssame_race::report::{PairReport, report};
use cssame_race::{Findings, PlacePair, Request, Scene, Scope, States, Status, scene};
use cssame_schedule as schedule;
use cssame_schedule::{Execution, ExecutionStatus, Policy, Random, RoundRobin, Scripted, Then, Walk};
use cssame_vm::{Choice, Tables};

/// Executions that are made at random at most, where an order has none so far.
const ATTEMPTS: u64 = 100;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct DriveRaceRequest<'a> {
    /// The pair.
    pub pair: PlacePair,
    /// How the package is made.
    pub options: &'a Options,
    /// States that are visited at most to decide what executions leave open; as many as `races` visits if nothing is
    /// said.
    pub max_states: Option<States>,
}

impl<'a> DriveRaceRequest<'a> {
    /// A pair, to be decided with the states that `races` visits unasked.
    #[must_use]
    pub fn new(pair: PlacePair, options: &'a Options) -> DriveRaceRequest<'a> {
        DriveRaceRequest { pair, options, max_states: None }
    }
}

/// Looks for a race and makes a package with a test for each of its orders.
///
/// # Errors
///
/// The program has no `main`.
pub fn drive_race(
    model: &Model,
    request: &DriveRaceRequest<'_>,
    budget: &Budget<'_>,
) -> Result<DriveAnswer, DriveError> {
    let max_steps = request.options.max_steps;
    let defaults = RacesRequest::default();
    let wanted = RacesRequest { max_steps, explore: request.max_states.or(defaults.explore), ..defaults };
    let wanted = Request { scope: Scope::Pair(request.pair), ..plain(&wanted) };
    let findings = race::find(model, &wanted, budget);
    let pairs = report(model, &findings).potential;
    let found = findings.pairs.iter().zip(&pairs).find(|(pair, _)| pair.places == request.pair);
    let Some((finding, names)) = found else {
        return Ok(DriveAnswer { bound: findings.bound, ..DriveAnswer::default() });
    };
    let race = RaceEntry {
        a: names.a.clone(),
        b: names.b.clone(),
        status: names.status,
        proof: names.proof.clone(),
        orders: Vec::new(),
    };
    if finding.status != Status::Real {
        // What is impossible is so whatever was cut.
        let bound = findings.bound.filter(|_| finding.status == Status::Unconfirmed);
        return Ok(DriveAnswer { bound, race: Some(race), ..DriveAnswer::default() });
    }
    let orders = Orders::new(model, &findings, (request.pair, names), max_steps, budget);
    let cases = [0, 1].map(|side| orders.case(side, [&names.a, &names.b]));
    let package = drive_orders(&input(model), race, &cases, request.options)?;
    let race = package.manifest.race.clone();
    // A race that was found is decided, whatever bound was hit on the way.
    Ok(DriveAnswer { package: Some(package), race, bound: budget.check(), ..DriveAnswer::default() })
}

/// Steps that lead to a state in which both accesses are pending, and perhaps to a failure from there.
struct Start {
    steps: Vec<Choice>,
    before: usize,
    scene: Scene,
}

/// An execution of an order, and whether it fails.
struct Found {
    order: Order,
    fails: bool,
}

/// Finds executions of the orders of a race.
struct Orders<'a> {
    model: &'a Model,
    findings: &'a Findings,
    pair: PlacePair,
    max_steps: u64,
    budget: &'a Budget<'a>,
    /// The execution that shows the race best, then those that are known to fail.
    starts: Vec<Start>,
}

impl<'a> Orders<'a> {
    fn new(
        model: &'a Model,
        findings: &'a Findings,
        (pair, names): (PlacePair, &PairReport),
        max_steps: u64,
        budget: &'a Budget<'a>,
    ) -> Orders<'a> {
        let mut all: Vec<(&[Choice], usize)> = Vec::new();
        if let (Some(steps), Some(before)) = (&names.witness, names.before) {
            all.push((steps, before));
        }
        for race in explored(findings, pair) {
            all.extend(race.failing.iter().flatten().map(|failing| (&failing.schedule[..], failing.before)));
        }
        for finding in findings.pairs.iter().filter(|finding| finding.places == pair) {
            let failing = finding.trials.failing.iter().flatten();
            all.extend(failing.map(|hit| (&hit.steps[..], hit.before)));
        }
        let starts = all.into_iter().filter_map(|(steps, before)| {
            let prefix = steps.get(..before)?;
            let scene = scene(model.machine(), model.program(), &findings.places, pair, prefix)?;
            Some(Start { steps: steps.to_vec(), before, scene })
        });
        let starts = starts.collect();
        Orders { model, findings, pair, max_steps, budget, starts }
    }

    /// The order in which the access at that place comes first.
    fn case(&self, side: usize, names: [&String; 2]) -> OrderCase {
        let names = [names[side].clone(), names[1 - side].clone()];
        OrderCase { execution: self.execution(side, &names), places: names }
    }

    fn execution(&self, side: usize, names: &[String; 2]) -> Result<Order, NoOrder> {
        let mut first = None;
        for start in &self.starts {
            let (script, _) = self.script(start, side);
            match self.found(start, (side, names), self.run(&script, RoundRobin::new())) {
                Some(found) if found.fails => return Ok(found.order),
                found => first = first.or(found),
            }
        }
        for start in &self.starts {
            let execution = self.run(&start.steps, RoundRobin::new());
            if let Some(found) = self.found(start, (side, names), execution)
                && found.fails
            {
                return Ok(found.order);
            }
        }
        match first {
            Some(found) => Ok(found.order),
            None => self.at_random(side, names),
        }
    }

    /// The steps to a state in which both are pending, and the steps of both; of the first one alone where the second one
    /// is not possible any more. With that: how many of them come before the second one.
    fn script(&self, start: &Start, side: usize) -> (Vec<Choice>, usize) {
        let mut steps = start.steps[..start.before].to_vec();
        let [first, second] = [side, 1 - side].map(|side| start.scene.actors[side].step);
        steps.push(first);
        let only_first = steps.len();
        let mut tables = Tables::new();
        let mut walk = Walk::new(self.model.machine(), &mut tables, &mut ());
        let is_possible = walk.follow(&steps, &mut ()).is_ok() && walk.alternatives(second.thread) > 0;
        steps.extend(is_possible.then_some(second));
        (steps, only_first)
    }

    fn run(&self, script: &[Choice], policy: impl Policy) -> Execution {
        let mut policy = Then::new(Scripted::new(script), policy);
        schedule::run(self.model.machine(), &mut policy, self.max_steps, &mut ())
    }

    /// An execution, if it comes to an end and has the order.
    fn found(&self, start: &Start, (side, names): (usize, &[String; 2]), execution: Execution) -> Option<Found> {
        let fails = match execution.status {
            ExecutionStatus::Ok => false,
            ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock => true,
            ExecutionStatus::Discarded | ExecutionStatus::StepLimit | ExecutionStatus::Stopped => return None,
        };
        let actors = [side, 1 - side].map(|side| &start.scene.actors[side]);
        // Both threads stand before their accesses, so each makes its own in its next step.
        let step_of = |side: usize| {
            let steps = execution.steps.iter().enumerate().skip(start.before);
            steps.filter(|(_, step)| step.thread == actors[side].step.thread).map(|(number, _)| number).next()
        };
        let steps = match (step_of(0)?, step_of(1)) {
            (first, Some(second)) if second < first => return None,
            (first, second) => second.map(|second| [first, second]),
        };
        let places = [side, 1 - side].map(|side| self.findings.places.list[self.pair[side]].span);
        let accesses = [0, 1].map(|number| OrderedAccess {
            at: names[number].clone(),
            span: places[number],
            kind: actors[number].access.word(),
            thread: actors[number].thread.clone(),
        });
        Some(Found { order: Order { accesses, schedule: execution.steps, steps }, fails })
    }

    /// An execution of an order of which those are discarded, or have no end, in which the threads go on in turn.
    fn at_random(&self, side: usize, names: &[String; 2]) -> Result<Order, NoOrder> {
        if self.is_always_discarded(side) {
            let reason = "an assumption discards every execution of this order".to_owned();
            return Err(NoOrder { reason, is_proven: true });
        }
        let mut attempts = 0;
        let mut is_cut = false;
        for start in self.starts.iter().take(1) {
            let (script, only_first) = self.script(start, side);
            while attempts < ATTEMPTS && !is_cut && self.budget.check().is_none() {
                // Something else may have to come between the two.
                let script = if attempts % 2 == 0 { &script[..] } else { &script[..only_first] };
                let execution = self.run(script, Random::new(attempts));
                is_cut = execution.status == ExecutionStatus::StepLimit;
                attempts += 1;
                if let Some(found) = self.found(start, (side, names), execution) {
                    return Ok(found.order);
                }
            }
        }
        let reason = if is_cut {
            "the executions of this order that were tried do not come to an end within the bound of steps".to_owned()
        } else {
            format!(
                "none of {attempts} executions of this order that were tried at random goes through all assumptions"
            )
        };
        Err(NoOrder { reason, is_proven: false })
    }

    /// Whether it is known that no execution goes on after that access went first.
    fn is_always_discarded(&self, side: usize) -> bool {
        let is_complete = self.findings.exploration.as_ref().is_some_and(|answer| answer.is_complete());
        let goes_on = |race: &explore::Race| match self.findings.places.pair(race.accesses) {
            _ if self.pair[0] == self.pair[1] => race.goes_on.contains(&true),
            Some((_, is_turned)) => race.goes_on[if is_turned { 1 - side } else { side }],
            None => true,
        };
        is_complete && !explored(self.findings, self.pair).any(goes_on)
    }
}

/// What the exploration has found of a pair.
fn explored(findings: &Findings, pair: PlacePair) -> impl Iterator<Item = &explore::Race> {
    let races = findings.exploration.iter().flat_map(|answer| &answer.races);
    races.filter(move |race| findings.places.pair(race.accesses).is_some_and(|(of, _)| of == pair))
}
