//! The grammar of the command line.
//!
//! In: the arguments of the process. Out: an [`Invocation`], or the text that answers `--help` or a usage error. Algorithm:
//! the name of the command is brought to the front, so that options may stand before it; where there is none, and the
//! first word may be a file, the command is `check`; the rest is for `clap`.

#[cfg(feature = "serve")]
use super::command::serve;
use super::command::{
    check, ci, completions, correlate, coverage, diff, drive, explain, fmt, futures, ir, lsp, man, new, paths, pi,
    races, report, run,
};
use super::job::AnyJob;
use super::options::ColorChoice;
use clap::builder::styling::{AnsiColor, Styles};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

const USAGE: &str = "cssame <COMMAND> [OPTIONS] ...\n       cssame [OPTIONS] <FILE>...";

const AFTER_HELP: &str = "\
`cssame FILE` is short for `cssame check FILE`. Every command has a `--help` of its own, with examples.

Exit status: 0 nothing found, 1 findings, 2 bad usage or a program that does not compile, 3 a bound was hit before the \
question was decided and nothing was found so far.";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

#[derive(Debug, Parser)]
#[command(name = "cssame", version, max_term_width = 80, override_usage = USAGE, after_help = AFTER_HELP)]
#[command(disable_help_subcommand = true, styles = STYLES)]
#[command(about = "Analyses explicitly parallel programs: which writes can each read see, and what follows?")]
struct CommandLine {
    #[command(subcommand)]
    command: Invocation,
}

/// A command with its arguments.
#[derive(Clone, Debug, Subcommand)]
pub enum Invocation {
    /// Show every static diagnostic (the default job)
    #[command(long_about = check::ABOUT, after_help = check::EXAMPLES)]
    Check(check::Arguments),
    /// Print an intermediate form: syntax tree, flow graph, SSA
    #[command(long_about = ir::ABOUT, after_help = ir::EXAMPLES)]
    Ir(ir::Arguments),
    /// Show which writes each read may see, and what was pruned
    #[command(long_about = pi::ABOUT, after_help = pi::EXAMPLES)]
    Pi(pi::Arguments),
    /// Run one execution, by a seed or by a recorded schedule
    #[command(long_about = run::ABOUT, after_help = run::EXAMPLES)]
    Run(run::Arguments),
    /// Show what can happen: terms, outcomes, failures, deadlocks
    #[command(long_about = futures::ABOUT, after_help = futures::EXAMPLES)]
    Futures(futures::Arguments),
    /// Write a deterministic test for each feasible term
    #[command(long_about = drive::ABOUT, after_help = drive::EXAMPLES)]
    Drive(drive::Arguments),
    /// Find variables that belong together, and method pairs that may tear them
    #[command(long_about = correlate::ABOUT, after_help = correlate::EXAMPLES)]
    Correlate(correlate::Arguments),
    /// Find races: predict them, make them real, prove the rest impossible
    #[command(long_about = races::ABOUT, after_help = races::EXAMPLES)]
    Races(races::Arguments),
    /// Make tests for all orders that can change a branch; count those of other criteria
    #[command(long_about = paths::ABOUT, after_help = paths::EXAMPLES)]
    Paths(paths::Arguments),
    /// Measure which ways of threads to come between each other executions try
    #[command(long_about = coverage::ABOUT, after_help = coverage::EXAMPLES)]
    Coverage(coverage::Arguments),
    /// Compare two programs, or two recorded executions
    #[command(long_about = diff::ABOUT, after_help = diff::EXAMPLES)]
    Diff(diff::Arguments),
    /// Ask check, races and futures of every program of a tree
    #[command(long_about = ci::ABOUT, after_help = ci::EXAMPLES)]
    Ci(ci::Arguments),
    /// Write a page about a program, for a browser
    #[command(long_about = report::ABOUT, after_help = report::EXAMPLES)]
    Report(report::Arguments),
    /// Write programs in one style
    #[command(long_about = fmt::ABOUT, after_help = fmt::EXAMPLES)]
    Fmt(fmt::Arguments),
    /// Serve an editor: the language server
    #[command(long_about = lsp::ABOUT, after_help = lsp::EXAMPLES)]
    Lsp(lsp::Arguments),
    /// Serve a page to a browser: editor, questions, answers
    #[cfg(feature = "serve")]
    #[command(long_about = serve::ABOUT, after_help = serve::EXAMPLES)]
    Serve(serve::Arguments),
    /// Make a program to begin with
    #[command(long_about = new::ABOUT, after_help = new::EXAMPLES)]
    New(new::Arguments),
    /// Print what a shell needs to complete command lines
    #[command(long_about = completions::ABOUT, after_help = completions::EXAMPLES)]
    Completions(completions::Arguments),
    /// Print or write the pages of the manual
    #[command(long_about = man::ABOUT, after_help = man::EXAMPLES)]
    Man(man::Arguments),
    /// Say what a diagnostic code means
    #[command(long_about = explain::ABOUT, after_help = explain::EXAMPLES)]
    Explain(explain::Arguments),
}

impl Invocation {
    /// Gives those commands the grammar that print something of it.
    fn set_grammar(&mut self) {
        match self {
            Invocation::Completions(arguments) => arguments.grammar = Some(CommandLine::command()),
            Invocation::Man(arguments) => arguments.grammar = Some(CommandLine::command()),
            _ => {}
        }
    }

    /// The command as what all commands have in common.
    #[must_use]
    pub fn job(&mut self) -> &mut dyn AnyJob {
        match self {
            Invocation::Check(arguments) => arguments,
            Invocation::Ir(arguments) => arguments,
            Invocation::Pi(arguments) => arguments,
            Invocation::Run(arguments) => arguments,
            Invocation::Futures(arguments) => arguments,
            Invocation::Drive(arguments) => arguments,
            Invocation::Correlate(arguments) => arguments,
            Invocation::Races(arguments) => arguments,
            Invocation::Paths(arguments) => arguments,
            Invocation::Coverage(arguments) => arguments,
            Invocation::Diff(arguments) => arguments,
            Invocation::Ci(arguments) => arguments,
            Invocation::Report(arguments) => arguments,
            Invocation::Lsp(arguments) => arguments,
            #[cfg(feature = "serve")]
            Invocation::Serve(arguments) => arguments,
            Invocation::Fmt(arguments) => arguments,
            Invocation::New(arguments) => arguments,
            Invocation::Completions(arguments) => arguments,
            Invocation::Man(arguments) => arguments,
            Invocation::Explain(arguments) => arguments,
        }
    }
}

/// What the arguments ask for.
#[derive(Debug)]
pub enum Parsed {
    /// To run a command.
    Command(Box<Invocation>),
    /// To show a text: the help that was asked for, or what is wrong with the arguments.
    Answer {
        /// The text, with or without colour.
        text: String,
        /// Whether it was asked for.
        asked: bool,
    },
}

/// Parses the arguments of the process; the first is the name of the program.
#[must_use]
pub fn parse(arguments: &[OsString]) -> Parsed {
    let ordered = command_first(arguments);
    let result = CommandLine::command()
        .try_get_matches_from(&ordered)
        .and_then(|matches| CommandLine::from_arg_matches(&matches))
        .and_then(|mut line| {
            line.command.set_grammar();
            match line.command.job().validate() {
                Ok(()) => Ok(line),
                Err(message) => Err(CommandLine::command().error(ErrorKind::ArgumentConflict, message)),
            }
        });
    match result {
        Ok(line) => Parsed::Command(Box::new(line.command)),
        Err(error) => {
            let asked = !error.use_stderr();
            let terminal = if asked { std::io::stdout().is_terminal() } else { std::io::stderr().is_terminal() };
            let text = error.render();
            let text = if color_of(arguments).wanted(terminal) { text.ansi().to_string() } else { text.to_string() };
            Parsed::Answer { text, asked }
        }
    }
}

/// The arguments with the name of the command in front, `check` where none is named.
fn command_first(arguments: &[OsString]) -> Vec<OsString> {
    let mut ordered = arguments.to_vec();
    let Some(at) = first_word(arguments) else { return ordered };
    let word = &arguments[at];
    if word == "help" && !Path::new(word).exists() {
        ordered[at] = OsString::from("--help");
        if let Some(command) = arguments.get(at + 1).filter(|next| is_command(next)) {
            ordered.remove(at + 1);
            ordered.insert(1, command.clone());
        }
        return ordered;
    }
    if word != "--" && (is_command(word) || !may_be_file(word)) {
        let word = ordered.remove(at);
        ordered.insert(1, word);
    } else {
        ordered.insert(1, OsString::from("check"));
    }
    ordered
}

/// Index of the first argument that is neither an option nor the value of one; none where help is asked for before.
fn first_word(arguments: &[OsString]) -> Option<usize> {
    let mut index = 1;
    while index < arguments.len() {
        let text = arguments[index].to_string_lossy();
        match text.as_ref() {
            "-h" | "--help" | "-V" | "--version" => return None,
            "--" => return Some(index),
            option if takes_value(option) => index += 2,
            option if option.starts_with('-') && option.len() > 1 => index += 1,
            _ => return Some(index),
        }
    }
    None
}

/// Whether the next argument is the value of this option, in any command that has it.
fn takes_value(option: &str) -> bool {
    let Some(name) = option.strip_prefix("--") else { return false };
    let line = CommandLine::command();
    let mut all = line.get_subcommands().flat_map(|command| command.get_arguments());
    all.any(|argument| argument.get_long() == Some(name) && argument.get_action().takes_values())
}

fn is_command(word: &OsStr) -> bool {
    CommandLine::command().get_subcommands().any(|command| OsStr::new(command.get_name()) == word)
}

/// A word that is no file, and does not look like one, is rather a misspelt command.
fn may_be_file(word: &OsStr) -> bool {
    word == "-" || Path::new(word).exists() || word.to_string_lossy().contains(['.', '/', '\\'])
}

/// What `--color` says, for a text that is shown because the arguments cannot be parsed.
fn color_of(arguments: &[OsString]) -> ColorChoice {
    let value = |word: &OsStr| match word.to_str() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    let joined = arguments.iter().find_map(|each| each.to_str()?.strip_prefix("--color="));
    let apart = arguments.windows(2).find(|pair| pair[0] == "--color").map(|pair| value(&pair[1]));
    joined.map(|text| value(OsStr::new(text))).or(apart).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words: Vec<String> =
            command_first(&arguments).iter().map(|each| each.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    #[test]
    fn the_grammar_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn a_file_alone_is_checked() {
        assert_eq!(ordered("cssame a.csm"), "cssame check a.csm");
        assert_eq!(ordered("cssame --format json a.csm"), "cssame check --format json a.csm");
        assert_eq!(ordered("cssame -q -- explain"), "cssame check -q -- explain");
    }

    #[test]
    fn options_may_stand_before_the_command() {
        assert_eq!(ordered("cssame --format json explain CS0401"), "cssame explain --format json CS0401");
        assert_eq!(ordered("cssame --input n=5 -q check a.csm"), "cssame check --input n=5 -q a.csm");
    }

    #[test]
    fn help_is_an_option() {
        assert_eq!(ordered("cssame help"), "cssame --help");
        assert_eq!(ordered("cssame help futures"), "cssame futures --help");
        assert_eq!(ordered("cssame --color never help pi"), "cssame pi --color never --help");
    }

    #[test]
    fn a_misspelt_command_stays_a_command() {
        assert_eq!(ordered("cssame chekc a.csm"), "cssame chekc a.csm");
        assert_eq!(ordered("cssame --help"), "cssame --help");
    }
}
