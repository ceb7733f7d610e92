//! The names of the steps of many schedules.
//!
//! **Input**: one schedule after the other.
//!
//! **Output**: their steps with the names of [`Naming`].
//!
//! **Algorithm**. A search may produce thousands of schedules with thousands of steps, few of which are different. A step is
//! looked up by all data on which its name depends, and only a new step is built. Schedules share equal steps.

use super::file::Step;
use super::naming::Naming;
use super::walk::Walks;
use cssame_ir::LeafId;
use cssame_vm::{Choice, CodeIndex, PathId, Pending, State};
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};
use std::ops::Deref;
use std::sync::Arc;

/// A step that several schedules may share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedStep(Arc<Step>);

impl SharedStep {
    /// The step itself.
    #[must_use]
    pub fn into_step(self) -> Step {
        Arc::unwrap_or_clone(self.0)
    }
}

impl Deref for SharedStep {
    type Target = Step;

    fn deref(&self) -> &Step {
        &self.0
    }
}

impl Serialize for SharedStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Naming<'_> {
    /// The names of steps from the beginning of the program, as far as they can be done.
    #[must_use]
    pub fn steps(&self, choices: &[Choice]) -> Vec<Step> {
        Namer::new(*self).steps(choices).into_iter().map(SharedStep::into_step).collect()
    }
}

/// All that the name of a step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    thread: PathId,
    at: CodeIndex,
    pending: Option<Pending>,
    object: Option<(LeafId, u32)>,
    joined: Option<PathId>,
    alternative: Option<u32>,
}

/// Gives names to the steps of schedules, one after the other.
pub struct Namer<'a> {
    naming: Naming<'a>,
    walks: Walks<'a>,
    known: FxHashMap<Key, SharedStep>,
    /// The steps of the schedule before.
    before: Vec<SharedStep>,
}

impl<'a> Namer<'a> {
    /// Before the first schedule.
    #[must_use]
    pub fn new(naming: Naming<'a>) -> Namer<'a> {
        Namer { naming, walks: Walks::new(naming.machine), known: FxHashMap::default(), before: Vec::new() }
    }

    /// The names of steps from the beginning of the program, as far as they can be done.
    pub fn steps(&mut self, choices: &[Choice]) -> Vec<SharedStep> {
        let naming = self.naming;
        let (done, mut walk) = self.walks.begin(choices);
        let mut steps = Vec::with_capacity(choices.len());
        steps.extend_from_slice(&self.before[..done]);
        for &choice in &choices[done..] {
            let alternatives = walk.alternatives(choice.thread);
            if choice.alternative >= alternatives {
                break;
            }
            let key = key(naming, walk.state(), choice, alternatives);
            let name = || SharedStep(Arc::new(naming.step(walk.state(), walk.tables(), choice, alternatives)));
            steps.push(self.known.entry(key).or_insert_with(name).clone());
            if walk.step(choice, &mut ()).is_err() {
                break;
            }
        }
        self.before.clone_from(&steps);
        steps
    }
}

/// What the name of a step depends on.
fn key(naming: Naming<'_>, state: &State, choice: Choice, alternatives: u32) -> Key {
    let machine = naming.machine;
    let pending = machine.pending(state, choice.thread);
    let object = match pending {
        Some(
            Pending::Synchronise { address: Some(address), .. }
            | Pending::Relock { address: Some(address) }
            | Pending::WaitToWrite { address }
            | Pending::TimeOut { address }
            | Pending::SpuriousWakeup { address },
        ) => machine.leaf_at(state, address),
        _ => None,
    };
    let joined = match pending {
        Some(Pending::JoinThread { thread: Some(thread) }) => Some(state.path(thread)),
        _ => None,
    };
    Key {
        thread: state.path(choice.thread),
        at: state.position(choice.thread),
        pending,
        object,
        joined,
        alternative: (alternatives > 1).then_some(choice.alternative),
    }
}
