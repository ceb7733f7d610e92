//! Expansion of states that are represented by the numbers of their parts.
//!
//! **Input**: such states, with those of their steps that were [looked up](super::ahead). **Output**: their steps, entered into
//! the graph as in [`expansion`](super::expansion).
//!
//! **Algorithm**: a step that was executed before in a similar state ([`Memo`]) is not executed again: its changes are applied to
//! the numbers, and its events are reported once more. The machine executes the others, and these are entered.
//!
//! **Soundness and limits**: only for monitors that remember nothing ([`REMEMBERS`](super::Monitor::REMEMBERS)) and visitors that
//! learn of steps only by their events and notes.

use super::ahead::{Ready, Scene};
use super::collapse::{self, Collapse, first};
use super::frontier::Block;
use super::graph::{DISCARDED, NodeKind};
use super::memo::{Known, Memo};
use super::origin::{Happened, Origin, Seen};
use super::watch::Task;
use super::{Engine, Transition};
use cssame_vm::{Choice, Encoding, Footprint, Move, Progress, Work};
use std::ops::ControlFlow;

/// Of the states and the steps from memory, one of so many is checked where results are.
const EVERY: u64 = 8;

impl Engine<'_> {
    /// Expands the states of a block.
    pub(super) fn expand_numbered(&mut self, block: &Block) -> ControlFlow<()> {
        let mut ahead = std::mem::take(&mut self.ahead);
        let Collapse { parts, memo, .. } = &self.collapse;
        let visited = self.found.graph.visited();
        ahead.look(block, &Scene { parts, memo, visited, is_reduced: self.reduction().is_some() });
        self.ahead_bytes = ahead.bytes();
        let over = (0..ahead.len()).try_for_each(|state| self.expand_ready(ahead.state(state)));
        self.ahead = ahead;
        if !self.collapse.is_on {
            // No step is looked for any more.
            self.collapse.memo = Memo::new(&[]);
            self.watch.forget_notes();
        }
        over
    }

    /// Enters the steps of a state that were found, and does the others.
    fn expand_ready(&mut self, ready: Ready<'_>) -> ControlFlow<()> {
        let Ready { node, numbers, fingerprint, alone, steps } = ready;
        self.words = ready.words();
        self.look()?;
        let Some(steps) = steps.filter(|_| self.collapse.is_on) else {
            return self.expand_numbers(node, numbers, fingerprint);
        };
        debug_assert!(self.has_these_moves(node, numbers));
        self.found.graph.begin_edges(node);
        let mut over = ControlFlow::Continue(());
        for found in steps {
            let choice = found.choice();
            over = match found.step() {
                Some(step) => {
                    let origin = self.collapse.origin(numbers, choice);
                    self.enter_known(node, choice, &origin, (step, found.fingerprint), found.known())
                }
                None => self.step_numbers(node, choice, (numbers, fingerprint)),
            };
            if over.is_break() {
                break;
            }
        }
        if over.is_continue() && alone.is_some() && !self.leads_on_from(node) {
            let moves = self.moves_of_numbers(numbers);
            over = self.step_others(node, &moves, alone, (numbers, fingerprint));
            self.moves = moves;
        }
        self.expanded(node, over)
    }

    /// Lets the machine load a state.
    pub(super) fn load_numbers(&mut self, numbers: &[u32]) {
        let Engine { collapse, parent, hashes, machine, watch, .. } = self;
        collapse.parts.write_words(numbers, &mut collapse.words);
        machine.load(collapse.words.words(), collapse.words.ends(), parent, hashes);
        watch.decode(&[]);
        collapse.loaded.clear();
        collapse.loaded.extend_from_slice(numbers);
    }

    fn load_unless_loaded(&mut self, numbers: &[u32]) {
        if self.collapse.loaded != numbers {
            self.load_numbers(numbers);
        }
    }

    fn expand_numbers(&mut self, node: u32, numbers: &[u32], fingerprint: u128) -> ControlFlow<()> {
        if !self.collapse.is_on {
            self.load_numbers(numbers);
            return self.expand(node);
        }
        let moves = self.moves_of_numbers(numbers);
        if moves.is_empty() {
            self.moves = moves;
            self.load_unless_loaded(numbers);
            return self.deadlock(node);
        }
        self.found.graph.begin_edges(node);
        let over = self.follow_numbers(node, &moves, (numbers, fingerprint));
        self.moves = moves;
        self.expanded(node, over)
    }

    /// The moves of a state; the machine loads it where that is needed to tell.
    fn moves_of_numbers(&mut self, numbers: &[u32]) -> Vec<Move> {
        let mut moves = std::mem::take(&mut self.moves);
        if !collapse::moves(&self.collapse.parts, numbers, &mut moves) {
            self.load_unless_loaded(numbers);
            self.machine.moves(&self.parent, &mut moves);
        }
        moves
    }

    /// Does the steps of a state: those of one thread alone, if that is enough.
    fn follow_numbers(&mut self, node: u32, moves: &[Move], from: (&[u32], u128)) -> ControlFlow<()> {
        let first = self.reduction().and_then(|_| first(&self.collapse.parts, from.0, moves));
        if let Some(place) = first {
            self.step_numbers(node, Choice { thread: moves[place].thread, alternative: 0 }, from)?;
            if self.leads_on_from(node) {
                return ControlFlow::Continue(());
            }
        }
        self.step_others(node, moves, first, from)
    }

    /// Does the steps of all threads but one.
    fn step_others(
        &mut self,
        node: u32,
        moves: &[Move],
        left_out: Option<usize>,
        from: (&[u32], u128),
    ) -> ControlFlow<()> {
        for (_, one) in moves.iter().enumerate().filter(|&(place, _)| Some(place) != left_out) {
            for alternative in 0..one.alternatives {
                self.step_numbers(node, Choice { thread: one.thread, alternative }, from)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Does a step of a state: from memory, or by the machine.
    fn step_numbers(&mut self, node: u32, choice: Choice, (numbers, fingerprint): (&[u32], u128)) -> ControlFlow<()> {
        let origin = self.collapse.origin(numbers, choice);
        let Some(step) = self.known_step(choice, &origin) else {
            self.load_unless_loaded(numbers);
            return self.step(node, choice);
        };
        let behind = self.collapse.memo.fingerprint_behind(step, fingerprint, &origin, &self.collapse.parts);
        self.enter_known(node, choice, &origin, (step, behind), None)
    }

    /// Enters a step that was done before, which leads to the state with that fingerprint, and to that node if it is known.
    fn enter_known(
        &mut self,
        from: u32,
        choice: Choice,
        of: &Origin<'_>,
        (step, fingerprint): (u32, u128),
        known: Option<u32>,
    ) -> ControlFlow<()> {
        self.may_step()?;
        debug_assert!(self.is_done_so(self.found.statistics.steps, choice, of, step));
        self.found.statistics.steps += 1;
        self.executed.0 += u64::from(self.collapse.memo.step(step).instructions);
        let Collapse { memo, parts, .. } = &self.collapse;
        let (to, is_new) = if memo.step(step).is_discarded {
            (DISCARDED, false)
        } else if let Some(known) = known {
            (known, false)
        } else {
            self.found.graph.visit(fingerprint, from, choice, NodeKind::Waiting)
        };
        self.arrived = if to == DISCARDED { 0 } else { to };
        self.found.graph.add_edge(to);
        if self.watch.again((memo, parts), of, step, &Transition { from, choice: Some(choice), to }) {
            return self.ended(ControlFlow::Break(()));
        }
        if !is_new {
            return ControlFlow::Continue(());
        }
        let Collapse { memo, behind, .. } = &mut self.collapse;
        memo.write_behind(step, of, behind);
        self.next.push_numbers(to, behind);
        self.wait()
    }

    /// The number of a step, which the machine does if it was not done before; none of one that depends on too much.
    fn known_step(&mut self, choice: Choice, of: &Origin<'_>) -> Option<u32> {
        let Collapse { parts, memo, .. } = &self.collapse;
        // In the middle of an atomic block a step changes what stands outside of its thread.
        let known = if parts.is_exclusive(of.numbers) { Known::Open } else { memo.find(of, parts) };
        match known {
            Known::Step(step) => Some(step),
            Known::Open => None,
            Known::New => self.learn(choice, of),
        }
    }

    /// Lets the machine do a step that was not done before, to enter what it depends on and does; gives its number, unless it
    /// depends on too much.
    fn learn(&mut self, choice: Choice, of: &Origin<'_>) -> Option<u32> {
        self.load_unless_loaded(of.numbers);
        self.child.copy_changes_from(&mut self.parent);
        let Engine { machine, collapse, watch, parent, child, hashes, encoding, reduction, found, executed, .. } = self;
        collapse.footprint.begin(machine, parent, choice);
        let mut task = Task { machine, tables: &mut found.tables, state: child, choice: Some(choice), work: executed };
        let progress = watch.learn(&mut task, parent, &mut collapse.footprint, &mut collapse.events);
        match progress {
            Progress::Discarded => {}
            Progress::Running => {
                machine.fingerprint_behind(parent, hashes, child);
                machine.encode_behind(hashes, child, encoding);
                collapse.numbers_of(machine, (child, encoding), hashes.loaded(), *reduction);
            }
            // The visitor looks at the states of ends.
            Progress::Finished | Progress::Failed(_) => {
                collapse.memo.learn_open(of, &collapse.parts);
                return None;
            }
        }
        let Collapse { parts, memo, footprint, events, behind, .. } = collapse;
        let behind = (progress == Progress::Running).then_some(behind.as_slice());
        let step = memo.learn(of, parts, &Seen { footprint, behind, events })?;
        watch.keep_notes(progress);
        Some(step)
    }

    /// Enters a state that a step has led to, by its words.
    pub(super) fn push_state(&mut self, node: u32, monitor_words: usize) {
        let Engine { machine, collapse, child, hashes, encoding, reduction, next, more, dictionary, .. } = self;
        if collapse.is_on {
            next.push_numbers(node, collapse.numbers_of(machine, (child, encoding), hashes.loaded(), *reduction));
        } else {
            next.push(node, (encoding.words(), encoding.ends()), &more[..monitor_words], dictionary);
        }
    }

    /// Whether the machine gives the same moves; asked of some states.
    fn has_these_moves(&mut self, node: u32, numbers: &[u32]) -> bool {
        if !u64::from(node).is_multiple_of(EVERY) {
            return true;
        }
        self.load_unless_loaded(numbers);
        let (mut ours, mut all) = (Vec::new(), Vec::new());
        self.machine.moves(&self.parent, &mut all);
        collapse::moves(&self.collapse.parts, numbers, &mut ours) && ours == all
    }

    /// Whether the machine does a step as it was done before; asked of some of them.
    fn is_done_so(&mut self, number: u64, choice: Choice, of: &Origin<'_>, step: u32) -> bool {
        if !number.is_multiple_of(EVERY) {
            return true;
        }
        self.load_unless_loaded(of.numbers);
        self.child.copy_changes_from(&mut self.parent);
        let (mut events, mut footprint, mut work): (Vec<Happened>, Footprint, Work) = Default::default();
        let marks = self.found.tables.marks();
        let Engine { machine, watch, parent, child, found, .. } = self;
        footprint.begin(machine, parent, choice);
        let mut task = Task { machine, tables: &mut found.tables, state: child, choice: Some(choice), work: &mut work };
        let progress = watch.learn(&mut task, parent, &mut footprint, &mut events);
        assert!(found.tables.marks() == marks, "all names are known");
        let memo = &self.collapse.memo;
        let known: Vec<Happened> = memo.events(step, of, &self.collapse.parts).collect();
        assert!(known == events, "a step has the same events: {choice:?}");
        if memo.step(step).is_discarded {
            return progress == Progress::Discarded;
        }
        assert_eq!(progress, Progress::Running);
        let (mut now, mut behind) = (Encoding::default(), Vec::new());
        self.machine.encode(&self.child, &mut now);
        memo.write_behind(step, of, &mut behind);
        let mut words = Encoding::default();
        self.collapse.parts.write_words(&behind, &mut words);
        assert_eq!((now.words(), now.ends()), (words.words(), words.ends()), "a step leads to the same state");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::{EndContext, Monitor, Visitor, search};
    use cssame_budget::Budget;
    use cssame_front::compile;
    use cssame_source::SourceMap;
    use cssame_vm::{CodeIndex, Event, Machine, Observer, ThreadName, Visibility};
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::rc::Rc;

    /// Numbers the steps that the machine does.
    #[derive(Clone, Default)]
    struct Numbers {
        last: Rc<Cell<u64>>,
        note: u64,
    }

    impl Observer for Numbers {
        const ACTIVE: bool = false;
        const DETAILS: bool = false;

        fn event(&mut self, _: ThreadName, _: CodeIndex, _: Event) {}

        fn begin_step(&mut self, _: ThreadName) {
            self.note = self.last.get() + 1;
            self.last.set(self.note);
        }
    }

    impl Monitor for Numbers {
        type Note = u64;

        const REMEMBERS: bool = false;

        fn encode(&self, _: &mut Vec<u64>) {}

        fn decode(&mut self, _: &[u64]) {}

        fn notes(&self) -> &[u64] {
            std::slice::from_ref(&self.note)
        }
    }

    /// Counts steps, and notes those that the machine has done.
    #[derive(Default)]
    struct Counter {
        steps: u64,
        by_machine: BTreeSet<u64>,
    }

    impl Visitor<Numbers> for Counter {
        const ACTIVE: bool = true;

        fn transition(&mut self, _: &Transition, notes: &[u64]) {
            self.steps += 1;
            self.by_machine.extend(notes);
        }

        fn end(&mut self, _: &EndContext<'_, Numbers>) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    /// Counts the steps of a search through all states, and those of them that the machine does.
    fn count(text: &str) -> Counter {
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", text);
        let program = compile(&sources, file, &[]).program.expect("a program");
        let machine = Machine::new(&program, &Visibility::all(&program));
        let mut counter = Counter::default();
        search(&machine, &Budget::unlimited(), Numbers::default(), &mut counter);
        counter
    }

    /// The machine does those before steps are kept, those at ends of executions, and each other one once.
    fn assert_from_memory(text: &str) {
        let counter = count(text);
        assert!(counter.steps > 2_000, "{} steps of {text}", counter.steps);
        let by_machine = counter.by_machine.len() as u64;
        assert!(by_machine * 5 < counter.steps, "{by_machine} of {} steps of {text}", counter.steps);
    }

    const DINE: &str =
        "void dine(int me, lock a, lock b) { lock(a); lock(b); meals[me] = meals[me] + 1; unlock(b); unlock(a); }\n";

    #[test]
    fn most_steps_are_done_from_memory() {
        assert_from_memory(&format!(
            "int meals[5];\nlock f0, f1, f2, f3, f4;\n{DINE}cobegin\n  A: dine(0, f0, f1);\n  B: dine(1, f1, f2);\n  C: dine(2, f2, f3);\n  D: dine(3, f3, f4);\n  E: dine(4, f0, f4);\ncoend\n"
        ));
    }

    #[test]
    fn threads_are_made_and_waited_for_from_memory() {
        assert_from_memory(&format!(
            "int meals[4];\nlock f0, f1, f2, f3;\n{DINE}void main() {{\n  thread a = spawn dine(0, f0, f1);\n  thread b = spawn dine(1, f1, f2);\n  thread c = spawn dine(2, f2, f3);\n  thread d = spawn dine(3, f0, f3);\n  join(a); join(b); join(c); join(d);\n}}\n"
        ));
        // Slots of arms that have ended are taken again.
        assert_from_memory(
            "int x, y;\nparfor (int i = 0; i < 4; i++) {\n  x = i;\n  if (i == 1) { cobegin A: y = x; B: x = y; coend }\n  y = x + i;\n}\n",
        );
    }

    #[test]
    fn threads_are_woken_from_memory() {
        assert_from_memory(
            "int full, sum;\nlock l;\ncond some, none;\n\
             void put() { lock(l); while (full == 1) wait(none, l); full = 1; notify(some); unlock(l); }\n\
             void get() { lock(l); while (full == 0) wait(some, l); full = 0; sum++; notifyAll(none); unlock(l); }\n\
             cobegin\n  A: { put(); put(); }\n  B: { put(); put(); }\n  C: { get(); get(); }\n  D: { get(); get(); }\ncoend\n",
        );
        assert_from_memory(
            "int x[3], y[3];\nbarrier meet(3);\n\
             void work(int me) {\n  for (int i = 0; i < 6; i++) {\n    x[me] = y[(me + 1) % 3] + i;\n    barrier(meet);\n    \
             y[me] = x[(me + 1) % 3] + x[me];\n    barrier(meet);\n  }\n}\n\
             cobegin\n  A: work(0);\n  B: work(1);\n  C: work(2);\ncoend\n",
        );
    }
}
