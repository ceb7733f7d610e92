//! The cost of a search: bounds, memory, and the expected number of executions.
//!
//! **Input**: a running search. **Output**: the bound that it has hit, if any; and estimates for callers that wait for it, or for
//! which it may be too expensive.

use super::super::operation::Operation;
use super::node::{Node, Sleeper};
use super::{MANY_ORDERS, Search};
use crate::states::LOOK_INSTRUCTIONS;
use cssame_budget::Bound;
use cssame_vm::Work;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Looks at the bounds, now and then also at the clock.
    pub(super) fn look(&mut self) {
        let executions = self.found.statistics.executions;
        let work = self.work_done();
        if executions.is_multiple_of(64) || work >= self.next_look {
            self.next_look = work + 100_000;
            self.found.statistics.waiting = self.nodes.iter().map(|node| node.waiting.len() as u64).sum();
            self.found.statistics.expected = self.expected();
            self.measured = self.measure();
            self.found.bound = self.found.bound.or(self.budget.report(&self.found.statistics).err());
        }
        let hit = |limit: Option<u64>, value| limit.is_some_and(|limit| value >= limit);
        if hit(self.budget.limits().max_executions, executions) || hit(self.budget.limits().max_work, work) {
            self.found.bound = self.found.bound.or(Some(Bound::Executions));
        }
    }

    /// Memory that the search takes: exact where it grows fast, else as it was measured last.
    pub(super) fn bytes(&self) -> u64 {
        (self.branch_bytes + self.tree.bytes() + self.measured) as u64
    }

    /// Memory of the lists of branches, of what is known of them, of the log, and of what is used again.
    fn measure(&self) -> usize {
        let node = |node: &Node| {
            let branches = node.waiting.capacity() * size_of::<Vec<Operation>>();
            let asleep = node.asleep.capacity() * size_of::<Sleeper>();
            size_of::<Node>() + branches + asleep + node.seen.capacity() * (size_of::<u128>() + 1) * 8 / 7
        };
        let nodes: usize = self.nodes.iter().chain(&self.spare).map(node).sum();
        nodes
            + self.known.bytes() as usize
            + self.log.bytes()
            + self.tree.bytes_of_spare()
            + self.found.tables.bytes() as usize
    }

    /// Looks at the clock where steps have executed much.
    pub(super) fn look_at_clock(&mut self) {
        if self.seen.executed.0 >= LOOK_INSTRUCTIONS {
            self.seen.executed = Work::default();
            self.found.bound = self.found.bound.or(self.budget.check());
        }
    }

    /// How many executions there will be, if those that wait are worth as much as those that were followed: what part of
    /// them that is follows from the branches of each node that were found so far (Knuth 1975).
    fn expected(&self) -> u64 {
        let (mut part, mut done) = (1.0, 0.0);
        for node in &self.nodes {
            let waiting = node.waiting.len() as f64;
            let branches = (node.branches as f64).max(waiting + 1.0);
            part /= branches;
            done += part * (branches - waiting - 1.0);
        }
        ((self.found.statistics.executions - self.earlier) as f64 / (done + part).max(f64::MIN_POSITIVE)) as u64
    }

    /// Whether far more executions were followed than there are futures.
    pub(super) fn has_many_orders(&self) -> bool {
        let (enough, most) = MANY_ORDERS;
        let executions = self.found.statistics.executions - self.earlier;
        executions >= enough && executions > most * self.known.len()
    }

    /// Whether all executions may be followed with the work that is allowed, as far as can be told: who decides about terms takes a
    /// share of several searches, and whether one execution is one future does not matter to them.
    pub(super) fn fits(&self) -> bool {
        let executions = self.found.statistics.executions.max(1);
        let most = self.budget.limits().max_work;
        most.is_some_and(|most| self.expected().saturating_mul(self.work_done() / executions) <= most)
    }

    pub(super) fn work_done(&self) -> u64 {
        self.work / 8 + self.found.statistics.steps
    }
}
