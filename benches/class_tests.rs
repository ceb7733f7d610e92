//! What it takes to find the bugs of the broken classes, for each strategy: the tables of docs/coverage.md.
//!
//! In: the classes of `samples/classes`, each with its broken twin. Out: tables in Markdown:
//! 1. for each broken class and strategy the median, over 10 seeds, of the tests and of the steps to the first violation
//!    that counts, where executions alone show it;
//! 2. for each strategy how many runs find one, and how many times less it takes than `pairs` and than `random`, as
//!    median, geometric and arithmetic mean over the classes;
//! 3. the same, in tests, with the search through all executions of small tests, as the command does it;
//! 4. the violations in the correct classes, which have none.
//!
//! A run that finds nothing counts with all its tests and steps, which is less than it would have taken. It measures no
//! time: the tables are the same on every machine. Run with `cargo bench --bench class_tests`.

mod classes;

use classes::{SEEDS, geometric_mean, mean, median, names, tests_for, text};
use cssame::coverage::generate::{Failure, Request, Strategy};

/// Tests of a run at most.
const TESTS: u64 = 400;

/// Tests of each run for a correct class.
const TESTS_OF_CORRECT: u64 = 24;

/// What the runs of one class and strategy take, by median.
#[derive(Clone, Copy, Default)]
struct Effort {
    tests: f64,
    steps: f64,
    /// Runs that find the bug.
    found: usize,
}

fn main() {
    let names = names();
    let executed = efforts(&names, None);
    let searched = efforts(&names, Some(Request::STATES));
    let mut lines = vec!["Tests / steps to the first violation, executions alone (median of 10 seeds):\n".to_owned()];
    lines.extend(table_of_classes(&names, &executed));
    lines.push("\nTimes less than another strategy:\n".to_owned());
    lines.extend(table_of_ratios(&executed, &[("steps", |effort| effort.steps), ("tests", |effort| effort.tests)]));
    lines.push("\nThe same with the search through all executions of small tests:\n".to_owned());
    lines.extend(table_of_ratios(&searched, &[("tests", |effort| effort.tests)]));
    lines.push(String::new());
    lines.extend(correct_classes(&names));
    #[allow(clippy::print_stdout, reason = "the tables are what it is for")]
    {
        println!("{}", lines.join("\n"));
    }
}

/// For each class what each strategy takes.
fn efforts(names: &[String], explore: Option<u64>) -> Vec<[Effort; 4]> {
    let of_class =
        |name: &String| Strategy::ALL.map(|strategy| effort(&text(&format!("{name}_broken")), strategy, explore));
    names.iter().map(of_class).collect()
}

fn effort(text: &str, strategy: Strategy, explore: Option<u64>) -> Effort {
    let (mut tests, mut steps, mut found) = (Vec::new(), Vec::new(), 0);
    for seed in 0..SEEDS {
        let request = Request { seed, strategy, tests: Some(TESTS), explore, ..Request::default() };
        let Some(generated) = tests_for(text, &request) else { continue };
        found += usize::from(generated.first_failure.is_some());
        let all = (generated.tests.made, generated.tests.steps);
        let taken = generated.first_failure.map_or(all, |first| (first.tests, first.steps));
        tests.push(taken.0 as f64);
        steps.push(taken.1 as f64);
    }
    Effort { tests: median(&tests), steps: median(&steps), found }
}

fn table_of_classes(names: &[String], efforts: &[[Effort; 4]]) -> Vec<String> {
    let mut lines = vec![header("class"), "|---|---|---|---|---|".to_owned()];
    for (name, of_class) in names.iter().zip(efforts) {
        let cells = of_class.map(|effort| {
            let misses =
                if effort.found as u64 == SEEDS { String::new() } else { format!(" ({} found)", effort.found) };
            format!("{} / {:.0}{misses}", effort.tests, effort.steps)
        });
        lines.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    let all = |strategy: usize, of: fn(&Effort) -> f64| -> Vec<f64> {
        efforts.iter().map(|one| of(&one[strategy])).collect()
    };
    let row = |title: &str, average: fn(&[f64]) -> f64| {
        let cells = [0, 1, 2, 3].map(|strategy| {
            let (tests, steps) = (all(strategy, |one| one.tests), all(strategy, |one| one.steps));
            format!("{:.1} / {:.0}", average(&tests), average(&steps))
        });
        format!("| {title} | {} |", cells.join(" | "))
    };
    lines.push(row("median", median));
    lines.push(row("geometric mean", geometric_mean));
    let found = [0, 1, 2, 3].map(|strategy| efforts.iter().map(|one| one[strategy].found).sum::<usize>().to_string());
    lines.push(format!("| found, of {} | {} |", names.len() as u64 * SEEDS, found.join(" | ")));
    lines
}

fn table_of_ratios(efforts: &[[Effort; 4]], measures: &[(&str, fn(&Effort) -> f64)]) -> Vec<String> {
    let mut lines = vec![
        "| strategy | measure | found | than `pairs`: median | geometric | arithmetic | than `random`: median | geometric | arithmetic |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    let place = |of: Strategy| Strategy::ALL.iter().position(|&one| one == of).unwrap_or_default();
    for (number, strategy) in Strategy::ALL.into_iter().enumerate() {
        let found: usize = efforts.iter().map(|one| one[number].found).sum();
        for (measure, of) in measures {
            let cells = [Strategy::Pairs, Strategy::Random].map(|other| {
                let ratios: Vec<f64> = efforts.iter().map(|one| of(&one[place(other)]) / of(&one[number])).collect();
                format!("{:.2} | {:.2} | {:.2}", median(&ratios), geometric_mean(&ratios), mean(&ratios))
            });
            lines.push(format!("| {} | {measure} | {found} | {} |", strategy.word(), cells.join(" | ")));
        }
    }
    lines
}

fn header(first: &str) -> String {
    format!("| {first} | {} |", Strategy::ALL.map(Strategy::word).join(" | "))
}

/// How many violations the correct classes have, and each of them.
fn correct_classes(names: &[String]) -> Vec<String> {
    let (mut runs, mut tests, mut explored, mut shown) = (0, 0, 0, Vec::new());
    for name in names {
        let text = text(name);
        for (strategy, seed) in
            Strategy::ALL.into_iter().flat_map(|strategy| (0..SEEDS).map(move |seed| (strategy, seed)))
        {
            let tests_of_run = Some(TESTS_OF_CORRECT);
            let request = Request { seed, strategy, tests: tests_of_run, keep_going: true, ..Request::default() };
            let Some(generated) = tests_for(&text, &request) else { continue };
            runs += 1;
            tests += generated.tests.made;
            explored += generated.tests.explored;
            shown.extend(generated.counted().map(|failure| {
                let Failure { status, test, .. } = failure;
                format!("- {name}, {}, seed {seed}: {status}: {test:?}", strategy.word())
            }));
        }
    }
    let violations = shown.len();
    let first = format!(
        "Correct classes: {violations} violations in {runs} runs of {tests} tests together; \
         all executions of {explored} tests were looked at."
    );
    [vec![first], shown].concat()
}
