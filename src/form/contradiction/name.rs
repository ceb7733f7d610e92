//! Explanations with the names of places.

use super::derive::{definition_of, read_of};
use super::{Explanation, Ground, NoCycle, Order, Site};
use crate::Selection;
use crate::{Form, selected_definition, selected_read};
use cssame_concurrency::{Context, EventKind};
use cssame_ir::{FunctionId, Instruction, Program};
use cssame_source::{SourceMap, Span};
use serde::Serialize;

/// An event with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceReport {
    /// The thread.
    pub thread: String,
    /// `LINE:COL`, with the calls on the way there where the thread comes there in several: `4:28~7:16`
    pub at: String,
    /// Its line.
    pub line: u32,
    /// `write a`, `lock L`, `fork`
    pub op: String,
}

/// An order with its places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OrderReport {
    /// What comes first.
    pub from: PlaceReport,
    /// What comes later.
    pub to: PlaceReport,
    /// `program-order`, `reads-from`, …
    pub kind: &'static str,
    /// The number by which others refer to it; none for one that needs no reason.
    pub number: Option<usize>,
    /// Why, for an order that follows from others.
    pub because: Option<String>,
}

/// Why no execution has a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReasonReport {
    /// The selected terms that it speaks of.
    pub terms: Vec<String>,
    /// Orders that would form a cycle; none where there is no such cycle.
    pub cycle: Vec<OrderReport>,
    /// Other orders that those of the cycle follow from.
    pub premises: Vec<OrderReport>,
    /// In how many cases there is a cycle, of which the first is shown: a place in the text may be run by several threads.
    pub cases: usize,
    /// What there is to say instead of a cycle.
    pub note: Option<String>,
}

struct Names<'a> {
    sources: &'a SourceMap,
    program: &'a Program,
    form: &'a Form,
    selections: &'a [Selection],
}

/// Gives names to an explanation of those selections.
#[must_use]
pub fn reason_report(
    sources: &SourceMap,
    program: &Program,
    form: &Form,
    selections: &[Selection],
    explanation: &Explanation,
) -> ReasonReport {
    let names = Names { sources, program, form, selections };
    let terms: Vec<String> = (0..selections.len()).map(|place| names.term(place)).collect();
    match explanation {
        Explanation::Cycle { orders, cycle, cases } => {
            let numbers = numbers(orders);
            let report = |place: &usize| names.order(&orders[*place], numbers[*place], &numbers);
            let others: Vec<usize> = (0..orders.len())
                .filter(|place| !cycle.contains(place) && orders[*place].ground != Ground::Given)
                .collect();
            ReasonReport {
                terms,
                cycle: cycle.iter().map(report).collect(),
                premises: others.iter().map(report).collect(),
                cases: *cases,
                note: None,
            }
        }
        Explanation::Exclusive { first, second } => {
            let (first, second) = (names.place(*first), names.place(*second));
            let note = format!(
                "{} at {} and {} at {} lie on different branches of {}, which runs once",
                first.op, first.at, second.op, second.at, first.thread
            );
            ReasonReport { terms, note: Some(note), ..ReasonReport::default() }
        }
        Explanation::None(why) => ReasonReport { terms, note: Some(names.none(*why)), ..ReasonReport::default() },
    }
}

/// Numbers for the orders that were derived, from 1.
fn numbers(orders: &[Order]) -> Vec<Option<usize>> {
    let mut next = 0;
    let number = |order: &Order| {
        (order.ground != Ground::Given).then(|| {
            next += 1;
            next
        })
    };
    orders.iter().map(number).collect()
}

impl Names<'_> {
    fn read(&self, place: usize) -> String {
        selected_read(self.sources, self.program, &self.selections[place])
    }

    fn definition(&self, place: usize) -> String {
        selected_definition(self.sources, self.program, &self.selections[place])
    }

    /// `a@6:24#2=a@4:31`, as on the command line.
    fn term(&self, place: usize) -> String {
        let instance = self.selections[place].instance.map_or_else(String::new, |instance| format!("#{instance}"));
        format!("{}{instance}={}", self.read(place), self.definition(place))
    }

    fn none(&self, why: NoCycle) -> String {
        match why {
            NoCycle::Consistent => "no cycle of orders: values, branches or other synchronisation forbid it".to_owned(),
            NoCycle::ManyReads(place) => {
                format!("no cycle of orders is shown: {} may be read more than once", self.read(place))
            }
            NoCycle::ManyWrites(place) => {
                let name = self.definition(place);
                format!("no cycle of orders is shown: {name} may be written more than once")
            }
            NoCycle::TooLarge => "no cycle of orders is shown: too many events take part".to_owned(),
        }
    }

    fn order(&self, order: &Order, number: Option<usize>, numbers: &[Option<usize>]) -> OrderReport {
        OrderReport {
            from: self.place(order.from),
            to: self.place(order.to),
            kind: order.kind.word(),
            number,
            because: self.because(order, numbers),
        }
    }

    fn because(&self, order: &Order, numbers: &[Option<usize>]) -> Option<String> {
        let see = |path: &[usize]| {
            let used: Vec<String> =
                path.iter().filter_map(|&place| numbers[place]).map(|number| format!("({number})")).collect();
            if used.is_empty() { String::new() } else { format!(", by {}", used.join(", ")) }
        };
        match &order.ground {
            Ground::Given => None,
            Ground::Read { selection, path } => {
                let reads = format!("{} reads from {}", self.read(*selection), self.definition(*selection));
                Some(match order.kind {
                    _ if path.is_empty() => format!("{reads}, which comes before every write"),
                    super::OrderKind::Coherence => {
                        format!("{reads}, and this write comes before the read{}", see(path))
                    }
                    _ => format!("{reads}, and this write comes after that one{}", see(path)),
                })
            }
            Ground::Bodies { lock, first, second, path } => {
                let (first, second) = (self.place(*first), self.place(*second));
                let why = match self.operation(*lock).split_once(' ') {
                    Some((_, object)) => format!("both are in critical sections of {object}"),
                    None => "nothing can interrupt an atomic block".to_owned(),
                };
                Some(format!("{} comes before {}{}, and {why}", first.at, second.at, see(path)))
            }
        }
    }

    fn place(&self, site: Site) -> PlaceReport {
        let concurrency = &self.form.concurrency;
        let span = self.span(site);
        PlaceReport {
            thread: concurrency.threads[concurrency.thread_of(site.block)].path.clone(),
            at: format!("{}{}", self.sources.place(span), self.calls(site)),
            line: self.sources.line(span),
            op: self.operation(site),
        }
    }

    /// The calls on the way to an event, the outermost first; none where no other way in its thread leads to that place.
    fn calls(&self, site: Site) -> String {
        let contexts = &self.form.concurrency.contexts;
        let own = &contexts[self.form.concurrency.blocks[site.block as usize].context];
        let copies = &self.program.contexts.functions;
        let origin = |of: FunctionId| copies.get(of.index()).copied().unwrap_or(of);
        let same = |other: &&Context| other.thread == own.thread && origin(other.function) == origin(own.function);
        if contexts.iter().filter(same).count() < 2 {
            return String::new();
        }
        let (mut at, mut calls) = (own, String::new());
        while let Some(caller) = at.caller.map(|id| &contexts[id]).filter(|caller| caller.thread == own.thread) {
            if let Some(call) = self.call(caller.function, at.function) {
                calls.insert_str(0, &format!("~{}", self.sources.place(call)));
            }
            at = caller;
        }
        calls
    }

    /// Where a function calls another one, if it does so at one place.
    fn call(&self, caller: FunctionId, callee: FunctionId) -> Option<Span> {
        let blocks = self.program.functions[caller].blocks.iter();
        let instructions = blocks.flat_map(|block| block.instructions.iter().zip(&block.spans));
        let is_call = |of: &Instruction| matches!(of, Instruction::Call { function, .. } if *function == callee);
        let mut calls = instructions.filter(|(instruction, _)| is_call(instruction)).map(|(_, &span)| span);
        calls.next().filter(|_| calls.next().is_none())
    }

    fn span(&self, site: Site) -> Span {
        let event = self.form.concurrency.events_of(site.block)[site.offset as usize];
        match (read_of(event.kind), definition_of(event.kind)) {
            (Some(read), _) => self.program.reads[read].span,
            (None, Some(definition)) => self.program.definitions[definition].span,
            (None, None) => event.span,
        }
    }

    /// The operation, as schedules name it.
    fn operation(&self, site: Site) -> String {
        let concurrency = &self.form.concurrency;
        let event = &concurrency.events_of(site.block)[site.offset as usize];
        let texts = &self.program.texts;
        let object = || match concurrency.locations_of(event) {
            [only] => format!(" {}", concurrency.location_name(self.program, *only)),
            _ => String::new(),
        };
        let word = match event.kind {
            EventKind::Read(read) => return format!("read {}", texts.get(self.program.reads[read].name)),
            EventKind::Write(definition) => {
                return format!("write {}", texts.get(self.program.definitions[definition].name));
            }
            EventKind::Update { read, .. } => return format!("update {}", texts.get(self.program.reads[read].name)),
            EventKind::Synchronise(kind) | EventKind::Taken(kind) | EventKind::NotTaken(kind) => kind.word(),
            EventKind::Fork => "fork",
            EventKind::Join | EventKind::JoinThread => "join",
            EventKind::AtomicBegin => "atomic",
            EventKind::AtomicEnd => "end of atomic",
        };
        format!("{word}{}", object())
    }
}
