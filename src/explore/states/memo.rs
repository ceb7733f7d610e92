//! Steps that were executed before.
//!
//! **Input**: a state as the numbers of its parts, and a choice. **Output**: the changes and events of the step, if the same
//! thread has executed the step before in a state that agreed with this one in all dependences of the step.
//!
//! **Algorithm**: a step depends on its thread, and on few other parts of the state ([`Footprint`]). This is usually a cell; if
//! the step wakes or creates threads, it is the waiting threads or the free slots. Since the step is deterministic, a thread that
//! has read certain values reads the same part next. So the steps of a thread form a tree: a node says which part decides, its
//! branches are the numbers of that part, the leaves are steps. The machine executes a step that was not executed before, and the
//! step is entered.
//!
//! **Soundness and limits**: exact, since a [`Footprint`] contains all dependences of a step. Without optimisation, the machine
//! executes some of the known steps again and compares the results.

use super::changes::{Changes, changes};
use super::origin::{Group, Happened, Origin, Seen};
use cssame_vm::{Footprint, Parts, Standing};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// A part of a state that decides about a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Rest,
    /// By address.
    Cell(u32),
    /// By slot.
    Thread(u32),
    /// The threads that stand so: by the number of a list of their slots and numbers.
    Group(Standing),
    /// Whether the thread holds no lock of a global but those that have decided before: a list of these, by number.
    HoldsNothingBut(u32),
}

#[derive(Clone, Copy, Debug)]
enum Node {
    Decides(Key),
    /// A step, by number.
    Leaf(u32),
    /// The step is to be done by the machine.
    Open,
}

/// No node.
const NONE: u32 = u32::MAX;
/// The node for all steps that are to be done by the machine.
const OPEN: u32 = 0;

/// What is known of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was done before: its number.
    Step(u32),
    /// It depends on too much to be entered.
    Open,
    /// It was not done before.
    New,
}

/// A step that was done before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Whether the execution is discarded.
    pub is_discarded: bool,
    /// Instructions that were executed.
    pub instructions: u32,
    /// The number of the thread behind it, and that of the rest if it depends on that; else [`NONE`].
    thread: u32,
    rest: u32,
    /// The number of threads behind it where it is another one; else [`NONE`].
    threads: u32,
    /// What is added to the fingerprint, but for the cells that were there before.
    delta: u128,
    /// Where its cells, its other threads and its events end.
    ends: [u32; 3],
}

/// Groups that are told apart, at most: a step that depends on more is done by the machine.
const GROUPS: usize = 1 << 14;

/// The steps that were done.
pub(super) struct Memo {
    /// By number of the thread: where its only alternative begins.
    roots: Vec<u32>,
    /// The same for other alternatives.
    more_roots: FxHashMap<(u32, u32), u32>,
    nodes: Vec<Node>,
    branches: FxHashMap<(u32, u32), u32>,
    steps: Vec<Step>,
    /// Addresses and numbers of cells.
    cells: Vec<(u32, u32)>,
    /// Slots and numbers of other threads that a step changes or makes.
    others: Vec<(u32, u32)>,
    /// Events; and whether what the cell has held before is not told by the step.
    events: Vec<(Happened, bool)>,
    locks: Vec<u32>,
    /// Lists of locks that decide about a step in which their thread ends.
    used: IndexSet<SmallVec<[u32; 2]>, FxBuildHasher>,
    /// Groups that have decided about a step, and the words of those that are large.
    groups: IndexSet<Group, FxBuildHasher>,
    words_of_groups: usize,
}

/// Where a node hangs.
#[derive(Clone, Copy)]
enum Link {
    Root,
    Branch(u32, u32),
}

impl Memo {
    /// Nothing yet; the addresses of the locks of globals.
    pub(super) fn new(locks: &[u32]) -> Memo {
        Memo {
            roots: Vec::new(),
            more_roots: FxHashMap::default(),
            nodes: vec![Node::Open],
            branches: FxHashMap::default(),
            steps: Vec::new(),
            cells: Vec::new(),
            others: Vec::new(),
            events: Vec::new(),
            locks: locks.to_vec(),
            used: IndexSet::default(),
            groups: IndexSet::default(),
            words_of_groups: 0,
        }
    }

    /// Memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let maps = (self.more_roots.capacity() + self.branches.capacity()) * (size_of::<(u32, u32, u32)>() + 1);
        let nodes = self.roots.capacity() * size_of::<u32>() + self.nodes.capacity() * size_of::<Node>();
        let steps = self.steps.capacity() * size_of::<Step>();
        let changes = (self.cells.capacity() + self.others.capacity()) * size_of::<(u32, u32)>();
        let group = size_of::<Group>() + 2 * size_of::<usize>();
        let groups = self.groups.capacity() * group + self.words_of_groups * size_of::<u32>();
        let events = self.events.capacity() * size_of::<(Happened, bool)>();
        (maps + nodes + steps + changes + groups + events) as u64
    }

    fn root(&self, of: &Origin<'_>) -> u32 {
        if of.alternative == 0 {
            self.roots.get(of.thread() as usize).copied().unwrap_or(NONE)
        } else {
            self.more_roots.get(&(of.thread(), of.alternative)).copied().unwrap_or(NONE)
        }
    }

    /// What is known of the step of a state.
    #[inline]
    pub(super) fn find(&self, of: &Origin<'_>, parts: &Parts) -> Known {
        let mut node = self.root(of);
        loop {
            if node == NONE {
                return Known::New;
            }
            let key = match self.nodes[node as usize] {
                Node::Leaf(step) => return Known::Step(step),
                Node::Open => return Known::Open,
                Node::Decides(key) => key,
            };
            if let Key::HoldsNothingBut(used) = key
                && !self.holds_nothing_but(&self.used[used as usize], of, parts)
            {
                return Known::Open;
            }
            node = self.branches.get(&(node, self.number(key, of, parts))).copied().unwrap_or(NONE);
        }
    }

    /// What decides, by number; [`NONE`] for a group that has not decided about a step before.
    fn number(&self, key: Key, of: &Origin<'_>, parts: &Parts) -> u32 {
        match key {
            Key::Rest => of.numbers[0],
            Key::Cell(address) => of.numbers[address as usize],
            Key::Thread(slot) => of.numbers[of.cells + slot as usize],
            Key::Group(standing) => {
                self.groups.get_index_of(&of.group(standing, parts)).map_or(NONE, |number| number as u32)
            }
            Key::HoldsNothingBut(_) => 0,
        }
    }

    /// As [`Memo::number`]: a group gets a number, unless there are too many.
    fn number_of(&mut self, key: Key, of: &Origin<'_>, parts: &Parts) -> u32 {
        if let Key::Group(standing) = key
            && self.groups.len() < GROUPS
        {
            let group = of.group(standing, parts);
            let words = if group.spilled() { group.capacity() } else { 0 };
            self.words_of_groups += if self.groups.insert(group) { words } else { 0 };
        }
        self.number(key, of, parts)
    }

    /// Whether a thread holds no lock of a global but perhaps those that are given by their addresses.
    fn holds_nothing_but(&self, used: &[u32], of: &Origin<'_>, parts: &Parts) -> bool {
        let mut others = self.locks.iter().filter(|address| !used.contains(address));
        !others.any(|&address| parts.is_held_by(of.numbers[address as usize], of.slot))
    }

    /// The number of the list of those locks that decide about a step.
    fn used(&mut self, footprint: &Footprint) -> u32 {
        let used = footprint.cells().iter().copied().filter(|address| self.locks.contains(address)).collect();
        self.used.insert_full(used).0 as u32
    }

    /// A step that was found.
    #[inline]
    pub(super) fn step(&self, step: u32) -> &Step {
        &self.steps[step as usize]
    }

    fn starts(&self, step: u32) -> [u32; 3] {
        step.checked_sub(1).map_or([0; 3], |before| self.steps[before as usize].ends)
    }

    /// The cells that a step changes: addresses and numbers.
    #[inline]
    fn cells(&self, step: u32) -> &[(u32, u32)] {
        &self.cells[self.starts(step)[0] as usize..self.steps[step as usize].ends[0] as usize]
    }

    /// The other threads that a step changes or makes: slots and numbers.
    #[inline]
    fn others(&self, step: u32) -> &[(u32, u32)] {
        &self.others[self.starts(step)[1] as usize..self.steps[step as usize].ends[1] as usize]
    }

    /// What a step tells.
    #[inline]
    pub(super) fn events<'m>(
        &'m self,
        step: u32,
        of: &Origin<'m>,
        parts: &'m Parts,
    ) -> impl Iterator<Item = Happened> + use<'m> {
        let numbers = of.numbers;
        let events = &self.events[self.starts(step)[2] as usize..self.steps[step as usize].ends[2] as usize];
        events.iter().map(move |&((name, at, event), is_unread)| {
            let event = if is_unread { parts.with_old(event, |address| numbers[address as usize]) } else { event };
            (name, at, event)
        })
    }

    /// The fingerprint of the state that a step leads to, by that of the state that it begins in.
    #[inline]
    pub(super) fn fingerprint_behind(&self, step: u32, before: u128, of: &Origin<'_>, parts: &Parts) -> u128 {
        let total = before.wrapping_add(self.steps[step as usize].delta);
        let old = |&(address, _): &(u32, u32)| parts.hash_at(address as usize, of.numbers[address as usize], of.cells);
        self.cells(step).iter().fold(total, |total, cell| total.wrapping_sub(old(cell)))
    }

    /// The numbers of the state that a step leads to.
    #[inline]
    pub(super) fn write_behind(&self, step: u32, of: &Origin<'_>, out: &mut Vec<u32>) {
        let Step { thread, rest, threads, .. } = self.steps[step as usize];
        out.clear();
        out.extend_from_slice(of.numbers);
        if rest != NONE {
            out[0] = rest;
        }
        for &(address, number) in self.cells(step) {
            out[address as usize] = number;
        }
        out[of.cells + of.slot] = thread;
        if threads != NONE {
            out.resize(of.cells + threads as usize, 0);
        }
        for &(slot, number) in self.others(step) {
            out[of.cells + slot as usize] = number;
        }
    }

    /// Enters that a step that was not known is always done by the machine.
    pub(super) fn learn_open(&mut self, of: &Origin<'_>, parts: &Parts) {
        if let Some((link, _)) = self.last_link(of, parts) {
            self.hang(of, link, OPEN);
        }
    }

    /// Where the next node hangs for a step that was not known, and which keys have led there; nothing if the step is known.
    fn last_link(&mut self, of: &Origin<'_>, parts: &Parts) -> Option<(Link, SmallVec<[Key; 8]>)> {
        let (mut link, mut node) = (Link::Root, self.root(of));
        let mut passed = SmallVec::new();
        while node != NONE {
            let Node::Decides(key) = self.nodes[node as usize] else { return None };
            passed.push(key);
            let number = self.number_of(key, of, parts);
            link = Link::Branch(node, number);
            node = self.branches.get(&(node, number)).copied().unwrap_or(NONE);
        }
        Some((link, passed))
    }

    /// Enters a step that was not known; gives its number, unless it depends on too much.
    pub(super) fn learn(&mut self, of: &Origin<'_>, parts: &Parts, seen: &Seen<'_>) -> Option<u32> {
        let (mut link, mut passed) = self.last_link(of, parts)?;
        let mut groups = seen.footprint.groups().iter().map(|&standing| Key::Group(standing));
        let is_numbered = groups.all(|key| self.number_of(key, of, parts) != NONE);
        let is_open = matches!(link, Link::Branch(_, NONE)) || !is_numbered;
        let step = if is_open { None } else { self.step_of(of, parts, seen) };
        let Some(step) = step else {
            self.hang(of, link, OPEN);
            return None;
        };
        for key in self.keys(of, seen) {
            if passed.contains(&key) {
                continue;
            }
            passed.push(key);
            let node = self.add(Node::Decides(key));
            self.hang(of, link, node);
            link = Link::Branch(node, self.number_of(key, of, parts));
        }
        let number = self.steps.len() as u32;
        self.steps.push(step);
        let leaf = self.add(Node::Leaf(number));
        self.hang(of, link, leaf);
        Some(number)
    }

    /// What a step depends on beside its thread.
    fn keys(&mut self, of: &Origin<'_>, seen: &Seen<'_>) -> SmallVec<[Key; 8]> {
        let footprint = seen.footprint;
        // What stands where is known by the rest, so that comes first.
        let rest = footprint.depends_on_rest().then_some(Key::Rest);
        let cells = footprint.cells().iter().map(|&address| Key::Cell(address));
        // It may stand before the join of a thread that it has made.
        let threads = footprint.threads().iter().filter(|thread| of.cells + thread.index() < of.numbers.len());
        let threads = threads.map(|thread| Key::Thread(u32::from(thread.0)));
        let groups = footprint.groups().iter().map(|&standing| Key::Group(standing));
        let used = if footprint.end().is_some() { self.used(footprint) } else { 0 };
        let end = footprint.end().into_iter().flat_map(|parent| {
            let parent = parent.map(|parent| Key::Thread(u32::from(parent.0)));
            std::iter::once(Key::HoldsNothingBut(used)).chain(parent)
        });
        // Slots that are free go with the last one that was taken.
        let last = seen.behind.filter(|behind| behind.len() < of.numbers.len());
        let gone = last.map_or(0..0, |behind| behind.len() - 1..of.numbers.len());
        let gone = gone.filter(|&place| place != of.cells + of.slot);
        let gone = gone.map(|place| Key::Thread((place - of.cells) as u32));
        rest.into_iter().chain(cells).chain(threads).chain(groups).chain(end).chain(gone).collect()
    }

    fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn hang(&mut self, of: &Origin<'_>, link: Link, node: u32) {
        match link {
            Link::Branch(from, number) => {
                self.branches.insert((from, number), node);
            }
            Link::Root if of.alternative == 0 => {
                let thread = of.thread() as usize;
                if self.roots.len() <= thread {
                    self.roots.resize(thread + 1, NONE);
                }
                self.roots[thread] = node;
            }
            Link::Root => {
                self.more_roots.insert((of.thread(), of.alternative), node);
            }
        }
    }

    /// The step that was seen, unless it depends on too much; its lists are entered.
    fn step_of(&mut self, of: &Origin<'_>, parts: &Parts, seen: &Seen<'_>) -> Option<Step> {
        let Seen { footprint, behind, events } = *seen;
        // What the thread still holds at its end goes to another one.
        let ends = footprint.end().is_some();
        if footprint.is_open() || ends && !self.holds_nothing_but(footprint.cells(), of, parts) {
            return None;
        }
        let Changes { cells, others, delta } = changes(of, parts, seen)?;
        let (now, own) = (behind.unwrap_or(of.numbers), of.cells + of.slot);
        self.cells.extend_from_slice(&cells);
        self.others.extend_from_slice(&others);
        self.events.extend(events.iter().map(|&happened| (happened, footprint.is_unread(happened.2))));
        Some(Step {
            is_discarded: behind.is_none(),
            instructions: footprint.instructions,
            // Where the slot is gone, that of its thread is not looked at.
            thread: now.get(own).copied().unwrap_or(of.numbers[own]),
            threads: if now.len() == of.numbers.len() { NONE } else { (now.len() - of.cells) as u32 },
            rest: if footprint.depends_on_rest() { now[0] } else { NONE },
            delta,
            ends: [self.cells.len(), self.others.len(), self.events.len()].map(|end| end as u32),
        })
    }
}
