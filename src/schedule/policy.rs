//! Policies: choose the thread that executes the next step.
//!
//! **Input**: a state, the threads that can move in it, and, for a policy that observes, the events of its steps so far.
//!
//! **Output**: a [`Decision`]: one of the steps, or the statement that the policy has none.
//!
//! **Algorithm**. [`Random`] draws a thread, then one of its alternatives. [`RoundRobin`] lets all threads move in turn.
//! [`Scripted`] follows a list of choices. [`Then`] follows one policy to its end, then another. A policy that needs more than
//! the state, such as one that holds threads back before an access, asks [`Machine::pending`] for the next action of a thread,
//! and gets the events of its own steps through [`Policy::event`].
//!
//! **Soundness and limits**. All policies are deterministic; the seed determines the random one. A policy sees only the state: it
//! cannot undo a step.

use cssame_vm::{Choice, CodeIndex, Event, Machine, Move, State, Tables, ThreadIndex, ThreadName};

/// What a policy sees.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Names of threads, and outputs.
    pub tables: &'a Tables,
    /// The state, in which at least one thread can move.
    pub state: &'a State,
}

/// What a policy wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This step.
    Step(Choice),
    /// It has no more steps to choose; another policy may go on.
    Done,
    /// The execution is to stop here: it has left the way that the policy was made for.
    Stop,
}

/// Chooses steps.
pub trait Policy {
    /// Whether it wants to be told what its steps do. Without, the calls vanish at compile time.
    const OBSERVES: bool = false;

    /// The next step, one of those that `moves` allows; at least one thread can move.
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision;

    /// A step that it has chosen does this, or main does it before its first step.
    #[inline(always)]
    fn event(&mut self, _thread: ThreadName, _at: CodeIndex, _event: Event) {}
}

impl<P: Policy> Policy for &mut P {
    const OBSERVES: bool = P::OBSERVES;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        (**self).choose(view, moves)
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        (**self).event(thread, at, event);
    }
}

/// Picks a thread at random, then one of its alternatives.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The policy of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The next number of the SplitMix64 sequence.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below a bound, which is positive. The bias of the multiplication is below one in 2³².
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

impl Policy for Random {
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Decision {
        let Move { thread, alternatives } = moves[self.below(moves.len() as u32) as usize];
        let alternative = if alternatives == 1 { 0 } else { self.below(alternatives) };
        Decision::Step(Choice { thread, alternative })
    }
}

/// Lets all threads that can move do so in turn, one step each; always the first alternative. No thread is left out.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    last: Option<ThreadIndex>,
}

impl RoundRobin {
    /// Begins with the first thread.
    #[must_use]
    pub fn new() -> RoundRobin {
        RoundRobin::default()
    }
}

impl Policy for RoundRobin {
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Decision {
        let next = moves.iter().find(|one| Some(one.thread) > self.last).or(moves.first());
        self.last = next.map(|one| one.thread);
        next.map_or(Decision::Done, |one| Decision::Step(Choice { thread: one.thread, alternative: 0 }))
    }
}

/// Follows steps of the same machine, and is done behind the last one.
#[derive(Clone, Debug)]
pub struct Scripted<'a> {
    steps: std::slice::Iter<'a, Choice>,
}

impl<'a> Scripted<'a> {
    /// Follows these steps; they must be steps that the machine allows.
    #[must_use]
    pub fn new(steps: &'a [Choice]) -> Scripted<'a> {
        Scripted { steps: steps.iter() }
    }
}

impl Policy for Scripted<'_> {
    fn choose(&mut self, _: &View<'_>, _: &[Move]) -> Decision {
        self.steps.next().map_or(Decision::Done, |&choice| Decision::Step(choice))
    }
}

/// Follows the first policy until that is done, then the second.
#[derive(Clone, Debug)]
pub struct Then<A, B> {
    first: Option<A>,
    second: B,
}

impl<A, B> Then<A, B> {
    /// One policy, then another.
    pub fn new(first: A, second: B) -> Then<A, B> {
        Then { first: Some(first), second }
    }
}

impl<A: Policy, B: Policy> Policy for Then<A, B> {
    const OBSERVES: bool = A::OBSERVES || B::OBSERVES;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        if let Some(first) = &mut self.first {
            let decision = first.choose(view, moves);
            if decision != Decision::Done {
                return decision;
            }
            self.first = None;
        }
        self.second.choose(view, moves)
    }

    // The second one has to know what the first one has done.
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        if let (true, Some(first)) = (A::OBSERVES, &mut self.first) {
            first.event(thread, at, event);
        }
        if B::OBSERVES {
            self.second.event(thread, at, event);
        }
    }
}
