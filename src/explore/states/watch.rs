//! The observers of a search, behind one trait object.
//!
//! **Input**: the steps that the engine requests, and their results. **Output**: the steps, executed by the machine under a
//! [`Monitor`] and a [`Visitor`]; the encoded monitor; whether the search may stop.
//!
//! The engine is compiled once, for all monitors and visitors. The differences are here: a few calls for a step, each of which
//! does everything that is due at one time.
//!
//! **Soundness and limits**: steps are memoised, and reported again, for monitors that remember nothing ([`Monitor::REMEMBERS`]).

use super::graph::DISCARDED;
use super::memo::Memo;
use super::origin::{Happened, Origin};
use super::{End, EndContext, Monitor, Transition, Visitor};
use cssame_vm::{
    Choice, CodeIndex, Event, Footprint, Machine, Move, Observer, Parts, Progress, State, Tables, ThreadName, Work,
};
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// A step that the machine is to do.
pub(super) struct Task<'t> {
    pub machine: &'t Machine,
    pub tables: &'t mut Tables,
    /// Where it begins; afterwards, where it has led to.
    pub state: &'t mut State,
    /// None to begin the execution, in the room of the state.
    pub choice: Option<Choice>,
    pub work: &'t mut Work,
}

impl Task<'_> {
    /// Lets the machine do it.
    fn run(&mut self, observer: &mut impl Observer) -> Progress {
        let Task { machine, tables, state, work, .. } = self;
        if let Some(choice) = self.choice {
            return machine.step(state, tables, choice, &mut (observer, &mut **work));
        }
        machine.restart(state, tables, observer);
        if machine.is_finished(state) { Progress::Finished } else { Progress::Running }
    }
}

/// Those who look on.
pub(super) trait Watch {
    /// Does a step of the state that was decoded last, and writes what the monitor encodes then, unless the step is discarded.
    fn step(&mut self, task: &mut Task<'_>, words: &mut Vec<u64>) -> Progress;

    /// Does a step of that state to learn of it. The visitor is not told; it would be told of these events.
    fn learn(
        &mut self,
        task: &mut Task<'_>,
        before: &State,
        footprint: &mut Footprint,
        events: &mut Vec<Happened>,
    ) -> Progress;

    /// Keeps what the monitor has noted of the step that was learned last, which gets the next number.
    fn keep_notes(&mut self, progress: Progress);

    /// No step is kept any more.
    fn forget_notes(&mut self);

    /// The step that was done last is over; gives whether the search may stop. [`DISCARDED`] stands for what is discarded.
    fn transition(&mut self, transition: &Transition) -> bool;

    /// Tells a step that was done before, by number, as one of that state; as for [`Watch::transition`].
    fn again(&mut self, known: (&Memo, &Parts), of: &Origin<'_>, step: u32, transition: &Transition) -> bool;

    /// Takes back what was written behind a step.
    fn decode(&mut self, words: &[u64]);

    /// Leaves out moves of the state that was decoded last.
    fn restrict(&self, state: &State, moves: &mut Vec<Move>);

    /// An execution ends: in the state that was decoded last if it is a deadlock, else in that of the last step.
    fn end(&mut self, context: &EndContext<'_, ()>) -> ControlFlow<()>;

    /// As [`Visitor::terms`].
    fn terms(&self) -> usize;

    /// As [`Visitor::bytes`], with the notes that are kept.
    fn bytes(&self) -> u64;
}

/// A monitor and a visitor.
pub(super) struct Watched<'v, G: Monitor, V> {
    /// The monitor in the state that is expanded, and in the one that the last step has led to.
    parent: G,
    child: G,
    visitor: &'v mut V,
    /// What was noted of the steps that are kept, and by the number of each where that ends.
    notes: Vec<G::Note>,
    ends: Vec<u32>,
}

impl<'v, G: Monitor, V: Visitor<G>> Watched<'v, G, V> {
    /// Before the first step.
    pub(super) fn new(monitor: G, visitor: &'v mut V) -> Watched<'v, G, V> {
        Watched { parent: monitor.clone(), child: monitor, visitor, notes: Vec::new(), ends: Vec::new() }
    }

    /// What a step has led to, for the monitor as well.
    #[inline]
    fn settle(&mut self, task: &mut Task<'_>, progress: Progress) -> Progress {
        if progress != Progress::Discarded {
            self.child.settle(task.machine, task.state);
        }
        if self.child.is_dead() { Progress::Discarded } else { progress }
    }

    /// A step is over, of which there are these notes.
    fn tell(visitor: &mut V, notes: &[G::Note], transition: &Transition) -> bool {
        match *transition {
            Transition { from, choice: Some(choice), to: DISCARDED } => {
                visitor.discarded(from, choice);
                false
            }
            _ => {
                visitor.transition(transition, notes);
                visitor.is_enough()
            }
        }
    }
}

impl<G: Monitor, V: Visitor<G>> Watch for Watched<'_, G, V> {
    fn step(&mut self, task: &mut Task<'_>, words: &mut Vec<u64>) -> Progress {
        self.child.clone_from(&self.parent);
        self.visitor.begin();
        let Watched { child, visitor, .. } = self;
        let listener = Listener::<G, V, _>::new(|thread, at, event| visitor.event(thread, at, event));
        let progress = task.run(&mut (listener, child));
        let progress = self.settle(task, progress);
        words.clear();
        if progress != Progress::Discarded {
            self.child.encode(words);
        }
        progress
    }

    fn learn(
        &mut self,
        task: &mut Task<'_>,
        before: &State,
        footprint: &mut Footprint,
        events: &mut Vec<Happened>,
    ) -> Progress {
        // What follows is not compiled then.
        if G::REMEMBERS {
            unreachable!("the steps of a monitor that remembers something are not kept");
        }
        self.child.clone_from(&self.parent);
        events.clear();
        let listener = Listener::<G, V, _>::new(|thread, at, event| events.push((thread, at, event)));
        let progress = task.run(&mut (listener, (&mut self.child, &mut *footprint)));
        footprint.finish(task.machine, before, task.state);
        self.settle(task, progress)
    }

    fn keep_notes(&mut self, progress: Progress) {
        if progress != Progress::Discarded {
            self.notes.extend_from_slice(self.child.notes());
        }
        self.ends.push(self.notes.len() as u32);
    }

    fn forget_notes(&mut self) {
        (self.notes, self.ends) = (Vec::new(), Vec::new());
    }

    fn transition(&mut self, transition: &Transition) -> bool {
        Self::tell(self.visitor, self.child.notes(), transition)
    }

    fn again(&mut self, (memo, parts): (&Memo, &Parts), of: &Origin<'_>, step: u32, transition: &Transition) -> bool {
        self.visitor.begin();
        if V::ACTIVE {
            for (thread, at, event) in memo.events(step, of, parts) {
                self.visitor.event(thread, at, event);
            }
        }
        let start = step.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        let notes = &self.notes[start as usize..self.ends[step as usize] as usize];
        Self::tell(self.visitor, notes, transition)
    }

    fn decode(&mut self, words: &[u64]) {
        self.parent.decode(words);
    }

    fn restrict(&self, state: &State, moves: &mut Vec<Move>) {
        self.parent.restrict(state, moves);
    }

    fn end(&mut self, context: &EndContext<'_, ()>) -> ControlFlow<()> {
        let &EndContext { machine, tables, state, node, end, .. } = context;
        let monitor = if end == End::Deadlock { &self.parent } else { &self.child };
        self.visitor.end(&EndContext { machine, tables, state, monitor, node, end })
    }

    fn terms(&self) -> usize {
        self.visitor.terms()
    }

    fn bytes(&self) -> u64 {
        let notes = self.notes.capacity() * size_of::<G::Note>() + self.ends.capacity() * size_of::<u32>();
        self.visitor.bytes() + notes as u64
    }
}

/// Is told of events as a visitor is.
struct Listener<G, V, F> {
    tell: F,
    of: PhantomData<(G, V)>,
}

impl<G, V, F: FnMut(ThreadName, CodeIndex, Event)> Listener<G, V, F> {
    fn new(tell: F) -> Listener<G, V, F> {
        Listener { tell, of: PhantomData }
    }
}

impl<G: Monitor, V: Visitor<G>, F: FnMut(ThreadName, CodeIndex, Event)> Observer for Listener<G, V, F> {
    const ACTIVE: bool = V::ACTIVE;
    const DETAILS: bool = V::DETAILS;

    #[inline]
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        (self.tell)(thread, at, event);
    }
}
