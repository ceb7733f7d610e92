//! Measures the total coverage of executions.
//!
//! **Input**: a program, the universe and the methods of its file, and executions, given by seeds or by recorded steps.
//! **Output**: [`Measured`]: how many executions cover each instance, each pair of methods, each pi term and each line; and how
//! they end.
//!
//! **Algorithm**: a [`Matcher`] and [`Overlaps`] watch each execution; the results are added up. Executions by seeds are made on
//! several cores and added up in the order of their seeds.
//!
//! **Soundness and limits**: exact for the executions. Executions that an assumption discards cover nothing, and are counted
//! separately.

use super::instance::Instance;
use super::matching::Candidates;
use super::matching::Matcher;
use super::method_pairs::{MethodPair, Overlaps, PublicMethods, asked};
use super::universe::{Binding, Universe};
use cssame_budget::{Bound, Budget};
use cssame_explore::{Answer, Asked, blocked_threads};
use cssame_ir::{Access, DefinitionId, ReadId};
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_schedule::{
    Departure, Execution, ExecutionStatus, Experiment, Random, Schedule, Scripted, Trial, Trials, TrialsEnd,
};
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, State, Tables, ThreadName};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

/// A program that is watched, and what its accesses and functions are in the file.
#[derive(Debug)]
pub struct Watched<'a> {
    /// The program.
    pub model: &'a Model,
    /// The accesses of the file.
    pub universe: &'a Universe,
    binding: Binding,
    asked: Asked,
    candidates: Option<&'a Candidates>,
}

impl<'a> Watched<'a> {
    /// A program that was compiled from the text of the file, or from one that begins with it.
    #[must_use]
    pub fn new(model: &'a Model, universe: &'a Universe, methods: &PublicMethods) -> Watched<'a> {
        let binding = Binding::new(universe, model.program());
        let asked = asked(model.program(), &methods.bind(model.program()));
        Watched { model, universe, binding, asked, candidates: None }
    }

    /// The same, where it is known that its executions can cover these instances alone.
    #[must_use]
    pub fn among(self, candidates: &'a Candidates) -> Watched<'a> {
        Watched { candidates: Some(candidates), ..self }
    }

    /// The methods, as a search for calls that overlap is asked about them.
    pub(crate) fn asked(&self) -> &Asked {
        &self.asked
    }

    /// The instances that an execution of these steps covers.
    pub(crate) fn covered_by(&self, steps: &[Choice]) -> Vec<Instance> {
        let mut watch = self.watch();
        schedule::run(self.model.machine(), &mut Scripted::new(steps), steps.len() as u64, &mut watch);
        watch.0.covered().copied().collect()
    }

    /// Watches one execution of the program.
    #[must_use]
    pub fn watch(&self) -> Watch<'_> {
        let matcher = Matcher::new(self.model.machine(), self.universe, &self.binding);
        let matcher = match self.candidates {
            Some(candidates) => matcher.among(candidates),
            None => matcher,
        };
        let shown = Shown { terms: FxHashSet::default(), places: FxHashSet::default() };
        (matcher, (Overlaps::new(self.model.machine(), &self.asked), shown))
    }
}

/// What watches an execution.
pub type Watch<'a> = (Matcher<'a>, (Overlaps<'a>, Shown));

/// The pi terms that an execution has, and the places where it accesses shared memory.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    terms: FxHashSet<(ReadId, DefinitionId)>,
    places: FxHashSet<Access>,
}

impl Observer for Shown {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        match event {
            Event::Read { read, writer, shared: true, .. } => {
                self.places.insert(Access::Read(read));
                self.terms.extend(writer.map(|writer| (read, writer)));
            }
            Event::Write { definition, shared: true, .. } => {
                self.places.insert(Access::Write(definition));
            }
            _ => {}
        }
    }
}

/// How an execution has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// How.
    pub status: &'a ExecutionStatus,
    /// Its steps.
    pub steps: &'a [Choice],
    /// The state in which it has ended.
    pub state: &'a State,
    /// Names of threads.
    pub tables: &'a Tables,
}

/// Where an execution comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was made at random, by this seed.
    Seed(u64),
    /// It was recorded, or is that of a generated test.
    Recorded,
    /// A search through all executions has met it.
    Searched,
}

impl Origin {
    /// The seed that makes it again.
    #[must_use]
    pub fn seed(self) -> Option<u64> {
        match self {
            Origin::Seed(seed) => Some(seed),
            Origin::Recorded | Origin::Searched => None,
        }
    }
}

/// A failure, a deadlock, or an execution that was stopped.
#[derive(Clone, Debug)]
pub struct BadEnd {
    /// How.
    pub status: ExecutionStatus,
    /// The steps that lead there.
    pub steps: Vec<Choice>,
    /// Who has failed.
    pub thread: Option<String>,
    /// The instances that the execution covers, in the order in which their last accesses were made.
    pub covered: Vec<Instance>,
    /// The place of a failure, the threads of a deadlock.
    at: Vec<(String, CodeIndex)>,
}

impl BadEnd {
    fn of(machine: &Machine, Ended { status, steps, state, tables }: &Ended<'_>) -> Option<BadEnd> {
        let name = |path| machine.path_name(tables, path);
        let mut thread = None;
        let at = match status {
            ExecutionStatus::Failed(failure) => {
                thread = Some(name(state.path(failure.thread)));
                vec![(String::new(), failure.at)]
            }
            ExecutionStatus::Deadlock => {
                blocked_threads(machine, tables, state).iter().map(|one| (name(one.path), one.at)).collect()
            }
            ExecutionStatus::StepLimit => Vec::new(),
            ExecutionStatus::Ok | ExecutionStatus::Discarded | ExecutionStatus::Stopped => return None,
        };
        Some(BadEnd { status: (*status).clone(), steps: steps.to_vec(), thread, covered: Vec::new(), at })
    }

    /// Whether both are the same failure or the same deadlock.
    fn is_like(&self, other: &BadEnd) -> bool {
        self.status.word() == other.status.word() && self.at == other.at
    }
}

/// What one execution shows.
#[derive(Clone, Debug)]
pub struct OneMeasured {
    status: &'static str,
    end: Option<BadEnd>,
    covered: Vec<Instance>,
    pairs: BTreeSet<MethodPair>,
    terms: Vec<(ReadId, DefinitionId)>,
    lines: BTreeSet<u32>,
    is_cut: bool,
}

impl OneMeasured {
    /// What was watched.
    #[must_use]
    pub fn new(watched: &Watched<'_>, watch: &Watch<'_>, ended: &Ended<'_>) -> OneMeasured {
        let (matcher, (overlaps, shown)) = watch;
        let (program, sources) = (watched.model.program(), watched.model.sources());
        OneMeasured {
            status: ended.status.word(),
            end: BadEnd::of(watched.model.machine(), ended),
            covered: matcher.covered().copied().collect(),
            pairs: overlaps.covered().clone(),
            terms: shown.terms.iter().copied().collect(),
            lines: shown.places.iter().map(|access| sources.line(access.span(program))).collect(),
            is_cut: matcher.is_cut(),
        }
    }

    /// The instances that the execution covers, in the order in which their last accesses were made.
    #[must_use]
    pub fn covered(&self) -> &[Instance] {
        &self.covered
    }

    /// The pairs of methods that the execution covers.
    #[must_use]
    pub fn pairs(&self) -> &BTreeSet<MethodPair> {
        &self.pairs
    }
}

/// What executions show.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Executions that count.
    pub executions: u64,
    /// Executions that an assumption has discarded.
    pub discarded: u64,
    /// How many cover each instance.
    pub instances: BTreeMap<Instance, u64>,
    /// The instances that executions cover which end well.
    pub passing: BTreeSet<Instance>,
    /// How many cover each pair of methods.
    pub pairs: BTreeMap<MethodPair, u64>,
    /// How many have each pi term; reads and definitions are those of the last program that was watched.
    pub terms: BTreeMap<(ReadId, DefinitionId), u64>,
    /// How many access shared memory in each line.
    pub lines: BTreeMap<u32, u64>,
    /// How many end in each way.
    pub statuses: BTreeMap<&'static str, u64>,
    /// The first execution of each failure, of each deadlock, and of those that were stopped; with the number of its program
    /// and where it comes from.
    pub ends: Vec<(usize, Origin, BadEnd)>,
    /// Whether an execution had too many beginnings of matches to follow them all.
    pub is_cut: bool,
    /// The bound that was hit.
    pub bound: Option<Bound>,
}

impl Measured {
    /// Adds an execution of the program with that number.
    pub fn add(&mut self, program: usize, origin: Origin, one: OneMeasured) {
        if one.status == ExecutionStatus::Discarded.word() {
            self.discarded += 1;
            return;
        }
        self.executions += 1;
        self.is_cut |= one.is_cut;
        if one.status == ExecutionStatus::Ok.word() {
            self.passing.extend(&one.covered);
        }
        if let Some(end) = one.end {
            self.add_end(program, origin, BadEnd { covered: one.covered.clone(), ..end });
        }
        one.covered.into_iter().for_each(|instance| *self.instances.entry(instance).or_default() += 1);
        one.pairs.into_iter().for_each(|pair| *self.pairs.entry(pair).or_default() += 1);
        one.terms.into_iter().for_each(|term| *self.terms.entry(term).or_default() += 1);
        one.lines.into_iter().for_each(|line| *self.lines.entry(line).or_default() += 1);
        *self.statuses.entry(one.status).or_default() += 1;
    }

    fn add_end(&mut self, program: usize, origin: Origin, end: BadEnd) {
        if !self.ends.iter().any(|(of, _, known)| *of == program && known.is_like(&end)) {
            self.ends.push((program, origin, end));
        }
    }

    /// Adds the failures and deadlocks of the first program that a search has met and no execution. What they cover does not
    /// count: such an execution is not one of those that are measured.
    pub fn add_searched(&mut self, watched: &Watched<'_>, answer: &Answer) {
        let machine = watched.model.machine();
        let failures = answer.failures.iter().map(|failure| &failure.schedule);
        for steps in failures.chain(answer.deadlocks.iter().map(|deadlock| &deadlock.schedule)) {
            let mut watch = watched.watch();
            let done = schedule::run(machine, &mut Scripted::new(steps), steps.len() as u64, &mut watch);
            if let Some(end) = BadEnd::of(machine, &ended(&done)).filter(|end| end.status != ExecutionStatus::StepLimit)
            {
                let covered = watch.0.covered().copied().collect();
                self.add_end(0, Origin::Searched, BadEnd { covered, ..end });
            }
        }
    }

    /// Adds executions by seeds.
    pub fn run_seeds(
        &mut self,
        program: usize,
        watched: &Watched<'_>,
        seeds: Range<u64>,
        max_steps: u64,
        budget: &Budget<'_>,
    ) {
        let trials = Trials { machine: watched.model.machine(), seeds, max_steps, budget };
        let end = trials.run(&Watching(watched), |seed, one| {
            self.add(program, Origin::Seed(seed), one);
            ControlFlow::Continue(())
        });
        if let TrialsEnd::Stopped(bound) = end {
            self.bound = Some(bound);
        }
    }

    /// Adds the execution of a recorded schedule.
    ///
    /// # Errors
    ///
    /// Where the program departs from it; then nothing is added.
    pub fn replay(
        &mut self,
        program: usize,
        watched: &Watched<'_>,
        recorded: &Schedule,
        max_steps: u64,
    ) -> Result<(), Departure> {
        let mut watch = watched.watch();
        let mut replay = watched.model.replay(recorded);
        let done = schedule::run(watched.model.machine(), &mut replay, max_steps, &mut watch);
        if let Some(departure) = replay.departure_of(&done.status, recorded.status.as_deref()) {
            return Err(departure);
        }
        self.add(program, Origin::Recorded, OneMeasured::new(watched, &watch, &ended(&done)));
        Ok(())
    }
}

fn ended(done: &Execution) -> Ended<'_> {
    Ended { status: &done.status, steps: &done.steps, state: &done.state, tables: &done.tables }
}

/// Executions at random that are watched.
struct Watching<'a>(&'a Watched<'a>);

impl<'a> Experiment for Watching<'a> {
    type Policy = Random;
    type Observer = Watch<'a>;
    type Outcome = OneMeasured;

    fn begin(&self, seed: u64) -> (Random, Watch<'a>) {
        (Random::new(seed), self.0.watch())
    }

    fn outcome(&self, trial: &Trial<'_, Random, Watch<'a>>) -> OneMeasured {
        let Trial { status, steps, state, tables, .. } = *trial;
        OneMeasured::new(self.0, trial.observer, &Ended { status, steps, state, tables })
    }
}
