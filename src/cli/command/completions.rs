//! `cssame completions SHELL`: what a shell needs to complete a command line.

use crate::job::{Answer, Common, Job};
use crate::options::{Format, OutputOptions};
use crate::output::Output;
use crate::status::Status;
use clap::Args;
use clap_complete::{Shell, generate};
use cssame_answer::{Findings, Judged};
use cssame_diagnostics::Diagnostics;
use serde::Serialize;

/// The long description of the command.
pub const ABOUT: &str = "\
Prints a script that makes a shell complete the commands, options and values of cssame. docs/commands/completions.md says where \
each shell looks for it.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame completions bash > ~/.local/share/bash-completion/completions/cssame
  cssame completions zsh > ~/.zfunc/_cssame
  cssame completions fish > ~/.config/fish/completions/cssame.fish";

/// Arguments of `completions`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// bash, zsh, fish, powershell or elvish
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    pub shell: Shell,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    /// The grammar of the command line, from whoever parses it.
    #[arg(skip)]
    pub(crate) grammar: Option<clap::Command>,
}

/// The script.
#[derive(Debug, Serialize)]
pub struct Script {
    text: String,
}

impl Job for Arguments {
    type Answer = Script;

    fn common(&self) -> Common<'_> {
        Common::new("completions", None, Format::Human, &self.output)
    }

    fn answer(&self, _: &Output) -> Result<Script, Diagnostics> {
        let mut bytes = Vec::new();
        let mut grammar = self.grammar.clone().unwrap_or_default();
        generate(self.shell, &mut grammar, "cssame", &mut bytes);
        Ok(Script { text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

impl Answer for Script {
    fn findings(&self) -> Findings<'_> {
        Findings::default()
    }

    fn print(&self, _: &Judged, output: &mut Output) {
        output.print(&self.text);
    }

    fn status(&self, _: &Judged) -> Status {
        Status::Clean
    }
}
