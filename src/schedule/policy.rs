//! Policies: who moves next.
//!
//! In: a state and the threads that can move in it. Out: one of the steps, or the wish to stop. All policies are
//! deterministic; the random one is determined by its seed.

use super::replay::Departure;
use crate::vm::{Choice, Machine, Move, State, Tables, ThreadIndex};

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

/// Chooses steps.
pub trait Policy {
    /// The next step; `None` to stop here.
    ///
    /// # Errors
    ///
    /// Only a [`Replay`](super::Replay) fails: where the program departs from the schedule.
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Result<Option<Choice>, Departure>;
}

impl<P: Policy + ?Sized> Policy for &mut P {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Result<Option<Choice>, Departure> {
        (**self).choose(view, moves)
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Result<Option<Choice>, Departure> {
        (**self).choose(view, moves)
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
    fn next(&mut self) -> u64 {
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
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Result<Option<Choice>, Departure> {
        let Move { thread, alternatives } = moves[self.below(moves.len() as u32) as usize];
        let alternative = if alternatives == 1 { 0 } else { self.below(alternatives) };
        Ok(Some(Choice { thread, alternative }))
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
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Result<Option<Choice>, Departure> {
        let next = moves.iter().find(|one| Some(one.thread) > self.last).or(moves.first());
        self.last = next.map(|one| one.thread);
        Ok(next.map(|one| Choice { thread: one.thread, alternative: 0 }))
    }
}

/// Follows steps of the same machine, and stops behind the last one.
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
    fn choose(&mut self, _: &View<'_>, _: &[Move]) -> Result<Option<Choice>, Departure> {
        Ok(self.steps.next().copied())
    }
}

/// Follows the first policy until that stops, then the second.
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
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Result<Option<Choice>, Departure> {
        if let Some(first) = &mut self.first {
            let choice = first.choose(view, moves)?;
            if choice.is_some() {
                return Ok(choice);
            }
            self.first = None;
        }
        self.second.choose(view, moves)
    }
}
