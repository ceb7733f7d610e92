//! The two streams: colour, the same bytes for the same call, a reader that goes away.

use super::{Files, call, finish, program, root};
use std::io::Read;
use std::process::Stdio;

/// A call of each command, with findings and without.
const CALLS: &[&str] = &[
    "check samples/counter_unlocked.csm",
    "check --format json samples/bank_transfer_deadlock.csm",
    "ir --emit ast samples/bounded_buffer.csm",
    "ir --emit cfg samples/bounded_buffer.csm",
    "ir --emit cfg --format dot samples/bounded_buffer.csm",
    "ir --emit ssa samples/bounded_buffer.csm",
    "ir --emit ssa --format json samples/bounded_buffer.csm",
    "pi samples/cssame_fig7.csm",
    "pi --all --format json samples/cssame_fig7.csm",
    "run --full samples/dining_philosophers.csm",
    "run --seed 5 --format json samples/bakery2.csm",
    "futures --all samples/counter_unlocked.csm",
    "futures samples/bank_transfer_deadlock.csm",
    "futures --format json samples/store_buffering.csm",
    "futures --max-states 50 samples/bakery2.csm",
    "explain CS0401",
    "explain --format json",
    "check samples/missing.csm",
    "frobnicate",
    "--help",
];

const ESCAPE: char = '\u{1b}';

#[test]
fn the_same_call_gives_the_same_bytes() {
    for line in CALLS {
        assert_eq!(call(line, &[""; 0]), call(line, &[""; 0]), "`cssame {line}`");
    }
}

#[test]
fn drive_writes_the_same_bytes() {
    let files = Files::new();
    let manifest = |name: &str| {
        let out = files.path(name);
        let answer = call("drive samples/counter_unlocked.csm --format json --out", &[&out]);
        assert_eq!(answer.status, 0, "{answer:?}");
        let read = |name: &str| std::fs::read_to_string(out.join(name)).expect("a file of the package");
        [read("MANIFEST.json"), read("src/program.rs"), read("tests/futures.rs")]
    };
    assert_eq!(manifest("first"), manifest("second"));
}

#[test]
fn a_pipe_has_no_colour_unless_it_is_asked_for() {
    for line in CALLS {
        assert!(!call(line, &[""; 0]).text().contains(ESCAPE), "`cssame {line}`");
        assert!(!call(line, &["--color", "never"]).text().contains(ESCAPE), "`cssame {line}`");
        let forced = finish(program().args(line.split(' ')).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
        assert!(!forced.text().contains(ESCAPE), "`cssame {line}` with NO_COLOR");
    }
}

#[test]
fn colour_that_is_asked_for_is_given() {
    // The graphs, the trees and JSON have none.
    let plain = ["ir ", "json"];
    for line in CALLS {
        let coloured = !plain.iter().any(|word| line.contains(word));
        // The command line outdoes the environment.
        let mut command = program();
        command.args(line.split(' ')).args(["--color", "always"]).env("NO_COLOR", "1");
        let answer = finish(&mut command);
        assert_eq!(answer.text().contains(ESCAPE), coloured, "`cssame {line}`: {answer:?}");
        let by_environment = finish(program().args(line.split(' ')).env("CLICOLOR_FORCE", "1"));
        assert_eq!(by_environment.text().contains(ESCAPE), coloured, "`cssame {line}` with CLICOLOR_FORCE");
    }
}

/// The text without what switches colours.
fn without_colour(text: &str) -> String {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or("").to_owned();
    first + &parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest)).collect::<String>()
}

#[test]
fn colour_changes_nothing_else() {
    for line in CALLS.iter().filter(|line| !line.starts_with("explain")) {
        let (plain, coloured) = (call(line, &[""; 0]), call(line, &["--color", "always"]));
        assert_eq!(without_colour(&coloured.stdout), plain.stdout, "`cssame {line}`");
        assert_eq!(without_colour(&coloured.stderr), plain.stderr, "`cssame {line}`");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let files = Files::new();
    let errors: String = (0..20_000).map(|number| format!("v{number} = 1;\n")).collect();
    let file = files.write("input.csm", errors);
    for line in ["check", "check --format json", "ir --emit ast", "run", "pi --format json"] {
        let mut child = program()
            .args(line.split(' '))
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        let status = child.wait().expect("the program ends");
        let expected = if line.starts_with("ir") { 0 } else { 2 };
        assert_eq!(status.code(), Some(expected), "`{line}`");
        assert!(!stderr.contains("panicked") && !stderr.contains("CS0999"), "`{line}`: {stderr}");
    }
}

#[test]
fn standard_error_that_goes_away_is_no_fault() {
    let mut child = program()
        .args(["run", "samples/missing.csm"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("the program ends").code(), Some(2));
}

/// The verdicts in the table of terms: feasible, impossible, undecided.
fn verdicts(stdout: &str) -> [usize; 3] {
    let lines = stdout.lines().skip_while(|line| *line != "terms").skip(1);
    // A term stands below its read; the last cell of a long row stands on a line of its own, further in.
    let is_term = |line: &&str| line.starts_with("    ") && !line.starts_with("     ");
    let mut counts = [0; 3];
    for row in lines.filter(is_term) {
        let has = |word: &&&str| row.split("  ").any(|cell| cell.trim() == **word);
        let words = ["feasible", "impossible", "undecided"];
        let place = words.iter().find(has).and_then(|found| words.iter().position(|word| word == found));
        counts[place.unwrap_or_else(|| panic!("no verdict: {row}"))] += 1;
    }
    counts
}

/// The same as the summary counts them.
fn counted(stderr: &str) -> [usize; 3] {
    let words: Vec<&str> = stderr.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
    ["feasible", "impossible", "undecided"].map(|verdict| {
        let place = words.iter().rposition(|word| *word == verdict);
        place.map_or(0, |place| words[place - 1].parse().unwrap_or_else(|_| panic!("no number: {stderr}")))
    })
}

/// Reads with a single term are left out without `--all`, and are not counted then; what a bound leaves open is counted.
#[test]
fn what_is_counted_is_what_is_listed() {
    let mut hidden = 0;
    for sample in ["store_buffering", "choice", "arithmetic", "dekker_pair", "cssame_fig2", "bank_account"] {
        for bound in ["20000", "20"] {
            let futures = |option: &[&str]| call(&format!("futures samples/{sample}.csm --max-states {bound}"), option);
            let (some, all, json) = (futures(&[]), futures(&["--all"]), futures(&["--format", "json"]));
            assert_eq!(counted(&some.stderr), verdicts(&some.stdout), "{some:?}");
            assert_eq!(counted(&all.stderr), verdicts(&all.stdout), "{all:?}");
            let listed = json.json()["terms"].as_array().map_or(0, Vec::len);
            assert_eq!(verdicts(&all.stdout).iter().sum::<usize>(), listed, "{sample}");
            hidden += listed - verdicts(&some.stdout).iter().sum::<usize>();
        }
    }
    assert!(hidden > 20, "{hidden}");
}

#[test]
fn a_program_may_come_from_standard_input() {
    let file = "samples/counter_unlocked.csm";
    for command in ["pi", "futures", "races", "correlate", "ir", "run --seed 1"] {
        let text = std::fs::File::open(root().join(file)).expect("the sample is read");
        let piped = finish(program().args(command.split(' ')).arg("-").stdin(text));
        let named = call(command, &[file]);
        assert_eq!(piped.status, named.status, "{command}: {piped:?}");
        // What names the file is left out.
        let names = |line: &&str| line.contains("\u{250c}\u{2500} ") || line.contains(": cssame ");
        let lines =
            |text: &str| -> Vec<String> { text.lines().filter(|line| !names(line)).map(str::to_owned).collect() };
        assert_eq!(lines(&piped.stdout), lines(&named.stdout), "{command}");
    }
    let checked = finish(program().args(["check", "-", "--format", "json"]).stdin(Stdio::null()));
    assert_eq!((checked.status, checked.json()["diagnostics"][0]["code"].as_str()), (2, Some("CS0109")), "{checked:?}");
}

#[test]
fn text_is_wrapped_to_the_columns_that_are_said_and_no_value_is_split() {
    let files = Files::new();
    let text = "string s;\ncobegin\n  Alice: s = \"a value of several words that is rather long\";\n  \
                Bob: { if (s != \"\") error(\"a message of very many words, which is wrapped wherever it has to be\"); }\ncoend\n";
    let file = files.write("wide.csm", text);
    let with = |columns: Option<&str>| {
        let mut command = program();
        command.arg("futures").arg(&file).envs(columns.map(|columns| ("COLUMNS", columns)));
        finish(&mut command).stdout
    };
    let wide = with(Some("200"));
    assert!(wide.contains("error: a message of very many words, which is wrapped wherever it has to be\n"), "{wide}");
    let narrow = with(Some("44"));
    assert!(narrow.lines().any(|line| line.trim() == "= \"a value of several words that is rather long\""), "{narrow}");
    for text in [&wide, &narrow, &with(None)] {
        assert!(text.contains("= \"a value of several words that is rather long\"\n"), "{text}");
        // The terms that follow show statements in short.
        assert!(!text.split_once("\noutcomes\n").unwrap().0.contains('…'), "{text}");
    }
    // In a pipe nothing else counts.
    assert_eq!(with(None), with(Some("80")));
    assert_eq!(with(None), with(Some("no number")));
    assert_eq!(with(Some("3")), with(Some("40")));
}
