//! The exit status of a command.

/// The exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: nothing was found.
    Clean,
    /// 1: there are findings.
    Findings,
    /// 2: bad usage, or a program that does not compile.
    Invalid,
    /// 3: a bound was hit before the question was decided, and nothing was found so far.
    Undecided,
}

impl Status {
    /// The number that the operating system gets.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Status::Clean => 0,
            Status::Findings => 1,
            Status::Invalid => 2,
            Status::Undecided => 3,
        }
    }

    /// The status of a search: findings weigh more than a bound that was hit.
    #[must_use]
    pub fn of_search(found: bool, complete: bool) -> Status {
        match (found, complete) {
            (true, _) => Status::Findings,
            (false, true) => Status::Clean,
            (false, false) => Status::Undecided,
        }
    }
}
