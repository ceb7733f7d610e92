//! What the documents show is what the program prints.
//!
//! Input: each `$ cssame …` in a block of the README and of `docs`, fenced or indented, with the lines below it up to the
//! next one or the end of the block. Output: the program prints just these lines, on both streams, standard output
//! first. A `…` stands for any text, on a line of its own for any lines.
//! Soundness and limits: the examples of a document run one after the other in one directory, which has the samples.
//! `program.csm` and `bug.csm` there are the last `csm` block above the example, and `bug.c` the last `c` block.

use super::{Files, finish, program, root};
use std::fs;
use std::path::{Path, PathBuf};

/// A command line and what stands below it.
#[derive(Debug)]
struct Example {
    line: String,
    shown: Vec<String>,
    /// The last program above it, and the last one in C.
    program: String,
    in_c: String,
}

/// The examples of a document.
fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let (mut fence, mut program, mut in_c, mut is_open) = (None, String::new(), String::new(), false);
    for line in text.lines() {
        if let Some(name) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(name) };
            is_open = false;
            match fence {
                Some("csm") => program.clear(),
                Some("c") => in_c.clear(),
                _ => {}
            }
            continue;
        }
        if let Some("csm" | "c") = fence {
            let of_language = if fence == Some("csm") { &mut program } else { &mut in_c };
            *of_language += &format!("{line}\n");
            continue;
        }
        let content =
            if fence.is_some() { Some(line) } else { line.strip_prefix("    ").or(line.is_empty().then_some("")) };
        match (content, content.and_then(|content| content.strip_prefix("$ "))) {
            (_, Some(command)) if command.starts_with("cssame ") => {
                let (program, in_c) = (program.clone(), in_c.clone());
                found.push(Example { line: command.to_owned(), shown: Vec::new(), program, in_c });
                is_open = true;
            }
            (Some(content), None) if is_open => found.last_mut().unwrap().shown.push(content.to_owned()),
            _ => is_open = false,
        }
    }
    for example in &mut found {
        while example.shown.last().is_some_and(String::is_empty) {
            example.shown.pop();
        }
    }
    found
}

/// Whether a line is what is shown, where `…` stands for anything.
fn fits(shown: &str, line: &str) -> bool {
    match shown.split_once('…') {
        None => shown == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
            (0..=line.len()).filter(|&at| line.is_char_boundary(at)).any(|at| fits(rest, &line[at..]))
        }),
    }
}

/// Whether lines are what is shown, where a line `…` stands for any lines.
fn all_fit(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "…" => (0..=lines.len()).any(|at| all_fit(rest, &lines[at..])),
        Some((first, rest)) => lines.first().is_some_and(|line| fits(first, line)) && all_fit(rest, &lines[1..]),
    }
}

/// A directory with the samples.
fn samples() -> Files {
    let files = Files::new();
    for folder in ["samples", "samples/classes", "samples/c"] {
        fs::create_dir(files.path(folder)).unwrap();
        let all = fs::read_dir(root().join(folder)).unwrap().flatten().map(|entry| entry.path());
        for sample in all.filter(|path| path.is_file()) {
            fs::copy(&sample, files.path(folder).join(sample.file_name().unwrap())).unwrap();
        }
    }
    files
}

/// The documents: the README, and what stands in `docs` and below.
fn documents() -> Vec<PathBuf> {
    let mut all = vec![PathBuf::from("README.md")];
    for folder in ["docs", "docs/commands"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().flatten();
        all.extend(entries.map(|entry| Path::new(folder).join(entry.file_name())));
    }
    all.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    all.sort();
    all
}

#[test]
fn the_examples_print_what_they_show() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for document in documents() {
        let examples = examples(&fs::read_to_string(root().join(&document)).unwrap());
        let files = samples();
        for Example { line, shown, program: source, in_c } in &examples {
            count += 1;
            // Such a package is made of Java.
            if line.contains("--latches") && line.contains("--run") && support::tools::class_path().is_none() {
                continue;
            }
            files.write("program.csm", source);
            files.write("bug.csm", source);
            files.write("bug.c", in_c);
            let answer = finish(program().current_dir(files.0.path()).args(line.split_whitespace().skip(1)));
            let text = format!("{}{}", answer.stdout, answer.stderr);
            if !all_fit(shown, &text.lines().collect::<Vec<_>>()) {
                wrong.push(format!("{}: `{line}` prints\n{text}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 18, "{count} examples");
}

#[test]
fn an_example_ends_where_its_block_does() {
    let text = "text\n\n    $ cssame pi a\n    one\n\n    $ cssame b\n\nmore\n```csm\nint x;\n```\n```text\n$ cssame c\ntwo\n```\nno\n";
    let found: Vec<(String, Vec<String>, String)> =
        examples(text).into_iter().map(|one| (one.line, one.shown, one.program)).collect();
    let one = |line: &str, shown: &[&str], program: &str| {
        (format!("cssame {line}"), shown.iter().map(|&line| line.to_owned()).collect::<Vec<_>>(), program.to_owned())
    };
    assert_eq!(found, [one("pi a", &["one"], ""), one("b", &[], ""), one("c", &["two"], "int x;\n")]);
    let shown = ["a…c", "…", "d"].map(str::to_owned);
    assert!(all_fit(&shown, &["abbc", "x", "y", "d"]) && all_fit(&shown, &["ac", "d"]));
    assert!(!all_fit(&shown, &["abb", "d"]) && !all_fit(&shown, &["ac", "d", "e"]));
}
