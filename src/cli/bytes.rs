//! The bytes of a file, or of standard input, as many as are worth reading.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// One MiB more than may be read: enough to see that a file is too large, also one without end.
const READ_BYTES: u64 = 257 << 20;

/// The name that stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// Reads a file, or standard input.
///
/// # Errors
///
/// It cannot be read.
pub(super) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == STANDARD_INPUT {
        io::stdin().lock().take(READ_BYTES).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(READ_BYTES).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
