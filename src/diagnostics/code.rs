//! The catalogue of diagnostic codes. Each has a page in `docs/codes/`, which `cssame explain` prints.

use super::nearest;
use std::fmt;

/// A diagnostic code: `CS01xx` syntax, `CS02xx` names and types, `CS03xx` misuse of synchronisation, `CS04xx`
/// concurrency findings, `CS05xx` correlated variables, `CS06xx` C, `CS09xx` limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
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
    /// CS0110: number with a leading zero.
    LeadingZero,
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
    /// CS0218: bad use of a constructor.
    BadConstructor,
    /// CS0219: bad label in a switch.
    BadCase,
    /// CS0220: case that runs into the next.
    FallThrough,
    /// CS0301: unlock without lock.
    UnlockWithoutLock,
    /// CS0302: lock taken twice by its holder.
    LockTakenTwice,
    /// CS0303: lock not released.
    LockNotReleased,
    /// CS0304: event that is never set.
    EventNeverSet,
    /// CS0305: barrier whose count cannot be met.
    BarrierCountUnmet,
    /// CS0306: write that no read can see.
    UnobservableWrite,
    /// CS0307: unreachable code.
    UnreachableCode,
    /// CS0308: blocking operation in an atomic block.
    BlockingInAtomic,
    /// CS0309: condition used without its lock.
    WaitWithoutLock,
    /// CS0310: wait that is never notified.
    WaitNeverNotified,
    /// CS0311: wait without a loop around it.
    WaitNotInLoop,
    /// CS0312: wait that keeps a lock which its notifier needs.
    WaitKeepsLock,
    /// CS0313: notification without the lock of the variable it announces.
    NotifyWithoutLock,
    /// CS0314: assertion without the lock of a variable it reads.
    AssertionWithoutLock,
    /// CS0315: `atomic` variable read and written in two steps.
    UpdateInTwoSteps,
    /// CS0316: thread that is never joined.
    NeverJoined,
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
    /// CS0416: no end can be reached.
    NoEnd,
    /// CS0417: livelock.
    Livelock,
    /// CS0418: starvation.
    Starvation,
    /// CS0419: a pointer that leads to no cell is followed.
    InvalidPointer,
    /// CS0420: inconsistent selection.
    InconsistentSelection,
    /// CS0421: results that no serial order gives.
    NotLinearizable,
    /// CS0422: memory is used that was given back.
    UseAfterFree,
    /// CS0423: memory is given back twice.
    DoubleFree,
    /// CS0424: what is given back is no memory that was asked for.
    InvalidFree,
    /// CS0425: arithmetic without a result that fits.
    Overflow,
    /// CS0501: endangered correlation.
    EndangeredCorrelation,
    /// CS0601: not C.
    NotC,
    /// CS0602: doubtful C.
    DoubtfulC,
    /// CS0603: C that is not read.
    UnreadC,
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
    /// CS0911: not possible for this target.
    TargetLacks,
    /// CS0912: tool missing.
    ToolMissing,
    /// CS0913: suppression without effect.
    UnusedSuppression,
    /// CS0914: invalid suppression comment.
    BadSuppression,
    /// CS0915: bad configuration.
    BadConfiguration,
    /// CS0916: bad baseline.
    BadBaseline,
    /// CS0999: internal error.
    Internal,
}

struct Entry {
    code: Code,
    number: &'static str,
    title: &'static str,
    page: &'static str,
}

/// A row: the page is named by the number.
macro_rules! entry {
    ($code:ident, $number:literal, $title:literal) => {
        Entry {
            code: Code::$code,
            number: $number,
            title: $title,
            page: include_str!(concat!("../../docs/codes/", $number, ".md")),
        }
    };
}

/// One row a code, in the order of the enum.
const CATALOGUE: &[Entry] = &[
    entry!(UnexpectedToken, "CS0101", "unexpected token"),
    entry!(UnexpectedCharacter, "CS0102", "unexpected character"),
    entry!(UnterminatedComment, "CS0103", "unterminated comment"),
    entry!(UnterminatedString, "CS0104", "unterminated string"),
    entry!(BadEscape, "CS0105", "unknown escape in a string"),
    entry!(NumberTooLarge, "CS0106", "number too large"),
    entry!(NestingTooDeep, "CS0107", "nested too deeply"),
    entry!(NotText, "CS0108", "not a text file"),
    entry!(EmptyProgram, "CS0109", "empty program"),
    entry!(LeadingZero, "CS0110", "number with a leading zero"),
    entry!(UnknownName, "CS0201", "unknown name"),
    entry!(DuplicateName, "CS0202", "name declared twice"),
    entry!(WrongType, "CS0203", "wrong type"),
    entry!(WrongArgumentCount, "CS0204", "wrong number of arguments"),
    entry!(NotAssignable, "CS0205", "not assignable"),
    entry!(UnknownMember, "CS0206", "unknown member"),
    entry!(PrivateMember, "CS0207", "private member"),
    entry!(NotConstant, "CS0208", "not a constant"),
    entry!(BadSize, "CS0209", "bad size or count"),
    entry!(MisplacedStatement, "CS0210", "statement out of place"),
    entry!(UnsupportedType, "CS0211", "type not possible here"),
    entry!(MainConflict, "CS0212", "two bodies of main"),
    entry!(UnknownInput, "CS0213", "unknown input"),
    entry!(BadThreadHandle, "CS0214", "bad use of a thread handle"),
    entry!(RecursiveClass, "CS0215", "class contains itself"),
    entry!(NoMain, "CS0216", "no main to run"),
    entry!(MissingReturn, "CS0217", "missing return"),
    entry!(BadConstructor, "CS0218", "bad use of a constructor"),
    entry!(BadCase, "CS0219", "bad label in a switch"),
    entry!(FallThrough, "CS0220", "case that runs into the next"),
    entry!(UnlockWithoutLock, "CS0301", "unlock without lock"),
    entry!(LockTakenTwice, "CS0302", "lock taken twice by its holder"),
    entry!(LockNotReleased, "CS0303", "lock not released"),
    entry!(EventNeverSet, "CS0304", "event that is never set"),
    entry!(BarrierCountUnmet, "CS0305", "barrier whose count cannot be met"),
    entry!(UnobservableWrite, "CS0306", "write that no read can see"),
    entry!(UnreachableCode, "CS0307", "unreachable code"),
    entry!(BlockingInAtomic, "CS0308", "blocking operation in an atomic block"),
    entry!(WaitWithoutLock, "CS0309", "condition used without its lock"),
    entry!(WaitNeverNotified, "CS0310", "wait that is never notified"),
    entry!(WaitNotInLoop, "CS0311", "wait without a loop around it"),
    entry!(WaitKeepsLock, "CS0312", "wait that keeps a lock which its notifier needs"),
    entry!(NotifyWithoutLock, "CS0313", "notification without the lock of the variable it announces"),
    entry!(AssertionWithoutLock, "CS0314", "assertion without the lock of a variable it reads"),
    entry!(UpdateInTwoSteps, "CS0315", "`atomic` variable read and written in two steps"),
    entry!(NeverJoined, "CS0316", "thread that is never joined"),
    entry!(UnprotectedAccess, "CS0401", "accesses that may race"),
    entry!(LockOrderCycle, "CS0402", "lock-order cycle"),
    entry!(RealRace, "CS0403", "real race"),
    entry!(HarmfulRace, "CS0404", "harmful race"),
    entry!(BenignRace, "CS0405", "benign race"),
    entry!(AssertionFailed, "CS0410", "assertion failed"),
    entry!(ErrorReached, "CS0411", "error reached"),
    entry!(Deadlock, "CS0412", "deadlock"),
    entry!(DivisionByZero, "CS0413", "division by zero"),
    entry!(IndexOutOfRange, "CS0414", "index out of range"),
    entry!(UnlockNotHeld, "CS0415", "unlock of a lock that the thread does not hold"),
    entry!(NoEnd, "CS0416", "no end can be reached"),
    entry!(Livelock, "CS0417", "livelock"),
    entry!(Starvation, "CS0418", "starvation"),
    entry!(InvalidPointer, "CS0419", "a pointer leads nowhere"),
    entry!(InconsistentSelection, "CS0420", "inconsistent selection"),
    entry!(NotLinearizable, "CS0421", "results that no serial order gives"),
    entry!(UseAfterFree, "CS0422", "use of memory that was given back"),
    entry!(DoubleFree, "CS0423", "memory is given back twice"),
    entry!(InvalidFree, "CS0424", "what is given back was not asked for"),
    entry!(Overflow, "CS0425", "arithmetic overflow"),
    entry!(EndangeredCorrelation, "CS0501", "endangered correlation"),
    entry!(NotC, "CS0601", "not C"),
    entry!(DoubtfulC, "CS0602", "doubtful C"),
    entry!(UnreadC, "CS0603", "C that is not read"),
    entry!(TooManyErrors, "CS0901", "too many errors"),
    entry!(FileTooLarge, "CS0902", "file too large"),
    entry!(StepLimit, "CS0903", "step limit"),
    entry!(ExplorationLimit, "CS0904", "exploration limit"),
    entry!(Timeout, "CS0905", "time limit"),
    entry!(Interrupted, "CS0906", "interrupted"),
    entry!(ScheduleMismatch, "CS0907", "schedule does not fit the program"),
    entry!(ContextsMerged, "CS0908", "calling contexts merged"),
    entry!(CannotRead, "CS0909", "file cannot be read"),
    entry!(CannotWrite, "CS0910", "file cannot be written"),
    entry!(TargetLacks, "CS0911", "not possible for this target"),
    entry!(ToolMissing, "CS0912", "tool missing"),
    entry!(UnusedSuppression, "CS0913", "suppression without effect"),
    entry!(BadSuppression, "CS0914", "invalid suppression comment"),
    entry!(BadConfiguration, "CS0915", "bad configuration"),
    entry!(BadBaseline, "CS0916", "bad baseline"),
    entry!(Internal, "CS0999", "internal error"),
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

    /// The code of findings that was meant by a number that does not exist.
    #[must_use]
    pub fn nearest(number: &str) -> Option<Code> {
        let found = Code::all().filter(|code| code.is_suppressible()).map(Code::number);
        nearest(number, found).and_then(Code::parse)
    }

    /// Whether findings of that kind can be allowed: what is wrong with a program that compiles and runs, and comments that
    /// allow something in vain.
    #[must_use]
    pub fn is_suppressible(self) -> bool {
        let number = self.number();
        let is_finding = ["CS03", "CS04", "CS05"].iter().any(|class| number.starts_with(class));
        is_finding || matches!(self, Code::UnusedSuppression | Code::BadSuppression)
    }

    /// Why others cannot.
    pub const NOT_SUPPRESSIBLE: &str =
        "findings CS03xx, CS04xx and CS05xx can be allowed; errors of syntax, names and types, and limits cannot";

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
