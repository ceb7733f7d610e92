//! Explains why two accesses to one variable cannot race.
//!
//! **Input**: two accesses that cannot race. **Output**: [`Separation`]s: one for each different way in which their contexts are
//! separated. **Algorithm**: for each two groups of the accesses, the first of these that holds: both atomic, different
//! variables, different elements, not run at the same time ([`Apart`]), a common lock. **Soundness and limits**: together they
//! prove that the pair does not race. They decide nothing; [`PotentialRaces::contains`] decides.

use super::PotentialRaces;
use super::group::{Site, may_be_one_element};
use cssame_concurrency::lockset::ATOMIC;
use cssame_concurrency::{Apart, EventKind, ThreadId};
use cssame_ir::Access;
use cssame_source::Span;
use cssame_ssa::graph::Graph;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeSet;

/// Why two accesses to one variable do not race.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Separation {
    /// Both are atomic.
    Atomic,
    /// Both threads hold these locks there, by the names of their declarations; each one would do.
    Locked(Vec<String>),
    /// One of them always comes first.
    Ordered(Order),
    /// No execution makes both.
    Exclusive,
    /// They mean different elements of an array, or local variables of different activations.
    Distinct,
}

/// What orders two accesses. Threads go by their paths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Order {
    /// One thread makes both.
    Thread {
        /// The thread.
        thread: String,
    },
    /// The thread of one of them is made only after the other.
    Fork {
        /// The thread that is made.
        thread: String,
        /// Where.
        #[serde(skip)]
        span: Span,
    },
    /// The thread of one of them has ended, and been waited for, before the other.
    Join {
        /// The thread that is waited for.
        thread: String,
        /// Where, if that can be told.
        #[serde(skip)]
        span: Option<Span>,
    },
    /// Their threads are never alive at the same time.
    Lives {
        /// The threads.
        threads: [String; 2],
    },
    /// One comes before the operation that raises an event or semaphore, or notifies; the other waits for it.
    Signal {
        /// The object; `None` for a bare notification.
        object: Option<String>,
        /// Where it is raised.
        #[serde(skip)]
        span: Span,
    },
    /// A round of a barrier lies between them.
    Barrier {
        /// The barrier.
        object: String,
    },
}

impl Separation {
    /// The word of the contract.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Separation::Atomic => "atomic",
            Separation::Locked(_) => "locked",
            Separation::Ordered(_) => "ordered",
            Separation::Exclusive => "exclusive",
            Separation::Distinct => "distinct",
        }
    }

    /// The reason as the second half of a sentence: ``both hold `L` ``.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Separation::Atomic => "both are atomic".to_owned(),
            Separation::Locked(locks) => {
                let quoted: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
                format!("both threads hold {}", quoted.join(" and "))
            }
            Separation::Ordered(order) => order.in_words(),
            Separation::Exclusive => "no execution has both accesses".to_owned(),
            Separation::Distinct => "they never access the same cell".to_owned(),
        }
    }
}

impl Order {
    fn in_words(&self) -> String {
        match self {
            Order::Thread { thread } => format!("both are made by one thread, {thread}"),
            Order::Fork { thread, .. } => format!("{thread} is started only after the other access"),
            Order::Join { thread, .. } => format!("{thread} has been joined before the other access"),
            Order::Lives { threads: [a, b] } => format!("{a} and {b} are never alive at the same time"),
            Order::Signal { object: Some(object), .. } => {
                format!("one comes before `{object}` is raised, the other after waiting for it")
            }
            Order::Signal { object: None, .. } => {
                "one comes before the only notification, the other after waiting for it".to_owned()
            }
            Order::Barrier { object } => format!("a round of `{object}` lies between them"),
        }
    }
}

impl PotentialRaces<'_> {
    /// What keeps two accesses apart of which one writes: one reason for each way in which their contexts are kept
    /// apart, which together prove that they do not race. Empty where they may race, where both read, and where no
    /// shared variable is accessed by both.
    #[must_use]
    pub fn separations(&self, a: Access, b: Access) -> Vec<Separation> {
        if !(a.is_write() || b.is_write()) || self.contains(a, b) {
            return Vec::new();
        }
        let leaf = |site: &Site| self.leaf_of(site.variable);
        let mut found: BTreeSet<Separation> = BTreeSet::new();
        let mut flow = Flow { local: &self.form.concurrency.local, reached: FxHashMap::default() };
        for x in self.sites.of(a) {
            for y in self.sites.of(b).iter().filter(|y| leaf(y) == leaf(x)) {
                let meet = x.variable == y.variable && may_be_one_element(x.element, y.element);
                found.insert(if meet { self.separate(&mut flow, x, y) } else { Separation::Distinct });
            }
        }
        // That other objects, elements and frames are others needs no proof where something is said of the same ones.
        if found.len() > 1 {
            found.remove(&Separation::Distinct);
        }
        found.into_iter().collect()
    }

    fn separate(&self, flow: &mut Flow<'_>, x: &Site, y: &Site) -> Separation {
        let (a, b) = (self.key(x), self.key(y));
        let concurrency = &self.form.concurrency;
        if let Some(apart) = concurrency.classes_apart(a.class, b.class) {
            return self.order(flow, x, y, apart).map_or(Separation::Exclusive, Separation::Ordered);
        }
        if !self.may_be_one_frame(x.variable, a, b) {
            return Separation::Distinct;
        }
        let locks = self.common_locks(a, b).filter(|&lock| lock != ATOMIC);
        let names: Vec<String> = locks.map(|lock| self.object_name(lock)).collect();
        if a.atomic && b.atomic || names.is_empty() { Separation::Atomic } else { Separation::Locked(names) }
    }

    /// What orders the blocks of two sites; `None` where no execution comes to both.
    fn order(&self, flow: &mut Flow<'_>, x: &Site, y: &Site, apart: Apart) -> Option<Order> {
        let concurrency = &self.form.concurrency;
        let path = |thread: ThreadId| concurrency.threads[thread].path.clone();
        Some(match apart {
            Apart::SameThread(thread) => {
                let one_way = x.block == y.block || flow.leads(x.block, y.block) || flow.leads(y.block, x.block);
                one_way.then(|| Order::Thread { thread: path(thread) })?
            }
            Apart::OutsideLife { child, .. } => {
                // The parent has one of the two; what it runs is in one thread with the fork.
                let parent = concurrency.threads[child].parent;
                let block = if Some(concurrency.thread_of(x.block)) == parent { x.block } else { y.block };
                let fork = concurrency.threads[child].fork;
                if flow.leads(fork, block) {
                    Order::Join { thread: path(child), span: self.join_of(child) }
                } else if block == fork || flow.leads(block, fork) {
                    Order::Fork { thread: path(child), span: self.last_span(fork) }
                } else {
                    return None;
                }
            }
            Apart::Lives(first, second) => Order::Lives { threads: [path(first), path(second)] },
            Apart::Signal(block) => {
                let event = concurrency.events_of(block).last();
                let object = event.and_then(|event| concurrency.locations_of(event).first());
                let object = object.map(|&object| self.object_name(object));
                Order::Signal { object, span: self.last_span(block) }
            }
            Apart::Barrier(object) => Order::Barrier { object: self.object_name(object) },
        })
    }

    /// Where the last event of a block stands: its fork or signal.
    fn last_span(&self, block: u32) -> Span {
        self.form.concurrency.events_of(block).last().map_or_else(Span::default, |event| event.span)
    }

    /// Where a thread is waited for.
    fn join_of(&self, child: ThreadId) -> Option<Span> {
        let concurrency = &self.form.concurrency;
        let fork = concurrency.threads[child].fork;
        let joined = concurrency.joined.iter().find(|of| of.0 == fork).map(|of| of.1);
        let by_handle = || concurrency.and_joins.iter().find(|join| join.threads == [child]).map(|join| join.block);
        let event = concurrency.events_of(joined.or_else(by_handle)?).first()?;
        matches!(event.kind, EventKind::Join | EventKind::JoinThread).then_some(event.span)
    }
}

/// Where control may come within a thread.
struct Flow<'a> {
    local: &'a Graph,
    /// By block, what can be reached from behind it.
    reached: FxHashMap<u32, FixedBitSet>,
}

/// Sets of blocks that are kept at most.
const MAX_KEPT: usize = 64;

impl Flow<'_> {
    /// Whether control may come from behind one block to another.
    fn leads(&mut self, from: u32, to: u32) -> bool {
        if self.reached.len() >= MAX_KEPT {
            self.reached.clear();
        }
        let local = self.local;
        let reached = self.reached.entry(from).or_insert_with(|| {
            let mut seen = FixedBitSet::with_capacity(local.node_count());
            let mut waiting: Vec<u32> = local.successors(from).to_vec();
            while let Some(block) = waiting.pop() {
                if !seen.put(block as usize) {
                    waiting.extend(local.successors(block));
                }
            }
            seen
        });
        reached.contains(to as usize)
    }
}
