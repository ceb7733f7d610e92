//! `cssame drive --pairs`: the tests of pairs of methods, built and run; the twins of the samples; the reduction.

use super::fixture::{has_main, root};
use super::together::Together;
use super::workspace::Workspace;
use crate::process::plain;
use cssame::budget::{Budget, Limits};
use cssame::correlation::Status;
use cssame::correlation::report::Counts;
use cssame::driver::{CaseKind, Expect, Options, PairCase, PairCases, drive_pairs};
use cssame::explore::{OutcomeStatus, Query, futures};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Samples with correlated state; each has a twin with a hole, `…_broken`.
const TWINS: [&str; 5] = ["bank_account", "bounded_queue", "dekker_pair", "order_pool", "slot_table"];

/// Two methods of one class, which no `main` calls.
const LIBRARY: &str = "\
class Clock {
  lock L;
  int secs, mins;
  public void tick() {
    lock(L);
    secs = secs + 1;
    unlock(L);
    lock(L);
    mins = secs / 60;
    unlock(L);
  }
  public void show() {
    lock(L);
    print(mins, secs);
    unlock(L);
  }
}
class Account {
  lock guard;
  int balance, paid;
  public void deposit(int amount) {
    lock(guard);
    balance = balance + amount;
    unlock(guard);
    lock(guard);
    paid = paid + amount;
    unlock(guard);
  }
  public void audit() {
    lock(guard);
    assert(balance == paid, \"the books do not balance\");
    unlock(guard);
  }
}
";

/// The files of a package that the command writes, and its answer.
pub(super) fn drive(file: &Path, more: &[&str]) -> (Vec<(PathBuf, String)>, Value) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = plain();
    command.arg("drive").arg(file).args(["--pairs", "--format", "json"]).args(more).arg("--out").arg(&out);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file:?}: {error}: {text}"));
    let paths = answer["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
    let files = paths.map(|path| (PathBuf::from(path), fs::read_to_string(out.join(path)).unwrap()));
    (files.collect(), answer)
}

fn sample(name: &str) -> PathBuf {
    root().join(format!("samples/{name}.csm"))
}

fn library() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("library.csm");
    fs::write(&file, LIBRARY).unwrap();
    (directory, file)
}

/// The names of the tests that show a tear.
pub(super) fn torn(answer: &Value) -> Vec<String> {
    let pairs = answer["pairs"].as_array().unwrap().iter();
    let tests = pairs.flat_map(|pair| pair["tests"].as_array().unwrap());
    tests.filter(|test| test["kind"] == "tear").map(|test| test["test"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_broken_twin_has_a_test_that_fails_and_the_correct_one_has_none() {
    let mut workspace = Workspace::new("twins");
    let mut failing = Vec::new();
    let mut passing = Vec::new();
    for name in support::part(TWINS.to_vec(), 1) {
        let (_, correct) = drive(&sample(name), &[]);
        assert_eq!(torn(&correct), [""; 0], "{name}");
        assert_eq!(correct["counts"]["pairs_confirmed"], 0, "{name}");
        let broken = format!("{name}_broken");
        let (files, answer) = drive(&sample(&broken), &[]);
        let confirmed = answer["pairs"].as_array().unwrap().iter().filter(|pair| pair["status"] == "confirmed");
        assert!(confirmed.count() > 0, "{broken}");
        workspace.add_files(&broken, &files);
        let tests = answer["tests"].as_array().unwrap().iter();
        let ends = |end: &'static str| {
            tests.clone().filter(move |test| test["end"] == end).map(|test| test["name"].as_str().unwrap().to_owned())
        };
        let fails: Vec<String> = ends("failure").filter(|test| torn(&answer).contains(test)).collect();
        assert!(!fails.is_empty(), "{broken}: {answer:#}");
        failing.extend(fails);
        // What the program does not notice is said by the test.
        let (shown, quiet): (Vec<String>, Vec<String>) = ends("ok").partition(|test| torn(&answer).contains(test));
        failing.extend(shown);
        passing.extend(quiet);
    }
    let (results, text) = workspace.run(&[]);
    for test in &failing {
        assert_eq!(results.get(test.as_str()), Some(&false), "{test}\n{text}");
    }
    for test in &passing {
        assert_eq!(results.get(test.as_str()), Some(&true), "{test}\n{text}");
    }
    assert!(text.contains("assertion failed at line"), "{text}");
}

#[test]
fn what_is_recorded_of_pairs_happens_whatever_the_timing() {
    let (_directory, library) = library();
    let mut all = Together::new("pairs");
    let mut expected = 0;
    for name in support::part(TWINS.to_vec(), 1) {
        for name in [name.to_owned(), format!("{name}_broken")] {
            let (files, answer) = drive(&sample(&name), &["--expect", "recorded"]);
            expected += answer["tests"].as_array().unwrap().len();
            all.add_files(&name, &files);
        }
    }
    for (name, file) in [("fig9", sample("jannesari_fig9")), ("library", library)] {
        let (files, answer) = drive(&file, &["--expect", "recorded"]);
        expected += answer["tests"].as_array().unwrap().len();
        all.add_files(name, &files);
    }
    all.build();
    for seed in support::part(vec![None, Some(1), Some(2)], 2) {
        assert_eq!(all.run(seed), expected, "with seed {seed:?}");
    }
}

#[test]
fn both_serial_orders_and_the_state_behind_many_calls() {
    let (_directory, library) = library();
    let (_, answer) = drive(&library, &[]);
    let pair = |first: &str, second: &str| {
        let pairs = answer["pairs"].as_array().unwrap().iter();
        pairs.clone().find(|pair| pair["methods"][0] == first && pair["methods"][1] == second).unwrap().clone()
    };
    // The minute is torn where the sixtieth second comes.
    let clock = pair("Clock.tick", "Clock.show");
    assert_eq!(clock["status"], "confirmed", "{clock:#}");
    assert!(clock["context"].as_str().unwrap().contains("call < 59"), "{clock:#}");
    let serial = clock["tests"].as_array().unwrap().iter().filter(|test| test["kind"] == "serial");
    let names: Vec<&str> = serial.map(|test| test["test"].as_str().unwrap()).collect();
    assert_eq!(names, ["clock_tick_before_clock_show", "clock_show_before_clock_tick"]);
    let with_itself = pair("Account.deposit", "Account.deposit");
    let serial = with_itself["tests"].as_array().unwrap().iter().filter(|test| test["kind"] == "serial");
    assert_eq!(serial.count(), 1);
}

/// A method that reads two variables in two regions; the other thread calls two methods.
const CURRENCY: &str = "\
int euro = 1, yen = 107;
lock L;
void set_euro(int v) { lock(L); euro = v; unlock(L); }
void set_yen() { lock(L); yen = euro * 107; unlock(L); }
void show() { lock(L); int e = euro; unlock(L); lock(L); print(e, yen); unlock(L); }
void main() {
  cobegin
    A: show();
    B: { set_euro(2); set_yen(); }
  coend
}
";

fn currency() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("currency.csm");
    fs::write(&file, CURRENCY).unwrap();
    (directory, file)
}

#[test]
fn a_tear_that_the_program_does_not_notice_fails_its_test() {
    let (_directory, file) = currency();
    let mut workspace = Workspace::new("currency");
    let (files, answer) = drive(&file, &[]);
    let shown = torn(&answer);
    assert!(!shown.is_empty(), "{answer:#}");
    workspace.add_files("currency", &files);
    let (results, text) = workspace.run(&[]);
    for test in answer["tests"].as_array().unwrap() {
        let name = test["name"].as_str().unwrap();
        assert_eq!(results.get(name), Some(&!shown.contains(&name.to_owned())), "{name}\n{text}");
    }
    assert!(text.contains("`show` is torn between `euro` and `yen` by `set_euro`, `set_yen`"), "{text}");
}

#[test]
fn free_tests_come_near_to_the_order_of_locks_of_their_executions() {
    let (_directory, file) = currency();
    let (files, _) = drive(&file, &["--free"]);
    let (_, text) = files.iter().find(|(path, _)| path.ends_with("tests/futures.rs")).unwrap();
    let of = |name: &str| {
        let body = text.split(&format!("fn {name}()")).nth(1).unwrap().split("];").next().unwrap();
        body.lines().filter(|line| line.contains("Turns {")).map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let turns = |threads: [(&str, &str); 2]| {
        let main = "Turns { made: &[1, 2], locks: &[] }, // main".to_owned();
        let of = |(name, locks): (&str, &str)| format!("Turns {{ made: &[], locks: &[{locks}] }}, // {name}");
        [main, of(threads[0]), of(threads[1])]
    };
    // Two calls tear it, which no context of two calls has; the serial orders begin as an execution does.
    let torn = of("show_torn_by_set_euro_between_euro_and_yen");
    assert_eq!(torn, turns([("A", "0, 3"), ("B", "1, 2")]));
    assert_eq!(of("show_before_set_euro"), turns([("first", "2"), ("second", "0, 1")]));
    assert_eq!(of("set_euro_before_show"), turns([("first", "0"), ("second", "1, 2")]));
}

/// Contexts of `put` and `show`: two on one object that differ in where the argument comes from, and one on another object. The call
/// in a loop is one context in several states.
const WALLETS: &str = "\
class Wallet {
  lock guard;
  private int euro, yen;
  public void put(int amount) {
    lock(guard); euro = amount; unlock(guard);
    lock(guard); yen = euro * 107; unlock(guard);
  }
  public void show() { lock(guard); print(euro, yen); unlock(guard); }
}
Wallet a;
Wallet b;
int rate = 7;
void main() {
  cobegin
    A: { a.put(20); }
    B: { a.put(rate); }
    C: { for (int i = 1; i < 4; i++) { b.put(i); } }
    D: { a.show(); }
    E: { b.show(); }
  coend
}
";

#[test]
fn each_different_context_of_a_pair_has_a_test() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("wallets.csm");
    fs::write(&file, WALLETS).unwrap();
    let (files, answer) = drive(&file, &[]);
    let pairs = answer["pairs"].as_array().unwrap().iter();
    let pair = pairs.clone().find(|pair| pair["methods"] == serde_json::json!(["Wallet.put", "Wallet.show"])).unwrap();
    let mut torn: Vec<(&str, &str)> = Vec::new();
    for test in pair["tests"].as_array().unwrap().iter().filter(|test| test["kind"] == "tear") {
        torn.push((test["variables"][0].as_str().unwrap(), test["test"].as_str().unwrap()));
    }
    let of_a = "wallet_put_torn_by_wallet_show_between_a_euro_and_a_yen";
    let of_b = "wallet_put_torn_by_wallet_show_between_b_euro_and_b_yen";
    assert_eq!(torn, [("a.euro", of_a), ("a.euro", &format!("{of_a}_2")), ("b.euro", of_b)], "{pair:#}");
    let recorded = |call: &str| {
        files.iter().any(|(path, text)| {
            let main = text.split("recorded state").nth(1).unwrap_or_default();
            path.extension().is_some_and(|end| end == "csm") && main.contains(call) && main.contains(".show();")
        })
    };
    assert!(recorded("a.put(20);") && recorded("a.put(7);"), "{answer:#}");
}

#[test]
fn each_of_several_calls_in_one_thread_has_a_test() {
    let puts: String = (1..=7).map(|amount| format!("a.put({amount}); ")).collect();
    let class = WALLETS.split("Wallet b;").next().unwrap();
    let text = format!(
        "{class}void main() {{\n  cobegin\n    A: {{ a.show(); a.show(); }}\n    B: {{ {puts}}}\n  coend\n}}\n"
    );
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("calls.csm");
    fs::write(&file, text).unwrap();
    let (files, _) = drive(&file, &[]);
    let mains = files.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "csm"));
    let mains: Vec<&str> = mains.filter_map(|(_, text)| text.split("recorded state").nth(1)).collect();
    let missing = (1..=7).filter(|amount| !mains.iter().any(|main| main.contains(&format!("a.put({amount});"))));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<i32>::new(), "{mains:#?}");
}

/// Deposits before, and one whose argument is computed.
const BOOKS: &str = "\
class Account {
  lock guard;
  private int balance, paid;
  public void deposit(int amount) {
    lock(guard); balance = balance + amount; unlock(guard);
    lock(guard); paid = paid + amount; unlock(guard);
  }
  public void audit() { lock(guard); assert(balance == paid, \"torn\"); unlock(guard); }
}
Account account;
event ready;
sem tokens = 2;
double rate = 0.5;
void main() {
  account.deposit(25);
  rate = 1.25;
  P(tokens);
  set(ready);
  int more = 7;
  cobegin
    A: { account.deposit(30 + more); }
    B: { wait(ready); account.audit(); }
  coend
}
";

#[test]
fn a_pair_begins_with_the_state_and_the_arguments_of_an_execution() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("books.csm");
    fs::write(&file, BOOKS).unwrap();
    let (files, answer) = drive(&file, &[]);
    let pairs = answer["pairs"].as_array().unwrap().iter();
    let pair = pairs.clone().find(|pair| pair["methods"][0] == "Account.deposit").unwrap();
    let expected = "// cssame: recorded state\n\nvoid main() {\n  account.balance = 25;\n  account.paid = 25;\n  rate = 1.25;\n  \
                    set(ready);\n  P(tokens);\n  cobegin\n    first:\n      account.deposit(37);\n    second:\n      \
                    account.audit();\n  coend\n}\n";
    assert_eq!(pair["context"], expected);
    let (_, text) = files
        .iter()
        .find(|(path, text)| path.extension().is_some_and(|end| end == "csm") && text.contains("recorded state"))
        .unwrap();
    // It stands alone, and the places are those of the file.
    assert_eq!(text.lines().take(9).collect::<Vec<_>>(), BOOKS.lines().take(9).collect::<Vec<_>>());
    let context = directory.path().join("context.csm");
    fs::write(&context, text).unwrap();
    let output = plain().arg("futures").arg(&context).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let tests = pair["tests"].as_array().unwrap();
    assert_eq!(tests.iter().filter(|test| test["test"].is_string()).count(), 3, "{pair:#}");
    for test in
        answer["tests"].as_array().unwrap().iter().filter(|test| test["name"].as_str().unwrap().contains("deposit"))
    {
        assert!(test["program"].is_string(), "{test:#}");
    }
}

#[test]
fn a_private_field_is_private_without_the_mark() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("field.csm");
    fs::write(&file, "class C { private int x; }\nC c;\nvoid main() { c.x = 1; }\n// cssame: recorded state\n")
        .unwrap();
    let output = plain().arg("check").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn two_runs_write_the_same_bytes() {
    let (_directory, library) = library();
    assert_eq!(drive(&library, &[]).0, drive(&library, &[]).0);
}

#[test]
fn a_pair_without_tests_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("locked.csm");
    let text = "int x, y;\nvoid f(lock L, int v) { lock(L); x = v; unlock(L); lock(L); y = v; unlock(L); }\n\
                void g(lock L) { lock(L); print(x, y); unlock(L); }\n";
    fs::write(&file, text).unwrap();
    let (_, answer) = drive(&file, &[]);
    assert_eq!(answer["note"], "no test: the pairs say why");
    let reasons = answer["pairs"].as_array().unwrap().iter().flat_map(|pair| pair["tests"].as_array().unwrap().iter());
    let reasons: Vec<&str> = reasons.map(|test| test["reason"].as_str().unwrap()).collect();
    assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason.contains("object of synchronisation")));
}

/// The table of docs/correlation.md: how few of all pairs of the samples are tested.
#[test]
fn the_reduction_is_that_of_the_documentation() {
    let mut rows = Vec::new();
    let mut sum = [0u64; 6];
    let mut files: Vec<PathBuf> =
        fs::read_dir(root().join("samples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "csm"));
    files.sort();
    let is_twin = |name: &str| TWINS.iter().any(|twin| name == *twin || name == format!("{twin}_broken"));
    let has_row = |name: &str| is_twin(name) || name == "jannesari_fig9";
    if !support::is_long() {
        files.retain(|file| file.file_stem().is_some_and(|name| has_row(&name.to_string_lossy())));
    }
    for file in files {
        let (_, answer) = drive(&file, &["--max-states", "200000"]);
        let counts = &answer["counts"];
        let keys =
            ["pairs_considered", "pairs_parallel", "pairs_dependent", "pairs_selected", "pairs_confirmed", "tests"];
        let row = keys.map(|key| counts[key].as_u64().unwrap());
        sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if has_row(&name) {
            rows.push((format!("`{name}`"), row));
        }
    }
    if support::is_long() {
        rows.push(("all samples".to_owned(), sum));
    }
    let documentation = fs::read_to_string(root().join("docs/correlation.md")).unwrap();
    let lines: Vec<String> = rows
        .into_iter()
        .map(|(name, row)| format!("| {name} | {} |", row.map(|count| count.to_string()).join(" | ")))
        .collect();
    let missing: Vec<&String> = lines.iter().filter(|line| !documentation.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "docs/correlation.md does not say:\n{}", lines.join("\n"));
}

/// Whether `check` says of a sample that two accesses may race. Such a program may do anything on real memory.
fn races(name: &str) -> bool {
    let output = plain().arg("check").arg(sample(name)).output().unwrap();
    String::from_utf8_lossy(&output.stdout).contains("CS0401")
}

/// Free tests have real memory, locks, events, barriers, conditions, semaphores and threads: what cannot fail, does not.
#[test]
fn free_tests_of_samples_without_races_pass() {
    let mut all = Together::new("free");
    let mut expected = 0;
    let mut names: Vec<String> = fs::read_dir(root().join("samples"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| sample(name).is_file() && has_main(name) && !races(name))
        .collect();
    names.sort();
    for name in support::part(names, 4) {
        let fixture = super::fixture::sample(&name, Expect::Program);
        let limits = Limits { max_states: Some(200_000), ..Limits::default() };
        let answer = futures(fixture.model.machine(), &Query::default(), &Budget::from(limits));
        if !answer.is_complete() || answer.outcomes.iter().any(|outcome| outcome.status != OutcomeStatus::Ok) {
            continue;
        }
        let schedule = answer.outcomes[0].schedule.clone().unwrap();
        let case =
            PairCase { kind: CaseKind::Serial, method: "a".to_owned(), program: Some(0), schedule: Ok(schedule) };
        let pair = PairCases {
            methods: ["a".to_owned(), "b".to_owned()],
            rank: 1.0,
            status: Status::Potential,
            context: None,
            cases: vec![case],
        };
        let options = Options { free: true, ..fixture.options.clone() };
        let package = drive_pairs(&[fixture.input()], &[pair], &Counts::default(), (None, 0), &options).unwrap();
        all.add(&name, &package);
        expected += 1;
    }
    assert!(expected > support::size(0, 15), "{expected}");
    all.build();
    assert_eq!(all.run(None), expected);
}

#[test]
fn the_command_writes_free_tests_under_the_same_names() {
    let (_directory, library) = library();
    let names = |answer: &Value| {
        let tests = answer["tests"].as_array().unwrap().iter();
        tests.map(|test| test["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (with_latches, free) = (drive(&library, &[]), drive(&library, &["--free"]));
    assert_eq!(names(&with_latches.1), names(&free.1));
    let mut workspace = Workspace::new("free");
    workspace.add_files("library", &free.0);
    let (results, text) = workspace.run(&[("CSSAME_FREE_ROUNDS", "3")]);
    for name in names(&free.1) {
        // Nobody knows how the threads go: if a test fails, then because the program does.
        assert!(results[&name] || text.contains("the books do not balance"), "{name}: {text}");
    }
    assert_eq!(workspace.untidy(), "");
    let readme = free.0.iter().find(|(path, _)| path.ends_with("README.md"));
    let limits = "## What the tests can show, and what they cannot";
    assert!(readme.is_some_and(|(_, text)| text.contains(limits)), "{readme:?}");
}
