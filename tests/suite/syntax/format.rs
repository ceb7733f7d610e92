//! The layout of programs: what it looks like, and the laws that hold for every text.
//!
//! The laws are held to all samples, to the cases of diagnostics that parse, and to random programs, each also with its
//! white space mangled. Tokens and comments are found by a scanner of this file.

use super::generate::Generator;
use super::{describe_all, erased, parse_text};
use cssame::answer::{CheckInput, Lints, check, judge};
use cssame::front::csm::format::format;
use cssame::front::csm::syntax::print;
use cssame::source::SourceMap;
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use std::fs;
use std::path::Path;

/// The text, laid out; nothing where it has syntax errors.
fn formatted(text: &str) -> Option<String> {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    format(&sources, file).ok()
}

#[track_caller]
fn gives(text: &str, expected: &str) {
    assert_eq!(formatted(text).unwrap(), expected, "of {text}");
    holds(text);
}

/// A token or a comment of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atom<'t> {
    pub(super) text: &'t str,
    pub(super) is_comment: bool,
    pub(super) start: usize,
}

const OPERATORS: &[&str] =
    &["..", "+=", "-=", "*=", "/=", "%=", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];

fn length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|each| each.is_ascii_digit()).count();
    let is_number = bytes[0].is_ascii_digit() || bytes[0] == b'.' && bytes.len() > 1 && bytes[1].is_ascii_digit();
    match bytes[0] {
        _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
        _ if rest.starts_with("/*") => rest[2..].find("*/").unwrap() + 4,
        b'"' => {
            let mut at = 1;
            while bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at + 1
        }
        _ if is_number && !rest.starts_with("0x") && !rest.starts_with("0X") => {
            let mut at = digits(0);
            if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                at += 1 + digits(at + 1);
            }
            if matches!(bytes.get(at), Some(b'e' | b'E')) {
                at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
                at += digits(at);
            }
            at + usize::from(matches!(bytes.get(at), Some(b'l' | b'L')))
        }
        first if first.is_ascii_alphanumeric() || first == b'_' => {
            bytes.iter().take_while(|each| each.is_ascii_alphanumeric() || **each == b'_').count()
        }
        _ => OPERATORS.iter().find(|of| rest.starts_with(**of)).map_or(1, |of| of.len()),
    }
}

pub(super) fn atoms(text: &str) -> Vec<Atom<'_>> {
    let (mut atoms, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with([' ', '\t', '\r', '\n', '\u{c}']) {
            at += 1;
            continue;
        }
        let length = length(rest);
        let is_comment = rest.starts_with("//") || rest.starts_with("/*");
        atoms.push(Atom { text: &rest[..length], is_comment, start: at });
        at += length;
    }
    atoms
}

fn tokens(text: &str) -> Vec<&str> {
    atoms(text).iter().filter(|atom| !atom.is_comment).map(|atom| atom.text).collect()
}

/// Comments: without white space at the edges of their lines; how many tokens stand before; whether one of them stands in the
/// same line, where the comment ends the line; and whether an empty line follows.
fn comments(text: &str) -> Vec<(String, usize, Option<bool>, bool)> {
    let mut before = 0;
    let mut found = Vec::new();
    for atom in atoms(text) {
        if !atom.is_comment {
            before += 1;
            continue;
        }
        let line = &text[text[..atom.start].rfind('\n').map_or(0, |at| at + 1)..atom.start];
        let mut behind = text[atom.start + atom.text.len()..].split('\n');
        let ends_line = behind.next().is_none_or(|rest| rest.trim().is_empty());
        let shown: Vec<&str> = atom.text.lines().map(str::trim).collect();
        let is_followed = ends_line && behind.next().is_some_and(|next| !next.trim().is_empty());
        found.push((shown.join("\n"), before, ends_line.then(|| !line.trim().is_empty()), is_followed));
    }
    found
}

/// The findings of `check`: codes that are shown, and codes that comments suppress.
fn findings(text: &str) -> (Vec<String>, Vec<String>) {
    let mut input = CheckInput::default();
    let file = input.sources.add("test.csm", text);
    input.files.push(("test.csm".to_owned(), Ok(file)));
    let report = check(input, &[], 1, None);
    let judged = judge(&report.findings(), &Lints::default());
    let mut suppressed: Vec<String> = judged.suppressed.iter().map(|of| of.code.to_string()).collect();
    let mut shown: Vec<String> = report.judged(&judged).found.iter().map(|of| of.code.to_string()).collect();
    suppressed.sort();
    shown.sort();
    (shown, suppressed)
}

/// The laws that hold for the text of every program.
#[track_caller]
fn holds(text: &str) {
    let Some(laid) = formatted(text) else { return };
    assert_eq!(tokens(text), tokens(&laid), "the tokens of {text}\n{laid}");
    let mut after = comments(&laid);
    // A comment between two tokens of a line may come to stand at the end of one.
    for (old, new) in comments(text).iter().zip(&mut after).filter(|(old, _)| old.2.is_none()) {
        (new.2, new.3) = (old.2, old.3);
    }
    assert_eq!(comments(text), after, "the comments of {text}\n{laid}");
    let again = formatted(&laid);
    assert_eq!(again.as_ref(), Some(&laid), "what is laid out stays: {text}");
    let (sources, parsed) = parse_text(&laid);
    assert!(describe_all(&sources, &parsed.diagnostics).iter().all(|of| of.starts_with("CS0109")), "{laid}");
    assert_eq!(erased(&parsed.program), erased(&parse_text(text).1.program));
    for line in laid.split('\n').filter(|_| !laid.contains("/*")) {
        assert!(!line.ends_with([' ', '\t']) && !line.starts_with('\t'), "{line:?} of {laid}");
    }
}

/// Other white space between the same tokens and comments.
fn mangled(text: &str, rng: &mut TestRng) -> String {
    let mut mangled = String::new();
    let mut end = 0;
    for atom in atoms(text) {
        let is_apart = atom.start > end;
        let needs_line = mangled.rsplit('\n').next().is_some_and(|line| line.contains("//"));
        let mut gap = String::new();
        for _ in 0..rng.random_range(0..4) {
            gap.push_str([" ", "  ", "\t", "\r\n", "\n", "\n\n\n", "\u{c}"][rng.random_range(0..7)]);
        }
        if is_apart && gap.is_empty() {
            gap.push(' ');
        }
        if needs_line && !gap.contains('\n') {
            gap.push('\n');
        }
        mangled.push_str(&gap);
        mangled.push_str(atom.text);
        end = atom.start + atom.text.len();
    }
    mangled
}

/// Names and texts of samples and of cases of diagnostics, as far as they parse.
pub(super) fn programs() -> Vec<(String, String)> {
    let folders = ["samples", "samples/classes", "tests/diagnostics/pass", "tests/diagnostics/fail"];
    let mut found = Vec::new();
    for folder in folders.map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|ending| ending == "csm") {
                let text = fs::read_to_string(&path).unwrap();
                if formatted(&text).is_some() {
                    found.push((path.display().to_string(), text));
                }
            }
        }
    }
    assert!(found.len() > 250, "{}", found.len());
    found
}

#[test]
fn samples_are_laid_out_already() {
    let of_samples = programs().into_iter().filter(|(name, _)| name.contains("/samples/"));
    let changed: Vec<String> =
        of_samples.filter(|(_, text)| formatted(text).as_ref() != Some(text)).map(|(name, _)| name).collect();
    assert_eq!(changed, Vec::<String>::new());
}

#[test]
fn the_laws_hold_for_all_programs() {
    let mut rng = TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
    for (name, text) in support::part(programs(), 100) {
        holds(&text);
        holds(&text.replace('\n', "\r\n"));
        assert_eq!(
            formatted(&text.replace('\n', "\r\n")),
            formatted(&text).map(|of| of.replace('\n', "\r\n")),
            "{name}"
        );
        for _ in 0..8 {
            holds(&mangled(&text, &mut rng));
        }
    }
}

#[test]
fn what_comments_suppress_stays_suppressed() {
    let mut rng = TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
    let with_comments = |text: &str| {
        let mark = |line: &str| format!("{line} // cssame: allow(CS0401): a test\n");
        let lines: Vec<String> = text.lines().map(mark).collect();
        let above: String = text.lines().map(|line| format!("// cssame: allow(CS0401, CS0303)\n{line}\n")).collect();
        [lines.concat(), above]
    };
    let mut suppressed = 0;
    let faulty = programs().into_iter().filter(|(_, text)| text.contains("//~ CS04"));
    for (name, text) in faulty.take(25) {
        for marked in with_comments(&text) {
            for text in [marked.clone(), mangled(&marked, &mut rng), mangled(&marked, &mut rng)] {
                let found = findings(&text);
                suppressed += found.1.len();
                assert_eq!(findings(&formatted(&text).unwrap()), found, "{name}: {text}");
            }
        }
    }
    assert!(suppressed > 20, "{suppressed}");
}

proptest! {
    #[test]
    fn the_laws_hold_for_random_programs(seed in any::<u64>(), noise in any::<u64>()) {
        let text = print(&Generator::new(seed).program());
        holds(&text);
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&noise.to_le_bytes());
        let mut rng = TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &bytes);
        holds(&mangled(&text, &mut rng));
    }
}

#[test]
fn blanks_and_levels() {
    gives("int  x=1 ,y ;\n\tlock L ;", "int x = 1, y;\nlock L;\n");
    gives(
        "void f ( int a [ ],int b ){\nx=( int )2.5+- -a [ 1 ] . z*f( b );\n}",
        "void f(int a[], int b) {\n  x = (int) 2.5 + - -a[1].z * f(b);\n}\n",
    );
    gives("for(;;){i ++;++ i;}", "for (;;) { i++; ++i; }\n");
    gives("int t[ 2 ]={ 1,2 };enum{A ,B=2};", "int t[2] = {1, 2}; enum { A, B = 2 };\n");
    gives("input int n=0 in 0 .. 8;\nx=a?b:c?- 1:d;", "input int n = 0 in 0..8;\nx = a ? b : c ? -1 : d;\n");
    gives("cobegin T1:x=1;T2 :{y=2;}coend", "cobegin T1: x = 1; T2: { y = 2; } coend\n");
}

#[test]
fn lines_of_lists() {
    gives(
        "cobegin T1: x = 1; T2: { y = 2;\n z(); }\ncoend ;",
        "cobegin\n  T1: x = 1;\n  T2: {\n    y = 2;\n    z();\n  }\ncoend;\n",
    );
    gives(
        "cobegin\nT1:\nx = 1;\n// of T2\nT2:\ny = 1;\n// last\ncoend",
        "cobegin\n  T1:\n    x = 1;\n  // of T2\n  T2:\n    y = 1;\n    // last\ncoend\n",
    );
    gives("void f()\n{\n\n  x = 1;\n\n\n  y = 2;\n\n}\n\n\n", "void f() {\n  x = 1;\n\n  y = 2;\n}\n");
    gives("if (a)\n{\nx();\n}\nelse\n{\ny();\n}", "if (a) {\n  x();\n} else {\n  y();\n}\n");
    gives("do\n{\nx();\n}\nwhile (a);\nwhile (b) c();", "do {\n  x();\n} while (a);\nwhile (b) c();\n");
    gives(
        "switch (a) {\ncase 1: case 2:\nx(); break;\ndefault: y(); }",
        "switch (a) {\n  case 1: case 2:\n    x(); break;\n  default: y();\n}\n",
    );
    gives("class A {\npublic:\nint x;\nvoid f() { }\n};", "class A {\npublic:\n  int x;\n  void f() { }\n};\n");
}

#[test]
fn statements_of_heads() {
    gives("if (a)\nif (b)\nx();\nelse\ny();\nz();", "if (a)\n  if (b)\n    x();\n  else\n    y();\nz();\n");
    gives("if (a) x();\nelse if (b) y();\nelse\nz();", "if (a) x();\nelse if (b) y();\nelse\n  z();\n");
    gives("do if (a) x(); while (b);\nwhile (c)\nd();", "do if (a) x(); while (b);\nwhile (c)\n  d();\n");
    gives("if (a &&\nb)\nx = 1 +\n2;", "if (a &&\n    b)\n  x = 1 +\n      2;\n");
    gives("if (a) cobegin\nT: x();\ncoend; else y();", "if (a) cobegin\n  T: x();\ncoend; else y();\n");
}

#[test]
fn long_lines_get_a_line_for_each_statement() {
    let call = |name: &str| format!("{name}({});", "1234567890, ".repeat(3) + "1");
    let (a, b) = (call("first"), call("second"));
    gives(
        &format!("void f() {{ if (x) {{ {a} {b} }} else y(); z(); }} // c"),
        &format!("void f() {{\n  if (x) {{\n    {a}\n    {b}\n  }} else y();\n  z();\n}} // c\n"),
    );
    gives(
        &format!("cobegin T1: {a} {b} T2: {{ {a} }} coend"),
        &format!("cobegin\n  T1:\n    {a}\n    {b}\n  T2: {{\n    {a}\n  }}\ncoend\n"),
    );
    // One statement is not broken.
    let long = format!("x = f({});\n", "1234567890, ".repeat(12) + "1");
    gives(&long, &long);
    // A line with a comment to the tool stays as it is.
    let held = format!("{a} {b} {a} // cssame: allow(CS0401)\n");
    gives(&held, &held);
}

#[test]
fn comments_at_the_ends_of_lines() {
    gives(
        "int x;    // one\nint yy;   // two\nint z; // three",
        "int x;    // one\nint yy;   // two\nint z; // three\n",
    );
    gives("int x=1;  // one\nint y;    // two", "int x = 1; // one\nint y;     // two\n");
    gives("f(a,b,c,d);// one\ng();       // two", "f(a, b, c, d); // one\ng();           // two\n");
    gives("{// a\nx();/* b */}", "{ // a\n  x(); /* b */\n}\n");
    gives("  /*\n     * a\n  * b\n  */\nx();", "/*\n * a\n * b\n */\nx();\n");
    gives("/*/ one */ x(); /*/ two */", "/*/ one */ x(); /*/ two */\n");
    gives("// a  \t\r\n\r\nx();\r\n", "// a\r\n\r\nx();\r\n");
}

#[test]
fn files_at_the_edge() {
    gives("", "");
    gives("\n\n \t", "");
    gives("\n// only\n\n\n// comments", "// only\n\n// comments\n");
    for nested in ["{".repeat(100_000) + &"}".repeat(100_000), "(".repeat(100_000), "int x = ;".to_owned()] {
        assert_eq!(formatted(&nested), None);
    }
    let deep = format!("{}x();{}", "{\n".repeat(255), "}\n".repeat(255));
    gives(&deep, &formatted(&deep).unwrap());
}

/// Far more than seconds, were it not linear.
#[test]
fn large_files() {
    let count = support::size(30_000, 300_000);
    let lines: String = (0..count).map(|at| format!("x[{at}]=f( {at} ) ;  // {at}\n")).collect();
    let laid = formatted(&lines).unwrap();
    assert_eq!(laid.lines().count(), count);
    assert_eq!(laid.lines().nth(7), Some("x[7] = f(7);   // 7"));
    let one_line = "{ x(); } /* c */ ".repeat(count / 3);
    assert_eq!(formatted(&one_line).unwrap().lines().count(), count);
}
