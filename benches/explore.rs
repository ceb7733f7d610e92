//! How fast the exploration is: states a second, and whole counts of futures.
//!
//! In: the families of programs that other tools are measured with such as fib_bench and last_zero. Out: criterion's
//! report; the throughput is states a second for `futures`, futures a second for `count`. Run with
//! `cargo bench --bench explore`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cssame::budget::Budget;
use cssame::explore::{self, Query};
use cssame::model::Unit;
use cssame::vm::{Machine, Visibility};
use std::hint::black_box;

fn machine(text: &str) -> Option<Machine> {
    let Unit { program, .. } = Unit::from_text("bench.csm", text, &[]).ok()?;
    Some(Machine::new(&program, &Visibility::all(&program)))
}

/// i = j = 1; sums into `i`, sums into `j`, and a reader of both.
fn fib_bench(rounds: u32) -> String {
    format!(
        "int i = 1, j = 1;
cobegin
  A: for (int k = 0; k < {rounds}; k++) i = i + j;
  B: for (int k = 0; k < {rounds}; k++) j = j + i;
  C: {{ int a = i; int b = j; }}
coend
"
    )
}

/// Two threads that add to a variable.
fn adds(rounds: u32, locked: bool) -> String {
    let add = if locked { "lock(L); x += 1; unlock(L);" } else { "x += 1;" };
    let body = format!("for (int k = 0; k < {rounds}; k++) {{ {add} }}");
    format!("int x; lock L;\ncobegin\n A: {body}\n B: {body}\ncoend\nprint(x);\n")
}

/// Writers of a cell, and one reader.
fn floating_read(writers: u32) -> String {
    let arms: String = (1..=writers).map(|writer| format!(" W{writer}: x = {writer};\n")).collect();
    format!("int x;\ncobegin\n{arms} R: {{ int a = x; }}\ncoend\n")
}

/// A row of cells, each filled from the one before, and one that looks for the last zero.
fn last_zero(cells: u32) -> String {
    let arms: String = (1..=cells).map(|cell| format!(" T{cell}: t[{cell}] = t[{}] + 1;\n", cell - 1)).collect();
    format!("int t[{}];\ncobegin\n S: {{ int k = {cells}; while (t[k] != 0) k--; }}\n{arms}coend\n", cells + 1)
}

/// Philosophers who all take the left fork first.
fn philosophers(count: u32) -> String {
    let forks: Vec<String> = (0..count).map(|fork| format!("f{fork}")).collect();
    let arms: String = (0..count)
        .map(|left| {
            let right = (left + 1) % count;
            format!(" P{left}: {{ lock(f{left}); lock(f{right}); unlock(f{right}); unlock(f{left}); }}\n")
        })
        .collect();
    format!("lock {};\ncobegin\n{arms}coend\n", forks.join(", "))
}

fn states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("futures");
    group.sample_size(10);
    for (name, text) in [
        ("fib_bench_3", fib_bench(3)),
        ("unlocked_adds_20", adds(20, false)),
        ("last_zero_7", last_zero(7)),
        ("philosophers_6", philosophers(6)),
    ] {
        let Some(machine) = machine(&text) else { continue };
        let search = || explore::futures(black_box(&machine), &Query::default(), &Budget::unlimited());
        group.throughput(Throughput::Elements(search().statistics.states));
        group.bench_function(name, |bencher| bencher.iter(search));
    }
    group.finish();
}

fn counts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("count");
    group.sample_size(10);
    for (name, text) in [
        ("fib_bench_4", fib_bench(4)),
        ("locked_adds_7", adds(7, true)),
        ("unlocked_adds_5", adds(5, false)),
        ("floating_read_25", floating_read(25)),
        ("last_zero_8", last_zero(8)),
    ] {
        let Some(machine) = machine(&text) else { continue };
        let count = || explore::count(black_box(&machine), &Budget::unlimited());
        group.throughput(Throughput::Elements(count().futures));
        group.bench_function(name, |bencher| bencher.iter(count));
    }
    group.finish();
}

criterion_group!(benches, states, counts);
criterion_main!(benches);
