//! Records which definition each read was seen to read from.
//!
//! **Input**: the events of a search. **Output**: every pair of a read and a definition that some step shows, with the
//! first such step.
//!
//! If executions may be discarded later, all steps that show a pair are kept, until it is known which of them belong to an
//! execution that is not discarded ([`assumption`](super::assumption)).

use crate::states::Transition;
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{CodeIndex, Event, Machine, Observer, ThreadName};
use rustc_hash::FxHashSet;

/// A pair that was seen.
#[derive(Clone, Debug)]
pub(crate) struct SeenTerm {
    pub read: ReadId,
    pub definition: DefinitionId,
    /// The steps that show it: the first one, or one for each state to which such a step leads.
    pub witnesses: Vec<Transition>,
}

/// All pairs that were seen, in the order in which they were seen first.
#[derive(Debug, Default)]
pub(crate) struct SeenTerms {
    pub list: Vec<SeenTerm>,
    /// By read: definitions, and the places of the pairs in the list.
    seen: Vec<Vec<(DefinitionId, usize)>>,
    pending: Vec<(ReadId, DefinitionId)>,
    /// Whether to keep all witnesses, and which there are: the place of the pair, and the state that is reached.
    keep_all: bool,
    reached: FxHashSet<(usize, u32)>,
}

impl SeenTerms {
    pub(crate) fn new(machine: &Machine) -> SeenTerms {
        SeenTerms { keep_all: machine.may_discard(), ..SeenTerms::default() }
    }

    /// Memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        let witnesses = self.reached.capacity() * (size_of::<(usize, u32)>() + size_of::<Transition>());
        (self.list.capacity() * size_of::<SeenTerm>() + witnesses) as u64
    }

    /// A step begins.
    pub(crate) fn begin(&mut self) {
        self.pending.clear();
    }

    /// The step is over: what it has read counts.
    pub(crate) fn transition(&mut self, transition: &Transition) {
        for index in 0..self.pending.len() {
            let (read, definition) = self.pending[index];
            self.note(read, definition, transition);
        }
    }

    fn note(&mut self, read: ReadId, definition: DefinitionId, transition: &Transition) {
        if self.seen.len() <= read.index() {
            self.seen.resize(read.index() + 1, Vec::new());
        }
        let seen = &mut self.seen[read.index()];
        match seen.iter().find(|(other, _)| *other == definition) {
            Some(&(_, place)) => {
                if self.keep_all && self.reached.insert((place, transition.to)) {
                    self.list[place].witnesses.push(*transition);
                }
            }
            None => {
                let place = self.list.len();
                seen.push((definition, place));
                self.list.push(SeenTerm { read, definition, witnesses: vec![*transition] });
                self.reached.insert((place, transition.to));
            }
        }
    }
}

impl Observer for SeenTerms {
    const DETAILS: bool = false;

    #[inline]
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.pending.push((read, definition));
        }
    }
}
