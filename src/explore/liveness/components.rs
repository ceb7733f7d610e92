//! Strongly connected components of a subset of the states, and those that are fair cycles.
//!
//! **Input**: a [`Space`], states, the steps that count, and the required [`Fairness`]. **Output**: the components that contain a
//! step, each with its states, and those in which an execution can stay and be fair.
//!
//! **Algorithm**
//! 1. Find components by depth-first search (Tarjan 1972), without recursion; components that others lead to come first.
//! 2. A component is fair if each thread cannot move in one of its states, or takes one of the steps that count (generalized
//!    Büchi acceptance; Lichtenstein and Pnueli 1985, Emerson and Lei 1987). Then a cycle through all its states and steps is
//!    weakly fair. If a part of a component satisfies one of these conditions, so does the component. So if some cycle is fair,
//!    the component that contains it is fair too.
//! 3. Strong fairness requires that a thread takes a step in the component, or can continue in none of its states (Streett
//!    acceptance). If a thread could continue but does not, the states in which it could are removed, and the components of the
//!    rest are checked in the same way (Emerson and Lei 1987). That thread can then continue in no state, so this happens at most
//!    once for each thread.
//!
//! **Soundness and limits**: exact. In the middle of an atomic block the other threads cannot move, but this does not excuse
//! unfairness: such states do not count as states in which a thread cannot move. Fairness never requires a spurious wake-up.

use super::Fairness;
use super::space::Space;
use fixedbitset::FixedBitSet;

/// No number.
const NONE: u32 = u32::MAX;

/// States that lead to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Component {
    /// By rising number: the first one is nearest to the beginning.
    pub states: Vec<u32>,
}

/// Which steps count.
pub(super) type Follow<'f> = &'f dyn Fn(usize) -> bool;

/// Finds components; what it needs for that is allocated once.
pub(super) struct Finder<'a> {
    pub space: &'a Space,
    /// What a cycle has to be.
    pub fairness: Fairness,
    /// By state: which of the regions it belongs to that were marked last.
    region: Vec<u32>,
    /// Number of regions that were marked.
    regions: u32,
    index: Vec<u32>,
    low: Vec<u32>,
}

/// A state whose steps are followed, and the next of them.
struct Frame {
    state: u32,
    next: usize,
}

impl<'a> Finder<'a> {
    pub(super) fn new(space: &'a Space, fairness: Fairness) -> Finder<'a> {
        let states = space.len();
        Finder { space, fairness, region: vec![0; states], regions: 0, index: vec![NONE; states], low: vec![0; states] }
    }

    /// Marks states as the region that is looked at now.
    pub(super) fn mark(&mut self, states: &[u32]) {
        self.regions += 1;
        states.iter().for_each(|&state| self.region[state as usize] = self.regions);
    }

    /// Whether a state is in the region.
    pub(super) fn is_marked(&self, state: u32) -> bool {
        self.region[state as usize] == self.regions
    }

    /// Where a step leads, if it counts and stays in the region.
    pub(super) fn within(&self, step: usize, follow: Follow<'_>) -> Option<u32> {
        self.space.target(step).filter(|&target| self.is_marked(target) && follow(step))
    }

    /// The components of these states that have a step within; those that others lead to come first. They are the region
    /// then.
    pub(super) fn components(&mut self, states: &[u32], follow: Follow<'_>) -> Vec<Component> {
        self.mark(states);
        states.iter().for_each(|&state| self.index[state as usize] = NONE);
        let mut found = Vec::new();
        let (mut next, mut open, mut frames) = (0, Vec::new(), Vec::new());
        for &root in states {
            if self.index[root as usize] != NONE {
                continue;
            }
            self.enter(root, &mut next, &mut open, &mut frames);
            while let Some(Frame { state, next: step }) = frames.last_mut() {
                let (state, at) = (*state, *step);
                if at < self.space.steps(state).end {
                    *step += 1;
                    let Some(target) = self.within(at, follow) else { continue };
                    if self.index[target as usize] == NONE {
                        self.enter(target, &mut next, &mut open, &mut frames);
                    } else {
                        // That of a state whose component is complete is not less than any.
                        self.low[state as usize] = self.low[state as usize].min(self.low[target as usize]);
                    }
                    continue;
                }
                frames.pop();
                if let Some(Frame { state: parent, .. }) = frames.last() {
                    self.low[*parent as usize] = self.low[*parent as usize].min(self.low[state as usize]);
                }
                if self.low[state as usize] == self.index[state as usize] {
                    found.extend(self.close(state, &mut open, follow));
                }
            }
        }
        found
    }

    fn enter(&mut self, state: u32, next: &mut u32, open: &mut Vec<u32>, frames: &mut Vec<Frame>) {
        (self.index[state as usize], self.low[state as usize]) = (*next, *next);
        *next += 1;
        open.push(state);
        frames.push(Frame { state, next: self.space.steps(state).start });
    }

    /// The component that begins with a state, if it has a step within.
    fn close(&mut self, first: u32, open: &mut Vec<u32>, follow: Follow<'_>) -> Option<Component> {
        let start = open.iter().rposition(|&state| state == first)?;
        let mut states = open.split_off(start);
        states.iter().for_each(|&state| self.low[state as usize] = NONE);
        let is_cycle = states.len() > 1 || {
            let mut steps = self.space.steps(first);
            steps.any(|step| self.space.target(step) == Some(first) && follow(step))
        };
        states.sort_unstable();
        is_cycle.then_some(Component { states })
    }

    /// The components of these states that are fair, as [`Finder::components`].
    pub(super) fn fair_components(&mut self, states: &[u32], follow: Follow<'_>) -> Vec<Component> {
        let mut found = self.components(states, follow);
        match self.fairness {
            Fairness::None => {}
            Fairness::Strong => found = self.strongly_fair(found, follow),
            Fairness::Weak | Fairness::Choices => found.retain(|component| {
                self.mark(&component.states);
                self.is_weakly_fair(component, follow)
            }),
        }
        found
    }

    /// The largest parts of these components in which an execution can stay and be strongly fair, in the same order.
    pub(super) fn strongly_fair(&mut self, components: Vec<Component>, follow: Follow<'_>) -> Vec<Component> {
        let mut waiting = components;
        waiting.reverse();
        let mut fair = Vec::new();
        while let Some(component) = waiting.pop() {
            self.mark(&component.states);
            let left_out = self.left_out(&component, follow);
            if left_out.is_clear() {
                fair.push(component);
                continue;
            }
            let without = |state: &u32| left_out.ones().all(|thread| !self.can_go_on(*state, thread));
            let rest: Vec<u32> = component.states.iter().copied().filter(without).collect();
            waiting.extend(self.components(&rest, follow).into_iter().rev());
        }
        fair
    }

    /// The threads that can go on in some state of a component, which is the region, and never do within.
    fn left_out(&self, component: &Component, follow: Follow<'_>) -> FixedBitSet {
        let threads = self.space.threads();
        let (mut can, mut goes) = (FixedBitSet::with_capacity(threads), FixedBitSet::with_capacity(threads));
        for &state in &component.states {
            let counts = !self.space.is_atomic(state);
            for step in self.space.steps(state) {
                let label = self.space.label(step);
                let stays = self.within(step, follow).is_some();
                for thread in label.who_goes_on() {
                    let is_reason = thread != label.thread.index() || !label.is_spurious;
                    can.set(thread, can.contains(thread) || counts && is_reason);
                    goes.set(thread, goes.contains(thread) || stays);
                }
            }
        }
        can.difference_with(&goes);
        can
    }

    /// Whether an execution can stay in a component, which is the region, and be weakly fair.
    fn is_weakly_fair(&self, component: &Component, follow: Follow<'_>) -> bool {
        let threads = self.space.threads();
        let (mut enabled, mut moved, mut states) = (vec![0u32; threads], vec![false; threads], 0);
        for &state in &component.states {
            let counts = !self.space.is_atomic(state);
            states += u32::from(counts);
            let mut before = None;
            for step in self.space.steps(state) {
                let label = self.space.label(step);
                let thread = label.thread.index();
                if counts && !label.is_spurious && before != Some(thread) {
                    before = Some(thread);
                    enabled[thread] += 1;
                }
                moved[thread] |= self.within(step, follow).is_some();
            }
        }
        // A block that does not end leaves no time for others.
        states == 0 || (0..threads).all(|thread| moved[thread] || enabled[thread] < states)
    }

    /// Whether no step leads out of a component, not even one that is discarded. It is the region then.
    pub(super) fn is_closed(&mut self, component: &Component) -> bool {
        self.mark(&component.states);
        let mut steps = component.states.iter().flat_map(|&state| self.space.steps(state));
        steps.all(|step| self.within(step, &|_| true).is_some())
    }

    /// Whether a thread can move in a state for a reason, or another one can wake it; not in the middle of an atomic block.
    pub(super) fn can_go_on(&self, state: u32, thread: usize) -> bool {
        !self.space.is_atomic(state)
            && self.space.steps(state).any(|step| {
                let label = self.space.label(step);
                label.woken.iter().any(|woken| woken.index() == thread)
                    || label.thread.index() == thread && !label.is_spurious
            })
    }

    /// Whether a thread can move in a state, for a reason.
    pub(super) fn can_move(&self, state: u32, thread: usize) -> bool {
        self.space.steps(state).any(|step| {
            let label = self.space.label(step);
            label.thread.index() == thread && !label.is_spurious
        })
    }
}
