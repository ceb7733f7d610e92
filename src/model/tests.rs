//! A model is made by one call, or not at all.

use super::{Model, NoMain, Options, Unit};
use cssame_diagnostics::Code;
use cssame_vm::Semantics;

#[test]
fn a_unit_without_main_is_handed_back() {
    let text = "class Counter { int n; public void add() { n = n + 1; } }";
    let unit = Unit::from_text("counter.csm", text, &[]).expect("it compiles");
    let NoMain(unit) = Model::new(unit, Options::default()).expect_err("there is no main");
    assert_eq!((unit.name(), unit.text()), ("counter.csm", text));
    let problem = Model::from_text("counter.csm", text, &Options::default()).expect_err("there is no main");
    assert_eq!(problem.list[0].code, Code::NoMain);
}

#[test]
fn all_slips_of_a_selection_are_told() {
    let text = "int x; cobegin A: x = 1; B: print(x); coend";
    let model = Model::from_text("race.csm", text, &Options::default()).expect("it compiles");
    let texts = ["x@1:35=y@1:19", "x@1:35", "x@1:35=x@initial", "x@1:19"].map(str::to_owned);
    let problem = model.lookup().selections(&texts).expect_err("two of them mean nothing");
    assert_eq!(problem.list.len(), 2);
    let json = serde_json::to_value(&problem).expect("diagnostics serialise");
    assert_eq!(json["diagnostics"][1]["message"], "`x@1:35` is a read: from which write?");
}

#[test]
fn a_schedule_names_what_it_was_recorded_from() {
    let text = "input int n = 2; print(n);";
    let semantics = Semantics { spurious_wakeups: true, prefer_writers: true };
    let options = Options { inputs: vec![("n".to_owned(), "3".to_owned())], semantics };
    let model = Model::from_text("n.csm", text, &options).expect("it compiles");
    let schedule = model.schedule(Vec::new(), "ok");
    assert!(model.has_recorded(&schedule));
    assert_eq!(options, Options::default().over(&schedule).expect("its options are known"));
    let other = Model::from_text("n.csm", "print(1);", &Options::default()).expect("it compiles");
    assert!(!other.has_recorded(&schedule));
}
