//! `cssame completions SHELL`: the script with which a shell completes a command line.

use crate::job::{Common, Help, Job};
use crate::options::{Format, OutputOptions};
use crate::output::Output;
use clap::Args;
use clap_complete::{Shell, generate};
use cssame_answer::Judged;
use cssame_diagnostics::Diagnostics;
use serde::Serialize;

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

    const HELP: Help = Help {
        name: "completions",
        short: "Print a script for a shell that completes command lines",
        long: "\
Prints a script that makes a shell complete the commands, options and values of cssame. docs/commands/completions.md says where \
each shell looks for it.",
        examples: "\
Examples:
  cssame completions bash > ~/.local/share/bash-completion/completions/cssame
  cssame completions zsh > ~/.zfunc/_cssame
  cssame completions fish > ~/.config/fish/completions/cssame.fish",
    };

    fn common(&self) -> Common<'_> {
        Common::new(&[], Format::Human, &self.output)
    }

    fn set_grammar(&mut self, grammar: &clap::Command) {
        self.grammar = Some(grammar.clone());
    }

    fn answer(&self, _: &Output) -> Result<Script, Diagnostics> {
        let mut bytes = Vec::new();
        let mut grammar = self.grammar.clone().unwrap_or_default();
        generate(self.shell, &mut grammar, "cssame", &mut bytes);
        Ok(Script { text: String::from_utf8_lossy(&bytes).into_owned() })
    }

    fn print(&self, script: &Script, _: &Judged, output: &mut Output) {
        output.print(&script.text);
    }
}
