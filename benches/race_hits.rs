//! How often each scheduler brings the real races of the samples about: the table of docs/races.md.
//!
//! In: the samples with a `main` that have real races. Out: a table in Markdown with a row for each, and the mean over
//! its real pairs of the proportion of executions that hit the pair. It measures no time: the table is the same on
//! every machine. Run with `cargo bench --bench race_hits`.

use cssame::answer::{RacesRequest, races};
use cssame::budget::Budget;
use cssame::model::{Model, Options};
use cssame::race::Contender;
use cssame::schedule::Scheduler;
use std::fs;
use std::path::{Path, PathBuf};

/// Executions of each scheduler, and of each pair that executions are directed at.
const EXECUTIONS: u64 = 200;

fn main() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "csm"));
    files.sort();
    let contenders = [
        Contender::RaceDirected,
        Contender::Undirected(Scheduler::Random),
        Contender::Undirected(Scheduler::Pct { depth: 3, steps: 0 }),
        Contender::Undirected(Scheduler::Pos),
        Contender::ReadsFrom,
    ];
    let mut lines = vec![
        "| sample | real pairs | race-directed | random | pct | pos | reads-from |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    let mut sums = [0.0; 5];
    let mut rows = 0.0;
    for file in files {
        let Some((pairs, means)) = proportions(&file, &contenders) else { continue };
        let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        lines.push(line(&name, &pairs.to_string(), &means));
        sums.iter_mut().zip(&means).for_each(|(sum, mean)| *sum += mean);
        rows += 1.0;
    }
    lines.push(line("mean", "", &sums.map(|sum| sum / f64::max(rows, 1.0))));
    #[allow(clippy::print_stdout, reason = "the table is what it is for")]
    {
        println!("{}", lines.join("\n"));
    }
}

fn line(name: &str, pairs: &str, means: &[f64]) -> String {
    let cells: Vec<String> = means.iter().map(|mean| format!("{mean:.2}")).collect();
    format!("| {name} | {pairs} | {} |", cells.join(" | "))
}

/// The number of real pairs, and for each scheduler the mean proportion of executions that hit one of them; none
/// without real pairs.
fn proportions(file: &Path, contenders: &[Contender; 5]) -> Option<(usize, [f64; 5])> {
    let model = Model::from_text("sample.csm", &fs::read_to_string(file).ok()?, &Options::default()).ok()?;
    let request = RacesRequest { contenders: contenders.to_vec(), trials: EXECUTIONS, ..RacesRequest::default() };
    let report = races(&model, &request, &Budget::unlimited()).ok()?.report;
    let real: Vec<(&str, &str)> = report
        .potential
        .iter()
        .filter(|pair| pair.status == "real")
        .map(|pair| (pair.a.as_str(), pair.b.as_str()))
        .collect();
    let schedulers = report.schedulers.as_ref().filter(|_| !real.is_empty())?;
    let mut means = [0.0; 5];
    for (mean, of) in means.iter_mut().zip(schedulers) {
        let rows = of.pairs.iter().filter(|row| real.contains(&(row.a.as_str(), row.b.as_str())) && row.trials > 0);
        *mean = rows.map(|row| row.hits as f64 / row.trials as f64).sum::<f64>() / real.len() as f64;
    }
    Some((real.len(), means))
}
