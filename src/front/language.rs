//! In which language a file is written, by its name.

use cssame_source::{FileId, SourceMap};
use std::path::Path;

/// A language that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The language with `cobegin` and `coend`.
    Csm,
    /// C with POSIX threads and C11 atomics.
    C,
}

impl Language {
    /// The language of a file of that name: C where it ends in `.c` or `.i`.
    #[must_use]
    pub fn of_name(name: &str) -> Language {
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("c" | "i")) { Language::C } else { Language::Csm }
    }

    /// The language of a file.
    #[must_use]
    pub fn of(sources: &SourceMap, file: FileId) -> Language {
        sources.get(file).map_or(Language::Csm, |file| Language::of_name(file.name()))
    }
}
