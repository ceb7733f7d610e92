//! Symbols: what reads, writes and leaves are known by.
//!
//! In: an owner, and whether the access is atomic. Out: a symbol. A plain object that atomic operations access has two, of the same
//! cells.

use super::owner::Owner;
use super::program::Lowering;
use cssame_ir::{Symbol, SymbolId, TextId};
use cssame_source::Span;

impl Lowering<'_> {
    /// The symbol of an owner. `near` is where it stands if it is not known where it is declared.
    pub fn symbol(&mut self, owner: &Owner, atomic: bool, near: Span) -> SymbolId {
        if let Some(&known) = self.symbols.get(&(owner.clone(), atomic)) {
            return known;
        }
        let declared = self.is_atomic(owner).unwrap_or(atomic);
        let (name, span, class) = self.described(owner, near);
        let next = SymbolId::new(self.program.symbols.len());
        let cells_of = match self.symbols.get(&(owner.clone(), !atomic)) {
            Some(&other) => self.program.symbols[other].cells_of,
            None if declared != atomic => self.symbol(owner, declared, near),
            None => next,
        };
        let made = self.program.symbols.push(Symbol { name, span, class, atomic, cells_of });
        self.symbols.insert((owner.clone(), atomic), made);
        made
    }

    /// Whether what has an owner is declared `_Atomic`.
    pub fn declared_atomic(&self, owner: &Owner) -> bool {
        self.is_atomic(owner).unwrap_or(false)
    }

    /// Whether what has a name is declared `_Atomic`.
    fn is_atomic(&self, owner: &Owner) -> Option<bool> {
        let (unit, ty) = match owner {
            Owner::Object(key) => (key.unit, self.unit(key.unit).declarations[key.decl].ty),
            Owner::Field(record, field) => {
                let (unit, record) = self.input.records.first(*record);
                (unit, self.unit(unit).records[record].fields.get(*field as usize)?.ty)
            }
            Owner::Memory(unit, call) => *self.memory_types.get(&(*unit, *call))?,
            Owner::Target(_) | Owner::Text(_) => return None,
            Owner::Literal(..) | Owner::Hidden(_) => return Some(false),
        };
        let innermost = self.input.innermost(unit, ty);
        Some(self.unit(unit).types[innermost].qualifiers.atomic)
    }

    /// Name, place and structure.
    fn described(&mut self, owner: &Owner, near: Span) -> (TextId, Span, Option<TextId>) {
        match owner {
            Owner::Object(key) => {
                let span = self.unit(key.unit).declarations[key.decl].place.span;
                (self.declared_name(key.unit, key.decl), span, None)
            }
            Owner::Field(number, field) => {
                let (unit, record) = self.input.records.first(*number);
                let record = &self.unit(unit).records[record];
                let name = record.fields.get(*field as usize).and_then(|field| field.name.as_deref());
                let name = self.text(name.unwrap_or("_"));
                let class = self.text(record.tag.as_deref().unwrap_or("struct"));
                (name, near, Some(class))
            }
            Owner::Target(pointer) => {
                let (name, span, class) = self.described(pointer, near);
                let text = format!("*{}", self.program.texts.get(name));
                (self.text(&text), span, class)
            }
            Owner::Text(span) => (self.text_at(*span), *span, None),
            Owner::Memory(unit, call) => {
                let span = self.unit(*unit).expressions[*call].place.span;
                (self.text_at(span), span, None)
            }
            Owner::Hidden(name) => (*name, near, None),
            Owner::Literal(..) => (self.text_at(near), near, None),
        }
    }
}
