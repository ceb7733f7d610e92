//! The threads that may move: all threads, or two that run alone.
//!
//! **Input**: the moves that a state allows, and which of the two threads have begun. **Output**: the moves to follow.
//!
//! **Algorithm**: until both threads exist, one thread at a time moves to create them:
//! 1. the nearest thread that creates a missing one, or creates the thread that creates it;
//! 2. if none of those can move, the one of the two that exists;
//! 3. if it cannot move either, or does not exist, the first other thread that can move.
//!
//! From then on only the two move. The execution ends when neither of the two can move.
//!
//! **Soundness and limits**: the first part of each execution follows one order of threads; its values of `choose` are free. An
//! execution in which one of the two never begins does not belong to the pair ([`Scope::is_complete`]).

use cssame_vm::{Event, Move, PathId, State, Tables};

/// Who may move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All threads.
    All,
    /// Two threads that are run alone.
    Pair {
        /// The two.
        members: [PathId; 2],
        /// By member: who makes it, and who makes that one, up to main.
        ancestors: [Vec<PathId>; 2],
    },
}

/// By member of a pair: whether it has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScopeState {
    begun: [bool; 2],
}

impl Scope {
    /// Two threads that are run alone.
    pub(super) fn pair(tables: &Tables, members: [PathId; 2]) -> Scope {
        let parent = |path: PathId| tables.path(path).and_then(|path| path.parent);
        let ancestors = members.map(|member| std::iter::successors(parent(member), |&path| parent(path)).collect());
        Scope::Pair { members, ancestors }
    }

    /// A thread has begun.
    pub(super) fn begin(&self, progress: &mut ScopeState, path: PathId) {
        if let Scope::Pair { members, .. } = self {
            for (begun, &member) in progress.begun.iter_mut().zip(members) {
                *begun |= member == path;
            }
        }
    }

    pub(super) fn event(&self, progress: &mut ScopeState, event: Event) {
        if let Event::Fork { child } | Event::Spawn { child } = event {
            self.begin(progress, child.path);
        }
    }

    /// Whether an execution that has come so far is one of the pair.
    pub(super) fn is_complete(&self, progress: ScopeState) -> bool {
        *self == Scope::All || progress.begun == [true; 2]
    }

    /// Whether it counts where a thread stands that has not ended.
    pub(super) fn is_about(&self, path: PathId) -> bool {
        match self {
            Scope::All => true,
            Scope::Pair { members, .. } => members.contains(&path),
        }
    }

    /// What tells two executions apart.
    pub(super) fn encode(&self, progress: ScopeState) -> Option<u64> {
        let [first, second] = progress.begun;
        (*self != Scope::All).then_some(u64::from(first) | u64::from(second) << 1)
    }

    /// Takes back what `encode` has given; gives the words behind it.
    pub(super) fn decode<'a>(&self, words: &'a [u64]) -> (ScopeState, &'a [u64]) {
        match (self, words) {
            (Scope::Pair { .. }, [word, rest @ ..]) => (ScopeState { begun: [word & 1 != 0, word & 2 != 0] }, rest),
            _ => (ScopeState::default(), words),
        }
    }

    /// Leaves out the moves that are not followed.
    pub(super) fn restrict(&self, progress: ScopeState, state: &State, moves: &mut Vec<Move>) {
        let Scope::Pair { members, ancestors } = self else { return };
        let is_member = |one: &Move| members.contains(&state.path(one.thread));
        if progress.begun == [true; 2] {
            moves.retain(is_member);
            return;
        }
        let missing = ancestors.iter().zip(progress.begun).filter(|(_, begun)| !begun);
        let makers = missing.flat_map(|(ancestors, _)| ancestors);
        let maker = makers.into_iter().find_map(|&maker| moves.iter().find(|one| state.path(one.thread) == maker));
        let next = maker.or_else(|| moves.iter().find(|one| is_member(one))).or(moves.first()).copied();
        moves.retain(|one| Some(*one) == next);
    }
}
