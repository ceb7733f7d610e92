//! Commands that ask several others (`ci`, `report`, the server of the page) say the findings that these say, and end as they
//! do, whatever bound has cut the answers.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` ask more questions, or others.

use crate::process::{Answer, Files, call, samples};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use support::generate::Rng;
use support::{first_seed, programs};

/// A finding: its code, its message and its place, and whether it is more than a note. What stands in brackets and in notes behind
/// the message is about an execution, and differs where two commands find one thing.
type Key = (String, String, String, bool);

/// The findings that stand in SARIF and that nothing suppresses, sorted; there may be several of one key.
fn keys(answer: &Answer) -> Vec<Key> {
    let log = answer.json();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let shown = results.iter().filter(|one| one["suppressions"].as_array().is_none_or(Vec::is_empty));
    let key = |one: &Value| {
        let region = one["locations"][0]["physicalLocation"]["region"].to_string();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let message = text(&one["message"]["text"]);
        let message = message.lines().next().and_then(|line| line.split(" (").next()).unwrap_or_default().to_owned();
        (text(&one["ruleId"]), message, region, one["level"] != "note")
    };
    let mut keys: Vec<Key> = shown.map(key).collect();
    keys.sort_unstable();
    keys
}

/// One question: a file, a bound that all commands take, and one that all but `check` take.
fn question(seed: u64) -> (PathBuf, String, String) {
    let mut random = Rng::new(seed);
    let mut files = samples();
    // Files of classes have hundreds of drivers; one small one is enough.
    files.retain(|path| fs::read_to_string(path).unwrap().contains("coend") || path.ends_with("map_log4j.csm"));
    let states = match random.below(4) {
        0 => String::new(),
        _ => format!(" --max-states {}", random.pick(&[1, 5, 30, 200, 1000, 5000])),
    };
    let executions = match random.below(3) {
        0 => format!(" --max-executions {}", random.pick(&[1, 2, 10, 50])),
        _ => String::new(),
    };
    (random.pick(&files).clone(), states, executions)
}

/// How a command ends that has asked these.
fn status_of(asked: &[&Answer]) -> i32 {
    let of = |status: i32| asked.iter().any(|answer| answer.status == status);
    if of(1) {
        1
    } else if of(3) {
        3
    } else {
        0
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, one: &T, other: &T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what}: {one:#?}, but {other:#?}")) }
}

/// The variable that a race is for, without indices.
fn variable(message: &str) -> String {
    let name = message.split('`').nth(1).unwrap_or_default();
    name.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect()
}

/// `ci` against the commands themselves; how many findings there are.
fn check_ci(file: &Path, states: &str, bound: &str) -> Result<usize, String> {
    let ask = |command: &str, bound: &str| call(&format!("{command}{bound} --format sarif"), &[file]);
    let (check, races) = (ask("check", ""), ask("races", bound));
    let futures = Some(ask("futures", bound)).filter(|answer| answer.status != 2);
    let alone = [("check", Some(&check)), ("races", Some(&races)), ("futures", futures.as_ref())];
    for (command, answer) in alone.into_iter().filter_map(|(command, answer)| Some((command, answer?))) {
        let of_ci = ask(&format!("ci --command {command}"), bound);
        same(&format!("`ci --command {command}`"), &keys(&of_ci), &keys(answer))?;
        // `futures` tells terms apart by calling contexts, of which one alone may be open.
        if (command, of_ci.status, answer.status) != ("futures", 0, 3) {
            same(&format!("status of `ci --command {command}`"), &of_ci.status, &answer.status)?;
        }
    }
    let confirmed = ask("check --confirm", states);
    let asked: Vec<&Answer> = [Some(&confirmed), Some(&races), futures.as_ref()].into_iter().flatten().collect();
    let executed: BTreeSet<Key> = asked[1..].iter().flat_map(|answer| keys(answer)).collect();
    let all = ask("ci", bound);
    let found: BTreeSet<Key> = keys(&all).into_iter().collect();
    // A race for a variable of which the text tells it is that finding.
    let told: BTreeSet<String> = found.iter().filter(|key| key.0 == "CS0401").map(|key| variable(&key.1)).collect();
    let is_told = |key: &Key| ["CS0403", "CS0404", "CS0405"].contains(&&*key.0) && told.contains(&variable(&key.1));
    let lacking = executed.difference(&found).filter(|key| !is_told(key));
    same("findings of executions that `ci` lacks", &lacking.collect(), &Vec::new())?;
    // `check --confirm` takes no bound of executions, which `ci` holds it to.
    if states == bound {
        let of_check = keys(&confirmed);
        let others = found.difference(&executed).filter(|key| !of_check.contains(*key));
        same("findings of `ci` alone", &others.collect(), &Vec::<&Key>::new())?;
        same("status of `ci`", &all.status, &status_of(&asked))?;
    }
    Ok(found.len())
}

/// `report` against `ci`, as JSON.
fn check_report(file: &Path, bound: &str) -> Result<(), String> {
    let files = Files::new();
    let page = files.path("page.html");
    let ci = call(&format!("ci{bound} --format json"), &[file]);
    let report = call(&format!("report{bound} --format json --out"), &[&page, file]);
    let (status, ci, report) = ((report.status, ci.status), ci.json(), report.json());
    let mut findings = report["findings"].as_array().unwrap().clone();
    findings.retain(|one| one["suppressed"] == false);
    for finding in &mut findings {
        for key in ["command", "suppressed", "execution"] {
            finding.as_object_mut().unwrap().remove(key);
        }
    }
    same("findings of `report`", &findings, ci["diagnostics"].as_array().unwrap())?;
    same("commands of `report`", &report["commands"], &ci["files"][0]["commands"])?;
    same("status of `report`", &status.0, &status.1)
}

#[test]
fn who_asks_several_commands_says_what_they_say() {
    let (first, mut found) = (first_seed(1), 0);
    for seed in first..first + programs(7) {
        let (file, states, executions) = question(seed);
        let bound = states.clone() + &executions;
        let done = check_ci(&file, &states, &bound).and_then(|count| check_report(&file, &bound).map(|()| count));
        found += done.unwrap_or_else(|problem| panic!("seed {seed}: {}{bound}: {problem}", file.display()));
    }
    assert!(support::has_new_seed() || found > 4, "{found} findings");
}

#[cfg(feature = "serve")]
mod served {
    use super::*;
    use crate::process::{finish, program};
    use crate::server::Server;

    #[test]
    fn the_server_says_what_the_commands_say() {
        let files = Files::new();
        let server = Server::start(&files, &[]);
        let first = first_seed(1);
        for seed in first..first + programs(3) {
            let (file, ..) = question(seed);
            let states = Rng::new(seed).pick(&[1, 30, 1000, 5000]).to_owned();
            let text = fs::read_to_string(&file).unwrap();
            for command in ["futures", "races", "report"] {
                let out = if command == "report" { " --out -" } else { "" };
                let line = format!("{command} --max-states {states}{out} --format json -");
                // A program has no name there, as one of standard input.
                let input = fs::File::open(&file).unwrap();
                let alone = finish(program().stdin(input).args(line.split_whitespace()));
                let question = serde_json::json!({ "command": command, "text": text, "max_states": states });
                let served = server.ask(&question).answer();
                let of = format!("seed {seed}: {line} < {}", file.display());
                assert_eq!(served["status"], alone.status, "{of}");
                assert!(served["answer"] == alone.json(), "{of}: {:#}\n{}", served["answer"], alone.stdout);
            }
        }
    }
}
