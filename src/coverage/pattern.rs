//! The 17 memory-access patterns, as data.
//!
//! **Source**: Wang et al., "MAP-Coverage: A Novel Coverage Criterion for Testing Thread-Safe Classes" (ASE 2019), table I,
//! after Park, Vuduc and Harrold. A pattern is a word of two to four letters; each letter says which of two threads makes
//! the access, to which of two variables, and whether it reads or writes. By convention thread `a` begins, on variable `x`.
//! Patterns 9 to 17 have two variables, which are distinct.

/// Which of the two threads of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The one that begins.
    A,
    /// The other one.
    B,
}

impl Role {
    /// `a` or `b`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Role::A => "a",
            Role::B => "b",
        }
    }
}

/// Which of the variables of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// That of the first access.
    X,
    /// The other one.
    Y,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

impl Kind {
    /// `read` or `write`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
        }
    }
}

/// One access of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter {
    /// Who makes it.
    pub role: Role,
    /// To which variable.
    pub slot: Slot,
    /// What it does.
    pub kind: Kind,
}

/// A pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its number in table I, from 1.
    pub number: u8,
    /// Its accesses, in order.
    pub letters: &'static [Letter],
}

impl Pattern {
    /// Whether it is about two variables.
    #[must_use]
    pub fn has_two_variables(&self) -> bool {
        self.letters.iter().any(|letter| letter.slot == Slot::Y)
    }

    /// `a reads, b writes, a reads`; with two variables `a writes x, b writes x, …`.
    #[must_use]
    pub fn name(&self) -> String {
        let two = self.has_two_variables();
        let variable = |slot: Slot| match slot {
            _ if !two => "",
            Slot::X => " x",
            Slot::Y => " y",
        };
        let word = |letter: &Letter| format!("{} {}s{}", letter.role.word(), letter.kind.word(), variable(letter.slot));
        self.letters.iter().map(word).collect::<Vec<_>>().join(", ")
    }
}

/// Letters of a pattern at most.
pub const MAX_LETTERS: usize = 4;

const A_RX: Letter = Letter { role: Role::A, slot: Slot::X, kind: Kind::Read };
const A_WX: Letter = Letter { role: Role::A, slot: Slot::X, kind: Kind::Write };
const A_RY: Letter = Letter { role: Role::A, slot: Slot::Y, kind: Kind::Read };
const A_WY: Letter = Letter { role: Role::A, slot: Slot::Y, kind: Kind::Write };
const B_RX: Letter = Letter { role: Role::B, slot: Slot::X, kind: Kind::Read };
const B_WX: Letter = Letter { role: Role::B, slot: Slot::X, kind: Kind::Write };
const B_RY: Letter = Letter { role: Role::B, slot: Slot::Y, kind: Kind::Read };
const B_WY: Letter = Letter { role: Role::B, slot: Slot::Y, kind: Kind::Write };

const fn pattern(number: u8, letters: &'static [Letter]) -> Pattern {
    Pattern { number, letters }
}

/// Table I.
pub const PATTERNS: [Pattern; 17] = [
    pattern(1, &[A_RX, B_WX]),
    pattern(2, &[A_WX, B_RX]),
    pattern(3, &[A_WX, B_WX]),
    pattern(4, &[A_RX, B_WX, A_RX]),
    pattern(5, &[A_WX, B_WX, A_RX]),
    pattern(6, &[A_WX, B_RX, A_WX]),
    pattern(7, &[A_RX, B_WX, A_WX]),
    pattern(8, &[A_WX, B_WX, A_WX]),
    pattern(9, &[A_WX, B_WX, B_WY, A_WY]),
    pattern(10, &[A_WX, B_WY, B_WX, A_WY]),
    pattern(11, &[A_WX, B_WY, A_WY, B_WX]),
    pattern(12, &[A_WX, B_RX, B_RY, A_WY]),
    pattern(13, &[A_WX, B_RY, B_RX, A_WY]),
    pattern(14, &[A_RX, B_WX, B_WY, A_RY]),
    pattern(15, &[A_RX, B_WY, B_WX, A_RY]),
    pattern(16, &[A_RX, B_WY, A_RY, B_WX]),
    pattern(17, &[A_WX, B_RY, A_WY, B_RX]),
];

/// A pattern of the table, by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatternId(pub u8);

impl PatternId {
    /// All patterns, in order.
    pub fn all() -> impl Iterator<Item = PatternId> {
        (0..PATTERNS.len() as u8).map(PatternId)
    }

    /// The pattern.
    #[must_use]
    pub fn get(self) -> &'static Pattern {
        &PATTERNS[usize::from(self.0)]
    }
}
