//! The search in the order of preemptions finds what brute force finds that counts preemptions.
//!
//! Brute force goes breadth-first through all pairs of a state and the thread that has moved last, with no reduction, and holds the
//! accesses that the next steps make against each other. `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::explore::{EndlessRequest, Fairness, HuntAnswer, HuntRequest, Subject, endless};
use cssame::ir::{Access, Instruction, Program};
use cssame::model::Model;
use cssame::schedule::{Walk, preemptions};
use cssame::vm::{
    Choice, CodeIndex, Event, Failure, FailureKind, Machine, Move, PathId, Progress, State, Tables, ThreadIndex,
    ThreadName,
};
use std::collections::{BTreeMap, HashMap, VecDeque};
use support::generate::{self, Size};
use support::{first_seed, possible_model, programs};

/// What goes wrong, each with the fewest preemptions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub failures: BTreeMap<(FailureKind, CodeIndex), u32>,
    pub deadlocks: BTreeMap<Vec<(PathId, CodeIndex)>, u32>,
    pub races: BTreeMap<[Access; 2], u32>,
}

impl Found {
    fn within(&self, most: u32) -> Found {
        fn few<K: Ord + Clone>(all: &BTreeMap<K, u32>, most: u32) -> BTreeMap<K, u32> {
            all.iter().filter(|&(_, &count)| count <= most).map(|(key, &count)| (key.clone(), count)).collect()
        }
        Found {
            failures: few(&self.failures, most),
            deadlocks: few(&self.deadlocks, most),
            races: few(&self.races, most),
        }
    }
}

fn note<K: Ord>(all: &mut BTreeMap<K, u32>, key: K, count: u32) {
    let known = all.entry(key).or_insert(count);
    *known = count.min(*known);
}

fn failure_key(machine: &Machine, failure: &Failure) -> (FailureKind, CodeIndex) {
    (failure.kind, machine.place(failure.at))
}

fn deadlock_key(machine: &Machine, state: &State) -> Vec<(PathId, CodeIndex)> {
    let mut key: Vec<_> = state.standing().map(|(path, at)| (path, machine.place(at))).collect();
    key.sort_unstable();
    key
}

type Events = Vec<(ThreadName, CodeIndex, Event)>;

/// The accesses of a step: which, to which cell, and whether atomically.
fn accesses(program: &Program, machine: &Machine, events: &Events) -> Vec<(Access, u32, bool)> {
    let (mut found, mut blocks) = (Vec::new(), 0);
    for &(_, at, event) in events {
        let (access, address) = match event {
            Event::Read { read, address, shared: true, .. } => (Access::Read(read), address),
            Event::Write { definition, address, shared: true, .. } => (Access::Write(definition), address),
            Event::AtomicBegin => {
                blocks += 1;
                continue;
            }
            Event::AtomicEnd => {
                blocks -= 1;
                continue;
            }
            _ => continue,
        };
        let atomic = blocks > 0 || program.symbols[access.symbol(program)].atomic || machine.is_atomic(at);
        found.push((access, address, atomic));
    }
    found
}

/// States that brute force visits at most.
const MOST: usize = 4_000;

/// All that goes wrong; none where there are too many states.
fn brute_force(model: &Model) -> Option<Found> {
    let (program, machine) = (model.program(), model.machine());
    let mut tables = Tables::new();
    let mut found = Found::default();
    let mut known: HashMap<(u128, Option<ThreadIndex>), u32> = HashMap::new();
    let mut queue: VecDeque<(State, Option<ThreadIndex>, u32)> = VecDeque::new();
    queue.push_back((machine.initial(&mut tables), None, 0));
    let mut moves: Vec<Move> = Vec::new();
    while let Some((mut state, last, count)) = queue.pop_front() {
        state.forget_past();
        let last = last.filter(|&last| machine.could_go_on(&state, last));
        let least = known.entry((machine.fingerprint(&state), last)).or_insert(u32::MAX);
        if *least <= count {
            continue;
        }
        *least = count;
        if known.len() > MOST {
            return None;
        }
        if machine.is_finished(&state) {
            continue;
        }
        machine.moves(&state, &mut moves);
        if moves.is_empty() {
            note(&mut found.deadlocks, deadlock_key(machine, &state), count);
        }
        let mut next: Vec<(ThreadIndex, Vec<(Access, u32, bool)>)> = Vec::new();
        for &Move { thread, alternatives } in &moves {
            let cost = count + u32::from(last.is_some_and(|last| last != thread));
            for alternative in 0..alternatives {
                let (mut behind, mut events) = (state.clone(), Events::new());
                let progress = machine.step(&mut behind, &mut tables, Choice { thread, alternative }, &mut events);
                next.push((thread, accesses(program, machine, &events)));
                match progress {
                    Progress::Running if cost == count => queue.push_front((behind, Some(thread), cost)),
                    Progress::Running => queue.push_back((behind, Some(thread), cost)),
                    Progress::Failed(failure) => note(&mut found.failures, failure_key(machine, &failure), cost),
                    Progress::Finished | Progress::Discarded => {}
                }
            }
        }
        for (index, (thread, ours)) in next.iter().enumerate() {
            for (_, theirs) in next[index + 1..].iter().filter(|(other, _)| other != thread) {
                for a in ours {
                    for b in theirs {
                        if a.1 == b.1 && (a.0.is_write() || b.0.is_write()) && !(a.2 && b.2) {
                            note(&mut found.races, [a.0.min(b.0), a.0.max(b.0)], count);
                        }
                    }
                }
            }
        }
    }
    Some(found)
}

fn hunt(model: &Model, preemptions: Option<u32>, samples: u64) -> HuntAnswer {
    let request = HuntRequest { preemptions, samples, ..HuntRequest::default() };
    Subject::from(model).hunt(&request, &Budget::unlimited())
}

/// The same where nothing is known of the program: a thread may be left before each access.
fn hunt_everywhere(model: &Model, preemptions: Option<u32>) -> HuntAnswer {
    let request = HuntRequest { preemptions, samples: 0, ..HuntRequest::default() };
    Subject { form: None, ..Subject::from(model) }.hunt(&request, &Budget::unlimited())
}

/// What an answer holds, as its executions show it.
fn shown(model: &Model, answer: &HuntAnswer) -> Found {
    let machine = model.machine();
    let mut found = Found::default();
    let mut tables = Tables::new();
    let mut replayed = |schedule: &[Choice], count: u32| {
        assert_eq!(preemptions(machine, schedule), count, "{schedule:?}");
        let mut walk = Walk::new(machine, &mut tables, &mut ());
        walk.follow(schedule, &mut ()).expect("the machine allows it");
        (walk.progress(), walk.into_state())
    };
    for (witness, count) in &answer.failures {
        let (progress, _) = replayed(&witness.schedule, *count);
        let Progress::Failed(failure) = progress else { panic!("{progress:?}") };
        assert_eq!(failure_key(machine, &failure), failure_key(machine, &witness.failure));
        note(&mut found.failures, failure_key(machine, &failure), *count);
    }
    for (deadlock, count) in &answer.deadlocks {
        let (progress, state) = replayed(&deadlock.schedule, *count);
        assert!(progress == Progress::Running && machine.is_deadlock(&state));
        note(&mut found.deadlocks, deadlock_key(machine, &state), *count);
    }
    for race in answer.races.iter().flatten() {
        let (_, state) = replayed(&race.schedule, race.preemptions);
        assert!(race.steps.iter().all(|step| machine.alternatives_of(&state, step.thread) > 0));
        note(&mut found.races, race.accesses, race.preemptions);
    }
    found
}

/// Holds searches with each number of preemptions to brute force; `context` is shown where they differ. What there is to find, and how
/// many searches visit fewer states because something is known of the program; none where there are too many states.
pub(crate) fn agrees(model: &Model, context: &str) -> Option<(Found, u64)> {
    let expected = brute_force(model)?;
    let mut fewer = 0;
    for most in [Some(0), Some(1), Some(2), Some(3), None] {
        let answer = hunt(model, most, 0);
        assert!(answer.is_complete || most.is_some() && answer.finished == most, "{most:?} preemptions, {context}");
        let expected = expected.within(most.unwrap_or(u32::MAX));
        assert_eq!(shown(model, &answer), expected, "{most:?} preemptions, {context}");
        if answer.is_complete {
            let request = EndlessRequest { starvation: false, fairness: Fairness::None };
            let without_end = endless(model.program(), model.machine(), request, &Budget::unlimited());
            assert_eq!(answer.all_end, without_end.list.is_empty(), "{context}");
        }
        let everywhere = hunt_everywhere(model, most);
        assert_eq!(shown(model, &everywhere), expected, "everywhere, {most:?} preemptions, {context}");
        fewer += u64::from(answer.statistics.states < everywhere.statistics.states);
    }
    Some((expected, fewer))
}

#[test]
fn each_number_of_preemptions_finds_what_brute_force_finds() {
    let (first, mut checked, mut chooses, mut fewer, mut sizes) = (first_seed(1), 0, 0, 0, [0; 3]);
    for seed in first..first + programs(120) {
        let size = Size::default();
        let texts = [
            generate::program(seed, &size),
            generate::racy(seed, &size),
            generate::locking(seed, &size),
            generate::branching(seed, 3, 3),
            generate::guarded(seed),
            generate::spinning(seed),
        ];
        let Some(model) = possible_model(&texts[seed as usize % texts.len()]) else { continue };
        let blocks = model.program().functions.iter().flat_map(|function| function.blocks.iter());
        if blocks.flat_map(|block| &block.instructions).any(Instruction::may_discard) {
            continue;
        }
        chooses += u64::from(model.machine().may_discard());
        let context = format!("seed {seed}\n{}", texts[seed as usize % texts.len()]);
        let Some((expected, saved)) = agrees(&model, &context) else { continue };
        fewer += saved;
        checked += 1;
        for (size, len) in
            sizes.iter_mut().zip([expected.failures.len(), expected.deadlocks.len(), expected.races.len()])
        {
            *size += len;
        }
    }
    let is_new = support::has_new_seed();
    assert!(is_new || fewer > 40, "fewer states in {fewer} searches");
    assert!(
        is_new || checked > 40 && chooses > 5 && sizes.iter().all(|&size| size > 5),
        "{checked} programs, {chooses} with choices, {sizes:?}"
    );
}

#[test]
fn samples_add_nothing_to_a_search_that_has_ended() {
    for seed in 1..20 {
        let model = possible_model(&generate::locking(seed, &Size::default())).unwrap();
        let [with, without] = [50, 0].map(|samples| shown(&model, &hunt(&model, None, samples)));
        assert_eq!(with, without);
    }
}

#[test]
fn what_samples_have_found_is_known_where_a_bound_stops_the_search() {
    let text = "int x;\ncobegin\nA: { x = 1; }\nB: { if (x == 1) x = 2; }\ncoend\nassert(x != 2);\n";
    let model = possible_model(text).unwrap();
    let limits = Limits { max_states: Some(1), ..Limits::default() };
    let request = HuntRequest { samples: 100, ..HuntRequest::default() };
    let answer = Subject::from(&model).hunt(&request, &Budget::from(limits));
    assert!(answer.bound.is_some() && answer.finished.is_none() && !answer.is_complete);
    assert_eq!(answer.failures.len(), 1);
}

/// Twelve threads that look at what one writes: too many states, and few futures.
#[test]
fn other_strategies_decide_what_takes_too_many_states() {
    let arm = |number: u32| format!("T{number}: {{ int a = x; a = a + y; assert(a >= 0); }}\n");
    let arms: String = (0..12).map(arm).collect();
    let model = possible_model(&format!("int x, y;\ncobegin\nW: {{ x = 1; y = 2; }}\n{arms}coend\n")).unwrap();
    let limits = Limits { max_states: Some(300_000), ..Limits::default() };
    let answer = Subject::from(&model).hunt(&HuntRequest::default(), &Budget::from(limits));
    assert!(!answer.is_complete && answer.bound.is_some());
    assert!(answer.has_all_ends && answer.failures.is_empty() && answer.deadlocks.is_empty());
}
