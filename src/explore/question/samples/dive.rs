//! A depth-first search through states.
//!
//! **Input**: a machine, and shares of work, one after the other. **Output**: each execution that ends, as a [`Sample`].
//!
//! **Algorithm**: depth-first search with a set of the visited states. The thread of the last step goes first if it can, so that
//! the first execution has few thread switches, and the next ones differ from it near their ends. The observations of the reads
//! on the path to the state are kept with it.
//!
//! **Soundness and limits**: an execution that leads to a visited state is not followed, so terms that only such an execution has
//! are missed. The states on the path take memory: an execution is cut beyond [`STACK`] bytes, and beyond the steps of the
//! budget. A search that has visited [`STATES`] states does not continue. Both limits are lower if there is less memory: other
//! searches need most of it.

use super::seeds::{INSTRUCTIONS_FOR_WORK, STEPS_BETWEEN_LOOKS};
use super::{Reads, Sample, SampleEnd};
use crate::states::{End, fingerprint_of};
use cssame_budget::Budget;
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{Choice, Machine, Progress, State, Tables, Work};
use rustc_hash::FxHashSet;

/// Bytes of the states on the way to the one that is looked at.
const STACK: usize = 256 << 20;

/// What a step costs, with the copy and the fingerprint of its state, beside a step of an execution by a seed.
const STEP: u64 = 4;

/// Steps of an execution at most.
const MAX_STEPS: u32 = 100_000;

/// States whose fingerprints are kept.
const STATES: usize = 4_000_000;

/// The part of all memory that the states on the way may take, and that fingerprints may take: one in so many bytes.
const PART_OF_MEMORY: u64 = 16;

/// Bytes of a fingerprint while the set of them grows.
const FINGERPRINT: u64 = 52;

/// A search that can be gone on with.
pub(super) struct Dive<'a> {
    machine: &'a Machine,
    /// Whether it has begun.
    has_begun: bool,
    /// The states on the way, from the first one on.
    stack: Vec<Level>,
    /// Bytes of those.
    bytes: usize,
    /// How many there may be.
    most_bytes: usize,
    /// The steps between them.
    path: Vec<Choice>,
    /// What reads have seen in those steps.
    pairs: Vec<(ReadId, DefinitionId)>,
    visited: FxHashSet<u128>,
    /// A state that is not needed any more.
    spare: State,
}

/// A state on the way.
struct Level {
    state: State,
    /// The steps from it that are still to be done, the next one last.
    choices: Vec<Choice>,
    /// How many pairs were seen before it.
    pairs: usize,
}

impl<'a> Dive<'a> {
    pub(super) fn new(machine: &'a Machine) -> Dive<'a> {
        Dive {
            machine,
            has_begun: false,
            stack: Vec::new(),
            bytes: 0,
            most_bytes: STACK,
            path: Vec::new(),
            pairs: Vec::new(),
            visited: FxHashSet::default(),
            spare: State::default(),
        }
    }

    /// Goes on until the share is used up; gives the number of executions that have ended.
    pub(super) fn run(&mut self, tables: &mut Tables, budget: &Budget<'_>, note: &mut dyn FnMut(&Sample<'_>)) -> u64 {
        let limits = budget.limits();
        let (mut work, most) = (limits.max_work.unwrap_or(0), limits.max_executions.unwrap_or(u64::MAX));
        let max_steps = limits.max_steps.map_or(MAX_STEPS, |steps| steps.min(MAX_STEPS)) as usize;
        let part = limits.max_memory.map_or(u64::MAX, |bytes| bytes / PART_OF_MEMORY);
        let most_states = STATES.min((part / FINGERPRINT) as usize);
        self.most_bytes = STACK.min(part as usize);
        let mut executions = 0;
        if !std::mem::replace(&mut self.has_begun, true) {
            self.begin(tables);
        }
        let mut looks = 0;
        while work > 0 && executions < most && self.visited.len() < most_states {
            looks += 1;
            if looks % STEPS_BETWEEN_LOOKS == 0 && budget.check().is_some() {
                break;
            }
            let Some(level) = self.stack.last_mut() else { break };
            let Some(choice) = level.choices.pop() else {
                self.back();
                continue;
            };
            self.pairs.truncate(level.pairs);
            self.path.truncate(self.stack.len() - 1);
            let (end, cost) = self.step(choice, tables, max_steps);
            work = work.saturating_sub(cost);
            if let Some(end) = end {
                executions += u64::from(end != SampleEnd::Cut);
                note(&Sample { tables, state: &self.spare, steps: &self.path, pairs: &self.pairs, end });
            }
        }
        executions
    }

    fn begin(&mut self, tables: &mut Tables) {
        let mut reads = Reads::default();
        let state = self.machine.start(tables, &mut reads);
        self.pairs.extend(reads.pairs.iter().map(|&(pair, _)| pair));
        if !self.machine.is_finished(&state) {
            self.push(state, None);
        }
    }

    /// Does a step from the last state of the way. Gives how the execution ends behind it, if it does, and what the step has
    /// cost; the state is the spare one then.
    fn step(&mut self, choice: Choice, tables: &mut Tables, max_steps: usize) -> (Option<SampleEnd>, u64) {
        let machine = self.machine;
        let mut state = std::mem::take(&mut self.spare);
        if let Some(level) = self.stack.last() {
            state.clone_from(&level.state);
        }
        let mut watch = (Reads::default(), Work::default());
        let progress = machine.step(&mut state, tables, choice, &mut watch);
        self.path.push(choice);
        self.pairs.extend(watch.0.pairs.iter().map(|&(pair, _)| pair));
        let cost = STEP + watch.1.0 / INSTRUCTIONS_FOR_WORK;
        let end = match progress {
            Progress::Finished => Some(SampleEnd::Over(End::Finished)),
            Progress::Failed(failure) => Some(SampleEnd::Over(End::Failed(failure))),
            Progress::Discarded => None,
            Progress::Running if machine.is_deadlock(&state) => Some(SampleEnd::Over(End::Deadlock)),
            Progress::Running if self.path.len() >= max_steps || self.bytes + state.bytes() > self.most_bytes => {
                Some(SampleEnd::Cut)
            }
            Progress::Running => {
                if self.visited.insert(fingerprint_of(machine, &state, progress)) {
                    self.push(state, Some(choice));
                    return (None, cost);
                }
                None
            }
        };
        self.spare = state;
        (end, cost)
    }

    /// Goes one step further.
    fn push(&mut self, state: State, last: Option<Choice>) {
        let mut choices = Vec::new();
        self.machine.enabled(&state, &mut choices);
        // The next one is the last of the list: first the thread that did the last step, then the others in order.
        choices.reverse();
        if let Some(last) = last {
            choices.sort_by_key(|choice| choice.thread == last.thread);
        }
        self.bytes += state.bytes();
        self.stack.push(Level { state, choices, pairs: self.pairs.len() });
    }

    /// Goes one step back.
    fn back(&mut self) {
        if let Some(level) = self.stack.pop() {
            self.bytes -= level.state.bytes();
            self.spare = level.state;
        }
    }
}
