//! Memory: addresses of globals, initial values, and the allocator of locals.
//!
//! **Input**: the variables of a program.
//!
//! **Output**: a [`Layout`]: from variables to addresses, and from addresses back to names.
//!
//! **Algorithm**: address 0 is no address. Globals come first, in their order; after them the cells of locals, first fit. Freed
//! cells are zero again, so that no trace of them is left in a state. In a program with a heap, an object has the address that its
//! maker, its variable and its number have in the [`Tables`]: there the order of steps changes no pointer.
//!
//! **Soundness and limits**: without a heap the address of a local depends on the order of steps; its name ([`Cell`]) does not.

use super::bytes::Starts;
use super::observe::{Cell, Object};
use super::state::{Block, NO_WRITER, OF_VARIABLE, REENTRANT, State, Word};
use super::tables::{MadeObject, PathId, Tables};
use cssame_ir::points_to::has_pointers;
use cssame_ir::sync::ObjectKind;
use cssame_ir::{
    Field, Leaf, LeafId, LeafKind, Pointer, Program, ScalarType, Storage, Type, Value, Variable, VariableId,
};

/// The elements of which a variable has as many as are asked for where it is made.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    /// The cells before the first one.
    before: u32,
    /// The cells of each.
    each: u32,
}

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
    /// Whether what is wanted of it may be done.
    fn fits(self, wanted: Content) -> bool {
        match (self, wanted) {
            (Content::Data(of), Content::Data(wanted)) => of.shares_bits(wanted),
            (of, wanted) => of == wanted,
        }
    }

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
        contents.get(cell as usize)?.is_some_and(|of| of.fits(content)).then_some(address)
    }

    /// The cell that a pointer leads to, whatever it is for: its variable, its address, and its number in the variable.
    pub(super) fn cell(self, pointer: Pointer) -> Option<(VariableId, u32, u32)> {
        let (object, byte) = pointer.target()?;
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
        let cell = self.layout.cell_at(variable, byte).filter(|&cell| cell < size)?;
        Some((variable, start + cell, cell))
    }

    /// Whether a pointer leads to a byte of an object that is there, though no cell begins with it.
    pub(super) fn is_inside(self, pointer: Pointer) -> bool {
        let Some((object, byte)) = pointer.target() else { return false };
        let (variable, size) = match object {
            cssame_ir::Object::Global(variable) => (variable, None),
            cssame_ir::Object::Local(start) => match self.blocks.binary_search_by_key(&start, |block| block.start) {
                Ok(at) => (VariableId(self.blocks[at].variable), Some(self.blocks[at].size)),
                Err(_) => return false,
            },
        };
        self.layout.starts.get(variable.index()).is_some_and(|starts| byte < starts.end(size))
    }

    /// The object on the heap that a pointer leads to the first cell of.
    pub(super) fn on_heap(self, pointer: Pointer) -> Option<Block> {
        let Some((cssame_ir::Object::Local(start), 0)) = pointer.target() else { return None };
        let at = self.blocks.binary_search_by_key(&start, |block| block.start).ok()?;
        Some(self.blocks[at]).filter(|block| self.layout.heap[block.variable as usize])
    }

    /// Whether the object of a pointer is there.
    pub(super) fn is_there(self, pointer: Pointer) -> bool {
        pointer.target().is_some_and(|(object, _)| match object {
            cssame_ir::Object::Global(variable) => self.layout.global_address(variable).is_some(),
            cssame_ir::Object::Local(start) => self.blocks.binary_search_by_key(&start, |block| block.start).is_ok(),
        })
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
    /// By variable, where there are pointers: where its cells lie in bytes.
    starts: Vec<Starts>,
    /// By address: the name of the cell of a global; the first is no cell.
    names: Vec<Cell>,
    /// Offsets of the locks, by variable.
    locks: Vec<Box<[u32]>>,
    /// Addresses of the locks of globals.
    global_locks: Vec<u32>,
    /// By variable: of what there is as much as is asked for.
    repeated: Vec<Repeated>,
    /// By variable: whether it is on the heap.
    heap: Vec<bool>,
    /// Whether some variable is.
    has_heap: bool,
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
            layout.heap.push(variable.heap);
            layout.has_heap |= variable.heap;
            layout.repeated.push(repeated(program, variable));
            layout.templates.push(template.into_boxed_slice());
            let leaves = leaves_by_cell(program, variable);
            if has_pointers {
                let content = |of: &Option<(LeafId, u32)>| of.map(|(leaf, _)| Content::of(program.leaves[leaf].kind));
                layout.contents.push(leaves.iter().map(content).collect());
                layout.starts.push(Starts::of(program, variable));
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

    /// The cell of a variable that begins with a byte, as if it had as many elements as there can be.
    fn cell_at(&self, variable: VariableId, byte: u32) -> Option<u32> {
        self.starts.get(variable.index())?.cell(byte)
    }

    /// The addresses of the locks of globals.
    pub(super) fn global_locks(&self) -> &[u32] {
        &self.global_locks
    }

    /// Calls `f` with the addresses of all locks.
    pub(super) fn each_lock(&self, blocks: &[Block], mut f: impl FnMut(u32)) {
        self.global_locks.iter().for_each(|&address| f(address));
        for block in blocks {
            let offsets = self.locks[block.variable as usize].iter().filter(|&&offset| offset < block.size);
            offsets.for_each(|&offset| f(block.start + offset));
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

    /// How many objects on the heap were made of the same variable before this one, in the order of their addresses, those that are
    /// given back included. The tables must be those of one execution.
    pub(super) fn made_before(&self, tables: &Tables, object: Object) -> usize {
        if !self.heap[object.variable.index()] {
            return 0;
        }
        let same = tables.objects().filter(|made| made.variable == object.variable.0);
        same.take_while(|made| (made.owner, made.number) != (object.owner, object.ordinal)).count()
    }

    /// The cell that a pointer leads to, or led to before the object was given back.
    pub(super) fn cell_behind(&self, state: &State, tables: &Tables, pointer: Pointer) -> Option<Cell> {
        if let Some((_, address, _)) = self.objects(&state.blocks).cell(pointer) {
            return self.cell(&state.blocks, address);
        }
        let (cssame_ir::Object::Local(start), byte) = pointer.target()? else { return None };
        let made = tables.object_at(start).filter(|made| self.heap[made.variable as usize])?;
        let part = self.cell_at(VariableId(made.variable), byte).filter(|&part| part < made.size)?;
        let object = Object { variable: VariableId(made.variable), owner: made.owner, ordinal: made.number };
        Some(Cell { object, part })
    }

    /// The local object that begins at an address, which may have no cell.
    pub(super) fn object_at(&self, blocks: &[Block], start: u32) -> Option<Object> {
        let at = blocks.binary_search_by_key(&start, |block| block.start).ok()?;
        let Block { variable, owner, ordinal, .. } = blocks[at];
        Some(Object { variable: VariableId(variable), owner, ordinal })
    }

    /// The leaf that holds that cell of a variable, and the number of the element.
    pub(super) fn leaf_at(&self, variable: VariableId, offset: u32) -> Option<(LeafId, u32)> {
        *self.leaves.get(variable.index())?.get(offset as usize)?
    }

    /// Makes the cells of a local variable, or of so many elements of it. Gives the address and the number of cells.
    pub(super) fn allocate(
        &self,
        state: &mut State,
        tables: &mut Tables,
        (variable, elements): (VariableId, Option<u32>),
        owner: PathId,
    ) -> (u32, u32) {
        let whole = self.templates[variable.index()].len() as u32;
        let Repeated { before, each } = self.repeated[variable.index()];
        let size = elements.map_or(whole, |count| count.saturating_mul(each).saturating_add(before).min(whole));
        let ordinal = state.count_instance(owner, variable.0 | OF_VARIABLE, 0);
        let start = if self.has_heap {
            self.own_start(state, tables, MadeObject { owner, variable: variable.0, number: ordinal, size })
        } else {
            self.first_gap(state, size.max(1))
        };
        let position = state.blocks.partition_point(|block| block.start < start);
        state.blocks.insert(position, Block { start, size, variable: variable.0, owner, ordinal });
        let end = (start + size) as usize;
        if state.cells.len() < end {
            state.cells.resize(end, Word { value: 0, writer: NO_WRITER });
        }
        self.fill(state, variable, start, size);
        (start, size)
    }

    /// The first gap between locals that is so wide.
    fn first_gap(&self, state: &State, size: u32) -> u32 {
        let mut start = self.global_count();
        for block in &state.blocks {
            if block.start - start >= size {
                break;
            }
            start = block.start + block.size.max(1);
        }
        start
    }

    /// The address that an object has whatever the order of steps. One on the heap has its own for ever; the others of its maker and
    /// variable take those that are free, the first ones first.
    fn own_start(&self, state: &State, tables: &mut Tables, made: MadeObject) -> u32 {
        let mut place = |number: u32| tables.place_object(MadeObject { number, ..made }, self.global_count());
        if self.heap[made.variable as usize] {
            return place(made.number);
        }
        let is_taken = |start: u32| state.blocks.binary_search_by_key(&start, |block| block.start).is_ok();
        let mut number = 1;
        loop {
            let start = place(number);
            if !is_taken(start) {
                return start;
            }
            number += 1;
        }
    }

    /// Whether a pointer leads to an object that was on the heap, and is there no more.
    pub(super) fn was_freed(&self, state: &State, tables: &Tables, pointer: Pointer) -> bool {
        let Some((cssame_ir::Object::Local(start), _)) = pointer.target() else { return false };
        let is_on_heap = |made: MadeObject| self.heap[made.variable as usize];
        !self.objects(&state.blocks).is_there(pointer) && tables.object_at(start).is_some_and(is_on_heap)
    }

    /// Makes a new instance of a local variable in the cells of one that is gone. Gives the number of cells.
    pub(super) fn renew(&self, state: &mut State, variable: VariableId, owner: PathId, address: u32) -> u32 {
        let ordinal = state.count_instance(owner, variable.0 | OF_VARIABLE, 0);
        let index = state.blocks.partition_point(|block| block.start < address);
        if let Some(block) = state.blocks.get_mut(index) {
            (block.owner, block.ordinal) = (owner, ordinal);
        }
        let size = self.templates[variable.index()].len() as u32;
        self.fill(state, variable, address, size);
        size
    }

    /// Gives so many cells of a local variable their first values.
    fn fill(&self, state: &mut State, variable: VariableId, address: u32, size: u32) {
        let template = &self.templates[variable.index()][..size as usize];
        let start = address as usize;
        state.cells[start..start + template.len()].copy_from_slice(template);
        state.forget_readers(address, address + size);
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

/// The elements of a variable that is an array, or of the array that a structure ends with.
fn repeated(program: &Program, variable: &Variable) -> Repeated {
    let (array, before) = match variable.ty {
        Type::Array(array) => (Some(array), 0),
        Type::Class(class) => match program.classes[class].fields.last() {
            Some(Field { ty: Type::Array(array), offset, .. }) => (Some(*array), *offset),
            _ => (None, 0),
        },
        Type::Single(_) => (None, 0),
    };
    let each = array.map_or(variable.size, |array| program.size_of(program.arrays[array].element));
    Repeated { before, each }
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
