//! What the command `paths` has to say of a program, by the definitions.
//!
//! All executions are run, up to what the histories of their threads tell ([`super::histories`]). Pairs, outcomes of
//! branches, version classes and sets of access-manners are read off the histories. Groups are orders of operations:
//! a second search keeps the order of those that affect a branch, and of no others.

use super::affect::{At, Execution};
use super::code::{Code, Op};
use super::histories::{EndKind, Histories, Wanted, histories};
use super::local::Machine;
use super::races::{Place, place_of};
use super::report::path_text;
use super::trace::{Record, Selected};
use super::{Visible, compile};
use cssame::source::{SourceFile, SourceMap};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// How to search.
#[derive(Clone, Debug)]
pub struct PathsOptions {
    pub visible: Visible,
    /// Prefixes of executions, in each of the searches.
    pub max_nodes: usize,
    /// Values of `input` constants.
    pub inputs: BTreeMap<String, i64>,
    /// Declared names of the variables that count as never written; else those that no execution writes.
    pub read_shared: Option<BTreeSet<String>>,
    /// The accesses that are operations, by name and whether they write; else all to shared variables.
    pub operations: Option<BTreeSet<(String, bool)>>,
    /// Whether threads that wait for a readers-writer lock to write keep readers out.
    pub prefer_writers: bool,
}

impl Default for PathsOptions {
    fn default() -> PathsOptions {
        PathsOptions {
            visible: Visible::Dynamic,
            max_nodes: 50_000,
            inputs: BTreeMap::new(),
            read_shared: None,
            operations: None,
            prefer_writers: false,
        }
    }
}

/// An unprotected pair: two operations of threads that may run in parallel by fork and join alone, on one cell, one of
/// them a write, not both atomic, with no lock in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    pub variables: BTreeSet<String>,
    /// Whether happens-before without locks orders the two in some execution; and whether it does not in some.
    pub ordered: bool,
    pub unordered: bool,
}

/// Thread and place of a branch: `("T1", "3:5")`.
pub type BranchPlace = (String, String);

/// What all executions say of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// The outcomes of each instance, from 1.
    pub outcomes: BTreeMap<u32, BTreeSet<bool>>,
    /// The instances that a write of another thread affects in some execution.
    pub affected: BTreeSet<u32>,
    /// The orders of the operations that affect it, where an instance is affected: with the instances and outcomes that
    /// have each.
    pub groups: BTreeMap<Vec<String>, BTreeSet<(u32, bool)>>,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathsOracle {
    /// False where a bound was hit: nothing below counts then.
    pub complete: bool,
    /// Prefixes of executions that were looked at.
    pub nodes: usize,
    /// By the two places, the earlier one first.
    pub pairs: BTreeMap<(Place, Place), Pair>,
    pub branches: BTreeMap<BranchPlace, Branch>,
    /// Whether the code has a jump back: instances are more than the text has places.
    pub loops: bool,
    /// Version classes, all and those that end in a deadlock or a failure.
    pub classes: usize,
    pub deadlocked_classes: usize,
    pub failed_classes: usize,
    /// Version classes of each two threads alone that have operations which fork and join do not order.
    pub thread_pairs: BTreeMap<(String, String), usize>,
    /// Sets of sets of access-manners, as they are and with the thread of each.
    pub mannersets: usize,
    pub mannersets_by_thread: usize,
    /// Threads that wait for ever, in each deadlock.
    pub deadlocks: BTreeSet<BTreeSet<String>>,
}

impl PathsOracle {
    /// Declared names of the variables of the pairs.
    pub fn racy_variables(&self) -> BTreeSet<&str> {
        self.pairs.values().flat_map(|pair| pair.variables.iter().map(String::as_str)).collect()
    }

    /// What is known of a pair, by the names of its places.
    pub fn pair(&self, a: &str, b: &str) -> Option<&Pair> {
        self.pairs.iter().find(|(pair, _)| pair.0.2 == a && pair.1.2 == b).map(|(_, pair)| pair)
    }

    /// The number of branch-affect groups.
    pub fn groups(&self) -> usize {
        self.branches.values().map(|branch| branch.groups.len()).sum()
    }

    /// The same of those orders alone that an affected instance has.
    pub fn groups_of_affected_instances(&self) -> usize {
        let of = |branch: &Branch| {
            let is_affected = |having: &BTreeSet<(u32, bool)>| having.iter().any(|at| branch.affected.contains(&at.0));
            branch.groups.values().filter(|having| is_affected(having)).count()
        };
        self.branches.values().map(of).sum()
    }

    /// What TPAIR runs.
    pub fn tpair(&self) -> usize {
        self.thread_pairs.values().sum()
    }
}

/// Parses and searches. The error says why the program cannot be run.
pub fn paths_of_source(source: &str, options: &PathsOptions) -> Result<PathsOracle, String> {
    let mut sources = SourceMap::default();
    let file = sources.add("oracle.csm", source);
    let parsed = cssame::front::csm::syntax::parse(&sources, file);
    if let Some(first) = parsed.diagnostics.first() {
        return Err(first.message.clone());
    }
    let file = sources.file(file);
    let code = compile::compile(&parsed.program, file, &options.inputs)?;
    let is_visible = |variable: &super::code::Variable| match &options.visible {
        Visible::Dynamic => false,
        Visible::All => variable.candidate,
        Visible::Named(names) => names.contains(&variable.name),
    };
    let mut visible: Vec<bool> = code.variables.iter().map(is_visible).collect();
    loop {
        let mut machine = Machine::new(&code, visible.clone(), u32::MAX, false);
        machine.watch_sharing = options.visible == Visible::Dynamic;
        machine.prefer_writers = options.prefer_writers;
        let operations = operation_names(&code, options);
        let wanted = Wanted { max_nodes: options.max_nodes, operations, ..Wanted::default() };
        let found = histories(&mut machine, &code, wanted);
        match machine.newly_shared {
            Some(variable) => visible[variable as usize] = true,
            None => return Ok(Conclusion::new(&code, machine, file, options).conclude(&found)),
        }
    }
}

fn operation_names(code: &Code, options: &PathsOptions) -> Option<FxHashSet<(u32, bool)>> {
    let operations = options.operations.as_ref()?;
    let known = |(name, write): &(String, bool)| code.names.find(name).map(|name| (name, *write));
    Some(operations.iter().filter_map(known).collect())
}

/// The answer in the making.
pub struct Conclusion<'c> {
    pub code: &'c Code,
    pub machine: Machine<'c>,
    file: &'c SourceFile,
    pub options: &'c PathsOptions,
    /// Variables that nobody writes: accesses to them are no operations.
    pub read_shared: FxHashSet<u32>,
    /// Two threads, by path, that have operations which fork and join do not order.
    pub parallel: BTreeSet<(u32, u32)>,
    pub oracle: PathsOracle,
}

impl<'c> Conclusion<'c> {
    fn new(
        code: &'c Code,
        mut machine: Machine<'c>,
        file: &'c SourceFile,
        options: &'c PathsOptions,
    ) -> Conclusion<'c> {
        machine.watch_sharing = false;
        let oracle = PathsOracle { complete: true, ..PathsOracle::default() };
        let (read_shared, parallel) = (FxHashSet::default(), BTreeSet::new());
        Conclusion { code, machine, file, options, read_shared, parallel, oracle }
    }

    fn conclude(mut self, found: &Histories) -> PathsOracle {
        self.oracle.complete = found.complete;
        self.oracle.nodes = found.nodes;
        if !found.complete {
            return self.oracle;
        }
        let jumps_back = |(at, op): (usize, &Op)| matches!(*op, Op::Jump(target) if target as usize <= at);
        self.oracle.loops = self.code.ops.iter().enumerate().any(jumps_back);
        let written: FxHashSet<u32> = found
            .tables
            .records()
            .filter_map(|each| if let Record::Op { write: true, variable, .. } = each { Some(variable) } else { None })
            .collect();
        let is_read_shared = |variable: &u32| match &self.options.read_shared {
            Some(names) => names.contains(&self.code.variables[*variable as usize].name),
            None => !written.contains(variable),
        };
        self.read_shared = (0..self.code.variables.len() as u32).filter(is_read_shared).collect();
        let mut affected = BTreeSet::new();
        for end in &found.ends {
            let execution = Execution::new(found, end, &self.read_shared);
            self.pairs(found, &execution);
            self.branches(found, &execution, &mut affected);
            if let EndKind::Stuck(blocked) = &end.kind {
                let threads = blocked.iter().map(|thread| path_text(&self.machine, thread.0));
                self.oracle.deadlocks.insert(threads.collect());
            }
        }
        self.classes(found);
        self.thread_pairs();
        if !affected.is_empty() {
            let selected = self.select(found, &affected);
            self.groups(selected);
        }
        self.oracle
    }

    pub fn wanted(&self) -> Wanted {
        let operations = operation_names(self.code, self.options);
        Wanted { max_nodes: self.options.max_nodes, operations, ..Wanted::default() }
    }

    fn pairs(&mut self, found: &Histories, execution: &Execution) {
        let operations: Vec<Operation> =
            (0..execution.histories.len()).flat_map(|thread| operations(execution, thread)).collect();
        for (index, a) in operations.iter().enumerate() {
            for b in operations[index + 1..].iter().filter(|b| a.thread != b.thread) {
                let ((forks_a, all_a), (forks_b, all_b)) = (found.tables.clocks(a.clock), found.tables.clocks(b.clock));
                let before = |a: usize, one: &[u32], two: &[u32]| two.get(a).copied().unwrap_or(0) >= one[a];
                if before(a.thread, forks_a, forks_b) || before(b.thread, forks_b, forks_a) {
                    continue;
                }
                let (one, two) = (execution.paths[a.thread], execution.paths[b.thread]);
                self.parallel.insert((one.min(two), one.max(two)));
                let conflict = a.cell == b.cell && (a.write || b.write) && !(a.atomic && b.atomic);
                if !conflict || a.locks.iter().any(|lock| b.locks.contains(lock)) {
                    continue;
                }
                let (mut first, mut second) = (place_of(self.code, a.name), place_of(self.code, b.name));
                if second < first {
                    std::mem::swap(&mut first, &mut second);
                }
                let pair = self.oracle.pairs.entry((first, second)).or_default();
                let is_ordered = before(a.thread, all_a, all_b) || before(b.thread, all_b, all_a);
                pair.ordered |= is_ordered;
                pair.unordered |= !is_ordered;
                pair.variables.insert(self.code.variables[a.variable as usize].name.clone());
            }
        }
    }

    fn branch_place(&self, path: u32, pc: u32) -> BranchPlace {
        let place = self.file.position(self.code.places[pc as usize]);
        (path_text(&self.machine, path), place.to_string())
    }

    fn branches(&mut self, found: &Histories, execution: &Execution, affected: &mut BTreeSet<(u32, u32)>) {
        for (at, pc, holds, instance) in execution.branches(self.code) {
            let path = execution.paths[at.0];
            let place = self.branch_place(path, pc);
            let branch = self.oracle.branches.entry(place).or_default();
            branch.outcomes.entry(instance).or_default().insert(holds);
            if execution.is_affected(at, &execution.affecting(found, at)) {
                branch.affected.insert(instance);
                affected.insert((path, self.code.places[pc as usize]));
            }
        }
    }

    /// The operations that affect an affected branch in some execution, and those branches.
    fn select(&self, found: &Histories, affected: &BTreeSet<(u32, u32)>) -> Selected {
        let mut selected = Selected::default();
        for end in &found.ends {
            let execution = Execution::new(found, end, &self.read_shared);
            for (at, pc, ..) in execution.branches(self.code) {
                let path = execution.paths[at.0];
                if !affected.contains(&(path, self.code.places[pc as usize])) {
                    continue;
                }
                selected.branches.insert((path, pc));
                for at in execution.affecting(found, at) {
                    if let Record::Op { name, write, .. } = execution.at(at) {
                        selected.operations.insert((name, write));
                    }
                }
            }
        }
        selected
    }

    /// The orders of what affects a branch, over all executions.
    fn groups(&mut self, selected: Selected) {
        let wanted = Wanted { selected: Some(selected), ..self.wanted() };
        let found = histories(&mut self.machine, self.code, wanted);
        self.oracle.complete &= found.complete;
        for end in &found.ends {
            let execution = Execution::new(&found, end, &self.read_shared);
            let order = order(&found, &execution, end.order);
            for (at, pc, holds, instance) in execution.branches(self.code) {
                let sequence = self.sequence(&execution, &order, at.0, &execution.affecting(&found, at));
                let place = self.branch_place(execution.paths[at.0], pc);
                if let Some(branch) = self.oracle.branches.get_mut(&place) {
                    branch.groups.entry(sequence).or_default().insert((instance, holds));
                }
            }
        }
    }

    /// What of the order is among them, up to the last operation of the thread, by place.
    fn sequence(&self, execution: &Execution, order: &[At], thread: usize, affecting: &BTreeSet<At>) -> Vec<String> {
        let mut sequence: Vec<At> = order.iter().copied().filter(|at| affecting.contains(at)).collect();
        let own = sequence.iter().rposition(|at| at.0 == thread).map_or(0, |last| last + 1);
        sequence.truncate(own);
        let told = sequence.into_iter().map(|at| match execution.at(at) {
            Record::Op { name, write, .. } => {
                format!("{} {}", if write { "write" } else { "read" }, self.code.names.text(name))
            }
            other => format!("{other:?}"),
        });
        told.collect()
    }
}

/// An operation, with the locks that its thread holds.
pub struct Operation {
    pub thread: usize,
    pub name: u32,
    pub write: bool,
    pub variable: u32,
    pub cell: u32,
    pub version: u32,
    pub atomic: bool,
    pub clock: u32,
    pub locks: Vec<u32>,
}

/// The operations of a thread.
pub fn operations(execution: &Execution, thread: usize) -> Vec<Operation> {
    let (mut operations, mut locks) = (Vec::new(), Vec::new());
    for record in &execution.histories[thread] {
        match *record {
            Record::Lock(lock) => locks.push(lock),
            Record::Unlock(lock) => locks.retain(|&held| held != lock),
            Record::Op { name, write, variable, cell, version, atomic, clock, .. } => {
                let locks = locks.clone();
                operations.push(Operation { thread, name, write, variable, cell, version, atomic, clock, locks });
            }
            _ => {}
        }
    }
    operations
}

/// The selected operations in their order: each comes behind the number of its thread.
fn order(found: &Histories, execution: &Execution, head: u32) -> Vec<At> {
    let records = found.tables.history(head);
    let pairs = records.chunks_exact(2).filter_map(|pair| match *pair {
        [Record::Choice(thread), Record::Op { number, .. }] => execution.numbered(thread as usize, number),
        _ => None,
    });
    pairs.collect()
}
