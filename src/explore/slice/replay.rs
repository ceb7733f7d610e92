//! From an execution of a slice to one of the whole program.
//!
//! In: a schedule of the slice. Out: the schedule of the whole program in which each thread does, besides, what was
//! taken out of the slice, as late as it can: before its own next step, or when another one waits for its end. Both machines run side by side; each step of the slice is done by as many
//! steps of the whole program as it takes to see the same accesses, synchronisation and prints. What was taken out
//! never blocks, and nothing that was left in depends on it: so this comes through, unless the slice is wrong. `None` then.

use super::program::Slice;
use crate::ir::{DefinitionId, ReadId};
use crate::vm::{
    Choice, CodeIndex, Event, Machine, Observer, PathId, Pending, Progress, State, Tables, ThreadIndex, ThreadStatus,
    Watched,
};

/// Steps without anything that matters after which it is given up.
const PATIENCE: usize = 10_000_000;

/// A slice beside the program that it is of.
pub(super) struct Replay<'a> {
    pub(super) whole: &'a Machine,
    pub(super) slice: &'a Machine,
    /// What is left in the slice.
    pub(super) parts: &'a Slice,
}

/// An execution of the whole program.
pub(super) struct Replayed {
    pub(super) schedule: Vec<Choice>,
    pub(super) state: State,
    /// What the last step has led to.
    pub(super) progress: Progress,
    /// The step at which the wanted read saw the wanted definition.
    pub(super) seen: Option<usize>,
}

impl Replay<'_> {
    /// Does a schedule of the slice in the whole program. `wanted` is a read, the definition that it is to see, and the
    /// step of the slice that shows it.
    pub(super) fn run(
        &self,
        schedule: &[Choice],
        wanted: Option<(ReadId, DefinitionId, usize)>,
        tables: &mut Tables,
    ) -> Option<Replayed> {
        let mut own_tables = Tables::new();
        let mut small = self.slice.initial(&mut own_tables);
        let main = ThreadIndex(0);
        let watches_main = self.slice.options().watched.is_some_and(|watched| watched.thread == main);
        let mut watch = Watch::new(self, main, watches_main);
        let state = self.whole.start(tables, &mut watch);
        let progress = if self.whole.is_finished(&state) { Progress::Finished } else { Progress::Running };
        let mut large = Replayed { schedule: Vec::new(), state, progress, seen: None };
        // The name of the thread that is watched, as soon as it is there.
        let mut watched = watches_main.then(|| large.state.path(main));
        let mut patience = PATIENCE;
        let mut last = progress;
        for (place, &choice) in schedule.iter().enumerate() {
            // A thread has one name in both programs, but perhaps not one number.
            let name = tables.adopt_path(&own_tables, small.path(choice.thread));
            // Who is woken may end in the same step.
            let before = (self.slice.alternatives(&small, choice.thread) > 1).then(|| small.clone());
            let mut small_watch = Watch::new(self, choice.thread, watched == Some(name));
            let progress = self.slice.step(&mut small, &mut own_tables, choice, &mut small_watch);
            if let Some(Watched { thread, .. }) = self.slice.options().watched
                && small.status(thread) == ThreadStatus::Ready
            {
                watched = Some(tables.adopt_path(&own_tables, small.path(thread)));
            }
            let woken = before.zip(small_watch.woken);
            let woken = woken.map(|(before, thread)| tables.adopt_path(&own_tables, before.path(thread)));
            let thread = large.state.threads().find(|&thread| large.state.path(thread) == name)?;
            self.settle(&mut large, thread, watched, tables, &mut patience)?;
            watch = Watch::new(self, thread, watched == Some(name));
            loop {
                patience = patience.checked_sub(1)?;
                if self.whole.alternatives(&large.state, thread) == 0 {
                    self.settle_all(&mut large, watched, tables, &mut patience)?;
                }
                let choice = self.choice(&large.state, Choice { thread, ..choice }, woken, tables)?;
                self.step(&mut large, tables, choice, &mut watch);
                if let Some((read, definition, _)) = wanted.filter(|&(.., step)| step == place)
                    && watch.pairs.contains(&(read, definition))
                {
                    large.seen.get_or_insert(large.schedule.len() - 1);
                }
                if watch.events >= small_watch.events || !matches!(large.progress, Progress::Running) {
                    break;
                }
            }
            if watch.events != small_watch.events {
                return None;
            }
            if let (Progress::Failed(one), Progress::Failed(other)) = (progress, large.progress)
                && (one.kind, thread, one.message) != (other.kind, other.thread, other.message)
            {
                return None;
            }
            last = progress;
        }
        self.settle_all(&mut large, watched, tables, &mut patience)?;
        if std::mem::discriminant(&last) != std::mem::discriminant(&large.progress) {
            return None;
        }
        (wanted.is_none() || large.seen.is_some()).then_some(large)
    }

    /// The choice of the whole program that is the like of one of the slice: the same value, or the same thread woken.
    fn choice(&self, state: &State, like: Choice, woken: Option<PathId>, tables: &mut Tables) -> Option<Choice> {
        let alternatives = self.whole.alternatives(state, like.thread);
        if alternatives <= 1 {
            return (alternatives == 1).then_some(Choice { alternative: 0, ..like });
        }
        let wakes = |choice: &Choice| {
            let (mut after, mut watch) = (state.clone(), Watch::new(self, choice.thread, false));
            self.whole.step(&mut after, tables, *choice, &mut watch);
            watch.woken.map(|thread| state.path(thread)) == woken
        };
        if woken.is_none() {
            return (like.alternative < alternatives).then_some(like);
        }
        (0..alternatives).map(|alternative| Choice { alternative, ..like }).find(wakes)
    }

    /// Lets all threads do what the slice does not have.
    fn settle_all(
        &self,
        large: &mut Replayed,
        watched: Option<PathId>,
        tables: &mut Tables,
        patience: &mut usize,
    ) -> Option<()> {
        for thread in 0..large.state.thread_count() {
            self.settle(large, ThreadIndex(thread as u16), watched, tables, patience)?;
        }
        Some(())
    }

    /// Lets a thread do what the slice does not have.
    fn settle(
        &self,
        large: &mut Replayed,
        thread: ThreadIndex,
        watched: Option<PathId>,
        tables: &mut Tables,
        patience: &mut usize,
    ) -> Option<()> {
        let is_watched = large.state.thread_count() > thread.index() && watched == Some(large.state.path(thread));
        while matches!(large.progress, Progress::Running)
            && self.whole.pending(&large.state, thread).is_some_and(|next| self.is_gone(next, is_watched))
            && self.whole.alternatives(&large.state, thread) > 0
        {
            *patience = patience.checked_sub(1)?;
            self.step(large, tables, Choice { thread, alternative: 0 }, &mut ());
        }
        Some(())
    }

    fn step<O: Observer>(&self, large: &mut Replayed, tables: &mut Tables, choice: Choice, observer: &mut O) {
        large.progress = self.whole.step(&mut large.state, tables, choice, observer);
        large.schedule.push(choice);
    }

    /// Whether an operation of the whole program is not in the slice.
    fn is_gone(&self, pending: Pending, is_watched: bool) -> bool {
        match pending {
            // Where the index is out of range, it fails, and that the slice has.
            Pending::Read { address: None, .. }
            | Pending::Write { address: None, .. }
            | Pending::Atomic { address: None, .. } => false,
            Pending::Read { read, .. } | Pending::Atomic { read, .. } => !self.has_read(read, is_watched),
            Pending::Write { definition, .. } => !self.has_definition(definition),
            _ => false,
        }
    }

    fn has_read(&self, read: ReadId, is_watched: bool) -> bool {
        let others = || self.slice.options().watched.is_none_or(|watched| watched.read != read);
        self.parts.steps.read(read) || self.parts.visible.read(read) && (is_watched || others())
    }

    fn has_definition(&self, definition: DefinitionId) -> bool {
        self.parts.steps.definition(definition) || self.parts.visible.definition(definition)
    }
}

/// Counts what a thread does that both programs have.
struct Watch<'a> {
    replay: &'a Replay<'a>,
    thread: ThreadIndex,
    is_watched: bool,
    events: usize,
    pairs: Vec<(ReadId, DefinitionId)>,
    /// The thread that it has woken first.
    woken: Option<ThreadIndex>,
}

impl<'a> Watch<'a> {
    fn new(replay: &'a Replay<'a>, thread: ThreadIndex, is_watched: bool) -> Watch<'a> {
        Watch { replay, thread, is_watched, events: 0, pairs: Vec::new(), woken: None }
    }
}

impl Observer for Watch<'_> {
    fn event(&mut self, thread: ThreadIndex, _: CodeIndex, event: Event) {
        if let Event::Woken { by: Some(by) } = event
            && by == self.thread
        {
            self.woken.get_or_insert(thread);
        }
        if thread != self.thread {
            return;
        }
        let counts = match event {
            Event::Read { read, writer, shared, .. } => {
                let counts = shared && self.replay.has_read(read, self.is_watched);
                self.pairs.extend(writer.filter(|_| counts).map(|writer| (read, writer)));
                counts
            }
            Event::Write { definition, shared, .. } => shared && self.replay.has_definition(definition),
            // Between the last step of the slice and the end there may be more steps of the whole program.
            Event::Allocate { .. } | Event::End { .. } => false,
            _ => true,
        };
        self.events += usize::from(counts);
    }
}
