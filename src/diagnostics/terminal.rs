//! Diagnostics for readers, by `codespan-reporting`.
//!
//! In: diagnostics and the sources. Out: text, with ANSI colours on request. This is the only place that depends on the renderer.

use super::excerpt::Excerpts;
use super::wrap::wrap;
use super::{Diagnostic, Label, Severity};
use anstyle::{AnsiColor, Style};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::term;
use codespan_reporting::term::WriteStyle;
use cssame_source::cut::cut;
use cssame_source::{FileId, SourceMap, Span};
use std::io;

/// Bytes of a message that is shown whole.
const MESSAGE_BYTES: usize = 10_000;

/// Columns before a line of a note: its margin, and line numbers of some digits.
const NOTE_MARGIN: usize = 7;

/// Where diagnostics are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Whether there are ANSI colours.
    pub colour: bool,
    /// The columns that titles, labels and notes fit into, where their words allow that. Lines of source text stand as they are.
    pub width: usize,
}

impl Default for Screen {
    /// Eighty columns without colours.
    fn default() -> Self {
        Screen { colour: false, width: 80 }
    }
}

/// Renders one diagnostic, with a newline at its end.
#[must_use]
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, screen: Screen) -> String {
    let config = term::Config::default();
    let spans: Vec<Span> = diagnostic.primary.iter().chain(&diagnostic.secondary).map(|label| label.span).collect();
    let excerpts = Excerpts::new(sources, &spans);
    let converted = convert(diagnostic, &excerpts, screen.width);
    let mut writer = StyledText { bytes: Vec::new(), colour: screen.colour };
    // Writing to memory does not fail, and every place lies in its excerpt.
    let _ = term::emit_to_write_style(&mut writer, &config, &excerpts, &converted);
    wrap(&String::from_utf8_lossy(&writer.bytes), screen.width)
}

/// Renders all of them, with an empty line between two.
#[must_use]
pub fn render_all(sources: &SourceMap, diagnostics: &[Diagnostic], screen: Screen) -> String {
    let rendered: Vec<String> = diagnostics.iter().map(|each| render(sources, each, screen)).collect();
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

/// A text, without its middle where that is very long: a name may have a million letters.
fn bounded(text: &str) -> String {
    if text.len() <= MESSAGE_BYTES { text.to_owned() } else { cut(text, &[0, text.len()]).text }
}

/// A text in lines that fit behind the margin of a note, where its words allow that.
fn wrapped(text: &str, width: usize) -> String {
    let note_width = width.saturating_sub(NOTE_MARGIN);
    let mut lines = Vec::new();
    for line in text.lines() {
        let words = line.trim_start();
        let (mut current, mut width) = (line[..line.len() - words.len()].to_owned(), 0);
        for word in words.split(' ') {
            let length = word.chars().count();
            if width > 0 && width + 1 + length > note_width {
                lines.push(std::mem::take(&mut current));
                width = 0;
            } else if width > 0 {
                current.push(' ');
                width += 1;
            }
            current.push_str(word);
            width += length;
        }
        lines.push(current);
    }
    lines.join("\n")
}

fn convert(diagnostic: &Diagnostic, excerpts: &Excerpts<'_>, width: usize) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Note => codespan::Severity::Note,
    };
    let place = |style: codespan::LabelStyle, label: &Label| {
        let range = excerpts.range(label.span)?;
        Some(codespan::Label::new(style, label.span.file, range).with_message(bounded(&label.message)))
    };
    let primary = diagnostic.primary.iter().filter_map(|label| place(codespan::LabelStyle::Primary, label));
    let secondary = diagnostic.secondary.iter().filter_map(|label| place(codespan::LabelStyle::Secondary, label));
    let help = diagnostic.help.iter().map(|help| wrapped(&format!("help: {}", bounded(help)), width));
    codespan::Diagnostic::new(severity)
        .with_code(diagnostic.code.number())
        .with_message(bounded(&diagnostic.message))
        .with_labels(primary.chain(secondary).collect())
        .with_notes(
            diagnostic
                .notes
                .iter()
                .map(|note| wrapped(&format!("note: {}", bounded(note)), width))
                .chain(help)
                .collect(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn rendered(text: &str, labels: &[(&str, &str)]) -> String {
        let mut sources = SourceMap::default();
        let file = sources.add("a.csm", text);
        let span = |part: &str| {
            let start = text.find(part).expect("a part of the text");
            Span::new(file, start, start + part.len())
        };
        let mut diagnostic = Diagnostic::error(Code::UnexpectedToken, span(labels[0].0), "wrong", labels[0].1);
        for (part, message) in &labels[1..] {
            diagnostic = diagnostic.with_label(span(part), *message);
        }
        trimmed(&render(&sources, &diagnostic, Screen::default()))
    }

    /// Without the spaces at the ends of lines, which no reader sees.
    fn trimmed(text: &str) -> String {
        text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn a_window_of_a_long_line_is_shown() {
        let text = format!("int a;\n{}here{}there{}\nint b;", "é ".repeat(500), "\tx".repeat(400), " y".repeat(400));
        insta::assert_snapshot!(rendered(&text, &[("here", "first"), ("there", "second")]), @r#"
        error[CS0101]: wrong
          ┌─ a.csm:2:1001
          │
        2 │ …é é é é é é é é é é é é é é é é here   x   x   x   x   x   x   x   x   x   x   x   x   x   x   x   x…  x   x   x   x   x   x   x   x   x   x   x   x   x   x   x   xthere y y y y y y y y y y y y y y y y…
          │                                  ^^^^                                                                                                                                ----- second
          │                                  │
          │                                  first
        "#);
        insta::assert_snapshot!(rendered(&text, &[("there", "second"), ("int b", "below")]), @r#"
        error[CS0101]: wrong
          ┌─ a.csm:2:1805
          │
        2 │ …   x   x   x   x   x   x   x   x   x   x   x   x   x   x   x   xthere y y y y y y y y y y y y y y y y…
          │                                                                  ^^^^^ second
        3 │ int b;
          │ ----- below
        "#);
    }

    #[test]
    fn places_near_to_each_other_share_a_window() {
        let text = "z".repeat(1_000) + " one two three " + &"z".repeat(1_000);
        insta::assert_snapshot!(rendered(&text, &[("two", "2"), ("one", "1"), ("three", "")]), @r#"
        error[CS0101]: wrong
          ┌─ a.csm:1:1006
          │
        1 │ …zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz one two three zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…
          │                                  --- ^^^ -----
          │                                  │   │
          │                                  │   2
          │                                  1
        "#);
    }

    #[test]
    fn a_long_place_is_shown_by_its_ends() {
        let place = "begin".to_owned() + &".".repeat(1_000) + "end";
        let text = "x".repeat(200) + &place + &"x".repeat(200);
        insta::assert_snapshot!(rendered(&text, &[(&place, "here")]), @r#"
        error[CS0101]: wrong
          ┌─ a.csm:1:201
          │
        1 │ …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxbegin...........................….............................endxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
          │                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
        "#);
    }

    #[test]
    fn a_long_message_loses_its_middle() {
        let sources = SourceMap::default();
        let message = format!("there is no variable `{}`", "a".repeat(1_000_000));
        let text =
            render(&sources, &Diagnostic::general(Code::UnknownName, Severity::Error, message), Screen::default());
        assert_eq!(text, format!("error[CS0201]: there is no variable `{}…{}`\n\n", "a".repeat(10), "a".repeat(31)));
    }

    #[test]
    fn notes_fit_into_80_columns() {
        let sources = SourceMap::default();
        let diagnostic = Diagnostic::general(Code::UnknownName, Severity::Error, "wrong")
            .with_note("word ".repeat(20).trim_end())
            .with_note("a\n  b")
            .with_help("x".repeat(100));
        insta::assert_snapshot!(render(&sources, &diagnostic, Screen::default()), @r#"
        error[CS0201]: wrong
         = note: word word word word word word word word word word word word word
           word word word word word word word
         = note: a
             b
         = help:
           xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        "#);
    }

    #[test]
    fn titles_and_labels_fit_into_80_columns() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.csm", "lock(first); one = two + three;\n");
        let (title, label) = ("long title ".repeat(9), "long label ".repeat(7));
        let diagnostic = Diagnostic::error(Code::UnexpectedToken, Span::new(file, 19, 22), title.trim(), label.trim())
            .with_label(Span::new(file, 13, 16), label.trim())
            .with_label(Span::new(file, 5, 10), "short");
        insta::assert_snapshot!(trimmed(&render(&sources, &diagnostic, Screen::default())), @r"
        error[CS0101]: long title long title long title long title long title long title
                       long title long title long title
          ┌─ a.csm:1:20
          │
        1 │ lock(first); one = two + three;
          │      -----   ---   ^^^ long label long label long label long label long
          │      │       │         label long label long label
          │      │       │
          │      │       long label long label long label long label long label long
          │      │       label long label
          │      short
        ");
        // The styles of a colour terminal take no room, and go on in the next line.
        let coloured = render(&sources, &diagnostic, Screen { colour: true, ..Screen::default() });
        assert_eq!(coloured.lines().count(), render(&sources, &diagnostic, Screen::default()).lines().count());
        assert!(coloured.lines().all(|line| line.matches("\u{1b}[0m").count() <= line.matches("\u{1b}[").count()));
    }

    #[test]
    fn lines_far_apart_are_left_out() {
        let text: String = (1..=100).map(|number| format!("line {number};\n")).collect();
        let block = text["line 1;\n".len()..].split_once("98;").expect("a part").0.to_owned();
        insta::assert_snapshot!(rendered(&text, &[(&block, "a block"), ("e 50;", "within")]), @r#"
        error[CS0101]: wrong
           ┌─ a.csm:2:1
           │
         2 │ ╭ line 2;
         3 │ │ line 3;
         4 │ │ line 4;
         5 │ │ line 5;
           · │
        50 │ │ line 50;
           │ │    ----- within
           · │
        97 │ │ line 97;
        98 │ │ line 98;
           │ ╰─────^ a block
        "#);
        insta::assert_snapshot!(rendered(&text, &[("line 2;", "a"), ("line 4;", "b"), ("line 9;", "c")]), @r#"
        error[CS0101]: wrong
          ┌─ a.csm:2:1
          │
        2 │ line 2;
          │ ^^^^^^^ a
        3 │ line 3;
        4 │ line 4;
          │ ------- b
          ·
        9 │ line 9;
          │ ------- c
        "#);
    }

    #[test]
    fn a_place_outside_of_its_file_is_its_end() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.csm", "int a;\n");
        let diagnostic = Diagnostic::error(Code::UnexpectedToken, Span::new(file, 90, 99), "wrong", "here");
        insta::assert_snapshot!(trimmed(&render(&sources, &diagnostic, Screen::default())), @r#"
        error[CS0101]: wrong
          ┌─ a.csm:2:1
          │
        2 │
          │ ^ here
        "#);
        let nowhere = Diagnostic::error(Code::UnexpectedToken, Span::new(FileId(7), 0, 1), "wrong", "here");
        assert_eq!(render(&sources, &nowhere, Screen::default()), "error[CS0101]: wrong\n\n");
    }
}
