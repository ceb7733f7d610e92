//! The pi functions for people.

use super::snippet::{self, Table};
use crate::output::Output;
use cssame_answer::PiReport;
use cssame_answer::words::plural;
use cssame_form::{PrunedData, ReadReport, Reason, TermData};
use cssame_source::SourceMap;
use rustc_hash::FxHashSet;

/// Writes that are shown of a list without `--all`.
const WRITES: usize = 40;

/// That contexts which may see different writes are one.
pub const MERGED: &str = "calling contexts were merged (see `cssame explain CS0908`)";

/// Prints one read after the other: all of them together may be too much text for the memory.
pub fn print(sources: &SourceMap, report: &PiReport, all: bool, output: &mut Output) {
    let view = PiView { sources, limit: if all { usize::MAX } else { WRITES }, colour: output.colour() };
    let single = report.single.iter().filter(|read| all || !read.pruned.is_empty());
    for (index, read) in report.pis.iter().chain(single).enumerate() {
        if index > 0 {
            output.print("\n");
        }
        output.print(&view.read(read));
    }
}

/// How reads are shown.
struct PiView<'a> {
    sources: &'a SourceMap,
    /// Writes of a list.
    limit: usize,
    colour: bool,
}

impl PiView<'_> {
    /// A read: its place, its terms, and what it cannot see.
    fn read(&self, read: &ReadReport) -> String {
        let mut text = snippet::title(&self.title(read), self.colour);
        if read.same_as.is_some() {
            return text + &snippet::place(self.sources, read.span, "no write comes between", self.colour);
        }
        let message = format!("may see {}", plural(read.terms.len(), "write"));
        text += &snippet::place(self.sources, read.span, &message, self.colour);
        // One table, so that both lists have the same columns.
        let mut table = Table::new("  ");
        for term in read.terms.iter().take(self.limit) {
            table.row(self.cells(term));
        }
        for pruned in read.pruned.iter().take(self.limit) {
            let mut cells = self.cells(&pruned.term);
            cells.push(reason(pruned));
            table.row(cells);
        }
        let lines = table.lines();
        let (terms, pruned) = lines.split_at(read.terms.len().min(self.limit));
        text += &terms.concat();
        text += &self.rest(read.terms.len());
        if !pruned.is_empty() {
            text += "  and cannot see\n";
            text += &pruned.concat();
            text += &self.rest(read.pruned.len());
        }
        text
    }

    /// `a@6:24 in T3 = pi(a_0, a_2, a_3)`
    fn title(&self, read: &ReadReport) -> String {
        let ReadReport { read: name, context, thread, terms, .. } = read;
        let name = context.as_ref().unwrap_or(name);
        // Contexts of one definition have one version: then they are told by their names.
        let mut known = FxHashSet::default();
        let is_told = terms.iter().all(|term| known.insert(term.version.as_str()));
        let word = |term: &'_ TermData| if is_told { term.version.clone() } else { definition(term).to_owned() };
        let versions: Vec<String> = terms.iter().take(self.limit).map(|term| word(term)).collect();
        let more = if terms.len() > self.limit { ", …" } else { "" };
        if let Some(same) = &read.same_as {
            return format!("{name} in {thread} reads what {same} has read");
        }
        match versions.as_slice() {
            [] => format!("{name} in {thread}"),
            [only] => format!("{name} in {thread} = {only}"),
            several => format!("{name} in {thread} = pi({}{more})", several.join(", ")),
        }
    }

    /// Says how many of so many writes are not shown.
    fn rest(&self, count: usize) -> String {
        match count.saturating_sub(self.limit) {
            0 => String::new(),
            rest => format!("  and {rest} more (--all shows them)\n"),
        }
    }

    /// `a_2`, `a@14:5`, `T1`, `a = 2;`
    fn cells(&self, term: &TermData) -> Vec<String> {
        let line = snippet::statement(self.sources, term.span);
        vec![term.version.clone(), definition(term).to_owned(), term.thread.clone(), line]
    }
}

/// `a@14:5`, or `T1:a@14:5` where the place has several contexts.
fn definition(term: &TermData) -> &str {
    term.context.as_deref().unwrap_or(&term.def)
}

/// The reason in words.
fn reason(pruned: &PrunedData) -> String {
    let lock = pruned.lock.as_deref().map_or_else(|| "the atomic block".to_owned(), |lock| format!("`{lock}`"));
    match pruned.reason {
        Reason::KilledBeforeUnlock => format!("killed before {lock} is free"),
        Reason::NotUpwardExposed => format!("the read has its own write under {lock}"),
        Reason::OrderedAfter => "comes after the read".to_owned(),
        Reason::Overwritten => "always overwritten before the read".to_owned(),
        Reason::Exclusive => "never runs together with the read".to_owned(),
        Reason::LockState => format!("in no state that {lock} protects"),
    }
}

/// How much was found, in a line.
#[must_use]
pub fn summary(report: &PiReport) -> String {
    // A read that sees what an earlier one has seen has no pi function of its own.
    let pis: Vec<&ReadReport> = report.pis.iter().filter(|read| read.same_as.is_none()).collect();
    let terms: usize = pis.iter().map(|read| read.terms.len()).sum();
    let pruned: usize = report.pis.iter().chain(&report.single).map(|read| read.pruned.len()).sum();
    let merged = if report.merged { format!("; {MERGED}") } else { String::new() };
    format!("{}, {}, {pruned} pruned{merged}\n", plural(pis.len(), "pi function"), plural(terms, "term"))
}
