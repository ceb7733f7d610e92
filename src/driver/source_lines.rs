//! The source lines that generated code shows next to its translation, each once where it begins.

use cssame_source::{SourceMap, Span};

/// The line that was shown last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SourceLines {
    last: u32,
}

impl SourceLines {
    /// The number and the text of the line on which a span begins, where another one was shown last.
    pub(super) fn next<'s>(&mut self, sources: &'s SourceMap, span: Span) -> Option<(u32, &'s str)> {
        let line = sources.line(span);
        if line == self.last {
            return None;
        }
        self.last = line;
        Some((line, sources.get(span.file)?.line_text(line).trim()))
    }

    /// The next line is shown, whichever it is.
    pub(super) fn forget(&mut self) {
        self.last = 0;
    }
}
