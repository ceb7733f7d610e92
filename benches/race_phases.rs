//! What the phases of race-directed testing cost, beside plain executions at random.
//!
//! In: a small program, two threads that each count three times under a lock, and race at the end; one of workers that take
//! turns at a lock and count in shared cells, with one race at its end; and a wide
//! one of 50 threads, 10,000 statements and 200 shared cells. Out: criterion's report; the throughput is executions a
//! second on one core. The ratios of `hybrid` and `directed` to `plain` within one run are the cost of phase 1 and of
//! phase 2. Run with `cargo bench --bench race_phases`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cssame::budget::Budget;
use cssame::form::races::potential_races;
use cssame::model::{Model, Options};
use cssame::race::{HybridDetector, PairAim, Places, TrialRequest, direct_at};
use cssame::schedule::{Experiment, Random, Trial, Trials};
use std::fmt::Write;
use std::hint::black_box;
use std::ops::ControlFlow;

/// Two threads that count under a lock, and then race.
const SMALL: &str = "int x; int last; lock L;
void count() { for (int i = 0; i < 3; i++) { lock(L); x += 1; unlock(L); } }
void main() { cobegin A: { count(); last = 1; } B: { count(); last = 2; } coend }
";

/// Workers that count under a lock and by atomic additions, each with cells of its own; at the end the first two race.
fn workers() -> String {
    let mut text = "int t[8]; int sum; int hits; int last; lock L;\ncobegin\n".to_owned();
    for worker in 0..8 {
        let race = if worker < 2 { "last = 1;" } else { "" };
        let _ = writeln!(
            text,
            "W{worker}: {{ for (int i = 0; i < 50; i++) {{ t[{worker}] = t[{worker}] + i; lock(L); sum += 1; unlock(L); \
             fetch_add(hits, 1); }} {race} }}"
        );
    }
    text + "coend\n"
}

/// 50 threads of 200 statements each, most of them under one of ten locks; every cell belongs to a lock, and ten are
/// written without.
fn wide() -> String {
    let mut text = String::new();
    for cell in 0..200 {
        let _ = writeln!(text, "int x{cell};");
    }
    for lock in 0..10 {
        let _ = writeln!(text, "lock L{lock};");
    }
    text += "cobegin\n";
    for thread in 0..50 {
        let _ = writeln!(text, "T{thread}: {{");
        for statement in 0..49 {
            let cell = (thread * 7 + statement * 13) % 200;
            let lock = cell % 10;
            let _ =
                writeln!(text, "lock(L{lock}); x{cell} = {statement}; x{} += 1; unlock(L{lock});", (cell + 10) % 200);
        }
        let _ = writeln!(text, "x{} = {thread};\n}}", thread % 10);
    }
    text + "coend\n"
}

/// Executions at random that nobody watches.
struct Plain;

impl Experiment for Plain {
    type Policy = Random;
    type Observer = ();
    type Outcome = usize;

    fn begin(&self, seed: u64) -> (Random, ()) {
        (Random::new(seed), ())
    }

    fn outcome(&self, trial: &Trial<'_, Random, ()>) -> usize {
        trial.steps.len()
    }
}

/// Executions at random that the hybrid detector watches.
struct Watched<'a>(&'a Model);

impl<'a> Experiment for Watched<'a> {
    type Policy = Random;
    type Observer = HybridDetector<'a>;
    type Outcome = usize;

    fn begin(&self, seed: u64) -> (Random, HybridDetector<'a>) {
        (Random::new(seed), HybridDetector::new(self.0.machine(), self.0.program()))
    }

    fn outcome(&self, trial: &Trial<'_, Random, HybridDetector<'a>>) -> usize {
        trial.observer.found().len()
    }
}

fn phases(criterion: &mut Criterion) {
    let budget = Budget::unlimited();
    // With the executions of one measured run.
    for (name, text, executions) in
        [("small", SMALL.to_owned(), 2_000), ("workers", workers(), 20), ("wide", wide(), 20)]
    {
        let Ok(model) = Model::from_text("bench.csm", &text, &Options::default()) else { continue };
        let (program, machine) = (model.program(), model.machine());
        let trials = Trials { machine, seeds: 0..executions, max_steps: 1_000_000, budget: &budget };
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(executions)).sample_size(10);
        group.bench_function("plain", |bencher| {
            bencher.iter(|| black_box(&trials).run(&Plain, |_, _| ControlFlow::Continue(())));
        });
        group.bench_function("hybrid", |bencher| {
            bencher.iter(|| black_box(&trials).run(&Watched(&model), |_, _| ControlFlow::Continue(())));
        });
        let (places, races) = (Places::new(program), potential_races(program, model.form()));
        let Some(accesses) = races.pairs().next() else { continue };
        let Some((pair, turned)) = places.pair(accesses) else { continue };
        let accesses = [if turned { [accesses[1], accesses[0]] } else { accesses }];
        let aim = PairAim { places: &places, races: &races, pair, accesses: &accesses };
        let request = TrialRequest {
            seed: 0,
            trials: executions,
            max_postponed: 20_000,
            max_steps: 1_000_000,
            until_hit: false,
            at_synchronisation: false,
        };
        group.bench_function("directed", |bencher| {
            bencher.iter(|| black_box(direct_at(&model, aim, &request, &budget)));
        });
        group.finish();
    }
}

criterion_group!(benches, phases);
criterion_main!(benches);
