//! The bounds that keep time and memory linear in the size of any input.

/// Brackets, braces and cobegins that may be open at once.
pub(crate) const MAX_NESTING: usize = 256;

/// Statements without braces, conditional expressions and prefix operators that may be open at once: each holds a place
/// on the stack of the parser. More than [`super::ast::MAX_DEPTH`], which is the bound of the tree.
pub(crate) const MAX_PREFIXES: u32 = 512;

/// Errors after which the parser stops, or the check of names and types. All that was found is shown.
pub(crate) const MAX_PROBLEMS: usize = 10_000;

/// Skipping a token after an error costs the parser the square of what is open around it. So much may be spent in one
/// file, and no statement may be so long that skipping it costs more: at the greatest depth some 10,000 tokens, in the
/// body of a function millions.
pub(crate) const RECOVERY_BUDGET: u64 = 1 << 30;
