//! The machine: a compiled program, and queries about its states.
//!
//! **Input**: a program and its [`Visibility`]. **Output**: what a state is about: names, places, cells and frames. `start` creates
//! the first state, `moves` says which threads can move, `step` executes steps.

use super::code::{CodeIndex, Origin};
use super::compile::{self, Slots};
use super::compiled::Compiled;
use super::memory::Layout;
use super::observe::Cell;
use super::state::{State, ThreadIndex, ThreadStatus};
use super::tables::{PathId, Tables};
use super::visibility::Visibility;
use super::watched::Watched;
use cssame_ir::{FunctionId, LeafId, Pointer, Program, TextId, Texts, VariableId};
use cssame_source::Span;
use fixedbitset::FixedBitSet;

/// Limits and options of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Local instructions between two visible operations beyond which a thread counts as one that runs for ever.
    pub local_instructions: u32,
    /// Instructions of one atomic block, its visible operations included, beyond which it counts as one that runs for ever.
    pub block_instructions: u32,
    /// Frames of one thread beyond which its calls count as endless.
    pub frames: u32,
    /// Thread slots in use at one time beyond which a program fails.
    pub threads: u16,
    /// Which executions a program has.
    pub semantics: Semantics,
}

/// What may be had one way or another of the executions of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semantics {
    /// Whether a thread that waits for a condition may wake without a notification.
    pub spurious_wakeups: bool,
    /// Whether no thread gets a readers-writer lock for reading while one waits to write.
    pub prefer_writers: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            local_instructions: 1_000_000,
            block_instructions: 10_000_000,
            frames: 1_000,
            threads: 65_000,
            semantics: Semantics::default(),
        }
    }
}

/// Which states have one fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingerprints {
    /// Those that have the same future, the same outputs and the same last writers.
    Exact,
    /// Also those that differ only in which iteration of a `parfor` does what: see [`Machine::up_to_symmetry`].
    UpToSymmetry,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) compiled: Compiled,
    pub(super) layout: Layout,
    pub(super) options: Options,
    pub(super) texts: Texts,
    pub(super) main: Option<FunctionId>,
    pub(super) main_label: TextId,
    /// See [`Machine::watching`].
    pub(super) watched: Option<Watched>,
    /// See [`Machine::knowing_looks`].
    pub(super) may_look: FixedBitSet,
    pub(super) fingerprints: Fingerprints,
    pub(super) visibility: Visibility,
    /// See [`Machine::ending_at_once`].
    pub(super) ends_at_once: bool,
}

impl Machine {
    /// Compiles a program with the usual [`Options`].
    #[must_use]
    pub fn new(program: &Program, visible: &Visibility) -> Machine {
        Machine::with_options(program, visible, Options::default())
    }

    /// Compiles a program.
    #[must_use]
    pub fn with_options(program: &Program, visible: &Visibility, options: Options) -> Machine {
        let layout = Layout::new(program);
        let compiled = compile::compile(program, visible, &layout, Slots::Shared);
        let mut texts = program.texts.clone();
        let main_label = texts.intern("main");
        let (main, fingerprints) = (program.main, Fingerprints::Exact);
        Machine {
            compiled,
            layout,
            options,
            texts,
            main,
            main_label,
            watched: None,
            may_look: FixedBitSet::new(),
            fingerprints,
            visibility: visible.clone(),
            ends_at_once: false,
        }
    }

    /// A machine whose fingerprints take iterations of a `parfor` for one another where nothing tells them apart: they
    /// do not print and make no threads, and what they do depends on what is live, not on who they are. Such states
    /// have the same futures, but for the names of those iterations. `None` for a program without such a `parfor`, or
    /// with a watched thread.
    #[must_use]
    pub fn up_to_symmetry(&self) -> Option<Machine> {
        // A thread that is watched is known by its number.
        let can = self.compiled.interchangeable.contains(&true) && self.watched.is_none();
        can.then(|| Machine { fingerprints: Fingerprints::UpToSymmetry, ..self.clone() })
    }

    /// How many addresses globals have, the first one included, which nothing uses.
    #[must_use]
    pub fn global_cells(&self) -> u32 {
        self.layout.global_count()
    }

    /// The machine in which one thread alone performs a read that is visible.
    #[must_use]
    pub fn watching(mut self, watched: Watched) -> Machine {
        watched.mark(&mut self.compiled);
        self.watched = Some(watched);
        self
    }

    /// The read that one thread alone performs.
    #[must_use]
    pub fn watched(&self) -> Option<Watched> {
        self.watched
    }

    /// Which accesses to memory are steps of their own.
    #[must_use]
    pub fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    /// Which states have one fingerprint.
    #[must_use]
    pub fn fingerprints(&self) -> Fingerprints {
        self.fingerprints
    }

    /// Whether states tell who reads under readers-writer locks.
    pub(super) fn has_readers(&self) -> bool {
        self.layout.has_rwlocks
    }

    /// A machine in which the other threads do nothing any more where main has ended, if that ends the program: an execution that
    /// goes on for ever does so before. None where it does the same as this one.
    #[must_use]
    pub fn ending_at_once(&self) -> Option<Machine> {
        self.compiled.ends_with_main.then(|| Machine { ends_at_once: true, ..self.clone() })
    }

    /// Where the frames of a thread go on, the innermost one first: the instruction that it stands before or waits at,
    /// then those behind the calls that it is in.
    pub fn frames(&self, state: &State, thread: ThreadIndex) -> impl Iterator<Item = CodeIndex> {
        let slot = state.threads.get(thread.index());
        let open = slot.filter(|slot| !matches!(slot.status, ThreadStatus::Free | ThreadStatus::Ended));
        let first = open.map(|slot| (slot.pc, slot.base + slot.frame, slot.depth));
        let outer = move |&(_, start, depth): &(u32, u32, u32)| {
            let return_to = *state.stack.get(start as usize)? as u32;
            let caller = self.compiled.origins.get(return_to.checked_sub(1)? as usize)?.function;
            let size = self.compiled.functions[caller].frame_size;
            Some((return_to, start.checked_sub(size)?, depth.checked_sub(1)?))
        };
        std::iter::successors(first, outer).map(|(at, ..)| CodeIndex(at))
    }

    /// The functions that a thread has entered and in which it has done nothing yet, the innermost one first.
    pub fn entered(&self, state: &State, thread: ThreadIndex) -> impl Iterator<Item = FunctionId> {
        let fresh = state.threads.get(thread.index()).map_or(0, |slot| slot.fresh as usize);
        let mut frames = self.frames(state, thread).take(fresh);
        let first = frames.next().map(|at| self.origin(at).function);
        // Those behind a call may stand at the end of their function.
        let callers =
            frames.filter_map(|at| self.compiled.origins.get(at.index().checked_sub(1)?).map(|of| of.function));
        first.into_iter().chain(callers)
    }

    /// Where an instruction comes from.
    #[must_use]
    pub fn origin(&self, at: CodeIndex) -> Origin {
        self.compiled.origins[at.index()]
    }

    /// The place in the text of an instruction.
    #[must_use]
    pub fn span(&self, at: CodeIndex) -> Span {
        self.compiled.spans[at.index()]
    }

    /// The same instruction in the function that this one's is a copy of: copies of one place are one place.
    #[must_use]
    pub fn place(&self, at: CodeIndex) -> CodeIndex {
        let Compiled { copied_from, origins, functions, .. } = &self.compiled;
        let Some(origin) = origins.get(at.index()) else { return at };
        let Some(&source) = copied_from.get(origin.function.index()) else { return at };
        let place = at.0 - functions[origin.function].entry + functions[source].entry;
        // Copies have the same code; where they had not, an instruction would stand for itself.
        let is_same = origins.get(place as usize).is_some_and(|other| {
            (other.function, other.block, other.instruction) == (source, origin.block, origin.instruction)
        });
        if is_same { CodeIndex(place) } else { at }
    }

    /// Number of instructions.
    #[must_use]
    pub fn code_length(&self) -> usize {
        self.compiled.code.len()
    }

    /// The texts of the program.
    #[must_use]
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The options that it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The variable that a cell belongs to, and the offset of the cell in it.
    #[must_use]
    pub fn variable_at(&self, state: &State, address: u32) -> Option<(VariableId, u32)> {
        self.layout.variable_at(state, address)
    }

    /// The leaf that a cell belongs to, and the offset of the cell in it.
    #[must_use]
    pub fn leaf_at(&self, state: &State, address: u32) -> Option<(LeafId, u32)> {
        let (variable, offset) = self.layout.variable_at(state, address)?;
        self.layout.leaf_at(variable, offset)
    }

    /// The name of a cell: what it is a part of, and which part.
    #[must_use]
    pub fn cell(&self, state: &State, address: u32) -> Option<Cell> {
        self.layout.cell(&state.blocks, address)
    }

    /// How many objects on the heap were made of the same variable before that of a cell, in the order of their addresses, in the
    /// execution that has these tables.
    #[must_use]
    pub fn made_before(&self, tables: &Tables, cell: Cell) -> usize {
        self.layout.made_before(tables, cell.object)
    }

    /// The name of the cell that a pointer leads to, or that it has led to in memory that was given back.
    #[must_use]
    pub fn cell_behind(&self, state: &State, tables: &Tables, pointer: Pointer) -> Option<Cell> {
        self.layout.cell_behind(state, tables, pointer)
    }

    /// The cell that a pointer leads to, if there is one.
    #[must_use]
    pub fn pointed_at(&self, state: &State, pointer: Pointer) -> Option<u32> {
        self.layout.objects(&state.blocks).cell(pointer).map(|(_, address, _)| address)
    }

    /// The first cell of a global variable.
    #[must_use]
    pub fn global_address(&self, variable: VariableId) -> Option<u32> {
        self.layout.global_address(variable)
    }

    /// The name of a thread as users read it.
    #[must_use]
    pub fn path_name(&self, tables: &Tables, path: PathId) -> String {
        tables.path_name(&self.texts, path)
    }

    /// What the threads have printed, in the order of the threads; those that have printed nothing are left out.
    #[must_use]
    pub fn outputs(&self, state: &State, tables: &Tables) -> Vec<(PathId, super::tables::OutputId)> {
        let mut outputs: Vec<_> = state.printed(tables).collect();
        outputs.sort_by(|left, right| tables.compare_paths(left.0, right.0));
        outputs
    }
}
