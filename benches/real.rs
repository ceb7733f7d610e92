//! Programs of real size, each right and with two bugs: what each command takes to find the bug, or to find none.
//!
//! In: `benches/real/*.csm`. Out: a row for each file. Of the searches, `hunt` up to the first bug, `hunt` and `futures`, it has the processor time in seconds, the
//! peak of memory in MiB, and the verdict; of `run` with each policy the executions up to the first one that ends badly, and the
//! time. A verdict is the first failure; `none` is the answer of a complete search, `none to k` that of one that
//! is complete up to k preemptions, `open` that of one that was stopped. Where the program does not know a command there is
//! a `-`.
//!
//! Run with `cargo bench --bench real`; behind `--` a word picks the files whose name contains it, and `rounds=2`, `seeds=100000`,
//! `timeout=60`, `preemptions=2` (then `hunt` alone is asked) set what their names say. `CSSAME` may name another build of the program.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

mod process;

use process::{Measured, measure};
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Searches, by the names of their columns: for the first bug, for all of them, and for all that can happen.
const SEARCHES: &[(&str, &[&str])] =
    &[("first", &["hunt", "--stop-at-first"]), ("hunt", &["hunt"]), ("futures", &["futures"])];

const POLICIES: [&str; 3] = ["random", "pct", "pos"];

/// What may be set on the command line.
struct Settings {
    rounds: u64,
    /// Of executions that `hunt` looks at, at most; then nothing else is asked.
    preemptions: Option<u64>,
    seeds: u64,
    /// Of one process, in seconds.
    timeout: u64,
}

fn main() {
    let mut settings = Settings { rounds: 1, preemptions: None, seeds: 10_000, timeout: 60 };
    let mut words = Vec::new();
    for word in env::args().skip(1).filter(|word| !word.starts_with("--")) {
        match word.split_once('=').map(|(name, value)| (name, value.parse())) {
            Some(("rounds", Ok(value))) => settings.rounds = value,
            Some(("preemptions", Ok(value))) => settings.preemptions = Some(value),
            Some(("seeds", Ok(value))) => settings.seeds = value,
            Some(("timeout", Ok(value))) => settings.timeout = value,
            _ => words.push(word),
        }
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/real");
    let entries = fs::read_dir(&directory).expect("the programs are there").flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .filter(|name| words.is_empty() || words.iter().any(|word| name.contains(word)))
        .collect();
    names.sort();
    println!(
        "rounds={} seeds={} timeout={}; seconds are processor time",
        settings.rounds, settings.seeds, settings.timeout
    );
    print!("{:18}", "program");
    let preemptions = settings.preemptions.map(|most| format!("--preemptions={most}"));
    let (searches, policies) =
        if preemptions.is_some() { (&SEARCHES[1..2], &POLICIES[..0]) } else { (SEARCHES, &POLICIES[..]) };
    for (name, _) in searches {
        print!(" | {name:>7} s {:>5} {:24}", "MiB", "verdict");
    }
    for policy in policies {
        print!(" | {policy:>8} {:>6}", "s");
    }
    println!();
    for name in names {
        print!("{name:18}");
        let file = directory.join(format!("{name}.csm"));
        for (_, search) in searches {
            let timeout = settings.timeout.to_string();
            let mut arguments = [*search, &["--timeout", &timeout][..]].concat();
            arguments.extend(preemptions.as_deref());
            match answer(&arguments, &file, &settings) {
                Some((Measured { seconds, peak, .. }, json)) => {
                    print!(" | {seconds:9.2} {peak:5.0} {:24}", shortened(&verdict(&json)));
                }
                None => print!(" | {:>9} {:>5} {:24}", "-", "-", "-"),
            }
        }
        for policy in policies {
            let seeds = format!("0..{}", settings.seeds);
            let timeout = settings.timeout.to_string();
            let found =
                answer(&["run", "--policy", policy, "--seeds", &seeds, "--timeout", &timeout], &file, &settings);
            match found {
                Some((measured, json)) => print!(" | {:>8} {:6.2}", first(&json), measured.seconds),
                None => print!(" | {:>8} {:>6}", "-", "-"),
            }
        }
        println!();
    }
}

/// What is measured: the program of this build, if `CSSAME` does not name another one.
fn program() -> OsString {
    env::var_os("CSSAME").unwrap_or_else(|| env!("CARGO_BIN_EXE_cssame").into())
}

/// What a process of the command took, and its answer; none where the command is not known.
fn answer(arguments: &[&str], file: &Path, settings: &Settings) -> Option<(Measured, Value)> {
    let mut command = Command::new(program());
    command.args(arguments).arg(file).args(["--format", "json", "--no-config"]);
    command.args(["--input", &format!("rounds={}", settings.rounds)]).stderr(Stdio::null());
    let measured = measure(&mut command);
    if measured.status.code() == Some(2) {
        return None;
    }
    let json = serde_json::from_str(&measured.output).ok()?;
    Some((measured, json))
}

/// The first bad end that a search has found, or how far it has found none.
fn verdict(json: &Value) -> String {
    let first = |key: &str| json.get(key).and_then(Value::as_array).and_then(|all| all.first());
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(failure) = first("failures") {
        let status = text(failure, "status").unwrap_or_default();
        return text(failure, "message").map_or(status.clone(), |message| format!("{status}: {message}"));
    }
    if first("deadlocks").is_some() {
        return "deadlock".to_owned();
    }
    if first("endless").is_some() {
        return "endless".to_owned();
    }
    let preemptions = json.get("bounds").and_then(|bounds| bounds.get("preemptions")).and_then(Value::as_u64);
    match (json.get("complete").and_then(Value::as_bool), preemptions) {
        (Some(true), _) => "none".to_owned(),
        (_, Some(preemptions)) => format!("none to {preemptions}"),
        _ => "open".to_owned(),
    }
}

/// The number of the first execution that ends badly.
fn first(json: &Value) -> String {
    let seed = json.get("first_failure").and_then(|failure| failure.get("seed")).and_then(Value::as_u64);
    seed.map_or("none".to_owned(), |seed| (seed + 1).to_string())
}

fn shortened(text: &str) -> String {
    text.chars().take(24).collect()
}
