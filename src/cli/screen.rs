//! The screen for the text output.
//!
//! **Input**: the environment and standard output. **Output**: a number of columns, and the [`Screen`] of diagnostics.

use cssame_diagnostics::terminal::Screen;

/// Width of text where no other width is known, in columns.
const WIDTH: usize = 80;

/// The narrowest and the widest text that anybody may ask for.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=1_000;

/// Width of the text, in columns: what `COLUMNS` says, else that of the terminal which standard output is, else
/// [`WIDTH`], so that what goes into a pipe or a file depends on nothing else.
#[must_use]
pub fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(columns, _)| usize::from(columns.0));
    let known = said.filter(|&columns: &usize| columns > 0).or_else(terminal);
    known.map_or(WIDTH, |columns| columns.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

/// The screen of diagnostics, with colour or without: as wide as standard output, also where they go to standard error.
#[must_use]
pub fn of_stdout(colour: bool) -> Screen {
    Screen { colour, width: width() }
}
