//! How much is covered: in a line, by pattern, and by variable.

use super::CoverageView;
use crate::view::snippet::{self, wrap_behind};
use cssame_answer::Compiled;
use cssame_coverage::report::{Counts, CoverageReport};
use cssame_coverage::{PATTERNS, Pattern, Slot};

/// Variables that are listed without `--all`.
const SHOWN_VARIABLES: usize = 20;

/// Columns of the name of a variable.
const NAME: usize = 40;

impl CoverageView<'_> {
    /// How many instances are covered, of all and of those that can happen.
    pub(super) fn headline(&self, report: &CoverageReport) -> String {
        let Counts { total, feasible, infeasible, covered } = report.patterns.all;
        if total == 0 {
            return match self.subject {
                Compiled::Program(_) => "covered: 0 of 0 instances: threads share no variable that is written\n",
                Compiled::Library(_) => "covered: 0 of 0 instances: no function or method writes a field or a global\n",
            }
            .to_owned();
        }
        let mut line = format!("{} of {} {}", covered, of(total, "instance"), part(covered, total));
        let open = infeasible.map(|infeasible| total.saturating_sub(infeasible));
        match (feasible, open) {
            (Some(0), _) => line += "; none can happen",
            (Some(feasible), _) => {
                line += &format!(", {covered} of {feasible} that can happen {}", part(covered, feasible))
            }
            (None, Some(open)) if open < total => {
                line += &format!(", {covered} of {open} that are not excluded {}", part(covered, open));
            }
            (None, _) => {}
        }
        let mut lines = wrap_behind("covered: ", "         ", &line);
        // The words stand out, where there is colour.
        if let Some(rest) = lines.strip_prefix("covered:").filter(|_| self.colour) {
            lines = snippet::title("covered:", true).trim_end().to_owned() + rest;
        }
        lines
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

/// `16 instances`
fn of(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// `(18.8 %)`
pub(super) fn part(covered: u64, of: u64) -> String {
    format!("({:.1}\u{a0}%)", covered as f64 * 100.0 / of.max(1) as f64)
}

/// `a reads, b writes, a reads`; with two variables `a writes x, b writes x, …`.
pub(super) fn pattern_name(number: u8) -> String {
    let pattern = PATTERNS.iter().find(|pattern| pattern.number == number);
    pattern.map_or_else(String::new, words)
}

fn words(pattern: &Pattern) -> String {
    let two = pattern.has_two_variables();
    let variable = |slot: Slot| match slot {
        _ if !two => "",
        Slot::X => " x",
        Slot::Y => " y",
    };
    let letters = pattern.letters.iter();
    let word = |letter: &cssame_coverage::Letter| {
        format!("{} {}s{}", letter.role.word(), letter.kind.word(), variable(letter.slot))
    };
    letters.map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_source::cut::columns;

    #[test]
    fn patterns_are_written_out_within_their_columns() {
        assert_eq!(pattern_name(4), "a reads, b writes, a reads");
        assert_eq!(pattern_name(10), "a writes x, b writes y, b writes x, a writes y");
        assert!(PATTERNS.iter().all(|pattern| columns(&words(pattern)) <= 46));
        assert_eq!(pattern_name(18), "");
    }
}
