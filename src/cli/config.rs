//! Configuration files: `cssame.toml`, in the directory of a source file or the nearest one above.
//!
//! In: the path of a source file. Out: [`Config`]: levels of codes, and bounds that apply if the command line gives none; or all
//! errors of the file, each with its place.

use super::load::{self, name_of};
use super::options::{BoundOptions, parse_seconds, parse_size};
use cssame_answer::{CiCommand, Codes, Level, Rule};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, nearest};
use cssame_source::{FileId, SourceMap, Span};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The name of a configuration file.
const NAME: &str = "cssame.toml";

/// What a configuration file says.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Levels of codes, those of `all` first.
    pub rules: Vec<Rule>,
    /// Bounds of searches.
    pub bounds: BoundOptions,
    /// What `ci` does.
    pub ci: CiConfig,
}

/// What a configuration file says of `ci`.
#[derive(Clone, Debug, Default)]
pub struct CiConfig {
    /// The commands that are asked; none for all.
    pub commands: Vec<CiCommand>,
    /// Patterns of files that are left out.
    pub exclude: Vec<String>,
}

/// The tables of a file.
const TABLES: [&str; 3] = ["bounds", "ci", "lints"];

/// The keys of `[ci]`.
const CI: [&str; 2] = ["commands", "exclude"];

/// The keys of `[bounds]`.
const BOUNDS: [&str; 6] = ["max-cpu", "max-executions", "max-memory", "max-states", "max-steps", "timeout"];

/// The configuration file that holds for a source file, as people would name it.
#[must_use]
pub fn find(source: &Path) -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    let path = current.join(source);
    let found = path.ancestors().skip(1).map(|directory| directory.join(NAME)).find(|file| file.is_file())?;
    Some(found.strip_prefix(&current).map(Path::to_path_buf).unwrap_or(found))
}

/// Reads a configuration file.
///
/// # Errors
///
/// It cannot be read, or all that is wrong with it.
pub fn read(path: &Path) -> Result<Config, Diagnostics> {
    let mut sources = SourceMap::default();
    let file = load::read(&mut sources, path).map_err(Diagnostics::general)?;
    let mut reader = Reader { file, config: Config::default(), problems: Vec::new() };
    let text = sources.file(file).text();
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let message = format!("`{}` is not TOML: {}", name_of(path), error.message());
        reader.problem(error.span().unwrap_or(0..0), message, "here", String::new());
    }
    for (name, value) in document.get_ref() {
        reader.table(name.get_ref(), name.span(), value);
    }
    if reader.problems.is_empty() {
        reader.config.rules.sort_by_key(|(codes, _)| *codes != Codes::All);
        return Ok(reader.config);
    }
    cssame_diagnostics::sort(&mut reader.problems);
    Err(Diagnostics::new(sources, reader.problems))
}

struct Reader {
    file: FileId,
    config: Config,
    problems: Vec<Diagnostic>,
}

impl Reader {
    fn problem(&mut self, place: Range<usize>, message: String, label: &str, help: String) {
        let span = Span::new(self.file, place.start, place.end);
        let problem = Diagnostic::error(Code::BadConfiguration, span, message, label);
        self.problems.push(if help.is_empty() { problem } else { problem.with_help(help) });
    }

    fn table(&mut self, name: &str, place: Range<usize>, value: &Spanned<DeValue<'_>>) {
        if !TABLES.contains(&name) {
            self.problem(place, format!("there is no table `{name}`"), "no such table", known(name, &TABLES));
            return;
        }
        let DeValue::Table(table) = value.get_ref() else {
            let help = format!("write it as `[{name}]`, with a key a line");
            self.problem(value.span(), format!("`{name}` is a table"), "not a table", help);
            return;
        };
        for (key, value) in table {
            match name {
                "lints" => self.lint(key.get_ref(), key.span(), value),
                "ci" => self.ci(key.get_ref(), key.span(), value),
                _ => self.bound(key.get_ref(), key.span(), value),
            }
        }
    }

    /// `CS0401 = "allow"`
    fn lint(&mut self, key: &str, place: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let codes = match Codes::parse(key) {
            Ok(codes) => codes,
            Err(message) => return self.problem(place, message, "not a code of findings", String::new()),
        };
        let words = Level::WORDS.map(|(word, _)| word);
        let word = value.get_ref().as_str().unwrap_or_default();
        match Level::WORDS.iter().find(|(name, _)| *name == word) {
            Some(&(_, level)) => self.config.rules.push((codes, level)),
            None => {
                self.problem(value.span(), format!("`{key}` has no such level"), "not a level", known(word, &words))
            }
        }
    }

    /// `commands = ["check", "races"]`
    fn ci(&mut self, key: &str, place: Range<usize>, value: &Spanned<DeValue<'_>>) {
        if !CI.contains(&key) {
            return self.problem(place, format!("`[ci]` has no key `{key}`"), "no such key", known(key, &CI));
        }
        let list = value.get_ref().as_array().map(|list| list.iter().map(|of| of.get_ref().as_str()).collect());
        let Some(words) = list.and_then(|list: Vec<Option<&str>>| list.into_iter().collect::<Option<Vec<&str>>>())
        else {
            let help = format!("write it as `{key} = [\"…\", \"…\"]`");
            return self.problem(value.span(), format!("`{key}` is a list of texts"), "not such a list", help);
        };
        if key == "exclude" {
            self.config.ci.exclude = words.into_iter().map(str::to_owned).collect();
            return;
        }
        for word in words {
            match CiCommand::WORDS.iter().find(|(name, _)| *name == word) {
                Some(&(_, command)) => self.config.ci.commands.push(command),
                None => {
                    let help = known(word, &CiCommand::WORDS.map(|(name, _)| name));
                    self.problem(value.span(), format!("`ci` does not ask `{word}`"), "no such command", help);
                }
            }
        }
    }

    /// `max-states = 1000`
    fn bound(&mut self, key: &str, place: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            _ => String::new(),
        };
        let is_text = matches!(value.get_ref(), DeValue::String(_));
        let positive = |text: &str| text.parse::<u64>().ok().filter(|&number| number > 0 && !is_text);
        let a_number = || "write it as a number from 1, such as `1000`".to_owned();
        let bounds = &mut self.config.bounds;
        let set = match key {
            "max-steps" => positive(&text)
                .and_then(|number| u32::try_from(number).ok())
                .map(|number| bounds.max_steps = Some(number))
                .ok_or_else(a_number),
            "max-states" => positive(&text).map(|number| bounds.max_states = Some(number)).ok_or_else(a_number),
            "max-executions" => positive(&text).map(|number| bounds.max_executions = Some(number)).ok_or_else(a_number),
            "max-memory" => parse_size(&text).map(|size| bounds.max_memory = Some(size)),
            "max-cpu" => parse_seconds(&text).map(|time| bounds.max_cpu = Some(time)),
            "timeout" => parse_seconds(&text).map(|time| bounds.timeout = Some(time)),
            _ => return self.problem(place, format!("there is no bound `{key}`"), "no such key", known(key, &BOUNDS)),
        };
        if let Err(help) = set {
            self.problem(value.span(), format!("`{key}` has no such value"), "not a value of this bound", help);
        }
    }
}

/// What was meant, or all that there is.
fn known(word: &str, all: &[&str]) -> String {
    match nearest(word, all.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are `{}`", all.join("`, `")),
    }
}
