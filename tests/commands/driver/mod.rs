//! Test drivers, end to end: packages are generated from programs, built, and run with and without delays.

mod c;
mod command;
mod fixture;
mod found;
mod hostile;
mod java;
mod latches;
mod orders;
mod pairs;
mod paths;
mod plans;
mod race;
mod samples;
mod together;
mod witnesses;
mod workspace;

use cssame::budget::{Budget, Limits};
use cssame::driver::{Contents, DriveError, Expect, Options, TermStatus, Wanted, drive, drive_selection};
use cssame::explore::{Query, Verdict, futures};
use fixture::{fixture_of, sample};
use workspace::Workspace;

#[test]
fn a_future_that_fails_fails_with_the_message_of_the_program() {
    let mut workspace = Workspace::new("program");
    for name in ["cssame_fig5", "lost_notify_cond"] {
        workspace.add(name, &sample(name, Expect::Program).drive(&Limits::default()));
    }
    let asserted = "int x = 0;\ncobegin\n  A: x = 1;\n  B: assert(x == 0, \"seen too early\");\ncoend\n";
    workspace.add("asserted", &fixture_of("asserted.csm", asserted, Expect::Program).drive(&Limits::default()));
    let (results, text) = workspace.run(&[]);
    assert_eq!(results.get("n_25_23_from_n_15_5"), Some(&false), "{text}");
    assert_eq!(results.get("n_25_23_from_n_19_5"), Some(&true), "{text}");
    assert!(text.contains("division by zero at line 25"), "{text}");
    assert_eq!(results.get("x_4_13_from_x_initial"), Some(&true), "{text}");
    assert_eq!(results.get("x_4_13_from_x_3_6"), Some(&false), "{text}");
    assert!(text.contains("assertion failed at line 4: seen too early"), "{text}");
}

#[test]
fn a_failed_test_tells_the_place_the_values_and_the_schedule() {
    let text = "int x = 1, y = 2;\ncobegin\n  A: x = 2;\n  B: assert(x != y);\ncoend\n";
    let mut workspace = Workspace::new("told");
    workspace.add("told", &fixture_of("told.csm", text, Expect::Program).drive(&Limits::default()));
    let (results, text) = workspace.run(&[]);
    assert_eq!(results.get("x_4_13_from_x_3_6"), Some(&false), "{text}");
    let told = "told.csm:4:6: assertion failed at line 4\nx is 2, y is 2\n\
                the schedule, from recorded/x_4_13_from_x_3_6.json:\n  \
                A: write x@3:6 = 2\n  B: read x@4:13 = 2\n  B: read y@4:18 = 2\n  B: assert@4:6\n";
    assert!(text.contains(told), "{text}");
}

#[test]
fn packages_are_clean_for_the_formatter_and_the_linter() {
    let mut workspace = Workspace::new("tidy");
    for name in ["order_pool_broken", "lost_notify_cond", "rwlock_table"] {
        let package = sample(name, Expect::Program).drive(&Limits::default());
        let readme = package.files.iter().find(|(path, _)| path.ends_with("README.md"));
        assert!(readme.is_some_and(|(_, text)| text.contains("## Latches")), "{readme:?}");
        workspace.add(name, &package);
    }
    // What the program does is not for the linter to judge, nor is a long line for the formatter.
    let text = format!(
        "int x = 1; double pi = 3.14159;\ncobegin\n  A: {{ x = x * 0 + (x - x); assert(x == x, \"{}\"); }}\n  \
         B: {{ x = 7; if (x == 7) {{ if (pi == 3.14159) print(pi); }} }}\ncoend\n",
        "words ".repeat(40)
    );
    let name = format!("{}.csm", "a_long_name_".repeat(9));
    workspace.add("long", &fixture_of(&name, &text, Expect::Program).drive(&Limits::default()));
    assert_eq!(workspace.untidy(), "");
}

#[test]
fn the_outcome_of_a_deadlock_names_the_threads_that_wait() {
    let text = "int x;\nevent e;\ncobegin\n  A: if (x == 1) wait(e);\n  B: x = 1;\ncoend\n";
    let mut workspace = Workspace::new("deadlock");
    workspace.add("deadlock", &fixture_of("deadlock.csm", text, Expect::Program).drive(&Limits::default()));
    let (results, text) = workspace.run(&[]);
    assert_eq!(results.get("x_4_10_from_x_5_6"), Some(&false), "{text}");
    let waits =
        "deadlock:\n  main at join@6:1 waits for the end of A\n  A at wait e@4:18 waits for the event `e`, never set\n";
    assert!(text.contains(waits), "{text}");
}

#[test]
fn a_program_that_departs_is_told_in_bounded_time() {
    let fixture = sample("cssame_fig2", Expect::Program);
    let mut package = fixture.drive(&Limits::default());
    let (_, program) = package.files.iter_mut().find(|(path, _)| path.ends_with("program.rs")).unwrap();
    // The thread of `a = 3` gets stuck before its write.
    let stuck = "std::thread::sleep(std::time::Duration::from_secs(3));\n    t.define(\"a@20:5\"";
    *program = program.replacen("t.define(\"a@20:5\"", stuck, 1);
    assert!(program.contains(stuck), "{program}");
    let mut workspace = Workspace::new("stuck");
    workspace.add("stuck", &package);
    let (results, text) = workspace.run(&[("CSSAME_LATCH_SECONDS", "1")]);
    assert_eq!(results.get("a_24_11_from_a_20_5"), Some(&false), "{text}");
    assert!(text.contains(") did not open within 1s; "), "{text}");
}

#[test]
fn fig7_a_1_with_b_2_is_inconsistent_since_b_2_is_never_read() {
    let fixture = sample("cssame_fig7", Expect::Program);
    let first = fixture.selection("a@25:9", "a@15:5");
    let second = fixture.selection("b@25:21", "b@22:5");
    assert_eq!(fixture.select(&[first.clone(), second]), Verdict::Inconsistent { core: vec![1] });
    let other = fixture.selection("b@25:21", "b@16:5");
    let Verdict::Consistent { schedule, .. } = fixture.select(&[first.clone(), other.clone()]) else {
        panic!("inconsistent")
    };
    let package =
        drive_selection((&fixture.input(), &fixture.input()), &[first, other], &schedule, &fixture.options).unwrap();
    let test = &package.manifest.tests[0];
    assert_eq!(test.name, "a_25_9_from_a_15_5_and_b_25_21_from_b_16_5");
    assert_eq!(test.output, ["1 1"]);
}

#[test]
fn impossible_and_undecided_terms_are_listed_with_the_reason() {
    let fixture = sample("peterson", Expect::Program);
    let package = fixture.drive(&Limits::default());
    let impossible = package.manifest.terms.iter().find(|term| term.status == TermStatus::Impossible).unwrap();
    assert!(impossible.reason.as_deref().is_some_and(|reason| reason.starts_with("no execution has it")));
    // A program with locks, which only a search through states decides.
    let fixture = sample("bounded_buffer", Expect::Program);
    let package = fixture.drive(&Limits { max_steps: Some(5), ..Limits::default() });
    assert!(!package.manifest.complete);
    let undecided = package.manifest.terms.iter().find(|term| term.status == TermStatus::Undecided).unwrap();
    assert!(undecided.reason.as_deref().is_some_and(|reason| reason.contains("max-steps")));
}

#[test]
fn packages_are_the_same_bytes_each_time() {
    let package = || sample("bounded_buffer", Expect::Program).drive(&Limits::default()).files;
    assert_eq!(package(), package());
}

#[test]
fn an_execution_of_too_many_events_is_told() {
    let fixture = fixture_of("endless.csm", "int x;\nwhile (true) x = 1;\n", Expect::Program);
    let result = drive_selection((&fixture.input(), &fixture.input()), &[], &[], &fixture.options);
    let Err(error @ DriveError::NoEnd { .. }) = result else { panic!("{:?}", result.map(|package| package.manifest)) };
    assert!(error.to_string().ends_with("does not end within 20,000 events"), "{error}");
}

#[test]
fn a_term_of_an_execution_of_too_many_events_is_undecided() {
    let text = "int x;\ncobegin\n  A: for (int i = 0; i < 21000; i++) x = i;\n  B: { int y = x; }\ncoend\n";
    let fixture = fixture_of("long.csm", text, Expect::Program);
    let options = Options { max_steps: 1_000_000, ..fixture.options.clone() };
    let answer = futures(fixture.model.machine(), &Query::default(), &Budget::unlimited());
    let wanted = Wanted { answer: &answer, contents: Contents::Terms, distinct: false, code: fixture.input() };
    let package = drive(&fixture.input(), &wanted, &Budget::unlimited(), &options).unwrap();
    assert!(!package.manifest.complete);
    for term in &package.manifest.terms {
        assert_eq!(term.status, TermStatus::Undecided);
        let reason = "it can happen, but the execution that shows it does not end within 20,000 events";
        assert_eq!(term.reason.as_deref(), Some(reason));
    }
}

#[test]
fn a_schedule_that_does_not_end_is_told() {
    let fixture =
        fixture_of("endless.csm", "int x;\ncobegin\n  A: while (true) x = 1;\n  B: x = 2;\ncoend\n", Expect::Program);
    let options = Options { max_steps: 10, ..fixture.options.clone() };
    let result = drive_selection((&fixture.input(), &fixture.input()), &[], &[], &options);
    assert!(matches!(result, Err(DriveError::NoEnd { .. })), "{result:?}");
}

/// The package of a program with one text of its tests or its program replaced, run.
fn departed(name: &str, text: &str, (from, to): (&str, &str)) -> String {
    let mut package = fixture_of(&format!("{name}.csm"), text, Expect::Program).drive(&Limits::default());
    let mut changed = 0;
    for (_, text) in &mut package.files {
        changed += text.matches(from).count();
        *text = text.replace(from, to);
    }
    assert!(changed > 0, "{from} is not in {:?}", package.files);
    let mut workspace = Workspace::new(name);
    workspace.add(name, &package);
    workspace.run(&[]).1
}

#[test]
fn an_access_to_another_element_departs() {
    let text = "int t[4];\nint i = 1;\ncobegin\n  A: t[i] = 7;\n  B: { int y = t[1]; }\n  C: i = 2;\ncoend\n";
    let output = departed("element", text, ("t.element(i_4_8).define(", "t.element(i_4_8 + 1).define("));
    let message = "A has come to the write at t@4:6[2], but the write at t@4:6[1] is planned";
    assert!(output.contains(message), "{output}");
}

#[test]
fn the_last_values_of_captured_locals_are_asserted() {
    let text = "int x = 5;\nvoid f() {\n  int x = 1;\n  cobegin\n    A: x = 2;\n    B: x = 3;\n    C: print(x);\n  coend\n}\n\
                void main() {\n  f();\n  f();\n}\n";
    let package = fixture_of("captured.csm", text, Expect::Program).drive(&Limits::default());
    let (_, tests) = package.files.iter().find(|(path, _)| path.ends_with("futures.rs")).unwrap();
    assert!(tests.contains("(\"x@3:7\", From::Latch("), "{tests}");
    assert!(tests.contains("(\"x@3:7#2\", From::Latch("), "{tests}");
}

#[test]
fn a_wrong_last_value_of_a_captured_local_is_told() {
    let text = "int x = 1;\ncobegin\n  A: x = 2;\n  B: print(x);\ncoend\n";
    let output = departed(
        "last_value",
        &format!("void main() {{\n{text}}}\n"),
        ("Int(2)),\n        ],", "Int(3)),\n        ],"),
    );
    assert!(output.contains("x@2:5 is Some(Int(2)), not Int(3)"), "{output}");
}

#[test]
fn a_package_without_tests_says_why() {
    let package = fixture_of("alone.csm", "int x = 1;\nprint(x);\n", Expect::Program).drive(&Limits::default());
    assert_eq!(package.manifest.note, Some("no test: each read of the program can read from one definition only"));
    assert!(package.manifest.to_text().contains("\"note\": \"no test: "));
}

#[test]
fn the_cost_of_a_package_grows_in_proportion_to_the_program() {
    // The same label in every function, a call of each, and all blocks in one function.
    let one = |number: usize| format!("void f{number}() {{ cobegin T: skip; U: skip; coend }}\n");
    let functions: String = (0..10_000).map(one).collect();
    let calls: String = (0..10_000).map(|number| format!("  if (x == {number}) f{number}();\n")).collect();
    let text = format!("int x;\n{functions}void main() {{\n  x = 0;\n{calls}}}\n");
    let package = fixture_of("many.csm", &text, Expect::Program).drive(&Limits::default());
    let (_, program) = package.files.iter().find(|(path, _)| path.ends_with("program.rs")).unwrap();
    assert!(program.contains("fn u_10000(t: &Thread)"));
}
