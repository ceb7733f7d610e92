//! How fast the classes of executions are told apart, and counted without running them.
//!
//! In: three samples at several sizes, and `benches/paths/connection_pool.csm`, a pool of connections with five threads and
//! 30 shared variables. Out, for each sample and size: the classes that reachability testing tells apart, how long it takes
//! to tell them apart by an execution of each order of dependent steps, with how many a second that is, and by states, and how
//! long it takes to count them alone. For the
//! pool: the classes of each two threads run alone, which are millions together, and how long counting takes. Each figure is
//! the median of three runs. Run with `cargo bench --bench path_classes`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its table, and stops where it cannot go on"
)]

use cssame::budget::Budget;
use cssame::model::{Model, Options};
use cssame::paths::classes::{ClassOptions, Operations, classes, thread_pairs};
use std::path::Path;
use std::time::{Duration, Instant};

/// Samples of which the classes are enumerated, with the inputs that make them larger.
const SAMPLES: &[(&str, &[&str], &[i64])] = &[
    ("setiadi_jtelnet", &["paints", "characters"], &[2, 3, 4]),
    ("setiadi_jnetmap", &["rounds"], &[10, 40, 80]),
    ("setiadi_commons_pool", &["k"], &[10, 100, 400]),
];

/// No limit that a sample comes to.
const ALL: u64 = 100_000_000;

fn model(path: &str, inputs: &[&str], value: i64) -> Model {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let inputs = inputs.iter().map(|&name| (name.to_owned(), value.to_string())).collect();
    Model::from_text(path, &text, &Options { inputs, ..Options::default() }).unwrap()
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

fn samples() {
    print!("{:<22} {:>5} {:>9} {:>14} {:>12}", "sample", "size", "classes", "by executions", "a second");
    println!(" {:>12} {:>12}", "by states", "counted");
    for &(name, inputs, sizes) in SAMPLES {
        for &size in sizes {
            let model = model(&format!("samples/{name}.csm"), inputs, size);
            let operations = Operations::new(model.program(), &model.form().concurrency);
            let of = |max_representatives, max_enumerated, max_counted| {
                let options = ClassOptions { max_representatives, max_enumerated, max_counted };
                timed(|| classes(model.machine(), &operations, &Budget::unlimited(), &options))
            };
            let (found, by_states) = of(0, ALL, 0);
            // Where the number is known and no execution is asked for, none is run.
            let (_, by_executions) = of(found.classes as usize, ALL, ALL);
            let (_, counting) = of(0, 0, ALL);
            let a_second = found.classes as f64 / by_executions.as_secs_f64();
            print!("{name:<22} {size:>5} {:>9} {by_executions:>14.3?} {a_second:>12.0}", found.classes);
            println!(" {by_states:>12.3?} {counting:>12.3?}");
        }
    }
}

fn pool() {
    let model = model("benches/paths/connection_pool.csm", &[], 0);
    let operations = Operations::new(model.program(), &model.form().concurrency);
    let of = |max_enumerated| {
        let options = ClassOptions { max_representatives: 0, max_enumerated, ..ClassOptions::default() };
        timed(|| thread_pairs(model.machine(), &operations, &Budget::unlimited(), &options))
    };
    let (found, counting) = of(0);
    let (_, with_attempts) = of(ClassOptions::default().max_enumerated);
    println!("\nconnection pool, two threads alone");
    for pair in &found.pairs {
        println!("{:<22} {:>15}", pair.threads.join(" "), pair.count.classes);
    }
    println!("{:<22} {:>15}   counted in {counting:.3?}, {with_attempts:.3?} as usual", "together", found.total());
}

fn main() {
    samples();
    pool();
}
