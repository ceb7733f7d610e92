//! Re-entrant and readers-writer locks, tries and timed waits: what the machine makes of them, counted by hand, and what
//! the static form leaves out because of them.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, count, futures};
use cssame::form::{Reason, definition_name, read_name};
use std::collections::BTreeSet;
use support::model;

/// `line, line: status` of all executions, and the number of futures.
fn outcomes(text: &str) -> (Vec<String>, u64) {
    let model = model(text);
    let budget = Budget::from(Limits::default());
    let answer = futures(model.machine(), &Query::default(), &budget);
    assert!(answer.is_complete(), "{text}");
    let found: BTreeSet<String> = answer
        .outcomes
        .iter()
        .map(|outcome| {
            let lines = outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output));
            format!("{}: {}", lines.collect::<Vec<&str>>().join(", "), outcome.status.word())
        })
        .collect();
    (found.into_iter().collect(), count(model.machine(), &budget).futures)
}

fn shows(text: &str, expected: &[&str], futures: u64) {
    let (found, counted) = outcomes(text);
    assert_eq!(found, expected, "{text}");
    assert_eq!(counted, futures, "{text}");
}

/// What an execution ends with, whatever it prints.
fn ends(text: &str, expected: &str) {
    let (found, _) = outcomes(text);
    assert!(!found.is_empty() && found.iter().all(|outcome| outcome.ends_with(expected)), "{text}: {found:?}");
}

#[test]
fn a_try_takes_a_free_lock_alone() {
    shows("lock L; print(trylock(L), trylock(L)); unlock(L); print(trylock(L));", &["true false, true: ok"], 1);
    // The verdict is part of a future, the release that it saw is not: T2 is before the lock, within, or behind.
    let text = "lock L; cobegin T1: lock(L); unlock(L); T2: if (trylock(L)) unlock(L); else print(0); coend";
    shows(text, &["0: ok", ": ok"], 2);
}

#[test]
fn a_try_that_drops_its_verdict_may_leave_the_lock_to_another() {
    let text = "lock L; cobegin T1: lock(L); unlock(L); T2: trylock(L); unlock(L); coend";
    shows(text, &[": ok", ": unlock-not-held"], 2);
}

#[test]
fn a_reentrant_lock_has_levels() {
    let nested = "lock(L); print(trylock(L)); lock(L); unlock(L); unlock(L); unlock(L);";
    shows(&format!("reentrant lock L; {nested}"), &["true: ok"], 1);
    ends(&format!("reentrant lock L; {nested} unlock(L);"), "unlock-not-held");
    ends("lock L; lock(L); lock(L);", "deadlock");
    // Another thread comes in only when all levels are given back.
    let text = "int x; reentrant lock L; cobegin T1: lock(L); lock(L); x = 1; unlock(L); x = 2; unlock(L); \
                T2: lock(L); print(x); unlock(L); coend";
    shows(text, &["0: ok", "2: ok"], 2);
}

#[test]
fn a_lock_parameter_takes_either_kind() {
    let twice = "void twice(lock l) { lock(l); lock(l); unlock(l); unlock(l); }";
    ends(&format!("reentrant lock L; {twice} void main() {{ twice(L); }}"), ": ok");
    ends(&format!("lock L; {twice} void main() {{ twice(L); }}"), "deadlock");
}

#[test]
fn a_wait_frees_all_levels_and_takes_them_again() {
    let text = "bool ready; reentrant lock L; cond c; cobegin \
                T1: lock(L); lock(L); while (!ready) wait(c, L); unlock(L); print(trylock(L)); unlock(L); unlock(L); \
                T2: lock(L); ready = true; notify(c); unlock(L); coend";
    let (found, _) = outcomes(text);
    assert_eq!(found, ["true: ok"]);
}

#[test]
fn readers_nest_and_exclude_writers() {
    shows("rwlock R; rdlock(R); rdlock(R); print(trywrlock(R), tryrdlock(R)); unlock(R);", &["false true: ok"], 1);
    shows("rwlock R; wrlock(R); print(trywrlock(R), tryrdlock(R)); unlock(R);", &["false false: ok"], 1);
    ends("rwlock R; rdlock(R); unlock(R); unlock(R);", "unlock-not-held");
    ends("rwlock R; rdlock(R); wrlock(R);", "deadlock");
    ends("rwlock R; wrlock(R); rdlock(R);", "deadlock");
    ends("rwlock R; wrlock(R); wrlock(R);", "deadlock");
    // One hold for each unlock: the writer comes in behind both.
    let text = "int x; rwlock R; cobegin T1: rdlock(R); rdlock(R); print(x); unlock(R); print(x); unlock(R); \
                T2: wrlock(R); x = 1; unlock(R); coend";
    shows(text, &["0, 0: ok", "1, 1: ok"], 2);
}

#[test]
fn readers_are_inside_at_once() {
    // They meet at the barrier, which no two holders of a lock could.
    let body = |take: &str| format!("{take}(R); barrier(2); unlock(R);");
    let both = |take: &str| format!("rwlock R; cobegin T1: {} T2: {} coend", body(take), body(take));
    ends(&both("rdlock"), ": ok");
    ends(&both("wrlock"), "deadlock");
}

#[test]
fn the_lock_of_a_thread_that_has_ended_stays_taken() {
    ends("rwlock R; cobegin T1: rdlock(R); T2: skip; coend cobegin T1: wrlock(R); coend", "deadlock");
    ends("rwlock R; cobegin T1: rdlock(R); T2: rdlock(R); coend rdlock(R); unlock(R);", ": ok");
    ends("rwlock R; cobegin T1: rdlock(R); coend unlock(R);", "unlock-not-held");
}

#[test]
fn a_timed_wait_is_no_deadlock() {
    shows("lock L; cond c; lock(L); print(timedwait(c, L)); unlock(L);", &["false: ok"], 1);
    // T2 notifies before the wait, during it, or behind the time-out.
    let text = "lock L; cond c; cobegin T1: lock(L); print(timedwait(c, L)); unlock(L); T2: notify(c); coend";
    shows(text, &["false: ok", "true: ok"], 2);
    ends("lock L; cond c; timedwait(c, L);", "unlock-not-held");
}

#[test]
fn a_time_out_comes_before_the_lock() {
    // T2 keeps the lock until it has notified: whoever has timed out before is not woken any more.
    let text = "int x; lock L; cond c; cobegin T1: lock(L); x = 1; print(timedwait(c, L)); unlock(L); \
                T2: lock(L); if (x == 1) { notify(c); print(1); } unlock(L); coend";
    let (found, _) = outcomes(text);
    assert_eq!(found, ["false, 1: ok", "false: ok", "true, 1: ok"]);
}

/// Which definitions each read does not see, as `read definition reason`, for the reasons that are about locks.
fn pruned(text: &str) -> Vec<String> {
    let model = model(text);
    let (sources, program, form) = (model.sources(), model.program(), model.form());
    let mut all = Vec::new();
    for read in form.shared_reads() {
        for of in form.pruned(program, read) {
            if matches!(of.reason, Reason::KilledBeforeUnlock | Reason::NotUpwardExposed) {
                let (read, definition) =
                    (read_name(sources, program, read), definition_name(sources, program, of.definition));
                all.push(format!("{read} {definition} {}", of.reason.word()));
            }
        }
    }
    all.sort();
    all
}

const WRITER: &str = "int x; rwlock R;\ncobegin\nT1: wrlock(R); x = 1; x = 2; unlock(R);\nT2: ";

#[test]
fn a_body_of_a_writer_hides_from_readers_and_writers() {
    for take in ["rdlock", "wrlock"] {
        let text = format!("{WRITER}{take}(R); print(x); unlock(R);\ncoend");
        assert_eq!(pruned(&text), ["x@4:22 x@3:16 killed-before-unlock"], "{text}");
    }
    let text = format!("{WRITER}print(x);\ncoend");
    assert_eq!(pruned(&text), [""; 0], "no lock is held");
}

#[test]
fn a_read_that_follows_its_own_write_sees_no_other_body() {
    let text = format!("{WRITER}wrlock(R); x = 3; print(x); unlock(R);\ncoend");
    assert_eq!(pruned(&text), ["x@4:29 x@3:16 killed-before-unlock", "x@4:29 x@3:23 not-upward-exposed"]);
    // A reader that writes is in nobody's way but that of writers.
    let text = format!("{WRITER}rdlock(R); x = 3; print(x); unlock(R);\ncoend");
    assert_eq!(pruned(&text), ["x@4:29 x@3:16 killed-before-unlock", "x@4:29 x@3:23 not-upward-exposed"]);
}

#[test]
fn bodies_of_two_readers_hide_nothing() {
    let text = "int x; rwlock R;\ncobegin\nT1: rdlock(R); x = 1; x = 2; unlock(R);\nT2: rdlock(R); print(x); unlock(R);\ncoend";
    assert_eq!(pruned(text), [""; 0]);
    let text = "int x; rwlock R;\ncobegin\nT1: rdlock(R); x = 1; unlock(R);\nT2: rdlock(R); x = 3; print(x); unlock(R);\ncoend";
    assert_eq!(pruned(text), [""; 0]);
}

/// A writer, and a reader that holds the lock only where a try has taken it.
fn tried(condition: &str) -> Vec<String> {
    let text = format!("int x; lock L;\ncobegin\nT1: lock(L); x = 1; x = 2; unlock(L);\nT2: {condition}\ncoend");
    let reads: BTreeSet<String> =
        pruned(&text).into_iter().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect();
    reads.into_iter().collect()
}

#[test]
fn a_try_holds_its_lock_behind_its_verdict() {
    assert_eq!(tried("if (trylock(L)) { print(x); unlock(L); }"), ["x@4:29"]);
    assert_eq!(tried("if (!trylock(L)) skip; else { print(x); unlock(L); }"), ["x@4:41"]);
    assert_eq!(tried("while (!trylock(L)) skip; print(x); unlock(L);"), ["x@4:37"]);
    assert_eq!(tried("bool got = trylock(L); if (got) { print(x); unlock(L); }"), ["x@4:45"]);
    assert_eq!(tried("bool got = choose(0, 1) == 1 && trylock(L); if (got) { print(x); unlock(L); }"), ["x@4:66"]);
    assert_eq!(tried("bool got = false; if (choose(0, 1) == 1) got = trylock(L); if (got) print(x);"), ["x@4:79"]);
    assert_eq!(tried("if (!trylock(L)) lock(L); print(x); unlock(L);"), ["x@4:37"]);
}

#[test]
fn without_its_verdict_a_try_holds_nothing() {
    let nothing = [""; 0];
    assert_eq!(tried("trylock(L); print(x); unlock(L);"), nothing);
    assert_eq!(tried("bool got = trylock(L); print(x); if (got) unlock(L);"), nothing);
    assert_eq!(tried("if (trylock(L)) unlock(L); print(x);"), nothing);
    // What is given back is not held, whatever the verdict was.
    assert_eq!(tried("bool got = trylock(L); if (got) unlock(L); if (got) print(x);"), nothing);
    assert_eq!(tried("if (choose(0, 1) == 1 || trylock(L)) print(x);"), nothing);
}

#[test]
fn levels_of_a_lock_are_counted() {
    let text = "int x; reentrant lock L;\ncobegin\nT1: lock(L); x = 1; lock(L); unlock(L); x = 2; unlock(L);\n\
                T2: lock(L); lock(L); unlock(L); print(x); unlock(L);\ncoend";
    assert_eq!(pruned(text), ["x@4:40 x@3:14 killed-before-unlock"]);
}
