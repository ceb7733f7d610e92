//! Packages in Java with AspectJ: the unmodified program, and an aspect that makes it follow a plan.
//!
//! In: the parts of a package. Out: the files of a package of plain Java ([`super::java`]), except that the program lacks the
//! calls of `Order`; `Turns.aj`, which performs these calls at the join points of the program; and `places.txt`, which lists the
//! program lines of the events of plans, since join points have a line and no column.
//!
//! Limitation: an access to a field of an element of an array of objects is compared by its value, since a join point does not
//! identify the element.

use super::DriveError;
use super::java::{self, Event, Form, Script};
use super::parts::Parts;
use std::path::PathBuf;

/// What Maven and the script put into the directory of a package.
pub(super) const BUILT: &[&str] = java::BUILT;

/// The Maven description.
pub(super) const MAVEN: &str = include_str!("template/pom.xml");

/// The script weaves the aspect into the classes that javac makes.
pub(super) const SCRIPT: Script = Script {
    what: "Compiles this package, weaves its aspect into it, and runs its tests with JUnit 5",
    tools: include_str!("template/tools.sh"),
    versions: "AspectJ $(version aspectjtools), ",
    build: include_str!("template/build.sh"),
};

/// The files of a package.
pub(super) fn files(parts: &Parts<'_>) -> Result<Vec<(PathBuf, String)>, DriveError> {
    let (mut files, events) = java::sources(parts, Form::Woven)?;
    let mut add = |path: &str, text: String| files.push((PathBuf::from(path), text));
    add("src/main/java/cssame/Effects.java", include_str!("template/Effects.java").to_owned());
    add("src/main/java/cssame/Places.java", include_str!("template/Places.java").to_owned());
    add("src/main/aspectj/cssame/Turns.aj", include_str!("template/Turns.aj").to_owned());
    add("src/main/resources/places.txt", table(&events));
    add("pom.xml", MAVEN.replace(java::NAME, parts.name));
    add("run.sh", SCRIPT.text());
    add("README.md", java::readme(parts, Form::Woven));
    Ok(files)
}

/// The events of the program: file, line, join point, member and place of each.
fn table(events: &[Event]) -> String {
    let line = |event: &Event| {
        let mark = &event.mark;
        format!("{}\t{}\t{}\t{}\t{}\n", event.file, event.line, mark.join_point, mark.member, mark.place)
    };
    events.iter().map(line).collect()
}
