//! Packages in Java: the program with real memory, real locks and real threads, and JUnit tests that make it follow a plan.
//!
//! In: the parts of a package. Out: its files: the program (`Program.java`, and a file for each class), the runtime (package
//! `cssame`), the plans as plain data, the tests, a Maven project, and a script that needs no network.
//!
//! Algorithm: the graph of each function becomes nested statements ([`cssame_ir::structure`]). Temporaries are written at their
//! use (`fold`), and locks that are always used like `synchronized` become monitors (`locks`). Each event of a plan gets its own
//! line between two lines that make the thread follow the plan: it waits for its turn in the total order of events, so that no
//! operation ever blocks except in a recorded deadlock.
//!
//! Limitation: accesses to memory that no other thread can see are not events, and Java determines their order.

mod body;
mod expression;
mod fold;
mod initial;
mod key;
pub(super) mod line;
mod locks;
pub(super) mod operators;
mod plan_file;
mod program;
mod readme;
mod regions;
mod script;
mod statement;
mod symbol_table;
mod synchronise;
mod tests_file;
pub(super) mod text;
mod tree;

use super::DriveError;
use super::parts::{Module, Parts};
pub(super) use line::Mark;
pub(super) use readme::readme;
pub(super) use script::Script;
use std::path::PathBuf;
use text::word;

/// The classes of the runtime, package `cssame`.
const RUNTIME: &[(&str, &str)] = &[
    ("Array.java", include_str!("template/Array.java")),
    ("Blocking.java", include_str!("template/Blocking.java")),
    ("Cell.java", include_str!("template/Cell.java")),
    ("Choice.java", include_str!("template/Choice.java")),
    ("Condition.java", include_str!("template/Condition.java")),
    ("Event.java", include_str!("template/Event.java")),
    ("Failure.java", include_str!("template/Failure.java")),
    ("Handle.java", include_str!("template/Handle.java")),
    ("Judge.java", include_str!("template/Judge.java")),
    ("Lock.java", include_str!("template/Lock.java")),
    ("Numbers.java", include_str!("template/Numbers.java")),
    ("Order.java", include_str!("template/Order.java")),
    ("Output.java", include_str!("template/Output.java")),
    ("Plan.java", include_str!("template/Plan.java")),
    ("PlannedEvent.java", include_str!("template/PlannedEvent.java")),
    ("ProgramThread.java", include_str!("template/ProgramThread.java")),
    ("Run.java", include_str!("template/Run.java")),
    ("RwLock.java", include_str!("template/RwLock.java")),
    ("Source.java", include_str!("template/Source.java")),
    ("Stop.java", include_str!("template/Stop.java")),
    ("Text.java", include_str!("template/Text.java")),
    ("Threads.java", include_str!("template/Threads.java")),
    ("Values.java", include_str!("template/Values.java")),
    ("Waiter.java", include_str!("template/Waiter.java")),
    ("Watch.java", include_str!("template/Watch.java")),
];

/// What Maven and the script put into the directory of a package.
pub(super) const BUILT: &[&str] = &["target"];

/// What holds the program to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Calls in it, each on a line of its own.
    Hooks,
    /// An aspect: the program is the same without those lines.
    Woven,
}

/// The name of a package in its Maven description.
pub(super) const NAME: &str = "{name}";

/// The files of a package.
pub(super) fn files(parts: &Parts<'_>) -> Result<Vec<(PathBuf, String)>, DriveError> {
    let (mut files, _) = sources(parts, Form::Hooks)?;
    files.push((PathBuf::from("pom.xml"), include_str!("template/pom.xml").replace(NAME, parts.name)));
    files.push((PathBuf::from("run.sh"), script::JAVA.text()));
    files.push((PathBuf::from("README.md"), readme(parts, Form::Hooks)));
    Ok(files)
}

/// The program, the runtime, plans and tests; and the events of the program by file and line.
pub(super) fn sources(parts: &Parts<'_>, form: Form) -> Result<(Vec<(PathBuf, String)>, Vec<Event>), DriveError> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut events = Vec::new();
    for module in parts.programs {
        let (package, directory) = places(parts.name, module);
        for file in program::files(&module.input, &package, form, parts.options)? {
            let path = format!("{}/{}", package.replace('.', "/"), file.name);
            events.extend(file.events.into_iter().map(|(line, mark)| Event { file: path.clone(), line, mark }));
            files.push((directory.join(file.name), file.text));
        }
    }
    for (name, text) in RUNTIME {
        files.push((PathBuf::from("src/main/java/cssame").join(name), (*text).to_owned()));
    }
    for case in parts.cases {
        let path = format!("src/test/resources/plans/{}.plan", case.name);
        files.push((PathBuf::from(path), plan_file::text(case, parts.options)));
    }
    let tests = PathBuf::from("src/test/java").join(parts.name);
    for (name, text) in tests_file::classes(parts) {
        files.push((tests.join(format!("{name}.java")), text));
    }
    Ok((files, events))
}

/// An event of the program, at a line of a file of it.
pub(super) struct Event {
    /// `drive_cssame_fig2/Program.java`
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) mark: Mark,
}

/// The Java package of a program, and the directory of its files.
fn places(name: &str, module: &Module<'_>) -> (String, PathBuf) {
    let package = package_of(name, module.name.as_deref());
    let directory = PathBuf::from("src/main/java").join(package.replace('.', "/"));
    (package, directory)
}

/// The Java package of a program.
fn package_of(name: &str, module: Option<&str>) -> String {
    module.map_or_else(|| name.to_owned(), |module| format!("{name}.{}", word(module)))
}
