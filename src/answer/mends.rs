//! Mends: changes of a text that remove a finding.
//!
//! **Input**: a text, and a finding of its static passes. **Output**: [`Mend`]s, the smallest first.
//!
//! **Algorithm**
//! 1. The kind of the finding determines the proposed changes: the intended name; `unlock` on the exits that keep a lock; `while`
//!    in place of `if` around a wait; `synchronized` around the statements of two accesses, with each declared lock, or a new
//!    one.
//! 2. Each proposal is applied to a copy of the text, which is checked in the same way. It is a mend if there are fewer findings
//!    of that kind, and not more of any other kind. For a text that does not compile, only its errors are compared.
//!
//! **Soundness and limits**: problems that the static passes do not see are ignored: a program that waits for another thread
//! within `synchronized` may then wait for ever. Only a few proposals are tried, and fewer for a long text.

use super::check::{CheckInput, check};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_front::{Names, StatementForm, StatementPlace, names, statement_places};
use cssame_source::names::NameKind;
use cssame_source::{FileId, SourceMap, Span};
use std::collections::BTreeMap;

/// Bytes of text that are checked at most to find mends of one finding.
const CHECKED_BYTES: usize = 600_000;

/// Locks that are tried at most.
const LOCKS: usize = 6;

/// A change that makes a finding go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mend {
    /// What it does, in the imperative.
    pub title: String,
    /// Places and what stands there then, in the order of the text; none meets another.
    pub edits: Vec<(Span, String)>,
}

/// The mends of a finding of `check` in a text.
#[must_use]
pub fn mends(sources: &SourceMap, file: FileId, finding: &Diagnostic) -> Vec<Mend> {
    let text = sources.file(file).text();
    let subject = Subject { sources, file, text, names: names(sources, file), places: statement_places(sources, file) };
    let proposals = subject.proposals(finding);
    if proposals.is_empty() {
        return proposals;
    }
    let only_errors = finding.severity == Severity::Error;
    let before = counts(text, only_errors);
    let tries = (CHECKED_BYTES / text.len().max(1)).max(1);
    let is_mend = |mend: &Mend| {
        let after = counts(&changed(text, &mend.edits), only_errors);
        let at = |counts: &BTreeMap<Code, usize>, code: Code| counts.get(&code).copied().unwrap_or(0);
        at(&after, finding.code) < at(&before, finding.code)
            && after.iter().all(|(&code, &count)| count <= at(&before, code))
    };
    proposals.into_iter().take(tries).filter(is_mend).collect()
}

/// A text with changes.
fn changed(text: &str, edits: &[(Span, String)]) -> String {
    let mut changed = String::with_capacity(text.len() + 64);
    let mut end = 0;
    for (span, new) in edits {
        changed += &text[end..span.start as usize];
        changed += new;
        end = span.end as usize;
    }
    changed + &text[end..]
}

/// How many findings of each kind a text has.
fn counts(text: &str, only_errors: bool) -> BTreeMap<Code, usize> {
    let mut sources = SourceMap::default();
    let file = sources.add("", text);
    let report = check(CheckInput { sources, files: vec![(String::new(), Ok(file))] }, &[], 1, None);
    let mut counts = BTreeMap::new();
    let is_meant = |severity: Severity| severity == Severity::Error || !only_errors;
    for finding in report.findings().list.into_iter().filter(|one| is_meant(one.diagnostic.severity)) {
        *counts.entry(finding.diagnostic.code).or_insert(0) += 1;
    }
    counts
}

struct Subject<'a> {
    sources: &'a SourceMap,
    file: FileId,
    text: &'a str,
    names: Names,
    places: Vec<StatementPlace>,
}

impl Subject<'_> {
    /// Step 1.
    fn proposals(&self, finding: &Diagnostic) -> Vec<Mend> {
        let Some(primary) = finding.span().filter(|span| span.file == self.file) else { return Vec::new() };
        if let Some(meant) = &finding.replacement {
            return vec![Mend { title: format!("Write `{meant}`"), edits: vec![(primary, meant.clone())] }];
        }
        match finding.code {
            Code::LockNotReleased => self.unlock(finding, primary).into_iter().collect(),
            Code::WaitNotInLoop => self.wait_in_loop(primary).into_iter().collect(),
            Code::UnprotectedAccess | Code::NotifyWithoutLock | Code::AssertionWithoutLock => {
                self.synchronize(finding, primary)
            }
            _ => Vec::new(),
        }
    }

    fn at(&self, start: u32, end: u32) -> Span {
        Span { file: self.file, start, end }
    }

    /// The innermost statement that a place lies in.
    fn innermost(&self, span: Span, is_meant: impl Fn(&StatementPlace) -> bool) -> Option<StatementPlace> {
        let holds = |place: &&StatementPlace| place.span.start <= span.start && span.end <= place.span.end;
        self.places
            .iter()
            .filter(holds)
            .filter(|place| is_meant(place))
            .min_by_key(|place| place.span.end - place.span.start)
            .copied()
    }

    /// `unlock` on each way out that was found.
    fn unlock(&self, finding: &Diagnostic, lock: Span) -> Option<Mend> {
        let call = self.sources.text(lock);
        let argument = call.split_once('(')?.1.trim_end_matches([';', ' ']).strip_suffix(')')?.trim();
        let unlock = format!("unlock({argument});");
        let mut edits = Vec::new();
        for way in finding.secondary.iter().map(|label| label.span) {
            match self.innermost(way, |place| place.form == StatementForm::Return) {
                Some(place) if place.in_list => {
                    edits.push((self.at(place.span.start, place.span.start), format!("{unlock} ")))
                }
                Some(place) => {
                    edits.push((place.span, format!("{{ {unlock} {} }}", self.sources.text(place.span))));
                }
                None => edits.push(self.at_end(way, &unlock)),
            }
        }
        edits.sort_by_key(|(span, _)| span.start);
        edits.dedup();
        (!edits.is_empty()).then(|| Mend { title: format!("Release `{argument}` on the way out"), edits })
    }

    /// A statement at the end of what ends at a place: before its brace, or behind its last statement.
    fn at_end(&self, way: Span, statement: &str) -> (Span, String) {
        let (indent, at) = match self.sources.text(way) {
            "}" => (self.indent_of_last(way.start), self.text[..way.start as usize].trim_end().len() as u32),
            _ => (self.indent_of_last(way.end), way.end),
        };
        let is_one_line = self.sources.line(way) == self.line_of_list(way);
        let separator = if is_one_line { " ".to_owned() } else { format!("\n{indent}") };
        (self.at(at, at), format!("{separator}{statement}"))
    }

    /// The line in which the block or arm begins that ends at a place.
    fn line_of_list(&self, way: Span) -> u32 {
        let is_list = |place: &StatementPlace| matches!(place.form, StatementForm::Block | StatementForm::Arm);
        let list = self.innermost(way, is_list).map_or(way, |place| place.span);
        self.sources.line(list)
    }

    /// The white space before the last line of code above an offset.
    fn indent_of_last(&self, offset: u32) -> String {
        let before = self.text[..offset as usize].trim_end();
        let line = before.rsplit('\n').next().unwrap_or(before);
        line.chars().take_while(|character| character.is_whitespace()).collect()
    }

    /// `while` in place of the `if` that a wait stands in.
    fn wait_in_loop(&self, wait: Span) -> Option<Mend> {
        let place =
            self.innermost(wait, |place| matches!(place.form, StatementForm::If(then) if then.start <= wait.start))?;
        let word = self.at(place.span.start, place.span.start + "if".len() as u32);
        Some(Mend { title: "Test again after the wait: `while`".to_owned(), edits: vec![(word, "while".to_owned())] })
    }

    /// `synchronized` around the statements of the finding.
    fn synchronize(&self, finding: &Diagnostic, primary: Span) -> Vec<Mend> {
        let other = finding.secondary.first().map(|label| label.span);
        let is_whole = |place: &StatementPlace| {
            matches!(place.form, StatementForm::Simple) || matches!(place.form, StatementForm::If(_)) && place.in_list
        };
        let around = |span: Span| self.innermost(span, is_whole).map(|place| place.span);
        let (one, two) = (around(primary), other.and_then(around));
        let mut groups: Vec<Vec<Span>> = [one, two].into_iter().flatten().map(|span| vec![span]).collect();
        if let (Some(one), Some(two)) = (one, two)
            && !(one.start < two.end && two.start < one.end)
        {
            groups.push(if one.start < two.start { vec![one, two] } else { vec![two, one] });
        }
        let locks = self.locks();
        let mut proposals = Vec::new();
        for group in &groups {
            proposals.extend(locks.iter().map(|lock| self.under(lock, group, None)));
        }
        if let Some(group) = groups.last() {
            let lock = self.new_lock(primary);
            let declaration = (self.at(0, 0), format!("lock {lock};\n"));
            proposals.push(self.under(&lock, group, Some(declaration)));
        }
        proposals
    }

    fn under(&self, lock: &str, spans: &[Span], declaration: Option<(Span, String)>) -> Mend {
        let is_new = if declaration.is_some() { "a new lock " } else { "" };
        let lines: Vec<String> = spans.iter().map(|span| self.sources.line(*span).to_string()).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let title = format!("Take {is_new}`{lock}` in {word} {}", lines.join(" and "));
        let around = |span: &Span| {
            [
                (self.at(span.start, span.start), format!("synchronized ({lock}) {{ ")),
                (self.at(span.end, span.end), " }".to_owned()),
            ]
        };
        let edits = declaration.into_iter().chain(spans.iter().flat_map(around)).collect();
        Mend { title, edits }
    }

    /// Synchronisation objects that are declared, those of the text's beginning first; the check says which are locks.
    fn locks(&self) -> Vec<String> {
        let declared =
            self.names.names.iter().filter(|name| name.kind == NameKind::Object && name.span == name.declared);
        let mut locks: Vec<String> = declared.map(|name| self.sources.text(name.span).to_owned()).collect();
        let mut seen = std::collections::BTreeSet::new();
        locks.retain(|lock| seen.insert(lock.clone()));
        locks.truncate(LOCKS);
        locks
    }

    /// A name that nothing has: that of the variable with `_lock` behind it.
    fn new_lock(&self, access: Span) -> String {
        let last = self.names.names.iter().rfind(|name| access.start <= name.span.start && name.span.end <= access.end);
        let base = last.map_or("common", |name| self.sources.text(name.span));
        let mut lock = format!("{base}_lock");
        while self.names.names.iter().any(|name| self.sources.text(name.span) == lock) {
            lock.push('_');
        }
        lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first mend of the first finding of a kind: its title and the text with it.
    fn mended(text: &str, code: Code) -> Option<(String, String)> {
        let mut sources = SourceMap::default();
        let file = sources.add("", text);
        let report =
            check(CheckInput { sources: sources.clone(), files: vec![(String::new(), Ok(file))] }, &[], 1, None);
        let findings = report.findings();
        let found = findings.list.iter().map(|one| &one.diagnostic).find(|one| one.code == code);
        let found = found.expect("a finding of that kind");
        let mend = mends(&sources, file, found).into_iter().next()?;
        Some((mend.title, changed(text, &mend.edits)))
    }

    fn gives(text: &str, code: Code, title: &str, expected: &str) {
        assert_eq!(mended(text, code), Some((title.to_owned(), expected.to_owned())), "{text}");
    }

    #[test]
    fn the_name_that_was_meant() {
        gives("int count;\nprint(cuont);\n", Code::UnknownName, "Write `count`", "int count;\nprint(count);\n");
        gives("prnt(1);\n", Code::UnknownName, "Write `print`", "print(1);\n");
        gives("Mutex m;\nskip;\n", Code::UnknownName, "Write `lock`", "lock m;\nskip;\n");
        assert_eq!(mended("print(entirely_else);\n", Code::UnknownName), None);
    }

    #[test]
    fn a_lock_is_released_on_all_ways_out() {
        gives(
            "lock L; int x;\nvoid f() {\n  lock(L);\n  if (x == 1) return;\n  x = 1;\n  unlock(L);\n}\ncobegin T1: f(); T2: f(); coend\n",
            Code::LockNotReleased,
            "Release `L` on the way out",
            "lock L; int x;\nvoid f() {\n  lock(L);\n  if (x == 1) { unlock(L); return; }\n  x = 1;\n  unlock(L);\n}\n\
             cobegin T1: f(); T2: f(); coend\n",
        );
        gives(
            "lock L; int x;\ncobegin T1: { lock(L); x = 1; } T2: synchronized (L) { x = 2; } coend\nprint(x);\n",
            Code::LockNotReleased,
            "Release `L` on the way out",
            "lock L; int x;\ncobegin T1: { lock(L); x = 1; unlock(L); } T2: synchronized (L) { x = 2; } coend\nprint(x);\n",
        );
    }

    #[test]
    fn both_accesses_get_one_lock() {
        gives(
            "int x; lock L;\ncobegin\n  T1: synchronized (L) { x = 1; }\n  T2: x = 2;\ncoend\nprint(x);\n",
            Code::UnprotectedAccess,
            "Take `L` in line 4",
            "int x; lock L;\ncobegin\n  T1: synchronized (L) { x = 1; }\n  T2: synchronized (L) { x = 2; }\ncoend\nprint(x);\n",
        );
        gives(
            "int x;\ncobegin\n  T1: x = 1;\n  T2: x = 2;\ncoend\nprint(x);\n",
            Code::UnprotectedAccess,
            "Take a new lock `x_lock` in lines 3 and 4",
            "lock x_lock;\nint x;\ncobegin\n  T1: synchronized (x_lock) { x = 1; }\n  T2: synchronized (x_lock) { x = 2; }\n\
             coend\nprint(x);\n",
        );
    }

    #[test]
    fn a_wait_is_tested_again() {
        let text = "lock L; cond c; bool ready;\ncobegin\n  T1: synchronized (L) { if (!ready) wait(c, L); }\n  \
                    T2: synchronized (L) { ready = true; notify(c); }\ncoend\n";
        gives(
            text,
            Code::WaitNotInLoop,
            "Test again after the wait: `while`",
            &text.replace("if (!ready)", "while (!ready)"),
        );
    }
}
