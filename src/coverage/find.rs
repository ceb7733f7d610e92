//! Measures what executions of a program, or of the drivers of a file without `main`, cover, and decides what can be covered.
//!
//! **Input**: a program or a file of classes, the executions to make, and a budget. **Output**: [`Findings`].
//!
//! **Algorithm**
//! 1. Make and watch the executions ([`Measured`]). A file without `main` has no executions of its own: the drivers that close it
//!    ([`Methods::drivers`]) are run in turn, each with an equal share of the seeds.
//! 2. For a program, decide each instance that the executions do not cover: from the text ([`Reasons`]), otherwise from all
//!    states ([`Space`]). On request, find executions that cover the missing instances.
//! 3. For a program, decide which pairs of methods can be covered ([`overlaps`]).
//! 4. For a program, decide which pi terms can happen, and find failures and deadlocks that no execution has met, as `futures`
//!    does.
//!
//! **Soundness and limits**: covered instances are covered by a real execution. The feasible total is exact or absent. It is
//! absent if a bound was hit, and for a file without `main`, whose clients are unbounded.

use super::feasible::{Feasible, Space, Witness};
use super::instance::{Instance, Totals, instances, totals};
use super::matching::Candidates;
use super::measure::{Measured, Watched};
use super::method_pairs::{MethodPair, PublicMethods, pair_of};
use super::reason::{Reason, Reasons};
use super::universe::Universe;
use cssame_budget::{Bound, Budget, Limits};
use cssame_explore::{Answer, Asked, OverlapsAnswer, Query, Subject, overlaps, with_fewer_switches};
use cssame_harness::{Driver, Methods};
use cssame_ir::{DefinitionId, ReadId};
use cssame_model::{Model, Options, Unit};
use cssame_schedule::{Departure, Schedule};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Instances beyond which they are not decided one by one.
const MAX_INSTANCES: u64 = 1_000_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Executions at random, by these seeds.
    pub seeds: Range<u64>,
    /// Executions that were recorded; of a program alone.
    pub schedules: Vec<Schedule>,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// States that are visited to decide what can be covered; none where that is not asked.
    pub explore: Option<u64>,
    /// Whether executions are to be found that cover what is missing.
    pub witnesses: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Findings {
    /// The variables and their accesses.
    pub universe: Universe,
    /// The public methods.
    pub methods: PublicMethods,
    /// How many instances there are.
    pub totals: Totals,
    /// What the executions show.
    pub measured: Measured,
    /// Of each instance that is excluded, why, as far as they were decided one by one.
    pub excluded: BTreeMap<Instance, Reason>,
    /// The instances that some execution covers, those of these executions included; none where that is not known.
    pub feasible: Option<BTreeSet<Instance>>,
    /// Executions that cover what these do not, as far as they were asked for and found.
    pub witnesses: Vec<Witness>,
    /// The pairs of methods that overlap in some execution; none where that is not known.
    pub possible_pairs: Option<BTreeSet<MethodPair>>,
    /// The pi terms of a program.
    pub terms: Option<Terms>,
    /// What a search through all executions says of the ends and terms of a program, where it was asked for.
    pub searched: Option<Answer>,
    /// The drivers that were run, of a file without `main`.
    pub drivers: Vec<Driver>,
    /// Whether there is a `main`.
    pub is_program: bool,
    /// The first bound that has cut something.
    pub bound: Option<Bound>,
}

/// The terms of the pi functions of a program.
#[derive(Debug)]
pub struct Terms {
    /// All of them, by read.
    pub all: Vec<(ReadId, DefinitionId)>,
    /// Those that some execution has; none where it is not known of all.
    pub feasible: Option<BTreeSet<(ReadId, DefinitionId)>>,
}

impl Findings {
    /// Whether no bound has cut anything.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.bound.is_none() && !self.measured.is_cut
    }

    /// Whether it is known of each instance whether it is covered, can be covered, or cannot.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.feasible.is_some() || self.measured.instances.len() as u64 + self.excluded.len() as u64 == self.totals.all
    }
}

/// What executions of a program cover.
///
/// # Errors
///
/// The number of a recorded schedule that the program departs from, and where.
pub fn find(model: &Model, request: &Request, budget: &Budget<'_>) -> Result<Findings, (usize, Departure)> {
    let universe = Universe::of_program(model.program(), &model.form().concurrency.sharing);
    let methods = PublicMethods::new(model.program());
    let totals = totals(&universe);
    let reasons = Reasons::of_program(model.program(), model.form(), &universe);
    let is_small = totals.all <= MAX_INSTANCES;
    let possible = || instances(&universe).filter(|instance| reasons.of(instance).is_none());
    let candidates = is_small.then(|| Candidates::new(possible()));
    let mut measured = Measured::default();
    let watched = Watched::new(model, &universe, &methods);
    let watched = match &candidates {
        Some(candidates) => watched.among(candidates),
        None => watched,
    };
    for (number, recorded) in request.schedules.iter().enumerate() {
        measured.replay(0, &watched, recorded, request.max_steps).map_err(|departure| (number, departure))?;
    }
    measured.run_seeds(0, &watched, request.seeds.clone(), request.max_steps, budget);
    let asked = watched.asked().clone();
    let mut findings = Findings {
        totals,
        bound: measured.bound,
        universe,
        methods,
        measured,
        excluded: BTreeMap::new(),
        feasible: None,
        witnesses: Vec::new(),
        possible_pairs: None,
        terms: None,
        searched: None,
        drivers: Vec::new(),
        is_program: true,
    };
    let share = budget.share(Limits { max_states: request.explore.or(Some(0)), ..Limits::default() });
    findings.decide(model, &reasons, request, &share);
    findings.find_pairs(model, &asked, request.explore.is_some(), &share);
    findings.find_terms(model, request.explore.is_some(), &share);
    Ok(findings)
}

/// What executions of the drivers of a file without `main` cover.
#[must_use]
pub fn find_in_drivers(unit: &Unit, options: &Options, request: &Request, budget: &Budget<'_>) -> Findings {
    let (universe, methods) = (Universe::of_library(&unit.program), PublicMethods::new(&unit.program));
    let mut measured = Measured::default();
    let drivers = run_drivers(unit, options, (&universe, &methods), (request, budget), (0, &mut measured));
    Findings { drivers, ..of_library(unit, (universe, methods), measured) }
}

/// A program whose text begins with a file without `main`, and executions of it that were recorded.
#[derive(Debug)]
pub struct RecordedProgram {
    /// The program.
    pub model: Model,
    /// Its executions.
    pub schedules: Vec<Schedule>,
}

/// What recorded executions of programs cover that use a file without `main`; with executions of the drivers, if any are asked
/// for.
///
/// # Errors
///
/// The number of the recorded execution, of all programs together, that its program departs from, and where.
pub fn find_in_recorded(
    unit: &Unit,
    options: &Options,
    recorded: &[RecordedProgram],
    request: &Request,
    budget: &Budget<'_>,
) -> Result<Findings, (usize, Departure)> {
    let (universe, methods) = (Universe::of_library(&unit.program), PublicMethods::new(&unit.program));
    let mut measured = Measured::default();
    let mut count = 0;
    for (number, program) in recorded.iter().enumerate() {
        let watched = Watched::new(&program.model, &universe, &methods);
        for schedule in &program.schedules {
            let done = measured.replay(number, &watched, schedule, request.max_steps);
            done.map_err(|departure| (count, departure))?;
            count += 1;
        }
        // Reads and definitions of different programs are not the same.
        measured.terms.clear();
    }
    let state = (recorded.len(), &mut measured);
    let drivers = run_drivers(unit, options, (&universe, &methods), (request, budget), state);
    Ok(Findings { drivers, ..of_library(unit, (universe, methods), measured) })
}

/// Runs the drivers of a file, each by an equal share of the seeds; the first has that number.
fn run_drivers(
    unit: &Unit,
    options: &Options,
    (universe, methods): (&Universe, &PublicMethods),
    (request, budget): (&Request, &Budget<'_>),
    (first, measured): (usize, &mut Measured),
) -> Vec<Driver> {
    let runs = request.seeds.end.saturating_sub(request.seeds.start);
    if runs == 0 {
        return Vec::new();
    }
    let mut drivers = Methods::new(&unit.sources, unit.file).drivers();
    drivers.truncate(usize::try_from(runs).unwrap_or(usize::MAX));
    let count = drivers.len().max(1) as u64;
    for (number, driver) in drivers.iter().enumerate() {
        // What the text of the driver lacks, such as a constant that has no value, it lacks in any of them.
        let Ok(model) = Model::from_text(unit.name(), &driver.text, options) else { continue };
        let share = runs / count + u64::from((number as u64) < runs % count);
        let watched = Watched::new(&model, universe, methods);
        let seeds = request.seeds.start..request.seeds.start.saturating_add(share);
        measured.run_seeds(first + number, &watched, seeds, request.max_steps, budget);
        // Reads and definitions of different programs are not the same.
        measured.terms.clear();
        if measured.bound.is_some() {
            break;
        }
    }
    drivers
}

/// What executions cover that were made for a file without `main`.
#[must_use]
pub fn of_library(unit: &Unit, (universe, methods): (Universe, PublicMethods), measured: Measured) -> Findings {
    let mut findings = Findings {
        totals: totals(&universe),
        bound: measured.bound,
        universe,
        methods,
        measured,
        excluded: BTreeMap::new(),
        feasible: None,
        witnesses: Vec::new(),
        possible_pairs: None,
        terms: None,
        searched: None,
        drivers: Vec::new(),
        is_program: false,
    };
    let reasons = Reasons::of_library(&unit.program, &findings.universe);
    findings.exclude(&reasons);
    findings
}

impl Findings {
    /// Notes which of the instances that are not covered are excluded by the text.
    fn exclude(&mut self, reasons: &Reasons<'_>) {
        if self.totals.all > MAX_INSTANCES {
            self.bound = self.bound.or(Some(Bound::TooMany));
            return;
        }
        let open = instances(&self.universe).filter(|instance| !self.measured.instances.contains_key(instance));
        self.excluded = open.filter_map(|instance| Some((instance, reasons.of(&instance)?))).collect();
    }

    fn decide(&mut self, model: &Model, reasons: &Reasons<'_>, request: &Request, budget: &Budget<'_>) {
        self.exclude(reasons);
        if request.explore.is_none() || self.totals.all > MAX_INSTANCES {
            return;
        }
        let is_open = |instance: &Instance| {
            !self.measured.instances.contains_key(instance) && !self.excluded.contains_key(instance)
        };
        let open: Vec<Instance> = instances(&self.universe).filter(is_open).collect();
        let mut missing = BTreeSet::new();
        if !open.is_empty() {
            let space = Space::new(model, &self.universe, budget);
            let Feasible { covered, bound, .. } = space.feasible(open.iter().copied(), budget);
            missing.extend(covered);
            if request.witnesses {
                self.witnesses = self.witnesses_of(model, &space, missing.clone(), budget);
            }
            self.bound = self.bound.or(bound);
            if bound.is_some() {
                return;
            }
        }
        let impossible = open.into_iter().filter(|instance| !missing.contains(instance));
        self.excluded.extend(impossible.map(|instance| (instance, reasons.of_excluded(&instance))));
        self.feasible = Some(self.measured.instances.keys().copied().chain(missing).collect());
    }

    /// Finds executions that cover these instances.
    fn witnesses_of(
        &self,
        model: &Model,
        space: &Space,
        missing: BTreeSet<Instance>,
        budget: &Budget<'_>,
    ) -> Vec<Witness> {
        let watched = Watched::new(model, &self.universe, &self.methods);
        let candidates = Candidates::new(missing.iter().copied());
        let watched = watched.among(&candidates);
        space.witnesses(missing, |steps| watched.covered_by(steps), budget)
    }

    /// Finds which pairs of methods can be covered.
    fn find_pairs(&mut self, model: &Model, asked: &Asked, explore: bool, budget: &Budget<'_>) {
        let all = self.methods.pair_count();
        if self.measured.pairs.len() as u64 == all {
            self.possible_pairs = Some(self.methods.pairs().collect());
            return;
        }
        if !explore {
            return;
        }
        let most = usize::try_from(all).unwrap_or(usize::MAX);
        let OverlapsAnswer { pairs, bound } = overlaps(model.machine(), asked, most, budget);
        self.bound = self.bound.or(bound);
        if bound.is_none() {
            let covered = self.measured.pairs.keys().copied();
            self.possible_pairs = Some(pairs.into_iter().map(pair_of).chain(covered).collect());
        }
    }

    fn find_terms(&mut self, model: &Model, explore: bool, budget: &Budget<'_>) {
        let form = model.form();
        let of_read = |read: ReadId| form.terms(read).into_iter().map(move |definition| (read, definition));
        let reads = form.shared_reads().into_iter().filter(|&read| form.terms(read).len() > 1);
        let mut all: Vec<(ReadId, DefinitionId)> = reads.flat_map(of_read).collect();
        all.sort_unstable();
        if explore {
            self.searched = Some(Subject::from(model).futures(&Query::WITHOUT_OUTCOMES, budget));
        }
        let feasible = self.possible_terms(&all);
        self.terms = Some(Terms { all, feasible });
        if let Some(answer) = &mut self.searched {
            with_fewer_switches(model.machine(), answer);
            let watched = Watched::new(model, &self.universe, &self.methods);
            self.measured.add_searched(&watched, answer);
        }
    }

    fn possible_terms(&mut self, all: &[(ReadId, DefinitionId)]) -> Option<BTreeSet<(ReadId, DefinitionId)>> {
        let answer = self.searched.as_ref()?;
        // Then nothing is left to be decided, whatever bound was hit.
        if all.iter().all(|term| self.measured.terms.contains_key(term)) {
            return Some(all.iter().copied().collect());
        }
        self.bound = self.bound.or(answer.bound);
        let met = answer.terms.iter().map(|term| (term.read, term.definition));
        let met: BTreeSet<_> = met.filter(|term| all.binary_search(term).is_ok()).collect();
        let decided = answer.is_complete() && answer.undecided.is_empty();
        decided.then_some(met)
    }
}
