//! Missing coverage: instances that executions can still cover, by the methods that can cover them, and the excluded ones.

use super::CoverageView;
use crate::load::name_of;
use crate::record;
use crate::view::replay::{options_text, record_line, schedule_line};
use crate::view::snippet::{self, JOINED, wrap, wrap_behind};
use cssame_answer::Compiled;
use cssame_answer::words::plural;
use cssame_coverage::report::{CoverageReport, InstanceReport};
use cssame_coverage::{Findings, Reason};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// Groups of methods that are listed without `--all`.
const SHOWN_GROUPS: usize = 6;

/// Instances of a group that are listed without `--all`.
const SHOWN_INSTANCES: usize = 4;

/// What is the same of several instances: the methods of both threads.
type Methods<'a> = &'a [Vec<String>; 2];

impl CoverageView<'_> {
    /// The instances that are not excluded, by the methods that can cover them.
    pub(super) fn missing(&self, report: &CoverageReport) -> String {
        let open: Vec<&InstanceReport> = report.missing.iter().filter(|one| one.reason.is_none()).collect();
        let patterns = &report.patterns.all;
        let open_count = match (patterns.feasible, patterns.infeasible) {
            (Some(feasible), _) => feasible.saturating_sub(patterns.covered),
            (None, infeasible) => patterns.total - patterns.covered - infeasible.unwrap_or(0),
        };
        if open_count == 0 {
            return String::new();
        }
        let what = if patterns.feasible.is_some() { "that can happen" } else { "that may happen" };
        let head = format!("missing: {} {what}", plural(open_count as usize, "instance"));
        let mut groups: IndexMap<Methods<'_>, Vec<&InstanceReport>> = IndexMap::new();
        for one in open.iter().copied() {
            groups.entry(&one.methods).or_default().push(one);
        }
        let (limit, mut shown) = (self.limit(SHOWN_INSTANCES), 0);
        let mut text = snippet::title(&head, self.colour);
        for (methods, instances) in groups.iter().take(self.limit(SHOWN_GROUPS)) {
            text += &methods_line(methods);
            for instance in instances.iter().take(limit) {
                text += &instance_line(instance);
                shown += 1;
            }
        }
        let more = open_count.saturating_sub(shown);
        text += &match (more, self.all) {
            (0, _) => String::new(),
            (more, false) => format!("  and {more} more (--all shows them)\n"),
            (more, true) => format!("  and {more} more, too many to be listed\n"),
        };
        text + &self.witnesses(open_count)
    }

    /// Where the executions are that cover what is missing, or the command line that finds them.
    fn witnesses(&self, open_count: u64) -> String {
        let Compiled::Program(model) = self.subject else { return String::new() };
        let Findings { witnesses, searched, .. } = self.coverage.findings;
        let Some(directory) = self.record_dir else {
            let options = options_text(model.options()) + self.options;
            return searched.as_ref().map_or_else(String::new, |_| record_line("coverage", self.file, &options));
        };
        let covered: usize = witnesses.iter().map(|witness| witness.instances.len()).sum();
        let (executions, of) = (plural(witnesses.len(), "execution"), plural(open_count as usize, "instance"));
        let line = format!("{executions} in {}: together they cover {covered} of {of}", name_of(directory));
        let replay = match witnesses.len() {
            0 => String::new(),
            _ => schedule_line("coverage", self.file, &record::instance_file(directory, 0)),
        };
        wrap("  ", &line) + &replay
    }

    /// The instances that no execution covers, by the reason.
    pub(super) fn excluded(&self) -> String {
        let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
        for reason in self.coverage.findings.excluded.values() {
            *counts.entry(*reason).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        if all == 0 {
            return String::new();
        }
        let is_program = self.coverage.findings.is_program;
        let mut text = snippet::title(&format!("excluded: {}", plural(all, "instance")), self.colour);
        for (reason, count) in counts {
            let first = format!("  {count:5}  {:11}  ", reason.word());
            text += &wrap_behind(&first, &" ".repeat(first.len()), sentence(reason, is_program));
            if self.all {
                let listed = self.coverage.report.missing.iter().filter(|one| one.reason == Some(reason.word()));
                text += &listed.map(instance_line).collect::<String>();
            }
        }
        text
    }
}

/// What a reason means.
fn sentence(reason: Reason, is_program: bool) -> &'static str {
    match reason {
        Reason::Unreachable if is_program => "no execution comes to one of the accesses",
        Reason::Unreachable => "no thread of any client can make all accesses of one side",
        Reason::Ordered => "forks, joins or the order within a thread forbid it",
        Reason::Mutex => "a lock that is held at all accesses keeps the threads apart",
        Reason::Exact => "all executions were looked at, and none covers it",
    }
}

/// `  a in A.sev; b in A.set`; nothing where there is nothing to tell apart.
fn methods_line(methods: Methods<'_>) -> String {
    if methods.iter().all(|side| side.is_empty() || side[..] == ["main"]) {
        return String::new();
    }
    let side = |side: &Vec<String>| if side.is_empty() { "?".to_owned() } else { side.join(", ") };
    wrap_behind("  ", "    ", &format!("a in {}; b in {}", side(&methods[0]), side(&methods[1])))
}

/// `    pattern 4  a reads th@4:9, …`
fn instance_line(instance: &InstanceReport) -> String {
    let step = |step: &cssame_coverage::report::StepReport| {
        format!("{}{JOINED}{}s{JOINED}{}", step.thread, step.kind, step.access)
    };
    let steps: Vec<String> = instance.steps.iter().map(step).collect();
    let first = format!("    pattern {:2}  ", instance.pattern);
    let witness = instance.witness.map_or_else(String::new, |number| format!(" (instance-{number})"));
    wrap_behind(&first, &" ".repeat(first.len()), &(steps.join(", ") + &witness))
}
