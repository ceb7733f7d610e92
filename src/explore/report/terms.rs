//! The verdicts on pi terms, with names.
//!
//! **Input**: an [`Answer`] and the terms of the pi functions. **Output**: [`TermReports`], the list behind `"terms"`
//! of `cssame futures`.
//!
//! Reads that share many terms make the list long: a term takes a few bytes in it, each name is stored once, and terms are built
//! on demand. For readers, contexts of a read with the same terms and the same verdicts are merged ([`MergedTerms`]), as in the
//! pi functions. Counts are based on the same rows as that list ([`Listed`]).

use crate::answer::{Answer, Term};
use cssame_form::{context_of_definition, context_of_read, definition_name, listed, read_name};
use cssame_ir::{DefinitionId, Program, ReadId};
use cssame_schedule::{Namer, Naming, SharedStep};
use cssame_source::Span;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::{Serialize, Serializer};

/// A term of a pi function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TermReport<'a> {
    /// `a@6:24`
    pub read: &'a str,
    /// The context of the read, where its place has several: `T1:a@6:24`.
    pub context: Option<&'a str>,
    /// `a@4:31` or `a@initial`
    pub def: &'a str,
    /// The context of the definition, where its place has several.
    pub def_context: Option<&'a str>,
    /// Whether some execution has it; nothing where a bound was hit before that was known.
    pub feasible: Option<bool>,
    /// An execution that has it, unless only those of findings were asked for.
    pub schedule: Option<&'a [SharedStep]>,
    /// The step of the schedule that reads, from 1.
    pub step: Option<usize>,
    /// The places of both in the text.
    #[serde(skip)]
    pub spans: (Span, Span),
}

/// The terms of the contexts of a read that have the same ones, with the same verdicts.
#[derive(Clone, Debug)]
pub struct MergedTerms<'a> {
    reports: &'a TermReports,
    /// The contexts, as indices of reads.
    contexts: Vec<usize>,
    /// Whether the place has others.
    has_others: bool,
}

/// Which reads are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Those that have several terms: what the others see is no question.
    Several,
    /// All.
    All,
}

/// How many of the listed terms have each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermCounts {
    /// Some execution has them.
    pub feasible: usize,
    /// No execution has them.
    pub impossible: usize,
    /// A bound was hit before that was known.
    pub undecided: usize,
}

impl TermCounts {
    /// All listed terms.
    #[must_use]
    pub fn total(&self) -> usize {
        self.feasible + self.impossible + self.undecided
    }
}

/// All terms, by place.
#[derive(Clone, Debug, Default)]
pub struct TermReports {
    /// The names of each read, and the end of its rows.
    reads: Vec<(Named, usize)>,
    rows: Vec<Row>,
    /// The names of definitions, by id; empty for those that no term has.
    definitions: Vec<Named>,
    /// What shows the feasible terms.
    shown: Vec<(Option<Vec<SharedStep>>, Option<usize>)>,
}

/// The name of a place, and that of its context where it has several.
#[derive(Clone, Debug, Default)]
struct Named {
    place: String,
    context: Option<String>,
    span: Span,
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
    pub(crate) fn new(
        naming: &Naming<'_>,
        namer: &mut Option<Namer<'_>>,
        answer: &Answer,
        candidates: &[(ReadId, DefinitionId)],
    ) -> TermReports {
        let Naming { program, sources, .. } = *naming;
        let mut undecided = answer.undecided.clone();
        undecided.sort_unstable();
        let mut beyond: Vec<(ReadId, DefinitionId)> =
            answer.terms.iter().map(|term| (term.read, term.definition)).chain(undecided.iter().copied()).collect();
        beyond.sort_unstable();
        let mut of_read: Vec<&[(ReadId, DefinitionId)]> =
            candidates.chunk_by(|a, b| a.0 == b.0).chain(beyond.chunk_by(|a, b| a.0 == b.0)).collect();
        of_read.sort_by_key(|pairs| (program.reads[pairs[0].0].span, pairs[0].0));
        let ranks = ranks(program);
        let rank = |definition: &DefinitionId| ranks[definition.index()];
        let mut reports = TermReports {
            rows: Vec::with_capacity(candidates.len()),
            definitions: vec![Named::default(); program.definitions.len()],
            ..TermReports::default()
        };
        for parts in of_read.chunk_by(|a, b| a[0].0 == b[0].0) {
            let read = parts[0][0].0;
            let mut definitions: Vec<DefinitionId> = parts.iter().copied().flatten().map(|pair| pair.1).collect();
            if !definitions.is_sorted_by_key(rank) {
                definitions.sort_unstable_by_key(rank);
            }
            definitions.dedup();
            // A read may have thousands of terms of which none was met.
            let met = of(&answer.terms, read, |term| term.read);
            let open = of(&undecided, read, |pair| pair.0);
            for definition in definitions {
                let name = &mut reports.definitions[definition.index()];
                if name.place.is_empty() {
                    name.place = definition_name(sources, program, definition);
                    name.context = context_of_definition(sources, program, definition);
                    name.span = program.definitions[definition].span;
                }
                let verdict = match met.binary_search_by_key(&definition, |term| term.definition) {
                    Ok(place) => reports.show(namer, &met[place]),
                    Err(_) if answer.is_complete() && open.binary_search(&(read, definition)).is_err() => {
                        Verdict::Impossible
                    }
                    Err(_) => Verdict::Undecided,
                };
                reports.rows.push(Row { definition, verdict });
            }
            let (place, context) = (read_name(sources, program, read), context_of_read(sources, program, read));
            let span = program.reads[read].span;
            reports.reads.push((Named { place, context, span }, reports.rows.len()));
        }
        reports
    }

    fn show(&mut self, namer: &mut Option<Namer<'_>>, term: &Term) -> Verdict {
        let shown = term.schedule.as_ref();
        let schedule = namer.as_mut().zip(shown).map(|(namer, schedule)| namer.steps(schedule));
        self.shown.push((schedule, shown.map(|schedule| (term.step + 1).min(schedule.len()))));
        Verdict::Feasible(self.shown.len() as u32 - 1)
    }

    /// How many of the listed terms have each verdict; those of contexts that are listed as one count once.
    #[must_use]
    pub fn count(&self, listed: Listed) -> TermCounts {
        let mut counts = TermCounts::default();
        for row in self.merged(listed).flat_map(|terms| self.rows_of(terms.contexts[0])) {
            match row.verdict {
                Verdict::Feasible(_) => counts.feasible += 1,
                Verdict::Impossible => counts.impossible += 1,
                Verdict::Undecided => counts.undecided += 1,
            }
        }
        counts
    }

    /// All terms.
    pub fn iter(&self) -> impl Iterator<Item = TermReport<'_>> {
        let reads = self.reads.iter().enumerate();
        reads.flat_map(move |(index, (read, _))| self.rows_of(index).iter().map(move |&row| self.report(read, row)))
    }

    /// The listed terms, read by read; contexts of a read with the same ones together.
    pub fn merged(&self, listed: Listed) -> impl Iterator<Item = MergedTerms<'_>> {
        let starts = self.reads.chunk_by(|a, b| a.0.place == b.0.place).scan(0, |next, contexts| {
            let start = *next;
            *next += contexts.len();
            Some(start..*next)
        });
        let groups = starts.flat_map(move |contexts| {
            let mut groups: IndexMap<Vec<_>, Vec<usize>, FxBuildHasher> = IndexMap::default();
            let all = contexts.len();
            for index in contexts {
                // Most places have one context, and need not be compared.
                let key = |row: &Row| (row.definition, row.verdict.feasible());
                let key = if all == 1 { Vec::new() } else { self.rows_of(index).iter().map(key).collect() };
                groups.entry(key).or_default().push(index);
            }
            let has_others = groups.len() > 1;
            groups.into_values().map(move |contexts| MergedTerms { reports: self, contexts, has_others })
        });
        groups.filter(move |terms| listed == Listed::All || self.rows_of(terms.contexts[0]).len() > 1)
    }

    fn rows_of(&self, read: usize) -> &[Row] {
        let start = read.checked_sub(1).map_or(0, |before| self.reads[before].1);
        &self.rows[start..self.reads[read].1]
    }

    fn report<'a>(&'a self, read: &'a Named, row: Row) -> TermReport<'a> {
        let shown = match row.verdict {
            Verdict::Feasible(place) => Some(&self.shown[place as usize]),
            Verdict::Impossible | Verdict::Undecided => None,
        };
        let definition = &self.definitions[row.definition.index()];
        TermReport {
            read: &read.place,
            context: read.context.as_deref(),
            def: &definition.place,
            def_context: definition.context.as_deref(),
            feasible: row.verdict.feasible(),
            schedule: shown.and_then(|(schedule, _)| schedule.as_deref()),
            step: shown.and_then(|(_, step)| *step),
            spans: (read.span, definition.span),
        }
    }
}

impl<'a> MergedTerms<'a> {
    /// The name of the read; with its contexts, where the place has others.
    #[must_use]
    pub fn name(&self) -> String {
        let named = |&index: &usize| &self.reports.reads[index].0;
        match self.contexts.as_slice() {
            [only] => named(only).context.clone().unwrap_or_else(|| named(only).place.clone()),
            contexts if self.has_others => listed(contexts.iter().filter_map(|index| named(index).context.clone())),
            contexts => contexts.first().map_or_else(String::new, |first| named(first).place.clone()),
        }
    }

    /// The terms, each with the shortest of the executions that show it in one of the contexts.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = TermReport<'a>> + use<'a, '_> {
        let reports = self.reports;
        let (named, _) = &reports.reads[self.contexts[0]];
        (0..reports.rows_of(self.contexts[0]).len()).map(move |row| {
            let of_context = |&index: &usize| reports.report(named, reports.rows_of(index)[row]);
            let first = of_context(&self.contexts[0]);
            self.contexts[1..].iter().map(of_context).fold(
                first,
                |least, next| {
                    if next.step < least.step { next } else { least }
                },
            )
        })
    }
}

/// By definition: its place in the order in which terms are listed, which is that of the text, initial ones first.
fn ranks(program: &Program) -> Vec<u32> {
    let mut order: Vec<DefinitionId> = program.definitions.ids().collect();
    order.sort_by_key(|&definition| {
        let of = &program.definitions[definition];
        (of.version > 0, of.span, definition)
    });
    let mut ranks = vec![0; order.len()];
    for (rank, definition) in order.into_iter().enumerate() {
        ranks[definition.index()] = rank as u32;
    }
    ranks
}

/// The part of a list sorted by reads that belongs to one.
fn of<T>(list: &[T], read: ReadId, key: impl Fn(&T) -> ReadId) -> &[T] {
    let start = list.partition_point(|each| key(each) < read);
    let count = list[start..].partition_point(|each| key(each) == read);
    &list[start..start + count]
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
