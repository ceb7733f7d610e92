//! The answer of `ci`: the findings of several commands in the programs of a tree.
//!
//! **Input**: a file, the requested commands, and the maximum cost of each. **Output**: [`CiFile`], and for all files
//! [`CiReport`], which contains the findings of all commands.
//!
//! **Algorithm**
//! 1. Check each file. If `races` is requested, test its potential findings by executions: an impossible one is not a finding.
//! 2. If it compiles, run `races`, and, if it has a `main`, `futures`.
//! 3. An identical result of two commands (a deadlock that both `races` and `futures` find) is one finding. If an execution has
//!    confirmed a text finding (CS0401) about a variable, a race of `races` for that variable is the same finding if both its
//!    places are in it.
//! 4. Bad ends of the program come first.

use super::check::{CheckInput, CheckReport, check};
use super::compiled::Compiled;
use super::confirm::ConfirmRequest;
use super::finding;
use super::futures::{Effort, FuturesAnswer, FuturesRequest, futures};
use super::races::{RacesAnswer, RacesRequest, races_of};
use super::suppress::{Examined, Finding, Findings, Judged};
use cssame_budget::{Bound, Budget};
use cssame_diagnostics::json::{DiagnosticData, diagnostic_data};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_explore::EndlessRequest;
use cssame_explore::report::Schedules;
use cssame_model::{Options, Unit};
use cssame_race::States;
use cssame_source::{FileId, SourceMap, Span};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A command that is asked of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CiCommand {
    /// What the text shows.
    Check,
    /// Races.
    Races,
    /// What can happen.
    Futures,
}

impl Default for CiRequest {
    /// All commands are asked.
    fn default() -> CiRequest {
        let commands = BTreeSet::from([CiCommand::Check, CiCommand::Races, CiCommand::Futures]);
        CiRequest { commands, options: Options::default(), race_states: None }
    }
}

impl CiCommand {
    /// All of them, with their names.
    pub const WORDS: [(&'static str, CiCommand); 3] =
        [("check", CiCommand::Check), ("races", CiCommand::Races), ("futures", CiCommand::Futures)];

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        CiCommand::WORDS[self as usize].0
    }
}

/// What is asked of each file.
#[derive(Clone, Debug)]
pub struct CiRequest {
    /// The commands; `check` is made in any case, to know whether the file compiles.
    pub commands: BTreeSet<CiCommand>,
    /// What executions depend on.
    pub options: Options,
    /// States that `races` visits at most; nothing for as many as it visits unasked.
    pub race_states: Option<u64>,
}

/// What one command says of a file.
#[derive(Clone, Debug, Serialize)]
pub struct CiOutcome {
    /// The command.
    pub command: CiCommand,
    /// Whether the question is decided.
    pub complete: bool,
    /// Findings that count, which no command before has found.
    pub findings: usize,
    /// Findings that a command before has found as well.
    pub also_found: usize,
    /// The bound that was hit.
    #[serde(skip)]
    pub bound: Option<Bound>,
    /// How long it took.
    #[serde(skip)]
    pub time: Duration,
}

/// What was found in a file.
#[derive(Debug, Serialize)]
pub struct CiFile {
    /// The file, as it was found.
    pub file: String,
    /// Whether it compiles.
    pub compiles: bool,
    /// What each command says, in their order.
    pub commands: Vec<CiOutcome>,
    #[serde(skip)]
    check: CheckReport,
    #[serde(skip)]
    compiled: Option<Executed>,
}

/// A file that compiles, with what executions have shown.
#[derive(Debug)]
struct Executed {
    subject: Compiled,
    races: Option<RacesAnswer>,
    futures: Option<FuturesAnswer>,
}

/// What was found in all files.
#[derive(Debug, Serialize)]
pub struct CiReport {
    /// The files, sorted by their paths.
    pub files: Vec<CiFile>,
    /// The findings that nothing suppresses.
    pub diagnostics: Vec<DiagnosticData>,
}

/// Asks the commands of a file. Each of them has the budget that `budget` makes.
pub fn ci_file<'a>(
    name: &str,
    text: (SourceMap, Result<FileId, Diagnostic>),
    request: &CiRequest,
    budget: &dyn Fn() -> Budget<'a>,
) -> CiFile {
    let (sources, file) = text;
    let text = file.as_ref().ok().map(|&file| (sources.clone(), file));
    let input = CheckInput { sources, files: vec![(name.to_owned(), file)] };
    let began = Instant::now();
    // Failures and deadlocks are findings of `races` and `futures`.
    let confirm = ConfirmRequest { max_states: request.race_states, budget: budget(), tells_ends: false, hunted: None };
    let is_confirmed = [CiCommand::Check, CiCommand::Races].iter().all(|command| request.commands.contains(command));
    let confirm = is_confirmed.then_some(&confirm);
    let check = check(input, &request.options.inputs, budget().jobs(), confirm);
    // Where it is not asked, it has to say only why nothing else can be.
    let tells = request.commands.contains(&CiCommand::Check) || !check.compiles;
    let mut commands: Vec<CiOutcome> =
        tells.then(|| outcome(CiCommand::Check, None, true, began)).into_iter().collect();
    let unit = text.and_then(|(sources, file)| Unit::from_sources(sources, file, &request.options.inputs).ok());
    let compiled = unit.filter(|_| check.compiles).map(|unit| execute(unit, request, budget, &mut commands));
    CiFile { file: name.to_owned(), compiles: check.compiles, commands, check, compiled }
}

fn execute<'a>(
    unit: Unit,
    request: &CiRequest,
    budget: &dyn Fn() -> Budget<'a>,
    commands: &mut Vec<CiOutcome>,
) -> Executed {
    let subject = Compiled::new(unit, request.options.clone());
    let is_asked = |command| request.commands.contains(&command);
    let began = Instant::now();
    let explore = request.race_states.map(States::Exactly).or(RacesRequest::default().explore);
    let of_races = RacesRequest { explore, ..RacesRequest::default() };
    // It names no place that could mean nothing.
    let races = is_asked(CiCommand::Races).then(|| races_of(&subject, &request.options, &of_races, &budget()).ok());
    let races = races.flatten();
    if let Some(answer) = &races {
        commands.push(outcome(CiCommand::Races, answer.bound, answer.report.complete, began));
    }
    let began = Instant::now();
    let of_futures = FuturesRequest {
        selections: &[],
        count: Effort::IfCheap,
        outcomes: Effort::IfCheap,
        schedules: Schedules::OfFindings,
        endless: EndlessRequest::default(),
    };
    let futures = match &subject {
        Compiled::Program(model) if is_asked(CiCommand::Futures) => Some(futures(model, &of_futures, &budget())),
        Compiled::Program(_) | Compiled::Library(_) => None,
    };
    if let Some(answer) = &futures {
        let bound = answer.bound.filter(|_| !answer.is_decided()).or(answer.endless.bound);
        commands.push(outcome(CiCommand::Futures, bound, answer.is_whole(), began));
    }
    Executed { subject, races, futures }
}

fn outcome(command: CiCommand, bound: Option<Bound>, complete: bool, began: Instant) -> CiOutcome {
    CiOutcome { command, complete, findings: 0, also_found: 0, bound, time: began.elapsed() }
}

/// What tells the findings of a file apart.
type Key = (Code, Option<Span>, String);

impl CiFile {
    /// The program, or the file without `main`, if it compiles.
    pub(super) fn subject(&self) -> Option<&Compiled> {
        self.compiled.as_ref().map(|executed| &executed.subject)
    }

    /// The answer of `races`.
    pub(super) fn races(&self) -> Option<&RacesAnswer> {
        self.compiled.as_ref()?.races.as_ref()
    }

    /// The answer of `futures`.
    pub(super) fn futures(&self) -> Option<&FuturesAnswer> {
        self.compiled.as_ref()?.futures.as_ref()
    }

    fn all(&self) -> Vec<(CiCommand, Findings<'_>)> {
        let mut all = vec![(CiCommand::Check, self.check.findings())];
        if let Some(Executed { subject, races, futures }) = &self.compiled {
            all.extend(races.as_ref().map(|answer| (CiCommand::Races, answer.findings(subject, true))));
            if let (Compiled::Program(model), Some(answer)) = (subject, futures) {
                all.push((CiCommand::Futures, answer.findings(model)));
            }
        }
        all
    }

    /// The findings, each with the first command that has it; and for the whole file what was looked for.
    pub(super) fn findings(&self) -> CiFindings<'_> {
        let mut all = CiFindings::default();
        let mut seen: BTreeSet<Key> = BTreeSet::new();
        for (command, findings) in self.all() {
            match all.files.first_mut() {
                Some(first) => first.looked_for.extend(findings.files.into_iter().flat_map(|of| of.looked_for)),
                None => all.files = findings.files,
            }
            if !self.commands.iter().any(|of| of.command == command) {
                continue;
            }
            // One command may have several of one place and message, such as races with several threads.
            let mut own: Vec<Key> = Vec::new();
            for finding in findings.list {
                let key = (finding.diagnostic.code, finding.diagnostic.span(), finding.diagnostic.message.clone());
                if seen.contains(&key) || all.takes_race(&finding) {
                    all.also_found.push(command);
                } else {
                    all.list.push((command, finding));
                }
                own.push(key);
            }
            seen.extend(own);
            if command == CiCommand::Check {
                all.real = self.check.with_status("real").collect();
            }
        }
        let mut ends = finding::bad_ends();
        ends.extend([Code::NoEnd, Code::Livelock, Code::Starvation]);
        all.list.sort_by_key(|(_, finding)| !ends.contains(&finding.diagnostic.code));
        all
    }
}

/// The findings of a file.
#[derive(Default)]
pub(super) struct CiFindings<'a> {
    /// What was looked for.
    pub files: Vec<Examined<'a>>,
    /// The findings, each with the first command that has it.
    pub list: Vec<(CiCommand, Finding<'a>)>,
    /// For each finding that a command before has, the command that has it as well.
    also_found: Vec<CiCommand>,
    /// The places of those of the text that an execution has shown.
    real: Vec<usize>,
}

impl<'a> CiFindings<'a> {
    /// Whether a race is what the text says of a variable already; then it shows that.
    fn takes_race(&mut self, race: &Finding<'a>) -> bool {
        let race_codes = [Code::RealRace, Code::HarmfulRace, Code::BenignRace];
        let Some(first) = race.diagnostic.span().filter(|_| race_codes.contains(&race.diagnostic.code)) else {
            return false;
        };
        for &index in &self.real {
            let Some((_, said)) = self.list.get_mut(index) else { continue };
            let of_text = &said.diagnostic;
            let labels = of_text.primary.iter().chain(&of_text.secondary);
            let has = |span: Span| labels.clone().any(|label| label.span == span);
            if of_text.code == Code::UnprotectedAccess
                && has(first)
                && race.diagnostic.secondary.iter().any(|label| has(label.span))
            {
                if said.steps.is_empty() {
                    said.steps = race.steps;
                }
                return true;
            }
        }
        false
    }
}

impl CiReport {
    /// All findings, file by file.
    #[must_use]
    pub fn findings(&self) -> Findings<'_> {
        let mut all = Findings::default();
        for file in &self.files {
            let CiFindings { files, list, .. } = file.findings();
            all.files.extend(files);
            all.list.extend(list.into_iter().map(|(_, finding)| finding));
        }
        all
    }

    /// The report without what is suppressed, with the number of findings of each command. Notes of `check` do not count.
    #[must_use]
    pub fn judged(mut self, judged: &Judged) -> CiReport {
        let mut severities = judged.severities.iter();
        let mut diagnostics = Vec::new();
        for index in 0..self.files.len() {
            let mut counted: Vec<CiCommand> = Vec::new();
            let CiFindings { list, also_found, .. } = self.files[index].findings();
            for (command, finding) in list {
                let Some(&Some(severity)) = severities.next() else { continue };
                diagnostics.push(diagnostic_data(finding.sources, &Diagnostic { severity, ..finding.diagnostic }));
                if command != CiCommand::Check || severity != Severity::Note {
                    counted.push(command);
                }
            }
            for of in &mut self.files[index].commands {
                let of_command = |list: &[CiCommand]| list.iter().filter(|&&command| command == of.command).count();
                (of.findings, of.also_found) = (of_command(&counted), of_command(&also_found));
            }
        }
        CiReport { diagnostics, ..self }
    }

    /// Which commands could not decide their question of which file, and why.
    #[must_use]
    pub fn bounds(&self) -> Vec<Diagnostic> {
        let open = |file: &CiFile, of: &CiOutcome| {
            let said = of.bound.map(|bound| finding::bound(bound, None));
            let what = format!("`{} {}`", of.command.word(), file.file);
            match said {
                Some(said) => Diagnostic { message: format!("{what}: {}", said.message), ..said },
                None => {
                    Diagnostic::general(Code::ExplorationLimit, Severity::Warning, format!("{what} is not decided"))
                        .with_note("some pairs are neither shown nor ruled out")
                }
            }
        };
        let all = self.files.iter().flat_map(|file| file.commands.iter().map(move |of| (file, of)));
        all.filter(|(_, of)| !of.complete).map(|(file, of)| open(file, of)).collect()
    }
}
