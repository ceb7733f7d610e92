//! A compiled file: a program, or classes and functions without `main`.

use cssame_model::{Model, NoMain, Options, Unit};

/// What `races` and `coverage` look at.
#[derive(Debug)]
pub enum Compiled {
    /// A program.
    Program(Box<Model>),
    /// A file without `main`.
    Library(Box<Unit>),
}

impl Compiled {
    /// The program of a unit, or the unit where it has no `main`.
    #[must_use]
    pub fn new(unit: Unit, options: Options) -> Compiled {
        match Model::new(unit, options) {
            Ok(model) => Compiled::Program(Box::new(model)),
            Err(NoMain(unit)) => Compiled::Library(Box::new(unit)),
        }
    }

    /// The file.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        match self {
            Compiled::Program(model) => model.unit(),
            Compiled::Library(unit) => unit,
        }
    }
}
