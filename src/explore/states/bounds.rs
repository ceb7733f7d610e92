//! The bounds of a search: when they are checked, and what is counted.
//!
//! **Input**: the states visited and the work done so far. **Output**: whether the search continues; `found` says which bound was
//! hit.
//!
//! **Soundness and limits**: the numbers of states and executions are checked for each of them. Time and memory are checked so
//! often that neither many states nor long steps escape the check.

use super::{DICTIONARY, Engine, LOOK, LOOK_INSTRUCTIONS};
use cssame_budget::Bound;
use cssame_vm::Work;
use std::ops::ControlFlow;

impl Engine<'_> {
    pub(super) fn stop(&mut self, bound: Bound) -> ControlFlow<()> {
        self.found.bound = Some(bound);
        ControlFlow::Break(())
    }

    /// Looks at the bounds before every 1024th state, and sooner where states are large.
    pub(super) fn look(&mut self) -> ControlFlow<()> {
        self.entered += 1;
        let steps = self.found.statistics.steps;
        self.work += (steps - self.steps_before) * self.words;
        self.steps_before = steps;
        let is_time = self.entered % 1024 == 1 || self.work >= LOOK;
        let over = if is_time { self.look_at_bounds() } else { ControlFlow::Continue(()) };
        self.left -= 1;
        over
    }

    /// Looks at the bounds now.
    pub(super) fn look_at_bounds(&mut self) -> ControlFlow<()> {
        self.work = 0;
        self.found.statistics.states = self.found.graph.len() as u64;
        self.found.statistics.terms = self.watch.terms() as u64;
        self.found.statistics.waiting = (self.left + self.next.len()) as u64;
        if let Err(bound) = self.budget.report(&self.found.statistics) {
            return self.stop(bound);
        }
        self.dictionary.make_room(DICTIONARY.max(2 * self.found.statistics.states));
        self.collapse.look(self.found.statistics.states);
        // What waits is given back before the ways through the graph are looked for; but the allocator has gaps then, in which
        // these find no room.
        let waiting = self.level_bytes + self.next.bytes() + self.dictionary.bytes() + self.ahead_bytes;
        let ways = self.found.graph.bytes_of_ways();
        let states = self.found.graph.bytes() + self.collapse.bytes() + waiting.max(ways) + waiting.min(ways) / 2;
        if self.budget.exceeds_memory(states + self.found.tables.bytes() + self.watch.bytes()) {
            return self.stop(Bound::Memory);
        }
        ControlFlow::Continue(())
    }

    pub(super) fn may_step(&mut self) -> ControlFlow<()> {
        if self.budget.limits().max_executions.is_some_and(|limit| self.found.statistics.executions >= limit) {
            return self.stop(Bound::Executions);
        }
        // A state may allow many long steps.
        if self.executed.0 >= LOOK_INSTRUCTIONS {
            self.executed = Work::default();
            if let Some(bound) = self.budget.check() {
                return self.stop(bound);
            }
        }
        ControlFlow::Continue(())
    }

    /// States that may be met.
    pub(super) fn most_states(&self) -> u64 {
        // One number is the mark of discarded executions.
        self.budget.limits().max_states.unwrap_or(u64::MAX).min(u64::from(u32::MAX) - 1)
    }

    /// A new state waits to be expanded.
    pub(super) fn wait(&mut self) -> ControlFlow<()> {
        if self.found.graph.len() as u64 > self.most_states() {
            self.stop(Bound::States)
        } else {
            ControlFlow::Continue(())
        }
    }
}
