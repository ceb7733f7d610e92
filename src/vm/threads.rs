//! Threads: fork, spawn, join, end.
//!
//! **Input**: a thread that stands before such an operation. **Output**: the new threads, each of which has run ahead to its
//! first stop.
//!
//! The slot of a forked thread is free after its end; a spawned thread keeps its slot, because its handle may be joined again. A
//! forked thread that has printed leaves its output in the state; other threads leave nothing.

use super::code::{Code, NO_SLOT, Start};
use super::observe::{Event, ThreadName};
use super::outcome::FailureKind;
use super::state::{Closed, NO_THREAD, Thread, ThreadIndex, ThreadStatus};
use super::step::{Performed, Run};
use super::tables::{OutputId, Path, PathId};
use smallvec::SmallVec;

impl<const WATCHED: bool> Run<'_, WATCHED> {
    /// Performs a fork, a spawn or a join that is possible now.
    pub(super) fn perform_thread_operation(&mut self, code: Code) -> Performed {
        let machine = self.machine;
        match code {
            Code::Fork { fork } => {
                for start in &machine.compiled.forks[fork as usize] {
                    if self.start_thread(start, false).is_none() {
                        return Performed::Over(self.fail(FailureKind::TooManyThreads, None));
                    }
                }
            }
            Code::Spawn { dest, fork } => {
                for start in &machine.compiled.forks[fork as usize] {
                    let Some(child) = self.start_thread(start, true) else {
                        return Performed::Over(self.fail(FailureKind::TooManyThreads, None));
                    };
                    if dest != NO_SLOT {
                        self.set_register(dest, i64::from(child.0) + 1);
                    }
                }
            }
            Code::Join => self.event(Event::Join),
            Code::JoinThread { handle, dest } => {
                let joined = self.machine.joined(self.state, self.thread, handle);
                let Some(joined) = joined.filter(|joined| joined.index() < self.state.threads.len()) else {
                    return Performed::Over(self.fail(FailureKind::EmptyHandle, None));
                };
                let child = self.name_of(joined);
                self.event(Event::JoinThread { child });
                if dest != NO_SLOT {
                    let result = self.state.threads[joined.index()].result;
                    self.set_register(dest, result);
                }
            }
            _ => {}
        }
        self.this().pc += 1;
        Performed::On
    }

    /// Makes a thread and lets it run ahead; `None` where there are too many. Its handle stays valid if it is spawned.
    fn start_thread(&mut self, start: &Start, spawned: bool) -> Option<ThreadIndex> {
        let machine = self.machine;
        let arguments: SmallVec<[i64; 8]> = start.arguments.iter().map(|&argument| self.value(argument)).collect();
        let ordinal = start.ordinal.map(|ordinal| self.value(ordinal));
        let round = ordinal.and_then(|ordinal| start.rounds.get(usize::try_from(ordinal).ok()?));
        let function = &machine.compiled.functions[round.copied().unwrap_or(start.function)];
        let (path, shape) = self.name_thread(start, ordinal);
        let child = self.free_slot()?;
        let parent = *self.this();
        let Thread { base, capacity, .. } = self.state.threads[child.index()];
        let mut thread = Thread::free(base, capacity);
        thread.status = ThreadStatus::Ready;
        thread.spawned = spawned;
        thread.pc = function.entry;
        thread.frame_size = function.frame_size;
        thread.path = path;
        thread.shape = shape;
        thread.fresh = 1;
        if !spawned {
            thread.parent = self.thread.0;
            thread.parent_frame = parent.frame;
        }
        self.state.threads[child.index()] = thread;
        self.state.unfinished += 1;
        self.state.reserve_segment(child, function.frame_size);
        let frame = &mut self.state.stack[base as usize..(base + function.frame_size) as usize];
        frame.fill(0);
        frame[0] = i64::from(u32::MAX);
        for (&slot, argument) in function.parameters.iter().zip(arguments) {
            frame[slot as usize] = argument;
        }
        let name = ThreadName { path, slot: child };
        if spawned {
            self.event(Event::Spawn { child: name });
        } else {
            self.add_children(self.thread, parent.frame, 1);
            self.event(Event::Fork { child: name });
        }
        self.run_ahead(child);
        Some(child)
    }

    /// Adds to the number of unfinished threads that a frame has forked.
    fn add_children(&mut self, thread: ThreadIndex, frame: u32, count: i64) {
        self.state.touch(thread);
        let base = self.state.threads[thread.index()].base;
        self.state.stack[(base + frame) as usize] += count << 32;
    }

    fn name_thread(&mut self, start: &Start, ordinal: Option<i64>) -> (PathId, PathId) {
        let parent = self.this().path;
        let instance = self.state.count_instance(parent, start.label.0, ordinal.unwrap_or(-1));
        let path = Path { parent: Some(parent), label: start.label, ordinal, instance, rank: start.rank };
        let id = self.tables.intern_path(path);
        (id, self.tables.shape(id))
    }

    fn free_slot(&mut self) -> Option<ThreadIndex> {
        let threads = &mut self.state.threads;
        // Where a thread is known by its number, no slot is used again.
        let is_kept = self.machine.watched.is_some();
        let known = if is_kept { threads.len() } else { usize::from(self.state.taken).min(threads.len()) };
        let free = threads[known..].iter().position(|thread| thread.status == ThreadStatus::Free);
        let index = free.map_or(threads.len(), |place| known + place);
        if index == threads.len() {
            if index >= usize::from(self.machine.options.threads) {
                return None;
            }
            threads.push(Thread::free(self.state.stack.len() as u32, 0));
        }
        // Whoever asks makes a thread in it.
        self.state.taken = index as u16 + 1;
        Some(ThreadIndex(index as u16))
    }

    /// Ends all threads where main has ended.
    fn end_others(&mut self) {
        for thread in &mut self.state.threads {
            if thread.status != ThreadStatus::Free {
                thread.status = ThreadStatus::Ended;
                thread.frame_size = 0;
            }
        }
        self.state.unfinished = 0;
        self.state.touch_all();
    }

    /// Ends the running thread. If it was forked, its slot is free then.
    pub(super) fn end_thread(&mut self, result: i64) {
        let Thread { parent, parent_frame, path, shape, output, spawned, base, capacity, .. } = *self.this();
        let waiting = (parent != NO_THREAD).then_some(ThreadIndex(parent));
        let parent_name = waiting.map(|parent| self.name_of(parent));
        self.event(Event::End { parent: parent_name });
        self.state.unfinished -= 1;
        // Nobody makes threads or locals below this name any more.
        let instances = &mut self.state.instances;
        let first = instances.partition_point(|entry| entry.parent < path);
        let count = instances[first..].iter().take_while(|entry| entry.parent == path).count();
        instances.drain(first..first + count);
        if let Some(parent) = waiting {
            self.add_children(parent, parent_frame, -1);
        }
        if spawned {
            let has_results = self.machine.compiled.has_results;
            let this = self.this();
            this.status = ThreadStatus::Ended;
            this.result = if has_results { result } else { 0 };
            this.frame_size = 0;
            if self.machine.ends_at_once && self.thread == ThreadIndex(0) {
                self.end_others();
            }
            return;
        }
        if output != OutputId::EMPTY {
            let index = self.state.closed.partition_point(|closed| (closed.shape, closed.path) < (shape, path));
            self.state.closed.insert(index, Closed { shape, path, output });
        }
        self.machine.layout.orphan_locks(self.state, self.thread);
        *self.this() = Thread::free(base, capacity);
        self.state.taken = self.state.taken.min(self.thread.0);
        while self.machine.watched.is_none()
            && let Some(last) = self.state.threads.last()
            && last.status == ThreadStatus::Free
        {
            self.state.stack.truncate(last.base as usize);
            self.state.threads.pop();
        }
    }
}
