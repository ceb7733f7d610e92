//! Inputs with several values: every value is explored, schedules name it and replay, and what must be constant says so.

use cssame::budget::Budget;
use cssame::explore::report::FailureReport;
use cssame::explore::{Answer, OutcomeStatus, Query, Subject};
use cssame::model::{Model, Options};
use cssame::schedule::Namer;
use std::collections::BTreeSet;

const GUARDED: &str = "input int n = 0; int x = 1;
void main() { cobegin T1: if (n > 5) x = 0; T2: print(10 / x); coend }";

fn options(inputs: &[(&str, &str)]) -> Options {
    let inputs = inputs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    Options { inputs, ..Options::default() }
}

fn model(text: &str, inputs: &[(&str, &str)]) -> Result<Model, String> {
    Model::from_text("inputs.csm", text, &options(inputs)).map_err(|problems| problems.to_string())
}

fn outputs(text: &str, inputs: &[(&str, &str)]) -> BTreeSet<String> {
    let model = model(text, inputs).unwrap();
    let answer = Subject::from(&model).futures(&Query::default(), &Budget::unlimited());
    assert!(answer.is_complete());
    let lines = |outcome: &cssame::explore::Outcome| {
        let lines = outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output));
        lines.collect::<Vec<_>>().join(";")
    };
    answer.outcomes.iter().map(lines).collect()
}

fn explored(model: &Model) -> Answer {
    Subject::from(model).futures(&Query::default(), &Budget::unlimited())
}

fn set(values: &[&str]) -> BTreeSet<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

#[test]
fn all_values_of_a_range_are_explored() {
    let text = "input int n = 3 in 0..4; input bool fast = false; input long big = 1; print(n, fast, big);";
    assert_eq!(outputs(text, &[]), set(&["3 false 1"]));
    assert_eq!(outputs(text, &[("n", "1..2")]), set(&["1 false 1", "2 false 1"]));
    assert_eq!(outputs(text, &[("n", "any")]).len(), 5);
    assert_eq!(outputs(text, &[("fast", "any")]), set(&["3 false 1", "3 true 1"]));
    assert_eq!(outputs(text, &[("big", "-1..0"), ("n", "4")]), set(&["4 false -1", "4 false 0"]));
    assert_eq!(outputs(text, &[("n", "any"), ("fast", "any"), ("big", "0..2")]).len(), 30);
}

#[test]
fn initialisers_and_methods_see_the_chosen_value() {
    let text = "input int n = 0; int x = n * 2; class C { int f; public int get() { return f + n; } } C c;
        void main() { c.f = x; parfor (int i = 0; i < n; i++) print(c.get()); }";
    assert_eq!(outputs(text, &[("n", "0..2")]), set(&["", "3", "6;6"]));
    assert_eq!(outputs("input int n = 1; print(n); print(n);", &[("n", "0..1")]), set(&["0;0", "1;1"]));
}

#[test]
fn the_value_that_fails_is_named_and_replays() {
    let model = model(GUARDED, &[("n", "0..10")]).unwrap();
    let answer = explored(&model);
    let [failure] = answer.failures.as_slice() else { panic!("one failure: {:?}", answer.failures) };
    let steps = Namer::new(model.naming()).steps(&failure.schedule);
    assert_eq!(steps[0].op, "choose n");
    assert_eq!(steps[0].alternative, Some(6));
    let report = FailureReport::of(&model.naming(), &failure.failure, "T2".to_owned(), &failure.schedule);
    assert_eq!(report.at, "2:55");
    assert!(explored(&self::model(GUARDED, &[]).unwrap()).failures.is_empty());
}

#[test]
fn a_place_that_other_values_may_lead_to_is_told() {
    let model = model(GUARDED, &[]).unwrap();
    let selected = |text: &str| model.selections(&[text.to_owned()]).map_err(|problems| problems.to_string());
    let problem = selected("x@2:60=x@2:38").unwrap_err();
    assert!(problem.contains("not reached for n = 0"), "{problem}");
    assert!(problem.contains("--input n=0..8"), "{problem}");
    assert!(selected("x@2:60=x@9").unwrap_err().contains("there is no definition"));
    let wide = self::model(GUARDED, &[("n", "0..10")]).unwrap();
    assert_eq!(wide.selections(&["x@2:60=x@2:38".to_owned()]).map(|found| found.len()).ok(), Some(1));
    let two = "input bool a = false; input bool b = false; int x;
        cobegin T1: if (a) { if (b) x = 1; } T2: print(x); coend";
    let two = self::model(two, &[("a", "false")]).unwrap();
    let problem = two.selections(&["x@2=x@2".to_owned()]).unwrap_err().to_string();
    assert!(problem.contains("a = false, b = false") && problem.contains("--input a=any"), "{problem}");
}

#[test]
fn what_must_be_constant_says_why_not() {
    let problem = |text: &str, inputs: &[(&str, &str)]| model(text, inputs).err().unwrap_or_default();
    for text in [
        "input int n = 1; int t[n]; t[0] = 1;",
        "input int n = 1; barrier b(n + 1); print(1);",
        "input int n = 1; input int m = -n; print(m);",
        "input int n = 1; sem s = n > 1 ? 1 : 0; print(1);",
    ] {
        assert_eq!(problem(text, &[]), "");
        let said = problem(text, &[("n", "1..2")]);
        assert!(said.contains("CS0208") && said.contains("input `n` has a range"), "{said}");
    }
    assert!(problem("input int n = 1; n = 2;", &[("n", "1..2")]).contains("an input cannot be changed"));
}

#[test]
fn values_outside_the_declaration_are_errors() {
    let said = |text: &str, inputs: &[(&str, &str)]| model(text, inputs).err().unwrap_or_default();
    let text = "input int n = 3 in 0..8; print(n);";
    for value in ["9", "-1", "0..9", "8..2", "x..2", "1..", "any thing"] {
        assert!(said(text, &[("n", value)]).contains("CS0213"), "{value}");
    }
    assert!(said("input int n = 3; print(n);", &[("n", "any")]).contains("has no range"));
    assert!(said("input double d = 1.0; print(d);", &[("d", "0..2")]).contains("CS0213"));
    assert!(said("input int n = 9 in 0..8; print(n);", &[]).contains("outside its range"));
    assert!(said("input int n = 1 in 8..0; print(n);", &[]).contains("the range holds no value"));
    assert!(said("input bool b = true in 0..1; print(b);", &[]).contains("has no range"));
}

#[test]
fn a_selection_needs_one_of_the_values() {
    let model = model(GUARDED, &[("n", "0..10")]).unwrap();
    let selections = model.selections(&["x@2:60=x@2:38".to_owned()]).unwrap();
    let answer = Subject::from(&model).select(&selections, &Budget::unlimited());
    assert!(matches!(answer.verdict, cssame::explore::Verdict::Consistent { .. }));
    let failed = |outcome: &cssame::explore::Outcome| matches!(outcome.status, OutcomeStatus::Failed(_));
    assert!(explored(&model).outcomes.iter().any(failed));
}
