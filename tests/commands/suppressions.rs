//! Findings that comments, options, configuration files and baselines suppress, in every command.

use crate::process::{Answer, Files, finish, program};
use serde_json::Value;
use std::collections::BTreeSet;

/// A race, a cycle of locks, a failure and a deadlock.
const FAULTY: &str = "\
int x;
lock a, b;
void left() { x = 1; lock(a); lock(b); unlock(b); unlock(a); }
void right() { x = 2; lock(b); lock(a); unlock(a); unlock(b); }
cobegin
  T1: left();
  T2: right();
coend
assert(x == 1);
";

/// Two variables that a method touches in two regions.
const TORN: &str = "\
int seconds, minutes;
lock L;
void set(int s) { lock(L); seconds = s; unlock(L); lock(L); minutes = seconds / 60; unlock(L); }
cobegin
  T1: set(60);
  T2: set(120);
coend
";

struct Project {
    files: Files,
}

impl Project {
    fn new(text: &str) -> Project {
        let files = Files::new();
        files.write("p.csm", text);
        Project { files }
    }

    fn call(&self, line: &str) -> Answer {
        finish(program().current_dir(self.files.0.path()).args(line.split_whitespace()))
    }

    fn json(&self, line: &str) -> (i32, Value) {
        let answer = self.call(&format!("{line} --format json"));
        (answer.status, answer.json())
    }

    /// The codes that `check` shows, with the lines.
    fn checked(&self, options: &str) -> Vec<(String, String, u64)> {
        let (_, value) = self.json(&format!("check {options} p.csm"));
        let list = value["diagnostics"].as_array().unwrap();
        let one = |of: &Value| {
            let text = |key: &str| of[key].as_str().unwrap().to_owned();
            (text("code"), text("severity"), of["line"].as_u64().unwrap_or(0))
        };
        list.iter().map(one).collect()
    }
}

fn codes(of: &[(String, String, u64)]) -> Vec<&str> {
    of.iter().map(|(code, ..)| code.as_str()).collect()
}

fn suppressed(value: &Value) -> Vec<(String, String)> {
    let list = value["suppressed"].as_array().cloned().unwrap_or_default();
    let text = |of: &Value, key: &str| of[key].as_str().unwrap().to_owned();
    list.iter().map(|of| (text(of, "code"), text(of, "by"))).collect()
}

/// Each command that reports findings, and how it is called.
const COMMANDS: [&str; 13] = [
    "check p.csm",
    "run --seed 0 p.csm",
    "run --seeds 0..50 p.csm",
    "run --seeds 0..200 --keep-going p.csm",
    "futures p.csm",
    "futures --select x@9:8=x@initial p.csm",
    "races p.csm",
    "correlate p.csm",
    "correlate --static p.csm",
    "paths p.csm",
    "paths --compare p.csm",
    "coverage --runs 50 p.csm",
    "drive --out out p.csm",
];

#[test]
fn every_command_finds_nothing_that_is_allowed() {
    for text in [FAULTY, TORN] {
        let project = Project::new(text);
        for line in COMMANDS {
            if text == TORN && line.contains("--select") {
                continue;
            }
            let (before, plain) = project.json(line);
            assert!(suppressed(&plain).is_empty(), "{line}: {plain}");
            let (after, value) = project.json(&format!("{line} --allow all"));
            assert_eq!(after, 0, "{line}: {value}");
            assert_eq!(before == 1, !suppressed(&value).is_empty(), "{line}: {value}");
            // Code by code: without those that were found there is nothing left, without all but one of them there is.
            let found: BTreeSet<String> = suppressed(&value).into_iter().map(|(code, _)| code).collect();
            let all: Vec<&str> = found.iter().map(String::as_str).collect();
            if all.is_empty() {
                continue;
            }
            let status = |codes: &[&str]| project.call(&format!("{line} --allow {}", codes.join(","))).status;
            assert_eq!(status(&all), 0, "{line}: {all:?}");
            if all.len() > 1 {
                assert_eq!(status(&all[1..]), 1, "{line}: {all:?}");
            }
        }
    }
}

/// The programs in a page of the manual.
fn programs(page: &str) -> Vec<String> {
    let fences = page.split("```csm\n").skip(1).filter_map(|rest| rest.split_once("```"));
    fences.map(|(program, _)| program.to_owned()).collect()
}

#[test]
fn every_code_of_findings_can_be_allowed_and_no_other() {
    let pages = finish(program().args(["explain", "--format", "json"])).json();
    let mut shown = BTreeSet::new();
    for page in pages["codes"].as_array().unwrap() {
        let code = page["code"].as_str().unwrap();
        let is_finding = ["CS03", "CS04", "CS05", "CS0913", "CS0914"].iter().any(|class| code.starts_with(class));
        let project = Project::new("print(1);\n");
        for level in ["allow", "warn", "deny"] {
            let status = project.call(&format!("check --{level} {code} p.csm")).status;
            assert_eq!(status, if is_finding { 0 } else { 2 }, "--{level} {code}");
        }
        for text in programs(page["page"].as_str().unwrap()) {
            let project = Project::new(&text);
            let (status, _) = project.json("check p.csm");
            let before = project.checked("");
            if !is_finding || !codes(&before).contains(&code) || status == 2 {
                continue;
            }
            shown.insert(code.to_owned());
            let allowed = project.checked(&format!("--allow {code}"));
            let others: Vec<&str> = codes(&before).into_iter().filter(|&other| other != code).collect();
            assert_eq!(codes(&allowed), others, "{code}:\n{text}");
            let denied = project.checked(&format!("--deny {code}"));
            let is_denied = |(other, severity, _): &(String, String, u64)| other != code || severity == "error";
            assert!(denied.iter().all(is_denied) && codes(&denied) == codes(&before), "{code}: {denied:?}");
        }
    }
    assert!(shown.len() >= 18, "{shown:?}");
}

#[test]
fn generated_tests_of_a_class_can_be_allowed_to_fail() {
    let project = Project::new("class Counter {\n  private int n;\n  public int next() { n = n + 1; return n; }\n}\n");
    let line = "coverage --generate --tests 40 p.csm";
    assert_eq!(project.call(line).status, 1);
    let (status, value) = project.json(&format!("{line} --allow CS0421"));
    assert_eq!((status, suppressed(&value)[0].0.as_str()), (0, "CS0421"), "{}", value["suppressed"]);
    let allowed = Project::new(
        "// cssame: allow(CS0421): numbers may repeat\nclass Counter {\n  private int n;\n  public int next() { n = n + 1; return n; }\n}\n",
    );
    let (status, value) = allowed.json(line);
    assert_eq!((status, suppressed(&value)[0].1.as_str()), (0, "comment"), "{}", value["suppressed"]);
}

#[test]
fn an_execution_that_is_suppressed_is_no_reason_to_stop() {
    let project = Project::new(FAULTY);
    let executions =
        |options: &str| project.json(&format!("run --seeds 0..50 {options} p.csm")).1["executions"].clone();
    assert_ne!(executions(""), 50);
    assert_eq!(executions("--allow CS0410,CS0412"), 50);
}

#[test]
fn differences_that_are_failures_can_be_allowed() {
    let project = Project::new("int x; assert(x == 0);\n");
    project.files.write("q.csm", "int x = 1; assert(x == 0);\n");
    let plain = project.call("diff p.csm q.csm");
    assert_eq!(plain.status, 1);
    let (status, value) = project.json("diff p.csm q.csm --allow CS0410");
    assert!(suppressed(&value).iter().all(|(code, by)| code == "CS0410" && by == "option"), "{value}");
    // The outcome that ends well is gone, whatever is allowed.
    assert_eq!(status, 1, "{value}");
}

#[test]
fn a_comment_is_for_its_line_the_next_line_and_declarations() {
    let race = |text: &str| codes(&Project::new(text).checked("")).contains(&"CS0401");
    let with = |declaration: &str, before: &str, first: &str| {
        race(&format!("{declaration}\ncobegin\n{before}  T1: x = 1;{first}\n  T2: x = 2;\ncoend\nprint(x);\n"))
    };
    assert!(with("int x;", "", ""));
    assert!(!with("int x; // cssame: allow(CS0401): why not", "", ""));
    assert!(!with("// cssame: allow(CS0306, CS0401)\n// more to say\nint x;", "", ""));
    assert!(!with("int x;", "", " // cssame: allow(CS0401)"));
    assert!(!with("int x;", "  // cssame: allow(CS0401)\n", ""));
    // An empty line parts, a block comment and a string allow nothing, and other codes stay.
    assert!(with("int x;", "  // cssame: allow(CS0401)\n\n", ""));
    assert!(with("int x;", "", " /* cssame: allow(CS0401) */"));
    assert!(with("int x;", "", " print(\"// cssame: allow(CS0401)\");"));
    assert!(with("int x; // cssame: allow(CS0402)", "", ""));
}

#[test]
fn a_comment_at_a_function_a_method_or_a_class_is_for_all_of_it() {
    let text = |method: &str, class: &str, field: &str, object: &str| {
        format!(
            "{class}class C {{\n  int f; {field}\n{method}  void m() {{\n    f = 1;\n  }}\n}}\nC c; {object}\n\
             cobegin\n  T1: c.m();\n  T2: c.m();\ncoend\nprint(c.f);\n"
        )
    };
    let races = |text: &str| codes(&Project::new(text).checked("")).contains(&"CS0401");
    let allow = "// cssame: allow(CS0401)";
    assert!(races(&text("", "", "", "")));
    assert!(!races(&text(&format!("  {allow}\n"), "", "", "")));
    assert!(!races(&text("", &format!("{allow}\n"), "", "")));
    assert!(!races(&text("", "", allow, "")));
    assert!(!races(&text("", "", "", allow)));
    // Of two variables of one name, the one that is meant.
    let two = |first: &str, second: &str| {
        format!(
            "void f() {{\n  int x; {first}\n  cobegin\n    A: x = 1;\n    B: x = 2;\n  coend\n  print(x);\n}}\nint x; {second}\n\
             cobegin\n  A: x = 1;\n  B: x = 2;\ncoend\nprint(x);\nf();\n"
        )
    };
    let lines = |text: &str| Project::new(text).checked("").into_iter().map(|(.., line)| line).collect::<Vec<_>>();
    assert_eq!(lines(&two("", "")), [4, 11]);
    assert_eq!(lines(&two(allow, "")), [11]);
    assert_eq!(lines(&two("", allow)), [4]);
}

#[test]
fn a_lock_and_a_library_can_be_allowed_too() {
    let cycle = |comment: &str| Project::new(&FAULTY.replacen("lock a, b;", &format!("lock a, b; {comment}"), 1));
    let allowed = cycle("// cssame: allow(CS0402, CS0412): never at once");
    assert!(!codes(&allowed.checked("")).contains(&"CS0402"));
    let (_, value) = allowed.json("futures p.csm");
    assert_eq!(suppressed(&value), [("CS0412".to_owned(), "comment".to_owned())]);
    let library = Project::new(
        "class C {\n  private int n; // cssame: allow(CS0401): a guess is enough\n  public void add() { n++; }\n}\n",
    );
    assert_eq!(codes(&library.checked("")), Vec::<&str>::new());
}

#[test]
fn an_unused_comment_is_told_only_where_its_code_was_looked_for() {
    let text = "int x; // cssame: allow(CS0401, CS0412): not so\nlock L;\ncobegin\n  T1: { lock(L); x = 1; unlock(L); }\n  \
                T2: { lock(L); x = 2; unlock(L); }\ncoend\nprint(x);\n";
    let project = Project::new(text);
    let unused = [("CS0913".to_owned(), "note".to_owned(), 1)];
    assert_eq!(project.checked(""), unused);
    assert_eq!(project.call("check p.csm").status, 0);
    let told = |line: &str| {
        let (status, value) = project.json(line);
        let list = value["suppression_diagnostics"].as_array().cloned().unwrap_or_default();
        let messages = list.iter().map(|of| of["message"].as_str().unwrap()[1..7].to_owned());
        (status, messages.collect::<Vec<_>>())
    };
    assert_eq!(told("futures p.csm"), (0, vec!["CS0412".to_owned()]));
    assert_eq!(told("futures --max-states 2 p.csm").1, Vec::<String>::new());
    assert_eq!(told("run p.csm").1, Vec::<String>::new());
    assert_eq!(told("futures --deny CS0913 p.csm").0, 1);
    assert_eq!(told("futures --allow CS0913 p.csm"), (0, vec![]));
}

#[test]
fn a_comment_that_says_nothing_is_a_warning_with_what_was_meant() {
    for (comment, help) in [
        ("cssame: alow(CS0401)", "did you mean `allow`"),
        ("cssme: allow(CS0401)", "the name is `cssame`"),
        ("cssame: allow CS0401", "write it as"),
        ("cssame: allow()", "write it as"),
        ("cssame: allow(CS0401) because", "write it as"),
        ("cssame: allow(CS401)", "did you mean `CS0401`"),
        ("cssame: allow(CS0203)", "errors of syntax, names and types"),
        ("cssame: allow(CS9999)", "lists all codes"),
    ] {
        let project = Project::new(&format!("int x = 1; // {comment}\nprint(x);\n"));
        let answer = project.call("check p.csm");
        assert!(answer.status == 1 && answer.stdout.contains("warning[CS0914]"), "{comment}: {answer:?}");
        let unfolded = answer.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unfolded.contains(help), "{comment}: {answer:?}");
        assert_eq!(project.call("futures p.csm").status, 0, "{comment}");
    }
    let project = Project::new("// cssame is a tool\n// see: cssame\nprint(1); // cssame: recorded state\n");
    assert_eq!(project.checked(""), []);
}

#[test]
fn options_give_codes_a_level_and_the_last_one_holds() {
    let project = Project::new(FAULTY);
    let severity = |options: &str| {
        let all = project.checked(options);
        all.into_iter().find(|(code, ..)| code == "CS0401").map(|(_, severity, _)| severity)
    };
    assert_eq!(severity("").as_deref(), Some("warning"));
    assert_eq!(severity("--deny CS0401").as_deref(), Some("error"));
    assert_eq!(severity("--deny warnings").as_deref(), Some("error"));
    assert_eq!(severity("--deny CS0401 --allow CS0402,CS0401"), None);
    assert_eq!(severity("--allow all --deny CS0401").as_deref(), Some("error"));
    assert_eq!(severity("--deny CS0401 --allow all"), None);
    assert_eq!(severity("--allow CS0401 --deny warnings"), None);
    let allowed = Project::new(&FAULTY.replacen("int x;", "int x; // cssame: allow(CS0401)", 1));
    assert!(!codes(&allowed.checked("--deny CS0401")).contains(&"CS0401"), "a comment is nearer");
}

#[test]
fn errors_of_a_program_that_does_not_compile_have_no_level() {
    let project = Project::new("int x = \"one\";\n// cssame: allow(CS0401)\nx = 1;\n");
    for options in ["", "--allow all"] {
        assert_eq!(codes(&project.checked(options)), ["CS0203"], "{options}");
        assert_eq!(project.call(&format!("check {options} p.csm")).status, 2);
    }
    let answer = project.call("check --allow CS0203 p.csm");
    assert!(answer.status == 2 && answer.stderr.contains("`CS0203` (wrong type) has no level"), "{answer:?}");
    let answer = project.call("check --deny CS4010 p.csm");
    assert!(answer.status == 2 && answer.stderr.contains("did you mean `CS0410`"), "{answer:?}");
}

#[test]
fn the_summary_counts_what_is_suppressed() {
    let project = Project::new(FAULTY);
    let answer = project.call("check --allow CS0401 p.csm");
    assert!(answer.stderr.ends_with("1 finding suppressed: 1 by options\n"), "{answer:?}");
    let answer = project.call("check -q --allow CS0401 p.csm");
    assert_eq!(answer.stderr, "");
    let answer = project.call("futures --allow CS0412 p.csm");
    assert!(answer.status == 1 && !answer.stdout.contains("[CS0412]"), "{answer:?}");
    assert!(answer.stdout.contains("  deadlock  "), "the outcome stays: {answer:?}");
}

#[test]
fn the_nearest_configuration_gives_levels_and_bounds() {
    let project = Project::new(FAULTY);
    std::fs::create_dir_all(project.files.path("a/b")).unwrap();
    project.files.write("a/b/p.csm", FAULTY);
    project.files.write("cssame.toml", "[lints]\nCS0401 = \"deny\"\nall = \"warn\"\n");
    project.files.write("a/cssame.toml", "[lints]\nCS0401 = 'allow'\nwarnings = 'deny'\n[bounds]\nmax-states = 3\n");
    let shown = |line: &str| {
        let (_, value) = project.json(line);
        let list = value["diagnostics"].as_array().unwrap();
        let one = |of: &Value| format!("{} {}", of["code"].as_str().unwrap(), of["severity"].as_str().unwrap());
        list.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(shown("check p.csm"), ["CS0401 error", "CS0402 warning"]);
    assert_eq!(shown("check a/b/p.csm"), ["CS0402 error"]);
    assert_eq!(shown("check p.csm a/b/p.csm"), ["CS0401 error", "CS0402 warning", "CS0402 error"]);
    assert_eq!(shown("check --warn CS0401 a/b/p.csm"), ["CS0401 error", "CS0402 error"], "`warnings` comes last");
    assert_eq!(shown("check --config a/cssame.toml p.csm"), ["CS0402 error"]);
    assert_eq!(shown("check --no-config a/b/p.csm"), ["CS0401 warning", "CS0402 warning"]);
    let (_, value) = project.json("check a/b/p.csm");
    assert_eq!(suppressed(&value), [("CS0401".to_owned(), "config".to_owned())]);
    for command in ["futures", "races", "paths", "drive --out o", "diff a/b/p.csm"] {
        let bounded = project.json(&format!("{command} a/b/p.csm")).1;
        let free = project.json(&format!("{command} --max-states 100000 a/b/p.csm")).1;
        assert!(bounded != free, "{command}");
    }
    project.files.write("a/b/q.csm", TORN);
    assert_ne!(project.json("correlate a/b/q.csm").1, project.json("correlate --no-config a/b/q.csm").1);
    let flag = "int x; atomic int f;\ncobegin\n  T1: { x = 1; f = 1; }\n  T2: if (f == 1) x = 2;\ncoend\nprint(x);\n";
    project.files.write("a/b/r.csm", flag);
    let message = |options: &str| {
        project.json(&format!("check --confirm {options} --warn CS0401 a/b/r.csm")).1["diagnostics"][0]["message"]
            .clone()
    };
    assert_ne!(message(""), message("--max-states 100000"));
    project.files.write("steps.toml", "[bounds]\nmax-steps = 3\n");
    let executed = |line: &str| project.json(line).1["ends"].clone();
    assert_ne!(executed("coverage --config steps.toml p.csm"), executed("coverage p.csm"));
    let (_, value) = project.json("futures a/b/p.csm");
    assert_eq!(value["bound"], "max-states", "{value}");
    assert_eq!(project.json("futures p.csm").1["bound"], Value::Null);
    project.files.write("cssame.toml", "[bounds]\nmax-steps = 2\n");
    assert_eq!(project.call("run p.csm").status, 3);
    assert_eq!(project.call("run --max-steps 1000 p.csm").status, 1);
}

#[test]
fn all_that_is_wrong_with_a_configuration_is_told_with_its_place() {
    let project = Project::new("print(1);\n");
    let text = "[lints]\nCS0410 = \"alow\"\nCS0203 = \"allow\"\nwarnigs = \"deny\"\nCS0401 = 3\n\
                [bounds]\nmax-state = 5\nmax-steps = 0\nmax-memory = \"much\"\ntimeout = true\n[lint]\n";
    project.files.write("cssame.toml", text);
    for line in ["check p.csm", "futures p.csm", "run p.csm"] {
        let (status, value) = project.json(line);
        assert_eq!(status, 2, "{value}");
        let list = value["diagnostics"].as_array().unwrap();
        assert!(list.iter().all(|of| of["code"] == "CS0915" && of["file"] == "cssame.toml"), "{value}");
        let lines: Vec<u64> = list.iter().map(|of| of["line"].as_u64().unwrap()).collect();
        assert_eq!(lines, [2, 3, 4, 5, 7, 8, 9, 10, 11], "{value}");
    }
    let text = project.call("check p.csm").stderr;
    for help in
        ["did you mean `allow`?", "did you mean `max-states`?", "did you mean `lints`?", "did you mean `warnings`?"]
    {
        assert!(text.contains(help), "{help}: {text}");
    }
    project.files.write("cssame.toml", "[lints\nCS0401 = \"allow\"\n");
    let answer = project.call("check p.csm");
    assert!(answer.status == 2 && answer.stderr.contains("`cssame.toml` is not TOML"), "{answer:?}");
    let answer = project.call("check --config none.toml p.csm");
    assert!(answer.status == 2 && answer.stderr.contains("CS0909"), "{answer:?}");
    assert_eq!(project.call("check --no-config p.csm").status, 0);
}

#[test]
fn a_baseline_leaves_only_what_is_new() {
    let project = Project::new(FAULTY);
    for line in COMMANDS {
        let (before, _) = project.json(line);
        let (status, value) = project.json(&format!("{line} --write-baseline known.json"));
        assert_eq!(status, 0, "{line}: {value}");
        assert_eq!(before == 1, suppressed(&value).iter().any(|(_, by)| by == "baseline"), "{line}: {value}");
        let written = std::fs::read_to_string(project.files.path("known.json")).unwrap();
        assert_eq!(project.call(&format!("{line} --baseline known.json")).status, 0, "{line}: {written}");
        project.call(&format!("{line} --write-baseline known.json"));
        assert_eq!(std::fs::read_to_string(project.files.path("known.json")).unwrap(), written, "{line}");
    }
}

#[test]
fn a_baseline_knows_findings_whose_lines_have_moved_and_counts_them() {
    let project = Project::new(FAULTY);
    assert_eq!(project.call("check --write-baseline known.json p.csm").status, 0);
    project.files.write("p.csm", format!("// one\n\nint other;\n{FAULTY}"));
    assert_eq!(project.call("check --baseline known.json p.csm").status, 0);
    // From another directory the file is the same.
    let answer = finish(
        program()
            .current_dir(project.files.path(".."))
            .args(["check", "--baseline"])
            .args([project.files.path("known.json"), project.files.path("p.csm")]),
    );
    assert_eq!(answer.status, 0, "{answer:?}");
    project.files.write("p.csm", FAULTY.replace("x", "y"));
    let (status, value) = project.json("check --baseline known.json p.csm");
    assert_eq!(status, 1);
    assert_eq!(value["diagnostics"][0]["code"], "CS0401");
    assert_eq!(suppressed(&value), [("CS0402".to_owned(), "baseline".to_owned())]);
    // One dead write is known, the second one is new.
    let dead =
        |text: &str| project.files.write("p.csm", format!("int x;\nvoid f(int n) {{ {text} }}\nf(1);\nprint(x);\n"));
    let once = "if (n == 1) { return; x = 1; }";
    dead(once);
    assert_eq!(project.call("check p.csm").status, 1);
    assert_eq!(project.call("check --write-baseline known.json p.csm").status, 0);
    assert_eq!(project.call("check --baseline known.json p.csm").status, 0);
    dead(&format!("{once} {once}"));
    let (status, value) = project.json("check --baseline known.json p.csm");
    assert_eq!((status, value["warnings"].as_u64()), (1, Some(1)), "{value}");
}

#[test]
fn what_is_no_baseline_is_an_error() {
    let project = Project::new(FAULTY);
    project.files.write("bad.json", "{\"schema\": \"cssame/1\", \"findings\": []}");
    for (options, code) in
        [("--baseline bad.json", "CS0916"), ("--baseline p.csm", "CS0916"), ("--baseline no", "CS0909")]
    {
        let answer = project.call(&format!("check {options} p.csm"));
        assert!(answer.status == 2 && answer.stderr.contains(code), "{answer:?}");
    }
    assert_eq!(project.call("check --baseline a --write-baseline b p.csm").status, 2);
}
