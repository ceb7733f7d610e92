//! Random schedules a second: `cssame run --seeds` and shuttle's random scheduler, in turn, on the same program.
//!
//! In: two threads that each do three times lock, add, unlock. Out: for each of seven rounds the executions a second of
//! both, and the median of the ratios. cssame uses all cores, as the command does, shuttle one, as it does by itself;
//! the second figure of cssame is that of one core. Run with `cargo run --release --manifest-path
//! benches/shuttle/Cargo.toml`.
//!
//! The two are not the same work: shuttle runs compiled Rust and switches threads at synchronisation, cssame runs its
//! own language, and each access to shared memory is a step.

use cssame::budget::Budget;
use cssame::model::Unit;
use cssame::schedule::{Random, Tally};
use cssame::vm::{Machine, Visibility};
use shuttle::scheduler::RandomScheduler;
use shuttle::sync::Mutex;
use shuttle::{Runner, thread};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Instant;

const PROGRAM: &str = "\
int x;
lock L;
cobegin
  A: for (int k = 0; k < 3; k++) { lock(L); x += 1; unlock(L); }
  B: for (int k = 0; k < 3; k++) { lock(L); x += 1; unlock(L); }
coend
";

const ROUNDS: usize = 7;

/// Executions of a round.
const SEEDS: u64 = 400_000;
const ITERATIONS: u64 = 100_000;

fn main() {
    let unit = Unit::from_text("bench.csm", PROGRAM, &[]);
    let Ok(Unit { program, .. }) = unit else { return eprintln!("the program does not compile") };
    let machine = Machine::new(&program, &Visibility::all(&program));
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut ratios = Vec::new();
    println!("{:>14}  {:>14}  {:>14}  {:>6}", format!("on {cores} cores"), "on one core", "shuttle", "ratio");
    for _ in 0..ROUNDS {
        let all = seeds(&machine, cores);
        let one = seeds(&machine, 1);
        let other = shuttle();
        ratios.push(all / other);
        println!("{all:>14.0}  {one:>14.0}  {other:>14.0}  {:>6.1}", all / other);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median of the ratios: {:.1}", ratios[ROUNDS / 2]);
}

/// Executions a second of cssame.
fn seeds(machine: &Machine, jobs: usize) -> f64 {
    let budget = Budget::unlimited().with_jobs(jobs);
    let tally = Tally { machine, seeds: 0..SEEDS, max_steps: 1_000, stops_at_first: true, budget: &budget };
    let begin = Instant::now();
    let executions = tally.run(Random::new).executions;
    executions as f64 / begin.elapsed().as_secs_f64()
}

/// Executions a second of shuttle.
fn shuttle() -> f64 {
    let runner = Runner::new(RandomScheduler::new(ITERATIONS as usize), shuttle::Config::default());
    let begin = Instant::now();
    runner.run(|| {
        let x = Arc::new(Mutex::new(0));
        let work = |x: Arc<Mutex<i32>>| {
            for _ in 0..3 {
                *x.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
            }
        };
        let threads: Vec<_> = (0..2).map(|_| { let x = Arc::clone(&x); thread::spawn(move || work(x)) }).collect();
        threads.into_iter().for_each(|thread| drop(thread.join()));
    });
    ITERATIONS as f64 / begin.elapsed().as_secs_f64()
}
