//! The outcomes that a search finds.
//!
//! **Input**: the ends of executions, one after the other, each with data that leads to its schedule. **Output**: each distinct
//! outcome once, sorted by its output.
//!
//! **Algorithm**:
//! 1. During the search, an outcome takes a few words. The output of a thread is an [`OutputId`], which shares all lines but the
//!    last with another one. The schedule is a node of the search, which shares all steps but the last.
//! 2. At the end, the outcomes are written out in the order in which they were found, the shortest executions first: schedules up
//!    to a number of steps, outcomes up to a number of lines ([`Room`]).
//!
//! **Soundness and limits**: every listed outcome is real. The n-th outcome of a printing loop has n lines, so that the total
//! number of lines grows with the square of the steps. If there is no room for an outcome, it is left out, and the answer says
//! that [`Bound::Memory`] was hit.

use crate::answer::{Outcome, OutcomeStatus};
use cssame_budget::{Bound, Budget};
use cssame_vm::{Choice, Failure, OutputId, PathId, Tables};
use rustc_hash::FxHashMap;

/// What tells outcomes apart.
pub(crate) type OutcomeKey = (Vec<(PathId, OutputId)>, OutcomeStatus);

/// How much of the outcomes is written out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Printed lines of all outcomes together.
    pub lines: usize,
    /// Steps of all their schedules together.
    pub steps: usize,
}

/// Memory of a line, or a step, in an answer: a text, and its place in lists.
const BYTES: usize = 128;

impl Room {
    /// Fewer lines where a bound has cut the search: the user does not want to wait much longer. Both are less where there is
    /// less memory.
    pub(crate) fn behind(bound: Option<Bound>, budget: &Budget<'_>) -> Room {
        let most = budget.limits().max_memory.map_or(usize::MAX, |bytes| bytes as usize / BYTES);
        let lines = if bound.is_none() { 20_000_000 } else { 1_000_000 };
        Room { lines: lines.min(most), steps: 2_000_000.min(most) }
    }
}

/// The outcomes that were met, each with what leads to the execution that has shown it first.
#[derive(Debug)]
pub(crate) struct Outcomes<W> {
    found: FxHashMap<OutcomeKey, (W, Option<Failure>)>,
    /// SeenTerms of a thread and its output in all of them.
    outputs: usize,
}

impl<W> Default for Outcomes<W> {
    fn default() -> Self {
        Outcomes { found: FxHashMap::default(), outputs: 0 }
    }
}

impl<W: Copy + Ord> Outcomes<W> {
    /// Notes how an execution ends; whether that is new.
    pub(crate) fn note(&mut self, key: OutcomeKey, failure: Option<Failure>, witness: W) -> bool {
        if self.found.contains_key(&key) {
            return false;
        }
        self.outputs += key.0.len();
        self.found.insert(key, (witness, failure));
        true
    }

    /// Memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        let entries = self.found.capacity() * (size_of::<(OutcomeKey, (W, Option<Failure>))>() + 1);
        (entries + self.outputs * size_of::<(PathId, OutputId)>()) as u64
    }

    /// Writes them out. Gives the outcomes for which there is room, and whether others were left out.
    pub(crate) fn list(
        self,
        tables: &Tables,
        mut room: Room,
        schedule: impl Fn(W) -> Vec<Choice>,
    ) -> (Vec<Outcome>, bool) {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by_key(|&(_, (witness, _))| witness);
        let all = found.len();
        let mut outcomes: Vec<Outcome> = Vec::new();
        for ((outputs, status), (witness, failure)) in found {
            if room.lines == 0 {
                break;
            }
            let lines: usize = outputs.iter().map(|&(_, output)| tables.lines(output).len()).sum();
            room.lines = room.lines.saturating_sub(lines);
            let schedule = (room.steps > 0).then(|| schedule(witness));
            room.steps = room.steps.saturating_sub(schedule.as_ref().map_or(0, Vec::len));
            outcomes.push(Outcome { outputs, status, failure, schedule });
        }
        let is_cut = outcomes.len() < all;
        sort(tables, &mut outcomes);
        (outcomes, is_cut)
    }
}

/// Sorts outcomes by what is printed, numbers by their values, and then by how they end.
pub(crate) fn sort(tables: &Tables, outcomes: &mut [Outcome]) {
    let lines = |outcome: &Outcome| -> Vec<(Vec<Piece<'_>>, &str)> {
        let lines = outcome.outputs.iter().flat_map(|&(_, output)| tables.lines(output));
        lines.map(|line| (pieces(line), line)).collect()
    };
    let names = |outcome: &Outcome| outcome.outputs.iter().map(|&(path, _)| path).collect::<Vec<PathId>>();
    outcomes.sort_by_cached_key(|outcome| (lines(outcome), outcome.status, names(outcome)));
}

/// A part of a line, as lines are sorted.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Piece<'a> {
    Number(i64),
    Text(&'a str),
}

/// The numbers of a line, and what stands between them.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let digits = rest.find(|each: char| each.is_ascii_digit());
        let start = digits.map_or(rest.len(), |at| at - usize::from(rest[..at].ends_with('-')));
        let (text, number) = rest.split_at(start);
        let sign = usize::from(number.starts_with('-'));
        let end = number[sign..].find(|each: char| !each.is_ascii_digit()).map_or(number.len(), |at| sign + at);
        pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
        if end > 0 {
            pieces.push(number[..end].parse().map_or(Piece::Text(&number[..end]), Piece::Number));
        }
        rest = &number[end..];
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcomes of a loop that prints in each round, and may end after each.
    fn loop_outcomes(rounds: u32) -> (Tables, Outcomes<u32>) {
        let (mut tables, mut outcomes) = (Tables::new(), Outcomes::default());
        let mut output = OutputId::EMPTY;
        for round in 0..rounds {
            output = tables.append(output, "1", false);
            assert!(outcomes.note((vec![(PathId(0), output)], OutcomeStatus::Ok), None, round));
            assert!(!outcomes.note((vec![(PathId(0), output)], OutcomeStatus::Ok), None, round + 1));
        }
        (tables, outcomes)
    }

    fn steps(count: u32) -> Vec<Choice> {
        vec![Choice { thread: cssame_vm::ThreadIndex(0), alternative: 0 }; count as usize]
    }

    #[test]
    fn lines_are_sorted_by_the_values_of_their_numbers() {
        let sorted = ["-10", "-2", "2", "10", "99999999999999999999", "x-1", "x1", "x 9 y", "x 10", "x 10 z"];
        let mut lines = sorted;
        lines.reverse();
        lines.sort_by_key(|line| pieces(line));
        assert_eq!(lines, sorted);
        assert_eq!(pieces("a-1-"), [Piece::Text("a"), Piece::Number(-1), Piece::Text("-")]);
    }

    #[test]
    fn what_is_kept_grows_with_the_number_of_outcomes() {
        let bytes = |rounds| loop_outcomes(rounds).1.bytes();
        assert!(bytes(40_000) <= 16 * bytes(2_500) && bytes(2_500) > 0);
    }

    #[test]
    fn outcomes_are_written_out_as_far_as_there_is_room() {
        let (tables, outcomes) = loop_outcomes(3_000);
        let (listed, is_cut) = outcomes.list(&tables, Room { lines: 10_000, steps: 5_000 }, steps);
        assert!(is_cut && (140..150).contains(&listed.len()), "{}", listed.len());
        let shown = listed.iter().filter_map(|outcome| outcome.schedule.as_ref());
        assert!((5_000..5_200).contains(&shown.map(Vec::len).sum::<usize>()));
        // The shortest ones are shown, and listed.
        assert!(listed.is_sorted_by_key(|outcome| tables.lines(outcome.outputs[0].1).len()));
        assert!(listed[0].schedule.is_some() && listed[listed.len() - 1].schedule.is_none());
        let (tables, outcomes) = loop_outcomes(100);
        let (listed, is_cut) = outcomes.list(&tables, Room { lines: 10_000, steps: 5_000 }, steps);
        assert!(!is_cut && listed.len() == 100 && listed.iter().all(|outcome| outcome.schedule.is_some()));
    }
}
