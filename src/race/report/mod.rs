//! Findings with names, as answers show them.
//!
//! **Input**: [`Findings`] and the program, or the findings of the drivers of a file. **Output**: plain data that serialises
//! (docs/json.md).

mod data;
mod drivers;

pub use data::*;
pub use drivers::library_report;

use crate::aim::{AimFinding, Target};
use crate::compare::{Comparison, Contender, PairRow};
use crate::ends::{BadEnd, BadEnds, Origin};
use crate::find::Findings;
use crate::judge::{PairFinding, Proof, Status, Witness};
use crate::place::{PlaceId, PlacePair, Places};
use crate::scene::{Actor, Scene, scene};
use cssame_explore::report::{BlockedReport, DeadlockReport, FailureReport};
use cssame_form::races::Separation;
use cssame_ir::{Access, LeafKind, Program};
use cssame_model::Model;
use cssame_schedule::{FirstHit, Naming, Reordered, Scheduler, Z_95, fewer_switches, lock_name, shown_value, walk};
use cssame_source::Span;
use cssame_vm::{Choice, Progress, Tables};
use std::collections::BTreeSet;

/// Gives names to findings.
#[must_use]
pub fn report(model: &Model, findings: &Findings) -> RacesReport {
    let reporter = Reporter { model, naming: model.naming(), places: &findings.places };
    let mut directed = Runs::default();
    for pair in &findings.pairs {
        directed.executions += pair.trials.trials;
        directed.failed += pair.trials.failed;
        directed.cut += pair.trials.cut;
    }
    let ends = findings.ends.list().iter();
    let failures = ends.clone().filter_map(|(end, origin)| reporter.failure(end, *origin));
    let deadlocks = ends.filter_map(|(end, origin)| reporter.deadlock(end, *origin));
    let mut failures: Vec<MetFailure> = failures.collect();
    let place = |met: &MetFailure| (model.machine().span(met.data.at), met.failure.message.clone());
    failures.sort_by_cached_key(place);
    let mut deadlocks: Vec<MetDeadlock> = deadlocks.collect();
    let key = |met: &MetDeadlock| -> Vec<(String, Span)> {
        met.deadlock.threads.iter().map(|blocked: &BlockedReport| (blocked.thread.clone(), blocked.span)).collect()
    };
    deadlocks.sort_by_cached_key(key);
    RacesReport {
        complete: findings.is_decided(),
        target: "races",
        aims: None,
        bound: findings.bound.map(cssame_budget::Bound::name),
        potential: findings.pairs.iter().map(|pair| reporter.pair(pair)).collect(),
        failures,
        deadlocks,
        prediction: Runs {
            executions: findings.prediction.executions,
            failed: findings.prediction.failed,
            cut: findings.prediction.cut,
        },
        directed,
        exploration: findings
            .exploration
            .as_ref()
            .map(|answer| ExplorationReport { complete: answer.is_complete(), states: answer.statistics.states }),
        schedulers: (!findings.comparisons.is_empty())
            .then(|| findings.comparisons.iter().map(|comparison| reporter.scheduler(comparison)).collect()),
        drivers: None,
        has_more_drivers: None,
    }
}

/// Gives names to what executions have shown of the aims of a target.
#[must_use]
pub fn aim_report(model: &Model, target: &Target, findings: &[AimFinding], places: &Places) -> RacesReport {
    let reporter = Reporter { model, naming: model.naming(), places };
    let mut ends = BadEnds::default();
    let mut directed = Runs::default();
    for found in findings {
        directed.executions += found.trials;
        directed.failed += found.ends.list().len() as u64;
        found.ends.list().iter().for_each(|(end, origin)| ends.add(end.clone(), *origin));
    }
    let all = ends.list().iter();
    RacesReport {
        complete: findings.iter().all(|found| found.hits > 0),
        bound: findings.iter().find_map(|found| found.bound).map(cssame_budget::Bound::name),
        target: target.word(),
        potential: Vec::new(),
        aims: Some(findings.iter().map(|found| reporter.aim(found)).collect()),
        failures: all.clone().filter_map(|(end, origin)| reporter.failure(end, *origin)).collect(),
        deadlocks: all.filter_map(|(end, origin)| reporter.deadlock(end, *origin)).collect(),
        prediction: Runs::default(),
        directed,
        schedulers: None,
        exploration: None,
        drivers: None,
        has_more_drivers: None,
    }
}

struct Reporter<'a> {
    model: &'a Model,
    naming: Naming<'a>,
    places: &'a Places,
}

impl Reporter<'_> {
    fn program(&self) -> &Program {
        self.model.program()
    }

    /// `x@3:5`
    fn place(&self, place: PlaceId) -> String {
        let Some(&access) = self.places.list[place].accesses.first() else { return String::new() };
        let name = self.program().texts.get(access.name(self.program()));
        format!("{name}@{}", self.model.sources().place(access.span(self.program())))
    }

    fn names(&self, pair: PlacePair) -> [String; 2] {
        pair.map(|place| self.place(place))
    }

    fn pair(&self, finding: &PairFinding) -> PairReport {
        let [a, b] = self.names(finding.places);
        let arranged = finding.witness.as_ref().map(|witness| self.arranged(finding.places, witness));
        let scene = arranged.as_ref().and_then(|witness| self.scene(finding.places, witness));
        let sides = scene.as_ref().map(|scene| [0, 1].map(|side| self.side(scene, &scene.actors[side])));
        let seen = finding.potential.seen.as_ref();
        let threads = match (&sides, seen) {
            (Some(sides), _) => sides.iter().map(|side| side.thread.clone()).collect(),
            (None, Some(seen)) => seen.iter().map(|side| side.thread.clone()).collect(),
            (None, None) => Vec::new(),
        };
        let locks = |side: usize| -> Vec<String> {
            match (&sides, seen) {
                (Some(sides), _) => sides[side].locks.iter().map(|held| held.lock.clone()).collect(),
                (None, Some(seen)) => {
                    let locks = seen[side].locks.iter();
                    locks.map(|&(lock, mode)| lock_name(self.program(), lock, mode)).collect()
                }
                (None, None) => Vec::new(),
            }
        };
        let variables = self.variables(finding);
        let witness = arranged.as_ref().map(|witness| self.whole(finding, witness, scene.as_ref()));
        PairReport {
            variable: variables.first().cloned().unwrap_or_default(),
            variables,
            kinds: kinds(finding),
            status: finding.status.word(),
            reason: finding.proof.as_ref().map(reason),
            proof: finding.proof.as_ref().map(|proof| self.proof(finding, proof)),
            harmful: finding.is_harmful(),
            fails_when_first: ["a", "b"].into_iter().zip(finding.fails).filter(|of| of.1).map(|of| of.0).collect(),
            benign: finding.is_benign(),
            outcomes_differ: finding.outcomes_differ.filter(|_| finding.status == Status::Real),
            mixed: finding.mixed,
            hits: finding.trials.hits,
            trials: finding.trials.trials,
            seed: finding.seed(),
            predicted: [("dynamic", seen.is_some()), ("static", finding.potential.is_static)]
                .into_iter()
                .filter_map(|(word, is_so)| is_so.then_some(word))
                .collect(),
            threads,
            locks_a: locks(0),
            locks_b: locks(1),
            sides,
            before: arranged.as_ref().map(|witness| witness.before),
            schedule: witness.as_ref().map(|steps| self.naming.steps(steps)),
            spans: finding.places.map(|place| self.places.list[place].span),
            driver: None,
            witness,
            a,
            b,
        }
    }

    /// The same execution with fewer switches between threads before both accesses are pending; as it is where no such
    /// order leads to the same state.
    fn arranged(&self, pair: PlacePair, witness: &Witness) -> Witness {
        let machine = self.model.machine();
        let (prefix, rest) = witness.steps.split_at(witness.before);
        let Some(Reordered { steps, .. }) = fewer_switches(machine, prefix) else { return witness.clone() };
        let arranged = Witness { steps: [&steps[..], rest].concat(), ..witness.clone() };
        let names = |scene: Option<Scene>| scene.map(|scene| scene.actors.map(|actor| (actor.thread, actor.access)));
        let same = names(self.scene(pair, witness)) == names(self.scene(pair, &arranged))
            && self.end(&witness.steps) == self.end(&arranged.steps);
        if same { arranged } else { witness.clone() }
    }

    /// What steps lead to; none where they are not possible.
    fn end(&self, steps: &[Choice]) -> Option<Progress> {
        let mut tables = Tables::new();
        walk(self.model.machine(), &mut tables, steps, &mut ()).ok().map(|walk| walk.progress())
    }

    fn scene(&self, pair: PlacePair, witness: &Witness) -> Option<Scene> {
        scene(self.model.machine(), self.program(), self.places, pair, &witness.steps[..witness.before])
    }

    /// The steps of a witness that a search has found, and those of both accesses where it stops before them.
    fn whole(&self, finding: &PairFinding, witness: &Witness, scene: Option<&Scene>) -> Vec<Choice> {
        let mut steps = witness.steps.clone();
        if let (Some(scene), true) = (scene, steps.len() == witness.before && finding.status == Status::Real) {
            steps.extend(scene.actors.iter().map(|actor| actor.step));
        }
        steps
    }

    fn side(&self, scene: &Scene, actor: &Actor) -> SideReport {
        let lock = |held: &cssame_schedule::Held| {
            let span = self.model.machine().span(held.at);
            LockReport {
                lock: lock_name(self.program(), held.lock, held.mode),
                at: self.model.sources().place(span),
                span,
            }
        };
        SideReport {
            thread: actor.thread.clone(),
            kind: actor.access.word(),
            locks: actor.locks.iter().map(lock).collect(),
            value: self.value(scene),
        }
    }

    /// What the cell holds, as a trace shows it.
    fn value(&self, scene: &Scene) -> Option<String> {
        let leaf = scene.cell?.leaf(self.program())?;
        let LeafKind::Data(ty) = self.program().leaves[leaf].kind else { return None };
        let declared = self.program().symbols[self.program().leaves[leaf].symbol].span;
        Some(shown_value(self.program(), Some(declared), ty, scene.value))
    }

    fn variables(&self, finding: &PairFinding) -> Vec<String> {
        let program = self.program();
        let names = finding.variables.iter().map(|&leaf| program.texts.get(program.leaves[leaf].name).to_owned());
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    fn proof(&self, finding: &PairFinding, proof: &Proof) -> String {
        match proof {
            Proof::Apart(separations) => {
                let mut words: Vec<String> = separations.iter().map(Separation::in_words).collect();
                words.dedup();
                words.join("; ")
            }
            Proof::Exhausted { states, first } => {
                let [a, b] = self.names(finding.places);
                let all = format!("in all {states} states, two threads are never about to make both accesses");
                match first {
                    Some(0) => format!("`{a}` always comes before `{b}`: {all}"),
                    Some(_) => format!("`{b}` always comes before `{a}`: {all}"),
                    None => all,
                }
            }
            Proof::Executions { executions: 1 } => {
                "in the only execution, up to reordering, two threads are never about to make both accesses".to_owned()
            }
            Proof::Executions { executions } => {
                format!(
                    "in all {executions} executions, up to reordering, two threads are never about to make both accesses"
                )
            }
        }
    }

    fn scheduler(&self, comparison: &Comparison) -> SchedulerReport {
        let (depth, steps) = match comparison.contender {
            Contender::Undirected(Scheduler::Pct { depth, steps }) => (Some(depth), Some(steps)),
            _ => (None, None),
        };
        let independent = comparison.contender != Contender::ReadsFrom;
        let pair = |row: &PairRow| {
            let [a, b] = self.names(row.pair);
            let interval = row.rate.wilson(Z_95);
            SchedulerPairReport {
                a,
                b,
                hits: row.rate.hits,
                trials: row.rate.trials,
                low: independent.then_some(interval.low),
                high: independent.then_some(interval.high),
                first: match row.first {
                    FirstHit::At(trial) => Some(trial),
                    FirstHit::Censored(_) => None,
                },
            }
        };
        SchedulerReport {
            scheduler: comparison.contender.word(),
            depth,
            steps,
            granularity: comparison.granularity.word(),
            executions: comparison.executions,
            failed: comparison.failed,
            pairs: comparison.pairs.iter().map(pair).collect(),
        }
    }

    fn aim(&self, found: &AimFinding) -> AimReport {
        let steps = found.first.as_ref().map(|(_, steps)| match fewer_switches(self.model.machine(), steps) {
            Some(arranged) => arranged.steps,
            None => steps.clone(),
        });
        let position = |&span: &Span| self.model.sources().place(span);
        let mut spans = found.aim.places.clone();
        spans.dedup();
        AimReport {
            what: found.aim.what.clone(),
            places: spans.iter().map(position).collect(),
            status: if found.hits > 0 { "real" } else { "unconfirmed" },
            hits: found.hits,
            trials: found.trials,
            seed: found.first.as_ref().map(|first| first.0),
            schedule: steps.as_ref().map(|steps| self.naming.steps(steps)),
            spans,
            steps,
        }
    }

    fn origin(&self, origin: Origin) -> (Option<u64>, Option<[String; 2]>) {
        (origin.seed, origin.pair.map(|pair| self.names(pair)))
    }

    fn failure(&self, end: &BadEnd, origin: Origin) -> Option<MetFailure> {
        let (data, thread) = end.failure.clone()?;
        let (seed, pair) = self.origin(origin);
        let failure = FailureReport::of(&self.naming, &data, thread, &end.steps);
        Some(MetFailure { failure, seed, pair, driver: None, data, steps: end.steps.clone() })
    }

    fn deadlock(&self, end: &BadEnd, origin: Origin) -> Option<MetDeadlock> {
        if end.failure.is_some() {
            return None;
        }
        let (seed, pair) = self.origin(origin);
        let deadlock = DeadlockReport::of(&self.naming, &end.steps);
        Some(MetDeadlock { deadlock, seed, pair, driver: None, steps: end.steps.clone() })
    }
}

/// What happens at both places, each combination once.
fn kinds(finding: &PairFinding) -> Vec<String> {
    let one_place = finding.places[0] == finding.places[1];
    let word = |&[a, b]: &[Access; 2]| {
        let (a, b) = (a.word(), b.word());
        // Of one place with itself nobody knows which thread is meant first.
        let (a, b) = if one_place && b < a { (b, a) } else { (a, b) };
        format!("{a}/{b}")
    };
    finding.accesses.iter().map(word).collect::<BTreeSet<String>>().into_iter().collect()
}

fn reason(proof: &Proof) -> &'static str {
    match proof {
        Proof::Apart(separations) => match separations.first() {
            Some(separation @ (Separation::Locked(_) | Separation::Ordered(_))) => separation.word(),
            _ => "exclusive",
        },
        Proof::Exhausted { .. } | Proof::Executions { .. } => "exhausted",
    }
}
