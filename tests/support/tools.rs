//! What some tests need besides a Rust toolchain.
//!
//! **Input**: what is installed, and `CSSAME_NEED`, a list such as `java,node`. **Output**: whether a test can be tried. One that
//! cannot passes, and is noted; `tests/tidy`, the last program of tests, says how many there were. Where `CSSAME_NEED` names the
//! tool, as in continuous integration, it fails instead.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The word of `CSSAME_NEED` for a JDK with JUnit 5 and AspectJ.
const JAVA: &str = "java";

/// How they are installed.
const INSTALL: &str = "apt-get install --no-install-recommends default-jdk-headless aspectj junit5";

/// Where tests that were not tried are noted: a file for each, in a folder for each tool.
fn notes() -> Option<PathBuf> {
    // Programs of tests stand in `target/debug/deps`.
    Some(std::env::current_exe().ok()?.ancestors().nth(3)?.join("not-tried"))
}

/// Notes whether the test that asks is tried.
fn note(tool: &str, is_tried: bool) {
    let thread = std::thread::current();
    let (Some(folder), Some(test)) = (notes(), thread.name()) else { return };
    let (folder, file) = (folder.join(tool), test.replace("::", "."));
    if is_tried {
        let _ = fs::remove_file(folder.join(file));
    } else if fs::create_dir_all(&folder).is_ok() {
        let _ = fs::write(folder.join(file), "");
    }
}

/// The jars that the tests of generated packages are compiled against, joined by colons; none where Java or they are missing.
///
/// # Panics
///
/// They are missing, and `CSSAME_NEED` says that they may not be.
#[must_use]
pub fn class_path() -> Option<String> {
    static FOUND: LazyLock<Option<String>> = LazyLock::new(|| {
        let jars = [
            "junit-jupiter-api",
            "apiguardian-api",
            "opentest4j",
            "aspectjrt",
            "aspectjtools",
            "junit-platform-console",
        ];
        let jars = jars.map(|jar| format!("/usr/share/java/{jar}.jar"));
        let has_java = Command::new("javac").arg("-version").output().is_ok_and(|output| output.status.success());
        (has_java && jars.iter().all(|jar| Path::new(jar).exists())).then(|| jars[..4].join(":"))
    });
    note(JAVA, FOUND.is_some());
    let needed = std::env::var("CSSAME_NEED").unwrap_or_default();
    assert!(
        FOUND.is_some() || !needed.split(',').any(|tool| tool == JAVA),
        "a JDK, JUnit 5 or AspectJ is missing: {INSTALL}"
    );
    FOUND.clone()
}

/// A line for each tool for want of which tests were not tried.
#[must_use]
pub fn not_tried() -> Vec<String> {
    let folder = notes().unwrap_or_default();
    let counted: BTreeMap<&str, usize> = [("a JDK with JUnit 5 and AspectJ", JAVA)]
        .map(|(what, tool)| (what, fs::read_dir(folder.join(tool)).map_or(0, Iterator::count)))
        .into();
    let counted = counted.into_iter().filter(|&(_, count)| count > 0);
    counted.map(|(what, count)| format!("not tried: {count} tests that need {what} ({INSTALL})")).collect()
}
