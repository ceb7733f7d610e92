//! `cssame races FILE`: races: predicted, confirmed, separated from harmless ones, or proven impossible.

use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{BoundOptions, JobsOption, ProcessBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::record;
use crate::shared::SearchOptions;
use crate::view::limits::limits;
use crate::view::races::{self as view, RacesView};
use crate::view::replay::quoted;
use clap::{Args, ValueEnum};
use cssame_answer::{Compiled, Findings, Judged, RacesAnswer, RacesRequest, RacesTarget, finding, races_of};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics};
use cssame_race::{Contender, Granularity, Means, States};
use cssame_schedule::Scheduler;
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;

/// Arguments of `races`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Predict races from executions (dynamic), from the text (static), or from both
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Predict::Both, hide_possible_values = true)]
    pub predict: Predict,
    /// Observe N executions to predict races
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub predict_runs: u64,
    /// Direct N executions at each pair [default: 100, fewer if there are very many pairs; 1 with --pair and --seed]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=100_000_000))]
    pub trials: Option<u64>,
    /// Seed of the first execution of each pair, and of the prediction [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Continue with the next pair after the first hit
    #[arg(long)]
    pub until_hit: bool,
    /// Let a waiting thread continue after N steps of others
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_postponed: u64,
    /// Direct executions at N pairs at most, first at one pair of each variable [default: as many as take some seconds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32))]
    pub max_pairs: Option<u32>,
    /// Look only at this pair of places, whether it is predicted or not
    #[arg(long, value_name = "A,B", value_parser = parse_pair)]
    pub pair: Option<[String; 2]>,
    /// Look only at the pairs of this variable
    #[arg(long, value_name = "NAME", conflicts_with = "pair")]
    pub variable: Option<String>,
    /// Direct executions at races, deadlocks, correlations, notifications or term=READ=DEF
    #[arg(long, value_name = "TARGET", default_value = "races", value_parser = parse_target)]
    #[arg(conflicts_with_all = ["pair", "variable"])]
    pub target: RacesTarget,
    /// Make executions by these schedulers, side by side: random, pct, pos, race-directed, reads-from
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "race-directed",
        hide_possible_values = true
    )]
    pub scheduler: Vec<SchedulerName>,
    /// Switch threads before every operation, or before synchronisation and the accesses of the pairs only
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = SwitchAt::Operation)]
    pub switch_at: SwitchAt,
    /// Depth of bugs that pct looks for
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub pct_depth: u32,
    /// Number of steps within which pct changes priorities [default: that of the longest execution of the prediction]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub pct_steps: Option<u32>,
    /// Do not search all states to decide the pairs that executions leave open
    #[arg(long)]
    pub no_exploration: bool,
    /// Write the schedules of races, failures and deadlocks to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    /// Also list each impossible pair, and show the execution of each race
    #[arg(long)]
    pub all: bool,
    /// Show a table of what was found and how long each part took, compared with plain executions
    #[arg(long)]
    pub timing: bool,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
}

/// Values of `--predict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Predict {
    /// From executions.
    Dynamic,
    /// From the text.
    Static,
    /// From both.
    Both,
}

/// Values of `--scheduler`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchedulerName {
    /// Any thread that can move.
    Random,
    /// Priorities of threads.
    Pct,
    /// Priorities of operations.
    Pos,
    /// Directed at each pair in turn.
    RaceDirected,
    /// A greybox search over reads-from constraints.
    ReadsFrom,
}

/// Values of `--switch-at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SwitchAt {
    /// Before every visible operation.
    Operation,
    /// Before synchronisation, and before the accesses of the pairs.
    Synchronisation,
}

/// Steps of one execution at most, unless `--max-steps` says otherwise.
const MAX_STEPS: u64 = 1_000_000;

/// `A,B`
pub(super) fn parse_pair(text: &str) -> Result<[String; 2], String> {
    match text.split_once(',') {
        Some((a, b)) if !a.trim().is_empty() && !b.trim().is_empty() => Ok([a.trim().to_owned(), b.trim().to_owned()]),
        _ => Err("write it as two places, such as `x@3:5,x@9:7`".to_owned()),
    }
}

fn parse_target(text: &str) -> Result<RacesTarget, String> {
    Ok(match text {
        "races" => RacesTarget::Races,
        "deadlocks" => RacesTarget::Deadlocks,
        "correlations" => RacesTarget::Correlations,
        "notifications" => RacesTarget::Notifications,
        _ => match text.strip_prefix("term=") {
            Some(term) => RacesTarget::Term(term.to_owned()),
            None => {
                let words = "`races`, `deadlocks`, `correlations`, `notifications`, `term=x@3:9=x@1:5`";
                return Err(format!("there is no such target; there are {words}"));
            }
        },
    })
}

/// The races, and what they were asked of.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Found {
    answer: RacesAnswer,
    #[serde(skip)]
    subject: Compiled,
}

impl Job for Arguments {
    type Answer = Found;

    const HELP: Help = Help {
        name: "races",
        short: "Find races: predict them, show them in executions, prove the rest impossible",
        long: "\
Finds pairs of accesses that race: two threads are about to access the same memory cell at the same time, one of them \
writes, and not both accesses are atomic. First it predicts pairs, from the text and from executions that it observes. \
Then it directs executions at each pair: a thread that comes to one of the two places waits until another thread comes \
to the other place. Pairs that are then still open are decided by a search of all states of the program, if there are \
not too many.

A race is real if an execution has it, impossible if there is a proof, and otherwise unconfirmed. A real race is \
harmful if a failure or a deadlock can follow after one of the two accesses went first. It is benign if none can \
follow, and the order changes neither what is printed, nor how the execution ends, nor the final values of global \
variables.",
        examples: "\
Examples:
  cssame races samples/sen_fig1.csm
  cssame races --trials 1000 --no-exploration samples/sen_fig2.csm
  cssame races --pair x@14:5,x@24:11 --seed 3 samples/sen_fig1.csm
  cssame races --record-dir found --format json samples/bank_account_broken.csm

A place is named VAR@LINE:COL, or VAR@LINE where that is unique.

Exit status: 0 every predicted race is impossible, and no failure and no deadlock was met (if a bound ended the search \
for these, the answer says so), 1 some race is real, or a failure or a deadlock was met, 2 bad usage or a program that \
does not compile, 3 a race is neither shown to be real nor proven impossible.",
    };

    fn common(&self) -> Common<'_> {
        self.search.common(from_ref(&self.file))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.search.bounds.set_defaults(bounds)
    }

    fn answer(&self, output: &Output) -> Result<Found, Diagnostics> {
        let options = self.search.options();
        let subject = Compiled::new(load::unit(&self.file, &options.inputs)?, options.clone());
        let request = self.request();
        let search = |budget: &Budget<'_>| races_of(&subject, &options, &request, &self.jobs.of(budget));
        let answer = with_budget(&self.search.bounds, output, search)?;
        if let Some(directory) = &self.record_dir {
            record::write_races(directory, &self.file, &subject, &answer)?;
        }
        Ok(Found { answer, subject })
    }

    fn findings<'a>(&self, found: &'a Found) -> Findings<'a> {
        let is_whole = self.pair.is_none() && self.variable.is_none();
        found.answer.findings(&found.subject, is_whole)
    }

    fn bounds(&self, found: &Found) -> Vec<Diagnostic> {
        let RacesAnswer { bound, finished, .. } = &found.answer;
        let sure = finished.map(|most| finding::within_preemptions("failure, deadlock or race", most));
        bound
            .map(|bound| sure.into_iter().fold(finding::bound(bound, None), Diagnostic::with_note))
            .into_iter()
            .collect()
    }

    fn within<'a>(&self, found: &'a Found) -> &'a [String] {
        &found.subject.unit().program.limits
    }

    fn print(&self, found: &Found, judged: &Judged, output: &mut Output) {
        let Found { answer, subject } = found;
        let view = RacesView {
            answer,
            subject,
            file: &self.file,
            options: &self.typed(),
            record_dir: self.record_dir.as_deref(),
            all: self.all || self.pair.is_some(),
            judged,
            colour: output.colour(),
        };
        view.print(output);
        output.complain(&subject.unit().sources, &self.bounds(found));
        if self.timing {
            output.note(&view::timing(&answer.report, &answer.timing, subject.unit()));
        }
        output.summary(&view::summary(&answer.report));
        output.summary(&limits(self.within(found)));
    }

    fn is_decided(&self, found: &Found) -> bool {
        found.answer.report.complete
    }
}

impl Arguments {
    /// Whether one execution is to be made again.
    fn is_replay(&self) -> bool {
        self.pair.is_some() && self.seed.is_some()
    }

    /// The options that decide what is found, as they are typed, with a space before each.
    fn typed(&self) -> String {
        let mut text = String::new();
        match &self.target {
            RacesTarget::Races => {}
            RacesTarget::Deadlocks => text += " --target deadlocks",
            RacesTarget::Correlations => text += " --target correlations",
            RacesTarget::Notifications => text += " --target notifications",
            RacesTarget::Term(term) => text += &format!(" --target {}", quoted(&format!("term={term}"))),
        }
        if let Some([a, b]) = &self.pair {
            text += &format!(" --pair {}", quoted(&format!("{a},{b}")));
        }
        if let Some(variable) = &self.variable {
            text += &format!(" --variable {}", quoted(variable));
        }
        if let Some(seed) = self.seed {
            text += &format!(" --seed {seed}");
        }
        if let Some(trials) = self.trials {
            text += &format!(" --trials {trials}");
        }
        text + &self.search.bounds.text()
    }

    /// The schedulers, each once.
    fn contenders(&self) -> Vec<Contender> {
        let mut found = Vec::new();
        for name in &self.scheduler {
            let contender = match name {
                SchedulerName::Random => Contender::Undirected(Scheduler::Random),
                SchedulerName::Pct => {
                    let steps = self.pct_steps.unwrap_or(0);
                    Contender::Undirected(Scheduler::Pct { depth: self.pct_depth, steps })
                }
                SchedulerName::Pos => Contender::Undirected(Scheduler::Pos),
                SchedulerName::RaceDirected => Contender::RaceDirected,
                SchedulerName::ReadsFrom => Contender::ReadsFrom,
            };
            if !found.contains(&contender) {
                found.push(contender);
            }
        }
        found
    }

    fn request(&self) -> RacesRequest {
        let defaults = RacesRequest::default();
        let trials = if self.is_replay() { 1 } else { defaults.trials };
        let max_states = self.search.bounds.max_states.map(States::Exactly).or(defaults.explore);
        RacesRequest {
            predict: match self.predict {
                Predict::Dynamic => Means::Dynamic,
                Predict::Static => Means::Static,
                Predict::Both => Means::Both,
            },
            predict_runs: self.predict_runs,
            trials: self.trials.unwrap_or(trials),
            spread: self.trials.is_none(),
            seed: self.seed.unwrap_or(0),
            until_hit: self.until_hit,
            max_postponed: self.max_postponed,
            max_steps: self.search.bounds.max_steps.map_or(MAX_STEPS, u64::from),
            contenders: self.contenders(),
            granularity: match self.switch_at {
                SwitchAt::Operation => Granularity::Operation,
                SwitchAt::Synchronisation => Granularity::Synchronisation,
            },
            max_pairs: self.max_pairs.map(|pairs| pairs as usize),
            target: self.target.clone(),
            pair: self.pair.clone(),
            variable: self.variable.clone(),
            measure: self.timing,
            explore: max_states.filter(|_| !self.no_exploration),
        }
    }
}
