//! Happens-before by barriers and signals, beyond forks and joins, and the resulting classes of blocks.
//!
//! **Input**: the events of the graph. **Output**: [`Order`]: value-flow edges, merges at which all branches have run, and for
//! each block the facts that show that two blocks never run in parallel.
//!
//! **Algorithm**
//! 1. Signals ([`super::signal`]): a wait for an object comes after one of the events that raise it.
//! 2. Barriers ([`super::barrier`]): if exactly as many single threads use a barrier as it counts, their k-th arrivals meet.
//! 3. The facts of a block are the signals that certainly come after it, the signals that certainly come before it, and the
//!    number of arrivals of its thread at each barrier. A thread inherits the facts of its fork. A block comes after a signal if
//!    its thread can reach it only by a wait for that signal, whatever else the thread waits for. It also comes after all signals
//!    that precede this signal.
//! 4. Blocks with the same thread, live regions and facts form a class: they are parallel with the same blocks.
//!
//! **Soundness and limits**: two classes are separated only if every execution orders all their blocks. Everything else (counting
//! semaphores, conditions, objects that are not named with certainty) orders nothing here.

use super::apart::Apart;
use super::arrivals::Arrivals;
use super::barrier::{Barrier, find_barriers};
use super::builder::GraphBuilder;
use super::signal::{Signal, find_signals};
use super::sync_object::Objects;
use super::{Concurrency, ThreadId};
use cssame_source::arena::{Arena, id};
use cssame_ssa::dominators::Dominators;
use cssame_ssa::graph::Graph;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

id! {
    /// Blocks that are parallel with the same blocks.
    ClassId
}

/// What is known of the order of blocks.
#[derive(Clone, Debug, Default)]
pub struct Order {
    signals: Vec<Signal>,
    pub barriers: Vec<Barrier>,
    facts: Arena<ClassId, Facts>,
}

/// What determines with which blocks a block is parallel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Facts {
    representative: u32,
    /// Signals that the block certainly comes before.
    before: SmallVec<[u16; 4]>,
    /// Signals that the block certainly comes after.
    after: SmallVec<[u16; 4]>,
    /// For each barrier, its participant that runs the block, and the number of its arrivals before.
    arrivals: SmallVec<[(u16, ThreadId, Arrivals); 2]>,
}

impl Order {
    /// For each signal that one event is, the block that ends with the event, and the blocks that begin with a wait for it.
    pub fn signals(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.signals.iter().filter_map(|signal| match signal.at[..] {
            [only] => Some((only, signal.waits.as_slice())),
            _ => None,
        })
    }

    /// Some block of a class.
    pub fn representative(&self, class: ClassId) -> u32 {
        self.facts[class].representative
    }

    /// Whether a signal or a barrier orders all blocks of one class and all of the other, one way or the other or by rounds.
    pub fn separated(&self, a: ClassId, b: ClassId) -> bool {
        self.separation(a, b).is_some()
    }

    /// The first signal or barrier that does so.
    pub fn separation(&self, a: ClassId, b: ClassId) -> Option<Apart> {
        let (a, b) = (&self.facts[a], &self.facts[b]);
        let meeting =
            |x: &SmallVec<[u16; 4]>, y: &SmallVec<[u16; 4]>| x.iter().copied().find(|signal| y.contains(signal));
        if let Some(signal) = meeting(&a.before, &b.after).or_else(|| meeting(&b.before, &a.after)) {
            return Some(Apart::Signal(self.signals[usize::from(signal)].at[0]));
        }
        let between = a.arrivals.iter().find(|&&(barrier, participant, number)| {
            b.arrivals.iter().any(|&(other, other_participant, other_number)| {
                barrier == other && participant != other_participant && number.disjoint(other_number)
            })
        });
        between.map(|&(barrier, ..)| Apart::Barrier(self.barriers[usize::from(barrier)].object))
    }
}

/// Finds signals and barriers, and wires the flow of values along them.
pub(super) fn find_order(builder: &mut GraphBuilder<'_>, local: &Graph) -> Order {
    let objects = Objects::of(builder);
    let signals = find_signals(builder, local, &objects);
    let barriers = find_barriers(builder, local, &objects);
    Order { signals, barriers, facts: Arena::new() }
}

/// Gives every block its class.
pub(super) fn classify(concurrency: &mut Concurrency) {
    let block_count = concurrency.flow.node_count();
    let within = within_threads(concurrency);
    // What a thread inherits from the place of its fork: parents come before their children.
    let mut inherited: Vec<Facts> = Vec::with_capacity(concurrency.threads.len());
    for (id, thread) in concurrency.threads.entries() {
        let facts = match thread.parent {
            Some(parent) if !thread.unordered => {
                let mut facts =
                    own_facts(concurrency, within.as_ref(), parent, thread.fork, inherited.get(parent.index()));
                // A child that may still run at the signal does not come before it.
                facts.before.retain(|signal| {
                    let mut at = concurrency.order.signals[*signal as usize].at.iter();
                    at.all(|&at| !concurrency.regions.contains(thread.region, at))
                });
                // Nor has one the arrivals of its fork that may still run when its parent has gone on to the next meeting.
                facts.arrivals.retain(|(barrier, participant, number)| {
                    let mut arrivals = concurrency.order.barriers[usize::from(*barrier)].arrivals.iter();
                    arrivals.all(|(&block, at)| {
                        at == number
                            || concurrency.thread_of(block) != *participant
                            || !concurrency.regions.contains(thread.region, block)
                    })
                });
                facts
            }
            _ => {
                Facts { representative: 0, before: SmallVec::new(), after: SmallVec::new(), arrivals: SmallVec::new() }
            }
        };
        debug_assert_eq!(id.index(), inherited.len());
        inherited.push(facts);
    }
    let earlier = signals_before_signals(concurrency, within.as_ref(), &inherited);
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
                    arrivals: SmallVec::new(),
                })
            });
            classes.push(class);
            continue;
        }
        let mut facts = own_facts(concurrency, within.as_ref(), thread, block, inherited.get(thread.index()));
        facts.learn(&earlier);
        let class = *known
            .entry((thread, regions.to_vec(), facts))
            .or_insert_with_key(|(_, _, facts)| facts_of.push(Facts { representative: block, ..facts.clone() }));
        classes.push(class);
    }
    concurrency.classes = classes;
    concurrency.order.facts = facts_of;
}

/// Dominators of control within threads, for programs with signals: the way of a thread to a block, from the fork of the thread on. What
/// it waits for is no way.
fn within_threads(concurrency: &Concurrency) -> Option<Dominators> {
    if concurrency.order.signals.is_empty() {
        return None;
    }
    let count = concurrency.flow.node_count();
    let of_block = |block: u32| concurrency.local.successors(block).iter().map(move |&next| (block, next));
    let mut edges: Vec<(u32, u32)> = (0..count as u32).flat_map(of_block).collect();
    for (&fork, threads) in &concurrency.forks {
        let entry = |thread: &ThreadId| concurrency.contexts[concurrency.threads[*thread].root].entry;
        edges.extend(threads.iter().map(|thread| (fork, entry(thread))));
    }
    edges.sort_unstable();
    Some(Dominators::new(&Graph::from_edges(count, &edges)))
}

/// For each signal those that it certainly comes after.
fn signals_before_signals(
    concurrency: &Concurrency,
    within: Option<&Dominators>,
    inherited: &[Facts],
) -> Vec<Vec<u16>> {
    let direct = |signal: &Signal| {
        let after = |&at: &u32| {
            let thread = concurrency.thread_of(at);
            own_facts(concurrency, within, thread, at, inherited.get(thread.index())).after.to_vec()
        };
        let all: Vec<Vec<u16>> = signal.at.iter().map(after).collect();
        let mut common = all[0].clone();
        common.retain(|one| all.iter().all(|other| other.contains(one)));
        common
    };
    let mut earlier: Vec<Vec<u16>> = concurrency.order.signals.iter().map(direct).collect();
    // No signal comes before itself, so each way ends.
    loop {
        let mut changed = false;
        for signal in 0..earlier.len() {
            let mut all = earlier[signal].clone();
            all.extend(earlier[signal].iter().flat_map(|&other| earlier[usize::from(other)].iter().copied()));
            all.sort_unstable();
            all.dedup();
            changed |= all.len() > earlier[signal].len();
            earlier[signal] = all;
        }
        if !changed {
            return earlier;
        }
    }
}

impl Facts {
    /// Adds the signals that come before those that the block comes after.
    fn learn(&mut self, earlier: &[Vec<u16>]) {
        let more: Vec<u16> =
            self.after.iter().flat_map(|&signal| earlier[usize::from(signal)].iter().copied()).collect();
        self.after.extend(more);
        self.after.sort_unstable();
        self.after.dedup();
    }
}

/// The facts of a block of that thread, with those that the thread inherits.
fn own_facts(
    concurrency: &Concurrency,
    within: Option<&Dominators>,
    thread: ThreadId,
    block: u32,
    inherited: Option<&Facts>,
) -> Facts {
    let empty = Facts { representative: 0, before: SmallVec::new(), after: SmallVec::new(), arrivals: SmallVec::new() };
    let mut facts = inherited.cloned().unwrap_or(empty);
    facts.representative = 0;
    for (index, signal) in concurrency.order.signals.iter().enumerate() {
        let index = index as u16;
        if signal.thread == Some(thread) && !signal.after.contains(&block) && !facts.before.contains(&index) {
            facts.before.push(index);
        }
        let passed = signal.waits.iter().any(|&wait| {
            concurrency.thread_of(wait) == thread && within.is_some_and(|within| within.dominates(wait, block))
        });
        if passed && !facts.after.contains(&index) {
            facts.after.push(index);
        }
    }
    for (index, barrier) in concurrency.order.barriers.iter().enumerate() {
        if barrier.participants.contains(&thread)
            && let Some(&number) = barrier.arrivals.get(&block)
        {
            facts.arrivals.push((index as u16, thread, number));
        }
    }
    facts
}
