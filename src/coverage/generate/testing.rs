//! Test support: a class with tests that are written as text.

use super::program::TestProgram;
use super::subject::Subject;
use super::test::{Argument, Call, PostStep, TestCase};
use super::verdict::{Judge, SerialEnds, Verdict, ViolationKind};
use crate::linear::{CallEnd, CallOrders, calls};
use cssame_budget::Budget;
use cssame_harness::{Methods, ParameterType};
use cssame_model::{Options, Unit};

/// A file that lives as long as what is made of it.
pub fn unit(text: &str) -> Unit {
    Unit::from_text("test.csm", text, &[]).unwrap()
}

/// The call that a text means: `o.add(1, p)`.
pub fn call(subject: &Subject<'_>, text: &str) -> Call {
    let (head, arguments) = text.trim_end_matches(')').split_once('(').unwrap();
    let object = |name: &str| subject.objects.entries().find(|(_, object)| object.name == name).map(|(id, _)| id);
    let (receiver, name) = match head.split_once('.') {
        Some((receiver, name)) => (object(receiver), name),
        None => (None, head),
    };
    let class = receiver.map(|receiver| subject.objects[receiver].class.clone());
    let fits = |one: &cssame_harness::Signature| one.name == name && one.class == class;
    let method = subject.methods.entries().find(|(_, one)| fits(one)).map(|(id, _)| id).unwrap();
    let arguments = arguments.split(", ").filter(|argument| !argument.is_empty());
    let arguments = arguments.zip(&subject.methods[method].parameters).map(|(argument, parameter)| match parameter {
        ParameterType::Object(_) => Argument::Object(object(argument).unwrap()),
        _ => Argument::Value(argument.to_owned()),
    });
    Call { method, receiver, arguments: arguments.collect() }
}

/// The test that texts mean: prefix, both suffixes, post part.
pub fn test(subject: &Subject<'_>, parts: [&[&str]; 4]) -> TestCase {
    let calls = |texts: &[&str]| texts.iter().map(|text| call(subject, text)).collect::<Vec<_>>();
    let [prefix, first, second, post] = parts.map(calls);
    TestCase { prefix, suffixes: [first, second], post: post.into_iter().map(PostStep::Call).collect() }
}

/// The verdicts of all executions of a test, and their ends.
pub fn verdicts(class: &str, parts: [&[&str]; 4], reference: Option<&str>) -> Vec<(Verdict, CallEnd)> {
    let unit = unit(class);
    let methods = Methods::new(&unit.sources, unit.file);
    let subjects = Subject::all(&methods);
    let subject = &subjects[0];
    let test = test(subject, parts);
    let (options, budget) = (Options::default(), Budget::unlimited());
    let program = TestProgram::new(subject, &test, None, ("test.csm", &options)).unwrap();
    let own = SerialEnds::new(&program, &test, 100_000, &budget).unwrap();
    let reference = reference.map(|class| {
        let program = TestProgram::new(subject, &test, Some(class), ("test.csm", &options)).unwrap();
        SerialEnds::new(&program, &test, 100_000, &budget).unwrap()
    });
    let judge = Judge::new(own, reference);
    let answer = calls(program.model.machine(), CallOrders::All, &program.cells, &budget);
    assert_eq!(answer.bound, None);
    answer.ends.into_iter().map(|end| (judge.verdict(&end), end)).collect()
}

/// The violations of all executions of a test, as `deadlock`, or `sequential deadlock`; notes as `note`.
pub fn violations(class: &str, parts: [&[&str]; 4]) -> Vec<String> {
    words(verdicts(class, parts, None))
}

/// As [`violations`], with a reference class.
pub fn violations_of_reference(class: &str, parts: [&[&str]; 4], reference: &str) -> Vec<String> {
    words(verdicts(class, parts, Some(reference)))
}

fn words(verdicts: Vec<(Verdict, CallEnd)>) -> Vec<String> {
    let word = |(verdict, end): (Verdict, CallEnd)| match verdict {
        Verdict::Fine => None,
        Verdict::Note(_) => Some("note".to_owned()),
        Verdict::Violation { kind, sequential } => {
            let kind = if kind == ViolationKind::NotLinearizable { "not-linearizable" } else { end.status.word() };
            Some(format!("{}{kind}", if sequential { "sequential " } else { "" }))
        }
    };
    let mut all: Vec<String> = verdicts.into_iter().filter_map(word).collect();
    all.sort();
    all.dedup();
    all
}
