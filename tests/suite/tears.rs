//! Tears: what `explore::tear` says is held against outcomes, and the endangered accesses of programs are decided.

use cssame::budget::{Bound, Budget, Limits};
use cssame::correlation::{self, AccessKind};
use cssame::explore::{Query, futures};
use cssame::ir::Program;
use cssame::model::Options;
use cssame::schedule::{self, RoundRobin, Scripted, Then};
use cssame::tear::pairs::{PairQuery, execute_pairs};
use cssame::tear::{Other, Serial, Side, Tear, TearPattern, serial, tear};
use cssame::vm::{Machine, OutputId, PathId, Tables};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use support::{model, root, unit};

/// `A: 0; main: 1 2`
fn outcome(machine: &Machine, tables: &Tables, outputs: &[(PathId, OutputId)]) -> String {
    let line = |&(path, output): &(PathId, OutputId)| {
        format!("{}: {}", machine.path_name(tables, path), tables.lines(output).join(","))
    };
    outputs.iter().map(line).collect::<Vec<_>>().join("; ")
}

fn outcomes(machine: &Machine) -> BTreeSet<String> {
    let answer = futures(machine, &Query::default(), &Budget::unlimited());
    assert!(answer.is_complete());
    answer.outcomes.iter().map(|one| outcome(machine, &answer.tables, &one.outputs)).collect()
}

fn watch(program: &Program, first: (&str, AccessKind), second: (&str, AccessKind)) -> TearPattern {
    let function =
        |name: &str| program.functions.ids().find(|&id| program.texts.get(program.functions[id].name) == name).unwrap();
    let side = |(name, kind): (&str, AccessKind)| {
        let symbol = program.symbols.ids().find(|&id| program.texts.get(program.symbols[id].name) == name).unwrap();
        Side { symbol, part: None, kind }
    };
    let sides = [side(first), side(second)];
    TearPattern {
        method: function("m"),
        other: Other::Method(function("n")),
        sides,
        copied: false,
        sources: Vec::new(),
        by_row: false,
        only: None,
    }
}

/// A read that is printed, or a write of a value of its own.
fn touch(kind: AccessKind, name: &str, value: u32) -> String {
    match kind {
        AccessKind::Read => format!("print({name});"),
        AccessKind::Write => format!("{name} = {value};"),
    }
}

/// The method `m` touches `x` and then `y`, in one section or in two; `n` does `other` in one section.
fn program(first: AccessKind, second: AccessKind, split: bool, other: &str) -> String {
    let gap = if split { "unlock(L); lock(L);" } else { "" };
    format!(
        "int x; int y; lock L;
         void m() {{ lock(L); {} {gap} {} unlock(L); }}
         void n() {{ lock(L); {other} unlock(L); }}
         void main() {{ cobegin A: m(); B: n(); coend print(x, y); }}",
        touch(first, "x", 1),
        touch(second, "y", 1)
    )
}

/// In both orders there is an execution in which the two do not overlap, and its outcome is one of the method without a hole.
#[test]
fn serial_orders_have_outcomes_without_a_hole() {
    let other = touch(AccessKind::Read, "x", 2) + &touch(AccessKind::Write, "y", 2) + &touch(AccessKind::Read, "y", 2);
    for first in AccessKind::ALL {
        for second in AccessKind::ALL {
            let (model, whole) =
                (model(&program(first, second, true, &other)), model(&program(first, second, false, &other)));
            let machine = model.machine();
            let serial_outcomes = outcomes(whole.machine());
            let mut shown = BTreeSet::new();
            let TearPattern { method, other, .. } = watch(model.program(), ("x", first), ("y", second));
            let other = other.named().unwrap();
            for order in [(method, other), (other, method)] {
                let limits = Limits::default();
                let (answer, _) = serial(machine, order, &Budget::from(limits));
                let Serial::Found { schedule } = answer else { panic!("{answer:?}") };
                let mut policy = Scripted::new(&schedule);
                let execution = schedule::run(machine, &mut policy, 1000, &mut ());
                shown.insert(outcome(machine, &execution.tables, &execution.outputs(machine)));
            }
            assert_eq!(shown, serial_outcomes);
        }
    }
}

/// A method with a hole is torn where, and only where, it has an outcome that the method without the hole has not.
#[test]
fn torn_is_what_has_an_outcome_that_no_serial_order_has() {
    let mut others = vec![String::new()];
    for a in AccessKind::ALL {
        others.extend([touch(a, "x", 2), touch(a, "y", 2)]);
        for b in AccessKind::ALL {
            others.push(touch(a, "x", 2) + &touch(b, "y", 2));
            others.push(touch(b, "y", 2) + &touch(a, "x", 2));
        }
    }
    let mut torn = 0;
    for first in AccessKind::ALL {
        for second in AccessKind::ALL {
            for other in &others {
                let text = program(first, second, true, other);
                let (model, whole) = (model(&text), model(&program(first, second, false, other)));
                let machine = model.machine();
                let serial = outcomes(whole.machine());
                let all = outcomes(machine);
                let watch = watch(model.program(), ("x", first), ("y", second));
                let limits = Limits::default();
                let answer = tear(machine, model.program(), &watch, &Budget::from(limits));
                if all == serial {
                    assert_eq!(answer.tear, Tear::Impossible, "{text}\n{all:?}");
                    continue;
                }
                torn += 1;
                let Tear::Found { schedule } = answer.tear else { panic!("{text}\n{all:?}\n{serial:?}") };
                let mut policy = Then::new(Scripted::new(&schedule), RoundRobin::new());
                let execution = schedule::run(machine, &mut policy, 1000, &mut ());
                assert_eq!(execution.steps, schedule, "it is a whole execution");
                let shown = outcome(machine, &execution.tables, &execution.outputs(machine));
                assert!(!serial.contains(&shown), "{text}\n{shown}");
            }
        }
    }
    // Two reads need two writes, a read and a write one write and any access, two writes any two accesses; in both orders.
    assert_eq!(torn, 2 + 4 + 4 + 8);
}

fn cssame(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_cssame")).current_dir(root()).args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn correlate(file: &str, more: &[&str]) -> (i32, Value) {
    let mut arguments = vec!["correlate", file, "--format", "json"];
    arguments.extend(more);
    let (status, text) = cssame(&arguments);
    (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}: {text}")))
}

/// The status of a program that is written to a file.
fn correlate_text(text: &str, more: &[&str]) -> (i32, Value) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("test.csm");
    fs::write(&file, text).unwrap();
    correlate(file.to_str().unwrap(), more)
}

/// `m x:write y:write confirmed`, for each endangered access of all selected pairs.
fn accesses(report: &Value) -> Vec<String> {
    let pairs = report["pairs"].as_array().unwrap().iter().filter(|pair| pair["selected"] == true);
    let of = |access: &Value| {
        let side = |index: usize| {
            let word = |key: &str| access[key][index].as_str().unwrap().to_owned();
            format!("{}:{}", word("variables"), word("accesses"))
        };
        let word = |key: &str| access[key].as_str().unwrap().to_owned();
        format!("{} {} {} {}", word("method"), side(0), side(1), word("status"))
    };
    pairs.flat_map(|pair| pair["endangered_accesses"].as_array().unwrap().iter().map(of)).collect()
}

#[test]
fn the_clock_of_figure_9_is_torn_by_its_common_source() {
    let (status, report) = correlate("samples/jannesari_fig9.csm", &[]);
    assert_eq!(status, 1);
    assert_eq!(accesses(&report), ["SetTime Hours:write Mins:write confirmed"]);
    assert_eq!(report["counts"]["pairs_confirmed"], 1);
}

#[test]
fn a_copy_that_is_written_back_is_torn_where_the_variable_has_changed() {
    let program = |again: &str| {
        format!(
            "int balance; lock L;
             void withdraw(int n) {{ lock(L); int t = balance; unlock(L); t = t - n; lock(L); {again} balance = t; unlock(L); }}
             void main() {{ cobegin A: withdraw(1); B: withdraw(2); coend print(balance); }}"
        )
    };
    let status = |text: &str| {
        let (_, report) = correlate_text(text, &[]);
        let all = accesses(&report);
        all.iter().filter(|line| line.contains("balance:write t:write")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(status(&program("")), ["withdraw balance:write t:write confirmed"]);
}

#[test]
fn fields_of_two_objects_do_not_tear_each_other() {
    let program = |second: &str| {
        format!(
            "class P {{ lock L; int x; int y;
               public void put(int v) {{ lock(L); x = v; unlock(L); lock(L); y = v; unlock(L); }}
               public void get() {{ lock(L); print(x, y); unlock(L); }} }}
             P a; P b;
             void main() {{ cobegin A: a.put(3); B: {second}.get(); coend }}"
        )
    };
    let torn = |second: &str| {
        let (_, report) = correlate_text(&program(second), &[]);
        accesses(&report).iter().any(|line| line.ends_with("confirmed"))
    };
    assert!(torn("a"));
    assert!(!torn("b"));
}

#[test]
fn a_tear_that_an_assumption_discards_is_none() {
    let program = |assumption: &str| {
        format!(
            "int x; int y; int s = 1; lock L; int seen;
             void m() {{ lock(L); x = s; unlock(L); lock(L); y = s; unlock(L); }}
             void n() {{ lock(L); seen = x - y; unlock(L); {assumption} }}
             void main() {{ cobegin A: m(); B: n(); coend }}"
        )
    };
    let status = |text: &str| accesses(&correlate_text(text, &[]).1).join("\n");
    assert!(status(&program("")).contains("m x:write y:write confirmed"), "{}", status(&program("")));
    let held = status(&program("assume(seen == 0);"));
    assert!(held.contains("m x:write y:write refuted"), "{held}");
}

#[test]
fn a_bound_leaves_it_potential_and_says_so() {
    let (status, report) = correlate("samples/dekker_pair.csm", &["--max-states", "3"]);
    assert_eq!(status, 3);
    assert!(accesses(&report).iter().all(|line| line.ends_with("potential")), "{:?}", accesses(&report));
    let reason = report["pairs"][0]["endangered_accesses"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("max-states"), "{reason}");
    assert_eq!(report["bound"], "max-states");
    // Where nothing is executed, what the text shows is the finding.
    let (status, report) = correlate("samples/jannesari_fig9.csm", &["--static"]);
    assert_eq!(status, 1);
    assert_eq!(accesses(&report), ["SetTime Hours:write Mins:write potential"]);
    assert_eq!(report["states"], 0);
}

#[test]
fn behind_the_deadline_no_context_is_made() {
    let library = "class P { lock L; int x; int y;
        public void put(int v) { lock(L); x = v; unlock(L); lock(L); y = v; unlock(L); }
        public void get() { lock(L); print(x, y); unlock(L); } }";
    let settings = |budget: Budget<'_>| {
        let (options, unit) = (Options::default(), unit(library));
        let threads = cssame::concurrency::analyse(&unit.program);
        let analysis = correlation::analyse(&unit.program, threads.as_ref(), &correlation::Options::default());
        drop(threads);
        let executed = execute_pairs(&PairQuery { analysis: &analysis, rank: 0.0, options: &options }, unit, &budget);
        (executed.settings().len(), executed.reason(0).unwrap_or_default().to_owned(), executed.bound)
    };
    assert!(settings(Budget::unlimited()).0 > 0);
    let over = settings(Budget::unlimited().with_timeout(Duration::ZERO));
    assert_eq!(over, (0, "the bound timeout was hit before".to_owned(), Some(Bound::Timeout)));
}

#[test]
fn a_pair_that_is_refuted_is_no_finding() {
    let (status, report) = correlate("samples/dekker_pair.csm", &[]);
    assert_eq!(report["counts"]["pairs_refuted"], 1, "{:?}", accesses(&report));
    assert_eq!(status, 0);
}

/// `m x:read y:read confirmed by a, b`, for the accesses of a method to two variables.
fn by(report: &Value, method: &str, variables: [&str; 2]) -> Vec<String> {
    let pairs = report["pairs"].as_array().unwrap().iter().filter(|pair| pair["selected"] == true);
    let accesses =
        pairs.flat_map(|pair| pair["endangered_accesses"].as_array().unwrap().iter().map(move |one| (pair, one)));
    let of = accesses.filter(|(_, one)| one["method"] == method && one["variables"] == serde_json::json!(variables));
    let names = |all: &Value| {
        let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>().join(", ")
    };
    let line = |(pair, one): (&Value, &Value)| {
        format!("{}: {} {}", names(&pair["methods"]), one["status"].as_str().unwrap(), names(&one["by"]))
    };
    let mut lines: Vec<String> = of.map(line).collect();
    lines.sort();
    lines
}

/// `show` reads `euro` and `yen` in two regions; the other threads are given.
fn currency(threads: &str) -> String {
    format!(
        "int euro = 1; int yen = 107; int sum; lock L; event go;
         void set_euro(int v) {{ lock(L); euro = v; unlock(L); }}
         void set_yen() {{ lock(L); yen = euro * 107; unlock(L); }}
         void look() {{ lock(L); sum = euro; unlock(L); }}
         void show() {{ lock(L); print(euro); unlock(L); lock(L); print(yen); unlock(L); }}
         void main() {{ cobegin A: show(); {threads} coend }}"
    )
}

#[test]
fn a_sequence_of_calls_tears_as_one_other_side() {
    let (status, report) = correlate_text(&currency("B: { set_euro(2); set_yen(); }"), &[]);
    assert_eq!(status, 1);
    let torn = by(&report, "show", ["euro", "yen"]);
    assert_eq!(torn, ["set_euro, show: confirmed set_euro, set_yen", "set_yen, show: confirmed set_euro, set_yen"]);
}

#[test]
fn plain_statements_of_an_arm_tear_with_a_call() {
    let (_, report) = correlate_text(&currency("B: { lock(L); euro = 2; unlock(L); set_yen(); }"), &[]);
    let torn = by(&report, "show", ["euro", "yen"]);
    assert_eq!(torn, ["set_yen, show: confirmed B, set_yen", "show, B: confirmed B"]);
}

#[test]
fn threads_that_come_after_each_other_tear_as_one_other_side() {
    let torn = |threads: &str| by(&correlate_text(&currency(threads), &[]).1, "show", ["euro", "yen"]);
    // The value of `yen` comes from the new `euro`; or an event says that the one comes first.
    let chained = ["set_euro, show: confirmed set_euro, set_yen", "set_yen, show: confirmed set_euro, set_yen"];
    assert_eq!(torn("B: set_euro(2); C: set_yen();"), chained);
    let signalled = torn("B: { set_euro(2); set(go); } C: { wait(go); lock(L); yen = 5; unlock(L); }");
    assert_eq!(signalled, ["set_euro, show: confirmed set_euro, C", "show, C: confirmed set_euro, C"]);
    // Two that have only the lock in common could come in the other order.
    let apart = torn("B: set_euro(2); C: { lock(L); yen = 5; unlock(L); }");
    assert_eq!(apart, ["set_euro, show: refuted ", "show, C: refuted "]);
}

#[test]
fn who_has_no_part_in_a_tear_is_told_from_who_has() {
    let text = "int x; int y; int z; lock L;
         void put() { lock(L); x = 5; y = x; unlock(L); }
         void some() { lock(L); z = x; x = z; unlock(L); }
         void show() { lock(L); print(x); unlock(L); lock(L); print(y); unlock(L); }
         void main() { cobegin A: { put(); } B: show(); C: some(); coend }";
    let (_, report) = correlate_text(text, &[]);
    assert_eq!(by(&report, "show", ["x", "y"]), ["put, show: confirmed put", "some, show: elsewhere put"]);
}

/// A pair that takes many states must not use up what another one needs, though it comes first.
#[test]
fn a_hard_pair_leaves_states_for_an_easy_one() {
    let pair = |name: &str, work: &str| {
        format!(
            "int {name}x, {name}y, {name}s = 1, {name}k; lock {name}L;
             void {name}m() {{ lock({name}L); {name}x = {name}s; unlock({name}L); lock({name}L); {name}y = {name}s; unlock({name}L); }}
             void {name}n() {{ {work} lock({name}L); print({name}x, {name}y); unlock({name}L); }}"
        )
    };
    let text = pair("a", "while (ak < 1000000) { ak = ak + 1; }")
        + &pair("b", "bk = bk + 1;")
        + "void main() { cobegin A: { bm(); am(); } B: { bn(); an(); } C: { an(); } coend }";
    let (_, report) = correlate_text(&text, &["--max-states", "20000"]);
    let all = accesses(&report);
    let first = |name: &str| all.iter().position(|line| line.starts_with(name)).unwrap();
    assert!(first("am") < first("bm"), "{all:?}");
    assert!(all.contains(&"am ax:write ay:write potential".to_owned()), "{all:?}");
    assert!(all.contains(&"bm bx:write by:write confirmed".to_owned()), "{all:?}");
    assert_eq!(report["bound"], "max-states");
}

/// What lies too deep for the states that are allowed may still be met by chance, and is replayed.
#[test]
fn a_deep_tear_is_found_by_executions_at_random() {
    let text = "int x, y, s = 1, a, b, c; lock L;
         void m() { lock(L); x = s; unlock(L); lock(L); y = s; unlock(L); }
         void n() { lock(L); print(x, y); unlock(L); }
         void main() { cobegin
           A: { for (int i = 0; i < 40; i++) { a = a + b; } m(); }
           B: { for (int i = 0; i < 40; i++) { b = b + c; } n(); n(); }
           C: { for (int i = 0; i < 40; i++) { c = c + a; } n(); n(); } coend }";
    let (_, report) = correlate_text(text, &["--max-states", "5000"]);
    // With `n` and with the arms that call it.
    let all = accesses(&report);
    assert!(!all.is_empty() && all.iter().all(|line| line.ends_with(" x:write y:write confirmed")), "{all:?}");
}

/// Files of a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn recorded_tears_can_be_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("tears");
    correlate("samples/bank_account_broken.csm", &["--record-dir", out.to_str().unwrap()]);
    let written = files(&out);
    assert_eq!(written.len(), 1);
    let schedule = written[0].to_str().unwrap();
    let (status, text) = cssame(&["run", "samples/bank_account_broken.csm", "--schedule", schedule]);
    assert_eq!(status, 1, "{text}");
}

#[test]
fn two_methods_of_a_library_run_in_a_context() {
    let library = "class Account { lock guard; int balance; int paid;
           public void deposit(int amount) { lock(guard); balance = balance + amount; unlock(guard);
             lock(guard); paid = paid + amount; unlock(guard); }
           public void audit() { lock(guard); assert(balance == paid, \"torn\"); unlock(guard); } }
         void say() { print(\"limit\", 700); }";
    let directory = tempfile::tempdir().unwrap();
    let (file, out) = (directory.path().join("library.csm"), directory.path().join("tears"));
    fs::write(&file, library).unwrap();
    let (status, report) = correlate(file.to_str().unwrap(), &["--record-dir", out.to_str().unwrap()]);
    assert_eq!(status, 1);
    let pair = report["pairs"].as_array().unwrap().iter();
    let pair = pair.clone().find(|pair| pair["methods"][1] == "Account.audit").unwrap();
    assert_eq!(pair["status"], "confirmed");
    let context = pair["context"].as_str().unwrap();
    assert!(context.contains(".deposit(700);"), "a constant of the program is an argument: {context}");
    // Where no execution of a context tears an access, that proves nothing.
    assert!(accesses(&report).iter().all(|line| !line.ends_with("refuted")));
    let written = files(&out);
    let context = written.iter().find(|path| path.extension().is_some_and(|end| end == "csm")).unwrap();
    let mut replayed = 0;
    for path in written.iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let source: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let (status, text) = cssame(&["run", source["file"].as_str().unwrap(), "--schedule", path.to_str().unwrap()]);
        assert!(status < 2, "{text}");
        replayed += 1;
    }
    assert!(replayed > 0 && context.is_file());
}

/// A pair of a report.
fn pair<'r>(report: &'r Value, methods: [&str; 2]) -> &'r Value {
    let pairs = report["pairs"].as_array().unwrap();
    pairs.iter().find(|pair| pair["methods"] == serde_json::json!(methods)).unwrap_or_else(|| panic!("{report:#}"))
}

/// The failures and deadlocks of a pair: `deadlock: first waits …`.
fn ends(report: &Value, methods: [&str; 2]) -> Vec<String> {
    let ends = pair(report, methods)["ends"].as_array().cloned().unwrap_or_default();
    ends.iter()
        .map(|end| format!("{}: {}", end["status"].as_str().unwrap(), end["message"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_pair_begins_in_a_state_that_several_calls_reach() {
    let text = "class Box {
          lock guard;
          bool opened;
          int count, sum;
          public void open() { lock(guard); opened = true; unlock(guard); }
          public void add(int v) {
            lock(guard);
            if (opened) { count = count + 1; sum = sum + v; }
            unlock(guard);
          }
          public void scale() {
            int n = 0;
            lock(guard);
            if (opened && count > 0) { n = 1; }
            unlock(guard);
            if (n > 0) {
              lock(guard);
              count = count + n;
              unlock(guard);
              lock(guard);
              sum = count * 2;
              unlock(guard);
            }
          }
        }";
    let (status, report) = correlate_text(text, &[]);
    assert_eq!(status, 1);
    let torn = pair(&report, ["Box.add", "Box.scale"]);
    assert_eq!(torn["status"], "confirmed", "{torn:#}");
    let context = torn["context"].as_str().unwrap();
    let calls = ["receiver_Box.open();", "receiver_Box.add("].map(|call| context.find(call).unwrap());
    assert!(calls[0] < calls[1] && calls[1] < context.find("cobegin").unwrap(), "{context}");
    // No context refutes; of what a local holds it is known that nobody uses it when it is old.
    let refuted = accesses(&report).into_iter().filter(|line| line.ends_with("refuted"));
    assert!(refuted.clone().all(|line| line.contains(" n:")), "{:?}", refuted.collect::<Vec<_>>());
}

#[test]
fn a_deadlock_of_a_pair_is_told_with_who_waits_for_what() {
    let text = "class Map {
          lock keys; lock values;
          int first, size;
          public void put(int k) {
            lock(keys);
            first = k;
            lock(values);
            size = first + 1;
            unlock(values);
            unlock(keys);
          }
          public int firstKey() {
            lock(values);
            int n = size;
            lock(keys);
            int k = first;
            unlock(keys);
            unlock(values);
            return k + n;
          }
        }";
    let (status, report) = correlate_text(text, &[]);
    assert_eq!(status, 1);
    let expected = "deadlock: first waits at 7:13 for receiver_Map.values, which second holds; \
         second waits at 15:13 for receiver_Map.keys, which first holds";
    assert_eq!(ends(&report, ["Map.put", "Map.firstKey"]), [expected]);
    assert_eq!(ends(&report, ["Map.put", "Map.put"]), [""; 0]);
}

#[test]
fn what_two_calls_do_one_after_the_other_too_is_no_failure_of_the_pair() {
    let class = |check: &str| {
        format!(
            "class C {{ lock L; int x, y;
               public void put() {{ lock(L); x = x + 1; unlock(L); lock(L); y = x; unlock(L); }}
               public void get() {{ lock(L); {check} unlock(L); }} }}"
        )
    };
    let of = |check: &str| ends(&correlate_text(&class(check), &[]).1, ["C.put", "C.get"]);
    assert_eq!(of("assert(x == y, \"torn\");"), ["assert: torn"]);
    // This one fails by itself.
    assert_eq!(of("assert(x > y, \"never\");"), [""; 0]);
    let waits = "class Q { lock L; sem full = 0; int x, y;
         public void put() { lock(L); x = x + 1; unlock(L); lock(L); y = x; unlock(L); V(full); }
         public void take() { P(full); lock(L); print(x, y); unlock(L); } }";
    let (_, report) = correlate_text(waits, &[]);
    assert_eq!(ends(&report, ["Q.put", "Q.take"]), [""; 0]);
}

#[test]
fn the_page_of_the_command_shows_what_it_prints() {
    let page = fs::read_to_string(root().join("docs/commands/correlate.md")).unwrap();
    let (_, text) = cssame(&["correlate", "samples/bank_account_broken.csm", "-q"]);
    assert!(page.contains(&format!("```text\n{text}```")), "docs/commands/correlate.md does not show:\n{text}");
}

/// An activation in a thread that an outer activation has forked waits for its own threads as well.
#[test]
fn what_a_nested_activation_forks_is_a_part_of_it() {
    let program = |beside: &str| {
        format!(
            "int x, y; void n() {{ y = x + 1; }}
             void m(int d) {{ x = d; cobegin B: n(); E: {{ }} coend y = 5;
               if (d > 0) {{ cobegin A: m(d - 1); C: {{ {beside} }} coend }} }}
             void main() {{ m(1); print(x, y); }}"
        )
    };
    for (beside, is_torn) in [("", false), ("n();", true)] {
        let model = model(&program(beside));
        let pattern = watch(model.program(), ("x", AccessKind::Write), ("y", AccessKind::Write));
        for pattern in [pattern.by(Other::Anyone), pattern] {
            let answer = tear(model.machine(), model.program(), &pattern, &Budget::unlimited()).tear;
            assert_eq!(matches!(answer, Tear::Found { .. }), is_torn, "{answer:?}");
        }
    }
}

/// What each call has for itself is ordered by forks and joins, so no state has to be visited, however many there are.
#[test]
fn what_no_two_threads_use_in_parallel_needs_no_search() {
    let model = model(
        "void n() { } int m(int k) { if (k < 2) return k; int x, y;
           cobegin A: x = m(k - 1); B: { y = m(k - 2); n(); } coend return x + y; }
         void main() { print(m(8)); }",
    );
    let pattern = watch(model.program(), ("x", AccessKind::Read), ("y", AccessKind::Read));
    let answer = tear(model.machine(), model.program(), &pattern, &Budget::unlimited());
    assert!(matches!(answer.tear, Tear::Impossible) && answer.statistics.states == 0, "{answer:?}");
}
