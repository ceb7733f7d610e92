//! `cssame paths`: what it shows, and the files that it writes.

use crate::process::{Answer, Files, call};
use serde_json::Value;
use std::fs;

const FIGURE_3: &str = "samples/setiadi_fig3.csm";

fn json(line: &str) -> Value {
    call(&format!("{line} --format json"), &[""; 0]).json()
}

fn shown(line: &str) -> Answer {
    call(line, &[""; 0])
}

#[test]
fn the_facts_of_the_paper_are_shown() {
    for (sample, cases) in [("fig3", 6), ("fig13", 2), ("commons_pool", 2), ("jtelnet", 0), ("jnetmap", 5)] {
        let answer = json(&format!("paths samples/setiadi_{sample}.csm"));
        assert_eq!((&answer["test_cases"], &answer["complete"]), (&cases.into(), &true.into()), "{sample}");
    }
    let graph = &json("paths samples/setiadi_fig13.csm")["graph"];
    let numbers = ["nodes", "variants", "stuck"].map(|key| graph[key].as_u64().unwrap());
    assert_eq!(
        (numbers, &graph["infeasible"]["lock"], &graph["infeasible"]["wait"]),
        ([31, 3, 1], &6.into(), &7.into())
    );
}

#[test]
fn the_text_shows_both_sides_the_orders_and_what_is_proven() {
    let answer = shown("paths samples/setiadi_fig13.csm");
    for part in [
        "no lock in common, but ordered by other synchronisation in each test\n  y  y@24:11  y@28:5  test 1\n",
        "deadlock: main, T1 wait for ever",
        "2 orders of accesses that decide 1 branch\n  T1:20:9#1  n < 0\n",
        "    2  not woken  test 3  T2: notify@30:5; T1: wait@19:5\n",
        "Proven impossible: `T1:20:9#1` false.",
    ] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    let answer = shown("paths samples/setiadi_commons_pool.csm");
    assert!(answer.stdout.contains("T1 reads it, holding no lock") && answer.stdout.contains("holding `P`"));
    let is_long = |line: &&str| line.chars().count() > 80 && !line.starts_with("replay: ");
    let long: Vec<&str> = answer.stdout.lines().filter(is_long).collect();
    assert!(long.is_empty(), "{long:#?}");
    let coloured = shown("paths --color always samples/setiadi_commons_pool.csm").stdout;
    assert!(coloured.contains("\u{1b}[1m2 orders of accesses that decide 1 branch"), "{coloured}");
}

/// Orders of accesses that do not depend on each other are those of one execution.
#[test]
fn steps_that_do_not_depend_on_each_other_are_not_tried_in_each_order() {
    let answer = json("paths samples/barrier_phases.csm");
    let numbers = ["test_cases", "executions", "attempts"].map(|key| answer[key].as_u64().unwrap());
    assert_eq!((numbers, &answer["complete"]), ([9_720, 1, 0], &true.into()));
    let group = &answer["groups"][1];
    assert_eq!(
        (&group["feasible"], &group["outcome"], &group["tested_by"], &group["schedule"]),
        (&true.into(), &"true".into(), &Value::Null, &Value::Null)
    );
    let text = shown("paths samples/barrier_phases.csm").stdout;
    assert!(text.contains("    3239 other orders that executions have need no test of their own (--all)\n"), "{text}");
}

#[test]
fn a_branch_is_explained_by_its_place_or_by_one_evaluation() {
    let answer = shown(&format!("paths --explain T1:15:9#1 {FIGURE_3}")).stdout;
    for part in [
        "    x@14:13 of T1  may read from x@21:5 of T2  extended\n",
        "    1  true   test 1    T1: read x@14:13, read y@14:17\n",
        "    2  true   possible  T1: read x@14:13; T2: write x@21:5; T1: read y@14:17\n",
        "  T  test 1\n  F  test 2\n",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let explained = &json("paths --explain MAP:19:11 samples/setiadi_jnetmap.csm")["explained"];
    let branches: Vec<&Value> = explained["evaluations"].as_array().unwrap().iter().map(|one| &one["branch"]).collect();
    assert_eq!(branches, ["MAP:19:11#1", "MAP:19:11#2"]);
    assert_eq!(explained["evaluations"][1]["groups"].as_array().unwrap().len(), 3);
}

#[test]
fn schedules_of_tests_are_written_and_begin_other_searches() {
    let files = Files::new();
    let directory = files.path("schedules");
    let record = directory.to_str().unwrap();
    assert_eq!(shown(&format!("paths --record-dir {record} samples/setiadi_fig13.csm")).status, 1);
    for (name, status) in [("test-1", 0), ("test-3", 1), ("deadlock-1", 1)] {
        let answer = shown(&format!("run samples/setiadi_fig13.csm --schedule {record}/{name}.json"));
        assert_eq!(answer.status, status, "{name}: {answer:?}");
    }
    // The execution that ends in the deadlock is the first one now, and the test cases are the same.
    let answer = json(&format!("paths --first {record}/deadlock-1.json samples/setiadi_fig13.csm"));
    assert_eq!(
        (&answer["first_run"]["kind"], &answer["first_run"]["status"]),
        (&"schedule".into(), &"deadlock".into())
    );
    assert_eq!(answer["test_cases"], 2, "{answer:#}");
    // A schedule of another program is refused.
    let answer = shown(&format!("paths --first {record}/test-1.json {FIGURE_3}"));
    assert!(answer.status == 2 && answer.complains("does not fit the program"), "{answer:?}");
    let answer = json(&format!("paths --first seed:5 {FIGURE_3}"));
    assert_eq!((&answer["first_run"]["seed"], &answer["test_cases"]), (&5.into(), &6.into()));
}

#[test]
fn the_graph_tells_nodes_and_moves_apart() {
    let files = Files::new();
    let (dot, svg) = (files.path("graph.dot"), files.path("graph.svg"));
    for path in [&dot, &svg] {
        call("paths samples/setiadi_fig13.csm --graph", &[path]);
    }
    let text = fs::read_to_string(dot).unwrap();
    let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(count("fillcolor=lightblue"), 3, "{text}");
    assert_eq!(count("fillcolor=salmon"), 1, "{text}");
    assert_eq!((count("style=dashed, color=red];"), count("style=dashed, color=orange")), (6, 7), "{text}");
    assert!(text.starts_with("digraph variants {\n") && text.contains("penwidth=3"), "{text}");
    let picture = fs::read_to_string(svg).unwrap();
    assert!(
        picture.contains("<svg") && picture.contains("T1 waits") && picture.contains("stroke-dasharray"),
        "{picture}"
    );
}

#[test]
fn criteria_are_compared_file_by_file_and_value_by_value() {
    let rows = json("paths --compare --input rounds=1..3 samples/setiadi_jnetmap.csm");
    let rows = rows["comparison"].as_array().unwrap();
    let counts = |key: &str| rows.iter().map(|row| row[key]["count"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((counts("race_equivalent"), counts("tpair")), (vec![2, 5, 5], vec![5, 11, 19]));
    assert_eq!(rows[2]["inputs"]["rounds"], "3");
    let answer = shown("paths --compare samples/setiadi_fig3.csm samples/setiadi_jtelnet.csm");
    assert!(answer.stdout.contains("setiadi_jtelnet      0            66     66       66\n"), "{}", answer.stdout);
    assert!(answer.stdout.contains("setiadi_fig3     "), "{}", answer.stdout);
    // What has no end, and so no future, and what a bound has cut.
    let files = Files::new();
    let compared = |name: &str, work: &str| {
        let text = format!("int x;\ncobegin\n  A: while (true) {{ {work} }}\n  B: {{ if (x == 3) skip; }}\ncoend\n");
        let bounds = "paths --compare --max-states 500 --max-steps 200 --max-executions 20 --format json";
        call(bounds, &[files.write(name, text)]).json()
    };
    let endless = compared("endless.csm", "x = 1;");
    let row = &endless["comparison"][0];
    assert_eq!(row["reachability"]["infinite"], true, "{endless:#}");
    assert_eq!((&row["futures"]["count"], &endless["complete"]), (&0.into(), &true.into()), "{endless:#}");
    let cut = compared("cut.csm", "x = x + 1;");
    assert_eq!(cut["complete"], false, "{cut:#}");
}

#[test]
fn arrays_race_by_element_or_as_a_whole() {
    let files = Files::new();
    let text = "int t[2];\ncobegin\n  A: t[0] = 1;\n  B: t[1] = 1;\ncoend\n";
    let file = files.write("array.csm", text);
    let races = |how: &str| call(&format!("paths --format json --arrays {how}"), &[&file]).json()["races"].clone();
    assert_eq!(races("elements").as_array().unwrap().len(), 0);
    assert_eq!(races("whole").as_array().unwrap().len(), 1);
}

#[test]
fn nothing_is_claimed_beyond_a_bound() {
    let answer = shown("paths --max-states 3 samples/counter_locked.csm");
    assert!(answer.stdout.contains("Not all executions were looked at"), "{}", answer.stdout);
    assert!(answer.status == 3 && answer.complains("stopped by `--max-states`"), "{answer:?}");
    let answer = json("paths --max-executions 2 --max-states 0 samples/setiadi_fig3.csm");
    assert_eq!((&answer["stopped_by"], &answer["bound"]), (&"bound".into(), &"max-executions".into()), "{answer:#}");
    assert_eq!((&answer["executions"], &answer["complete"]), (&2.into(), &false.into()));
}

#[test]
fn what_no_execution_has_at_once_is_no_finding() {
    let answer = shown("paths samples/readers_writer.csm");
    assert_eq!(answer.status, 0, "{}", answer.stdout);
    let table = "no lock in common, but in no execution at once\n  left   left@19:14   left@37:7   test 3\n";
    assert!(answer.stdout.contains(table), "{}", answer.stdout);
    assert!(answer.complains("0 races"), "{}", answer.stderr);
    let races = json("paths samples/readers_writer.csm")["races"].clone();
    assert!(races.as_array().unwrap().iter().all(|race| race["impossible"] == true), "{races:#}");
    // Without a search through all states nobody knows.
    let bounded = shown("paths --max-states 0 samples/readers_writer.csm");
    assert_eq!(bounded.status, 1, "{}", bounded.stdout);
}

/// A consumer that sees what the producer has written does not wait.
#[test]
fn a_wait_that_no_execution_comes_to_is_impossible() {
    let files = Files::new();
    let text = "int full, data;\ncond c;\nlock L;\ncobegin\n  P: { lock(L); data = 7; full = 1; notify(c); unlock(L); }\n  \
                C: { lock(L); while (full == 0) wait(c, L); print(data); unlock(L); }\ncoend\n";
    let answer = call("paths", &[&files.write("p.csm", text)]);
    assert_eq!(answer.status, 0, "{}", answer.text());
    assert!(!answer.text().contains("not known"), "{}", answer.text());
}

#[test]
fn more_threads_than_are_paired_are_no_matter_of_memory() {
    let files = Files::new();
    let path = files.write("p.csm", "int x;\nparfor (int i = 0; i < 70; i++) { x = x + i; }\n");
    let answer = call("paths --criterion tpair --format json", &[&path]);
    assert_eq!((answer.status, &answer.json()["bound"]), (1, &"too-many".into()));
}

/// A file without `main` gets drivers; each is a program, and each of its tests a schedule of that.
#[test]
fn a_library_gets_the_tests_of_its_drivers() {
    let directory = Files::new();
    let out = directory.path("found").display().to_string();
    let answer = json(&format!("paths samples/races_vector_broken.csm --record-dir {out}"));
    let drivers = answer["drivers"].as_array().unwrap();
    let races: Vec<usize> = drivers.iter().map(|one| one["races"].as_array().unwrap().len()).collect();
    // The size is read without the lock: by two methods, against two that change it.
    assert_eq!((races.iter().sum::<usize>(), answer["complete"].as_bool()), (4, Some(true)));
    let racy = races.iter().position(|&count| count > 0).unwrap() + 1;
    let driver = format!("{out}/driver-{racy}.csm");
    assert_eq!(json(&format!("paths {driver}"))["executions"], drivers[racy - 1]["executions"]);
    assert_eq!(shown(&format!("run {driver} --schedule {out}/driver-{racy}/test-1.json")).status, 0);

    let text = shown("paths samples/races_vector_broken.csm");
    assert_eq!(text.status, 1);
    let named = "shown by test 1 of the driver `Vector.add || Vector.size`";
    assert!(text.stdout.starts_with("warning[CS0401]") && text.stdout.contains(named), "{}", text.stdout);
    let refused = shown("paths samples/races_vector.csm --explain main:1:1");
    assert!(refused.status == 2 && refused.stderr.contains("`--record-dir` writes drivers"), "{}", refused.stderr);
}
