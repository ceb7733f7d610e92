//! How many executions a second the undirected schedulers make.
//!
//! In: two threads of three additions each, with a lock and without. Out: criterion's report; the throughput is
//! executions a second on one core, and of `seeds`, which counts outcomes as `cssame run --seeds` does, on all cores. Run
//! with `cargo bench --bench races`.
//!
//! Every access to shared memory is a step here, those under the lock too: 26 steps with it, 14 without.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cssame::budget::Budget;
use cssame::model::Unit;
use cssame::schedule::{
    ExecutionStatus, Experiment, Greybox, Random, Scheduled, Scheduler, Steered, Tally, Trial, Trials,
};
use cssame::vm::{Machine, Visibility};
use std::hint::black_box;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::thread;

const LOCKED: &str = "\
int x;
lock L;
cobegin
  A: for (int k = 0; k < 3; k++) { lock(L); x += 1; unlock(L); }
  B: for (int k = 0; k < 3; k++) { lock(L); x += 1; unlock(L); }
coend
";

const UNLOCKED: &str = "\
int x;
cobegin
  A: for (int k = 0; k < 3; k++) x += 1;
  B: for (int k = 0; k < 3; k++) x += 1;
coend
";

/// Executions of one measured run.
const EXECUTIONS: u64 = 1_000;

/// Executions of one measured run on all cores.
const SEEDS: u64 = 200_000;

/// Counts the executions that come to their end.
struct Ends(Scheduler);

impl Experiment for Ends {
    type Policy = Scheduled;
    type Observer = ();
    type Outcome = bool;

    fn begin(&self, seed: u64) -> (Scheduled, ()) {
        (self.0.policy(seed), ())
    }

    fn outcome(&self, trial: &Trial<'_, Scheduled, ()>) -> bool {
        *trial.status == ExecutionStatus::Ok
    }
}

fn machine(text: &str) -> Option<Machine> {
    let Unit { program, .. } = Unit::from_text("bench.csm", text, &[]).ok()?;
    Some(Machine::new(&program, &Visibility::all(&program)))
}

fn executions(criterion: &mut Criterion) {
    let budget = Budget::unlimited();
    for (name, text) in [("locked", LOCKED), ("unlocked", UNLOCKED)] {
        let Some(machine) = machine(text) else { continue };
        let trials = Trials { machine: &machine, seeds: 0..EXECUTIONS, max_steps: 1_000, budget: &budget };
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(EXECUTIONS));
        for scheduler in [Scheduler::Random, Scheduler::Pct { depth: 3, steps: 26 }, Scheduler::Pos] {
            group.bench_function(scheduler.word(), |bencher| {
                bencher.iter(|| {
                    let mut ended = 0;
                    black_box(&trials).run(&Ends(scheduler), |_, is_over| {
                        ended += u32::from(is_over);
                        ControlFlow::Continue(())
                    });
                    ended
                });
            });
        }
        let greybox = Greybox { trials, terms: &[], bound: Steered::BOUND };
        group.bench_function("reads-from", |bencher| {
            bencher.iter(|| black_box(&greybox).run(&Ends(Scheduler::Pos), |_, _| ControlFlow::Continue(())));
        });
        let jobs = thread::available_parallelism().map_or(1, NonZero::get);
        let budget = Budget::unlimited().with_jobs(jobs);
        let tally =
            Tally { machine: &machine, seeds: 0..SEEDS, max_steps: 1_000, stops_at_first: false, budget: &budget };
        group.throughput(Throughput::Elements(SEEDS)).sample_size(20);
        group.bench_function("seeds", |bencher| bencher.iter(|| black_box(&tally).run(Random::new).executions));
        group.finish();
    }
}

criterion_group!(benches, executions);
criterion_main!(benches);
