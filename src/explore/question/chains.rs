//! The actions of the threads of an execution, as hashes.
//!
//! **Input**: facts for each thread, one after the other. **Output**: words that differ between two executions in which some
//! thread has learned different facts, and one hash of everything.
//!
//! **Algorithm**: each thread has a chain: each new fact is hashed together with the previous hash. A thread that ends adds its
//! chain to a sum, so that its slot is free for another one, and the order of ends does not matter.
//!
//! **Soundness and limits**: hashes have 128 bits. Threads are identified by their paths, which are the same in all executions of
//! a search. The words contain the slot of a thread; the hash of everything does not.

use crate::states::End;
use cssame_vm as vm;
use cssame_vm::{CodeIndex, Machine, PathId, ThreadIndex, ThreadName};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Chain {
    path: u32,
    count: u32,
    hash: u128,
}

/// The chains of all threads.
#[derive(Debug, Default)]
pub struct Chains {
    threads: Vec<Chain>,
    /// Of the threads that have ended, in any order.
    ended: u128,
}

impl Clone for Chains {
    fn clone(&self) -> Self {
        let mut copy = Chains::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.threads.clone_from(&source.threads);
        self.ended = source.ended;
    }
}

pub fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

fn whole(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

impl Chain {
    /// What it adds to the hash of all.
    fn total(self) -> u128 {
        let [low, high] = halves(self.hash);
        if self.hash == 0 { 0 } else { vm::hash(&[u64::from(self.path), low, high]) }
    }
}

impl Chains {
    fn thread(&mut self, ThreadName { path, slot }: ThreadName) -> &mut Chain {
        if self.threads.len() <= slot.index() {
            self.threads.resize(slot.index() + 1, Chain::default());
        }
        let chain = &mut self.threads[slot.index()];
        chain.path = path.0;
        chain
    }

    /// A thread learns a fact.
    pub fn learn<const N: usize>(&mut self, thread: ThreadName, fact: [u64; N]) {
        let chain = self.thread(thread);
        let [low, high] = halves(chain.hash);
        let [first, second] = halves(vm::hash(&fact));
        chain.hash = vm::hash(&[low, high, first, second]);
    }

    /// Counts something that a thread does; gives its number, from 1.
    pub fn count(&mut self, thread: ThreadName) -> u32 {
        let chain = self.thread(thread);
        chain.count += 1;
        chain.count
    }

    /// A thread begins in that slot.
    pub fn begin(&mut self, slot: ThreadIndex) {
        if let Some(chain) = self.threads.get_mut(slot.index()) {
            *chain = Chain::default();
        }
    }

    /// A thread ends.
    pub fn end(&mut self, slot: ThreadIndex) {
        if let Some(chain) = self.threads.get_mut(slot.index()) {
            self.ended = self.ended.wrapping_add(std::mem::take(chain).total());
        }
    }

    /// The hash of the chains of all threads.
    pub fn total(&self) -> u128 {
        self.threads.iter().fold(self.ended, |sum, chain| sum.wrapping_add(chain.total()))
    }

    /// Appends what tells two executions apart.
    pub fn encode(&self, words: &mut Vec<u64>) {
        let used = self.threads.iter().rposition(|chain| *chain != Chain::default()).map_or(0, |last| last + 1);
        words.push(used as u64);
        words.extend(halves(self.ended));
        for chain in &self.threads[..used] {
            words.push(u64::from(chain.path) << 32 | u64::from(chain.count));
            words.extend(halves(chain.hash));
        }
    }

    /// Takes back what `encode` has written; gives the words behind it.
    pub fn decode<'a>(&mut self, words: &'a [u64]) -> &'a [u64] {
        self.threads.clear();
        let [used, low, high, rest @ ..] = words else { return &[] };
        self.ended = whole(*low, *high);
        let (threads, rest) = rest.split_at((3 * *used as usize).min(rest.len()));
        self.threads.extend(threads.chunks_exact(3).map(|words| Chain {
            path: (words[0] >> 32) as u32,
            count: words[0] as u32,
            hash: whole(words[1], words[2]),
        }));
        rest
    }
}

/// The hash of an execution that has ended: what its threads have learned, and how it has ended. A failure is another
/// execution than one that goes on after the same facts, and so is one in which other threads stand still, or elsewhere: at another
/// place of the text, for which function has a copy for which call is no matter of the program.
pub fn hash_of_end(
    machine: &Machine,
    chains: &Chains,
    end: End,
    standing: impl Iterator<Item = (PathId, CodeIndex)>,
) -> u128 {
    let mut standing: Vec<(PathId, CodeIndex)> = standing.map(|(path, at)| (path, machine.place(at))).collect();
    let mut words = halves(chains.total()).to_vec();
    match end {
        End::Failed(failure) => words.push((2 + failure.kind as u64) | (u64::from(machine.place(failure.at).0) << 32)),
        End::Deadlock if !standing.is_empty() => {
            words.push(1);
            standing.sort_unstable();
            words.extend(standing.iter().map(|(path, at)| u64::from(path.0) << 32 | u64::from(at.0)));
        }
        End::Finished | End::Deadlock => words.push(0),
    }
    vm::hash(&words)
}
