//! Expansion of states that are known by the numbers of their parts, some blocks at a time, on several cores.
//!
//! **Input**: the blocks of a level. **Output**: their steps in the graph, and the calls of the visitor, as if one core had done one
//! step after the other.
//!
//! **Algorithm**: a round is some blocks of the level.
//! 1. The steps of its states are looked for ([`Ahead`]), by block. Meanwhile those of the round before are entered, in order: the
//!    nodes, the edges, what the visitor learns; then its new states are written for the next level, by block. A state that was not
//!    known when its fingerprint was looked for may be one that either round has entered since, so these are kept in two small
//!    tables ([`Recent`]).
//! 2. When both are done, the fingerprints of the new states are entered, each core those of its own tables.
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
use super::memo::Memo;
use super::numbered::NumberWriter;
use super::origin::Origin;
use super::visited::Recent;
use super::{Engine, LARGE, LOOK, Monitor, Transition, Visitor};
use crate::budget::Statistics;
use crate::vm::{Choice, Parts, Work};
use std::collections::VecDeque;
use std::ops::ControlFlow;
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

/// Lets some threads do tasks, while this one does `own` first, which gives more of them.
fn work_off<T: Send>(jobs: usize, tasks: Vec<T>, own: impl FnOnce() -> Vec<T>, work: impl Fn(T) + Sync) {
    let helpers = tasks.len().min(jobs.saturating_sub(1));
    let tasks = Mutex::new(VecDeque::from(tasks));
    let lock = || tasks.lock().unwrap_or_else(PoisonError::into_inner);
    let take = || lock().pop_front();
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
        let more = own();
        lock().extend(more);
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
        work_off(jobs, tasks, Vec::new, |(block, ahead): (&Block, &mut Ahead)| ahead.look(block, &scene));
    }

    /// Enters a round and writes what is new, while the steps of the next one are looked for; then the fingerprints.
    fn enter_round(&mut self, rounds: &mut Rounds) -> ControlFlow<()> {
        let (jobs, is_reduced) = (self.threads(rounds.now.len().0), self.reduction().is_some());
        let (block, last) = self.next.open_numbers();
        let Rounds { now, next, earlier, recent, new } = rounds;
        new.clear();
        let Collapse { parts, memo, .. } = &self.collapse;
        let (visited, lists) = self.found.graph.split();
        let mut entering = Entering {
            parts,
            memo,
            lists,
            statistics: &mut self.found.statistics,
            visitor: &mut *self.visitor,
            executed: &mut self.executed,
            earlier,
            recent,
            new: &mut *new,
        };
        let (mut over, mut written) = (ControlFlow::Continue(()), Vec::new());
        let (scene, now) = (Scene { parts, memo, visited: &*visited, is_reduced }, &*now);
        let tasks = next.blocks.iter().zip(&mut next.ahead).map(|(block, ahead)| Task::Look(block, ahead)).collect();
        let (is_over, writers) = (&mut over, &mut written);
        let own = move || {
            *is_over = entering.enter(now.found());
            let (made, parts_of_new) = divide(NumberWriter { block, last }, entering.new, now);
            *writers = made;
            writers.iter_mut().zip(parts_of_new).map(|(writer, new)| Task::Write(writer, new)).collect()
        };
        work_off(jobs, tasks, own, |task| match task {
            Task::Look(block, ahead) => ahead.look(block, &scene),
            Task::Write(writer, new) => write(writer, new, now, (parts, memo)),
        });
        written.into_iter().for_each(|writer| self.next.append(writer.block, writer.last));
        work_off(jobs, visited.shares(jobs), Vec::new, |mut share| {
            share.insert(new.iter().map(|new| (new.fingerprint, new.node)));
        });
        // So that the tables are as large with one thread.
        visited.prepare();
        earlier.clear();
        std::mem::swap(earlier, recent);
        self.found.stopped |= over.is_break();
        over
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
    /// The states that the round before has entered, and those of this one.
    earlier: &'e Recent,
    recent: &'e mut Recent,
    new: &'e mut Vec<New>,
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
                let to = self.earlier.find(fingerprint);
                let to = to.unwrap_or_else(|| self.recent.find_or_insert(fingerprint, node));
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

/// What threads do while one of them enters a round.
enum Task<'a> {
    /// To look for the steps of the states of a block of the next one.
    Look(&'a Block, &'a mut Ahead),
    /// To write some of the new states of the round.
    Write(&'a mut NumberWriter, &'a [New]),
}

/// Writes new states of a round.
fn write<N: Copy>(writer: &mut NumberWriter, new: &[New], round: &Round, (parts, memo): (&Parts, &Memo<N>)) {
    let mut behind = Vec::new();
    for &New { node, step, block, state, choice, .. } in new {
        let numbers = round.ahead[block as usize].state(state as usize).numbers;
        let origin = Origin::new(numbers, parts.cells(numbers), choice);
        memo.write_behind(step, &origin, &mut behind);
        writer.push(node, &behind);
    }
}

/// Which of the new states go to which block; the first one is perhaps begun.
fn divide<'n>(open: NumberWriter, new: &'n [New], round: &Round) -> (Vec<NumberWriter>, Vec<&'n [New]>) {
    let (mut written, mut parts) = (vec![open], Vec::new());
    let (mut start, mut size) = (0, 0);
    for (place, of) in new.iter().enumerate() {
        let numbers = round.ahead[of.block as usize].state(of.state as usize).numbers.len() as u64;
        let is_first = place == start && written.len() > 1;
        if !is_first && written.last().is_some_and(|last| !last.block.has_room(place - start + 1, size + numbers)) {
            parts.push(&new[start..place]);
            written.push(NumberWriter::default());
            (start, size) = (place, 0);
        }
        size += numbers;
    }
    parts.push(&new[start..]);
    (written, parts)
}
