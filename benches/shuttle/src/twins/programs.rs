//! Four programs of `benches/real` in Rust, each right and with the bugs of its two twins there.
//!
//! The file is a module of two others, which say what `sync` is: that of shuttle, or that of loom.

use super::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::sync::atomic::{AtomicBool, AtomicUsize, fence};
use super::sync::{Condvar, Mutex, MutexGuard, spawn, yield_now};
use crate::Bug;
use std::array::from_fn;
use std::sync::Arc;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with the lock")
}

fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).expect("nobody panics with the lock")
}

type Arm = Box<dyn FnOnce() + Send>;

/// Runs each arm in a thread of its own, `main` beside them, and waits for all.
fn together(arms: Vec<Arm>, main: impl FnOnce()) {
    let threads: Vec<_> = arms.into_iter().map(|arm| spawn(arm)).collect();
    main();
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
}

// The pool of connections.

const NOBODY: usize = usize::MAX;

struct Connection {
    open: AtomicBool,
    owner: AtomicUsize,
    queries: AtomicUsize,
}

impl Connection {
    fn connect(&self) {
        assert!(!self.open.load(Relaxed), "opened twice");
        self.open.store(true, Relaxed);
    }
    fn close(&self) {
        assert!(self.open.load(Relaxed), "closed twice");
        assert!(self.owner.load(Relaxed) == NOBODY, "closed while somebody uses it");
        self.open.store(false, Relaxed);
    }
    fn query(&self, client: usize) {
        assert!(self.owner.load(Relaxed) == client, "a connection has two users");
        assert!(self.open.load(Relaxed), "a query on a closed connection");
        self.queries.store(self.queries.load(Relaxed) + 1, Relaxed);
    }
}

#[derive(Default)]
struct Connections {
    idle: Vec<usize>,
    taken: [bool; 2],
    open: usize,
}

struct ConnectionPool {
    bug: Bug,
    state: Mutex<Connections>,
    freed: Condvar,
    connections: [Connection; 2],
}

impl ConnectionPool {
    fn acquire(&self, client: usize) -> usize {
        let mut state = lock(&self.state);
        while state.idle.is_empty() && state.open == self.connections.len() {
            state = wait(&self.freed, state);
            if self.bug == Bug::B {
                break;
            }
        }
        let mine = state.idle.pop().unwrap_or_else(|| {
            let vacant = state.taken.iter().position(|&taken| !taken);
            let vacant = vacant.expect("more connections than the pool may open");
            state.taken[vacant] = true;
            state.open += 1;
            self.connections[vacant].connect();
            vacant
        });
        self.connections[mine].owner.store(client, Relaxed);
        mine
    }
    fn release(&self, connection: usize, is_broken: bool) {
        let mut state = lock(&self.state);
        self.connections[connection].owner.store(NOBODY, Relaxed);
        if is_broken {
            self.connections[connection].close();
            state.taken[connection] = false;
            state.open -= 1;
        } else {
            state.idle.push(connection);
        }
        self.freed.notify_one();
    }
    fn evict(&self) {
        let mut state = lock(&self.state);
        let Some(&victim) = state.idle.first() else { return };
        if self.bug != Bug::A {
            state.idle.remove(0);
        }
        drop(state);
        self.connections[victim].close();
        let mut state = lock(&self.state);
        if self.bug == Bug::A {
            state.idle.retain(|&connection| connection != victim);
        }
        state.taken[victim] = false;
        state.open -= 1;
        self.freed.notify_one();
    }
}

pub fn connection_pool(bug: Bug, rounds: usize) {
    let connection =
        |_| Connection { open: AtomicBool::new(false), owner: AtomicUsize::new(NOBODY), queries: AtomicUsize::new(0) };
    let pool = Arc::new(ConnectionPool {
        bug,
        state: Mutex::new(Connections::default()),
        freed: Condvar::new(),
        connections: from_fn(connection),
    });
    let client = |client: usize| -> Arm {
        let pool = Arc::clone(&pool);
        Box::new(move || {
            for _ in 0..rounds {
                let connection = pool.acquire(client);
                pool.connections[connection].query(client);
                pool.release(connection, client == 2);
            }
        })
    };
    let evictor = Arc::clone(&pool);
    let evict: Arm = Box::new(move || (0..rounds).for_each(|_| evictor.evict()));
    together(vec![client(0), client(1), client(2), evict], || {});
    let state = lock(&pool.state);
    assert!(state.idle.len() == state.open, "a connection leaked");
    state.idle.iter().for_each(|&connection| pool.connections[connection].close());
    let answered: usize = pool.connections.iter().map(|connection| connection.queries.load(Relaxed)).sum();
    assert!(answered == 3 * rounds, "a query was lost");
}

// The bounded ring.

struct Semaphore {
    count: Mutex<usize>,
    positive: Condvar,
}

impl Semaphore {
    fn new(count: usize) -> Semaphore {
        Semaphore { count: Mutex::new(count), positive: Condvar::new() }
    }
    fn lower(&self) {
        let mut count = lock(&self.count);
        while *count == 0 {
            count = wait(&self.positive, count);
        }
        *count -= 1;
    }
    fn raise(&self) {
        *lock(&self.count) += 1;
        self.positive.notify_one();
    }
}

struct Ring {
    bug: Bug,
    sequence: [AtomicUsize; 2],
    data: [AtomicUsize; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
    room: Semaphore,
    filled: Semaphore,
}

impl Ring {
    /// A ticket whose cell is ready, which its sequence number says by being `ahead` of the ticket.
    fn ticket(&self, end: &AtomicUsize, ahead: usize) -> usize {
        loop {
            let ticket = end.load(Relaxed);
            let ready = self.sequence[ticket % self.sequence.len()].load(Acquire);
            if ready == ticket + ahead && end.compare_exchange(ticket, ticket + 1, Relaxed, Relaxed).is_ok() {
                return ticket;
            }
            yield_now();
        }
    }
    fn push(&self, item: usize) {
        self.room.lower();
        let ticket = if self.bug == Bug::B { self.tail.fetch_add(1, Relaxed) } else { self.ticket(&self.tail, 0) };
        let cell = ticket % self.data.len();
        if self.bug == Bug::A {
            self.sequence[cell].store(ticket + 1, Release);
            self.data[cell].store(item, Relaxed);
        } else {
            self.data[cell].store(item, Relaxed);
            self.sequence[cell].store(ticket + 1, Release);
        }
        self.filled.raise();
    }
    fn pop(&self) -> usize {
        self.filled.lower();
        let ticket = self.ticket(&self.head, 1);
        let cell = ticket % self.data.len();
        let item = self.data[cell].load(Relaxed);
        self.data[cell].store(0, Relaxed);
        self.sequence[cell].store(ticket + self.data.len(), Release);
        self.room.raise();
        item
    }
}

pub fn bounded_ring(bug: Bug, rounds: usize) {
    let ring = Arc::new(Ring {
        bug,
        sequence: from_fn(AtomicUsize::new),
        data: from_fn(|_| AtomicUsize::new(0)),
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        room: Semaphore::new(2),
        filled: Semaphore::new(0),
    });
    let delivered: Arc<[AtomicUsize; 4]> = Arc::new(from_fn(|_| AtomicUsize::new(0)));
    let producer = |producer: usize| -> Arm {
        let ring = Arc::clone(&ring);
        Box::new(move || (0..2 * rounds).for_each(|k| ring.push(producer * 2 + k % 2 + 1)))
    };
    let consumer = || -> Arm {
        let (ring, delivered) = (Arc::clone(&ring), Arc::clone(&delivered));
        Box::new(move || {
            for _ in 0..2 * rounds {
                let item = ring.pop();
                assert!(item > 0, "an item that nobody has put in");
                assert!(delivered[item - 1].fetch_add(1, Relaxed) < rounds, "an item was delivered twice");
            }
        })
    };
    together(vec![producer(0), producer(1), consumer(), consumer()], || {});
    for times in delivered.iter() {
        assert!(times.load(Relaxed) == rounds, "an item was delivered too often or not at all");
    }
}

// The deque of Chase and Lev, with the fences of Lê, Pop, Cohen and Zappa Nardelli.

struct Deque {
    bug: Bug,
    top: AtomicUsize,
    bottom: AtomicUsize,
    tasks: [AtomicUsize; 4],
}

impl Deque {
    fn new(bug: Bug) -> Deque {
        // From 1, so that nothing is below 0.
        let (top, bottom) = (AtomicUsize::new(1), AtomicUsize::new(1));
        Deque { bug, top, bottom, tasks: from_fn(|_| AtomicUsize::new(0)) }
    }
    fn push(&self, task: usize) {
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(Acquire);
        assert!(bottom - top < self.tasks.len(), "the deque is full");
        self.tasks[bottom % self.tasks.len()].store(task, Relaxed);
        // Also what `take` stores into `bottom` later is behind the fence, so a thief that reads it sees the task.
        fence(Release);
        self.bottom.store(bottom + 1, Relaxed);
    }
    fn take(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        fence(SeqCst);
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(top, Relaxed);
            return None;
        }
        let task = self.tasks[bottom % self.tasks.len()].load(Relaxed);
        if top < bottom {
            return Some(task);
        }
        let mine = if self.bug == Bug::A {
            self.top.store(top + 1, Relaxed);
            true
        } else {
            self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok()
        };
        self.bottom.store(top + 1, Relaxed);
        mine.then_some(task)
    }
    /// A task, or whether there was none.
    fn steal(&self) -> Result<usize, bool> {
        let (top, bottom);
        if self.bug == Bug::B {
            bottom = self.bottom.load(Acquire);
            fence(SeqCst);
            top = self.top.load(Acquire);
        } else {
            top = self.top.load(Acquire);
            fence(SeqCst);
            bottom = self.bottom.load(Acquire);
        }
        if top >= bottom {
            return Err(true);
        }
        let task = self.tasks[top % self.tasks.len()].load(Relaxed);
        self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).map(|_| task).map_err(|_| false)
    }
}

pub fn work_stealing(bug: Bug, rounds: usize) {
    let deques = Arc::new([Deque::new(bug), Deque::new(bug)]);
    let runs: Arc<[AtomicUsize; 4]> = Arc::new(from_fn(|_| AtomicUsize::new(0)));
    let perform = move |runs: &[AtomicUsize; 4], task: usize| {
        assert!(runs[task].fetch_add(1, AcqRel) < rounds, "a task was done twice");
    };
    let worker = |me: usize| -> Arm {
        let (deques, runs) = (Arc::clone(&deques), Arc::clone(&runs));
        Box::new(move || {
            for _ in 0..rounds {
                (0..2).for_each(|task| deques[me].push(me * 2 + task));
                while let Some(task) = deques[me].take() {
                    perform(&runs, task);
                }
            }
        })
    };
    let thief = || -> Arm {
        let (deques, runs) = (Arc::clone(&deques), Arc::clone(&runs));
        Box::new(move || {
            for _ in 0..rounds {
                let first = deques[0].steal();
                let stolen = if first == Err(true) { deques[1].steal() } else { first };
                if let Ok(task) = stolen {
                    perform(&runs, task);
                }
            }
        })
    };
    together(vec![worker(0), worker(1), thief(), thief()], || {});
    for times in runs.iter() {
        assert!(times.load(Relaxed) == rounds, "a task was not done");
    }
}

// The pool of threads.

#[derive(Default)]
struct Jobs {
    queue: Vec<usize>,
    workers: usize,
    accepted: usize,
    finished: usize,
}

struct ThreadPool {
    bug: Bug,
    state: Mutex<Jobs>,
    stopping: AtomicBool,
    filled: Condvar,
    emptied: Condvar,
    left: Condvar,
}

impl ThreadPool {
    fn stopping(&self) -> bool {
        self.stopping.load(SeqCst)
    }
    fn submit(&self, job: usize) {
        if self.bug == Bug::B && self.stopping() {
            return;
        }
        let mut state = lock(&self.state);
        while state.queue.len() == 2 && !self.stopping() {
            state = wait(&self.emptied, state);
        }
        if self.bug != Bug::B && self.stopping() {
            return;
        }
        assert!(state.queue.len() < 2, "the queue is full");
        state.queue.push(job);
        state.accepted += 1;
        self.filled.notify_one();
    }
    fn take(&self) -> Option<usize> {
        let mut state = lock(&self.state);
        while state.queue.is_empty() && !self.stopping() {
            state = wait(&self.filled, state);
        }
        let job = (!state.queue.is_empty()).then(|| state.queue.remove(0));
        if job.is_some() {
            self.emptied.notify_one();
        }
        job
    }
    fn work(&self) {
        while self.take().is_some() {
            lock(&self.state).finished += 1;
        }
        let mut state = lock(&self.state);
        assert!(state.queue.is_empty(), "a worker leaves while jobs are queued");
        state.workers -= 1;
        if state.workers == 0 {
            self.left.notify_all();
        }
    }
    fn stop(&self) {
        self.stopping.store(true, SeqCst);
        self.filled.notify_all();
        self.emptied.notify_all();
    }
    fn shut_down(&self) {
        if self.bug == Bug::A {
            self.stop();
        }
        let mut state = lock(&self.state);
        if self.bug != Bug::A {
            self.stop();
        }
        while state.workers > 0 {
            state = wait(&self.left, state);
        }
        assert!(state.queue.is_empty(), "a job was left in the queue");
    }
}

/// The main thread is the operator: loom knows five threads at most.
pub fn thread_pool(bug: Bug, rounds: usize) {
    let pool = Arc::new(ThreadPool {
        bug,
        state: Mutex::new(Jobs { workers: 2, ..Jobs::default() }),
        stopping: AtomicBool::new(false),
        filled: Condvar::new(),
        emptied: Condvar::new(),
        left: Condvar::new(),
    });
    let worker = || -> Arm {
        let pool = Arc::clone(&pool);
        Box::new(move || pool.work())
    };
    let client = |client: usize| -> Arm {
        let pool = Arc::clone(&pool);
        Box::new(move || (0..rounds).for_each(|round| pool.submit(client * 10 + round)))
    };
    together(vec![worker(), worker(), client(0), client(1)], || pool.shut_down());
    let state = lock(&pool.state);
    assert!(state.accepted == state.finished, "a job was accepted and not done");
}
