//! Diagnostics, shown and placed.
//!
//! In: `tests/diagnostics/{pass,fail}/*.csm`. A line of a `fail` file ends in `//~ CS0401` and perhaps a piece of the
//! message for each diagnostic whose primary place it holds; `//~^` means the line above, and a diagnostic without a
//! place belongs to line 1. A `pass` file has none. A first line `//@ input k=v` sets an input. Beside each file
//! stands the rendered text, `.stderr`. `CSSAME_BLESS=1` writes it anew.
//!
//! The examples of `docs/codes` are tests too: the first program of a page has its diagnostic, the second has not.
//! And the samples: `tests/diagnostics/samples.txt` lists what is found in each.

use cssame::answer::static_findings;
use cssame::diagnostics::{Code, Diagnostic, has_errors, sort, terminal};
use cssame::front::compile;
use cssame::source::SourceMap;
use libtest_mimic::{Failed, Trial};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages whose code has no example that only has to be compiled: not a text file, an input of the command line (its
/// value is in the page's second fence), and a file that only `run` rejects.
const WITHOUT_EXAMPLE: &[&str] = &["CS0108", "CS0213", "CS0216"];

/// Codes below those of outcomes whose findings need executions, too.
const BY_EXECUTION: &[&str] = &["CS0403", "CS0404", "CS0405"];

/// One trial for each file and page.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kind in ["pass", "fail"] {
        for path in files(&format!("tests/diagnostics/{kind}"), "csm") {
            let name = format!("{kind}/{}", stem(&path));
            trials.push(Trial::test(name, move || compare(&path, kind == "fail")));
        }
    }
    for path in files("docs/codes", "md") {
        trials.push(Trial::test(format!("page/{}", stem(&path)), move || check_page(&path)));
    }
    trials.push(Trial::test("samples", check_samples));
    trials
}

fn root() -> PathBuf {
    support::root().to_owned()
}

fn files(directory: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(directory)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<String, Failed> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// All diagnostics of a program.
fn diagnose(name: &str, text: &str) -> (SourceMap, Vec<Diagnostic>) {
    let inputs: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//@ input ")?.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let compiled = compile(&sources, file, &inputs);
    let mut diagnostics = compiled.diagnostics;
    if let Some(program) = &compiled.program {
        diagnostics.extend(static_findings(&sources, file, program, &inputs));
        sort(&mut diagnostics);
    }
    (sources, diagnostics)
}

/// Compares with a file, or writes it.
fn snapshot(path: &Path, text: &str) -> Result<(), Failed> {
    if std::env::var_os("CSSAME_BLESS").is_some_and(|value| value == "1") {
        return fs::write(path, text).map_err(Failed::from);
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == text {
        return Ok(());
    }
    Err(format!("{} differs (CSSAME_BLESS=1 rewrites it)\n--- expected\n{expected}\n--- found\n{text}", path.display())
        .into())
}

fn compare(path: &Path, fails: bool) -> Result<(), Failed> {
    let text = read(path)?;
    let name = format!("{}.csm", stem(path));
    let (sources, diagnostics) = diagnose(&name, &text);
    let rendered = terminal::render_all(&sources, &diagnostics, terminal::Screen::default());
    if fails == diagnostics.is_empty() {
        return Err(format!("fail files have diagnostics, pass files have none:\n{rendered}").into());
    }
    let mut expected = annotations(&text)?;
    let mut problems = String::new();
    for diagnostic in &diagnostics {
        let line = diagnostic.span().map_or(1, |span| sources.line(span));
        let fits = |(at, code, words): &(u32, String, String)| {
            *at == line && code == diagnostic.code.number() && diagnostic.message.contains(words.as_str())
        };
        match expected.iter().position(fits) {
            Some(position) => {
                expected.remove(position);
            }
            None => {
                let _ = writeln!(problems, "line {line}: not expected: {}: {}", diagnostic.code, diagnostic.message);
            }
        }
    }
    for (line, code, words) in expected {
        let _ = writeln!(problems, "line {line}: not found: {code} {words}");
    }
    if !problems.is_empty() {
        return Err(format!("{problems}\n{rendered}").into());
    }
    snapshot(&path.with_extension("stderr"), &rendered)
}

/// Line, code and words of each `//~`.
fn annotations(text: &str) -> Result<Vec<(u32, String, String)>, Failed> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for annotation in line.split("//~").skip(1) {
            let above = annotation.chars().take_while(|&sign| sign == '^').count();
            let (code, words) = annotation[above..].trim().split_once(' ').unwrap_or((annotation[above..].trim(), ""));
            if Code::parse(code).is_none() {
                return Err(format!("line {}: no code: {code}", number + 1).into());
            }
            found.push(((number + 1 - above) as u32, code.to_owned(), words.trim().to_owned()));
        }
    }
    Ok(found)
}

/// The programs of a page.
fn fences(page: &str) -> Vec<String> {
    let parts = page.split("```csm\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn check_page(path: &Path) -> Result<(), Failed> {
    let page = read(path)?;
    let code = stem(path);
    let fences = fences(&page);
    let others = WITHOUT_EXAMPLE.iter().chain(BY_EXECUTION);
    let is_static = code.as_str() < "CS0410" && !others.copied().any(|other| other == code);
    for (position, fence) in fences.iter().enumerate() {
        let (sources, diagnostics) = diagnose("example.csm", fence);
        let found = diagnostics.iter().any(|diagnostic| diagnostic.code.number() == code);
        let rendered = terminal::render_all(&sources, &diagnostics, terminal::Screen::default());
        if is_static && found != (position == 0) {
            let words = if found { "still has" } else { "does not have" };
            return Err(format!("example {} {words} {code}:\n{fence}\n{rendered}", position + 1).into());
        }
        if (position > 0 || !is_static) && has_errors(&diagnostics) && is_static {
            return Err(format!("example {} has errors:\n{fence}\n{rendered}", position + 1).into());
        }
    }
    if is_static && fences.is_empty() {
        return Err("no example".into());
    }
    Ok(())
}

fn check_samples() -> Result<(), Failed> {
    let mut text = String::new();
    let samples = files("samples", "csm").into_iter().map(|path| (path, ""));
    let classes = files("samples/classes", "csm").into_iter().map(|path| (path, "classes/"));
    for (path, folder) in samples.chain(classes) {
        let name = format!("{folder}{}.csm", stem(&path));
        let (sources, diagnostics) = diagnose(&name, &read(&path)?);
        let _ = writeln!(text, "{name}{}", if diagnostics.is_empty() { ": nothing" } else { "" });
        for diagnostic in &diagnostics {
            let place = diagnostic.span().map_or_else(String::new, |span| sources.position(span).to_string());
            let word = diagnostic.severity.word();
            let _ = writeln!(text, "  {place} {word} {}: {}", diagnostic.code, diagnostic.message);
        }
    }
    snapshot(&root().join("tests/diagnostics/samples.txt"), &text)
}
