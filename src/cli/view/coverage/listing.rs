//! An annotated listing: the source, each line with its coverage by executions.

use crate::view::snippet::styled;
use anstyle::AnsiColor;
use cssame_coverage::report::LinesReport;
use cssame_source::cut::visible;

/// The text of the listing; of a line in which shared memory is accessed: how many executions have done so, and of the
/// instances that begin there how many are covered, of how many.
#[must_use]
pub fn listing(source: &str, report: &LinesReport, colour: bool) -> String {
    let cells = |line: u32| {
        let of = report.lines.get(&line)?;
        let (covered, total) = of.counts();
        let instances = if total == 0 { String::new() } else { format!("{covered}/{total}") };
        Some((of.hits, instances, covered < total))
    };
    let lines: Vec<&str> = source.lines().collect();
    let all = || (1..=lines.len() as u32).filter_map(cells);
    let hits = all().map(|(hits, _, _)| hits.to_string().len()).chain([4]).max().unwrap_or(4);
    let instances = all().map(|(_, instances, _)| instances.len()).chain([9]).max().unwrap_or(9);
    let numbers = lines.len().to_string().len();
    let mut text = format!("{:>hits$}  {:>instances$}\n", "hits", "instances");
    for (number, line) in (1..).zip(&lines) {
        let annotation = match cells(number) {
            None => " ".repeat(hits + 2 + instances),
            Some((count, covered, is_missing)) => {
                let style = match (count, is_missing) {
                    (0, _) => AnsiColor::Red,
                    (_, true) => AnsiColor::Yellow,
                    (_, false) => AnsiColor::Green,
                };
                styled(&format!("{count:>hits$}  {covered:>instances$}"), style.on_default(), colour)
            }
        };
        let line: String = line.chars().map(|each| if each == '\t' { each } else { visible(each) }).collect();
        text += format!("{annotation}  {number:>numbers$} | {line}").trim_end();
        text.push('\n');
    }
    text
}
