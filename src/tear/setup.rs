//! The fixed data of a search for a tear, and the signals of its monitors to the search.

use super::pattern::{Distance, Other, Places, TearPattern};
use super::row::RowCells;
use cssame_ir::Program;
use std::sync::atomic::{AtomicBool, Ordering};

/// Yes or no. A monitor may be sent to another thread; this one is not used in several at a time.
#[derive(Debug, Default)]
pub(super) struct Flag(AtomicBool);

impl Flag {
    pub(super) fn set(&self, value: bool) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What monitors tell the search; not a part of any state.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// This step has torn the two apart.
    pub torn: Flag,
    /// In this step the other method fails after it has touched one mixed_view that is new and one that is not.
    pub mixed_view: Flag,
    /// Some execution has changed the second variable after a touch of the first.
    pub completed: Flag,
    /// Some activation has made both accesses.
    pub made: Flag,
    /// Something was too much to remember.
    pub overflow: Flag,
}

/// What does not change in a search.
#[derive(Debug)]
pub(super) struct Fixed {
    pub pattern: TearPattern,
    pub places: Places,
    pub distance: Option<Distance>,
    pub rows: RowCells,
    pub signals: Signals,
}

impl Fixed {
    pub(super) fn new(program: &Program, pattern: &TearPattern) -> Fixed {
        let [first, second] = pattern.sides;
        Fixed {
            pattern: pattern.clone(),
            places: Places::new(program, pattern),
            distance: Distance::between(program, first, second),
            rows: RowCells::new(program, pattern),
            signals: Signals::default(),
        }
    }

    /// Whether what others have done counts, of which the named method has a part or not.
    pub(super) fn is_enough(&self, named: bool) -> bool {
        named || self.pattern.other == Other::Anyone
    }
}
