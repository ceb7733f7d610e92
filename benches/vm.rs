//! How many steps a second the machine does in one execution.
//!
//! In: two threads in loops over shared variables, under fixed schedulers, watched by nobody. Out: criterion's report;
//! the throughput is visible steps a second. Run with `cargo bench --bench vm`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cssame::model::Unit;
use cssame::schedule::{Random, RoundRobin, run};
use cssame::vm::{Choice, Machine, Move, Progress, Tables, Visibility};
use std::hint::black_box;

const LOOPS: &str = "\
int x, y;
cobegin
  A: for (int k = 0; k < 20000; k++) x = x + 1;
  B: for (int k = 0; k < 20000; k++) y = y + x;
coend
";

const LOCKS: &str = "\
int x;
lock L;
cobegin
  A: for (int k = 0; k < 10000; k++) { lock(L); x += 1; unlock(L); }
  B: for (int k = 0; k < 10000; k++) { lock(L); x += 1; unlock(L); }
coend
";

fn machine(text: &str) -> Option<Machine> {
    let Unit { program, .. } = Unit::from_text("bench.csm", text, &[]).ok()?;
    Some(Machine::new(&program, &Visibility::all(&program)))
}

/// Runs to the end: the thread that moved last goes on for `slice` steps, if it can. Gives the number of steps.
fn run_in_slices(machine: &Machine, slice: u32) -> u64 {
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    let mut moves = Vec::new();
    let mut steps = 0;
    loop {
        machine.moves(&state, &mut moves);
        let Some(&Move { thread, .. }) = moves.get((steps / u64::from(slice)) as usize % moves.len().max(1)) else {
            return steps;
        };
        steps += 1;
        let choice = Choice { thread, alternative: 0 };
        if machine.step(&mut state, &mut tables, choice, &mut ()) != Progress::Running {
            return steps;
        }
    }
}

fn steps(criterion: &mut Criterion) {
    for (name, text) in [("loops", LOOPS), ("locks", LOCKS)] {
        let Some(machine) = machine(text) else { continue };
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(run_in_slices(&machine, 1)));
        group.bench_function("fixed", |bencher| bencher.iter(|| run_in_slices(black_box(&machine), 1)));
        group.bench_function("slices", |bencher| bencher.iter(|| run_in_slices(black_box(&machine), 100)));
        group.bench_function("round_robin", |bencher| {
            bencher.iter(|| run(black_box(&machine), &mut RoundRobin::new(), u64::MAX, &mut ()).steps.len());
        });
        group.bench_function("random", |bencher| {
            bencher.iter(|| run(black_box(&machine), &mut Random::new(1), u64::MAX, &mut ()).steps.len());
        });
        group.finish();
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
