//! The amount of coverage: in a line, by pattern, and by variable.

use super::CoverageView;
use crate::view::snippet::{self, wrap_behind};
use cssame_answer::Compiled;
use cssame_coverage::report::{Counts, CoverageReport};
use cssame_coverage::{PATTERNS, Pattern};

/// Variables that are listed without `--all`.
const SHOWN_VARIABLES: usize = 20;

/// Columns of the name of a variable.
const NAME: usize = 40;

/// What a line at the top is about: the numbers of what is to be covered, and the words for one and for several of them.
struct Part {
    total: u64,
    feasible: Option<u64>,
    infeasible: Option<u64>,
    covered: u64,
    words: [&'static str; 2],
}

impl CoverageView<'_> {
    /// How many instances and pairs of methods are covered, of those that are possible where that is known.
    pub(super) fn headline(&self, report: &CoverageReport) -> String {
        let Counts { total, feasible, infeasible, covered } = report.patterns.all;
        let mut text = match (total, self.subject) {
            (0, Compiled::Program(_)) => {
                "0 of 0 instances covered: threads share no variable that is written\n".to_owned()
            }
            (0, Compiled::Library(_)) => {
                "0 of 0 instances covered: no function or method writes a field or a global\n".to_owned()
            }
            _ => self.lead(Part { total, feasible, infeasible, covered, words: ["instance", "instances"] }),
        };
        let pairs = &report.method_pairs;
        if pairs.total > 0 {
            let (total, feasible, covered) = (pairs.total, pairs.feasible, pairs.covered);
            let words = ["method pair", "method pairs"];
            text += &self.lead(Part { total, feasible, infeasible: None, covered, words });
        }
        text
    }

    /// `2 of 5 possible instances covered (40.0 %); there are 16 in all`
    fn lead(&self, Part { total, feasible, infeasible, covered, words }: Part) -> String {
        let word = |count: u64| words[usize::from(count != 1)];
        let (first, rest) = match (feasible, infeasible.unwrap_or(0)) {
            (Some(0), _) => (format!("0 of 0 possible {} covered", words[1]), format!(": none of {total} can happen")),
            (Some(feasible), _) => {
                let share = part(covered, feasible);
                let first = format!("{covered} of {feasible} possible {} covered", word(feasible));
                (first, format!(" {share}; there are {total} in all"))
            }
            (None, excluded) => {
                let first = format!("{covered} of all {total} {} covered", word(total));
                let what = match excluded {
                    0 => "how many are possible is not known".to_owned(),
                    _ => format!("at most {} are possible", total.saturating_sub(excluded)),
                };
                (first, format!(" {}; {what}", part(covered, total)))
            }
        };
        let lines = wrap_behind("", "  ", &format!("{first}{rest}"));
        // The words stand out, where there is colour.
        match lines.strip_prefix(&first).filter(|_| self.colour) {
            Some(rest) => snippet::title(&first, true).trim_end().to_owned() + rest,
            None => lines,
        }
    }

    /// One row for each pattern that has instances.
    pub(super) fn patterns(&self, report: &CoverageReport) -> String {
        if report.patterns.all.total == 0 {
            return String::new();
        }
        let row = |(&number, counts): (&u8, &Counts)| {
            let name = format!("  {number:2}  {}", pattern_name(number));
            (name, vec![counts.covered.to_string(), bounded(counts), counts.total.to_string()])
        };
        let by_pattern = report.patterns.by_pattern.iter().filter(|(_, counts)| counts.total > 0);
        let rows: Vec<_> = by_pattern.map(row).collect();
        let possible = if report.patterns.all.feasible.is_some() { "feasible" } else { "excluded" };
        snippet::numbers("patterns", &["covered", possible, "total"], &rows, self.colour)
    }

    /// One row for each variable.
    pub(super) fn variables(&self, report: &CoverageReport) -> String {
        if report.variables.is_empty() {
            return String::new();
        }
        let shown = report.variables.len().min(self.limit(SHOWN_VARIABLES));
        let rows: Vec<_> = report.variables[..shown]
            .iter()
            .map(|one| {
                let numbers = [one.reads as u64, one.writes as u64, one.covered, one.total];
                let name = format!("  {}", snippet::shorten(&one.variable, NAME));
                (name, numbers.iter().map(u64::to_string).collect())
            })
            .collect();
        let more = match report.variables.len() - shown {
            0 => String::new(),
            more => format!("  and {more} more (--all shows them)\n"),
        };
        snippet::numbers("variables", &["reads", "writes", "covered", "total"], &rows, self.colour) + &more
    }
}

fn bounded(counts: &Counts) -> String {
    let number = counts.feasible.or(counts.infeasible);
    number.map_or_else(|| "?".to_owned(), |number| number.to_string())
}

/// `(18.8 %)`
pub(super) fn part(covered: u64, of: u64) -> String {
    format!("({:.1}\u{a0}%)", covered as f64 * 100.0 / of.max(1) as f64)
}

/// `a reads, b writes, a reads`; with two variables `a writes x, b writes x, …`.
pub(super) fn pattern_name(number: u8) -> String {
    let pattern = PATTERNS.iter().find(|pattern| pattern.number == number);
    pattern.map_or_else(String::new, Pattern::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_source::cut::columns;

    #[test]
    fn patterns_are_written_out_within_their_columns() {
        assert_eq!(pattern_name(4), "a reads, b writes, a reads");
        assert_eq!(pattern_name(10), "a writes x, b writes y, b writes x, a writes y");
        assert!(PATTERNS.iter().all(|pattern| columns(&pattern.name()) <= 46));
        assert_eq!(pattern_name(18), "");
    }
}
