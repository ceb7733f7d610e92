//! The reason why a selection is inconsistent, for readers.

use super::snippet::{title, wrap, wrap_behind};
use cssame_form::contradiction::{OrderReport, PlaceReport, ReasonReport};

/// The cycle, a line for each event and one for each order between two, and below it what its orders follow from.
#[must_use]
pub fn text(reason: &ReasonReport, colour: bool) -> String {
    if let Some(note) = &reason.note {
        return wrap("  ", note);
    }
    let mut text = title("cycle", colour);
    let cases = match reason.cases {
        0 | 1 => String::new(),
        cases => format!(" (one of {cases} cases by thread and call, each of which has a cycle)"),
    };
    let terms = reason.terms.join(", ");
    text += &wrap("  ", &format!("with {terms}, each would come before the next{cases}:"));
    for order in &reason.cycle {
        text += &event(&order.from);
        text += &step(order);
    }
    text += &reason.cycle.first().map_or_else(String::new, |first| event(&first.from));
    let mut derived: Vec<&OrderReport> = reason.cycle.iter().chain(&reason.premises).collect();
    derived.retain(|order| order.because.is_some());
    derived.sort_by_key(|order| order.number);
    if !derived.is_empty() {
        text += &title("because", colour);
    }
    for order in derived {
        let number = order.number.map_or_else(String::new, |number| format!("({number}) "));
        let (from, to) = (&order.from, &order.to);
        let sentence = format!(
            "{} {} before {} {}: {}",
            from.at,
            from.op,
            to.at,
            to.op,
            order.because.as_deref().unwrap_or_default()
        );
        text += &wrap_behind("  ", "      ", &(number + &sentence));
    }
    text
}

fn event(place: &PlaceReport) -> String {
    wrap_behind(&format!("  {:<6} ", place.at), "         ", &format!("{}: {}", place.thread, place.op))
}

fn step(order: &OrderReport) -> String {
    let number = order.number.map_or_else(String::new, |number| format!(" ({number})"));
    format!("           {}{number}\n", order.kind.replace('-', " "))
}
