//! Threads that can starve although the other threads are scheduled fairly.
//!
//! **Input**: the fair components of a space; with fair choices, the components that no step leaves. **Output**: for each thread
//! and place at which it can stay for ever, a component that shows it, and the relevant steps of the component.
//!
//! **Algorithm**: consider a part of a fair component
//! 1. without the steps of a thread: if it has its own fair component in which the thread is alive, the thread stays at its place
//!    while others move (it can move from time to time but does not, or it never can);
//! 2. without those steps of a thread that change something visible to others, or that leave a loop: if it has a fair component
//!    in which the thread continues in the loop, it waits there for ever.
//!
//! With fair choices, an execution stays in a component that nothing leaves, and takes all its steps: these components are
//! examined unchanged.
//!
//! **Soundness and limits**: exact for the given components. If a thread waits in nested loops, the inner one counts. A thread
//! that waits for the end of other threads does not starve; they run for ever.

use super::Fairness;
use super::components::{Component, Finder};
use super::waiting::WaitingLoops;
use cssame_vm::{CodeIndex, Obstacle};
use std::collections::BTreeMap;

/// What keeps a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kept {
    /// It stays at an operation.
    At(CodeIndex),
    /// It stays in a loop.
    In(u16),
}

/// A thread that starves, by slot.
#[derive(Clone, Debug)]
pub(super) struct Starved {
    pub thread: usize,
    pub kept: Kept,
    pub component: Component,
}

/// What a thread that never moves stands at in a state, and what it waits for.
pub(super) type Standing<'f> = &'f mut dyn FnMut(u32, usize) -> Option<(CodeIndex, Option<Obstacle>)>;

/// Looks for starving threads.
pub(super) struct Starving<'s, 'a> {
    pub finder: &'s mut Finder<'a>,
    pub loops: &'s WaitingLoops,
    /// Whether there is time left.
    pub may_go_on: &'s mut dyn FnMut() -> bool,
}

impl Starving<'_, '_> {
    /// The threads that starve in some of these components, each at each place once.
    pub(super) fn find(&mut self, fair: &[Component], standing: Standing<'_>) -> Vec<Starved> {
        let mut found: BTreeMap<(usize, Kept), Component> = BTreeMap::new();
        let mut note = |thread: usize, kept: Kept, component: Component| {
            let known = found.get(&(thread, kept)).is_some_and(|known| known.states[0] <= component.states[0]);
            if !known {
                found.insert((thread, kept), component);
            }
        };
        for component in fair {
            for thread in 0..self.finder.space.threads() {
                if !(self.may_go_on)() {
                    break;
                }
                for (kept, part) in self.still(component, thread, standing) {
                    note(thread, kept, part);
                }
                for number in self.loops_of(component, thread) {
                    for part in self.spinning(component, thread, number) {
                        note(thread, Kept::In(number), part);
                    }
                }
            }
        }
        let keys: Vec<(usize, Kept)> = found.keys().copied().collect();
        let has_inner = |thread: usize, outer: u16| {
            keys.iter().any(|&(other, kept)| {
                other == thread && matches!(kept, Kept::In(inner) if self.loops.is_within(inner, outer))
            })
        };
        let all = found.into_iter().map(|((thread, kept), component)| Starved { thread, kept, component });
        all.filter(|one| !matches!(one.kept, Kept::In(outer) if has_inner(one.thread, outer))).collect()
    }

    /// Parts of a component in which a thread never moves.
    fn still(&mut self, component: &Component, thread: usize, standing: Standing<'_>) -> Vec<(Kept, Component)> {
        let space = self.finder.space;
        let others = |step: usize| space.label(step).thread.index() != thread;
        let parts = if self.finder.fairness == Fairness::Choices {
            let moves = component.states.iter().flat_map(|&state| space.steps(state)).any(|step| !others(step));
            if moves { Vec::new() } else { vec![component.clone()] }
        } else {
            self.finder.fair_components(&component.states, &others)
        };
        let mut found = Vec::new();
        for part in parts {
            let stands = part.states.iter().find_map(|&state| {
                space.steps(state).find(|&step| !others(step)).map(|step| (state, space.label(step).at))
            });
            // Where it can move at times, the label of a step tells where it stands, unless that is discarded.
            let known = stands.and_then(|(_, at)| at).map(|at| (at, None));
            let state = stands.map_or(part.states[0], |(state, _)| state);
            match known.or_else(|| standing(state, thread)) {
                None | Some((_, Some(Obstacle::Children { .. } | Obstacle::Thread { .. }))) => {}
                Some((at, _)) => found.push((Kept::At(at), part)),
            }
        }
        found
    }

    /// The loops in which a thread goes on by some step within a component.
    fn loops_of(&mut self, component: &Component, thread: usize) -> Vec<u16> {
        self.finder.mark(&component.states);
        let space = self.finder.space;
        let mut seen = fixedbitset::FixedBitSet::with_capacity(self.loops.len());
        for step in component.states.iter().flat_map(|&state| space.steps(state)) {
            let label = space.label(step);
            if label.thread.index() == thread && label.is_quiet && self.finder.within(step, &|_| true).is_some() {
                seen.extend(label.stayed.iter().map(|&number| usize::from(number)));
            }
        }
        seen.ones().map(|number| number as u16).collect()
    }

    /// Parts of a component in which a thread moves, but stays in a loop and changes nothing.
    fn spinning(&mut self, component: &Component, thread: usize, number: u16) -> Vec<Component> {
        let finder = &mut *self.finder;
        let space = finder.space;
        let waits = |step: usize| {
            let label = space.label(step);
            label.thread.index() != thread || label.is_quiet && !label.left.contains(&number)
        };
        let mut parts = if finder.fairness == Fairness::Choices {
            let all = |states: &[u32]| states.iter().flat_map(|&state| space.steps(state)).all(waits);
            if all(&component.states) { vec![component.clone()] } else { Vec::new() }
        } else {
            finder.fair_components(&component.states, &waits)
        };
        parts.retain(|part| {
            finder.mark(&part.states);
            let mut steps = part.states.iter().flat_map(|&state| space.steps(state));
            steps.any(|step| goes_on(space, step, thread, number) && finder.within(step, &waits).is_some())
        });
        parts
    }
}

/// Whether a step is one of a thread that goes on in a loop.
pub(super) fn goes_on(space: &super::space::Space, step: usize, thread: usize, number: u16) -> bool {
    let label = space.label(step);
    label.thread.index() == thread && label.stayed.contains(&number)
}
