//! Help: every command has some, and its examples run.

use super::{Files, call, finish, program, root};
use std::fs;

const COMMANDS: &[&str] = &[
    "check",
    "hunt",
    "ir",
    "pi",
    "run",
    "futures",
    "drive",
    "correlate",
    "races",
    "paths",
    "coverage",
    "diff",
    "ci",
    "fmt",
    "report",
    "lsp",
    #[cfg(feature = "serve")]
    "serve",
    "new",
    "completions",
    "man",
    "explain",
];

/// The command lines below `Examples:`.
fn examples(help: &str) -> Vec<String> {
    let examples = help.split_once("Examples:").map_or("", |(_, rest)| rest);
    let lines = examples.lines().map(str::trim).filter(|line| line.starts_with("cssame "));
    lines.map(str::to_owned).collect()
}

/// A folder with copies of samples: those whose names are wanted.
fn with_samples(is_wanted: impl Fn(&str) -> bool) -> Files {
    let files = Files::new();
    for folder in ["samples", "samples/classes"] {
        fs::create_dir(files.path(folder)).expect("a directory for the samples");
        for sample in fs::read_dir(root().join(folder)).expect("the samples").flatten() {
            let name = sample.file_name();
            if sample.path().is_file() && name.to_str().is_some_and(&is_wanted) {
                fs::copy(sample.path(), files.path(folder).join(name)).expect("a copy of the sample");
            }
        }
    }
    files
}

#[test]
fn the_examples_run() {
    // `ci` without a path looks at all programs that it finds.
    let named = ["dekker.csm", "peterson.csm"];
    let (all, some) = (with_samples(|_| true), with_samples(|name| name.starts_with('b') || named.contains(&name)));
    for command in support::part(COMMANDS.iter().collect(), 8) {
        let help = call(command, &["--help"]);
        assert_eq!((help.status, help.stderr.as_str()), (0, ""), "{command}");
        let examples = examples(&help.stdout);
        assert!(!examples.is_empty(), "{command} has no examples");
        for example in examples {
            // A server waits for a client (tests/commands/lsp.rs, tests/commands/serve.rs).
            if example == "cssame lsp" || command == &"serve" {
                continue;
            }
            // What a shell does with the output is its own matter; `--run` builds a package, which tests/driver.rs tries.
            let own = example.split(['|', '>']).next().unwrap_or("");
            let words = own.split_whitespace().skip(1).filter(|word| *word != "--run");
            let files = if command == &"ci" { &some } else { &all };
            let answer = finish(program().current_dir(files.0.path()).args(words));
            assert!(answer.status < 2, "`{example}`: {answer:?}");
        }
    }
}

#[test]
fn help_fits_into_80_columns() {
    for command in COMMANDS.iter().chain(&[""]) {
        for option in ["--help", "-h"] {
            let help = call(command, &[option]).stdout;
            let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(long.is_empty(), "{command} {option}: {long:#?}");
        }
    }
}

#[test]
fn the_help_of_the_program_names_every_command() {
    let help = call("--help", &[""; 0]).stdout;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
}
