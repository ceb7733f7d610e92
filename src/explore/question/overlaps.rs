//! Finds which calls of two threads are open at the same time, in one execution and in all.
//!
//! **Input**: a program, a number for each relevant function, and the steps of an execution, or a budget for all executions.
//! **Output**: the pairs of numbers whose calls overlap.
//!
//! **Definition**: a call is open from the step that makes it to the step in which it returns; if it does not return, it stays
//! open for ever. A spawned function is called in the step that spawns it. Two calls of different threads overlap if neither
//! returns in a step before the step that makes the other. So a call that waits for its first lock is open. A call without any
//! step of its own is open in the step that makes it. The machine does local work as early as possible: a thread makes a call in
//! the step after which it reaches the call.
//!
//! **Algorithm**: each thread has a stack of its open calls, and each step has a list of the calls that have returned in it. A
//! new call overlaps with those of other threads in both. If two calls overlap, one of them is made while the other is in one of
//! these. For all executions, the stacks are encoded with the states of a search. They follow from the state, so they do not
//! increase the number of states.
//!
//! **Soundness and limits**: exact for one execution, and for all of them if no bound was hit. If executions may be discarded,
//! only steps count from which some execution continues without being discarded.

use crate::states::assumption::{Unexpanded, lasting_states};
use crate::states::{self, EndContext, Monitor, Transition, Visitor};
use cssame_budget::{Bound, Budget};
use cssame_ir::{BlockId, FunctionId, Instruction, Program};
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, Origin, State, ThreadName};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Two numbers, the lesser one first; both may be one.
pub type NumberPair = [u32; 2];

/// What is asked about.
#[derive(Clone, Debug)]
pub struct Asked {
    /// By function: its number, if it is asked about.
    numbers: Vec<Option<u32>>,
    /// The numbers of functions that are spawned, by the instruction.
    spawned: FxHashMap<Origin, u32>,
}

impl Asked {
    /// The functions of a program, by their numbers.
    #[must_use]
    pub fn new(program: &Program, numbers: Vec<Option<u32>>) -> Asked {
        let mut spawned = FxHashMap::default();
        for (function, of) in program.functions.entries() {
            for (block, instructions) in of.blocks.iter().enumerate() {
                for (instruction, what) in instructions.instructions.iter().enumerate() {
                    if let Instruction::Spawn { thread, .. } = what
                        && let Some(number) = numbers.get(thread.function.index()).copied().flatten()
                    {
                        let (block, instruction) = (BlockId::new(block), instruction as u32);
                        spawned.insert(Origin { function, block, instruction }, number);
                    }
                }
            }
        }
        Asked { numbers, spawned }
    }
}

/// The calls that are open in an execution, and the pairs that its last step has made overlap.
#[derive(Clone, Debug)]
pub struct OpenCalls<'a> {
    machine: &'a Machine,
    asked: &'a Asked,
    /// By slot of the thread: its calls, the innermost one last; none for functions that nobody asks about.
    open: Vec<Vec<Option<u32>>>,
    /// The calls that have returned in this step, and whose they were.
    returned: Vec<(ThreadName, u32)>,
    /// Pairs of this step, as they come.
    pairs: Vec<NumberPair>,
}

impl<'a> OpenCalls<'a> {
    /// Before the first step.
    #[must_use]
    pub fn new(machine: &'a Machine, asked: &'a Asked) -> OpenCalls<'a> {
        OpenCalls { machine, asked, open: Vec::new(), returned: Vec::new(), pairs: Vec::new() }
    }

    /// The pairs of calls of which one was made in this step.
    #[must_use]
    pub fn pairs(&self) -> &[NumberPair] {
        &self.pairs
    }

    fn calls_of(&mut self, slot: usize) -> &mut Vec<Option<u32>> {
        if self.open.len() <= slot {
            self.open.resize(slot + 1, Vec::new());
        }
        &mut self.open[slot]
    }

    fn begin(&mut self, thread: ThreadName, called: Option<u32>) {
        let slot = thread.slot.index();
        self.calls_of(slot).push(called);
        let Some(called) = called else { return };
        let others = self.open.iter().enumerate().filter(|&(other, _)| other != slot);
        let open = others.flat_map(|(_, calls)| calls.iter().copied().flatten());
        let returned = self.returned.iter().filter(|(other, _)| other.path != thread.path).map(|&(_, number)| number);
        let pairs = open.chain(returned).map(|other| [called.min(other), called.max(other)]);
        self.pairs.extend(pairs);
    }
}

impl Observer for OpenCalls<'_> {
    fn event(&mut self, _: ThreadName, at: CodeIndex, event: Event) {
        if let Event::Spawn { child } = event
            && let Some(&number) = self.asked.spawned.get(&self.machine.origin(at))
        {
            self.begin(child, Some(number));
        }
    }

    fn begin_step(&mut self, _: ThreadName) {
        self.returned.clear();
        self.pairs.clear();
    }

    fn call(&mut self, thread: ThreadName, _: CodeIndex, function: FunctionId, _: &[i64]) {
        let number = self.asked.numbers.get(function.index()).copied().flatten();
        self.begin(thread, number);
    }

    fn leave(&mut self, thread: ThreadName) {
        if let Some(Some(number)) = self.calls_of(thread.slot.index()).pop() {
            self.returned.push((thread, number));
        }
    }
}

impl Monitor for OpenCalls<'_> {
    type Note = NumberPair;

    fn encode(&self, words: &mut Vec<u64>) {
        for (slot, calls) in self.open.iter().enumerate().filter(|(_, calls)| !calls.is_empty()) {
            words.extend([slot as u64, calls.len() as u64]);
            words.extend(calls.iter().map(|call| call.map_or(0, |number| u64::from(number) + 1)));
        }
    }

    fn decode(&mut self, words: &[u64]) {
        self.open.iter_mut().for_each(Vec::clear);
        self.returned.clear();
        self.pairs.clear();
        let mut left = words.iter().copied();
        while let (Some(slot), Some(length)) = (left.next(), left.next()) {
            let calls = left.by_ref().take(length as usize);
            let calls: Vec<Option<u32>> = calls.map(|word| word.checked_sub(1).map(|number| number as u32)).collect();
            *self.calls_of(slot as usize) = calls;
        }
    }

    fn settle(&mut self, _: &Machine, state: &mut State) {
        state.forget_past();
    }

    fn notes(&self) -> &[NumberPair] {
        &self.pairs
    }
}

/// The pairs of all executions.
#[derive(Clone, Debug)]
pub struct OverlapsAnswer {
    /// In order.
    pub pairs: BTreeSet<NumberPair>,
    /// The bound that was hit; `None` if there are no others.
    pub bound: Option<Bound>,
}

/// Searches all states for calls that overlap, until as many pairs are found as there can be.
#[must_use]
pub fn overlaps(machine: &Machine, asked: &Asked, most: usize, budget: &Budget<'_>) -> OverlapsAnswer {
    let may_discard = machine.may_discard();
    let mut keeper = Keeper { most: if may_discard { usize::MAX } else { most }, ..Keeper::default() };
    keeper.by_state = may_discard;
    let searched = states::search(machine, budget, OpenCalls::new(machine, asked), &mut keeper);
    if may_discard {
        let lasting = lasting_states(&searched.graph, Unexpanded::Lost);
        let lasts = keeper.found.iter().filter(|(to, _)| lasting.contains(*to as usize));
        keeper.pairs = lasts.map(|&(_, pair)| pair).collect();
    }
    OverlapsAnswer { bound: searched.bound.filter(|_| keeper.pairs.len() < most), pairs: keeper.pairs }
}

/// Keeps the pairs.
#[derive(Default)]
struct Keeper {
    most: usize,
    /// Whether it matters where the steps lead.
    by_state: bool,
    found: BTreeSet<(u32, NumberPair)>,
    pairs: BTreeSet<NumberPair>,
}

impl<'a> Visitor<OpenCalls<'a>> for Keeper {
    fn transition(&mut self, &Transition { to, .. }: &Transition, notes: &[NumberPair]) {
        if self.by_state {
            self.found.extend(notes.iter().map(|&pair| (to, pair)));
        } else {
            self.pairs.extend(notes);
        }
    }

    fn discarded(&mut self, _: u32, _: Choice) {}

    fn bytes(&self) -> u64 {
        (self.found.len() * 2 * size_of::<(u32, NumberPair)>()) as u64
    }

    fn is_enough(&self) -> bool {
        self.pairs.len() >= self.most
    }

    fn end(&mut self, _: &EndContext<'_, OpenCalls<'a>>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
