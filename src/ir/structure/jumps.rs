//! Determines which jumps are needed, and which labels they need.
//!
//! **Input**: the [`Token`]s of a function. **Output**: [`Jumps`].
//!
//! **Algorithm**
//! 1. Backwards: a jump is idle if nothing follows it up to its target. From the end of a statement, control reaches without a
//!    jump the ends of the innermost surrounding statements, up to the first one with a successor. A `return` is idle at the end
//!    of a function without a result.
//! 2. Forwards: a jump needs a label unless it leads out of the innermost loop, or to its head. If a labelled block contains only
//!    a loop, the loop has the label itself.

use super::Label;
use super::place::Token;
use crate::{Function, Terminator};

/// What is known of the tokens, by their places.
pub(super) struct Jumps {
    /// Of a jump or a return: whether control goes there anyway.
    pub(super) is_idle: Vec<bool>,
    /// Of the beginning of a labelled block or a loop, and of a jump to it: the label, if one is needed.
    pub(super) labels: Vec<Option<Label>>,
    /// Of the beginning of a labelled block: whether it holds a loop and nothing else, whose label it has.
    pub(super) is_of_loop: Vec<bool>,
    /// Of the beginning of a loop: whether something breaks it.
    pub(super) is_left: Vec<bool>,
}

/// Judges the jumps of a function.
pub(super) fn judge_jumps(function: &Function, tokens: &[Token]) -> Jumps {
    let ends = matching_ends(tokens);
    let mut jumps = Jumps {
        is_idle: idle_jumps(function, tokens, &ends.begins),
        labels: vec![None; tokens.len()],
        is_of_loop: vec![false; tokens.len()],
        is_left: vec![false; tokens.len()],
    };
    for (at, token) in tokens.iter().enumerate() {
        jumps.is_of_loop[at] = matches!(token, Token::Labelled(_))
            && matches!(tokens.get(at + 1), Some(Token::Loop(_)))
            && ends.ends[at] == ends.ends[at + 1] + 1;
    }
    jumps.choose_labels(function, tokens);
    jumps
}

/// Beginnings and ends of statements that hold others.
struct Ends {
    /// By the place of a beginning.
    ends: Vec<usize>,
    /// By the place of an end.
    begins: Vec<usize>,
}

fn matching_ends(tokens: &[Token]) -> Ends {
    let mut found = Ends { ends: vec![0; tokens.len()], begins: vec![0; tokens.len()] };
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Labelled(_) | Token::Loop(_) | Token::If(_) => open.push(at),
            Token::End => {
                let begin = open.pop().unwrap_or(at);
                found.ends[begin] = at;
                found.begins[at] = begin;
            }
            _ => {}
        }
    }
    found
}

/// What is reached without a jump from a place.
#[derive(Clone, Copy)]
struct Reached {
    /// The ends of the statements around the place from this one inwards, counted from outside; 0 is the function.
    first: usize,
    /// Whether the place is the end of the innermost statement: else the next statement is reached, and no end.
    is_end: bool,
}

impl Reached {
    /// Whether the end of the statement that has so many around it is reached.
    fn reaches(self, depth: usize) -> bool {
        self.is_end && depth >= self.first
    }
}

/// Step 1.
fn idle_jumps(function: &Function, tokens: &[Token], begins: &[usize]) -> Vec<bool> {
    let mut is_idle = vec![false; tokens.len()];
    // By target: how many statements are around the labelled block before it, or around the loop that it is the head of.
    let mut labelled = vec![0; function.blocks.len()];
    let mut looped = vec![0; function.blocks.len()];
    let mut around: Vec<Reached> = Vec::new();
    let mut here = Reached { first: 0, is_end: true };
    let nothing_follows = |here: &mut Reached, depth: usize| {
        let is_idle = here.reaches(depth);
        here.is_end &= is_idle;
        is_idle
    };
    for (at, token) in tokens.iter().enumerate().rev() {
        match *token {
            Token::End => {
                around.push(here);
                let (depth, begin) = (around.len(), tokens[begins[at]]);
                let is_kept = here.is_end && !matches!(begin, Token::Loop(_));
                here = Reached { first: if is_kept { here.first } else { depth }, is_end: true };
                match begin {
                    Token::Labelled(target) => labelled[target.index()] = depth,
                    Token::Loop(head) => looped[head.index()] = depth,
                    _ => {}
                }
            }
            // The first way of an `If` ends where the second one does.
            Token::Else => here = inside_if(&around),
            Token::Labelled(_) | Token::Loop(_) | Token::If(_) => {
                let outside = around.pop().unwrap_or(here);
                here = Reached { is_end: false, ..outside };
            }
            Token::Block(_) => here.is_end = false,
            Token::Break(target) => is_idle[at] = nothing_follows(&mut here, labelled[target.index()]),
            Token::Continue(head) => is_idle[at] = nothing_follows(&mut here, looped[head.index()]),
            Token::Return(block) => {
                let is_plain = matches!(function.blocks[block].terminator, Terminator::Return(None));
                is_idle[at] = is_plain && function.result.is_none() && here.reaches(0);
                here.is_end &= is_idle[at];
            }
        }
    }
    is_idle
}

fn inside_if(around: &[Reached]) -> Reached {
    let first = around.last().filter(|outside| outside.is_end).map_or(around.len(), |outside| outside.first);
    Reached { first, is_end: true }
}

impl Jumps {
    /// Step 2.
    fn choose_labels(&mut self, function: &Function, tokens: &[Token]) {
        // By target, where the labelled block or the loop begins that a jump to it leaves or continues.
        let mut labelled = vec![0; function.blocks.len()];
        let mut looped = vec![0; function.blocks.len()];
        let mut open = Vec::new();
        let mut loops: Vec<usize> = Vec::new();
        // Jumps that need a label, and where what they name begins.
        let mut needing = Vec::new();
        let mut is_named = vec![false; tokens.len()];
        for (at, token) in tokens.iter().enumerate() {
            let target = match *token {
                Token::Labelled(target) => {
                    labelled[target.index()] = at + usize::from(self.is_of_loop[at]);
                    open.push(at);
                    continue;
                }
                Token::Loop(head) => {
                    looped[head.index()] = at;
                    open.push(at);
                    loops.push(at);
                    continue;
                }
                Token::If(_) => {
                    open.push(at);
                    continue;
                }
                Token::End => {
                    if open.pop() == loops.last().copied() {
                        loops.pop();
                    }
                    continue;
                }
                Token::Break(target) if !self.is_idle[at] => {
                    let begin = labelled[target.index()];
                    self.is_left[begin] = true;
                    begin
                }
                Token::Continue(head) if !self.is_idle[at] => looped[head.index()],
                _ => continue,
            };
            if loops.last() != Some(&target) {
                is_named[target] = true;
                needing.push((at, target));
            }
        }
        let named = is_named.iter().enumerate().filter(|(_, is_named)| **is_named);
        for (number, (begin, _)) in named.enumerate() {
            self.labels[begin] = Some(Label::new(number));
        }
        for (jump, begin) in needing {
            self.labels[jump] = self.labels[begin];
        }
    }
}
