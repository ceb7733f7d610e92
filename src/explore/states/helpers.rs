//! Threads that work for a search, and live as long as it.
//!
//! **Input**: tasks. **Output**: what was done, in any order.
//!
//! **Algorithm**: a task owns what it changes, and what was done gives it back. What all tasks read, the [`Scene`], is lent by the
//! search, which changes it while there is no task. Whoever waits for something that is not done yet does tasks itself, so with no
//! thread but one that is who does all of them.
//!
//! **Soundness and limits**: a task that panics makes the search panic. Where no thread can be made, there are fewer.

use super::ahead::{Ahead, Scene};
use super::entering::{Entered, write};
use super::frontier::Block;
use super::numbered::NumberWriter;
use super::visited::Share;
use crossbeam_channel::{Receiver, Sender, TryRecvError, unbounded};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::thread::{self, JoinHandle};

/// Threads that share the tasks, at most: there are not many more blocks that one could look at.
const MOST_THREADS: usize = 16;

/// A block of a level, and what was found of its states.
#[derive(Default)]
pub(super) struct Looked {
    pub block: Block,
    pub ahead: Ahead,
}

/// What is to be done; each with a number, by which it is known again.
pub(super) enum Task {
    /// To look for the steps of the states of a block.
    Look(usize, Box<Looked>),
    /// To look for the nodes once more that were not known.
    Find(usize, Box<Looked>),
    /// To write the new states that some blocks have led to, in blocks of so many.
    Write(usize, Vec<Entered>, usize),
    /// To enter those of some new fingerprints that belong to some tables.
    Insert(usize, Share, Arc<Vec<(u128, u32)>>),
}

/// What was done.
pub(super) enum Done {
    Looked(usize, Box<Looked>),
    Written(usize, Vec<NumberWriter>, Vec<Entered>),
    Inserted(usize, Share),
}

/// The threads, and what they are to do.
pub(super) struct Helpers<N> {
    scene: Arc<RwLock<Scene<N>>>,
    tasks: (Sender<Task>, Receiver<Task>),
    done: (Sender<thread::Result<Done>>, Receiver<thread::Result<Done>>),
    threads: Vec<JoinHandle<()>>,
    /// Tasks that are not worth telling a thread of.
    own: VecDeque<Task>,
    /// Whether threads share the tasks that are given now.
    is_shared: bool,
    /// Tasks that are not known to be done.
    open: usize,
}

impl<N: Copy + Send + Sync + 'static> Helpers<N> {
    /// No thread yet.
    pub(super) fn new() -> Helpers<N> {
        Helpers {
            scene: Arc::default(),
            tasks: unbounded(),
            done: unbounded(),
            threads: Vec::new(),
            own: VecDeque::new(),
            is_shared: false,
            open: 0,
        }
    }

    /// From now on that many threads share the tasks, the one that gives them included.
    pub(super) fn share_among(&mut self, count: usize) {
        while self.threads.len() + 1 < count.min(MOST_THREADS) {
            let (scene, tasks, done) = (Arc::clone(&self.scene), self.tasks.1.clone(), self.done.0.clone());
            let help = move || {
                while let Some(task) = wait_for(&tasks) {
                    let result = catch_unwind(AssertUnwindSafe(|| work(task, &scene)));
                    if done.send(result).is_err() {
                        return;
                    }
                }
            };
            let Ok(thread) = thread::Builder::new().spawn(help) else { break };
            self.threads.push(thread);
        }
        self.is_shared = count > 1 && !self.threads.is_empty();
    }

    /// Into how many tasks work of which nothing waits for another part is to be divided.
    pub(super) fn shares(&self) -> usize {
        if self.is_shared { 2 * (self.threads.len() + 1) } else { 1 }
    }

    /// What all tasks read.
    pub(super) fn scene(&self) -> RwLockReadGuard<'_, Scene<N>> {
        self.scene.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives tasks something else to read, and takes back what they have read before. There is no task that reads it.
    pub(super) fn exchange(&mut self, scene: Scene<N>) -> Scene<N> {
        debug_assert_eq!(self.open, 0, "tasks of another scene");
        std::mem::replace(&mut *self.scene.write().unwrap_or_else(PoisonError::into_inner), scene)
    }

    /// Gives a task; [`Helpers::next`] tells when it is done.
    pub(super) fn give(&mut self, task: Task) {
        self.open += 1;
        if !self.is_shared {
            self.own.push_back(task);
        } else if let Err(unsent) = self.tasks.0.send(task) {
            self.own.push_back(unsent.0);
        }
    }

    /// A task that is done; where none is, one that is done here. Nothing if there is none.
    pub(super) fn next(&mut self) -> Option<Done> {
        if self.open == 0 {
            return None;
        }
        self.open -= 1;
        let done = self.done.1.try_recv().ok().or_else(|| {
            let task = self.own.pop_front().or_else(|| self.tasks.1.try_recv().ok());
            match task {
                Some(task) => Some(Ok(work(task, &self.scene))),
                None => wait_for(&self.done.1),
            }
        });
        done.map(|done| done.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

impl<N> Drop for Helpers<N> {
    fn drop(&mut self) {
        // Nobody asks for what is not done.
        self.tasks.1.try_iter().for_each(drop);
        self.tasks = unbounded();
        for thread in self.threads.drain(..) {
            // What panicked was told by its task.
            let _ = thread.join();
        }
    }
}

/// How often a thread that waits lets others go first before it sleeps: to be woken takes longer than most waits.
const YIELDS: usize = 200;

/// Waits for a message; nothing if there will be none.
fn wait_for<T>(from: &Receiver<T>) -> Option<T> {
    for _ in 0..YIELDS {
        match from.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => thread::yield_now(),
        }
    }
    from.recv().ok()
}

/// Does a task.
fn work<N: Copy>(task: Task, scene: &RwLock<Scene<N>>) -> Done {
    let scene = || scene.read().unwrap_or_else(PoisonError::into_inner);
    match task {
        Task::Look(number, mut looked) => {
            looked.ahead.look(&looked.block, &scene());
            Done::Looked(number, looked)
        }
        Task::Find(number, mut looked) => {
            looked.ahead.find_more(&scene().visited);
            Done::Looked(number, looked)
        }
        Task::Write(number, entered, size) => Done::Written(number, write(&entered, size, &scene()), entered),
        Task::Insert(number, mut share, new) => {
            share.insert(&new);
            Done::Inserted(number, share)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::visited::Visited;
    use cssame_vm as vm;

    #[test]
    fn all_tasks_are_done_by_any_number_of_threads() {
        let new: Vec<_> = (0..50_000).map(|number| (vm::hash(&[u64::from(number)]), number)).collect();
        for count in [1, 2, 5] {
            let mut helpers: Helpers<()> = Helpers::new();
            helpers.share_among(count);
            let mut visited = Visited::default();
            for new in new.chunks(10_000) {
                let new = Arc::new(new.to_vec());
                let shares = visited.take_shares(helpers.shares(), &new);
                let given = shares.len();
                shares.into_iter().enumerate().for_each(|(number, share)| {
                    helpers.give(Task::Insert(number, share, Arc::clone(&new)));
                });
                let mut done = Vec::new();
                while let Some(one) = helpers.next() {
                    let Done::Inserted(number, share) = one else { continue };
                    done.push((number, share));
                }
                assert_eq!(done.len(), given);
                done.sort_by_key(|one| one.0);
                done.into_iter().for_each(|(_, share)| visited.give_back(share));
            }
            assert!(new.iter().all(|&(fingerprint, number)| visited.find(fingerprint) == Some(number)));
        }
    }

    #[test]
    fn a_task_that_panics_makes_the_search_panic() {
        for count in [1, 2] {
            let mut helpers: Helpers<()> = Helpers::new();
            helpers.share_among(count);
            // New states of a block that has none.
            helpers.give(Task::Write(0, vec![Entered::of_no_state()], 1));
            assert!(catch_unwind(AssertUnwindSafe(|| helpers.next())).is_err(), "{count} threads");
            assert!(helpers.next().is_none());
        }
    }

    #[test]
    fn tasks_that_nobody_waits_for_are_left() {
        let mut helpers: Helpers<()> = Helpers::new();
        helpers.share_among(3);
        (0..1_000).for_each(|number| helpers.give(Task::Look(number, Box::default())));
        let scene = Arc::clone(&helpers.scene);
        drop(helpers);
        assert_eq!(Arc::strong_count(&scene), 1, "threads that are left");
    }
}
