//! Classes of executions: those of reachability testing, of pairs of threads, and of access-manners.

use super::affect::Execution;
use super::histories::{End, EndKind, Histories, Wanted, histories};
use super::paths::{Conclusion, operations};
use super::report::path_text;
use super::trace::Record;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// What a thread does of a version class: name, whether it writes, cell, version of each operation; and its choices.
type Versions = (Vec<(u32, bool, u32, u32)>, Vec<i64>);

/// Parts of a history from the first lock to the last unlock, or single operations without a lock.
type Manner = Vec<(&'static str, u32)>;

impl Conclusion<'_> {
    /// Counts version classes and sets of access-manners.
    pub fn classes(&mut self, found: &Histories) {
        let mut classes = FxHashSet::default();
        let (mut sets, mut by_thread) = (FxHashSet::default(), FxHashSet::default());
        for end in &found.ends {
            let execution = Execution::new(found, end, &self.read_shared);
            if classes.insert(class(end, &execution, None)) {
                self.oracle.deadlocked_classes += usize::from(matches!(end.kind, EndKind::Stuck(_)));
                self.oracle.failed_classes += usize::from(matches!(end.kind, EndKind::Failed(..)));
            }
            let mut manners = BTreeMap::new();
            for (thread, &path) in execution.paths.iter().enumerate() {
                let own = manners_of(&execution, thread);
                if !own.is_empty() {
                    manners.insert(path, own);
                }
            }
            sets.insert(manners.values().cloned().collect::<BTreeSet<_>>());
            by_thread.insert(manners);
        }
        self.oracle.classes = classes.len();
        self.oracle.mannersets = sets.len();
        self.oracle.mannersets_by_thread = by_thread.len();
    }

    /// Counts the version classes of each two threads that have operations which fork and join do not order.
    pub fn thread_pairs(&mut self) {
        for (a, b) in self.parallel.clone() {
            let wanted = Wanted { alone: Some([a, b]), ..self.wanted() };
            let alone = histories(&mut self.machine, self.code, wanted);
            self.oracle.complete &= alone.complete;
            let class = |end| class(end, &Execution::new(&alone, end, &self.read_shared), Some([a, b]));
            let classes: FxHashSet<_> = alone.ends.iter().map(class).collect();
            let mut names = [a, b].map(|path| path_text(&self.machine, path));
            names.sort();
            self.oracle.thread_pairs.insert(names.into(), classes.len());
        }
    }
}

/// The version class of an execution; where two threads are alone, only they count.
fn class(end: &End, execution: &Execution, alone: Option<[u32; 2]>) -> (EndKind, BTreeMap<u32, Versions>) {
    let mut threads = BTreeMap::new();
    for (thread, &path) in execution.paths.iter().enumerate() {
        if alone.is_some_and(|pair| !pair.contains(&path)) {
            continue;
        }
        let versions =
            operations(execution, thread).iter().map(|op| (op.name, op.write, op.cell, op.version)).collect();
        let choices = execution.histories[thread].iter();
        let choices = choices.filter_map(|each| if let Record::Choice(value) = each { Some(*value) } else { None });
        let versions: Versions = (versions, choices.collect());
        if versions != Versions::default() {
            threads.insert(path, versions);
        }
    }
    (end.kind.clone(), threads)
}

fn manners_of(execution: &Execution, thread: usize) -> BTreeSet<Manner> {
    let (mut manners, mut manner, mut held) = (BTreeSet::new(), Manner::new(), 0);
    for record in &execution.histories[thread] {
        let entry = match *record {
            Record::Lock(lock) => {
                held += 1;
                ("lock", lock)
            }
            Record::Unlock(lock) => {
                held -= 1;
                ("unlock", lock)
            }
            Record::Op { name, write, .. } => (if write { "write" } else { "read" }, name),
            _ => continue,
        };
        manner.push(entry);
        if held == 0 {
            manners.insert(std::mem::take(&mut manner));
        }
    }
    // The execution ends while a lock is held.
    if !manner.is_empty() {
        manners.insert(manner);
    }
    manners
}
