//! Races of a file without `main`: of the drivers that close it.
//!
//! **Input**: a file of classes and functions, what is asked for, and a budget for all drivers together. **Output**: a
//! [`DriverFindings`] for each driver.
//!
//! **Algorithm**: each driver of [`Methods::drivers`] is a program, in which races are looked for as in any other. The
//! states of the exploration are shared out evenly. A driver whose two calls fail or block one after the other, in one
//! of both orders, shows races, but no harm: it has broken a rule of use, or waits for a thread that it does not have.
//!
//! **Soundness and limits**: what is real is real in the driver. Nothing is impossible: other clients can do more.

use super::find::{Findings, Request, find};
use cssame_budget::{Bound, Budget};
use cssame_harness::{Driver, Methods};
use cssame_model::{Model, Options, Unit};
use cssame_schedule::{Decision, ExecutionStatus, Policy, View, run};
use cssame_vm::{Choice, Move, ThreadIndex};

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
    let drivers = methods.drivers();
    let mut found = Library { has_more: methods.has_more_drivers(), ..Library::default() };
    let share =
        Request { explore: request.explore.map(|states| states.share(drivers.len() as u64)), ..request.clone() };
    for driver in drivers {
        if let Some(bound) = budget.check() {
            found.bound = Some(bound);
            break;
        }
        // What the text of the driver lacks, such as a constant that has no value, it lacks in any of them.
        let Ok(model) = Model::from_text(unit.name(), &driver.text, options) else { continue };
        let findings = find(&model, &share, budget);
        let fails_alone = [Order::First, Order::Last].into_iter().any(|order| fails_in_order(&model, order, request));
        found.bound = found.bound.or(findings.bound);
        found.drivers.push(DriverFindings { driver, model, findings, fails_alone });
    }
    found
}

fn fails_in_order(model: &Model, order: Order, request: &Request) -> bool {
    let mut policy = OneAfterTheOther { order, last: None };
    let execution = run(model.machine(), &mut policy, request.trials.max_steps, &mut ());
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
