//! The other criteria: terms of pi functions, and pairs of methods.

use super::CoverageView;
use super::counts::part;
use crate::view::snippet::{self, Table, wrap_behind};
use cssame_answer::words::plural;
use cssame_coverage::report::{MethodPairsReport, MissingTerms, TermsReport};

/// Reads with missing terms that are listed without `--all`.
const SHOWN_READS: usize = 8;

/// Missing terms of a read that are listed without `--all`.
const SHOWN_TERMS: usize = 4;

/// Pairs of methods that are listed without `--all`.
const SHOWN_PAIRS: usize = 12;

impl CoverageView<'_> {
    /// The terms that executions have had, of the static ones and of those that can happen.
    pub(super) fn terms(&self, terms: &TermsReport) -> String {
        if terms.all == 0 {
            return String::new();
        }
        let (covered, all) = (terms.covered as u64, terms.all as u64);
        let mut head = format!("pi terms: {covered} of {all} {}", part(covered, all));
        if let Some(feasible) = terms.feasible {
            head += &format!(", {covered} of {feasible} that can happen {}", part(covered, feasible as u64));
        }
        let head = head.replace(snippet::JOINED, " ");
        let shown = terms.missing.iter().take(self.limit(SHOWN_READS));
        let text: String = shown.map(|missing| self.missing_terms(missing)).collect();
        let more = match terms.missing.len().saturating_sub(self.limit(SHOWN_READS)) {
            0 => String::new(),
            more => format!("  and {more} more (--all shows them)\n"),
        };
        snippet::title(&head, self.colour) + &text + &more
    }

    /// The writes that a read was not seen to read from.
    fn missing_terms(&self, missing: &MissingTerms) -> String {
        let parts = [(Some(true), "can read from"), (None, "may read from"), (Some(false), "cannot read from")];
        let parts = parts.into_iter().filter_map(|(feasible, words)| {
            let defs: Vec<&str> =
                missing.defs.iter().filter(|one| one.feasible == feasible).map(|one| one.def.as_str()).collect();
            let shown = defs.len().min(self.limit(SHOWN_TERMS));
            let more = if defs.len() > shown { format!(" and {} more", defs.len() - shown) } else { String::new() };
            (!defs.is_empty()).then(|| format!("{words} {}{more}", defs[..shown].join(", ")))
        });
        let line = parts.collect::<Vec<_>>().join("; ");
        wrap_behind("  ", "    ", &format!("{} {line}", missing.read))
    }

    /// The pairs of methods that were open at the same time, those that were not first, and that no execution has behind them.
    pub(super) fn method_pairs(&self, pairs: &MethodPairsReport) -> String {
        if pairs.total == 0 {
            return String::new();
        }
        let mut all: Vec<_> = pairs.pairs.iter().collect();
        all.sort_by_key(|pair| (pair.covered, pair.feasible == Some(false)));
        let mut table = Table::new("  ");
        for pair in all.iter().take(self.limit(SHOWN_PAIRS)) {
            let covered = match pair.executions {
                0 if pair.feasible == Some(false) => "impossible".to_owned(),
                0 => "not covered".to_owned(),
                executions => plural(executions as usize, "execution"),
            };
            table.row(vec![covered, format!("{} || {}", pair.methods[0], pair.methods[1])]);
        }
        let more = match all.len().saturating_sub(self.limit(SHOWN_PAIRS)) {
            0 => String::new(),
            more => format!("  and {more} more (--all shows them)\n"),
        };
        snippet::title("method pairs: executions in which both ran at the same time", self.colour)
            + &table.lines().concat()
            + &more
    }
}
