//! Two threads before racing accesses: their names, their locks, and the value of the cell.
//!
//! **Input**: the steps that lead to a state in which the accesses of a pair of places are pending. **Output**: a [`Scene`];
//! nothing if the accesses are not pending, because the steps belong to another program.
//!
//! **Algorithm**: the steps are repeated, and locks are tracked; then each pair of threads is checked for the accesses that it
//! would make.

use super::place::{PlacePair, Places};
use cssame_ir::{Access, Program};
use cssame_schedule::{Held, HeldLocks, Lookahead, PendingAccess, View, Walk};
use cssame_vm::{Cell, Choice, Machine, Tables, ThreadIndex};

/// A thread before its access.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Its name.
    pub thread: String,
    /// The step that makes the access.
    pub step: Choice,
    /// The access.
    pub access: Access,
    /// The locks that it holds, in the order in which it took them.
    pub locks: Vec<Held>,
}

/// Two threads before accesses that race.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The one at the first place, and the other one.
    pub actors: [Actor; 2],
    /// What they race for.
    pub cell: Option<Cell>,
    /// What the cell holds, as bits.
    pub value: i64,
}

/// Finds the threads that race behind some steps.
#[must_use]
pub fn scene(
    machine: &Machine,
    program: &Program,
    places: &Places,
    pair: PlacePair,
    steps: &[Choice],
) -> Option<Scene> {
    let mut tables = Tables::new();
    let mut held = HeldLocks::default();
    let mut walk = Walk::new(machine, &mut tables, &mut held);
    walk.follow(steps, &mut held).ok()?;
    let view = View { machine, tables: walk.tables(), state: walk.state() };
    let standing = standing(program, &view);
    for (first, one) in &standing {
        for (second, other) in &standing {
            let at = |access: &PendingAccess, side: usize| places.of(access.access) == Some(pair[side]);
            if first != second && at(one, 0) && at(other, 1) && one.races_with(other) {
                let actors =
                    [(*first, one), (*second, other)].map(|(thread, access)| actor(&view, &held, thread, access));
                let cell = machine.cell(view.state, one.address);
                return Some(Scene { actors, cell, value: view.state.value(one.address) });
            }
        }
    }
    None
}

/// All accesses that are pending.
fn standing(program: &Program, view: &View<'_>) -> Vec<(ThreadIndex, PendingAccess)> {
    let mut lookahead = Lookahead::default();
    let can_move = |thread: &ThreadIndex| view.machine.alternatives_of(view.state, *thread) > 0;
    let threads: Vec<ThreadIndex> = view.state.threads().filter(can_move).collect();
    let mut all = Vec::new();
    for thread in threads {
        all.extend(lookahead.accesses(program, view, thread).into_iter().map(|access| (thread, access)));
    }
    all
}

fn actor(view: &View<'_>, held: &HeldLocks, thread: ThreadIndex, access: &PendingAccess) -> Actor {
    let path = view.state.path(thread);
    Actor {
        thread: view.machine.path_name(view.tables, path),
        step: Choice { thread, alternative: 0 },
        access: access.access,
        locks: held.of(path).to_vec(),
    }
}
