//! Coverage of executions line by line: for annotated listings and for the formats of other tools.
//!
//! **Input**: [`Findings`] and the text. **Output**: [`LinesReport`]. An instance belongs to the line of its first access.
//!
//! **Soundness and limits**: the numbers of a line count all instances. Up to [`MAX_BRANCHES`] instances are listed individually,
//! covered ones first.

use crate::find::Findings;
use crate::instance::{Instance, instances};
use cssame_model::Unit;
use std::collections::BTreeMap;

/// Instances that are listed one by one at most.
pub const MAX_BRANCHES: usize = 100_000;

/// An instance that begins in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchReport {
    /// The number of its pattern.
    pub pattern: u8,
    /// Executions that cover it.
    pub executions: u64,
}

/// A line in which shared memory is accessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineReport {
    /// Executions that access shared memory there.
    pub hits: u64,
    /// Instances that begin there, by the number of their pattern: those that are covered, and all.
    pub instances: BTreeMap<u8, (u64, u64)>,
    /// These instances one by one, in order of pattern and accesses.
    pub branches: Vec<BranchReport>,
}

/// All such lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinesReport {
    /// By number.
    pub lines: BTreeMap<u32, LineReport>,
    /// How many instances are not listed one by one.
    pub omitted: u64,
}

impl LineReport {
    /// Instances that begin there and are covered, and all that begin there.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        let add = |sum: (u64, u64), one: &(u64, u64)| (sum.0 + one.0, sum.1.saturating_add(one.1));
        self.instances.values().fold((0, 0), add)
    }
}

/// What the executions cover, by line.
pub(super) fn lines(unit: &Unit, findings: &Findings) -> LinesReport {
    let Findings { universe, measured, totals, .. } = findings;
    let line_of = |instance: &Instance| {
        let first = instance.accesses().first();
        first.map_or(0, |&access| unit.sources.line(universe.accesses[access].span))
    };
    let mut report = LinesReport::default();
    for access in universe.accesses.iter() {
        report.lines.entry(unit.sources.line(access.span)).or_default();
    }
    // What stands behind the text is the main of a driver.
    let last = unit.text().lines().count() as u32;
    for (&line, &hits) in measured.lines.range(..=last) {
        report.lines.entry(line).or_default().hits = hits;
    }
    for (&(pattern, access), &total) in &totals.by_access {
        let line = report.lines.entry(unit.sources.line(universe.accesses[access].span)).or_default();
        let sum = &mut line.instances.entry(pattern.get().number).or_default().1;
        *sum = sum.saturating_add(total);
    }
    for instance in measured.instances.keys() {
        let line = report.lines.entry(line_of(instance)).or_default();
        line.instances.entry(instance.pattern.get().number).or_default().0 += 1;
    }
    let is_missing = |instance: &Instance| !measured.instances.contains_key(instance);
    let room = MAX_BRANCHES.saturating_sub(measured.instances.len());
    let missing = instances(universe).filter(is_missing).take(room).map(|instance| (instance, 0));
    let covered = measured.instances.iter().map(|(&instance, &executions)| (instance, executions));
    let listed: BTreeMap<Instance, u64> = covered.take(MAX_BRANCHES).chain(missing).collect();
    report.omitted = totals.all - listed.len() as u64;
    for (instance, executions) in listed {
        let branch = BranchReport { pattern: instance.pattern.get().number, executions };
        report.lines.entry(line_of(&instance)).or_default().branches.push(branch);
    }
    report
}
