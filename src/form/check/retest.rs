//! Loops and tests: decides whether a notified thread tests again what it waited for, and which reads it tests.
//!
//! **Input**: the unfolded graph, and a wait on a condition or a register of a function. **Output**: whether each path from the
//! wait reaches a test before the thread relies on the condition; and the reads that the tests before the wait, or a register,
//! depend on.
//!
//! **Algorithm**
//! 1. A test is a branch whose condition is computed, through registers, from a read of shared memory or the result of a call.
//! 2. A wait is tested again if every path from it stays in a common loop until it reaches a test of that loop. A thread that has
//!    used shared memory and releases the lock before that has relied on the condition.
//! 3. Walk back from the wait to the acquisition of the lock: the tests on this path lead to the wait.
//! 4. A register with several writers also depends on the branches that choose between them.
//!
//! **Soundness and limits**: the module does not decide whether the test matches the notification; a call may contain any test.

use super::Subject;
use cssame_concurrency::{Event, EventKind, LocationId};
use cssame_ir::{BlockId, Function, Instruction, Operand, ReadId, RegisterId, Terminator};
use cssame_source::Span;
use cssame_ssa::Control;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashSet;

/// A wait on a condition in the unfolded graph.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub block: u32,
    /// Its index in the events of the graph.
    pub index: u32,
    /// The lock that it releases.
    pub lock: LocationId,
}

/// What a condition follows from.
#[derive(Default)]
struct Sources {
    /// Reads of shared memory.
    reads: Vec<ReadId>,
    /// Whether it may follow from the result of a call.
    call: bool,
    /// Blocks that write a register which others write as well.
    chosen: Vec<BlockId>,
}

/// Loops and tests of the unfolded graph.
pub(super) struct Retest<'a> {
    subject: Subject<'a>,
    /// For each block, the loop (the strongly connected component) that it is in.
    loop_of: Vec<Option<u32>>,
}

impl<'a> Retest<'a> {
    pub fn new(subject: Subject<'a>) -> Retest<'a> {
        let local = &subject.form.concurrency.local;
        let count = local.node_count() as u32;
        let edges = (0..count).flat_map(|from| local.successors(from).iter().map(move |&to| (from, to)));
        let mut graph: DiGraph<(), ()> = DiGraph::from_edges(edges);
        while graph.node_count() < count as usize {
            graph.add_node(());
        }
        let mut loop_of = vec![None; count as usize];
        for (number, component) in tarjan_scc(&graph).into_iter().enumerate() {
            if let [only] = component[..]
                && !graph.contains_edge(only, only)
            {
                continue;
            }
            for node in component {
                loop_of[node.index()] = Some(number as u32);
            }
        }
        Retest { subject, loop_of }
    }

    /// Whether what is waited for is tested again on every way.
    pub fn is_tested_again(&self, wait: Place) -> bool {
        let concurrency = &self.subject.form.concurrency;
        let Some(around) = self.loop_of[wait.block as usize] else { return false };
        let mut seen = FxHashSet::default();
        let mut waiting = vec![(wait.block, wait.index as usize + 1, false)];
        while let Some((block, start, mut used)) = waiting.pop() {
            let end = concurrency.first_event(block) + concurrency.events_of(block).len();
            for event in &concurrency.events[start..end] {
                let frees = concurrency.released_by(event).contains(&wait.lock);
                if frees && (used || event.kind.synchronisation().is_some_and(|kind| !kind.only_releases())) {
                    return false;
                }
                used |= self.is_shared(event);
            }
            if self.tests(block).is_some() {
                continue;
            }
            let next = concurrency.local.successors(block);
            if next.is_empty() || next.iter().any(|&to| self.loop_of[to as usize] != Some(around)) {
                return false;
            }
            for &to in next {
                if seen.insert((to, used)) {
                    waiting.push((to, concurrency.first_event(to), used));
                }
            }
        }
        true
    }

    /// What the tests that lead to a wait look at, while the lock is held: the reads, as indices of events.
    pub fn tested_before(&self, wait: Place) -> Vec<u32> {
        let mut tested: FxHashSet<ReadId> = FxHashSet::default();
        let mut reads = Vec::new();
        self.walk_back(wait, |block, index, event| {
            if let Some(sources) = index.is_none().then(|| self.tests(block)).flatten() {
                tested.extend(sources.reads);
            }
            if let (Some(index), Some(event)) = (index, event)
                && let EventKind::Read(read) | EventKind::Update { read, .. } = event.kind
            {
                reads.push((read, index));
            }
        });
        let mut found: Vec<u32> =
            reads.into_iter().filter(|(read, _)| tested.contains(read)).map(|(_, index)| index).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Goes back from a place to where its thread took or freed the lock, on all ways: `f` gets each block that is left at its
    /// end, and each event with its index.
    pub fn walk_back(&self, place: Place, mut f: impl FnMut(u32, Option<u32>, Option<&Event>)) {
        let concurrency = &self.subject.form.concurrency;
        let mut seen = FxHashSet::default();
        let mut waiting = vec![(place.block, place.index as usize)];
        while let Some((block, end)) = waiting.pop() {
            let mut stopped = false;
            for index in (concurrency.first_event(block)..end).rev() {
                let event = &concurrency.events[index];
                let changes = [concurrency.acquired_by(event), concurrency.released_by(event)];
                if changes.iter().any(|locks| locks.contains(&place.lock)) {
                    stopped = true;
                    break;
                }
                f(block, Some(index as u32), Some(event));
            }
            if stopped {
                continue;
            }
            for &from in concurrency.local.predecessors(block) {
                if seen.insert(from) {
                    f(from, None, None);
                    waiting.push((from, concurrency.first_event(from) + concurrency.events_of(from).len()));
                }
            }
        }
    }

    /// Where a lock is released behind the loops in which blocks take it, if none of the releases stands in them.
    pub fn behind_loop(&self, releases: &[(u32, Span)], takes: &[u32]) -> Vec<Span> {
        let concurrency = &self.subject.form.concurrency;
        let mut places = Vec::new();
        for &(release, span) in releases {
            for &take in takes {
                let around = self.loop_of[take as usize];
                if around.is_some() && around == self.loop_of[release as usize] {
                    return Vec::new();
                }
                if concurrency.thread_of(take) == concurrency.thread_of(release) {
                    places.push(span);
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    fn is_shared(&self, event: &Event) -> bool {
        let sharing = &self.subject.form.concurrency.sharing;
        match event.kind {
            EventKind::Read(read) => sharing.read(read),
            EventKind::Write(definition) => {
                sharing.definition(definition) && !self.subject.program.definitions[definition].is_free()
            }
            EventKind::Update { read, .. } => sharing.read(read),
            _ => false,
        }
    }

    /// What the branch at the end of a block looks at, if it is a test.
    fn tests(&self, block: u32) -> Option<Sources> {
        let concurrency = &self.subject.form.concurrency;
        let of = concurrency.blocks[block as usize];
        if concurrency.local.successors(block).len() < 2 {
            return None;
        }
        let function = &self.subject.program.functions[concurrency.contexts[of.context].function];
        let Terminator::Branch { condition: Operand::Register(register), .. } = function.blocks[of.source?].terminator
        else {
            return None;
        };
        let sources = self.sources(function, register);
        (sources.call || !sources.reads.is_empty()).then_some(sources)
    }

    /// The reads of shared memory that a register follows from where a block uses it, with those that choose between the
    /// values that it may have (`a && b` is such a choice).
    pub fn shared_reads(&self, function: &Function, block: BlockId, register: RegisterId) -> Vec<ReadId> {
        let mut sources = self.sources(function, register);
        if sources.chosen.is_empty() {
            return sources.reads;
        }
        let control = Control::new(function);
        // What decides whether the block runs at all is no part of the value.
        let mut seen: FxHashSet<u32> = control.branches[block.index()].iter().copied().collect();
        let mut waiting = std::mem::take(&mut sources.chosen);
        while let Some(chosen) = waiting.pop() {
            for &branch in &control.branches[chosen.index()] {
                if !seen.insert(branch) {
                    continue;
                }
                let branch = BlockId(branch);
                waiting.push(branch);
                if let Terminator::Branch { condition: Operand::Register(register), .. } =
                    function.blocks[branch].terminator
                {
                    let of = self.sources(function, register);
                    sources.reads.extend(of.reads);
                    waiting.extend(of.chosen);
                }
            }
        }
        sources.reads.sort_unstable();
        sources.reads.dedup();
        sources.reads
    }

    /// What a register follows from.
    fn sources(&self, function: &Function, register: RegisterId) -> Sources {
        let mut sources = Sources::default();
        let mut seen = FxHashSet::from_iter([register]);
        let mut waiting = vec![register];
        while let Some(register) = waiting.pop() {
            let before = sources.chosen.len();
            for (id, block) in function.blocks.entries() {
                for instruction in block.instructions.iter().filter(|of| of.dest() == Some(register)) {
                    self.add(instruction, &mut sources);
                    sources.chosen.push(id);
                    instruction.uses(&mut |used| {
                        if seen.insert(used) {
                            waiting.push(used);
                        }
                    });
                }
            }
            if sources.chosen.len() == before + 1 {
                sources.chosen.truncate(before);
            }
        }
        sources
    }

    fn add(&self, instruction: &Instruction, sources: &mut Sources) {
        match instruction {
            Instruction::Load { read, .. } | Instruction::Atomic { read, .. }
                if self.subject.form.concurrency.sharing.read(*read) =>
            {
                sources.reads.push(*read);
            }
            Instruction::Call { .. } => sources.call = true,
            _ => {}
        }
    }
}
