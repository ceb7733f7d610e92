//! `cssame coverage`: what it shows, the formats of other tools, and the files that it reads and writes.

use crate::process::{Answer, Files, call};
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;
use std::fs;

const LOG4J: &str = "samples/coverage_log4j.csm";

fn json(line: &str) -> Value {
    call(&format!("{line} --format json"), &[""; 0]).json()
}

fn shown(line: &str) -> Answer {
    call(line, &[""; 0])
}

fn counts(value: &Value) -> [Option<u64>; 4] {
    ["total", "feasible", "infeasible", "covered"].map(|key| value["patterns"][key].as_u64())
}

#[test]
fn the_facts_of_the_paper_are_shown() {
    assert_eq!(counts(&json(&format!("coverage {LOG4J}"))), [Some(16), Some(5), Some(11), Some(5)]);
    assert_eq!(counts(&json(&format!("coverage {LOG4J} --input start=0"))), [Some(16), Some(2), Some(14), Some(2)]);
    let class = json("coverage samples/map_log4j.csm");
    assert_eq!((counts(&class)[0], counts(&class)[1], &class["pi_terms"]), (Some(16), None, &Value::Null));
    assert_eq!(class["method_pairs"]["total"], 3);
    let by_pattern: Vec<u64> = (1..=8)
        .map(|number: u32| class["patterns"]["by_pattern"][number.to_string()]["total"].as_u64().unwrap())
        .collect();
    assert_eq!(by_pattern, [2, 2, 1, 4, 2, 2, 2, 1]);
    // s4, s9, s5
    let files = Files::new();
    let steps = r#"[{"thread":"main","at":"30:3","op":"fork"},
        {"thread":"T1","at":"18:9","op":"read threshold"},{"thread":"T2","at":"23:5","op":"write threshold"},
        {"thread":"T1","at":"19:24","op":"read threshold"},{"thread":"T1","at":"31:9","op":"print"},
        {"thread":"main","at":"33:3","op":"join"}]"#;
    let schedule = files.write("s4_s9_s5.json", steps);
    let answer = call(&format!("coverage {LOG4J} --format json --schedule"), &[&schedule]).json();
    assert_eq!((counts(&answer)[3], &answer["executions"]), (Some(3), &1.into()), "{answer:#}");
    let both = call(&format!("coverage {LOG4J} --format json --runs 100 --schedule"), &[&schedule]).json();
    assert_eq!((counts(&both)[3], &both["executions"]), (Some(5), &101.into()));
}

#[test]
fn the_text_fits_and_says_what_is_missing() {
    let answer = shown(&format!("coverage {LOG4J} --runs 1"));
    assert_eq!(answer.status, 0);
    let first = "2 of 5 possible instances covered (40.0 %); there are 16 in all\n\
                 1 of 1 possible method pair covered (100.0 %); there are 3 in all\n";
    assert!(answer.stdout.starts_with(first), "{}", answer.stdout);
    let page = fs::read_to_string("docs/commands/coverage.md").unwrap();
    assert!(
        page.contains(&format!("```text\n{}```", answer.stdout)),
        "docs/commands/coverage.md does not show:\n{}",
        answer.stdout
    );
    for sample in
        ["bank_account_broken", "map_log4j", "bank_transfer_deadlock", "dining_philosophers", "races_pool_broken"]
    {
        for more in ["", " --all"] {
            let text = shown(&format!("coverage samples/{sample}.csm{more}")).stdout;
            let long: Vec<&str> = text
                .lines()
                .filter(|line| line.chars().count() > 80 && !line.starts_with("replay: ") && !line.contains('│'))
                .collect();
            assert!(long.is_empty(), "{long:#?}");
        }
    }
    let coloured = shown(&format!("coverage --color always {LOG4J}")).stdout;
    assert!(coloured.contains("\u{1b}[1mpatterns"), "{coloured}");
}

#[test]
fn failures_and_deadlocks_are_findings_with_a_line_that_replays_them() {
    let answer = shown("coverage samples/bank_transfer_deadlock.csm");
    assert!(answer.status == 1 && answer.stdout.contains("deadlock: T1, T2, main wait for ever"), "{answer:?}");
    let replay = answer.stdout.lines().find_map(|line| line.strip_prefix("replay: cssame ")).unwrap();
    assert_eq!(shown(replay).status, 1, "{replay}");
    let files = Files::new();
    let directory = files.path("found");
    let record = directory.to_str().unwrap();
    let answer = shown(&format!("coverage samples/bank_transfer_deadlock.csm --record-dir {record}"));
    assert!(
        answer.stdout.contains(&format!("replay: cssame run samples/bank_transfer_deadlock.csm --schedule {record}"))
    );
    let again = format!("coverage samples/bank_transfer_deadlock.csm --schedule {record}/deadlock-1.json");
    let answer = json(&again);
    assert_eq!((&answer["executions"], &answer["ends"]["deadlock"]), (&1.into(), &1.into()), "{answer:#}");
    assert_eq!(answer["deadlocks"][0]["seed"], Value::Null);
    assert!(shown(&again).stdout.contains("record: cssame coverage samples/bank_transfer_deadlock.csm --schedule "));
}

#[test]
fn schedules_are_followed_strictly() {
    let files = Files::new();
    let other = files.path("other.json");
    call("run samples/counter_unlocked.csm --record", &[&other]);
    let answer = call(&format!("coverage {LOG4J} --schedule"), &[&other]);
    assert!(answer.status == 2 && answer.complains("does not fit the program"), "{answer:?}");
    let answer = call("coverage samples/map_log4j.csm --schedule", &[&other]);
    assert!(answer.status == 2 && answer.complains("CS0216"), "{answer:?}");
    // An execution that is over before its schedule is has departed from it.
    let own = files.path("own.json");
    call(&format!("run {LOG4J} --record"), &[&own]);
    let text = fs::read_to_string(&own).unwrap();
    let longer = text.replacen("\n  ]", ",\n    {\"thread\":\"main\",\"at\":\"33:3\",\"op\":\"join\"}\n  ]", 1);
    let answer = call(&format!("coverage {LOG4J} --schedule"), &[files.write("longer.json", longer)]);
    assert!(answer.status == 2 && answer.complains("the execution is over"), "{answer:?}");
    // Schedules of two programs are no set.
    let with_null = files.path("null.json");
    call(&format!("run {LOG4J} --input start=0 --record"), &[&with_null]);
    let arguments = [own.as_os_str(), "--schedule".as_ref(), with_null.as_os_str()];
    let answer = call(&format!("coverage {LOG4J} --schedule"), &arguments);
    assert!(answer.status == 2 && answer.complains("other inputs"), "{answer:?}");
}

#[test]
fn nothing_is_claimed_beyond_a_bound() {
    let answer = json(&format!("coverage {LOG4J} --max-states 3 --runs 1"));
    assert_eq!((&answer["complete"], &answer["bound"]), (&false.into(), &"max-states".into()));
    assert_eq!(counts(&answer)[1], None);
    assert_eq!(shown(&format!("coverage {LOG4J} --max-states 3 --runs 1")).status, 3);
    let answer = shown(&format!("coverage {LOG4J} --no-exploration --runs 1"));
    assert!(answer.status == 0 && answer.stdout.contains("(--no-exploration)"), "{answer:?}");
    // What is not known is not claimed: of how many instances and pairs it is said then.
    assert!(answer.stdout.starts_with("2 of all 16 instances covered (12.5 %); "), "{}", answer.stdout);
    assert!(answer.stdout.contains("1 of all 3 method pairs covered"), "{}", answer.stdout);
    let files = Files::new();
    let endless =
        files.write("endless.csm", "int x;\ncobegin\n  A: while (x == 0) { skip; }\n  B: skip;\ncoend\nx = 1;\n");
    let answer = call("coverage --runs 2 --max-steps 50", &[&endless]);
    assert!(answer.stdout.contains("not over after the bound of steps"), "{answer:?}");
}

/// A failure that few executions have.
const RARE: &str = "int x;\ncobegin\n A: x = 1; x = 2; x = 3; x = 4; x = 5; x = 6; x = 7; x = 8; x = 9; x = 10;\n B: int a = x; \
                    int b = x; int c = x; int d = x; assert(!(a == 3 && b == 4 && c == 4 && d == 5));\ncoend\n";

#[test]
fn what_a_search_has_met_is_told_where_no_execution_shows_it() {
    let files = Files::new();
    let path = files.write("rare.csm", RARE);
    let answer = call("coverage --format json", &[&path]);
    let value = answer.json();
    assert_eq!(
        (answer.status, &value["ends"], &value["failures"][0]["seed"]),
        (1, &serde_json::json!({"ok": 100}), &Value::Null)
    );
    assert_eq!(value["failures"].as_array().map(Vec::len), Some(1), "{value:#}");
    let answer = call("coverage --record-dir", &[&files.path("found"), &path]);
    assert!(answer.text().contains("not shown by these executions"), "{}", answer.text());
    assert!(answer.stderr.ends_with("1 failure, 0 deadlocks\n"), "{}", answer.stderr);
    let answer = call("run --schedule", &[&files.path("found/failure-1.json"), &path]);
    assert_eq!(answer.status, 1, "{}", answer.text());
    assert_eq!(call("coverage --no-exploration", &[&path]).status, 0);
}

#[test]
fn a_failure_names_what_no_passing_execution_covers() {
    let files = Files::new();
    // Only a write between the two reads fails.
    let text = "int x;\ncobegin\n A: x = 1;\n B: if (x == 0) { int n = x; assert(n == 0); }\ncoend\n";
    let path = files.write("between.csm", text);
    let answer = call("coverage --format json", &[&path]).json();
    let failure = &answer["failures"][0];
    // The second read after the write, and both around it.
    let triggers = failure["triggers"].as_array().unwrap();
    assert_eq!((triggers.len(), &failure["triggers_omitted"]), (2, &0.into()), "{failure:#}");
    let trigger = triggers.iter().find(|one| one["pattern"] == 4).unwrap();
    assert!(triggers.iter().any(|one| one["pattern"] == 2), "{failure:#}");
    assert_eq!(trigger["name"], "a reads, b writes, a reads");
    assert_eq!(trigger["variables"], serde_json::json!(["x"]));
    let accesses: Vec<&str> =
        trigger["steps"].as_array().unwrap().iter().map(|s| s["access"].as_str().unwrap()).collect();
    assert_eq!(accesses, ["x@4:9", "x@3:5", "x@4:27"]);
    let text = call("coverage", &[&path]).stdout;
    assert!(text.contains("no passing execution covers this instance of pattern 4 on x"), "{text}");
    // Where none passes, there is nothing to compare with.
    let always = files.write("always.csm", "int x;\ncobegin\n A: x = 1;\n B: int n = x; assert(false);\ncoend\n");
    let answer = call("coverage --format json", &[&always]).json();
    assert_eq!(answer["failures"][0]["triggers"], serde_json::json!([]), "{answer:#}");
}

#[test]
fn the_answer_is_the_same_for_any_number_of_cores() {
    for file in [LOG4J, "samples/map_log4j.csm", "samples/bank_account_broken.csm"] {
        for form in ["--format json", "", "--report lcov", "--report cobertura", "--report listing --all"] {
            let [one, two] = [1, 2].map(|jobs| shown(&format!("coverage {file} {form} --jobs {jobs}")));
            assert_eq!(one, two, "{file} {form}");
        }
    }
}

/// A read in two branches, of which one is never taken.
const SMALL: &str = "int x;\nint never;\ncobegin\n  A: { if (x > 5) { never = x; } }\n  B: x = 1;\ncoend\n";

#[test]
fn a_listing_shows_each_line_with_what_is_covered() {
    let listing = shown("coverage samples/map_log4j.csm --report listing").stdout;
    for line in [
        "hits  instances\n",
        "                 12 | class Category {\n",
        "  67        2/4  16 |     if (threshold == 0) return true;    // s4\n",
        "  83        3/8  21 |     threshold = value;                  // s9\n",
    ] {
        assert!(listing.contains(line), "{line}: {listing}");
    }
    let files = Files::new();
    let small = files.write("small.csm", SMALL);
    let listing = call("coverage --report listing", &[&small]).stdout;
    let expected = "hits  instances\n                 1 | int x;\n                 2 | int never;\n                 3 | cobegin\n \
                    100        1/8  4 |   A: { if (x > 5) { never = x; } }\n 100        1/8  5 |   B: x = 1;\n                 6 | coend\n";
    assert_eq!(listing, expected);
    let coloured = call("coverage --report listing --color always", &[&small]).stdout;
    assert!(coloured.contains("\u{1b}[33m 100        1/8"), "{coloured}");
}

#[test]
fn lcov_has_a_branch_for_each_instance() {
    let files = Files::new();
    let small = files.write("small.csm", SMALL);
    let out = files.path("small.info");
    let answer = call("coverage --report lcov --output", &[&out, &small]);
    assert!(answer.status == 0 && answer.stdout.contains(" possible instances covered ("), "{answer:?}");
    let text = fs::read_to_string(out).unwrap();
    let name = small.to_str().unwrap();
    let first = "BRDA:4,1,0,42\nBRDA:4,1,1,0\nBRDA:4,4,0,0\nBRDA:4,4,1,0\nBRDA:4,4,2,0\nBRDA:4,4,3,0\nBRDA:4,7,0,0\nBRDA:4,7,1,0\n";
    let second = "BRDA:5,2,0,58\nBRDA:5,2,1,0\nBRDA:5,3,0,0\nBRDA:5,5,0,0\nBRDA:5,5,1,0\nBRDA:5,6,0,0\nBRDA:5,6,1,0\nBRDA:5,8,0,0\n";
    let sums = "BRF:16\nBRH:2\nDA:4,100\nDA:5,100\nLF:2\nLH:2\nend_of_record\n";
    let expected = format!("TN:cssame\nSF:{name}\n{first}{second}{sums}");
    assert_eq!(text, expected);
}

/// Elements of coverage-04.dtd: their attributes that have to be there, and the elements in them.
const COBERTURA: &[(&str, &str, &str)] = &[
    (
        "coverage",
        "line-rate branch-rate lines-covered lines-valid branches-covered branches-valid complexity version timestamp",
        "sources packages",
    ),
    ("sources", "", "source"),
    ("source", "", ""),
    ("packages", "", "package"),
    ("package", "name line-rate branch-rate complexity", "classes"),
    ("classes", "", "class"),
    ("class", "name filename line-rate branch-rate complexity", "methods lines"),
    ("methods", "", "method"),
    ("lines", "", "line"),
    ("line", "number hits", "conditions"),
    ("conditions", "", "condition"),
    ("condition", "number type coverage", ""),
];

fn assert_cobertura(node: Node<'_, '_>) {
    let name = node.tag_name().name();
    let (_, attributes, inner) =
        COBERTURA.iter().find(|(known, ..)| *known == name).unwrap_or_else(|| panic!("{name}"));
    for attribute in attributes.split_whitespace() {
        assert!(node.has_attribute(attribute), "{name} lacks {attribute}");
    }
    let optional = ["branch", "condition-coverage"];
    let known = |one: &str| attributes.split_whitespace().any(|known| known == one) || optional.contains(&one);
    assert!(node.attributes().all(|one| known(one.name())), "{name}");
    for child in node.children().filter(Node::is_element) {
        assert!(inner.split_whitespace().any(|known| known == child.tag_name().name()), "{name}");
        assert_cobertura(child);
    }
}

#[test]
fn cobertura_keeps_to_its_dtd() {
    let files = Files::new();
    let hostile = files.write("a<&\">'.csm", SMALL);
    for file in [LOG4J.into(), "samples/map_log4j.csm".into(), "samples/bank_transfer.csm".into(), hostile] {
        let text = call("coverage --report cobertura -q", &[&file]).stdout;
        assert!(text.contains("<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">"));
        let document = Document::parse_with_options(&text, ParsingOptions { allow_dtd: true, ..Default::default() });
        let document = document.unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_cobertura(document.root_element());
        let class = document.descendants().find(|node| node.has_tag_name("class")).unwrap();
        assert_eq!(class.attribute("filename"), file.to_str());
    }
    let text = shown(&format!("coverage {LOG4J} --runs 1 --report cobertura")).stdout;
    let line = "            <line number=\"18\" hits=\"1\" branch=\"true\" condition-coverage=\"25% (1/4)\">\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_report_and_json_do_not_share_standard_output() {
    let answer = shown(&format!("coverage {LOG4J} --report lcov --format json"));
    assert!(answer.status == 2 && answer.complains("--output"), "{answer:?}");
    let files = Files::new();
    let out = files.path("no/such/directory.info");
    let answer = call(&format!("coverage {LOG4J} --report lcov --output"), &[&out]);
    assert!(answer.status == 2 && answer.complains("CS0910"), "{answer:?}");
}

#[test]
fn packages_of_tests_are_replayed_as_one_set() {
    let files = Files::new();
    let [terms, groups, pairs] = ["terms", "groups", "pairs"].map(|name| files.path(name));
    call(&format!("drive {LOG4J} --out"), &[&terms]);
    call(&format!("paths {LOG4J} --emit"), &[&groups]);
    for (package, covered) in [(terms.clone(), 5), (terms.join("MANIFEST.json"), 5), (groups, 3)] {
        let answer = call(&format!("coverage {LOG4J} --format json --package"), &[&package]).json();
        assert_eq!(counts(&answer)[3], Some(covered), "{package:?}: {answer:#}");
    }
    // A package of a program, and one of contexts for a file without main.
    let program = fs::read_to_string("samples/bank_account_broken.csm").unwrap();
    let class = files.write("class.csm", program.split("void main").next().unwrap());
    call("drive --pairs --out", &[pairs.as_os_str(), class.as_os_str()]);
    let answer = call("coverage --format json --package", &[pairs.as_os_str(), class.as_os_str()]).json();
    assert!(answer["executions"].as_u64() >= Some(6), "{answer:#}");
    // Tests of pairs of a program begin in recorded states: they are of other programs.
    let file = std::ffi::OsStr::new("samples/bank_account_broken.csm");
    call("drive --pairs --out", &[pairs.as_os_str(), file]);
    let answer = call("coverage --package", &[pairs.as_os_str(), file]);
    assert!(answer.complains("of the package left out: not of this program"), "{answer:?}");
    let answer = call("coverage samples/map_log4j.csm --package", &[&terms]);
    assert!(answer.status == 2 && answer.complains("only a program has recorded executions"), "{answer:?}");
    // Of an older version.
    let manifest = fs::read_to_string(terms.join("MANIFEST.json")).unwrap().replace("\"schedule\":", "\"other\":");
    let answer = call(&format!("coverage {LOG4J} --package"), &[files.write("old.json", manifest)]);
    assert!(answer.status == 2 && answer.complains("write the package again"), "{answer:?}");
    for (content, says) in [("{}", "it is no manifest"), (r#"{"schema": "x", "tests": []}"#, "it has the format `x`")] {
        let answer = call(&format!("coverage {LOG4J} --package"), &[files.write("wrong.json", content)]);
        assert!(answer.status == 2 && answer.complains(says), "{answer:?}");
    }
}

#[test]
fn tests_are_generated_and_a_failure_is_shown_as_a_table() {
    let answer = shown("coverage --generate samples/map_log4j.csm");
    assert_eq!(answer.status, 1);
    for part in [
        "1 failure in ",
        "failure 1: not-linearizable: no order of the calls gives these results\n  Category, found by test ",
        "  objects  Category o\n  prefix   o.set(",
        "\n  threads  a             b\n",
        "o.set(0)",
        "\n  allowed  a: ",
        "\nline  main                ",
        "\nwrite:  cssame coverage samples/map_log4j.csm --generate --out tests\nreplay: cssame run tests/recorded/failure_1.csm ",
    ] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    let long: Vec<&str> =
        answer.stdout.lines().filter(|line| line.chars().count() > 80 && !line.starts_with("replay: ")).collect();
    assert!(long.is_empty(), "{long:#?}");
    // Nothing fails, and what is used up is no bound.
    let answer = shown("coverage --generate --tests 16 samples/classes/once.csm");
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(answer.stdout.starts_with("no failure in 16 tests, as many as were asked for; seed 0, strategy both\n"));
    let answer = shown("coverage --generate --time 0.3 samples/classes/once.csm");
    assert!(answer.status == 0 && answer.stdout.contains(" tests, as many as the time allowed"), "{answer:?}");
    let answer = shown("coverage --generate --timeout 0.3 --tests 100000 samples/classes/once.csm");
    assert_eq!(answer.status, 3, "{answer:?}");
}

#[test]
fn generated_tests_are_the_same_for_a_seed_and_any_number_of_cores() {
    for strategy in ["random", "pairs", "patterns", "both"] {
        let line =
            format!("coverage --generate --tests 24 --keep-going --seed 3 --strategy {strategy} samples/map_log4j.csm");
        let [one, two] = [1, 2].map(|jobs| shown(&format!("{line} --format json --jobs {jobs}")));
        assert_eq!(one, two, "{strategy}");
        assert_eq!((&one.json()["seed"], &one.json()["strategy"]), (&3.into(), &strategy.into()));
    }
}

#[test]
fn generated_tests_are_written_with_their_executions() {
    let files = Files::new();
    let out = files.path("tests");
    let answer = call("coverage --generate samples/map_log4j.csm --format json --out", &[&out]).json();
    let emitted: Vec<&str> = answer["emitted"]["files"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert!(emitted.contains(&"recorded/failure_1.csm") && emitted.contains(&"recorded/failure_1.json"), "{emitted:?}");
    let recorded = out.join("recorded");
    let schedule = recorded.join("failure_1.json");
    let program = recorded.join("failure_1.csm");
    let text = fs::read_to_string(&program).unwrap();
    assert!(text.starts_with(&fs::read_to_string("samples/map_log4j.csm").unwrap()));
    // What the failure says that the calls give is what the execution prints.
    let again = call("run --format json --schedule", &[&schedule, &program]).json();
    let results = answer["failures"][0]["results"]["suffixes"].as_array().unwrap();
    let printed: Vec<&Value> =
        results.iter().flat_map(|of| of.as_array().unwrap()).filter(|one| !one.is_null()).collect();
    assert_eq!(again["output"].as_array().unwrap().iter().collect::<Vec<_>>(), printed, "{again:#}");
    let emitted = fs::read_to_string(out.join("tests/futures.rs")).unwrap();
    let panic = "panic!(\"{}\", \"not linearizable: no order of the calls gives these results\");";
    assert_eq!(emitted.matches(panic).count(), 1, "{emitted}");
    // Only what fails and counts is to fail.
    assert_eq!(emitted.matches("Expect::Program)").count(), 1, "{emitted}");
    let set = call("coverage samples/map_log4j.csm --format json --package", &[&out]).json();
    assert_eq!(set["executions"].as_u64(), answer["emitted"]["tests"].as_array().map(|tests| tests.len() as u64));
    // A package takes the place of another one; a class that has changed does not fit.
    assert_eq!(call("coverage --generate --tests 8 samples/classes/once.csm --out", &[&out]).status, 0);
    assert!(!schedule.exists());
    let answer = call("coverage samples/map_log4j.csm --package", &[&out]);
    assert!(answer.status == 2 && answer.complains("does not begin with the text of"), "{answer:?}");
}

#[test]
fn what_stands_in_the_way_of_tests_is_told() {
    for (line, says) in [
        (format!("coverage --generate {LOG4J}"), "the file has a main of its own"),
        ("coverage --generate --spec Nobody samples/map_log4j.csm".to_owned(), "there is no class `Nobody`"),
        (
            "coverage --generate --invariant severe samples/map_log4j.csm".to_owned(),
            "there is no public method `severe`",
        ),
        ("coverage --generate --runs 3 samples/map_log4j.csm".to_owned(), "cannot be used with"),
        ("coverage --tests 3 samples/map_log4j.csm".to_owned(), "--generate"),
        ("coverage --generate --time 1 --timeout 1 samples/map_log4j.csm".to_owned(), "cannot be used with"),
    ] {
        let answer = shown(&line);
        assert!(answer.status == 2 && answer.complains(says), "{line}: {answer:?}");
    }
}

#[test]
fn more_instances_than_are_looked_at_are_no_matter_of_memory() {
    let body: String = (0..6).map(|number| format!("v{number} = v{number} + 1; ")).collect();
    let arms: String = (0..12).map(|arm| format!("T{arm}: {{ {body}}}\n")).collect();
    let files = Files::new();
    let path = files.write("p.csm", format!("int v0, v1, v2, v3, v4, v5;\ncobegin\n{arms}coend\n"));
    let answer = call("coverage --runs 1 --format json", &[&path]);
    assert_eq!((answer.status, &answer.json()["bound"]), (3, &"too-many".into()));
    let shown = call("coverage --runs 1", &[&path]);
    assert!(shown.complains("no option raises this bound"), "{shown:?}");
}
