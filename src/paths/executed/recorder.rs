//! Records which steps of a search show which branch outcomes, waits and unprotected pairs.
//!
//! **Input**: the notes of the monitor for each step, and the deadlocks. **Output**: lists of the facts found, each with an
//! execution.

use super::monitor::ExecutedMonitor;
use super::{BranchOutcome, Note, UnprotectedPair, WaitOutcome};
use cssame_explore::frame::Completion;
use cssame_explore::frame::{End, EndContext, Searched, Transition, Visitor};
use cssame_explore::frame::{Unexpanded, lasting_states};
use cssame_ir::Access;
use cssame_vm::{Choice, CodeIndex, Machine, Obstacle, PathId, Tables};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::ops::ControlFlow;

/// Something that an execution may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shown {
    Branch { thread: PathId, at: CodeIndex, instance: u32, holds: bool },
    Wait { thread: PathId, at: CodeIndex, instance: u32, woken: bool },
    Pair([Access; 2]),
}

/// A step that shows it.
#[derive(Clone, Copy, Debug)]
struct Sight {
    step: Transition,
    /// The threads of a pair.
    threads: [PathId; 2],
}

/// See the module.
pub(super) struct Recorder {
    may_discard: bool,
    /// The first sight; where executions may be discarded, one for each state that is led to.
    shown: IndexMap<Shown, Vec<Sight>, FxBuildHasher>,
    /// Which of them were seen to lead to which states.
    known: FxHashSet<(u32, u32)>,
}

impl Shown {
    /// What a note says, and the threads of a pair.
    pub(super) fn of(note: Note) -> (Shown, [PathId; 2]) {
        match note {
            Note::Branch { thread, at, instance, holds } => {
                (Shown::Branch { thread, at, instance, holds }, [thread; 2])
            }
            Note::Woken { thread, at, instance } => (Shown::Wait { thread, at, instance, woken: true }, [thread; 2]),
            Note::Pair { accesses, threads } => (Shown::Pair(accesses), threads),
        }
    }
}

/// By kind: what was found.
pub(super) type Lists = (Vec<BranchOutcome>, Vec<WaitOutcome>, Vec<UnprotectedPair>);

/// What was found, in order.
pub(super) fn lists(tables: &Tables, found: impl Iterator<Item = (Shown, [PathId; 2], Vec<Choice>)>) -> Lists {
    let (mut outcomes, mut waits, mut pairs) = Lists::default();
    for (shown, threads, schedule) in found {
        match shown {
            Shown::Branch { thread, at, instance, holds } => {
                outcomes.push(BranchOutcome { thread, at, instance, holds, schedule });
            }
            Shown::Wait { thread, at, instance, woken } => {
                waits.push(WaitOutcome { thread, at, instance, woken, schedule });
            }
            Shown::Pair(accesses) => pairs.push(UnprotectedPair { accesses, threads, schedule }),
        }
    }
    outcomes.sort_by(|one, other| {
        let key = |outcome: &BranchOutcome| (outcome.at, outcome.instance, outcome.holds);
        tables.compare_paths(one.thread, other.thread).then_with(|| key(one).cmp(&key(other)))
    });
    waits.sort_by(|one, other| {
        let key = |wait: &WaitOutcome| (wait.at, wait.instance, wait.woken);
        tables.compare_paths(one.thread, other.thread).then_with(|| key(one).cmp(&key(other)))
    });
    pairs.sort_by_key(|pair| pair.accesses);
    (outcomes, waits, pairs)
}

impl Recorder {
    pub(super) fn new(may_discard: bool) -> Recorder {
        Recorder { may_discard, shown: IndexMap::default(), known: FxHashSet::default() }
    }

    fn note(&mut self, shown: Shown, sight: Sight) {
        let entry = self.shown.entry(shown);
        let number = entry.index() as u32;
        let sights = entry.or_default();
        if sights.is_empty() || self.may_discard && self.known.insert((number, sight.step.to)) {
            sights.push(sight);
        }
    }

    /// What was found, in order, each with an execution that is not discarded.
    pub(super) fn lists(self, machine: &Machine, searched: &Searched) -> Lists {
        let Searched { graph, tables, .. } = searched;
        let lasting = self.may_discard.then(|| lasting_states(graph, Unexpanded::Lost));
        let completion = Completion::new(machine, graph);
        let lasts = |sight: &&Sight| lasting.as_ref().is_none_or(|states| states.contains(sight.step.to as usize));
        let found = self.shown.iter().filter_map(|(&shown, sights)| {
            let sight = sights.iter().find(lasts)?;
            let mut schedule = graph.path_to(sight.step.from);
            schedule.extend(sight.step.choice);
            completion.complete(&mut schedule, sight.step.to);
            Some((shown, sight.threads, schedule))
        });
        lists(tables, found)
    }
}

impl Visitor<ExecutedMonitor<'_>> for Recorder {
    fn transition(&mut self, transition: &Transition, notes: &[Note]) {
        for &note in notes {
            let (shown, threads) = Shown::of(note);
            self.note(shown, Sight { step: *transition, threads });
        }
    }

    fn bytes(&self) -> u64 {
        let sights = self.shown.len().max(self.known.len());
        let known = self.known.capacity() * (size_of::<(u32, u32)>() + 1);
        (sights * size_of::<Sight>() + self.shown.capacity() * size_of::<(Shown, Vec<Sight>)>() + known) as u64
    }

    fn end(&mut self, context: &EndContext<'_, ExecutedMonitor<'_>>) -> ControlFlow<()> {
        let EndContext { machine, state, monitor, node, end, .. } = *context;
        if end != End::Deadlock {
            return ControlFlow::Continue(());
        }
        for slot in state.threads() {
            let waits = matches!(
                machine.obstacle(state, slot),
                Some(
                    Obstacle::Event { .. }
                        | Obstacle::Barrier { .. }
                        | Obstacle::Condition { .. }
                        | Obstacle::Notification
                        | Obstacle::Semaphore { .. }
                )
            );
            if waits {
                let (thread, at) = (state.path(slot), state.position(slot));
                let shown = Shown::Wait { thread, at, instance: monitor.instance(thread, at), woken: false };
                let step = Transition { from: node, choice: None, to: node };
                self.note(shown, Sight { step, threads: [thread; 2] });
            }
        }
        ControlFlow::Continue(())
    }
}
