//! Options that say which findings count, and how much.
//!
//! In: `--allow`, `--warn` and `--deny`, whose order matters, and `--baseline`. Out: [`LintOptions`], and [`Lints`] for the files
//! of an answer.

use crate::answer::{Codes, Level, Lints, Rule};
use clap::builder::ValueParser;
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// Options of every command that reports findings.
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    /// In the order in which they were given.
    pub rules: Vec<Rule>,
}

/// The heading of the options.
const HEADING: &str = "Findings";

/// What the help says of each level.
fn help(level: Level) -> &'static str {
    match level {
        Level::Allow => "Suppress findings of these codes, such as CS0401, or `all`, or `warnings` (repeatable)",
        Level::Warn => "Show findings of these codes as warnings",
        Level::Deny => "Show findings of these codes as errors",
    }
}

impl Args for LintOptions {
    fn augment_args(command: Command) -> Command {
        let option = |(name, level): (&'static str, Level)| {
            Arg::new(name)
                .long(name)
                .value_name("CODES")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .value_parser(ValueParser::from(Codes::parse))
                .help(help(level))
                .help_heading(HEADING)
        };
        command.args(Level::WORDS.map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        LintOptions::augment_args(command)
    }
}

impl FromArgMatches for LintOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LintOptions, Error> {
        let mut rules: Vec<(usize, Rule)> = Vec::new();
        for (name, level) in Level::WORDS {
            let indices = matches.indices_of(name).into_iter().flatten();
            let codes = matches.get_many::<Codes>(name).into_iter().flatten();
            rules.extend(indices.zip(codes).map(|(index, &codes)| (index, (codes, level))));
        }
        rules.sort_by_key(|&(index, _)| index);
        Ok(LintOptions { rules: rules.into_iter().map(|(_, rule)| rule).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = LintOptions::from_arg_matches(matches)?;
        Ok(())
    }
}

impl LintOptions {
    /// What is said of findings beside comments.
    #[must_use]
    pub fn lints(&self) -> Lints {
        Lints { options: self.rules.clone(), ..Lints::default() }
    }
}
