//! Directed scheduling for other goals than races: threads are held back before certain operations.
//!
//! **Input**: a [`Rule`], which says where threads wait and when they may continue, and a seed. **Output**: a [`Policy`].
//!
//! **Algorithm**: as in race-directed scheduling, a thread is drawn at random, and postponed if the rule holds it. A thread that
//! the rule releases does its step at once. If all threads that can move are postponed, a random one of them does its step. A
//! thread that was postponed while the others have done more than `max_postponed` steps also does its step.
//!
//! - [`Rule::At`]: before given operations, for as long as possible. If each of two threads holds the lock that the other one
//!   needs, they deadlock (Joshi, Park, Sen, Naik 2009). A thread that waits too late misses its notification.
//! - [`Rule::AfterAccess`]: a thread that has accessed one of some variables waits before its next acquisition, so that other
//!   threads may come between this access and the next one.
//! - [`Rule::Term`]: a write waits until a thread stands before the read that should see it, and the read waits until the cell
//!   holds the value that it should see. For the initial value, all writes wait instead.
//!
//! **Soundness and limits**: every execution is an execution of the program, whatever the rule. The caller checks whether it has
//! reached the goal.

use cssame_ir::{Access, DefinitionId, Program, ReadId, SymbolId};
use cssame_schedule::{Decision, Policy, Random, View};
use cssame_source::Span;
use cssame_vm::{Choice, CodeIndex, Event, Move, PathId, Pending, ThreadIndex, ThreadName};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Where threads wait, and when they may go on.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Before the operations at these places of the text.
    At(Vec<Span>),
    /// Before the next acquisition behind an access to one of these variables.
    AfterAccess(Vec<SymbolId>),
    /// So that a read sees a definition.
    Term {
        /// Which.
        term: (ReadId, DefinitionId),
        /// Whether the definition is the value before the first write.
        initial: bool,
    },
}

/// The policy of one execution.
#[derive(Debug)]
pub struct Hold<'a> {
    program: &'a Program,
    rule: Arc<Rule>,
    random: Random,
    /// Threads that wait, each with the step since when.
    postponed: Vec<(ThreadIndex, u64)>,
    max_postponed: u64,
    steps: u64,
    /// Threads that have accessed one of the variables since they have acquired something.
    touched: FxHashSet<PathId>,
    /// Whether the read has seen the definition.
    seen: bool,
    candidates: Vec<Move>,
}

impl<'a> Hold<'a> {
    /// The policy of a seed.
    #[must_use]
    pub fn new(program: &'a Program, rule: Arc<Rule>, max_postponed: u64, seed: u64) -> Hold<'a> {
        Hold {
            program,
            rule,
            random: Random::new(seed),
            postponed: Vec::new(),
            max_postponed,
            steps: 0,
            touched: FxHashSet::default(),
            seen: false,
            candidates: Vec::new(),
        }
    }

    /// Whether the read of [`Rule::Term`] has seen the definition.
    #[must_use]
    pub fn has_seen(&self) -> bool {
        self.seen
    }

    /// Whether a thread is to wait here.
    fn holds(&self, view: &View<'_>, thread: ThreadIndex) -> bool {
        let pending = view.machine.pending(view.state, thread);
        match &*self.rule {
            Rule::At(spans) => {
                let is_operation = matches!(pending, Some(Pending::Synchronise { .. } | Pending::WaitToWrite { .. }));
                is_operation && spans.contains(&view.machine.span(view.state.position(thread)))
            }
            Rule::AfterAccess(_) => {
                let acquires = match pending {
                    Some(Pending::Synchronise { kind, .. }) => kind.only_acquires(),
                    Some(Pending::WaitToWrite { .. }) => true,
                    _ => false,
                };
                acquires && self.touched.contains(&view.state.path(thread))
            }
            Rule::Term { term, initial } => !self.seen && self.holds_for(view, pending, *term, *initial),
        }
    }

    fn holds_for(
        &self,
        view: &View<'_>,
        pending: Option<Pending>,
        term: (ReadId, DefinitionId),
        initial: bool,
    ) -> bool {
        match pending {
            Some(Pending::Read { read, address: Some(address) }) if read == term.0 => {
                view.state.writer(address) != Some(term.1)
            }
            Some(Pending::Write { definition, address }) if initial => {
                let symbol = self.program.reads[term.0].symbol;
                address.is_some() && Access::Write(definition).symbol(self.program) == symbol
            }
            Some(Pending::Write { definition, address: Some(address) }) if definition == term.1 => {
                let is_reader = |&(thread, _): &(ThreadIndex, u64)| {
                    let pending = view.machine.pending(view.state, thread);
                    matches!(pending, Some(Pending::Read { read, address: Some(at) }) if read == term.0 && at == address)
                };
                !self.postponed.iter().any(is_reader)
            }
            _ => false,
        }
    }

    fn step(&mut self, thread: ThreadIndex, moves: &[Move]) -> Decision {
        self.steps += 1;
        self.postponed.retain(|one| one.0 != thread);
        let alternatives = moves.iter().find(|one| one.thread == thread).map_or(1, |one| one.alternatives);
        let alternative = if alternatives == 1 { 0 } else { self.random.below(alternatives) };
        Decision::Step(Choice { thread, alternative })
    }

    /// A thread that waits and may go on: the rule lets it, or it has waited for too long.
    fn released(&self, view: &View<'_>, moves: &[Move]) -> Option<ThreadIndex> {
        let can_move = |thread: ThreadIndex| moves.iter().any(|one| one.thread == thread);
        let is_over = |since: u64| self.steps - since > self.max_postponed;
        let mut waiting = self.postponed.iter().filter(|one| can_move(one.0));
        waiting.find(|one| is_over(one.1) || !self.holds(view, one.0)).map(|one| one.0)
    }
}

impl Policy for Hold<'_> {
    const OBSERVES: bool = true;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        loop {
            if let Some(thread) = self.released(view, moves) {
                return self.step(thread, moves);
            }
            self.candidates.clear();
            let free = moves.iter().filter(|one| !self.postponed.iter().any(|waiting| waiting.0 == one.thread));
            self.candidates.extend(free);
            if self.candidates.is_empty() {
                let thread = moves[self.random.below(moves.len() as u32) as usize].thread;
                return self.step(thread, moves);
            }
            let thread = self.candidates[self.random.below(self.candidates.len() as u32) as usize].thread;
            if !self.holds(view, thread) {
                return self.step(thread, moves);
            }
            self.postponed.push((thread, self.steps));
        }
    }

    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let access = match event {
            Event::Read { read, writer, .. } => {
                if let Rule::Term { term, .. } = &*self.rule {
                    self.seen |= read == term.0 && writer == Some(term.1);
                }
                Access::Read(read)
            }
            Event::Write { definition, .. } => Access::Write(definition),
            Event::Lock { .. } | Event::Acquire { .. } => {
                self.touched.remove(&thread.path);
                return;
            }
            _ => return,
        };
        if let Rule::AfterAccess(symbols) = &*self.rule
            && symbols.contains(&access.symbol(self.program))
        {
            self.touched.insert(thread.path);
        }
    }
}
