//! `README.md` of a package in Rust.
//!
//! In: the parts of a package. Out: its contents, an explanation of latches, and what its tests show and do not show.

use super::names::comment;
use crate::parts::Parts;

/// The text of the file.
pub(super) fn emit(parts: &Parts<'_>) -> String {
    let Parts { name, options, .. } = parts;
    let tests = match parts.cases.len() {
        0 => format!("There is {}.", parts.manifest.note.unwrap_or("no test")),
        1 => "There is one test.".to_owned(),
        count => format!("There are {count} tests."),
    };
    format!(
        "# {name}\n\nExecutions of `{}` as tests, made by cssame {}. {tests} `cargo test` runs them; they need no crate.\n\n\
         - `src/program.rs`: the program, one function for each of its functions and threads; above the statements stand the\n  \
         lines of the source.\n\
         - `tests/futures.rs`: the tests; above each stands the schedule that it is about.\n\
         - `src/lib.rs`: what they run on.\n\
         - `recorded`, `MANIFEST.json`: the executions as schedules of cssame, and what each test shows.\n\n{}",
        comment(&options.file),
        env!("CARGO_PKG_VERSION"),
        if options.free { FREE } else { LATCHES }
    )
}

const LATCHES: &str = "\
## Latches

Every event of the recorded execution (a read, a write, a lock, a print, …) has a latch: a cell that is set once,
when the event has happened, to the value that was written. An event waits until the latches are open that
stand behind it in the test: `Event(17, Read(From::Latch(13)), \"x@9:5\", &[16])` is event 17; it comes after event
16, and takes its value out of latch 13, that of the write which it is to see. All of them belong to events that
came earlier in the recorded execution, so that no thread waits for ever, and a test ends in the same way every
time, whatever the timing. A thread that comes to another place than planned departs from the execution: the
test fails and says where. Values go through latches alone; the memory of the program is not there.

A test fails where the program fails or is in a deadlock, with the place in the source, the values that this comes
from, and the schedule. With `--expect recorded` it passes if just that happens.
`CSSAME_LATCH_SECONDS=N` sets how long a thread may wait (10 s), `CSSAME_DELAYS=N` puts random delays around the
events, which must not change anything.
";

const FREE: &str = "\
## What the tests can show, and what they cannot

The tests run free: real memory, real threads and locks, and no latches. Each runs the program 20 times
(`CSSAME_FREE_ROUNDS=N`) and comes near to the order of locks of the execution above it: a thread that is to take a
lock waits for a moment (`CSSAME_FREE_TURN`, 20 ms) for those that come before, and goes on anyway.

- A test that fails shows a failure that the program has: nothing is held in an order that it does not allow.
- A race detector that watches them shows races of the program: nothing but its own synchronisation orders its accesses.
  For ThreadSanitizer and Miri, see `docs/commands/drive.md` of cssame.
- A test that passes shows nothing: the executions need not have come in the recorded order, reads need not have
  seen the recorded writes, and no other order was tried. For what can happen, ask `cssame futures`; for tests
  that repeat an execution whatever the timing, make the package without `--free`.
- A thread that waits for more than 10 s (`CSSAME_LATCH_SECONDS=N`) counts as one in a deadlock, also where it would go on.
";
