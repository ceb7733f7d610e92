//! How the files of a project are compiled: `compile_commands.json`, the compilation database of Clang.
//!
//! In: its text. Out: for the name of a file, the arguments that decide what its text means, as [`Options::parse`] takes them.
//!
//! A file is found by the end of its path, so that an answer does not depend on the directory in which it was asked: `queue.c` and
//! `src/queue.c` are both the entry `/home/me/project/src/queue.c`, if no other entry ends so. Directories of headers are relative to
//! the directory of the entry.
//!
//! What it does not see: response files (`@FILE`), what a wrapper around the compiler adds, and that `-iquote`, `-I`, `-isystem` and
//! `-idirafter` are searched one kind after the other: here they keep the order in which they stand.
//!
//! [`Options::parse`]: crate::tree::Options::parse

use serde::Deserialize;
use std::path::{Component, Path, PathBuf};

/// The entries of a compilation database.
#[derive(Clone, Debug, Default)]
pub struct CompileCommands(Vec<Entry>);

#[derive(Clone, Debug)]
struct Entry {
    /// Without `.` and, where the text says what they mean, `..`.
    path: PathBuf,
    directory: PathBuf,
    arguments: Vec<String>,
}

/// An entry as it stands in the file.
#[derive(Deserialize)]
struct Written {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

/// The file that a directory stands for.
#[must_use]
pub fn database_file(named: &str) -> String {
    if named.ends_with(".json") {
        named.to_owned()
    } else {
        Path::new(named).join("compile_commands.json").to_string_lossy().into_owned()
    }
}

impl CompileCommands {
    /// Reads the text of a database.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as a sentence.
    pub fn parse(text: &str) -> Result<CompileCommands, String> {
        let written: Vec<Written> =
            serde_json::from_str(text).map_err(|error| format!("no list of compile commands: {error}"))?;
        let entries = written.into_iter().map(|of| {
            let arguments = match (of.arguments, of.command) {
                (Some(arguments), _) => arguments,
                (None, Some(command)) => shlex::split(&command)
                    .ok_or_else(|| format!("the command for `{}` has an open quote", of.file.display()))?,
                (None, None) => {
                    return Err(format!("the entry for `{}` has no `arguments` and no `command`", of.file.display()));
                }
            };
            Ok(Entry { path: plain(&of.directory.join(&of.file)), directory: of.directory, arguments })
        });
        entries.collect::<Result<_, String>>().map(CompileCommands)
    }

    /// How a file is read. Where it is compiled more than once, the first command counts.
    ///
    /// # Errors
    ///
    /// It has no entry, or several files may be meant.
    pub fn arguments(&self, file: &str) -> Result<Vec<String>, String> {
        let wanted: PathBuf =
            plain(Path::new(file)).components().filter(|part| *part != Component::ParentDir).collect();
        let mut found = self.0.iter().filter(|entry| entry.path.ends_with(&wanted));
        let Some(first) = found.next() else {
            let count = self.0.len();
            return Err(format!("none of the {count} compile commands is for `{file}`"));
        };
        if let Some(other) = found.find(|other| other.path != first.path) {
            let (a, b) = (first.path.display(), other.path.display());
            return Err(format!("compile commands for several files end in `{file}`: `{a}` and `{b}`"));
        }
        Ok(first.settings())
    }
}

impl Entry {
    /// Those of the arguments that decide what the text means, with paths that do not depend on the directory.
    fn settings(&self) -> Vec<String> {
        let mut settings = Vec::new();
        let mut rest = self.arguments.iter().skip(1);
        while let Some(argument) = rest.next() {
            if let Some((name, value)) = HEADERS.iter().find_map(|name| Some((*name, argument.strip_prefix(name)?))) {
                // `-include-pch` and the like are other options.
                if name == "-include" && value.starts_with('-') {
                    continue;
                }
                let value = if value.is_empty() { rest.next().map_or("", String::as_str) } else { value };
                let path = plain(&self.directory.join(value));
                let name = if name == "-include" { name } else { "-I" };
                settings.push(format!("{name}{}", path.display()));
            } else if let Some(name) = ["-D", "-U"].into_iter().find(|name| argument.starts_with(name)) {
                let value = if argument == name { rest.next().map_or("", String::as_str) } else { &argument[2..] };
                settings.push(format!("{name}{value}"));
            } else if argument.starts_with("-std=") || DECIDING.contains(&argument.as_str()) {
                settings.push(argument.clone());
            } else if VALUED.contains(&argument.as_str()) {
                rest.next();
            }
        }
        settings
    }
}

/// Options with a path of headers.
const HEADERS: [&str; 5] = ["-include", "-isystem", "-iquote", "-idirafter", "-I"];

/// Options without a value that decide what the text means.
const DECIDING: [&str; 4] = ["-m32", "-m64", "-fwrapv", "-fno-wrapv"];

/// Options that decide nothing, with a value in the next word.
const VALUED: [&str; 9] = ["-o", "-MF", "-MT", "-MQ", "-x", "-arch", "-target", "-Xclang", "-isysroot"];

/// A path without `.`, and without a directory that `..` leaves again.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            _ => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE: &str = r#"[
        {"directory": "/p/build", "file": "../src/queue.c", "command": "cc -I../include -DN=\"a b\" -O2 -o -Dx -c ../src/queue.c"},
        {"directory": "/p", "file": "main.c", "arguments": ["cc", "-isystem", "sys", "-D", "M", "-include", "config.h", "-std=c11", "main.c"]},
        {"directory": "/p", "file": "test/main.c", "arguments": ["cc"]}
    ]"#;

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        let commands = CompileCommands::parse(DATABASE).unwrap();
        for name in ["queue.c", "src/queue.c", "./src/queue.c", "../src/queue.c", "/p/src/queue.c"] {
            assert_eq!(commands.arguments(name).unwrap(), ["-I/p/include", "-DN=a b"], "{name}");
        }
        assert_eq!(commands.arguments("/p/main.c").unwrap(), ["-I/p/sys", "-DM", "-include/p/config.h", "-std=c11"]);
        let several = "compile commands for several files end in `main.c`: `/p/main.c` and `/p/test/main.c`";
        assert_eq!(commands.arguments("main.c").unwrap_err(), several);
        assert_eq!(commands.arguments("ueue.c").unwrap_err(), "none of the 3 compile commands is for `ueue.c`");
    }

    #[test]
    fn what_is_no_database_is_told() {
        for (text, told) in [
            ("{}", "no list of compile commands: invalid type: map, expected a sequence at line 1 column 0"),
            (r#"[{"directory": "/", "file": "a.c"}]"#, "the entry for `a.c` has no `arguments` and no `command`"),
            (r#"[{"directory": "/", "file": "a.c", "command": "cc '"}]"#, "the command for `a.c` has an open quote"),
        ] {
            assert_eq!(CompileCommands::parse(text).unwrap_err(), told);
        }
    }
}
