//! Determines how often a block can run in one execution.
//!
//! **Input**: control flow within threads, the static threads, and the fork for which each join waits. **Output**: for a block,
//! its [`Repetition`]; for a static thread, whether several instances of it may exist.
//!
//! **Algorithm**
//! 1. A block of a thread that stands for several instances may run several times, and so may a block on a cycle of
//!    the control flow (calls and returns included, so that recursion is a cycle).
//! 2. Any other block runs as often as its thread is created: as often as the fork, whose repetition is computed in the same way.
//! 3. The fork of a `parfor` with distinguished iterations is on a cycle, although each iteration is created once. If every join
//!    that waits for the thread runs at most once, the thread is created at most once.
//!
//! **Soundness and limits**: [`Repetition::Once`] and [`Repetition::OnceByJoin`] hold in every execution. A block that repeats at
//! most once because of the values of its conditions counts as repeated.

use super::{Block, Context, ContextId, Thread, ThreadId};
use cssame_source::arena::Arena;
use cssame_ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};

/// How often a block can run in one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// At most once: neither it nor a fork on the way to its thread lies on a cycle.
    Once,
    /// At most once, although a fork on the way to its thread lies on a cycle: the join of that fork runs at most once.
    OnceByJoin,
    /// Possibly several times.
    Several,
}

impl Repetition {
    /// Whether it is at most once.
    #[must_use]
    pub fn is_once(self) -> bool {
        self != Repetition::Several
    }
}

/// Whether a thread, or one above it, may have several instances.
pub(super) fn may_be_many(threads: &Arena<ThreadId, Thread>, thread: ThreadId) -> bool {
    let mut at = Some(thread);
    while let Some(id) = at {
        if threads[id].multiple {
            return true;
        }
        at = threads[id].parent;
    }
    false
}

/// Finds out how often blocks can run, each once.
#[derive(Clone, Debug)]
pub struct Repetitions<'a> {
    pub(super) local: &'a Graph,
    pub(super) blocks: &'a [Block],
    pub(super) contexts: &'a Arena<ContextId, Context>,
    pub(super) threads: &'a Arena<ThreadId, Thread>,
    /// Blocks that end with a fork, and the blocks that begin with the join of its threads.
    pub(super) joined: &'a [(u32, u32)],
    pub(super) known: FxHashMap<u32, Repetition>,
}

impl Repetitions<'_> {
    /// How often a block can run.
    pub fn of(&mut self, block: u32) -> Repetition {
        if let Some(&known) = self.known.get(&block) {
            return known;
        }
        let found = self.find(block);
        self.known.insert(block, found);
        found
    }

    fn find(&mut self, block: u32) -> Repetition {
        let thread = &self.threads[self.contexts[self.blocks[block as usize].context].thread];
        // Step 1: several instances, or a cycle.
        if thread.multiple || thread.unordered || self.is_cyclic(block) {
            return Repetition::Several;
        }
        // Step 2: as often as its thread is made.
        if thread.parent.is_none() {
            return Repetition::Once;
        }
        match self.of(thread.fork) {
            Repetition::Several if !thread.spawned && self.is_joined_once(thread.fork) => Repetition::OnceByJoin,
            of_fork => of_fork,
        }
    }

    /// Step 3: whether all joins that wait for the threads of a fork run at most once, and there is one.
    fn is_joined_once(&mut self, fork: u32) -> bool {
        let joins: Vec<u32> = self.joined.iter().filter(|of| of.0 == fork).map(|of| of.1).collect();
        !joins.is_empty() && joins.into_iter().all(|join| self.of(join).is_once())
    }

    /// Whether control can come from behind a block to it again.
    fn is_cyclic(&self, block: u32) -> bool {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut waiting: Vec<u32> = self.local.successors(block).to_vec();
        while let Some(at) = waiting.pop() {
            if at == block {
                return true;
            }
            if seen.insert(at) {
                waiting.extend(self.local.successors(at));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Repetition;
    use crate::{EventKind, analyse};
    use cssame_front::compile;
    use cssame_source::SourceMap;

    /// How often each write of a program can run, in the order of the blocks.
    fn writes(text: &str) -> Vec<Repetition> {
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", text);
        let compiled = compile(&sources, file, &[]);
        let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let concurrency = analyse(&program).expect("a main");
        let mut repetitions = concurrency.repetitions();
        let blocks = 0..concurrency.blocks.len() as u32;
        let writes = |block: &u32| {
            let events = concurrency.events_of(*block).iter();
            events.filter(|event| matches!(event.kind, EventKind::Write(_))).count()
        };
        blocks.flat_map(|block| vec![block; writes(&block)]).map(|block| repetitions.of(block)).collect()
    }

    #[test]
    fn a_loop_repeats_and_a_thread_runs_as_often_as_its_fork() {
        let threads = |body: &str| format!("int x = 0; void main() {{ {body} }}");
        assert_eq!(writes(&threads("x = 1;")), [Repetition::Once]);
        assert_eq!(writes(&threads("while (x < 3) { x = 1; }")), [Repetition::Several]);
        assert_eq!(writes(&threads("cobegin A: x = 1; B: skip; coend")), [Repetition::Once]);
        let repeated = "while (x < 3) { cobegin A: x = 1; B: skip; coend }";
        assert_eq!(writes(&threads(repeated)), [Repetition::Several]);
    }

    #[test]
    fn iterations_that_are_told_apart_run_once_by_their_join() {
        let parfor = |limit: &str| {
            format!("int n; int x = 0; void main() {{ parfor (int i = 0; i < {limit}; i++) {{ x = i; }} }}")
        };
        assert_eq!(writes(&parfor("2")), [Repetition::OnceByJoin; 2]);
        assert_eq!(writes(&parfor("n")), [Repetition::Several]);
    }
}
