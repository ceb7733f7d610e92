//! Executions that follow an order.
//!
//! **Input**: the actions of an earlier execution ([`Script`]), and some of these actions in the required order
//! ([`Requirement`]). **Output**: a [`Policy`] of one execution that follows this order as far as possible.
//!
//! **Algorithm** (step 4.1 of the paper's Algorithm 4, "complete" in docs/paths.md). Each thread executes the steps of the script
//! as long as it reaches the same places.
//!
//! 1. A thread that stands before a required action waits for the turn of that action.
//! 2. Among the other threads, the one whose step comes first in the script goes. So the rest of the execution stays unchanged as
//!    far as possible.
//! 3. If the order holds back all remaining threads, it cannot be followed: the first of them goes.
//! 4. A thread that has left the script, or is at its end, goes after all others. Among several such threads, one goes on until
//!    it cannot, then the next in the order of the text. A thread that returns to a state in which it has been before spins, and
//!    is suspended.
//! 5. If all threads return to a state, the execution has no end, and stops.
//!
//! Choices come from the script. Without a script this is the *first run*: threads run in the order of the text, each as long as
//! it can.
//!
//! **Soundness and limits**: the machine allows every step of the policy. The trace shows whether the order was followed. A loop
//! that never returns to a state is suspended after [`TURN`] steps.

use cssame_schedule::{Decision, Policy, View};
use cssame_vm::{Choice, CodeIndex, Move, PathId, ThreadIndex, ThreadStatus};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps after which a thread is left that does not come back to a state.
const TURN: u64 = 10_000;

/// A step of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptStep {
    /// Its number in the execution.
    pub position: u32,
    /// What the thread stood before.
    pub at: CodeIndex,
    /// Which of its alternatives.
    pub alternative: u32,
}

/// What each thread has done in an execution, step by step.
pub type Script = FxHashMap<PathId, Vec<ScriptStep>>;

/// A step that has its place in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Who does it.
    pub thread: PathId,
    /// Which of its steps, from 0.
    pub step: u32,
    /// The thread that it wakes, where it notifies one.
    pub wakes: Option<PathId>,
}

/// Follows an order.
pub struct Guided<'a> {
    script: &'a Script,
    required: &'a [Requirement],
    places: FxHashMap<(PathId, u32), usize>,
    /// The next requirement.
    next: usize,
    /// Whether the thread of the next requirement goes before all others.
    strict: bool,
    done: FxHashMap<PathId, u32>,
    departed: FxHashSet<PathId>,
    turn: Turn,
}

/// The thread that goes on by itself.
#[derive(Default)]
struct Turn {
    thread: Option<PathId>,
    steps: u64,
    /// A state that it has been in, and the number of steps after which that is replaced (Brent's cycle detection).
    mark: Option<u128>,
    renew: u64,
    /// States in which threads were left.
    left: FxHashSet<(u128, PathId)>,
}

/// Whether a thread goes on, and if not, whether nobody comes to anything new.
enum Next {
    On,
    Another,
    Endless,
}

impl<'a> Guided<'a> {
    /// Follows the requirements, and the script beside them.
    #[must_use]
    pub fn new(script: &'a Script, required: &'a [Requirement]) -> Guided<'a> {
        let places = required.iter().enumerate().map(|(place, one)| ((one.thread, one.step), place)).collect();
        Guided {
            script,
            required,
            places,
            next: 0,
            strict: false,
            done: FxHashMap::default(),
            departed: FxHashSet::default(),
            turn: Turn::default(),
        }
    }

    /// Follows the requirements one after the other, with nothing in between where that can be.
    #[must_use]
    pub fn strict(script: &'a Script, required: &'a [Requirement]) -> Guided<'a> {
        Guided { strict: true, ..Guided::new(script, required) }
    }

    /// The step of the script that a thread stands before, if it is still there.
    fn scripted(&mut self, view: &View<'_>, thread: ThreadIndex) -> Option<ScriptStep> {
        let path = view.state.path(thread);
        if self.departed.contains(&path) {
            return None;
        }
        let step = *self.script.get(&path)?.get(self.done.get(&path).copied().unwrap_or(0) as usize)?;
        // A thread that was woken stands where it waited, before another step of the same instruction.
        if step.at == view.state.position(thread) {
            return Some(step);
        }
        self.departed.insert(path);
        None
    }

    /// The place of the requirement that a thread stands before.
    fn place(&self, path: PathId) -> Option<usize> {
        let done = self.done.get(&path).copied().unwrap_or(0);
        self.places.get(&(path, done)).copied().filter(|&place| place >= self.next)
    }

    /// Passes over requirements that cannot be met any more.
    fn drop_missed(&mut self) {
        while let Some(one) = self.required.get(self.next) {
            let done = self.done.get(&one.thread).copied().unwrap_or(0);
            if done <= one.step && !self.departed.contains(&one.thread) {
                return;
            }
            self.next += 1;
        }
    }

    /// Which alternative a step of the script takes.
    fn alternative(&self, view: &View<'_>, one: Move, step: ScriptStep) -> u32 {
        let path = view.state.path(one.thread);
        let wakes = self.place(path).and_then(|place| self.required[place].wakes);
        let wanted = wakes.and_then(|wakes| waiting_place(view, one.thread, wakes));
        wanted.unwrap_or(step.alternative).min(one.alternatives.saturating_sub(1))
    }

    fn take(&mut self, view: &View<'_>, thread: ThreadIndex, alternative: u32) -> Decision {
        let path = view.state.path(thread);
        if self.place(path) == Some(self.next) {
            self.next += 1;
        }
        *self.done.entry(path).or_default() += 1;
        Decision::Step(Choice { thread, alternative })
    }

    /// Lets a thread go that follows no script.
    fn go_on(&mut self, view: &View<'_>, free: &[Move]) -> Decision {
        let mut sorted: Vec<Move> = free.to_vec();
        let order =
            |a: &Move, b: &Move| view.tables.compare_paths(view.state.path(a.thread), view.state.path(b.thread));
        sorted.sort_by(order);
        let current = self.turn.thread.and_then(|path| sorted.iter().find(|one| view.state.path(one.thread) == path));
        let next = match current {
            Some(&one) => match self.turn.look(view) {
                Next::On => Some(one),
                Next::Endless => return Decision::Stop,
                Next::Another => {
                    let path = view.state.path(one.thread);
                    let behind = sorted.iter().find(|other| {
                        view.tables.compare_paths(view.state.path(other.thread), path) == std::cmp::Ordering::Greater
                    });
                    behind.or(sorted.first()).copied()
                }
            },
            None => sorted.first().copied(),
        };
        let Some(one) = next else { return Decision::Stop };
        let path = view.state.path(one.thread);
        if self.turn.thread != Some(path) || current.is_none() {
            self.turn.begin(path);
        }
        self.take(view, one.thread, 0)
    }
}

impl Turn {
    fn begin(&mut self, path: PathId) {
        self.thread = Some(path);
        (self.steps, self.mark, self.renew) = (0, None, 1);
    }

    /// Looks whether the thread of the turn comes to anything new.
    fn look(&mut self, view: &View<'_>) -> Next {
        let fingerprint = view.machine.fingerprint(view.state);
        self.steps += 1;
        let is_spinning = self.mark == Some(fingerprint);
        if self.steps >= self.renew {
            self.mark = Some(fingerprint);
            self.renew = 2 * self.steps;
        }
        if !is_spinning && self.steps < TURN {
            return Next::On;
        }
        let path = self.thread.unwrap_or(PathId(0));
        let is_new = self.left.insert((fingerprint, path));
        self.begin(path);
        if is_new || !is_spinning { Next::Another } else { Next::Endless }
    }
}

/// The place of a thread among those that a notification by another one may wake, in the order of slots.
fn waiting_place(view: &View<'_>, by: ThreadIndex, wakes: PathId) -> Option<u32> {
    use cssame_ir::sync::Kind;
    use cssame_vm::Pending;
    let bare = match view.machine.pending(view.state, by)? {
        Pending::Synchronise { kind: Kind::NotifyBare, .. } => None,
        Pending::Synchronise { kind: Kind::Notify, address } => Some(address),
        _ => return None,
    };
    let waits = |thread: &ThreadIndex| match bare {
        None => view.state.status(*thread) == ThreadStatus::WaitingBare,
        Some(address) => {
            view.state.status(*thread) == ThreadStatus::WaitingCondition && view.state.waited_object(*thread) == address
        }
    };
    let place = view.state.threads().filter(waits).position(|thread| view.state.path(thread) == wakes)?;
    u32::try_from(place).ok()
}

impl Policy for Guided<'_> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let mut best: Option<(u32, Move, ScriptStep)> = None;
        let mut held: Option<(usize, Move, ScriptStep)> = None;
        let mut free: Vec<Move> = Vec::new();
        let scripted: Vec<(Move, Option<ScriptStep>)> =
            moves.iter().map(|&one| (one, self.scripted(view, one.thread))).collect();
        self.drop_missed();
        let first = self.required.get(self.next).filter(|_| self.strict).map(|one| one.thread);
        for (one, step) in scripted {
            if let (Some(first), Some(step)) = (first, step)
                && view.state.path(one.thread) == first
            {
                let alternative = self.alternative(view, one, step);
                return self.take(view, one.thread, alternative);
            }
            let Some(step) = step else {
                free.push(one);
                continue;
            };
            match self.place(view.state.path(one.thread)) {
                Some(place) if place != self.next => {
                    let is_first = held.is_none_or(|(first, ..)| place < first);
                    held = if is_first { Some((place, one, step)) } else { held };
                }
                _ if best.is_none_or(|(first, ..)| step.position < first) => best = Some((step.position, one, step)),
                _ => {}
            }
        }
        if let Some((_, one, step)) = best {
            let alternative = self.alternative(view, one, step);
            return self.take(view, one.thread, alternative);
        }
        if !free.is_empty() {
            return self.go_on(view, &free);
        }
        match held {
            Some((place, one, step)) => {
                // What stands before it in the order cannot be done any more.
                self.next = place;
                let alternative = self.alternative(view, one, step);
                self.take(view, one.thread, alternative)
            }
            None => Decision::Stop,
        }
    }
}
