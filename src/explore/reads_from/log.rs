//! The log of an execution: its operations, the source of each read, and the past of each operation as a set of bits.

use super::operation::{Kind, NONE, Operation, ReaderBody};
use cssame_ir::sync;
use cssame_vm as vm;
use cssame_vm::PathId;
use smallvec::SmallVec;

/// Operations in an order in which each stands behind its past.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub operations: Vec<Operation>,
    /// For each operation the set of its past and itself, as rows of bits.
    pasts: Vec<u64>,
    /// Words of a row.
    stride: usize,
    /// By thread: the last operation.
    last: Vec<u32>,
    /// By thread: the operation that has made it.
    made_by: Vec<u32>,
    /// By thread: the operation that has woken it last.
    woken_by: Vec<u32>,
    /// By cell: its writes, or the arrivals at a barrier, in order.
    writes: Vec<Vec<u32>>,
    /// By object: the ends of bodies that only look, in order.
    looks: Vec<Vec<u32>>,
    /// What each thread has learned up to each operation, where executions of one future are to be known.
    learned: Option<Vec<Learned>>,
}

/// What a thread has learned.
#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    /// The sources of its reads, its choices and verdicts, as a hash; 0 for nothing.
    hash: u128,
    /// How many writes it has done.
    writes: u32,
}

impl Log {
    /// An empty log; `learns` where [`Log::future`] is asked for.
    pub fn new(learns: bool) -> Log {
        Log { learned: learns.then(Vec::new), ..Log::default() }
    }

    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// The last operation of a thread, or what has made the thread; [`NONE`] for the beginning of main.
    fn last_of(&self, thread: PathId) -> u32 {
        let index = thread.0 as usize;
        match self.last.get(index) {
            Some(&last) if last != NONE => last,
            _ => self.made_by.get(index).copied().unwrap_or(NONE),
        }
    }

    /// What comes before the next operation of a thread, and before the end of one that has no other: its last operation, first;
    /// what has woken it; and all that have arrived at the barrier that it stands at.
    pub fn add_last_of(&self, thread: PathId, before: &mut SmallVec<[u32; 2]>) {
        let last = self.last_of(thread);
        before.push(last);
        let Some(operation) = self.operations.get(last as usize) else { return };
        if operation.kind == Kind::Arrive {
            let first = before.len();
            before.extend(self.arrivals(operation.cell, operation.alternative).filter(|&other| other != last));
            before[first..].sort_unstable_by_key(|&arrival| self.operations[arrival as usize].thread);
            return;
        }
        let waker = self.woken_by.get(thread.0 as usize).copied();
        before.extend(waker.filter(|&waker| waker != NONE && waker > last));
    }

    /// Those who arrive at a barrier in that round of theirs.
    pub fn arrivals(&self, barrier: u32, round: u32) -> impl Iterator<Item = u32> {
        let all = self.writes_of(barrier).iter().copied();
        all.filter(move |&arrival| self.operations[arrival as usize].alternative == round)
    }

    /// The hash of an operation on an object, whatever it comes behind and leads to.
    pub fn hash_anywhere(&self, operation: &Operation) -> u128 {
        self.hash_of_words(operation, 0, (operation.before_thread(), NONE))
    }

    /// The hash of an operation that would read from another source.
    pub fn hash_with(&self, operation: &Operation, source: u32) -> u128 {
        self.hash_of_words(operation, operation.alternative, (&operation.before, source))
    }

    fn hash_of_words(&self, operation: &Operation, alternative: u32, (before, source): (&[u32], u32)) -> u128 {
        let mut words: SmallVec<[u64; 16]> = SmallVec::new();
        let place = operation.kind.number() << 32 | u64::from(operation.cell);
        words.extend([place, u64::from(operation.thread.0), u64::from(alternative)]);
        for &before in before.iter().chain([&source]) {
            let hash = self.hash_of(before);
            words.extend([hash as u64, (hash >> 64) as u64]);
        }
        vm::hash(&words)
    }

    /// The hash of an operation with its past; 0 for the initial value.
    pub fn hash_of(&self, operation: u32) -> u128 {
        self.operations.get(operation as usize).map_or(0, |operation| operation.hash)
    }

    /// Adds an operation whose `before` and `source` are known; computes its hash and its past.
    pub fn push(&mut self, mut operation: Operation) {
        let index = self.operations.len();
        if index >= self.stride * 64 {
            self.widen();
        }
        operation.hash = self.hash_with(&operation, operation.source);
        let row = index * self.stride;
        self.pasts.resize(row + self.stride, 0);
        let (earlier, own) = self.pasts.split_at_mut(row);
        own.fill(0);
        for &before in operation.before.iter().chain([&operation.source]).filter(|&&before| before != NONE) {
            let start = before as usize * self.stride;
            own.iter_mut().zip(&earlier[start..start + self.stride]).for_each(|(own, other)| *own |= other);
        }
        own[index / 64] |= 1 << (index % 64);
        self.learn(&operation);
        *slot(&mut self.last, operation.thread) = index as u32;
        if operation.writes || operation.kind == Kind::Arrive {
            add_to(&mut self.writes, operation.cell, index as u32);
        }
        if operation.ends_to_look() {
            add_to(&mut self.looks, operation.cell, index as u32);
        }
        let made = if operation.synchronises() { &mut self.woken_by } else { &mut self.made_by };
        for &thread in &operation.makes {
            *slot(made, thread) = index as u32;
        }
        self.operations.push(operation);
    }

    /// Notes what the thread of the next operation knows behind it.
    fn learn(&mut self, operation: &Operation) {
        let Some(learned) = &self.learned else { return };
        let before = operation.before.first().copied().filter(|&before| self.is_of(before, operation.thread));
        let mut now = before.map_or_else(Learned::default, |before| learned[before as usize]);
        let fact = match operation.kind {
            Kind::Read | Kind::Atomic => Some(match self.operations.get(operation.source as usize) {
                Some(source) => [u64::from(source.thread.0), u64::from(learned[operation.source as usize].writes)],
                None => [u64::MAX, 0],
            }),
            Kind::Choose => Some([u64::MAX - 1, u64::from(operation.alternative)]),
            Kind::Synchronise(by) if by.has_verdict() => Some([u64::MAX - 2, u64::from(operation.alternative)]),
            _ => None,
        };
        if let Some([first, second]) = fact {
            now.hash = vm::hash(&[now.hash as u64, (now.hash >> 64) as u64, first, second]);
        }
        // The last operation may turn out to write; nobody reads from it before that.
        now.writes += u32::from(matches!(operation.kind, Kind::Write | Kind::Atomic));
        if let Some(learned) = &mut self.learned {
            learned.push(now);
        }
    }

    /// Whether it notes what threads learn.
    pub fn learns(&self) -> bool {
        self.learned.is_some()
    }

    /// Which time it would be that a thread arrives at a barrier, from 1.
    pub fn next_round(&self, thread: PathId, barrier: u32) -> u32 {
        let own = |&&arrival: &&u32| self.operations[arrival as usize].thread == thread;
        1 + self.writes_of(barrier).iter().filter(own).count() as u32
    }

    /// What all threads have learned; 0 where that is not noted.
    pub fn future(&self) -> u128 {
        let Some(learned) = &self.learned else { return 0 };
        let mut sum: u128 = 0;
        for (path, &last) in self.last.iter().enumerate().filter(|&(_, &last)| last != NONE) {
            let Learned { hash, .. } = learned[last as usize];
            if hash != 0 {
                sum = sum.wrapping_add(vm::hash(&[path as u64, hash as u64, (hash >> 64) as u64]));
            }
        }
        sum
    }

    fn is_of(&self, operation: u32, thread: PathId) -> bool {
        self.operations.get(operation as usize).is_some_and(|each| each.thread == thread)
    }

    /// The forks of a thread that no join has waited for.
    pub fn open_forks(&self, thread: PathId) -> impl Iterator<Item = &Operation> {
        let own = move |&index: &u32| self.operations.get(index as usize).is_some_and(|each| each.thread == thread);
        let first = Some(self.last_of(thread)).filter(own);
        let earlier = move |&index: &u32| {
            let before = self.operations[index as usize].before.first().copied();
            before.filter(own)
        };
        std::iter::successors(first, earlier)
            .map(|index| &self.operations[index as usize])
            .take_while(|operation| operation.kind != Kind::Join)
            .filter(|operation| operation.kind == Kind::Fork)
    }

    /// The last operation, an atomic expression, turns out to write.
    pub fn last_writes(&mut self) {
        let index = self.operations.len() as u32;
        let Some(last) = self.operations.last_mut() else { return };
        if !std::mem::replace(&mut last.writes, true) {
            add_to(&mut self.writes, last.cell, index - 1);
        }
    }

    /// The operation that begins the body that an operation ends, which only looks.
    pub fn begin_of_look(&self, end: u32) -> u32 {
        let mut index = end;
        while let operation = &self.operations[index as usize]
            && !operation.begins_to_look()
        {
            index = operation.before[0];
        }
        index
    }

    /// Adds to what comes before an operation that writes an object, and reads it from a source, the ends of the bodies that have looked
    /// there meanwhile, in an order that theirs has no influence on; says how many these are.
    pub fn add_looks(&self, object: u32, source: u32, before: &mut SmallVec<[u32; 2]>) -> u32 {
        let first = before.len();
        let all = self.looks.get(object as usize).map_or(&[][..], Vec::as_slice);
        let is_later = |look: &u32| source == NONE || *look > source;
        before.extend(
            all.iter()
                .rev()
                .copied()
                .take_while(is_later)
                .filter(|&look| self.operations[look as usize].source == source),
        );
        before[first..].sort_unstable_by_key(|&look| (self.operations[look as usize].thread, look));
        (before.len() - first) as u32
    }

    /// Adds to what comes before an operation that lowers a semaphore the raise without which it could not be done; says how many these
    /// are. `left` is what the semaphore holds behind it.
    pub fn add_raise(&self, raises: u32, left: i64, before: &mut SmallVec<[u32; 2]>) -> u32 {
        let raises = self.writes_of(raises);
        // The first so many may lower it that it begins with: so `left` of the raises are not needed yet.
        let needed = usize::try_from(left).ok().and_then(|left| raises.len().checked_sub(left + 1));
        before.extend(needed.map(|place| raises[place]));
        u32::from(needed.is_some())
    }

    /// Whether an operation comes behind what a body of readers reads under: behind the writer that takes the lock next.
    pub fn is_behind_next_writer(&self, body: ReaderBody, operation: usize) -> bool {
        let next = |&&write: &&u32| self.operations[write as usize].source == body.source;
        self.writes_of(body.lock).iter().find(next).is_some_and(|&next| self.is_past(next as usize, operation))
    }

    /// The writes of a cell, in order.
    pub fn writes_of(&self, cell: u32) -> &[u32] {
        self.writes.get(cell as usize).map_or(&[], Vec::as_slice)
    }

    /// Forgets all operations from an index on.
    pub fn truncate(&mut self, length: usize) {
        while self.operations.len() > length {
            let Some(operation) = self.operations.pop() else { return };
            if operation.writes || operation.kind == Kind::Arrive {
                self.writes[operation.cell as usize].pop();
            }
            if operation.ends_to_look() {
                self.looks[operation.cell as usize].pop();
            }
            if operation.synchronises() {
                operation.makes.iter().for_each(|&thread| *slot(&mut self.woken_by, thread) = NONE);
            }
            // What has woken a thread waits again for its next operation.
            let is_waker = |&&waker: &&u32| {
                let waker = self.operations.get(waker as usize);
                waker.is_some_and(|waker| waker.synchronises() && waker.makes.contains(&operation.thread))
            };
            if let Some(&waker) = operation.before.get(1).filter(is_waker) {
                *slot(&mut self.woken_by, operation.thread) = waker;
            }
            let own = operation.before.first().copied().unwrap_or(NONE);
            *slot(&mut self.last, operation.thread) = if self.is_of(own, operation.thread) { own } else { NONE };
        }
        if let Some(learned) = &mut self.learned {
            learned.truncate(length);
        }
        self.pasts.truncate(length * self.stride);
    }

    /// Memory that it takes.
    pub fn bytes(&self) -> usize {
        let lists = self.writes.iter().chain(&self.looks);
        let writes: usize = lists.map(|of| of.capacity() * size_of::<u32>() + size_of::<Vec<u32>>()).sum();
        let threads = (self.last.capacity() + self.made_by.capacity() + self.woken_by.capacity()) * size_of::<u32>();
        let learned = self.learned.as_ref().map_or(0, |learned| learned.capacity() * size_of::<Learned>());
        self.operations.capacity() * size_of::<Operation>()
            + self.pasts.capacity() * size_of::<u64>()
            + writes
            + threads
            + learned
    }

    /// Whether `earlier` is `later` or in its past.
    pub fn is_past(&self, earlier: usize, later: usize) -> bool {
        self.pasts[later * self.stride + earlier / 64] >> (earlier % 64) & 1 != 0
    }

    /// Words of a past.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Whether the object of an operation lets a thread do it right behind another operation on the object, or its group, as far
    /// as operations that were logged tell.
    pub fn lets_through(&self, operation: &Operation, behind: u32) -> bool {
        let Kind::Synchronise(by) = operation.kind else { return true };
        // Another thread could lower the semaphore there, and what raises it comes before that.
        if by == sync::Kind::Acquire {
            return true;
        }
        let earlier = |&index: &u32| Some(self.operations[index as usize].source).filter(|&source| source != NONE);
        let mut behind = std::iter::successors(Some(behind).filter(|&behind| behind != NONE), earlier);
        let last = behind.find(|&index| self.operations[index as usize].place == operation.place);
        last.is_none_or(|last| vm::lets_through(by, self.operations[last as usize].value))
    }

    /// The past of an operation, itself included.
    pub fn past(&self, operation: usize) -> &[u64] {
        &self.pasts[operation * self.stride..(operation + 1) * self.stride]
    }

    fn widen(&mut self) {
        let (old, new) = (self.stride, (self.stride * 2).max(1));
        let mut pasts = vec![0; self.operations.len() * new];
        for row in 0..self.operations.len() {
            pasts[row * new..row * new + old].copy_from_slice(&self.pasts[row * old..(row + 1) * old]);
        }
        (self.pasts, self.stride) = (pasts, new);
    }
}

fn add_to(lists: &mut Vec<Vec<u32>>, cell: u32, operation: u32) {
    let cell = cell as usize;
    if lists.len() <= cell {
        lists.resize(cell + 1, Vec::new());
    }
    lists[cell].push(operation);
}

fn slot(list: &mut Vec<u32>, thread: PathId) -> &mut u32 {
    let index = thread.0 as usize;
    if list.len() <= index {
        list.resize(index + 1, NONE);
    }
    &mut list[index]
}
