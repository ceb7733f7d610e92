//! Types, with their layouts.

use super::{Input, expr};
use crate::tree::ids::{EnumerationId, RecordId, TypeId};
use crate::tree::types::{
    BitField, Enumeration, Field, FunctionType, Integer, Length, Qualifiers, Record, Type, TypeKind,
};
use cssame_source::arena::Arena;
use rucc_types::{ArrayLen, IntKind, Qualifiers as ReadQualifiers, RecordKind, TypeKind as ReadKind};
use rustc_hash::FxHashMap;

/// Types that a name tells, one within the other.
const NAMED: u32 = 100;

/// The types that have been named so far.
pub struct Types<'a> {
    input: &'a Input<'a>,
    ids: FxHashMap<rucc_types::TypeId, TypeId>,
    types: Arena<TypeId, Type>,
    /// How many types each is made of, one within the other.
    depths: Vec<u32>,
    record_ids: FxHashMap<rucc_types::RecordId, RecordId>,
    records: Arena<RecordId, Record>,
    /// Records whose members have not been copied.
    pending: Vec<(rucc_types::RecordId, RecordId)>,
    enumeration_ids: FxHashMap<rucc_types::EnumId, EnumerationId>,
    enumerations: Arena<EnumerationId, Enumeration>,
}

impl<'a> Types<'a> {
    pub fn new(input: &'a Input<'a>) -> Self {
        Types {
            input,
            ids: FxHashMap::default(),
            types: Arena::new(),
            depths: Vec::new(),
            record_ids: FxHashMap::default(),
            records: Arena::new(),
            pending: Vec::new(),
            enumeration_ids: FxHashMap::default(),
            enumerations: Arena::new(),
        }
    }

    /// The type of ours for one of the front end.
    pub fn get(&mut self, id: rucc_types::TypeId) -> TypeId {
        let read = &self.input.checked.types;
        let id = read.canonical(id);
        if let Some(&known) = self.ids.get(&id) {
            return known;
        }
        let (kind, qualifiers) = self.kind(id);
        // Between asking and answering the members of a pointer may have named the same type.
        if let Some(&known) = self.ids.get(&id) {
            return known;
        }
        let size = rucc_types::layout(read, id, self.input.target).ok().map(|layout| layout.size);
        let align = rucc_types::align(read, id, self.input.target).unwrap_or(1);
        let depth = self.depth(&kind);
        // The name of a type holds the names of those that it is made of: a chain of names of types must not grow without end.
        let name = if depth > NAMED { "…".into() } else { rucc_types::spell(read, self.input.names, id).into() };
        let size = if matches!(kind, TypeKind::Void | TypeKind::Function(_)) { None } else { size };
        let known = self.types.push(Type { kind, qualifiers, size, align, name });
        self.depths.push(depth);
        self.ids.insert(id, known);
        known
    }

    fn depth(&self, kind: &TypeKind) -> u32 {
        let of = |id: &TypeId| self.depths[id.index()];
        match kind {
            TypeKind::Pointer(inner) | TypeKind::Array { element: inner, .. } => of(inner) + 1,
            TypeKind::Function(function) => {
                function.parameters.iter().chain([&function.result]).map(of).max().unwrap_or(0) + 1
            }
            _ => 0,
        }
    }

    fn kind(&mut self, id: rucc_types::TypeId) -> (TypeKind, Qualifiers) {
        let found = self.input.checked.types.get(id);
        let mut qualifiers = Qualifiers {
            constant: found.quals.has(ReadQualifiers::CONST),
            volatile: found.quals.has(ReadQualifiers::VOLATILE),
            restrict: found.quals.has(ReadQualifiers::RESTRICT),
            atomic: false,
        };
        let kind = match found.kind {
            ReadKind::Void => TypeKind::Void,
            ReadKind::Bool => TypeKind::Bool,
            ReadKind::Int(_) => self.integer(id).map_or(TypeKind::Other("integer"), TypeKind::Integer),
            ReadKind::Float(kind) if kind.is_decimal() => TypeKind::Other("decimal floating point"),
            ReadKind::Float(kind) => TypeKind::Floating(rucc_types::float_width(kind, self.input.target)),
            ReadKind::Complex(_) => TypeKind::Other("complex number"),
            ReadKind::BitInt { .. } => TypeKind::Other("_BitInt"),
            ReadKind::Vector { .. } => TypeKind::Other("vector"),
            ReadKind::Pointer(target) => TypeKind::Pointer(self.get(target)),
            ReadKind::Array { elem, len } => TypeKind::Array { element: self.get(elem), length: self.length(len) },
            ReadKind::Function(function) => self.function(function),
            ReadKind::Record(record) => TypeKind::Record(self.record(record)),
            ReadKind::Enum(enumeration) => TypeKind::Enumeration(self.enumeration(id, enumeration)),
            ReadKind::Atomic(inner) => {
                let inner = self.get(inner);
                let inner = &self.types[inner];
                qualifiers.atomic = true;
                qualifiers.volatile |= inner.qualifiers.volatile;
                qualifiers.constant |= inner.qualifiers.constant;
                inner.kind.clone()
            }
            ReadKind::Typedef { underlying, .. } => return self.kind(underlying),
        };
        (kind, qualifiers)
    }

    fn integer(&self, id: rucc_types::TypeId) -> Option<Integer> {
        let types = &self.input.checked.types;
        let info = rucc_types::integer_info(types, id, self.input.target)?;
        let character = matches!(types.kind(id), ReadKind::Int(IntKind::Char | IntKind::SChar | IntKind::UChar));
        Some(Integer { bits: info.width, signed: info.signed, character })
    }

    fn length(&self, length: ArrayLen) -> Length {
        match length {
            ArrayLen::Fixed(count) => Length::Fixed(count),
            ArrayLen::Unknown | ArrayLen::Star => Length::Unknown,
            ArrayLen::Variable(id) => Length::Variable(expr(self.input.tree().vla_size(id))),
        }
    }

    fn function(&mut self, id: rucc_types::FunctionId) -> TypeKind {
        let signature = self.input.checked.types.signature(id);
        TypeKind::Function(FunctionType {
            result: self.get(signature.ret),
            parameters: signature.params.iter().map(|&parameter| self.get(parameter)).collect(),
            variadic: signature.variadic,
            prototype: signature.prototyped,
        })
    }

    fn record(&mut self, id: rucc_types::RecordId) -> RecordId {
        if let Some(&known) = self.record_ids.get(&id) {
            return known;
        }
        let info = self.input.checked.types.record_info(id);
        let known = self.records.push(Record {
            tag: info.tag.map(|tag| self.input.name(tag)),
            union: info.kind == RecordKind::Union,
            complete: info.layout.is_some() || info.variable.is_some(),
            fields: Vec::new(),
        });
        self.record_ids.insert(id, known);
        self.pending.push((id, known));
        known
    }

    fn enumeration(&mut self, ty: rucc_types::TypeId, id: rucc_types::EnumId) -> EnumerationId {
        if let Some(&known) = self.enumeration_ids.get(&id) {
            return known;
        }
        let info = self.input.checked.types.enum_info(id);
        let integer = self.integer(ty).unwrap_or(Integer { bits: 32, signed: false, character: false });
        let known = self.enumerations.push(Enumeration {
            tag: info.tag.map(|tag| self.input.name(tag)),
            integer,
            enumerators: info.enumerators.iter().map(|one| (self.input.name(one.name), one.value)).collect(),
        });
        self.enumeration_ids.insert(id, known);
        known
    }

    /// Width and sign of the values of a type, if they are integers or truth values.
    pub fn integer_of(&self, ty: TypeId) -> Option<Integer> {
        match self.types[ty].kind {
            TypeKind::Integer(integer) => Some(integer),
            TypeKind::Enumeration(enumeration) => Some(self.enumerations[enumeration].integer),
            TypeKind::Bool => Some(Integer { bits: 1, signed: false, character: false }),
            _ => None,
        }
    }

    /// Everything that was named, and what that names.
    pub fn finish(mut self) -> (Arena<TypeId, Type>, Arena<RecordId, Record>, Arena<EnumerationId, Enumeration>) {
        while let Some((id, known)) = self.pending.pop() {
            let fields = &self.input.checked.types.record_info(id).fields;
            let fields = fields.iter().map(|field| Field {
                name: field.name.map(|name| self.input.name(name)),
                ty: self.get(field.ty),
                offset: field.offset,
                bits: field.bits.map(|width| BitField { first: field.bit, width }),
            });
            self.records[known].fields = fields.collect();
        }
        (self.types, self.records, self.enumerations)
    }
}
