//! Records the trace of an execution.
//!
//! **Input**: the events of an execution, and the accesses that are [`Operations`]. **Output**: its [`Trace`].
//!
//! **Algorithm**: each operation and each operation on synchronisation objects becomes an action. Actions of one step, such as an
//! atomic block, share its number. The data flow ([`super::flow`]), the locks held and two clocks are kept with it.
//!
//! **Soundness and limits**: threads and cells are named by the tables of the execution, which belong to the session.

use super::flow::Flow;
use super::ids::{ActionId, EvaluationId};
use super::taint::Taint;
use super::trace::{Action, ActionKind, Evaluation, Occurrence, Trace, Waiting};
use crate::classes::Operations;
use cssame_ir::sync::Mode;
use cssame_ir::{Access, DefinitionId, Program, ReadId};
use cssame_schedule::{Clocks, Edges, Execution, ExecutionStatus, HeldLocks, LocksetId};
use cssame_source::Span;
use cssame_source::arena::Arena;
use cssame_vm::{Cell, CodeIndex, Event, Machine, Observer, PathId, ThreadName};
use rustc_hash::FxHashMap;

/// What a thread has done so far.
#[derive(Default)]
struct ThreadState {
    /// Steps that it has begun.
    steps: u32,
    /// Its last action.
    last: Option<ActionId>,
    /// Its last wait.
    wait: Option<usize>,
    /// The lock that a wait has freed.
    freed: Option<Cell>,
    /// Whether it has given up its last wait.
    timed_out: bool,
    /// Threads made at the fork where it stands.
    made: usize,
    /// What an atomic expression has read.
    read: Taint,
}

/// What counts how often something has happened.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Counted {
    Access(Access),
    At(Span),
    Branch(Span),
}

/// Records a trace.
pub(super) struct Recorder<'a> {
    machine: &'a Machine,
    program: &'a Program,
    operations: &'a Operations,
    flow: Flow<'a>,
    held: HeldLocks,
    forks: Clocks<'a>,
    order: Clocks<'a>,
    threads: FxHashMap<PathId, ThreadState>,
    counts: FxHashMap<(PathId, Counted), u32>,
    versions: FxHashMap<Cell, u32>,
    own_writes: FxHashMap<(PathId, Cell), ActionId>,
    /// What private memory was computed from.
    memory: FxHashMap<Cell, Taint>,
    /// Atomic blocks that the step is in.
    blocks: u32,
    /// Whether a thread was made: what main does before that no order can change.
    begun: bool,
    actions: Arena<ActionId, Action>,
    evaluations: Arena<EvaluationId, Evaluation>,
    waits: Vec<Waiting>,
    occurrences: Vec<Occurrence>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(machine: &'a Machine, program: &'a Program, operations: &'a Operations) -> Recorder<'a> {
        Recorder {
            machine,
            program,
            operations,
            flow: Flow::new(program),
            held: HeldLocks::default(),
            forks: Clocks::new(machine, Edges::ForksAndJoins),
            order: Clocks::new(machine, Edges::WithoutMutualExclusion),
            threads: FxHashMap::default(),
            counts: FxHashMap::default(),
            versions: FxHashMap::default(),
            own_writes: FxHashMap::default(),
            memory: FxHashMap::default(),
            blocks: 0,
            begun: false,
            actions: Arena::default(),
            evaluations: Arena::default(),
            waits: Vec::new(),
            occurrences: Vec::new(),
        }
    }

    /// The trace of the execution.
    pub(super) fn finish(self, execution: &Execution) -> Trace {
        let sets = (0..self.held.count()).map(|set| self.held.locks(LocksetId::new(set)).to_vec());
        let failure = match &execution.status {
            ExecutionStatus::Failed(failure) => Some(failure),
            _ => None,
        };
        let diverges = failure.is_some_and(|failure| failure.kind.is_limit());
        let is_deadlock = execution.status == ExecutionStatus::Deadlock;
        Trace {
            failing: failure.map(|failure| execution.state.path(failure.thread)),
            blocked: if is_deadlock { execution.state.standing().collect() } else { Vec::new() },
            locksets: sets.collect(),
            actions: self.actions,
            evaluations: self.evaluations,
            waits: self.waits,
            occurrences: self.occurrences,
            taints: self.flow.taints,
            steps: execution.steps.clone(),
            status: execution.status.clone(),
            endless: diverges || matches!(execution.status, ExecutionStatus::Stopped | ExecutionStatus::StepLimit),
        }
    }

    /// Adds an action of the step that a thread does.
    fn act(&mut self, thread: ThreadName, at: CodeIndex, kind: ActionKind) -> ActionId {
        let counted = kind.access().map_or(Counted::At(self.machine.span(at)), Counted::Access);
        let instance = self.count(thread.path, counted);
        let state = self.threads.entry(thread.path).or_default();
        let step = state.steps.saturating_sub(1);
        let action = self.actions.push(Action {
            thread: thread.path,
            at,
            step,
            instance,
            kind,
            version: 0,
            sources: Taint::NONE,
            own_write: None,
        });
        state.last = Some(action);
        action
    }

    fn count(&mut self, thread: PathId, counted: Counted) -> u32 {
        let count = self.counts.entry((thread, counted)).or_default();
        *count += 1;
        *count
    }

    fn add_wait(&mut self, thread: PathId) {
        let controls = self.flow.controls(thread);
        let state = self.threads.entry(thread).or_default();
        if let Some(action) = state.last {
            state.wait = Some(self.waits.len());
            self.waits.push(Waiting { action, woken: false, controls });
        }
    }

    /// Whether an access is an operation: it is visible, of a cell whose accesses are, and a thread was made before.
    fn is_operation(&self, cell: Cell, shared: bool) -> bool {
        self.begun && shared && self.operations.contains(cell)
    }

    fn read(&mut self, thread: ThreadName, at: CodeIndex, read: ReadId, (cell, shared): (Cell, bool)) {
        let path = thread.path;
        let index = self.flow.index(path);
        let value = if self.is_operation(cell, shared) {
            let action = self.act(thread, at, ActionKind::Read { read, cell });
            let own_write = self.own_writes.get(&(path, cell)).copied();
            let version = self.versions.get(&cell).copied().unwrap_or_default();
            let of = &mut self.actions[action];
            (of.version, of.sources, of.own_write) = (version, index, own_write);
            self.occur(thread, at, action, Access::Read(read));
            self.flow.taints.one(action)
        } else {
            let memory = self.memory.get(&cell).copied().unwrap_or_default();
            self.flow.taints.union(memory, index)
        };
        self.threads.entry(path).or_default().read = value;
        self.flow.loaded(path, value);
        self.flow.step_over(path);
    }

    fn write(&mut self, thread: ThreadName, at: CodeIndex, definition: DefinitionId, (cell, shared): (Cell, bool)) {
        let path = thread.path;
        let read = self.threads.entry(path).or_default().read;
        let sources = self.flow.stored(path, read);
        if self.is_operation(cell, shared) {
            let action = self.act(thread, at, ActionKind::Write { definition, cell });
            let version = self.versions.entry(cell).or_default();
            *version += 1;
            let of = &mut self.actions[action];
            (of.version, of.sources) = (*version, sources);
            self.own_writes.insert((path, cell), action);
            self.occur(thread, at, action, Access::Write(definition));
        } else {
            self.memory.insert(cell, sources);
        }
        self.flow.step_over(path);
    }

    fn occur(&mut self, thread: ThreadName, at: CodeIndex, action: ActionId, access: Access) {
        let declared = self.program.symbols[access.symbol(self.program)].atomic;
        let at_point = |clocks: &Clocks<'_>| (clocks.stamp(thread.path), clocks.clock(thread.path).clone());
        self.occurrences.push(Occurrence {
            action,
            locks: self.held.set(thread.path),
            atomic: declared || self.blocks > 0 || self.machine.is_atomic(at),
            forks: at_point(&self.forks),
            order: at_point(&self.order),
        });
    }

    fn make(&mut self, thread: ThreadName, child: ThreadName) {
        self.begun = true;
        let state = self.threads.entry(thread.path).or_default();
        let number = state.made;
        state.made += 1;
        let controls = self.flow.controls(thread.path);
        if let Some((function, arguments)) = self.flow.made(thread.path, number) {
            self.flow.begin(child.path, function, &arguments, controls);
        }
    }

    fn synchronise(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let path = thread.path;
        let kind = match event {
            Event::Lock { cell, by, .. } if by.takes_again() => {
                let timed_out = std::mem::take(&mut self.threads.entry(path).or_default().timed_out);
                ActionKind::Relock { lock: cell, timed_out }
            }
            Event::TimedOut { .. } => {
                self.threads.entry(path).or_default().timed_out = true;
                return;
            }
            Event::Lock { cell, by, .. } if by.mode() == Mode::Shared => ActionKind::ReadLock(cell),
            Event::Lock { cell, .. } => ActionKind::Lock(cell),
            Event::Unlock { cell, by, .. } if by.takes_again() => {
                self.threads.entry(path).or_default().freed = Some(cell);
                return;
            }
            Event::Unlock { cell, mode: Mode::Shared, .. } => ActionKind::ReadUnlock(cell),
            Event::Unlock { cell, .. } => ActionKind::Unlock(cell),
            Event::Set { cell, .. } => ActionKind::Set(cell),
            Event::Clear { cell, .. } => ActionKind::Clear(cell),
            Event::Waited { cell, .. } => ActionKind::WaitEvent(cell),
            Event::Arrive { cell, .. } => ActionKind::Arrive(cell),
            Event::Wait { cell, .. } => {
                let freed = self.threads.entry(path).or_default().freed.take();
                ActionKind::Wait { condition: cell.zip(freed) }
            }
            Event::Notify { cell, all, .. } => ActionKind::Notify { condition: cell, all },
            Event::Acquire { cell, .. } => ActionKind::Acquire(cell),
            Event::Release { cell, .. } => ActionKind::Release(cell),
            Event::Fork { child } => ActionKind::Fork(child.path),
            Event::Spawn { child } => ActionKind::Spawn(child.path),
            Event::Join => ActionKind::Join,
            Event::JoinThread { child } => ActionKind::JoinThread(child.path),
            _ => return,
        };
        self.act(thread, at, kind);
        match event {
            Event::Wait { .. } => self.add_wait(path),
            Event::Fork { child } | Event::Spawn { child } => self.make(thread, child),
            _ => {}
        }
    }
}

impl Observer for Recorder<'_> {
    fn begin_main(&mut self, main: ThreadName) {
        self.held.begin_main(main);
        if let Some(function) = self.program.main {
            self.flow.begin(main.path, function, &[], super::flow::Controls::new());
        }
    }

    fn begin_step(&mut self, thread: ThreadName) {
        let state = self.threads.entry(thread.path).or_default();
        state.steps += 1;
        state.made = 0;
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        if matches!(
            event,
            Event::Allocate { .. }
                | Event::Free { .. }
                | Event::Print { .. }
                | Event::Choose { .. }
                | Event::Verdict { .. }
        ) {
            return;
        }
        self.held.event(thread, at, event);
        self.forks.event(thread, at, event);
        self.order.event(thread, at, event);
        self.flow.advance(thread.path, self.machine.origin(at));
        match event {
            Event::Read { read, cell, shared, .. } => self.read(thread, at, read, (cell, shared)),
            Event::Write { definition, cell, shared, .. } => self.write(thread, at, definition, (cell, shared)),
            Event::AtomicBegin => self.blocks += 1,
            Event::AtomicEnd => self.blocks = self.blocks.saturating_sub(1),
            Event::Woken { .. } => {
                let wait = self.threads.entry(thread.path).or_default().wait;
                if let Some(wait) = wait {
                    self.waits[wait].woken = true;
                }
            }
            Event::End { .. } => self.flow.end(thread.path),
            _ => self.synchronise(thread, at, event),
        }
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        self.flow.advance(thread.path, self.machine.origin(at));
        let (sources, controls) = (self.flow.condition(thread.path), self.flow.controls(thread.path));
        let instance = self.count(thread.path, Counted::Branch(self.machine.span(at)));
        let before = self.actions.len() as u32;
        let thread = thread.path;
        let evaluation = self.evaluations.push(Evaluation { thread, at, instance, before, holds, sources, controls });
        self.flow.branched(thread, holds, evaluation);
    }

    fn enter(&mut self, thread: ThreadName, function: cssame_ir::FunctionId) {
        self.forks.enter(thread, function);
        self.order.enter(thread, function);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.forks.leave(thread);
        self.order.leave(thread);
    }
}
