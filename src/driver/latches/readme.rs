//! `README.md` of a package: its contents, and the known defects of its form.
//!
//! **Input**: the pi functions, and the tests. **Output**: Markdown.

use super::tests_file::Test;
use super::versions::Versions;
use crate::Options;
use std::fmt::Write;

/// The text of the file.
pub(super) fn emit(versions: &Versions<'_>, tests: &[Test], options: &Options) -> String {
    let file = code(&options.file);
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("# {file} in the form of the paper\n\nMade by cssame {version}; do not edit.\n\n");
    text += ABOUT;
    text += "\n## Pi functions\n\n";
    if versions.pis.is_empty() {
        text += "None: no more than one definition reaches each read.\n";
    } else {
        text += "| read | gives | terms | where nothing is selected |\n|---|---|---|---|\n";
    }
    for pi in &versions.pis {
        let fields = |fields: Vec<&str>| fields.into_iter().map(code).collect::<Vec<_>>().join(", ");
        let (terms, control) = (fields(versions.versions(&pi.terms)), fields(versions.versions(&pi.control)));
        let _ = writeln!(text, "| {} | {} | {terms} | {control} |", code(&pi.at), code(&pi.field));
    }
    if let Some(test) = tests.first().filter(|test| !test.shows.is_empty()) {
        let count = if tests.len() == 1 { "1 test".to_owned() } else { format!("{} tests", tests.len()) };
        let _ = write!(text, "\n{count}; each is named by what it selects, as {} is.\n", code(&test.name));
    }
    text += FLAWS;
    let selected: Vec<String> =
        tests.iter().take(1).flat_map(|test| &test.shows).map(|of| format!(" --select '{of}'")).collect();
    if !selected.is_empty() {
        let _ = write!(text, "\n    cssame drive {}{} --out DIR\n", options.file, selected.concat());
    }
    text + "\ndecides whether an execution has a selection, and writes a test of one that does.\n"
}

/// Text of the program, or the name of a file, as code.
fn code(text: &str) -> String {
    let shown: String =
        text.chars().map(|each| if each == '`' || each == '|' || each.is_control() { '\'' } else { each }).collect();
    format!("`{shown}`")
}

const ABOUT: &str = "\
`Program.java` is the program in CSSAME form, as *Controlling the Future: Deterministic Execution of a Multithreaded Program
with Aspects* translates it to Java: each version of a shared variable is a field that is assigned once, each thread is an inner
class, and pi and phi functions are methods without a body of their own. The aspect `Latches.aj` replaces their calls:

- the definition of a version that a pi function shows (`a_2 = 3;`) opens the latch of that version; the others are not captured;
- a pi function (`a_4 = pi_a_24_11(a_0, a_2, a_3);`) waits for the latch of the version that the test selects, and gives its value;
- a phi function gives what its own thread has defined last of the variable.

Where a test selects nothing for a pi function, it gives the definition that control flow brings to it: what the read sees if
no parallel thread writes. The paper does not say.

    sh run.sh

compiles, weaves and runs the tests with `javac`, AspectJ and JUnit 5. A test prints what the threads print; it fails where the
program fails, or where its threads wait for each other for ever. It then says who waits for which latch.

- `CSSAME_START` says when a new thread begins. `text` (the default): in the order of the text, each one when all before it have
  ended or wait, so that a test does not depend on timing. `reverse`: the last one first, likewise. `together`: all at once, as in
  the paper.
- `CSSAME_LATCH_SECONDS` (5) bounds a test in which a thread runs for ever.
";

const FLAWS: &str = "
## What is wrong with this form

It is here for comparison and teaching. Do not trust what its tests show.

1. **It shows what cannot happen.** Each pi function is selected alone, and nobody asks whether an execution has all of what a
   test selects. In figure 7 of the paper, `a_1` for `a` and `b_2` for `b` print `1 2`. No execution of that program prints this:
   the two writes of each thread are in one section of a lock. The test passes all the same.
2. **It blocks where the program does not.** A pi function in a section of a lock waits for its latch and keeps the lock. Where
   the selected version is defined in a section of the same lock, by a thread that has not been there yet, the two wait for each
   other for ever. Whether that happens depends on who takes the lock first: `CSSAME_START=reverse` and `CSSAME_START=together` show
   it for many programs. The program itself has no such deadlock.
3. **A version that is never defined is waited for.** A selected definition on a branch that the run does not take leaves its
   latch shut, and the test ends by its watchdog.
4. **It says little.** What is defined twice has no latch of its own for each time: loops, arrays, objects, and functions that run
   more than once are refused.
";
