//! Order that barriers and signals impose beyond forks and joins.
//!
//! In: the events of the graph. Out: edges along which values flow, merges at which all branches have run, and for each block
//! the facts by which two blocks are known never to run in parallel.
//!
//! A *signal* is an object that one event in the whole program raises, at most once: `set` of an event, `V` of a semaphore that
//! begins with 0, a bare notification. Who has passed a wait for it comes after the signal. A *barrier* counts where just as
//! many single threads use it as it waits for: their k-th arrivals then meet. The number of arrivals before a block is
//! followed as an interval and a congruence (Granger 1989), so that cyclic barriers separate the parts of a loop.
//! Anything else orders nothing here.

use super::builder::GraphBuilder;
use super::region::reach;
use super::repetition::{Repetition, may_be_many};
use super::{AndJoin, Concurrency, Event, InstanceId, LocationId, ThreadId};
use crate::ir::sync::{Edge, Kind};
use crate::ir::{LeafKind, Program, Value};
use crate::source::arena::{Arena, id};
use crate::ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

id! {
    /// Blocks that are parallel with the same blocks.
    ClassId
}

/// At most that many signals and that many barriers are followed.
const MAX_OBJECTS: usize = 64;

/// What is known of the order of blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    signals: Vec<Signal>,
    pub barriers: Vec<Barrier>,
    facts: Arena<ClassId, Facts>,
}

#[derive(Clone, Debug)]
struct Signal {
    /// The block that ends with the signal.
    at: u32,
    thread: ThreadId,
    /// Blocks that begin with a wait for it.
    waits: Vec<u32>,
    /// Blocks of its thread that can come after it.
    after: FxHashSet<u32>,
}

/// A barrier whose participants meet in rounds.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    pub participants: Vec<ThreadId>,
    phases: FxHashMap<u32, Phase>,
}

/// How many arrivals came before: an interval, and a congruence (modulus 0: exactly the residue).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Phase {
    low: u32,
    high: u32,
    residue: u32,
    modulus: u32,
}

/// What determines with which blocks a block is parallel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Facts {
    representative: u32,
    before: SmallVec<[u16; 4]>,
    after: SmallVec<[u16; 4]>,
    phases: SmallVec<[(u16, ThreadId, Phase); 2]>,
}

impl Barrier {
    /// Whether one participant has made fewer arrivals at a block than the other has at another block.
    pub fn lies_between(&self, (from, first): (ThreadId, u32), (to, second): (ThreadId, u32)) -> bool {
        let phases = (self.phases.get(&first), self.phases.get(&second));
        let (Some(first), Some(second)) = phases else { return false };
        self.participants.contains(&from) && self.participants.contains(&to) && first.high < second.low
    }
}

impl Order {
    /// The block that ends with each signal, and the blocks that begin with a wait for it.
    pub fn signals(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.signals.iter().map(|signal| (signal.at, signal.waits.as_slice()))
    }

    /// Some block of a class.
    pub fn representative(&self, class: ClassId) -> u32 {
        self.facts[class].representative
    }

    /// Whether a signal or a barrier orders all blocks of one class and all of the other, one way or the other or by rounds.
    pub fn separated(&self, a: ClassId, b: ClassId) -> bool {
        let (a, b) = (&self.facts[a], &self.facts[b]);
        let meets = |x: &SmallVec<[u16; 4]>, y: &SmallVec<[u16; 4]>| x.iter().any(|signal| y.contains(signal));
        if meets(&a.before, &b.after) || meets(&b.before, &a.after) {
            return true;
        }
        a.phases.iter().any(|&(barrier, participant, phase)| {
            b.phases.iter().any(|&(other, other_participant, other_phase)| {
                barrier == other && participant != other_participant && phase.disjoint(other_phase)
            })
        })
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Phase {
    const START: Phase = Phase { low: 0, high: 0, residue: 0, modulus: 0 };

    fn next(self) -> Phase {
        let residue = self.residue.saturating_add(1);
        Phase {
            low: self.low.saturating_add(1),
            high: self.high.saturating_add(1),
            residue: if self.modulus == 0 { residue } else { residue % self.modulus },
            modulus: self.modulus,
        }
    }

    fn join(self, other: Phase) -> Phase {
        let modulus = gcd(gcd(self.modulus, other.modulus), self.residue.abs_diff(other.residue));
        let residue = if modulus == 0 { self.residue } else { self.residue % modulus };
        Phase { low: self.low.min(other.low), high: self.high.max(other.high), residue, modulus }
    }

    fn disjoint(self, other: Phase) -> bool {
        let modulus = gcd(self.modulus, other.modulus);
        let residues = self.residue.abs_diff(other.residue);
        let incongruent = if modulus == 0 { residues != 0 } else { !residues.is_multiple_of(modulus) };
        self.high < other.low || other.high < self.low || incongruent
    }

    fn exact(self) -> Option<u32> {
        (self.low == self.high && self.modulus == 0).then_some(self.low)
    }
}

/// The synchronisation events that may be ends of happens-before edges, by what they certainly work on.
struct Objects {
    /// For each kind and object (`None` for bare operations): blocks of the events.
    certain: FxHashMap<(Kind, Option<LocationId>), Vec<u32>>,
    /// Locations that some event may mean without certainty.
    doubtful: FxHashSet<LocationId>,
}

impl Objects {
    fn of(builder: &GraphBuilder<'_>) -> Objects {
        let mut result = Objects { certain: FxHashMap::default(), doubtful: FxHashSet::default() };
        for (index, block) in builder.blocks.iter().enumerate() {
            for event in &builder.events[block.events.0 as usize..block.events.1 as usize] {
                if let Some(kind) = event.kind.synchronisation()
                    && kind.properties().edge != Edge::None
                {
                    result.note(builder, kind, event, index as u32);
                }
            }
        }
        result
    }

    fn note(&mut self, builder: &GraphBuilder<'_>, kind: Kind, event: &Event, block: u32) {
        let operands = &builder.operands[event.operands.0 as usize..event.operands.1 as usize];
        let object = match operands {
            _ if kind.operands().is_empty() => None,
            [only] if builder.unfolding.instances[builder.locations[*only].instance].unique => Some(*only),
            _ => {
                self.doubtful.extend(operands);
                return;
            }
        };
        self.certain.entry((kind, object)).or_default().push(block);
    }

    /// The blocks of the events of a kind that certainly work on an object.
    fn blocks(&self, kind: Kind, object: Option<LocationId>) -> &[u32] {
        self.certain.get(&(kind, object)).map_or(&[], Vec::as_slice)
    }

    /// Whether every event of the program that may work on an object certainly does.
    fn is_certain(&self, object: Option<LocationId>) -> bool {
        object.is_none_or(|location| !self.doubtful.contains(&location))
    }
}

/// Finds signals and barriers, and wires the flow of values along them.
pub(super) fn find_order(builder: &mut GraphBuilder<'_>, local: &Graph) -> Order {
    let objects = Objects::of(builder);
    let mut order = Order::default();
    find_signals(builder, local, &objects, &mut order);
    find_barriers(builder, local, &objects, &mut order);
    order
}

/// Finds the locals that are one variable for all threads at any time: made by a thread of one instance, and, where threads
/// are spawned (they may outlive the frame), made only once.
pub(super) fn find_unique(builder: &mut GraphBuilder<'_>, local: &Graph) {
    let spawns = builder.unfolding.threads.iter().any(|thread| thread.spawned);
    let mut repetitions = builder.repetitions(local);
    let is_unique = |&(instance, block): &(InstanceId, u32)| {
        builder.unfolding.instances[instance].single
            && !may_be_many(&builder.unfolding.threads, thread_of(builder, block))
            && (!spawns || repetitions.of(block) == Repetition::Once)
    };
    let unique: Vec<bool> = builder.allocations.iter().map(is_unique).collect();
    for (&(instance, _), unique) in builder.allocations.iter().zip(unique) {
        builder.unfolding.instances[instance].unique = unique;
    }
}

fn thread_of(builder: &GraphBuilder<'_>, block: u32) -> ThreadId {
    builder.unfolding.contexts[builder.blocks[block as usize].context].thread
}

fn find_signals(builder: &mut GraphBuilder<'_>, local: &Graph, objects: &Objects, order: &mut Order) {
    let program = builder.program;
    let mut found: Vec<(u32, Vec<u32>)> = Vec::new();
    // Step 1: waits for an object that one event in the whole program raises.
    for (&(wait, object), waits) in &objects.certain {
        if wait.properties().edge != Edge::Target || !objects.is_certain(object) {
            continue;
        }
        let counts_up = object.is_some_and(|object| may_begin_raised(program, builder, object));
        let raising = wait.properties().waits_for.iter().flat_map(|&kind| objects.blocks(kind, object));
        if let ([signal], false) = (raising.copied().collect::<Vec<u32>>().as_slice(), counts_up) {
            found.push((*signal, waits.clone()));
        }
    }
    found.sort_unstable();
    found.truncate(MAX_OBJECTS);
    // Step 2: signals that are raised at most once. Where the fork of the signal's thread lies on a cycle, the marker of the
    // merge at the wait would too, so that such signals are left out.
    let mut repetitions = builder.repetitions(local);
    found.retain(|&(at, _)| repetitions.of(at) == Repetition::Once);
    for (at, waits) in found {
        let thread = thread_of(builder, at);
        for &wait in &waits {
            wire_signal(builder, local, at, wait);
        }
        let after = reach(local, at, &FxHashSet::default()).into_iter().collect();
        order.signals.push(Signal { at, thread, waits, after });
    }
}

/// Whether an object is a semaphore that a thread can pass before anybody raises it.
fn may_begin_raised(program: &Program, builder: &GraphBuilder<'_>, location: LocationId) -> bool {
    let leaf = &program.leaves[builder.locations[location].leaf];
    leaf.kind == LeafKind::Semaphore && leaf.initial.first() != Some(&Value::Int(0))
}

fn wire_signal(builder: &mut GraphBuilder<'_>, local: &Graph, signal: u32, wait: u32) {
    builder.flow_edges.push((signal, wait));
    let (from, to) = (thread_of(builder, signal), thread_of(builder, wait));
    let threads = &builder.unfolding.threads;
    // Where the branches that meet here parted: at the fork of both threads, or at that of the one by the other.
    let siblings = from != to && threads[from].parent.is_some() && threads[from].fork == threads[to].fork;
    let marker = if siblings || threads[from].parent == Some(to) {
        threads[from].fork
    } else if threads[to].parent == Some(from) {
        threads[to].fork
    } else {
        return;
    };
    let branches = vec![vec![signal], local.predecessors(wait).to_vec()];
    builder.and_joins.push(AndJoin { block: wait, marker, branches, threads: vec![from, to] });
}

fn find_barriers(builder: &mut GraphBuilder<'_>, local: &Graph, objects: &Objects, order: &mut Order) {
    let mut barriers: Vec<(LocationId, Vec<u32>)> = objects
        .certain
        .iter()
        .filter(|((kind, location), _)| kind.properties().edge == Edge::Meeting && objects.is_certain(*location))
        .filter_map(|((_, location), blocks)| Some(((*location)?, blocks.clone())))
        .collect();
    barriers.sort_unstable();
    barriers.truncate(MAX_OBJECTS);
    for (location, arrivals) in barriers {
        let LeafKind::Barrier(count) = builder.program.leaves[builder.locations[location].leaf].kind else { continue };
        let mut participants: Vec<ThreadId> = arrivals.iter().map(|&block| thread_of(builder, block)).collect();
        participants.sort_unstable();
        participants.dedup();
        if participants.len() != count as usize || !meet_in_rounds(builder, local, &participants) {
            continue;
        }
        let phases = count_arrivals(builder, local, &arrivals, &participants);
        wire_barrier(builder, local, &arrivals, &participants, &phases);
        order.barriers.push(Barrier { participants, phases });
    }
}

/// Whether the k-th arrivals of the participants certainly meet: single threads, made by one fork or each only once.
fn meet_in_rounds(builder: &GraphBuilder<'_>, local: &Graph, participants: &[ThreadId]) -> bool {
    let threads = &builder.unfolding.threads;
    let siblings = participants.windows(2).all(|pair| {
        threads[pair[0]].parent.is_some()
            && threads[pair[1]].parent.is_some()
            && threads[pair[0]].fork == threads[pair[1]].fork
    });
    let mut repetitions = builder.repetitions(local);
    let mut made_once =
        |thread: ThreadId| threads[thread].parent.is_none() || repetitions.of(threads[thread].fork) == Repetition::Once;
    participants.iter().all(|&thread| !may_be_many(threads, thread))
        && (siblings || participants.iter().all(|&thread| made_once(thread)))
}

/// The number of arrivals before each block of the participants.
fn count_arrivals(
    builder: &GraphBuilder<'_>,
    local: &Graph,
    arrivals: &[u32],
    participants: &[ThreadId],
) -> FxHashMap<u32, Phase> {
    let arrivals: FxHashSet<u32> = arrivals.iter().copied().collect();
    let mut phases: FxHashMap<u32, Phase> = FxHashMap::default();
    let mut visits: FxHashMap<u32, u32> = FxHashMap::default();
    for &participant in participants {
        let entry = builder.unfolding.contexts[builder.unfolding.threads[participant].root].entry;
        phases.insert(entry, Phase::START);
        let mut waiting = vec![entry];
        while let Some(block) = waiting.pop() {
            let here = phases[&block];
            let out = if arrivals.contains(&block) { here.next() } else { here };
            for &target in local.successors(block) {
                let mut joined = phases.get(&target).map_or(out, |&known| known.join(out));
                if phases.get(&target) == Some(&joined) {
                    continue;
                }
                let rounds = visits.entry(target).or_default();
                *rounds += 1;
                if *rounds > 4 {
                    joined.high = u32::MAX;
                }
                phases.insert(target, joined);
                waiting.push(target);
            }
        }
    }
    phases
}

/// Lets values pass a barrier through the meetings of its rounds.
fn wire_barrier(
    builder: &mut GraphBuilder<'_>,
    local: &Graph,
    arrivals: &[u32],
    participants: &[ThreadId],
    phases: &FxHashMap<u32, Phase>,
) {
    let set: FxHashSet<u32> = arrivals.iter().copied().collect();
    builder.flow_edges.retain(|(from, _)| !set.contains(from));
    let reached: Vec<(u32, Phase)> =
        arrivals.iter().filter_map(|&block| phases.get(&block).map(|&phase| (block, phase))).collect();
    let exact = reached.iter().all(|(_, phase)| phase.exact().is_some());
    let modulus = reached.iter().fold(0, |modulus, (_, phase)| gcd(modulus, phase.modulus));
    let mut meetings: Vec<(u32, u32)> = Vec::new();
    for &(arrival, phase) in &reached {
        let round = match phase.exact() {
            Some(round) if exact => round,
            _ if modulus >= 2 => phase.residue % modulus,
            _ => 0,
        };
        let known = meetings.iter().find(|(known, _)| *known == round).map(|&(_, meeting)| meeting);
        let meeting = known.unwrap_or_else(|| {
            let context = builder.blocks[arrival as usize].context;
            let meeting = builder.new_block(context);
            meetings.push((round, meeting));
            meeting
        });
        builder.flow_edges.push((arrival, meeting));
        for &departure in local.successors(arrival) {
            builder.flow_edges.push((meeting, departure));
        }
    }
    if exact {
        add_meetings(builder, &reached, participants, &mut meetings);
        raise_join_marker(builder, participants, phases, &meetings);
    }
}

/// Where all threads of a fork have met in a last round, the branches that meet at their join parted there.
fn raise_join_marker(
    builder: &mut GraphBuilder<'_>,
    participants: &[ThreadId],
    phases: &FxHashMap<u32, Phase>,
    meetings: &[(u32, u32)],
) {
    let Some(&(last, meeting)) = meetings.last() else { return };
    let threads = &builder.unfolding.threads;
    let all_met = participants.iter().all(|&thread| {
        let exit = builder.unfolding.contexts[threads[thread].root].exit;
        phases.get(&exit).and_then(|phase| phase.exact()) == Some(last + 1)
    });
    let fork = threads[participants[0]].fork;
    if !all_met {
        return;
    }
    for join in &mut builder.and_joins {
        if join.marker == fork
            && join.threads.len() == participants.len()
            && join.threads.iter().all(|thread| participants.contains(thread))
            && join.block != meeting
            && builder.joined.contains(&(fork, join.block))
        {
            join.marker = meeting;
        }
    }
}

/// At a meeting of an exact round, all participants have come.
fn add_meetings(
    builder: &mut GraphBuilder<'_>,
    reached: &[(u32, Phase)],
    participants: &[ThreadId],
    meetings: &mut [(u32, u32)],
) {
    meetings.sort_unstable();
    let threads = &builder.unfolding.threads;
    let fork = threads[participants[0]].fork;
    let siblings = participants.iter().all(|&thread| threads[thread].parent.is_some() && threads[thread].fork == fork);
    let mut previous = siblings.then_some(fork);
    for &(round, meeting) in meetings.iter() {
        let branches: Vec<Vec<u32>> = participants
            .iter()
            .map(|&participant| {
                let of = reached
                    .iter()
                    .filter(|(block, phase)| phase.exact() == Some(round) && thread_of(builder, *block) == participant);
                of.map(|&(block, _)| block).collect()
            })
            .collect();
        if let Some(marker) = previous {
            let threads = participants.to_vec();
            builder.and_joins.push(AndJoin { block: meeting, marker, branches, threads });
        }
        previous = Some(meeting);
    }
}

/// Gives every block its class.
pub(super) fn classify(concurrency: &mut Concurrency) {
    let block_count = concurrency.flow.node_count();
    // What a thread inherits from the place of its fork: parents come before their children.
    let mut inherited: Vec<Facts> = Vec::with_capacity(concurrency.threads.len());
    for (id, thread) in concurrency.threads.entries() {
        let facts = match thread.parent {
            Some(parent) if !thread.unordered => {
                let mut facts = own_facts(concurrency, parent, thread.fork, inherited.get(parent.index()));
                // A child that may still run at the signal does not come before it.
                facts.before.retain(|signal| {
                    let at = concurrency.order.signals[*signal as usize].at;
                    !concurrency.regions.contains(thread.region, at)
                });
                facts
            }
            _ => Facts { representative: 0, before: SmallVec::new(), after: SmallVec::new(), phases: SmallVec::new() },
        };
        debug_assert_eq!(id.index(), inherited.len());
        inherited.push(facts);
    }
    let mut classes = Vec::with_capacity(block_count);
    let mut known: FxHashMap<(ThreadId, Vec<super::RegionId>, Facts), ClassId> = FxHashMap::default();
    let mut facts_of: Arena<ClassId, Facts> = Arena::new();
    let simple = concurrency.order.signals.is_empty() && concurrency.order.barriers.is_empty();
    let mut simple_classes: FxHashMap<ThreadId, ClassId> = FxHashMap::default();
    for block in 0..block_count as u32 {
        let thread = concurrency.thread_of(block);
        let regions = concurrency.regions.of(block);
        if simple && regions.is_empty() {
            let class = *simple_classes.entry(thread).or_insert_with(|| {
                facts_of.push(Facts {
                    representative: block,
                    before: SmallVec::new(),
                    after: SmallVec::new(),
                    phases: SmallVec::new(),
                })
            });
            classes.push(class);
            continue;
        }
        let facts = own_facts(concurrency, thread, block, inherited.get(thread.index()));
        let class = *known
            .entry((thread, regions.to_vec(), facts))
            .or_insert_with_key(|(_, _, facts)| facts_of.push(Facts { representative: block, ..facts.clone() }));
        classes.push(class);
    }
    concurrency.classes = classes;
    concurrency.order.facts = facts_of;
}

/// The facts of a block of that thread, with those that the thread inherits.
fn own_facts(concurrency: &Concurrency, thread: ThreadId, block: u32, inherited: Option<&Facts>) -> Facts {
    let empty = Facts { representative: 0, before: SmallVec::new(), after: SmallVec::new(), phases: SmallVec::new() };
    let mut facts = inherited.cloned().unwrap_or(empty);
    facts.representative = 0;
    for (index, signal) in concurrency.order.signals.iter().enumerate() {
        let index = index as u16;
        if signal.thread == thread && !signal.after.contains(&block) && !facts.before.contains(&index) {
            facts.before.push(index);
        }
        let passed = signal
            .waits
            .iter()
            .any(|&wait| concurrency.thread_of(wait) == thread && concurrency.dominators.dominates(wait, block));
        if passed && !facts.after.contains(&index) {
            facts.after.push(index);
        }
    }
    for (index, barrier) in concurrency.order.barriers.iter().enumerate() {
        if barrier.participants.contains(&thread)
            && let Some(&phase) = barrier.phases.get(&block)
        {
            facts.phases.push((index as u16, thread, phase));
        }
    }
    facts
}
