//! Files that are no programs: each command says so with a code and a place, with status 2, in bounded time and memory.

use super::{Answer, Files, call};
use serde_json::Value;
use std::path::Path;

/// Every command that reads a program, with the forms of its answer. All but the first check names and types, too.
const COMMANDS: &[&str] = &[
    "ir --emit ast",
    "check",
    "check --format json",
    "ir --emit cfg --format dot",
    "ir --emit ssa --format json",
    "pi",
    "run --format json",
    "futures",
    "drive --format json",
];

/// Text that is no program: its name, what it is, and the code of the first diagnostic.
type Case = (&'static str, Vec<u8>, &'static str);

fn bytes(text: impl AsRef<[u8]>) -> Vec<u8> {
    text.as_ref().to_vec()
}

/// What is wrong before names and types are looked at.
fn unreadable() -> Vec<Case> {
    let many: String = (0..2_000).map(|number| format!("v{number} = ;\n")).collect();
    vec![
        ("empty", bytes(""), "CS0109"),
        ("byte order mark", bytes("\u{feff}"), "CS0109"),
        ("blanks", bytes(" \t\r\n\n"), "CS0109"),
        ("comment only", bytes("// nothing\n/* at all */"), "CS0109"),
        ("all bytes", (0..=255).cycle().take(25_600).collect(), "CS0108"),
        ("invalid UTF-8", bytes(b"int a = 1; // \xff\xfe\nprint(a);\n"), "CS0108"),
        ("UTF-16", b"i\0n\0t\0 \0a\0;\0".to_vec(), "CS0108"),
        ("NUL", bytes("int a = 1;\0 print(a);"), "CS0108"),
        ("escape", bytes("int a = 1; \u{1b}[31m print(a);"), "CS0102"),
        ("parentheses", "(".repeat(10 << 20).into_bytes(), "CS0107"),
        ("blocks", bytes("{".repeat(100_000) + "skip;" + &"}".repeat(100_000)), "CS0107"),
        ("operators", bytes(format!("int a = {}1;", "1 + ".repeat(100_000))), "CS0107"),
        ("closing", "}".repeat(1 << 20).into_bytes(), "CS0101"),
        ("open comment", bytes("int a = 1; /* never closed\nprint(a);"), "CS0103"),
        ("open string", bytes("print(\"abc);\nint a;"), "CS0104"),
        ("no coend", bytes("int a;\ncobegin T1: a = 1; T2: a = 2;\n"), "CS0101"),
        ("no thread", bytes("cobegin coend"), "CS0101"),
        ("syntax errors", bytes(many), "CS0101"),
        ("errors on one line", bytes("a = a + 1; a = ; ".repeat(20_000)), "CS0101"),
        ("long number", bytes(format!("int a = {};", "9".repeat(1 << 20))), "CS0106"),
    ]
}

/// What is wrong with names, types and sizes; the tree can be printed.
fn meaningless() -> Vec<Case> {
    let many: String = (0..2_000).map(|number| format!("v{number} = 1;\n")).collect();
    vec![
        ("unknown names", bytes("lock(M); print(q); f(1); set(e); barrier(b);"), "CS0201"),
        ("wrong types", bytes("lock L; int a = true; bool b = 1; int t[3]; t = 1; L = 1;"), "CS0205"),
        ("CRLF", bytes("int a = 1;\r\nprint(b);\r\n"), "CS0201"),
        ("name errors", bytes(many), "CS0201"),
        ("long name", bytes(format!("print({});", "a".repeat(1 << 20))), "CS0201"),
        ("number out of range", bytes("int a = 2147483648;"), "CS0203"),
        ("no element", bytes("int t[0]; print(t[0]);"), "CS0209"),
        ("fewer than none", bytes("int t[-1]; skip;"), "CS0209"),
        ("huge array", bytes("int t[2000000000]; t[5] = 1;"), "CS0209"),
        ("huge local array", bytes("void f() { int t[200000000]; } void main() { f(); }"), "CS0209"),
        ("huge objects", bytes("class C { int t[1000000]; } C a[1000]; skip;"), "CS0209"),
        ("empty barrier", bytes("barrier b(0); barrier(b);"), "CS0209"),
        ("empty anonymous barrier", bytes("barrier(0);"), "CS0209"),
        ("huge barrier", bytes("barrier b(2000000000); barrier(b);"), "CS0209"),
        ("negative semaphore", bytes("sem s = -1; P(s);"), "CS0209"),
        ("division by zero", bytes("int t[1 / 0]; skip;"), "CS0208"),
    ]
}

/// Codes of the diagnostics of an answer, in order.
fn codes(answer: &Answer, line: &str) -> Vec<String> {
    if line.ends_with("json") {
        let value = answer.json();
        let diagnostics = value["diagnostics"].as_array().expect("diagnostics").clone();
        diagnostics.iter().for_each(assert_keys);
        return diagnostics.iter().map(|each| each["code"].as_str().expect("a code").to_owned()).collect();
    }
    let heads = answer.text();
    let code = |line: &str| Some(line.split_once('[')?.1.split_once("]: ")?.0.to_owned());
    heads
        .lines()
        .filter(|line| ["error[", "warning[", "note["].iter().any(|word| line.starts_with(word)))
        .filter_map(code)
        .collect()
}

/// The keys of a diagnostic that other programs rely on.
fn assert_keys(diagnostic: &Value) {
    for key in ["code", "severity", "message", "file", "line", "column", "labels", "notes", "help"] {
        assert!(diagnostic.get(key).is_some(), "no `{key}` in {diagnostic}");
    }
}

/// Calls a command on a file; `drive` has a directory that must not be made.
fn ask(files: &Files, line: &str, file: &Path) -> Answer {
    let out = files.path("never-written");
    let mut more = vec![file.as_os_str()];
    if line.starts_with("drive") {
        more.extend(["--out".as_ref(), out.as_os_str()]);
    }
    let answer = call(line, &more);
    assert!(!out.exists(), "`{line}` has written something");
    answer
}

fn assert_rejected(cases: &[Case], commands: &[&str]) {
    let files = Files::new();
    let mut problems = Vec::new();
    for (name, text, code) in support::part(cases.iter().collect(), 4) {
        let file = files.write("input.csm", text);
        for line in commands {
            let answer = ask(&files, line, &file);
            let found = codes(&answer, line);
            if answer.status != 2 || found.first().map(String::as_str) != Some(code) {
                problems.push(format!("{name}: `{line}`: status {}, {:?}", answer.status, found.first()));
            }
            let streams = if *line == "check" || line.ends_with("json") { &answer.stdout } else { &answer.stderr };
            if streams.is_empty() {
                problems.push(format!("{name}: `{line}`: nothing on its stream"));
            }
            if answer.text().len() > 8 << 20 {
                problems.push(format!("{name}: `{line}`: {} bytes of text", answer.text().len()));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn what_cannot_be_read_is_rejected() {
    assert_rejected(&unreadable(), COMMANDS);
}

#[test]
fn what_means_nothing_is_rejected() {
    assert_rejected(&meaningless(), &COMMANDS[1..]);
}

#[test]
fn names_and_types_do_not_matter_to_the_tree() {
    let files = Files::new();
    let file = files.write("input.csm", "int a = true;\r\nprint(b);\r\n");
    let answer = ask(&files, "ir --emit ast", &file);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, "int a = true;\nprint(b);\n"));
}

#[test]
fn what_is_no_file_is_rejected() {
    let files = Files::new();
    let directory = files.0.path();
    for line in COMMANDS {
        for path in [&files.path("missing.csm"), directory, Path::new("")] {
            let answer = ask(&files, line, path);
            assert_eq!(answer.status, 2, "`{line}`: {answer:?}");
            // clap rejects an empty path.
            if !path.as_os_str().is_empty() {
                assert_eq!(codes(&answer, line), ["CS0909"], "`{line}`: {answer:?}");
            }
        }
    }
}

#[test]
fn all_errors_of_names_are_shown_at_their_places() {
    let files = Files::new();
    let text: String = (0..2_000).map(|number| format!("  v{number} = 1;\n")).collect();
    let value = call("check --format json", &[files.write("input.csm", text)]).json();
    assert_eq!(value["errors"], 2_000);
    let last = &value["diagnostics"][1_999];
    assert_eq!((&last["line"], &last["column"]), (&2_000.into(), &3.into()));
}

#[test]
fn errors_on_one_long_line_have_their_columns() {
    let files = Files::new();
    let text = "int a; /* é */ ".to_owned() + &"a = 1; b = 1; ".repeat(10_000);
    let value = call("check --format json", &[files.write("input.csm", &text)]).json();
    assert_eq!(value["errors"], 10_000);
    let column = 1 + 15 + 14 * 9_999 + 7;
    assert_eq!(value["diagnostics"][9_999]["column"], column);
    let human = call("check", &[files.path("input.csm")]).stdout;
    assert!(human.lines().any(|line| line.ends_with(&format!("input.csm:1:{column}"))));
    let longest = human.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(200), "{longest:?}");
}

#[test]
fn all_syntax_errors_are_shown_in_one_run() {
    let files = Files::new();
    let file = files.write("input.csm", "int x = ;\n".repeat(2_000));
    let answer = call("check", &[&file]);
    assert_eq!(answer.text().matches("error[CS0101]").count(), 2_000);
    let value = call("check --format json", &[&file]).json();
    assert_eq!(value["diagnostics"].as_array().map(Vec::len), Some(2_000));
    let file = files.write("input.csm", "int x = ;\n".repeat(11_000));
    let answer = call("pi", &[&file]);
    assert_eq!(answer.text().matches("error[CS0101]").count(), 10_000);
    assert_eq!(answer.text().matches("note[CS0901]").count(), 1);
    // Likewise errors of names and types, at top level and in functions.
    for (line, code) in [("int x;\n", "CS0202"), ("foo = 1;\n", "CS0201")] {
        for (before, behind) in [("", ""), ("void f() {\n", "}\n")] {
            let file = files.write("input.csm", format!("{before}{}{behind}", line.repeat(11_000)));
            let answer = call("pi", &[&file]);
            assert_eq!(answer.text().matches(&format!("error[{code}]")).count(), 10_000);
            assert_eq!(answer.text().matches("note[CS0901]").count(), 1);
        }
    }
}
