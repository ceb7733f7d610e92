//! How long shuttle and loom take for four of the programs of `benches/real`, right and with bugs.
//!
//! Out: for each program, and for each of them right, `a` and `b`: the executions and seconds of shuttle at random, by PCT of depth 3,
//! and of loom with at most 2 and 3 preemptions, up to the first failure, with what fails; `all` where loom has seen all within its
//! bound, and `limit` where the time or the number of executions was up. Each is a process of its own. Run with
//! `cargo run --release --manifest-path benches/shuttle/Cargo.toml --no-default-features --bin twins -- [SECONDS [ROUNDS]]`, by
//! default 60 seconds and one round; `cargo bench --bench real` has the figures of cssame.
//!
//! Shuttle's schedules are sequentially consistent, as those of cssame are; loom also tries what the memory model of C11 allows.

mod on_loom;
mod on_shuttle;

use shuttle::Runner;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use std::env;
use std::panic;
use std::process::{Command, Stdio, exit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    None,
    A,
    B,
}

type Program = fn(Bug, usize);

const PROGRAMS: [(&str, Program, Program); 4] = [
    ("bounded_ring", on_shuttle::programs::bounded_ring, on_loom::programs::bounded_ring),
    ("connection_pool", on_shuttle::programs::connection_pool, on_loom::programs::connection_pool),
    ("thread_pool", on_shuttle::programs::thread_pool, on_loom::programs::thread_pool),
    ("work_stealing", on_shuttle::programs::work_stealing, on_loom::programs::work_stealing),
];

const BUGS: [(&str, Bug); 3] = [("", Bug::None), ("_a", Bug::A), ("_b", Bug::B)];

const SEARCHES: [&str; 4] = ["random", "pct", "loom 2", "loom 3"];

/// Executions of shuttle at most.
const ITERATIONS: usize = 10_000_000;

static EXECUTIONS: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [program, bug, search, seconds, rounds] = &words[..] {
        let number = |text: &String| text.parse().expect("a number");
        return one(number(program), number(bug), search, number(seconds) as u64, number(rounds));
    }
    let word = |index: usize, default: &str| words.get(index).map_or(default.to_owned(), Clone::clone);
    let (seconds, rounds) = (word(0, "60"), word(1, "1"));
    print!("{:18}", "program");
    SEARCHES.iter().for_each(|search| print!(" | {search:>11} {:>8} {:24}", "seconds", "found"));
    println!();
    for (program, (name, ..)) in PROGRAMS.iter().enumerate() {
        for (bug, (ending, _)) in BUGS.iter().enumerate() {
            print!("{:18}", format!("{name}{ending}"));
            for search in SEARCHES {
                let mut command = Command::new(env::current_exe().expect("the program is there"));
                command.args([&program.to_string(), &bug.to_string(), search, &seconds, &rounds]);
                let output = command.stderr(Stdio::null()).output().expect("the program runs");
                print!(" | {}", String::from_utf8_lossy(&output.stdout).trim_end_matches('\n'));
            }
            println!();
        }
    }
}

/// One search, which prints its cell.
fn one(program: usize, bug: usize, search: &str, seconds: u64, rounds: usize) {
    let ((_, on_shuttle, on_loom), (_, bug)) = (PROGRAMS[program], BUGS[bug]);
    let begin = Instant::now();
    let tell = move |what: &str| {
        let what: String = what.chars().take(24).collect();
        let executions = EXECUTIONS.load(Ordering::Relaxed);
        println!("{executions:>11} {:>8.2} {what:24}", begin.elapsed().as_secs_f64());
    };
    panic::set_hook(Box::new(move |info| {
        let text = info.payload().downcast_ref::<String>().cloned();
        let text = text.or_else(|| info.payload().downcast_ref::<&str>().map(|&text| text.to_owned()));
        tell(text.as_deref().unwrap_or("panic").split(['\n', ':', ';']).next().unwrap_or_default());
        exit(1);
    }));
    let limit = Duration::from_secs(seconds);
    if let Some(bound) = search.strip_prefix("loom ") {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = bound.parse().ok();
        builder.max_duration = Some(limit);
        // The clock is looked at so often.
        builder.checkpoint_interval = 1_000;
        builder.max_branches = 100_000;
        builder.check(move || {
            EXECUTIONS.fetch_add(1, Ordering::Relaxed);
            on_loom(bug, rounds);
        });
        return tell(if begin.elapsed() < limit { "all" } else { "limit" });
    }
    let mut config = shuttle::Config::default();
    config.max_time = Some(limit);
    config.failure_persistence = shuttle::FailurePersistence::None;
    let body = move || {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        on_shuttle(bug, rounds);
    };
    match search {
        "random" => drop(Runner::new(RandomScheduler::new(ITERATIONS), config).run(body)),
        _ => drop(Runner::new(PctScheduler::new(3, ITERATIONS), config).run(body)),
    }
    tell("limit");
}
