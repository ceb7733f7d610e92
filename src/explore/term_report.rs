//! The verdicts on pi terms, with names.
//!
//! In: an [`Answer`] and the terms of the pi functions. Out: [`TermReports`], the list behind `"terms"` of `cssame futures`.
//! Reads that share many terms make the list long: a term takes a few bytes in it, each name is stored once, and terms are
//! put together while they are looked at.

use super::futures::{Answer, Term};
use crate::cssame::{definition_name, read_name};
use crate::ir::{DefinitionId, ReadId};
use crate::schedule::{Namer, Naming, SharedStep};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Serialize, Serializer};

/// A term of a pi function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TermReport<'a> {
    /// `a@6:24`
    pub read: &'a str,
    /// `a@4:31` or `a@initial`
    pub def: &'a str,
    /// Whether some execution has it; nothing where a bound was hit before that was known.
    pub feasible: Option<bool>,
    /// An execution that has it.
    pub schedule: Option<&'a [SharedStep]>,
    /// The step of the schedule that reads, from 1.
    pub step: Option<usize>,
}

/// All terms, by place.
#[derive(Clone, Debug, Default)]
pub struct TermReports {
    /// The name of each read, and the end of its rows.
    reads: Vec<(String, usize)>,
    rows: Vec<Row>,
    definitions: FxHashMap<DefinitionId, String>,
    /// What shows the feasible terms.
    shown: Vec<(Vec<SharedStep>, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    definition: DefinitionId,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug)]
enum Verdict {
    /// The place of what shows it.
    Feasible(u32),
    Impossible,
    Undecided,
}

impl TermReports {
    /// The verdicts on the candidates, and what was seen beyond them.
    pub(super) fn new(
        naming: &Naming<'_>,
        namer: &mut Namer<'_>,
        answer: &Answer,
        candidates: &[(ReadId, DefinitionId)],
    ) -> TermReports {
        let Naming { program, sources, .. } = *naming;
        let undecided: FxHashSet<(ReadId, DefinitionId)> = answer.undecided.iter().copied().collect();
        let mut beyond: Vec<(ReadId, DefinitionId)> =
            answer.terms.iter().map(|term| (term.read, term.definition)).chain(answer.undecided.clone()).collect();
        beyond.sort_unstable();
        let mut of_read: Vec<&[(ReadId, DefinitionId)]> =
            candidates.chunk_by(|a, b| a.0 == b.0).chain(beyond.chunk_by(|a, b| a.0 == b.0)).collect();
        of_read.sort_by_key(|pairs| (program.reads[pairs[0].0].span, pairs[0].0));
        let mut reports = TermReports::default();
        for parts in of_read.chunk_by(|a, b| a[0].0 == b[0].0) {
            let read = parts[0][0].0;
            let mut definitions: Vec<DefinitionId> = parts.concat().into_iter().map(|pair| pair.1).collect();
            // The initial one first.
            definitions.sort_by_key(|&definition| {
                let of = &program.definitions[definition];
                (of.version > 0, of.span, definition)
            });
            definitions.dedup();
            for definition in definitions {
                let name = || definition_name(sources, program, definition);
                reports.definitions.entry(definition).or_insert_with(name);
                let verdict = match answer.term(read, definition) {
                    Some(term) => reports.show(namer, term),
                    None if answer.is_complete() && !undecided.contains(&(read, definition)) => Verdict::Impossible,
                    None => Verdict::Undecided,
                };
                reports.rows.push(Row { definition, verdict });
            }
            reports.reads.push((read_name(sources, program, read), reports.rows.len()));
        }
        reports
    }

    fn show(&mut self, namer: &mut Namer<'_>, term: &Term) -> Verdict {
        self.shown.push((namer.steps(&term.schedule), (term.step + 1).min(term.schedule.len())));
        Verdict::Feasible(self.shown.len() as u32 - 1)
    }

    /// Number of terms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many have that verdict.
    #[must_use]
    pub fn count(&self, feasible: Option<bool>) -> usize {
        self.rows.iter().filter(|row| row.verdict.feasible() == feasible).count()
    }

    /// All terms.
    pub fn iter(&self) -> impl Iterator<Item = TermReport<'_>> {
        self.by_read().flatten()
    }

    /// All terms, read by read.
    pub fn by_read(&self) -> impl Iterator<Item = impl ExactSizeIterator<Item = TermReport<'_>>> {
        self.reads.iter().enumerate().map(|(index, (read, end))| {
            let start = index.checked_sub(1).map_or(0, |before| self.reads[before].1);
            self.rows[start..*end].iter().map(|&row| self.report(read, row))
        })
    }

    fn report<'a>(&'a self, read: &'a str, row: Row) -> TermReport<'a> {
        let shown = match row.verdict {
            Verdict::Feasible(place) => Some(&self.shown[place as usize]),
            Verdict::Impossible | Verdict::Undecided => None,
        };
        TermReport {
            read,
            def: &self.definitions[&row.definition],
            feasible: row.verdict.feasible(),
            schedule: shown.map(|(schedule, _)| schedule.as_slice()),
            step: shown.map(|(_, step)| *step),
        }
    }
}

impl Verdict {
    fn feasible(self) -> Option<bool> {
        match self {
            Verdict::Feasible(_) => Some(true),
            Verdict::Impossible => Some(false),
            Verdict::Undecided => None,
        }
    }
}

impl Serialize for TermReports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
