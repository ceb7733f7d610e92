//! The targets: the languages of packages.
//!
//! **Input**: the parts of a package ([`Parts`]), which are plain data. **Output**: its files. A target is a folder that contains
//! a template over plans, and a line in each of these functions; no target depends on another.

use super::parts::Parts;
use super::{DriveError, Target, aspectj, java, rust};
use std::path::PathBuf;

impl Target {
    /// What the tools of the target put into the directory of a package, at its top. It stays where a package is replaced
    /// by another one of the target.
    #[must_use]
    pub fn built(self) -> &'static [&'static str] {
        match self {
            Target::Rust => rust::BUILT,
            Target::Java => java::BUILT,
            Target::AspectJ => aspectj::BUILT,
        }
    }

    /// The files of a package, but for the manifest and the recorded executions.
    pub(super) fn files(self, parts: &Parts<'_>) -> Result<Vec<(PathBuf, String)>, DriveError> {
        match self {
            Target::Rust => rust::files(parts),
            Target::Java => java::files(parts),
            Target::AspectJ => aspectj::files(parts),
        }
    }
}
