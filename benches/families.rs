//! The families of programs that model checkers are measured with, in one table from one run.
//!
//! In: `benches/families/*.csm`. Out, for each family and size: the number of futures and of the executions that were followed for it,
//! how long counting takes and how many futures a second that is; how long it takes to count them through states, if these are not
//! too many; and how long it takes to decide all terms and outcomes, with the states that it needs; that alone for families of which
//! there is no use in counting, beside how fast a search goes through all of their states. Each figure is the median of three runs.
//! Run with `cargo bench --bench families`; a word behind `--` picks the families whose name contains it. The word `many_states` asks
//! for one row that takes minutes and up to 16 GiB: a search that ends at a hundred million states.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its table, and stops where it cannot go on"
)]

use cssame::budget::{Bound, Budget, Limits, Statistics};
use cssame::explore::{self, Query, Subject};
use cssame::model::{Model, Options};
use std::path::Path;
use std::time::{Duration, Instant};

/// Families of which the futures are counted, with sizes.
const COUNTED: &[(&str, &[u32])] = &[
    ("fib_bench", &[3, 4, 5]),
    ("floating_read", &[6, 8, 25]),
    ("readers", &[5, 8, 10]),
    ("lastzero", &[8, 10, 12]),
    ("peterson", &[1, 3, 5]),
    ("locked_adds", &[3, 6, 8, 10]),
    ("bounded_buffer", &[1, 2]),
    ("readers_writers", &[1, 2]),
    ("locked_readers", &[4, 8, 10]),
    ("getters", &[4, 8, 10]),
    ("ordered_philosophers", &[8, 16]),
    ("sem_buffer", &[4, 6, 7]),
    ("start_event", &[4, 6, 7]),
    ("unlocked_adds", &[3, 5, 6]),
    ("lastwrite", &[4, 8, 10]),
    ("own_cells", &[3, 5, 6]),
    ("list_append", &[4, 5, 6]),
    ("values_decide", &[3, 4, 5]),
    ("merge_sort", &[16, 32, 64]),
];

/// Families whose states are few for their futures, which may be endless.
const DECIDED: &[(&str, &[u32])] = &[
    ("filter_lock", &[3, 4]),
    ("philosophers", &[8]),
    ("spawned_philosophers", &[8]),
    ("monitor", &[2, 3, 4]),
    ("twelve_philosophers", &[12]),
];

/// Families with too many futures to count, at sizes at which there are too many states as well.
const REDUCED: &[(&str, &[u32])] =
    &[("readers", &[20, 40, 200]), ("pipeline", &[20, 40, 200]), ("locked_workers", &[8, 20, 40]), ("lastzero", &[14])];

/// States, each with what was read before, beyond which futures are not counted through them.
const COUNTED_STATES: u64 = 300_000;

/// Memory that a search through states is stopped by, to see what a state takes.
const MEMORY: u64 = 8 << 20;

fn family(name: &str, n: u32) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/families").join(format!("{name}.csm"));
    let text = std::fs::read_to_string(path).unwrap();
    let inputs = if text.contains("input int n") { vec![("n".to_owned(), n.to_string())] } else { Vec::new() };
    Model::from_text(name, &text, &Options { inputs, ..Options::default() }).unwrap()
}

/// The result of a job, and the median time of three runs of it.
fn timed<T>(job: impl Fn() -> T) -> (T, Duration) {
    let run = || {
        let began = Instant::now();
        let result = job();
        (result, began.elapsed())
    };
    let mut runs = [run(), run(), run()];
    runs.sort_by_key(|&(_, time)| time);
    let [_, median, _] = runs;
    median
}

/// What a search through states takes for each of them, by its own account, where that much memory stops it.
fn bytes_of_a_state(family: &Model) -> Option<u64> {
    let budget = Budget::from(Limits { max_memory: Some(MEMORY), ..Limits::default() });
    let answer = explore::by_states(family.machine(), &Query::default(), &budget);
    (answer.bound == Some(Bound::Memory)).then(|| MEMORY / answer.statistics.states.max(1))
}

/// Families whose states are searched for all of them as well; the others have too many without reduction.
const SEARCHED: &[&str] = &["filter_lock", "philosophers", "spawned_philosophers", "monitor"];

/// How many states a search through all of them meets, and how long it takes: no symmetry, no reduction, and nothing besides.
fn search(family: &Model) -> (u64, Duration) {
    timed(|| {
        let answer = explore::by_states(family.machine(), &Query::UP_TO_THE_READ, &Budget::unlimited());
        assert!(answer.bound.is_none());
        answer.statistics.states
    })
}

fn decide(family: &Model) -> (Statistics, Duration) {
    let subject = Subject::from(family);
    let search = || {
        let query = Query::UP_TO_THE_READ;
        let answer = subject.futures(&query, &Budget::unlimited());
        assert!(answer.is_complete());
        answer.statistics
    };
    timed(search)
}

/// States of the search that is asked for by the word [`MANY`].
const MANY_STATES: u64 = 100_000_000;

/// Asks for a search through [`MANY_STATES`].
const MANY: &str = "many_states";

/// Searches the states of fifteen philosophers, without reduction, until there are [`MANY_STATES`].
fn many_states() {
    let arms: String = (0..14).map(|me| format!("P{me}: dine({me}, f{me}, f{});\n", me + 1)).collect();
    let forks: Vec<String> = (0..15).map(|fork| format!("f{fork}")).collect();
    let text = format!(
        "int meals[15]; lock {};
         void dine(int me, lock first, lock second) {{
           lock(first); lock(second); meals[me] = meals[me] + 1; unlock(second); unlock(first);
         }}
         cobegin {arms} P14: dine(14, f0, f14); coend",
        forks.join(", ")
    );
    let model = Model::from_text(MANY, &text, &Options::default()).unwrap();
    let limits = Limits { max_states: Some(MANY_STATES), max_memory: Some(16 << 30), ..Limits::default() };
    let began = Instant::now();
    let answer = explore::by_states(model.machine(), &Query::UP_TO_THE_READ, &Budget::from(limits));
    let (states, seconds) = (answer.statistics.states, began.elapsed().as_secs_f64());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let peak = peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) << 10;
    let bound = answer.bound.map_or("none", Bound::name);
    println!("{:<16}{:>12}{:>10}{:>12}{:>16}{:>12}", "family", "states", "s", "states/s", "peak, bytes", "a state");
    println!(
        "{MANY:<16}{states:>12}{seconds:>10.1}{:>12.0}{peak:>16}{:>12.1}  bound: {bound}",
        states as f64 / seconds,
        peak as f64 / states.max(1) as f64
    );
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if wanted.iter().any(|word| word == MANY) {
        return many_states();
    }
    let wanted = |name: &&(&str, &[u32])| wanted.is_empty() || wanted.iter().any(|word| name.0.contains(word.as_str()));
    println!(
        "{:<20}{:>4}{:>9}{:>11}{:>11}{:>11}{:>15}{:>12}{:>8}",
        "family", "n", "futures", "executions", "count, ms", "futures/s", "by states, ms", "decide, ms", "states"
    );
    for &(name, sizes) in COUNTED.iter().filter(wanted) {
        for &n in sizes {
            let family = family(name, n);
            let (counted, count_time) = timed(|| Subject::from(&family).count(&Budget::unlimited()));
            let (progress, decide_time) = decide(&family);
            let few = Budget::from(Limits { max_states: Some(COUNTED_STATES), ..Limits::default() });
            let (by_states, states_time) = timed(|| explore::count_by_states(family.machine(), &few));
            let is_known = by_states.bound.is_none();
            let by_states = if is_known { format!("{:.2}", states_time.as_secs_f64() * 1e3) } else { "-".to_owned() };
            let rate = counted.futures as f64 / count_time.as_secs_f64();
            println!(
                "{name:<20}{n:>4}{:>9}{:>11}{:>11.2}{rate:>11.0}{by_states:>15}{:>12.2}{:>8}",
                counted.futures,
                counted.executions,
                count_time.as_secs_f64() * 1e3,
                decide_time.as_secs_f64() * 1e3,
                progress.states,
            );
        }
    }
    println!(
        "\n{:<20}{:>4}{:>10}{:>12}{:>14}{:>12}{:>12}{:>12}",
        "family", "n", "states", "decide, ms", "bytes a state", "all states", "search, ms", "states/s"
    );
    for &(name, sizes) in DECIDED.iter().filter(wanted) {
        for &n in sizes {
            let family = family(name, n);
            let (progress, time) = decide(&family);
            let bytes = bytes_of_a_state(&family).map_or("-".to_owned(), |bytes| bytes.to_string());
            let decide = time.as_secs_f64() * 1e3;
            print!("{name:<20}{n:>4}{:>10}{decide:>12.1}{bytes:>14}", progress.states);
            if SEARCHED.contains(&name) {
                let (all, time) = search(&family);
                let rate = all as f64 / time.as_secs_f64();
                println!("{all:>12}{:>12.1}{rate:>12.0}", time.as_secs_f64() * 1e3);
            } else {
                println!("{:>12}{:>12}{:>12}", "-", "-", "-");
            }
        }
    }
    println!("\n{:<16}{:>4}{:>12}{:>10}{:>12}", "family", "n", "executions", "states", "decide, ms");
    for &(name, sizes) in REDUCED.iter().filter(wanted) {
        for &n in sizes {
            let (progress, time) = decide(&family(name, n));
            let Statistics { executions, states, .. } = progress;
            println!("{name:<16}{n:>4}{executions:>12}{states:>10}{:>12.1}", time.as_secs_f64() * 1e3);
        }
    }
}
