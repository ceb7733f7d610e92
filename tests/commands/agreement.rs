//! Every format of every command says the same findings and ends with the same status, whatever bound has cut the answer.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` ask more questions, or others.

use crate::process::{call, samples};
use serde_json::Value;
use std::path::PathBuf;
use support::generate::Rng;
use support::{first_seed, programs};

/// `races` makes few trials of each pair: a class has hundreds of drivers, and each question is asked six times.
const COMMANDS: [&str; 8] =
    ["futures", "races --trials 4", "paths", "coverage", "check --confirm", "drive", "correlate", "check"];

/// How executions end badly.
const BAD: [&str; 8] = [
    "assert",
    "error",
    "deadlock",
    "endless",
    "division-by-zero",
    "index-out-of-range",
    "unlock-not-held",
    "step-limit",
];

/// One question: a command with a bound, and a file.
fn question(seed: u64, files: &[PathBuf]) -> (String, PathBuf) {
    let mut random = Rng::new(seed);
    let command = *random.pick(&COMMANDS);
    let states = random.pick(&[1, 5, 30, 200, 1000, 5000]);
    let executions = random.pick(&[1, 2, 10, 50, 300]);
    // `drive` and `correlate` count no executions.
    let takes_executions = !matches!(command, "drive" | "correlate" | "check --confirm");
    let bound = match random.below(3) {
        _ if command == "check" => String::new(),
        0 if takes_executions => format!(" --max-executions {executions}"),
        1 if takes_executions => format!(" --max-states {states} --max-executions {executions}"),
        _ => format!(" --max-states {states}"),
    };
    (command.to_owned() + &bound, random.pick(files).clone())
}

/// The codes of the findings in SARIF that no suppression covers: all, and those that are more than notes.
fn codes(log: &Value) -> [Vec<String>; 2] {
    let results = log["runs"][0]["results"].as_array().unwrap();
    let shown = || results.iter().filter(|one| one["suppressions"].as_array().is_none_or(Vec::is_empty));
    let code = |one: &Value| one["ruleId"].as_str().unwrap().to_owned();
    let mut all: Vec<String> = shown().map(code).collect();
    let mut grave: Vec<String> = shown().filter(|one| one["level"] != "note").map(code).collect();
    all.sort_unstable();
    grave.sort_unstable();
    [all, grave]
}

/// The words behind each `before`, up to `after`, sorted; codes of the tool itself are no findings.
fn between(text: &str, before: &str, after: char) -> Vec<String> {
    let mut found: Vec<String> =
        text.split(before).skip(1).filter_map(|rest| Some(rest.split_once(after)?.0.to_owned())).collect();
    found.retain(|code| code.starts_with("CS") && !code.starts_with("CS09"));
    found.sort_unstable();
    found
}

fn check(command: &str, file: &PathBuf) -> Result<bool, String> {
    let ask = |format: &str| call(&format!("{command} --format {format}"), &[file]);
    let human = call(command, &[file]);
    if human.status == 2 {
        return Ok(false);
    }
    let [json, sarif, junit, markdown, github] = ["json", "sarif", "junit", "markdown", "github"].map(ask);
    let statuses = [json.status, sarif.status, junit.status, markdown.status, github.status];
    if statuses.iter().any(|&status| status != human.status) {
        return Err(format!("statuses {statuses:?}, {} for people", human.status));
    }
    let [all, grave] = codes(&sarif.json());
    let faces = [
        ("JUnit", between(&junit.stdout, "type=\"", '"'), &grave),
        ("GitHub", between(&github.stdout, "title=", ':'), &all),
        (
            "Markdown",
            between(
                &markdown.stdout.replace("| warning | ", "| error | ").replace("| note | ", "| error | "),
                "\n| error | ",
                ' ',
            ),
            &all,
        ),
    ];
    if let Some((face, found, expected)) = faces.iter().find(|(_, found, expected)| found != *expected) {
        return Err(format!("{face} {found:?}, SARIF {expected:?}"));
    }
    let outcomes = json.json()["outcomes"].as_array().cloned().unwrap_or_default();
    let bad = outcomes.iter().filter_map(|one| one["status"].as_str()).find(|status| BAD.contains(status));
    match (bad, human.status, grave.is_empty()) {
        (Some(status), 0 | 3, _) => Err(format!("an outcome is {status}, and the status {}", human.status)),
        (_, 0, false) if !command.starts_with("check") => Err(format!("status 0 with {grave:?}")),
        _ => Ok(!grave.is_empty()),
    }
}

#[test]
fn formats_agree_under_any_bound() {
    let files = samples();
    let (first, mut found) = (first_seed(12), 0);
    for seed in first..first + programs(13) {
        let (command, file) = question(seed, &files);
        let finds = check(&command, &file);
        found +=
            u64::from(finds.unwrap_or_else(|problem| panic!("seed {seed}: {command} {}: {problem}", file.display())));
    }
    assert!(support::has_new_seed() || found > 4, "{found} with findings");
}
