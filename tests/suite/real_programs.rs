//! The programs of `benches/real`: the right ones do not fail, and each bug comes within a known number of executions.
//!
//! Input: each program and its two broken twins, and executions by priorities of operations. Output: how they end. Soundness
//! and limits: a right program is only tried; that it is right is what `cssame futures` decides, in seconds or minutes.

use cssame::budget::Budget;
use cssame::schedule::{Scheduler, Tally};
use std::fs;
use std::ops::Range;
use support::{model, root};

/// Executions of a right program.
const TRIED: u64 = 100;

/// A program, and for its bugs `a` and `b` how they end, and the seeds up to the first one that shows them, or some more. Where
/// that is a late one, it begins shortly before it.
const PROGRAMS: &[(&str, [(&str, Range<u64>); 2])] = &[
    ("async_scheduler", [("deadlock", 0..30), ("assert", 0..10)]),
    ("bounded_ring", [("assert", 0..10), ("assert", 0..10)]),
    ("connection_pool", [("assert", 0..30), ("error", 0..150)]),
    ("hash_map", [("assert", 0..10), ("assert", 10_100..10_300)]),
    ("lru_cache", [("assert", 0..10), ("deadlock", 0..10)]),
    ("message_broker", [("deadlock", 0..20), ("assert", 0..10)]),
    ("rate_limiter", [("deadlock", 0..10), ("assert", 0..140)]),
    ("thread_pool", [("deadlock", 0..10), ("assert", 0..10)]),
    ("work_stealing", [("assert", 0..80), ("assert", 0..110)]),
    ("write_ahead_log", [("assert", 0..10), ("assert", 0..10)]),
];

/// How the first bad execution of these seeds ends, if one does.
fn first_bad(name: &str, seeds: Range<u64>) -> Option<String> {
    let text = fs::read_to_string(root().join(format!("benches/real/{name}.csm"))).unwrap();
    let model = model(&text);
    let budget = Budget::unlimited();
    let tally = Tally { machine: model.machine(), seeds, max_steps: 100_000, stops_at_first: true, budget: &budget };
    let tallied = tally.run(|seed| Scheduler::Pos.policy(seed));
    tallied.first_bad?;
    tallied.outcomes.iter().map(|outcome| outcome.status.word().to_owned()).find(|word| word != "ok")
}

#[test]
fn right_programs_end_well_and_bugs_are_found() {
    for (name, bugs) in PROGRAMS {
        assert_eq!(first_bad(name, 0..TRIED), None, "{name}");
        for (bug, (end, seeds)) in ["a", "b"].into_iter().zip(bugs) {
            let twin = format!("{name}_{bug}");
            assert_eq!(first_bad(&twin, seeds.clone()).as_deref(), Some(*end), "{twin}");
        }
    }
}
