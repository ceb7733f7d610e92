//! Confirms the potential findings of `check` by executions.
//!
//! **Input**: a file, and its potential races and cycles of locks. **Output**: for each finding, the diagnostic to show in its
//! place, and a [`Confirmation`]: real, impossible or open; also the failures, deadlocks and executions without end that were
//! found.
//!
//! **Algorithm**: races are searched once for the whole file ([`cssame_race`]), with few executions for each pair; this is
//! skipped if a search by preemptions has already examined all executions.
//! 1. A race on a variable is real if one of its pairs is real, and impossible if all of them are impossible; otherwise it is
//!    open.
//! 2. A cycle of locks is real if a deadlock was found in which some thread waits for each of them, and each holder of one waits
//!    for another. It is impossible if all states were visited and there is no such deadlock; otherwise it is open.
//! 3. Failures are reported, and so are deadlocks that confirm no cycle of locks, and executions without end.
//!
//! **Soundness and limits**: an impossible finding is impossible for the given inputs. A pair of places that refers to several
//! variables counts for one of them only if all states were visited, or if it refers to no other.

use super::closing::in_file;
use super::endless;
use super::finding;
use super::hunt::HuntAnswer;
use super::races::{RacesRequest, plain};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Severity};
use cssame_explore::report::BlockedReport;
use cssame_form::check::Potential;
use cssame_ir::{LeafId, LeafKind, Program};
use cssame_model::{Model, Options, Unit};
use cssame_race::States;
use cssame_race::report::{PairReport, RacesReport, report};
use cssame_race::{Findings, PairFinding, Status, find};
use cssame_source::{FileId, SourceMap};
use serde::Serialize;
use std::collections::BTreeSet;

/// Executions that are directed at each pair, at most.
const TRIALS: u64 = 20;

/// Pairs that executions are directed at, at most, one of each variable first.
const MAX_PAIRS: usize = 50;

/// Steps of such an execution, at most: one that has no end must not be waited for.
const MAX_STEPS: u64 = 20_000;

/// Proofs that are named.
const MAX_PROOFS: usize = 3;

/// What is said of a failure or a deadlock.
const MET: &str = "found while findings were checked by executions; `cssame futures` gives a schedule";

/// How findings are held to executions.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfirmRequest<'a> {
    /// States that are visited at most, of each file; nothing for as many as `races` visits.
    pub max_states: Option<u64>,
    /// The clock, and the number of cores.
    pub budget: Budget<'a>,
    /// Whether failures and deadlocks that are met are told as well: not where other commands tell them.
    pub tells_ends: bool,
    /// What a search by preemptions has found in the one file that there is.
    pub hunted: Option<&'a HuntAnswer>,
}

/// What executions say of a file.
#[derive(Default)]
pub(super) struct Confirmed {
    /// The findings, as they are shown then.
    pub judged: Vec<(Diagnostic, Confirmation)>,
    /// Failures, deadlocks and executions without end that were met.
    pub ends: Vec<Diagnostic>,
    /// Whether all executions were looked at for these.
    pub is_complete: bool,
}

/// What executions say of a finding.
#[derive(Clone, Debug, Serialize)]
pub struct Confirmation {
    /// Its index in the list of diagnostics.
    pub diagnostic: usize,
    /// Its code.
    pub code: &'static str,
    /// The variable, or the locks; of an array of locks, the elements.
    pub objects: Vec<String>,
    /// `real`, `impossible` or `open`.
    pub status: &'static str,
    /// Whether a failure or a deadlock can follow.
    pub harmful: bool,
    /// The places of a race that shows it, or of the race that the execution was directed at which shows it.
    pub pair: Option<[String; 2]>,
    /// The seed of that execution; none where a search has found it.
    pub seed: Option<u64>,
    /// Why it is impossible.
    pub proof: Option<String>,
}

impl Confirmation {
    /// A finding of which no execution shows what it warns of.
    pub(super) fn of_refuted(diagnostic: Diagnostic) -> (Diagnostic, Confirmation) {
        let code = diagnostic.code.number();
        (diagnostic, Confirmation { code, status: "impossible", ..Confirmation::about(Vec::new()) })
    }

    /// Of which nothing is known yet.
    pub(super) fn about(objects: Vec<String>) -> Confirmation {
        Confirmation {
            diagnostic: 0,
            code: "",
            objects,
            status: "",
            harmful: false,
            pair: None,
            seed: None,
            proof: None,
        }
    }
}

/// Says of the findings of a file (its place among the sources, and its inputs) whether executions show them.
pub(super) fn confirm_findings(
    (sources, file, inputs): (&SourceMap, FileId, &[(String, String)]),
    potential: Vec<(Potential, Diagnostic)>,
    request: &ConfirmRequest<'_>,
) -> Confirmed {
    let options = Options { inputs: inputs.to_vec(), ..Options::default() };
    // The file compiles, and what has findings has a main.
    let unit = Unit::from_sources(sources.clone(), file, inputs).ok();
    let Some(model) = unit.and_then(|unit| Model::new(unit, options.clone()).ok()) else { return Confirmed::default() };
    if let Some(hunted) = request.hunted.filter(|hunted| hunted.has_all_races()) {
        let judge = Judge { program: model.program(), hunted: Some(hunted), races: None };
        let judged = potential.into_iter().map(|(of, diagnostic)| judge.judge(&of, diagnostic)).collect();
        return Confirmed { judged, ..Confirmed::default() };
    }
    let defaults = RacesRequest::default();
    let of_races = RacesRequest {
        trials: TRIALS,
        until_hit: true,
        max_pairs: Some(MAX_PAIRS),
        max_steps: MAX_STEPS,
        explore: request.max_states.map(States::Exactly).or(defaults.explore),
        ..defaults
    };
    let findings = find(&model, &plain(&of_races), &request.budget);
    let races = report(&model, &findings);
    let judge = Judge { program: model.program(), hunted: request.hunted, races: Some((&findings, &races)) };
    let (ends, is_complete) =
        if request.tells_ends { judge.ends(&model, &potential, &request.budget) } else { (Vec::new(), false) };
    let judged = potential.into_iter().map(|(of, diagnostic)| judge.judge(&of, diagnostic)).collect();
    Confirmed { judged, ends: ends.into_iter().filter_map(|end| in_file(end, file, u32::MAX)).collect(), is_complete }
}

/// What executions have shown.
struct Judge<'a> {
    program: &'a Program,
    /// In the order of preemptions.
    hunted: Option<&'a HuntAnswer>,
    /// Directed at races, with the search behind them; none where the other one has looked at all executions.
    races: Option<(&'a Findings, &'a RacesReport)>,
}

impl Judge<'_> {
    fn judge(&self, of: &Potential, diagnostic: Diagnostic) -> (Diagnostic, Confirmation) {
        let (status, mut confirmation) = match of {
            Potential::Race(variable) => self.race(*variable),
            Potential::LockCycle(locks) => self.cycle(locks),
        };
        confirmation.status = match status {
            Status::Real => "real",
            Status::Impossible => "impossible",
            Status::Unconfirmed => "open",
        };
        confirmation.code = diagnostic.code.number();
        (shown(diagnostic, status, &confirmation), confirmation)
    }

    fn is_complete(&self) -> bool {
        match self.races {
            None => true,
            Some((findings, _)) => findings.exploration.as_ref().is_some_and(|answer| answer.is_complete()),
        }
    }

    /// States in which nothing else was found.
    fn states(&self) -> u64 {
        let hunted = || self.hunted.map_or(0, |hunted| hunted.report.states);
        let explored =
            |(findings, _): (&Findings, _)| findings.exploration.as_ref().map_or(0, |of| of.statistics.states);
        self.races.map_or_else(hunted, explored)
    }

    /// Step 1.
    fn race(&self, variable: LeafId) -> (Status, Confirmation) {
        let mut confirmation =
            Confirmation::about(vec![self.program.texts.get(self.program.leaves[variable].name).to_owned()]);
        let met = self.hunted.into_iter().flat_map(|hunted| hunted.report.races.iter().flatten());
        let met = met.map(|race| &race.found).find(|race| race.leaves.contains(&variable));
        let all = self.races.into_iter().flat_map(|(findings, report)| findings.pairs.iter().zip(&report.potential));
        let pairs: Vec<(&PairFinding, &PairReport)> =
            all.filter(|(finding, _)| finding.variables.contains(&variable)).collect();
        let shows = |finding: &PairFinding| {
            finding.status == Status::Real && (self.is_complete() || finding.variables.len() == 1)
        };
        let real = pairs.iter().filter(|(finding, _)| shows(finding));
        // One that does harm tells most, then one that a seed makes again.
        if let Some((_, pair)) = real.min_by_key(|(_, pair)| (!pair.harmful, pair.seed.is_none())) {
            confirmation.harmful = pair.harmful;
            confirmation.pair = Some([pair.a.clone(), pair.b.clone()]);
            confirmation.seed = pair.seed;
            return (Status::Real, confirmation);
        }
        if let Some(met) = met {
            confirmation.pair = Some([met.a.clone(), met.b.clone()]);
            return (Status::Real, confirmation);
        }
        if !self.is_complete() && pairs.iter().any(|(finding, _)| finding.status != Status::Impossible) {
            return (Status::Unconfirmed, confirmation);
        }
        let proofs: BTreeSet<&str> = pairs.iter().filter_map(|(_, pair)| pair.proof.as_deref()).collect();
        // One may be the end of another, which says it of other places.
        let is_said = |proof: &&&str| proofs.iter().any(|other| other != *proof && other.contains(**proof));
        let proofs: Vec<&str> = proofs.iter().filter(|proof| !is_said(proof)).take(MAX_PROOFS).copied().collect();
        confirmation.proof = Some(if proofs.is_empty() { self.exhausted() } else { proofs.join("; ") });
        (Status::Impossible, confirmation)
    }

    /// Step 2.
    fn cycle(&self, locks: &[(LeafId, Option<u32>)]) -> (Status, Confirmation) {
        let locks = self.locks(locks);
        let mut confirmation = Confirmation::about(locks.iter().map(|lock| lock.name.clone()).collect());
        let mut hunted = self.hunted.into_iter().flat_map(|hunted| &hunted.report.deadlocks);
        if hunted.any(|met| is_of_cycle(&met.found.threads, &locks)) {
            confirmation.harmful = true;
            return (Status::Real, confirmation);
        }
        let mut deadlocks = self.races.into_iter().flat_map(|(_, report)| &report.deadlocks);
        if let Some(met) = deadlocks.find(|met| is_of_cycle(&met.deadlock.threads, &locks)) {
            confirmation.harmful = true;
            confirmation.pair.clone_from(&met.pair);
            confirmation.seed = met.seed.filter(|_| met.pair.is_some());
            return (Status::Real, confirmation);
        }
        if !self.is_complete() {
            return (Status::Unconfirmed, confirmation);
        }
        confirmation.proof = Some(self.exhausted());
        (Status::Impossible, confirmation)
    }

    fn locks(&self, locks: &[(LeafId, Option<u32>)]) -> Vec<Lock> {
        locks.iter().map(|&(leaf, element)| Lock::new(self.program, leaf, element)).collect()
    }

    /// Step 3, in the sources of the model; and whether there are no others.
    fn ends(
        &self,
        model: &Model,
        potential: &[(Potential, Diagnostic)],
        budget: &Budget<'_>,
    ) -> (Vec<Diagnostic>, bool) {
        let mut ends: Vec<Diagnostic> = Vec::new();
        let Some((_, report)) = self.races else { return (ends, false) };
        for met in &report.failures {
            let failure = finding::failure(&model.naming(), &met.data, &met.failure.thread, &met.failure.facts);
            // Other threads may fail in the same way.
            if !ends.iter().any(|end| end.span() == failure.span() && end.message == failure.message) {
                ends.push(failure);
            }
        }
        let cycles = potential.iter().filter_map(|(of, _)| match of {
            Potential::LockCycle(locks) => Some(self.locks(locks)),
            Potential::Race(_) => None,
        });
        let cycles: Vec<Vec<Lock>> = cycles.collect();
        let deadlocks = report.deadlocks.iter().map(|met| &met.deadlock.threads);
        let unexplained = deadlocks.filter(|threads| !cycles.iter().any(|locks| is_of_cycle(threads, locks)));
        ends.extend(unexplained.map(|threads| finding::deadlock(model.sources(), threads)));
        let endless = endless::behind(model, self.states(), budget);
        ends.extend(endless.endless.iter().map(|report| finding::endless(model.sources(), report)));
        let is_complete = self.is_complete() && endless.endless_complete;
        (ends.into_iter().map(|end| end.with_note(MET)).collect(), is_complete)
    }

    fn exhausted(&self) -> String {
        format!("none of the {} states has it", self.states())
    }
}

/// A lock of a cycle.
struct Lock {
    /// As it is shown.
    name: String,
    is_lock: bool,
    /// What an execution may call it: an element of an array by its index, or any of them.
    elements: BTreeSet<String>,
}

impl Lock {
    fn new(program: &Program, leaf: LeafId, element: Option<u32>) -> Lock {
        let (leaf, texts) = (&program.leaves[leaf], &program.texts);
        let all = element.map_or(0..leaf.element_count(), |element| element..element + 1);
        let name = element.map_or_else(|| leaf.row_name(texts), |element| leaf.element_name(texts, element));
        let elements = all.map(|element| leaf.element_name(texts, element)).collect();
        Lock { name, is_lock: leaf.kind == LeafKind::Lock, elements }
    }

    fn is_waited_for(&self, thread: &BlockedReport) -> bool {
        thread.object.as_ref().is_some_and(|object| self.elements.contains(object))
    }
}

/// Whether a deadlock of these threads is that of a cycle of locks.
fn is_of_cycle(threads: &[BlockedReport], locks: &[Lock]) -> bool {
    let is_lock = locks.iter().all(|lock| lock.is_lock);
    locks.iter().all(|lock| {
        let mut waiting = threads.iter().filter(|thread| lock.is_waited_for(thread));
        waiting.any(|thread| !is_lock || holder_waits(threads, thread, locks))
    })
}

/// Whether the holder of the lock that a thread waits for waits itself for one of the locks.
fn holder_waits(threads: &[BlockedReport], thread: &BlockedReport, locks: &[Lock]) -> bool {
    let Some(holder) = &thread.holder else { return false };
    let waits = |other: &&BlockedReport| other.thread == *holder && locks.iter().any(|lock| lock.is_waited_for(other));
    threads.iter().any(|other| waits(&other))
}

/// The diagnostic with what is known of it: what is impossible is only worth a note.
fn shown(mut diagnostic: Diagnostic, status: Status, of: &Confirmation) -> Diagnostic {
    match status {
        Status::Real => {
            diagnostic.severity = Severity::Warning;
            let follows = if of.harmful { ", and a failure or a deadlock can follow" } else { "" };
            let what = match (&of.pair, diagnostic.code.number()) {
                (Some([a, b]), "CS0401") => {
                    format!("real: two threads are about to access `{a}` and `{b}` at the same time{follows}")
                }
                _ => "real: an execution ends in this deadlock".to_owned(),
            };
            diagnostic.with_note(what)
        }
        Status::Impossible => {
            diagnostic.severity = Severity::Note;
            diagnostic.message = match of.objects.as_slice() {
                [variable] => format!("accesses to `{variable}` do not race"),
                locks => {
                    let quoted: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
                    format!("the holders of {} never wait for each other", quoted.join(" and "))
                }
            };
            let proof = of.proof.as_deref().unwrap_or_default();
            Diagnostic { help: None, ..diagnostic }.with_note(format!("impossible: {proof}"))
        }
        Status::Unconfirmed => {
            diagnostic.with_note("open: no execution was found that shows it, and not all were looked at")
        }
    }
}
