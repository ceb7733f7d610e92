//! Diagnostics for people, by `codespan-reporting`.
//!
//! In: diagnostics and the sources. Out: text, with ANSI colours where asked. This is the only place that knows the
//! renderer.

use super::{Diagnostic, Severity};
use crate::source::{FileId, SourceMap};
use anstyle::{AnsiColor, Style};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;
use codespan_reporting::term::WriteStyle;
use std::io;
use std::ops::Range;

impl<'a> Files<'a> for SourceMap {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        self.get(id).map(|file| file.name()).ok_or(Error::FileMissing)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        self.get(id).map(|file| file.text()).ok_or(Error::FileMissing)
    }

    fn line_index(&'a self, id: FileId, byte_index: usize) -> Result<usize, Error> {
        let file = self.get(id).ok_or(Error::FileMissing)?;
        Ok(file.position(byte_index as u32).line as usize - 1)
    }

    fn line_range(&'a self, id: FileId, line_index: usize) -> Result<Range<usize>, Error> {
        let file = self.get(id).ok_or(Error::FileMissing)?;
        let max = file.line_count() as usize;
        file.line_range(line_index).ok_or(Error::LineTooLarge { given: line_index, max })
    }
}

/// Renders one diagnostic, with a newline at its end.
#[must_use]
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, colour: bool) -> String {
    let config = term::Config::default();
    let converted = convert(diagnostic);
    let mut writer = StyledText { bytes: Vec::new(), colour };
    // Writing to memory fails only where a span lies outside its file; what was rendered until then is kept.
    let _ = term::emit_to_write_style(&mut writer, &config, sources, &converted);
    String::from_utf8_lossy(&writer.bytes).into_owned()
}

/// Renders all of them, with an empty line between two.
#[must_use]
pub fn render_all(sources: &SourceMap, diagnostics: &[Diagnostic], colour: bool) -> String {
    let rendered: Vec<String> = diagnostics.iter().map(|each| render(sources, each, colour)).collect();
    rendered.iter().map(|text| text.trim_end().to_owned() + "\n").collect::<Vec<_>>().join("\n")
}

/// Text with ANSI styles, or without where no colour is wanted.
struct StyledText {
    bytes: Vec<u8>,
    colour: bool,
}

impl StyledText {
    fn set(&mut self, style: Style) -> io::Result<()> {
        if self.colour { io::Write::write_all(self, style.render().to_string().as_bytes()) } else { Ok(()) }
    }
}

impl io::Write for StyledText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn severity_colour(severity: codespan::Severity) -> AnsiColor {
    match severity {
        codespan::Severity::Bug | codespan::Severity::Error => AnsiColor::BrightRed,
        codespan::Severity::Warning => AnsiColor::BrightYellow,
        codespan::Severity::Note | codespan::Severity::Help => AnsiColor::BrightGreen,
    }
}

impl WriteStyle for StyledText {
    fn set_header(&mut self, severity: codespan::Severity) -> io::Result<()> {
        self.set(severity_colour(severity).on_default().bold())
    }

    fn set_header_message(&mut self) -> io::Result<()> {
        self.set(Style::new().bold())
    }

    fn set_line_number(&mut self) -> io::Result<()> {
        self.set(AnsiColor::Blue.on_default())
    }

    fn set_note_bullet(&mut self) -> io::Result<()> {
        self.set(AnsiColor::Blue.on_default())
    }

    fn set_source_border(&mut self) -> io::Result<()> {
        self.set(AnsiColor::Blue.on_default())
    }

    fn set_label(&mut self, severity: codespan::Severity, label_style: codespan::LabelStyle) -> io::Result<()> {
        match label_style {
            codespan::LabelStyle::Primary => self.set(severity_colour(severity).on_default()),
            codespan::LabelStyle::Secondary => self.set(AnsiColor::Cyan.on_default()),
        }
    }

    fn reset(&mut self) -> io::Result<()> {
        if self.colour { io::Write::write_all(self, b"\x1b[0m") } else { Ok(()) }
    }
}

fn convert(diagnostic: &Diagnostic) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Note => codespan::Severity::Note,
    };
    let primary = diagnostic.primary.iter().map(|label| {
        codespan::Label::primary(label.span.file, label.span.start as usize..label.span.end as usize)
            .with_message(&label.message)
    });
    let secondary = diagnostic.secondary.iter().map(|label| {
        codespan::Label::secondary(label.span.file, label.span.start as usize..label.span.end as usize)
            .with_message(&label.message)
    });
    let help = diagnostic.help.iter().map(|help| format!("help: {help}"));
    codespan::Diagnostic::new(severity)
        .with_code(diagnostic.code.number())
        .with_message(&diagnostic.message)
        .with_labels(primary.chain(secondary).collect())
        .with_notes(diagnostic.notes.iter().map(|note| format!("note: {note}")).chain(help).collect())
}
