//! Orders that are known by hand, and all orders of programs for which all executions are made one by one.

use super::*;
use cssame_budget::Limits;
use cssame_model::{Model, Options};
use cssame_schedule::Walk;
use cssame_vm::{Event, Move, Observer, Progress, State, ThreadName};
use std::collections::{BTreeMap, BTreeSet};

fn model(text: &str) -> Model {
    Model::from_text("test.csm", text, &Options::default()).expect("it compiles")
}

type Key = (PathId, CodeIndex, u32);

/// What one execution has done.
#[derive(Clone, Debug, Default)]
struct Diary {
    counts: BTreeMap<(PathId, Access), u32>,
    places: BTreeMap<(PathId, CodeIndex), u32>,
    steps: Vec<OrderStep>,
    /// Branches, with how many operations came before.
    branches: Vec<(Key, usize)>,
    /// Ends of waits, with how many operations came before.
    waits: Vec<(Key, usize)>,
}

impl Diary {
    fn access(&mut self, thread: PathId, access: Access) {
        let count = self.counts.entry((thread, access)).or_default();
        *count += 1;
        self.steps.push(OrderStep { thread, access, instance: *count });
    }

    fn key(&mut self, thread: PathId, at: CodeIndex) -> (Key, usize) {
        let count = self.places.entry((thread, at)).or_default();
        *count += 1;
        ((thread, at, *count), self.steps.len())
    }
}

impl Observer for Diary {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        match event {
            Event::Read { read, shared: true, .. } => self.access(thread.path, Access::Read(read)),
            Event::Write { definition, shared: true, .. } => self.access(thread.path, Access::Write(definition)),
            Event::Woken { .. } | Event::Waited { .. } | Event::Acquire { .. } | Event::Leave { .. } => {
                let key = self.key(thread.path, at);
                self.waits.push(key);
            }
            _ => {}
        }
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, _: bool) {
        let key = self.key(thread.path, at);
        self.branches.push(key);
    }
}

fn follow(model: &Model, tables: &mut Tables, state: &State, diary: &Diary, all: &mut Vec<Diary>) {
    assert!(all.len() < 100_000, "too many executions");
    let mut moves = Vec::new();
    model.machine().moves(state, &mut moves);
    if moves.is_empty() {
        all.push(diary.clone());
    }
    for Move { thread, alternatives } in moves {
        for alternative in 0..alternatives {
            let (mut next, mut diary) = (state.clone(), diary.clone());
            match model.machine().step(&mut next, tables, Choice { thread, alternative }, &mut diary) {
                Progress::Running => follow(model, tables, &next, &diary, all),
                Progress::Finished | Progress::Failed(_) => all.push(diary),
                Progress::Discarded => {}
            }
        }
    }
}

/// All executions, with the names of their threads.
fn executions(model: &Model) -> (Tables, Vec<Diary>) {
    let (mut tables, mut diary, mut all) = (Tables::new(), Diary::default(), Vec::new());
    let state = model.machine().start(&mut tables, &mut diary);
    follow(model, &mut tables, &state, &diary, &mut all);
    (tables, all)
}

/// A program with its executions, and words for operations and places.
struct Setting {
    model: Model,
    tables: Tables,
    all: Vec<Diary>,
}

impl Setting {
    fn new(text: &str) -> Setting {
        let model = model(text);
        let (tables, all) = executions(&model);
        Setting { model, tables, all }
    }

    fn step_words(&self, step: OrderStep) -> String {
        let program = self.model.program();
        let line = self.model.sources().position(step.access.span(program)).line;
        let thread = self.model.machine().path_name(&self.tables, step.thread);
        let name = program.texts.get(step.access.name(program));
        format!("{thread}:{line} {} {name} {}", step.access.word(), step.instance)
    }

    /// The operation with these words.
    fn step(&self, words: &str) -> OrderStep {
        let mut steps = self.all.iter().flat_map(|diary| &diary.steps);
        *steps.find(|step| self.step_words(**step) == words).expect(words)
    }

    fn key(&self, line: usize, of: fn(&Diary) -> &Vec<(Key, usize)>) -> (PathId, CodeIndex, u32) {
        let mut keys = self.all.iter().flat_map(of).map(|key| key.0);
        let is_at = |at| self.model.sources().position(self.model.machine().span(at)).line as usize == line;
        keys.find(|key| is_at(key.1)).expect("a place")
    }

    fn ask(&self, request: &OrderRequest, budget: &Budget<'_>) -> OrderVerdict {
        order(self.model.machine(), self.model.program(), request, &self.tables, budget).verdict
    }

    /// Whether the operations with these words can happen in an order before the target.
    fn can(&self, members: &[&str], places: &[usize], target: Target) -> bool {
        let members = members.iter().map(|words| self.step(words)).collect();
        let request = OrderRequest { members, order: places.to_vec(), target, others: Others::AfterTarget };
        let verdict = self.ask(&request, &Budget::unlimited());
        assert!(!matches!(verdict, OrderVerdict::Undecided(_)));
        matches!(verdict, OrderVerdict::Possible(_))
    }
}

const FIGURE_3: &str =
    "int x = -1, y = 0;\ncobegin\nT1: {\nint n = x + y;\nif (n < 0) { } else { }\nprint(y);\n}\nT2: {
x = -10;\ny = 2;\nprint(x);\n}\ncoend\n";

const FIGURE_13: &str = "int x = -1, y = 0; lock a;\ncobegin\nT1: {\nlock(a);\nint n = x + y;\nunlock(a);\nwait();
if (n < 0) { } else { }\nprint(y);\n}\nT2: {\nlock(a);\nx = -10;\ny = 2;\nunlock(a);\nnotifyAll();\nprint(x);\n}\ncoend\n";

fn branch((thread, at, instance): Key) -> Target {
    Target::Branch { thread, at, instance }
}

#[test]
fn figure_3_has_six_orders_before_its_branch() {
    let setting = Setting::new(FIGURE_3);
    let members = ["T1:4 read x 1", "T1:4 read y 1", "T2:9 write x 1", "T2:10 write y 1"];
    let target = branch(setting.key(5, |diary| &diary.branches));
    let possible = |places: &[usize]| setting.can(&members, places, target);
    // T1 reads x, then y; T2 may come before, between and after.
    for places in [&[0, 1][..], &[0, 2, 1], &[0, 2, 3, 1], &[2, 0, 1], &[2, 0, 3, 1], &[2, 3, 0, 1]] {
        assert!(possible(places), "{places:?}");
    }
    for places in [&[][..], &[0], &[1, 0], &[3, 2, 0, 1], &[0, 3, 1], &[7]] {
        assert!(!possible(places), "{places:?}");
    }
}

#[test]
fn the_locks_of_figure_13_leave_two_orders() {
    let setting = Setting::new(FIGURE_13);
    let members = ["T1:5 read x 1", "T1:5 read y 1", "T2:13 write x 1", "T2:14 write y 1"];
    let target = branch(setting.key(8, |diary| &diary.branches));
    // T1 waits before the notification, whichever block is first.
    assert!(setting.can(&members, &[0, 1, 2, 3], target) && setting.can(&members, &[2, 3, 0, 1], target));
    for places in [&[0, 1][..], &[0, 1, 2], &[0, 2, 1], &[2, 0, 1, 3]] {
        assert!(!setting.can(&members, places, target), "{places:?}");
    }
    let (thread, at, instance) = setting.key(7, |diary| &diary.waits);
    let (begins, ends) = (Target::WaitBegins { thread, at, instance }, Target::WaitEnds { thread, at, instance });
    for (places, can_begin, can_end) in
        [(&[0, 1][..], true, false), (&[0, 1, 2, 3], true, true), (&[2, 0, 3, 1], false, false)]
    {
        assert_eq!(setting.can(&members, places, begins), can_begin, "{places:?}");
        assert_eq!(setting.can(&members, places, ends), can_end, "{places:?}");
    }
}

#[test]
fn a_wait_for_an_event_begins_where_the_thread_stands_before_it() {
    let text = "int x; event e;\ncobegin\nA: {\nx = 1;\nwait(e);\n}\nB: {\nx = 2;\nset(e);\nx = 3;\n}\ncoend\n";
    let setting = Setting::new(text);
    let members = ["A:4 write x 1", "B:8 write x 1", "B:10 write x 1"];
    let (thread, at, instance) = setting.key(5, |diary| &diary.waits);
    let (begins, ends) = (Target::WaitBegins { thread, at, instance }, Target::WaitEnds { thread, at, instance });
    assert!(setting.can(&members, &[0], begins) && !setting.can(&members, &[0], ends));
    assert!(setting.can(&members, &[1, 2, 0], begins) && setting.can(&members, &[0, 1, 2], ends));
    // Nothing comes between the write and standing before the wait.
    assert!(!setting.can(&members, &[0, 1], begins));
}

#[test]
fn later_instances_are_told_apart() {
    let text = "int x;\ncobegin\nA: { for (int i = 0; i < 3; i++) {\nif (x == 1) { } } }\nB: {\nx = 1;\n}\ncoend\n";
    let setting = Setting::new(text);
    let (thread, at, _) = setting.key(4, |diary| &diary.branches);
    let members = ["A:4 read x 1", "A:4 read x 2", "A:4 read x 3", "B:6 write x 1"];
    let can = |places: &[usize], instance| setting.can(&members, places, Target::Branch { thread, at, instance });
    assert!(can(&[0, 3, 1], 2) && can(&[0, 1, 2], 3) && can(&[3, 0, 1, 2], 3));
    assert!(!can(&[0, 1], 1) && !can(&[0], 2) && !can(&[0, 3, 1], 3));
}

#[test]
fn an_execution_that_is_discarded_has_no_order() {
    let text = "int x;\ncobegin\nA: {\nint v = x; if (v == 0) { }\nassume(v == 1);\n}\nB: {\nx = 1;\n}\ncoend\n";
    let setting = Setting::new(text);
    let target = branch(setting.key(4, |diary| &diary.branches));
    let members = ["A:4 read x 1", "B:8 write x 1"];
    assert!(setting.can(&members, &[1, 0], target) && !setting.can(&members, &[0], target));
}

#[test]
fn an_execution_that_never_ends_has_an_order() {
    let text = "int x;\ncobegin\nA: { assume(x < 5); while (true) { if (x == 1) { } } }\nB: { x = 1; }\ncoend\n";
    let model = model(text);
    let operations = crate::classes::Operations::new(model.program(), &model.form().concurrency);
    let request = crate::executed::ExecutedRequest { operations: &operations, tables: &Tables::new(), max_instance: 2 };
    let known = crate::executed::executed(model.machine(), model.program(), &request, &Budget::unlimited());
    let one = known.outcomes.iter().find(|one| one.holds).expect("an outcome");
    let (thread, at) = (one.thread, one.at);
    let write = model.program().definitions.entries().map(|(definition, _)| Access::Write(definition));
    let access = write.into_iter().find(|one| !one.is_initial(model.program())).expect("a write");
    let path = (0..9).map(PathId).find(|&path| model.machine().path_name(&known.tables, path) == "B").expect("B");
    let members = vec![OrderStep { thread: path, access, instance: 1 }];
    let target = Target::Branch { thread, at, instance: 2 };
    let request = OrderRequest { members, order: vec![0], target, others: Others::AfterTarget };
    let verdict = order(model.machine(), model.program(), &request, &known.tables, &Budget::unlimited()).verdict;
    assert!(matches!(verdict, OrderVerdict::Possible(_)));
}

#[test]
fn a_bound_leaves_it_open() {
    let setting = Setting::new(FIGURE_3);
    let members = ["T1:4 read x 1", "T2:10 write y 1"].map(|words| setting.step(words)).to_vec();
    let target = branch(setting.key(5, |diary| &diary.branches));
    let request = OrderRequest { members, order: vec![1, 0], target, others: Others::AfterTarget };
    let budget = Budget::from(Limits { max_states: Some(2), ..Limits::default() });
    assert_eq!(setting.ask(&request, &budget), OrderVerdict::Undecided(Bound::States));
    assert!(matches!(setting.ask(&request, &Budget::unlimited()), OrderVerdict::Possible(_)));
}

/// All sequences of different numbers below a bound.
fn sequences(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut next = 0;
    while next < all.len() {
        let more = (0..count).filter(|place| !all[next].contains(place));
        let longer: Vec<Vec<usize>> = more.map(|place| [&all[next][..], &[place]].concat()).collect();
        all.extend(longer);
        next += 1;
    }
    all
}

/// The members of an execution before a target, in order.
fn before(diary: &Diary, end: usize, members: &[OrderStep]) -> Vec<usize> {
    diary.steps[..end].iter().filter_map(|step| members.iter().position(|member| member == step)).collect()
}

/// Compares all orders of some members before a target with those of all executions.
fn compare(setting: &Setting, members: &[OrderStep], target: Target) {
    let of = |diary: &Diary| {
        let lists = if matches!(target, Target::Branch { .. }) { &diary.branches } else { &diary.waits };
        let found = lists.iter().find(|(key, _)| *key == target.parts());
        found.map(|&(_, end)| before(diary, end, members))
    };
    let seen: BTreeSet<Vec<usize>> = setting.all.iter().filter_map(of).collect();
    for places in sequences(members.len()) {
        for others in [Others::AfterTarget, Others::AfterOrder] {
            let wanted = match others {
                Others::AfterTarget => seen.contains(&places),
                Others::AfterOrder => seen.iter().any(|one| one.starts_with(&places)),
            };
            let (members, order) = (members.to_vec(), places.clone());
            let request = OrderRequest { members, order, target, others };
            let verdict = setting.ask(&request, &Budget::unlimited());
            assert_eq!(matches!(verdict, OrderVerdict::Possible(_)), wanted, "{places:?} {others:?} {target:?}");
            let OrderVerdict::Possible(schedule) = verdict else { continue };
            let (mut tables, mut diary) = (setting.tables.clone(), Diary::default());
            let mut walk = Walk::new(setting.model.machine(), &mut tables, &mut diary);
            walk.follow(&schedule, &mut diary).expect("it is an execution");
            assert!(setting.all.iter().any(|one| one.steps == diary.steps), "it is not a whole one");
            assert!(of(&diary).is_some_and(|one| one.starts_with(&places)));
        }
    }
}

const PROGRAMS: &[&str] = &[
    FIGURE_3,
    FIGURE_13,
    "int x, y;\ncobegin\nA: { if (x == 0) { y = 1; } x = 1; }\nB: { if (y == 0) { x = 2; } y = 2; }\ncoend\n",
    "int x;\ncobegin\nA: { for (int i = 0; i < 2; i++) { if (cas(x, 0, 1)) { x = 0; } } }\nB: { atomic { x = x + 1; } }\ncoend\n",
    "int x; thread t;\nvoid one() { x = 1; }\nvoid two() { if (x == 1) { join(t); x = 3; } }
void main() { t = spawn one(); thread u = spawn two(); x = 4; join(u); }\n",
    "int x; sem s = 1;\ncobegin\nA: { P(s); x = 1; if (x == 2) { V(s); } }\nB: { P(s); x = 2; V(s); }\ncoend\n",
    "int x; cond c; lock L;\ncobegin\nA: { lock(L); wait(c, L); x = 1; unlock(L); }
B: { lock(L); if (x == 0) { notify(c); } unlock(L); x = 2; }\ncoend\n",
    "int x;\ncobegin\nA: { int v = x; assume(v != 2); if (v == 1) { x = 3; } }\nB: { x = 1; x = 2; }\ncoend\n",
    "int a[2];\nparfor (int i = 0; i < 2; i++) { a[i] = 1; if (a[1 - i] == 1) { a[0] = 2; } }\n",
];

#[test]
fn all_orders_are_those_of_all_executions() {
    for text in PROGRAMS {
        let setting = Setting::new(text);
        let mut steps: Vec<OrderStep> = Vec::new();
        let (mut branches, mut waits) = (BTreeSet::new(), BTreeSet::new());
        for diary in &setting.all {
            for step in &diary.steps {
                if !steps.contains(step) {
                    steps.push(*step);
                }
            }
            branches.extend(diary.branches.iter().map(|key| key.0));
            waits.extend(diary.waits.iter().map(|key| key.0));
        }
        let ends = waits.iter().map(|&(thread, at, instance)| Target::WaitEnds { thread, at, instance });
        for target in branches.iter().map(|&key| branch(key)).chain(ends) {
            // The first and the last members, and every second one.
            let every_second: Vec<OrderStep> = steps.iter().step_by(2).take(4).copied().collect();
            for members in [&steps[..steps.len().min(3)], &steps[steps.len().saturating_sub(4)..], &every_second] {
                compare(&setting, members, target);
            }
        }
    }
}
