//! `cssame hunt FILE`: searches for a bug; if none is found, reports up to how many preemptions there is none.

use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{BoundOptions, EndlessOptions, ProcessBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::record;
use crate::shared::SearchOptions;
use crate::view::hunt::{self as view, HuntView};
use crate::view::limits::limits;
use crate::view::snippet::Table;
use clap::Args;
use cssame_answer::words::{plural, with_preemptions};
use cssame_answer::{Findings, HuntAnswer, HuntReport, Judged, finding, hunt};
use cssame_diagnostics::{Diagnostic, Diagnostics};
use cssame_explore::{HUNT_SAMPLES, HuntRequest};
use cssame_model::Model;
use serde::Serialize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::slice::from_ref;

/// Arguments of `hunt`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Explore only the executions with at most K preemptions
    #[arg(long, value_name = "K")]
    pub preemptions: Option<u32>,
    /// Stop at the first failure or deadlock
    #[arg(long)]
    pub stop_at_first: bool,
    /// Make N executions with random priorities of operations (POS) before the search; none with --preemptions
    #[arg(long, value_name = "N", default_value_t = HUNT_SAMPLES)]
    pub samples: u64,
    /// Write the schedules of failures, deadlocks, races and executions without end to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    /// Search for each value of an input in turn, up to the first value that fails or is not decided
    #[arg(long, value_name = "NAME=A..B", value_parser = parse_growing, conflicts_with = "record_dir")]
    pub grow: Option<Growing>,
    /// Show the text of the source beside each step
    #[arg(long)]
    pub source: bool,
    /// Show the steps of each finding, not only of the first one, and all steps within calls
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) endless: EndlessOptions,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
}

/// An input, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growing {
    name: String,
    values: RangeInclusive<i64>,
}

fn parse_growing(text: &str) -> Result<Growing, String> {
    let parts = text.split_once('=').and_then(|(name, values)| Some((name.trim(), values.split_once("..")?)));
    let read = |(name, (first, last)): (&str, (&str, &str))| {
        let values = first.trim().parse().ok()?..=last.trim().parse().ok()?;
        (!name.is_empty() && !values.is_empty()).then(|| Growing { name: name.to_owned(), values })
    };
    parts.and_then(read).ok_or_else(|| "write it as NAME=A..B, such as `rounds=1..4`".to_owned())
}

/// What goes wrong, and in which program: of values that grow, the last one that was asked for.
#[derive(Debug, Serialize)]
pub struct Hunted {
    #[serde(flatten)]
    answer: HuntAnswer,
    /// What was found for each value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    grown: Vec<Grown>,
    #[serde(skip)]
    model: Model,
}

/// What was found for a value of an input.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Grown {
    value: i64,
    /// `"clean"`, `"found"` or `"open"`.
    status: &'static str,
    /// As `bounds.preemptions`.
    preemptions: Option<u32>,
    states: u64,
}

impl Job for Arguments {
    type Answer = Hunted;

    const HELP: Help = Help {
        name: "hunt",
        short: "Look for bugs: failures, deadlocks, races, executions without end",
        long: "\
Looks only for bugs: failures, deadlocks, races, and executions without end. Executions with few preemptions come \
first. A preemption is a switch away from a thread that could continue. A switch away from a thread that blocks, waits \
or has ended is not a preemption. Most bugs need one or two preemptions.

If no bug is found, the answer says up to how many preemptions there is none, or that there is none in any execution. \
Each finding has an execution with the fewest preemptions that show it.

To see what reads can see and what the program can print, use `cssame futures`.",
        examples: "\
Examples:
  cssame hunt samples/bank_transfer_deadlock.csm
  cssame hunt --preemptions 2 samples/treiber_aba.csm
  cssame hunt --timeout 60 --format json samples/bakery2.csm
  cssame hunt --grow N=2..5 samples/philosophers_ordered.csm
  cssame hunt --record-dir found samples/counter_unlocked.csm

Exit status: 0 no bug in any execution, or in any execution with at most the given number of preemptions, 1 a bug was \
found, 2 bad usage or a program that does not compile, 3 a bound was hit before the question was decided, and no bug \
was found so far.",
    };

    fn common(&self) -> Common<'_> {
        self.search.common(from_ref(&self.file))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.search.bounds.set_defaults(bounds)
    }

    fn answer(&self, output: &Output) -> Result<Hunted, Diagnostics> {
        let request = HuntRequest {
            preemptions: self.preemptions,
            stops_at_first: self.stop_at_first,
            samples: self.samples,
            ..HuntRequest::default()
        };
        let endless = self.endless.request();
        let mut value = self.grow.as_ref().map(|grow| *grow.values.start());
        let mut grown = Vec::new();
        loop {
            let mut options = self.search.options();
            let input = self.grow.as_ref().zip(value).map(|(grow, value)| (grow.name.clone(), value.to_string()));
            options.inputs.extend(input);
            let model = load::model(&self.file, options)?;
            let answer = with_budget(&self.search.bounds, output, |budget| hunt(&model, request, endless, budget));
            let status = match (answer.is_clean(), answer.is_decided()) {
                (false, _) => "found",
                (true, true) => "clean",
                (true, false) => "open",
            };
            let HuntReport { bounds, states, .. } = answer.report;
            grown.extend(value.map(|value| Grown { value, status, preemptions: bounds.preemptions, states }));
            let has_more = |value: &i64| self.grow.as_ref().is_some_and(|grow| value < grow.values.end());
            value = value.filter(|value| status == "clean" && has_more(value)).map(|value| value + 1);
            if value.is_none() {
                return self.recorded(Hunted { answer, grown, model });
            }
        }
    }

    fn findings<'a>(&self, hunted: &'a Hunted) -> Findings<'a> {
        hunted.answer.findings(&hunted.model)
    }

    fn bounds(&self, hunted: &Hunted) -> Vec<Diagnostic> {
        hunted.answer.answer.bound.map(|bound| finding::bound(bound, None)).into_iter().collect()
    }

    fn within<'a>(&self, hunted: &'a Hunted) -> &'a [String] {
        &hunted.model.program().limits
    }

    fn print(&self, hunted: &Hunted, judged: &Judged, output: &mut Output) {
        let Hunted { answer, model, grown } = hunted;
        let preemptions = self.preemptions.map_or_else(String::new, |most| format!(" --preemptions {most}"));
        let view = HuntView {
            answer,
            model,
            file: &self.file,
            options: &(preemptions + &self.endless.text() + &self.search.bounds.text()),
            record_dir: self.record_dir.as_deref(),
            source: self.source,
            all: self.all,
            shows_races: true,
            judged,
            colour: output.colour(),
        };
        output.print(&view.findings());
        output.complain(model.sources(), &self.bounds(hunted));
        if let Some(grow) = &self.grow {
            output.print(&grown_lines(&grow.name, grown));
        }
        output.print(&view::guarantee(answer));
        output.print(&limits(self.within(hunted)));
    }

    fn is_decided(&self, hunted: &Hunted) -> bool {
        hunted.answer.is_decided()
    }
}

impl Arguments {
    /// Writes the schedules that were asked for.
    fn recorded(&self, hunted: Hunted) -> Result<Hunted, Diagnostics> {
        if let Some(directory) = &self.record_dir {
            record::write_hunt(directory, &hunted.model, &hunted.answer)?;
        }
        Ok(hunted)
    }
}

/// A row for each value.
fn grown_lines(name: &str, grown: &[Grown]) -> String {
    let mut table = Table::new("  ");
    for &Grown { value, status, states, preemptions } in grown {
        let words = match (status, preemptions) {
            ("found", _) => "something goes wrong".to_owned(),
            ("clean", _) => "nothing goes wrong".to_owned(),
            (_, Some(most)) => format!("nothing {}", with_preemptions(most)),
            _ => "not decided".to_owned(),
        };
        table.row(vec![format!("{name}={value}"), words, plural(states as usize, "state")]);
    }
    table.lines().concat()
}
