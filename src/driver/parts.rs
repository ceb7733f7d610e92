//! The parts of a package, in any language: programs, tests and options for writing them.

use super::manifest::Manifest;
use super::test_case::TestCase;
use super::{DriveError, Input, Options};
use cssame_ir::FunctionId;

/// A program of a package.
#[derive(Clone, Debug)]
pub(super) struct Module<'a> {
    /// Its name, as those of tests; none where it is the only program of a package whose tests are about one program.
    pub name: Option<String>,
    /// The program.
    pub input: Input<'a>,
}

impl<'a> Module<'a> {
    /// The only program of a package.
    pub fn only(input: &Input<'a>) -> Module<'a> {
        Module { name: None, input: *input }
    }

    /// Where it begins.
    pub fn main(&self) -> Result<FunctionId, DriveError> {
        self.input.program.main.ok_or(DriveError::NoMain)
    }

    /// The name of its files.
    pub fn file_stem(&self) -> &str {
        self.name.as_deref().unwrap_or("program")
    }
}

/// What a target makes files of: all but the recorded executions and the manifest, which are the same for all targets.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    /// The name of the package: `drive_cssame_fig2`.
    pub name: &'a str,
    /// The programs that tests run: none, one without a name, or some with names.
    pub programs: &'a [Module<'a>],
    /// The tests, in their order.
    pub cases: &'a [TestCase],
    /// How the package is made.
    pub options: &'a Options,
    /// What is in it. The list of its files is empty still.
    pub manifest: &'a Manifest,
}
