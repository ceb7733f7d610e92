//! The races of all drivers of a file as one report.
//!
//! **Input**: the findings of each driver. **Output**: a [`RacesReport`] that lists each pair of the file once.
//!
//! **Algorithm**: the most informative driver represents a pair: harm comes before a race, a race before a prediction, then the
//! plainest driver first. Hits and trials are added up.
//!
//! Pairs that the text of the file has but no driver has are added.
//!
//! **Soundness and limits**: a pair that no driver makes real is unconfirmed, since a file without `main` has other clients. A
//! pair that is real and harmless in all drivers is called benign only if each driver has proven it.

use super::data::{DriverReport, ExplorationReport, PairReport, RacesReport, Runs};
use super::report;
use crate::library::{DriverFindings, Library};
use cssame_model::Model;
use std::collections::BTreeMap;

/// Gives names to the findings of all drivers. `lines` is the number of lines of the file itself.
#[must_use]
pub fn library_report(library: &Library, lines: u32) -> RacesReport {
    let mut whole = RacesReport {
        complete: true,
        bound: library.bound.map(cssame_budget::Bound::name),
        target: "races",
        potential: Vec::new(),
        aims: None,
        failures: Vec::new(),
        deadlocks: Vec::new(),
        prediction: Runs::default(),
        directed: Runs::default(),
        schedulers: None,
        exploration: None,
        drivers: Some(Vec::new()),
        has_more_drivers: Some(library.has_more),
    };
    let mut pairs: BTreeMap<Key, PairReport> = BTreeMap::new();
    for one in &library.drivers {
        let mut of_driver = report(&one.model, &one.findings);
        of_driver.potential.retain(|pair| is_of_file(one, pair, lines));
        let driver = DriverReport {
            name: one.driver.name.clone(),
            main: one.driver.main.clone(),
            fails_alone: one.fails_alone,
            potential: of_driver.potential.len(),
            real: of_driver.potential.iter().filter(|pair| pair.status == "real").count(),
        };
        add_runs(&mut whole, &of_driver);
        for mut pair in std::mem::take(&mut of_driver.potential) {
            adapt(&mut pair, one);
            let key = key(&one.model, &pair);
            match pairs.remove(&key) {
                None => pairs.insert(key, pair),
                Some(known) => pairs.insert(key, joined(known, pair)),
            };
        }
        if !one.fails_alone {
            add_ends(&mut whole, of_driver, &driver.name);
        }
        whole.drivers.get_or_insert_default().push(driver);
    }
    if let Some((model, findings)) = &library.closing {
        for mut pair in report(model, findings).potential {
            let key = key(model, &pair);
            if key.iter().all(|place| place.0 <= lines) {
                pair.proof = Some("in none of the drivers; other clients can do more".to_owned());
                (pair.status, pair.reason) = ("unconfirmed", None);
                pairs.entry(key).or_insert(pair);
            }
        }
    }
    whole.potential = pairs.into_values().collect();
    whole.complete = whole.potential.iter().all(|pair| pair.status == "real");
    whole
}

/// Places by line and column.
type Key = [(u32, u32); 2];

fn key(model: &Model, pair: &PairReport) -> Key {
    pair.spans.map(|span| {
        let position = model.sources().position(span);
        (position.line, position.column)
    })
}

/// Whether both places stand in the file, not in the driver.
fn is_of_file(one: &DriverFindings, pair: &PairReport, lines: u32) -> bool {
    key(&one.model, pair).iter().all(|place| place.0 <= lines)
}

/// What a driver shows of a pair, as a file without `main` shows it.
fn adapt(pair: &mut PairReport, one: &DriverFindings) {
    pair.driver = Some(one.driver.name.clone());
    if pair.status == "impossible" {
        (pair.status, pair.reason) = ("unconfirmed", None);
        pair.proof = Some("in none of the drivers; other clients can do more".to_owned());
    }
    if one.fails_alone {
        pair.harmful = false;
        pair.fails_when_first.clear();
        pair.benign = false;
        pair.outcomes_differ = None;
    }
}

/// How much a driver shows.
fn weight(pair: &PairReport) -> u32 {
    2 * u32::from(pair.harmful) + u32::from(pair.status == "real")
}

fn joined(known: PairReport, other: PairReport) -> PairReport {
    let (mut best, rest) = if weight(&other) > weight(&known) { (other, known) } else { (known, other) };
    best.hits += rest.hits;
    best.trials += rest.trials;
    best.mixed |= rest.mixed;
    if rest.status == "real" {
        best.fails_when_first.extend(rest.fails_when_first);
        best.outcomes_differ = match (best.outcomes_differ, rest.outcomes_differ) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
    }
    best.fails_when_first.sort_unstable();
    best.fails_when_first.dedup();
    best.benign = best.status == "real" && !best.harmful && best.outcomes_differ == Some(false);
    for list in [(&mut best.variables, rest.variables), (&mut best.kinds, rest.kinds)] {
        list.0.extend(list.1);
        list.0.sort();
        list.0.dedup();
    }
    best
}

fn add_runs(whole: &mut RacesReport, of_driver: &RacesReport) {
    for (sum, runs) in [(&mut whole.prediction, of_driver.prediction), (&mut whole.directed, of_driver.directed)] {
        sum.executions += runs.executions;
        sum.failed += runs.failed;
        sum.cut += runs.cut;
    }
    if let Some(of) = of_driver.exploration {
        let sum = whole.exploration.get_or_insert(ExplorationReport { complete: true, states: 0 });
        sum.complete &= of.complete;
        sum.states += of.states;
    }
}

/// Adds the failures and deadlocks of a driver that no other driver has shown.
fn add_ends(whole: &mut RacesReport, of_driver: RacesReport, driver: &str) {
    for mut met in of_driver.failures {
        let same = |known: &super::data::MetFailure| {
            (known.failure.status, &known.failure.at, &known.failure.message)
                == (met.failure.status, &met.failure.at, &met.failure.message)
        };
        if !whole.failures.iter().any(same) {
            met.driver = Some(driver.to_owned());
            whole.failures.push(met);
        }
    }
    for mut met in of_driver.deadlocks {
        let places = |of: &super::data::MetDeadlock| -> Vec<String> {
            of.deadlock.threads.iter().map(|blocked| blocked.at.clone()).collect()
        };
        if !whole.deadlocks.iter().any(|known| places(known) == places(&met)) {
            met.driver = Some(driver.to_owned());
            whole.deadlocks.push(met);
        }
    }
}
