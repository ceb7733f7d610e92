//! Memory: addresses of globals, initial values, and the allocator of locals.
//!
//! **Input**: the variables of a program.
//!
//! **Output**: a [`Layout`]: from variables to addresses, and from addresses back to names.
//!
//! **Algorithm**: address 0 is no address. Globals come first, in their order; after them the cells of locals, first fit. Freed
//! cells are zero again, so that no trace of them is left in a state.
//!
//! **Soundness and limits**: the address of a local depends on the order of steps; its name ([`Cell`]) does not.

use super::observe::{Cell, Object};
use super::state::{Block, NO_WRITER, OF_VARIABLE, REENTRANT, State, Word};
use super::tables::PathId;
use cssame_ir::points_to::has_pointers;
use cssame_ir::sync::ObjectKind;
use cssame_ir::{Leaf, LeafId, LeafKind, Pointer, Program, ScalarType, Storage, Value, Variable, VariableId};

/// The objects that pointers may lead to: globals, and the locals of a state.
#[derive(Clone, Copy)]
pub(super) struct Objects<'a> {
    layout: &'a Layout,
    blocks: &'a [Block],
}

/// What a cell is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Data of that type.
    Data(ScalarType),
    /// An object of that kind.
    Object(ObjectKind),
}

impl Content {
    fn of(kind: LeafKind) -> Content {
        match kind {
            LeafKind::Data(ty) => Content::Data(ty),
            LeafKind::Lock | LeafKind::ReentrantLock => Content::Object(ObjectKind::Lock),
            LeafKind::RwLock => Content::Object(ObjectKind::RwLock),
            LeafKind::Event => Content::Object(ObjectKind::Event),
            LeafKind::Barrier(_) => Content::Object(ObjectKind::Barrier),
            LeafKind::Condition => Content::Object(ObjectKind::Condition),
            LeafKind::Semaphore => Content::Object(ObjectKind::Semaphore),
        }
    }
}

impl Objects<'_> {
    /// The cell that a pointer leads to, which is to have that content; `None` where there is none.
    pub(super) fn address(self, pointer: Pointer, content: Content) -> Option<u32> {
        let (variable, address, cell) = self.cell(pointer)?;
        let contents = self.layout.contents.get(variable.index())?;
        (*contents.get(cell as usize)? == Some(content)).then_some(address)
    }

    /// The cell that a pointer leads to, whatever it is for: its variable, its address, and its number in the variable.
    pub(super) fn cell(self, pointer: Pointer) -> Option<(VariableId, u32, u32)> {
        let (object, cell) = pointer.target()?;
        let (variable, start, size) = match object {
            cssame_ir::Object::Global(variable) => {
                let size = self.layout.templates.get(variable.index())?.len() as u32;
                (variable, self.layout.global_address(variable)?, size)
            }
            cssame_ir::Object::Local(start) => {
                let at = self.blocks.binary_search_by_key(&start, |block| block.start).ok()?;
                (VariableId(self.blocks[at].variable), start, self.blocks[at].size)
            }
        };
        (cell < size).then_some((variable, start + cell, cell))
    }

    /// Whether the object of a pointer is there.
    pub(super) fn is_there(self, pointer: Pointer) -> bool {
        pointer.target().is_some_and(|(object, _)| self.cell(Pointer::to(object, 0)).is_some())
    }
}

/// Where globals stand and what variables begin with.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// By variable: the address of a global, 0 for a local.
    addresses: Vec<u32>,
    /// By variable: what its cells begin with.
    templates: Vec<Box<[Word]>>,
    /// All global cells at the start; the first is no cell.
    initial: Vec<Word>,
    /// The global variables, by rising address.
    globals: Vec<VariableId>,
    /// By variable and cell: the leaf, and the number of the element.
    leaves: Vec<Box<[Option<(LeafId, u32)>]>>,
    /// By variable and cell, where there are pointers: what the cell is for.
    contents: Vec<Box<[Option<Content>]>>,
    /// By address: the name of the cell of a global; the first is no cell.
    names: Vec<Cell>,
    /// Offsets of the locks, by variable.
    locks: Vec<Box<[u32]>>,
    /// Addresses of the locks of globals.
    global_locks: Vec<u32>,
    /// Whether there is a lock of any kind, and a readers-writer lock.
    pub(super) has_locks: bool,
    pub(super) has_rwlocks: bool,
}

impl Layout {
    /// The layout of a program.
    pub(super) fn new(program: &Program) -> Layout {
        let empty = Word { value: 0, writer: NO_WRITER };
        let nothing = Cell { object: Object::global(VariableId(0)), part: 0 };
        let has_rwlocks = program.leaves.iter().any(|leaf| leaf.kind == LeafKind::RwLock);
        let is_lock = |leaf: &Leaf| matches!(leaf.kind, LeafKind::Lock | LeafKind::ReentrantLock | LeafKind::RwLock);
        let has_locks = program.leaves.iter().any(is_lock);
        let mut layout =
            Layout { initial: vec![empty], names: vec![nothing], has_locks, has_rwlocks, ..Layout::default() };
        let has_pointers = has_pointers(program);
        for (id, variable) in program.variables.entries() {
            let template = template(program, variable);
            let address = match variable.storage {
                Storage::Global => {
                    layout.globals.push(id);
                    let address = layout.initial.len() as u32;
                    layout.initial.extend(&template);
                    layout
                        .names
                        .extend((0..template.len() as u32).map(|part| Cell { object: Object::global(id), part }));
                    address
                }
                Storage::Local(_) => 0,
            };
            layout.addresses.push(address);
            layout.templates.push(template.into_boxed_slice());
            let leaves = leaves_by_cell(program, variable);
            if has_pointers {
                let content = |of: &Option<(LeafId, u32)>| of.map(|(leaf, _)| Content::of(program.leaves[leaf].kind));
                layout.contents.push(leaves.iter().map(content).collect());
            }
            layout.leaves.push(leaves);
            let leaves = variable.leaves().map(|leaf| &program.leaves[leaf]);
            let locks: Box<[u32]> = leaves.filter(|leaf| is_lock(leaf)).flat_map(Leaf::cells).collect();
            if variable.storage == Storage::Global {
                layout.global_locks.extend(locks.iter().map(|offset| address + offset));
            }
            layout.locks.push(locks);
        }
        layout
    }

    /// The addresses of the locks of globals.
    pub(super) fn global_locks(&self) -> &[u32] {
        &self.global_locks
    }

    /// Calls `f` with the addresses of all locks.
    pub(super) fn each_lock(&self, blocks: &[Block], mut f: impl FnMut(u32)) {
        self.global_locks.iter().for_each(|&address| f(address));
        for block in blocks {
            self.locks[block.variable as usize].iter().for_each(|&offset| f(block.start + offset));
        }
    }

    /// The objects of a state.
    #[inline(always)]
    pub(super) fn objects<'a>(&'a self, blocks: &'a [Block]) -> Objects<'a> {
        Objects { layout: self, blocks }
    }

    /// The address of a global variable.
    pub(super) fn global_address(&self, variable: VariableId) -> Option<u32> {
        self.addresses.get(variable.index()).copied().filter(|&address| address != 0)
    }

    /// Number of cells of a variable.
    pub(super) fn size(&self, variable: VariableId) -> u32 {
        self.templates[variable.index()].len() as u32
    }

    /// What memory begins with.
    pub(super) fn initial(&self) -> &[Word] {
        &self.initial
    }

    /// Number of cells of globals, the one that is none included.
    pub(super) fn global_count(&self) -> u32 {
        self.initial.len() as u32
    }

    /// The variable that a cell belongs to, and the offset of the cell in it.
    pub(super) fn variable_at(&self, state: &State, address: u32) -> Option<(VariableId, u32)> {
        if address < self.global_count() {
            let index = self.globals.partition_point(|global| self.addresses[global.index()] <= address);
            let variable = *self.globals.get(index.checked_sub(1)?)?;
            return Some((variable, address - self.addresses[variable.index()]));
        }
        let index = state.blocks.partition_point(|block| block.start <= address);
        let block = state.blocks.get(index.checked_sub(1)?)?;
        (address < block.start + block.size).then(|| (VariableId(block.variable), address - block.start))
    }

    /// The name of a cell.
    #[inline]
    pub(super) fn cell(&self, blocks: &[Block], address: u32) -> Option<Cell> {
        if let Some(&cell) = self.names.get(address as usize) {
            return Some(cell);
        }
        let index = blocks.partition_point(|block| block.start <= address);
        let &Block { start, size, variable, owner, ordinal } = blocks.get(index.checked_sub(1)?)?;
        let object = Object { variable: VariableId(variable), owner, ordinal };
        (address < start + size).then(|| Cell { object, part: address - start })
    }

    /// The leaf that holds that cell of a variable, and the number of the element.
    pub(super) fn leaf_at(&self, variable: VariableId, offset: u32) -> Option<(LeafId, u32)> {
        *self.leaves.get(variable.index())?.get(offset as usize)?
    }

    /// Makes the cells of a local variable, in the first gap that is wide enough.
    pub(super) fn allocate(&self, state: &mut State, variable: VariableId, owner: PathId) -> u32 {
        let template = &self.templates[variable.index()];
        let size = template.len().max(1) as u32;
        let mut start = self.global_count();
        let mut position = state.blocks.len();
        for (index, block) in state.blocks.iter().enumerate() {
            if block.start - start >= size {
                position = index;
                break;
            }
            start = block.start + block.size;
        }
        let ordinal = state.count_instance(owner, variable.0 | OF_VARIABLE, 0);
        state.blocks.insert(position, Block { start, size, variable: variable.0, owner, ordinal });
        let end = (start + size) as usize;
        if state.cells.len() < end {
            state.cells.resize(end, Word { value: 0, writer: NO_WRITER });
        }
        self.fill(state, variable, start);
        start
    }

    /// Makes a new instance of a local variable in the cells of one that is gone.
    pub(super) fn renew(&self, state: &mut State, variable: VariableId, owner: PathId, address: u32) {
        let ordinal = state.count_instance(owner, variable.0 | OF_VARIABLE, 0);
        let index = state.blocks.partition_point(|block| block.start < address);
        if let Some(block) = state.blocks.get_mut(index) {
            (block.owner, block.ordinal) = (owner, ordinal);
        }
        self.fill(state, variable, address);
    }

    /// Gives the cells of a local variable their first values.
    fn fill(&self, state: &mut State, variable: VariableId, address: u32) {
        let template = &self.templates[variable.index()];
        let start = address as usize;
        state.cells[start..start + template.len()].copy_from_slice(template);
        state.forget_readers(address, address + template.len() as u32);
    }

    /// Frees the cells of a local variable.
    pub(super) fn free(&self, state: &mut State, address: u32) {
        let index = state.blocks.partition_point(|block| block.start < address);
        let Some(&block) = state.blocks.get(index).filter(|block| block.start == address) else {
            return;
        };
        state.blocks.remove(index);
        let (start, end) = (block.start as usize, (block.start + block.size) as usize);
        state.cells[start..end].fill(Word { value: 0, writer: NO_WRITER });
        state.forget_readers(block.start, block.start + block.size);
        let used = state.blocks.last().map_or(self.global_count(), |last| last.start + last.size);
        state.cells.truncate(used as usize);
    }
}

fn leaves_by_cell(program: &Program, variable: &Variable) -> Box<[Option<(LeafId, u32)>]> {
    let mut leaves = vec![None; variable.size as usize];
    for leaf in variable.leaves() {
        let width = program.leaves[leaf].kind.width();
        for (position, cell) in program.leaves[leaf].cells().enumerate() {
            if let Some(place) = leaves.get_mut(cell as usize) {
                *place = Some((leaf, position as u32 / width));
            }
        }
    }
    leaves.into_boxed_slice()
}

fn template(program: &Program, variable: &Variable) -> Vec<Word> {
    let mut cells = vec![Word { value: 0, writer: NO_WRITER }; variable.size as usize];
    for leaf in variable.leaves().map(|leaf| &program.leaves[leaf]) {
        let writer = leaf.initial_definition.map_or(NO_WRITER, |definition| definition.0);
        for element in 0..leaf.element_count() {
            let Some(cell) = cells.get_mut(leaf.cell(element) as usize) else { continue };
            let value = match leaf.kind {
                LeafKind::Barrier(count) => Value::Int(count as i32).bits(),
                LeafKind::ReentrantLock => REENTRANT,
                _ => leaf.initial.get(element as usize).map_or(0, |value| value.bits()),
            };
            *cell = Word { value, writer };
        }
    }
    cells
}
