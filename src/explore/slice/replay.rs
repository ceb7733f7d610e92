//! Converts an execution of a slice to an execution of the whole program.
//!
//! **Input**: a schedule of the slice. **Output**: a schedule of the whole program in which each thread also executes the parts
//! that were removed from the slice, as late as possible.
//!
//! **Algorithm**: both machines run in parallel.
//! 1. Before a step of the slice, its thread executes in the whole program the parts that the slice does not have.
//! 2. The step is executed by as many steps of the whole program as are needed to see the same accesses, synchronisation and
//!    prints.
//! 3. If a thread waits for the end of another one, and at the end, all threads execute the parts that the slice does not have.
//! 4. Threads that end at once in the slice ([`readers`](mod@super::readers)) run to completion as a unit: as soon as a thread
//!    can without failing or being blocked, or as late as needed. For reads, all of them run first, since the other threads then
//!    read the values that were there initially. For a failure, only the necessary ones run. If one way fails, the other may
//!    succeed.
//!
//! **Soundness and limits**: the removed parts never block, and no remaining part depends on them. So the replay succeeds, unless
//! the slice is wrong: then the result is `None`. The schedule belongs to the whole program in any case.

use super::Preserved;
use super::program::Slice;
use cssame_ir::{DefinitionId, ReadId};
use cssame_schedule::Walk;
use cssame_vm::{
    Choice, CodeIndex, Event, Machine, Observer, PathId, Pending, Progress, State, Tables, ThreadIndex, ThreadName,
    ThreadStatus, Watched,
};
use fixedbitset::FixedBitSet;

/// Steps without anything that matters after which it is given up.
const PATIENCE: usize = 10_000_000;

/// Steps of a thread that is run through beyond which it counts as one that does not come to its end now.
const MAX_THROUGH: usize = 10_000;

/// Steps of such a thread behind which it is looked whether it goes round.
const SHORT: usize = 16;

/// A slice beside the program that it is of.
pub(super) struct Replay<'a> {
    pub(super) whole: &'a Machine,
    pub(super) slice: &'a Machine,
    /// What is left in the slice.
    pub(super) parts: &'a Slice,
    /// Whether the slice prints.
    pub(super) preserved: Preserved,
    /// The functions whose threads end at once in the slice.
    pub(super) dropped: Option<&'a FixedBitSet>,
}

/// When the threads run through that end at once in the slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunThrough {
    Early,
    Late,
}

/// An execution of the whole program, while it is made.
struct Large<'a> {
    walk: Walk<'a>,
    schedule: Vec<Choice>,
    /// The name of the thread that is watched, as soon as it is there.
    watched: Option<PathId>,
    patience: usize,
    /// A read that is no step of its own, and the definition that it is to see; where it stands, no slice says.
    local: Option<(ReadId, DefinitionId)>,
    /// The step that has shown it.
    shown: Option<usize>,
}

impl Large<'_> {
    /// Does a step.
    fn step(&mut self, choice: Choice, observer: &mut impl Observer) -> Option<()> {
        let mut shows = Shows { wanted: self.local, is_shown: false };
        self.walk.step(choice, &mut (observer, &mut shows)).ok()?;
        if shows.is_shown {
            self.shown.get_or_insert(self.schedule.len());
        }
        self.schedule.push(choice);
        Some(())
    }

    fn is_running(&self) -> bool {
        matches!(self.walk.progress(), Progress::Running)
    }

    /// Counts a step; `None` where there were too many.
    fn spend(&mut self) -> Option<()> {
        self.patience = self.patience.checked_sub(1)?;
        Some(())
    }
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
        let order = match (self.dropped, wanted) {
            (None, _) => return self.run_with(schedule, wanted, tables, RunThrough::Late),
            (Some(_), Some(_)) => [RunThrough::Early, RunThrough::Late],
            (Some(_), None) => [RunThrough::Late, RunThrough::Early],
        };
        order.into_iter().find_map(|when| self.run_with(schedule, wanted, tables, when))
    }

    fn run_with(
        &self,
        schedule: &[Choice],
        wanted: Option<(ReadId, DefinitionId, usize)>,
        tables: &mut Tables,
        when: RunThrough,
    ) -> Option<Replayed> {
        let mut own_tables = Tables::new();
        let mut small = Walk::new(self.slice, &mut own_tables, &mut ());
        let main = ThreadIndex(0);
        let watches_main = self.slice.watched().is_some_and(|watched| watched.thread == main);
        let mut counter = StepCounter::new(self, main, watches_main);
        let is_local = |&(read, ..): &(ReadId, DefinitionId, usize)| !self.whole.visibility().read(read);
        let local = wanted.filter(is_local).map(|(read, definition, _)| (read, definition));
        let mut begins = Shows { wanted: local, is_shown: false };
        let walk = Walk::new(self.whole, tables, &mut (&mut counter, &mut begins));
        let watched = watches_main.then(|| walk.state().path(main));
        let mut large = Large { walk, schedule: Vec::new(), watched, patience: PATIENCE, local, shown: None };
        let mut seen = None;
        let mut last = large.walk.progress();
        let shown_by = wanted.filter(|_| local.is_some()).map(|(.., step)| step);
        if shown_by.is_some_and(|step| step >= schedule.len()) {
            self.settle_all(&mut large)?;
        }
        for (place, &choice) in schedule.iter().enumerate() {
            if when == RunThrough::Early {
                self.run_through(&mut large)?;
            }
            // A thread has one name in both programs, but perhaps not one number.
            let name = large.walk.tables_mut().adopt_path(small.tables(), small.state().path(choice.thread));
            // Who is woken may end in the same step.
            let before = (small.alternatives(choice.thread) > 1).then(|| small.state().clone());
            let mut small_counter = StepCounter::new(self, choice.thread, large.watched == Some(name));
            let progress = small.step(choice, &mut small_counter).ok()?;
            if let Some(Watched { thread, .. }) = self.slice.watched()
                && small.state().status(thread) == ThreadStatus::Ready
            {
                large.watched = Some(large.walk.tables_mut().adopt_path(small.tables(), small.state().path(thread)));
            }
            let woken = before.zip(small_counter.woken);
            let woken =
                woken.map(|(before, thread)| large.walk.tables_mut().adopt_path(small.tables(), before.path(thread)));
            let state = large.walk.state();
            let thread = state.threads().find(|&thread| state.path(thread) == name)?;
            self.settle(&mut large, thread)?;
            counter = StepCounter::new(self, thread, large.watched == Some(name));
            loop {
                large.spend()?;
                if large.walk.alternatives(thread) == 0 {
                    self.settle_all(&mut large)?;
                }
                let choice = self.choice(&mut large.walk, Choice { thread, ..choice }, woken)?;
                large.step(choice, &mut counter)?;
                if let Some((read, definition, _)) = wanted.filter(|&(.., step)| step == place)
                    && counter.pairs.contains(&(read, definition))
                {
                    seen.get_or_insert(large.schedule.len() - 1);
                }
                if counter.events >= small_counter.events || !large.is_running() {
                    break;
                }
            }
            if counter.events != small_counter.events {
                return None;
            }
            // The read is behind what its thread does besides, and nobody may fail before that.
            if shown_by == Some(place) {
                self.settle_all(&mut large)?;
            }
            if let (Progress::Failed(one), Progress::Failed(other)) = (progress, large.walk.progress())
                && (one.kind, thread, one.message) != (other.kind, other.thread, other.message)
            {
                return None;
            }
            last = progress;
        }
        self.settle_all(&mut large)?;
        let fails = wanted.is_some() && last == Progress::Finished && self.let_fail(&mut large)?;
        let progress = large.walk.progress();
        if !fails && std::mem::discriminant(&last) != std::mem::discriminant(&progress) {
            return None;
        }
        let Large { walk, schedule, shown, .. } = large;
        // What the beginning shows, all of the execution does.
        let seen = if local.is_some() { begins.is_shown.then_some(schedule.len()).or(shown) } else { seen };
        (wanted.is_none() || seen.is_some()).then(|| Replayed { schedule, state: walk.into_state(), progress, seen })
    }

    /// The choice of the whole program that is the like of one of the slice: the same value, or the same thread woken.
    fn choice(&self, walk: &mut Walk<'_>, like: Choice, woken: Option<PathId>) -> Option<Choice> {
        let alternatives = walk.alternatives(like.thread);
        if alternatives <= 1 {
            return (alternatives == 1).then_some(Choice { alternative: 0, ..like });
        }
        let wakes = |choice: &Choice| {
            let mut counter = StepCounter::new(self, choice.thread, false);
            walk.branch().step(*choice, &mut counter).is_ok()
                && counter.woken.map(|thread| walk.state().path(thread)) == woken
        };
        if woken.is_none() {
            return (like.alternative < alternatives).then_some(like);
        }
        (0..alternatives).map(|alternative| Choice { alternative, ..like }).find(wakes)
    }

    /// Lets all threads do what the slice does not have.
    fn settle_all(&self, large: &mut Large<'_>) -> Option<()> {
        for thread in 0..large.walk.state().thread_count() {
            self.settle(large, ThreadIndex(thread as u16))?;
        }
        self.run_through(large)
    }

    /// Whether a thread is one that ends at once in the slice.
    fn is_dropped(&self, large: &Large<'_>, thread: ThreadIndex) -> bool {
        // Nobody calls its function, so that stands outermost; a thread that has ended has none.
        self.dropped.is_some_and(|dropped| {
            let outermost = self.whole.frames(large.walk.state(), thread).enumerate().last();
            outermost.is_some_and(|(calls, at)| {
                // Behind a call it may stand at the end of its function.
                let at = if calls == 0 { at } else { CodeIndex(at.0.saturating_sub(1)) };
                dropped.contains(self.whole.origin(at).function.index())
            })
        })
    }

    /// Runs the threads through that end at once in the slice, as far as one comes to its end without failing.
    fn run_through(&self, large: &mut Large<'_>) -> Option<()> {
        if self.dropped.is_none() {
            return Some(());
        }
        for thread in (0..large.walk.state().thread_count()).map(|thread| ThreadIndex(thread as u16)) {
            if !large.is_running() || !self.is_dropped(large, thread) {
                continue;
            }
            for _ in 0..self.steps_through(large, thread)? {
                large.spend()?;
                large.step(Choice { thread, alternative: 0 }, &mut ())?;
            }
        }
        Some(())
    }

    /// In how many steps a thread comes to its end now, alone and without failing; 0 if it does not.
    fn steps_through(&self, large: &mut Large<'_>, thread: ThreadIndex) -> Option<usize> {
        let mut steps = 0;
        // It goes round, as one that waits for a value, where a state comes again (Brent, 1980).
        let mut kept = None;
        let mut trial = large.walk.branch();
        while trial.progress() == Progress::Running && self.whole.frames(trial.state(), thread).next().is_some() {
            if steps == MAX_THROUGH || trial.step(Choice { thread, alternative: 0 }, &mut ()).is_err() {
                return Some(0);
            }
            steps += 1;
            if steps > SHORT {
                let state = self.whole.fingerprint(trial.state());
                if kept == Some(state) {
                    return Some(0);
                }
                kept = if steps.is_power_of_two() { Some(state) } else { kept };
            }
        }
        let comes_through = matches!(trial.progress(), Progress::Running | Progress::Finished);
        large.patience = large.patience.checked_sub(steps)?;
        Some(if comes_through { steps } else { 0 })
    }

    /// Lets threads that end at once in the slice go on to the end of the execution, where nothing else is left to do;
    /// whether one of them fails then.
    fn let_fail(&self, large: &mut Large<'_>) -> Option<bool> {
        while large.is_running() {
            large.spend()?;
            let mut threads = (0..large.walk.state().thread_count()).map(|thread| ThreadIndex(thread as u16));
            let Some(thread) = threads.find(|&one| self.is_dropped(large, one) && large.walk.alternatives(one) > 0)
            else {
                return Some(false);
            };
            large.step(Choice { thread, alternative: 0 }, &mut ())?;
        }
        Some(matches!(large.walk.progress(), Progress::Failed(_)))
    }

    /// Lets a thread do what the slice does not have.
    fn settle(&self, large: &mut Large<'_>, thread: ThreadIndex) -> Option<()> {
        if self.is_dropped(large, thread) {
            return Some(());
        }
        let state = large.walk.state();
        let is_watched = state.thread_count() > thread.index() && large.watched == Some(state.path(thread));
        while large.is_running()
            && let Some(next) = self.whole.pending(large.walk.state(), thread)
            && (self.is_gone(next, is_watched) || self.prints_alone(large, thread, next))
            && large.walk.alternatives(thread) > 0
        {
            large.spend()?;
            large.step(Choice { thread, alternative: 0 }, &mut ())?;
        }
        Some(())
    }

    /// Whether the next step of a thread begins with a print that the slice does not have, and does nothing that it
    /// has.
    fn prints_alone(&self, large: &mut Large<'_>, thread: ThreadIndex, next: Pending) -> bool {
        if self.preserved == Preserved::Ends || next != (Pending::Effect { name: "print" }) {
            return false;
        }
        let is_watched = large.watched == Some(large.walk.state().path(thread));
        let mut counter = StepCounter::new(self, thread, is_watched);
        let done = large.walk.branch().step(Choice { thread, alternative: 0 }, &mut counter);
        counter.events == 0 && matches!(done, Ok(Progress::Running | Progress::Finished))
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
        let others = || self.slice.watched().is_none_or(|watched| watched.read != read);
        self.parts.steps.read(read) || self.parts.visible.read(read) && (is_watched || others())
    }

    fn has_definition(&self, definition: DefinitionId) -> bool {
        self.parts.steps.definition(definition) || self.parts.visible.definition(definition)
    }
}

/// Whether a read has seen a definition.
struct Shows {
    wanted: Option<(ReadId, DefinitionId)>,
    is_shown: bool,
}

impl Observer for Shows {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.is_shown |= self.wanted == Some((read, definition));
        }
    }
}

/// Counts what a thread does that both programs have.
struct StepCounter<'a> {
    replay: &'a Replay<'a>,
    thread: ThreadIndex,
    is_watched: bool,
    events: usize,
    pairs: Vec<(ReadId, DefinitionId)>,
    /// The thread that it has woken first.
    woken: Option<ThreadIndex>,
}

impl<'a> StepCounter<'a> {
    fn new(replay: &'a Replay<'a>, thread: ThreadIndex, is_watched: bool) -> StepCounter<'a> {
        StepCounter { replay, thread, is_watched, events: 0, pairs: Vec::new(), woken: None }
    }
}

impl Observer for StepCounter<'_> {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let thread = thread.slot;
        if let Event::Woken { by: Some(ThreadName { slot: by, .. }) } = event
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
            Event::Print { .. } => self.replay.preserved == Preserved::Ends,
            _ => true,
        };
        self.events += usize::from(counts);
    }
}
