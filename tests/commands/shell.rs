//! What belongs to the shell: completions, pages of the manual, programs to begin with, and `--watch`.

use crate::json_schema::assert_answer;
use crate::process::{Answer, Files, call, finish, program};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn shells_complete() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = call("completions", &[shell]);
        assert_eq!((script.status, script.stderr.as_str()), (0, ""), "{shell}");
        for word in ["futures", "record-dir", "template"] {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(call("completions", &["tcsh"]).status, 2);
    // Bash is asked for real.
    let files = Files::new();
    files.write("cssame.bash", call("completions bash", &[""; 0]).stdout);
    let complete = |words: &str| {
        let script = format!(
            "source cssame.bash; COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
             _cssame cssame \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let output = Command::new("/bin/bash").arg("-c").arg(script).current_dir(files.0.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("cssame fut"), "futures");
    assert_eq!(complete("cssame futures --max-m"), "--max-memory");
    assert_eq!(complete("cssame new x --template qu"), "queue");
}

#[test]
fn every_command_has_a_page() {
    let files = Files::new();
    let answer = finish(program().current_dir(files.0.path()).args(["man", "--out", "man1"]));
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    let pages: Vec<&str> = answer.stdout.lines().map(|line| line.trim_start_matches("wrote ")).collect();
    assert!(pages.len() > 15 && pages[0].ends_with("cssame.1"), "{pages:?}");
    for page in &pages {
        let text = fs::read_to_string(files.path(page)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH OPTIONS"), "{page}");
        assert!(text.contains("Examples:") || page == &pages[0], "{page}");
    }
    let main = fs::read_to_string(files.path(pages[0])).unwrap();
    for page in &pages[1..] {
        let name = page.rsplit('/').next().unwrap().trim_end_matches(".1").replace('-', "\\-");
        assert!(main.contains(&name), "{name} in the list of commands");
        let command = page.rsplit("cssame-").next().unwrap().trim_end_matches(".1");
        assert_eq!(call("man", &[command]).stdout, fs::read_to_string(files.path(page)).unwrap());
    }
    assert_eq!(call("man", &[""; 0]).stdout, main);
    let answer = call("man", &["nonsense"]);
    assert!(answer.status == 2 && answer.stderr.contains("there is no command `nonsense`"), "{answer:?}");
}

fn new(files: &Files, line: &str) -> Answer {
    finish(program().current_dir(files.0.path()).arg("new").args(line.split_whitespace()))
}

#[test]
fn programs_to_begin_with_are_right() {
    let files = Files::new();
    for template in ["mutex", "queue", "cache", "protocol"] {
        let answer = new(&files, &format!("{template} --template {template}"));
        assert_eq!(answer.status, 0);
        assert_eq!(answer.stdout, format!("wrote {template}/{template}.csm\nwrote {template}/cssame.toml\n"));
        let file = format!("{template}/{template}.csm");
        let ask = |line: &str| finish(program().current_dir(files.0.path()).args(line.split_whitespace()).arg(&file));
        for line in ["check", "fmt --check", "futures"] {
            assert_eq!(ask(line).status, 0, "{line} {file}: {:?}", ask(line));
        }
        // What the first lines say to ask is asked of this file.
        let text = fs::read_to_string(files.path(&file)).unwrap();
        assert!(text.contains(&format!("cssame futures {template}.csm")), "{text}");
    }
    let tree =
        finish(program().current_dir(files.0.path()).args(["ci", "--command", "check", "--command", "futures", "."]));
    assert_eq!(tree.status, 0, "{tree:?}");
    assert!(tree.stderr.contains("4 files: 4 clean"), "{tree:?}");
}

#[test]
fn nothing_is_overwritten_by_a_new_program() {
    let files = Files::new();
    let answer = new(&files, "one --format json");
    assert_answer("new", &answer.json());
    assert_eq!(answer.json()["written"][0], "one/one.csm");
    let before = fs::read_to_string(files.path("one/one.csm")).unwrap();
    for (line, words) in [
        ("one --template queue", "it already exists"),
        ("..", "cannot be the name"),
        ("two.csm", "without `.csm`"),
        ("missing/", ""),
    ] {
        let answer = new(&files, line);
        assert_eq!(answer.status, if words.is_empty() { 0 } else { 2 }, "{line}: {answer:?}");
        assert!(answer.stderr.contains(words), "{line}: {answer:?}");
    }
    assert_eq!(fs::read_to_string(files.path("one/one.csm")).unwrap(), before);
}

#[test]
fn a_file_that_changes_is_looked_at_again() {
    let files = Files::new();
    let racy = "int x;\ncobegin\n  T1: x = 1;\n  T2: x = 2;\ncoend\nprint(x);\n";
    files.write("p.csm", racy);
    let arguments = ["check", "--quiet", "p.csm", "--watch"];
    let mut process = program()
        .current_dir(files.0.path())
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut notes = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().contains("accesses to `x` may race"));
    // Each note comes behind an answer.
    assert_eq!(notes.next().as_deref(), Some("watching; Ctrl-C ends"));
    files.write("other.csm", "int y;\n");
    files.write("p.csm", racy.replace('x', "other"));
    let second = lines.find(|line| line.contains("may race")).unwrap();
    assert!(second.contains("`other`"), "{second}");
    // An editor that replaces the file.
    assert_eq!(notes.next().as_deref(), Some("watching; Ctrl-C ends"));
    files.write("p.new", racy.replace('x', "third"));
    fs::rename(files.path("p.new"), files.path("p.csm")).unwrap();
    let third = lines.find(|line| line.contains("may race")).unwrap();
    assert!(third.contains("`third`"), "{third}");
    process.kill().unwrap();
    process.wait().unwrap();
    let answer = finish(program().args(["check", "--watch", "-"]));
    assert!(answer.status == 2 && answer.stderr.contains("standard input cannot be watched"), "{answer:?}");
}
