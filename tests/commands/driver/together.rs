//! Many generated packages as the modules of one crate, so that one call of the compiler builds all their tests.

use cssame::driver::Package;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages with one runtime, as a crate in a folder of its own.
pub struct Together {
    folder: PathBuf,
    library: String,
    members: usize,
}

impl Together {
    pub fn new(name: &str) -> Together {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("together_{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Together { folder, library: String::new(), members: 0 }
    }

    pub fn add(&mut self, member: &str, package: &Package) {
        self.add_files(member, &package.files);
    }

    pub fn add_files(&mut self, member: &str, files: &[(PathBuf, String)]) {
        let text = |name: &str| &files.iter().find(|(path, _)| path.ends_with(name)).unwrap().1;
        let folder = self.folder.join(member);
        fs::create_dir_all(&folder).unwrap();
        if self.members == 0 {
            self.library = text("src/lib.rs").replacen("\n#[rustfmt::skip]\npub mod program;\n", "\n", 1);
        }
        self.members += 1;
        fs::write(folder.join("program.rs"), text("src/program.rs")).unwrap();
        let manifest = text("Cargo.toml");
        let name = manifest.split('"').nth(1).unwrap();
        let tests = text("tests/futures.rs")
            .replace(", check, program};", ", check};\nuse super::program;")
            .replace(
                &format!("use {name}::{{Turns, free, program}};"),
                "use super::program;\nuse crate::{Turns, free};",
            )
            .replace(&format!("use {name}::"), "use crate::");
        fs::write(folder.join("futures.rs"), tests).unwrap();
        fs::write(folder.join("mod.rs"), "pub mod program;\n\n#[cfg(test)]\nmod futures;\n").unwrap();
        let _ = write!(self.library, "\n#[path = \"{member}/mod.rs\"]\npub mod {member};\n");
    }

    /// Builds the tests, and allows no warning.
    pub fn build(&self) {
        fs::write(self.folder.join("lib.rs"), &self.library).unwrap();
        let mut compiler = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        compiler.args(["--edition", "2024", "--crate-type", "lib", "--test", "-Dwarnings", "-o", "tests", "lib.rs"]);
        let output = compiler.current_dir(&self.folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs all tests, with delays if there is a seed: how many pass. None may fail.
    pub fn run(&self, seed: Option<u32>) -> usize {
        let mut tests = Command::new(self.folder.join("tests"));
        // They mostly wait.
        tests.args(["--test-threads", "16"]).env_remove("CSSAME_DELAYS").env_remove("CSSAME_LATCH_SECONDS");
        if let Some(seed) = seed {
            tests.env("CSSAME_DELAYS", seed.to_string());
        }
        let output = tests.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "with seed {seed:?}: {text}");
        text.lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count()
    }
}
