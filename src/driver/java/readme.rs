//! `README.md` of a package in Java.
//!
//! In: the parts of a package, and the mechanism that makes the program follow a plan. Out: its contents, the commands that run
//! its tests, and the meaning of the tests.

use super::Form;
use crate::parts::Parts;

/// The text of the file.
pub(crate) fn readme(parts: &Parts<'_>, form: Form) -> String {
    let Parts { name, options, .. } = parts;
    let tests = match parts.cases.len() {
        0 => format!("There is {}.", parts.manifest.note.unwrap_or("no test")),
        1 => "There is one test.".to_owned(),
        count => format!("There are {count} tests."),
    };
    let (holds, how, tools) = match form {
        Form::Hooks => ("", HOOKS, "default-jdk-headless junit5"),
        Form::Woven => (ASPECT, WOVEN, "default-jdk-headless aspectj junit5"),
    };
    format!(
        "# {name}\n\nFutures of `{}` as JUnit tests, made by cssame {}. {tests}\n\n\
         - `src/main/java/{name}`: the program, with real memory, locks and threads. Above its statements stand their lines of\n  \
         the source.\n\
         - `src/test/resources/plans`: for each test the plan that it follows: the events of a recorded execution in their order,\n  \
         with the values that are read and written, and how it ends.\n\
         - `src/main/java/cssame`: what holds threads to a plan (`Order`), and the locks, arrays and conditions of the program.\n\
         {holds}\
         - `recorded`, `MANIFEST.json`: the executions as schedules of cssame, and what each test shows.\n\n\
         {how}\n\
         A changed program departs from the plan, and the test says where. A recorded failure or deadlock fails its test, unless\n\
         the package was made with `--expect recorded`.\n\n\
         ## Run\n\n    sh run.sh\n\nneeds `apt-get install --no-install-recommends {tools}`, and no network; `mvn test` works too.\n\
         `CSSAME_LATCH_SECONDS=N` sets how long a test may stand still (10 s), `CSSAME_DELAYS=N` puts random delays around the\n\
         events, which must not change anything.\n",
        options.file,
        env!("CARGO_PKG_VERSION"),
    )
}

const HOOKS: &str = "`Order.await` waits until all earlier events of the plan are done, so that a lock is waited for before it \
                     is taken;\n`Order.done` compares what was read or written with the plan and hands the turn on.";

const ASPECT: &str = "- `src/main/aspectj/cssame/Turns.aj`: the aspect; `src/main/resources/places.txt`: at which lines of the \
                      program the\n  events of plans stand.\n";

const WOVEN: &str = "The aspect waits at each event until all earlier events of the plan are done, so that a lock is waited for \
                     before it is\ntaken; it compares what is read or written with the plan, and hands the turn on. The program \
                     is the same as that of\n`--target java` without its calls of `Order`. If you change it, `places.txt` has to follow.";
