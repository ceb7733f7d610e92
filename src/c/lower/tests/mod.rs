//! Small programs, one for each thing that is lowered: the lines of their flow graph that matter, which is valid.

mod atomics;
mod builtins;
mod garbage;
mod heap;
mod lengths;
mod locks;
mod objects;
mod output;
mod own;
mod pointed;
mod refused;
mod specific;
mod statements;
mod threads;
mod units;
mod values;

use super::{Lowered, Settings, lower};
use crate::tree::{MemoryFiles, Options, Unit, add_bytes, read};
use cssame_ir::print::{Plain, print_program};
use cssame_ir::verify::verify;
use cssame_source::SourceMap;

/// The trees of texts, which are `a.c`, `b.c` and so on.
fn units(texts: &[&str]) -> (SourceMap, Vec<Unit>) {
    let mut sources = SourceMap::default();
    let mut units = Vec::new();
    for (text, letter) in texts.iter().zip('a'..) {
        let main = add_bytes(&mut sources, &format!("{letter}.c"), text.as_bytes());
        let reading = read(&mut sources, main, &MemoryFiles::new(), &Options::default());
        let messages: Vec<&str> = reading.diagnostics.iter().map(|one| one.message.as_str()).collect();
        units.push(reading.unit.unwrap_or_else(|| panic!("{messages:?}\n{text}")));
    }
    (sources, units)
}

/// A lowered program as text, and its notes. It is valid.
fn lowered_with(texts: &[&str], settings: &Settings) -> Result<(String, Lowered), Vec<String>> {
    let (sources, units) = units(texts);
    let units: Vec<&Unit> = units.iter().collect();
    let lowered = lower(&sources, &units, settings).map_err(|found| {
        let one = |one: &cssame_diagnostics::Diagnostic| {
            format!("{} at `{}`", one.message, one.span().map_or("", |span| sources.text(span)))
        };
        found.diagnostics().iter().map(one).collect::<Vec<_>>()
    })?;
    let text = print_program(&lowered.program, &sources, &Plain);
    if let Err(faults) = verify(&lowered.program) {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", faults.join("\n"));
    }
    Ok((text, lowered))
}

/// The text of a program that is read.
fn lowered(text: &str) -> String {
    match lowered_with(&[text], &Settings::default()) {
        Ok((text, _)) => text,
        Err(found) => panic!("{found:?}\n{text}"),
    }
}

const HEAD: &str = "#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
                    #include <stdlib.h>\n#include <assert.h>\n#include <threads.h>\n";

/// The text of a program with these declarations and these statements in `main`.
fn in_main(declarations: &str, statements: &str) -> String {
    lowered(&format!("{HEAD}{declarations}\nint main(void) {{ {statements}\nreturn 0; }}"))
}

/// What is said of such a program that is not read.
fn refused(declarations: &str, statements: &str) -> Vec<String> {
    let text = format!("{HEAD}{declarations}\nint main(void) {{ {statements}\nreturn 0; }}");
    match lowered_with(&[&text], &Settings::default()) {
        Ok((text, _)) => panic!("it is read:\n{text}"),
        Err(found) => found,
    }
}

/// Text without places (`@3:7`), which change with every line before them.
fn without_places(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('@') {
        text.push_str(before);
        let place = behind.len() - behind.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        rest = &behind[place..];
        match rest.strip_prefix(':') {
            Some(column) if place > 0 => rest = column.trim_start_matches(|sign: char| sign.is_ascii_digit()),
            _ => {
                text.push('@');
                text.push_str(&behind[..place]);
            }
        }
    }
    text + rest
}

/// Text without the numbers of temporaries.
fn without_numbers(line: &str) -> String {
    let mut pieces = line.split('%');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push('%');
        text.push_str(piece.trim_start_matches(|sign: char| sign.is_ascii_digit()));
    }
    text
}

/// Checks that the lines stand in the text, in this order, whatever the numbers of temporaries are.
fn holds(text: &str, lines: &[&str]) {
    let mut rest = text.lines().map(|line| without_numbers(&without_places(line.trim())));
    for &line in lines {
        let line = without_numbers(line);
        assert!(rest.any(|found| found == line), "`{line}` is missing or too early in\n{text}");
    }
}
