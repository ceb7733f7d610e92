//! Compares the prediction before a step with the effects of the step.

use super::*;
use crate::testing::{compiled, samples};
use crate::{Footprints, Random, Walk, run};
use cssame_vm::{Choice, CodeIndex, Event, Move, Observer, PathId, Progress, Tables, ThreadName};

/// Operations of every kind.
const ALL: &str = "
int x, y, n;
int t[3];
lock L, M;
event e;
sem s = 1;
cond c;
barrier b(2);
void worker() { lock(L); n += 1; notify(c); unlock(L); print(n); y = t[1]; }
void main() {
  thread w = spawn worker();
  cobegin
    A: { lock(L); if (n == 0) wait(c, L); unlock(L); barrier(b); x = 1; set(e); }
    B: { barrier(b); wait(e); clear(e); bool a = cas(x, 1, 2); bool b = cas(x, 1, 2); atomic { y = x; t[1] = y; } }
    C: { P(s); int k = choose(0, 2); t[k] = k; V(s); atomic { int d = x; x = d + y; } }
    D: { lock(M); int v = swap(y, 3); fetch_add(n, 1); unlock(M); parfor (int i = 0; i < 2; i++) x += i; }
  coend
  join(w);
}
";

fn machines() -> Vec<(String, Machine)> {
    let mut machines: Vec<_> =
        samples().into_iter().map(|(path, machine)| (path.display().to_string(), machine)).collect();
    machines.push(("all".to_owned(), compiled(ALL).expect("a program").1));
    machines
}

#[test]
fn a_pending_footprint_is_that_of_the_step() {
    let (mut complete, mut more) = (0, 0);
    for (name, machine) in machines() {
        for seed in 0..10 {
            let choices = run(&machine, &mut Random::new(seed), 300, &mut ()).steps;
            let mut tables = Tables::new();
            let mut footprints = Footprints::default();
            let mut walk = Walk::new(&machine, &mut tables, &mut footprints);
            for choice in choices {
                let pending = PendingFootprint::of(&machine, walk.state(), choice.thread).expect("it can move");
                let state = walk.state();
                let stands = |&thread: &ThreadIndex| machine.pending(state, thread).is_some();
                let standing: Vec<PathId> = state.threads().filter(stands).map(|thread| state.path(thread)).collect();
                let what = format!("{name}, seed {seed}: {:?}", machine.pending(state, choice.thread));
                let progress = walk.step(choice, &mut footprints).unwrap();
                if !pending.is_complete() {
                    more += 1;
                    continue;
                }
                let Some(done) = footprints.steps().last() else { continue };
                let known: Vec<(Resource, Use)> = pending.known().uses().collect();
                // Threads that the step makes or wakes stood before nothing.
                let counts = |resource| !matches!(resource, Resource::Thread(path) if !standing.contains(&path));
                for used in done.uses().filter(|&(resource, _)| counts(resource)) {
                    assert!(known.contains(&used), "{what} does not tell {used:?}");
                }
                if progress == Progress::Running {
                    // Nor is there more, but for the end that the thread might have come to.
                    for (resource, by) in known {
                        let may_miss = matches!(resource, Resource::Children(_)) && by == Use::Shared;
                        assert!(may_miss || done.uses().any(|used| used == (resource, by)), "{what}: {resource:?}");
                    }
                }
                complete += 1;
            }
        }
    }
    assert!(complete > 1_000 && more > 100, "{complete}, {more}");
}

/// Whether a step makes or ends a thread, or a local: slots and addresses depend on the order of those.
#[derive(Default)]
struct Renumbers(bool);

impl Observer for Renumbers {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        self.0 |=
            matches!(event, Event::Fork { .. } | Event::Spawn { .. } | Event::End { .. } | Event::Allocate { .. });
    }
}

#[test]
fn next_steps_that_are_not_dependent_can_change_places() {
    let mut pairs = 0;
    for (name, machine) in machines() {
        let mut moves: Vec<Move> = Vec::new();
        for seed in 0..3 {
            let choices = run(&machine, &mut Random::new(seed), 60, &mut ()).steps;
            let mut tables = Tables::new();
            let mut walk = Walk::new(&machine, &mut tables, &mut ());
            for choice in choices {
                machine.moves(walk.state(), &mut moves);
                for (place, one) in moves.iter().enumerate() {
                    for other in &moves[place + 1..] {
                        pairs += u32::from(can_change_places(&mut walk, one.thread, other.thread, &name));
                    }
                }
                walk.step(choice, &mut ()).unwrap();
            }
        }
    }
    assert!(pairs > 500, "{pairs}");
}

/// Does both steps in both orders, where they are not dependent.
fn can_change_places(walk: &mut Walk<'_>, one: ThreadIndex, other: ThreadIndex, name: &str) -> bool {
    let machine = walk.machine();
    let of = |thread| PendingFootprint::of(machine, walk.state(), thread).unwrap();
    let (first, second) = (of(one), of(other));
    assert_eq!(first.depends_on(&second), second.depends_on(&first));
    if first.depends_on(&second) {
        return false;
    }
    let mut renumbers = Renumbers::default();
    // `None` where one of the steps ends the execution for all.
    let mut both = |threads: [ThreadIndex; 2]| {
        let mut branch = walk.branch();
        for thread in threads {
            let progress = branch.step(Choice { thread, alternative: 0 }, &mut renumbers);
            assert!(progress.is_ok(), "{name}: {first:?} and {second:?}");
            if progress != Ok(Progress::Running) {
                return None;
            }
        }
        let state = branch.into_state();
        let values: Vec<i64> = (0..state.cell_count() as u32).map(|cell| state.value(cell)).collect();
        let places: Vec<CodeIndex> = state.threads().map(|thread| state.position(thread)).collect();
        Some((values, places))
    };
    let (forth, back) = (both([one, other]), both([other, one]));
    if renumbers.0 || forth.is_none() || back.is_none() {
        return false;
    }
    assert_eq!(forth, back, "{name}: {first:?} and {second:?}");
    true
}

#[test]
fn atomic_blocks_and_prints_may_do_anything() {
    let (_, machine) =
        compiled("int x, y; cobegin A: atomic { x = 1; } B: { print(1); y = 2; } C: x = 2; coend").unwrap();
    let mut tables = Tables::new();
    let mut walk = Walk::new(&machine, &mut tables, &mut ());
    walk.step(Choice { thread: ThreadIndex(0), alternative: 0 }, &mut ()).unwrap();
    let threads = [1, 2, 3].map(ThreadIndex);
    let footprints = threads.map(|thread| PendingFootprint::of(&machine, walk.state(), thread).unwrap());
    assert_eq!(footprints.each_ref().map(PendingFootprint::is_complete), [false, false, true]);
    assert!(footprints[0].depends_on(&footprints[1]) && footprints[2].depends_on(&footprints[1]));
    // Main waits, and stands before its join.
    assert!(PendingFootprint::of(&machine, walk.state(), ThreadIndex(0)).is_some());
    assert_eq!(PendingFootprint::of(&machine, walk.state(), ThreadIndex(9)), None);
}
