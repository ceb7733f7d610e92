//! Programs in C: their tests do what the machine did, in arithmetic and control of Rust, whatever the timing.

use super::fixture::{Fixture, fixture_of, root};
use super::together::Together;
use cssame::budget::{Budget, Limits};
use cssame::driver::{Contents, DriveError, Expect, Options, Target, Wanted, drive, drive_latches};
use cssame::explore::{Query, futures};
use cssame::model::{self, Model};
use std::fs;
use support::{c_programs, first_seed, programs};

/// States of a random program that are seen at most; what is not decided has no test.
const STATES: u64 = 3_000;

/// Beyond as many lines the compiler of the package takes too long.
const LINES: usize = 6_000;

fn lines(package: &cssame::driver::Package) -> usize {
    package.files.iter().filter(|(path, _)| path.starts_with("tests")).map(|(_, text)| text.lines().count()).sum()
}

#[test]
fn programs_in_c_do_what_was_recorded() {
    let mut all = Together::new("c");
    let mut expected = 0;
    let mut add = |module: &str, fixture: &Fixture, limits: &Limits| {
        let package = fixture.drive_with(limits, Contents::Outcomes, true);
        if lines(&package) <= LINES {
            expected += package.manifest.tests.len();
            all.add(module, &package);
        }
    };
    for name in ["counter_unlocked", "bank_transfer_deadlock", "bounded_buffer", "message_passing"] {
        let text = fs::read_to_string(root().join(format!("samples/c/{name}.c"))).unwrap();
        add(name, &fixture_of(&format!("{name}.c"), &text, Expect::Recorded), &Limits::default());
    }
    for (name, text) in PROGRAMS {
        add(name, &fixture_of(&format!("{name}.c"), text, Expect::Recorded), &Limits::default());
    }
    let limits = Limits { max_states: Some(STATES), ..Limits::default() };
    let first = first_seed(1);
    for seed in first..first + programs(6) {
        let text = c_programs::program(seed, seed % 4 == 0);
        if Model::from_text("random.c", &text, &model::Options::default()).is_ok() {
            add(&format!("random_{seed}"), &fixture_of("random.c", &text, Expect::Recorded), &limits);
        }
    }
    all.build();
    for seed in [None, Some(1)] {
        assert_eq!(all.run(seed), expected, "with seed {seed:?}");
    }
    assert!(support::has_new_seed() || expected > 40, "{expected} tests");
}

/// What the random programs do not have.
const PROGRAMS: [(&str, &str); 4] = [
    (
        "ends",
        "#include <pthread.h>
#include <stdio.h>
int shared;
static void leave(long value) { shared = 1; pthread_exit((void *)value); }
static void *worker(void *argument) { leave((long)argument + 1); return NULL; }
static void *plain(void *argument) { return pthread_equal(pthread_self(), *(pthread_t *)argument) ? &shared : NULL; }
int main(void) {
    pthread_t one, two;
    void *result, *pointer;
    pthread_create(&one, NULL, worker, (void *)4);
    pthread_create(&two, NULL, plain, &two);
    int seen = shared;
    pthread_join(one, &result);
    pthread_join(two, &pointer);
    printf(\"%d %ld %d\\n\", seen, (long)result, pointer == &shared);
    return 0;
}
",
    ),
    (
        "widths",
        "#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
atomic_uchar byte = 250;
_Atomic unsigned long wide;
short small = -7;
unsigned zero;
static void *worker(void *argument) {
    byte += 10;
    atomic_fetch_sub(&wide, 1);
    small >>= 1;
    return argument;
}
int main(void) {
    pthread_t one;
    pthread_create(&one, NULL, worker, NULL);
    unsigned char expected = 250;
    int done = atomic_compare_exchange_strong(&byte, &expected, 7);
    pthread_join(one, NULL);
    printf(\"%d %u %lu %d %u\\n\", done, byte, wide, small, (unsigned)wide / 3u);
    return 7u / zero;
}
",
    ),
    (
        "pointers",
        "#include <pthread.h>
#include <stdio.h>
struct node { int value; struct node *next; };
struct node nodes[3];
struct node *head;
int table[2][3];
static void push(struct node *node, int value) { node->value = value; node->next = head; head = node; }
static void *worker(void *argument) { push(&nodes[(long)argument], 5); table[1][(long)argument]++; return NULL; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, (void *)1);
    pthread_create(&two, NULL, worker, (void *)2);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    int length = 0;
    for (struct node *node = head; node; node = node->next) length += node->value;
    printf(\"%d %d\\n\", length, table[1][1] + table[1][2]);
    return head->next->next->value;
}
",
    ),
    (
        "beyond",
        "#include <pthread.h>
int table[4];
int last = 3;
static void *worker(void *argument) { last++; return argument; }
int main(void) {
    pthread_t one;
    pthread_create(&one, NULL, worker, NULL);
    int *place = &table[last];
    *place = 1;
    pthread_join(one, NULL);
    return 0;
}
",
    ),
];

#[test]
fn a_program_in_c_gets_no_package_in_java() {
    let text = fs::read_to_string(root().join("samples/c/counter_unlocked.c")).unwrap();
    let fixture = fixture_of("counter_unlocked.c", &text, Expect::Program);
    let answer = futures(fixture.model.machine(), &Query::default(), &Budget::unlimited());
    let wanted = Wanted { answer: &answer, contents: Contents::Outcomes, distinct: true, code: fixture.input() };
    for (target, free) in [(Target::Java, false), (Target::AspectJ, false), (Target::Rust, true)] {
        let options = Options { target, free, ..fixture.options.clone() };
        let package = drive(&fixture.input(), &wanted, &Budget::unlimited(), &options);
        assert_eq!(package.unwrap_err(), DriveError::OfC, "{target:?}");
    }
    let options = Options { target: Target::AspectJ, ..fixture.options.clone() };
    assert_eq!(drive_latches(&fixture.input(), &[], &options).unwrap_err(), DriveError::OfC.into());
}
