//! The classes found, and executions of them.
//!
//! **Input**: completed executions. **Output**: the hashes of their classes, and the first execution of each, up to the number to
//! keep.

use super::course::Course;
use cssame_explore::frame::End;
use cssame_explore::frame::hash_of_end;
use cssame_vm::{Choice, Machine, State};
use rustc_hash::FxHashSet;

/// Classes, by the hashes of their executions.
pub(super) type Classes = FxHashSet<u128>;

/// Classes, with an execution of each of the first ones.
pub(super) struct Found {
    pub(super) classes: Classes,
    pub(super) schedules: Vec<Vec<Choice>>,
    /// How many executions are kept.
    pub(super) most: usize,
}

impl Found {
    /// Enters an execution, unless its class is known or it is not one of those that are asked for.
    pub(super) fn enter(&mut self, class: Option<u128>, schedule: impl FnOnce() -> Vec<Choice>) {
        let is_new = class.is_some_and(|class| self.classes.insert(class));
        if is_new && self.schedules.len() < self.most {
            self.schedules.push(schedule());
        }
    }
}

/// The class of an execution that has ended; none where it is none of those that are asked for.
pub(super) fn class_of(machine: &Machine, course: &Course<'_>, end: End, state: &State) -> Option<u128> {
    let history = course.history.as_ref().filter(|_| course.scope.is_complete(course.progress))?;
    let standing = state.standing().filter(|&(path, _)| course.scope.is_about(path));
    Some(hash_of_end(machine, &history.chains, end, standing))
}
