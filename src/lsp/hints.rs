//! Inlay hints: after a shared read, the writes that it may see; or the whole text in CSSAME form.

use super::document::Document;
use super::explorer::Verdict;
use super::protocol::{InlayHint, Range};
use super::text::Encoding;
use cssame_answer::form_hints;
use cssame_form::{ReadReport, TermData};
use std::ops::RangeInclusive;

/// Which hints are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shown {
    /// None.
    Off,
    /// The terms that executions have shown to be feasible, and those that are not decided.
    #[default]
    Feasible,
    /// All terms, with a mark at those that are impossible.
    All,
    /// The versions of names, and the functions that merge them, as the paper prints them.
    Form,
}

impl Shown {
    /// By its name in the settings.
    pub(super) fn of(word: &str) -> Option<Shown> {
        match word {
            "off" => Some(Shown::Off),
            "feasible" => Some(Shown::Feasible),
            "all" => Some(Shown::All),
            "form" => Some(Shown::Form),
            _ => None,
        }
    }
}

/// The hints in a range.
pub(super) fn hints(document: &Document, encoding: Encoding, range: Range, shown: Shown) -> Vec<InlayHint> {
    let Some(compiled) = document.compiled().filter(|_| shown != Shown::Off) else { return Vec::new() };
    let inside = document.offset(encoding, range.start)..=document.offset(encoding, range.end);
    if shown == Shown::Form {
        return form(document, encoding, inside);
    }
    let reads =
        compiled.pi.pis.iter().filter(|read| document.analysis.is_own(read.span) && inside.contains(&read.span.start));
    // A place has one hint, whatever contexts it has.
    let mut hints: Vec<(u32, Vec<String>)> = Vec::new();
    for read in reads {
        let words = read.terms.iter().filter_map(|term| word(document, read, term, shown));
        match hints.last_mut().filter(|(end, _)| *end == read.span.end) {
            Some((_, known)) => known.extend(words),
            None => hints.push((read.span.end, words.collect())),
        }
    }
    let source = document.analysis.source();
    hints.retain(|(_, words)| !words.is_empty());
    hints
        .into_iter()
        .map(|(end, mut words)| {
            let mut seen = std::collections::BTreeSet::new();
            words.retain(|word| seen.insert(word.clone()));
            InlayHint {
                position: encoding.position(source, end),
                label: format!("← {}", words.join(", ")),
                tooltip: "writes that this read may see",
                padding_left: true,
                padding_right: false,
            }
        })
        .collect()
}

/// What makes the text read in CSSAME form.
fn form(document: &Document, encoding: Encoding, inside: RangeInclusive<u32>) -> Vec<InlayHint> {
    let unit = document.compiled().map(|compiled| &compiled.unit).filter(|unit| unit.program.main.is_some());
    let hints = unit.map(form_hints).unwrap_or_default().into_iter().filter(|hint| inside.contains(&hint.offset));
    let source = document.analysis.source();
    hints
        .map(|hint| InlayHint {
            position: encoding.position(source, hint.offset),
            label: hint.label,
            tooltip: "CSSAME form",
            padding_left: !hint.is_suffix,
            padding_right: !hint.is_suffix,
        })
        .collect()
}

/// `T1:14`, `initial`
fn word(document: &Document, read: &ReadReport, term: &TermData, shown: Shown) -> Option<String> {
    let explored = document.explored.as_ref();
    let known = explored.and_then(|explored| explored.verdicts.get(&(read.read.clone(), term.def.clone())));
    let name = if term.is_initial { "initial".to_owned() } else { format!("{}:{}", term.thread, term.line) };
    match (known, shown) {
        (Some(Verdict::Impossible), Shown::Feasible) => None,
        (Some(Verdict::Impossible), _) => Some(format!("({name})")),
        _ => Some(name),
    }
}
