//! Whether selected pi terms are consistent, with names: an execution that has them, or the reason why there is none.

use cssame_explore::{Answer, Verdict};
use cssame_form::contradiction::{ReasonReport, explain, reason_report};
use cssame_form::{Selection, definition_in_context, definition_name, read_name, selected_contexts, selected_read};
use cssame_ir::DefinitionId;
use cssame_model::Model;
use cssame_schedule::Step;
use serde::Serialize;

/// Writes that are named where a read never sees the selected one.
const SEEN: usize = 4;

/// Whether a selection is consistent.
#[derive(Clone, Debug, Serialize)]
pub struct SelectionReport {
    /// The selected terms.
    pub selected: Vec<SelectedReport>,
    /// Nothing where a bound was hit before that was known.
    pub consistent: Option<bool>,
    /// Selected terms that contradict each other, none of which can be left out.
    pub contradiction: Vec<String>,
    /// Why they do, where they do.
    pub reason: Option<ReasonReport>,
    /// An execution that has them.
    pub schedule: Option<Vec<Step>>,
}

/// A selected term.
#[derive(Clone, Debug, Serialize)]
pub struct SelectedReport {
    /// `a@6:24`; nothing where it is asked whether the definition happens.
    pub read: Option<String>,
    /// The context of the read, if not all contexts of the place are meant: `T1:a@6:24`.
    pub context: Option<String>,
    /// Which instance of the read, or of the definition that is to happen, in its thread, from 1.
    pub instance: Option<u32>,
    /// `a@4:31` or `a@initial`
    pub def: String,
    /// The context of the definition, if not all contexts of the place are meant.
    pub def_context: Option<String>,
    /// Whether the execution has it; the others are reads that it does not come to.
    pub satisfied: bool,
}

impl SelectedReport {
    /// `a@6:24#2=a@4:31`, as on the command line.
    #[must_use]
    pub fn text(&self) -> String {
        let instance = self.instance.map_or_else(String::new, |instance| format!("#{instance}"));
        let definition = self.def_context.as_deref().unwrap_or(&self.def);
        match self.context.as_ref().or(self.read.as_ref()) {
            Some(read) => format!("{read}{instance}={definition}"),
            None => format!("{definition}{instance}"),
        }
    }
}

/// What a verdict says of selections, with names. `answer` is what is known of all terms, if that was asked for.
pub(super) fn selection_report(
    model: &Model,
    selections: &[Selection],
    verdict: &Verdict,
    answer: Option<&Answer>,
) -> SelectionReport {
    let (sources, program) = (model.sources(), model.program());
    let selected = selections.iter().enumerate().map(|(place, selection)| {
        let (context, def_context) = selected_contexts(sources, program, selection);
        SelectedReport {
            read: (!selection.is_write()).then(|| read_name(sources, program, selection.read())),
            context,
            instance: selection.instance,
            def: definition_name(sources, program, selection.definition()),
            def_context,
            satisfied: matches!(verdict, Verdict::Consistent { satisfied, .. } if satisfied[place]),
        }
    });
    let selected: Vec<SelectedReport> = selected.collect();
    let (consistent, core, schedule) = match verdict {
        Verdict::Consistent { schedule, .. } => (Some(true), &[][..], Some(model.naming().steps(schedule))),
        Verdict::Inconsistent { core } => (Some(false), &core[..], None),
        Verdict::Undecided => (None, &[][..], None),
    };
    let contradiction: Vec<String> = core.iter().map(|&place| selected[place].text()).collect();
    let has_write = core.iter().any(|&place| selections[place].is_write());
    let mut reason = (consistent == Some(false)).then(|| match has_write {
        true => never(&contradiction),
        false => reason(model, selections, core),
    });
    if let (Some(ReasonReport { note: Some(note), .. }), Some(answer)) =
        (&mut reason, answer.filter(|all| all.is_complete()))
    {
        for &place in core.iter().filter(|_| !has_write) {
            note.extend(sees_instead(model, &selections[place], answer));
        }
    }
    SelectionReport { selected, consistent, contradiction, reason, schedule }
}

/// That no execution comes to what is selected, where that is not for the order of terms alone.
fn never(terms: &[String]) -> ReasonReport {
    let note = match terms {
        [only] => format!("no execution comes to the write {only}"),
        several => format!("no execution has all of {}", several.join(", ")),
    };
    ReasonReport { terms: terms.to_vec(), cycle: Vec::new(), premises: Vec::new(), cases: 0, note: Some(note) }
}

/// Why the selections of a core contradict each other. Where values decide that, all that is selected may still be forbidden
/// by orders.
fn reason(model: &Model, selections: &[Selection], core: &[usize]) -> ReasonReport {
    let (sources, program, form) = (model.sources(), model.program(), model.form());
    let of = |part: &[Selection]| reason_report(sources, program, form, part, &explain(program, form, part));
    let reason = of(&core.iter().map(|&place| selections[place].clone()).collect::<Vec<Selection>>());
    if reason.note.is_none() || core.len() == selections.len() {
        return reason;
    }
    let terms: Vec<Selection> = selections.iter().filter(|one| !one.is_write()).cloned().collect();
    let whole = of(&terms);
    if whole.note.is_none() { whole } else { reason }
}

/// What a read sees, where it never sees the selected write.
fn sees_instead(model: &Model, selection: &Selection, answer: &Answer) -> Option<String> {
    let (sources, program) = (model.sources(), model.program());
    let read = selected_read(sources, program, selection);
    let terms = answer.terms.iter().filter(|term| selection.selects(term.read));
    let mut definitions: Vec<DefinitionId> = terms.map(|term| term.definition).collect();
    definitions.sort_unstable();
    definitions.dedup();
    if definitions.iter().any(|&one| selection.accepts(Some(one))) {
        return None;
    }
    let names = definitions.iter().take(SEEN).map(|&definition| definition_in_context(sources, program, definition));
    let names = names.collect::<Vec<String>>().join(", ");
    Some(match definitions.len() {
        0 => format!("; no execution reads {read}"),
        count if count > SEEN => format!("; {read} reads from {names} and {} others", count - SEEN),
        _ => format!("; {read} reads only from {names}"),
    })
}
