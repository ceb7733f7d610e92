//! Orders of a whole trace: a way of moves, followed by the rest in its original order.
//!
//! **Input**: the moves of a whole trace, and a way. **Output**: the actions in the order of an execution that follows the way
//! ([`super::guided`]), provided that all conditions have the same outcomes.
//!
//! **Algorithm**: as in real executions: a move that the way names waits for its turn; among the others, the first in the trace
//! goes.
//!
//! **Soundness and limits**: a prediction. The data of a condition may change, and then the execution departs from the order.

use super::guided::Requirement;
use super::ids::ActionId;
use super::interleaving::{Interleaving, Step, Words};
use super::trace::Trace;
use cssame_vm::PathId;
use rustc_hash::FxHashMap;

/// The actions of a trace behind a way of moves, which comes first as a whole: what an execution-variant stands for.
#[must_use]
pub fn completed_behind(trace: &Trace, interleaving: &Interleaving<'_>, way: &[Step]) -> Vec<ActionId> {
    let (mut words, mut order) = (interleaving.initial(), Vec::with_capacity(trace.actions.len()));
    for &step in way {
        order.extend(interleaving.next(&words, step.thread).unwrap_or_default());
        words = interleaving.apply(&words, step);
    }
    go_on(trace, interleaving, &[], words, order)
}

/// The actions of a trace in the order that follows the requirements; as far as it can be done.
#[must_use]
pub fn completed(trace: &Trace, interleaving: &Interleaving<'_>, required: &[Requirement]) -> Vec<ActionId> {
    go_on(trace, interleaving, required, interleaving.initial(), Vec::with_capacity(trace.actions.len()))
}

fn go_on(
    trace: &Trace,
    interleaving: &Interleaving<'_>,
    required: &[Requirement],
    mut words: Words,
    mut order: Vec<ActionId>,
) -> Vec<ActionId> {
    let places: FxHashMap<(PathId, u32), usize> =
        required.iter().enumerate().map(|(place, one)| ((one.thread, one.step), place)).collect();
    let threads = interleaving.projection.threads.len();
    let mut next = 0;
    loop {
        let mut best: Option<(bool, usize, ActionId, usize)> = None;
        for thread in 0..threads {
            let Some(&first) = interleaving.next(&words, thread).and_then(<[ActionId]>::first) else { continue };
            if interleaving.obstacle(&words, thread).is_some() {
                continue;
            }
            let action = &trace.actions[first];
            let place = places.get(&(action.thread, action.step)).copied().filter(|&place| place >= next);
            // What the way holds back comes behind all else, and then in the order of the way.
            let held = place.is_some_and(|place| place != next);
            let key = (held, if held { place.unwrap_or_default() } else { 0 }, first, thread);
            if best.is_none_or(|known| key < known) {
                best = Some(key);
            }
        }
        let Some((_, _, first, thread)) = best else { return order };
        let action = &trace.actions[first];
        if let Some(&place) = places.get(&(action.thread, action.step)).filter(|&&place| place >= next) {
            next = place + 1;
        }
        order.extend(interleaving.next(&words, thread).unwrap_or_default());
        let wakes = required.iter().find(|one| one.thread == action.thread && one.step == action.step);
        let wakes = wakes.and_then(|one| one.wakes).and_then(|path| interleaving.projection.thread(path));
        let steps = interleaving.steps(&words, thread);
        let Some(&step) = steps.iter().find(|step| step.wakes == wakes).or(steps.first()) else { return order };
        words = interleaving.apply(&words, step);
    }
}
