//! Recorded schedules live through edits of the text that do not change what the program does.

use cssame::answer::{Course, RunAnswer, RunRequest, run};
use cssame::model::Model;
use cssame::schedule::{Schedule, Scheduler};
use support::{model, samples};

/// Programs with threads of each kind. No comment ends with its line, so that all lines may become one.
const PROGRAMS: [&str; 3] = [
    "int x;\nlock L;\ncobegin\n  T1: { x = x + 1; lock(L); x = 2; unlock(L); }\n  T2: { x = x + 1;\n    lock(L); x = 3; \
     unlock(L); }\ncoend\nprint(x);\n",
    "int x;\nint t[2];\nparfor (int i = 0; i < 2; i++) {\n  x = x + i;\n}\nparfor (int i = 0; i < 2; i++) {\n  t[i] = x;\n\
     \x20 x = i; }\nprint(x, t[0]);\n",
    "int x;\nevent e;\nvoid work(int n) {\n  x = n;\n  set(e);\n  x = x + choose(0, 3);\n}\nvoid main() {\n  thread t = spawn \
     work(4);\n  x = 1;\n  wait(e);\n  print(x);\n  join(t);\n  assert(x != 7);\n}\n",
];

/// Each changes the places of a text, and nothing else.
const EDITS: [(&str, fn(&str) -> String); 6] = [
    ("a comment above", |text| format!("// What it does.\n// And why.\n{text}")),
    ("comments between all lines", |text| text.replace('\n', "\n/* here */\n")),
    ("a blank line", |text| text.replacen('\n', "\n\n", 2)),
    ("another indentation", |text| text.replace('\n', "\n      ")),
    ("comments within lines", |text| text.replace("; ", "; /* and */ ")),
    ("all in one line", |text| text.replace('\n', " ")),
];

fn replayed(model: &Model, schedule: &Schedule) -> RunAnswer {
    run(model, &RunRequest { course: Course::Recorded(schedule), max_steps: 10_000 })
}

#[test]
fn a_schedule_lives_through_edits_that_change_nothing() {
    for text in PROGRAMS {
        let old = model(text);
        for seed in 0..12 {
            let course = Course::Seeded { scheduler: Scheduler::Random, seed };
            let recorded = run(&old, &RunRequest { course, max_steps: 10_000 });
            let schedule = recorded.schedule(&old);
            for (name, edit) in EDITS {
                let new = model(&edit(text));
                let again = replayed(&new, &schedule);
                assert_eq!(again.departure, None, "{name}, seed {seed}: {text}");
                assert_eq!(again.report.output, recorded.report.output, "{name}, seed {seed}: {text}");
                assert_eq!(again.report.status, recorded.report.status);
                assert_eq!(again.execution.steps, recorded.execution.steps, "{name}, seed {seed}: {text}");
            }
        }
    }
}

#[test]
fn a_schedule_departs_from_a_text_that_does_something_else() {
    let text = PROGRAMS[0];
    let old = model(text);
    let course = Course::Seeded { scheduler: Scheduler::Random, seed: 1 };
    let schedule = run(&old, &RunRequest { course, max_steps: 10_000 }).schedule(&old);
    let changes = [
        // A lock more, another order, a loop in the place of two statements, and other names.
        ("T1: { x = x + 1; lock(L);", "T1: { lock(L); x = x + 1;"),
        ("lock(L); x = 2; unlock(L);", "lock(L); unlock(L); x = 2;"),
        ("T2: {", "T3: {"),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        let again = replayed(&model(&text.replace(from, to)), &schedule);
        assert!(again.departure.is_some(), "{to}");
    }
}

#[test]
fn one_place_of_the_old_text_is_one_of_the_new() {
    let model = model(PROGRAMS[0]);
    let course = Course::Seeded { scheduler: Scheduler::Random, seed: 0 };
    let mut schedule = run(&model, &RunRequest { course, max_steps: 10_000 }).schedule(&model);
    assert_eq!(replayed(&model, &schedule).departure, None);
    schedule.steps.iter_mut().for_each(|step| step.at = "99:1".to_owned());
    // In the text that was recorded, that place must be there; in another one it is the first, and no other.
    assert_eq!(replayed(&model, &schedule).departure.unwrap().step, 1);
    schedule.hash = "0".repeat(16);
    assert_eq!(replayed(&model, &schedule).departure.unwrap().step, 2);
}

#[test]
fn samples_live_through_a_comment() {
    for (name, text) in samples() {
        // Files without `main` do not run.
        let Ok(old) = Model::from_text(&name, &text, &Default::default()) else { continue };
        let new = Model::from_text(&name, &format!("// A line more.\n{text}"), &Default::default()).unwrap();
        let course = Course::Seeded { scheduler: Scheduler::Random, seed: 3 };
        let schedule = run(&old, &RunRequest { course, max_steps: 2_000 }).schedule(&old);
        assert_eq!(replayed(&new, &schedule).departure, None, "{name}");
    }
}
