//! States as numbers of parts that recur.
//!
//! **Input**: states as words, with the states themselves. **Output**: for each state, a list of numbers, one for each of its
//! parts, from which its words can be reconstructed. For each part, data that a search needs repeatedly: its contribution to the
//! fingerprint, and when its thread can move.
//!
//! **Algorithm** (Holzmann, "State compression in SPIN: recursive indexing and compression training runs", 1997): a program has
//! far fewer states of single threads and values of single cells than states. Each of these gets a number when it first occurs.
//! The first number of a list stands for everything outside cells and threads (the *rest*). Then the cells follow, each at the
//! position of its address; then the threads.
//!
//! **Soundness and limits**: exact, since parts are compared word by word. States in the middle of an atomic block, and
//! fingerprints up to symmetry of a program with locks, are not supported: see [`Machine::has_parts`].

use super::code::Code;
use super::encode::{Encoding, pair};
use super::hash::{hash, hash_from, hash_of_cell};
use super::locks;
use super::machine::{Fingerprints, Machine};
use super::observe::Event;
use super::readiness::{CellTest, Readiness};
use super::standing::Standing;
use super::state::{NO_THREAD, State, ThreadIndex, ThreadStatus, Word};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// What is known of a thread that has a number.
#[derive(Clone, Copy, Debug)]
struct ThreadPart {
    /// When it can move.
    readiness: Readiness,
    standing: Option<Standing>,
    /// Whether its next step may come before those of the others, as the caller has said.
    commutes: bool,
    hash: u128,
}

/// What is known of a rest that has a number.
#[derive(Clone, Copy, Debug)]
struct RestPart {
    /// Cells, the unused first one included.
    cells: u32,
    /// Whether some thread is in the middle of an atomic block.
    is_exclusive: bool,
    hash: u128,
}

type Numbered = IndexSet<Box<[u64]>, FxBuildHasher>;

/// The parts of states that were met.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    cells: IndexSet<Word, FxBuildHasher>,
    /// The words of each: the slot, the name, and what is written of a thread.
    threads: Numbered,
    thread_parts: Vec<ThreadPart>,
    /// The words of each: how many stand before the cells, these, and those behind the names of threads.
    rests: Numbered,
    rest_parts: Vec<RestPart>,
    /// Memory of the words of threads and rests.
    bytes: u64,
    words: Vec<u64>,
}

/// Memory that an entry of a set takes beside the words behind it.
const ENTRY: usize = 16 + 8 + 8 + 16;

impl Parts {
    /// Memory that they take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let cells = self.cells.capacity() * (size_of::<Word>() + 16);
        let facts = self.thread_parts.capacity() * size_of::<ThreadPart>();
        self.bytes + (cells + facts + self.rest_parts.capacity() * size_of::<RestPart>()) as u64
    }

    /// Number of cells of a state, the unused first one included: so many numbers stand before those of its threads.
    #[inline]
    #[must_use]
    pub fn cells(&self, numbers: &[u32]) -> usize {
        self.rest_parts[numbers[0] as usize].cells as usize
    }

    /// Whether some thread is in the middle of an atomic block.
    #[inline]
    #[must_use]
    pub fn is_exclusive(&self, numbers: &[u32]) -> bool {
        self.rest_parts[numbers[0] as usize].is_exclusive
    }

    /// Whether the next step of a thread, by its number, may come before those of the others, as the caller has said.
    #[inline]
    #[must_use]
    pub fn commutes(&self, number: u32) -> bool {
        self.thread_parts[number as usize].commutes
    }

    /// The threads of a state that stand so: their slots and numbers.
    pub fn group<'n>(
        &self,
        standing: Standing,
        numbers: &'n [u32],
    ) -> impl Iterator<Item = (usize, u32)> + use<'n, '_> {
        let threads = numbers[self.cells(numbers)..].iter().copied().enumerate();
        threads.filter(move |&(_, number)| self.thread_parts[number as usize].standing == Some(standing))
    }

    /// In how many ways a thread can move; `None` where more decides than is known of the parts.
    #[inline]
    #[must_use]
    pub fn alternatives(&self, numbers: &[u32], slot: usize, number: u32) -> Option<u32> {
        match self.thread_parts[number as usize].readiness {
            Readiness::Fixed(alternatives) => Some(alternatives),
            Readiness::ByCell(address, test) => {
                let value = self.cells[numbers[address as usize] as usize].value;
                Some(u32::from(test.holds(value, ThreadIndex(slot as u16))))
            }
            Readiness::ByEnd(other) => {
                let other = numbers.get(self.cells(numbers) + other.index());
                let standing = other.map(|&other| self.thread_parts[other as usize].standing);
                Some(u32::from(standing.is_none_or(|standing| standing == Some(Standing::Ended))))
            }
            Readiness::ByGroup(standing) => Some(self.group(standing, numbers).count().max(1) as u32),
            Readiness::ByOthers => None,
        }
    }

    /// An event that tells of a write, as it is where the cell has held another value: that of the cell with a number.
    #[must_use]
    pub fn with_old(&self, event: Event, number: impl FnOnce(u32) -> u32) -> Event {
        match event {
            Event::Write { definition, cell, address, value, shared, .. } => {
                let old = self.cells[number(address) as usize].value;
                Event::Write { definition, cell, address, old, value, shared }
            }
            event => event,
        }
    }

    /// Whether a lock, by the number of its cell, is held by that thread for itself.
    #[inline]
    #[must_use]
    pub fn is_held_by(&self, number: u32, slot: usize) -> bool {
        locks::holder(self.cells[number as usize].value) == slot as i64 + 1
    }

    /// The share in the fingerprint of the part at a place of a list.
    #[inline]
    #[must_use]
    pub fn hash_at(&self, place: usize, number: u32, cells: usize) -> u128 {
        if place == 0 {
            self.rest_parts[number as usize].hash
        } else if place < cells {
            hash_of_cell(place, self.cells[number as usize])
        } else {
            self.thread_parts[number as usize].hash
        }
    }

    /// The fingerprint of a state.
    #[must_use]
    pub fn fingerprint(&self, numbers: &[u32]) -> u128 {
        let cells = self.cells(numbers);
        let parts = numbers.iter().enumerate();
        parts.fold(0, |sum: u128, (place, &number)| sum.wrapping_add(self.hash_at(place, number, cells)))
    }

    /// Makes the words of a state again, as [`Machine::encode`] writes them.
    pub fn write_words(&self, numbers: &[u32], out: &mut Encoding) {
        let Encoding { words, ends } = out;
        words.clear();
        ends.clear();
        let rest = &self.rests[numbers[0] as usize];
        let (before, behind) = rest[1..].split_at(rest[0] as usize);
        words.extend_from_slice(before);
        let (cells, threads) = numbers.split_at(self.cells(numbers));
        let word = |number: &u32| self.cells[*number as usize];
        words.extend(cells[1..].iter().map(|number| word(number).value as u64));
        words.extend(
            cells[1..].chunks(2).map(|two| pair(word(&two[0]).writer, two.get(1).map_or(0, |two| word(two).writer))),
        );
        ends.push(words.len() as u32);
        for &number in threads {
            words.extend_from_slice(&self.threads[number as usize][2..]);
            ends.push(words.len() as u32);
        }
        words.extend(threads.iter().map(|&number| self.threads[number as usize][1]));
        words.extend_from_slice(behind);
        ends.push(words.len() as u32);
    }
}

/// The number of some words in a set, and whether they are new there.
fn number(set: &mut Numbered, words: &[u64], bytes: &mut u64) -> (u32, bool) {
    if let Some(number) = set.get_index_of(words) {
        return (number as u32, false);
    }
    *bytes += (size_of_val(words) + ENTRY) as u64;
    (set.insert_full(words.into()).0 as u32, true)
}

impl Machine {
    /// Whether states of this machine can be told by the numbers of their parts.
    #[must_use]
    pub fn has_parts(&self) -> bool {
        // Which thread holds a lock belongs to the thread where threads are taken for one another.
        self.fingerprints == Fingerprints::Exact || !self.layout.has_locks
    }

    /// The addresses of the locks of globals.
    #[must_use]
    pub fn global_locks(&self) -> &[u32] {
        self.layout.global_locks()
    }

    /// Whether some local variable that there is holds a lock.
    pub(super) fn has_local_locks(&self, state: &State) -> bool {
        let mut count = 0;
        self.layout.each_lock(&state.blocks, |_| count += 1);
        count > self.layout.global_locks().len()
    }

    /// The numbers of the parts of a state, whose words are given; those that are new get the next ones. `commutes` says
    /// which threads may go first. What is equal in the state with these words and numbers, which may be none, has the same
    /// numbers.
    pub fn write_numbers(
        &self,
        (state, now): (&State, &Encoding),
        (before, known): (&Encoding, &[u32]),
        parts: &mut Parts,
        out: &mut Vec<u32>,
        commutes: impl Fn(&State, ThreadIndex) -> bool,
    ) {
        out.clear();
        let count = state.threads.len();
        out.push(self.number_of_rest(state, now, parts));
        let has_same_cells = known.first().is_some_and(|_| parts.cells(known) == state.cells.len());
        for (address, &cell) in state.cells.iter().enumerate().skip(1) {
            let old = if has_same_cells { Some(known[address]) } else { None };
            let same = old.filter(|&number| parts.cells[number as usize] == cell);
            out.push(same.unwrap_or_else(|| parts.cells.insert_full(cell).0 as u32));
        }
        let names = &now.words[now.ends[count] as usize..];
        let is_like = has_same_cells && before.ends.len() == now.ends.len() && known.len() == state.cells.len() + count;
        for slot in 0..count {
            let words = thread_words(now, slot);
            if is_like && thread_words(before, slot) == words {
                let same = known[state.cells.len() + slot];
                if parts.threads[same as usize][1] == names[slot] {
                    out.push(same);
                    continue;
                }
            }
            parts.words.clear();
            parts.words.extend([slot as u64, names[slot]]);
            parts.words.extend_from_slice(words);
            let (number, is_new) = number(&mut parts.threads, &parts.words, &mut parts.bytes);
            if is_new {
                let (thread, hash) = (ThreadIndex(slot as u16), self.hash_of_thread_part(state, slot, words));
                let (readiness, commutes) = (self.readiness(state, thread), commutes(state, thread));
                let standing = Standing::of(&state.threads[slot]);
                parts.thread_parts.push(ThreadPart { readiness, standing, commutes, hash });
            }
            out.push(number);
        }
        debug_assert!({
            let mut again = Encoding::default();
            parts.write_words(out, &mut again);
            (&again.words, &again.ends) == (&now.words, &now.ends)
        });
        debug_assert!(state.exclusive != NO_THREAD || self.fingerprint(state) == parts.fingerprint(out));
    }

    fn number_of_rest(&self, state: &State, Encoding { words, ends }: &Encoding, parts: &mut Parts) -> u32 {
        let (end, names) = (self.len_of_rest(state), ends[state.threads.len()] as usize);
        parts.words.clear();
        parts.words.push(end as u64);
        parts.words.extend_from_slice(&words[..end]);
        parts.words.extend_from_slice(&words[names + state.threads.len()..]);
        let (number, is_new) = number(&mut parts.rests, &parts.words, &mut parts.bytes);
        if is_new {
            let hash = match self.fingerprints {
                Fingerprints::Exact => hash(&words[..end]),
                Fingerprints::UpToSymmetry => {
                    self.symmetric_hash_of_rest(state, u32::from(state.exclusive), &mut Vec::new())
                }
            };
            parts.rest_parts.push(RestPart {
                cells: state.cells.len() as u32,
                is_exclusive: state.exclusive != NO_THREAD,
                hash,
            });
        }
        number
    }

    fn hash_of_thread_part(&self, state: &State, slot: usize, words: &[u64]) -> u128 {
        match self.fingerprints {
            Fingerprints::Exact => hash_from(slot as u64, words),
            Fingerprints::UpToSymmetry => self.symmetric_hash_of_thread(state, slot, (false, &[]), &mut Vec::new()),
        }
    }

    /// What decides whether a thread can move; meant for states in which no thread is in the middle of an atomic block.
    pub(super) fn readiness(&self, state: &State, thread: ThreadIndex) -> Readiness {
        let slot = &state.threads[thread.index()];
        let code = self.compiled.code[slot.pc as usize];
        match (slot.status, code) {
            (ThreadStatus::Ready, Code::Synchronise { object, .. }) if self.may_be_gone(state, thread, object) => {
                Readiness::ByOthers
            }
            (ThreadStatus::Reacquiring | ThreadStatus::TimedOut, Code::Synchronise { lock, .. })
                if self.may_be_gone(state, thread, lock) =>
            {
                Readiness::ByOthers
            }
            (ThreadStatus::Ready, Code::Synchronise { kind, object, .. }) => {
                self.readiness_of_operation(state, thread, kind, object)
            }
            (ThreadStatus::Ready, Code::JoinThread { handle, .. }) => {
                self.joined(state, thread, handle).map_or(Readiness::Fixed(1), Readiness::ByEnd)
            }
            (ThreadStatus::WaitingToWrite, _) => Readiness::ByOthers,
            (ThreadStatus::Reacquiring | ThreadStatus::TimedOut, Code::Synchronise { lock, .. }) => {
                self.readiness_by_cell(state, thread, lock, CellTest::Free)
            }
            (ThreadStatus::Ready, code) => Readiness::Fixed(self.ready_alternatives(state, thread, code)),
            (ThreadStatus::WaitingCondition, _) => Readiness::Fixed(self.ways_to_give_up(slot)),
            (ThreadStatus::Diverged, _) => Readiness::Fixed(1),
            _ => Readiness::Fixed(0),
        }
    }
}

/// The words of a thread.
fn thread_words(Encoding { words, ends }: &Encoding, slot: usize) -> &[u64] {
    &words[ends[slot] as usize..ends[slot + 1] as usize]
}
