//! One execution, step by step after a list of threads: what it covers.

use super::accesses::Accesses;
use super::activations::{Activations, MethodPairs, all_pairs};
use super::code::Op;
use super::compile;
use super::coverage::{all_visible, first_state, with_program};
use super::graph::key;
use super::local::{Machine, Note};
use super::patterns::{Access, Event, Instance, covered};
use super::report::path_text;
use super::state::{Condition, State};
use super::step::{Move, Progress};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A step to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub thread: String,
    /// The operation as a schedule names it, where it comes from one.
    pub op: Option<String>,
    /// Which of the possibilities, from 0, where there are several.
    pub alternative: Option<usize>,
}

/// What an execution did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// `ok`, `assert`, `deadlock` …; `discarded`, or `going` where the list ends first.
    pub status: String,
    pub covered: BTreeSet<Instance>,
    /// Covered pairs of methods.
    pub pairs: MethodPairs,
    pub all_pairs: MethodPairs,
    /// The accesses: thread, place, `r`, `w` or `rw`.
    pub trace: Vec<(String, String, &'static str)>,
    /// The places among them that are visible.
    pub visible: BTreeSet<String>,
}

/// Steps of these threads, separated by blanks; `T1:2` takes the third possibility.
pub fn steps(list: &str) -> Vec<Wanted> {
    let step = |text: &str| match text.rsplit_once(':') {
        Some((thread, alternative)) => {
            Wanted { thread: thread.to_owned(), op: None, alternative: alternative.parse().ok() }
        }
        None => Wanted { thread: text.to_owned(), ..Wanted::default() },
    };
    list.split_whitespace().map(step).collect()
}

/// Does the steps. The error says which one cannot be made.
///
/// A step of a schedule that is local work alone has none here: what it prints or decides belongs to the next step. Nor
/// have the later ones of a parfor, whose threads start together; what such a thread does first counts from there on.
///
/// With `visible`, as for schedules, other reads and writes are no steps, and neither is the end of a thread.
pub fn replay(source: &str, visible: Option<&BTreeSet<Access>>, schedule: &[Wanted]) -> Result<Replayed, String> {
    with_program(source, |program, file| {
        let code = compile::compile(program, file, &BTreeMap::new())?;
        let accesses = Accesses::new(&code);
        let mut machine = Machine::new(&code, all_visible(&code), u32::MAX, false);
        machine.journal = Some(Vec::new());
        let mut state = first_state(&mut machine);
        let (mut activations, mut trace, mut status): (Activations, Vec<Event>, _) = Default::default();
        let mut replayed = Replayed { all_pairs: all_pairs(&code), ..Replayed::default() };
        settle(&mut machine, &mut state, visible);
        drain(&mut machine, &accesses, &mut activations, &mut trace);
        // By thread: those of its last parfor that the schedule has not begun yet.
        let mut later: BTreeMap<usize, VecDeque<usize>> = BTreeMap::new();
        for (at, wanted) in schedule.iter().enumerate() {
            let is_it = |thread: &super::state::Thread| path_text(&machine, thread.path) == wanted.thread;
            let Some(thread) = state.threads.iter().position(is_it) else {
                return Err(format!("step {}: there is no thread {}", at + 1, wanted.thread));
            };
            let mut moves: Vec<Move> = Vec::new();
            machine.moves(&state, &mut moves);
            moves.retain(|next| next.thread == thread);
            let op = &code.ops[state.threads[thread].pc as usize];
            let is_fork = matches!(op, Op::Fork(_) | Op::ForkLoop(_) | Op::Spawn { .. });
            let first_later = state.threads.len() + 1;
            let is_parfor = matches!(op, Op::ForkLoop(_));
            let local = wanted.op.as_deref().is_some_and(is_local);
            if local && (moves.is_empty() || moves.len() > 1 && wanted.alternative.is_none())
                || wanted.op.as_deref() == Some("fork") && !is_fork
            {
                let child = later.get_mut(&thread).filter(|_| !local).and_then(VecDeque::pop_front);
                if local || child.is_some() {
                    activations.step(child.unwrap_or(thread));
                }
                continue;
            }
            let Some(&next) = moves.get(wanted.alternative.unwrap_or(0)) else {
                return Err(format!("step {}: {} cannot move", at + 1, wanted.thread));
            };
            activations.step(thread);
            let mut progress = machine.step(&mut state, next);
            // An atomic block is one step of a schedule, with all that it signals.
            while visible.is_some() && progress == Progress::Going && state.exclusive.is_some() {
                progress = machine.step(&mut state, Move { thread, choice: 0 });
            }
            match progress {
                Progress::Going => settle(&mut machine, &mut state, visible),
                Progress::Ended(failed) => status = failed.word().to_owned(),
                Progress::Discarded => status = "discarded".to_owned(),
            }
            if is_parfor && wanted.op.is_some() {
                let children: VecDeque<usize> = (first_later..state.threads.len()).collect();
                children.iter().for_each(|&child| activations.hold(child));
                later.insert(thread, children);
            }
            drain(&mut machine, &accesses, &mut activations, &mut trace);
            if !status.is_empty() {
                break;
            }
        }
        if status.is_empty() {
            let mut moves = Vec::new();
            machine.moves(&state, &mut moves);
            let ended = state.threads.iter().all(|thread| thread.condition == Condition::Ended);
            let kind = if ended { "ok" } else { "deadlock" };
            status = if moves.is_empty() { kind } else { "going" }.to_owned();
        }
        for event in &trace {
            let place = |access: Option<u32>| access.map(|access| accesses.list[access as usize].place.clone());
            let (kind, place) = match (place(event.read), place(event.write)) {
                (Some(place), None) => ("r", place),
                (None, Some(place)) => ("w", place),
                (place, _) => ("rw", place.unwrap_or_default()),
            };
            let is_visible = |access: u32| visible.is_none_or(|all| all.contains(&accesses.list[access as usize]));
            if event.read.into_iter().chain(event.write).any(is_visible) {
                replayed.visible.insert(place.clone());
            }
            replayed.trace.push((path_text(&machine, state.threads[event.thread].path), place, kind));
        }
        replayed.pairs = activations.pairs(&code);
        replayed.covered = covered(&trace).iter().map(|(pattern, steps)| accesses.instance(*pattern, steps)).collect();
        Ok(Replayed { status, ..replayed })
    })
}

/// The pairs of methods that executions cover which are not discarded. Two executions that have come to one state, with the same
/// open calls and the same pairs, go on as one. Nothing where there are more than `most` of such.
pub fn pairs_by_executions(
    source: &str,
    visible: &BTreeSet<Access>,
    most: usize,
) -> Result<Option<MethodPairs>, String> {
    with_program(source, |program, file| {
        let code = compile::compile(program, file, &BTreeMap::new())?;
        let accesses = Accesses::new(&code);
        let mut machine = Machine::new(&code, all_visible(&code), u32::MAX, false);
        machine.journal = Some(Vec::new());
        let (mut state, mut activations) = (first_state(&mut machine), Activations::default());
        settle(&mut machine, &mut state, Some(visible));
        drain(&mut machine, &accesses, &mut activations, &mut Vec::new());
        let (mut open, mut pairs, mut known) = (vec![(state, activations)], MethodPairs::new(), BTreeSet::new());
        while let Some((state, activations)) = open.pop() {
            let mut moves = Vec::new();
            machine.moves(&state, &mut moves);
            let mut ends = vec![];
            ends.extend(moves.is_empty().then(|| activations.clone()));
            for next in moves {
                let (mut after, mut activations) = (state.clone(), activations.clone());
                activations.step(next.thread);
                let progress = machine.step(&mut after, next);
                if matches!(progress, Progress::Going) {
                    settle(&mut machine, &mut after, Some(visible));
                }
                drain(&mut machine, &accesses, &mut activations, &mut Vec::new());
                match progress {
                    Progress::Going => {
                        after.steps = 0;
                        if known.insert((key(&after), activations.signature(&code))) {
                            open.push((after, activations));
                        }
                    }
                    Progress::Ended(_) => ends.push(activations),
                    Progress::Discarded => {}
                }
            }
            machine.trail.clear();
            pairs.extend(ends.iter().flat_map(|end| end.pairs(&code)));
            if known.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(pairs))
    })
}

/// Makes the accesses that are no steps, and ends threads that have nothing left to print: that is no step of a schedule.
fn settle(machine: &mut Machine<'_>, state: &mut State, visible: Option<&BTreeSet<Access>>) {
    let Some(visible) = visible else { return };
    for thread in 0..state.threads.len() {
        loop {
            let this = &state.threads[thread];
            let is_step = |name: u32, write: bool| {
                visible.contains(&Access { place: machine.code.names.text(name).to_owned(), write })
            };
            let waits = match machine.code.ops[this.pc as usize] {
                Op::Load { name, .. } => is_step(name, false),
                Op::Store { name, .. } => is_step(name, true),
                Op::Atomic { name, .. } => is_step(name, false) || is_step(name, true),
                Op::End => this.ahead != this.printed,
                _ => true,
            };
            if waits || this.condition != Condition::Ready || state.exclusive.is_some() {
                break;
            }
            let (printed, ahead) = (this.printed, this.ahead);
            machine.step(state, Move { thread, choice: 0 });
            // What is printed before an access that is no step still waits for one.
            if ahead != printed {
                state.threads[thread].printed = printed;
            }
        }
    }
}

/// What the machine did goes to the activations and to the trace.
fn drain(machine: &mut Machine<'_>, accesses: &Accesses, activations: &mut Activations, trace: &mut Vec<Event>) {
    let notes: Vec<Note> = machine.journal.replace(Vec::new()).unwrap_or_default();
    notes.iter().for_each(|note| activations.note(note));
    trace.extend(notes.iter().filter_map(|note| accesses.event(note)));
}

/// Whether the step is named after local work.
fn is_local(op: &str) -> bool {
    matches!(op, "print" | "assert" | "error" | "assume" | "divide" | "index" | "diverge")
}
