//! The same question, answered by making every execution of a program separately.
//!
//! The order by fork and join comes from clocks of the whole execution, counts and locks from its events.

use super::*;

/// What one execution has shown so far.
#[derive(Clone, Default)]
struct Diary {
    /// By thread: how many of its operations each thread knows of.
    clocks: BTreeMap<PathId, BTreeMap<PathId, usize>>,
    parents: BTreeMap<PathId, PathId>,
    locks: BTreeMap<PathId, BTreeSet<Cell>>,
    blocks: BTreeMap<PathId, u32>,
    counts: BTreeMap<(PathId, CodeIndex), u32>,
    /// Thread, its number of the operation, access, cell, locks, whether it is atomic.
    done: Vec<(PathId, usize, Access, Cell, BTreeSet<Cell>, bool)>,
    branches: BTreeSet<(PathId, CodeIndex, u32, bool)>,
    waits: BTreeSet<(PathId, CodeIndex, u32, bool)>,
    pairs: BTreeSet<[Access; 2]>,
}

struct Watcher<'a> {
    model: &'a Model,
    diary: &'a mut Diary,
}

impl Watcher<'_> {
    fn operation(&mut self, thread: PathId, at: CodeIndex, access: Access, cell: Cell) {
        let (program, diary) = (self.model.program(), &mut *self.diary);
        let declared = program.symbols[access.symbol(program)].atomic;
        let in_block = diary.blocks.get(&thread).is_some_and(|&depth| depth > 0);
        let atomic = declared || in_block || self.model.machine().is_atomic(at);
        let locks = diary.locks.entry(thread).or_default().clone();
        let clock = diary.clocks.entry(thread).or_default();
        for (other, number, before, place, held, was_atomic) in &diary.done {
            let ordered = *other == thread || clock.get(other).is_some_and(|known| known >= number);
            let conflict = *place == cell && (before.is_write() || access.is_write());
            if conflict && !ordered && !(atomic && *was_atomic) && held.is_disjoint(&locks) {
                let mut pair = [*before, access];
                pair.sort_unstable();
                diary.pairs.insert(pair);
            }
        }
        let number = clock.get(&thread).copied().unwrap_or(0) + 1;
        clock.insert(thread, number);
        diary.done.push((thread, number, access, cell, locks, atomic));
    }

    fn learn(&mut self, thread: PathId, from: PathId) {
        let known = self.diary.clocks.entry(from).or_default().clone();
        let clock = self.diary.clocks.entry(thread).or_default();
        for (other, number) in known {
            let entry = clock.entry(other).or_default();
            *entry = number.max(*entry);
        }
    }

    fn count(&mut self, thread: PathId, at: CodeIndex) -> u32 {
        let count = self.diary.counts.entry((thread, at)).or_default();
        *count += 1;
        *count
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let path = thread.path;
        match event {
            Event::Read { read, cell, shared: true, .. } => self.operation(path, at, Access::Read(read), cell),
            Event::Write { definition, cell, shared: true, .. } => {
                self.operation(path, at, Access::Write(definition), cell);
            }
            Event::Lock { cell, .. } => {
                self.diary.locks.entry(path).or_default().insert(cell);
            }
            Event::Unlock { cell, .. } => {
                self.diary.locks.entry(path).or_default().remove(&cell);
            }
            Event::AtomicBegin => *self.diary.blocks.entry(path).or_default() += 1,
            Event::AtomicEnd => *self.diary.blocks.entry(path).or_default() -= 1,
            Event::Waited { .. } | Event::Acquire { .. } | Event::Leave { .. } | Event::Woken { .. } => {
                let instance = self.count(path, at);
                self.diary.waits.insert((path, at, instance, true));
            }
            Event::Fork { child } => {
                self.learn(child.path, path);
                self.diary.parents.insert(child.path, path);
            }
            Event::Spawn { child } => self.learn(child.path, path),
            Event::Join => {
                let children = self.diary.parents.iter().filter(|(_, parent)| **parent == path);
                let children: Vec<PathId> = children.map(|(&child, _)| child).collect();
                children.into_iter().for_each(|child| self.learn(path, child));
            }
            Event::JoinThread { child } => self.learn(path, child.path),
            _ => {}
        }
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        let instance = self.count(thread.path, at);
        self.diary.branches.insert((thread.path, at, instance, holds));
    }
}

fn deadlock(model: &Model, state: &State, diary: &mut Diary) {
    for thread in state.threads() {
        use cssame_vm::Obstacle::{Barrier, Condition, Event, Notification, Semaphore};
        let obstacle = model.machine().obstacle(state, thread);
        let (Some(Event { .. } | Barrier { .. } | Condition { .. } | Semaphore { .. }) | Some(Notification)) = obstacle
        else {
            continue;
        };
        let key = (state.path(thread), state.position(thread));
        let instance = diary.counts.get(&key).copied().unwrap_or(0) + 1;
        diary.waits.insert((key.0, key.1, instance, false));
    }
}

struct Enumeration<'a> {
    model: &'a Model,
    tables: Tables,
    found: Found,
    executions: usize,
}

impl Enumeration<'_> {
    fn enter(&mut self, diary: &Diary) {
        self.executions += 1;
        let words = Words { model: self.model, tables: &self.tables };
        self.found.outcomes.extend(diary.branches.iter().map(|&one| words.branch(one)));
        self.found.waits.extend(diary.waits.iter().map(|&one| words.wait(one)));
        self.found.pairs.extend(diary.pairs.iter().map(|&one| words.pair(one)));
    }

    fn follow(&mut self, state: &State, diary: &Diary) {
        assert!(self.executions < 200_000, "too many executions");
        let machine = self.model.machine();
        let mut moves = Vec::new();
        machine.moves(state, &mut moves);
        if moves.is_empty() {
            let mut diary = diary.clone();
            deadlock(self.model, state, &mut diary);
            self.enter(&diary);
        }
        for Move { thread, alternatives } in moves {
            for alternative in 0..alternatives {
                let (mut next, mut diary) = (state.clone(), diary.clone());
                let mut watcher = Watcher { model: self.model, diary: &mut diary };
                let choice = Choice { thread, alternative };
                match machine.step(&mut next, &mut self.tables, choice, &mut watcher) {
                    Progress::Running => self.follow(&next, &diary),
                    Progress::Finished | Progress::Failed(_) => self.enter(&diary),
                    Progress::Discarded => {}
                }
            }
        }
    }
}

/// What a schedule shows.
pub fn of_schedule(model: &Model, tables: &Tables, schedule: &[Choice]) -> Found {
    let (mut tables, mut diary) = (tables.clone(), Diary::default());
    let mut watcher = Watcher { model, diary: &mut diary };
    let mut walk = Walk::new(model.machine(), &mut tables, &mut watcher);
    walk.follow(schedule, &mut watcher).expect("it is an execution");
    let state = walk.state().clone();
    if model.machine().is_deadlock(&state) {
        deadlock(model, &state, &mut diary);
    }
    let mut enumeration = Enumeration { model, tables, found: Found::default(), executions: 0 };
    enumeration.enter(&diary);
    enumeration.found
}

/// What all executions show; there must be finitely many.
fn enumerate(text: &str) -> Found {
    let model = model(text);
    let (mut tables, mut diary) = (Tables::new(), Diary::default());
    let state = model.machine().start(&mut tables, &mut Watcher { model: &model, diary: &mut diary });
    let mut enumeration = Enumeration { model: &model, tables, found: Found::default(), executions: 0 };
    if model.machine().is_finished(&state) {
        enumeration.enter(&diary);
    } else {
        enumeration.follow(&state, &diary);
    }
    enumeration.found
}

const PROGRAMS: &[&str] = &[
    "int x, y;\ncobegin\nA: { if (x == 0) { y = 1; } x = 1; }\nB: { if (y == 0) { x = 2; } y = 2; }\ncoend\nprint(x);\n",
    "int x;\nparfor (int i = 0; i + x < 2; i++) { x = i; if (x == 1) { x = 0; } }\nx = 5;\n",
    "int x, y;\ncobegin\nA: { cobegin C: x = 1; D: y = 1; coend if (y == 1) { x = 2; } }\nB: { if (x == 1) { y = 2; } }\ncoend\nx = y;\n",
    "int x; thread t;\nvoid one() { x = 1; }\nvoid two() { x = 2; if (x == 1) { join(t); x = 3; } }
void main() { t = spawn one(); thread u = spawn two(); x = 4; join(u); x = 5; }\n",
    "int x; thread h1, h2;\nvoid late() { x = 7; }
void main() { cobegin\nA: { x = 1; h1 = spawn late(); }\nB: { x = 1; h2 = spawn late(); }\ncoend\njoin(h1); x = 2; join(h2); x = 3; }\n",
    "int x, y; lock L;\ncobegin\nA: { lock(L); x = 1; unlock(L); if (y == 1) { lock(L); y = 3; unlock(L); } }
B: { y = 1; lock(L); if (x == 1) { y = 2; } unlock(L); }\ncoend\n",
    "int x; cond c; lock L;\ncobegin\nA: { lock(L); wait(c, L); x = 1; unlock(L); }
B: { lock(L); if (x == 0) { notify(c); } unlock(L); x = 2; }\ncoend\n",
    "int x;\ncobegin\nA: { wait(); if (x == 1) { x = 3; } }\nB: { x = 1; notify(); x = 2; }\ncoend\n",
    "int x;\ncobegin\nA: { for (int i = 0; i < 2; i++) { if (cas(x, 0, 1)) { x = 0; } } }\nB: { int k = choose(0, 1); atomic { x = k; } }\ncoend\n",
    "int x;\ncobegin\nA: { int v = x; assume(v != 2); if (v == 1) { x = 3; } }\nB: { x = 1; x = 2; }\ncoend\n",
    "int x; sem s = 1;\ncobegin\nA: { P(s); x = 1; if (x == 2) { V(s); } }\nB: { P(s); x = 2; V(s); }\ncoend\n",
    "int x; lock L, M;\ncobegin\nA: { lock(L); lock(M); x = 1; unlock(M); unlock(L); }
B: { lock(M); x = 3; lock(L); x = 2; unlock(L); unlock(M); }\nC: { if (x == 3) { x = 4; } }\ncoend\n",
    "int a[3]; int k;\ncobegin\nA: { a[k] = 1; k = 1; }\nB: { if (a[0] == 1) { a[k] = 2; } else { k = 2; } }\ncoend\n",
    "int x;\nvoid f() { if (x == 0) { x = 1; } }\ncobegin\nA: { f(); f(); }\nB: { f(); }\ncoend\n",
    "int x; barrier b(2);\ncobegin\nA: { x = 1; barrier(b); x = 2; }\nB: { if (x == 1) { barrier(b); } x = 3; }\ncoend\n",
    "int x;\nvoid f() { x = 1; }\nvoid main() { spawn f(); cobegin\nA: { if (x == 1) { x = 2; } }\nB: { x = 0; }\ncoend\nif (x == 2) { x = 3; } }\n",
];

#[test]
fn all_states_show_what_all_executions_show() {
    for text in PROGRAMS {
        assert_eq!(found(text), enumerate(text), "{text}");
    }
}

#[test]
fn one_execution_of_each_future_shows_what_all_show() {
    let mut told = 0;
    for text in PROGRAMS {
        let model = model(text);
        let (operations, tables) = (operations(&model), Tables::new());
        let request = ExecutedRequest { operations: &operations, tables: &tables, max_instance: 8 };
        let answer = executed_by_executions(model.machine(), model.program(), &request, &Budget::unlimited());
        let Some(answer) = answer else { continue };
        told += 1;
        let words = Words { model: &model, tables: &answer.tables };
        assert_eq!(words.all(&answer), enumerate(text), "{text}");
        for outcome in &answer.outcomes {
            let shown = of_schedule(&model, &answer.tables, &outcome.schedule).outcomes;
            let word = words.branch((outcome.thread, outcome.at, outcome.instance, outcome.holds));
            assert!(shown.contains(&word), "{word}\n{text}");
        }
        for pair in &answer.pairs {
            let shown = of_schedule(&model, &answer.tables, &pair.schedule).pairs;
            assert!(shown.contains(&words.pair(pair.accesses)), "{:?}\n{text}", pair.accesses);
        }
    }
    assert!(told >= 7, "{told}");
}
