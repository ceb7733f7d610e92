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
    let first = "covered: 2 of 16 instances (12.5 %), 2 of 5 that can happen (40.0 %)\n";
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
    assert!(answer.status == 2 && answer.stderr.contains("does not fit the program"), "{answer:?}");
    let answer = call("coverage samples/map_log4j.csm --schedule", &[&other]);
    assert!(answer.status == 2 && answer.stderr.contains("CS0216"), "{answer:?}");
    // An execution that is over before its schedule is has departed from it.
    let own = files.path("own.json");
    call(&format!("run {LOG4J} --record"), &[&own]);
    let text = fs::read_to_string(&own).unwrap();
    let longer = text.replacen("\n  ]", ",\n    {\"thread\":\"main\",\"at\":\"33:3\",\"op\":\"join\"}\n  ]", 1);
    let answer = call(&format!("coverage {LOG4J} --schedule"), &[files.write("longer.json", longer)]);
    assert!(answer.status == 2 && answer.stderr.contains("the execution is over"), "{answer:?}");
    // Schedules of two programs are no set.
    let with_null = files.path("null.json");
    call(&format!("run {LOG4J} --input start=0 --record"), &[&with_null]);
    let arguments = [own.as_os_str(), "--schedule".as_ref(), with_null.as_os_str()];
    let answer = call(&format!("coverage {LOG4J} --schedule"), &arguments);
    assert!(answer.status == 2 && answer.stderr.contains("other inputs"), "{answer:?}");
}

#[test]
fn nothing_is_claimed_beyond_a_bound() {
    let answer = json(&format!("coverage {LOG4J} --max-states 3 --runs 1"));
    assert_eq!((&answer["complete"], &answer["bound"]), (&false.into(), &"max-states".into()));
    assert_eq!(counts(&answer)[1], None);
    assert_eq!(shown(&format!("coverage {LOG4J} --max-states 3 --runs 1")).status, 3);
    let answer = shown(&format!("coverage {LOG4J} --no-exploration --runs 1"));
    assert!(answer.status == 0 && answer.stdout.contains("(--no-exploration)"), "{answer:?}");
    let files = Files::new();
    let endless =
        files.write("endless.csm", "int x;\ncobegin\n  A: while (x == 0) { skip; }\n  B: skip;\ncoend\nx = 1;\n");
    let answer = call("coverage --runs 2 --max-steps 50", &[&endless]);
    assert!(answer.stdout.contains("not over after the bound of steps"), "{answer:?}");
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
    assert!(answer.status == 0 && answer.stdout.starts_with("covered: "), "{answer:?}");
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
    assert!(answer.status == 2 && answer.stderr.contains("--output"), "{answer:?}");
    let files = Files::new();
    let out = files.path("no/such/directory.info");
    let answer = call(&format!("coverage {LOG4J} --report lcov --output"), &[&out]);
    assert!(answer.status == 2 && answer.stderr.contains("CS0910"), "{answer:?}");
}
