//! Titles and labels that fit into the width of a terminal.
//!
//! **Input**: a rendered diagnostic, with its ANSI styles. **Output**: the same diagnostic, in which long titles and labels
//! continue in the next line, under their own beginning. Lines of source text and notes stay unchanged: an excerpt is already a
//! window, and notes are wrapped before they are rendered.
//!
//! **Algorithm**: a title begins after its code; a label begins after the last mark of its line. The text before a label, the
//! bars of labels that are still to come, is repeated in each line.

use cssame_source::cut::columns;

/// A label gets so many columns, however far right it begins.
const NARROWEST: usize = 24;

/// Signs that stand between the edge of the excerpt and a label.
const MARKS: [char; 9] = [' ', '│', '^', '-', '╭', '╰', '─', '·', '\''];

/// Wraps the titles and labels of a rendered diagnostic.
pub(crate) fn wrap(rendered: &str, width: usize) -> String {
    let lines: Vec<&str> = rendered.split('\n').collect();
    let mut wrapped: Vec<String> = Vec::with_capacity(lines.len());
    for (index, &line) in lines.iter().enumerate() {
        let text = plain(line);
        let prefix = match columns(&text) <= width {
            true => None,
            false if index == 0 => text.find("]: ").map(|at| " ".repeat(at + "]: ".len())),
            false => label_prefix(&text, lines.get(index + 1).map_or(String::new(), |next| plain(next))),
        };
        wrapped.push(match prefix {
            Some(prefix) => broken(line, &breaks(&text, prefix.chars().count(), width), &prefix),
            None => line.to_owned(),
        });
    }
    wrapped.join("\n")
}

/// A text without its styles.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |before, part| before + part.split_once('m').map_or("", |(_, rest)| rest))
}

/// What stands before each further line of a label: the edge of the excerpt, and the bars of labels below.
fn label_prefix(line: &str, next: String) -> Option<String> {
    let edge = line.find('│').filter(|&at| line[..at].trim().is_empty())? + '│'.len_utf8();
    let label = edge + line[edge..].find(|each| !MARKS.contains(&each))?;
    let before = &line[edge..label];
    let bars = |text: &str| text.chars().all(|each| each == ' ' || each == '│');
    if bars(before) {
        return Some(line[..label].to_owned());
    }
    // Behind the marks themselves: the bars are those of the next line, if it has nothing else.
    let below = next.get(edge..).filter(|below| bars(below)).unwrap_or("");
    let room = before.chars().count();
    Some(line[..edge].to_owned() + &below.chars().chain(std::iter::repeat(' ')).take(room).collect::<String>())
}

/// The spaces at which a line ends, as numbers of characters, if what is behind `start` is to fit.
fn breaks(text: &str, start: usize, width: usize) -> Vec<usize> {
    let width = width.max(start + NARROWEST);
    let (mut found, mut space, mut column) = (Vec::new(), None, 0);
    for (index, each) in text.chars().enumerate() {
        if each == ' ' && index > start {
            space = Some((index, column));
        }
        column += 1;
        if column > width
            && let Some((at, until)) = space.take()
        {
            found.push(at);
            column = start + column - until - 1;
        }
    }
    found
}

/// A line, with a line end and the prefix instead of those characters; styles go on behind the prefix.
fn broken(line: &str, breaks: &[usize], prefix: &str) -> String {
    let (mut text, mut style, mut seen) = (String::new(), String::new(), 0);
    let mut letters = line.chars();
    while let Some(each) = letters.next() {
        if each == '\u{1b}' {
            let code: String = letters.by_ref().take_while(|&letter| letter != 'm').collect();
            style = if code == "[0" { String::new() } else { style + "\u{1b}" + &code + "m" };
            text += &format!("\u{1b}{code}m");
            continue;
        }
        if breaks.contains(&seen) {
            let end = if style.is_empty() { "" } else { "\u{1b}[0m" };
            text += &format!("{end}\n{prefix}{style}");
        } else {
            text.push(each);
        }
        seen += 1;
    }
    text
}
