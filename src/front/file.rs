//! Files of any language: from bytes to text.

use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_source::{FileId, SourceMap, Span};

/// Bytes of the largest file that is read.
const MAX_FILE_BYTES: usize = 256 << 20;

/// Adds a file given as bytes, which must be UTF-8 text of a bearable size.
///
/// # Errors
///
/// A diagnostic for a file that is too large or no text. In the latter case the file was added, as far as it can be
/// read, so that the place can be shown.
#[expect(clippy::result_large_err, reason = "called once a file")]
pub fn add_bytes(sources: &mut SourceMap, name: &str, bytes: &[u8]) -> Result<FileId, Diagnostic> {
    if bytes.len() > MAX_FILE_BYTES {
        let (limit, size) = (MAX_FILE_BYTES >> 20, bytes.len() >> 20);
        let message = format!("`{name}` is too large: {size} MiB and more, the limit is {limit} MiB");
        return Err(Diagnostic::general(Code::FileTooLarge, Severity::Error, message));
    }
    // Editors of some systems put a byte-order mark in front.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let problem = match std::str::from_utf8(bytes) {
        Ok(text) => match text.find('\0') {
            None => return Ok(sources.add(name, text)),
            Some(at) => (at, "a zero byte"),
        },
        Err(error) => (error.valid_up_to(), "a byte that is not UTF-8"),
    };
    let (at, what) = problem;
    let file = sources.add(name, &String::from_utf8_lossy(bytes));
    let span = Span::new(file, at, at + sources.file(file).text()[at..].chars().next().map_or(0, char::len_utf8));
    let message = format!("`{name}` is not a text file");
    Err(Diagnostic::error(Code::NotText, span, message, what).with_help("save the file as UTF-8 text"))
}
