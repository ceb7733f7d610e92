//! Expansion of states that are known by the numbers of their parts, some blocks at a time, on several cores.
//!
//! **Input**: the blocks of a level. **Output**: their steps in the graph, and the calls of the visitor, as if one core had done one
//! step after the other.
//!
//! **Algorithm**: a round is a part of the search during which nothing changes that [`Ahead`] reads: the parts, the steps that were done
//! before, and the table of all states.
//! 1. The first blocks of the level are the window: the steps of their states are looked for, by any thread, in any order.
//! 2. As soon as the first block was looked at, its steps are entered, in order, by the thread of the search: the nodes, the edges,
//!    what the visitor learns. The next block of the level takes a place in the window. A state that is not in the table may have
//!    been entered since that was changed last, so these are kept in a small table (`entering`).
//! 3. The new states of some blocks together are written for the next level, by any thread. When all blocks of the level are in the
//!    window, the first ones of the next level follow them, as far as they are written.
//! 4. The round ends when it is long enough, or when the machine is needed: for a step that was not done before, for an end, or
//!    because a bound may be hit. When the whole window was looked at, the machine does those of its steps that were not done before,
//!    so that they are known. Where that does not suffice, the first blocks are entered step by step (`collapsed`).
//! 5. When there are many new states, or before blocks are entered step by step, their fingerprints are entered into the table of all
//!    states, by any thread, in parts. The small table is kept until the next time, for the blocks that were looked at before.
//!
//! **Soundness and limits**: when a round ends and what is in the window depends on the blocks alone. So what comes out does not
//! depend on the number of threads, nor does the memory that is accounted for.

use super::ahead::{Ahead, Scene};
use super::entering::{Entered, Entering, each_new};
use super::frontier::Frontier;
use super::helpers::{Looked, Task};
use super::memo::Memo;
use super::numbered::NumberWriter;
use super::window::Rounds;
use super::{Engine, LARGE, LOOK, Monitor, Visitor};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

/// States that are entered in a round, and new ones that are in the small table alone, at most but for those of the last block.
const STATES: usize = 8_192;

/// States that were met, for each new one in the small table: what is known of a round takes little beside them.
const MET: usize = 24;

/// New states, for each state of the window.
const WINDOW: usize = 4;

/// The part of the memory that the user allows which the states of the window may take.
const PART_OF_MEMORY: u64 = 256;

/// Blocks into which a level is written, at least, and the states of one: so many that threads share them, and each large enough to
/// be worth it.
const BLOCKS: usize = 16;
const STATES_OF_BLOCK: (usize, usize) = (32, 128);

/// Tasks that write, the last ones, that are not waited for before blocks of the next level are taken into the window.
const BEHIND: usize = 2;

impl<G: Monitor, V: Visitor<G>> Engine<'_, G, V> {
    /// Expands the blocks of a level up to the first one whose states are known by their words; and then those of the next level, which
    /// is this one then.
    pub(super) fn expand_rounds(&mut self, level: &mut Frontier) -> ControlFlow<()> {
        let mut rounds = self.rounds.take().unwrap_or_else(|| Box::new(Rounds::new()));
        self.begin_rounds(&mut rounds);
        let over = self.expand_by(&mut rounds, level);
        self.rounds = Some(rounds);
        over
    }

    fn expand_by(&mut self, rounds: &mut Rounds<G::Note>, level: &mut Frontier) -> ControlFlow<()> {
        self.collapse.tidy();
        while !rounds.window.is_empty() || level.first().is_some_and(|(is_numbered, ..)| is_numbered) {
            let over = self.round(rounds, level);
            debug_assert!(mem::take(&mut rounds.unchecked).iter().all(|ahead| self.are_done_so(ahead)));
            self.rounds_bytes = rounds.bytes();
            over?;
            self.look_at_bounds()?;
            self.learn_window(rounds)?;
            if rounds.window.front().is_some_and(|looked| !self.may_enter(&looked.ahead)) {
                self.insert(rounds);
                self.expand_front(rounds, level)?;
            } else if rounds.fresh.len() >= self.states_of_round() {
                self.insert(rounds);
            }
        }
        ControlFlow::Continue(())
    }

    /// A level begins, or that part of it whose states are known by their numbers.
    fn begin_rounds(&mut self, rounds: &mut Rounds<G::Note>) {
        let (least, most) = STATES_OF_BLOCK;
        self.next.set_states_of_block((self.left / BLOCKS).clamp(least, most));
        rounds.helpers.share_among(if self.left >= LARGE { self.budget.jobs() } else { 1 });
    }

    fn states_of_round(&self) -> usize {
        (self.found.graph.len() / MET).clamp(1, STATES)
    }

    /// Enters into the table of all states what is known to the rounds alone.
    pub(super) fn end_rounds(&mut self) {
        if let Some(mut rounds) = self.rounds.take() {
            self.insert(&mut rounds);
            self.rounds = Some(rounds);
        }
    }

    /// Whether a block can be entered without the machine, and without a look at the bounds.
    fn may_enter(&self, ahead: &Ahead) -> bool {
        let limits = self.budget.limits();
        let most = self.most_states() >= (self.found.graph.len() + ahead.len().1) as u64;
        let ends = limits.max_executions.is_none_or(|limit| self.found.statistics.executions < limit);
        self.collapse.is_on && ahead.is_plain() && most && ends
    }

    /// A round: enters blocks until it is long enough, or the first one of the window cannot be entered so.
    fn round(&mut self, rounds: &mut Rounds<G::Note>, level: &mut Frontier) -> ControlFlow<()> {
        let states = self.states_of_round();
        self.lend(rounds);
        if rounds.finds_again {
            rounds.find_again();
        }
        let (mut over, mut entered) = (ControlFlow::Continue(()), (0, 0));
        while over.is_continue() && entered.0 < STATES && entered.1 < LOOK && rounds.fresh.len() < states {
            self.fill_window(rounds, level, states.div_ceil(WINDOW));
            if rounds.of_level == 0 {
                if !level.is_empty() || !self.may_cross() {
                    break;
                }
                self.append_written(rounds, 0);
                self.write_rest(rounds);
                let was_reduced = self.reduces;
                if !self.cross(rounds, level) || self.reduces != was_reduced {
                    break;
                }
                continue;
            }
            let Some(front) = rounds.wait_for_front() else { break };
            if !self.may_enter(&front.ahead) {
                break;
            }
            entered = (entered.0 + front.block.len(), entered.1 + front.block.words());
            over = self.enter_front(rounds);
        }
        rounds.wait_for_all();
        self.append_written(rounds, 0);
        self.write_rest(rounds);
        self.take_back(rounds);
        self.found.stopped |= over.is_break();
        over
    }

    /// Lends to the tasks what they read.
    fn lend(&mut self, rounds: &mut Rounds<G::Note>) {
        let scene = Scene {
            parts: mem::take(&mut self.collapse.parts),
            memo: mem::replace(&mut self.collapse.memo, Memo::new(&[])),
            visited: mem::take(self.found.graph.visited_mut()),
            is_reduced: self.reduction().is_some(),
        };
        rounds.helpers.exchange(scene);
    }

    /// Takes back what was lent, and the states that were written.
    fn take_back(&mut self, rounds: &mut Rounds<G::Note>) {
        let Scene { parts, memo, visited, .. } = rounds.helpers.exchange(Scene::default());
        (self.collapse.parts, self.collapse.memo) = (parts, memo);
        *self.found.graph.visited_mut() = visited;
    }

    /// Takes blocks into the window: of the level, or of the next one where all of this one are taken.
    fn fill_window(&mut self, rounds: &mut Rounds<G::Note>, level: &mut Frontier, states: usize) {
        let words = self.budget.limits().max_memory.map_or(LOOK, |most| (most / PART_OF_MEMORY / 8).min(LOOK));
        let before = rounds.window.len();
        rounds.fill(level, 0, (states, words));
        rounds.of_level += rounds.window.len() - before;
        if level.is_empty() && rounds.of_level > 0 && self.may_cross() {
            // By the number of tasks that were given, not by what is done: that depends on the threads.
            self.append_written(rounds, BEHIND);
            let (states, bytes) = rounds.fill(&mut self.next, 1, (states, words));
            self.left += states;
            self.level_bytes += bytes;
        }
    }

    /// Waits for what is written, but for the last tasks, and adds it to the next level.
    fn append_written(&mut self, rounds: &mut Rounds<G::Note>, but: usize) {
        while rounds.written.len() > but {
            while rounds.written.front().is_none() && rounds.wait() {}
            for NumberWriter { block, last } in rounds.written.take().into_iter().flatten() {
                self.next.append(block, last);
            }
        }
    }

    /// Whether a round may go on with the next level.
    fn may_cross(&self) -> bool {
        let depth = self.found.statistics.depth + 1;
        self.collapse.is_on && self.budget.limits().max_steps.is_none_or(|limit| depth < limit)
    }

    /// All states of the level were expanded, and those of the next one are written: it is the level now. False if it has no states.
    fn cross(&mut self, rounds: &mut Rounds<G::Note>, level: &mut Frontier) -> bool {
        if rounds.window.is_empty() && self.next.is_empty() {
            return false;
        }
        mem::swap(level, &mut self.next);
        self.next.clear();
        rounds.of_level = rounds.window.len();
        self.left += level.len();
        self.level_bytes += level.bytes();
        self.found.statistics.depth += 1;
        self.begin_level();
        self.begin_rounds(rounds);
        true
    }

    /// Enters the first block of the window.
    fn enter_front(&mut self, rounds: &mut Rounds<G::Note>) -> ControlFlow<()> {
        let is_stale = rounds.stale > 0;
        let Some(Looked { block, ahead }) = rounds.take() else { return ControlFlow::Continue(()) };
        if cfg!(debug_assertions) {
            rounds.unchecked.push(ahead.clone());
        }
        let mut new = rounds.spare.1.pop().unwrap_or_default();
        new.clear();
        let scene = rounds.helpers.scene();
        let mut entering = Entering {
            scene: &scene,
            lists: self.found.graph.lists_mut(),
            statistics: &mut self.found.statistics,
            visitor: &mut *self.visitor,
            executed: &mut self.executed,
            earlier: is_stale.then_some(&rounds.earlier),
            recent: &mut rounds.recent,
            fresh: &mut rounds.fresh,
            new: &mut new,
        };
        let over = entering.enter(&ahead);
        drop(scene);
        self.left -= block.len();
        self.level_bytes = self.level_bytes.saturating_sub(block.bytes());
        rounds.write(Entered { ahead, new }, self.next.states_of_block());
        over
    }

    /// Enters the fingerprints of the new states of a round.
    fn insert(&mut self, rounds: &mut Rounds<G::Note>) {
        if rounds.fresh.is_empty() {
            return;
        }
        let new = Arc::new(mem::take(&mut rounds.fresh));
        for share in self.found.graph.visited_mut().take_shares(rounds.helpers.shares(), &new) {
            let number = rounds.shares.open();
            rounds.helpers.give(Task::Insert(number, share, Arc::clone(&new)));
        }
        while rounds.wait() {}
        while let Some(share) = rounds.shares.take() {
            self.found.graph.visited_mut().give_back(share);
        }
        // So that the tables are as large with one thread.
        self.found.graph.visited_mut().prepare();
        rounds.fresh = Arc::into_inner(new).unwrap_or_default();
        rounds.fresh.clear();
        mem::swap(&mut rounds.earlier, &mut rounds.recent);
        rounds.recent.clear();
        // A block that was looked at before two such changes is looked at again.
        rounds.finds_again |= rounds.stale > 0;
        rounds.stale = rounds.window.len();
    }

    /// Writes the new states of the blocks that were entered last.
    fn write_rest(&mut self, rounds: &mut Rounds<G::Note>) {
        let entered = mem::take(&mut rounds.entered);
        each_new(&entered, &rounds.helpers.scene(), |node, numbers| self.next.push_numbers(node, numbers));
        rounds.put_by(entered);
    }

    /// Lets the machine do the steps of the window that were not done before.
    fn learn_window(&mut self, rounds: &mut Rounds<G::Note>) -> ControlFlow<()> {
        if !self.collapse.is_on {
            return ControlFlow::Continue(());
        }
        for looked in rounds.window.iter_mut() {
            let ahead = &mut looked.ahead;
            let mut place = 0;
            while let Some((new, ready)) = ahead.next_new(place) {
                self.may_step()?;
                let choice = ahead.step(new).choice();
                let of = self.collapse.origin(ready.numbers, choice);
                if let Some(step) = self.known_step(choice, &of) {
                    let behind =
                        self.collapse.memo.fingerprint_behind(step, ready.fingerprint, &of, &self.collapse.parts);
                    ahead.learn(new, (step, behind), self.found.graph.find(behind));
                }
                place = new + 1;
            }
        }
        ControlFlow::Continue(())
    }

    /// Expands the first blocks of the window step by step, up to one that may be entered.
    fn expand_front(&mut self, rounds: &mut Rounds<G::Note>, level: &mut Frontier) -> ControlFlow<()> {
        while rounds.window.front().is_some_and(|looked| !self.may_enter(&looked.ahead))
            && (rounds.of_level > 0 || self.cross(rounds, level))
            && let Some(Looked { block, ahead }) = rounds.take()
        {
            for state in 0..ahead.len().0 {
                self.expand_ready(ahead.state(state))?;
            }
            self.level_bytes = self.level_bytes.saturating_sub(block.bytes());
            rounds.spare.0.push(ahead);
        }
        self.collapse.tidy();
        // Its new states are in the table of all states.
        rounds.finds_again = true;
        ControlFlow::Continue(())
    }

    /// Whether the machine does the steps of a block as they were done before; asked of some of them.
    fn are_done_so(&mut self, ahead: &Ahead) -> bool {
        let mut number = 0;
        (0..ahead.len().0).map(|state| ahead.state(state)).all(|ready| {
            self.has_these_moves(ready.node, ready.numbers)
                && ready.steps.unwrap_or_default().iter().all(|found| {
                    number += 1;
                    let choice = found.choice();
                    let of = self.collapse.origin(ready.numbers, choice);
                    found.step().is_none_or(|step| self.is_done_so(number, choice, &of, step))
                })
        })
    }
}
