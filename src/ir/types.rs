//! Declared types: the types of variables and of the targets of references, as in the text.
//!
//! **Input**: a place in memory. **Output**: the fields and elements that contain its cells.
//!
//! Analyses and the machine see leaves and cells only. Types are for code that writes programs for readers: an emitter that
//! writes `account.balance` where the graph has the second cell behind a reference.

use super::arena::id;
use super::{Base, FunctionId, LeafKind, Place, Program, TextId};
use cssame_source::Span;

id! {
    /// A class.
    ClassId
}
id! {
    /// A type of arrays.
    ArrayId
}

/// The type of a variable, or of what a reference leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Data, or a synchronisation object; of barriers the number of threads is that of the leaf, not of the type.
    Single(LeafKind),
    /// An array.
    Array(ArrayId),
    /// An object.
    Class(ClassId),
}

/// A type of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// What it holds; of several dimensions, arrays.
    pub element: Type,
    /// Number of its elements; none for a parameter that takes arrays of any length.
    pub length: Option<u32>,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: TextId,
    /// Its name in the text.
    pub span: Span,
    /// Its fields, in the order of the text and of the cells.
    pub fields: Vec<Field>,
}

/// A field of a class.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: TextId,
    /// Its name in the declaration: also that of its symbol.
    pub span: Span,
    /// Its type.
    pub ty: Type,
    /// First cell, counted from that of the object.
    pub offset: u32,
}

/// A step from a variable, or from what a reference leads to, towards a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// The field of that number of a class.
    Field(ClassId, u32),
    /// An element of an array, by an index of the place: its number among them.
    Index(u32),
    /// An element of an array that the offset of the place leads to.
    Element(u32),
}

impl Program {
    /// Number of cells of something of that type; 0 for an array of any length.
    #[must_use]
    pub fn size_of(&self, ty: Type) -> u32 {
        match ty {
            Type::Single(kind) => kind.width(),
            Type::Array(array) => {
                let ArrayType { element, length } = self.arrays[array];
                self.size_of(element).saturating_mul(length.unwrap_or(0))
            }
            Type::Class(class) => {
                self.classes[class].fields.last().map_or(0, |field| field.offset + self.size_of(field.ty))
            }
        }
    }

    /// What an array holds behind all its dimensions, and how many these are; anything else holds itself.
    #[must_use]
    pub fn innermost(&self, ty: Type) -> (Type, usize) {
        let (mut ty, mut dimensions) = (ty, 0);
        while let Type::Array(array) = ty {
            ty = self.arrays[array].element;
            dimensions += 1;
        }
        (ty, dimensions)
    }

    /// The type that the base of a place has.
    #[must_use]
    pub fn base_type(&self, function: FunctionId, place: &Place) -> Option<Type> {
        match place.base {
            Base::Global(variable) => Some(self.variables[variable].ty),
            Base::Reference(register) => self.functions[function].registers[register].pointee,
            // What lies behind a pointer is known when it is used.
            Base::Pointer(_) => None,
        }
    }

    /// The way from something of a type to the part that a place means. `wanted` says of a type whether it is the one of that part:
    /// an object begins where its first field does, and an array where its first element does.
    #[must_use]
    pub fn parts_of(&self, base: Type, place: &Place, wanted: impl Fn(Type) -> bool) -> Option<Vec<Part>> {
        let (mut ty, mut offset, mut indices) = (base, place.offset, 0);
        let mut parts = Vec::new();
        loop {
            if offset == 0 && indices == place.indices.len() && wanted(ty) {
                return Some(parts);
            }
            match ty {
                Type::Single(_) => return None,
                Type::Class(class) => {
                    let fields = &self.classes[class].fields;
                    let behind = fields.partition_point(|field| field.offset <= offset);
                    let number = behind.checked_sub(1)?;
                    let field = &fields[number];
                    offset -= field.offset;
                    ty = field.ty;
                    parts.push(Part::Field(class, number as u32));
                }
                Type::Array(array) => {
                    let element = self.arrays[array].element;
                    // An index goes to the outermost array whose elements are as far apart.
                    let stride = self.size_of(element);
                    match place.indices.get(indices) {
                        Some(index) if index.stride == stride => {
                            parts.push(Part::Index(indices as u32));
                            indices += 1;
                        }
                        _ => {
                            let number = offset.checked_div(stride)?;
                            offset -= number * stride;
                            parts.push(Part::Element(number));
                        }
                    }
                    ty = element;
                }
            }
        }
    }
}
