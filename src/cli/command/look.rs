//! `cssame FILE`: what is wrong with a program, with no other word on the command line.
//!
//! In: one file. Out: the failures, deadlocks and executions without end of a search of [`STATES`] states, each with its steps; behind
//! them what `check` says of the text, without what executions refute. With an option that only `check` has, or several files, it is `check` that is asked.

use super::check::{closed_words, counted_words};
use crate::job::{Common, Help, Job};
use crate::load::{self, name_of};
use crate::options::{BoundOptions, EndlessOptions, ExecutionOptions, Format, ProcessBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::shared::AnalysisOptions;
use crate::status::Status;
use crate::view::futures::FuturesView;
use clap::Args;
use cssame_answer::words::plural;
use cssame_answer::{
    CheckInput, CheckReport, ConfirmRequest, Effort, Findings, FuturesAnswer, FuturesRequest, Judged, check, finding,
    futures,
};
use cssame_diagnostics::{Diagnostic, Diagnostics, Severity, terminal};
use cssame_explore::EndlessRequest;
use cssame_explore::report::Schedules;
use cssame_model::Model;
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;

/// States that are visited, at most: about a second.
const STATES: u64 = 500_000;

/// Arguments of a command line without a command.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions,
    #[arg(skip)]
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
    search: Option<(Model, FuturesAnswer)>,
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
        self.bounds.max_states = bounds.max_states.or(Some(STATES));
        self.bounds.set_defaults(bounds)
    }

    fn answer(&self, output: &Output) -> Result<Looked, Diagnostics> {
        let mut input = CheckInput::default();
        let (name, file) = (name_of(&self.file), load::read(&mut input.sources, &self.file));
        // Standard input can be read once.
        let source = file.as_ref().ok().map(|&file| input.sources.file(file).text().to_owned());
        input.files.push((name.clone(), file));
        let inputs = &self.analysis.program.inputs;
        let options = self.analysis.program.with(&ExecutionOptions::default());
        let model = source.and_then(|source| Model::from_text(&name, &source, &options).ok());
        let Some(model) = model else {
            return Ok(Looked { text: check(input, inputs, 1, None), refuted: 0, search: None });
        };
        let request = FuturesRequest {
            selections: &[],
            count: Effort::IfCheap,
            outcomes: Effort::IfCheap,
            schedules: Schedules::OfFindings,
            endless: EndlessRequest::default(),
        };
        let max_states = self.bounds.max_states;
        let (text, answer) = with_budget(&self.bounds, output, |budget| {
            let answer = futures(&model, &request, budget);
            let confirm = ConfirmRequest { max_states, budget: *budget, tells_ends: false };
            (check(input, inputs, 1, Some(&confirm)), answer)
        });
        let (text, refuted) = text.without_refuted();
        Ok(Looked { text, refuted, search: Some((model, answer)) })
    }

    fn findings<'a>(&self, looked: &'a Looked) -> Findings<'a> {
        let mut findings = looked.text.findings();
        if let Some((model, answer)) = &looked.search {
            findings.list.extend(answer.findings(model).list);
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
        answer.bound.map(|bound| finding::bound(bound, answer.unfinished.as_ref())).into_iter().collect()
    }

    fn print(&self, looked: &Looked, judged: &Judged, output: &mut Output) {
        let Looked { text, refuted, search } = looked;
        let mut said = String::new();
        if let Some((model, answer)) = search {
            let view = FuturesView {
                answer,
                model,
                selections: &[],
                file: &self.file,
                select: &[],
                endless: EndlessOptions::default(),
                show: &[],
                bounds: "",
                record_dir: None,
                all: false,
                judged,
                colour: output.colour(),
            };
            let bad = view.bad_ends();
            if !bad.is_empty() {
                output.print(&(bad.join("\n") + "\n"));
            }
            said = searched_words(answer);
        }
        output.print(&terminal::render_all(&text.sources, &text.found, output.colour()));
        if let Some((model, _)) = search {
            output.complain(model.sources(), &self.bounds(looked));
        }
        let counted = counted_words(text);
        let counted = if counted.is_empty() { "nothing found in the text".to_owned() } else { counted };
        let counted = match refuted {
            0 => counted,
            _ => format!("{counted}, and {} that no execution shows", plural(*refuted, "warning")),
        };
        output.summary(&format!("{said}{counted}\n{}", closed_words(&text.closed)));
    }

    fn status(&self, looked: &Looked, judged: &Judged) -> Status {
        let text = &looked.text;
        let is_grave = |index: &usize| text.found[*index].severity != Severity::Note;
        let open = text.with_status("open").filter(is_grave).count();
        let decided = open == 0 && looked.search.as_ref().is_none_or(|(_, answer)| answer.is_decided());
        match text.compiles {
            false => Status::Invalid,
            true => Status::of_search(text.errors + text.warnings > open || self.is_bad(looked, judged), decided),
        }
    }
}

impl Arguments {
    /// Whether executions have shown what is not suppressed.
    fn is_bad(&self, looked: &Looked, judged: &Judged) -> bool {
        let shown = looked.search.iter().flat_map(|(model, answer)| answer.findings(model).list);
        shown.into_iter().any(|one| judged.shown(one.diagnostic).is_some())
    }
}

/// `1 deadlock; all failures and deadlocks are known`
fn searched_words(answer: &FuturesAnswer) -> String {
    let report = &answer.futures;
    let counts = [
        (report.failures.len(), "failure"),
        (report.deadlocks.len(), "deadlock"),
        (answer.endless.endless.len(), "endless execution"),
    ];
    let found: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|&(count, word)| plural(count, word)).collect();
    let found = if found.is_empty() { "no failure and no deadlock".to_owned() } else { found.join(", ") };
    match (answer.is_decided(), answer.is_whole()) {
        (_, true) => format!("{found}; all failures, deadlocks and endless executions are known\n"),
        (true, false) => format!("{found}; all failures and deadlocks are known\n"),
        (false, false) => format!("{found} so far; `cssame futures` looks further\n"),
    }
}
