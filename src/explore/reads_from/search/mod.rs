//! The search through futures: executions, their branches, and the return to a branch.
//!
//! The steps of the algorithm, which `reads_from` describes, are in separate files. This file follows an execution to its end,
//! `operation` converts its steps to operations of the log, `branch` finds its branches, and `replay` brings the machine to the
//! state after the log of a branch. `looks` recognises bodies that only look, `sleep` tracks the threads that wait for a change
//! of their object, and `groups` determines which locks and conditions have a common order. `node` stores the waiting branches,
//! and `cost` checks bounds.

mod branch;
mod cost;
mod groups;
mod looks;
mod node;
mod operation;
mod replay;
mod sleep;

use super::cells::Cells;
use super::events::StepEvents;
use super::log::Log;
use super::operation::{Kind, Operation, ReaderBody};
use super::order::Sorter;
use super::tree::{Position, START, Step, Tree};
use super::{Enumerated, Execution, Refusal};
use crate::states::Fingerprints;
use cssame_budget::{Bound, Budget};
use cssame_ir::sync;
use cssame_vm as vm;
use cssame_vm::{Choice, CodeIndex, Failure, Machine, PathId, Pending, ThreadIndex, ThreadStatus};
use groups::Groups;
use looks::Looks;
use node::{Node, Sleeper};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Steps of an execution beyond which it counts as endless.
const LONG: u32 = 10_000;

/// Steps between two positions that are kept.
const INTERVAL: u32 = 8;

/// Executions behind which it is looked whether they are futures, and how many may be one future; unless all of them are soon
/// followed.
const MANY_ORDERS: (u64, u64) = (1_000, 4);

/// What a step has led to.
enum Stepped {
    /// To an operation.
    Operation(Kind),
    /// To local work only.
    Local,
    /// An assumption does not hold.
    Discarded,
    /// The program has failed.
    Failed(Failure),
}

/// How far an execution has followed a log.
enum Followed {
    /// To its end.
    All,
    /// The last operation is a `cas` that writes, which was not assumed.
    LastWrites,
    /// Another one is a `cas` that does not write.
    NoWrite,
}

/// The search; `NAMES` is for programs that make locals in memory: see [`StepEvents`].
pub(super) struct Search<'a, const NAMES: bool> {
    machine: &'a Machine,
    budget: &'a Budget<'a>,
    log: Log,
    tree: Tree,
    nodes: Vec<Node>,
    /// By cell: the nodes that read it, by rising number.
    readers: Vec<Vec<u32>>,
    /// Memory of all branches that wait.
    branch_bytes: usize,
    /// Memory of everything else but steps and positions, when it was measured last.
    measured: usize,
    /// Nodes that are not used now.
    spare: Vec<Node>,
    now: Position,
    /// Where the execution stood before the last step, where an assumption may discard that.
    previous: Position,
    /// Steps to be done again.
    again: Vec<Step>,
    /// By operation of the part that a branch shares: the step that has done it.
    places: Vec<u32>,
    /// Operations that are left to be done, and an order to do operations in; not for long.
    left: Vec<u32>,
    order: Vec<u32>,
    /// How many steps there were when a position was kept last.
    kept: u32,
    seen: StepEvents<NAMES>,
    cells: Cells,
    /// Whether threads wait for conditions, and which locks and conditions are one group therefore.
    is_grouped: bool,
    groups: Groups,
    /// Executions that were followed before the search has begun again.
    earlier: u64,
    /// Whether an assumption may discard executions.
    discards: bool,
    /// Whether threads try to take locks.
    tries: bool,
    /// Whether events that are set stay so.
    keeps_events: bool,
    /// Whether readers of readers-writer locks only read, so that their bodies have no order.
    readers_share: bool,
    /// The body of a reader in which the execution is.
    body: Option<ReaderBody>,
    /// Bodies that only look.
    looks: Looks,
    /// Threads that sleep.
    asleep: Vec<Sleeper>,
    /// Whether only threads that sleep could go on at the end of the execution.
    is_repeated: bool,
    /// The threads of which the last step has woken one, by alternative.
    wakeable: SmallVec<[PathId; 4]>,
    /// The futures that were found, and executions that were discarded, where several of them may be one.
    known: Fingerprints,
    /// How the execution has failed.
    failure: Option<Failure>,
    /// Threads that an assumption has stopped.
    halted: SmallVec<[PathId; 4]>,
    /// The thread that has moved last.
    turn: ThreadIndex,
    /// By thread: the slot in which it was last.
    slots: Vec<ThreadIndex>,
    sorter: Sorter,
    /// What operations that were held against reads have cost.
    work: u64,
    /// How much work there is before the clock is looked at.
    next_look: u64,
    found: Enumerated,
}

impl<'a, const NAMES: bool> Search<'a, NAMES> {
    pub fn new(machine: &'a Machine, budget: &'a Budget<'a>) -> Result<Search<'a, NAMES>, Refusal> {
        Search::beginning(machine, budget, Enumerated::default())
    }

    /// The search from its beginning, with what it has learned of groups; the futures that it has found are known.
    fn again(mut self) -> Result<Search<'a, NAMES>, Refusal> {
        self.groups.restart();
        let Search { cells, groups, known, work, next_look, mut found, .. } = self;
        found.bound = None;
        let earlier = found.statistics.executions;
        let next = Search::beginning(self.machine, self.budget, found)?;
        Ok(Search { cells, groups, known, work, next_look, earlier, ..next })
    }

    fn beginning(
        machine: &'a Machine,
        budget: &'a Budget<'a>,
        mut found: Enumerated,
    ) -> Result<Search<'a, NAMES>, Refusal> {
        let mut seen = StepEvents::default();
        let state = machine.start(&mut found.tables, &mut seen);
        if let Some(refusal) = seen.refusal {
            return Err(refusal);
        }
        let now = Position { state, last: START, ..Position::default() };
        Ok(Search {
            machine,
            budget,
            log: Log::new(machine.synchronises()),
            tree: Tree::new(now.clone()),
            nodes: Vec::new(),
            readers: Vec::new(),
            branch_bytes: 0,
            measured: 0,
            spare: Vec::new(),
            now,
            previous: Position::default(),
            again: Vec::new(),
            places: Vec::new(),
            left: Vec::new(),
            order: Vec::new(),
            kept: 0,
            seen,
            cells: Cells::new(machine.global_cells()),
            is_grouped: machine.waits_for_notifications(),
            groups: Groups::new(machine.global_cells(), machine.fixed_waits()),
            earlier: 0,
            discards: machine.may_discard(),
            tries: machine.tries_locks(),
            keeps_events: !machine.clears_events(),
            readers_share: machine.readers_only_read(),
            body: None,
            looks: Looks::default(),
            asleep: Vec::new(),
            is_repeated: false,
            wakeable: SmallVec::new(),
            known: Fingerprints::default(),
            failure: None,
            halted: SmallVec::new(),
            turn: ThreadIndex(0),
            slots: Vec::new(),
            sorter: Sorter::default(),
            work: 0,
            next_look: 100_000,
            found,
        })
    }

    pub fn run(mut self, visit: &mut dyn FnMut(&Execution<'_>) -> ControlFlow<()>) -> Result<Enumerated, Refusal> {
        loop {
            match self.follow_all(visit) {
                Ok(()) => return Ok(self.found),
                Err(Refusal::Regrouped) => self = self.again()?,
                Err(refusal) => return Err(refusal),
            }
        }
    }

    /// Follows all executions.
    fn follow_all(&mut self, visit: &mut dyn FnMut(&Execution<'_>) -> ControlFlow<()>) -> Result<(), Refusal> {
        let mut first_new = 0;
        loop {
            // 1. Follow the execution to its end.
            self.complete()?;
            if self.found.bound.is_some() {
                break;
            }
            if self.count(visit)?.is_break() {
                break;
            }
            // 2 to 9. The branches that it shows.
            self.find_branches(first_new);
            let is_blocked = self.failure.is_none() && !self.machine.is_finished(&self.now.state);
            if is_blocked && self.found.bound.is_none() {
                self.find_branches_of_blocked();
            }
            self.look();
            // 11. The branch that was found last.
            match self.enter_branch()? {
                Some(base) if self.found.bound.is_none() => first_new = base,
                // All is found, also if the last execution was the last one that may be followed.
                None => {
                    self.found.bound = self.found.bound.filter(|&bound| bound != Bound::Executions);
                    break;
                }
                Some(_) => break,
            }
        }
        Ok(())
    }

    /// Follows the execution to its end; each new read becomes a node.
    fn complete(&mut self) -> Result<(), Refusal> {
        (self.failure, self.is_repeated) = (None, false);
        while self.found.bound.is_none()
            && let Some((thread, alternatives)) = self.next_thread()
        {
            if self.now.length >= LONG {
                return Err(Refusal::Endless);
            }
            if self.budget.limits().max_steps.is_some_and(|limit| self.now.length >= limit) {
                self.found.bound = Some(Bound::Steps);
                return Ok(());
            }
            let path = self.now.state.path(thread);
            let pending = self.machine.pending(&self.now.state, thread);
            if !matches!(pending, Some(Pending::Write { .. } | Pending::Fork | Pending::Spawn | Pending::Join)) {
                if self.discards {
                    self.previous.copy_from(&self.now);
                }
                // Who comes from a kept position may let others go on first, which cannot be in a body that only looks.
                if self.now.length >= self.kept + INTERVAL && self.looks.thread.is_none() {
                    self.keep();
                }
            }
            let before = self.now.last;
            self.wakeable.clear();
            if alternatives > 1 {
                self.wakeable = self.machine.wakeable(&self.now.state, thread);
            }
            match self.step(Choice { thread, alternative: 0 })? {
                Stepped::Local => {}
                Stepped::Discarded => {
                    self.halted.push(path);
                    std::mem::swap(&mut self.now, &mut self.previous);
                }
                Stepped::Failed(failure) if self.fails_at_last(path) => {
                    self.failure = Some(failure);
                    return Ok(());
                }
                Stepped::Failed(_) => return Err(Refusal::Failure),
                Stepped::Operation(kind) => {
                    let is_looking = self.looks.thread.is_some();
                    self.log_operation(kind, path)?;
                    // All that is done in a body that only looks follows from where that comes.
                    if !is_looking && self.parts(kind) {
                        self.open_node(before, alternatives, false);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a thread that fails is the first one, and all that it has made have ended before: then what is read before the failure
    /// is the same in all executions of the future.
    fn fails_at_last(&self, thread: PathId) -> bool {
        let spawns = || self.log.operations.iter().any(|operation| operation.kind == Kind::Spawn);
        thread == PathId(0) && self.log.open_forks(thread).next().is_none() && !spawns()
    }

    /// Whether executions part at the last operation. Where nobody tries to take a lock, nothing can come before it is given back.
    fn parts(&self, kind: Kind) -> bool {
        match kind {
            Kind::Read | Kind::Atomic | Kind::Choose => true,
            Kind::Synchronise(sync::Kind::Unlock) => self.tries || self.is_grouped,
            Kind::Synchronise(sync::Kind::UnlockRw) => !self.readers_share,
            Kind::Synchronise(sync::Kind::Set | sync::Kind::WaitEvent) => {
                !self.keeps_events || self.log.operations.last().is_some_and(Operation::changes_object)
            }
            Kind::Synchronise(_) => true,
            Kind::Write | Kind::Fork | Kind::Spawn | Kind::Join | Kind::Arrive => false,
        }
    }

    /// Keeps where the execution stands.
    fn keep(&mut self) {
        self.kept = self.now.length;
        self.tree.keep(&self.now);
        if self.budget.exceeds_memory(self.bytes()) {
            self.found.bound = Some(Bound::Memory);
        }
    }

    /// Brings the machine behind a step that it has done before.
    fn go_to(&mut self, place: u32) -> Result<(), Refusal> {
        self.now.copy_from(self.tree.nearest(place, &mut self.again));
        self.kept = self.now.length;
        let executed = &mut self.seen.executed;
        for step in &self.again {
            // What it reads was noted when it was done first.
            let progress = self.machine.step(&mut self.now.state, &mut self.found.tables, step.choice, executed);
            if !matches!(progress, vm::Progress::Running | vm::Progress::Finished) {
                return Err(Refusal::Synchronisation);
            }
            if let Some(operation) = self.log.operations.get(step.operation as usize).filter(|of| of.writes) {
                self.now.hold(operation.cell, step.operation);
            }
        }
        self.look_at_clock();
        self.found.statistics.steps += self.again.len() as u64;
        self.now.length += self.again.len() as u32;
        self.now.last = place;
        Ok(())
    }

    /// A thread that can move: the one that has moved last, or the first behind it.
    fn next_thread(&mut self) -> Option<(ThreadIndex, u32)> {
        let state = &self.now.state;
        let last = self.turn.index();
        let mut threads = (last..state.thread_count()).chain(0..last.min(state.thread_count()));
        let mut found = None;
        while found.is_none()
            && let Some(index) = threads.next()
        {
            let (state, thread) = (&self.now.state, ThreadIndex(index as u16));
            let alternatives = self.machine.alternatives(state, thread);
            if alternatives > 0 && (self.halted.is_empty() || !self.halted.contains(&state.path(thread))) {
                let is_asleep = self.is_asleep(thread);
                self.is_repeated |= is_asleep;
                found = (!is_asleep).then_some((thread, alternatives));
            }
        }
        self.is_repeated &= found.is_none();
        self.turn = found.map_or(ThreadIndex(0), |(thread, _)| thread);
        found
    }

    /// The slot of a thread; where it was last, if it is still there.
    fn slot(&mut self, thread: PathId) -> Option<ThreadIndex> {
        let state = &self.now.state;
        let index = thread.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, ThreadIndex(0));
        }
        let known = self.slots[index];
        if known.index() >= state.thread_count()
            || state.path(known) != thread
            || state.status(known) == ThreadStatus::Free
        {
            self.slots[index] = state.threads().find(|&slot| state.path(slot) == thread)?;
        }
        Some(self.slots[index])
    }

    /// Does a step; says which operation it was, and leaves what it has done in `seen`.
    fn step(&mut self, choice: Choice) -> Result<Stepped, Refusal> {
        self.seen.clear();
        self.found.statistics.steps += 1;
        let progress = self.machine.step(&mut self.now.state, &mut self.found.tables, choice, &mut self.seen);
        self.look_at_clock();
        // Also where an assumption in an atomic block does not hold.
        if let Some(refusal) = self.seen.refusal {
            return Err(refusal);
        }
        match progress {
            vm::Progress::Discarded => return Ok(Stepped::Discarded),
            vm::Progress::Failed(_) | vm::Progress::Running | vm::Progress::Finished => {
                self.now.last = self.tree.push(self.now.last, choice);
                self.now.length += 1;
            }
        }
        if let vm::Progress::Failed(failure) = progress {
            return Ok(Stepped::Failed(failure));
        }
        Ok(match &self.seen {
            StepEvents { read: Some((.., at)), .. } if self.machine.is_atomic(*at) => Stepped::Operation(Kind::Atomic),
            StepEvents { read: Some(_), .. } => Stepped::Operation(Kind::Read),
            StepEvents { write: Some(_), .. } => Stepped::Operation(Kind::Write),
            StepEvents { chosen: true, .. } => Stepped::Operation(Kind::Choose),
            StepEvents { synchronised: Some((sync::Kind::Barrier, _)), .. } => Stepped::Operation(Kind::Arrive),
            StepEvents { synchronised: Some((by, _)), .. } => Stepped::Operation(Kind::Synchronise(*by)),
            StepEvents { spawned: true, .. } => Stepped::Operation(Kind::Spawn),
            StepEvents { forks, .. } if !forks.is_empty() => Stepped::Operation(Kind::Fork),
            StepEvents { joined: true, .. } | StepEvents { joined_thread: Some(_), .. } => {
                Stepped::Operation(Kind::Join)
            }
            _ => Stepped::Local,
        })
    }

    fn count(&mut self, visit: &mut dyn FnMut(&Execution<'_>) -> ControlFlow<()>) -> Result<ControlFlow<()>, Refusal> {
        self.found.statistics.executions += 1;
        self.found.statistics.depth = self.now.length;
        let is_new = !self.is_repeated && (!self.log.learns() || self.known.insert(self.future()));
        if self.log.learns() && self.has_many_orders() && !self.fits() {
            return Err(Refusal::Orders);
        }
        if self.is_repeated {
            return Ok(ControlFlow::Continue(()));
        }
        if !self.halted.is_empty() {
            self.found.discarded += 1;
            return Ok(ControlFlow::Continue(()));
        }
        self.found.futures += u64::from(is_new);
        let (Position { state, last, .. }, pairs) = (&self.now, &self.seen.pairs);
        let (machine, tables, tree, bytes) = (self.machine, &self.found.tables, &self.tree, self.bytes());
        let (last, failure) = (*last, self.failure);
        let wanted = visit(&Execution { machine, tables, state, failure, tree, last, is_new, pairs, bytes });
        self.seen.pairs.clear();
        Ok(wanted)
    }

    /// What tells the future of this execution from others: what threads have learned, and where those stand that are blocked.
    fn future(&self) -> u128 {
        let hash = self.log.future();
        let mut words: SmallVec<[u64; 16]> = SmallVec::new();
        words.extend([hash as u64, (hash >> 64) as u64]);
        if !self.machine.is_finished(&self.now.state) {
            let place = |(path, at)| (path, self.machine.place(at));
            let mut standing: SmallVec<[(PathId, CodeIndex); 8]> = self.now.state.standing().map(place).collect();
            standing.sort_unstable();
            words.extend(standing.iter().map(|(path, at)| u64::from(path.0) << 32 | u64::from(at.0)));
        }
        vm::hash(&words)
    }
}
