//! `cssame drive` as a command: the directory of the package is whole or not there, and `--run` stays in it.

use super::fixture::root;
use crate::process::{ends_with, plain};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn drive(file: &Path, out: &Path) -> Command {
    let mut command = plain();
    command.arg("drive").arg(file).arg("--out").arg(out);
    command
}

fn fig2() -> PathBuf {
    root().join("samples/cssame_fig2.csm")
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const PACKAGE: [&str; 7] = ["Cargo.toml", "MANIFEST.json", "README.md", "recorded", "rustfmt.toml", "src", "tests"];

#[test]
fn a_package_takes_the_place_of_an_older_one() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("deep/inside/out");
    ends_with(&mut drive(&fig2(), &out), 0);
    assert_eq!(names(&out), PACKAGE);
    fs::create_dir(out.join("target")).unwrap();
    fs::write(out.join("Cargo.lock"), "kept").unwrap();
    ends_with(&mut drive(&root().join("samples/peterson.csm"), &out), 0);
    let kept = ["Cargo.lock", "target"];
    let mut expected: Vec<&str> = PACKAGE.into_iter().chain(kept).collect();
    expected.sort_unstable();
    assert_eq!(names(&out), expected);
    assert!(fs::read_to_string(out.join("Cargo.toml")).unwrap().contains("drive_peterson"));
    assert_eq!(names(out.parent().unwrap()), ["out"]);
}

#[test]
fn the_current_directory_can_be_the_package() {
    let directory = tempfile::tempdir().unwrap();
    for sample in ["cssame_fig2", "peterson"] {
        let mut command = drive(&root().join(format!("samples/{sample}.csm")), Path::new("."));
        ends_with(command.current_dir(directory.path()), 0);
        assert_eq!(names(directory.path()), PACKAGE);
        assert!(fs::read_to_string(directory.path().join("Cargo.toml")).unwrap().contains(sample));
    }
}

#[test]
fn a_directory_with_other_files_is_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    ends_with(&mut drive(&fig2(), &out), 0);
    fs::write(out.join("src/mine.rs"), "mine").unwrap();
    let before = fs::read_to_string(out.join("MANIFEST.json")).unwrap();
    let output = ends_with(&mut drive(&root().join("samples/peterson.csm"), &out), 2);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("CS0910") && message.contains("src/mine.rs"), "{message}");
    assert_eq!(fs::read_to_string(out.join("MANIFEST.json")).unwrap(), before);
}

/// Changes the manifest of a package.
fn with_manifest(out: &Path, change: impl Fn(&mut serde_json::Map<String, Value>)) {
    let path = out.join("MANIFEST.json");
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(manifest.as_object_mut().unwrap());
    fs::write(path, manifest.to_string()).unwrap();
}

#[test]
fn a_package_of_other_files_leaves_none_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    ends_with(&mut drive(&fig2(), &out), 0);
    // As another target, or another version of this one, may have written it.
    fs::create_dir_all(out.join("src/main")).unwrap();
    fs::write(out.join("src/main/Program.java"), "class Program {}").unwrap();
    ends_with(&mut drive(&fig2(), &out), 2);
    with_manifest(&out, |manifest| {
        assert_eq!(manifest["target"], "rust");
        let files = manifest["files"].as_array_mut().unwrap();
        let written = ["Cargo.toml", "README.md", "rustfmt.toml", "src/lib.rs", "src/program.rs", "tests/futures.rs"];
        assert_eq!(*files, written);
        files.push("src/main/Program.java".into());
    });
    ends_with(&mut drive(&fig2(), &out), 0);
    assert_eq!(names(&out), PACKAGE);
    assert_eq!(names(&out.join("src")), ["lib.rs", "program.rs"]);
}

#[test]
fn packages_of_older_versions_are_known_and_those_of_unknown_targets_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    ends_with(&mut drive(&fig2(), &out), 0);
    with_manifest(&out, |manifest| {
        manifest.remove("target");
        manifest.remove("files");
    });
    for newer in ["README.md", "rustfmt.toml"] {
        fs::remove_file(out.join(newer)).unwrap();
    }
    ends_with(&mut drive(&root().join("samples/peterson.csm"), &out), 0);
    // Nobody knows which files it has.
    with_manifest(&out, |manifest| manifest["target"] = "cobol".into());
    ends_with(&mut drive(&fig2(), &out), 2);
}

#[test]
fn the_target_can_be_named_wherever_a_package_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let vector = root().join("samples/classes/vector_broken.csm");
    for (line, file, option) in [
        ("drive", &fig2(), "--out"),
        ("paths", &fig2(), "--emit"),
        ("coverage --generate --tests 1 --no-exploration --keep-going", &vector, "--out"),
    ] {
        let written = |name: &str, more: &[&str]| {
            let out = directory.path().join(name);
            let mut command = plain();
            command.args(line.split(' ')).arg(file).arg(option).arg(&out).args(more);
            command.output().unwrap();
            fs::read_to_string(out.join("MANIFEST.json")).unwrap()
        };
        assert_eq!(written("plain", &[]), written("named", &["--target", "rust"]), "{line}");
        // It is of no use without a package.
        if line != "drive" {
            let mut command = plain();
            ends_with(command.args(line.split(' ')).arg(file).args(["--target", "rust"]), 2);
        }
        fs::remove_dir_all(directory.path().join("plain")).unwrap();
        fs::remove_dir_all(directory.path().join("named")).unwrap();
    }
}

#[test]
fn an_error_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "a file").unwrap();
    for out in ["file", "file/out", &format!("new/inside/{}", "long".repeat(100))] {
        let output = ends_with(&mut drive(&fig2(), &directory.path().join(out)), 2);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("CS0910"), "{message}");
        assert_eq!(names(directory.path()), ["file"], "{out}");
    }
}

#[test]
fn running_stays_in_the_directory_of_the_package() {
    let directory = tempfile::tempdir().unwrap();
    // A workspace around it, which it does not belong to.
    fs::write(directory.path().join("Cargo.toml"), "[workspace]\nmembers = []\n").unwrap();
    let elsewhere = directory.path().join("elsewhere");
    let out = directory.path().join("out");
    let mut command = drive(&fig2(), &out);
    command.arg("--run").env("CARGO_TARGET_DIR", &elsewhere).env("CARGO_NET_OFFLINE", "false");
    ends_with(&mut command, 0);
    assert!(out.join("target").is_dir());
    assert!(!elsewhere.exists());
}

#[test]
#[cfg(unix)]
fn a_package_can_be_written_where_the_directory_above_is_closed() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let above = directory.path().join("above");
    let out = above.join("out");
    fs::create_dir_all(&out).unwrap();
    fs::set_permissions(&above, fs::Permissions::from_mode(0o555)).unwrap();
    for sample in ["cssame_fig2", "peterson"] {
        ends_with(&mut drive(&root().join(format!("samples/{sample}.csm")), &out), 0);
        assert_eq!(names(&out), PACKAGE);
        assert_eq!(names(&above), ["out"]);
    }
    fs::set_permissions(&above, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_tool_that_is_missing_is_named_with_the_line_that_installs_it() {
    let directory = tempfile::tempdir().unwrap();
    for target in ["java", "aspectj"] {
        let out = directory.path().join(target);
        let mut command = drive(&fig2(), &out);
        command.args(["--target", target, "--run"]).env("CSSAME_JARS", directory.path());
        // The shell that runs the script stands there, whatever the path of the tests is.
        command.env("PATH", format!("{}:/bin", std::env::var("PATH").unwrap_or_default()));
        let output = ends_with(&mut command, 2);
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(message.contains("CS0912") && message.contains(" is missing"), "{message}");
        let install = "apt-get install --no-install-recommends default-jdk-headless aspectj junit5";
        assert!(message.contains(install), "{message}");
        assert!(out.join("run.sh").exists());
    }
}

#[test]
fn a_function_that_java_cannot_hold_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (file, out) = (directory.path().join("long.csm"), directory.path().join("out"));
    let writes: String = (0..2000).map(|value| format!("x = {value};\n")).collect();
    fs::write(&file, format!("int x;\ncobegin\n  A: {{\n{writes}  }}\n  B: print(x);\ncoend\n")).unwrap();
    let mut command = drive(&file, &out);
    command.args(["--target", "java", "--select", "x@2005:12=x@initial"]);
    let output = ends_with(&mut command, 2);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("CS0911") && message.contains("`A`") && !out.exists(), "{message}");
}
