//! The tree of a function.
//!
//! **Input**: the [`Token`]s of a function, and the jumps and labels that they need. **Output**: the statements.
//!
//! **Algorithm**: the tokens are read once. A statement is simplified when it ends, depending on its contents.
//! 1. A labelled block whose label is unused is replaced by its body.
//! 2. If one side of an `If` does not complete, only that side stays in it, and the other side follows it. An omitted `continue`
//!    or `return` is restored if it saves the other side a level.
//! 3. A loop that begins with the test of its head, which leaves the loop, is a `While` if the caller can write the test.

use super::jumps::Jumps;
use super::place::Token;
use super::{Label, MAX_NESTING, StructureError, Structured};
use crate::{BlockId, Function, Operand, Terminator};

/// A jump that needs no label and has been left out, since control goes there anyway.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    /// To the head of the innermost loop.
    Continue,
    /// The end of the function, by that block.
    Return(BlockId),
}

/// Statements one after the other.
struct Sequence {
    statements: Vec<Structured>,
    /// Whether the last one comes to its end ([`super::completes`]).
    completes: bool,
    /// What has been left out at the end.
    left_out: Option<LeftOut>,
    levels: u32,
}

/// A statement that has not ended yet.
struct Frame {
    /// Where it begins.
    begin: usize,
    /// Of an `If` in its `Else`: what stands before.
    then: Option<Sequence>,
    body: Sequence,
}

/// The statements of the function.
pub(super) fn build_tree(
    function: &Function,
    tokens: &[Token],
    jumps: &Jumps,
    may_test: &dyn Fn(BlockId) -> bool,
) -> Result<Vec<Structured>, StructureError> {
    let mut builder = Builder { function, tokens, jumps, may_test, outer: Vec::new(), body: Sequence::new() };
    for at in 0..tokens.len() {
        builder.take(at)?;
    }
    Ok(builder.body.statements)
}

struct Builder<'a> {
    function: &'a Function,
    tokens: &'a [Token],
    jumps: &'a Jumps,
    may_test: &'a dyn Fn(BlockId) -> bool,
    /// The statements around the current place; the `body` of each is what stands before the next one.
    outer: Vec<Frame>,
    body: Sequence,
}

impl Builder<'_> {
    fn take(&mut self, at: usize) -> Result<(), StructureError> {
        let label = self.jumps.labels[at];
        match self.tokens[at] {
            Token::Labelled(_) | Token::Loop(_) | Token::If(_) => {
                let body = std::mem::take(&mut self.body);
                self.outer.push(Frame { begin: at, then: None, body });
            }
            Token::Else => {
                if let Some(frame) = self.outer.last_mut() {
                    frame.then = Some(std::mem::take(&mut self.body));
                }
            }
            Token::End => {
                if let Some(Frame { begin, then, body }) = self.outer.pop() {
                    let inner = std::mem::replace(&mut self.body, body);
                    self.end(begin, then, inner)?;
                }
            }
            Token::Block(block) => self.body.push(Structured::Block(block), true),
            Token::Break(_) if self.jumps.is_idle[at] => self.body.left_out = None,
            Token::Break(_) => self.body.push(Structured::Break(label), false),
            Token::Continue(_) if self.jumps.is_idle[at] => self.body.left_out = Some(LeftOut::Continue),
            Token::Continue(_) => self.body.push(Structured::Continue(label), false),
            Token::Return(block) if self.jumps.is_idle[at] => self.body.left_out = Some(LeftOut::Return(block)),
            Token::Return(block) => self.body.push(self.return_of(block), false),
        }
        Ok(())
    }

    fn return_of(&self, block: BlockId) -> Structured {
        let value = match self.function.blocks[block].terminator {
            Terminator::Return(value) => value,
            _ => None,
        };
        Structured::Return { block, value }
    }

    fn end(&mut self, begin: usize, then: Option<Sequence>, inner: Sequence) -> Result<(), StructureError> {
        let label = self.jumps.labels[begin];
        match (self.tokens[begin], label) {
            (Token::If(block), _) => self.end_if(block, then.unwrap_or_default(), inner),
            (Token::Loop(head), _) => {
                let levels = inner.levels + 1;
                let statement = self.end_loop(label, head, inner.statements);
                // A `while` is left by its test.
                let is_while = matches!(statement, Structured::While { .. });
                self.body.nest(statement, is_while || self.jumps.is_left[begin], levels)
            }
            (_, Some(label)) if !self.jumps.is_of_loop[begin] => {
                let levels = inner.levels + 1;
                self.body.nest(Structured::Labelled { label, body: inner.statements }, true, levels)
            }
            _ => {
                self.body.append(inner);
                Ok(())
            }
        }
    }

    /// Step 2.
    fn end_if(&mut self, block: BlockId, then: Sequence, otherwise: Sequence) -> Result<(), StructureError> {
        let is_jump = |way: &Sequence| matches!(way.statements[..], [Structured::Break(_) | Structured::Continue(_)]);
        let is_gone = |way: &Sequence| way.statements.is_empty() && way.left_out.is_some();
        // Whether the second way goes first, and the other behind.
        let guard = match (then.completes, otherwise.completes) {
            (false, false) => Some(is_jump(&otherwise) && !is_jump(&then)),
            (false, true) => Some(false),
            (true, false) => Some(true),
            (true, true) if then.statements.is_empty() && otherwise.statements.is_empty() => {
                self.body.left_out = then.left_out.filter(|_| then.left_out == otherwise.left_out);
                return Ok(());
            }
            (true, true) if is_gone(&otherwise) => Some(true),
            (true, true) if otherwise.statements.is_empty() => None,
            (true, true) if then.left_out.is_some() && otherwise.left_out.is_some() => Some(false),
            (true, true) => None,
        };
        let negated = guard.unwrap_or(then.statements.is_empty());
        let (mut first, second) = if negated { (otherwise, then) } else { (then, otherwise) };
        if guard.is_some() {
            self.restore(&mut first);
        }
        let (inline, behind) = if guard.is_some() { (Sequence::new(), second) } else { (second, Sequence::new()) };
        let condition = self.condition(block);
        // One way is enough, and an `if` without `else` counts as one that goes on.
        let completes = inline.statements.is_empty() || first.completes || inline.completes;
        let levels = first.levels.max(inline.levels) + 1;
        let (then, otherwise) = (first.statements, inline.statements);
        self.body.nest(Structured::If { block, condition, negated, then, otherwise }, completes, levels)?;
        self.body.append(behind);
        Ok(())
    }

    fn condition(&self, block: BlockId) -> Operand {
        match self.function.blocks[block].terminator {
            Terminator::Branch { condition, .. } => condition,
            // Only a branch makes an `If`; the constant keeps this total.
            _ => Operand::Constant(crate::Value::Bool(true)),
        }
    }

    /// Puts back the jump at the end that was left out.
    fn restore(&self, way: &mut Sequence) {
        match way.left_out {
            Some(LeftOut::Continue) => way.push(Structured::Continue(None), false),
            Some(LeftOut::Return(block)) => way.push(self.return_of(block), false),
            None => {}
        }
    }

    /// Makes a `while` of a loop that begins with the instructions of its head and the test that leaves it.
    fn end_loop(&self, label: Option<Label>, head: BlockId, mut body: Vec<Structured>) -> Structured {
        let tested = usize::from(body.first() == Some(&Structured::Block(head)));
        if let Some(Structured::If { block, condition: condition @ Operand::Register(_), negated, then, otherwise }) =
            body.get(tested)
            && *block == head
            && then[..] == [Structured::Break(None)]
            && otherwise.is_empty()
            && (self.may_test)(head)
        {
            let (block, condition, negated) = (*block, *condition, !negated);
            body.drain(..=tested);
            return Structured::While { label, block, condition, negated, body };
        }
        Structured::Loop { label, body }
    }
}

impl Default for Sequence {
    fn default() -> Sequence {
        Sequence::new()
    }
}

impl Sequence {
    fn new() -> Sequence {
        Sequence { statements: Vec::new(), completes: true, left_out: None, levels: 0 }
    }

    fn push(&mut self, statement: Structured, completes: bool) {
        self.statements.push(statement);
        self.completes = completes;
        self.left_out = None;
        self.levels = self.levels.max(1);
    }

    /// Adds a statement that holds others.
    fn nest(&mut self, statement: Structured, completes: bool, levels: u32) -> Result<(), StructureError> {
        if levels > MAX_NESTING {
            return Err(StructureError::TooDeep);
        }
        self.push(statement, completes);
        self.levels = self.levels.max(levels);
        Ok(())
    }

    fn append(&mut self, more: Sequence) {
        self.left_out = more.left_out;
        if !more.statements.is_empty() {
            self.statements.extend(more.statements);
            self.completes = more.completes;
            self.levels = self.levels.max(more.levels);
        }
    }
}
