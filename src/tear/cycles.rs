//! The cycles of conflicts that contain an activation of the method, and which of the two accesses it has made.
//!
//! **Input**: the accesses that an activation has made ([`PendingAccess`]), and the next one. **Output**: whether the activation
//! is in a cycle with others, through cells of the two variables that belong together, and has made both accesses in these cells.
//!
//! **Algorithm**: the cells of a cycle identify it: cells of the first variable, of the second one, or of both.
//!
//! **Soundness and limits**: a cycle through one variable uses one cell; elements of one array are not assumed to belong
//! together.

use super::encoding::{Words, encode_list};
use super::pending::{Access, PendingAccess};
use super::setup::Fixed;

/// No cell of that variable.
const NONE: u32 = u32::MAX;

/// The cells of the cycles: of the first variable, and of the second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cycles(Vec<(u32, u32)>);

impl Cycles {
    /// Notes the cycles that an access closes; gives the access that one of them begins with.
    pub fn note(&mut self, fixed: &Fixed, pending: &[PendingAccess], access: Access) -> Option<PendingAccess> {
        if !fixed.pattern.is_plain() {
            return None;
        }
        let mut begun = None;
        for touch in pending.iter().filter(|touch| touch.closes_cycle(fixed, access)) {
            let other = if touch.cell == access.cell { NONE } else { access.cell };
            let cells = if touch.side == 0 { (touch.cell, other) } else { (other, touch.cell) };
            if let Err(place) = self.0.binary_search(&cells) {
                self.0.insert(place, cells);
                begun = Some(touch.clone());
            }
        }
        begun
    }

    /// Whether there is one.
    pub fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether both accesses were made in one of the cycles. Tells the search too whether they were made at all.
    pub fn has_both(&self, fixed: &Fixed, pending: &[PendingAccess]) -> bool {
        if fixed.pattern.is_plain() && !fixed.signals.made.get() && has_made_both(fixed, pending) {
            fixed.signals.made.set(true);
        }
        self.0.iter().any(|&cells| has_both_of(fixed, pending, cells))
    }

    pub fn encode(&self, words: &mut Vec<u64>) {
        encode_list(&self.0, words, u64::from);
    }

    pub fn decode(words: &mut Words<'_>) -> Cycles {
        Cycles(words.list(|word| word as u32))
    }
}

/// Whether both were made, of cells that belong together.
fn has_made_both(fixed: &Fixed, pending: &[PendingAccess]) -> bool {
    let of = |side: u8| pending.iter().filter(move |touch| touch.side == side && touch.is_asked_for(fixed));
    of(0).any(|first| of(1).any(|second| first.fits(fixed, (second.cell, second.row))))
}

/// Whether both were made of the cells of a cycle.
fn has_both_of(fixed: &Fixed, pending: &[PendingAccess], (first, second): (u32, u32)) -> bool {
    let (side, cell) = if first == NONE { (1, second) } else { (0, first) };
    let Some(known) = pending.iter().find(|touch| touch.side == side && touch.cell == cell) else { return false };
    let is_made = |of: u8, cell: u32| {
        let mut asked = pending.iter().filter(|touch| touch.side == of && touch.is_asked_for(fixed));
        asked.any(|touch| if cell == NONE { known.fits(fixed, (touch.cell, touch.row)) } else { touch.cell == cell })
    };
    is_made(0, first) && is_made(1, second)
}
