//! Generated packages, built and run by cargo.

use cssame::driver::Package;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A workspace of generated packages. All test functions have folders of their own.
pub struct Workspace {
    folder: PathBuf,
    members: Vec<String>,
}

impl Workspace {
    pub fn new(name: &str) -> Workspace {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("driver_{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Workspace { folder, members: Vec::new() }
    }

    pub fn add(&mut self, member: &str, package: &Package) {
        self.add_files(member, &package.files);
    }

    pub fn add_files(&mut self, member: &str, files: &[(PathBuf, String)]) {
        let folder = self.folder.join(member);
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // The members are one workspace here, and each has a name of its own.
            fs::write(path, text.replace("\n[workspace]\n", "\n")).unwrap();
        }
        self.members.push(format!("{member:?}"));
        let manifest = format!(
            "[workspace]\nresolver = \"2\"\nmembers = [{}]\n[profile.test]\ndebug = false\n",
            self.members.join(", ")
        );
        fs::write(self.folder.join("Cargo.toml"), manifest).unwrap();
    }

    /// What the formatter and the linter say of the packages; nothing where they are clean.
    pub fn untidy(&self) -> String {
        let mut text = String::new();
        for line in [&["fmt", "--all", "--check"][..], &["clippy", "--offline", "--workspace", "--all-targets"]] {
            let mut command = Command::new(env!("CARGO"));
            command.args(line).current_dir(&self.folder).env_remove("CARGO_ENCODED_RUSTFLAGS");
            command.env("CARGO_TARGET_DIR", self.folder.join("target")).env("RUSTFLAGS", "-Dwarnings");
            let output = command.output().unwrap();
            if !output.status.success() {
                text += &String::from_utf8_lossy(&output.stdout);
                text += &String::from_utf8_lossy(&output.stderr);
            }
        }
        text
    }

    /// Builds and runs all tests: by package and test, whether it passed. And all output.
    pub fn run(&self, variables: &[(&str, &str)]) -> (BTreeMap<String, bool>, String) {
        let mut command = Command::new(env!("CARGO"));
        command.args(["test", "--offline", "--workspace", "--no-fail-fast", "--tests"]).current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", self.folder.join("target")).env("RUSTFLAGS", "-Dwarnings");
        for inherited in ["CARGO_ENCODED_RUSTFLAGS", "CSSAME_DELAYS", "CSSAME_LATCH_SECONDS"] {
            command.env_remove(inherited);
        }
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = format!("{}\n{errors}", String::from_utf8_lossy(&output.stdout));
        assert!(!errors.contains("could not compile"), "{text}");
        let line = |line: &str| {
            let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
            Some((name.to_owned(), result == "ok"))
        };
        let results = text.lines().filter_map(line).collect();
        (results, text)
    }
}
