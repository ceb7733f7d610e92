//! Preemptions of an execution: the steps at which it leaves a thread that could continue.
//!
//! **Input**: the steps of an execution, and perhaps its trace. **Output**: the steps before which a thread is left, with its
//! name; the trace with these marks.
//!
//! **Soundness and limits**: if a trace shows only some rows, the mark is where the rows of another thread follow.

use super::naming::Naming;
use super::trace::Trace;
use super::walk::Walk;
use cssame_vm::{Choice, Machine, Tables, ThreadIndex};

/// How often a schedule leaves a thread that could go on.
#[must_use]
pub fn preemptions(machine: &Machine, steps: &[Choice]) -> u32 {
    let mut count = 0;
    each_preemption(machine, steps, &mut |_, _, _| count += 1);
    count
}

/// Tells of each switch from a thread that could go on: the number of steps before it, and the walk up to there.
fn each_preemption(machine: &Machine, steps: &[Choice], tell: &mut dyn FnMut(usize, ThreadIndex, &Walk<'_>)) {
    let mut tables = Tables::new();
    let mut walk = Walk::new(machine, &mut tables, &mut ());
    let mut last: Option<ThreadIndex> = None;
    for (done, &choice) in steps.iter().enumerate() {
        if let Some(last) = last
            && last != choice.thread
            && machine.could_go_on(walk.state(), last)
        {
            tell(done, last, &walk);
        }
        if walk.step(choice, &mut ()).is_err() {
            return;
        }
        last = Some(choice.thread);
    }
}

impl Trace {
    /// The same with the rows marked behind which a thread is left that could go on.
    #[must_use]
    pub fn with_interruptions(mut self, naming: Naming<'_>, steps: &[Choice]) -> Trace {
        each_preemption(naming.machine, steps, &mut |done, thread, walk| {
            let name = naming.machine.path_name(walk.tables(), walk.state().path(thread));
            let Some(column) = self.threads.iter().position(|other| *other == name) else { return };
            let before = self.rows.partition_point(|row| row.step <= done);
            let is_other = self.rows.get(before).is_some_and(|next| next.column != column);
            let row = self.rows[..before].last_mut().filter(|row| is_other && row.column == column);
            if let Some(row) = row {
                row.interrupted = true;
            }
        });
        self
    }
}
