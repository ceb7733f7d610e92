//! `cssame FILE`: reports the bugs of a program, without a command on the command line.
//!
//! In: one file. Out: the failures, deadlocks and executions without end of a search in the order of preemptions, the first with
//! its steps; then the findings of `check`, without those that executions refute; then the facts that are certain. Everything
//! takes at most [`TIME`], where nothing else is said. With an option that only `check` has, or with several files, the command is `check`.

use super::check::{closed_words, counted_words};
use crate::job::{Common, Help, Job};
use crate::load::{self, name_of};
use crate::options::{BoundOptions, ExecutionOptions, Format, ProcessBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::shared::AnalysisOptions;
use crate::status::Status;
use crate::view::hunt::{self as hunt_view, HuntView, guarantee};
use crate::view::limits::limits;
use clap::Args;
use cssame_answer::words::plural;
use cssame_answer::{CheckInput, CheckReport, ConfirmRequest, Findings, HuntAnswer, Judged, check, finding, hunt};
use cssame_budget::Bound;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity, terminal};
use cssame_explore::{EndlessRequest, HuntRequest};
use cssame_model::{Model, Unit};
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;
use std::time::Duration;

/// How long all takes at most, and the part of it that the search has where findings of the text are to be held to executions.
const TIME: Duration = Duration::from_secs(10);
const SEARCH: f64 = 0.7;

/// Arguments of a command line without a command.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions,
    #[command(flatten)]
    bounds: BoundOptions,
}

/// What the text says, and what executions show.
#[derive(Debug, Serialize)]
pub struct Looked {
    text: CheckReport,
    /// Findings of the text that executions refute, and that are left out.
    #[serde(skip)]
    refuted: usize,
    /// None of a file that does not compile, or has no `main`.
    #[serde(skip)]
    search: Option<(Model, HuntAnswer)>,
}

impl Job for Arguments {
    type Answer = Looked;

    const HELP: Help = Help { name: "check", short: "", long: "", examples: "" };

    fn common(&self) -> Common<'_> {
        self.analysis.common(from_ref(&self.file))
    }

    /// Only people read on behind the first finding.
    fn validate(&self) -> Result<(), String> {
        match self.analysis.format.into() {
            Format::Human => Ok(()),
            Format::Json | Format::Listing(_) => Err("a question for `check`".to_owned()),
        }
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.bounds.set_defaults(bounds);
        self.bounds.timeout.get_or_insert(TIME);
        // Nothing but searches may take long.
        ProcessBounds { timeout: None, ..self.bounds.of_process() }
    }

    fn answer(&self, output: &Output) -> Result<Looked, Diagnostics> {
        let mut input = CheckInput::default();
        let options = self.analysis.program.with(&ExecutionOptions::default());
        let inputs = &options.inputs.clone();
        let (name, file) = (name_of(&self.file), load::program(&mut input.sources, &self.file, inputs));
        // Standard input can be read once.
        let unit = file.as_ref().ok().map(|&file| Unit::from_sources(input.sources.clone(), file, inputs));
        input.files.push((name, file));
        let model = unit.and_then(Result::ok).and_then(|unit| Model::new(unit, options).ok());
        let Some(model) = model else {
            return Ok(Looked { text: check(input, inputs, 1, None), refuted: 0, search: None });
        };
        let endless = EndlessRequest::default();
        // Races are told by the text.
        let request = HuntRequest { stops_at_ends: true, ..HuntRequest::default() };
        let time = self.bounds.timeout.unwrap_or(TIME).mul_f64(SEARCH);
        let (text, answer) = with_budget(&self.bounds, output, |budget| {
            let answer = hunt(&model, request, endless, &budget.with_timeout(time));
            let max_states = self.bounds.max_states;
            let confirm = ConfirmRequest { max_states, budget: *budget, tells_ends: false, hunted: Some(&answer) };
            (check(input, inputs, 1, Some(&confirm)), answer)
        });
        let (text, refuted) = text.without_refuted();
        Ok(Looked { text, refuted, search: Some((model, answer)) })
    }

    fn findings<'a>(&self, looked: &'a Looked) -> Findings<'a> {
        let mut findings = looked.text.findings();
        if let Some((model, answer)) = &looked.search {
            // Races are told by the text.
            let shown = answer.findings(model).list.into_iter();
            findings.list.extend(shown.filter(|one| one.diagnostic.code != Code::RealRace));
        }
        findings
    }

    fn judged(&self, looked: Looked, judged: &Judged) -> Looked {
        Looked { text: looked.text.judged(judged), ..looked }
    }

    fn shows_problems(&self) -> bool {
        true
    }

    fn bounds(&self, looked: &Looked) -> Vec<Diagnostic> {
        let Some((_, answer)) = &looked.search else { return Vec::new() };
        let told = |bound| {
            let mut told = finding::bound(bound, None);
            if bound == Bound::Timeout {
                // There is no option for it here.
                let seconds = self.bounds.timeout.unwrap_or(TIME).as_secs_f64();
                told.message = format!("the time ran out: `cssame FILE` takes {seconds} seconds at most");
            }
            told.with_help("`cssame hunt` looks further")
        };
        answer.answer.bound.map(told).into_iter().collect()
    }

    fn print(&self, looked: &Looked, judged: &Judged, output: &mut Output) {
        let Looked { text, refuted, search } = looked;
        let (mut said, mut is_bad) = (String::new(), false);
        if let Some((model, answer)) = search {
            let view = HuntView {
                answer,
                model,
                file: &self.file,
                options: "",
                record_dir: None,
                source: false,
                all: false,
                shows_races: false,
                judged,
                colour: output.colour(),
            };
            let bad = view.findings();
            is_bad = !bad.is_empty();
            output.print(&bad);
            said = guarantee(answer) + &limits(&model.program().limits);
        }
        // Behind what an execution shows, what the text says is a row each.
        if is_bad && !text.found.is_empty() {
            let lines = hunt_view::rows(&text.sources, text.found.iter().map(|one| (one, String::new())));
            output.print(&format!("\nthe text (`cssame check {}` says more):\n{lines}", name_of(&self.file)));
        } else {
            output.print(&terminal::render_all(&text.sources, &text.found, output.screen()));
        }
        if let Some((model, _)) = search {
            output.complain(model.sources(), &self.bounds(looked));
        }
        let counted = match (counted_words(text), refuted) {
            (counted, 0) if counted.is_empty() && !said.is_empty() => String::new(),
            (counted, 0) if counted.is_empty() => "nothing found in the text\n".to_owned(),
            (counted, 0) if said.is_empty() => format!("{counted}\n"),
            (counted, 0) => format!("{counted} in the text\n"),
            (counted, &refuted) => {
                let counted = if counted.is_empty() { "nothing".to_owned() } else { counted };
                format!("{counted} in the text, and {} that no execution shows\n", plural(refuted, "warning"))
            }
        };
        output.summary(&format!("{said}{counted}{}", closed_words(&text.closed)));
    }

    fn status(&self, looked: &Looked, judged: &Judged) -> Status {
        let text = &looked.text;
        let is_grave = |index: &usize| text.found[*index].severity != Severity::Note;
        let open = text.with_status("open").filter(is_grave).count();
        let decided = open == 0 && looked.search.as_ref().is_none_or(|(_, answer)| answer.has_all_ends());
        match text.compiles {
            false => Status::Invalid,
            true => Status::of_search(text.errors + text.warnings > open || self.is_bad(looked, judged), decided),
        }
    }
}

impl Arguments {
    /// Whether executions have shown what is not suppressed. Races are told by the text.
    fn is_bad(&self, looked: &Looked, judged: &Judged) -> bool {
        let shown = looked.search.iter().flat_map(|(model, answer)| answer.findings(model).list);
        let mut bad = shown.filter(|one| one.diagnostic.code != Code::RealRace);
        bad.any(|one| judged.shown(one.diagnostic).is_some())
    }
}
