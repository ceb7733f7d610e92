//! Explains why no execution covers an instance of a pattern.
//!
//! **Input**: a program with its form, or a file without `main`; the universe. **Output**: [`Reasons`], which say why an instance
//! is excluded, as far as the text shows it.
//!
//! **Algorithm** for a program:
//! 1. *unreachable*: one of the accesses is never made.
//! 2. *ordered*: where the instance switches from one thread to the other, forks and joins order the two accesses in all of their
//!    contexts; or no thread reaches an access after an earlier access of its own in the instance.
//!
//! For a file without `main`, any number of threads may call the methods in any order. An access is *unreachable* if neither a
//! public method nor a function of the file reaches it. An instance is unreachable if no thread can make all accesses of one of
//! its two threads. A thread here is a client, which makes any calls, or an arm or a spawned function of the file.
//!
//! **Soundness and limits**: no execution, and no execution of any client, covers an excluded instance. Other instances may be
//! infeasible too. A lock alone excludes nothing: a thread may return between two calls, or in a loop. If exploration has shown
//! that an instance is infeasible, [`Reasons::of_excluded`] calls it *mutex* if all its accesses are made under one lock.

use super::instance::Instance;
use super::pattern::{Letter, MAX_LETTERS, Role};
use super::reach::Reach;
use super::universe::{AccessId, Binding, Universe};
use cssame_concurrency::{Concurrency, EventKind};
use cssame_form::Form;
use cssame_form::races::potential_races;
use cssame_ir::{Access, FunctionId, FunctionKind, Instruction, Program};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;

/// What excludes an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Some access is never made, or no thread makes all that one of the two has to.
    Unreachable,
    /// Forks and joins order two of the accesses.
    Ordered,
    /// All accesses are made under one lock, and no execution covers the instance.
    Mutex,
    /// No execution covers it: all were looked at.
    Exact,
}

impl Reason {
    /// As answers spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Reason::Unreachable => "unreachable",
            Reason::Ordered => "ordered",
            Reason::Mutex => "mutex",
            Reason::Exact => "exact",
        }
    }
}

/// Where an access is made.
#[derive(Clone, Debug, Default)]
struct Sites {
    /// One block of each class.
    classes: Vec<u32>,
    /// Blocks, and the places of its events in them.
    all: Vec<(u32, u32)>,
}

/// What the text tells of accesses.
#[derive(Debug)]
enum Facts<'a> {
    Program {
        concurrency: &'a Concurrency,
        /// By access: where it is made.
        sites: Vec<Sites>,
        /// Whether two accesses may run in parallel by forks and joins alone, as far as that was asked.
        parallel: RefCell<FxHashMap<(AccessId, AccessId), bool>>,
        /// Whether a thread may make the second access behind the first one, as far as that was asked.
        behind: RefCell<FxHashMap<(AccessId, AccessId), bool>>,
        /// By access: the blocks that may follow those in which it is made, as far as that was asked.
        following: RefCell<FxHashMap<AccessId, FixedBitSet>>,
        /// By access: the locks that are certainly held.
        locks: Vec<Vec<String>>,
    },
    /// By kind of thread: the accesses that it can make.
    Library(Vec<FixedBitSet>),
}

/// Says why instances are excluded.
#[derive(Debug)]
pub struct Reasons<'a>(Facts<'a>);

impl<'a> Reasons<'a> {
    /// For a program.
    #[must_use]
    pub fn of_program(program: &'a Program, form: &'a Form, universe: &Universe) -> Reasons<'a> {
        let concurrency = &form.concurrency;
        let binding = Binding::new(universe, program);
        let mut sites: Vec<Sites> = vec![Sites::default(); universe.accesses.len()];
        let mut add = |access: Access, block: u32, place: usize| {
            if let Some(id) = binding.of(access) {
                let class = concurrency.classes[block as usize];
                let of = &mut sites[id.index()];
                of.all.push((block, place as u32));
                if !of.classes.iter().any(|&known| concurrency.classes[known as usize] == class) {
                    of.classes.push(block);
                }
            }
        };
        for block in 0..concurrency.blocks.len() as u32 {
            for (place, event) in concurrency.events_of(block).iter().enumerate() {
                match event.kind {
                    EventKind::Read(read) => add(Access::Read(read), block, place),
                    EventKind::Write(definition) => add(Access::Write(definition), block, place),
                    EventKind::Update { read, definition, .. } => {
                        add(Access::Read(read), block, place);
                        add(Access::Write(definition), block, place);
                    }
                    _ => {}
                }
            }
        }
        let locks = locks(program, form, universe, &binding);
        Reasons(Facts::Program {
            concurrency,
            sites,
            parallel: RefCell::default(),
            behind: RefCell::default(),
            following: RefCell::default(),
            locks,
        })
    }

    /// For a file without `main`.
    #[must_use]
    pub fn of_library(program: &Program, universe: &Universe) -> Reasons<'static> {
        let binding = Binding::new(universe, program);
        let reach = Reach::new(program, &binding, universe);
        let is_public = |kind| matches!(kind, FunctionKind::Function | FunctionKind::Method { public: true });
        let public = program.functions.entries().filter(|(_, function)| is_public(function.kind));
        let client = reach.from(program, public.map(|(id, _)| id).collect());
        let roots = threads_made(program).into_iter().map(|root| reach.from(program, vec![root]));
        Reasons(Facts::Library(std::iter::once(client).chain(roots).collect()))
    }

    /// Why no execution covers an instance, as far as the text tells.
    #[must_use]
    pub fn of(&self, instance: &Instance) -> Option<Reason> {
        match &self.0 {
            Facts::Program { sites, .. } => {
                if instance.accesses().iter().any(|access| sites[access.index()].all.is_empty()) {
                    return Some(Reason::Unreachable);
                }
                let steps: SmallVec<[_; MAX_LETTERS]> = instance.steps().collect();
                let mut changes = steps.windows(2).filter(|two| two[0].0.role != two[1].0.role);
                let apart = |two: &[(Letter, AccessId)]| !self.may_be_parallel(two[0].1, two[1].1);
                let mut own = steps.iter().enumerate().filter_map(|(place, step)| {
                    let next = steps[place + 1..].iter().find(|next| next.0.role == step.0.role)?;
                    Some((step.1, next.1))
                });
                let ordered = changes.any(apart) || own.any(|(first, second)| !self.may_follow(first, second));
                ordered.then_some(Reason::Ordered)
            }
            Facts::Library(kinds) => {
                let has = |kind: &FixedBitSet, role: Role| {
                    instance.steps().all(|(letter, access)| letter.role != role || kind.contains(access.index()))
                };
                let can = |role: Role| kinds.iter().any(|kind| has(kind, role));
                (!can(Role::A) || !can(Role::B)).then_some(Reason::Unreachable)
            }
        }
    }

    /// Why no execution covers an instance of which all executions have shown that.
    #[must_use]
    pub fn of_excluded(&self, instance: &Instance) -> Reason {
        if let Some(reason) = self.of(instance) {
            return reason;
        }
        let Facts::Program { locks, .. } = &self.0 else { return Reason::Exact };
        let mut of = instance.accesses().iter().map(|access| &locks[access.index()]);
        let Some(first) = of.next() else { return Reason::Exact };
        let others: Vec<&Vec<String>> = of.collect();
        let common = first.iter().any(|lock| others.iter().all(|other| other.contains(lock)));
        if common { Reason::Mutex } else { Reason::Exact }
    }

    fn may_be_parallel(&self, a: AccessId, b: AccessId) -> bool {
        let Facts::Program { concurrency, sites, parallel, .. } = &self.0 else { return true };
        let key = (a.min(b), a.max(b));
        if let Some(&known) = parallel.borrow().get(&key) {
            return known;
        }
        let (a, b) = (&sites[key.0.index()].classes, &sites[key.1.index()].classes);
        let may = a.iter().any(|&a| b.iter().any(|&b| concurrency.structurally_parallel(a, b)));
        parallel.borrow_mut().insert(key, may);
        may
    }

    /// Whether a thread may make the second access behind the first one.
    fn may_follow(&self, first: AccessId, second: AccessId) -> bool {
        let Facts::Program { concurrency, sites, behind, following, .. } = &self.0 else { return true };
        if let Some(&known) = behind.borrow().get(&(first, second)) {
            return known;
        }
        let mut following = following.borrow_mut();
        let blocks = following.entry(first).or_insert_with(|| blocks_behind(concurrency, &sites[first.index()]));
        let (first_sites, second_sites) = (&sites[first.index()].all, &sites[second.index()].all);
        let in_block = |&(block, place): &(u32, u32)| first_sites.iter().any(|&(of, at)| of == block && at < place);
        let may = second_sites.iter().any(|site| blocks.contains(site.0 as usize) || in_block(site));
        behind.borrow_mut().insert((first, second), may);
        may
    }
}

/// The blocks that may follow, within a thread, those in which an access is made.
fn blocks_behind(concurrency: &Concurrency, sites: &Sites) -> FixedBitSet {
    let mut behind = FixedBitSet::with_capacity(concurrency.blocks.len());
    let mut work: Vec<u32> = sites.all.iter().map(|site| site.0).collect();
    while let Some(block) = work.pop() {
        for &next in concurrency.local.successors(block) {
            if !behind.put(next as usize) {
                work.push(next);
            }
        }
    }
    behind
}

/// The locks that are certainly held at each access.
fn locks(program: &Program, form: &Form, universe: &Universe, binding: &Binding) -> Vec<Vec<String>> {
    let races = potential_races(program, form);
    let mut locks: Vec<Option<Vec<String>>> = vec![None; universe.accesses.len()];
    let accesses = program.reads.ids().map(Access::Read).chain(program.definitions.ids().map(Access::Write));
    for access in accesses {
        let Some(id) = binding.of(access) else { continue };
        let held = races.locks_held(access).unwrap_or_default();
        match &mut locks[id.index()] {
            // A copy of the same text.
            Some(known) => known.retain(|lock| held.contains(lock)),
            slot => *slot = Some(held),
        }
    }
    locks.into_iter().map(Option::unwrap_or_default).collect()
}

/// The functions that run in threads of their own.
fn threads_made(program: &Program) -> Vec<FunctionId> {
    let mut made = Vec::new();
    let blocks = program.functions.iter().flat_map(|function| function.blocks.iter());
    for instruction in blocks.flat_map(|block| &block.instructions) {
        match instruction {
            Instruction::Fork { threads, .. } => made.extend(threads.iter().map(|thread| thread.function)),
            Instruction::Spawn { thread, .. } => made.push(thread.function),
            _ => {}
        }
    }
    made.sort_unstable();
    made.dedup();
    made
}
