//! The monitor of a search for an order: the progress of an execution in the order.
//!
//! **Input**: the events of an execution. **Output**: whether it has reached the target in the order, or cannot reach it any
//! more.
//!
//! **Algorithm**: the accesses of the members are counted for each thread, up to the last relevant instance. When a member
//! happens, it must be the next one of the order. The target must be reached after the last one. Otherwise the execution is dead.
//! An execution is also dead if a thread has ended, or if its control flow cannot reach its remaining part. After the target
//! nothing is remembered.

use super::{OrderRequest, OrderStep, Others, Target};
use crate::ahead::{Ahead, Item};
use cssame_explore::frame::Monitor;
use cssame_ir::sync::Blocking;
use cssame_ir::{Access, Instruction, Program};
use cssame_vm::{CodeIndex, Event, Machine, Observer, PathId, State, ThreadName, ThreadStatus};

/// An access of the members, by a thread.
#[derive(Clone, Copy, Debug)]
struct Counted {
    thread: PathId,
    access: Access,
    /// The last instance of a member.
    last: u32,
}

/// What does not change during a search.
#[derive(Debug)]
pub(super) struct Fixed<'a> {
    program: &'a Program,
    request: &'a OrderRequest,
    ahead: Option<Ahead<'a>>,
    counted: Vec<Counted>,
    /// Whether the target is a wait that begins when a thread stands before it.
    is_before: bool,
}

impl<'a> Fixed<'a> {
    /// `None` for an order of something that is no member.
    pub(super) fn new(machine: &'a Machine, program: &'a Program, request: &'a OrderRequest) -> Option<Fixed<'a>> {
        if request.order.iter().any(|&place| place >= request.members.len()) {
            return None;
        }
        let mut counted: Vec<Counted> = Vec::new();
        for &OrderStep { thread, access, instance } in &request.members {
            match counted.iter_mut().find(|known| known.thread == thread && known.access == access) {
                Some(known) => known.last = known.last.max(instance),
                None => counted.push(Counted { thread, access, last: instance }),
            }
        }
        let at = request.target.parts().1;
        let is_before = match request.target {
            Target::WaitBegins { .. } if at.index() < machine.code_length() => {
                let origin = machine.origin(at);
                let block = &program.functions[origin.function].blocks[origin.block];
                let instruction = block.instructions.get(origin.instruction as usize);
                matches!(instruction, Some(Instruction::Synchronise(one))
                    if one.kind.properties().blocking == Blocking::Before)
            }
            _ => false,
        };
        Some(Fixed { program, request, ahead: Ahead::new(machine, program), counted, is_before })
    }

    fn item(&self, access: Access) -> Item {
        let symbol = access.cells_of(self.program);
        if access.is_write() { Item::Write(symbol) } else { Item::Read(symbol) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Before,
    Reached,
    Dead,
}

/// See the module.
#[derive(Debug)]
pub(super) struct OrderMonitor<'a> {
    fixed: &'a Fixed<'a>,
    phase: Phase,
    /// How many of the order have happened.
    position: usize,
    /// How often the place of the target was passed.
    passed: u32,
    /// By counted access.
    counts: Vec<u32>,
    /// Whether the last step has reached the target.
    note: bool,
}

impl Clone for OrderMonitor<'_> {
    fn clone(&self) -> Self {
        OrderMonitor { counts: self.counts.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clone_from(&source.counts);
        *self = OrderMonitor { counts, ..*source };
    }
}

impl<'a> OrderMonitor<'a> {
    pub(super) fn new(fixed: &'a Fixed<'a>) -> OrderMonitor<'a> {
        let counts = vec![0; fixed.counted.len()];
        OrderMonitor { fixed, phase: Phase::Before, position: 0, passed: 0, counts, note: false }
    }

    /// Whether the execution has reached the target in the order.
    pub(super) fn has_reached(&self) -> bool {
        self.phase == Phase::Reached
    }

    fn is_through(&self) -> bool {
        self.position == self.fixed.request.order.len()
    }

    fn reach(&mut self) {
        if self.phase != Phase::Before {
            return;
        }
        self.note = self.is_through();
        self.phase = if self.note { Phase::Reached } else { Phase::Dead };
        self.counts.iter_mut().for_each(|count| *count = 0);
        (self.position, self.passed) = (0, 0);
    }

    /// The thread passes the place of the target once more.
    fn pass(&mut self) {
        if self.phase == Phase::Before {
            self.passed += 1;
            if self.passed == self.fixed.request.target.parts().2 {
                self.reach();
            }
        }
    }

    fn access(&mut self, thread: PathId, access: Access) {
        let OrderRequest { members, order, others, .. } = self.fixed.request;
        if self.phase != Phase::Before || *others == Others::AfterOrder && self.is_through() {
            return;
        }
        let mut counted = self.fixed.counted.iter();
        let Some(place) = counted.position(|known| known.thread == thread && known.access == access) else { return };
        let count = &mut self.counts[place];
        if *count >= self.fixed.counted[place].last {
            return;
        }
        *count += 1;
        let step = OrderStep { thread, access, instance: *count };
        if !members.contains(&step) {
            return;
        }
        if order.get(self.position).is_some_and(|&next| members[next] == step) {
            self.position += 1;
            if *others == Others::AfterOrder && self.is_through() {
                // Accesses are not counted any more.
                self.counts.iter_mut().for_each(|count| *count = 0);
            }
        } else {
            self.phase = Phase::Dead;
        }
    }

    /// Those of the order that have not happened.
    fn missing(&self) -> impl Iterator<Item = &OrderStep> {
        let OrderRequest { members, order, .. } = self.fixed.request;
        order[self.position..].iter().map(|&place| &members[place])
    }

    fn end(&mut self, thread: PathId) {
        let is_target = self.fixed.request.target.parts().0 == thread;
        if self.phase == Phase::Before && (is_target || self.missing().any(|step| step.thread == thread)) {
            self.phase = Phase::Dead;
        }
    }

    /// Whether all threads have ahead what they are to do yet.
    fn has_prospect(&self, state: &State) -> bool {
        let fixed = self.fixed;
        let Some(ahead) = &fixed.ahead else { return true };
        let (target, at, _) = fixed.request.target.parts();
        state.threads().filter(|&slot| state.status(slot) != ThreadStatus::Ended).all(|slot| {
            let path = state.path(slot);
            if path != target && self.missing().all(|step| step.thread != path) {
                return true;
            }
            let prospect = ahead.of(state, slot);
            let has = |item| ahead.number(item).is_none_or(|number| prospect.has(number));
            let mut own = self.missing().filter(|step| step.thread == path);
            own.all(|step| has(fixed.item(step.access))) && (path != target || has(Item::Place(at)))
        })
    }

    /// Whether the thread of the target stands before the place of it.
    fn stands_before(&self, state: &State) -> bool {
        let (thread, at, instance) = self.fixed.request.target.parts();
        let stands = |slot| state.status(slot) == ThreadStatus::Ready && state.position(slot) == at;
        self.passed + 1 == instance && state.threads().any(|slot| state.path(slot) == thread && stands(slot))
    }
}

impl Observer for OrderMonitor<'_> {
    // Threads, places and accesses have names of their own.
    const DETAILS: bool = false;

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let target = self.fixed.request.target;
        match event {
            Event::Read { read, shared: true, .. } => self.access(thread.path, Access::Read(read)),
            Event::Write { definition, shared: true, .. } => self.access(thread.path, Access::Write(definition)),
            Event::End { .. } => self.end(thread.path),
            _ if target.parts().0 != thread.path || target.parts().1 != at => {}
            Event::Wait { .. } | Event::Arrive { .. } if matches!(target, Target::WaitBegins { .. }) => self.pass(),
            Event::Waited { .. } | Event::Acquire { .. } if matches!(target, Target::WaitBegins { .. }) => self.pass(),
            Event::Waited { .. } | Event::Acquire { .. } | Event::Woken { .. } | Event::Leave { .. }
                if matches!(target, Target::WaitEnds { .. }) =>
            {
                self.pass();
            }
            _ => {}
        }
    }

    fn begin_step(&mut self, _: ThreadName) {
        self.note = false;
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, _: bool) {
        if let Target::Branch { thread: wanted, at: place, .. } = self.fixed.request.target
            && wanted == thread.path
            && place == at
        {
            self.pass();
        }
    }
}

impl Monitor for OrderMonitor<'_> {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(u64::from(self.has_reached()) | (self.position as u64) << 1);
        words.push(u64::from(self.passed));
        words.extend(self.counts.iter().map(|&count| u64::from(count)));
    }

    fn decode(&mut self, words: &[u64]) {
        let word = |place: usize| words.get(place).copied().unwrap_or(0);
        self.phase = if word(0) & 1 == 1 { Phase::Reached } else { Phase::Before };
        self.position = (word(0) >> 1) as usize;
        self.passed = word(1) as u32;
        self.counts.iter_mut().enumerate().for_each(|(place, count)| *count = word(place + 2) as u32);
        self.note = false;
    }

    fn settle(&mut self, _: &Machine, state: &mut State) {
        state.forget_past();
        if self.phase != Phase::Before {
            return;
        }
        if self.fixed.is_before && self.stands_before(state) {
            self.reach();
        } else if !self.has_prospect(state) {
            self.phase = Phase::Dead;
        }
    }

    fn notes(&self) -> &[()] {
        if self.note { &[()] } else { &[] }
    }

    fn is_dead(&self) -> bool {
        self.phase == Phase::Dead
    }
}
