//! `cssame new NAME`: creates a first program.

use crate::files;
use crate::job::{Common, Help, Job};
use crate::options::{FormatOption, OutputOptions};
use crate::output::Output;
use clap::{Args, ValueEnum};
use cssame_answer::Judged;
use cssame_diagnostics::{Code, Diagnostics};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// The configuration beside each program.
const CONFIGURATION: &str = include_str!("../templates/cssame.toml");

/// What a program can begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// Two threads and a counter under a lock.
    Mutex,
    /// A bounded queue with conditions.
    Queue,
    /// A cache under a readers-writer lock.
    Cache,
    /// Mutual exclusion by shared variables.
    Protocol,
}

impl Template {
    fn text(self) -> &'static str {
        match self {
            Template::Mutex => include_str!("../templates/mutex.csm"),
            Template::Queue => include_str!("../templates/queue.csm"),
            Template::Cache => include_str!("../templates/cache.csm"),
            Template::Protocol => include_str!("../templates/protocol.csm"),
        }
    }
}

/// Arguments of `new`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The directory to create; its last part is the name of the program
    #[arg(value_name = "NAME")]
    pub name: PathBuf,
    /// The program to start from: mutex, queue, cache or protocol
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Template::Mutex, hide_possible_values = true)]
    pub template: Template,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// What was made.
#[derive(Debug, Serialize)]
pub struct Made {
    /// The files, as they can be named from here.
    written: Vec<String>,
}

impl Job for Arguments {
    type Answer = Made;

    const HELP: Help = Help {
        name: "new",
        short: "Create a program to start from",
        long: "\
Creates a directory with a program to start from, NAME/NAME.csm, and a configuration, NAME/cssame.toml. The program is \
short, has an assertion, and has no bug. Its first lines say which commands to try, and what to change.",
        examples: "\
Examples:
  cssame new counter
  cssame new jobs --template queue

Exit status: 0 done, 2 the name is not valid, or the directory already exists.",
    };

    fn common(&self) -> Common<'_> {
        Common::new(from_ref(&self.name), self.format, &self.output)
    }

    fn answer(&self, _: &Output) -> Result<Made, Diagnostics> {
        let name = self.name.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with('.'));
        let name = name.ok_or_else(|| cannot_make(&self.name, "its last part cannot be the name of a program"))?;
        if let Some(stem) = name.strip_suffix(".csm") {
            let why = format!("it names a directory: write `{stem}`, without `.csm`");
            return Err(cannot_make(&self.name, &why));
        }
        if self.name.exists() {
            return Err(cannot_make(&self.name, "it already exists"));
        }
        let text = self.template.text().replace("NAME.csm", &format!("{name}.csm"));
        files::create_directory(&self.name)?;
        let mut written = Vec::new();
        for (file, text) in [(format!("{name}.csm"), text.as_str()), ("cssame.toml".to_owned(), CONFIGURATION)] {
            let path = self.name.join(file);
            files::write(&path, text)?;
            written.push(path.display().to_string());
        }
        Ok(Made { written })
    }

    fn print(&self, made: &Made, _: &Judged, output: &mut Output) {
        for path in &made.written {
            output.print(&format!("wrote {path}\n"));
        }
        if let Some(program) = made.written.first() {
            output.summary(&format!("next: cssame futures {program}\n"));
        }
    }
}

fn cannot_make(path: &Path, why: &str) -> Diagnostics {
    Diagnostics::error(Code::CannotWrite, format!("`{}` cannot be made: {why}", path.display()))
}
