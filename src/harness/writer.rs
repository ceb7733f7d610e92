//! The text of a `main` that calls methods: names of objects, values of arguments, calls, and the whole.
//!
//! **Input**: the text of the file, for its literals and to avoid name clashes. **Output**: pieces of source text, and the
//! [`MainText`] that puts them together.

use super::methods::{Callable, Methods};
use cssame_front::csm::syntax::ast::TypeKind;
use cssame_front::csm::syntax::{Literals, literals};

/// So many literals of a file are tried as arguments of one type.
pub(super) const ARGUMENTS: usize = 4;

/// A method is called at most so often before the two threads start.
const MAX_CALLS: i64 = 1000;

/// So many numbers of calls are tried.
const REPEATS: usize = 2;

/// What the threads of contexts and drivers are called.
pub(super) fn labels() -> [String; 2] {
    ["first", "second"].map(str::to_owned)
}

/// Which arguments come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueOrder {
    /// The literals of the file, then the boundary values.
    LiteralsFirst,
    /// 1 and 0, the literals, then the other boundary values: what indexes and counts most probably allow comes first.
    SmallFirst,
}

/// Writes text that can stand behind a file.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    text: &'a str,
    literals: Literals,
    order: ValueOrder,
}

/// The parts of a `main` with two threads. All but the labels are source text of a line each, without its indentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MainText {
    /// Declarations of objects.
    pub objects: Vec<String>,
    /// Statements before the two threads.
    pub before: Vec<String>,
    /// What the threads are called.
    pub labels: [String; 2],
    /// Their statements.
    pub calls: [Vec<String>; 2],
    /// Statements behind the two threads.
    pub after: Vec<String>,
}

/// In which lines the parts of a [`MainText`] begin, counted from its first line, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MainLines {
    /// Of the statements before the threads.
    pub before: u32,
    /// Of the statements of each thread.
    pub calls: [u32; 2],
    /// Of the statements behind them.
    pub after: u32,
}

impl MainText {
    /// The declarations and the function.
    #[must_use]
    pub fn text(&self) -> String {
        let lines =
            |all: &[String], indent: &str| -> String { all.iter().map(|line| format!("{indent}{line}\n")).collect() };
        let MainText { objects, before, labels: [first, second], calls, after } = self;
        let (objects, before, after) = (lines(objects, ""), lines(before, "  "), lines(after, "  "));
        let [one, other] = [0, 1].map(|thread| lines(&calls[thread], "      "));
        format!(
            "{objects}\nvoid main() {{\n{before}  cobegin\n    {first}:\n{one}    {second}:\n{other}  coend\n{after}}}\n"
        )
    }

    /// Where its parts stand in the text.
    #[must_use]
    pub fn lines(&self) -> MainLines {
        let count = |all: &[String]| all.len() as u32;
        let before = count(&self.objects) + 2;
        let first = before + count(&self.before) + 2;
        let second = first + count(&self.calls[0]) + 1;
        MainLines { before, calls: [first, second], after: second + count(&self.calls[1]) + 1 }
    }
}

impl Methods<'_> {
    /// Writes text behind the file.
    pub(super) fn writer(&self, order: ValueOrder) -> Writer<'_> {
        Writer { text: self.text, literals: self.literals(), order }
    }
}

impl<'a> Writer<'a> {
    pub fn new(text: &'a str, order: ValueOrder) -> Writer<'a> {
        Writer { text, literals: literals(text), order }
    }

    /// What may be passed as an argument of a type that has values.
    pub fn values(&self, ty: &TypeKind) -> Vec<String> {
        let literals = &self.literals;
        let (large, small, boundary): (Vec<String>, &[&str], &[&str]) = match ty {
            TypeKind::Int => {
                let fits = literals.integers.iter().filter(|&&value| i32::try_from(value).is_ok() && value > 1);
                (fits.take(ARGUMENTS).map(i64::to_string).collect(), &["1", "0"], &["-1", "2147483647"])
            }
            TypeKind::Long => {
                let large = literals.integers.iter().filter(|&&value| value > 1).take(ARGUMENTS);
                let boundary: &[&str] = &["-1L", "9223372036854775807L"];
                (large.map(|value| format!("{value}L")).collect(), &["1L", "0L"], boundary)
            }
            TypeKind::Double => {
                let doubles = literals.doubles.iter().take(ARGUMENTS);
                (doubles.map(|value| format!("{value:?}")).collect(), &["1.0", "0.0"], &["-1.0"])
            }
            TypeKind::Bool => (Vec::new(), &["true", "false"], &[]),
            TypeKind::String => (literals.texts.iter().take(ARGUMENTS).cloned().collect(), &[], &["\"\""]),
            TypeKind::Class(_)
            | TypeKind::Void
            | TypeKind::Lock
            | TypeKind::ReentrantLock
            | TypeKind::RwLock
            | TypeKind::Event
            | TypeKind::Barrier
            | TypeKind::Cond
            | TypeKind::Sem
            | TypeKind::Thread => (Vec::new(), &[], &[]),
        };
        let (small, boundary) =
            (small.iter().map(|&value| value.to_owned()), boundary.iter().map(|&value| value.to_owned()));
        let all: Vec<String> = match self.order {
            ValueOrder::LiteralsFirst => large.into_iter().chain(small).chain(boundary).collect(),
            ValueOrder::SmallFirst => small.chain(large).chain(boundary).collect(),
        };
        let mut values: Vec<String> = Vec::new();
        for value in all {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// Numbers of calls after which one call more makes a number of the file: a counter is then about to reach its limit.
    pub fn repeats(&self) -> Vec<i64> {
        let numbers = self.literals.integers.iter().filter(|&&number| (3..=MAX_CALLS).contains(&number));
        numbers.take(REPEATS).map(|number| number - 1).collect()
    }

    /// A name for an object of a class that the file does not use.
    pub fn object(&self, role: &str, class: &str) -> String {
        let mut name = format!("{role}_{class}");
        while self.text.contains(&name) {
            name.push('_');
        }
        name
    }

    /// The file with more behind it, so that its places stay what they are.
    pub fn append(&self, main: &str) -> String {
        let gap = if self.text.ends_with('\n') { "\n" } else { "\n\n" };
        format!("{}{gap}{main}", self.text)
    }
}

/// `receiver.method(1, 0)`.
pub(super) fn call(receiver: Option<&str>, one: Callable<'_>, arguments: &[String]) -> String {
    let receiver = receiver.map_or_else(String::new, |receiver| format!("{receiver}."));
    format!("{receiver}{}({})", one.function.name.name, arguments.join(", "))
}

/// The lines that make a call so often, before the threads start.
pub(super) fn repeated(call: &str, calls: i64) -> Vec<String> {
    match calls {
        1 => vec![format!("{call};")],
        _ => vec![format!("for (int call = 0; call < {calls}; call++) {{"), format!("  {call};"), "}".to_owned()],
    }
}
