//! Packages with a test for each order of two accesses that race.
//!
//! In: a program, the race, and for each order an execution that has it, or the reason why there is none. Out: a [`Package`] of
//! the same form as for terms, with one test for each execution, in which the latches also keep the two accesses in order.

use super::manifest::{Manifest, OrderEntry, RaceEntry};
use super::names::Names;
use super::parts::Module;
use super::planner::plan_in_order;
use super::test_case::{TestCase, line_of};
use super::{DriveError, Input, Options, Package, package};
use cssame_source::Span;
use cssame_vm::Choice;

/// An access of a race, in one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedAccess {
    /// Its place: `x@14:5`.
    pub at: String,
    /// The same place.
    pub span: Span,
    /// `read` or `write`.
    pub kind: &'static str,
    /// The thread that makes it.
    pub thread: String,
}

/// An execution in which one of two accesses comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The two accesses, the first one first.
    pub accesses: [OrderedAccess; 2],
    /// The whole execution.
    pub schedule: Vec<Choice>,
    /// The numbers of the steps that make the accesses; none where the execution ends before the second one.
    pub steps: Option<[usize; 2]>,
}

/// Why there is no execution of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoOrder {
    /// In words.
    pub reason: String,
    /// Whether it is known that there is none.
    pub is_proven: bool,
}

/// An order that a test is wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderCase {
    /// The places, the one that comes first first.
    pub places: [String; 2],
    /// The execution, or why there is none.
    pub execution: Result<Order, NoOrder>,
}

/// A package with a test for each order of a race. Of one place with itself, the second order has a test only if it is
/// not like the first one.
///
/// # Errors
///
/// The program has no `main`, or is one in C that the target cannot write.
pub fn drive_orders(
    input: &Input<'_>,
    race: RaceEntry,
    orders: &[OrderCase],
    options: &Options,
) -> Result<Package, DriveError> {
    let mut manifest = Manifest::new(options, None, 0);
    let mut names = Names::of_tests();
    let mut cases: Vec<(TestCase, [&'static str; 2])> = Vec::new();
    let mut entries = Vec::new();
    for order in orders {
        let made = match &order.execution {
            Ok(execution) => test(input, execution, race.a == race.b, options),
            Err(none) => Err(none.clone()),
        };
        let mut entry = entry(order);
        match made {
            Ok((case, kinds)) => {
                // Which of two threads at one place comes first does not matter where nobody can tell them apart.
                let is_like = |(known, of_known): &(TestCase, _)| *of_known == kinds && known.comes_out_as(&case);
                if race.a == race.b && cases.iter().any(is_like) {
                    continue;
                }
                let name = names.fresh(&case.name);
                entry.test = Some(name.clone());
                cases.push((case.named(name), kinds));
            }
            Err(NoOrder { reason, is_proven }) => {
                manifest.complete &= is_proven;
                entry.reason = Some(reason);
            }
        }
        entries.push(entry);
    }
    manifest.race = Some(RaceEntry { orders: entries, ..race });
    let cases: Vec<TestCase> = cases.into_iter().map(|(case, _)| case).collect();
    package(&[Module::only(input)], &cases, manifest, options)
}

fn entry(order: &OrderCase) -> OrderEntry {
    let [first, second] = order.places.clone();
    let threads = order.execution.as_ref().ok();
    let threads = threads.map(|execution| [0, 1].map(|side| execution.accesses[side].thread.clone()));
    OrderEntry { first, second, threads, test: None, reason: None }
}

/// The test of an order, under the name that is wanted for it, and what the accesses are.
fn test(
    input: &Input<'_>,
    order: &Order,
    is_one_place: bool,
    options: &Options,
) -> Result<(TestCase, [&'static str; 2]), NoOrder> {
    let plan = plan_in_order(input, &order.schedule, order.steps, options.max_steps)
        .map_err(|reason| NoOrder { reason: format!("the execution that has it {reason}"), is_proven: false })?;
    let [first, second] = &order.accesses;
    let named = |access: &OrderedAccess| {
        if is_one_place { format!("{}_of_{}", access.at, access.thread) } else { access.at.clone() }
    };
    let described = |access: &OrderedAccess| {
        let OrderedAccess { at, thread, kind, span } = access;
        format!("{kind} of {thread} at `{at}` ({})", line_of(input, *span))
    };
    let rest = if order.steps.is_some() { "" } else { ", which this execution does not come to" };
    let title = format!("The {} comes before the {}{rest}.", described(first), described(second));
    let name = format!("race_{}_before_{}", named(first), named(second));
    let case = TestCase::of_pair(input, name, None, title, plan, &order.schedule);
    Ok((case, [first.kind, second.kind]))
}
