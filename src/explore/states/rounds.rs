//! Expansion of states that are known by the numbers of their parts, some blocks at a time, on several cores.
//!
//! **Input**: the blocks of a level. **Output**: their steps in the graph, and the calls of the visitor, as if one core had done one
//! step after the other.
//!
//! **Algorithm**: a round is some blocks of the level.
//! 1. The steps of its states are looked for ([`Ahead`]), by block. Meanwhile those of the round before are entered, in order: the
//!    nodes, the edges, what the visitor learns. A state that was not known when its fingerprint was looked for may be one that
//!    either round has entered since, so these are kept in two small tables ([`Recent`]).
//! 2. When both are done, the fingerprints of the new states are entered, each core those of its own tables, and the states are
//!    written for the next level, by block.
//! 3. Before a round is entered, the machine does those of its steps that were not done before, so that they are known.
//!
//! A round in which the machine has more to do, or in which a bound may be hit, is entered step by step (`collapsed`), and
//! nothing is looked for meanwhile.
//!
//! **Soundness and limits**: the rounds do not depend on the number of cores, nor does anything that comes out.

use super::ahead::{Ahead, Ready, Scene};
use super::collapse::Collapse;
use super::frontier::{Block, Frontier};
use super::graph::{DISCARDED, Lists, NodeKind};
use super::memo::{Memo, Origin};
use super::numbered::NumberWriter;
use super::visited::{Recent, Share, Visited};
use super::{Engine, LARGE, LOOK, Monitor, Transition, Visitor};
use crate::budget::Statistics;
use crate::vm::{Choice, Parts, Work};
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// States of a round, at most but for those of its last block.
const STATES: usize = 4096;

/// States that were met, for each of a round: what is known of a round takes little beside them.
const MET: usize = 32;

/// The part of the memory that the user allows which the states of a round may take.
const PART_OF_MEMORY: u64 = 256;

/// Blocks, and what was found of their states.
#[derive(Default)]
struct Round {
    blocks: Vec<Block>,
    /// One for each block, and perhaps more.
    ahead: Vec<Ahead>,
}

impl Round {
    /// Takes blocks off a level.
    fn take(&mut self, level: &mut Frontier, states: usize, words: u64) {
        self.blocks.clear();
        let (mut taken, mut size) = (0, 0);
        while let Some((true, len, more)) = level.first()
            && (taken == 0 || taken < states && size + more <= words)
        {
            (taken, size) = (taken + len, size + more);
            self.blocks.extend(level.take());
        }
        if self.ahead.len() < self.blocks.len() {
            self.ahead.resize_with(self.blocks.len(), Ahead::default);
        }
    }

    /// What was found, by block.
    fn found(&self) -> &[Ahead] {
        &self.ahead[..self.blocks.len()]
    }

    fn is_plain(&self) -> bool {
        self.found().iter().all(Ahead::is_plain)
    }

    /// Number of states, and of their steps.
    fn len(&self) -> (usize, usize) {
        self.found().iter().map(Ahead::len).fold((0, 0), |sum, len| (sum.0 + len.0, sum.1 + len.1))
    }
}

/// A state that is new: which step of which state of which block has led to it, and its node.
#[derive(Clone, Copy, Debug)]
struct New {
    fingerprint: u128,
    node: u32,
    step: u32,
    block: u32,
    state: u32,
    choice: Choice,
}

/// Two rounds, and what was entered last.
#[derive(Default)]
pub(super) struct Rounds {
    now: Round,
    next: Round,
    /// New states of the round before, and of this one.
    earlier: Recent,
    recent: Recent,
    new: Vec<New>,
}

impl Rounds {
    /// Memory that they take, but for the blocks; the same for any number of threads.
    fn bytes(&self) -> u64 {
        let ahead: u64 = self.now.ahead.iter().chain(&self.next.ahead).map(Ahead::bytes).sum();
        ahead + self.new.capacity() as u64 * (size_of::<New>() as u64 + 2 * Recent::BYTES)
    }

    fn forget(&mut self) {
        self.earlier.clear();
        self.recent.clear();
    }
}

/// Lets some threads do tasks, while this one does `own` first.
fn work_off<T: Send>(jobs: usize, tasks: Vec<T>, own: impl FnOnce(), work: impl Fn(T) + Sync) {
    let helpers = tasks.len().min(jobs.saturating_sub(1));
    let tasks = Mutex::new(tasks.into_iter());
    let take = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(task) = take() {
            work(task);
        }
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            // Where no thread can be made, the others do what there is.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        own();
        work();
    });
}

impl<G: Monitor, V: Visitor<G>> Engine<'_, G, V> {
    /// Expands the blocks of a level up to the first one whose states are known by their words.
    pub(super) fn expand_rounds(&mut self, level: &mut Frontier) -> ControlFlow<()> {
        let mut rounds = std::mem::take(&mut self.rounds);
        let over = self.expand_by(&mut rounds, level);
        self.rounds = rounds;
        over
    }

    fn expand_by(&mut self, rounds: &mut Rounds, level: &mut Frontier) -> ControlFlow<()> {
        rounds.forget();
        let words = self.budget.limits().max_memory.map_or(LOOK, |most| (most / PART_OF_MEMORY / 8).min(LOOK));
        self.collapse.tidy();
        rounds.now.take(level, self.states_of_round(), words);
        self.look_ahead(&mut rounds.now);
        while !rounds.now.blocks.is_empty() {
            rounds.next.take(level, self.states_of_round(), words);
            self.rounds_bytes = rounds.bytes();
            self.learn_round(&mut rounds.now)?;
            if self.is_plain(&rounds.now) {
                self.look_at_bounds()?;
                debug_assert!(self.are_done_so(&rounds.now));
                self.enter_round(rounds)?;
                self.left -= rounds.now.len().0;
            } else {
                rounds.forget();
                let found = rounds.now.found().iter();
                for ready in found.flat_map(|ahead| (0..ahead.len().0).map(|state| ahead.state(state))) {
                    self.expand_ready(ready)?;
                }
                self.collapse.tidy();
                self.look_ahead(&mut rounds.next);
            }
            let bytes: u64 = rounds.now.blocks.iter().map(Block::bytes).sum();
            self.level_bytes = self.level_bytes.saturating_sub(bytes);
            std::mem::swap(&mut rounds.now, &mut rounds.next);
        }
        ControlFlow::Continue(())
    }

    fn states_of_round(&self) -> usize {
        (self.found.graph.len() / MET).clamp(1, STATES)
    }

    /// Whether a round can be entered without the machine, and without a look at the bounds.
    fn is_plain(&self, round: &Round) -> bool {
        let limits = self.budget.limits();
        let most = self.most_states() >= (self.found.graph.len() + round.len().1) as u64;
        let ends = limits.max_executions.is_none_or(|limit| self.found.statistics.executions < limit);
        self.collapse.is_on && round.is_plain() && most && ends
    }

    /// Threads for a round of so many states.
    fn threads(&self, states: usize) -> usize {
        if states >= LARGE { self.budget.jobs() } else { 1 }
    }

    /// Lets the machine do the steps of a round that were not done before.
    fn learn_round(&mut self, round: &mut Round) -> ControlFlow<()> {
        if !self.collapse.is_on {
            return ControlFlow::Continue(());
        }
        for ahead in &mut round.ahead[..round.blocks.len()] {
            let mut place = 0;
            while let Some((new, ready)) = ahead.next_new(place) {
                self.may_step()?;
                let choice = ahead.step(new).choice();
                let of = self.collapse.origin(ready.numbers, choice);
                if let Some(step) = self.known_step(choice, &of) {
                    let Collapse { parts, memo, .. } = &self.collapse;
                    let behind = memo.fingerprint_behind(step, ready.fingerprint, &of, parts);
                    ahead.learn(new, (step, behind), self.found.graph.visited());
                }
                place = new + 1;
            }
        }
        ControlFlow::Continue(())
    }

    /// Looks for the steps of a round, while nothing is entered.
    fn look_ahead(&mut self, round: &mut Round) {
        let jobs = self.threads(round.blocks.iter().map(Block::len).sum());
        let is_reduced = self.reduction().is_some();
        let Collapse { parts, memo, .. } = &self.collapse;
        let scene = Scene { parts, memo, visited: self.found.graph.visited(), is_reduced };
        let tasks = round.blocks.iter().zip(&mut round.ahead).collect();
        work_off(jobs, tasks, || (), |(block, ahead): (&Block, &mut Ahead)| ahead.look(block, &scene));
    }

    /// Enters a round, and looks for the steps of the next one, with one thread or with several.
    fn enter_round(&mut self, rounds: &mut Rounds) -> ControlFlow<()> {
        let jobs = self.threads(rounds.now.len().0);
        rounds.new.clear();
        if jobs > 1 {
            return self.enter_in_parallel(rounds, jobs);
        }
        rounds.forget();
        let Rounds { now, next, new, .. } = rounds;
        let (visited, lists) = self.found.graph.split();
        let mut entering = Entering {
            parts: &self.collapse.parts,
            memo: &self.collapse.memo,
            lists,
            statistics: &mut self.found.statistics,
            visitor: &mut *self.visitor,
            executed: &mut self.executed,
            met: Met::All(visited),
            new,
        };
        let over = entering.enter(now.found());
        self.found.stopped |= over.is_break();
        self.write(&rounds.new, &rounds.now, 1, false);
        self.look_ahead(next);
        over
    }

    /// Enters a round, while the steps of the next one are looked for; then what is new.
    fn enter_in_parallel(&mut self, rounds: &mut Rounds, jobs: usize) -> ControlFlow<()> {
        let is_reduced = self.reduction().is_some();
        let Rounds { now, next, earlier, recent, new } = rounds;
        let Collapse { parts, memo, .. } = &self.collapse;
        let (visited, lists) = self.found.graph.split();
        let mut entering = Entering {
            parts,
            memo,
            lists,
            statistics: &mut self.found.statistics,
            visitor: &mut *self.visitor,
            executed: &mut self.executed,
            met: Met::Recently(earlier, recent),
            new,
        };
        let mut over = ControlFlow::Continue(());
        let scene = Scene { parts, memo, visited, is_reduced };
        let tasks = next.blocks.iter().zip(&mut next.ahead).collect();
        let own = || over = entering.enter(now.found());
        work_off(jobs, tasks, own, |(block, ahead): (&Block, &mut Ahead)| ahead.look(block, &scene));
        self.found.stopped |= over.is_break();
        self.write(new, now, jobs, true);
        earlier.clear();
        std::mem::swap(earlier, recent);
        over
    }

    /// Writes the new states of a round for the next level, and enters their fingerprints, unless that is done.
    fn write(&mut self, new: &[New], round: &Round, jobs: usize, enters: bool) {
        let (block, last) = self.next.open_numbers();
        let (mut written, ranges) = divide(NumberWriter { block, last }, new, round);
        let (visited, _) = self.found.graph.split();
        let shares = if enters { visited.shares(jobs) } else { Vec::new() };
        let tasks = shares.into_iter().map(Task::Enter);
        let tasks = tasks.chain(written.iter_mut().zip(ranges).map(|(writer, range)| Task::Write(writer, range)));
        let Collapse { parts, memo, .. } = &self.collapse;
        work_off(jobs, tasks.collect(), || (), |task| task.do_for((parts, memo), new, round));
        written.into_iter().for_each(|writer| self.next.append(writer.block, writer.last));
        // So that the tables are as large with one thread.
        self.found.graph.split().0.prepare();
    }

    /// Whether the machine does the steps of a round as they were done before; asked of some of them.
    fn are_done_so(&mut self, round: &Round) -> bool {
        let mut number = 0;
        let found = round.found().iter();
        found.flat_map(|ahead| (0..ahead.len().0).map(|state| ahead.state(state))).all(|ready| {
            let Ready { node, numbers, steps, .. } = ready;
            self.has_these_moves(node, numbers)
                && steps.unwrap_or_default().iter().all(|found| {
                    number += 1;
                    let choice = found.choice();
                    let of = self.collapse.origin(numbers, choice);
                    found.step().is_none_or(|step| self.is_done_so(number, choice, &of, step))
                })
        })
    }
}

/// What is changed while the steps of a round are entered.
struct Entering<'e, N, V> {
    parts: &'e Parts,
    memo: &'e Memo<N>,
    lists: &'e mut Lists,
    statistics: &'e mut Statistics,
    visitor: &'e mut V,
    executed: &'e mut Work,
    met: Met<'e>,
    new: &'e mut Vec<New>,
}

/// The states that were met: all of them, or those of the round before and of this one.
enum Met<'e> {
    All(&'e mut Visited),
    Recently(&'e Recent, &'e mut Recent),
}

impl Met<'_> {
    /// The node of a fingerprint that was not known when it was looked for; the one that is given if it is new.
    #[inline]
    fn find_or_insert(&mut self, fingerprint: u128, node: u32) -> u32 {
        match self {
            Met::All(visited) => visited.find_or_insert(fingerprint, node),
            Met::Recently(earlier, recent) => {
                earlier.find(fingerprint).unwrap_or_else(|| recent.find_or_insert(fingerprint, node))
            }
        }
    }
}

impl<N, V> Entering<'_, N, V> {
    /// Enters all steps of a round; `Break` if the visitor has seen enough.
    fn enter<G: Monitor<Note = N>>(&mut self, round: &[Ahead]) -> ControlFlow<()>
    where
        N: Copy,
        V: Visitor<G>,
    {
        for (block, ahead) in round.iter().enumerate() {
            for state in 0..ahead.len().0 {
                let ready = ahead.state(state);
                self.lists.begin_edges(ready.node);
                if self.enter_state(&ready, (block as u32, state as u32)).is_break() {
                    self.lists.cancel_edges(ready.node);
                    return ControlFlow::Break(());
                }
                self.lists.set_kind(ready.node, NodeKind::Expanded);
            }
        }
        ControlFlow::Continue(())
    }

    fn enter_state<G: Monitor<Note = N>>(&mut self, of: &Ready<'_>, (block, state): (u32, u32)) -> ControlFlow<()>
    where
        N: Copy,
        V: Visitor<G>,
    {
        let (from, cells) = (of.node, self.parts.cells(of.numbers));
        for found in of.steps.unwrap_or_default() {
            let Some(step) = found.step() else { continue };
            let (choice, fingerprint) = (found.choice(), found.fingerprint);
            self.statistics.steps += 1;
            self.executed.0 += u64::from(self.memo.step(step).instructions);
            self.visitor.begin();
            if V::ACTIVE {
                let origin = Origin::new(of.numbers, cells, choice);
                for (thread, at, event) in self.memo.events(step, &origin, self.parts) {
                    self.visitor.event(thread, at, event);
                }
            }
            if self.memo.step(step).is_discarded {
                self.lists.add_edge(DISCARDED);
                self.visitor.discarded(from, choice);
                continue;
            }
            let to = found.known().unwrap_or_else(|| {
                let node = self.lists.len() as u32;
                let to = self.met.find_or_insert(fingerprint, node);
                if to == node {
                    self.lists.add_node(from, choice, NodeKind::Waiting);
                    self.new.push(New { fingerprint, node, step, block, state, choice });
                }
                to
            });
            self.visitor.notes(self.memo.notes(step));
            self.lists.add_edge(to);
            self.visitor.transition(&Transition { from, choice: Some(choice), to });
            if self.visitor.is_enough() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

/// What is left to do with the new states of a round.
enum Task<'a> {
    /// To enter their fingerprints into these tables.
    Enter(Share<'a>),
    /// To write some of them.
    Write(&'a mut NumberWriter, Range<usize>),
}

impl Task<'_> {
    fn do_for<N: Copy>(self, (parts, memo): (&Parts, &Memo<N>), new: &[New], round: &Round) {
        match self {
            Task::Enter(mut share) => new.iter().for_each(|new| share.insert(new.fingerprint, new.node)),
            Task::Write(writer, range) => {
                let mut behind = Vec::new();
                for &New { node, step, block, state, choice, .. } in &new[range] {
                    let numbers = round.ahead[block as usize].state(state as usize).numbers;
                    let origin = Origin::new(numbers, parts.cells(numbers), choice);
                    memo.write_behind(step, &origin, &mut behind);
                    writer.push(node, &behind);
                }
            }
        }
    }
}

/// Which of the new states go to which block; the first one is perhaps begun.
fn divide(open: NumberWriter, new: &[New], round: &Round) -> (Vec<NumberWriter>, Vec<Range<usize>>) {
    let (mut written, mut ranges) = (vec![open], Vec::new());
    let (mut start, mut size) = (0, 0);
    for (place, new) in new.iter().enumerate() {
        let numbers = round.ahead[new.block as usize].state(new.state as usize).numbers.len() as u64;
        let is_first = place == start && written.len() > 1;
        if !is_first && written.last().is_some_and(|last| !last.block.has_room(place - start + 1, size + numbers)) {
            ranges.push(start..place);
            written.push(NumberWriter::default());
            (start, size) = (place, 0);
        }
        size += numbers;
    }
    ranges.push(start..new.len());
    (written, ranges)
}
