//! The grammar of the command line.
//!
//! In: the arguments of the process. Out: a command with its arguments, or the text that answers `--help` or a usage error.
//! Algorithm: the name of the command is moved to the front, so that options may precede it. If there is none, and the first word
//! may be a file, the command is `look`, or `check`. `clap` parses the rest.

#[cfg(feature = "serve")]
use super::command::serve;
use super::command::{
    check, ci, completions, correlate, coverage, diff, drive, explain, fmt, futures, hunt, ir, look, lsp, man, new,
    paths, pi, races, report, run,
};
use super::job::{AnyJob, Help, Job};
use super::options::ColorChoice;
use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{Error, ErrorKind};
use clap::{ArgMatches, Args, Command};
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

const USAGE: &str = "cssame <COMMAND> [OPTIONS] ...\n       cssame [OPTIONS] <FILE>...";

const AFTER_HELP: &str = "\
`cssame FILE` shows how a program fails, blocks or runs for ever, and then the findings of `cssame check FILE`; it \
takes ten seconds at most, or what `--timeout` and the other bounds of `cssame hunt` say. Every \
command has its own `--help`, with examples.

Exit status: 0 nothing found, 1 findings, 2 bad usage or a program that does not compile, 3 a bound was hit before the \
question was decided and nothing was found so far.";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The commands, in the order of the help.
const COMMANDS: &[fn() -> Entry] = &[
    entry::<check::Arguments>,
    entry::<hunt::Arguments>,
    entry::<ir::Arguments>,
    entry::<pi::Arguments>,
    entry::<run::Arguments>,
    entry::<futures::Arguments>,
    entry::<drive::Arguments>,
    entry::<correlate::Arguments>,
    entry::<races::Arguments>,
    entry::<paths::Arguments>,
    entry::<coverage::Arguments>,
    entry::<diff::Arguments>,
    entry::<ci::Arguments>,
    entry::<report::Arguments>,
    entry::<fmt::Arguments>,
    entry::<lsp::Arguments>,
    #[cfg(feature = "serve")]
    entry::<serve::Arguments>,
    entry::<new::Arguments>,
    entry::<completions::Arguments>,
    entry::<man::Arguments>,
    entry::<explain::Arguments>,
];

/// A command: its grammar, and what takes its arguments.
struct Entry {
    grammar: Command,
    read: fn(&ArgMatches) -> Result<Box<dyn AnyJob>, Error>,
}

fn entry<J: Job + Args + 'static>() -> Entry {
    let Help { name, short, long, examples } = J::HELP;
    let grammar = J::augment_args(Command::new(name)).about(short).long_about(long).after_help(examples);
    Entry { grammar, read: |matches| Ok(Box::new(J::from_arg_matches(matches)?)) }
}

/// The grammar of all commands.
fn grammar() -> Command {
    Command::new("cssame")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Analyses concurrent programs: which writes can each read see, and which bugs follow from that?")
        .override_usage(USAGE)
        .after_help(AFTER_HELP)
        .max_term_width(80)
        .styles(STYLES)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(COMMANDS.iter().map(|entry| entry().grammar))
}

/// The command that was named, with its arguments.
fn job(matches: &ArgMatches) -> Result<Box<dyn AnyJob>, Error> {
    let named = matches.subcommand().and_then(|(name, matches)| {
        let entry = COMMANDS.iter().map(|entry| entry()).find(|entry| entry.grammar.get_name() == name)?;
        Some((entry.read)(matches))
    });
    // The grammar asks for one of its commands.
    named.unwrap_or_else(|| Err(grammar().error(ErrorKind::MissingSubcommand, "there is no command")))
}

/// What the arguments ask for.
pub enum Parsed {
    /// To run a command.
    Command(Box<dyn AnyJob>),
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
    if let Some(job) = look(arguments) {
        return Parsed::Command(job);
    }
    let result = grammar().try_get_matches_from(command_first(arguments)).and_then(|matches| {
        let mut job = job(&matches)?;
        job.set_grammar(&grammar());
        match job.validate() {
            Ok(()) => Ok(job),
            Err(message) => Err(grammar().error(ErrorKind::ArgumentConflict, message)),
        }
    });
    match result {
        Ok(job) => Parsed::Command(job),
        Err(error) => {
            let asked = !error.use_stderr();
            let terminal = if asked { std::io::stdout().is_terminal() } else { std::io::stderr().is_terminal() };
            let text = error.render();
            let text = if color_of(arguments).wanted(terminal) { text.ansi().to_string() } else { text.to_string() };
            Parsed::Answer { text, asked }
        }
    }
}

/// A look at one file, if the arguments ask for that.
fn look(arguments: &[OsString]) -> Option<Box<dyn AnyJob>> {
    let word = &arguments[first_word(arguments)?];
    if is_command(word) || !may_be_file(word) {
        return None;
    }
    let Entry { grammar, read } = entry::<look::Arguments>();
    let job = read(&grammar.try_get_matches_from(arguments).ok()?).ok()?;
    job.validate().is_ok().then_some(job)
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
    let line = grammar();
    let mut all = line.get_subcommands().flat_map(|command| command.get_arguments());
    all.any(|argument| argument.get_long() == Some(name) && argument.get_action().takes_values())
}

fn is_command(word: &OsStr) -> bool {
    grammar().get_subcommands().any(|command| OsStr::new(command.get_name()) == word)
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
        grammar().debug_assert();
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
