//! The races of the oracle against answers that were found by hand: the figures of Sen's paper (FACTS B), and small
//! programs of each kind.
//!
//! A race is told as `x@3:5 x@4:5 write/write mixed differs`: the two places, what is done there, whether only one of
//! the two accesses is atomic, and what follows: `benign`, `differs` (the two orders have different ends), or `harmful`
//! with the accesses that have to go first for a failure.

use std::collections::BTreeSet;
use support::generate::{self, Size};
use support::oracle::{Options, RaceOptions, Races, Visible, explore_source, races_of_source};

fn races(source: &str) -> Races {
    let races = races_of_source(source, &RaceOptions::default()).unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert!(races.complete, "{source}");
    races
}

fn told(races: &Races) -> Vec<String> {
    let told = races.races.iter().map(|((a, b), race)| {
        let kinds: Vec<&str> = race.kinds.iter().map(String::as_str).collect();
        let mixed = if race.mixed { " mixed" } else { "" };
        let effect = if race.benign() {
            "benign".to_owned()
        } else if race.harmful() {
            let first: Vec<&str> = race.fails_when_first.iter().map(String::as_str).collect();
            format!("harmful {}", first.join(" "))
        } else {
            "differs".to_owned()
        };
        format!("{} {} {}{mixed} {effect}", a.2, b.2, kinds.join(","))
    });
    told.collect()
}

fn check(rows: &[(&str, &[&str])]) {
    for (source, expected) in rows {
        assert_eq!(told(&races(source)), *expected, "{source}");
    }
}

const FIGURE_1: &str = "int x, y, z; lock L;\ncobegin\nT1:\nx = 1;\nlock(L);\ny = 1;\nunlock(L);\n\
                        if (z == 1)\nerror(\"ERROR1\");\nT2:\nz = 1;\nlock(L);\nif (y == 1)\nif (x != 1)\n\
                        error(\"ERROR2\");\nunlock(L);\ncoend\n";

#[test]
fn figure_1_has_one_race_that_does_harm_in_one_order() {
    let found = races(FIGURE_1);
    assert_eq!(told(&found), ["z@8:5 z@11:1 read/write harmful z@11:1"]);
    let errors: Vec<&str> = found.failures.iter().map(|failure| failure.2.as_str()).collect();
    assert_eq!(errors, ["9:1"], "the error of T1 is reached, that of T2 never");
    assert!(found.deadlocks.is_empty());
}

#[test]
fn figure_2_has_its_race_for_any_number_of_fillers() {
    for fillers in 1..6 {
        let between = "f = f + 1; ".repeat(fillers);
        let source = format!(
            "int x, f; lock L;\ncobegin\nT1: lock(L); {between}\nunlock(L);\nif (x == 0) error(\"E\");\n\
             T2:\nx = 1;\nlock(L); f = f + 1; unlock(L);\ncoend\n"
        );
        assert_eq!(told(&races(&source)), ["x@5:5 x@7:1 read/write harmful x@5:5"]);
    }
}

#[test]
fn what_the_orders_lead_to_is_told() {
    check(&[
        ("int x; cobegin\nT1: x = 1;\nT2: x = 2;\ncoend print(x);", &["x@2:5 x@3:5 write/write differs"]),
        ("int x; cobegin\nT1: x = 1;\nT2: x = 1;\ncoend print(x);", &["x@2:5 x@3:5 write/write benign"]),
        ("int x; cobegin\nT1: x = 1;\nT2: x = 2;\ncoend", &["x@2:5 x@3:5 write/write differs"]),
        ("int x = 1; cobegin\nT1: x = 1;\nT2: print(x);\ncoend", &["x@2:5 x@3:11 write/read benign"]),
        ("int x; cobegin\nT1: print(x);\nT2: print(x);\ncoend", &[]),
        // The third thread sees either write, whichever came first, but the last one stays.
        (
            "int x; cobegin\nT1: x = 1;\nT2: x = 2;\nT3: print(x);\ncoend",
            &["x@2:5 x@3:5 write/write differs", "x@2:5 x@4:11 write/read differs", "x@3:5 x@4:11 write/read differs"],
        ),
        // The reader that comes first waits for ever.
        (
            "int x; event e; cobegin\nT1: x = 1;\nT2: if (x == 0) wait(e);\ncoend",
            &["x@2:5 x@3:9 write/read harmful x@3:9"],
        ),
        // Whichever goes first, the other can spoil it.
        (
            "int x; cobegin\nT1: x = 1; assert(x == 1);\nT2: x = 2;\ncoend",
            &["x@2:5 x@3:5 write/write harmful x@2:5", "x@2:19 x@3:5 read/write harmful x@3:5"],
        ),
        // A failure that does not come of the race follows in both orders.
        ("int x; cobegin\nT1: x = 1;\nT2: x = 2;\ncoend error();", &["x@2:5 x@3:5 write/write harmful x@2:5 x@3:5"]),
        // Two threads at one place.
        ("int x; parfor (int i = 0; i < 2; i++)\nx = i;\n", &["x@2:1 x@2:1 write/write differs"]),
        ("int x; parfor (int i = 0; i < 2; i++)\nx++;\nprint(x);", &["x@2:1 x@2:1 read/write,write/write differs"]),
    ]);
}

#[test]
fn what_is_ordered_or_excluded_does_not_race() {
    check(&[
        ("int x; x = 1; cobegin\nT1: print(x);\nT2: skip;\ncoend x = 2;", &[]),
        ("int x; lock L; cobegin\nT1: lock(L); x++; unlock(L);\nT2: synchronized (L) { x++; }\ncoend print(x);", &[]),
        (
            "int x; lock L, M; cobegin\nT1: lock(L); x++; unlock(L);\nT2: lock(M); x++; unlock(M);\ncoend print(x);",
            &["x@2:14 x@3:14 read/write,write/read,write/write differs"],
        ),
        (
            "int x; lock L; cobegin\nT1: lock(L); x = 1; unlock(L);\nT2: x = 2;\ncoend print(x);",
            &["x@2:14 x@3:5 write/write differs"],
        ),
        // The flag races; what it tells of does not.
        (
            "int x, f; cobegin\nT1: x = 1; f = 1;\nT2: if (f == 1) print(x);\ncoend",
            &["f@2:12 f@3:9 write/read differs"],
        ),
        // The flag comes too early.
        (
            "int x, f; cobegin\nT1: f = 1; x = 1;\nT2: if (f == 1) print(x);\ncoend",
            &["f@2:5 f@3:9 write/read differs", "x@2:12 x@3:23 write/read differs"],
        ),
        ("int x; event e; cobegin\nT1: x = 1; set(e);\nT2: wait(e); print(x);\ncoend", &[]),
        (
            "int x; event e; cobegin\nT1: x = 1; set(e); x = 2;\nT2: wait(e); print(x);\ncoend",
            &["x@2:20 x@3:20 write/read differs"],
        ),
        ("int x; cobegin\nT1: x = 1; barrier(2);\nT2: barrier(2); x = 2;\ncoend print(x);", &[]),
        (
            "int x; cobegin\nT1: barrier(2); x = 1;\nT2: barrier(2); x = 2;\ncoend print(x);",
            &["x@2:17 x@3:17 write/write differs"],
        ),
        ("int x; sem s = 1; cobegin\nT1: P(s); x++; V(s);\nT2: P(s); x++; V(s);\ncoend print(x);", &[]),
        (
            "int x; sem s = 2; cobegin\nT1: P(s); x = 1; V(s);\nT2: P(s); x = 2; V(s);\ncoend print(x);",
            &["x@2:11 x@3:11 write/write differs"],
        ),
        ("int x; sem s; cobegin\nT1: x = 1; V(s);\nT2: P(s); print(x);\ncoend", &[]),
        ("int x; void f() {\nx = 1; } thread t = spawn f(); join(t);\nx = 2;", &[]),
        (
            "int x; void f() {\nx = 1; } thread t = spawn f();\nx = 2; join(t); print(x);",
            &["x@2:1 x@3:1 write/write differs"],
        ),
        (
            "int x; lock L; cond c; bool b; cobegin\nT1: lock(L); while (!b) wait(c, L); unlock(L); print(x);\n\
             T2: x = 1; lock(L); b = true; notify(c); unlock(L);\ncoend",
            &[],
        ),
        // Only one of the branches is ever taken.
        ("int x, f; cobegin\nT1: if (f == 0) x = 1;\nT2: if (f != 0) x = 2;\ncoend", &[]),
    ]);
}

#[test]
fn atomic_accesses_race_with_plain_ones_alone() {
    check(&[
        ("int x; cobegin\nT1: atomic { x = 1; }\nT2: atomic { x = 2; }\ncoend print(x);", &[]),
        (
            "int x; cobegin\nT1: atomic { x = 1; }\nT2: x = 2;\ncoend print(x);",
            &["x@2:14 x@3:5 write/write mixed differs"],
        ),
        // The block reads as well, but a read and a read are no race.
        ("int x; cobegin\nT1: atomic { x++; }\nT2: print(x);\ncoend", &["x@2:14 x@3:11 write/read mixed differs"]),
        // From where both stand before their accesses, the block never writes.
        ("int x, y; cobegin\nT1: atomic { if (y == 1) x = 1; }\nT2: print(x);\ncoend", &[]),
        (
            "int x, y; cobegin\nT1: atomic { if (y == 1) x = 1; }\nT2: y = 1; print(x);\ncoend",
            &["y@2:18 y@3:5 read/write mixed differs", "x@2:26 x@3:18 write/read mixed differs"],
        ),
        ("int x; cobegin\nT1: cas(x, 0, 1);\nT2: swap(x, 2);\ncoend print(x);", &[]),
        // Either order ends with 5; the old value is not looked at.
        (
            "int x; cobegin\nT1: cas(x, 0, 1);\nT2: x = 5;\ncoend print(x);",
            &["x@2:9 x@3:5 read/write,write/write mixed benign"],
        ),
        ("int x; cobegin\nT1: cas(x, 7, 1);\nT2: print(x);\ncoend", &[]),
        ("int x; cobegin\nT1: cas(x, 7, 1);\nT2: x = 5;\ncoend", &["x@2:9 x@3:5 read/write mixed benign"]),
        (
            "int x; cobegin\nT1: fetch_add(x, 1);\nT2: x = 5;\ncoend print(x);",
            &["x@2:15 x@3:5 read/write,write/write mixed differs"],
        ),
        // All accesses to a variable that is declared so are atomic.
        (
            "atomic int x; int y; cobegin\nT1: x = 1; y = 1;\nT2: x = 2; y = 2;\ncoend",
            &["y@2:12 y@3:12 write/write differs"],
        ),
        (
            "class C { atomic int v; int w; void f() {\nv++; w = 1; } } C c; cobegin T1: c.f(); T2: c.f(); coend",
            &["w@2:6 w@2:6 write/write benign"],
        ),
        ("void main() { atomic int t[2]; cobegin\nT1: t[0] = 1;\nT2: t[0] = 2;\ncoend }", &[]),
        ("atomic int x; cobegin\nT1: atomic { x = 1; }\nT2: x = 2;\nT3: cas(x, 0, 3);\ncoend", &[]),
    ]);
}

#[test]
fn only_accesses_to_one_cell_race() {
    check(&[
        ("int t[2]; cobegin\nT1: t[0] = 1;\nT2: t[1] = 2;\ncoend", &[]),
        ("int t[2]; cobegin\nT1: t[1] = 1;\nT2: t[1] = 2;\ncoend", &["t@2:5 t@3:5 write/write differs"]),
        (
            "int t[2]; int i; i = choose(0, 1); cobegin\nT1: t[i] = 1;\nT2: t[1] = 2;\ncoend print(t[1]);",
            &["t@2:5 t@3:5 write/write differs"],
        ),
        ("class C { int v; void add() {\nv++; } } C a, b; cobegin T1: a.add(); T2: b.add(); coend", &[]),
        (
            "class C { int v; void add() {\nv++; } } C a, b; cobegin T1: a.add(); T2: a.add(); coend print(a.v, b.v);",
            &["v@2:1 v@2:1 read/write,write/write differs"],
        ),
        (
            "class C { int v; void put(C o) {\nthis.v = 1; o.v = 2; } } C a, b; \
             cobegin T1: a.put(b); T2: b.put(a); coend",
            &["v@2:1 o.v@2:13 write/write differs"],
        ),
        ("void f() { int v;\nv = 1; print(v); } cobegin T1: f(); T2: f(); coend", &[]),
        (
            "void main() { int v; cobegin\nT1: v = 1;\nT2: v = 2;\ncoend print(v); }",
            &["v@2:5 v@3:5 write/write differs"],
        ),
    ]);
}

#[test]
fn what_an_assumption_discards_does_not_count() {
    check(&[
        ("int x; cobegin\nT1: x = 1;\nT2: x = 2; assume(false);\ncoend", &[]),
        ("int x; cobegin\nT1: x = 1;\nT2: x = 2; int c = choose(1, 0);\ncoend", &[]),
        (
            "int x; cobegin\nT1: x = 1;\nT2: x = 2; int c = choose(0, 1); assume(c == 1); print(c);\ncoend",
            &["x@2:5 x@3:5 write/write differs"],
        ),
        // T1 goes first in all that is not discarded, but for the last two accesses: there is no other order to differ.
        (
            "int x, f; cobegin\nT1: x = 1; f = 1; x = 3;\nT2: assume(f == 1); x = 2;\ncoend",
            &["f@2:12 f@3:12 write/read benign", "x@2:19 x@3:21 write/write differs"],
        ),
    ]);
}

#[test]
fn deadlocks_and_failures_are_found_without_races_too() {
    let found = races(
        "lock L, M; cobegin\nA: lock(L);\nlock(M); unlock(M); unlock(L);\n\
         B: lock(M);\nlock(L); unlock(L); unlock(M);\ncoend",
    );
    let blocked = [("main", "join"), ("A", "3:1"), ("B", "5:1")].map(|(thread, at)| (thread.to_owned(), at.to_owned()));
    let named: BTreeSet<_> = found.deadlocks.iter().flatten().cloned().collect();
    assert_eq!((found.deadlocks.len(), named), (1, blocked.into()));
    assert!(found.races.is_empty() && found.failures.is_empty());
    let found = races("int x = 2; cobegin\nA: assert(x == 1);\nB: skip;\ncoend");
    assert_eq!(found.failures, [("assert".to_owned(), "A".to_owned(), "2:4".to_owned())].into());
}

/// The graph of states must end as the search without visited states does.
#[test]
fn the_graph_of_states_ends_as_all_executions_do() {
    let (mut checked, mut racy) = (0, 0);
    for seed in 5_000..5_300 {
        let source = generate::program(seed, &Size::default());
        let options = Options { visible: Visible::All, max_executions: 3_000, futures: false, ..Options::default() };
        let all = explore_source(&source, &options).unwrap();
        if !all.complete || all.outcomes.iter().any(|outcome| outcome.status == "step-limit") {
            continue;
        }
        let found = races(&source);
        assert_eq!(found.outcomes, all.outcomes, "seed {seed}\n{source}");
        let failing = |status: &str| all.outcomes.iter().any(|outcome| outcome.status == status);
        assert_eq!(failing("deadlock"), !found.deadlocks.is_empty(), "seed {seed}\n{source}");
        for (status, ..) in &found.failures {
            assert!(failing(status), "seed {seed}: {status}\n{source}");
        }
        checked += 1;
        racy += u32::from(!found.races.is_empty());
    }
    assert!(checked > 200 && racy > 100, "{checked} programs, {racy} with races");
}
