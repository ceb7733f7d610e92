//! Packages in Rust: a Cargo package that uses only the standard library.
//!
//! In: the parts of a package. Out: its files: a description (`README.md`), the program in CSSAME form (`src/program.rs`), one
//! function for each thread; the runtime (`src/lib.rs`), in which every event has a single-assignment latch; and one test for
//! each test case (`tests/futures.rs`).
//!
//! Tests of pairs may also run freely (`free`): with plain threads and real memory, for a race detector.
//!
//! Limitation of tests with latches: they have no memory. Values pass from writes to reads through latches, even for private
//! accesses; a reference does not exist at run time, and a pointer of C is a number that leads nowhere. An atomic
//! block is not atomic in the package, where this is not observable.

mod body;
mod free;
mod instruction;
mod names;
mod program;
mod readme;
mod registers;
mod tests_file;
mod value;

use super::DriveError;
use super::parts::Parts;
use std::path::PathBuf;

/// The runtime that every package has.
const RUNTIME: &str = include_str!("template/runtime.rs");

/// The runtime of a package whose tests run free.
const FREE_RUNTIME: &str = include_str!("template/free.rs");

/// The style of the runtime; what is made for a program has that of the program, and is skipped.
const RUSTFMT: &str = "max_width = 120\nuse_small_heuristics = \"Max\"\n";

/// What cargo puts into the directory of a package.
pub(super) const BUILT: &[&str] = &["Cargo.lock", "target"];

/// The files of a package.
pub(super) fn files(parts: &Parts<'_>) -> Result<Vec<(PathBuf, String)>, DriveError> {
    let runtime = if parts.options.free { FREE_RUNTIME } else { RUNTIME };
    let files = [
        ("Cargo.toml", cargo_toml(parts.name)),
        ("README.md", readme::emit(parts)),
        ("rustfmt.toml", RUSTFMT.to_owned()),
        ("src/lib.rs", runtime.to_owned()),
        ("src/program.rs", program::emit(parts)?),
        ("tests/futures.rs", tests_file::emit(parts)),
    ];
    Ok(files.into_iter().map(|(path, text)| (PathBuf::from(path), text)).collect())
}

fn cargo_toml(name: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [lib]\ndoctest = false\ntest = false\n\n[workspace]\n"
    )
}
