//! The files that the page may read and write.
//!
//! **Input**: the file or directory of the command line. **Output**: names, texts, and the written files.
//!
//! **Soundness**: a name is looked up in the list of programs, and never made into a path; a file that is not in the list cannot
//! be read. A file is written only if it is unchanged since the page has read it.

use crate::load::{self, name_of};
use crate::{files, tree};
use cssame_diagnostics::Diagnostics;
use cssame_schedule::source_hash;
use cssame_source::SourceMap;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// Bytes of a text that the page takes.
pub(super) const TEXT_BYTES: usize = 1 << 20;

/// A file or the programs of a directory; none where nothing was named.
#[derive(Clone, Debug)]
pub struct Folder {
    root: Option<PathBuf>,
}

/// A file as the page has it.
#[derive(Debug, Serialize)]
pub(super) struct Opened {
    text: String,
    /// What must still be there when it is written.
    hash: String,
}

/// Why a file was not read or written.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It is not in the list.
    Unknown,
    /// It is no longer what the page has read.
    Changed,
    /// The message of the operating system.
    Failed(String),
}

impl Folder {
    /// What was named on the command line, if it is there.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is a directory without programs.
    pub fn new(root: Option<PathBuf>) -> Result<Folder, Diagnostics> {
        let folder = Folder { root };
        folder.programs()?;
        Ok(folder)
    }

    /// The programs, as people would name them.
    pub(super) fn names(&self) -> Vec<String> {
        // What could be read before may be gone.
        self.programs().unwrap_or_default().iter().map(|path| name_of(path)).collect()
    }

    fn programs(&self) -> Result<Vec<PathBuf>, Diagnostics> {
        match &self.root {
            None => Ok(Vec::new()),
            Some(file) if !file.is_dir() => {
                let mut sources = SourceMap::default();
                load::program(&mut sources, file, &[]).map_err(Diagnostics::general)?;
                Ok(vec![file.clone()])
            }
            Some(directory) => tree::programs(from_ref(directory), &[]),
        }
    }

    /// The path of a program of the list.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.programs().unwrap_or_default().into_iter().find(|path| name_of(path) == name)
    }

    pub(super) fn open(&self, name: &str) -> Result<Opened, Refusal> {
        let text = read(&self.path(name).ok_or(Refusal::Unknown)?)?;
        let hash = source_hash(&text);
        Ok(Opened { text, hash })
    }

    /// Writes a program of which `hash` is there; gives the hash of what is there now.
    pub(super) fn write(&self, name: &str, text: &str, hash: &str) -> Result<String, Refusal> {
        let path = self.path(name).ok_or(Refusal::Unknown)?;
        if source_hash(&read(&path)?) != hash {
            return Err(Refusal::Changed);
        }
        files::rewrite(&path, text).map_err(|failure| {
            Refusal::Failed(failure.list.first().map_or_else(String::new, |first| first.message.clone()))
        })?;
        Ok(source_hash(text))
    }
}

fn read(path: &Path) -> Result<String, Refusal> {
    let length = fs::metadata(path).map_err(failed)?.len();
    if length > TEXT_BYTES as u64 {
        return Err(Refusal::Failed(format!("it has {length} bytes; the page takes {TEXT_BYTES}")));
    }
    fs::read_to_string(path).map_err(failed)
}

fn failed(error: io::Error) -> Refusal {
    Refusal::Failed(error.to_string())
}
