//! Step 2 of [`restored`](super): sets of stops that hold each other up.
//!
//! **Input**: what each thread of an execution has taken. **Output**: each set of stops, at most one for each thread, in which no lock
//! is held twice, and each lock that is waited for is held; each set once.
//!
//! **Algorithm**
//! 1. Leave out stops that wait for a lock that no stop of another thread holds, until there are none.
//! 2. Go back and forth: where a lock is waited for that is not held yet, one of the threads that may hold it does; else the next thread
//!    stops somewhere, or does not.

use crate::reads_from::Refusal;
use cssame_vm::PathId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// That a thread takes a lock, or a semaphore.
#[derive(Clone, Debug)]
pub(super) struct Acquisition {
    /// How many the thread has taken before the body that it does this in.
    pub begin: usize,
    /// The lock; `None` for a semaphore.
    pub wanted: Option<u32>,
    /// The locks that it holds before.
    pub held: SmallVec<[u32; 4]>,
    /// The locks that it has given back in the same body.
    pub freed: SmallVec<[u32; 4]>,
}

/// Where a thread stops: at something that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// How many it has taken before the body.
    pub begin: usize,
    /// How many it has taken in the body before.
    pub inner: usize,
}

/// A stop that is possible.
struct Possible<'a> {
    thread: usize,
    stop: Stop,
    wanted: u32,
    of: &'a Acquisition,
}

/// See the module.
pub(super) struct Stops<'a> {
    /// In the order of threads.
    possible: Vec<Possible<'a>>,
    /// By lock, the stops that hold it.
    holders: FxHashMap<u32, Vec<usize>>,
    /// Threads that stop, or do not.
    decided: FxHashSet<usize>,
    chosen: Vec<usize>,
    held: FxHashSet<u32>,
}

/// What a search for sets tells.
pub(super) enum Found<'s> {
    /// One more thread was decided upon.
    Node,
    /// A set.
    Set(&'s [(PathId, Stop)]),
}

impl<'a> Stops<'a> {
    /// Step 1.
    ///
    /// # Errors
    ///
    /// A thread may give a lock back, before its stop and in the same body, that another one holds at its own stop.
    pub fn new(acquisitions: &'a [Vec<Acquisition>]) -> Result<Stops<'a>, Refusal> {
        let mut possible = Vec::new();
        for (thread, of) in acquisitions.iter().enumerate() {
            for (number, of) in of.iter().enumerate() {
                let stop = Stop { begin: of.begin, inner: number - of.begin };
                possible.extend(of.wanted.map(|wanted| Possible { thread, stop, wanted, of }));
            }
        }
        let mut holders = holders(&possible);
        loop {
            let before = possible.len();
            let is_held_up = |one: &Possible<'_>| may_hold(&possible, &holders, one.wanted, one.thread);
            let kept: Vec<bool> = possible.iter().map(is_held_up).collect();
            let mut kept = kept.into_iter();
            possible.retain(|_| kept.next() == Some(true));
            if possible.len() == before {
                break;
            }
            holders = self::holders(&possible);
        }
        let frees =
            |one: &Possible<'_>| one.of.freed.iter().any(|&freed| may_hold(&possible, &holders, freed, one.thread));
        if possible.iter().any(frees) {
            return Err(Refusal::Synchronisation);
        }
        let (decided, held) = (FxHashSet::default(), FxHashSet::default());
        Ok(Stops { possible, holders, decided, chosen: Vec::new(), held })
    }

    /// Step 2: finds all sets, until `visit` breaks off.
    pub fn each(mut self, visit: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.decide(0, visit)
    }

    /// Decides upon the threads whose stops begin at `next`, and all others.
    fn decide(&mut self, mut next: usize, visit: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        visit(Found::Node)?;
        let open = self.chosen.iter().map(|&one| self.possible[one].wanted).find(|lock| !self.held.contains(lock));
        if let Some(lock) = open {
            for one in self.holders.get(&lock).cloned().unwrap_or_default() {
                self.choose(one, next, visit)?;
            }
            return ControlFlow::Continue(());
        }
        // Each lock that is waited for is held.
        while let Some(first) = self.possible.get(next)
            && self.decided.contains(&first.thread)
        {
            next += 1;
        }
        let Some(&Possible { thread, .. }) = self.possible.get(next) else {
            if self.chosen.is_empty() {
                return ControlFlow::Continue(());
            }
            let stop = |&one: &usize| (PathId(self.possible[one].thread as u32), self.possible[one].stop);
            let set: Vec<(PathId, Stop)> = self.chosen.iter().map(stop).collect();
            return visit(Found::Set(&set));
        };
        let own = next..next + self.possible[next..].iter().take_while(|one| one.thread == thread).count();
        for one in own.clone() {
            self.choose(one, own.end, visit)?;
        }
        self.decided.insert(thread);
        let decided = self.decide(own.end, visit);
        self.decided.remove(&thread);
        decided
    }

    /// Decides upon all others where this stop is one of the set.
    fn choose(
        &mut self,
        one: usize,
        next: usize,
        visit: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Possible { thread, of, .. } = self.possible[one];
        if self.decided.contains(&thread) || of.held.iter().any(|lock| self.held.contains(lock)) {
            return ControlFlow::Continue(());
        }
        self.decided.insert(thread);
        self.held.extend(&of.held);
        self.chosen.push(one);
        let decided = self.decide(next, visit);
        self.chosen.pop();
        of.held.iter().for_each(|lock| {
            self.held.remove(lock);
        });
        self.decided.remove(&thread);
        decided
    }
}

fn holders(possible: &[Possible<'_>]) -> FxHashMap<u32, Vec<usize>> {
    let mut holders: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (number, one) in possible.iter().enumerate() {
        for &lock in &one.of.held {
            holders.entry(lock).or_default().push(number);
        }
    }
    holders
}

/// Whether a stop of another thread may hold a lock.
fn may_hold(possible: &[Possible<'_>], holders: &FxHashMap<u32, Vec<usize>>, lock: u32, thread: usize) -> bool {
    holders.get(&lock).is_some_and(|holders| holders.iter().any(|&holder| possible[holder].thread != thread))
}
