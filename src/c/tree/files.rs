//! Where the text of included files comes from.

use cssame_source::SourceMap;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// What the reader asks for files: the directories of `#include` are tried in turn, so most questions are for files that do not
/// exist.
pub trait Files: fmt::Debug + Send + Sync {
    /// The bytes of a file, if there is one of that path.
    fn read(&self, path: &Path) -> Option<Vec<u8>>;

    /// A name that two paths to one file share, for `#pragma once`.
    fn identity(&self, path: &Path) -> PathBuf {
        without_dots(path)
    }
}

/// A path without `.`, and without `..` where a directory stands before it.
fn without_dots(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.iter().collect()
}

/// The files of a source map: what was read before can be read again.
pub struct KnownFiles<'a> {
    files: BTreeMap<&'a Path, &'a str>,
}

impl<'a> KnownFiles<'a> {
    /// All files of a source map, by name.
    #[must_use]
    pub fn new(sources: &'a SourceMap) -> KnownFiles<'a> {
        KnownFiles { files: sources.files().map(|(_, file)| (Path::new(file.name()), file.text())).collect() }
    }
}

impl fmt::Debug for KnownFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

impl Files for KnownFiles<'_> {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.files.get(path).map(|text| text.as_bytes().to_vec())
    }
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    /// No file at all.
    #[must_use]
    pub fn new() -> MemoryFiles {
        MemoryFiles::default()
    }

    /// Adds a file, or changes it.
    #[must_use]
    pub fn with(mut self, path: &str, text: &str) -> MemoryFiles {
        self.files.insert(without_dots(Path::new(path)), text.as_bytes().to_vec());
        self
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.files.get(&without_dots(path)).cloned()
    }
}
