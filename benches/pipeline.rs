//! Source to CSSAME form, and correlated variables with ranked pairs: lines a second on generated programs of three sizes,
//! the growth exponents, and the peak memory.
//!
//! The programs have 64 threads, functions of thirty lines with branches, loops, locks, calls and accesses to globals.
//! `cargo bench --bench pipeline` (`-- form` or `-- correlation` for one of the two); medians of three runs, the largest size once unless `CSSAME_BENCH_RUNS` says more.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints")]

use cssame::concurrency;
use cssame::correlation::{self, Options};
use cssame::form::analyse;
use cssame::front::compile;
use cssame::source::SourceMap;
use std::fmt::Write;
use std::time::Instant;

const THREADS: usize = 64;

/// A program of about that many lines; with holes, each function frees its lock between two variables that belong together.
fn program(lines: usize, holes: bool) -> String {
    let functions = lines.saturating_sub(THREADS * 3 + 110) / if holes { 38 } else { 31 };
    let globals = (functions / 4).clamp(50, 20_000);
    let mut text = String::with_capacity(lines * 24);
    for global in 0..globals {
        writeln!(text, "int g{global};").unwrap();
        if holes {
            writeln!(text, "int p{global}, q{global};").unwrap();
        }
    }
    for lock in 0..32 {
        writeln!(text, "lock l{lock};").unwrap();
    }
    for function in 0..functions {
        let g = |offset: usize| (function * 7 + offset * 13) % globals;
        writeln!(text, "int f{function}(int a) {{").unwrap();
        writeln!(text, "  int s = a;").unwrap();
        writeln!(
            text,
            "  for (int i = 0; i < 4; i++) {{\n    s += i * a;\n    if (s > 100) {{\n      s = s - g{};\n    }}\n  }}",
            g(1)
        )
        .unwrap();
        writeln!(text, "  lock(l{});", function % 32).unwrap();
        writeln!(text, "  g{} = s;\n  g{} = g{} + 1;\n  s = g{};", g(2), g(3), g(4), g(2)).unwrap();
        writeln!(text, "  unlock(l{});", function % 32).unwrap();
        if holes {
            let (lock, pair) = (function % 32, function % globals);
            writeln!(text, "  int t = s + g{};\n  lock(l{lock});\n  p{pair} = t;\n  unlock(l{lock});", g(4)).unwrap();
            writeln!(text, "  lock(l{lock});\n  q{pair} = t * 2;\n  unlock(l{lock});").unwrap();
        }
        writeln!(text, "  while (s > 10) {{\n    s = s / 2;\n    g{} = s;\n  }}", g(5)).unwrap();
        writeln!(text, "  if (a == 3) {{\n    g{} = 1;\n  }} else {{\n    g{} = 2;\n  }}", g(6), g(6)).unwrap();
        writeln!(text, "  s += g{} + g{};\n  g{} += s;", g(6), g(7), g(8)).unwrap();
        // A chain of calls within the functions of one thread.
        if function >= THREADS {
            writeln!(text, "  s += f{}(s);", function - THREADS).unwrap();
        } else {
            writeln!(text, "  s += g{};", g(9)).unwrap();
        }
        writeln!(text, "  return s;\n}}").unwrap();
    }
    writeln!(text, "void main() {{\n  cobegin").unwrap();
    for thread in 0..THREADS {
        writeln!(text, "    T{thread}:\n      int r = f{}({thread});", functions - 1 - thread).unwrap();
    }
    writeln!(text, "  coend\n  print(g0, g1);\n}}").unwrap();
    text
}

/// Peak resident memory in MiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn measure(lines: usize, runs: usize) -> (f64, f64) {
    let text = program(lines, false);
    let count = text.lines().count() as f64;
    let mut times = Vec::new();
    for run in 0..runs {
        let start = Instant::now();
        let mut sources = SourceMap::default();
        let file = sources.add("bench.csm", &text);
        let compiled = compile(&sources, file, &[]);
        let front = start.elapsed();
        let program = compiled.program.unwrap();
        let form = analyse(&program).unwrap();
        let total = start.elapsed();
        if run == 0 {
            println!(
                "{count:>9} lines: front end {:.2} s, all {:.2} s, {} reads, {} sets of terms, {} contexts{}, peak {} MiB",
                front.as_secs_f64(),
                total.as_secs_f64(),
                form.read_count(),
                form.set_count(),
                form.concurrency.contexts.len(),
                if form.concurrency.merged { " (merged)" } else { "" },
                peak_memory().unwrap_or(0)
            );
        }
        times.push(total.as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    (count, times[times.len() / 2])
}

/// Lines, and seconds of the correlation pass alone.
fn measure_correlation(lines: usize, runs: usize) -> (f64, f64) {
    let text = program(lines, true);
    let count = text.lines().count() as f64;
    let mut sources = SourceMap::default();
    let file = sources.add("bench.csm", &text);
    let program = compile(&sources, file, &[]).program.unwrap();
    let threads = concurrency::analyse(&program);
    let mut times = Vec::new();
    for run in 0..runs {
        let start = Instant::now();
        let found = correlation::analyse(&program, threads.as_ref(), &Options::default());
        times.push(start.elapsed().as_secs_f64());
        if run == 0 {
            println!(
                "{count:>9} lines: {:.2} s, {} correlations, {} methods, {} pairs{}, {} of them with a rank",
                times[0],
                found.correlations.len(),
                found.methods.functions.len(),
                found.pairs.len(),
                if found.complete { "" } else { " (not all)" },
                found.pairs.iter().filter(|pair| pair.endangered > 0).count()
            );
        }
    }
    times.sort_by(f64::total_cmp);
    (count, times[times.len() / 2])
}

/// Growth exponents, and lines a second.
fn growth(points: &[(f64, f64)]) {
    for pair in points.windows(2) {
        let exponent = (pair[1].1 / pair[0].1).ln() / (pair[1].0 / pair[0].0).ln();
        println!("{:.0} to {:.0} lines: growth exponent {exponent:.2}", pair[0].0, pair[1].0);
    }
    for (lines, seconds) in points {
        println!("{lines:.0} lines: {:.0} lines a second", lines / seconds);
    }
}

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that it runs.
    if std::env::args().any(|argument| argument == "--test") {
        measure(5_000, 1);
        measure_correlation(5_000, 1);
        return;
    }
    let runs = std::env::var("CSSAME_BENCH_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let sizes = [(10_000, 3), (100_000, 3), (1_000_000, runs)];
    // With an argument of this name only the one or the other.
    let only = |name: &str| std::env::args().any(|argument| argument == name);
    if !only("correlation") {
        println!("source to CSSAME form");
        growth(&sizes.map(|(lines, runs)| measure(lines, runs)));
    }
    if !only("form") {
        println!("correlated variables and ranks, of programs with holes");
        growth(&sizes.map(|(lines, runs)| measure_correlation(lines, runs)));
    }
}
