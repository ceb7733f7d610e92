//! Test drivers, end to end: packages are generated from samples, built by cargo, and run with and without delays.

#![allow(clippy::unwrap_used, reason = "a test")]

use cssame::cssame::{Form, analyse};
use cssame::driver::{DriveError, Expect, Input, Options, Package, TermStatus, drive, drive_selection};
use cssame::explore::{Limits, Query, Selection, Verdict, futures, select};
use cssame::ir::Program;
use cssame::ir::compile::compile;
use cssame::schedule::source_hash;
use cssame::source::SourceMap;
use cssame::vm::{Machine, Visibility};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Samples whose packages are built. Between them they have every operation of the language.
const SAMPLES: &[&str] = &[
    "cssame_fig2",
    "cssame_fig5",
    "cssame_fig7",
    "counter_unlocked",
    "counter_atomic",
    "bounded_buffer",
    "peterson",
    "barrier_phases",
    "lost_notify",
    "lost_notify_cond",
    "spawn_join",
    "choice",
    "message_passing",
    "nested_threads",
    "parfor_sum",
    "bounded_buffer_sem",
    "spinlock_cas",
    "index_race",
    "unlock_not_held",
    "bank_transfer_deadlock",
];

struct Fixture {
    sources: SourceMap,
    program: Program,
    form: Form,
    machine: Machine,
    options: Options,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn fixture_of(name: &str, text: &str, expect: Expect) -> Fixture {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let compiled = compile(&sources, file, &[]);
    let program = compiled.program.unwrap_or_else(|| panic!("{name}: {:?}", compiled.diagnostics));
    let form = analyse(&program).unwrap();
    let sharing = &form.concurrency.sharing;
    let visible = Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() };
    let machine = Machine::new(&program, &visible);
    let options =
        Options { expect, file: name.to_owned(), hash: source_hash(text), inputs: Vec::new(), max_steps: 100_000 };
    Fixture { sources, program, form, machine, options }
}

fn sample(name: &str, expect: Expect) -> Fixture {
    let path = format!("samples/{name}.csm");
    let text = fs::read_to_string(root().join(&path)).unwrap();
    fixture_of(&path, &text, expect)
}

impl Fixture {
    fn input(&self) -> Input<'_> {
        Input { sources: &self.sources, program: &self.program, form: &self.form, machine: &self.machine }
    }

    fn drive(&self, limits: &Limits) -> Package {
        let answer = futures(&self.machine, &Query::default(), limits, &mut |_| ControlFlow::Continue(()));
        drive(&self.input(), &answer, &self.options).unwrap()
    }

    /// The selection of `READ=DEF`.
    fn selection(&self, read: &str, definition: &str) -> Selection {
        let (program, sources) = (&self.program, &self.sources);
        let reads = program.reads.ids().find(|&id| cssame::cssame::read_name(sources, program, id) == read);
        let definitions =
            program.definitions.ids().find(|&id| cssame::cssame::definition_name(sources, program, id) == definition);
        Selection { read: reads.unwrap(), instance: None, definition: definitions.unwrap() }
    }

    fn select(&self, selections: &[Selection]) -> Verdict {
        select(&self.machine, selections, &Limits::default(), &mut |_| ControlFlow::Continue(())).verdict
    }
}

/// A workspace of generated packages. All test functions have folders of their own.
struct Workspace {
    folder: PathBuf,
    members: Vec<String>,
}

impl Workspace {
    fn new(name: &str) -> Workspace {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("driver_{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Workspace { folder, members: Vec::new() }
    }

    fn add(&mut self, member: &str, package: &Package) {
        let folder = self.folder.join(member);
        for (path, text) in &package.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // The members are one workspace here, and each has a name of its own.
            fs::write(path, text.replace("\n[workspace]\n", "\n")).unwrap();
        }
        self.members.push(format!("{member:?}"));
        let manifest = format!(
            "[workspace]\nresolver = \"2\"\nmembers = [{}]\n[profile.test]\ndebug = false\n",
            self.members.join(", ")
        );
        fs::write(self.folder.join("Cargo.toml"), manifest).unwrap();
    }

    /// Builds and runs all tests: by package and test, whether it passed. And all output.
    fn run(&self, variables: &[(&str, &str)]) -> (BTreeMap<String, bool>, String) {
        let mut command = Command::new(env!("CARGO"));
        command.args(["test", "--offline", "--workspace", "--no-fail-fast", "--tests"]).current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", self.folder.join("target")).env("RUSTFLAGS", "-Dwarnings");
        for inherited in ["CARGO_ENCODED_RUSTFLAGS", "CSSAME_DELAYS", "CSSAME_LATCH_SECONDS"] {
            command.env_remove(inherited);
        }
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = format!("{}\n{errors}", String::from_utf8_lossy(&output.stdout));
        assert!(!errors.contains("could not compile"), "{text}");
        let line = |line: &str| {
            let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
            Some((name.to_owned(), result == "ok"))
        };
        let results = text.lines().filter_map(line).collect();
        (results, text)
    }
}

#[test]
fn every_recorded_future_happens_whatever_the_timing() {
    let mut workspace = Workspace::new("recorded");
    let mut expected = 0;
    for name in SAMPLES {
        let package = sample(name, Expect::Recorded).drive(&Limits::default());
        assert!(package.manifest.complete, "{name}");
        expected += package.manifest.tests.len();
        workspace.add(name, &package);
    }
    for variables in [&[][..], &[("CSSAME_DELAYS", "1")], &[("CSSAME_DELAYS", "2")]] {
        let (_, text) = workspace.run(variables);
        let passed = text.lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count();
        assert!(!text.contains("FAILED"), "{text}");
        assert_eq!(passed, expected, "{text}");
    }
}

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
fn the_outcome_of_a_deadlock_names_the_threads_that_wait() {
    let text = "int x;\nevent e;\ncobegin\n  A: if (x == 1) wait(e);\n  B: x = 1;\ncoend\n";
    let mut workspace = Workspace::new("deadlock");
    workspace.add("deadlock", &fixture_of("deadlock.csm", text, Expect::Program).drive(&Limits::default()));
    let (results, text) = workspace.run(&[]);
    assert_eq!(results.get("x_4_10_from_x_5_6"), Some(&false), "{text}");
    assert!(text.contains("deadlock: main at join@6:1, A at wait e@4:18"), "{text}");
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
    assert_eq!(fixture.select(&[first, second]), Verdict::Inconsistent { core: vec![1] });
    let other = fixture.selection("b@25:21", "b@16:5");
    let Verdict::Consistent { schedule, .. } = fixture.select(&[first, other]) else { panic!("inconsistent") };
    let package = drive_selection(&fixture.input(), &[first, other], &schedule, &fixture.options).unwrap();
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
    let package = fixture.drive(&Limits { max_states: Some(5), ..Limits::default() });
    assert!(!package.manifest.complete);
    let undecided = package.manifest.terms.iter().find(|term| term.status == TermStatus::Undecided).unwrap();
    assert!(undecided.reason.as_deref().is_some_and(|reason| reason.contains("max-states")));
}

#[test]
fn packages_are_the_same_bytes_each_time() {
    let package = || sample("bounded_buffer", Expect::Program).drive(&Limits::default()).files;
    assert_eq!(package(), package());
}

#[test]
fn a_schedule_that_does_not_end_is_told() {
    let fixture =
        fixture_of("endless.csm", "int x;\ncobegin\n  A: while (true) x = 1;\n  B: x = 2;\ncoend\n", Expect::Program);
    let options = Options { max_steps: 10, ..fixture.options.clone() };
    let result = drive_selection(&fixture.input(), &[], &[], &options);
    assert!(matches!(result, Err(DriveError::NoEnd { .. })), "{result:?}");
}
