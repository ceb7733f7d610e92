//! The formats of other tools: each is well-formed by its own rules, and says what the command says.

use crate::process::{Answer, Files, call, finish, program, root, samples};
use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A race that is suppressed, a failure, and a name that every format has to escape.
const FAULTY: &str = "\
int x; // cssame: allow(CS0401)
cobegin
  T1: x = 1;
  T2: x = 2;
coend
assert(x == 1, \"a, b: 100% | <b>`x`</b>\");
";

/// The schema of SARIF 2.1.0, as OASIS has published it.
fn schema() -> Validator {
    jsonschema::validator_for(&serde_json::from_str(include_str!("sarif-2.1.0.schema.json")).unwrap()).unwrap()
}

fn sarif(validator: &Validator, command: &str, path: &Path) -> (i32, Value) {
    let answer = call(&format!("{command} --format sarif"), &[path]);
    let value = answer.json();
    let problems: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{command} {}: {problems:#?}", path.display());
    assert_eq!(value["runs"][0]["invocations"][0]["exitCode"], answer.status, "{command} {}", path.display());
    (answer.status, value)
}

fn results(log: &Value) -> &Vec<Value> {
    log["runs"][0]["results"].as_array().unwrap()
}

#[test]
fn sarif_of_all_samples_is_valid() {
    let validator = schema();
    let mut flows = 0;
    for sample in support::part(samples(), 12) {
        for command in ["check", "futures --max-states 3000"] {
            let (status, log) = sarif(&validator, command, &sample);
            let prints: BTreeSet<&str> = results(&log)
                .iter()
                .map(|one| one["partialFingerprints"]["cssameFinding/v1"].as_str().unwrap())
                .collect();
            assert_eq!(prints.len(), results(&log).len(), "{command} {}", sample.display());
            let notified = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len();
            assert!(status != 3 || notified > 0, "{command} {}", sample.display());
            flows += results(&log).iter().filter(|one| one["codeFlows"].is_array()).count();
        }
    }
    assert!(flows > support::size(0, 30), "{flows} results have an execution");
}

#[test]
fn the_other_commands_list_their_findings_too() {
    let validator = schema();
    for (command, sample) in [
        ("run --seed 3", "bank_transfer_deadlock.csm"),
        ("run --seeds 0..20", "bank_transfer_deadlock.csm"),
        ("races", "counter_unlocked.csm"),
        ("paths", "bank_transfer_deadlock.csm"),
        ("coverage --runs 50", "bank_transfer_deadlock.csm"),
        ("races", "classes/bank_account_broken.csm"),
    ] {
        let (status, log) = sarif(&validator, command, &root().join("samples").join(sample));
        let (found, status_of_human) =
            (results(&log).len(), call(command, &[root().join("samples").join(sample)]).status);
        assert_eq!((status, found > 0), (status_of_human, status == 1), "{command} {sample}");
    }
}

#[test]
fn an_execution_is_one_thread_flow_for_each_thread() {
    let (_, log) = sarif(&schema(), "futures", &root().join("samples/bank_transfer_deadlock.csm"));
    let flows = results(&log)[0]["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let ids: Vec<&str> = flows.iter().map(|flow| flow["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["main", "T1", "T2"]);
    let mut orders = Vec::new();
    for flow in flows {
        let own: Vec<u64> =
            flow["locations"].as_array().unwrap().iter().map(|at| at["executionOrder"].as_u64().unwrap()).collect();
        assert!(own.is_sorted(), "{own:?}");
        orders.extend(own);
    }
    orders.sort_unstable();
    assert_eq!(orders, (0..orders.len() as u64).collect::<Vec<_>>());
    let last = flows[2]["locations"].as_array().unwrap().last().unwrap();
    assert_eq!(last["location"]["message"]["text"], "T2: lock b.guard");
    assert_eq!(last["location"]["physicalLocation"]["region"]["startLine"], 17);
}

#[test]
fn sarif_marks_what_is_suppressed() {
    let files = Files::new();
    let path = files.write("p.csm", FAULTY);
    let suppressions = |command: &str| {
        let (status, log) = sarif(&schema(), command, &path);
        let race = results(&log).iter().find(|one| one["ruleId"] == "CS0401").cloned().unwrap();
        (status, race["suppressions"].clone())
    };
    let (status, found) = suppressions("check");
    assert_eq!((status, &found[0]["kind"]), (0, &"inSource".into()));
    files.write("p.csm", FAULTY.replace("// cssame", "// no"));
    let (status, found) = suppressions("check");
    assert_eq!((status, found), (1, Value::Array(Vec::new())));
    let (status, found) = suppressions("check --allow CS0401");
    assert_eq!((status, &found[0]["kind"]), (0, &"external".into()));
}

#[test]
fn fingerprints_stay_where_lines_move() {
    let files = Files::new();
    let prints = |text: &str| -> Vec<Value> {
        let (_, log) = sarif(&schema(), "check", &files.write("p.csm", text));
        results(&log).iter().map(|one| one["partialFingerprints"].clone()).collect()
    };
    let text =
        "int x, y;\nvoid f() { x = 1; y = 1; }\nvoid g() { x = 2; y = 2; }\ncobegin\n  T1: f();\n  T2: g();\ncoend\n";
    let before = prints(text);
    assert_eq!(before, prints(&format!("// a comment\n\n{text}")));
    assert!(before.len() > 1);
    assert_ne!(before, prints(&text.replace("void f", "void other").replace("f();", "other();")));
}

/// The properties and the text of each annotation.
fn annotations(answer: &Answer) -> Vec<(String, String)> {
    let parts = |line: &str| {
        let (head, text) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        (head.to_owned(), text.to_owned())
    };
    answer.stdout.lines().map(parts).collect()
}

#[test]
fn annotations_are_escaped() {
    let files = Files::new();
    files.write("a,b:c.csm", FAULTY);
    let answer = finish(program().current_dir(files.0.path()).args(["futures", "--format", "github", "a,b:c.csm"]));
    let found = annotations(&answer);
    assert_eq!((answer.status, found.len()), (1, 1), "{answer:?}");
    let (head, text) = &found[0];
    assert_eq!(head, "error file=a%2Cb%3Ac.csm,line=6,endLine=6,col=1,endColumn=43,title=CS0410");
    assert!(text.contains("100%25 |") && text.contains("%0A"), "{text}");
    let broken = files.write("broken.csm", "int x = ;\nint y = ;\n");
    let answer = call("races --format github", &[&broken]);
    assert_eq!((answer.status, annotations(&answer).len()), (2, 2), "{answer:?}");
}

#[test]
fn junit_counts_what_fails() {
    let files = Files::new();
    let path = files.write("p.csm", FAULTY);
    let suites = |line: &str, path: &Path| {
        let answer = call(&format!("{line} --format junit"), &[path]);
        let document = roxmltree::Document::parse(&answer.stdout).unwrap();
        let count = |name: &str| document.root_element().attribute(name).unwrap().parse::<u32>().unwrap();
        (answer.status, [count("tests"), count("failures"), count("errors"), count("skipped")])
    };
    assert_eq!(suites("check", &path), (0, [1, 0, 0, 1]));
    assert_eq!(suites("futures", &path), (1, [1, 1, 0, 0]));
    assert_eq!(suites("futures --allow CS0410", &path), (0, [1, 0, 0, 1]));
    let clean = root().join("samples/counter_locked.csm");
    assert_eq!(suites("futures", &clean), (0, [1, 0, 0, 0]));
    assert_eq!(suites("futures --max-states 3", &clean), (3, [2, 0, 1, 0]));
    assert_eq!(suites("run --max-steps 3", &clean), (3, [2, 0, 1, 0]));
    assert_eq!(suites("check", &files.path("none.csm")), (2, [1, 1, 0, 0]));
}

#[test]
fn markdown_keeps_its_tables_and_its_code() {
    let files = Files::new();
    let path = files.write("p.csm", FAULTY);
    let answer = call("futures --format markdown", &[&path]);
    let rows: Vec<&str> = answer.stdout.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!((answer.status, rows.len()), (1, 3), "{}", answer.stdout);
    for row in rows {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 5, "{row}");
    }
    assert!(answer.stdout.contains("100% \\| \\<b\\>`x`\\</b\\>"), "{}", answer.stdout);
    assert!(answer.stdout.contains("\n```text\nerror[CS0410]"), "{}", answer.stdout);
    let clean = call("check --format markdown", &[root().join("samples/counter_locked.csm")]);
    assert!(clean.stdout.starts_with("## cssame check: nothing found in `"), "{}", clean.stdout);
    let open = call("futures --max-states 3 --format markdown", &[root().join("samples/counter_locked.csm")]);
    assert!(
        open.stdout.contains("> **Not all was looked at:** the search was stopped by `--max-states`."),
        "{}",
        open.stdout
    );
}

#[test]
fn the_status_is_that_of_every_format() {
    for (line, status) in [
        ("check samples/counter_unlocked.csm", 1),
        ("check samples/counter_locked.csm", 0),
        ("futures samples/bank_transfer_deadlock.csm", 1),
        ("futures --max-states 3 samples/counter_locked.csm", 3),
        ("futures samples/none.csm", 2),
        ("futures samples/classes/bank_account_broken.csm", 2),
    ] {
        for format in ["human", "json", "sarif", "github", "junit", "markdown"] {
            let answer = call(&format!("{line} --format {format}"), &[""; 0]);
            assert_eq!(answer.status, status, "{line} --format {format}");
        }
    }
}
