//! The plan of a test: the actions of each thread in a recorded execution, and the dependences of each event.
//!
//! **Input**: a schedule, which is repeated on the machine.
//!
//! **Output**: a [`Plan`]: for each thread its events in order, each with the events of other threads that it has to wait for.
//!
//! **Algorithm**.
//!
//! 1. The schedule is followed to its end; then the threads continue in turn. All events are recorded.
//! 2. Every event gets a latch, numbered in the order of the execution.
//! 3. A read waits for the latch of its write. An operation on a synchronisation object waits for the previous operation on the
//!    same object. Leaving a barrier waits for the last arrival, a woken thread waits for the notification, and a join waits for
//!    the ends of its threads. Dependences within one thread are left out.
//! 4. A notification knows the threads that it wakes: their events follow it.
//! 5. If two steps must keep their order, the first access of the later one waits for the last access of the earlier one.
//!
//! **Soundness and limits**. A test that opens the latches in this order repeats this execution, up to reorderings that no read
//! can distinguish. So the order of a plan is not happens-before ([`schedule::Clocks`]). It contains reads-from, and it keeps all
//! operations on one object in their order, including those that another execution may reverse, such as two `P` of one semaphore.
//! Only neighbours in that order wait for each other: the latches in between make this sufficient.

use super::Input;
use super::datum::Datum;
use super::label::Located;
use super::memory::Memory;
use super::plan::{Act, End, Exchange, Operation, Plan, PlannedEvent, Source, ThreadPlan, WaitingThread};
use cssame_explore::report::blocked_reports;
use cssame_ir::sync::Kind;
use cssame_ir::{AtomicOperation, Instruction, Object as Pointed, Pointer};
use cssame_schedule as schedule;
use cssame_schedule::{Execution, ExecutionStatus, RoundRobin, Scripted, Then};
use cssame_vm::{Choice, CodeIndex, Event, Observer, PathId, ThreadName};
use rustc_hash::FxHashMap;

/// Events of a plan at most: each is a line of the package, and a call while its test runs.
pub const MAX_EVENTS: usize = 20_000;

/// Replays a schedule. Where it stops before the end, the threads go on in turn.
///
/// # Errors
///
/// What happens where the execution does not end within so many steps, is discarded, or has too many events.
pub fn plan(input: &Input<'_>, schedule: &[Choice], max_steps: u64) -> Result<Plan, &'static str> {
    plan_in_order(input, schedule, None, max_steps)
}

/// As [`plan`]; the accesses of two steps, the numbers of which come in order, keep it also where no read can tell.
pub(super) fn plan_in_order(
    input: &Input<'_>,
    schedule: &[Choice],
    order: Option<[usize; 2]>,
    max_steps: u64,
) -> Result<Plan, &'static str> {
    let mut recording = Recording { order, ..Recording::default() };
    let mut policy = Then::new(Scripted::new(schedule), RoundRobin::new());
    let execution = schedule::run(input.machine, &mut policy, max_steps, &mut recording);
    if recording.events.len() > MAX_EVENTS {
        return Err("does not end within 20,000 events");
    }
    match execution.status {
        ExecutionStatus::Ok | ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock => {}
        ExecutionStatus::Discarded => return Err("is discarded by an assumption"),
        _ => return Err("does not come to an end within the bound of steps"),
    }
    let mut planner = Planner::new(input, &execution);
    let mut earlier = None;
    for (number, (thread, at, event)) in recording.events.into_iter().enumerate() {
        if recording.last_of_first == Some(number) {
            earlier = Some(planner.next);
        }
        planner.event(thread, at, event, earlier.filter(|_| recording.first_of_second == Some(number)));
    }
    Ok(planner.finish())
}

/// The events of an execution, as many as a plan may have and one more.
#[derive(Default)]
struct Recording {
    events: Vec<(ThreadName, CodeIndex, Event)>,
    /// The numbers of two steps whose order matters.
    order: Option<[usize; 2]>,
    /// How many steps have begun, and the thread that does the last one of them.
    steps: usize,
    thread: Option<PathId>,
    /// The last access of the first one of the two steps, and the first access of the second one, as numbers of events.
    last_of_first: Option<usize>,
    first_of_second: Option<usize>,
}

impl Recording {
    /// Notes whether the event that comes now is an access of one of the two steps.
    fn note(&mut self, thread: ThreadName, event: Event) {
        let (Some([first, second]), Some(step)) = (self.order, self.steps.checked_sub(1)) else { return };
        let is_access = matches!(event, Event::Read { .. } | Event::Write { .. });
        if !is_access || self.thread != Some(thread.path) {
            return;
        }
        if step == first {
            self.last_of_first = Some(self.events.len());
        } else if step == second {
            self.first_of_second.get_or_insert(self.events.len());
        }
    }
}

impl Observer for Recording {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.note(thread, event);
        if self.events.len() <= MAX_EVENTS {
            self.events.push((thread, at, event));
        }
    }

    fn begin_step(&mut self, thread: ThreadName) {
        self.steps += 1;
        self.thread = Some(thread.path);
    }
}

/// What the operations on one object have to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Object {
    At(u32),
    Notification,
}

struct Planner<'a> {
    input: &'a Input<'a>,
    execution: &'a Execution,
    threads: Vec<ThreadPlan>,
    /// All threads but main.
    numbers: FxHashMap<PathId, usize>,
    next: usize,
    /// By latch: the number of its thread.
    owners: Vec<usize>,
    last: FxHashMap<Object, usize>,
    arrivals: FxHashMap<u32, usize>,
    notifications: FxHashMap<PathId, usize>,
    /// Ends of threads that a join will wait for.
    ended: FxHashMap<PathId, Vec<usize>>,
    ends: FxHashMap<PathId, usize>,
    memory: Memory,
    failure: Option<String>,
}

impl<'a> Planner<'a> {
    fn new(input: &'a Input<'a>, execution: &'a Execution) -> Planner<'a> {
        Planner {
            input,
            execution,
            threads: vec![ThreadPlan { name: "main".to_owned(), events: Vec::new() }],
            numbers: FxHashMap::default(),
            next: 0,
            owners: Vec::new(),
            last: FxHashMap::default(),
            arrivals: FxHashMap::default(),
            notifications: FxHashMap::default(),
            ended: FxHashMap::default(),
            ends: FxHashMap::default(),
            memory: Memory::default(),
            failure: None,
        }
    }

    /// `earlier` is a latch that it waits for besides.
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event, earlier: Option<usize>) {
        let thread = thread.path;
        let located = Located::of(self.input, self.input.machine.origin(at));
        let label = match event {
            Event::Write { .. } => located.write_label(self.input),
            Event::End { .. } => "end".to_owned(),
            _ => located.label(self.input),
        };
        let after = self.before(thread, event);
        let element = self.element(&located, event);
        let Some(act) = self.act(&located, event) else { return };
        let number = self.number_of(thread);
        let owners = &self.owners;
        let mut after: Vec<usize> = after.into_iter().chain(earlier).filter(|&latch| owners[latch] != number).collect();
        after.sort_unstable();
        after.dedup();
        let shared = matches!(event, Event::Read { shared: true, .. } | Event::Write { shared: true, .. });
        let spurious = matches!(event, Event::Woken { by: None });
        let (latch, exchange, verdict) = (self.next, exchange(&located, event), verdict(&located, event));
        let wakes = Vec::new();
        let planned =
            PlannedEvent { latch, act, at: label, element, shared, wakes, spurious, exchange, verdict, after };
        self.threads[number].events.push(planned);
        self.owners.push(number);
        self.note(thread, event);
        self.next += 1;
    }

    /// The latches that an event has to wait for.
    fn before(&mut self, thread: PathId, event: Event) -> Vec<usize> {
        let one = |latch: Option<&usize>| latch.copied().into_iter().collect();
        match event {
            Event::Leave { address, .. } => one(self.arrivals.get(&address)),
            Event::Woken { by: Some(by) } => one(self.notifications.get(&by.path)),
            Event::Join => self.ended.remove(&thread).unwrap_or_default(),
            Event::JoinThread { child } => one(self.ends.get(&child.path)),
            _ => object(event).map_or_else(Vec::new, |object| one(self.last.get(&object))),
        }
    }

    /// Notes what later events will have to wait for; the event has the latch `next`.
    fn note(&mut self, thread: PathId, event: Event) {
        let latch = self.next;
        if let Some(object) = object(event) {
            self.last.insert(object, latch);
        }
        match event {
            Event::Arrive { address, .. } => {
                self.arrivals.insert(address, latch);
            }
            Event::Notify { .. } => {
                self.notifications.insert(thread, latch);
            }
            Event::End { parent } => {
                self.ends.insert(thread, latch);
                if let Some(parent) = parent {
                    self.ended.entry(parent.path).or_default().push(latch);
                }
            }
            Event::Woken { by: Some(by) } => self.woken(thread, by.path),
            Event::Write { address, value, shared, .. } => self.memory.write(address, value, shared, latch),
            _ => {}
        }
    }

    /// Notes at its notification that a thread is woken.
    fn woken(&mut self, thread: PathId, by: PathId) {
        let woken = self.number_of(thread);
        let Some(&latch) = self.notifications.get(&by) else { return };
        let events = &mut self.threads[self.owners[latch]].events;
        if let Ok(place) = events.binary_search_by_key(&latch, |event| event.latch) {
            events[place].wakes.push(woken);
        }
    }

    /// The element that an access by index means.
    fn element(&self, located: &Located<'_>, event: Event) -> Option<u32> {
        let (Event::Read { address, .. } | Event::Write { address, .. }) = event else { return None };
        self.memory.element(self.input, &self.execution.state, address, located.place()?)
    }

    /// `None` for what is no event of a plan.
    fn act(&mut self, located: &Located<'_>, event: Event) -> Option<Act> {
        let texts = self.input.machine.texts();
        let value = |bits| Datum::of(self.input.program, texts, located.cell_type(self.input), bits);
        Some(match event {
            Event::Read { address, value: bits, shared, .. } => {
                let write = self.memory.read(address, bits, shared);
                Act::Read(write.map_or_else(|| Source::Initial(value(bits)), Source::Latch), value(bits))
            }
            // Of these tells the event behind them.
            Event::Write { definition, .. } if self.input.program.definitions[definition].is_free() => return None,
            Event::Write { value: bits, .. } => Act::Write(value(bits)),
            Event::Fork { child } => Act::Fork(self.make(child.path)),
            Event::Spawn { child } => Act::Spawn(self.make(child.path), i64::from(child.slot.0) + 1),
            Event::Choose { value } => Act::Choose(value),
            Event::Print { output } => {
                Act::Print(self.execution.tables.last_line(output).unwrap_or_default().to_owned())
            }
            Event::Failure(failure) => {
                let message = located.failure(self.input, failure.kind, failure.message);
                self.failure = Some(message.clone());
                Act::Fail(message)
            }
            Event::Allocate { object, address, size } => {
                self.memory.allocate(self.input, object.variable, address, size);
                if !located.gets_pointer(self.input) {
                    return None;
                }
                Act::Allocate(Pointer::to(Pointed::Local(address), 0).bits())
            }
            Event::AtomicBegin | Event::AtomicEnd => return None,
            _ => Act::Plain(operation(event)?),
        })
    }

    fn make(&mut self, path: PathId) -> usize {
        let number = self.threads.len();
        let name = self.input.machine.path_name(&self.execution.tables, path);
        self.threads.push(ThreadPlan { name, events: Vec::new() });
        self.numbers.insert(path, number);
        number
    }

    fn finish(mut self) -> Plan {
        let (machine, tables) = (self.input.machine, &self.execution.tables);
        let output = self.execution.outputs(machine).into_iter().map(|(path, output)| {
            (self.number_of(path), tables.lines(output).into_iter().map(str::to_owned).collect())
        });
        let output = output.collect();
        let end = match (self.failure.take(), &self.execution.status) {
            (Some(message), _) => End::Fails(message),
            (None, ExecutionStatus::Deadlock) => End::Deadlock(self.blocked()),
            (None, _) => End::Ok,
        };
        let shared = self.memory.last_values(self.input, &self.execution.state);
        let (status, steps) = (self.execution.status.word(), self.execution.steps.clone());
        Plan { output, shared, end, status, steps, threads: self.threads }
    }

    fn number_of(&self, path: PathId) -> usize {
        self.numbers.get(&path).copied().unwrap_or(0)
    }

    /// The threads that wait for ever, in the order of threads.
    fn blocked(&self) -> Vec<WaitingThread> {
        let Execution { state, tables, steps, .. } = self.execution;
        let machine = self.input.machine;
        let mut waiting: Vec<_> = state.threads().filter(|&thread| machine.obstacle(state, thread).is_some()).collect();
        waiting.sort_by(|&left, &right| tables.compare_paths(state.path(left), state.path(right)));
        // The reports are of the same threads, in the same order.
        let reports = blocked_reports(&self.input.naming(), steps);
        let blocked = waiting.into_iter().zip(reports).map(|(thread, report)| WaitingThread {
            thread: self.number_of(state.path(thread)),
            at: Located::of(self.input, machine.origin(state.position(thread))).label(self.input),
            waits: report.waits_since(),
        });
        blocked.collect()
    }
}

/// What comes out of the atomic expression that an access is a part of.
fn exchange(located: &Located<'_>, event: Event) -> Option<Exchange> {
    match (event, located.instruction?) {
        (Event::Read { .. } | Event::Write { .. }, Instruction::Atomic { op, .. }) => Some(match op {
            AtomicOperation::CompareAndSwap { .. } => Exchange::Compare,
            AtomicOperation::Swap(_)
            | AtomicOperation::FetchAdd(..)
            | AtomicOperation::CompareExchange { .. }
            | AtomicOperation::FetchModify(..) => Exchange::Old,
        }),
        _ => None,
    }
}

/// The verdict of an operation that has one, at the event that decides it.
fn verdict(located: &Located<'_>, event: Event) -> Option<bool> {
    let Instruction::Synchronise(operation) = located.instruction? else { return None };
    match event {
        Event::Lock { .. } | Event::Nested { .. } if operation.kind.tries() => Some(true),
        Event::NotTaken { .. } => Some(false),
        Event::Woken { .. } if operation.kind == Kind::TimedWait => Some(true),
        Event::TimedOut { .. } => Some(false),
        _ => None,
    }
}

/// The object whose operations stay in their order.
fn object(event: Event) -> Option<Object> {
    event.synchronisation().map(|(_, address)| address.map_or(Object::Notification, Object::At))
}

/// `None` for an event that is no operation.
fn operation(event: Event) -> Option<Operation> {
    Some(match event {
        Event::Lock { .. } => Operation::Lock,
        Event::Unlock { .. } => Operation::Unlock,
        Event::Nested { .. } => Operation::Nested,
        Event::NotTaken { .. } => Operation::NotTaken,
        Event::TimedOut { .. } => Operation::TimedOut,
        Event::Set { .. } => Operation::Set,
        Event::Clear { .. } => Operation::Clear,
        Event::Waited { .. } => Operation::WaitEvent,
        Event::Arrive { .. } => Operation::Arrive,
        Event::Leave { .. } => Operation::Leave,
        Event::Wait { .. } => Operation::Wait,
        Event::Woken { .. } => Operation::Woken,
        Event::Notify { .. } => Operation::Notify,
        Event::Acquire { .. } => Operation::Acquire,
        Event::Release { .. } => Operation::Release,
        Event::Free { .. } => Operation::Free,
        Event::Join | Event::JoinThread { .. } => Operation::Join,
        Event::End { .. } => Operation::End,
        _ => return None,
    })
}
