//! Files on disk, for programs in C.

use super::bytes::read_bytes;
use cssame_c::tree::Files;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of the disk.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        read_bytes(path).ok()
    }

    fn identity(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }
}
