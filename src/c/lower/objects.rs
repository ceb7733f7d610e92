//! Memory variables: their leaves, and what they begin with.
//!
//! In: declarations and string literals. Out: variables of the graph. All objects with static storage get their cells first, then
//! their values, which may be addresses of each other.

use super::ask::{Done, refuse};
use super::datum::{Datum, zero};
use super::link::DeclKey;
use super::owner::Owner;
use super::program::Lowering;
use super::shape::{MOST, MOST_VARIABLE};
use crate::supported::{Obstacle, Reason};
use crate::tree::{ExprKind, InitialValue, Place, RecordId, StringId, TypeId, TypeKind};
use cssame_ir::{
    Definition, DefinitionKind, Dimension, Leaf, LeafId, LeafKind, Storage, TextId, Type, Value, Variable, VariableId,
};
use cssame_source::Span;

/// A variable to be made.
pub struct NewVariable {
    pub name: TextId,
    pub place: Place,
    pub storage: Storage,
    pub unit: u32,
    pub ty: TypeId,
    pub owner: Owner,
    /// Whether it is on the heap.
    pub heap: bool,
    /// How many elements of the type it is an array of; none for one that is no array beyond its type.
    pub length: Option<u32>,
}

impl Lowering<'_> {
    /// Makes all objects with static storage, and gives them their values. What is not read is returned.
    pub fn objects(&mut self) -> Vec<Obstacle> {
        let mut found = Vec::new();
        let facts = &self.input.facts;
        for &key in &facts.objects {
            found.extend(self.object(key, Storage::Global).err());
        }
        for &key in &facts.objects {
            if let Some(&variable) = self.variables.get(&key) {
                found.extend(self.initialise(variable, key).err());
            }
        }
        found
    }

    /// Makes the variable of a declaration.
    pub fn object(&mut self, key: DeclKey, storage: Storage) -> Done<VariableId> {
        let decl = &self.unit(key.unit).declarations[key.decl];
        let name = self.declared_name(key.unit, key.decl);
        let (place, ty) = (decl.place, decl.ty);
        let owner = Owner::Object(key);
        let variable =
            self.variable(&NewVariable { name, place, storage, unit: key.unit, ty, owner, heap: false, length: None })?;
        self.variables.insert(key, variable);
        self.name_values(key);
        Ok(variable)
    }

    /// Values of an enumeration have names.
    pub fn name_values(&mut self, key: DeclKey) {
        let unit = self.unit(key.unit);
        let decl = &unit.declarations[key.decl];
        let TypeKind::Enumeration(enumeration) = unit.types[self.input.innermost(key.unit, decl.ty)].kind else {
            return;
        };
        let declared = &unit.enumerations[enumeration];
        let Some(tag) = &declared.tag else { return };
        let tag = self.text(tag);
        self.program.enumerations.declare(decl.place.span, tag);
        for (name, value) in &declared.enumerators {
            let name = self.text(name);
            self.program.enumerations.add(tag, *value as i64, name);
        }
    }

    /// Makes a variable, all of whose cells are zero.
    pub fn variable(&mut self, new: &NewVariable) -> Done<VariableId> {
        let mut ty = self.ir_type(new.unit, new.ty, &new.owner, new.place)?;
        let mut size = self.input.room(new.unit, new.ty, new.place)?;
        let mut all = self.input.bytes_of_room(new.unit, new.ty, new.place)?;
        let mut dimensions = Vec::new();
        if let Some(length) = new.length {
            let name_end = self.program.texts.get(new.name).len() as u32;
            ty = Type::Array(self.program.arrays.push(cssame_ir::ArrayType { element: ty, length: Some(length) }));
            let bytes = self.input.size(new.unit, new.ty, new.place)?;
            dimensions.push(Dimension { length, stride: size, bytes, name_end });
            all = bytes.saturating_mul(length);
            size = match length.checked_mul(size).filter(|&cells| cells <= MOST) {
                Some(size) => size,
                None => return refuse(Reason::LargeObject, new.place),
            };
        }
        let first_leaf = LeafId::new(self.program.leaves.len());
        let (name, span, storage, heap) = (new.name, new.place.span, new.storage, new.heap);
        let made = Variable { name, span, storage, ty, first_leaf, leaf_count: 0, size, bytes: all, heap };
        let variable = self.program.variables.push(made);
        if size == 0 {
            return Ok(variable);
        }
        let mut layout = Layout { lowering: self, variable, place: new.place, dimensions };
        layout.add(name, new.unit, new.ty, &new.owner, At { cell: 0, byte: 0 })?;
        let count = self.program.leaves.len() - first_leaf.index();
        self.program.variables[variable].leaf_count = count as u32;
        Ok(variable)
    }

    /// A variable of the graph that the text does not show.
    pub fn hidden(&mut self, name: &str, span: Span, kind: LeafKind) -> VariableId {
        self.hidden_array(name, span, kind, None)
    }

    /// The same, or an array of such.
    pub fn hidden_array(&mut self, name: &str, span: Span, kind: LeafKind, length: Option<u32>) -> VariableId {
        let name = self.text(name);
        let first_leaf = LeafId::new(self.program.leaves.len());
        let (storage, mut ty) = (Storage::Global, Type::Single(kind));
        let size = kind.width() * length.unwrap_or(1);
        let mut dimensions = Vec::new();
        if let Some(length) = length {
            ty = Type::Array(self.program.arrays.push(cssame_ir::ArrayType { element: ty, length: Some(length) }));
            let name_end = self.program.texts.get(name).len() as u32;
            dimensions.push(Dimension { length, stride: kind.width(), bytes: kind.width(), name_end });
        }
        let made = Variable { name, span, storage, ty, first_leaf, leaf_count: 1, size, bytes: size, heap: false };
        let variable = self.program.variables.push(made);
        let mut layout = Layout { lowering: self, variable, place: Place::plain(span), dimensions };
        layout.leaf(name, &Owner::Hidden(name), kind, At { cell: 0, byte: 0 });
        variable
    }

    /// The variable of a string literal.
    pub fn literal(&mut self, unit: u32, string: StringId, ty: Option<TypeId>, place: Place) -> Done<VariableId> {
        if let Some(&known) = self.literals.get(&(unit, string)) {
            return Ok(known);
        }
        let tree = self.unit(unit);
        let bytes = &tree.strings[string].bytes;
        let array = tree.types.entries().find(|(_, known)| match known.kind {
            TypeKind::Array { element, length: crate::tree::Length::Fixed(length) } => {
                length == bytes.len() as u64 && tree.types[element].size == Some(1)
            }
            _ => false,
        });
        let (Some(ty), 1) = (ty.or(array.map(|(ty, _)| ty)), tree.strings[string].width) else {
            return refuse(Reason::Form("string literal of wide characters"), place);
        };
        let name =
            self.text(&format!("{:?}", String::from_utf8_lossy(bytes.split_last().map_or(&[], |(_, text)| text))));
        let owner = Owner::Literal(unit, string);
        let variable = self.variable(&NewVariable {
            name,
            place,
            storage: Storage::Global,
            unit,
            ty,
            owner,
            heap: false,
            length: None,
        })?;
        self.literals.insert((unit, string), variable);
        for (cell, &byte) in bytes.iter().enumerate() {
            self.set(variable, cell as u32, Datum::Integer(i128::from(byte as i8)));
        }
        Ok(variable)
    }

    /// Gives a variable the values that its declaration says.
    pub fn initialise(&mut self, variable: VariableId, key: DeclKey) -> Done<()> {
        let decl = &self.unit(key.unit).declarations[key.decl];
        for value in decl.initial.iter().flatten() {
            let place = self.unit(key.unit).expressions[value.value].place;
            if let ExprKind::String(string) = self.unit(key.unit).expressions[value.value].kind {
                let cell = self.input.spot(key.unit, decl.ty, value.offset, place)?.cell;
                let bytes = &self.unit(key.unit).strings[string].bytes;
                for (index, &byte) in bytes.iter().enumerate() {
                    self.set(variable, cell + index as u32, Datum::Integer(i128::from(byte as i8)));
                }
            } else {
                self.initial_value(variable, key, value, place)?;
            }
        }
        Ok(())
    }

    fn initial_value(&mut self, variable: VariableId, key: DeclKey, value: &InitialValue, place: Place) -> Done<()> {
        let ty = self.unit(key.unit).declarations[key.decl].ty;
        let spot = self.input.spot(key.unit, ty, value.offset, place)?;
        let Some(datum) = self.datum(key.unit, value.value)? else {
            return refuse(Reason::Form("first value that is no constant"), place);
        };
        match spot.inside {
            None if spot.hidden => {}
            None => self.set(variable, spot.cell, datum),
            Some(inside) => self.kind_of_mutex(variable, (key.unit, spot.cell, inside), datum, place)?,
        }
        Ok(())
    }

    /// A first value within a mutex may say of which kind it is.
    pub fn kind_of_mutex(
        &mut self,
        variable: VariableId,
        (unit, cell, (record, byte)): (u32, u32, (RecordId, u64)),
        datum: Datum,
        place: Place,
    ) -> Done<()> {
        if self.input.kind_byte(unit, record) != Some(byte) {
            return Ok(());
        }
        let leaf = self.program.leaf_at(variable, cell).map(|(leaf, _)| leaf);
        match (datum, leaf) {
            (Datum::Integer(1), Some(leaf)) if self.program.leaves[leaf].kind == LeafKind::Lock => {
                self.program.leaves[leaf].kind = LeafKind::ReentrantLock;
            }
            (Datum::Integer(2), _) => return refuse(Reason::ErrorCheckingMutex, place),
            _ => {}
        }
        Ok(())
    }

    /// Sets what a cell begins with.
    pub fn set(&mut self, variable: VariableId, cell: u32, datum: Datum) {
        let Some((leaf, element)) = self.program.leaf_at(variable, cell) else { return };
        let leaf = &mut self.program.leaves[leaf];
        if let (LeafKind::Data(ty), Some(initial)) = (leaf.kind, leaf.initial.get_mut(element as usize)) {
            *initial = datum.value(ty);
        }
    }
}

/// Where a part of a variable begins.
#[derive(Clone, Copy)]
struct At {
    cell: u32,
    byte: u32,
}

struct Layout<'l, 'a> {
    lowering: &'l mut Lowering<'a>,
    variable: VariableId,
    place: Place,
    /// The arrays that the part lies in which is added now.
    dimensions: Vec<Dimension>,
}

impl Layout<'_, '_> {
    /// Adds the leaves of a part.
    fn add(&mut self, name: TextId, unit: u32, ty: TypeId, owner: &Owner, at: At) -> Done<()> {
        let tree = self.lowering.unit(unit);
        match tree.types[ty].kind {
            TypeKind::Array { element, .. } => {
                let length = self.lowering.input.capacity(unit, ty, self.place)?;
                self.elements(name, (unit, element), owner, at, length)
            }
            TypeKind::Record(record) if self.lowering.has_members(unit, record) => {
                let number = self.lowering.input.records.canonical(unit, record);
                for (index, field) in self.lowering.input.members(unit, record) {
                    let cells = self.lowering.input.cell_of_field(unit, record, index, self.place)?;
                    if cells == 0 && field.offset > 0 {
                        // The structure would begin where its first cell does.
                        return refuse(Reason::BitField, self.place);
                    }
                    let start = At { cell: at.cell + cells, byte: at.byte + field.offset as u32 };
                    let path = match &field.name {
                        Some(field) => {
                            let text = format!("{}.{field}", self.lowering.program.texts.get(name));
                            self.lowering.text(&text)
                        }
                        None => name,
                    };
                    let owner = Owner::Field(number, index as u32);
                    let flexible = self.lowering.input.flexible(unit, record);
                    match flexible.filter(|_| index + 1 == tree.records[record].fields.len()) {
                        Some(element) => self.elements(path, (unit, element), &owner, start, MOST_VARIABLE)?,
                        None => self.add(path, unit, field.ty, &owner, start)?,
                    }
                }
                Ok(())
            }
            _ => {
                let kind = self.lowering.leaf_kind(unit, ty, owner);
                let kind = self.with_start(kind, owner)?;
                self.leaf(name, owner, kind, at);
                Ok(())
            }
        }
    }

    /// Adds the leaves of so many elements.
    fn elements(
        &mut self,
        name: TextId,
        (unit, element): (u32, TypeId),
        owner: &Owner,
        at: At,
        length: u32,
    ) -> Done<()> {
        let stride = self.lowering.input.cells(unit, element, self.place)?;
        if length == 0 || stride == 0 {
            return Ok(());
        }
        let name_end = self.lowering.program.texts.get(name).len() as u32;
        let bytes = self.lowering.input.size(unit, element, self.place)?;
        self.dimensions.push(Dimension { length, stride, bytes, name_end });
        self.add(name, unit, element, owner, at)?;
        self.dimensions.pop();
        Ok(())
    }

    /// A barrier with the number of its threads; a semaphore must have one first value.
    fn with_start(&self, kind: LeafKind, owner: &Owner) -> Done<LeafKind> {
        let facts = &self.lowering.input.facts;
        if kind == LeafKind::Semaphore {
            let values = facts.semaphores.get(owner).map_or(&[][..], Vec::as_slice);
            let is_first =
                |value: &Option<i128>| value.is_some_and(|value| (0..1 << 30).contains(&value)) && *value == values[0];
            return if values.iter().all(is_first) {
                Ok(kind)
            } else {
                refuse(Reason::UnclearStart("semaphore"), self.place)
            };
        }
        let LeafKind::Barrier(_) = kind else { return Ok(kind) };
        let counts = facts.barriers.get(owner).map_or(&[][..], Vec::as_slice);
        match counts {
            [Some(first), rest @ ..]
                if (1..=1 << 20).contains(first) && rest.iter().all(|one| *one == Some(*first)) =>
            {
                Ok(LeafKind::Barrier(*first as u32))
            }
            [] if !facts.waits_at_barrier => Ok(LeafKind::Barrier(1)),
            _ => refuse(Reason::UnclearStart("barrier"), self.place),
        }
    }

    fn leaf(&mut self, name: TextId, owner: &Owner, kind: LeafKind, at: At) {
        let lowering = &mut *self.lowering;
        let span = self.place.span;
        let atomic = match owner {
            Owner::Hidden(_) => false,
            _ => lowering.declared_atomic(owner),
        };
        let symbol = lowering.symbol(owner, atomic, span);
        let leaf = LeafId::new(lowering.program.leaves.len());
        let initial_definition = matches!(kind, LeafKind::Data(_)).then(|| {
            let kind = DefinitionKind::Initial(leaf);
            lowering.program.definitions.push(Definition { name, symbol, span, kind, version: 0 })
        });
        let (variable, dimensions, initial) = (self.variable, self.dimensions.clone(), Vec::new());
        let At { cell: offset, byte } = at;
        let mut made = Leaf { variable, name, symbol, offset, byte, dimensions, kind, initial, initial_definition };
        made.initial = match kind {
            LeafKind::Data(ty) => vec![zero(ty); made.element_count() as usize],
            LeafKind::Semaphore => {
                let first =
                    lowering.input.facts.semaphores.get(owner).and_then(|values| values.first().copied().flatten());
                vec![Value::Int(first.unwrap_or(0) as i32); made.element_count() as usize]
            }
            _ => Vec::new(),
        };
        lowering.program.leaves.push(made);
    }
}
