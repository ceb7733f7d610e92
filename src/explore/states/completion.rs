//! Completes the beginning of an execution to a whole one.
//!
//! **Input**: the graph of a search, and a state in it. **Output**: the steps from there to an end.
//!
//! **Algorithm**:
//! 1. Find the distance of every state to an end, backwards from the ends: once to wanted ends, such as those where all threads
//!    have ended, and once to any end.
//! 2. From the state, take the edge to a nearest successor, until an end is reached. The first distance is preferred.
//! 3. If the graph was cut before an end, let the threads move in turn for a while ([`round_robin`](super::round_robin)).
//!
//! **Soundness and limits**: the machine executes all steps. An execution that cannot end stays incomplete. If a bound has cut
//! the search, executions beyond a number of steps stay incomplete too, since the time is up.

use crate::states::assumption::{Unexpanded, lasting_states};
use crate::states::fingerprint_of;
use crate::states::graph::{DISCARDED, Graph, NodeKind};
use crate::states::round_robin::RoundRobin;
use cssame_schedule::{Walk, Walks};
use cssame_vm::{Choice, Fingerprints, Machine, Progress, State, ThreadIndex};
use std::cell::{Cell, RefCell};

const FAR: u32 = u32::MAX;

/// Steps in turn after which a beginning is left as it is.
const STEPS_IN_TURN: usize = 10_000;

/// Steps of all executions together that are done again or added where the search was cut.
const STEPS_BEHIND_A_BOUND: usize = 5_000_000;

/// Distances of all states to the ends.
pub struct Completion<'a> {
    machine: &'a Machine,
    graph: &'a Graph,
    to_wanted: Vec<u32>,
    to_end: Vec<u32>,
    /// Whether some state was not expanded.
    is_cut: bool,
    /// Steps that may still be done.
    left: Cell<usize>,
    walks: RefCell<Walks<'a>>,
}

/// An execution to the first of these states from which some is not discarded, and on to an end where there is one.
pub fn witness(machine: &Machine, graph: &Graph, states: &[u32]) -> Option<Vec<Choice>> {
    let must_last = machine.may_discard() && !states.is_empty();
    let lasting = must_last.then(|| lasting_states(graph, Unexpanded::Lost));
    let lasts = |node: &u32| lasting.as_ref().is_none_or(|states| states.contains(*node as usize));
    let node = states.iter().copied().find(lasts)?;
    let mut schedule = graph.path_to(node);
    Completion::new(machine, graph).complete(&mut schedule, node);
    Some(schedule)
}

impl<'a> Completion<'a> {
    /// To ends where all threads have ended, if there are any.
    pub fn new(machine: &'a Machine, graph: &'a Graph) -> Completion<'a> {
        Completion::towards(machine, graph, &|kind| kind == NodeKind::Finished)
    }

    /// To ends of that kind, if there are any.
    pub fn towards(machine: &'a Machine, graph: &'a Graph, wanted: &dyn Fn(NodeKind) -> bool) -> Completion<'a> {
        let reversed = graph.reversed();
        let distances = |wanted: &dyn Fn(NodeKind) -> bool| {
            let mut distance = vec![FAR; graph.len()];
            let mut level: Vec<u32> = (0..graph.len() as u32).filter(|&node| wanted(graph.kind(node))).collect();
            level.iter().for_each(|&node| distance[node as usize] = 0);
            let mut next = Vec::new();
            let mut steps = 0;
            while !level.is_empty() {
                steps += 1;
                for &node in &level {
                    for &source in reversed.sources(node) {
                        if distance[source as usize] == FAR {
                            distance[source as usize] = steps;
                            next.push(source);
                        }
                    }
                }
                level.clear();
                std::mem::swap(&mut level, &mut next);
            }
            distance
        };
        let to_wanted = distances(wanted);
        let to_end = distances(&NodeKind::is_end);
        let is_cut = (0..graph.len() as u32).any(|node| graph.kind(node) == NodeKind::Waiting);
        let left = Cell::new(if is_cut { STEPS_BEHIND_A_BOUND } else { usize::MAX });
        Completion { machine, graph, to_wanted, to_end, is_cut, left, walks: RefCell::new(Walks::new(machine)) }
    }

    /// Whether an end of the wanted kind can be reached from a state.
    pub fn leads_to_wanted(&self, node: u32) -> bool {
        self.to_wanted[node as usize] != FAR
    }

    /// Adds to steps that lead to `node` those that complete the execution.
    pub fn complete(&self, schedule: &mut Vec<Choice>, node: u32) {
        let distance = if self.to_wanted[node as usize] != FAR { &self.to_wanted } else { &self.to_end };
        let known = distance[node as usize] != FAR;
        if self.graph.kind(node).is_end() || (!known && self.graph.kind(node) != NodeKind::Waiting && !self.is_cut) {
            return;
        }
        if self.left.get() < schedule.len() {
            self.left.set(0);
            return;
        }
        let mut walks = self.walks.borrow_mut();
        let (done, mut walk) = walks.begin(schedule);
        if walk.follow(&schedule[done..], &mut ()).is_err() {
            return;
        }
        if known {
            self.follow(schedule, walk, node, distance);
        } else {
            in_turn(schedule, walk);
        }
        self.left.set(self.left.get().saturating_sub(schedule.len() - done));
    }

    fn follow(&self, schedule: &mut Vec<Choice>, mut walk: Walk<'_>, mut node: u32, distance: &[u32]) {
        while distance[node as usize] > 0 {
            if self.machine.fingerprints() == Fingerprints::UpToSymmetry {
                let Some((choice, target)) = self.nearest(&mut walk, distance) else { return };
                // Threads that change places leave other slots free, so states that are the same up to names may have other
                // nodes; where the search was cut, these may be further from an end.
                if distance[target as usize] >= distance[node as usize] {
                    return;
                }
                if walk.step(choice, &mut ()).is_err() {
                    return;
                }
                schedule.push(choice);
                node = target;
                continue;
            }
            let edges = self.graph.edges(node);
            let open = edges.iter().enumerate().filter(|&(_, &target)| target != DISCARDED);
            let Some((place, &target)) = open.min_by_key(|&(_, &target)| distance[target as usize]) else { return };
            let known = self.graph.choice_to(node, target).or_else(|| match self.graph.is_reduced() {
                true => self.choice_to(&mut walk, target),
                false => nth_choice(self.machine, walk.state(), place),
            });
            let Some(choice) = known else { return };
            if walk.step(choice, &mut ()).is_err() {
                return;
            }
            schedule.push(choice);
            node = target;
        }
    }

    /// A choice that leads to a node.
    fn choice_to(&self, walk: &mut Walk<'_>, target: u32) -> Option<Choice> {
        let mut choices = Vec::new();
        self.machine.enabled(walk.state(), &mut choices);
        choices.into_iter().find(|&choice| {
            let mut after = walk.branch();
            let Ok(progress) = after.step(choice, &mut ()) else { return false };
            self.graph.find(fingerprint_of(self.machine, after.state(), progress)) == Some(target)
        })
    }

    /// The choice that leads nearest to an end, and the node that stands for its state: threads that are taken for one
    /// another may have changed places, so the edges of a node do not name the choices of each of its states.
    fn nearest(&self, walk: &mut Walk<'_>, distance: &[u32]) -> Option<(Choice, u32)> {
        let mut choices = Vec::new();
        self.machine.enabled(walk.state(), &mut choices);
        let mut best: Option<(u32, Choice, u32)> = None;
        for choice in choices {
            let mut after = walk.branch();
            let Ok(progress) = after.step(choice, &mut ()) else { continue };
            if progress == Progress::Discarded {
                continue;
            }
            let Some(node) = self.graph.find(fingerprint_of(self.machine, after.state(), progress)) else { continue };
            let far = distance[node as usize];
            if far != FAR && best.is_none_or(|(known, ..)| far < known) {
                best = Some((far, choice, node));
            }
        }
        best.map(|(_, choice, node)| (choice, node))
    }
}

/// The choice at that place in the list of all choices.
fn nth_choice(machine: &Machine, state: &State, place: usize) -> Option<Choice> {
    let mut rest = u32::try_from(place).ok()?;
    for thread in (0..state.thread_count()).map(|index| ThreadIndex(index as u16)) {
        let alternatives = machine.alternatives(state, thread);
        if rest < alternatives {
            return Some(Choice { thread, alternative: rest });
        }
        rest -= alternatives;
    }
    None
}

/// Lets the threads move in turn. If that does not come to an end soon, or is discarded, nothing is added.
fn in_turn(schedule: &mut Vec<Choice>, mut walk: Walk<'_>) {
    let length = schedule.len();
    let mut turns = RoundRobin::default();
    for _ in 0..STEPS_IN_TURN {
        let Some(thread) = turns.next(walk.machine(), walk.state()) else { return };
        let choice = Choice { thread, alternative: 0 };
        schedule.push(choice);
        match walk.step(choice, &mut turns) {
            Ok(Progress::Running) => {}
            Ok(Progress::Finished | Progress::Failed(_)) => return,
            Ok(Progress::Discarded) | Err(_) => break,
        }
    }
    schedule.truncate(length);
}
