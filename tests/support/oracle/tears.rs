//! Which accesses of methods are torn, by the definition: every execution on its own, and every two accesses of it.
//!
//! A method is torn between an access and a later one if in between other threads make an access that conflicts with the first
//! and one that conflicts with the second, and the values are others for it. A read that is done anew counts alone. A write
//! that changes nothing cannot be seen by others, but they can overwrite it. Methods that make threads are not for this oracle.

use super::compile;
use super::coverage::{all_visible, first_state, with_program};
use super::local::{Machine, Note};
use super::state::State;
use super::step::Progress;
use super::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A method, and two variables with whether it writes them, sorted by variable.
pub type Torn = (String, [(String, bool); 2]);

/// What the executions of a program tear.
#[derive(Debug, Default)]
pub struct Tears {
    /// One other thread alone makes both accesses.
    pub by_one: BTreeSet<Torn>,
    /// Other threads make them.
    pub by_any: BTreeSet<Torn>,
}

#[derive(Clone)]
struct Access {
    thread: usize,
    cell: u32,
    name: u32,
    write: bool,
    old: Value,
    new: Value,
    /// The activations that it is made in: their numbers and functions.
    calls: Vec<(u32, u32)>,
}

#[derive(Clone, Default)]
struct Trace {
    accesses: Vec<Access>,
    calls: BTreeMap<usize, Vec<(u32, u32)>>,
    count: u32,
}

/// Runs all executions; nothing where there are more than `most` steps of them.
pub fn tears_of_source(source: &str, most: usize) -> Result<Option<Tears>, String> {
    with_program(source, |program, file| {
        let code = compile::compile(program, file, &BTreeMap::new())?;
        let mut machine = Machine::new(&code, all_visible(&code), u32::MAX, false);
        machine.journal = Some(Vec::new());
        let state = first_state(&mut machine);
        let mut trace = Trace::default();
        trace.add(&mut machine, &state, &state);
        let (mut open, mut steps, mut tears) = (vec![(state, trace)], 0, Tears::default());
        while let Some((state, trace)) = open.pop() {
            let mut moves = Vec::new();
            machine.moves(&state, &mut moves);
            for next in moves {
                let (mut after, mut trace) = (state.clone(), trace.clone());
                let progress = machine.step(&mut after, next);
                let from = trace.accesses.len();
                trace.add(&mut machine, &state, &after);
                for last in from..trace.accesses.len() {
                    trace.tears(last, |function, sides, one| {
                        let Some(method) = code.methods.get(&function) else { return };
                        let mut sides = sides.map(|(name, write)| (code.owners[&name].name.clone(), write));
                        sides.sort();
                        let torn = (method.name.clone(), sides);
                        if one {
                            tears.by_one.insert(torn.clone());
                        }
                        tears.by_any.insert(torn);
                    });
                }
                if matches!(progress, Progress::Going) {
                    open.push((after, trace));
                }
                steps += 1;
            }
            machine.trail.clear();
            if steps > most {
                return Ok(None);
            }
        }
        Ok(Some(tears))
    })
}

impl Trace {
    fn add(&mut self, machine: &mut Machine<'_>, before: &State, after: &State) {
        for note in machine.journal.replace(Vec::new()).unwrap_or_default() {
            match note {
                Note::Called { thread, function } => {
                    self.count += 1;
                    self.calls.entry(thread).or_default().push((self.count, function));
                }
                Note::Returned { thread } => {
                    self.calls.entry(thread).or_default().pop();
                }
                Note::Access { thread, name, address, write, .. } => {
                    let value = |state: &State| state.cells[address as usize].value;
                    let calls = self.calls.get(&thread).cloned().unwrap_or_default();
                    let (old, new) = (value(before), value(after));
                    self.accesses.push(Access { thread, cell: address, name, write, old, new, calls });
                }
            }
        }
    }

    /// The tears that an access completes: the function, the two names, and whether one other thread does it.
    fn tears(&self, last: usize, mut found: impl FnMut(u32, [(u32, bool); 2], bool)) {
        let second = &self.accesses[last];
        for &(activation, function) in &second.calls {
            let own = |access: &Access| access.calls.iter().any(|call| call.0 == activation);
            for (at, first) in self.accesses[..last].iter().enumerate().filter(|(_, access)| own(access)) {
                let between = &self.accesses[at + 1..last];
                let again = |one: &Access| !first.write && own(one) && one.cell == first.cell && !one.write;
                if first.cell == second.cell || between.iter().any(again) {
                    continue;
                }
                let now =
                    between.iter().rev().find(|one| one.cell == first.cell && one.write && one.thread != first.thread);
                let then =
                    between.iter().find(|one| one.cell == second.cell && one.write && one.thread != first.thread);
                let first_changed = first.write || now.is_some_and(|one| one.new != first.new);
                let second_changed =
                    if second.write { second.old != second.new } else { then.is_some_and(|one| one.old != second.old) };
                if !first_changed || !second_changed {
                    continue;
                }
                let others = || between.iter().enumerate().filter(|(_, one)| one.thread != first.thread);
                // What the method has written there last, when another one comes.
                let written = |place: usize| {
                    let own = |one: &&Access| own(one) && one.write && one.cell == first.cell;
                    between[..place].iter().rev().find(own).unwrap_or(first)
                };
                let on_first = |&(place, one): &(usize, &Access)| {
                    let conflicts = match (first.write, one.write) {
                        (true, true) => one.new != written(place).new,
                        (true, false) => first.old != first.new,
                        (false, write) => write,
                    };
                    one.cell == first.cell && conflicts
                };
                let on_second = |&(_, one): &(usize, &Access)| one.cell == second.cell && (second.write || one.write);
                let threads: BTreeSet<usize> = others().filter(on_first).map(|(_, one)| one.thread).collect();
                let more: BTreeSet<usize> = others().filter(on_second).map(|(_, one)| one.thread).collect();
                if !threads.is_empty() && !more.is_empty() {
                    let sides = [(first.name, first.write), (second.name, second.write)];
                    found(function, sides, threads.intersection(&more).next().is_some());
                }
            }
        }
    }
}
