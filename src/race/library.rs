//! Races of a file without `main`: the races of the drivers that close it.
//!
//! **Input**: a file of classes and functions, a request, and a budget for all drivers together. **Output**: a [`DriverFindings`]
//! for each driver.
//!
//! **Algorithm**
//! 1. The [closing](Methods::closing) runs everything that the file offers in parallel. It is analysed as in `check`: its text
//!    alone says which pairs may race.
//! 2. Each driver of [`Methods::drivers`] is a program, and is searched for races like any other program. The drivers share the
//!    states of the exploration evenly. If the two calls of a driver fail or block when run one after the other, in at least one
//!    order, the driver shows races but no harm: it has broken a rule of use, or waits for a thread that it does not have.
//! 3. If no driver contains a pair of the closing, [more](Methods::more_drivers) drivers with other arguments are made.
//!
//! **Soundness and limits**: a real race is real in the driver. No race is impossible: other clients can do more. Every pair that
//! may race according to the text is reported, even if no driver shows it.

use super::compare::Contender;
use super::find::{Findings, Request, find};
use super::judge::Status;
use super::place::PlacePair;
use super::predict::Means;
use cssame_budget::{Bound, Budget};
use cssame_harness::{Driver, Methods};
use cssame_model::{Model, Options, Unit};
use cssame_schedule::{Decision, ExecutionStatus, Policy, View, run};
use cssame_source::Span;
use cssame_vm::{Choice, Move, ThreadIndex};
use std::collections::BTreeSet;

/// A driver with what was found in it.
#[derive(Debug)]
pub struct DriverFindings {
    /// The driver.
    pub driver: Driver,
    /// The program that it is.
    pub model: Model,
    /// Its races.
    pub findings: Findings,
    /// Whether its calls fail or block also if one comes after the other.
    pub fails_alone: bool,
}

/// The drivers of a file.
#[derive(Debug, Default)]
pub struct Library {
    /// The program in which all that the file offers runs in parallel, and what its text says.
    pub closing: Option<(Model, Findings)>,
    /// In the order in which they are made, the plainest first.
    pub drivers: Vec<DriverFindings>,
    /// Whether there are more than are made.
    pub has_more: bool,
    /// The bound that has stopped the drivers.
    pub bound: Option<Bound>,
}

/// Finds races in the drivers of a file.
#[must_use]
pub fn find_in_drivers(unit: &Unit, options: &Options, request: &Request, budget: &Budget<'_>) -> Library {
    let methods = Methods::new(&unit.sources, unit.file);
    let closing = find_in_closing(unit, &methods, options, request, budget);
    let mut found = Library { closing, has_more: methods.has_more_drivers(), ..Library::default() };
    let drivers = methods.drivers();
    let first = drivers.len();
    let share = Request { explore: request.explore.map(|states| states.share(first as u64)), ..request.clone() };
    found.add(unit, drivers, options, &share, budget);
    if !found.has_more && found.has_pairs_in_no_driver(unit.text().len() as u32) {
        let more = methods.more_drivers().into_iter().skip(first).collect();
        found.add(unit, more, options, &share, budget);
    }
    found
}

/// What the text says of the closing; nothing is executed.
fn find_in_closing(
    unit: &Unit,
    methods: &Methods<'_>,
    options: &Options,
    request: &Request,
    budget: &Budget<'_>,
) -> Option<(Model, Findings)> {
    let model = Model::from_text(unit.name(), &methods.closing()?.text, options).ok()?;
    let contenders = vec![Contender::RaceDirected];
    let mut text_alone = Request { max_pairs: Some(0), measure: false, explore: None, contenders, ..request.clone() };
    text_alone.prediction.means = Means::Static;
    let findings = find(&model, &text_alone, budget);
    Some((model, findings))
}

impl Library {
    /// Finds races in further drivers.
    fn add(&mut self, unit: &Unit, drivers: Vec<Driver>, options: &Options, request: &Request, budget: &Budget<'_>) {
        for driver in drivers {
            if let Some(bound) = budget.check() {
                self.bound = Some(bound);
                break;
            }
            // What the text of the driver lacks, such as a constant that has no value, it lacks in any of them.
            let Ok(model) = Model::from_text(unit.name(), &driver.text, options) else { continue };
            let findings = find(&model, request, budget);
            let fails_alone = fails_alone(&model, request.trials.max_steps);
            self.bound = self.bound.or(findings.bound);
            self.drivers.push(DriverFindings { driver, model, findings, fails_alone });
        }
    }

    /// Whether the text of the file, which is so long, has a pair that no driver makes real.
    fn has_pairs_in_no_driver(&self, end: u32) -> bool {
        let Some((_, closing)) = &self.closing else { return false };
        let of = |findings: &Findings, pair: PlacePair| -> [(u32, u32); 2] {
            pair.map(|place| {
                let Span { start, end, .. } = findings.places.list[place].span;
                (start, end)
            })
        };
        let real = |findings: &Findings| -> Vec<[(u32, u32); 2]> {
            let pairs = findings.pairs.iter().filter(|pair| pair.status == Status::Real);
            pairs.map(|pair| of(findings, pair.places)).collect()
        };
        let shown: BTreeSet<_> = self.drivers.iter().flat_map(|one| real(&one.findings)).collect();
        let mut pairs = closing.pairs.iter().map(|pair| of(closing, pair.places));
        pairs.any(|pair| pair.iter().all(|place| place.1 <= end) && !shown.contains(&pair))
    }
}

/// Whether the two calls of a driver fail or block also if one comes after the other, in at least one order.
#[must_use]
pub fn fails_alone(driver: &Model, max_steps: u64) -> bool {
    [Order::First, Order::Last].into_iter().any(|order| fails_in_order(driver, order, max_steps))
}

fn fails_in_order(model: &Model, order: Order, max_steps: u64) -> bool {
    let mut policy = OneAfterTheOther { order, last: None };
    let execution = run(model.machine(), &mut policy, max_steps, &mut ());
    matches!(execution.status, ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock | ExecutionStatus::StepLimit)
}

/// Which thread goes on where the last one cannot.
#[derive(Clone, Copy, Debug)]
enum Order {
    First,
    Last,
}

/// Lets a thread go on as long as it can.
struct OneAfterTheOther {
    order: Order,
    last: Option<ThreadIndex>,
}

impl Policy for OneAfterTheOther {
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Decision {
        let same = moves.iter().find(|one| Some(one.thread) == self.last);
        let next = match self.order {
            Order::First => moves.first(),
            Order::Last => moves.last(),
        };
        let Some(next) = same.or(next) else { return Decision::Done };
        self.last = Some(next.thread);
        Decision::Step(Choice { thread: next.thread, alternative: 0 })
    }
}
