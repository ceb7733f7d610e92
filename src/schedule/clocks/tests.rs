//! Compares vector clocks with facts computed by hand, and with a closure that is built without clocks.

use super::*;
use crate::testing::{First, Last, compiled, samples};
use crate::{Random, run};
use cssame_vm::ThreadIndex;

/// All events with their stamps and clocks, and the calls between them.
struct Recorder<'a> {
    clocks: Clocks<'a>,
    entries: Vec<Entry>,
}

struct Entry {
    slot: ThreadIndex,
    at: CodeIndex,
    what: What,
    stamp: Stamp,
    clock: Clock,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Event(Event),
    Enter,
    Leave,
}

impl<'a> Recorder<'a> {
    fn new(machine: &'a Machine, edges: Edges) -> Recorder<'a> {
        Recorder { clocks: Clocks::new(machine, edges), entries: Vec::new() }
    }

    fn note(&mut self, thread: ThreadName, at: CodeIndex, what: What) {
        let (stamp, clock) = (self.clocks.stamp(thread.path), self.clocks.clock(thread.path).clone());
        self.entries.push(Entry { slot: thread.slot, at, what, stamp, clock });
    }

    /// The only event that is such.
    fn find(&self, wanted: impl Fn(&Event) -> bool) -> &Entry {
        let mut found = self.entries.iter().filter(|entry| matches!(&entry.what, What::Event(event) if wanted(event)));
        let one = found.next().unwrap();
        assert!(found.next().is_none(), "several events are such");
        one
    }
}

impl Observer for Recorder<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.clocks.event(thread, at, event);
        self.note(thread, at, What::Event(event));
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        self.clocks.enter(thread, function);
        self.note(thread, CodeIndex(0), What::Enter);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.clocks.leave(thread);
        self.note(thread, CodeIndex(0), What::Leave);
    }
}

fn happens_before(one: &Entry, other: &Entry) -> bool {
    other.clock.knows(one.stamp)
}

/// Whether the only write of `write` happens before the only read of `read`, in the execution in which the first thread
/// that can move does so.
fn orders(text: &str, edges: Edges, (write, read): (&str, &str)) -> bool {
    let (program, machine) = compiled(text).unwrap();
    let mut recorder = Recorder::new(&machine, edges);
    run(&machine, &mut First, 1000, &mut recorder);
    let name = |text| program.texts.get(text);
    let written = recorder.find(
        |event| matches!(*event, Event::Write { definition, .. } if name(program.definitions[definition].name) == write),
    );
    let seen =
        recorder.find(|event| matches!(*event, Event::Read { read: of, .. } if name(program.reads[of].name) == read));
    assert_ne!(written.stamp.thread, seen.stamp.thread);
    happens_before(written, seen)
}

const ALL: Edges = Edges::AllSynchronisation;
const WITHOUT: Edges = Edges::WithoutMutualExclusion;

#[test]
fn a_lock_orders_what_the_hybrid_detector_must_not_order() {
    // Sen 2008, figure 1, the first thread first: its line 1 is ordered before line 10 by the lock alone.
    let text = "int x, y, z; lock L;
        cobegin
          T1: { x = 1; lock(L); y = 1; unlock(L); if (z == 1) error(\"1\"); }
          T2: { z = 1; lock(L); if (y == 1) { if (x != 1) error(\"2\"); } unlock(L); }
        coend";
    assert!(orders(text, ALL, ("x", "x")));
    assert!(!orders(text, WITHOUT, ("x", "x")));
    assert!(orders(text, ALL, ("y", "y")));
    assert!(!orders(text, WITHOUT, ("y", "y")));
}

#[test]
fn synchronisation_that_carries_a_message_always_orders() {
    let two = |objects: &str, one: &str, other: &str| {
        format!("int x; {objects} cobegin T1: {{ {one} }} T2: {{ {other} }} coend")
    };
    let ordered = [
        two("event e;", "x = 1; set(e);", "wait(e); print(x);"),
        two("event e;", "clear(e); x = 1; set(e);", "wait(e); print(x);"),
        two("sem s = 0;", "x = 1; V(s);", "P(s); print(x);"),
        two("barrier b(2);", "x = 1; barrier(b);", "barrier(b); print(x);"),
        two("", "wait(); x = 1; barrier(2);", "notify(); barrier(2); print(x);"),
        "int x; void f() { x = 1; } thread t = spawn f(); join(t); print(x);".to_owned(),
        "int x; cobegin T1: x = 1; coend print(x);".to_owned(),
        "int x; x = 1; cobegin T1: print(x); coend".to_owned(),
        "int x; void f() { print(x); } x = 1; thread t = spawn f(); join(t);".to_owned(),
    ];
    for text in ordered {
        assert!(orders(&text, ALL, ("x", "x")) && orders(&text, WITHOUT, ("x", "x")), "{text}");
    }
    let open = [
        two("", "x = 1;", "print(x);"),
        two("event e, f;", "x = 1; set(e);", "wait(f); print(x);").replace("coend", "T0: set(f); coend"),
        // The `set` that lets the wait pass is the one behind the `clear`.
        two("event e;", "x = 1; set(e); clear(e);", "wait(e); print(x);").replace("coend", "T3: set(e); coend"),
        two("sem s = 0;", "x = 1; P(s);", "V(s); print(x);")
            .replace("T1: { x = 1; P(s); }", "T1: { x = 1; V(s); P(s); }"),
        two("barrier b(2);", "barrier(b); x = 1;", "barrier(b); print(x);"),
    ];
    for text in open {
        assert!(!orders(&text, ALL, ("x", "x")), "{text}");
    }
}

#[test]
fn atomic_accesses_order_only_as_far_as_locks_do() {
    for text in [
        "int x, f; cobegin T1: { x = 1; int o = swap(f, 1); } T2: { int g = fetch_add(f, 1); print(x, g); } coend",
        "int x, f, g; cobegin T1: { x = 1; atomic { f = 1; g = 1; } } T2: { int h; atomic { h = g; } print(x, h); } coend",
    ] {
        assert!(orders(text, ALL, ("x", "x")), "{text}");
        assert!(!orders(text, WITHOUT, ("x", "x")), "{text}");
    }
    // Two cells, two orders.
    let apart =
        "int x, f, g; cobegin T1: { x = 1; int o = swap(f, 1); } T2: { int h = fetch_add(g, 1); print(x, h); } coend";
    assert!(!orders(apart, ALL, ("x", "x")));
}

#[test]
fn a_join_waits_for_the_threads_of_its_own_call() {
    // The first iteration has ended when the function in the head of the loop joins its own thread.
    let text = "int x, y; int two() { cobegin A: y = 1; coend return 2; }
        void main() { parfor (int i = 0; i < two(); i++) { if (i == 0) x = 1; } }";
    let (program, machine) = compiled(text).unwrap();
    let mut recorder = Recorder::new(&machine, ALL);
    run(&machine, &mut Last, 1000, &mut recorder);
    let joins: Vec<&Entry> = recorder.entries.iter().filter(|entry| entry.what == What::Event(Event::Join)).collect();
    assert!(joins.len() >= 3);
    let name = |definition| program.texts.get(program.definitions[definition].name);
    let write = recorder.find(|event| matches!(*event, Event::Write { definition, .. } if name(definition) == "x"));
    let (last, others) = joins.split_last().unwrap();
    assert!(happens_before(write, last));
    assert!(others.iter().all(|join| !happens_before(write, join)));
}

/// The making of the thread of an entry, by its place; main has none.
fn maker(entries: &[Entry], of: usize) -> Option<usize> {
    (0..of).rev().find(|&place| match entries[place].what {
        What::Event(Event::Fork { child } | Event::Spawn { child }) => child.slot == entries[of].slot,
        _ => false,
    })
}

/// By place: the places right before it, from rules over pairs of events.
struct Naive<'a> {
    machine: &'a Machine,
    entries: &'a [Entry],
    edges: Edges,
    makers: Vec<Option<usize>>,
}

impl Naive<'_> {
    fn event(&self, place: usize) -> Option<Event> {
        match self.entries[place].what {
            What::Event(event) => Some(event),
            _ => None,
        }
    }

    /// Whether a thread is the one in a slot at some place.
    fn is_in(&self, place: usize, slot: ThreadIndex, at: usize) -> bool {
        let last = (0..at).rev().find(|&other| self.entries[other].slot == slot);
        last.is_some_and(|last| self.makers[last] == self.makers[place])
    }

    /// Calls that the thread of a place is in there.
    fn depth(&self, place: usize) -> i32 {
        let own = (0..place).filter(|&other| self.makers[other] == self.makers[place]);
        own.map(|other| match self.entries[other].what {
            What::Enter => 1,
            What::Leave => -1,
            What::Event(_) => 0,
        })
        .sum()
    }

    fn between(&self, one: usize, other: usize, wanted: impl Fn(Event) -> bool) -> bool {
        (one + 1..other).any(|place| self.event(place).is_some_and(&wanted))
    }

    /// The cell of an atomic access, and where the access ends.
    fn atomic(&self, place: usize) -> Option<(u32, usize)> {
        let (Event::Read { address, .. } | Event::Write { address, .. }) = self.event(place)? else { return None };
        let own = |other: &usize| self.makers[*other] == self.makers[place];
        let begins = (0..place).filter(own).filter(|&each| self.event(each) == Some(Event::AtomicBegin)).count();
        let ends = (0..place).filter(own).filter(|&each| self.event(each) == Some(Event::AtomicEnd)).count();
        if begins == ends {
            return self.machine.is_atomic(self.entries[place].at).then_some((address, place));
        }
        let end = (place..self.entries.len()).filter(own).find(|&each| self.event(each) == Some(Event::AtomicEnd));
        Some((address, end.unwrap_or(usize::MAX)))
    }

    fn edge(&self, one: usize, other: usize) -> bool {
        let (Some(first), Some(second)) = (self.event(one), self.event(other)) else { return false };
        let kept = |address: u32| {
            !self.between(one, other, |event| match event {
                Event::Allocate { address: from, size, .. } => (from..from + size).contains(&address),
                _ => false,
            })
        };
        match (first, second) {
            _ if self.makers[one] == self.makers[other] || self.makers[other] == Some(one) => true,
            (Event::End { parent: Some(parent) }, Event::Join) => {
                let fork = self.makers[one].unwrap();
                self.is_in(other, parent.slot, one)
                    && self.makers[fork] == self.makers[other]
                    && self.depth(fork) == self.depth(other)
            }
            (Event::End { .. }, Event::JoinThread { child }) => self.is_in(one, child.slot, other),
            (Event::Notify { .. }, Event::Woken { by: Some(by) }) => {
                self.is_in(one, by.slot, other)
                    && !(one + 1..other).any(|place| {
                        matches!(self.event(place), Some(Event::Notify { .. }))
                            && self.makers[place] == self.makers[one]
                    })
            }
            (Event::Set { cell, address }, Event::Waited { address: of, .. }) => {
                address == of && kept(of) && !self.between(one, other, |event| event == Event::Clear { cell, address })
            }
            (Event::Release { address, .. }, Event::Acquire { address: of, .. }) => address == of && kept(of),
            (Event::Arrive { cell, address }, Event::Leave { address: of, .. }) => {
                // No later round has begun in between.
                let next = (one + 1..other).any(|left| {
                    self.event(left) == Some(Event::Leave { cell, address })
                        && self.between(left, other, |event| event == Event::Arrive { cell, address })
                });
                address == of && kept(of) && !next
            }
            (Event::Unlock { address, .. }, Event::Lock { address: of, .. }) => {
                self.edges == ALL && address == of && kept(of)
            }
            _ => false,
        }
    }

    /// By place: the set of all places before it, itself included.
    fn closure(&self) -> Vec<Vec<bool>> {
        let count = self.entries.len();
        let mut closed: Vec<Vec<bool>> = Vec::with_capacity(count);
        let atomic: Vec<Option<(u32, usize)>> = (0..count).map(|place| self.atomic(place)).collect();
        for other in 0..count {
            let mut row = vec![false; count];
            row[other] = true;
            for one in 0..other {
                // An atomic access comes behind the end of each earlier one to its cell.
                let source = match (atomic[one], atomic[other]) {
                    (Some((cell, end)), Some((of, _))) if cell == of && end < other && self.edges == ALL => end,
                    _ => one,
                };
                let gone = |event| match event {
                    Event::Allocate { address, size, .. } => {
                        atomic[one].is_some_and(|(cell, _)| (address..address + size).contains(&cell))
                    }
                    _ => false,
                };
                let by_cell = (source != one || atomic[one].is_some_and(|(_, end)| end == one))
                    && atomic[one].zip(atomic[other]).is_some_and(|((cell, _), (of, _))| cell == of)
                    && self.edges == ALL
                    && !self.between(source, other, gone);
                for from in [self.edge(one, other).then_some(one), by_cell.then_some(source)].into_iter().flatten() {
                    row.iter_mut().zip(&closed[from]).for_each(|(own, &before)| *own |= before);
                }
            }
            closed.push(row);
        }
        closed
    }
}

#[test]
fn clocks_agree_with_the_transitive_closure() {
    let (mut ordered, mut open) = (0, 0);
    for (path, machine) in samples() {
        for (seed, edges) in [(1, ALL), (2, WITHOUT), (3, ALL)] {
            let mut recorder = Recorder::new(&machine, edges);
            run(&machine, &mut Random::new(seed), 60, &mut recorder);
            let entries = &recorder.entries[..recorder.entries.len().min(120)];
            let makers = (0..entries.len()).map(|of| maker(entries, of)).collect();
            let closure = Naive { machine: &machine, entries, edges, makers }.closure();
            for (later, row) in closure.iter().enumerate() {
                for (earlier, &before) in row.iter().enumerate().take(later) {
                    let both = [&entries[earlier], &entries[later]];
                    if both.iter().any(|entry| !matches!(entry.what, What::Event(_))) {
                        continue;
                    }
                    assert_eq!(happens_before(both[0], both[1]), before, "{path:?} seed {seed}: {earlier}, {later}");
                    *(if before { &mut ordered } else { &mut open }) += 1;
                }
            }
        }
    }
    assert!(ordered > 1_000 && open > 1_000, "{ordered} ordered, {open} not");
}
