//! The answer of `races`: the racing accesses, and their consequences.

use super::compiled::Compiled;
use super::endless::{self, EndlessFindings};
use cssame_budget::{Bound, Budget};
use cssame_correlation as correlation;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_model::{Model, Options};
use cssame_race as race;
use cssame_race::report::{RacesReport, aim_report, library_report, report};
use cssame_race::{
    AimFinding, Contender, Granularity, Means, PlacePair, Places, PredictionRequest, Request, Scope, States, Target,
    Timing, TrialRequest, aims, direct_at_aim,
};
use serde::Serialize;
use std::time::{Duration, Instant};

/// What executions are directed at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RacesTarget {
    /// Races.
    #[default]
    Races,
    /// Cycles in which threads take locks.
    Deadlocks,
    /// Accesses that belong together, with synchronisation in between.
    Correlations,
    /// Waits that a notification may come too early for.
    Notifications,
    /// A read that sees a definition, as `READ=DEF`.
    Term(String),
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RacesRequest {
    /// How pairs are predicted.
    pub predict: Means,
    /// Executions that are watched for that.
    pub predict_runs: u64,
    /// Executions that are directed at each pair.
    pub trials: u64,
    /// Whether fewer are where so many would not do for all pairs.
    pub spread: bool,
    /// The number of the first execution of each kind.
    pub seed: u64,
    /// Whether the first hit of a pair is enough.
    pub until_hit: bool,
    /// Steps of others after which a thread is not postponed any longer.
    pub max_postponed: u64,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// Which schedulers make executions: the directed one, or several side by side.
    pub contenders: Vec<Contender>,
    /// Where threads may be switched.
    pub granularity: Granularity,
    /// Pairs that are tried at most.
    pub max_pairs: Option<usize>,
    /// What executions are directed at.
    pub target: RacesTarget,
    /// One pair alone, by the names of its places.
    pub pair: Option<[String; 2]>,
    /// The pairs of one variable alone.
    pub variable: Option<String>,
    /// Whether executions are made that nobody watches, to compare how long they take.
    pub measure: bool,
    /// States that are visited at most to decide the rest; none where nothing is to be explored.
    pub explore: Option<States>,
}

impl Default for RacesRequest {
    fn default() -> RacesRequest {
        RacesRequest {
            predict: Means::Both,
            predict_runs: 20,
            trials: 100,
            spread: true,
            seed: 0,
            until_hit: false,
            max_postponed: 20_000,
            max_steps: 1_000_000,
            contenders: vec![Contender::RaceDirected],
            granularity: Granularity::Operation,
            max_pairs: None,
            target: RacesTarget::Races,
            pair: None,
            variable: None,
            measure: false,
            explore: Some(States::About(500_000)),
        }
    }
}

/// The races of a program; it serialises as [`RacesReport`].
#[derive(Debug, Serialize)]
pub struct RacesAnswer {
    /// With names.
    #[serde(flatten)]
    pub report: RacesReport,
    /// Executions without end, where all executions were to be explored.
    #[serde(flatten)]
    pub endless: EndlessFindings,
    /// The bound that has cut something.
    #[serde(skip)]
    pub bound: Option<Bound>,
    /// All failures, deadlocks and races with so many preemptions are listed, where a bound has cut the search and that is known.
    #[serde(skip)]
    pub finished: Option<u32>,
    /// How long it took.
    #[serde(skip)]
    pub timing: Timing,
    /// Of a file without `main`: the programs of its drivers, by name.
    #[serde(skip)]
    pub drivers: Vec<(String, Model)>,
}

/// Finds races in a program, or in the drivers of a file without `main`.
///
/// # Errors
///
/// A name of a place or of a variable means nothing, or several things; or there is none to mean, for lack of a `main`.
pub fn races_of(
    subject: &Compiled,
    options: &Options,
    request: &RacesRequest,
    budget: &Budget<'_>,
) -> Result<RacesAnswer, Diagnostics> {
    match subject {
        Compiled::Program(model) => races(model, request, budget),
        Compiled::Library(unit) => {
            if request.pair.is_some() || request.variable.is_some() || request.target != RacesTarget::Races {
                let message = "`--pair`, `--variable` and `--target` need a program with a `main`";
                let problem = Diagnostic::general(Code::NoMain, Severity::Error, message).with_help(
                    "leave out `--pair`, `--variable` and `--target`, or add a `main`; `--record-dir` writes drivers that have one",
                );
                return Err(Diagnostics::new(unit.sources.clone(), vec![problem]));
            }
            let library = race::find_in_drivers(unit, options, &plain(request), budget);
            let lines = unit.text().lines().count() as u32;
            let report = library_report(&library, lines);
            let mut timing = Timing { plain: request.measure.then(Duration::default), ..Timing::default() };
            for one in &library.drivers {
                timing.plain = timing.plain.zip(one.findings.timing.plain).map(|(sum, plain)| sum + plain);
                timing.prediction += one.findings.timing.prediction;
                timing.trials += one.findings.timing.trials;
                timing.exploration += one.findings.timing.exploration;
            }
            let models = library.drivers.into_iter().map(|one| (one.driver.name, one.model)).collect();
            let endless = EndlessFindings::default();
            Ok(RacesAnswer { report, endless, bound: library.bound, finished: None, timing, drivers: models })
        }
    }
}

/// Finds races.
///
/// # Errors
///
/// A name of a place or of a variable means nothing, or several things.
pub fn races(model: &Model, request: &RacesRequest, budget: &Budget<'_>) -> Result<RacesAnswer, Diagnostics> {
    if let Some(target) = target(model, request)? {
        return Ok(directed(model, &target, request, budget));
    }
    let findings = race::find(model, &resolve(model, request)?, budget);
    let (bound, timing) = (findings.bound, findings.timing);
    let explored = findings.exploration.as_ref();
    let endless = explored.map(|answer| endless::behind(model, answer.statistics.states, budget)).unwrap_or_default();
    let finished = explored.and_then(|answer| answer.finished);
    Ok(RacesAnswer { report: report(model, &findings), endless, bound, finished, timing, drivers: Vec::new() })
}

/// The target, where it is another one than races.
fn target(model: &Model, request: &RacesRequest) -> Result<Option<Target>, Diagnostics> {
    Ok(match &request.target {
        RacesTarget::Races => None,
        RacesTarget::Deadlocks => Some(Target::Deadlocks),
        RacesTarget::Correlations => Some(Target::Correlations),
        RacesTarget::Notifications => Some(Target::Notifications),
        RacesTarget::Term(term) => {
            let term = model.lookup().selection(term)?;
            Some(Target::Term(term.read(), term.definition()))
        }
    })
}

/// Directs executions at each thing that a target means.
fn directed(model: &Model, target: &Target, request: &RacesRequest, budget: &Budget<'_>) -> RacesAnswer {
    let started = Instant::now();
    let concurrency = Some(&model.form().concurrency);
    let analysis = || correlation::analyse(model.program(), concurrency, &correlation::Options::default());
    let trials = plain(request).trials;
    let direct = |aim| direct_at_aim(model, aim, &trials, budget);
    let findings: Vec<AimFinding> = aims(model, target, analysis).into_iter().map(direct).collect();
    let bound = findings.iter().find_map(|found| found.bound);
    let report = aim_report(model, target, &findings, &Places::new(model.program()));
    let timing = Timing { trials: started.elapsed(), ..Timing::default() };
    RacesAnswer { report, endless: EndlessFindings::default(), bound, finished: None, timing, drivers: Vec::new() }
}

fn resolve(model: &Model, request: &RacesRequest) -> Result<Request, Diagnostics> {
    Ok(Request { scope: scope(model, request)?, ..plain(request) })
}

fn scope(model: &Model, request: &RacesRequest) -> Result<Scope, Diagnostics> {
    Ok(match (&request.pair, &request.variable) {
        (Some(pair), _) => Scope::Pair(race_pair(model, pair)?),
        (None, Some(variable)) => Scope::Variable(model.lookup().variable(variable)?),
        (None, None) => Scope::All,
    })
}

/// All pairs.
pub(super) fn plain(request: &RacesRequest) -> Request {
    let (seed, max_steps) = (request.seed, request.max_steps);
    Request {
        prediction: PredictionRequest { means: request.predict, runs: request.predict_runs, seed, max_steps },
        trials: TrialRequest {
            seed,
            trials: request.trials,
            max_postponed: request.max_postponed,
            max_steps,
            until_hit: request.until_hit,
            at_synchronisation: request.granularity == Granularity::Synchronisation,
        },
        contenders: request.contenders.clone(),
        spread: request.spread,
        scope: Scope::All,
        max_pairs: request.max_pairs,
        measure: request.measure,
        explore: request.explore,
    }
}

/// The pair of places of two names.
///
/// # Errors
///
/// A name means nothing, or several things.
pub fn race_pair(model: &Model, [first, second]: &[String; 2]) -> Result<PlacePair, Diagnostics> {
    let lookup = model.lookup();
    let accesses = [lookup.access(first)?, lookup.access(second)?];
    let places = Places::new(model.program());
    let unknown = || lookup.unknown(&format!("`{first}` and `{second}` are not a pair of accesses"));
    places.pair(accesses).map(|(pair, _)| pair).ok_or_else(unknown)
}

impl RacesAnswer {
    /// The program that something was found in: that of a driver, or the program itself.
    #[must_use]
    pub fn model_of<'a>(&'a self, subject: &'a Compiled, driver: Option<&String>) -> Option<&'a Model> {
        match (subject, driver) {
            (Compiled::Program(model), _) => Some(model),
            (Compiled::Library(_), Some(name)) => {
                self.drivers.iter().find(|driver| driver.0 == *name).map(|driver| &driver.1)
            }
            (Compiled::Library(_), None) => None,
        }
    }
}
