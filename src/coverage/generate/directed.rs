//! Executions that are directed at an instance of a pattern.
//!
//! **Input**: an [`Aim`], and a seed. **Output**: a [`Policy`].
//!
//! **Algorithm** (Wang et al., algorithm 5: a thread is scheduled eagerly when it reaches a step of the pattern; decisions depend
//! on what has happened, not on a plan made before).
//!
//! 1. The next letter of the pattern is executed as soon as its thread stands before the access of the letter, on the cell that
//!    the earlier letters have fixed.
//! 2. The other thread is held if it stands before a letter of its own whose turn has not come: if it went on, that letter would
//!    be lost. It is released when no other thread can move.
//! 3. Otherwise the thread of the next letter goes on in three of four executions; in the others a thread is drawn at random. A
//!    thread that has run for long without reaching its letter may be waiting for the other thread: then threads are drawn as
//!    well.
//! 4. One of four executions may let the first letter pass, so that the pattern may begin later.
//! 5. After the last letter, threads are drawn at random.
//!
//! **Soundness and limits**: every execution is an execution of the program, whatever its aim. The two threads of the test
//! execute the letters; threads that a call creates execute letters only by chance.

use crate::instance::Instance;
use crate::pattern::{Role, Slot};
use crate::universe::{AccessId, Binding};
use cssame_ir::{Access, Program};
use cssame_schedule::{Decision, Lookahead, Policy, Random, View};
use cssame_vm::{Choice, CodeIndex, Event, Move, PathId, ThreadIndex, ThreadName};

/// What an execution is directed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// The instance.
    pub instance: Instance,
    /// Which of the two threads of the test begins.
    pub first: usize,
}

/// Steps that a thread may go on for without coming to its letter, before threads are drawn.
const RUN: u32 = 200;

/// A letter of the pattern, for this test.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    thread: usize,
    slot: usize,
    access: AccessId,
}

/// The policy of one execution.
#[derive(Debug)]
pub struct Directed<'a> {
    program: &'a Program,
    binding: &'a Binding,
    labels: &'a [String; 2],
    letters: Vec<Wanted>,
    /// Letters that were played.
    played: usize,
    /// The cells of the two variables, as far as they are fixed.
    cells: [Option<u32>; 2],
    /// The slots of the two threads, and their names.
    threads: [Option<(ThreadIndex, PathId)>; 2],
    /// Whether the thread of the next letter goes on.
    prefers: bool,
    /// Whether the first letter may pass.
    passes: bool,
    /// Whether the step that is done plays no letter.
    passing: bool,
    /// The instruction of this step that has played a letter.
    last: Option<CodeIndex>,
    /// Steps since a letter was played.
    run: u32,
    random: Random,
    lookahead: Lookahead,
}

impl<'a> Directed<'a> {
    /// The policy of a seed.
    #[must_use]
    pub fn new(
        (program, binding): (&'a Program, &'a Binding),
        labels: &'a [String; 2],
        aim: &Aim,
        seed: u64,
    ) -> Directed<'a> {
        let mut random = Random::new(seed);
        let wanted = aim.instance.steps().map(|(letter, access)| Wanted {
            thread: if letter.role == Role::A { aim.first } else { 1 - aim.first },
            slot: usize::from(letter.slot == Slot::Y),
            access,
        });
        let (prefers, passes) = (random.below(4) != 0, random.below(4) == 0);
        Directed {
            program,
            binding,
            labels,
            letters: wanted.collect(),
            played: 0,
            cells: [None; 2],
            threads: [None; 2],
            prefers,
            passes,
            passing: false,
            last: None,
            run: 0,
            random,
            lookahead: Lookahead::default(),
        }
    }

    /// Whether all letters were played.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.played == self.letters.len()
    }

    /// Finds the slots of the two threads by their names.
    fn find_threads(&mut self, view: &View<'_>, moves: &[Move]) {
        for one in moves {
            let path = view.state.path(one.thread);
            if self.threads.iter().flatten().any(|known| *known == (one.thread, path)) {
                continue;
            }
            let Some(name) = view.tables.path(path) else { continue };
            if name.parent != Some(PathId(0)) || name.instance != 1 {
                continue;
            }
            let label = view.machine.texts().get(name.label);
            if let Some(place) = self.labels.iter().position(|known| known == label) {
                self.threads[place] = Some((one.thread, path));
            }
        }
    }

    /// The slot of a thread of the test, if it can move.
    fn movable(&self, thread: usize, view: &View<'_>, moves: &[Move]) -> Option<ThreadIndex> {
        let (slot, path) = self.threads[thread]?;
        let can = moves.iter().any(|one| one.thread == slot) && view.state.path(slot) == path;
        can.then_some(slot)
    }

    /// Whether a thread stands before a letter.
    fn is_at(&mut self, view: &View<'_>, thread: ThreadIndex, letter: usize) -> bool {
        let Wanted { slot, access, .. } = self.letters[letter];
        let accesses = self.lookahead.accesses(self.program, view, thread);
        let is_cell = |address: u32| self.cells[slot].is_none_or(|known| known == address);
        accesses.iter().any(|one| self.binding.of(one.access) == Some(access) && is_cell(one.address))
    }

    /// The thread that goes next.
    fn draw(&mut self, view: &View<'_>, moves: &[Move]) -> ThreadIndex {
        if self.is_done() {
            return self.any(moves, None);
        }
        let next = self.letters[self.played];
        let performer = self.movable(next.thread, view, moves);
        if let Some(thread) = performer
            && self.is_at(view, thread, self.played)
        {
            self.passing = self.passes && self.played == 0 && self.random.below(2) == 0;
            return thread;
        }
        let own = (self.played..self.letters.len()).find(|&letter| self.letters[letter].thread != next.thread);
        let other = self.movable(1 - next.thread, view, moves);
        let held = match (own, other) {
            (Some(letter), Some(thread)) if self.is_at(view, thread, letter) => Some(thread),
            _ => None,
        };
        match performer {
            Some(thread) if self.prefers && self.run < RUN => thread,
            _ => self.any(moves, held),
        }
    }

    /// Any thread but the one that is held, unless nobody else can move.
    fn any(&mut self, moves: &[Move], held: Option<ThreadIndex>) -> ThreadIndex {
        let free = || moves.iter().filter(|one| Some(one.thread) != held);
        let count = free().count() as u32;
        if count == 0 {
            return moves[0].thread;
        }
        let place = self.random.below(count) as usize;
        free().nth(place).map_or(moves[0].thread, |one| one.thread)
    }
}

impl Policy for Directed<'_> {
    const OBSERVES: bool = true;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        (self.passing, self.last) = (false, None);
        self.run = self.run.saturating_add(1);
        let thread = if let [only] = moves {
            only.thread
        } else {
            self.find_threads(view, moves);
            self.draw(view, moves)
        };
        let alternatives = moves.iter().find(|one| one.thread == thread).map_or(1, |one| one.alternatives);
        let alternative = if alternatives == 1 { 0 } else { self.random.below(alternatives) };
        Decision::Step(Choice { thread, alternative })
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        let (access, address) = match event {
            Event::Read { read, address, .. } => (Access::Read(read), address),
            Event::Write { definition, address, .. } => (Access::Write(definition), address),
            _ => return,
        };
        let Some(&Wanted { thread: wanted, slot, access: id }) = self.letters.get(self.played) else { return };
        let is_thread = self.threads[wanted].is_some_and(|(_, path)| path == thread.path);
        let is_cell = self.cells[slot].is_none_or(|known| known == address);
        // An atomic read and write is one step, and plays one letter.
        let is_free = !self.passing && self.last != Some(at);
        if is_thread && is_cell && is_free && self.binding.of(access) == Some(id) {
            self.cells[slot] = Some(address);
            self.played += 1;
            self.last = Some(at);
            self.run = 0;
        }
    }
}
