//! Generated packages in Java, compiled and run in one process of Java.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::tools::class_path;

/// What came out of a test: nothing where it passed, else what it says.
pub type Results = BTreeMap<(String, String), Result<(), String>>;

/// Packages that are compiled and run together.
pub struct Batch {
    folder: PathBuf,
    members: Vec<PathBuf>,
}

impl Batch {
    pub fn new(name: &str) -> Batch {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("java_{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Batch { folder, members: Vec::new() }
    }

    /// The files of a package by their paths in it.
    pub fn add(&mut self, member: &str, files: &[(PathBuf, String)]) {
        let folder = self.folder.join(member);
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.members.push(folder);
    }

    /// Runs all tests so many times; nothing where Java is not installed. Warnings of the compiler are errors.
    pub fn run(&self, rounds: u32, variables: &[(&str, &str)]) -> Option<Results> {
        let class_path = class_path()?;
        // All packages have the same runtime, which is compiled once.
        let runtime = self.folder.join("runtime");
        let _ = fs::remove_dir_all(&runtime);
        fs::create_dir_all(&runtime).unwrap();
        for class in fs::read_dir(self.members[0].join("src/main/java/cssame")).unwrap() {
            let class = class.unwrap().path();
            fs::copy(&class, runtime.join(class.file_name().unwrap())).unwrap();
        }
        let mut command = Command::new("java");
        // Nothing runs for long: a quick start is worth more than quick code.
        command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/java/Batch.java"));
        let is_woven = self.members[0].join("src/main/aspectj").exists();
        let weaver = if is_woven { "/usr/share/java/aspectjtools.jar" } else { "-" };
        command.arg(rounds.to_string()).args([&class_path, weaver]).arg(&runtime).args(&self.members);
        for inherited in ["CSSAME_DELAYS", "CSSAME_LATCH_SECONDS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"] {
            command.env_remove(inherited);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let text = String::from_utf8_lossy(&output.stdout);
        Some(text.lines().map(result).collect())
    }
}

/// `pass PACKAGE TEST`, `fail PACKAGE TEST MESSAGE`, `error PACKAGE MESSAGE`.
fn result(line: &str) -> ((String, String), Result<(), String>) {
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    match word().as_str() {
        "pass" => ((word(), word()), Ok(())),
        "fail" => ((word(), word()), Err(word())),
        _ => ((word(), String::new()), Err(line.to_owned())),
    }
}
