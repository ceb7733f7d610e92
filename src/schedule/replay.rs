//! Follows a recorded schedule: strictly, or in a text that has changed since the recording.
//!
//! **Input**: the steps of a schedule, each with its thread, place and operation by name.
//!
//! **Output**: the same steps of this program; or, if the program departs from the schedule, a [`Departure`]: the step, the
//! expected operation, and the actual one.
//!
//! **Algorithm**. For each step of the schedule, the thread of that name is looked up. It must be able to move, and stand before
//! the named operation at the named place. In a changed text, a place is learned when the schedule first names it: it is the
//! place where the thread stands before that operation. From then on, the old place and the new place correspond to each other
//! one to one. The line in the name of a thread of a `parfor` is learned in the same way.
//!
//! **Soundness and limits**. A program that was changed elsewhere still fits. If several threads have one name, the first one
//! counts. A text in which other statements execute the same operations on the same objects fits, too: the execution is one of
//! the new text in any case.

use super::execution::ExecutionStatus;
use super::file::Step;
use super::naming::Naming;
use super::policy::{Decision, Policy, View};
use cssame_vm::{Choice, Move, ThreadIndex, ThreadStatus};
use rustc_hash::FxHashMap;
use std::fmt;

/// What is there instead of what a schedule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No thread of that name; these are there.
    NoThread {
        /// Their names.
        threads: Vec<String>,
    },
    /// The thread has ended.
    Ended,
    /// The thread stands elsewhere.
    Elsewhere {
        /// Where, and before what.
        step: Step,
    },
    /// The thread stands there, but cannot move.
    Blocked,
    /// There are not so many alternatives, or the schedule does not say which one, or says one where there is no choice.
    Alternatives {
        /// How many there are.
        count: u32,
    },
    /// Nothing: the execution is over.
    Over,
}

/// Where a program departs from a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The step of the schedule, from 1.
    pub step: usize,
    /// What the schedule says.
    pub expected: Step,
    /// What is there.
    pub found: Found,
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { thread, at, op, .. } = &self.expected;
        write!(f, "step {}: the schedule says {thread} at {at}: {op}; ", self.step)?;
        match &self.found {
            Found::NoThread { threads } => write!(f, "there is no such thread, only {}", threads.join(", ")),
            Found::Ended => write!(f, "that thread has ended"),
            Found::Elsewhere { step } if step.op.is_empty() => write!(f, "that thread waits at {}", step.at),
            Found::Elsewhere { step } => write!(f, "that thread stands at {}: {}", step.at, step.op),
            Found::Blocked => write!(f, "that thread is blocked there"),
            Found::Alternatives { count } => match self.expected.alternative {
                None => write!(f, "it does not say which of {count} alternatives"),
                Some(alternative) if *count == 1 => {
                    write!(f, "it names alternative {alternative}, but there is no choice")
                }
                Some(alternative) => write!(f, "alternative {alternative} of {count} does not exist"),
            },
            Found::Over => write!(f, "the execution is over"),
        }
    }
}

impl std::error::Error for Departure {}

/// Follows the steps of a schedule, and is done behind the last one. Where the program departs from it, the execution stops,
/// and [`Replay::departure`] says why.
pub struct Replay<'a> {
    naming: Naming<'a>,
    steps: &'a [Step],
    next: usize,
    departure: Option<Departure>,
    /// In a text that has changed: places, and lines of a `parfor`, as far as they are known.
    moved: Option<(Moved, Moved)>,
}

/// What of an old text is what of a new one.
#[derive(Default)]
struct Moved {
    forward: FxHashMap<String, String>,
    back: FxHashMap<String, String>,
}

impl Moved {
    /// Whether the two may be one and the same.
    fn may_be(&self, old: &str, new: &str) -> bool {
        match (self.forward.get(old), self.back.get(new)) {
            (None, None) => true,
            (Some(known), Some(_)) => known == new,
            _ => false,
        }
    }

    fn learn(&mut self, old: &str, new: &str) {
        self.forward.insert(old.to_owned(), new.to_owned());
        self.back.insert(new.to_owned(), old.to_owned());
    }
}

/// The name of a thread without the line of each `parfor`, and these; which time it is that threads are made in that line belongs to it,
/// as in `parfor@7[0]#2`: two of them may come to stand in one line.
fn without_lines(name: &str) -> (String, Vec<String>) {
    const WORD: &str = "parfor@";
    let number = |text: &str| text.find(|each: char| !each.is_ascii_digit()).unwrap_or(text.len());
    let mut parts = name.split(WORD);
    let (mut rest, mut lines) = (parts.next().unwrap_or("").to_owned(), Vec::new());
    for part in parts {
        let (line, iteration) = part.split_at(number(part));
        let (iteration, behind) = iteration.split_at(iteration.find(']').map_or(0, |at| at + 1));
        let (time, behind) = behind.strip_prefix('#').map_or(("", behind), |behind| behind.split_at(number(behind)));
        lines.push(format!("{line}#{time}"));
        rest = rest + WORD + iteration + behind;
    }
    (rest, lines)
}

impl<'a> Replay<'a> {
    /// Follows these steps.
    #[must_use]
    pub fn new(naming: Naming<'a>, steps: &'a [Step]) -> Replay<'a> {
        Replay { naming, steps, next: 0, departure: None, moved: None }
    }

    /// Follows these steps, which were recorded of another text of the program: what stands elsewhere now is found by its
    /// thread and its operation.
    #[must_use]
    pub fn relocating(naming: Naming<'a>, steps: &'a [Step]) -> Replay<'a> {
        Replay { moved: Some(Default::default()), ..Replay::new(naming, steps) }
    }

    /// Number of steps that were done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.next
    }

    /// Where the program has departed from the schedule, if it has.
    #[must_use]
    pub fn departure(&self) -> Option<&Departure> {
        self.departure.as_ref()
    }

    /// The departure of a program whose execution is over before the schedule is.
    #[must_use]
    pub fn rest(&self) -> Option<Departure> {
        let expected = self.steps.get(self.next)?.clone();
        Some(Departure { step: self.next + 1, expected, found: Found::Over })
    }

    /// Where an execution that has followed the schedule, whose recorded end is given, has departed from it. One that is over
    /// before its schedule is has departed from it, too; not so one that fails first, which shows its failure, and one
    /// that lacks only the recorded failure: an assertion that holds is no step.
    #[must_use]
    pub fn departure_of(&self, status: &ExecutionStatus, recorded: Option<&str>) -> Option<Departure> {
        if let Some(departure) = self.departure() {
            return Some(departure.clone());
        }
        let over = matches!(status, ExecutionStatus::Ok | ExecutionStatus::Deadlock | ExecutionStatus::Discarded);
        let failed = recorded.is_some_and(|status| !matches!(status, "ok" | "deadlock" | "discarded"));
        let departure = self.rest().filter(|_| over)?;
        let fails = matches!(departure.expected.op.as_str(), "assert" | "error" | "divide" | "index" | "diverge");
        let lacks_only_the_failure = failed && fails && departure.step == self.steps.len();
        (!lacks_only_the_failure).then_some(departure)
    }

    /// Whether a thread is the one of a step.
    fn is_thread(&self, name: &str, expected: &str) -> bool {
        let Some((_, of_lines)) = &self.moved else { return name == expected };
        let ((old, old_lines), (new, new_lines)) = (without_lines(expected), without_lines(name));
        old == new && old_lines.iter().zip(&new_lines).all(|(old, new)| of_lines.may_be(old, new))
    }

    /// Whether a thread that stands before a step, as it is named now, stands before the expected one.
    fn is_there(&mut self, step: &Step, expected: &Step) -> bool {
        let Some((places, lines)) = &mut self.moved else {
            return (&step.at, &step.op) == (&expected.at, &expected.op);
        };
        if step.op != expected.op || !places.may_be(&expected.at, &step.at) {
            return false;
        }
        places.learn(&expected.at, &step.at);
        for (old, new) in without_lines(&expected.thread).1.iter().zip(without_lines(&step.thread).1) {
            lines.learn(old, &new);
        }
        true
    }

    fn find(&mut self, view: &View<'_>, moves: &[Move], expected: &Step) -> Result<Choice, Found> {
        let View { machine, tables, state } = *view;
        let name = |thread: ThreadIndex| machine.path_name(tables, state.path(thread));
        let is_named = |&thread: &ThreadIndex| self.is_thread(&name(thread), &expected.thread);
        let is_alive = |&thread: &ThreadIndex| state.status(thread) != ThreadStatus::Ended;
        let alive = state.threads().filter(is_alive).find(is_named);
        let Some(thread) = alive.or_else(|| state.threads().find(is_named)) else {
            return Err(Found::NoThread { threads: state.threads().map(name).collect() });
        };
        if state.status(thread) == ThreadStatus::Ended {
            return Err(Found::Ended);
        }
        let alternatives = moves.iter().find(|one| one.thread == thread).map_or(0, |one| one.alternatives);
        let alternative = expected.alternative.unwrap_or(0);
        let choice = Choice { thread, alternative };
        let step = self.naming.step(state, tables, choice, alternatives);
        if !self.is_there(&step, expected) {
            return Err(Found::Elsewhere { step });
        }
        match (alternatives, expected.alternative) {
            (0, _) => Err(Found::Blocked),
            // Where there is a choice the schedule makes it, and only there.
            (1, None) => Ok(choice),
            (count, Some(alternative)) if 1 < count && alternative < count => Ok(choice),
            (count, _) => Err(Found::Alternatives { count }),
        }
    }
}

impl Policy for Replay<'_> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        if self.departure.is_some() {
            return Decision::Stop;
        }
        let Some(expected) = self.steps.get(self.next) else { return Decision::Done };
        self.next += 1;
        match self.find(view, moves, expected) {
            Ok(choice) => Decision::Step(choice),
            Err(found) => {
                self.departure = Some(Departure { step: self.next, expected: expected.clone(), found });
                Decision::Stop
            }
        }
    }
}
