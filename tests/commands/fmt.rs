//! `cssame fmt`: what it writes, what it leaves alone, and what it says.

use crate::json_schema::assert_answer;
use crate::process::{Answer, Files, finish, program};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const ROUGH: &str = "int  x;\nvoid main()\n{\nx=1; // cssame: allow(CS0306)\n}";

const SMOOTH: &str = "int x;\nvoid main() {\n  x = 1; // cssame: allow(CS0306)\n}\n";

fn call(files: &Files, line: &str) -> Answer {
    finish(program().current_dir(files.0.path()).args(line.split_whitespace()))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn files_that_change_are_written() {
    let files = Files::new();
    let (rough, smooth) = (files.write("rough.csm", ROUGH), files.write("smooth.csm", SMOOTH));
    let before = fs::metadata(&smooth).unwrap().modified().unwrap();
    let answer = call(&files, "fmt rough.csm smooth.csm rough.csm");
    assert_eq!((answer.status, answer.stdout.as_str()), (0, "formatted rough.csm\n"));
    assert_eq!(answer.stderr, "1 file formatted, 2 files unchanged\n");
    assert_eq!((read(&rough).as_str(), read(&smooth).as_str()), (SMOOTH, SMOOTH));
    assert_eq!(fs::metadata(&smooth).unwrap().modified().unwrap(), before);
    assert_eq!(fs::read_dir(files.0.path()).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn check_writes_nothing() {
    let files = Files::new();
    let (rough, smooth) = (files.write("rough.csm", ROUGH), files.write("smooth.csm", SMOOTH));
    let answer = call(&files, "fmt --check smooth.csm rough.csm");
    let shown = "rough.csm:1: would be formatted\n-int  x;\n-void main()\n-{\n+int x;\n+void main() {\n\
                 +  x = 1; // cssame: allow(CS0306)\n";
    assert_eq!((answer.status, answer.stdout.as_str()), (1, shown));
    assert_eq!(answer.stderr, "1 file to be formatted, 1 file unchanged\n");
    assert_eq!((read(&rough).as_str(), read(&smooth).as_str()), (ROUGH, SMOOTH));
    assert_eq!(call(&files, "fmt --check smooth.csm").status, 0);
    files.write("open.csm", "int x;");
    let answer = call(&files, "fmt --check --quiet open.csm");
    assert_eq!(answer.text(), "open.csm:1: would be formatted\n-int x;\n\\ no line end\n+int x;\n");
}

#[test]
fn a_file_with_errors_is_left_alone() {
    let files = Files::new();
    let wrong = files.write("wrong.csm", "int  x = ;\n");
    let rough = files.write("rough.csm", ROUGH);
    let answer = call(&files, "fmt wrong.csm rough.csm missing.csm");
    assert_eq!((answer.status, answer.stdout.as_str()), (2, "formatted rough.csm\n"));
    assert!(answer.stderr.contains("CS0101") && answer.stderr.contains("CS09"), "{answer:?}");
    assert!(answer.stderr.ends_with("1 file formatted, 2 files failed\n"), "{answer:?}");
    assert_eq!((read(&wrong).as_str(), read(&rough).as_str()), ("int  x = ;\n", SMOOTH));
    // What is wrong with names does not matter.
    files.write("names.csm", "x=y;");
    assert_eq!(call(&files, "fmt names.csm").status, 0);
    assert_eq!(read(&files.path("names.csm")), "x = y;\n");
}

#[test]
fn standard_input_goes_to_standard_output() {
    let given = |arguments: &[&str], text: &str| {
        let mut command = program();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), output.stderr)
    };
    assert_eq!(given(&["fmt", "-"], ROUGH), (Some(0), SMOOTH.to_owned(), Vec::new()));
    assert_eq!(given(&["fmt", "-"], "").1, "");
    let (status, text, _) = given(&["fmt", "--check", "-"], ROUGH);
    assert!(status == Some(1) && text.starts_with("-:1: would be formatted\n"), "{text}");
    let (status, text, errors) = given(&["fmt", "-"], "int x = ;");
    assert!((status, text.as_str()) == (Some(2), "") && !errors.is_empty());
    let (_, text, _) = given(&["fmt", "--format", "json", "-"], ROUGH);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_answer("fmt", &value);
    assert_eq!((&value["files"][0]["text"], &value["changed"]), (&SMOOTH.into(), &1.into()));
    assert_eq!(given(&["fmt", "-", "samples/peterson.csm"], ROUGH).0, Some(2));
}

#[test]
fn json() {
    let files = Files::new();
    files.write("rough.csm", ROUGH);
    files.write("smooth.csm", SMOOTH);
    files.write("wrong.csm", "int x = ;\n");
    let answer = call(&files, "fmt --check --format json rough.csm smooth.csm wrong.csm");
    let value = answer.json();
    assert_answer("fmt", &value);
    assert_eq!((answer.status, answer.stderr.as_str()), (2, ""));
    let status: Vec<&str> =
        value["files"].as_array().unwrap().iter().map(|of| of["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["changed", "unchanged", "failed"]);
    assert_eq!(value["files"][0]["difference"]["old"][0], "int  x;\n");
    assert_eq!(value["files"][2]["diagnostics"][0]["code"], "CS0101");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let files = Files::new();
    let rough = files.write("rough.csm", ROUGH);
    fs::set_permissions(&rough, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("rough.csm", files.path("link.csm")).unwrap();
    assert_eq!(call(&files, "fmt link.csm").stdout, "formatted link.csm\n");
    assert_eq!(read(&rough), SMOOTH);
    assert!(fs::symlink_metadata(files.path("link.csm")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&rough).unwrap().permissions().mode() & 0o777, 0o640);
    fs::write(&rough, ROUGH).unwrap();
    fs::set_permissions(&rough, fs::Permissions::from_mode(0o440)).unwrap();
    let answer = call(&files, "fmt rough.csm");
    assert!(answer.status == 2 && answer.stderr.contains("CS0910"), "{answer:?}");
    assert_eq!(read(&rough), ROUGH);
}
