//! Every sample: what its comment promises, as golden outcomes; and how many static terms no execution realises.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Answer, Query, count, futures};
use std::collections::BTreeSet;
use support::{model, root};

struct Explored {
    answer: Answer,
    futures: u64,
    terms: usize,
    impossible: Vec<String>,
}

fn explore(name: &str) -> Explored {
    let text = std::fs::read_to_string(root().join(format!("samples/{name}.csm"))).unwrap();
    let model = model(&text);
    let model = model.in_contexts().unwrap_or(model);
    let form = model.form();
    let limits = Limits { max_states: Some(3_000_000), ..Limits::default() };
    let answer = futures(model.machine(), &Query::UP_TO_THE_READ, &Budget::from(limits));
    assert!(answer.is_complete(), "{name}");
    let futures = count(model.machine(), &Budget::from(limits)).futures;
    let mut terms = 0;
    let mut impossible = Vec::new();
    for read in form.shared_reads() {
        let all = form.terms(read);
        if all.len() < 2 {
            continue;
        }
        terms += all.len();
        for definition in all {
            if answer.is_feasible(read, definition) == Some(false) {
                impossible.push(format!(
                    "{} from {}",
                    cssame::form::read_in_context(model.sources(), model.program(), read),
                    cssame::form::definition_in_context(model.sources(), model.program(), definition)
                ));
            }
        }
    }
    Explored { answer, futures, terms, impossible }
}

/// `line, line: status`, each distinct one once.
fn outcomes(explored: &Explored) -> BTreeSet<String> {
    let answer = &explored.answer;
    answer
        .outcomes
        .iter()
        .map(|outcome| {
            let lines: Vec<&str> =
                outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output)).collect();
            format!("{}: {}", lines.join(", "), outcome.status.word())
        })
        .collect()
}

/// Sample, outcomes, futures.
pub const GOLDEN: &[(&str, &[&str], u64)] = &[
    ("cssame_fig2", &["0: ok", "2: ok", "3: ok"], 3),
    ("cssame_fig2_unlocked", &["0: ok", "1: ok", "2: ok", "3: ok"], 4),
    ("cssame_fig5", &["7: ok", ": division-by-zero"], 2),
    ("cssame_fig5_no_barrier", &["7: ok", "21: ok", ": division-by-zero"], 3),
    ("cssame_fig6", &["0: ok", "1: ok", "2: ok", "3: ok", "4: ok"], 16),
    ("cssame_fig7", &["1 1: ok", "2 0: ok"], 2),
    ("cssame_fig7_single_locks", &["1 1: ok", "1 2: ok", "2 0: ok"], 3),
    ("setiadi_fig3", &["0, -10: ok", "2, -10: ok"], 6),
    ("setiadi_fig13", &["2, -10: ok", "-10: deadlock"], 4),
    ("setiadi_jtelnet", &[": ok"], 66),
    ("setiadi_jnetmap", &[": ok"], 8),
    ("sen_fig1", &[": ok", ": error"], 5),
    ("sen_fig2", &[": ok", ": error"], 2),
    ("jannesari_fig9", &["0 0: ok", "0 1: ok", "61 1: ok"], 3),
    ("bakery2", &["2: ok"], 9),
    ("bank_transfer", &["130 170: ok"], 2),
    ("bank_transfer_deadlock", &["130 170: ok", ": deadlock"], 3),
    ("barrier_phases", &["3 5 4: ok"], 1),
    ("bounded_buffer", &["10, 20: ok"], 8),
    ("bounded_buffer_sem", &["1, 2: ok", "2, 1: ok"], 2),
    ("cache_stale", &["30: ok", "60: ok", ": assert"], 3),
    ("counter_unlocked", &["1: ok", "2: ok"], 4),
    ("counter_locked", &["2: ok"], 2),
    ("counter_atomic", &["3: ok"], 16),
    ("dekker", &["0: ok", "1: ok", "2: ok"], 22),
    ("dining_philosophers", &["3: ok", ": deadlock"], 7),
    ("index_race", &["1: ok", "2: ok", ": index-out-of-range"], 8),
    ("lazy_init", &["42: ok"], 4),
    ("lazy_init_broken", &["42: ok", ": assert"], 8),
    ("lost_notify", &["woken: ok", ": deadlock"], 2),
    ("lost_notify_cond", &["7: ok", ": deadlock"], 2),
    ("message_passing", &[": ok", "42: ok"], 2),
    ("parfor_sum", &["60: ok"], 6),
    ("peterson", &["0: ok", "1: ok", "2: ok"], 23),
    ("pipeline", &["22: ok"], 1),
    ("readers_writer", &["0, 0: ok", "0, 7: ok", "7, 0: ok", "7, 7: ok"], 14),
    ("rendezvous", &["20, 10: ok"], 1),
    ("shared_setter", &["21: ok", "7: ok", ": division-by-zero"], 3),
    ("spawn_join", &["5 0: ok", "5 7: ok"], 2),
    ("spinlock_cas", &["1: ok", "2: ok"], 8),
    ("store_buffering", &["0 1: ok", "1 0: ok", "1 1: ok"], 3),
    ("ticket_lock", &["3: ok"], 6),
    ("treiber_like", &["1 2: ok", "2 1: ok"], 4),
    ("races_buffer", &["7: ok"], 2),
    ("races_buffer_broken", &["7: ok", "7: assert"], 4),
    ("races_cache", &[": ok"], 2),
    ("races_cache_broken", &[": ok", ": error"], 3),
    ("races_cancel", &[": ok"], 2),
    ("races_cancel_broken", &[": ok", ": error"], 3),
    ("races_double_checked", &[": ok"], 2),
    ("races_double_checked_broken", &[": ok", ": assert"], 8),
    ("races_moldyn", &["7: ok"], 1),
    ("races_moldyn_broken", &["7: ok"], 2),
    ("races_montecarlo", &["10: ok"], 1),
    ("races_montecarlo_broken", &["10: ok"], 3),
    ("races_pool", &[": ok"], 2),
    ("races_pool_broken", &[": ok", ": assert"], 4),
    ("races_publication", &["found: ok"], 1),
    ("races_publication_broken", &[": ok", "found: ok"], 2),
    ("races_raytracer", &[": ok"], 2),
    ("races_raytracer_broken", &[": ok", ": assert"], 4),
    ("races_read_copy", &[": ok"], 2),
    ("races_read_copy_broken", &[": ok", ": assert"], 4),
    ("races_server", &["1, 2: ok", "2, 1: ok"], 2),
    ("races_server_broken", &["1, 1: ok", "1, 2: ok", "2, 1: ok"], 3),
    ("races_sor", &["5 4: ok"], 1),
    ("races_sor_broken", &["1 4: ok", "5 2: ok", "5 4: ok"], 3),
    ("races_statistics", &["used: ok"], 2),
    ("races_statistics_broken", &["used: ok"], 4),
    ("races_stop_flag", &[": ok"], 3),
    ("races_stop_flag_broken", &[": ok", ": assert"], 5),
    ("races_task_queue", &[": ok"], 2),
    ("races_task_queue_broken", &[": ok", ": assert"], 3),
    ("unlock_not_held", &[": unlock-not-held"], 1),
    ("rwlock_table", &["0, 0: ok", "0, 7: ok", "7, 0: ok", "7, 7: ok"], 4),
    ("trylock_backoff", &["1: ok", "11: ok"], 3),
    ("timed_wait", &["7: ok", "late: ok"], 4),
    ("philosophers_table", &[": deadlock", "3: ok"], 2),
    ("philosophers_ordered", &["3: ok"], 1),
    ("account_table", &["200: ok"], 2),
    ("slot_table", &["0: ok", "10: ok"], 2),
    ("slot_table_broken", &["0: ok", "10: ok", ": assert"], 3),
    ("thread_pool", &["3: ok"], 36),
    ("state_machine", &[": ok"], 4),
];

#[test]
fn samples_do_what_their_comments_say() {
    let mut wrong = Vec::new();
    let (mut terms, mut impossible) = (0, 0);
    for &(name, expected, futures) in GOLDEN {
        let explored = explore(name);
        let expected: BTreeSet<String> = expected.iter().map(|&outcome| outcome.to_owned()).collect();
        let found = outcomes(&explored);
        if found != expected {
            wrong.push(format!("{name}: {found:?}, not {expected:?}"));
        }
        if explored.futures != futures {
            wrong.push(format!("{name}: {} futures, not {futures}", explored.futures));
        }
        terms += explored.terms;
        impossible += explored.impossible.len();
        println!("{name}: {} terms, impossible: {}", explored.terms, explored.impossible.join(", "));
    }
    println!("{terms} terms of pi functions, {impossible} of them impossible");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let figure = format!("{impossible} of {terms} (`cargo test --test suite samples::");
    assert!(readme.contains(&figure), "README.md does not say: {figure}");
    // Locks made of variables (Dekker, Peterson, the bakery) are the most of them.
    assert!(impossible * 100 <= terms * 8, "{impossible} of {terms} terms are impossible");
}
