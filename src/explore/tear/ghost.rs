//! What a search has to remember of an execution to see a tear.
//!
//! In: the events of an execution. Out: whether it has torn the two touches of the [`Watch`] apart, told through
//! [`Signals`]. For each thread within the method the ghost keeps the latest touch of each cell of either variable, and what
//! threads within the other method have done to both since then.

use super::watch::{Distance, FIRST, Places, SECOND, SOURCE, Watch};
use crate::correlation::AccessKind;
use crate::explore::engine::Ghost;
use crate::ir::FunctionId;
use crate::vm::{CodeIndex, Event, Observer, ThreadIndex};
use std::cell::Cell;
use std::rc::Rc;

/// Cells of a thread that are watched at once; an array of more is too much.
const MAX_TOUCHES: usize = 64;

/// An activation of the other method that is over.
const OVER: u16 = u16::MAX;

/// What ghosts tell the search; not a part of any state.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// This step has torn the two apart.
    pub torn: Cell<bool>,
    /// In this step the other method fails after it has touched one half that is new and one that is not.
    pub half: Cell<bool>,
    /// Some execution has changed the second variable after a touch of the first.
    pub completed: Cell<bool>,
    /// Something was too much to remember.
    pub overflow: Cell<bool>,
}

/// What does not change in a search.
#[derive(Debug)]
pub(super) struct Fixed {
    pub watch: Watch,
    pub places: Places,
    pub distance: Option<Distance>,
    pub signals: Signals,
}

/// What an activation of the other method has done since a touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Between {
    /// Its thread, or [`OVER`].
    thread: u16,
    /// Whether it conflicts with the touch itself.
    first: bool,
    /// Cells of the partner that it has touched, with the kinds.
    second: Vec<(u32, u8)>,
}

/// A touch that waits for one of its partner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Touch {
    /// Index of its side.
    side: u8,
    cell: u32,
    /// What the cell held then.
    value: i64,
    /// Whether the touch has changed it.
    changed: bool,
    /// What other threads have made of it since.
    now: i64,
    /// Cells of the partner that others have written since, with what they held at the touch.
    olds: Vec<(u32, i64)>,
    between: Vec<Between>,
    /// What the method had read of the sources before.
    sources: Vec<(u32, i64)>,
    /// Sources that the other method has written since.
    written: Vec<u32>,
    /// Whether the method has read one of them anew, and another value.
    seen: bool,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Watched {
    /// Frames from the outermost activation of the method; 0 outside.
    method: u32,
    /// The same of the other method.
    other: u32,
    touches: Vec<Touch>,
    /// What the method has read of the sources last.
    sources: Vec<(u32, i64)>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct TearGhost {
    fixed: Rc<Fixed>,
    threads: Vec<Watched>,
    /// Whether it has happened; nothing else matters then.
    pub torn: bool,
}

/// An access to something that is watched.
#[derive(Clone, Copy)]
struct Access {
    of: u8,
    kind: AccessKind,
    cell: u32,
    old: i64,
    value: i64,
}

impl TearGhost {
    pub(super) fn new(fixed: Rc<Fixed>) -> TearGhost {
        TearGhost { fixed, threads: Vec::new(), torn: false }
    }

    fn thread(&mut self, thread: ThreadIndex) -> &mut Watched {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Watched::default());
        }
        &mut self.threads[thread.index()]
    }

    fn access(&mut self, thread: ThreadIndex, access: Access) {
        let fixed = Rc::clone(&self.fixed);
        let interferes = self.thread(thread).other > 0;
        for (index, watched) in self.threads.iter_mut().enumerate() {
            if index != thread.index() {
                for touch in &mut watched.touches {
                    touch.foreign(&fixed, access, interferes.then_some(thread.0));
                }
            }
        }
        let watched = &mut self.threads[thread.index()];
        if watched.method == 0 {
            return;
        }
        if watched.touches.iter().any(|touch| touch.is_torn_by(&fixed, access)) {
            fixed.signals.torn.set(true);
            self.torn = true;
            self.threads.clear();
            return;
        }
        watched.own(&fixed, access);
    }

    /// The other method fails: it counts as torn if it has seen one half that is new and one that is old.
    fn failure(&mut self, thread: ThreadIndex) {
        let fixed = Rc::clone(&self.fixed);
        let is_half = |touch: &Touch| {
            let partner = fixed.watch.sides[1 - usize::from(touch.side)].kind;
            let read = AccessKind::Read as u8 + 1;
            let mut between = touch.between.iter();
            partner == AccessKind::Write
                && !fixed.watch.copied
                && between.any(|one| {
                    one.thread == thread.0 && one.first && one.second.iter().any(|second| second.1 & read != 0)
                })
        };
        let others = self.threads.iter().enumerate().filter(|&(index, _)| index != thread.index());
        if others.flat_map(|(_, watched)| &watched.touches).any(is_half) {
            fixed.signals.half.set(true);
        }
    }
}

impl Watched {
    /// An access of the method itself: it may be the touch of a side, or read a source anew.
    fn own(&mut self, fixed: &Fixed, access: Access) {
        if access.of & SOURCE != 0 && access.kind == AccessKind::Read {
            for touch in &mut self.touches {
                let before = touch.sources.iter().find(|source| source.0 == access.cell);
                touch.seen |=
                    touch.written.contains(&access.cell) && before.is_some_and(|source| source.1 != access.value);
            }
            enter(&mut self.sources, access.cell, access.value, true);
        }
        for (side, bit) in [(0u8, FIRST), (1, SECOND)] {
            let is_touch = access.of & bit != 0 && fixed.watch.sides[usize::from(side)].kind == access.kind;
            if !is_touch || fixed.watch.copied && side == 1 {
                continue;
            }
            let touch = Touch {
                side,
                cell: access.cell,
                value: access.value,
                changed: access.kind == AccessKind::Write && access.old != access.value,
                now: access.value,
                sources: self.sources.clone(),
                ..Touch::default()
            };
            match self.touches.binary_search_by_key(&(side, access.cell), |touch| (touch.side, touch.cell)) {
                Ok(index) => {
                    let before = std::mem::replace(&mut self.touches[index], touch);
                    // Who has seen an earlier write has seen a half; a read that is done anew counts alone.
                    if access.kind == AccessKind::Write {
                        self.touches[index].between = before.between;
                        self.touches[index].olds = before.olds;
                    }
                }
                Err(_) if self.touches.len() == MAX_TOUCHES => fixed.signals.overflow.set(true),
                Err(index) => self.touches.insert(index, touch),
            }
        }
    }
}

/// Enters a value for a cell into a sorted list; one that is there already stays, if it is not to be replaced.
fn enter<T: Copy>(list: &mut Vec<(u32, T)>, cell: u32, value: T, replace: bool) {
    match list.binary_search_by_key(&cell, |entry| entry.0) {
        Ok(index) if replace => list[index].1 = value,
        Ok(_) => {}
        Err(index) => list.insert(index, (cell, value)),
    }
}

impl Touch {
    fn is_partner(&self, fixed: &Fixed, access: Access) -> bool {
        let bit = if self.side == 0 { SECOND } else { FIRST };
        let (first, second) = if self.side == 0 { (self.cell, access.cell) } else { (access.cell, self.cell) };
        access.of & bit != 0 && fixed.distance.is_none_or(|distance| distance.fits(first, second))
    }

    /// Another thread has made an access; `by` is the thread if it is within the other method.
    fn foreign(&mut self, fixed: &Fixed, access: Access, by: Option<u16>) {
        let side = if self.side == 0 { FIRST } else { SECOND };
        let writes = access.kind == AccessKind::Write;
        let same = access.of & side != 0 && access.cell == self.cell;
        let conflicts = same
            && match (fixed.watch.sides[usize::from(self.side)].kind, access.kind) {
                (AccessKind::Read, AccessKind::Read) => false,
                (AccessKind::Read, AccessKind::Write) => true,
                (AccessKind::Write, AccessKind::Read) => self.changed,
                (AccessKind::Write, AccessKind::Write) => access.value != self.value,
            };
        if same && writes {
            self.now = access.value;
        }
        let partner = !fixed.watch.copied && self.is_partner(fixed, access);
        if partner && writes {
            enter(&mut self.olds, access.cell, access.old, false);
        }
        let Some(thread) = by else { return };
        if access.of & SOURCE != 0 && writes && access.old != access.value && !self.written.contains(&access.cell) {
            self.written.push(access.cell);
            self.written.sort_unstable();
        }
        let matters = writes || fixed.watch.sides[1 - usize::from(self.side)].kind == AccessKind::Write;
        if !conflicts && !(partner && matters) {
            return;
        }
        let index = match self.between.binary_search_by_key(&thread, |one| one.thread) {
            Ok(index) => index,
            Err(index) => {
                self.between.insert(index, Between { thread, ..Between::default() });
                index
            }
        };
        let between = &mut self.between[index];
        between.first |= conflicts;
        if partner && matters {
            let kinds = between.second.iter().find(|second| second.0 == access.cell).map_or(0, |second| second.1);
            enter(&mut between.second, access.cell, kinds | (access.kind as u8 + 1), true);
        }
    }

    /// An activation of the other method is over.
    fn close(&mut self, fixed: &Fixed, thread: u16) {
        let Ok(index) = self.between.binary_search_by_key(&thread, |one| one.thread) else { return };
        let over = self.between.remove(index);
        // What has touched one side only does not matter any more.
        if !over.first || over.second.is_empty() && !fixed.watch.copied {
            return;
        }
        match self.between.last_mut().filter(|last| last.thread == OVER) {
            Some(last) => {
                for (cell, kinds) in over.second {
                    let known = last.second.iter().find(|second| second.0 == cell).map_or(0, |second| second.1);
                    enter(&mut last.second, cell, known | kinds, true);
                }
            }
            None => self.between.push(Between { thread: OVER, ..over }),
        }
    }

    /// Whether an access of the method itself completes a tear.
    fn is_torn_by(&self, fixed: &Fixed, access: Access) -> bool {
        let kinds = fixed.watch.sides.map(|side| side.kind);
        let (own, partner) = (kinds[usize::from(self.side)], kinds[1 - usize::from(self.side)]);
        if access.kind != partner {
            return false;
        }
        if fixed.watch.copied {
            let same = access.of & FIRST != 0 && access.cell == self.cell;
            return same && access.old != self.value && self.between.iter().any(|one| one.first);
        }
        if !self.is_partner(fixed, access) {
            return false;
        }
        let (writes, changes) = (access.kind == AccessKind::Write, access.old != access.value);
        if writes && changes {
            fixed.signals.completed.set(true);
        }
        if self.seen {
            return true;
        }
        let first = own == AccessKind::Write || self.now != self.value;
        let read = self.olds.iter().any(|&(cell, old)| cell == access.cell && old != access.value);
        let second = |kinds: u8| if writes { changes } else { kinds & 2 != 0 && read };
        let torn =
            |one: &Between| one.first && one.second.iter().any(|&(cell, kinds)| cell == access.cell && second(kinds));
        first && self.between.iter().any(torn)
    }
}

impl Observer for TearGhost {
    fn event(&mut self, thread: ThreadIndex, _: CodeIndex, event: Event) {
        if self.torn {
            return;
        }
        match event {
            Event::Read { read, address, value, .. } => {
                let of = self.fixed.places.reads[read.index()];
                if of != 0 {
                    self.access(thread, Access { of, kind: AccessKind::Read, cell: address, old: value, value });
                }
            }
            Event::Write { definition, address, old, value, .. } => {
                let of = self.fixed.places.definitions[definition.index()];
                if of != 0 {
                    self.access(thread, Access { of, kind: AccessKind::Write, cell: address, old, value });
                }
            }
            Event::Failure(_) if self.thread(thread).other > 0 => self.failure(thread),
            Event::End { .. } => *self.thread(thread) = Watched::default(),
            _ => {}
        }
    }

    fn enter(&mut self, thread: ThreadIndex, function: FunctionId) {
        if self.torn {
            return;
        }
        let (method, other) = (self.fixed.watch.method, self.fixed.watch.other);
        let watched = self.thread(thread);
        watched.method += u32::from(watched.method > 0 || function == method);
        watched.other += u32::from(watched.other > 0 || function == other);
    }

    fn leave(&mut self, thread: ThreadIndex) {
        if self.torn {
            return;
        }
        let watched = self.thread(thread);
        let left = watched.other == 1;
        if watched.method == 1 {
            watched.touches.clear();
            watched.sources.clear();
        }
        watched.method = watched.method.saturating_sub(1);
        watched.other = watched.other.saturating_sub(1);
        if left {
            let touches = self.threads.iter_mut().flat_map(|each| &mut each.touches);
            touches.for_each(|touch| touch.close(&self.fixed, thread.0));
        }
    }
}

impl Ghost for TearGhost {
    fn encode(&self, words: &mut Vec<u64>) {
        words.push(u64::from(self.torn));
        // A thread that is not there is as one that does nothing.
        let used = self.threads.iter().rposition(|thread| *thread != Watched::default()).map_or(0, |last| last + 1);
        for thread in &self.threads[..used] {
            words.push(u64::from(thread.method) << 32 | u64::from(thread.other));
            encode_list(&thread.sources, words, |value| value as u64);
            words.push(thread.touches.len() as u64);
            for touch in &thread.touches {
                touch.encode(words);
            }
        }
    }

    fn decode(&mut self, words: &[u64]) {
        self.torn = words.first() == Some(&1);
        self.threads.clear();
        let mut rest = Words(words.get(1..).unwrap_or_default());
        while !rest.0.is_empty() {
            let depths = rest.next();
            let sources = rest.list(|word| word as i64);
            let count = rest.next();
            let touches = (0..count).map(|_| Touch::decode(&mut rest)).collect();
            self.threads.push(Watched { method: (depths >> 32) as u32, other: depths as u32, touches, sources });
        }
    }
}

/// Words that are read one after the other.
struct Words<'a>(&'a [u64]);

impl Words<'_> {
    fn next(&mut self) -> u64 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn list<T>(&mut self, value: impl Fn(u64) -> T) -> Vec<(u32, T)> {
        let count = self.next();
        (0..count).map(|_| (self.next() as u32, value(self.next()))).collect()
    }
}

fn encode_list<T: Copy>(list: &[(u32, T)], words: &mut Vec<u64>, word: impl Fn(T) -> u64) {
    words.push(list.len() as u64);
    for &(cell, value) in list {
        words.extend([u64::from(cell), word(value)]);
    }
}

impl Touch {
    fn encode(&self, words: &mut Vec<u64>) {
        let flags = u64::from(self.side) | u64::from(self.changed) << 1 | u64::from(self.seen) << 2;
        words.extend([flags, u64::from(self.cell), self.value as u64, self.now as u64]);
        encode_list(&self.olds, words, |value| value as u64);
        encode_list(&self.sources, words, |value| value as u64);
        words.push(self.written.len() as u64);
        words.extend(self.written.iter().map(|&cell| u64::from(cell)));
        words.push(self.between.len() as u64);
        for between in &self.between {
            words.push(u64::from(between.thread) << 1 | u64::from(between.first));
            encode_list(&between.second, words, u64::from);
        }
    }

    fn decode(words: &mut Words<'_>) -> Touch {
        let flags = words.next();
        let mut touch = Touch {
            side: (flags & 1) as u8,
            changed: flags & 2 != 0,
            seen: flags & 4 != 0,
            cell: words.next() as u32,
            value: words.next() as i64,
            now: words.next() as i64,
            ..Touch::default()
        };
        touch.olds = words.list(|word| word as i64);
        touch.sources = words.list(|word| word as i64);
        let written = words.next();
        touch.written = (0..written).map(|_| words.next() as u32).collect();
        let between = words.next();
        for _ in 0..between {
            let head = words.next();
            let second = words.list(|word| word as u8);
            touch.between.push(Between { thread: (head >> 1) as u16, first: head & 1 != 0, second });
        }
        touch
    }
}
