//! Packages in the form of the paper, compiled and woven together, and run in one process of Java.

use cssame::driver::Package;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::tools::class_path;

/// What a run prints, thread by thread in the order in which it was printed, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub lines: Vec<String>,
    /// What it says, where it fails or stands still.
    pub failure: Option<String>,
}

/// Packages that are compiled together.
pub struct Runs {
    folder: PathBuf,
    /// Of each run, the Java package, and reads with the versions that their pi functions give.
    lines: Vec<String>,
}

impl Runs {
    pub fn new(name: &str) -> Runs {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("latches_{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Runs { folder, lines: Vec::new() }
    }

    /// Adds a program; all have the same runtime.
    pub fn add(&self, package: &Package) {
        for (path, text) in package.files.iter().filter(|(path, _)| path.starts_with("src/main")) {
            let path = self.folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    /// Adds a run of a program, with these versions for these reads.
    pub fn push(&mut self, package: &str, selected: &[(String, String)]) {
        let pairs: String = selected.iter().map(|(read, version)| format!("\t{read}\t{version}")).collect();
        self.lines.push(format!("{package}{pairs}"));
    }

    /// Runs all; nothing where Java is not installed. Warnings of the compiler are errors.
    pub fn run(&self, variables: &[(&str, &str)]) -> Option<Vec<Ran>> {
        class_path()?;
        let (runtime, tools) = ("/usr/share/java/aspectjrt.jar", "/usr/share/java/aspectjtools.jar");
        let (plain, classes) = (self.folder.join("plain"), self.folder.join("classes"));
        if !classes.exists() {
            let mut javac = Command::new("javac");
            javac.args(["--release", "17", "-Xlint:all,-path", "-Werror", "-cp", runtime, "-d"]).arg(&plain);
            succeed(javac.args(files_below(&self.folder.join("src/main/java"))));
            let mut ajc = Command::new("java");
            ajc.args(["-cp", tools, "org.aspectj.tools.ajc.Main", "-11", "-cp", runtime, "-inpath"]).arg(&plain);
            let aspect = self.folder.join("src/main/aspectj/cssame/Latches.aj");
            succeed(ajc.arg("-d").arg(&classes).arg(aspect));
        }
        let list = self.folder.join("runs.txt");
        fs::write(&list, self.lines.join("\n")).unwrap();
        let mut java = Command::new("java");
        java.arg("-cp").arg(format!("{}:{runtime}", classes.display()));
        java.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/latches/Runner.java")).arg(&list);
        for inherited in ["CSSAME_START", "CSSAME_LATCH_SECONDS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"] {
            java.env_remove(inherited);
        }
        let text = succeed(java.envs(variables.iter().copied()));
        let results: Vec<Ran> = text.split("\nrun\n").skip(1).map(ran).collect();
        assert_eq!(results.len(), self.lines.len(), "{text}");
        Some(results)
    }
}

/// What stands behind `run`: lines that are indented, then how it ends.
fn ran(text: &str) -> Ran {
    let printed = text.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| !line.starts_with('('));
    let failure = text.lines().find_map(|line| line.strip_prefix("fail ")).map(|line| line.replace("\\n", "\n"));
    Ran { lines: printed.map(str::to_owned).collect(), failure }
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    text.into_owned()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}
