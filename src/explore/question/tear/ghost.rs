//! What a search has to remember of an execution to see a tear.
//!
//! In: the events of an execution. Out: whether it has torn the two touches of the [`Watch`] apart, told through
//! [`Signals`]. For each thread within the method the ghost keeps the latest touch of each cell of either variable, and what
//! threads within the other method have done to both since then.

use super::touch::{Access, Touch, enter};
use super::watch::{Distance, FIRST, Places, SECOND, SOURCE, Watch};
use super::words::{Words, encode_list};
use crate::correlation::AccessKind;
use crate::explore::states::Ghost;
use crate::ir::{FunctionId, Program};
use crate::schedule::Nesting;
use crate::vm::{CodeIndex, Event, Observer, ThreadIndex, ThreadName};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cells of a thread that are watched at once; an array of more is too much.
const MAX_TOUCHES: usize = 64;

/// Yes or no. A ghost may be sent to another thread; this one is not used in several at a time.
#[derive(Debug, Default)]
pub(super) struct Flag(AtomicBool);

impl Flag {
    pub(super) fn set(&self, value: bool) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What ghosts tell the search; not a part of any state.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// This step has torn the two apart.
    pub torn: Flag,
    /// In this step the other method fails after it has touched one half that is new and one that is not.
    pub half: Flag,
    /// Some execution has changed the second variable after a touch of the first.
    pub completed: Flag,
    /// Something was too much to remember.
    pub overflow: Flag,
}

/// What does not change in a search.
#[derive(Debug)]
pub(super) struct Fixed {
    pub watch: Watch,
    pub places: Places,
    pub distance: Option<Distance>,
    pub signals: Signals,
}

impl Fixed {
    pub(super) fn new(program: &Program, watch: &Watch) -> Fixed {
        let [first, second] = watch.sides;
        Fixed {
            watch: watch.clone(),
            places: Places::new(program, watch),
            distance: Distance::between(program, first.symbol, second.symbol),
            signals: Signals::default(),
        }
    }
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Watched {
    /// Its calls of the method.
    method: Nesting,
    /// Its calls of the other method.
    other: Nesting,
    touches: Vec<Touch>,
    /// What the method has read of the sources last.
    sources: Vec<(u32, i64)>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct TearGhost {
    fixed: Arc<Fixed>,
    threads: Vec<Watched>,
    /// Whether it has happened; nothing else matters then.
    pub torn: bool,
}

impl TearGhost {
    pub(super) fn new(fixed: Arc<Fixed>) -> TearGhost {
        TearGhost { fixed, threads: Vec::new(), torn: false }
    }

    fn thread(&mut self, thread: ThreadIndex) -> &mut Watched {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Watched::default());
        }
        &mut self.threads[thread.index()]
    }

    fn access(&mut self, thread: ThreadIndex, access: Access) {
        let fixed = Arc::clone(&self.fixed);
        let interferes = self.thread(thread).other.is_inside();
        for (index, watched) in self.threads.iter_mut().enumerate() {
            if index != thread.index() {
                for touch in &mut watched.touches {
                    touch.foreign(&fixed, access, interferes.then_some(thread.0));
                }
            }
        }
        let watched = &mut self.threads[thread.index()];
        if !watched.method.is_inside() {
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
        let fixed = Arc::clone(&self.fixed);
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

impl Observer for TearGhost {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let thread = thread.slot;
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
            Event::Failure(_) if self.thread(thread).other.is_inside() => self.failure(thread),
            Event::End { .. } => *self.thread(thread) = Watched::default(),
            _ => {}
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        let thread = thread.slot;
        if self.torn {
            return;
        }
        let (method, other) = (self.fixed.watch.method, self.fixed.watch.other);
        let watched = self.thread(thread);
        watched.method.enter(function == method);
        watched.other.enter(function == other);
    }

    fn leave(&mut self, thread: ThreadName) {
        let thread = thread.slot;
        if self.torn {
            return;
        }
        let watched = self.thread(thread);
        let left = watched.other.is_outermost();
        if watched.method.is_outermost() {
            watched.touches.clear();
            watched.sources.clear();
        }
        watched.method.leave();
        watched.other.leave();
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
            words.push(u64::from(thread.method.frames()) << 32 | u64::from(thread.other.frames()));
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
            let (method, other) = (Nesting::from_frames((depths >> 32) as u32), Nesting::from_frames(depths as u32));
            self.threads.push(Watched { method, other, touches, sources });
        }
    }
}
