//! Which operations affect a branch: Algorithm 2 of Setiadi, Ohsuga and Maekawa on the instances of one execution.
//!
//! 1. Begin with the shared reads of the branch's own thread that its condition comes from, and those that the
//!    conditions of the branches come from on which it depends (their last evaluations in the same call, and the
//!    branches on which the calls depend that lead there).
//! 2. For a read add the last write to its cell before it by its own thread, and every write to the cell by another
//!    thread, earlier or later.
//! 3. For a write add the shared reads of its own thread that the written value and the index come from.
//! 4. Leave out what the branch's own thread does after the branch, and reads of other threads that can see no write.

use super::code::Code;
use super::histories::{End, Histories};
use super::trace::Record;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// An entry of a history: index of the thread, index in its history.
pub type At = (usize, usize);

/// An execution, opened up.
pub struct Execution {
    pub paths: Vec<u32>,
    pub histories: Vec<Vec<Record>>,
    /// Operations by the path of their thread and their number there.
    numbers: FxHashMap<(u32, u32), At>,
    /// Writes by cell.
    writes: FxHashMap<u32, Vec<At>>,
}

impl Execution {
    /// Opens an end. Operations on variables that nobody writes (`read_shared`) are left out.
    pub fn new(histories: &Histories, end: &End, read_shared: &FxHashSet<u32>) -> Execution {
        let paths: Vec<u32> = end.threads.iter().map(|thread| thread.0).collect();
        let mut opened: Vec<Vec<Record>> =
            end.threads.iter().map(|thread| histories.tables.history(thread.1)).collect();
        for records in &mut opened {
            records.retain(|record| !matches!(record, Record::Op { variable, .. } if read_shared.contains(variable)));
        }
        let (mut numbers, mut writes) = (FxHashMap::default(), FxHashMap::<u32, Vec<At>>::default());
        for (thread, records) in opened.iter().enumerate() {
            for (index, record) in records.iter().enumerate() {
                if let Record::Op { number, cell, write, .. } = *record {
                    numbers.insert((paths[thread], number), (thread, index));
                    if write {
                        writes.entry(cell).or_default().push((thread, index));
                    }
                }
            }
        }
        Execution { paths, histories: opened, numbers, writes }
    }

    pub fn at(&self, (thread, index): At) -> Record {
        self.histories[thread][index]
    }

    /// Where the operation of that number is.
    pub fn numbered(&self, thread: usize, number: u32) -> Option<At> {
        self.numbers.get(&(self.paths[thread], number)).copied()
    }

    /// The branches of all threads: where, which instruction, whether the condition holds, how-manieth of its thread
    /// and place it is.
    pub fn branches(&self, code: &Code) -> Vec<(At, u32, bool, u32)> {
        let mut branches = Vec::new();
        for (thread, records) in self.histories.iter().enumerate() {
            let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
            for (index, record) in records.iter().enumerate() {
                if let Record::Branch { pc, holds, .. } = *record {
                    let count = counts.entry(code.places[pc as usize]).or_default();
                    *count += 1;
                    branches.push(((thread, index), pc, holds, *count));
                }
            }
        }
        branches
    }

    /// BranchRelOP of the branch at an entry.
    pub fn affecting(&self, histories: &Histories, branch: At) -> BTreeSet<At> {
        let Record::Branch { start, .. } = self.at(branch) else { return BTreeSet::new() };
        let mut affecting = BTreeSet::new();
        let mut open = self.own_reads(histories, branch.0, start);
        while let Some(at) = open.pop() {
            if at.0 == branch.0 && at.1 > branch.1 || !affecting.insert(at) {
                continue;
            }
            let Record::Op { write, cell, from, .. } = self.at(at) else { continue };
            if write {
                open.extend(self.own_reads(histories, at.0, from));
                continue;
            }
            let writes = self.writes.get(&cell).map_or(&[][..], Vec::as_slice);
            open.extend(writes.iter().filter(|write| write.0 != at.0));
            open.extend(writes.iter().rfind(|write| write.0 == at.0 && write.1 < at.1));
        }
        let kept = affecting.iter().copied().filter(|&at| at.0 == branch.0 || self.is_used(at, &affecting));
        kept.collect()
    }

    /// Whether an operation writes, or can see a write of the set.
    fn is_used(&self, at: At, affecting: &BTreeSet<At>) -> bool {
        let Record::Op { write, cell: read, .. } = self.at(at) else { return true };
        let sees = |other: &At| match self.at(*other) {
            Record::Op { write: true, cell, .. } => cell == read && (other.0 != at.0 || other.1 < at.1),
            _ => false,
        };
        write || affecting.iter().any(sees)
    }

    /// The reads of a set that are operations of that thread.
    fn own_reads(&self, histories: &Histories, thread: usize, set: u32) -> Vec<At> {
        let own = histories.tables.reads(set).iter().filter(|read| read.0 == self.paths[thread]);
        own.filter_map(|read| self.numbers.get(read).copied()).collect()
    }

    /// Whether a write of another thread is among them.
    pub fn is_affected(&self, branch: At, affecting: &BTreeSet<At>) -> bool {
        affecting.iter().any(|&at| at.0 != branch.0 && matches!(self.at(at), Record::Op { write: true, .. }))
    }
}
