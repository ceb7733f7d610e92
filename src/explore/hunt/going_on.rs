//! Steps that a thread executes as a unit: one step, and the following ones whose accesses race with no other access.
//!
//! **Input**: a state, a choice, and the accesses that race with no other access. **Output**: the state after these steps, and
//! their number.
//!
//! **Soundness**: see point 3 of [`search`](super::search).

use cssame_vm::{Choice, Machine, Pending, Progress, State, Tables, ThreadIndex, Visibility, Work};

/// Accesses through which a thread goes on by itself behind one step, at most: it may do so for ever.
const MAX_GOING_ON: u32 = 1_000;

/// Whether the next step of a thread is an access that races with no other one.
fn is_race_free(machine: &Machine, race_free: &Visibility, state: &State, thread: ThreadIndex) -> bool {
    match machine.pending(state, thread) {
        Some(Pending::Read { read, address: Some(_) }) => race_free.read(read),
        Some(Pending::Write { definition, address: Some(_) }) => race_free.definition(definition),
        _ => false,
    }
}

/// Does a step, and those of the same thread behind it that access what no other thread does meanwhile. Gives what that has led to, and
/// the number of steps.
pub(super) fn go_on(
    (machine, race_free): (&Machine, &Visibility),
    state: &mut State,
    tables: &mut Tables,
    choice: Choice,
    work: &mut Work,
) -> (Progress, u32) {
    let mut progress = machine.step(state, tables, choice, work);
    let mut done = 1;
    while progress == Progress::Running
        && done <= MAX_GOING_ON
        && is_race_free(machine, race_free, state, choice.thread)
        && machine.alternatives_of(state, choice.thread) == 1
    {
        progress = machine.step(state, tables, Choice { alternative: 0, ..choice }, work);
        done += 1;
    }
    (progress, done)
}

/// Does a step, and some behind it of the same thread.
pub(super) fn steps(machine: &Machine, state: &mut State, tables: &mut Tables, choice: Choice, count: u32) -> Progress {
    let mut progress = machine.step(state, tables, choice, &mut ());
    for _ in 1..count {
        progress = machine.step(state, tables, Choice { alternative: 0, ..choice }, &mut ());
    }
    progress
}
