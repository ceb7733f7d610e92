//! Finds an execution in which two methods run one after the other.
//!
//! **Input**: two methods, of which the first is to come first, and a budget. **Output**: an execution to its end in
//! which no activation of the one overlaps with an activation of either in another thread, both run, and the one that
//! begins first is of the first method.
//!
//! **Algorithm**: a search through states with a monitor that remembers how far the two are. What main does itself,
//! such as bringing objects into a state, does not count; where that finds nothing, it is searched again with main.
//!
//! **Soundness and limits**: exact, provided that no bound was hit. An activation lasts from its first event to its
//! return. An execution in which all threads end is preferred to one that fails or blocks.

use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore::frame::{self, AtEnds, End, EndContext, Monitor};
use cssame_ir::FunctionId;
use cssame_schedule::Nesting;
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, ThreadIndex, ThreadName};
use std::ops::ControlFlow;

/// Whether two methods can run one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serial {
    /// In this execution.
    Found {
        /// To its end.
        schedule: Vec<Choice>,
    },
    /// In none.
    Impossible,
    /// A bound was hit before that was known.
    Undecided(Bound),
}

/// Looks for an execution in which `first` runs, and then `second` in another thread; they may be the same method.
pub fn serial(machine: &Machine, methods: (FunctionId, FunctionId), budget: &Budget<'_>) -> (Serial, Statistics) {
    let (answer, visited) = search(machine, methods, true, budget);
    if answer != Serial::Impossible {
        return (answer, visited);
    }
    let (answer, more) = search(machine, methods, false, budget);
    (answer, Statistics { states: visited.states + more.states, ..more })
}

fn search(
    machine: &Machine,
    (first, second): (FunctionId, FunctionId),
    without_main: bool,
    budget: &Budget<'_>,
) -> (Serial, Statistics) {
    let (mut finished, mut other) = (None, None);
    let mut ends = AtEnds::new(|context: &EndContext<'_, Order>, _| {
        let inside = context.monitor.threads.iter().any(|inside| inside.begun);
        if context.monitor.phase != Phase::Both || inside && context.end != End::Finished {
            return ControlFlow::Continue(());
        }
        if context.end == End::Finished {
            finished = Some(context.node);
            return ControlFlow::Break(());
        }
        other.get_or_insert(context.node);
        ControlFlow::Continue(())
    });
    let monitor = Order { methods: [first, second], without_main, threads: Vec::new(), phase: Phase::Nothing };
    let searched = frame::search(machine, budget, monitor, &mut ends);
    let answer = match (finished.or(other), searched.bound) {
        (Some(node), _) => Serial::Found { schedule: searched.graph.path_to(node) },
        (None, Some(bound)) => Serial::Undecided(bound),
        (None, None) => Serial::Impossible,
    };
    (answer, searched.statistics)
}

/// How far an execution has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Neither method has begun.
    Nothing,
    /// The first one has, in that thread.
    First(u16),
    /// Both have, in two threads.
    Both,
    /// They overlap, or the second one was first.
    Broken,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Inside {
    /// Its calls of each method.
    calls: [Nesting; 2],
    /// Whether it has done anything since.
    begun: bool,
}

impl Inside {
    fn is_outside(&self) -> bool {
        !self.calls.iter().any(|calls| calls.is_inside())
    }
}

#[derive(Clone, Debug)]
struct Order {
    methods: [FunctionId; 2],
    /// Whether main does not count.
    without_main: bool,
    threads: Vec<Inside>,
    phase: Phase,
}

impl Order {
    fn thread(&mut self, thread: ThreadIndex) -> &mut Inside {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Inside::default());
        }
        &mut self.threads[thread.index()]
    }

    fn begin(&mut self, thread: ThreadIndex) {
        if self.without_main && thread == ThreadIndex(0) {
            return;
        }
        let inside = self.thread(thread);
        if inside.begun || inside.is_outside() {
            return;
        }
        inside.begun = true;
        let in_method = inside.calls.map(Nesting::is_inside);
        let alone = self.threads.iter().filter(|inside| inside.begun).count() == 1;
        self.phase = match self.phase {
            _ if !alone => Phase::Broken,
            Phase::Nothing if in_method[0] => Phase::First(thread.0),
            Phase::Nothing => Phase::Broken,
            Phase::First(other) if other != thread.0 && in_method[1] => Phase::Both,
            phase => phase,
        };
    }
}

impl Observer for Order {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let thread = thread.slot;
        if self.phase == Phase::Broken {
            self.threads.clear();
            return;
        }
        match event {
            Event::End { .. } => *self.thread(thread) = Inside::default(),
            _ => self.begin(thread),
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        let thread = thread.slot;
        let methods = self.methods;
        for (calls, method) in self.thread(thread).calls.iter_mut().zip(methods) {
            calls.enter(method == function);
        }
    }

    fn leave(&mut self, thread: ThreadName) {
        let thread = thread.slot;
        let inside = self.thread(thread);
        inside.calls.iter_mut().for_each(Nesting::leave);
        inside.begun &= !inside.is_outside();
    }
}

impl Monitor for Order {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(match self.phase {
            Phase::Nothing => 0,
            Phase::Both => 1,
            Phase::Broken => 2,
            Phase::First(thread) => 3 + u64::from(thread),
        });
        if self.phase == Phase::Broken {
            return;
        }
        let used = self.threads.iter().rposition(|one| *one != Inside::default()).map_or(0, |last| last + 1);
        for inside in &self.threads[..used] {
            let [first, second] = inside.calls.map(|calls| u64::from(calls.frames()));
            words.push(first << 32 | second << 1 | u64::from(inside.begun));
        }
    }

    fn decode(&mut self, words: &[u64]) {
        let (head, rest) = words.split_first().unwrap_or((&0, &[]));
        self.phase = match *head {
            0 => Phase::Nothing,
            1 => Phase::Both,
            2 => Phase::Broken,
            first => Phase::First((first - 3) as u16),
        };
        self.threads.clear();
        self.threads.extend(rest.iter().map(|&word| {
            let calls = [(word >> 32) as u32, (word as u32) >> 1].map(Nesting::from_frames);
            Inside { calls, begun: word & 1 != 0 }
        }));
    }
}
