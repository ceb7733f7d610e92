//! Generates, executes, judges and minimises tests for thread-safe classes.
//!
//! **Input**: a file without `main`, and a [`Request`]. **Output**: [`Generated`]: failures, deadlocks and results that no order
//! of the calls has, each with a small test and an execution that shows it; the tests that cover something new; and the coverage
//! of all tests together.
//!
//! **Source**: MAPTest (Wang et al., ASE 2019, section IV), with the changes that `docs/coverage.md` describes.
//!
//! | file | purpose |
//! |---|---|
//! | `subject` | methods, objects and values that tests are made of |
//! | `values` | arguments |
//! | `test` | a test as data and as text |
//! | `program` | a test as a program |
//! | `targets` | the choice of the next instance |
//! | `make` | makes tests |
//! | `directed` | executions that are directed at an instance |
//! | `verdict` | the verdict on an execution |
//! | `execute` | executes a test, and judges it |
//! | `minimise` | minimises a failing test |
//! | `run` | the loop |

mod directed;
mod execute;
mod found;
mod make;
mod minimise;
mod program;
mod request;
mod run;
mod subject;
mod targets;
mod test;
mod values;
mod verdict;

pub use found::{
    Failure, FirstFailure, Generated, KeptTest, LoggedExecution, LoggedViolation, Note, StoppedBy, Strategy, TestCounts,
};
pub use program::CallResults;
pub use request::{Refused, Request};
pub use test::TestSource;

use super::method_pairs::{MethodId, PublicMethods};
use super::reach::Reach;
use super::universe::{Binding, Universe};
use cssame_budget::Budget;
use cssame_harness::{Methods, ParameterType, Signature, ValueType};
use cssame_ir::{FunctionId, Program};
use cssame_model::{Options, Unit};
use execute::Context;
use fixedbitset::FixedBitSet;
use make::{Maker, repeats};
use run::Generator;
use subject::Subject;

/// Makes tests for the classes of a file.
///
/// # Errors
///
/// Why there are none.
pub fn generate(
    unit: &Unit,
    options: &Options,
    (universe, methods): (&Universe, &PublicMethods),
    request: &Request,
    budget: &Budget<'_>,
) -> Result<Generated, Refused> {
    let file = Methods::new(&unit.sources, unit.file);
    if file.has_main() {
        return Err(Refused::HasMain);
    }
    let mut subjects = Subject::all(&file);
    if let Some(class) = &request.reference {
        if !subjects.iter().any(|subject| subject.class.as_ref() == Some(class)) {
            return Err(Refused::NoClass(class.clone()));
        }
        // What says what is right is not tested itself.
        subjects.retain(|subject| subject.class.is_some() && subject.class.as_ref() != Some(class));
        let signatures = file.signatures();
        subjects.iter().try_for_each(|subject| check_reference(subject, class, &signatures))?;
    }
    if subjects.is_empty() {
        return Err(Refused::NoMethods);
    }
    let makers = makers(&unit.program, &subjects, (universe, methods), request, &file.values().integers)?;
    let context = Context {
        name: unit.name(),
        options,
        universe,
        methods,
        reference: request.reference.as_deref(),
        executions: request.executions,
        max_steps: request.max_steps,
        explore: request.explore,
    };
    Ok(Generator::new(context, request, &makers, budget).run())
}

/// The makers of the tests of each class.
fn makers<'a>(
    program: &Program,
    subjects: &'a [Subject<'a>],
    (universe, methods): (&Universe, &PublicMethods),
    request: &Request,
    integers: &[i64],
) -> Result<Vec<Maker<'a>>, Refused> {
    let reach = Reach::new(program, &Binding::new(universe, program), universe);
    let function_of = |one: &Signature| -> Option<FunctionId> {
        program.functions.entries().find(|(_, function)| function.span == one.span).map(|(id, _)| id)
    };
    let of_method = |one: &Signature| -> FixedBitSet { reach.from(program, function_of(one).into_iter().collect()) };
    let number = |one: &Signature| -> Option<MethodId> {
        methods.list.entries().find(|(_, method)| method.span == one.span).map(|(id, _)| id)
    };
    let makers: Vec<Maker<'a>> = subjects
        .iter()
        .map(|subject| Maker {
            subject,
            reach: subject.methods.iter().map(of_method).collect(),
            numbers: subject.methods.iter().map(number).collect(),
            invariant: request.invariant.as_ref().and_then(|name| subject.invariant(name)),
            repeats: repeats(integers),
        })
        .collect();
    // Functions that touch nothing of the file are helpers of others.
    let touches = |maker: &Maker<'_>| maker.reach.iter().any(|accesses| !accesses.is_clear());
    let (wanted, helpers): (Vec<Maker<'a>>, Vec<Maker<'a>>) =
        makers.into_iter().partition(|maker| maker.subject.class.is_some() || touches(maker));
    let makers = if wanted.is_empty() { helpers } else { wanted };
    match &request.invariant {
        Some(name) if makers.iter().all(|maker| maker.invariant.is_none()) => Err(Refused::NoInvariant(name.clone())),
        _ => Ok(makers),
    }
}

/// Whether a reference class has the methods of a class.
fn check_reference(subject: &Subject<'_>, class: &str, signatures: &[Signature]) -> Result<(), Refused> {
    let own = |one: &&Signature| one.class == subject.class;
    for method in subject.methods.iter().filter(own) {
        let is_object = |parameter: &ParameterType| match parameter {
            ParameterType::Object(name) if Some(name) == subject.class.as_ref() => {
                ParameterType::Object(class.to_owned())
            }
            other => other.clone(),
        };
        let parameters: Vec<ParameterType> = method.parameters.iter().map(is_object).collect();
        let fits = |one: &Signature| {
            one.class.as_deref() == Some(class)
                && one.name == method.name
                && one.parameters == parameters
                && one.result == method.result
        };
        if !signatures.iter().any(fits) {
            return Err(Refused::NoSuchMethod { class: class.to_owned(), method: method.name.clone() });
        }
    }
    Ok(())
}

impl Subject<'_> {
    /// The method of that name, with or without the class before it, that takes nothing and gives a `bool`.
    fn invariant(&self, name: &str) -> Option<subject::CallableId> {
        let fits = |one: &Signature| {
            one.class.is_some()
                && one.class == self.class
                && (one.name == name || one.full_name() == name)
                && one.parameters.is_empty()
                && one.result == Some(ValueType::Bool)
        };
        self.methods.entries().find(|(_, one)| fits(one)).map(|(id, _)| id)
    }
}

#[cfg(test)]
mod loop_tests;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
