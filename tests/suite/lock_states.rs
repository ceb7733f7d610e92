//! Terms that the states of a lock exclude, and those that a `cas` excludes: exact facts, programs made to break the rules, and
//! the first law on random programs whose flags and counters are kept under a lock.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::law::{self, Tally};
use cssame::form::{definition_name, read_name};
use support::generate::{self, guarded};
use support::{first_seed, model, programs};

/// The names of the terms of a read, sorted.
fn terms(text: &str, read: &str) -> Vec<String> {
    let model = model(text);
    let (sources, program, form) = (model.sources(), model.program(), model.form());
    let reads = form.shared_reads();
    let read = reads.into_iter().find(|&one| read_name(sources, program, one) == read).unwrap();
    let mut names: Vec<String> =
        form.terms(read).into_iter().map(|term| definition_name(sources, program, term)).collect();
    names.sort_unstable();
    names
}

/// Programs in which the states of a lock, or a `cas`, exclude terms; a read, and what it may see.
const FACTS: &[(&str, &str, &[&str])] = &[
    // The flag is set with the value, in one body.
    (
        "bool f; int a; lock L;\nvoid use() { synchronized (L) { if (!f) { f = true; a = 1; }\nprint(a); } }\n\
         void main() { cobegin A: use(); B: use(); coend }\n",
        "a@3:7",
        &["a@2:53"],
    ),
    // The flag is set and reset; the loop waits for it.
    (
        "bool f; int a; lock L; cond c;\nvoid main() { cobegin\nA: { lock(L); while (f) wait(c, L); a = 1; f = true; notify(c); unlock(L); }\n\
         B: { lock(L); while (!f) wait(c, L);\nprint(a); f = false; notify(c); unlock(L); }\ncoend }\n",
        "a@5:7",
        &["a@3:37"],
    ),
    // A counter says which element is there.
    (
        "int t[2]; int n; lock L;\nvoid main() { cobegin\nA: synchronized (L) { t[n] = 5; n = n + 1; }\n\
         B: synchronized (L) { if (n > 0) {\nprint(t[n - 1]); } }\ncoend }\n",
        "t@5:7",
        &["t@3:23"],
    ),
    // All threads have joined: a read outside sees what the bodies have left.
    (
        "int a; lock L;\nvoid main() {\nparfor (int i = 0; i < 2; i++) { synchronized (L) { a = a + 1; } }\nprint(a); }\n",
        "a@4:7",
        &["a@3:53"],
    ),
    // Whether the first swap succeeds or not, somebody has written.
    (
        "int a; bool d;\nvoid main() { cobegin\nA: { d = cas(a, 0, 1);\nprint(a); }\nB: { d = cas(a, 0, 2); }\ncoend }\n",
        "a@4:7",
        &["a@3:14", "a@5:14"],
    ),
    // Its own successful swap ends the loop.
    (
        "int a;\nvoid main() { cobegin\nA: { bool d = false; while (!d) {\nint o = a; d = cas(a, o, o + 1); } }\nB: a = 5;\ncoend }\n",
        "a@4:9",
        &["a@5:4", "a@initial"],
    ),
];

#[test]
fn states_of_locks_and_swaps_exclude_terms() {
    for &(text, read, expected) in FACTS {
        assert_eq!(terms(text, read), expected, "{read} in\n{text}");
        law::check(text, &mut Tally::default()).unwrap();
    }
}

/// Programs in which a term only seems to be excluded.
const TRAPS: &[&str] = &[
    // Another thread sets the flag without the lock.
    "bool f; int a; lock L; void main() { cobegin A: synchronized (L) { a = 1; f = true; }\n\
     B: synchronized (L) { if (f) print(a); }\nC: f = true;\ncoend }\n",
    // The value is written without the lock, in the midst of the body.
    "bool f; int a; lock L; void main() { cobegin A: { synchronized (L) { f = true; } a = 1; }\n\
     B: synchronized (L) { if (f) print(a); print(a); }\ncoend }\n",
    // The flag is set, reset and set again.
    "bool f; int a; lock L; void main() { cobegin\n\
     A: { synchronized (L) { f = true; a = 1; } synchronized (L) { f = false; } synchronized (L) { f = true; a = 2; } }\n\
     B: { synchronized (L) { if (f) { print(a); f = false; } } synchronized (L) { if (!f) print(a); } }\ncoend }\n",
    // The wait releases the lock in between.
    "bool f; int a; lock L; cond c; void main() { cobegin\n\
     A: { lock(L); if (!f) { a = 1; wait(c, L); print(a); } unlock(L); }\n\
     B: { lock(L); a = 2; f = true; notifyAll(c); unlock(L); }\ncoend print(a); }\n",
    // A notification without the lock.
    "int a; lock L; cond c; void main() { cobegin\n\
     A: { lock(L); wait(c, L); print(a); unlock(L); }\nB: { notify(c); synchronized (L) { a = 1; } }\ncoend }\n",
    // Two threads wait at one place.
    "int a; bool f; lock L; cond c; void get() { lock(L); while (!f) wait(c, L); a = a + 1; f = false; unlock(L); }\n\
     void main() { cobegin A: get(); B: get(); C: { lock(L); f = true; notifyAll(c); unlock(L); lock(L); f = true;\n\
     notifyAll(c); unlock(L); } coend print(a); }\n",
    // A body waits for an event, and meanwhile another thread writes.
    "int a; lock L; event e, g; void main() { cobegin\n\
     A: synchronized (L) { a = 1; set(e); wait(g); print(a); }\nB: { wait(e); a = 2; set(g); }\ncoend }\n",
    // A body makes threads.
    "int a; lock L; void main() { cobegin A: synchronized (L) { a = 1; cobegin X: a = 2; Y: skip; coend print(a); }\n\
     B: synchronized (L) { print(a); }\ncoend }\n",
    // The lock is taken on one way only.
    "int a; bool f; lock L; void main() { cobegin A: { if (f) lock(L); a = 1; if (f) unlock(L); }\n\
     B: { synchronized (L) { f = true; if (a == 0) print(a); } }\ncoend }\n",
    // The read outside runs while a body runs.
    "int a, b; lock L; void main() { cobegin A: synchronized (L) { a = 1; b = 1; a = 2; }\nB: { print(a); print(b); }\ncoend }\n",
    // A variable that a loop declares anew.
    "lock L; void main() { for (int i = 0; i < 2; i++) { int a = 1; cobegin A: synchronized (L) { a = a + 1; }\n\
     B: synchronized (L) { print(a); } coend } }\n",
    // A function that calls itself inside the body.
    "int a; lock L; int down(int n) { if (n > 0) { int m = down(n - 1); a = a + n; return m + n; } return n; }\n\
     void main() { cobegin A: synchronized (L) { if (down(2) == 3) print(a); }\nB: synchronized (L) { a = 7; }\ncoend }\n",
    // One lock in two bodies of one loop.
    "int a; bool f; lock L; void main() { cobegin\n\
     A: for (int i = 0; i < 2; i++) { synchronized (L) { if (f) a = i; } synchronized (L) { f = !f; } }\n\
     B: synchronized (L) { if (f) print(a); }\ncoend print(a); }\n",
    // Two locks, of which the reader holds one.
    "int a; bool f; lock L, M; void main() { cobegin A: synchronized (L) { f = true; synchronized (M) { a = 1; } }\n\
     B: synchronized (M) { if (f) print(a); else print(a); }\nC: synchronized (M) { f = false; }\ncoend }\n",
    // The swap expects a value that was there twice, or is no value of the variable at all.
    "int a = 1; void main() { cobegin A: { int o = a; o = 5; bool d = cas(a, o, 2); print(a); }\n\
     B: { bool d = cas(a, 0, 3); print(a); }\ncoend }\n",
    // After a swap that has succeeded the loop goes on.
    "int a; void main() { cobegin A: for (int i = 0; i < 2; i++) { bool d = cas(a, i, i + 1); print(a); }\nB: a = 1;\ncoend }\n",
    // A thread that is made twice sees the swap of its first time.
    "int a; void main() { for (int i = 0; i < 2; i++) { cobegin A: { bool d = cas(a, 0, 1); if (!d) print(a); }\n\
     B: print(a);\ncoend } }\n",
];

#[test]
fn what_only_seems_to_be_excluded_stays_a_term() {
    for text in TRAPS {
        let mut tally = Tally::default();
        law::check(text, &mut tally).unwrap_or_else(|message| panic!("{message}\n{text}"));
        assert_eq!(tally.checked, 1, "explored completely:\n{text}");
    }
}

#[test]
fn no_execution_reads_what_a_lock_excludes() {
    let programs = programs(150);
    let first = first_seed(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let source = guarded(seed);
        if let Err(message) = law::check(&source, &mut tally) {
            let mut fails = |text: &str| {
                law::check(text, &mut Tally::default()).is_err_and(|other| law::kind(&other) == law::kind(&message))
            };
            panic!("seed {seed}: {message}\n{}", generate::shrink(&source, &mut fails));
        }
    }
    println!(
        "{} programs explored completely, {} too large, {} refused; {} terms, of which {} never realised",
        tally.checked, tally.incomplete, tally.refused, tally.terms, tally.impossible
    );
    assert!(
        support::has_new_seed() || tally.checked * 2 >= programs,
        "most programs are small enough: {} of {programs}",
        tally.checked
    );
}
