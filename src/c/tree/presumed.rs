//! Presumed places: what line markers (`# 12 "x.c"`, `#line 12`) say of the lines behind them.
//!
//! Names use physical lines; these come beside them, where a file was written by another preprocessor.

use cssame_source::{FileId, SourceMap, Span};

/// A line marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// Where it stands.
    pub span: Span,
    /// What the line behind it is called.
    pub line: u32,
    /// What the file is called from there on; `None` where that does not change.
    pub name: Option<String>,
}

/// The line markers of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMarks {
    /// Sorted by place.
    marks: Vec<LineMark>,
}

impl LineMarks {
    /// The marks of a unit in any order.
    #[must_use]
    pub fn new(mut marks: Vec<LineMark>) -> LineMarks {
        marks.sort_by_key(|mark| mark.span);
        LineMarks { marks }
    }

    /// The file and the line that a place is said to have, if a marker before it in its file says so.
    #[must_use]
    pub fn presumed<'a>(&'a self, sources: &'a SourceMap, place: Span) -> Option<(&'a str, u32)> {
        let index = self.marks.partition_point(|mark| mark.span < place).checked_sub(1)?;
        let mark = self.marks.get(index).filter(|mark| mark.span.file == place.file)?;
        let behind = sources.line(place).checked_sub(sources.line(mark.span) + 1)?;
        Some((self.name(sources, index, place.file), mark.line.saturating_add(behind)))
    }

    /// What a file is called behind one of its marks.
    fn name<'a>(&'a self, sources: &'a SourceMap, index: usize, file: FileId) -> &'a str {
        let own = self.marks[..=index].iter().rev().take_while(|mark| mark.span.file == file);
        own.filter_map(|mark| mark.name.as_deref()).next().unwrap_or_else(|| sources.file(file).name())
    }
}
