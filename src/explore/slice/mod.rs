//! What can happen, from slices of the program.
//!
//! In: a program, what is known of its memory, and its machine. Out: the same [`Answer`] and [`SelectAnswer`] as those of the
//! whole program, from programs that hold only what matters ([`relevance`]). One slice decides the outcomes, failures and
//! deadlocks, and what the reads in it see. For each other read it is asked apart what it sees, in each thread apart: so
//! the ways in which reads combine, of which there may be exponentially many, are never formed. What a slice shows is done
//! again in the whole program ([`replay`]), so every schedule is one of the whole program.
//!
//! Exact: an execution of the program, less what the slice does not hold, is one of the slice; and one of the slice can
//! be extended, since what was taken out neither blocks nor fails nor loops, and nothing depends on it.
//!
//! What it does not see: programs in which local work of the slice has no end, because a loop has no step left. It gives no
//! answer then.

mod boundary;
mod classes;
mod control;
mod index;
mod program;
mod relevance;
mod replay;

use super::deadlock::{Deadlock, blocked_threads};
use super::dovetail::Share;
use super::futures::{
    Answer, FailureWitness, Outcome, OutcomeStatus, Query, Term, futures, futures_with, sort_outcomes,
};
use super::limits::{Limits, Progress};
use super::select::{SelectAnswer, Selection, Verdict, select};
use crate::concurrency::{Concurrency, ThreadId};
use crate::ir::{Instruction, Program, ReadId};
use crate::vm::{FailureKind, Machine, Options, Progress as Stepped, Tables, ThreadIndex, Visibility, Watched};
use fixedbitset::FixedBitSet;
use index::Index;
use program::Slice;
use relevance::Relevance;
use replay::{Replay, Replayed};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::time::Instant;

/// A program as explorations see it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The program.
    pub program: &'a Program,
    /// What is known of its memory and its threads; without it there are no slices.
    pub concurrency: Option<&'a Concurrency>,
    /// Executes it, with [`Concurrency::sharing`] as what is visible.
    pub machine: &'a Machine,
}

impl Subject<'_> {
    /// Finds out what can happen, by the cheapest exact means that comes to an end: see [`Dovetail`].
    ///
    /// `progress` is called now and then; `Break` ends the search as [`Bound::Interrupt`](super::Bound::Interrupt).
    #[must_use]
    pub fn futures(
        &self,
        query: &Query,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Answer {
        let mut sliceable = None;
        futures_with(self.machine, query, limits, progress, &mut |limits, progress| {
            let sliceable = sliceable.get_or_insert_with(|| self.sliceable()).as_ref();
            let found = sliceable.map_err(|&declined| declined).and_then(|it| it.futures(query, limits, progress));
            found.map_err(|declined| if declined == Declined::Bound { Share::Larger } else { Share::Never })
        })
    }

    /// Finds out what can happen from slices alone.
    ///
    /// # Errors
    ///
    /// Why slices do not tell.
    pub fn futures_by_slices(
        &self,
        query: &Query,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Answer, Declined> {
        self.sliceable()?.futures(query, limits, progress)
    }

    /// Decides whether some execution has the selections, in the slice of what the selected reads can see where there is one.
    pub fn select(
        &self,
        selections: &[Selection],
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> SelectAnswer {
        let began = Instant::now();
        self.select_by_slice(selections, limits, progress)
            .unwrap_or_else(|_| select(self.machine, selections, &limits.after(began), progress))
    }

    /// Decides it in the slice alone.
    ///
    /// # Errors
    ///
    /// Why it does not tell.
    pub fn select_by_slice(
        &self,
        selections: &[Selection],
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<SelectAnswer, Declined> {
        self.sliceable()?.select(selections, limits, progress)
    }

    fn sliceable(&self) -> Result<Sliceable<'_>, Declined> {
        let concurrency = self.concurrency.ok_or(Declined::Unsupported)?;
        Ok(Sliceable::new(self.program, concurrency, self.machine))
    }
}

/// Why slices give no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// Nothing can be taken out, or too little.
    Whole,
    /// Nothing is known of the memory of the program.
    Unsupported,
    /// Local work of a slice has no end.
    Endless,
    /// A bound was hit.
    Bound,
    /// An execution of a slice is none of the program. That would be an error of this module.
    Disagreement,
}

/// A program, and what slices of it need.
struct Sliceable<'a> {
    index: Index<'a>,
    concurrency: &'a Concurrency,
    machine: &'a Machine,
    shared: Visibility,
    /// What matters whatever is asked, and where one asks how executions end.
    always: Relevance,
    ends: Relevance,
    /// Accesses that part a print from what follows.
    boundaries: FixedBitSet,
    /// Whether threads are made in one and the same order in all executions.
    ordered: bool,
}

/// A slice that runs, beside its program.
struct Running<'a> {
    slice: Slice,
    machine: Machine,
    whole: &'a Machine,
    /// Number of reads of the whole program; those of the slice beyond them are none of its own.
    whole_reads: usize,
}

impl<'a> Sliceable<'a> {
    /// `None` for a program of which slices say nothing.
    fn new(program: &'a Program, concurrency: &'a Concurrency, machine: &'a Machine) -> Self {
        let index = Index::new(program, concurrency);
        let sharing = &concurrency.sharing;
        let shared = Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() };
        let always = relevance::always(&index);
        let boundaries = boundary::behind_prints(&index, &shared);
        let ends = relevance::with_places(&index, &always, &boundaries);
        let ordered = makes_threads_in_order(concurrency);
        Sliceable { index, concurrency, machine, shared, always, ends, boundaries, ordered }
    }

    /// The program that is left, in which a read may be watched in one thread alone. Where one asks how it ends, prints and
    /// failures of others have to be told apart.
    fn slice(&self, relevance: &Relevance, watched: Option<Watched>, ends: bool) -> Result<Running<'a>, Declined> {
        let slice = Slice::new(&self.index, relevance, &self.shared, ends.then_some(&self.boundaries));
        if !slice.is_smaller && watched.is_none() {
            return Err(Declined::Whole);
        }
        let options = Options { watched, ..*self.machine.options() };
        let machine = Machine::with_options(&slice.program, &slice.visible, options);
        Ok(Running { slice, machine, whole: self.machine, whole_reads: self.index.program.reads.len() })
    }

    /// Decides what can happen.
    fn futures(
        &self,
        query: &Query,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Answer, Declined> {
        let base = self.slice(&self.ends, None, true)?;
        let mut collected = Collected { left: limits.clone(), ..Collected::default() };
        // If even that is too large, there is no use in trying again.
        let too_large = |declined| if declined == Declined::Bound { Declined::Whole } else { declined };
        let threads = collected.add(&base, query, None, progress).map_err(too_large)?;
        for read in self.shared.reads.ones().map(ReadId::new) {
            if base.slice.visible.read(read) || self.index.read_sites(read).is_empty() {
                continue;
            }
            let relevance = relevance::with_reads(&self.index, &self.always, &[read]);
            // What others read must not matter where one of them is watched alone.
            let matters = self.index.read_sites(read).iter().any(|&site| relevance.values(site));
            let is_watched = !matters && self.runs_in_several(read);
            let (mut thread, mut made) = (0, 1);
            while thread < made {
                let number = ThreadIndex(thread as u16);
                let watched = is_watched.then_some(Watched { read, thread: number, ordered: self.ordered });
                let running = self.slice(&relevance, watched, false)?;
                let slots = collected.add(&running, query, Some(read), progress)?;
                made = if is_watched { made.max(slots) } else { made };
                thread += 1;
            }
        }
        Ok(collected.finish(threads))
    }

    /// Whether a read may run in several threads, and can be watched in one of them.
    fn runs_in_several(&self, read: ReadId) -> bool {
        let mut threads: Vec<ThreadId> = Vec::new();
        for (block, _) in self.concurrency.blocks.iter().enumerate() {
            let reads = self.concurrency.events_of(block as u32).iter();
            if reads.clone().any(|event| event.kind == crate::concurrency::EventKind::Read(read)) {
                threads.push(self.concurrency.thread_of(block as u32));
            }
        }
        threads.dedup();
        let watchable = |&site: &u32| matches!(self.index.instruction(site), Instruction::Load { .. });
        (threads.len() > 1 || threads.iter().any(|&thread| self.concurrency.may_be_many(thread)))
            && self.index.read_sites(read).iter().all(watchable)
    }

    /// Decides whether some execution has the selections.
    fn select(
        &self,
        selections: &[Selection],
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<SelectAnswer, Declined> {
        let reads: Vec<ReadId> = selections.iter().map(|selection| selection.read).collect();
        let running = self.slice(&relevance::with_reads(&self.index, &self.always, &reads), None, false)?;
        let mut answer = select(&running.machine, selections, limits, progress);
        if answer.diverged {
            return Err(Declined::Endless);
        }
        let replay = running.replay();
        if let Verdict::Consistent { schedule, .. } = &mut answer.verdict {
            *schedule = replay.run(schedule, None, &mut Tables::new()).ok_or(Declined::Disagreement)?.schedule;
        }
        let open = answer.open.iter().filter_map(|open| replay.run(open, None, &mut Tables::new()));
        answer.open = open.map(|replayed| replayed.schedule).collect();
        Ok(answer)
    }
}

/// Whether no two threads may make threads at one time.
fn makes_threads_in_order(concurrency: &Concurrency) -> bool {
    let mut makers: Vec<u32> = concurrency.forks.keys().copied().collect();
    makers.sort_unstable();
    let apart = |(place, &one): (usize, &u32)| {
        makers[place..].iter().all(|&other| !concurrency.structurally_parallel(one, other))
    };
    makers.len() <= MAX_MAKERS && makers.iter().enumerate().all(apart)
}

/// Places that make threads of which it is asked whether they are parallel.
const MAX_MAKERS: usize = 200;

impl Running<'_> {
    fn replay(&self) -> Replay<'_> {
        Replay { whole: self.whole, slice: &self.machine, parts: &self.slice }
    }
}

/// What the slices have shown so far, in executions of the whole program.
#[derive(Default)]
struct Collected {
    left: Limits,
    tables: Tables,
    progress: Progress,
    terms: Vec<Term>,
    undecided: Vec<(ReadId, crate::ir::DefinitionId)>,
    outcomes: Vec<Outcome>,
    failures: Vec<FailureWitness>,
    deadlocks: Vec<Deadlock>,
}

impl Collected {
    /// Searches a slice, for all that it holds or for one read. Gives the number of slots of threads.
    fn add(
        &mut self,
        running: &Running<'_>,
        query: &Query,
        read: Option<ReadId>,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<usize, Declined> {
        let answer = futures(&running.machine, query, &self.left, progress);
        let endless = |outcome: &Outcome| outcome.status == OutcomeStatus::Failed(FailureKind::StepLimit);
        if answer.outcomes.iter().any(endless) {
            return Err(Declined::Endless);
        }
        if !answer.is_complete() {
            return Err(Declined::Bound);
        }
        self.spend(&answer.progress);
        let replay = running.replay();
        for term in &answer.terms {
            let holds = || running.slice.visible.read(term.read) && term.read.index() < running.whole_reads;
            let wanted = read.map_or_else(holds, |read| read == term.read);
            let known = || self.terms.iter().any(|one| (one.read, one.definition) == (term.read, term.definition));
            if wanted && (read.is_none() || !known()) {
                let shows = Some((term.read, term.definition, term.step));
                let replayed = replay.run(&term.schedule, shows, &mut self.tables).ok_or(Declined::Disagreement)?;
                let (schedule, step) = (replayed.schedule, replayed.seen.ok_or(Declined::Disagreement)?);
                self.terms.push(Term { schedule, step, ..*term });
            }
        }
        let undecided = answer.undecided.iter();
        self.undecided.extend(undecided.filter(|(one, _)| read.is_none_or(|read| read == *one)));
        if read.is_none() {
            self.add_ends(&replay, running.whole, &answer).ok_or(Declined::Disagreement)?;
        }
        Ok(answer.threads)
    }

    /// Takes what a search has cost off the bounds.
    fn spend(&mut self, spent: &Progress) {
        self.progress.states += spent.states;
        self.progress.steps += spent.steps;
        self.progress.executions += spent.executions;
        self.progress.depth = self.progress.depth.max(spent.depth);
        let left = &mut self.left;
        left.max_states = left.max_states.map(|most| most.saturating_sub(spent.states));
        left.max_executions = left.max_executions.map(|most| most.saturating_sub(spent.executions));
        left.max_work = left.max_work.map(|most| most.saturating_sub(spent.steps));
    }

    fn add_ends(&mut self, replay: &Replay<'_>, machine: &Machine, answer: &Answer) -> Option<()> {
        for outcome in &answer.outcomes {
            let Replayed { schedule, state, progress, .. } = replay.run(&outcome.schedule, None, &mut self.tables)?;
            let (status, failure) = match progress {
                Stepped::Finished => (OutcomeStatus::Ok, None),
                Stepped::Failed(failure) => (OutcomeStatus::Failed(failure.kind), Some(failure)),
                _ if machine.is_deadlock(&state) => (OutcomeStatus::Deadlock, None),
                _ => return None,
            };
            let outputs = machine.outputs(&state, &self.tables);
            self.outcomes.push(Outcome { outputs, status, failure, schedule });
        }
        for witness in &answer.failures {
            let Replayed { schedule, state, progress, .. } = replay.run(&witness.schedule, None, &mut self.tables)?;
            let Stepped::Failed(failure) = progress else { return None };
            let path = state.path(failure.thread);
            self.failures.push(FailureWitness { failure, path, schedule });
        }
        self.failures.sort_by_key(|FailureWitness { failure, .. }| {
            (machine.span(failure.at), failure.kind, failure.at, failure.message)
        });
        let mut known = FxHashSet::default();
        for deadlock in &answer.deadlocks {
            let Replayed { schedule, state, .. } = replay.run(&deadlock.schedule, None, &mut self.tables)?;
            let threads = blocked_threads(machine, &self.tables, &state);
            if known.insert(threads.clone()) {
                self.deadlocks.push(Deadlock { threads, schedule });
            }
        }
        Some(())
    }

    fn finish(mut self, threads: usize) -> Answer {
        sort_outcomes(&self.tables, &mut self.outcomes);
        self.terms.sort_by_key(|term| (term.read, term.definition));
        let seen: FxHashSet<_> = self.terms.iter().map(|term| (term.read, term.definition)).collect();
        self.undecided.retain(|pair| !seen.contains(pair));
        self.undecided.sort_unstable();
        self.undecided.dedup();
        Answer {
            bound: None,
            progress: self.progress,
            from_slices: true,
            threads,
            terms: self.terms,
            undecided: self.undecided,
            outcomes: self.outcomes,
            failures: self.failures,
            deadlocks: self.deadlocks,
            open: Vec::new(),
            tables: self.tables,
        }
    }
}
