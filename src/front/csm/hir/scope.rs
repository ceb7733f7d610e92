//! Scopes: the meaning of each name at a place, and the arm of a `cobegin` that contains the place.

use super::{ClassId, FunctionId, VariableId};
use cssame_source::texts::TextId;
use rustc_hash::FxHashMap;

/// What a name may mean besides a field of the enclosing class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// A variable.
    Variable(VariableId),
    /// A constant set by the command line.
    Input(super::Constant),
}

/// The arm of a `cobegin`/`parfor` that is being checked.
#[derive(Debug, Default)]
pub struct ArmContext {
    /// Captured locals, in the order of first use.
    pub captures: Vec<VariableId>,
    /// Whether the object of the method is used.
    pub uses_this: bool,
    /// Anonymous barriers by count, made for the statement that holds the arm.
    pub barriers: Vec<(u32, VariableId)>,
}

/// The body that is being checked.
#[derive(Debug, Default)]
pub struct BodyContext {
    /// The class of a method.
    pub class: Option<ClassId>,
    /// The function, once it has an id.
    pub function: Option<FunctionId>,
    /// Locals of the open blocks: name, variable, and the number of arms open at the declaration.
    pub(super) locals: Vec<(TextId, VariableId, usize)>,
    /// Where each open block begins in `locals`.
    pub(super) blocks: Vec<usize>,
    /// By name, the indices into `locals`, innermost last.
    pub(super) by_name: FxHashMap<TextId, Vec<u32>>,
    /// Open arms, outermost first.
    pub arms: Vec<ArmContext>,
    /// Open loops of the innermost arm.
    pub loops: u32,
    /// Open switches of the innermost arm.
    pub switches: u32,
    /// Open atomic blocks.
    pub atomic: u32,
}

impl BodyContext {
    /// Opens a block.
    pub fn open(&mut self) {
        self.blocks.push(self.locals.len());
    }

    /// Closes the innermost block.
    pub fn close(&mut self) {
        let start = self.blocks.pop().unwrap_or(0);
        for (name, _, _) in self.locals.drain(start..) {
            if let Some(indices) = self.by_name.get_mut(&name) {
                indices.pop();
            }
        }
    }

    /// Declares a local in the innermost block; returns the variable of that name that the same block already has.
    pub fn declare(&mut self, name: TextId, variable: VariableId) -> Option<VariableId> {
        let start = self.blocks.last().copied().unwrap_or(0);
        let indices = self.by_name.entry(name).or_default();
        let earlier =
            indices.last().filter(|&&index| index as usize >= start).map(|&index| self.locals[index as usize].1);
        indices.push(self.locals.len() as u32);
        self.locals.push((name, variable, self.arms.len()));
        earlier
    }

    /// The local of that name, and the number of arms that were open where it was declared.
    #[must_use]
    pub fn find(&self, name: TextId) -> Option<(VariableId, usize)> {
        let index = *self.by_name.get(&name)?.last()?;
        let (_, variable, arms) = self.locals[index as usize];
        Some((variable, arms))
    }

    /// Notes that a local which was declared with `depth` arms open is used here. True if an arm captures it.
    pub fn capture(&mut self, variable: VariableId, depth: usize) -> bool {
        let captured = depth < self.arms.len();
        for arm in self.arms.iter_mut().skip(depth) {
            if !arm.captures.contains(&variable) {
                arm.captures.push(variable);
            }
        }
        captured
    }

    /// Whether a block of a body is open: else a declaration is one of a global.
    #[must_use]
    pub fn in_block(&self) -> bool {
        !self.blocks.is_empty()
    }
}
