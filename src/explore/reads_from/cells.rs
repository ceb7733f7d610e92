//! Numbers of cells, the same in all executions.
//!
//! **Input**: names of cells, and their current addresses. **Output**: a number for each cell.
//!
//! **Algorithm**: a global keeps its address. A cell of a local is numbered at its first access. Its name contains the thread
//! that has created the local, and how many instances of that variable the thread had created before. A local that is created
//! again is another one, so it begins without writes.
//!
//! **Soundness and limits**: a name depends on the actions of its thread, and so only on the past of an access. Numbers are never
//! reused: there are as many as there are names in all executions together.

use cssame_vm::Cell;
use rustc_hash::FxHashMap;

#[derive(Debug)]
pub(super) struct Cells {
    /// The number of the next local.
    next: u32,
    locals: FxHashMap<Cell, u32>,
    /// By semaphore: the number under which it is raised.
    raises: FxHashMap<u32, u32>,
}

impl Cells {
    /// `globals` is the number of addresses that globals may have.
    pub fn new(globals: u32) -> Cells {
        Cells { next: globals, locals: FxHashMap::default(), raises: FxHashMap::default() }
    }

    /// The number of a cell; that of the first address, which nothing uses, if none was accessed.
    pub fn number(&mut self, accessed: Option<(Cell, u32)>) -> u32 {
        let Some((cell, address)) = accessed else { return 0 };
        // Where no local is made, cells have no names.
        if cell.object.is_global() {
            return address;
        }
        let Cells { next, locals, .. } = self;
        *locals.entry(cell).or_insert_with(|| take(next))
    }

    /// The number under which a semaphore is raised, which has no order with lowering it.
    pub fn raises_of(&mut self, semaphore: u32) -> u32 {
        let Cells { next, raises, .. } = self;
        *raises.entry(semaphore).or_insert_with(|| take(next))
    }
}

fn take(next: &mut u32) -> u32 {
    *next += 1;
    *next - 1
}
