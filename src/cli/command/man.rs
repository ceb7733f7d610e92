//! `cssame man`: the pages of the manual.

use crate::files;
use crate::job::{Common, Help, Job};
use crate::options::{Format, OutputOptions};
use crate::output::Output;
use clap::Args;
use clap_mangen::Man;
use cssame_answer::Judged;
use cssame_diagnostics::Diagnostics;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `man`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The command whose page is printed; without one, the page of cssame
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub command: Option<String>,
    /// Write all pages into this directory, as `cssame.1`, `cssame-futures.1` and so on
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    /// The grammar of the command line, from whoever parses it.
    #[arg(skip)]
    pub(crate) grammar: Option<clap::Command>,
}

/// What there is to print.
#[derive(Debug, Serialize)]
pub struct Pages {
    text: String,
}

impl Job for Arguments {
    type Answer = Pages;

    const HELP: Help = Help {
        name: "man",
        short: "Print a manual page, or write all of them",
        long: "\
Prints the manual page of cssame, or of one of its commands, in the format of `man` (roff). With --out it writes all \
pages into a directory.",
        examples: "\
Examples:
  cssame man | man -l -
  cssame man futures | man -l -
  cssame man --out man/man1

Exit status: 0 done, 2 there is no such command, or a page cannot be written.",
    };

    fn common(&self) -> Common<'_> {
        Common::new(&[], Format::Human, &self.output)
    }

    fn set_grammar(&mut self, grammar: &clap::Command) {
        self.grammar = Some(grammar.clone());
    }

    fn validate(&self) -> Result<(), String> {
        let Some(name) = &self.command else { return Ok(()) };
        let known = self.grammar.as_ref().is_some_and(|grammar| grammar.find_subcommand(name).is_some());
        if known { Ok(()) } else { Err(format!("there is no command `{name}`; `cssame --help` lists them")) }
    }

    fn answer(&self, _: &Output) -> Result<Pages, Diagnostics> {
        let Some(directory) = &self.out else {
            let pages = self.pages();
            let wanted = self.command.as_ref().map_or("cssame".to_owned(), |command| format!("cssame-{command}"));
            let text = pages.into_iter().find(|(name, _)| *name == wanted).map(|(_, text)| text);
            return Ok(Pages { text: text.unwrap_or_default() });
        };
        files::create_directory(directory)?;
        let mut text = String::new();
        for (name, page) in self.pages() {
            let path = directory.join(format!("{name}.1"));
            files::write(&path, &page)?;
            text += &format!("wrote {}\n", path.display());
        }
        Ok(Pages { text })
    }

    fn print(&self, pages: &Pages, _: &Judged, output: &mut Output) {
        output.print(&pages.text);
    }
}

impl Arguments {
    /// The names and texts of all pages.
    fn pages(&self) -> Vec<(String, String)> {
        let grammar = self.grammar.clone().unwrap_or_default();
        let own = grammar.get_subcommands().map(|command| {
            let name = format!("cssame-{}", command.get_name());
            (name, command.clone().bin_name(format!("cssame {}", command.get_name())))
        });
        let all = std::iter::once(("cssame".to_owned(), grammar.clone())).chain(own);
        all.map(|(name, command)| (name.clone(), page(command.display_name(name)))).collect()
    }
}

fn page(command: clap::Command) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command).manual("cssame").source(format!("cssame {version}"));
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = man.render(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
