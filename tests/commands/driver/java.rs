//! Packages in Java of every command that writes some, compiled and run together; and one target in place of another.

#[path = "../../suite/java/batch.rs"]
mod batch;

use super::fixture::root;
use crate::process::{Files, plain};
use batch::{Batch, Results};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const TARGETS: [&str; 2] = ["java", "aspectj"];

/// A package that a command has written.
struct Written {
    files: Vec<(PathBuf, String)>,
    answer: Value,
}

/// Packages of a target, and what their tests are to give.
struct All {
    target: &'static str,
    batch: Batch,
    /// By package and test: whether it passes.
    expected: BTreeMap<(String, String), bool>,
}

fn sample(name: &str) -> PathBuf {
    root().join(format!("samples/{name}.csm"))
}

/// Calls a command that writes a package; its answer holds that at `key`, or is it.
fn write(line: &str, file: &Path, (option, key): (&str, &str)) -> Written {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = plain();
    command.args(line.split(' ')).arg(file).args(["--format", "json", option]).arg(&out);
    let output = command.output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let answer = if key.is_empty() { answer } else { answer[key].clone() };
    let listed = answer["files"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    let paths = listed.iter().map(|path| path.as_str().unwrap());
    let files = paths.map(|path| (PathBuf::from(path), fs::read_to_string(out.join(path)).unwrap())).collect();
    Written { files, answer }
}

/// The tests of pairs that show a tear, which the program itself may not notice.
fn torn(answer: &Value) -> BTreeSet<&str> {
    let pairs = answer["pairs"].as_array().into_iter().flatten();
    let tests = pairs.flat_map(|pair| pair["tests"].as_array().unwrap());
    tests.filter(|test| test["kind"] == "tear").map(|test| test["test"].as_str().unwrap()).collect()
}

impl All {
    fn new(target: &'static str) -> All {
        All { target, batch: Batch::new(&format!("commands_{target}")), expected: BTreeMap::new() }
    }

    fn drive(&mut self, member: &str, file: &Path, more: &str) {
        let written = write(&format!("drive --target {} {more}", self.target), file, ("--out", ""));
        self.add(member, &written, more.contains("--expect recorded"));
    }

    /// A test passes where the execution ends well and shows nothing, or where what was recorded is all that is wanted. A generated
    /// test that shows what the program does not notice is called a failure.
    fn add(&mut self, member: &str, written: &Written, is_recorded: bool) {
        let torn = torn(&written.answer);
        let tests = written.answer["tests"].as_array().unwrap();
        assert!(!tests.is_empty(), "{member}: {:#}", written.answer);
        for test in tests {
            let name = test["name"].as_str().unwrap();
            let passes = is_recorded || test["end"] == "ok" && !torn.contains(name) && !name.starts_with("failure_");
            self.expected.insert((member.to_owned(), name.to_owned()), passes);
        }
        self.batch.add(member, &written.files);
    }

    /// Runs all of them; nothing where there is no Java.
    fn run(&self) -> Option<Results> {
        let results = self.batch.run(1, &[("CSSAME_DELAYS", "1")])?;
        let passed: BTreeMap<_, _> = results.iter().map(|(test, result)| (test.clone(), result.is_ok())).collect();
        let wrong: Vec<_> =
            results.iter().filter(|(test, result)| self.expected.get(test) != Some(&result.is_ok())).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", self.target);
        assert_eq!(passed, self.expected);
        Some(results)
    }
}

/// Two classes whose methods differ by an underscore alone.
const UNDERSCORES: &str = "\
class Clock {
  lock L;
  int secs, mins;
  public void tick() { lock(L); secs = secs + 1; unlock(L); lock(L); mins = mins + 1; unlock(L); }
  public void tick_() { lock(L); secs = secs + 2; mins = mins + 2; unlock(L); }
  public void class_() { lock(L); print(mins, secs); unlock(L); }
}
";

#[test]
fn packages_of_every_command_do_what_their_manifests_say() {
    let files = Files::new();
    let record = |line: &str, name: &str| {
        let mut command = plain();
        command.args(line.split(' ')).arg(files.path(name));
        command.output().unwrap();
    };
    let (deadlock, lost) = (sample("bank_transfer_deadlock"), sample("counter_unlocked"));
    record(&format!("coverage {} --record-dir", deadlock.display()), "found");
    record(&format!("run {} --record", lost.display()), "lost.json");
    let underscores = files.write("underscores.csm", UNDERSCORES);
    for target in TARGETS {
        let mut all = All::new(target);
        all.drive("pairs", &sample("bank_account_broken"), "--pairs");
        all.drive("pairs_recorded", &sample("order_pool_broken"), "--pairs --expect recorded");
        all.drive("underscores", &underscores, "--pairs");
        all.drive("race", &sample("sen_fig1"), "--race z@18:9,z@21:5");
        all.drive("race_recorded", &sample("lazy_init_broken"), "--race ready@13:8,ready@16:7 --expect recorded");
        all.drive("select", &sample("cssame_fig2"), "--select a@24:11=a@20:5");
        all.drive("select_failure", &sample("cssame_fig5"), "--select n@25:23=n@15:5");
        let schedule = |path: PathBuf| format!("--schedule {}", path.display());
        all.drive("schedule", &lost, &schedule(files.path("lost.json")));
        all.drive("schedule_deadlock", &deadlock, &schedule(files.path("found/deadlock-1.json")));
        for name in ["setiadi_commons_pool", "setiadi_fig13"] {
            let written = write(&format!("paths --target {target}"), &sample(name), ("--emit", "emitted"));
            all.add(name, &written, false);
        }
        for name in ["classes/vector_broken", "map_log4j"] {
            let line = format!("coverage --generate --target {target}");
            let written = write(&line, &sample(name), ("--out", "emitted"));
            all.add(&name.replace('/', "_"), &written, false);
        }
        let Some(results) = all.run() else { return };
        let message = |package: &str| {
            let mut own = results.iter().filter(|((of, _), _)| of == package);
            own.find_map(|(_, result)| result.as_ref().err()).unwrap_or_else(|| panic!("{package}: {results:#?}"))
        };
        assert!(message("pairs").contains("the books do not balance"), "{}", message("pairs"));
        assert!(message("select_failure").contains("division by zero at line 25"), "{}", message("select_failure"));
        assert!(message("schedule_deadlock").contains("deadlock:\\n  "), "{}", message("schedule_deadlock"));
    }
}

/// All files below a directory.
fn below(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else {
            found.insert(path);
        }
    }
    found
}

#[test]
fn a_package_for_one_target_leaves_nothing_of_that_for_another() {
    let directory = tempfile::tempdir().unwrap();
    let write_into = |out: &Path, target: &str| {
        let mut command = plain();
        command.arg("drive").arg(sample("cssame_fig2")).args(["--target", target, "--out"]).arg(out);
        assert!(command.output().unwrap().status.success(), "{target}");
    };
    let targets = ["rust", "java", "aspectj"];
    for first in targets {
        for second in targets.into_iter().filter(|second| *second != first) {
            let [both, alone] = ["both", "alone"].map(|name| directory.path().join(format!("{name}_{first}_{second}")));
            write_into(&both, first);
            // What was built of it.
            fs::create_dir_all(both.join("target/classes")).unwrap();
            fs::write(both.join("target/classes/Program.class"), "").unwrap();
            write_into(&both, second);
            write_into(&alone, second);
            let names = |out: &Path| -> BTreeSet<PathBuf> {
                below(out).iter().map(|path| path.strip_prefix(out).unwrap().to_owned()).collect()
            };
            assert_eq!(names(&both), names(&alone), "{first}, then {second}");
            assert!(!both.join("target").exists(), "{first}, then {second}");
        }
    }
}
