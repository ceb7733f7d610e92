//! Asks cssame as a library: compiles a program, looks at everything that can happen, and says what goes wrong and how.
//!
//! `cargo run --package embedding -- samples/bank_transfer_deadlock.csm`

use cssame::answer::{self, Course, FuturesRequest, RunRequest};
use cssame::budget::{Budget, Limits};
use cssame::diagnostics::terminal;
use cssame::model::{Model, Options};
use std::process::ExitCode;
use std::time::Duration;

const TEXT: &str = "\
lock left, right;
cobegin
  one: synchronized (left) { synchronized (right) { skip; } }
  two: synchronized (right) { synchronized (left) { skip; } }
coend
";

fn main() -> ExitCode {
    let (name, text) = match std::env::args().nth(1) {
        None => ("two_locks.csm".to_owned(), TEXT.to_owned()),
        Some(path) => match std::fs::read_to_string(&path) {
            Ok(text) => (path, text),
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        },
    };
    // A program that does not compile gives its diagnostics, with the text that they point into.
    let model = match Model::from_text(&name, &text, &Options::default()) {
        Ok(model) => model,
        Err(problem) => {
            eprint!("{}", terminal::render_all(&problem.sources, &problem.list, terminal::Screen::default()));
            return ExitCode::from(2);
        }
    };

    // Which writes each read may see: from the text alone.
    for read in &answer::pi(model.unit()).pis {
        let terms: Vec<&str> = read.terms.iter().map(|term| term.def.as_str()).collect();
        println!("{} may see {}", read.read, terms.join(", "));
    }

    // What can happen: by all executions, within bounds.
    let limits = Limits { max_states: Some(1_000_000), ..Limits::default() };
    let budget = Budget::from(limits).with_timeout(Duration::from_secs(10));
    let futures = answer::futures(&model, &FuturesRequest::default(), &budget);
    println!("decided: {}", futures.is_decided());
    for finding in futures.findings(&model).list {
        print!(
            "{}",
            terminal::render_all(
                finding.sources,
                std::slice::from_ref(&finding.diagnostic),
                terminal::Screen::default()
            )
        );
        // The execution that shows it, once more, row by row.
        let schedule = model.schedule(finding.steps.to_vec(), "deadlock");
        let request = RunRequest { course: Course::Recorded(&schedule), ..RunRequest::default() };
        for row in &answer::run(&model, &request).report.trace.rows {
            println!("  line {:>3}  {} {}", row.line, row.op, row.object.as_deref().unwrap_or_default());
        }
    }
    if futures.has_findings() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
