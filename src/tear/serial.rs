//! Finds an execution in which two methods run one after the other.
//!
//! **Input**: two methods, the first of which must come first, and a budget. **Output**: a complete execution in which both
//! methods run, no activation of one overlaps with an activation of either in another thread, and the first activation is of the
//! first method.
//!
//! **Algorithm**: a search through states with a monitor that tracks the progress of the two methods. Actions of main itself,
//! such as bringing objects into a state, do not count. If the search finds nothing, it is repeated with main, and then also with
//! activations that have no observable effect, which count at their return.
//!
//! **Soundness and limits**: exact, provided that no bound was hit. An activation lasts from its first observable event, a step
//! of the machine, to its return. Events that forks and joins order, such as an access to a local of main, happen as soon as the
//! thread exists, and do not show which method comes first. An execution in which all threads end is preferred to one that fails
//! or blocks.

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
    let mut states = 0;
    for counted in Counted::ALL {
        let (answer, visited) = search(machine, methods, counted, budget);
        states += visited.states;
        if answer != Serial::Impossible || counted == Counted::Silent {
            return (answer, Statistics { states, ..visited });
        }
    }
    (Serial::Impossible, Statistics { states, ..Statistics::default() })
}

/// Which activations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    /// Not those of main.
    Threads,
    /// All that make a step.
    Main,
    /// All.
    Silent,
}

impl Counted {
    const ALL: [Counted; 3] = [Counted::Threads, Counted::Main, Counted::Silent];
}

fn search(
    machine: &Machine,
    (first, second): (FunctionId, FunctionId),
    counted: Counted,
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
    let monitor = Order { methods: [first, second], counted, threads: Vec::new(), phase: Phase::Nothing };
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
    counted: Counted,
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
        if self.counted == Counted::Threads && thread == ThreadIndex(0) {
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

    /// An activation ends without a step: it can be thought of here, if nobody is within one.
    fn end_silent(&mut self, thread: ThreadIndex) {
        let in_method = self.thread(thread).calls.map(Nesting::is_inside);
        if self.threads.iter().any(|inside| inside.begun) {
            return;
        }
        self.phase = match self.phase {
            Phase::Nothing if in_method[0] => Phase::First(thread.0),
            Phase::First(other) if other != thread.0 && in_method[1] => Phase::Both,
            phase => phase,
        };
    }
}

/// Whether others can tell an event of a thread.
fn is_step(event: Event) -> bool {
    match event {
        Event::Read { shared, .. } | Event::Write { shared, .. } => shared,
        Event::Print { .. } | Event::Allocate { .. } => false,
        _ => true,
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
            event if is_step(event) => self.begin(thread),
            _ => {}
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
        let silent = self.counted == Counted::Silent;
        let inside = self.thread(thread);
        if silent && !inside.begun && inside.calls.iter().any(|calls| calls.is_outermost()) {
            self.end_silent(thread);
        }
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
