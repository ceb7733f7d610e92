//! Markdown for a terminal with colour.
//!
//! In: a page of the manual. Out: its text with bold headings and emphasis, coloured code, and indented code blocks; no Markdown
//! marks remain. Links are replaced by their text. In a pipe a page stays Markdown.

use anstyle::{AnsiColor, Style};

/// What a code block is indented by.
const INDENT: &str = "    ";

/// A page with colour.
#[must_use]
pub fn render(page: &str) -> String {
    let mut text = String::new();
    let mut in_code = false;
    // A paragraph is rendered as a whole: its code and its links may go on in the next line.
    let mut paragraph = String::new();
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        let is_heading = !in_code && heading.len() < line.len() && heading.starts_with(' ');
        if is_fence || in_code || is_heading || line.is_empty() {
            text += &inline(&std::mem::take(&mut paragraph));
        }
        if is_fence {
            in_code = !in_code;
        } else if in_code {
            text += &if line.is_empty() { "\n".to_owned() } else { format!("{INDENT}{line}\n") };
        } else if is_heading {
            let bold = Style::new().bold();
            text += &format!("{bold}{}{bold:#}\n", without_marks(heading.trim_start()));
        } else if line.is_empty() {
            text.push('\n');
        } else {
            paragraph += line;
            paragraph.push('\n');
        }
    }
    text + &inline(&paragraph)
}

/// A heading has one style: its code has no colour.
fn without_marks(text: &str) -> String {
    text.replace(['`', '*'], "")
}

/// A paragraph: `` `code` ``, `**bold**` and `[links](page.md)`.
fn inline(text: &str) -> String {
    let (code, bold) = (AnsiColor::Cyan.on_default(), Style::new().bold());
    let mut rest = text;
    let mut done = String::new();
    while let Some(at) = rest.find(['`', '*', '[']) {
        let (before, from) = rest.split_at(at);
        done += before;
        let enclosed = |mark: &str| from.strip_prefix(mark).and_then(|behind| behind.split_once(mark));
        let link = || {
            let (text, behind) = from.strip_prefix('[')?.split_once("](")?;
            let (_, behind) = behind.split_once(')')?;
            (!text.contains(['[', ']'])).then_some((text, behind))
        };
        if let Some((inner, behind)) = enclosed("**") {
            done += &format!("{bold}{}{bold:#}", without_marks(inner));
            rest = behind;
        } else if let Some((inner, behind)) = enclosed("`") {
            done += &format!("{code}{inner}{code:#}");
            rest = behind;
        } else if let Some((inner, behind)) = link() {
            done += &inline(inner);
            rest = behind;
        } else {
            let (mark, behind) = from.split_at(1);
            done += mark;
            rest = behind;
        }
    }
    done + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_diagnostics::Code;

    #[test]
    fn marks_become_styles() {
        let page = "# CS1: `a` b\n\nSee `x` and **why** ([y](z.md)), t[3] * 2.\n\n```csm\nint a; // `b`\n```\n";
        let plain = without_colour(&render(page));
        assert_eq!(plain, "CS1: a b\n\nSee x and why (y), t[3] * 2.\n\n    int a; // `b`\n");
        assert!(render(page).starts_with("\u{1b}[1mCS1: a b"));
    }

    #[test]
    fn no_page_has_marks_left_outside_of_code() {
        for code in Code::all() {
            let text = without_colour(&render(code.page()));
            let marks = text
                .lines()
                .filter(|line| !line.starts_with(INDENT))
                .find(|line| line.contains('`') || line.starts_with('#'));
            assert_eq!(marks, None, "{code}");
            assert!(!text.contains("**") && !text.contains("]("), "{code}");
        }
    }

    /// Without colour.
    fn without_colour(text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('\u{1b}') {
            plain += before;
            rest = behind.split_once('m').map_or("", |(_, behind)| behind);
        }
        plain + rest
    }
}
