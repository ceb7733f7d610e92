//! The results of the static checks for a file without `main`.
//!
//! **Input**: the file, which compiles. **Output**: diagnostics CS0301, CS0302, CS0303, CS0401 and CS0402 of the program that
//! closes it ([`cssame_harness`]), as diagnostics of the file; and a [`ClosedReport`] that describes the assumed threads.
//!
//! **Algorithm**
//! 1. The closing is a program like any other. Its text begins with the file, so its places are those of the file; diagnostics
//!    and labels after that are dropped.
//! 2. Findings about both objects of a class are reported once. A finding about one of them names the class only.
//! 3. If one method acquires a lock and another one releases it (`enter`, `leave`), this is assumed to be intended: neither is
//!    wrong.
//!
//! **Soundness and limits**: the limits of the closing and of the checks. Other clients can do more. Clients that keep rules of
//! use which the text does not state do less.

use super::declared::Declared;
use cssame_diagnostics::{Code, Diagnostic, Label, Severity};
use cssame_form as form;
use cssame_form::check::RELEASED_BEFORE;
use cssame_front::{Compiled, compile, may_allow};
use cssame_harness::{Closing, Methods, SharedObject};
use cssame_source::{FileId, SourceMap, Span};
use serde::Serialize;
use std::collections::BTreeSet;

/// What is looked for: what no `main` of its own makes true or false.
pub(super) const CODES: [Code; 10] = [
    Code::UnlockWithoutLock,
    Code::LockTakenTwice,
    Code::LockNotReleased,
    Code::WaitNotInLoop,
    Code::WaitKeepsLock,
    Code::NotifyWithoutLock,
    Code::AssertionWithoutLock,
    Code::UpdateInTwoSteps,
    Code::UnprotectedAccess,
    Code::LockOrderCycle,
];

/// A file without `main`, and what was taken to run in parallel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClosedReport {
    /// The file.
    pub file: String,
    /// The public methods, and the functions that nothing in the file calls: `Vector.add`, or `add` for a function.
    pub methods: Vec<String>,
    /// The classes of the objects that they share, one for each object.
    pub objects: Vec<String>,
    /// Whether there are more calls than were taken to run.
    pub has_more: bool,
}

/// Checks a file that has no `main` with one that was made for it. None where nothing in the file can be called.
pub(super) fn check_closed(
    sources: &SourceMap,
    file: FileId,
    inputs: &[(String, String)],
) -> Option<(Vec<Diagnostic>, ClosedReport)> {
    let source = sources.file(file);
    let methods = Methods::new(sources, file);
    let Some(closing) = methods.closing() else {
        let notes: Vec<Diagnostic> =
            methods.classes_out_of_reach().into_iter().map(|(class, span)| left_out(class, span)).collect();
        let file = source.name().to_owned();
        let nothing = ClosedReport { file, methods: Vec::new(), objects: Vec::new(), has_more: false };
        return (!methods.has_main() && !notes.is_empty()).then_some((notes, nothing));
    };
    let mut closed = SourceMap::default();
    let of_closed = closed.add(source.name(), &closing.text);
    let Compiled { program, .. } = compile(&closed, of_closed, inputs);
    let program = program?;
    let form = form::analyse(&program);
    let mut found = form::check::check(&closed, &program, form.as_ref());
    if may_allow(source.text()) {
        let declared = Declared::new(&program);
        found = found.into_iter().map(|one| declared.with_declarations(one)).collect();
    }
    let end = source.text().len() as u32;
    let moved = found.into_iter().filter(|one| CODES.contains(&one.code)).filter_map(|one| in_file(one, file, end));
    let mut found: Vec<Diagnostic> = Vec::new();
    for one in moved {
        if !found.iter().any(|known| is_same(known, &one, &closing.objects)) {
            found.push(one);
        }
    }
    drop_handed_over(&mut found, &closing.objects);
    let mut found: Vec<Diagnostic> = found.into_iter().map(|one| worded(one, &closing.objects)).collect();
    found.extend(methods.classes_out_of_reach().into_iter().map(|(class, span)| left_out(class, span)));
    let Closing { methods, objects, has_more, .. } = closing;
    let objects = objects.into_iter().map(|object| object.class).collect();
    Some((found, ClosedReport { file: source.name().to_owned(), methods, objects, has_more }))
}

/// A class that no `main` was made for.
fn left_out(class: &str, constructor: Span) -> Diagnostic {
    let message = format!("the methods of class `{class}` were not checked: no object of it can be made");
    let label = "is private, or takes an object of synchronisation, a thread or an object that cannot be made";
    Diagnostic { severity: Severity::Note, ..Diagnostic::error(Code::BadConstructor, constructor, message, label) }
        .with_help("write a `main` that declares one")
}

/// A diagnostic of the closing, or of another copy of the file, as one of the file; none where it is about what was added, behind `end`.
pub(super) fn in_file(mut diagnostic: Diagnostic, file: FileId, end: u32) -> Option<Diagnostic> {
    let moved = |label: Label| {
        let Span { start, end: behind, .. } = label.span;
        (behind <= end).then_some(Label { span: Span { file, start, end: behind }, ..label })
    };
    diagnostic.primary = Some(diagnostic.primary.and_then(moved)?);
    diagnostic.secondary = diagnostic.secondary.into_iter().filter_map(moved).collect();
    let declarations = diagnostic.declarations.into_iter().filter(|span| span.end <= end);
    diagnostic.declarations = declarations.map(|span| Span { file, ..span }).collect();
    Some(diagnostic)
}

/// What a diagnostic is about: the names in its sentence, by class: of a cycle all locks, else the variable or the lock.
fn subject(diagnostic: &Diagnostic, objects: &[SharedObject]) -> BTreeSet<String> {
    let all = by_class(&diagnostic.message, objects);
    let names = all.split('`').skip(1).step_by(2).map(str::to_owned);
    names.take(if diagnostic.code == Code::LockOrderCycle { usize::MAX } else { 1 }).collect()
}

/// Whether both say the same, perhaps of two objects of a class.
fn is_same(one: &Diagnostic, other: &Diagnostic, objects: &[SharedObject]) -> bool {
    let same_subject = || subject(one, objects) == subject(other, objects);
    let same_place = one.span() == other.span();
    one.code == other.code
        && match one.code {
            // Of a variable there is one warning; and one place is one variable of a class.
            Code::UnprotectedAccess => same_place || same_subject(),
            _ => same_place && same_subject(),
        }
}

/// Drops what is said of locks that some method leaves held, and another one, which has not taken it, gives back.
fn drop_handed_over(found: &mut Vec<Diagnostic>, objects: &[SharedObject]) {
    let gives_back = |one: &&Diagnostic| {
        let again = one.secondary.iter().any(|label| label.message == RELEASED_BEFORE);
        one.code == Code::UnlockWithoutLock && one.severity == Severity::Error && !again
    };
    let locks = |which: &dyn Fn(&&Diagnostic) -> bool| -> BTreeSet<BTreeSet<String>> {
        found.iter().filter(which).map(|one| subject(one, objects)).collect()
    };
    let given: BTreeSet<_> = locks(&gives_back);
    let kept: BTreeSet<_> = locks(&|one| one.code == Code::LockNotReleased);
    found.retain(|one| {
        let handed = one.code == Code::LockNotReleased || gives_back(&one);
        let lock = subject(one, objects);
        !(handed && given.contains(&lock) && kept.contains(&lock))
    });
}

/// Calls the object of a class by the class where no other one of it is named, and says where the threads come from.
fn worded(mut diagnostic: Diagnostic, objects: &[SharedObject]) -> Diagnostic {
    let mut texts: Vec<&mut String> = vec![&mut diagnostic.message];
    texts.extend(diagnostic.primary.iter_mut().chain(&mut diagnostic.secondary).map(|label| &mut label.message));
    texts.extend(diagnostic.notes.iter_mut().chain(&mut diagnostic.help));
    let is_named = |object: &&SharedObject| texts.iter().any(|text| text.contains(&format!("{}.", object.name)));
    let named: Vec<SharedObject> = objects.iter().filter(is_named).cloned().collect();
    let alone = |object: &&SharedObject| named.iter().filter(|other| other.class == object.class).count() == 1;
    let alone: Vec<SharedObject> = named.iter().filter(alone).cloned().collect();
    for text in texts {
        *text = by_class(text, &alone);
    }
    let others = named.len() > alone.len();
    let objects = if others { "; two objects of one class are told apart as first and second" } else { "" };
    diagnostic.with_note(format!(
        "the file has no main: each of its methods and functions is assumed to run in two threads of its name{objects}"
    ))
}

/// A text in which these objects are called by their classes.
fn by_class(text: &str, objects: &[SharedObject]) -> String {
    objects
        .iter()
        .fold(text.to_owned(), |text, object| text.replace(&format!("{}.", object.name), &format!("{}.", object.class)))
}
