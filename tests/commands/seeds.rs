//! Many executions by seeds: what `run --seeds` counts, where it stops, and how it ends.

use crate::process::{Answer, Files, call};

const LOST: &str = "int x;\ncobegin\n A: x += 1;\n B: x += 1;\ncoend\nassert(x == 2, \"lost\");\n";

const RIGHT: &str = "int x;\nlock L;\ncobegin\n A: { lock(L); x += 1; unlock(L); }\n B: { lock(L); x += 1; unlock(L); }\ncoend\nassert(x == 2);\n";

const ENDLESS: &str = "bool go;\ncobegin\n A: while (!go) skip;\n B: go = true;\ncoend\n";

fn run(program: &str, line: &str) -> Answer {
    let files = Files::new();
    let path = files.write("p.csm", program);
    call(&format!("run {line}"), &[path])
}

#[test]
fn the_first_seed_that_fails_ends_the_work_and_is_shown() {
    let found = run(LOST, "--seeds 0..100000");
    assert_eq!(found.status, 1, "{found:?}");
    let json = run(LOST, "--seeds 0..100000 --format json").json();
    let seed = json["first_failure"]["seed"].as_u64().unwrap();
    assert_eq!(json["executions"], seed + 1);
    assert!(!json["complete"].as_bool().unwrap());
    for text in ["executions    share  first seed  end", "assertion failed: lost", "replay: cssame run ", "write x = 1"]
    {
        assert!(found.stdout.contains(text), "{text:?} is missing:\n{}", found.stdout);
    }
    assert!(found.complains("--keep-going"), "{}", found.stderr);
    // The seed does it again, and no lower one does.
    assert_eq!(run(LOST, &format!("--seed {seed}")).status, 1);
    assert!((0..seed).all(|lower| run(LOST, &format!("--seed {lower}")).status == 0));
}

#[test]
fn with_keep_going_all_seeds_are_counted() {
    let json = run(LOST, "--seeds 10..=509 --keep-going --format json").json();
    assert_eq!((json["executions"].as_u64(), json["complete"].as_bool()), (Some(500), Some(true)));
    let counts: Vec<u64> =
        json["outcomes"].as_array().unwrap().iter().map(|one| one["executions"].as_u64().unwrap()).collect();
    assert!(counts.len() == 2 && counts.is_sorted_by(|one, other| one >= other), "{counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), 500);
}

/// B comes behind all that A does: one in 61 or so by priorities of operations, 2⁻⁶⁰ at random.
#[test]
fn policies_choose_differently_and_are_repeated_by_their_seeds() {
    let rare = "int x, z;\ncobegin\n A: { for (int i = 0; i < 60; i++) z = i; x = 1; }\n B: assert(x == 0, \"late\");\n C: print(z);\ncoend\n";
    assert_eq!(run(rare, "--seeds 0..2000").status, 0);
    for policy in ["pos", "pct"] {
        let found = run(rare, &format!("--seeds 0..2000 --policy {policy}"));
        assert_eq!(found.status, 1, "{found:?}");
        let (_, options) = found.stdout.rsplit_once(".csm").unwrap();
        assert!(options.starts_with(&format!(" --policy {policy}")), "{options}");
        assert_eq!(run(rare, options.trim()).status, 1, "{options}");
    }
}

#[test]
fn any_number_of_cores_gives_the_same_bytes() {
    let files = Files::new();
    let path = files.write("p.csm", LOST);
    for line in ["--seeds 0..3000 --keep-going", "--seeds 0..3000", "--seeds 0..3000 --format json"] {
        let [one, two] = ["-j 1", "-j 2"].map(|jobs| call(&format!("run {line} {jobs}"), std::slice::from_ref(&path)));
        assert_eq!(one, two);
    }
}

#[test]
fn the_exit_status_says_what_was_seen() {
    assert_eq!(run(RIGHT, "--seeds 0..500").status, 0);
    assert_eq!(run(LOST, "--seeds 0..500 --keep-going").status, 1);
    // Some are not over; none of those that are ends badly.
    let cut = run(ENDLESS, "--seeds 0..50 --max-steps 4");
    assert_eq!(cut.status, 3, "{cut:?}");
    assert!(cut.complains("some were not over"), "{}", cut.stderr);
    for wrong in ["--seeds 5", "--seeds 5..5", "--seeds 0..9 --seed 3", "--keep-going", "--timeout 3"] {
        assert_eq!(run(RIGHT, wrong).status, 2, "{wrong}");
    }
}

#[test]
fn the_schedule_of_the_first_failure_is_recorded() {
    let files = Files::new();
    let (path, record) = (files.write("p.csm", LOST), files.path("lost.json"));
    let written = call("run --seeds 0..1000 --record", &[&record, &path]);
    assert_eq!(written.status, 1, "{written:?}");
    assert_eq!(call("run --schedule", &[&record, &path]).status, 1);
    let (path, record) = (files.write("q.csm", RIGHT), files.path("none.json"));
    let none = call("run --seeds 0..100 --record", &[&record, &path]);
    assert!(none.status == 0 && !record.exists() && none.complains("was not written"), "{none:?}");
}

#[test]
fn a_failure_that_is_suppressed_does_not_end_the_work() {
    let two = "int x;\ncobegin\n A: x += 1;\n B: x += 1;\ncoend\nint k = choose(0, 19);\nassert(x == 2, \"lost\");\n\
               if (k == 7) error(\"one\");\n";
    let found = run(two, "--seeds 0..400 --allow CS0410");
    assert_eq!(found.status, 1, "{found:?}");
    assert!(found.stderr.starts_with("400 executions") && found.stdout.contains("error[CS0411]"), "{found:?}");
    assert!(!found.stdout.contains("error[CS0410]"), "{}", found.stdout);
    let none = run(two, "--seeds 0..400 --allow CS0410,CS0411");
    assert!(none.status == 0 && !none.stdout.contains("replay:"), "{none:?}");
}
