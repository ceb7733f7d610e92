//! Steps: which threads can move, in how many ways, and what a visible operation does.

use super::code::{Label, NONE, Op, Sync};
use super::local::{Event, Machine, Note};
use super::state::{Condition, State, Thread, Writer};
use super::value::{Status, Value};

/// More threads than this in one parfor, or in one execution, count as endless.
const MAX_THREADS: usize = 500;

/// One way to go on: a thread, and which of its possibilities (a value of `choose`, the thread to wake).
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub thread: usize,
    pub choice: i64,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Going,
    Ended(Status),
    Discarded,
}

impl Machine<'_> {
    /// All moves that are possible, appended to `moves`.
    pub fn moves(&self, state: &State, moves: &mut Vec<Move>) {
        match state.exclusive {
            Some(thread) => self.moves_of(state, thread, moves),
            None => (0..state.threads.len()).for_each(|thread| self.moves_of(state, thread, moves)),
        }
    }

    fn moves_of(&self, state: &State, thread: usize, moves: &mut Vec<Move>) {
        let this = &state.threads[thread];
        let only = Move { thread, choice: 0 };
        let possible = match this.condition {
            Condition::Failing(_) | Condition::Discarding => true,
            Condition::Reacquiring | Condition::TimedOut => state.may_take(this.peek(0).address(), thread, Sync::Lock),
            Condition::AtWrite(lock) => state.may_take(lock, thread, Sync::WriteLock),
            // Whoever waits for some time may give up.
            Condition::AtCond(_) => matches!(self.code.ops[this.pc as usize], Op::Sync(Sync::TimedWait)),
            Condition::Ready => match self.code.ops[this.pc as usize] {
                Op::JoinArms => this.arms == 0,
                Op::Choose => {
                    let (low, high) = (this.peek(1).long(), this.peek(0).long());
                    moves.extend((low..=high).map(|choice| Move { thread, choice }));
                    // An empty range leaves one move, which discards the execution.
                    low > high
                }
                Op::Sync(sync) => return self.sync_moves(state, thread, sync, moves),
                _ => true,
            },
            _ => false,
        };
        if possible {
            moves.push(only);
        }
    }

    fn sync_moves(&self, state: &State, thread: usize, sync: Sync, moves: &mut Vec<Move>) {
        let this = &state.threads[thread];
        let value = |depth| state.cells[this.peek(depth).address() as usize].value;
        let waiting = match sync {
            Sync::Notify => Some(Condition::AtCond(this.peek(0).address())),
            Sync::BareNotify => Some(Condition::BareWaiting),
            _ => None,
        };
        if let Some(waiting) = waiting {
            let before = moves.len();
            let waiters = (0..state.threads.len()).filter(|&other| state.threads[other].condition == waiting);
            moves.extend(waiters.map(|other| Move { thread, choice: other as i64 }));
            if moves.len() == before {
                moves.push(Move { thread, choice: -1 });
            }
            return;
        }
        let possible = match sync {
            // Who cannot write yet can begin to wait.
            Sync::WriteLock if self.prefer_writers => true,
            Sync::Lock | Sync::ReadLock | Sync::WriteLock => self.lets_in(state, this.peek(0).address(), thread, sync),
            Sync::WaitEvent => value(0).truth(),
            Sync::P => value(0).long() > 0,
            Sync::Join => state.threads[this.peek(0).long() as usize].condition == Condition::Ended,
            _ => true,
        };
        if possible {
            moves.push(Move { thread, choice: 0 });
        }
    }

    /// Whether a thread gets a lock: its holders let it, and so do those that wait to write.
    fn lets_in(&self, state: &State, lock: u32, thread: usize, sync: Sync) -> bool {
        let reads = matches!(sync, Sync::ReadLock | Sync::TryReadLock);
        let is_behind = self.prefer_writers && reads && state.has_waiting_writer(lock);
        !is_behind && state.may_take(lock, thread, sync)
    }

    /// Does one step, and the local work behind it that belongs to the next one.
    pub fn step(&mut self, state: &mut State, Move { thread: t, choice }: Move) -> Progress {
        state.steps += 1;
        let thread = &mut state.threads[t];
        thread.printed = thread.ahead;
        if let Some(tracer) = &mut self.tracer {
            tracer.begin_step(t);
        }
        match thread.condition {
            Condition::Failing(status) => return Progress::Ended(status),
            Condition::Discarding => return Progress::Discarded,
            _ if state.steps > self.max_steps => return Progress::Ended(Status::StepLimit),
            // It takes the lock now.
            Condition::AtWrite(_) => thread.condition = Condition::Ready,
            Condition::AtCond(_) => {
                thread.condition = Condition::TimedOut;
                return Progress::Going;
            }
            Condition::Reacquiring | Condition::TimedOut => {
                let is_notified = thread.condition == Condition::Reacquiring;
                let lock = thread.pop().address();
                thread.pop();
                thread.condition = Condition::Ready;
                let levels = thread.levels;
                let is_timed = matches!(self.code.ops[thread.pc as usize], Op::Sync(Sync::TimedWait));
                (0..levels).for_each(|_| state.take(lock, t, Sync::Lock));
                if let Some(tracer) = &mut self.tracer {
                    tracer.lock(t, lock, true);
                }
                if is_timed {
                    self.decide(state, t, is_notified);
                }
                return self.go_on(state, t);
            }
            _ => {}
        }
        let op = self.code.ops[thread.pc as usize];
        match op {
            Op::Load { .. } | Op::Store { .. } | Op::StoreInitial { .. } | Op::Atomic { .. } => {
                self.access(state, t, op);
            }
            Op::Choose => {
                let (high, low) = (thread.pop().long(), thread.pop().long());
                if low > high {
                    return Progress::Discarded;
                }
                thread.push(Value::Long(choice));
                let writer = Writer { name: NONE, thread: NONE, ordinal: choice as u32, located: NONE };
                let (path, ordinal) = (thread.path, thread.choices);
                thread.choices += 1;
                self.trail.push(Event { visible: true, thread: path, ordinal, name: NONE, writer, located: NONE });
                if let Some(tracer) = &mut self.tracer {
                    tracer.chosen(t, choice);
                }
            }
            Op::AtomicBegin => {
                thread.atomic = 1;
                state.exclusive = Some(t);
            }
            Op::Fork(fork) => self.fork(state, t, fork),
            Op::ForkLoop(fork) => {
                let few_enough = self.fork_loop(state, t, fork);
                if !few_enough {
                    return Progress::Ended(Status::StepLimit);
                }
            }
            Op::Spawn { function, arguments, label, handle } => {
                if state.threads.len() > MAX_THREADS {
                    return Progress::Ended(Status::StepLimit);
                }
                self.spawn(state, t, (function, arguments as usize), label, handle);
            }
            Op::End => {
                self.end(state, t);
                return Progress::Going;
            }
            Op::Sync(sync) => return self.sync(state, t, sync, choice),
            _ => {}
        }
        self.go_on(state, t)
    }

    fn go_on(&mut self, state: &mut State, t: usize) -> Progress {
        if let Some(tracer) = &mut self.tracer {
            tracer.executed(self.code, state, t, self.code.ops[state.threads[t].pc as usize]);
        }
        state.threads[t].pc += 1;
        self.advance(state, t);
        Progress::Going
    }

    pub fn end(&mut self, state: &mut State, t: usize) {
        let thread = &mut state.threads[t];
        thread.condition = Condition::Ended;
        thread.printed = thread.ahead;
        let (waiter, clock) = (thread.waiter, thread.clock.clone());
        if waiter != NONE {
            if let Some(tracer) = &mut self.tracer {
                tracer.order(t, waiter as usize);
            }
            let waiter = &mut state.threads[waiter as usize];
            waiter.arms -= 1;
            waiter.join(&clock);
        }
    }

    fn sync(&mut self, state: &mut State, t: usize, sync: Sync, choice: i64) -> Progress {
        match sync {
            Sync::BareWait => return self.block(state, t, Condition::BareWaiting),
            Sync::BareNotify | Sync::BareNotifyAll => {
                let chosen = if sync == Sync::BareNotifyAll { None } else { Some(choice) };
                self.wake(state, t, chosen, Condition::BareWaiting, Condition::Ready);
                return self.go_on(state, t);
            }
            Sync::CondWait | Sync::TimedWait => {
                let (lock, condition) = (state.threads[t].peek(0).address(), state.threads[t].peek(1).address());
                let levels = state.give_back(lock, t, true);
                if levels == 0 {
                    return Progress::Ended(Status::UnlockNotHeld);
                }
                state.threads[t].levels = levels;
                if let Some(tracer) = &mut self.tracer {
                    tracer.lock(t, lock, false);
                }
                state.threads[t].condition = Condition::AtCond(condition);
                return Progress::Going;
            }
            Sync::WriteLock if self.prefer_writers => {
                let lock = state.threads[t].peek(0).address();
                if !state.may_take(lock, t, sync) {
                    state.threads[t].condition = Condition::AtWrite(lock);
                    return Progress::Going;
                }
            }
            Sync::Join => {
                let joined = state.threads[t].pop().long() as usize;
                if let Some(tracer) = &mut self.tracer {
                    tracer.order(joined, t);
                }
                let clock = state.threads[joined].clock.clone();
                state.threads[t].join(&clock);
                return self.go_on(state, t);
            }
            _ => {}
        }
        let address = state.threads[t].pop().address();
        if sync == Sync::Unlock && state.give_back(address, t, false) == 0 {
            return Progress::Ended(Status::UnlockNotHeld);
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.synchronised(t, sync, address);
        }
        match sync {
            Sync::Unlock => {}
            Sync::Lock | Sync::ReadLock | Sync::WriteLock => state.take(address, t, sync),
            Sync::TryLock | Sync::TryReadLock | Sync::TryWriteLock => {
                let verdict = self.lets_in(state, address, t, sync);
                if verdict {
                    state.take(address, t, sync);
                }
                self.decide(state, t, verdict);
            }
            Sync::Set => *state.cell(address) = Value::Bool(true),
            Sync::Clear => *state.cell(address) = Value::Bool(false),
            Sync::P => *state.cell(address) = Value::Long(state.cell(address).long() - 1),
            Sync::V => *state.cell(address) = Value::Long(state.cell(address).long() + 1),
            Sync::Barrier => return self.barrier(state, t, address),
            Sync::Notify | Sync::NotifyAll => {
                let chosen = if sync == Sync::NotifyAll { None } else { Some(choice) };
                self.wake(state, t, chosen, Condition::AtCond(address), Condition::Reacquiring);
            }
            _ => {}
        }
        self.go_on(state, t)
    }

    /// A verdict is known by its place among the choices of its thread.
    fn decide(&mut self, state: &mut State, t: usize, verdict: bool) {
        let thread = &mut state.threads[t];
        thread.push(Value::Bool(verdict));
        let writer = Writer { name: NONE, thread: NONE, ordinal: u32::from(verdict), located: NONE };
        let (path, ordinal) = (thread.path, thread.choices);
        thread.choices += 1;
        self.trail.push(Event { visible: true, thread: path, ordinal, name: NONE, writer, located: NONE });
        if let Some(tracer) = &mut self.tracer {
            tracer.chosen(t, i64::from(verdict));
        }
    }

    /// The thread waits behind its instruction.
    fn block(&mut self, state: &mut State, t: usize, condition: Condition) -> Progress {
        if let Some(tracer) = &mut self.tracer {
            tracer.executed(self.code, state, t, self.code.ops[state.threads[t].pc as usize]);
        }
        state.threads[t].pc += 1;
        state.threads[t].condition = condition;
        Progress::Going
    }

    /// Thread `t` lets one thread, or all, out of `from`.
    fn wake(&mut self, state: &mut State, t: usize, chosen: Option<i64>, from: Condition, to: Condition) {
        for other in 0..state.threads.len() {
            if state.threads[other].condition == from && chosen.is_none_or(|chosen| chosen == other as i64) {
                state.threads[other].condition = to;
                if let Some(tracer) = &mut self.tracer {
                    match from {
                        Condition::AtBarrier(barrier) => tracer.depart(other, barrier),
                        _ => tracer.order(t, other),
                    }
                }
                if to == Condition::Ready {
                    self.advance(state, other);
                }
            }
        }
    }

    fn barrier(&mut self, state: &mut State, t: usize, address: u32) -> Progress {
        let arrived = state.cell(address).long() + 1;
        if let Some(tracer) = &mut self.tracer {
            tracer.arrive(t, address);
        }
        if arrived < state.cell(address + 1).long() {
            *state.cell(address) = Value::Long(arrived);
            return self.block(state, t, Condition::AtBarrier(address));
        }
        *state.cell(address) = Value::Long(0);
        self.wake(state, t, None, Condition::AtBarrier(address), Condition::Ready);
        if let Some(tracer) = &mut self.tracer {
            tracer.depart(t, address);
            tracer.end_round(address);
        }
        self.go_on(state, t)
    }

    /// The path of a new thread, made unique: the path and the path without `#2`.
    fn path(&mut self, state: &State, parent: usize, label: &str, site: u32, index: u32) -> (u32, u32) {
        let parent_path = state.threads[parent].path;
        let text = if parent == 0 { label.to_owned() } else { format!("{}/{label}", self.paths.text(parent_path)) };
        let base = self.paths.intern(&text);
        let repeated = state.threads.iter().filter(|thread| thread.base_path == base).count();
        let path = if repeated == 0 { base } else { self.paths.intern(&format!("{text}#{}", repeated + 1)) };
        if !self.path_keys.contains_key(&path) {
            let mut key = self.path_keys.get(&parent_path).cloned().unwrap_or_default();
            key.push((site, index, repeated as u32));
            self.path_keys.insert(path, key);
        }
        (path, base)
    }

    fn fork(&mut self, state: &mut State, t: usize, fork: u32) {
        self.make_barriers(state, t, fork);
        let code = self.code;
        let fork = &code.forks[fork as usize];
        for arm in &fork.arms {
            let (path, base_path) = self.path(state, t, code.names.text(arm.label), arm.site, 0);
            self.add_arm(state, t, fork.function, (path, base_path), arm.entry);
        }
        self.start_arms(state, t, fork.arms.len());
    }

    /// Says whether there were not too many threads.
    fn fork_loop(&mut self, state: &mut State, t: usize, fork: u32) -> bool {
        let count = state.threads[t].pop().long() as usize;
        if state.threads.len() + count > MAX_THREADS {
            return false;
        }
        let from = state.threads[t].stack.len() - count;
        let values = state.threads[t].stack.split_off(from);
        self.make_barriers(state, t, fork);
        let code = self.code;
        let fork = &code.forks[fork as usize];
        for (index, value) in values.into_iter().enumerate() {
            for arm in &fork.arms {
                let label = format!("{}[{index}]", code.names.text(arm.label));
                let (path, base_path) = self.path(state, t, &label, arm.site, index as u32);
                let child = self.add_arm(state, t, fork.function, (path, base_path), arm.entry);
                *state.threads[child].slot(fork.loop_slot) = value;
                if let Some(tracer) = &mut self.tracer {
                    tracer.give_slot(t, child, fork.loop_slot, count - index);
                }
            }
        }
        self.start_arms(state, t, count);
        true
    }

    fn make_barriers(&mut self, state: &mut State, t: usize, fork: u32) {
        for &(slot, count) in &self.code.forks[fork as usize].anonymous {
            let address = state.allocate(self.code, Value::Long(0), NONE, Some(t));
            state.allocate(self.code, Value::Long(count), NONE, Some(t));
            *state.threads[t].slot(slot) = Value::Ref(address);
        }
    }

    /// A child that begins with a copy of the slots of its parent: what it shares with it lives in cells.
    fn add_arm(&mut self, state: &mut State, t: usize, function: u32, path: (u32, u32), entry: u32) -> usize {
        let child = state.threads.len();
        let parent = &state.threads[t];
        let slots = self.code.functions[function as usize].slots;
        let stack = parent.stack[parent.base as usize..(parent.base + slots) as usize].to_vec();
        let mut thread = Thread::new(path.0, path.1, entry, stack, parent.child_clock(child));
        thread.waiter = t as u32;
        thread.way = self.ways.as_mut().map_or(NONE, |ways| ways.fork(parent.way));
        state.threads.push(thread);
        if let Some(tracer) = &mut self.tracer {
            tracer.forked(state, t, slots as usize);
        }
        child
    }

    fn start_arms(&mut self, state: &mut State, t: usize, count: usize) {
        state.threads[t].arms = count as u32;
        state.threads[t].next_epoch(t);
        if let Some(tracer) = &mut self.tracer {
            tracer.released(t);
        }
        for child in state.threads.len() - count..state.threads.len() {
            self.advance(state, child);
        }
    }

    fn spawn(&mut self, state: &mut State, t: usize, called: (u32, usize), label: u32, handle: bool) {
        let (function, arguments) = called;
        let code = self.code;
        let pc = state.threads[t].pc;
        let (site, at) = (code.places[pc as usize], code.spawns[&pc]);
        let (label, index) = label_of(&mut state.threads[t], &code.labels[label as usize]);
        let (path, base_path) = self.path(state, t, &label, site, index);
        let child = state.threads.len();
        let parent = &mut state.threads[t];
        // Instruction 0 is where the function returns to: behind it the thread ends.
        let mut stack = vec![Value::Long(0), Value::Long(0)];
        let from = parent.stack.len() - arguments;
        stack.extend(parent.stack.drain(from..));
        let entry = code.functions[function as usize].entry;
        let mut thread = Thread::new(path, base_path, entry, stack, parent.child_clock(child));
        thread.base = 2;
        thread.way = self.ways.as_mut().map_or(NONE, |ways| ways.spawn(parent.way, function, at));
        parent.next_epoch(t);
        state.threads.push(thread);
        if let Some(journal) = &mut self.journal {
            journal.push(Note::Called { thread: child, function });
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.spawned(state, t, arguments);
            tracer.released(t);
        }
        if handle {
            state.threads[t].push(Value::Int(child as i32));
        }
        self.advance(state, child);
    }
}

/// How a spawned thread is called, and the number of the element that has its handle.
fn label_of(thread: &mut Thread, label: &Label) -> (String, u32) {
    let (mut text, mut element) = (label.texts[0].clone(), 0_i64);
    for (&(slot, len), behind) in label.indices.iter().zip(&label.texts[1..]) {
        let index = thread.slot(slot).long();
        element = element.wrapping_mul(i64::from(len)).wrapping_add(index);
        text += &format!("{index}{behind}");
    }
    (text, element as u32)
}
