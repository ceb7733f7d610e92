//! CS0401: accesses to a shared variable that may race.
//!
//! **Input**: the potential races ([`PotentialRaces`]). **Output**: one warning for each variable in the text with racing
//! accesses: two threads may make them at the same time, one of them is a write, the threads hold no common lock, and the
//! accesses are not both atomic. It shows the first write, the first access that races with it, and further ones up to
//! [`MAX_PLACES`]; the others are counted.
//!
//! **Soundness and limits**: the limits of [`crate::races`]. Locals of functions whose threads are not distinguished are left
//! out.

use super::{Potential, Subject};
use crate::races::{HeldMost, PotentialRaces, Site, potential_races_of_values};
use cssame_concurrency::ThreadId;
use cssame_concurrency::lockset::{ATOMIC, Hold, LocksetId, holds_lock};
use cssame_concurrency::set_table::SetId;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::{Access, LeafId};
use cssame_source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// At most that many places of a variable are shown.
const MAX_PLACES: usize = 4;

/// At most that many sets of locks are named at a place.
const MAX_SIDES: usize = 3;

/// Reports the variables that have accesses which may race.
pub(super) fn check(subject: Subject<'_>, found: &mut Vec<(Potential, Diagnostic)>) {
    let races = potential_races_of_values(subject.program, subject.form);
    let unprotected = races.unprotected();
    if unprotected.is_empty() {
        return;
    }
    let variables: Vec<LeafId> = unprotected.keys().copied().collect();
    let held_most = races.held_most(&variables);
    for (&leaf, sites) in &unprotected {
        let reporter = Reporter { subject, races: &races };
        let diagnostic = reporter.report(leaf, sites, held_most.get(&leaf));
        found.extend(diagnostic.map(|diagnostic| (Potential::Race(leaf), diagnostic)));
    }
}

/// The accesses at one place of the text.
#[derive(Default)]
struct Place {
    reads: bool,
    writes: bool,
    /// Whether all of them are atomic.
    atomic: bool,
    /// Who makes them, with which locks held.
    sides: BTreeMap<(LocksetId, SetId), (Vec<Hold>, BTreeSet<ThreadId>)>,
}

struct Reporter<'a> {
    subject: Subject<'a>,
    races: &'a PotentialRaces<'a>,
}

impl Reporter<'_> {
    fn report(&self, leaf: LeafId, sites: &[&Site], held_most: Option<&HeldMost>) -> Option<Diagnostic> {
        let program = self.subject.program;
        // Every race has a write; a variable without one has none.
        let writes = sites.iter().filter(|site| site.access.is_write());
        let write = writes.min_by_key(|site| (site.access.span(program), site.access))?;
        let partner = self.races.first_partner(write).map(|access: Access| access.span(program));
        let places = self.places(sites);
        let shown = shown(&places, write.access.span(program), partner);
        let name = program.texts.get(program.leaves[leaf].name);
        let message = format!("accesses to `{name}` may race");
        let mut labels = shown.iter().filter_map(|span| Some((*span, self.label(places.get(span)?))));
        let (span, label) = labels.next()?;
        let mut diagnostic = Diagnostic::warning(Code::UnprotectedAccess, span, message, label);
        for (span, label) in labels {
            diagnostic = diagnostic.with_label(span, label);
        }
        if places.len() > shown.len() {
            let more = match places.len() - shown.len() {
                1 => "one further place is unprotected as well".to_owned(),
                number => format!("{number} further places are unprotected as well"),
            };
            diagnostic = diagnostic.with_note(more);
        }
        if let Some(HeldMost { lock, holding, accesses }) = held_most {
            let hold = if *holding == 1 { "holds" } else { "hold" };
            diagnostic =
                diagnostic.with_note(format!("{holding} of {accesses} parallel accesses to `{name}` {hold} `{lock}`"));
        }
        Some(diagnostic.with_help(
            "hold one lock at all of them, or order them by an event, a barrier or a join; if any order is right, \
             declare the variable atomic",
        ))
    }

    fn places(&self, sites: &[&Site]) -> BTreeMap<Span, Place> {
        let mut places: BTreeMap<Span, Place> = BTreeMap::new();
        for site in sites {
            let key = self.races.key(site);
            let empty = Place { atomic: true, ..Place::default() };
            let place = places.entry(site.access.span(self.subject.program)).or_insert(empty);
            *(if site.access.is_write() { &mut place.writes } else { &mut place.reads }) = true;
            place.atomic &= key.atomic;
            let thread = self.subject.form.concurrency.thread_of(site.block);
            let (_, threads) =
                place.sides.entry((key.lockset, key.row_locks)).or_insert((self.races.held(key), BTreeSet::new()));
            threads.insert(thread);
        }
        places
    }

    /// ``written by T1, holding `L` ``; several sets of locks one after the other.
    fn label(&self, place: &Place) -> String {
        let verb = match (place.reads, place.writes) {
            (true, true) => "read and written",
            (true, false) => "read",
            _ => "written",
        };
        let in_block = place.sides.values().all(|(held, _)| holds_lock(held, ATOMIC));
        let how = if place.atomic && !in_block { " atomically" } else { "" };
        let sides = place.sides.values().take(MAX_SIDES).map(|(held, threads)| {
            let threads: Vec<ThreadId> = threads.iter().copied().collect();
            format!("by {}, {}", self.subject.threads(&threads), self.subject.holding(held))
        });
        format!("{verb}{how} {}", sides.collect::<Vec<_>>().join("; "))
    }
}

/// The places that are shown: the write, its partner, and the first of the others, which are shown in the order of the text.
fn shown(places: &BTreeMap<Span, Place>, write: Span, partner: Option<Span>) -> Vec<Span> {
    let mut shown = vec![write];
    shown.extend(partner.filter(|&partner| partner != write));
    let others = places.keys().copied().filter(|span| !shown.contains(span));
    let others: Vec<Span> = others.take(MAX_PLACES - shown.len()).collect();
    shown.extend(others);
    shown[1..].sort_unstable();
    shown
}
