//! The answer of `races`: which accesses race, and what follows.

use crate::budget::{Bound, Budget};
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::race::report::{RacesReport, report};
use crate::race::{self, Means, PlacePair, Places, PredictionRequest, Request, Scope, Timing, TrialRequest};
use serde::Serialize;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RacesRequest {
    /// How pairs are predicted.
    pub predict: Means,
    /// Executions that are watched for that.
    pub predict_runs: u64,
    /// Executions that are directed at each pair.
    pub trials: u64,
    /// The number of the first execution of each kind.
    pub seed: u64,
    /// Whether the first hit of a pair is enough.
    pub until_hit: bool,
    /// Steps of others after which a thread is not postponed any longer.
    pub max_postponed: u64,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// Pairs that are tried at most.
    pub max_pairs: Option<usize>,
    /// One pair alone, by the names of its places.
    pub pair: Option<[String; 2]>,
    /// The pairs of one variable alone.
    pub variable: Option<String>,
    /// States that are visited at most to decide the rest; none where nothing is to be explored.
    pub explore: Option<u64>,
}

impl Default for RacesRequest {
    fn default() -> RacesRequest {
        RacesRequest {
            predict: Means::Both,
            predict_runs: 20,
            trials: 100,
            seed: 0,
            until_hit: false,
            max_postponed: 1_000,
            max_steps: 100_000,
            max_pairs: None,
            pair: None,
            variable: None,
            explore: Some(500_000),
        }
    }
}

/// The races of a program; it serialises as [`RacesReport`].
#[derive(Debug, Serialize)]
pub struct RacesAnswer {
    /// With names.
    #[serde(flatten)]
    pub report: RacesReport,
    /// The bound that has cut something.
    #[serde(skip)]
    pub bound: Option<Bound>,
    /// How long it took.
    #[serde(skip)]
    pub timing: Timing,
}

/// Finds races.
///
/// # Errors
///
/// A name of a place or of a variable means nothing, or several things.
pub fn races(model: &Model, request: &RacesRequest, budget: &Budget<'_>) -> Result<RacesAnswer, Diagnostics> {
    let findings = race::find(model, &resolve(model, request)?, budget);
    let (bound, timing) = (findings.bound, findings.timing);
    Ok(RacesAnswer { report: report(model, &findings), bound, timing })
}

fn resolve(model: &Model, request: &RacesRequest) -> Result<Request, Diagnostics> {
    let scope = match (&request.pair, &request.variable) {
        (Some(pair), _) => Scope::Pair(places_of(model, pair)?),
        (None, Some(variable)) => Scope::Variable(model.lookup().variable(variable)?),
        (None, None) => Scope::All,
    };
    let (seed, max_steps) = (request.seed, request.max_steps);
    Ok(Request {
        prediction: PredictionRequest { means: request.predict, runs: request.predict_runs, seed, max_steps },
        trials: TrialRequest {
            seed,
            trials: request.trials,
            max_postponed: request.max_postponed,
            max_steps,
            until_hit: request.until_hit,
        },
        scope,
        max_pairs: request.max_pairs,
        explore: request.explore,
    })
}

fn places_of(model: &Model, [first, second]: &[String; 2]) -> Result<PlacePair, Diagnostics> {
    let lookup = model.lookup();
    let accesses = [lookup.access(first)?, lookup.access(second)?];
    let places = Places::new(model.program());
    let unknown = || lookup.unknown(&format!("`{first}` and `{second}` are no pair of accesses"));
    places.pair(accesses).map(|(pair, _)| pair).ok_or_else(unknown)
}

impl RacesAnswer {
    /// Whether there is a race, a failure or a deadlock.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        let report = &self.report;
        !report.failures.is_empty()
            || !report.deadlocks.is_empty()
            || report.potential.iter().any(|pair| pair.status == "real")
    }
}
