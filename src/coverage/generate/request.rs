//! The request for test generation, and the reasons why it cannot be met.

use super::found::Strategy;
use std::fmt;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What decides about everything.
    pub seed: u64,
    /// How tests are chosen.
    pub strategy: Strategy,
    /// Tests to make; none where the time decides.
    pub tests: Option<u64>,
    /// Executions of each test.
    pub executions: u32,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// States of a test up to which all its executions are looked at; none where they are not.
    pub explore: Option<u64>,
    /// A class with the same methods, which says what is right.
    pub reference: Option<String>,
    /// A method that has to give true behind the threads: `isValid`, or `A.isValid`.
    pub invariant: Option<String>,
    /// Whether to go on behind the first violation.
    pub keep_going: bool,
    /// Whether each execution is logged.
    pub log: bool,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            seed: 0,
            strategy: Strategy::Both,
            tests: Some(Request::TESTS),
            executions: Request::EXECUTIONS,
            max_steps: 100_000,
            explore: Some(Request::STATES),
            reference: None,
            invariant: None,
            keep_going: false,
            log: false,
        }
    }
}

impl Request {
    /// Tests that are made where nobody says how many.
    pub const TESTS: u64 = 1_000;
    /// Executions of a test.
    pub const EXECUTIONS: u32 = 10;
    /// States of a test up to which all its executions are looked at.
    pub const STATES: u64 = 20_000;
}

/// Why there are no tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The file has a `main` of its own.
    HasMain,
    /// There is nothing that two threads could call.
    NoMethods,
    /// There is no such class.
    NoClass(String),
    /// The reference class lacks a method, or has it with other parameters.
    NoSuchMethod {
        /// The reference class.
        class: String,
        /// The method.
        method: String,
    },
    /// There is no public method of that name that takes nothing and gives a `bool`.
    NoInvariant(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::HasMain => write!(f, "the file has a main of its own: tests are made for classes without one"),
            Refused::NoMethods => write!(f, "there is no public method that a test could call"),
            Refused::NoClass(name) => write!(f, "there is no class `{name}` with public methods"),
            Refused::NoSuchMethod { class, method } => {
                write!(f, "`{class}` has no public method `{method}` with the same parameters and result")
            }
            Refused::NoInvariant(name) => {
                write!(f, "there is no public method `{name}` that takes nothing and gives a bool")
            }
        }
    }
}

impl std::error::Error for Refused {}
