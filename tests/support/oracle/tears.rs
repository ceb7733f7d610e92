//! Which accesses of methods are torn, by the definition: every execution on its own, and every two accesses of it.
//!
//! An activation of a method is in a *cycle* on two variables where it makes an access to one of them, then other threads make one that
//! conflicts with it and one that conflicts with a later access of the activation to one of the two, and the values are others for it.
//! A read that is done anew at the same place counts alone. A write that changes nothing cannot be seen by others, but they can
//! overwrite it; that the activation overwrites what they have put there is as if they had come before. It tears any two accesses, to each
//! of the variables one, that some activation of the method makes. Methods that make threads, and what is accessed without a lock, are not for
//! this oracle.

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
    /// What some activation makes, torn or not.
    pub made: BTreeSet<Torn>,
}

#[derive(Clone)]
struct Access {
    thread: usize,
    cell: u32,
    /// The variable, and where the access stands.
    name: u32,
    write: bool,
    old: Value,
    new: Value,
    /// The activations that it is made in: their numbers and functions.
    calls: Vec<(u32, u32)>,
}

/// A cell, and whether it is written.
type Touch = (u32, bool);

/// What all executions show.
#[derive(Default)]
struct Found {
    /// A name of each cell.
    names: BTreeMap<u32, u32>,
    /// Two accesses that an activation of a function makes, to two variables.
    made: BTreeSet<(u32, [Touch; 2])>,
    /// Cycles of activations of a function.
    cycles: BTreeSet<(u32, [u32; 2], bool)>,
}

impl Found {
    fn tears(&self, method: impl Fn(u32) -> Option<String>, variable: impl Fn(u32) -> String) -> Tears {
        let mut tears = Tears::default();
        for &(function, sides) in &self.made {
            let Some(name) = method(function) else { continue };
            let is_side = |cell: &u32| sides.iter().any(|side| side.0 == *cell);
            let mut named = sides.map(|(cell, write)| (variable(self.names[&cell]), write));
            named.sort();
            tears.made.insert((name.clone(), named.clone()));
            for (of, cells, one) in &self.cycles {
                if *of == function && cells.iter().all(is_side) {
                    let torn = (name.clone(), named.clone());
                    if *one {
                        tears.by_one.insert(torn.clone());
                    }
                    tears.by_any.insert(torn);
                }
            }
        }
        tears
    }
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
        let (mut open, mut steps, mut found) = (vec![(state, trace)], 0, Found::default());
        while let Some((state, trace)) = open.pop() {
            let mut moves = Vec::new();
            machine.moves(&state, &mut moves);
            for next in moves {
                let (mut after, mut trace) = (state.clone(), trace.clone());
                let progress = machine.step(&mut after, next);
                let from = trace.accesses.len();
                trace.add(&mut machine, &state, &after);
                for last in from..trace.accesses.len() {
                    trace.look(last, &mut found);
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
        let name = |function: u32| code.methods.get(&function).map(|method| method.name.clone());
        Ok(Some(found.tears(name, |access| code.owners[&access].name.clone())))
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
                Note::Printed { .. } => {}
                Note::Access { thread, name, address, write, .. } => {
                    let value = |state: &State| state.cells[address as usize].value;
                    let calls = self.calls.get(&thread).cloned().unwrap_or_default();
                    let (old, new) = (value(before), value(after));
                    self.accesses.push(Access { thread, cell: address, name, write, old, new, calls });
                }
            }
        }
    }

    /// Enters what an access shows.
    fn look(&self, last: usize, found: &mut Found) {
        let access = &self.accesses[last];
        found.names.insert(access.cell, access.name);
        for &(activation, function) in &access.calls {
            let own = |access: &&Access| access.calls.iter().any(|call| call.0 == activation);
            for at in (0..last).filter(|&at| own(&&self.accesses[at])) {
                if let Some(one) = self.cycle(activation, at, last) {
                    found.cycles.insert((function, [self.accesses[at].cell, access.cell], one));
                }
            }
            let touches: BTreeSet<Touch> =
                self.accesses[..=last].iter().filter(own).map(|access| (access.cell, access.write)).collect();
            for &first in &touches {
                let seconds = touches.iter().filter(|second| first.0 < second.0);
                found.made.extend(seconds.map(|&second| (function, [first, second])));
            }
        }
    }

    /// Whether others come after an access of an activation and before another one: by one thread alone, if they do.
    fn cycle(&self, activation: u32, at: usize, last: usize) -> Option<bool> {
        let (first, second, between) = (&self.accesses[at], &self.accesses[last], &self.accesses[at + 1..last]);
        let own = |access: &Access| access.calls.iter().any(|call| call.0 == activation);
        let foreign = |one: &Access| one.thread != first.thread;
        let writes = |one: &Access, cell: u32| one.write && one.cell == cell;
        let again =
            |one: &Access| !first.write && !one.write && own(one) && one.name == first.name && one.cell == first.cell;
        let now = between.iter().rev().find(|one| foreign(one) && writes(one, first.cell));
        if between.iter().any(again) || again(second) || !first.write && now.is_none_or(|one| one.new == first.new) {
            return None;
        }
        // What the method has written there last, when another one comes.
        let written = |place: usize| {
            let own = |one: &&Access| own(one) && writes(one, first.cell);
            between[..place].iter().rev().find(own).unwrap_or(first)
        };
        // The first write of another thread to a cell, behind the last one of the method, before a place.
        let since = |cell: u32, place: usize| {
            let last = between[..place].iter().rposition(|one| own(one) && writes(one, cell));
            between[last.map_or(0, |last| last + 1)..place].iter().find(|one| foreign(one) && writes(one, cell))
        };
        let on_first = |&(place, one): &(usize, &Access)| {
            let conflicts = match (first.write, one.write) {
                (true, true) => one.new != written(place).new,
                (true, false) => first.old != first.new && since(first.cell, place).is_none(),
                (false, write) => write,
            };
            one.cell == first.cell && conflicts
        };
        let same = first.cell == second.cell;
        let changed = since(second.cell, between.len()).is_some_and(|one| one.old != second.new);
        let on_second = |&(place, one): &(usize, &Access)| {
            let reads_old = !one.write && since(second.cell, place).is_none() && one.new != second.new;
            let conflicts = match (second.write, one.write) {
                (false, write) => write && changed,
                (true, _) => reads_old || !(same && first.write) && second.old != second.new,
            };
            one.cell == second.cell && conflicts && (!same || first.old != first.new || one.write || !first.write)
        };
        let others = || between.iter().enumerate().filter(|(_, one)| foreign(one));
        let threads: BTreeSet<usize> = others().filter(on_first).map(|(_, one)| one.thread).collect();
        let more: BTreeSet<usize> = others().filter(on_second).map(|(_, one)| one.thread).collect();
        (!threads.is_empty() && !more.is_empty()).then(|| threads.intersection(&more).next().is_some())
    }
}
