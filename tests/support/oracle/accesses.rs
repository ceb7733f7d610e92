//! The accesses of a text: its places that read or write a variable, each under a number.

use super::code::{Code, NONE, Op, Owner};
use super::local::Note;
use super::patterns::{Access, Event, Instance, Variables};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The accesses of a program or of a library.
#[derive(Debug, Default)]
pub struct Accesses {
    pub list: Vec<Access>,
    /// Names of the variables: `x`, `A.th`. A second local of one name is `n#2`.
    pub variables: Vec<String>,
    /// Whether a variable is a field or a global.
    pub outside: Vec<bool>,
    owners: FxHashMap<u32, u32>,
    numbers: BTreeMap<(u32, bool), u32>,
}

impl Accesses {
    pub fn new(code: &Code) -> Accesses {
        let mut accesses = Accesses::default();
        let owners: BTreeSet<&Owner> = code.owners.values().collect();
        for owner in &owners {
            let before = owners.iter().filter(|other| other.name == owner.name && *other < owner).count();
            let name = if before == 0 { owner.name.clone() } else { format!("{}#{}", owner.name, before + 1) };
            accesses.variables.push(name);
            accesses.outside.push(owner.declared == NONE);
        }
        let number: BTreeMap<&Owner, u32> = owners.into_iter().zip(0..).collect();
        accesses.owners = code.owners.iter().map(|(&name, owner)| (name, number[owner])).collect();
        for op in &code.ops {
            match *op {
                Op::Load { name, .. } => accesses.add(code, name, false),
                Op::Store { name, .. } => accesses.add(code, name, true),
                Op::Atomic { name, .. } => [false, true].into_iter().for_each(|write| accesses.add(code, name, write)),
                _ => {}
            }
        }
        accesses
    }

    fn add(&mut self, code: &Code, name: u32, write: bool) {
        let next = self.list.len() as u32;
        if self.owners.contains_key(&name) && *self.numbers.entry((name, write)).or_insert(next) == next {
            self.list.push(Access { place: code.names.text(name).to_owned(), write });
        }
    }

    /// The places of each variable.
    pub fn places(&self) -> Variables {
        let mut variables: Variables = self.variables.iter().map(|name| (name.clone(), Default::default())).collect();
        for (&(name, write), &number) in &self.numbers {
            let variable = &self.variables[self.owners[&name] as usize];
            if let Some(places) = variables.get_mut(variable) {
                let of = if write { &mut places.writes } else { &mut places.reads };
                of.insert(self.list[number as usize].place.clone());
            }
        }
        variables
    }

    /// The access that a thread made.
    pub fn event(&self, note: &Note) -> Option<Event> {
        let Note::Access { thread, name, address, read, write, clock } = note else { return None };
        let number = |write: bool| self.numbers.get(&(*name, write)).copied();
        Some(Event {
            thread: *thread,
            clock: clock.clone(),
            cell: *address,
            variable: *self.owners.get(name)?,
            read: number(false).filter(|_| *read),
            write: number(true).filter(|_| *write),
        })
    }

    pub fn instance(&self, pattern: usize, steps: &[u32]) -> Instance {
        let steps = steps.iter().map(|&step| self.list[step as usize].clone()).collect();
        Instance { pattern: pattern + 1, steps }
    }
}
