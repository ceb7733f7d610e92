//! Correlations and method pairs for people.

use super::replay::{DIRECTORY, options_text, record_line, replay_line};
use super::snippet::{self, Table};
use super::steps::StepsView;
use crate::record;
use anstyle::{AnsiColor, Style};
use cssame_answer::CorrelateAnswer;
use cssame_answer::words::plural;
use cssame_correlation::Status;
use cssame_correlation::report::{AccessData, CorrelationData, EvidenceData, PairData};
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_schedule::{RowKind, Step};
use cssame_source::SourceMap;
use std::collections::BTreeSet;
use std::path::Path;

/// Places that the table shows of a correlation.
const MAX_PLACES: usize = 3;

/// Pairs of rank 0 that the table shows.
const MAX_SAFE_PAIRS: usize = 20;

/// Pairs of which an execution is shown.
const MAX_TRACES: usize = 5;

/// Rows before the first thread is made that are shown.
const MAX_BEFORE: usize = 10;

/// An answer, and how it is shown.
pub struct CorrelateView<'a> {
    /// Correlations and pairs.
    pub answer: &'a CorrelateAnswer,
    /// The source file.
    pub file: &'a Path,
    /// The bounds of the search, as they are typed.
    pub bounds: &'a str,
    /// Where the schedules were written to.
    pub record_dir: Option<&'a Path>,
    /// Whether there is colour.
    pub colour: bool,
}

impl CorrelateView<'_> {
    /// The whole text but for the summary.
    #[must_use]
    pub fn text(&self) -> String {
        let (report, colour) = (&self.answer.correlation, self.colour);
        let mut text = String::new();
        if !report.correlations.is_empty() {
            text += &snippet::title("Correlated variables", colour);
            text += &self.correlations();
            let merged: Vec<String> =
                report.sets.iter().filter(|set| set.len() > 2).map(|set| format!("  {}\n", set.join(", "))).collect();
            if !merged.is_empty() {
                text += &snippet::title("\nTogether, in sets", colour);
                text += &merged.concat();
            }
        }
        if !report.pairs.is_empty() {
            let title = if text.is_empty() { "Method pairs" } else { "\nMethod pairs" };
            text += &snippet::title(title, colour);
            text += &self.pairs();
            text += &self.traces();
            text += &self.ends();
        }
        let title = if text.is_empty() { "In figures" } else { "\nIn figures" };
        text += &snippet::title(title, colour);
        text + &self.figures()
    }

    /// The program in the columns of table 3 of the paper, without those that are not known.
    fn figures(&self) -> String {
        let of = &self.answer.summary;
        let rows = [
            ("lines", Some(of.lines as u64)),
            ("methods", Some(of.methods as u64)),
            ("depth of calls", of.call_depth.map(u64::from)),
            ("objects", Some(of.objects)),
            ("threads", of.threads.map(|count| count as u64)),
            ("parallel methods", of.parallel_methods),
            ("parallel pairs", of.parallel_pairs),
            ("correlations", Some(of.correlations as u64)),
            ("low-level races", of.low_level_races.map(|count| count as u64)),
            ("high-level races", of.high_level_races.map(|count| count as u64)),
        ];
        let cells = rows.into_iter().filter_map(|(name, count)| Some([name.to_owned(), format!("{:>6}", count?)]));
        let cells: Vec<[String; 2]> = cells.collect();
        let (left, right) = cells.split_at(cells.len().div_ceil(2));
        let mut table = Table::new("  ");
        for (index, row) in left.iter().enumerate() {
            table.row(row.iter().chain(right.get(index).into_iter().flatten()).cloned().collect());
        }
        table.lines().concat()
    }

    /// A row for each correlation, and one for each place that ties its variables.
    fn correlations(&self) -> String {
        let (report, sources) = (&self.answer.correlation, &self.answer.executed.unit().sources);
        let mut table = Table::new("  ");
        for of in &report.correlations {
            let mut all: Vec<String> = of.evidence.iter().map(|evidence| place(sources, evidence)).collect();
            // Two patterns at one place are one row.
            let mut seen = BTreeSet::new();
            all.retain(|place| seen.insert(place.clone()));
            let more = all.len().saturating_sub(MAX_PLACES);
            let mut places = all.into_iter().take(MAX_PLACES);
            let mut row = vec![of.variables.join(", "), percent(of.probability), of.patterns.join(", ")];
            row.extend(places.next());
            table.row(row);
            for place in places {
                table.row(vec![String::new(), String::new(), String::new(), place]);
            }
            if more > 0 {
                table.row(vec![String::new(), String::new(), String::new(), format!("and {more} more")]);
            }
        }
        let shared: Vec<String> = report.correlations.iter().flat_map(private).collect();
        let mut text = table.lines().concat();
        if !shared.is_empty() {
            let mut names = shared;
            names.sort_unstable();
            names.dedup();
            let line = format!("private to a thread: {})", names.join(", "));
            text += &snippet::wrap_behind("  (", "   ", &line);
        }
        text
    }

    fn pairs(&self) -> String {
        let mut text = String::new();
        let (selected, others): (Vec<&PairData<_>>, Vec<&PairData<_>>) =
            self.answer.correlation.pairs.iter().partition(|pair| pair.selected);
        for pair in selected {
            let style = Style::new().fg_color(Some(colour_of(pair.status).into()));
            let title = format!(
                "{}{}  {} || {}  {}",
                percent(pair.rank),
                by_sets(pair.set_rank),
                pair.methods[0],
                pair.methods[1],
                pair.status.word()
            );
            text += &format!("  {}\n", snippet::styled(&title, style, self.colour));
            text += &format!("    {}\n", counts(pair));
            let mut table = Table::new("      ");
            for access in &pair.endangered_accesses {
                let [first, second] = &access.variables;
                let how = format!("{}s {first}, {}s {second}", access.accesses[0], access.accesses[1]);
                table.row(vec![access.method.clone(), how, verdict(pair, access)]);
            }
            text += &table.lines().concat();
            for end in &pair.ends {
                let line = end.line.map_or_else(String::new, |line| format!(" at line {line}"));
                text += &format!("      in parallel: {}{line}: {}\n", end.status, end.message);
            }
            let mut reasons: Vec<&String> =
                pair.endangered_accesses.iter().filter_map(|access| access.decision.reason.as_ref()).collect();
            reasons.sort_unstable();
            reasons.dedup();
            for reason in reasons {
                text += &format!("      (potential: {reason})\n");
            }
        }
        let mut table = Table::new("  ");
        for pair in others.iter().take(MAX_SAFE_PAIRS) {
            let title = format!("{} || {}", pair.methods[0], pair.methods[1]);
            table.row(vec![percent(pair.rank), title, counts(pair)]);
        }
        text += &table.lines().concat();
        if others.len() > MAX_SAFE_PAIRS {
            text += &format!("  and {} more that are not selected\n", others.len() - MAX_SAFE_PAIRS);
        }
        text
    }

    /// An execution for each confirmed pair, the first ones.
    fn traces(&self) -> String {
        let mut text = String::new();
        let pairs = self.answer.correlation.pairs.iter().enumerate();
        let mut number = 0;
        let mut shown = 0;
        for (index, pair) in pairs.filter(|(_, pair)| pair.selected) {
            let confirmed = |access: &&AccessData<Vec<Step>>| access.decision.status == Status::Confirmed;
            let first = pair.endangered_accesses.iter().find(confirmed);
            let from = number + 1;
            number += pair.endangered_accesses.iter().filter(confirmed).count();
            if let Some(access) = first {
                shown += 1;
                if shown <= MAX_TRACES {
                    text += &self.trace(index, access, from);
                }
            }
        }
        if shown > MAX_TRACES {
            text += &format!("\nand {} more confirmed pairs (--record-dir writes all schedules)\n", shown - MAX_TRACES);
        }
        text
    }

    /// An execution for each failure and deadlock of a pair, the first ones.
    fn ends(&self) -> String {
        let settings = self.answer.executed.settings();
        let pairs = self.answer.correlation.pairs.iter().enumerate();
        let ends = pairs.flat_map(|(index, pair)| {
            let of = self.answer.executed.of_pair(index).map(|of| of.ends.as_slice()).unwrap_or_default();
            pair.ends.iter().zip(of).map(move |(data, end)| (pair, data, end))
        });
        let mut text = String::new();
        for (pair, data, end) in ends.take(MAX_TRACES) {
            let Some(setting) = settings.get(end.setting) else { continue };
            let title = format!("\n{} || {}: {}", pair.methods[0], pair.methods[1], data.status);
            text += &snippet::title(&title, self.colour);
            text += &added(&data.context);
            text += &self.steps(setting.model).cause(&end.schedule);
        }
        text
    }

    fn trace(&self, pair: usize, access: &AccessData<Vec<Step>>, number: usize) -> String {
        let (Some(setting), Some(steps)) = (self.answer.executed.setting_of(pair), &access.decision.schedule) else {
            return String::new();
        };
        let [first, second] = &access.variables;
        let title = format!("\n{} is torn between {first} and {second} by {}", access.method, access.by.join(", "));
        let mut text = snippet::title(&title, self.colour);
        text += &setting.added.map_or_else(String::new, added);
        let Some(choices) = self.answer.executed.schedule_of(pair, steps) else { return text };
        let mut trace = schedule::trace(setting.model.naming(), choices).cause();
        // What brings the objects into a state may be long.
        let alone = trace.rows.iter().position(|row| row.kind == RowKind::Thread).unwrap_or(0);
        if alone > MAX_BEFORE {
            trace.rows.drain(..alone);
            text += &format!("({} of main before)\n", plural(alone, "event"));
        }
        text += &self.steps(setting.model).trace(&trace);
        text + &self.replay(pair, number)
    }

    fn steps<'m>(&self, model: &'m Model) -> StepsView<'m> {
        StepsView { model, all: false, source: false, colour: self.colour }
    }

    /// The command line that replays a schedule; where none was written, the one that writes it comes first.
    fn replay(&self, pair: usize, number: usize) -> String {
        let directory = self.record_dir.unwrap_or(Path::new(DIRECTORY));
        let source = record::tear_source(directory, self.file, &self.answer.executed, pair);
        let replay = replay_line(&source, &record::tear_file(directory, number));
        if self.record_dir.is_some() {
            return replay;
        }
        let setting = self.answer.executed.setting_of(pair);
        let options = setting.map_or_else(String::new, |setting| options_text(setting.model.options()));
        let (threshold, rank) = (self.answer.correlation.threshold, self.answer.correlation.rank_threshold);
        let threshold = if threshold == 0.5 { String::new() } else { format!(" --threshold {threshold}") };
        let sets =
            if self.answer.correlation.pairs.iter().any(|pair| pair.set_rank.is_some()) { " --sets" } else { "" };
        let rank = if rank == 0.0 { String::new() } else { format!(" --rank {rank}") };
        record_line("correlate", self.file, &(options + &threshold + &rank + sets + self.bounds)) + &replay
    }
}

fn colour_of(status: Status) -> AnsiColor {
    match status {
        Status::Confirmed => AnsiColor::Red,
        Status::Refuted => AnsiColor::Green,
        Status::Elsewhere | Status::Potential => AnsiColor::Yellow,
    }
}

/// The `main` that was added to a file.
fn added(main: &str) -> String {
    let lines = main.lines().map(|line| format!("{}\n", format!("    {line}").trim_end()));
    format!("in a context that was made for it:\n\n{}\n", lines.collect::<String>())
}

/// What is known of an access; who tears it, if that is not the other method of the pair alone.
fn verdict<S>(pair: &PairData<S>, access: &AccessData<S>) -> String {
    let word = access.decision.status.word();
    let other = if pair.methods[0] == access.method { &pair.methods[1] } else { &pair.methods[0] };
    if access.by.is_empty() || access.by == [other.as_str()] {
        word.to_owned()
    } else {
        format!("{word}, by {}", access.by.join(", "))
    }
}

/// The variables of a correlation that are not shared.
fn private(of: &CorrelationData) -> Vec<String> {
    let variables = of.variables.iter().zip(of.shared);
    variables.filter(|(_, shared)| !shared).map(|(name, _)| name.clone()).collect()
}

/// `line 12, 9  x = y + 1;`
fn place(sources: &SourceMap, evidence: &EvidenceData) -> String {
    let with = evidence.with.map(|with| with.line).filter(|&line| line != evidence.line);
    let lines = with.map_or_else(|| evidence.line.to_string(), |line| format!("{line}, {}", evidence.line));
    format!("{lines}: {}", snippet::statement(sources, evidence.span))
}

fn counts<S>(pair: &PairData<S>) -> String {
    let accesses = match pair.correlation_accesses {
        1 => "1 correlation access".to_owned(),
        count => format!("{count} correlation accesses"),
    };
    format!("{} endangered of {accesses}, {} uncorrelated or safe", pair.endangered, pair.uncorrelated)
}

/// `, by sets 50 %`
fn by_sets(rank: Option<f64>) -> String {
    rank.map_or_else(String::new, |rank| format!(", by sets {}", percent(rank).trim_start()))
}

/// ` 67 %`
fn percent(part: f64) -> String {
    format!("{:>3.0} %", part * 100.0)
}

/// How much was found, in a line.
#[must_use]
pub fn summary(answer: &CorrelateAnswer) -> String {
    let (visited, report) = (answer.states, &answer.correlation);
    let counts = &report.counts;
    let parallel = counts.pairs_parallel.map_or_else(String::new, |count| format!("{count} parallel, "));
    let incomplete = if report.complete { "" } else { "; there are more pairs than were ranked" };
    let states = if visited == 0 { String::new() } else { format!("; {}", plural(visited as usize, "state")) };
    format!(
        "{}; {}: {parallel}{} dependent, {} selected, {} confirmed, {} refuted{incomplete}{states}\n",
        plural(report.correlations.len(), "correlation"),
        plural(counts.pairs_considered as usize, "method pair"),
        counts.pairs_dependent,
        counts.pairs_selected,
        counts.pairs_confirmed,
        counts.pairs_refuted,
    )
}
