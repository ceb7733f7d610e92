//! Files between the two source maps: what the preprocessor includes, and what of it is the user's.
//!
//! The preprocessor asks [`Disk`] for files: our headers stand in a directory that no path can name, behind the directories of the
//! user. [`Mirror`] adds each file that it has read to our source map, once.

use crate::headers;
use crate::tree::files::Files;
use cssame_source::{FileId, SourceMap};
use rucc_diag::{SourceBytes, SourceMap as ReadSources, Span as ReadSpan};
use rucc_session::FileSystem;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// The directory of our headers.
pub const HEADERS: &str = "<cssame>";

/// The text of a file: bytes that are not UTF-8 are `?`, one for one.
pub fn text_of(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// The files that `#include` can find.
#[derive(Debug)]
pub struct Disk<'a> {
    files: &'a dyn Files,
}

impl<'a> Disk<'a> {
    pub fn new(files: &'a dyn Files) -> Self {
        Disk { files }
    }
}

impl FileSystem for Disk<'_> {
    fn read(&self, path: &Path) -> io::Result<SourceBytes> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        if let Ok(name) = path.strip_prefix(HEADERS) {
            let text = name.to_str().and_then(headers::text).ok_or_else(missing)?;
            return Ok(SourceBytes::new(text.as_bytes()));
        }
        let bytes = self.files.read(path).ok_or_else(missing)?;
        Ok(SourceBytes::new(text_of(&bytes).into_bytes()))
    }

    fn identity(&self, path: &Path) -> PathBuf {
        if path.starts_with(HEADERS) { path.to_owned() } else { self.files.identity(path) }
    }
}

/// For each file that the preprocessor read the file of our source map.
pub struct Mirror {
    /// Where it begins in the map of the preprocessor, where it ends, what it is.
    files: Vec<(u32, u32, Kind)>,
}

/// What a file is.
#[derive(Clone, Copy)]
enum Kind {
    /// A file of the user's.
    User(FileId),
    /// A header of ours.
    Header(FileId),
    /// Definitions of the compiler or of the command line.
    Invented,
}

impl Mirror {
    /// Adds to `sources` what was read; `main` is there already. The user's files are listed in `listed`.
    pub fn new(read: &ReadSources, sources: &mut SourceMap, main: FileId, listed: &mut Vec<FileId>) -> Mirror {
        // What was read before, for another unit or to learn what is included, is there already.
        let mut known: BTreeMap<String, FileId> =
            sources.files().map(|(id, file)| (file.name().to_owned(), id)).collect();
        let mut seen: BTreeSet<FileId> = BTreeSet::from([main]);
        let mut files = Vec::new();
        let mut is_first = true;
        for file in read.files() {
            let kind = if std::mem::take(&mut is_first) {
                Kind::User(main)
            } else if file.name.starts_with('<') && !file.name.starts_with(HEADERS) {
                Kind::Invented
            } else {
                let name = match file.name.strip_prefix(HEADERS) {
                    Some(header) => format!("<{}>", header.trim_start_matches(['/', '\\'])),
                    None => file.name.clone(),
                };
                let is_header = name.starts_with('<');
                let id = *known
                    .entry(name)
                    .or_insert_with_key(|name| sources.add_beside(name, &String::from_utf8_lossy(file.bytes())));
                if !is_header && seen.insert(id) {
                    listed.push(id);
                }
                if is_header { Kind::Header(id) } else { Kind::User(id) }
            };
            files.push((file.start, file.end, kind));
        }
        Mirror { files }
    }

    /// The file that holds a position, and the offset in it.
    fn find(&self, position: u32) -> Option<(Kind, u32)> {
        let index = self.files.partition_point(|&(start, ..)| start <= position).checked_sub(1)?;
        let (start, end, kind) = self.files[index];
        (position <= end).then_some((kind, position - start))
    }

    /// The span of ours for one of the preprocessor, and whether it lies in a file of the user's.
    pub fn span(&self, span: ReadSpan) -> Option<(cssame_source::Span, bool)> {
        let (kind, start) = self.find(span.lo)?;
        let end = start + span.hi.saturating_sub(span.lo);
        match kind {
            Kind::User(file) => Some((cssame_source::Span { file, start, end }, true)),
            Kind::Header(file) => Some((cssame_source::Span { file, start, end }, false)),
            Kind::Invented => None,
        }
    }
}
