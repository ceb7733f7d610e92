//! The finder of uses and circles on trees that are made up for it.

use super::edges::circles;
use super::modules::{Modules, Use};
use std::collections::{BTreeMap, BTreeSet};

/// The rules by name.
pub const RULES: &[(&str, fn())] = &[
    ("uses_are_found_in_every_form", uses_are_found_in_every_form),
    ("a_use_through_a_door_is_one_of_the_file_behind_it", a_use_through_a_door_is_one_of_the_file_behind_it),
    ("comments_texts_and_other_crates_are_no_uses", comments_texts_and_other_crates_are_no_uses),
    ("unit_tests_are_told_apart", unit_tests_are_told_apart),
    ("circles_of_files_and_of_folders_are_found", circles_of_files_and_of_folders_are_found),
    ("circles_that_have_been_are_found", circles_that_have_been_are_found),
];

fn modules(files: &[(&str, &str)]) -> Vec<Use> {
    Modules::new(&files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect()).uses
}

/// `from -> to, line`, and `in a test`.
fn shown(files: &[(&str, &str)]) -> Vec<String> {
    let show = |one: &Use| {
        let test = if one.test { ", in a test" } else { "" };
        format!("{} -> {}, {}{test}", one.from.join("::"), one.to.join("::"), one.line)
    };
    modules(files).iter().map(show).collect()
}

fn uses_are_found_in_every_form() {
    let low = [("src/low/lib.rs", "pub mod one;\npub mod two;\n"), ("src/low/one.rs", ""), ("src/low/two.rs", "")];
    for (text, expected) in [
        ("use cssame_low::one::Type;", &["high::file -> low::one, 1"][..]),
        (
            "use cssame_low::{one::{self, Type}, two as second};",
            &["high::file -> low::one, 1", "high::file -> low::two, 1"],
        ),
        ("use cssame_low::{\n    one::{\n        Type,\n    },\n};", &["high::file -> low::one, 3"]),
        ("use cssame_low::one::*;", &["high::file -> low::one, 1"]),
        ("fn f() {\n    cssame_low::two::call(); }", &["high::file -> low::two, 2"]),
        ("fn f<'a>(of: &'a cssame_low::one::Type, sign: char) { sign == '\"' }", &["high::file -> low::one, 1"]),
        ("const TEXT: &str = r#\"\n\"#;\nuse super::other::Type;", &["high::file -> high::other, 3"]),
        ("mod inner { use super::super::other; }", &["high::file -> high::other, 1"]),
    ] {
        let high =
            [("src/high/lib.rs", "mod file;\nmod other;\n"), ("src/high/file.rs", text), ("src/high/other.rs", "")];
        assert_eq!(shown(&[&low[..], &high].concat()), expected, "{text}");
    }
}

fn a_use_through_a_door_is_one_of_the_file_behind_it() {
    let files = [
        ("src/low/lib.rs", "mod deep;\nmod name;\npub use deep::Deep as Renamed;\npub use name::Name;\n"),
        ("src/low/deep/mod.rs", "mod inner;\npub use inner::Deep;\n"),
        ("src/low/deep/inner.rs", "use super::super::Name;"),
        ("src/low/name.rs", ""),
        ("src/high.rs", "use cssame_low::{Name, Renamed};"),
    ];
    let found = shown(&files);
    assert!(found.contains(&"high -> low::name, 1".to_owned()), "{found:?}");
    assert!(found.contains(&"high -> low::deep::inner, 1".to_owned()), "{found:?}");
    assert!(found.contains(&"low::deep::inner -> low::name, 1".to_owned()), "{found:?}");
}

fn comments_texts_and_other_crates_are_no_uses() {
    let text = "//! As cssame_low::A says.\n/* cssame_low::A */\nconst A: &str = \"cssame_low::A \\\" cssame_low::A\";\nuse std::low;\n\
                fn f() { let low = Type::low(); low.low(); Self::low() }\n";
    assert_eq!(shown(&[("src/low.rs", ""), ("src/high.rs", text)]), [""; 0]);
}

fn unit_tests_are_told_apart() {
    let files = [
        ("src/low.rs", ""),
        ("src/high/lib.rs", "use cssame_low as low;\n#[cfg(test)]\nmod tests;\n"),
        ("src/high/tests.rs", "use cssame_low::Type;"),
        (
            "src/other.rs",
            "#[cfg(test)]\nmod tests {\n    use cssame_low::Type;\n}\n#[cfg(test)]\nuse cssame_high as high;\nuse cssame_low as low;",
        ),
    ];
    let expected = [
        "high -> low, 1",
        "high::tests -> low, 1, in a test",
        "other -> high, 6, in a test",
        "other -> low, 3, in a test",
        "other -> low, 7",
    ];
    assert_eq!(shown(&files), expected);
}

/// `folder: member member`
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let show =
        |(folder, members): (String, BTreeSet<String>)| format!("{folder}: {}", Vec::from_iter(members).join(" "));
    circles(&modules(files)).into_iter().map(show).collect()
}

fn circles_of_files_and_of_folders_are_found() {
    let door = ("src/low/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\npub use c::C;\n");
    let ring =
        [("src/low/a.rs", "use super::b::B;"), ("src/low/b.rs", "use super::C;"), ("src/low/c.rs", "use super::A;")];
    assert_eq!(circles_of(&[&[door][..], &ring].concat()), ["low: a b c"]);
    let line = [("src/low/a.rs", "use super::b::B;"), ("src/low/b.rs", "use super::C;"), ("src/low/c.rs", "")];
    assert_eq!(circles_of(&[&[door][..], &line].concat()), [""; 0]);
    // No file is on a circle here, but the two folders are.
    let folders = [
        ("src/low/lib.rs", "mod a;\nmod b;\n"),
        ("src/low/a/mod.rs", "mod one;\nmod two;\n"),
        ("src/low/a/one.rs", "use crate::b::one::One;"),
        ("src/low/a/two.rs", ""),
        ("src/low/b/mod.rs", "mod one;\nmod two;\n"),
        ("src/low/b/one.rs", ""),
        ("src/low/b/two.rs", "fn f() { super::super::a::two::call() }"),
    ];
    assert_eq!(circles_of(&folders), ["low: a b"]);
    // What a unit test uses binds nobody.
    let test = "#[cfg(test)]\nmod tests { use super::super::a::A; }";
    assert_eq!(circles_of(&[door, ("src/low/a.rs", "use super::b::B;"), ("src/low/b.rs", test)]), [""; 0]);
}

/// The circles that this repository once had, by the uses that tied them: folder, what its `mod.rs` re-exports, and for
/// each file what it uses.
type Tied = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const TIED: &[Tied] = &[
    (
        "cli",
        "",
        &[
            ("arguments", "use super::{check, correlate, drive, explain, futures, ir, pi, run};"),
            ("check", "use super::arguments::Job;"),
            ("correlate", "use super::arguments::Job;\nuse super::correlate_text::{self, View};\nuse super::record;"),
            ("correlate_text", "use super::correlate::{Arguments, Report};"),
            ("drive", "use super::arguments::Job;\nuse super::drive_pairs;\nuse super::futures::SelectionReport;"),
            ("drive_pairs", "use super::drive::Arguments;"),
            ("explain", "use super::arguments::Job;"),
            ("futures", "use super::arguments::Job;\nuse super::futures_text;\nuse super::record;"),
            ("futures_text", "use super::futures::{Arguments, Found, Report, SelectionReport};"),
            ("ir", "use super::arguments::Job;"),
            ("pi", "use super::arguments::Job;"),
            ("record", "use super::futures::Report;"),
            ("run", "use super::arguments::Job;"),
        ],
    ),
    (
        "concurrency",
        "",
        &[
            ("graph", "use super::context::Unfolding;\nuse super::{AndJoin, Block, order, region};"),
            ("handle", "use super::graph::GraphBuilder;"),
            ("order", "use super::graph::GraphBuilder;\nuse super::region::reach;"),
            ("region", "use super::graph::GraphBuilder;\nuse super::{MAIN_THREAD, RegionId, ThreadId, handle};"),
        ],
    ),
    (
        "vm",
        "",
        &[
            ("compile", "use super::lower::Lowering;\nuse super::symmetry;"),
            ("encode", "use super::machine::Machine;\nuse super::symmetry::Canonical;"),
            ("lower", "use super::compile::Compiler;"),
            ("machine", "use super::compile::{self, Compiled};"),
            ("symmetry", "use super::encode::pair;\nuse super::machine::Machine;"),
        ],
    ),
    (
        "driver",
        "",
        &[
            ("body", "use super::instruction::Emitter;\nuse super::program::{FunctionNames, kind_word};"),
            ("free", "use super::instruction::Emitter;"),
            ("instruction", "use super::body::{Body, is_silent};\nuse super::program::FunctionNames;"),
            ("program", "use super::body::Body;\nuse super::free;"),
        ],
    ),
    (
        "explore",
        "pub use futures::{Answer, Query};\n",
        &[
            ("decide", "use super::futures::{Answer, MAX_TERM_STEPS, sort_outcomes};"),
            ("futures", "use super::decide::by_executions;"),
        ],
    ),
];

fn circles_that_have_been_are_found() {
    for &(folder, exports, files) in TIED {
        let mut tree: BTreeMap<String, String> =
            files.iter().map(|(name, text)| (format!("src/{folder}/{name}.rs"), (*text).to_owned())).collect();
        tree.insert(format!("src/{folder}/lib.rs"), exports.to_owned());
        let members: BTreeSet<String> = files.iter().map(|&(name, _)| name.to_owned()).collect();
        assert_eq!(circles(&Modules::new(&tree).uses), [(folder.to_owned(), members)]);
    }
}
