//! The states that short sequences of calls reach, and the ends of two calls one after the other.
//!
//! **Input**: the contexts of two methods of a file without `main`. **Output**: sequences of calls, one for each state that they
//! reach, the shortest first; the ends of the two calls in both orders.
//!
//! **Algorithm**: breadth-first search. A sequence of calls that has reached a new state is extended by each call. It is executed
//! in one thread. The state consists of the values that it has written and its effects on synchronisation objects ([`Memory`]).
//!
//! **Soundness and limits**: at most [`MAX_CALLS`] calls, [`MAX_STATES`] states and [`MAX_TRIED`] executions, within the time
//! limit. Sequences that fail, or that wait for another thread, are left out. If a call chooses, only the first choice is made.

use cssame_budget::Budget;
use cssame_harness::PairContexts;
use cssame_model::{Model, Options};
use cssame_schedule as schedule;
use cssame_schedule::{ExecutionStatus, RoundRobin};
use cssame_vm::{Cell, CodeIndex, Event, Observer, ThreadName};
use std::collections::{BTreeMap, BTreeSet};

/// Calls of a sequence at most.
pub const MAX_CALLS: usize = 3;

/// States at most, the first one included.
pub const MAX_STATES: usize = 24;

/// Executions at most.
const MAX_TRIED: usize = 300;

/// Steps of an execution at most.
const MAX_STEPS: u64 = 20_000;

/// The sequences of calls that reach different states, the empty one first: the lines of each.
pub(super) fn sequences(
    contexts: &PairContexts<'_>,
    (name, options): (&str, &Options),
    budget: &Budget<'_>,
) -> Vec<Vec<String>> {
    let calls = contexts.calls();
    let mut found: Vec<Vec<String>> = vec![Vec::new()];
    let mut known: BTreeSet<Key> = BTreeSet::new();
    known.extend(reached(name, &contexts.alone(&[]), options));
    let (mut level, mut tried) = (0..1, 0);
    for _ in 0..MAX_CALLS {
        for from in level.clone() {
            for call in &calls {
                if found.len() == MAX_STATES || tried == MAX_TRIED || budget.check().is_some() {
                    return found;
                }
                tried += 1;
                let sequence: Vec<String> = found[from].iter().chain(call).cloned().collect();
                let state = reached(name, &contexts.alone(&sequence), options);
                if state.is_some_and(|state| known.insert(state)) {
                    found.push(sequence);
                }
            }
        }
        level = level.end..found.len();
    }
    found
}

/// How the two calls end, one after the other in either order: well, or which failures and deadlocks there are.
pub(super) fn serial_ends(
    contexts: &PairContexts<'_>,
    (before, choice): (&[String], usize),
    (name, options): (&str, &Options),
) -> Vec<ExecutionStatus> {
    let end = |swapped: bool| {
        let model = Model::from_text(name, &contexts.serial(before, choice, swapped), options).ok()?;
        Some(schedule::run(model.machine(), &mut RoundRobin::new(), MAX_STEPS, &mut ()).status)
    };
    [false, true].into_iter().filter_map(end).collect()
}

/// Names and values of cells, and what was made of objects of synchronisation.
type Key = (Vec<(String, i64)>, Vec<(String, i64)>);

/// The state that a program with one thread reaches, if it ends well.
fn reached(name: &str, text: &str, options: &Options) -> Option<Key> {
    let model = Model::from_text(name, text, options).ok()?;
    let mut memory = Memory::default();
    let execution = schedule::run(model.machine(), &mut RoundRobin::new(), MAX_STEPS, &mut memory);
    if execution.status != ExecutionStatus::Ok {
        return None;
    }
    let cells = memory.cells.iter().filter(|(_, (before, now))| before != now);
    let cells = cells.map(|(cell, (_, now))| (cell.name(model.program()), *now));
    let objects = memory.objects.iter().filter(|(_, value)| **value != 0);
    let objects = objects.map(|(cell, value)| (cell.name(model.program()), *value));
    Some((cells.collect(), objects.collect()))
}

/// What was written to globals, and what was made of objects of synchronisation.
#[derive(Debug, Default)]
struct Memory {
    /// What each cell held before the first write, and now.
    cells: BTreeMap<Cell, (i64, i64)>,
    /// Events: whether they are set; locks: whether they are held; semaphores: by how much they were raised.
    objects: BTreeMap<Cell, i64>,
}

impl Observer for Memory {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        match event {
            Event::Write { cell, old, value, .. } if cell.object.ordinal == 0 => {
                self.cells.entry(cell).or_insert((old, value)).1 = value;
            }
            Event::Set { cell, .. } | Event::Lock { cell, .. } => {
                self.objects.insert(cell, 1);
            }
            Event::Clear { cell, .. } | Event::Unlock { cell, .. } => {
                self.objects.insert(cell, 0);
            }
            Event::Release { cell, .. } => *self.objects.entry(cell).or_default() += 1,
            Event::Acquire { cell, .. } => *self.objects.entry(cell).or_default() -= 1,
            _ => {}
        }
    }
}
