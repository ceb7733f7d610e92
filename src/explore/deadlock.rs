//! Deadlocks: where each thread stands, what it waits for, and which thread holds it.
//!
//! **Input**: a state in which no thread can move. **Output**: plain data that names threads by their paths, so that the same
//! deadlock found twice compares equal.

use cssame_ir::LeafId;
use cssame_vm::{Choice, CodeIndex, Machine, Obstacle, PathId, State, Tables, ThreadIndex};

/// A synchronisation object: a leaf, and which element of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// The leaf; `None` for an object that no variable holds any more.
    pub leaf: Option<LeafId>,
    /// The cell in it.
    pub element: u32,
}

/// What a blocked thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WaitsFor {
    /// A lock.
    Lock {
        /// Which.
        object: Object,
        /// Who holds it; `None` where that thread has ended without a trace.
        holder: Option<PathId>,
        /// Where it was taken.
        taken_at: CodeIndex,
    },
    /// A readers-writer lock that is held for reading.
    Readers {
        /// Which.
        object: Object,
        /// Who reads; those that have ended without a trace are left out.
        readers: Vec<PathId>,
    },
    /// A readers-writer lock that is not to be read because others wait to write.
    Writers {
        /// Which.
        object: Object,
        /// Who waits.
        writers: Vec<PathId>,
    },
    /// An event that is not set.
    Event(Object),
    /// Other threads at a barrier.
    Barrier {
        /// Which.
        object: Object,
        /// How many have arrived.
        arrived: u32,
        /// How many it takes.
        count: u32,
    },
    /// A notification of a condition.
    Condition(Object),
    /// A bare notification.
    Notification,
    /// A semaphore that is zero.
    Semaphore(Object),
    /// Threads that it has made.
    Threads(Vec<PathId>),
}

/// A thread in a deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockedThread {
    /// Its name.
    pub path: PathId,
    /// Where it stands.
    pub at: CodeIndex,
    /// What it waits for.
    pub waits_for: WaitsFor,
}

impl BlockedThread {
    /// Whether it waits for a lock that it holds itself.
    #[must_use]
    pub fn waits_for_itself(&self) -> bool {
        match &self.waits_for {
            WaitsFor::Lock { holder, .. } => *holder == Some(self.path),
            WaitsFor::Readers { readers, .. } => readers.contains(&self.path),
            _ => false,
        }
    }
}

/// A deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The threads that have not ended, in the order of threads.
    pub threads: Vec<BlockedThread>,
    /// The steps that lead to it.
    pub schedule: Vec<Choice>,
}

/// Describes the blocked threads of a state.
#[must_use]
pub fn blocked_threads(machine: &Machine, tables: &Tables, state: &State) -> Vec<BlockedThread> {
    let mut threads: Vec<BlockedThread> = state
        .threads()
        .filter_map(|thread| {
            let obstacle = machine.obstacle(state, thread)?;
            let waits_for = waits_for(machine, tables, state, &obstacle);
            Some(BlockedThread { path: state.path(thread), at: state.position(thread), waits_for })
        })
        .collect();
    threads.sort_by(|left, right| tables.compare_paths(left.path, right.path));
    threads
}

/// The same threads at the places of the text that they stand at: two deadlocks whose places and waits are equal are one.
pub(crate) fn places(machine: &Machine, threads: &[BlockedThread]) -> Vec<BlockedThread> {
    let mut threads = threads.to_vec();
    for BlockedThread { at, waits_for, .. } in &mut threads {
        *at = machine.place(*at);
        if let WaitsFor::Lock { taken_at, .. } = waits_for {
            *taken_at = machine.place(*taken_at);
        }
    }
    threads
}

fn waits_for(machine: &Machine, tables: &Tables, state: &State, obstacle: &Obstacle) -> WaitsFor {
    let object = |address| match machine.leaf_at(state, address) {
        Some((leaf, element)) => Object { leaf: Some(leaf), element },
        None => Object { leaf: None, element: 0 },
    };
    // Slots are given in the order in which threads begin.
    let paths = |threads: &[ThreadIndex]| {
        let mut paths: Vec<PathId> = threads.iter().map(|&thread| state.path(thread)).collect();
        paths.sort_by(|&left, &right| tables.compare_paths(left, right));
        paths
    };
    match *obstacle {
        Obstacle::Lock { address, holder, taken_at } => {
            WaitsFor::Lock { object: object(address), holder: holder.map(|holder| state.path(holder)), taken_at }
        }
        Obstacle::Readers { address, ref threads } => {
            WaitsFor::Readers { object: object(address), readers: paths(threads) }
        }
        Obstacle::Writers { address, ref threads } => {
            WaitsFor::Writers { object: object(address), writers: paths(threads) }
        }
        Obstacle::Event { address } => WaitsFor::Event(object(address)),
        Obstacle::Barrier { address, arrived, count } => WaitsFor::Barrier { object: object(address), arrived, count },
        Obstacle::Condition { address } => WaitsFor::Condition(object(address)),
        Obstacle::Notification => WaitsFor::Notification,
        Obstacle::Semaphore { address } => WaitsFor::Semaphore(object(address)),
        Obstacle::Children { ref threads } => WaitsFor::Threads(paths(threads)),
        Obstacle::Thread { thread } | Obstacle::AtomicBlock { thread } => WaitsFor::Threads(vec![state.path(thread)]),
    }
}
