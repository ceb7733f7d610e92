//! The option `--target`: the languages of packages.

use clap::ValueEnum;
use cssame_driver::Target;

/// Values of `--target`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    /// A Cargo package.
    #[default]
    Rust,
    /// A Maven project.
    Java,
    /// A Maven project with an aspect.
    #[value(name = "aspectj")]
    AspectJ,
}

impl From<TargetName> for Target {
    fn from(name: TargetName) -> Target {
        match name {
            TargetName::Rust => Target::Rust,
            TargetName::Java => Target::Java,
            TargetName::AspectJ => Target::AspectJ,
        }
    }
}
