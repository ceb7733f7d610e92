//! Options of `coverage --generate`.

use super::options::parse_seconds;
use super::target::TargetName;
use crate::view::replay::quoted;
use clap::{Args, ValueEnum};
use cssame_answer::GenerateRequest;
use cssame_coverage::generate::{Request, Strategy};
use std::path::PathBuf;
use std::time::Duration;

/// What tests are made, and how many.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Test generation")]
pub struct GenerationOptions {
    /// Make tests for the classes of a file without `main`
    #[arg(long, conflicts_with_all = ["runs", "schedule", "package", "record_dir"])]
    pub generate: bool,
    /// Choose methods at random, by pairs that ran least often, by patterns, or by both [default: both]
    #[arg(long, value_enum, value_name = "HOW", requires = "generate", hide_possible_values = true)]
    pub strategy: Option<StrategyName>,
    /// Make N tests at most [default: 1000; with --time as many as it allows]
    #[arg(long, value_name = "N", requires = "generate", value_parser = clap::value_parser!(u64).range(1..))]
    pub tests: Option<u64>,
    /// Make tests for this many seconds; their number depends on the machine
    #[arg(long, value_name = "SECONDS", requires = "generate", conflicts_with = "timeout", value_parser = parse_seconds)]
    pub time: Option<Duration>,
    /// Continue after the first failure
    #[arg(long, requires = "generate")]
    pub keep_going: bool,
    /// Use this class, which has the same methods, as the specification
    #[arg(long, value_name = "CLASS", requires = "generate")]
    pub spec: Option<String>,
    /// Write the tests as a package to this directory: a new or empty one, or one that this option has written
    #[arg(long, value_name = "DIR", requires = "generate")]
    pub out: Option<PathBuf>,
    /// Language of the package: rust, java or aspectj, as for `drive` [default: rust]
    #[arg(long, value_enum, requires = "out", hide_possible_values = true)]
    pub target: Option<TargetName>,
    /// Call this method after the threads have ended; it must return true
    #[arg(long, value_name = "METHOD", requires = "generate")]
    pub invariant: Option<String>,
}

/// Values of `--strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    /// Any methods; executions at random.
    Random,
    /// Pairs of methods that were covered least often.
    Pairs,
    /// Methods that come to the accesses of an instance.
    Patterns,
    /// Of these, pairs that were covered least often.
    Both,
}

impl GenerationOptions {
    /// What is asked for, with this seed; `max_steps` and `explore` stand for what is usual where they are none.
    #[must_use]
    pub fn request(&self, seed: u64, max_steps: Option<u64>, explore: Option<Option<u64>>) -> GenerateRequest {
        let usual = Request::default();
        let request = Request {
            seed,
            strategy: match self.strategy {
                Some(StrategyName::Random) => Strategy::Random,
                Some(StrategyName::Pairs) => Strategy::Pairs,
                Some(StrategyName::Patterns) => Strategy::Patterns,
                Some(StrategyName::Both) | None => Strategy::Both,
            },
            tests: self.tests.or(usual.tests.filter(|_| self.time.is_none())),
            max_steps: max_steps.unwrap_or(usual.max_steps),
            explore: explore.unwrap_or(usual.explore),
            reference: self.spec.clone(),
            invariant: self.invariant.clone(),
            keep_going: self.keep_going,
            ..usual
        };
        GenerateRequest { request, is_timed: self.time.is_some() }
    }

    /// The options as they are typed, with a space before each.
    #[must_use]
    pub fn typed(&self) -> String {
        let mut text = " --generate".to_owned();
        if let Some(value) = self.strategy.and_then(|name| name.to_possible_value()) {
            text += &format!(" --strategy {}", value.get_name());
        }
        if let Some(tests) = self.tests {
            text += &format!(" --tests {tests}");
        }
        if let Some(time) = self.time {
            text += &format!(" --time {}", time.as_secs_f64());
        }
        if self.keep_going {
            text += " --keep-going";
        }
        if let Some(class) = &self.spec {
            text += &format!(" --spec {}", quoted(class));
        }
        if let Some(method) = &self.invariant {
            text += &format!(" --invariant {}", quoted(method));
        }
        text
    }
}
