//! Structured control flow from the graph of a function, for languages without `goto`.
//!
//! **Input**: a [`Function`]. **Output**: the same control flow as a tree of [`Structured`]: `if`, loops, labelled blocks,
//! `break`, `continue` and `return`, as in Java and related languages.
//!
//! **Algorithm** (Ramsey, "Beyond Relooper", ICFP 2022)
//! 1. Find dominators and loops (`graph`, `loops`). A loop has at most one *follow*: the block after the loop in the text.
//! 2. Place each block (`place`): a block with one incoming edge is placed at the target of that edge; a block with several is
//!    placed after its immediate dominator, behind a labelled block that the incoming edges leave; the follow of a loop is placed
//!    after the loop. Blocks are in reverse postorder, so that every incoming edge leads forward.
//! 3. Omit jumps to the place where control continues anyway, and find the necessary labels (`jumps`).
//! 4. Build the tree from the inside out (`build`): of two branches, the one that does not complete comes first and has no
//!    `else`.
//!
//! There is no recursion over the graph. The work is linear, except for a logarithm (dominators) and the depth of the loops.
//!
//! **Soundness and limits**: a graph with a loop that has two entries gives [`StructureError::Irreducible`]; the front end makes
//! none. More than [`MAX_NESTING`] levels give [`StructureError::TooDeep`]; this requires hundreds of nested statements, or of
//! cases that fall through. The position of a block in the text affects the form of the tree, not its behaviour. A condition of
//! several tests (`&&`, `||`) is an `If` for each test.

mod build;
mod completion;
mod graph;
mod jumps;
mod loops;
mod place;

use super::arena::id;
use super::{BlockId, Function, Operand};
pub use completion::completes;
use graph::Graph;
use loops::Loops;
use thiserror::Error;

id! {
    /// A label of a [`Structured::Labelled`] or of a loop; counted from 0 in the order of the text.
    Label
}

/// Levels that a tree may have.
pub const MAX_NESTING: u32 = 1_000;

/// A statement. The instructions of a block stand at one place in the tree, in a [`Structured::Block`] or a [`Structured::While`]; a
/// block without instructions has no `Block`.
#[derive(Clone, Debug, PartialEq)]
pub enum Structured {
    /// The instructions of that block, without its terminator.
    Block(BlockId),
    /// One of two ways. The `Block` of the same block stands right before it; at most labelled blocks begin in between.
    If {
        /// The block whose terminator this is.
        block: BlockId,
        /// What is tested.
        condition: Operand,
        /// Whether `then` is run where the condition does not hold.
        negated: bool,
        /// Never empty.
        then: Vec<Structured>,
        /// What is run else. Where `then` does not come to its end, this is empty, and the rest stands behind. An `else if` is
        /// one `If` alone, or behind its `Block`.
        otherwise: Vec<Structured>,
    },
    /// Runs its body for ever; a [`Structured::Break`] leaves it.
    Loop {
        /// Its label, if an inner loop names it.
        label: Option<Label>,
        /// What is run.
        body: Vec<Structured>,
    },
    /// A loop that first runs the instructions of a block, each time, and ends where the test fails. A
    /// [`Structured::Continue`] leads to those instructions.
    While {
        /// Its label, if an inner loop names it.
        label: Option<Label>,
        /// The block whose terminator this is, and which the caller can write as an expression.
        block: BlockId,
        /// What is tested: a register.
        condition: Operand,
        /// Whether the loop goes on where the condition does not hold.
        negated: bool,
        /// What is run where it goes on.
        body: Vec<Structured>,
    },
    /// Runs its body once; a [`Structured::Break`] with that label leaves it.
    Labelled {
        /// Its label; some `Break` names it.
        label: Label,
        /// What is run.
        body: Vec<Structured>,
    },
    /// Goes on behind the innermost loop, or behind the statement with that label.
    Break(Option<Label>),
    /// Goes on at the head of the innermost loop, or of that one.
    Continue(Option<Label>),
    /// The end of the function.
    Return {
        /// The block whose terminator this is.
        block: BlockId,
        /// The result.
        value: Option<Operand>,
    },
}

/// Why a function has no structured form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StructureError {
    /// A jump backwards to a block that control can go round: the loop has more than one entry.
    #[error("the jump from block {} back to block {} enters a loop that has another entry", from.0, to.0)]
    Irreducible {
        /// Where the jump is.
        from: BlockId,
        /// Where it leads.
        to: BlockId,
    },
    /// More than [`MAX_NESTING`] levels.
    #[error("the function needs more than {MAX_NESTING} levels of statements in each other")]
    TooDeep,
}

/// The body of a function as statements.
///
/// `may_test` says of a block with a branch whether the caller can write all its instructions and the test as one expression:
/// then it may be the test of a [`Structured::While`]. In Java that expression must not be constant (`1 < 2`), else
/// what stands behind the loop counts as unreachable; a constant operand never becomes the test of a `While`.
///
/// A `return` at the end of a function without a result is left out. The statements of a function with a result never come to
/// their end, in the sense of [`completes`], so that nothing has to be written behind them.
///
/// # Errors
///
/// Where the graph is irreducible, or the tree would have too many levels.
pub fn structured(function: &Function, may_test: &dyn Fn(BlockId) -> bool) -> Result<Vec<Structured>, StructureError> {
    let graph = Graph::new(function)?;
    let loops = Loops::new(&graph);
    let tokens = place::place_blocks(&graph, &loops);
    let jumps = jumps::judge_jumps(function, &tokens);
    build::build_tree(function, &tokens, &jumps, may_test)
}
