//! Restores the complete schedules of a search by preemptions.
//!
//! **Input**: the steps that a search has kept. **Output**: all steps.
//!
//! **Algorithm**: the search keeps the first of the steps that a thread executes as a unit ([`go_on`]); the same rule repeats the
//! others.

use super::going_on::{go_on, steps};
use cssame_vm::{Choice, Machine, Progress, State, Tables, Visibility, Work};

/// The schedule of which a search has kept these steps.
pub(super) fn whole(machine: &Machine, race_free: &Visibility, kept: &[Choice]) -> Vec<Choice> {
    let (mut tables, mut state, mut before) = (Tables::new(), State::default(), State::default());
    machine.restart(&mut state, &mut tables, &mut ());
    let mut schedule = Vec::new();
    for &choice in kept {
        before.clone_from(&state);
        let (progress, mut done) = go_on((machine, race_free), &mut state, &mut tables, choice, &mut Work::default());
        if progress != Progress::Running && done > 1 {
            done -= 1;
            state.clone_from(&before);
            steps(machine, &mut state, &mut tables, choice, done);
        }
        schedule.push(choice);
        schedule.extend((1..done).map(|_| Choice { alternative: 0, ..choice }));
    }
    schedule
}
