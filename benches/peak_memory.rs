//! The most memory that a process takes, against `--max-memory`: `cargo bench --bench peak_memory`.
//!
//! Each command is run on programs of which each makes something else grow: states, states with what was read, executions,
//! outcomes, groups of orders, beginnings of patterns, texts; then what takes memory beside a search: what a program is compiled to,
//! terms, failures, files that are written. The peak is what the system tells of the process
//! (`VmHWM`), looked at every millisecond; so it runs where there is a `/proc`.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

mod process;

use process::{Measured, measure};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// The bound of each process, in MiB.
const BOUND: u64 = 128;

/// Arms of a cobegin, each with its number in place of `#`.
fn arms(before: &str, arm: &str, count: usize, behind: &str) -> String {
    let mut text = format!("{before}\ncobegin\n");
    for number in 0..count {
        let _ = writeln!(text, "T{number}: {}", arm.replace('#', &number.to_string()));
    }
    text + "coend\n" + behind
}

/// Programs by name.
fn programs() -> Vec<(&'static str, String)> {
    vec![
        ("adds", arms("int x;", "for (int i = 0; i < 40; i++) { x = x + 1; }", 2, "print(x);")),
        ("racy", arms("int x;", "for (int i = 0; i < 12; i++) { x = x + # + 1; }", 4, "print(x);")),
        (
            "locked",
            arms("int x; lock l;", "for (int i = 0; i < 12; i++) { lock(l); x = x * 2 + #; unlock(l); }", 3, ""),
        ),
        ("prints", arms("int x;", "for (int i = 0; i < 30; i++) { print(x); x = #; }", 3, "")),
        ("endless", arms("int x;", "while (true) { x = x + # + 1; }", 2, "")),
        ("array", arms("int a[500];", "for (int i = 0; i < 500; i++) { a[i] = a[(i * 7 + #) % 500] + #; }", 3, "")),
        (
            "branches",
            arms("int x, y;", "for (int i = 0; i < 10; i++) { if (x > y) { x = x + #; } else { y = i; } }", 3, ""),
        ),
        (
            "recursion",
            arms("int x; void f(int n) { if (n > 0) { x = x + n; f(n - 1); x = x - 1; } }", "f(300);", 3, ""),
        ),
        ("long", arms("int x;", "for (int i = 0; i < 500000; i++) { print(x, i); x = x + #; }", 2, "")),
        ("threads", "int x; parfor (int i = 0; i < 200; i++) { x = x + i; x = x - 1; } print(x);\n".to_owned()),
    ]
}

const COMMANDS: &[&[&str]] = &[
    &["futures"],
    &["futures", "--count"],
    &["futures", "--outcomes", "--format", "json"],
    &["races"],
    &["paths"],
    &["coverage"],
    &["correlate"],
    &["check", "--confirm"],
    &["run", "--max-steps", "10000000"],
    &["run", "--seeds", "0..1000000", "--keep-going"],
];

/// Programs of which something grows that is no part of a search.
fn large_programs() -> Vec<(&'static str, String)> {
    let repeated = |text: &str, count: usize| -> String {
        (0..count).map(|number| text.replace('$', &number.to_string())).collect()
    };
    let classes = repeated("class C$ { X$ a; X$ b; }\n", 17).replace("X0", "int");
    let classes =
        (1..17).rev().fold(classes, |text, number| text.replace(&format!("X{number} "), &format!("C{} ", number - 1)));
    let (failing, terms) = (repeated("x = $; assert(x == $); ", 400), repeated("x = $; y = x; ", 200));
    vec![
        ("statements", arms("int x;", &format!("{{ {} }}", "x = x + #; ".repeat(100_000)), 2, "")),
        ("classes", format!("{classes}C16 c;\ncobegin\nT0: c.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1;\ncoend\n")),
        ("fails", arms("int x;", &format!("{{ {failing} }}"), 2, "")),
        ("terms", arms("int x, y;", &format!("{{ {terms} }}"), 2, "")),
        ("strings", arms("string s;", &format!("{{ s = \"{}#\"; print(s); }}", "a".repeat(100_000)), 3, "")),
        (
            "wide",
            arms(
                "int x; void f(int n) { int t[1000000]; t[n] = n; x = t[n]; if (n > 0) { f(n - 1); } }",
                "f(200);",
                2,
                "",
            ),
        ),
        ("printed", arms("int x;", "for (int i = 0; i < 6; i++) { x = x + 1 + #; print(x); }", 4, "")),
    ]
}

/// For these programs; `@` stands for a new place in the directory.
const COMMANDS_FOR_LARGE: &[&[&str]] = &[
    &["futures"],
    &["paths", "--all", "--format", "json"],
    &["coverage"],
    &["races"],
    &["check", "--confirm"],
    &["ci"],
    &["report", "-o", "@"],
    &["drive", "--outcomes", "--out", "@"],
    &["drive", "--pairs", "--out", "@"],
    &["run", "--full"],
];

/// Runs a command to its end; gives its peak in MiB.
fn peak(arguments: &[&str], seconds: &str, directory: &Path) -> (f64, ExitStatus, String) {
    let errors = directory.join("errors");
    let takes_timeout = arguments.first() != Some(&"run") || arguments.contains(&"--seeds");
    let timeout = ["--timeout", seconds];
    let mut command = Command::new(env!("CARGO_BIN_EXE_cssame"));
    command
        .args(arguments)
        .args(["--max-memory", &format!("{BOUND}M")])
        .args(if takes_timeout { &timeout[..] } else { &[] })
        .stderr(File::create(&errors).expect("a file for messages"));
    let Measured { peak, status, .. } = measure(&mut command);
    (peak, status, fs::read_to_string(&errors).unwrap_or_default())
}

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    println!("{:10} {:44} {:>9} {:>8} {:>7}", "program", "command", "peak, MiB", "of bound", "status");
    let mut most: f64 = 0.0;
    let searched = programs().into_iter().map(|(name, text)| (name, text, COMMANDS, "20"));
    let large = large_programs().into_iter().map(|(name, text)| (name, text, COMMANDS_FOR_LARGE, "5"));
    for (name, text, commands, seconds) in searched.chain(large) {
        let file = directory.path().join(format!("{name}.csm"));
        fs::write(&file, text).expect("the program is written");
        let file = file.display().to_string();
        for (number, command) in commands.iter().enumerate() {
            let new = directory.path().join(format!("{name}{number}")).display().to_string();
            let arguments = [&command[..1], &[&file], &command[1..]].concat();
            let arguments: Vec<&str> =
                arguments.into_iter().map(|argument| if argument == "@" { &new } else { argument }).collect();
            let (peak, status, errors) = peak(&arguments, seconds, directory.path());
            let part = peak / BOUND as f64;
            most = most.max(part);
            let ended = if errors.contains("the process would take more than") { " without an answer" } else { "" };
            let code = status.code().map_or_else(|| status.to_string(), |code| code.to_string());
            println!("{name:10} {:44} {peak:9.0} {part:8.2} {code:>7}{ended}", command.join(" "));
        }
    }
    println!("the most is {most:.2} of the bound, {BOUND} MiB");
}
