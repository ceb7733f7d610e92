//! The catalogue of diagnostic codes. Each has a page in `docs/codes/`, which `cssame explain` prints.

use std::fmt;

/// A diagnostic code: `CS01xx` syntax, `CS02xx` names and types, `CS03xx` misuse of synchronisation, `CS04xx`
/// concurrency findings, `CS05xx` correlated variables, `CS09xx` limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// CS0101: unexpected token.
    UnexpectedToken,
    /// CS0102: unexpected character.
    UnexpectedCharacter,
    /// CS0103: unterminated comment.
    UnterminatedComment,
    /// CS0104: unterminated string.
    UnterminatedString,
    /// CS0105: unknown escape in a string.
    BadEscape,
    /// CS0106: number too large.
    NumberTooLarge,
    /// CS0107: nested too deeply.
    NestingTooDeep,
    /// CS0108: not a text file.
    NotText,
    /// CS0109: empty program.
    EmptyProgram,
    /// CS0201: unknown name.
    UnknownName,
    /// CS0202: name declared twice.
    DuplicateName,
    /// CS0203: wrong type.
    WrongType,
    /// CS0204: wrong number of arguments.
    WrongArgumentCount,
    /// CS0205: not assignable.
    NotAssignable,
    /// CS0206: unknown member.
    UnknownMember,
    /// CS0207: private member.
    PrivateMember,
    /// CS0208: not a constant.
    NotConstant,
    /// CS0209: bad size or count.
    BadSize,
    /// CS0210: statement out of place.
    MisplacedStatement,
    /// CS0211: type not possible here.
    UnsupportedType,
    /// CS0212: two bodies of main.
    MainConflict,
    /// CS0213: unknown input.
    UnknownInput,
    /// CS0214: bad use of a thread handle.
    BadThreadHandle,
    /// CS0215: class contains itself.
    RecursiveClass,
    /// CS0216: no main to run.
    NoMain,
    /// CS0217: missing return.
    MissingReturn,
    /// CS0301: unlock without lock.
    UnlockWithoutLock,
    /// CS0302: lock taken twice by its holder.
    LockTakenTwice,
    /// CS0303: lock not released.
    LockNotReleased,
    /// CS0304: event that nobody sets.
    EventNeverSet,
    /// CS0305: barrier whose count cannot be met.
    BarrierCountUnmet,
    /// CS0306: write that no one can observe.
    UnobservableWrite,
    /// CS0307: unreachable code.
    UnreachableCode,
    /// CS0308: blocking operation in an atomic block.
    BlockingInAtomic,
    /// CS0309: condition used without its lock.
    WaitWithoutLock,
    /// CS0310: wait that nobody notifies.
    WaitNeverNotified,
    /// CS0311: wait without a loop around it.
    WaitNotInLoop,
    /// CS0312: wait that keeps a lock which its notifier needs.
    WaitKeepsLock,
    /// CS0313: notification without the lock of what it tells.
    NotifyWithoutLock,
    /// CS0314: assertion without the lock of what it reads.
    AssertionWithoutLock,
    /// CS0401: accesses that may race.
    UnprotectedAccess,
    /// CS0402: lock-order cycle.
    LockOrderCycle,
    /// CS0403: real race.
    RealRace,
    /// CS0404: harmful race.
    HarmfulRace,
    /// CS0405: benign race.
    BenignRace,
    /// CS0410: assertion failed.
    AssertionFailed,
    /// CS0411: error reached.
    ErrorReached,
    /// CS0412: deadlock.
    Deadlock,
    /// CS0413: division by zero.
    DivisionByZero,
    /// CS0414: index out of range.
    IndexOutOfRange,
    /// CS0415: unlock of a lock that the thread does not hold.
    UnlockNotHeld,
    /// CS0420: inconsistent selection.
    InconsistentSelection,
    /// CS0501: endangered correlation.
    EndangeredCorrelation,
    /// CS0901: too many errors.
    TooManyErrors,
    /// CS0902: file too large.
    FileTooLarge,
    /// CS0903: step limit.
    StepLimit,
    /// CS0904: exploration limit.
    ExplorationLimit,
    /// CS0905: time limit.
    Timeout,
    /// CS0906: interrupted.
    Interrupted,
    /// CS0907: schedule does not fit the program.
    ScheduleMismatch,
    /// CS0908: calling contexts merged.
    ContextsMerged,
    /// CS0909: file cannot be read.
    CannotRead,
    /// CS0910: file cannot be written.
    CannotWrite,
    /// CS0999: internal error.
    Internal,
}

struct Entry {
    code: Code,
    number: &'static str,
    title: &'static str,
    page: &'static str,
}

/// One row a code, in the order of the enum.
const CATALOGUE: &[Entry] = &[
    Entry {
        code: Code::UnexpectedToken,
        number: "CS0101",
        title: "unexpected token",
        page: include_str!("../../docs/codes/CS0101.md"),
    },
    Entry {
        code: Code::UnexpectedCharacter,
        number: "CS0102",
        title: "unexpected character",
        page: include_str!("../../docs/codes/CS0102.md"),
    },
    Entry {
        code: Code::UnterminatedComment,
        number: "CS0103",
        title: "unterminated comment",
        page: include_str!("../../docs/codes/CS0103.md"),
    },
    Entry {
        code: Code::UnterminatedString,
        number: "CS0104",
        title: "unterminated string",
        page: include_str!("../../docs/codes/CS0104.md"),
    },
    Entry {
        code: Code::BadEscape,
        number: "CS0105",
        title: "unknown escape in a string",
        page: include_str!("../../docs/codes/CS0105.md"),
    },
    Entry {
        code: Code::NumberTooLarge,
        number: "CS0106",
        title: "number too large",
        page: include_str!("../../docs/codes/CS0106.md"),
    },
    Entry {
        code: Code::NestingTooDeep,
        number: "CS0107",
        title: "nested too deeply",
        page: include_str!("../../docs/codes/CS0107.md"),
    },
    Entry {
        code: Code::NotText,
        number: "CS0108",
        title: "not a text file",
        page: include_str!("../../docs/codes/CS0108.md"),
    },
    Entry {
        code: Code::EmptyProgram,
        number: "CS0109",
        title: "empty program",
        page: include_str!("../../docs/codes/CS0109.md"),
    },
    Entry {
        code: Code::UnknownName,
        number: "CS0201",
        title: "unknown name",
        page: include_str!("../../docs/codes/CS0201.md"),
    },
    Entry {
        code: Code::DuplicateName,
        number: "CS0202",
        title: "name declared twice",
        page: include_str!("../../docs/codes/CS0202.md"),
    },
    Entry {
        code: Code::WrongType,
        number: "CS0203",
        title: "wrong type",
        page: include_str!("../../docs/codes/CS0203.md"),
    },
    Entry {
        code: Code::WrongArgumentCount,
        number: "CS0204",
        title: "wrong number of arguments",
        page: include_str!("../../docs/codes/CS0204.md"),
    },
    Entry {
        code: Code::NotAssignable,
        number: "CS0205",
        title: "not assignable",
        page: include_str!("../../docs/codes/CS0205.md"),
    },
    Entry {
        code: Code::UnknownMember,
        number: "CS0206",
        title: "unknown member",
        page: include_str!("../../docs/codes/CS0206.md"),
    },
    Entry {
        code: Code::PrivateMember,
        number: "CS0207",
        title: "private member",
        page: include_str!("../../docs/codes/CS0207.md"),
    },
    Entry {
        code: Code::NotConstant,
        number: "CS0208",
        title: "not a constant",
        page: include_str!("../../docs/codes/CS0208.md"),
    },
    Entry {
        code: Code::BadSize,
        number: "CS0209",
        title: "bad size or count",
        page: include_str!("../../docs/codes/CS0209.md"),
    },
    Entry {
        code: Code::MisplacedStatement,
        number: "CS0210",
        title: "statement out of place",
        page: include_str!("../../docs/codes/CS0210.md"),
    },
    Entry {
        code: Code::UnsupportedType,
        number: "CS0211",
        title: "type not possible here",
        page: include_str!("../../docs/codes/CS0211.md"),
    },
    Entry {
        code: Code::MainConflict,
        number: "CS0212",
        title: "two bodies of main",
        page: include_str!("../../docs/codes/CS0212.md"),
    },
    Entry {
        code: Code::UnknownInput,
        number: "CS0213",
        title: "unknown input",
        page: include_str!("../../docs/codes/CS0213.md"),
    },
    Entry {
        code: Code::BadThreadHandle,
        number: "CS0214",
        title: "bad use of a thread handle",
        page: include_str!("../../docs/codes/CS0214.md"),
    },
    Entry {
        code: Code::RecursiveClass,
        number: "CS0215",
        title: "class contains itself",
        page: include_str!("../../docs/codes/CS0215.md"),
    },
    Entry {
        code: Code::NoMain,
        number: "CS0216",
        title: "no main to run",
        page: include_str!("../../docs/codes/CS0216.md"),
    },
    Entry {
        code: Code::MissingReturn,
        number: "CS0217",
        title: "missing return",
        page: include_str!("../../docs/codes/CS0217.md"),
    },
    Entry {
        code: Code::UnlockWithoutLock,
        number: "CS0301",
        title: "unlock without lock",
        page: include_str!("../../docs/codes/CS0301.md"),
    },
    Entry {
        code: Code::LockTakenTwice,
        number: "CS0302",
        title: "lock taken twice by its holder",
        page: include_str!("../../docs/codes/CS0302.md"),
    },
    Entry {
        code: Code::LockNotReleased,
        number: "CS0303",
        title: "lock not released",
        page: include_str!("../../docs/codes/CS0303.md"),
    },
    Entry {
        code: Code::EventNeverSet,
        number: "CS0304",
        title: "event that nobody sets",
        page: include_str!("../../docs/codes/CS0304.md"),
    },
    Entry {
        code: Code::BarrierCountUnmet,
        number: "CS0305",
        title: "barrier whose count cannot be met",
        page: include_str!("../../docs/codes/CS0305.md"),
    },
    Entry {
        code: Code::UnobservableWrite,
        number: "CS0306",
        title: "write that no one can observe",
        page: include_str!("../../docs/codes/CS0306.md"),
    },
    Entry {
        code: Code::UnreachableCode,
        number: "CS0307",
        title: "unreachable code",
        page: include_str!("../../docs/codes/CS0307.md"),
    },
    Entry {
        code: Code::BlockingInAtomic,
        number: "CS0308",
        title: "blocking operation in an atomic block",
        page: include_str!("../../docs/codes/CS0308.md"),
    },
    Entry {
        code: Code::WaitWithoutLock,
        number: "CS0309",
        title: "condition used without its lock",
        page: include_str!("../../docs/codes/CS0309.md"),
    },
    Entry {
        code: Code::WaitNeverNotified,
        number: "CS0310",
        title: "wait that nobody notifies",
        page: include_str!("../../docs/codes/CS0310.md"),
    },
    Entry {
        code: Code::WaitNotInLoop,
        number: "CS0311",
        title: "wait without a loop around it",
        page: include_str!("../../docs/codes/CS0311.md"),
    },
    Entry {
        code: Code::WaitKeepsLock,
        number: "CS0312",
        title: "wait that keeps a lock which its notifier needs",
        page: include_str!("../../docs/codes/CS0312.md"),
    },
    Entry {
        code: Code::NotifyWithoutLock,
        number: "CS0313",
        title: "notification without the lock of what it tells",
        page: include_str!("../../docs/codes/CS0313.md"),
    },
    Entry {
        code: Code::AssertionWithoutLock,
        number: "CS0314",
        title: "assertion without the lock of what it reads",
        page: include_str!("../../docs/codes/CS0314.md"),
    },
    Entry {
        code: Code::UnprotectedAccess,
        number: "CS0401",
        title: "accesses that may race",
        page: include_str!("../../docs/codes/CS0401.md"),
    },
    Entry {
        code: Code::LockOrderCycle,
        number: "CS0402",
        title: "lock-order cycle",
        page: include_str!("../../docs/codes/CS0402.md"),
    },
    Entry {
        code: Code::RealRace,
        number: "CS0403",
        title: "real race",
        page: include_str!("../../docs/codes/CS0403.md"),
    },
    Entry {
        code: Code::HarmfulRace,
        number: "CS0404",
        title: "harmful race",
        page: include_str!("../../docs/codes/CS0404.md"),
    },
    Entry {
        code: Code::BenignRace,
        number: "CS0405",
        title: "benign race",
        page: include_str!("../../docs/codes/CS0405.md"),
    },
    Entry {
        code: Code::AssertionFailed,
        number: "CS0410",
        title: "assertion failed",
        page: include_str!("../../docs/codes/CS0410.md"),
    },
    Entry {
        code: Code::ErrorReached,
        number: "CS0411",
        title: "error reached",
        page: include_str!("../../docs/codes/CS0411.md"),
    },
    Entry {
        code: Code::Deadlock,
        number: "CS0412",
        title: "deadlock",
        page: include_str!("../../docs/codes/CS0412.md"),
    },
    Entry {
        code: Code::DivisionByZero,
        number: "CS0413",
        title: "division by zero",
        page: include_str!("../../docs/codes/CS0413.md"),
    },
    Entry {
        code: Code::IndexOutOfRange,
        number: "CS0414",
        title: "index out of range",
        page: include_str!("../../docs/codes/CS0414.md"),
    },
    Entry {
        code: Code::UnlockNotHeld,
        number: "CS0415",
        title: "unlock of a lock that the thread does not hold",
        page: include_str!("../../docs/codes/CS0415.md"),
    },
    Entry {
        code: Code::InconsistentSelection,
        number: "CS0420",
        title: "inconsistent selection",
        page: include_str!("../../docs/codes/CS0420.md"),
    },
    Entry {
        code: Code::EndangeredCorrelation,
        number: "CS0501",
        title: "endangered correlation",
        page: include_str!("../../docs/codes/CS0501.md"),
    },
    Entry {
        code: Code::TooManyErrors,
        number: "CS0901",
        title: "too many errors",
        page: include_str!("../../docs/codes/CS0901.md"),
    },
    Entry {
        code: Code::FileTooLarge,
        number: "CS0902",
        title: "file too large",
        page: include_str!("../../docs/codes/CS0902.md"),
    },
    Entry {
        code: Code::StepLimit,
        number: "CS0903",
        title: "step limit",
        page: include_str!("../../docs/codes/CS0903.md"),
    },
    Entry {
        code: Code::ExplorationLimit,
        number: "CS0904",
        title: "exploration limit",
        page: include_str!("../../docs/codes/CS0904.md"),
    },
    Entry {
        code: Code::Timeout,
        number: "CS0905",
        title: "time limit",
        page: include_str!("../../docs/codes/CS0905.md"),
    },
    Entry {
        code: Code::Interrupted,
        number: "CS0906",
        title: "interrupted",
        page: include_str!("../../docs/codes/CS0906.md"),
    },
    Entry {
        code: Code::ScheduleMismatch,
        number: "CS0907",
        title: "schedule does not fit the program",
        page: include_str!("../../docs/codes/CS0907.md"),
    },
    Entry {
        code: Code::ContextsMerged,
        number: "CS0908",
        title: "calling contexts merged",
        page: include_str!("../../docs/codes/CS0908.md"),
    },
    Entry {
        code: Code::CannotRead,
        number: "CS0909",
        title: "file cannot be read",
        page: include_str!("../../docs/codes/CS0909.md"),
    },
    Entry {
        code: Code::CannotWrite,
        number: "CS0910",
        title: "file cannot be written",
        page: include_str!("../../docs/codes/CS0910.md"),
    },
    Entry {
        code: Code::Internal,
        number: "CS0999",
        title: "internal error",
        page: include_str!("../../docs/codes/CS0999.md"),
    },
];

impl Code {
    /// Every code, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Code> {
        CATALOGUE.iter().map(|entry| entry.code)
    }

    /// The code of that number, such as `CS0401` (letters of either case).
    #[must_use]
    pub fn parse(number: &str) -> Option<Code> {
        CATALOGUE.iter().find(|entry| entry.number.eq_ignore_ascii_case(number)).map(|entry| entry.code)
    }

    /// `CS0401`.
    #[must_use]
    pub fn number(self) -> &'static str {
        CATALOGUE[self as usize].number
    }

    /// A few words that name the kind.
    #[must_use]
    pub fn title(self) -> &'static str {
        CATALOGUE[self as usize].title
    }

    /// The page of the manual, in Markdown.
    #[must_use]
    pub fn page(self) -> &'static str {
        CATALOGUE[self as usize].page
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_in_the_order_of_the_enum() {
        for (index, entry) in CATALOGUE.iter().enumerate() {
            assert_eq!(entry.code as usize, index, "{}", entry.number);
            assert_eq!(Code::parse(entry.number), Some(entry.code));
            assert!(entry.page.starts_with(&format!("# {}", entry.number)), "{}", entry.number);
        }
        assert!(CATALOGUE.windows(2).all(|pair| pair[0].number < pair[1].number));
    }
}
