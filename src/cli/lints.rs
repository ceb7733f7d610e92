//! Options that decide which findings count, and their weight.
//!
//! In: `--allow`, `--warn` and `--deny`, whose order matters, and files: baselines and configurations. Out: [`LintOptions`], and
//! [`Lints`] for the files of an answer.

use super::config::{self, Config};
use super::{files, load};
use clap::builder::ValueParser;
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use cssame_answer::{Baseline, Codes, FileLints, Findings, Judged, Level, Lints, Rule};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_source::SourceMap;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Options of every command that reports findings.
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    /// In the order in which they were given.
    pub rules: Vec<Rule>,
    /// The other options.
    pub files: LintFiles,
}

/// Files that say which findings count.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Findings")]
pub struct LintFiles {
    /// Leave out findings that are in this baseline
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write all findings to this baseline, and leave them out
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub write_baseline: Option<PathBuf>,
    /// Read this configuration instead of the nearest `cssame.toml`
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    pub no_config: bool,
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

impl LintOptions {
    /// Whether any of them was given that is about findings.
    pub(super) fn is_given(&self) -> bool {
        !self.rules.is_empty() || self.files.baseline.is_some() || self.files.write_baseline.is_some()
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
        LintFiles::augment_args(command.args(Level::WORDS.map(option)))
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
        let files = LintFiles::from_arg_matches(matches)?;
        Ok(LintOptions { rules: rules.into_iter().map(|(_, rule)| rule).collect(), files })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = LintOptions::from_arg_matches(matches)?;
        Ok(())
    }
}

impl LintOptions {
    /// The configuration that holds for a source file.
    ///
    /// # Errors
    ///
    /// All that is wrong with it.
    pub fn config(&self, source: &Path) -> Result<Config, Diagnostics> {
        let found = match &self.files.config {
            Some(path) => Some(path.clone()),
            None if self.files.no_config => None,
            None => config::find(source),
        };
        found.map_or_else(|| Ok(Config::default()), |path| config::read(&path))
    }

    /// What is said of the findings of files, beside comments.
    ///
    /// # Errors
    ///
    /// A configuration or the baseline cannot be read.
    pub fn lints(&self, findings: &Findings<'_>) -> Result<Lints, Diagnostics> {
        let baseline = self.files.baseline.as_ref();
        let beside = baseline.or(self.files.write_baseline.as_ref());
        let names: BTreeSet<&str> = findings.files.iter().map(|of| of.sources.file(of.file).name()).collect();
        let of_file = |name: &str| {
            let baseline_name = beside.map_or_else(String::new, |baseline| relative(Path::new(name), baseline));
            Ok(FileLints { name: name.to_owned(), baseline_name, config: self.config(Path::new(name))?.rules })
        };
        Ok(Lints {
            options: self.rules.clone(),
            files: names.into_iter().map(of_file).collect::<Result<_, Diagnostics>>()?,
            baseline: baseline.map(|path| read_baseline(path)).transpose()?,
            collects: self.files.write_baseline.is_some(),
        })
    }

    /// Writes the baseline that was asked for.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write(&self, judged: &Judged) -> Result<(), Diagnostics> {
        match (&self.files.write_baseline, &judged.collected) {
            (Some(path), Some(baseline)) => files::write(path, &baseline.to_text()),
            _ => Ok(()),
        }
    }
}

fn read_baseline(path: &Path) -> Result<Baseline, Diagnostics> {
    let mut sources = SourceMap::default();
    let file = load::read(&mut sources, path).map_err(|problem| Diagnostics::new(sources.clone(), vec![problem]))?;
    Baseline::parse(sources.file(file).text()).map_err(|error| {
        let message = format!("`{}` is not a baseline: {error}", load::name_of(path));
        let diagnostic = Diagnostic::general(Code::BadBaseline, Severity::Error, message);
        Diagnostics::general(diagnostic.with_help("write it again with `--write-baseline`"))
    })
}

/// The path of a file from the directory of another one, the same on all systems.
fn relative(file: &Path, other: &Path) -> String {
    let parts = |path: &Path| -> Vec<String> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let mut parts: Vec<String> = Vec::new();
        for part in absolute.components() {
            match part {
                Component::ParentDir => {
                    parts.pop();
                }
                Component::CurDir => {}
                _ => parts.push(part.as_os_str().to_string_lossy().into_owned()),
            }
        }
        parts
    };
    let (file, other) = (parts(file), parts(other));
    let common = file.iter().zip(&other).take_while(|(one, two)| one == two).count();
    let up = other.len().saturating_sub(common + 1);
    let parts = std::iter::repeat_n("..", up).chain(file[common..].iter().map(String::as_str));
    parts.collect::<Vec<_>>().join("/")
}
