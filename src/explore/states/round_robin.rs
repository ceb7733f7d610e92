//! Round-robin scheduling for thousands of threads.
//!
//! **Input**: a state after each step. **Output**: the first thread that can move after the one that moved last, in the order of
//! slots.
//!
//! **Algorithm**:
//! 1. If there are few threads, each is checked.
//! 2. If there are many, all threads that stand before one lock, event or semaphore can move or none can, and they stay there
//!    until their turn: one is checked for all of them.
//! 3. Threads that wait to be woken are not checked before that happens; the events of a step report it.
//!
//! **Soundness and limits**: the result is always the thread that a check of all threads would give. Without this, a thousand
//! threads would be checked for each step of the thread that holds their lock.

use cssame_ir::sync::{Blocking, Kind};
use cssame_vm::{CodeIndex, Event, Machine, Observer, Pending, State, ThreadIndex, ThreadName};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Slots of threads up to which each is asked by itself.
const FEW: usize = 32;

/// Objects before which threads are asked together: one of each is asked at every step.
const OBJECTS: usize = 8;

/// Who moves next.
#[derive(Default)]
pub(crate) struct RoundRobin {
    /// The slot behind the one that has moved last.
    next: u16,
    /// Slots of threads that have to be asked.
    others: BTreeSet<u16>,
    /// By operation and object: the slots of threads that stand there.
    waiting: BTreeMap<(Kind, u32), BTreeSet<u16>>,
    /// Whether threads were made since then; at first nothing is known.
    is_known: bool,
    /// Number of threads that were asked.
    #[cfg(test)]
    pub asked: usize,
}

impl Observer for RoundRobin {
    const DETAILS: bool = false;

    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let thread = thread.slot;
        match event {
            Event::Fork { .. } | Event::Spawn { .. } => self.is_known = false,
            Event::Woken { .. } | Event::Leave { .. } => {
                self.others.insert(thread.0);
            }
            _ => {}
        }
    }
}

impl RoundRobin {
    /// The thread that moves next. It is told of the step as an observer.
    pub(crate) fn next(&mut self, machine: &Machine, state: &State) -> Option<ThreadIndex> {
        if state.thread_count() <= FEW {
            self.is_known = false;
            let slots = 0..state.thread_count() as u16;
            let in_order = slots.clone().skip(usize::from(self.next)).chain(slots.take(usize::from(self.next)));
            let slot = in_order.into_iter().find(|&slot| self.can_move(machine, state, slot))?;
            self.next = slot + 1;
            return Some(ThreadIndex(slot));
        }
        if !std::mem::replace(&mut self.is_known, true) {
            self.waiting.clear();
            self.others = (0..state.thread_count() as u16).collect();
        }
        let waiting = self.waiting_next(machine, state);
        let slot = self.others_next(machine, state, waiting)?;
        for slots in self.waiting.values_mut() {
            slots.remove(&slot);
        }
        self.waiting.retain(|_, slots| !slots.is_empty());
        self.others.insert(slot);
        self.next = slot + 1;
        Some(ThreadIndex(slot))
    }

    /// How many turns it is until that of a slot, in order.
    fn turn(&self, slot: u16) -> (bool, u16) {
        (slot < self.next, slot)
    }

    fn can_move(&mut self, machine: &Machine, state: &State, slot: u16) -> bool {
        #[cfg(test)]
        {
            self.asked += 1;
        }
        machine.alternatives_of(state, ThreadIndex(slot)) > 0
    }

    /// The first of those that stand together.
    fn waiting_next(&mut self, machine: &Machine, state: &State) -> Option<u16> {
        let first = |slots: &BTreeSet<u16>| slots.range(self.next..).chain(slots).next().copied();
        let firsts: SmallVec<[u16; OBJECTS]> = self.waiting.values().filter_map(first).collect();
        let able = firsts.into_iter().filter(|&slot| self.can_move(machine, state, slot));
        let able: SmallVec<[u16; OBJECTS]> = able.collect();
        able.into_iter().min_by_key(|&slot| self.turn(slot))
    }

    /// The first of the others, or `limit` where its turn comes before.
    fn others_next(&mut self, machine: &Machine, state: &State, limit: Option<u16>) -> Option<u16> {
        let mut part = self.next..=u16::MAX;
        loop {
            let Some(&slot) = self.others.range(part.clone()).next() else {
                if *part.end() < u16::MAX || self.next == 0 {
                    return limit;
                }
                part = 0..=self.next - 1;
                continue;
            };
            if limit.is_some_and(|limit| self.turn(limit) < self.turn(slot)) {
                return limit;
            }
            if self.can_move(machine, state, slot) {
                return Some(slot);
            }
            self.ask_no_more(machine, state, slot);
            if slot == *part.end() {
                return limit;
            }
            part = slot + 1..=*part.end();
        }
    }

    /// Takes a thread that cannot move from the others, if it need not be asked again by itself.
    fn ask_no_more(&mut self, machine: &Machine, state: &State, slot: u16) {
        let thread = ThreadIndex(slot);
        let object = match machine.pending(state, thread) {
            // It has ended, or waits for an event that wakes it.
            None => {
                self.others.remove(&slot);
                return;
            }
            Some(Pending::Synchronise { kind, address: Some(address) })
                if kind.properties().blocking == Blocking::Before =>
            {
                (kind, address)
            }
            Some(Pending::Relock { address: Some(address) }) => (Kind::WaitCondition, address),
            _ => return,
        };
        if self.waiting.len() < OBJECTS || self.waiting.contains_key(&object) {
            self.others.remove(&slot);
            self.waiting.entry(object).or_default().insert(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_front::compile;
    use cssame_source::SourceMap;
    use cssame_vm::{Choice, Move, Options, Progress, Semantics, Tables, Visibility};

    /// Lets a program run in turn; gives how many threads were asked, and the number of steps. Each time, the one that moves
    /// must be the first of all that can.
    fn asked(text: &str) -> (usize, usize) {
        asked_with(text, Options::default())
    }

    fn asked_with(text: &str, options: Options) -> (usize, usize) {
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", text);
        let compiled = compile(&sources, file, &[]);
        let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let machine = Machine::with_options(&program, &Visibility::all(&program), options);
        let mut tables = Tables::new();
        let mut state = machine.initial(&mut tables);
        let (mut turns, mut moves, mut last, mut steps) = (RoundRobin::default(), Vec::new(), None, 0);
        loop {
            machine.moves(&state, &mut moves);
            let expected = moves.iter().find(|one| Some(one.thread) > last).or(moves.first());
            let thread = turns.next(&machine, &state);
            assert_eq!(thread, expected.map(|&Move { thread, .. }| thread), "{text}: step {steps}");
            let Some(thread) = thread else { break };
            last = Some(thread);
            steps += 1;
            let choice = Choice { thread, alternative: 0 };
            if machine.step(&mut state, &mut tables, choice, &mut turns) != Progress::Running {
                break;
            }
        }
        (turns.asked, steps)
    }

    fn arms(count: usize, body: impl Fn(usize) -> String) -> String {
        let arms: String = (0..count).map(|arm| format!("T{arm}: {}\n", body(arm))).collect();
        format!("cobegin\n{arms}coend\n")
    }

    #[test]
    fn those_that_wait_for_one_lock_are_asked_together() {
        let body = |_| "lock(L); x = x + 1; unlock(L);".to_owned();
        let (asked, steps) = asked(&format!("int x; lock L; {}", arms(300, body)));
        assert!(steps > 1_200 && asked < 8 * steps, "{asked} for {steps} steps");
    }

    /// Threads of a program, more than [`FEW`].
    const COUNT: usize = 40;

    #[test]
    fn the_turn_is_that_of_the_first_that_can_move() {
        for text in [
            format!("int x; sem s = 2; {}", arms(COUNT, |arm| format!("P(s); x = {arm}; V(s);"))),
            format!("int x; event e; {}", arms(COUNT, |arm| format!("if (x > 3) set(e); x = {arm}; wait(e); x = 0;"))),
            format!("int x; barrier b(40); {}", arms(COUNT, |arm| format!("x = {arm}; barrier(b); x = 0;"))),
            format!(
                "bool go; lock L; cond c; {}",
                arms(COUNT, |arm| match arm {
                    17 => "lock(L); go = true; notifyAll(c); unlock(L);".to_owned(),
                    _ => "lock(L); while (!go) wait(c, L); unlock(L);".to_owned(),
                })
            ),
            format!(
                "{}{}",
                (0..COUNT).map(|each| format!("lock L{each};")).collect::<String>(),
                arms(COUNT, |arm| format!("lock(L{arm}); lock(L{}); unlock(L{arm});", (arm + 1) % COUNT))
            ),
            "int x; lock L; parfor (int i = 0; i < 40; i++) { lock(L); x += i; unlock(L); } print(x);".to_owned(),
            format!("int x; {}", arms(COUNT, |arm| format!("atomic {{ x = x + {arm}; }}"))),
        ] {
            asked(&text);
        }
    }

    #[test]
    fn threads_that_wait_to_write_have_their_turn() {
        let semantics = Semantics { prefer_writers: true, ..Semantics::default() };
        let body = |arm: usize| match arm % 3 {
            0 => "wrlock(R); x = x + 1; unlock(R);",
            1 => "rdlock(R); print(x); unlock(R);",
            _ => "print(x); if (tryrdlock(R)) unlock(R); wrlock(R); unlock(R);",
        };
        let text = format!("int x; rwlock R; {}", arms(COUNT, |arm| body(arm).to_owned()));
        asked_with(&text, Options { semantics, ..Options::default() });
    }
}
