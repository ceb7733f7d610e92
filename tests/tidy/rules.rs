//! The rules of the house that no compiler checks: layers, module docs, file sizes, and names in the documentation.

use super::{assert_none, files_below, read, root};
use std::collections::BTreeSet;
use std::path::Path;

/// The rules by name.
pub const RULES: &[(&str, fn())] = &[
    ("every_source_file_says_what_it_is", every_source_file_says_what_it_is),
    ("nothing_unfinished_is_left", nothing_unfinished_is_left),
    ("files_are_short", files_are_short),
    ("paths_in_the_documentation_exist", paths_in_the_documentation_exist),
    ("links_in_the_documentation_lead_somewhere", links_in_the_documentation_lead_somewhere),
    ("documentation_names_no_absolute_paths", documentation_names_no_absolute_paths),
    ("every_code_has_a_page_and_every_page_a_code", every_code_has_a_page_and_every_page_a_code),
    ("every_command_has_a_page", every_command_has_a_page),
    ("only_those_step_who_must", only_those_step_who_must),
    ("calls_of_step_are_found", calls_of_step_are_found),
];

/// What may not stand in a source file, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    ("should_panic", "a test should say which error it expects"),
    ("#[ignore", "a test that does not run is no test"),
    ("todo!", "unfinished code is not merged"),
    ("unimplemented!", "unfinished code is not merged"),
    ("dbg!", "left over from debugging"),
];

/// Who calls [`Machine::step`](cssame::vm::Machine::step) outside of `vm`, and why `schedule::walk` does not do.
const STEPPERS: &[(&str, &str)] = &[
    ("src/schedule/walk.rs", "does a schedule again: all others ask it"),
    ("src/schedule/execution.rs", "a policy finds the steps"),
    ("src/schedule/lookahead.rs", "tries out what a policy may choose"),
    ("src/schedule/tests.rs", "tests compare with it"),
    ("src/explore/hunt/going_on.rs", "a search finds the steps"),
    ("src/explore/hunt/races.rs", "a step is looked at before it is done"),
    ("src/explore/states/watch.rs", "a search finds the steps"),
    ("src/explore/states/round_robin.rs", "a search finds the steps"),
    ("src/explore/reads_from/search/looks.rs", "a search finds the steps"),
    ("src/explore/reads_from/search/mod.rs", "a search finds the steps"),
    ("src/paths/classes/orders.rs", "a search finds the steps"),
    ("src/paths/classes/sample.rs", "a search finds the steps"),
    ("src/explore/question/samples/dive.rs", "a search finds the steps"),
    ("src/paths/executed/tests/one_by_one.rs", "tests compare with it"),
    ("src/paths/order/tests.rs", "tests compare with it"),
];

/// Lines that a file may have.
const MAX_LINES: usize = 800;

/// Longer files, each with its reason.
const LONG_FILES: &[(&str, &str)] =
    &[("src/driver/rust/template/runtime.rs", "the runtime of a package is one file, which is read as a whole")];

fn every_source_file_says_what_it_is() {
    let mut problems = Vec::new();
    for path in sources() {
        if !read(&path).starts_with("//! ") {
            problems.push(format!("{path}: does not begin with `//!`"));
        }
    }
    assert_none(&problems);
}

fn nothing_unfinished_is_left() {
    let mut problems = Vec::new();
    for path in sources().iter().filter(|path| *path != "tests/tidy/rules.rs") {
        for (number, line) in read(path).lines().enumerate() {
            for (word, reason) in FORBIDDEN.iter().filter(|(word, _)| line.contains(word)) {
                problems.push(format!("{path}:{}: `{word}`: {reason}", number + 1));
            }
        }
    }
    assert_none(&problems);
}

fn files_are_short() {
    let mut problems = Vec::new();
    for path in sources() {
        let lines = read(&path).lines().count();
        let excused = LONG_FILES.iter().any(|(long, _)| *long == path);
        if lines > MAX_LINES && !excused {
            problems.push(format!("{path}: {lines} lines, of at most {MAX_LINES}"));
        }
        if lines <= MAX_LINES && excused {
            problems.push(format!("{path}: {lines} lines, and need not be listed as long"));
        }
    }
    assert_none(&problems);
}

/// Every file of Rust.
fn sources() -> Vec<String> {
    ["src", "tests", "benches"].iter().flat_map(|directory| files_below(directory, &["rs"])).collect()
}

/// Every page of documentation.
fn pages() -> Vec<String> {
    let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    let top = top.iter().filter(|path| root().join(path).exists()).map(|path| (*path).to_owned());
    top.chain(files_below("docs", &["md"])).collect()
}

fn paths_in_the_documentation_exist() {
    let mut problems = Vec::new();
    for page in pages() {
        for word in read(&page).split(|each: char| each.is_whitespace() || "`()[]<>,;\"'|".contains(each)) {
            // `docs/a.md#part` and `src/a.rs:12:3` are places in a file.
            let path = word.trim_end_matches('.').split(['#', ':']).next().unwrap_or("");
            let known = ["docs/", "samples/", "src/", "tests/", "benches/", "grammar/", ".ci/"];
            let is_pattern = path.contains(['*', '{', '…']) || path.ends_with('/');
            if known.iter().any(|start| path.starts_with(start)) && !is_pattern && !root().join(path).exists() {
                problems.push(format!("{page}: `{path}` does not exist"));
            }
        }
    }
    assert_none(&problems);
}

/// The text of a page without its programs, in which brackets are no links.
fn outside_fences(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

fn links_in_the_documentation_lead_somewhere() {
    let mut problems = Vec::new();
    for page in pages() {
        let folder = Path::new(&page).parent().unwrap_or(Path::new("")).to_owned();
        for link in outside_fences(&read(&page)).split("](").skip(1) {
            let target = link.split([')', '#', ' ']).next().unwrap_or("");
            // `Queue q[2](3);` is code.
            let is_number = target.bytes().all(|each| each.is_ascii_digit());
            let outside = is_number || target.contains("://") || target.starts_with("mailto:");
            if !outside && !root().join(&folder).join(target).exists() {
                problems.push(format!("{page}: the link to `{target}` leads nowhere"));
            }
        }
    }
    assert_none(&problems);
}

fn documentation_names_no_absolute_paths() {
    let mut problems = Vec::new();
    for page in pages() {
        for (number, line) in read(&page).lines().enumerate() {
            if ["/home/", "/work/", "/root/", "/tmp/"].iter().any(|start| line.contains(start)) {
                problems.push(format!("{page}:{}: an absolute path", number + 1));
            }
        }
    }
    assert_none(&problems);
}

fn every_code_has_a_page_and_every_page_a_code() {
    let codes: BTreeSet<String> =
        cssame::diagnostics::Code::all().map(|code| format!("docs/codes/{}.md", code.number())).collect();
    let pages: BTreeSet<String> = files_below("docs/codes", &["md"]).into_iter().collect();
    assert_eq!(codes, pages);
}

fn every_command_has_a_page() {
    let commands: BTreeSet<String> = files_below("src/cli/command", &["rs"])
        .into_iter()
        .filter(|path| read(path).contains("impl Job for Arguments"))
        // What a command line without a command does, docs/commands/check.md tells.
        .filter(|path| path != "src/cli/command/look.rs")
        .map(|path| path.replace("src/cli/command/", "docs/commands/").replace(".rs", ".md"))
        .collect();
    let pages: BTreeSet<String> = files_below("docs/commands", &["md"]).into_iter().collect();
    assert_eq!(commands, pages);
}

/// The number of calls `.step(state, tables, choice, observer)`. Steps of other things have other arguments, but for those
/// of a `Naming`.
fn calls_of_step(text: &str) -> usize {
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
    let has_four = |call: &str| {
        let (mut depth, mut commas) = (0, 0);
        let end = call.find(|sign| {
            match sign {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => commas += 1,
                _ => {}
            }
            depth < 0
        });
        let arguments = call[..end.unwrap_or(call.len())].trim_end();
        commas + usize::from(!arguments.ends_with(',')) == 4
    };
    let calls = code.match_indices(".step(").filter(|&(at, _)| !code[..at].trim_end().ends_with("naming"));
    calls.filter(|&(at, call)| has_four(&code[at + call.len()..])).count()
}

fn only_those_step_who_must() {
    let mut problems = Vec::new();
    // The layers before `vm` have locksets that step.
    let above = [
        "src/schedule",
        "src/model",
        "src/harness",
        "src/explore",
        "src/race",
        "src/paths",
        "src/driver",
        "src/answer",
        "src/cli",
    ];
    for path in above.iter().flat_map(|layer| files_below(layer, &["rs"])) {
        let steps = calls_of_step(&read(&path)) > 0;
        let listed = STEPPERS.iter().any(|(file, _)| *file == path);
        if steps && !listed {
            problems.push(format!("{path}: calls `Machine::step`: use `schedule::walk`"));
        }
        if !steps && listed {
            problems.push(format!("{path}: does not call `Machine::step`, and need not be listed"));
        }
    }
    assert_none(&problems);
}

fn calls_of_step_are_found() {
    for (text, expected) in [
        ("machine.step(&mut state, tables, Choice { thread, alternative: 0 }, &mut ());", 1),
        ("self\n    .machine\n    .step(\n    state,\n f(a, b),\n choice,\n observer,\n)", 1),
        ("self.naming.step(state, tables, choice, alternatives)", 0),
        ("self.step(node, choice); self.step([a, b, c, d]); // x.step(a, b, c, d)", 0),
    ] {
        assert_eq!(calls_of_step(text), expected, "{text}");
    }
}
