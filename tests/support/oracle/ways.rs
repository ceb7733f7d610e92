//! Where a thread is: the calls and the spawns that led to an access, and the cell that it means.
//!
//! A way is a chain: who made the thread comes before what the thread calls. Of a function that is open in a thread, further
//! activations in that thread stand where the outermost one stands: what they call is called from there.

use super::Explored;
use super::code::NONE;
use super::local::Machine;
use super::report::path_text;
use super::search::Found;
use cssame::source::SourceFile;
use rustc_hash::FxHashMap;

/// A step of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Way {
    /// [`NONE`] for `main`.
    before: u32,
    /// Where the call or the spawn stands; [`NONE`] for the arm of a fork.
    place: u32,
    /// The function that runs from here; [`NONE`] in an arm.
    function: u32,
    /// Whether a thread begins here.
    thread: bool,
}

/// An access: its way, the path of its thread, its variable and element.
type At = (u32, u32, (u32, u32));

/// All ways and all accesses, each under a number.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    ways: Vec<Way>,
    numbers: FxHashMap<Way, u32>,
    located: Vec<At>,
    located_numbers: FxHashMap<At, u32>,
}

/// A read or a write in its calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Located {
    /// `n@2:19`, `n@initial`.
    pub name: String,
    /// The path of the thread; empty for the initial values of globals.
    pub thread: String,
    /// Positions of the calls and spawns, the outermost first: those of the threads that made this one, too.
    pub calls: Vec<String>,
    /// The variable as it is declared: `a.bal`.
    pub variable: String,
    /// The element of an array.
    pub element: Option<u32>,
}

/// A read in an execution: path of the thread, read, write.
pub type Reading = (String, Located, Located);

impl Ways {
    pub fn new() -> Ways {
        Ways::default()
    }

    fn way(&mut self, way: Way) -> u32 {
        let next = self.ways.len() as u32;
        let number = *self.numbers.entry(way).or_insert(next);
        if number == next {
            self.ways.push(way);
        }
        number
    }

    pub fn call(&mut self, from: u32, function: u32, place: u32) -> u32 {
        let mut at = from;
        while at != NONE {
            let way = self.ways[at as usize];
            if way.function == function {
                return at;
            }
            if way.thread {
                break;
            }
            at = way.before;
        }
        // The call of `main` stands nowhere in the text.
        let place = if from == NONE && place == 0 { NONE } else { place };
        self.way(Way { before: from, place, function, thread: false })
    }

    /// The way of the arm of a fork.
    pub fn fork(&mut self, from: u32) -> u32 {
        self.way(Way { before: from, place: NONE, function: NONE, thread: true })
    }

    pub fn spawn(&mut self, from: u32, function: u32, place: u32) -> u32 {
        self.way(Way { before: from, place, function, thread: true })
    }

    pub fn locate(&mut self, way: u32, thread: u32, cell: (u32, u32)) -> u32 {
        let at = (way, thread, cell);
        let next = self.located.len() as u32;
        let number = *self.located_numbers.entry(at).or_insert(next);
        if number == next {
            self.located.push(at);
        }
        number
    }

    fn places(&self, way: u32) -> Vec<u32> {
        let (mut places, mut at) = (Vec::new(), way);
        while at != NONE {
            places.extend(Some(self.ways[at as usize].place).filter(|&place| place != NONE));
            at = self.ways[at as usize].before;
        }
        places.reverse();
        places
    }
}

/// Names what was found.
pub fn report(machine: &Machine<'_>, found: &Found, file: &SourceFile, explored: &mut Explored) {
    let Some(ways) = &machine.ways else { return };
    let located = |name: u32, number: u32| -> Located {
        let name = machine.code.names.text(name).to_owned();
        let Some(&(way, path, (variable, element))) = ways.located.get(number as usize) else {
            let variable = name.split('@').next().unwrap_or_default().to_owned();
            return Located { name, thread: String::new(), calls: Vec::new(), variable, element: None };
        };
        Located {
            name,
            thread: path_text(machine, path),
            calls: ways.places(way).into_iter().map(|place| file.position(place).to_string()).collect(),
            variable: machine.code.variables[variable as usize].name.clone(),
            element: Some(element).filter(|&element| element != NONE),
        }
    };
    let pair = |&([a, b, c, d], visible): &([u32; 4], bool)| (located(a, b), located(c, d), visible);
    explored.located = found.located.iter().map(pair).collect();
    let reading = |&[thread, a, b, c, d]: &[u32; 5]| (path_text(machine, thread), located(a, b), located(c, d));
    explored.profiles = found.profiles.iter().map(|reads| reads.iter().map(reading).collect()).collect();
}
