//! Schedules for people: fewer switches, and otherwise the same execution.
//!
//! Random programs are run at random and explored; each schedule is arranged and done again, and what every thread reads, from
//! which instance of a write, what it prints and how the execution ends are compared by code of this file.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, by_states, with_fewer_switches};
use cssame::schedule::{ExecutionStatus, Random, Scripted, fewer_switches, run};
use cssame::vm::{self, Choice, CodeIndex, Event, Machine, Observer, Tables, ThreadIndex, ThreadName};
use std::collections::{BTreeMap, HashMap};
use support::generate::{self, Size};
use support::{model, possible_model};

/// What an execution is, by names of threads.
#[derive(Debug, PartialEq, Default)]
struct Seen {
    /// By thread: the reads, each with its value and the write, by thread and number, that it reads from.
    reads: BTreeMap<String, Vec<(u32, i64, Option<(String, u32)>)>>,
    outputs: BTreeMap<String, Vec<String>>,
    end: String,
}

#[derive(Default)]
struct Events(Vec<(ThreadIndex, Event)>);

impl Observer for Events {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let thread = thread.slot;
        self.0.push((thread, event));
    }
}

/// Does steps; gives what was seen, the threads that moved, and by step what was read.
fn perform(machine: &Machine, steps: &[Choice]) -> (Seen, Vec<String>, Vec<Vec<(u32, u32)>>) {
    let (mut tables, mut events) = (Tables::new(), Events::default());
    let mut state = machine.start(&mut tables, &mut events);
    let mut names: HashMap<u16, String> = HashMap::from([(0, "main".to_owned())]);
    let (mut seen, mut moved, mut terms) = (Seen::default(), Vec::new(), Vec::new());
    let mut writers: HashMap<u32, (String, u32)> = HashMap::new();
    let mut counts: HashMap<String, u32> = HashMap::new();
    let mut progress = vm::Progress::Running;
    for next in steps.iter().map(Some).chain([None]) {
        let mut read_now = Vec::new();
        for (thread, event) in events.0.drain(..) {
            if let Event::Fork { child: ThreadName { slot: child, path } }
            | Event::Spawn { child: ThreadName { slot: child, path } } = event
            {
                names.insert(child.0, machine.path_name(&tables, path));
            }
            let name = names[&thread.0].clone();
            match event {
                Event::Read { read, address, value, writer, .. } => {
                    read_now.extend(writer.map(|definition| (read.0, definition.0)));
                    let of = writers.get(&address).cloned();
                    seen.reads.entry(name).or_default().push((read.0, value, of));
                }
                Event::Write { address, shared: true, .. } => {
                    let count = counts.entry(name.clone()).or_default();
                    *count += 1;
                    writers.insert(address, (name, *count));
                }
                Event::Allocate { address, size, .. } => {
                    for cell in address..address + size {
                        writers.remove(&cell);
                    }
                }
                _ => {}
            }
        }
        terms.push(read_now);
        let Some(&choice) = next else { break };
        assert!(choice.alternative < machine.alternatives(&state, choice.thread), "a step cannot be done");
        moved.push(machine.path_name(&tables, state.path(choice.thread)));
        progress = machine.step(&mut state, &mut tables, choice, &mut events);
    }
    for (path, output) in machine.outputs(&state, &tables) {
        let lines = tables.lines(output).into_iter().map(str::to_owned).collect();
        seen.outputs.insert(machine.path_name(&tables, path), lines);
    }
    seen.end = match progress {
        vm::Progress::Failed(failure) => format!("{:?} at {:?}", failure.kind, failure.at),
        other => format!("{other:?}, deadlock {}", machine.is_deadlock(&state)),
    };
    (seen, moved, terms)
}

fn switches(moved: &[String]) -> usize {
    moved.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[test]
fn a_schedule_with_fewer_switches_is_the_same_execution() {
    let (mut before, mut after, mut arranged, mut runs) = (0, 0, 0, 0);
    for seed in 1..1_500 {
        let size = Size { threads: 2 + (seed % 3) as u32, operations: 5, globals: 3, structured: seed % 2 == 0 };
        let text = generate::program(seed, &size);
        let Some(model) = possible_model(&text) else { continue };
        let machine = model.machine();
        for random in 0..3 {
            let execution = run(machine, &mut Random::new(seed * 7 + random), 500, &mut ());
            if execution.status == ExecutionStatus::Discarded {
                continue;
            }
            runs += 1;
            let (seen, moved, _) = perform(machine, &execution.steps);
            before += switches(&moved);
            let Some(found) = fewer_switches(machine, &execution.steps) else {
                after += switches(&moved);
                continue;
            };
            arranged += 1;
            let (again, moved_again, _) = perform(machine, &found.steps);
            assert_eq!(again, seen, "seed {seed}\n{text}");
            assert!(switches(&moved_again) < switches(&moved), "seed {seed}\n{text}");
            after += switches(&moved_again);
            let mut places = found.places.clone();
            for (step, &place) in places.iter().enumerate() {
                assert_eq!(moved_again[place], moved[step], "seed {seed}\n{text}");
            }
            places.sort_unstable();
            assert_eq!(places, (0..execution.steps.len()).collect::<Vec<_>>());
            let replayed = run(machine, &mut Scripted::new(&found.steps), 500, &mut ());
            assert_eq!(replayed.status.word(), execution.status.word().replace("step-limit", "stopped"));
        }
    }
    println!("{runs} executions, {arranged} arranged: {before} switches before, {after} after");
    assert!(runs > 2_000 && after * 10 < before * 9, "{runs} runs, {before} before, {after} after");
}

/// A term is read at the step that is named, also behind the arrangement.
#[test]
fn terms_are_read_where_they_are_said_to_be() {
    let mut terms = 0;
    for seed in 1..400 {
        let size = Size { threads: 3, operations: 4, globals: 3, structured: seed % 2 == 0 };
        let text = generate::program(seed, &size);
        let Some(model) = possible_model(&text) else { continue };
        let machine = model.machine();
        let limits = Limits { max_states: Some(50_000), ..Limits::default() };
        let mut answer = by_states(machine, &Query::default(), &Budget::from(limits));
        let lengths: Vec<usize> = answer.terms.iter().map(|term| term.schedule.as_ref().unwrap().len()).collect();
        with_fewer_switches(machine, &mut answer);
        for (term, length) in answer.terms.iter().zip(lengths) {
            terms += 1;
            let schedule = term.schedule.as_ref().unwrap();
            assert_eq!(schedule.len(), length);
            let (_, _, read) = perform(machine, schedule);
            // What main reads before its first step stands first here, and last there.
            let at = if term.step == schedule.len() { 0 } else { term.step + 1 };
            assert!(read[at].contains(&(term.read.0, term.definition.0)), "seed {seed} {term:?}\n{text}");
        }
    }
    assert!(terms > 2_000, "{terms}");
}

/// Two threads that take turns for no reason.
#[test]
fn threads_that_do_not_meet_run_one_after_the_other() {
    let model =
        model("int x, y;\ncobegin\n A: { x = 1; x = 2; x = 3; }\n B: { y = 1; y = 2; y = 3; }\ncoend\nprint(x, y);\n");
    let machine = model.machine();
    let execution = run(machine, &mut cssame::schedule::RoundRobin::new(), 100, &mut ());
    let found = fewer_switches(machine, &execution.steps);
    let steps = found.map_or(execution.steps, |found| found.steps);
    let (_, moved, _) = perform(machine, &steps);
    assert!(switches(&moved) <= 3, "{moved:?}");
}
