//! Compares dependence with facts computed by hand, and with the behaviour of the machine when steps are exchanged.

use super::*;
use crate::testing::{First, compiled, samples};
use crate::{Random, Walk, run, walk};
use cssame_vm::{Choice, Machine, Progress, State, Tables};

/// A step: its thread, its footprint, and whether it makes or ends a thread.
struct Done {
    thread: PathId,
    footprint: Footprint,
    is_about_threads: bool,
}

/// Which steps make or end a thread.
#[derive(Default)]
struct AboutThreads(Vec<bool>);

impl Observer for AboutThreads {
    fn begin_step(&mut self, _: ThreadName) {
        self.0.push(false);
    }

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Some(now) = self.0.last_mut() {
            *now |= matches!(event, Event::Fork { .. } | Event::Spawn { .. } | Event::End { .. });
        }
    }
}

fn steps(machine: &Machine, choices: &[Choice]) -> Vec<Done> {
    let mut tables = Tables::new();
    let mut watched = (Footprints::default(), AboutThreads::default());
    walk(machine, &mut tables, choices, &mut watched).unwrap();
    let (Footprints { steps, threads }, AboutThreads(about_threads)) = watched;
    assert_eq!(steps.len(), choices.len());
    let done = steps.into_iter().zip(threads).zip(about_threads);
    done.map(|((footprint, thread), is_about_threads)| Done { thread, footprint, is_about_threads }).collect()
}

/// Whether the first steps of the two arms are dependent.
fn are_dependent(objects: &str, one: &str, other: &str) -> bool {
    let (_, machine) = compiled(&format!("{objects} cobegin A: {{ {one} }} B: {{ {other} }} coend")).unwrap();
    let execution = run(&machine, &mut First, 1000, &mut ());
    let done = steps(&machine, &execution.steps);
    let main = done[0].thread;
    let first = done.iter().find(|step| step.thread != main).unwrap();
    let second = done.iter().find(|step| step.thread != main && step.thread != first.thread).unwrap();
    let dependent = first.footprint.depends_on(&second.footprint);
    assert_eq!(dependent, second.footprint.depends_on(&first.footprint), "dependence has no direction");
    dependent
}

#[test]
fn steps_are_dependent_where_one_changes_what_the_other_one_uses() {
    let variables = "int x, y; lock L, M; event e; sem s = 2; cond c;";
    // More steps behind the first one, so that it does not end its thread.
    for (one, other, expected) in [
        ("print(x); y = 1;", "print(x); y = 2;", false),
        ("x = 1; y = 1;", "print(x); y = 2;", true),
        ("x = 1; y = 1;", "x = 2; y = 2;", true),
        ("x = 1; y = 1;", "y = 1; x = 2;", false),
        ("lock(L); unlock(L);", "lock(L); unlock(L);", true),
        ("lock(L); unlock(L);", "lock(M); unlock(M);", false),
        ("set(e); y = 1;", "clear(e); y = 1;", true),
        ("set(e); y = 1;", "lock(L); unlock(L);", false),
        ("P(s); y = 1;", "V(s); y = 1;", true),
        ("P(s); y = 1;", "P(s); y = 1;", true),
        ("notify(c); y = 1;", "notifyAll(c); y = 1;", true),
        ("notify(); y = 1;", "notify(); y = 1;", true),
        ("notify(); y = 1;", "notify(c); y = 1;", false),
        ("int g = fetch_add(x, 1); y = 1;", "int h = fetch_add(x, 1); y = 1;", true),
    ] {
        assert_eq!(are_dependent(variables, one, other), expected, "{one} and {other}");
    }
}

#[test]
fn a_thread_comes_between_its_fork_and_its_join() {
    let (_, machine) = compiled("int x, y; cobegin A: x = 1; B: y = 1; coend").unwrap();
    let execution = run(&machine, &mut First, 1000, &mut ());
    // The fork, the two writes (each of which ends its thread), the join.
    let done = steps(&machine, &execution.steps);
    let footprints: Vec<Footprint> = done.into_iter().map(|step| step.footprint).collect();
    assert_eq!(predecessors(&footprints), [vec![], vec![0], vec![0], vec![0, 1, 2]]);
}

#[test]
fn steps_that_are_not_dependent_can_change_places() {
    let mut swaps = 0;
    for (path, machine) in samples() {
        for seed in 0..4 {
            let execution = run(&machine, &mut Random::new(seed), 60, &mut ());
            let done = steps(&machine, &execution.steps);
            // A failure or a failed assumption in the last step ends the execution of all.
            for place in 1..done.len().saturating_sub(1) {
                let [one, other] = [&done[place - 1], &done[place]];
                if one.footprint.depends_on(&other.footprint) || one.is_about_threads || other.is_about_threads {
                    continue;
                }
                let mut moved = execution.steps.clone();
                moved.swap(place - 1, place);
                let mut tables = Tables::new();
                let mut walk = Walk::new(&machine, &mut tables, &mut ());
                let progress = walk.follow(&moved, &mut ());
                assert!(progress.is_ok(), "{path:?}, seed {seed}: steps {place} and the one before");
                if !matches!(progress, Ok(Progress::Failed(_) | Progress::Discarded)) {
                    let lines = |tables: &Tables, state: &State| -> Vec<String> {
                        let outputs = machine.outputs(state, tables);
                        outputs.iter().flat_map(|&(_, output)| tables.lines(output)).map(str::to_owned).collect()
                    };
                    let expected = lines(&execution.tables, &execution.state);
                    assert_eq!(lines(walk.tables(), walk.state()), expected, "{path:?}, seed {seed}, step {place}");
                    let values = |state: &State| (0..state.cell_count() as u32).map(|cell| state.value(cell)).collect();
                    let [now, then]: [Vec<i64>; 2] = [values(walk.state()), values(&execution.state)];
                    assert_eq!(now, then, "{path:?}, seed {seed}, step {place}");
                }
                swaps += 1;
            }
        }
    }
    assert!(swaps > 100, "{swaps}");
}
