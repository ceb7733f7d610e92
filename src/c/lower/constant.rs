//! Constants: values that are known before the program runs.
//!
//! In: constants of the tree, and scalar types. Out: values of the graph.

use super::ask::Done;
use super::datum::Datum;
use super::link::DeclKey;
use super::program::Lowering;
use crate::tree::{AddressBase, Constant, DeclKind, ExprId, Place, Storage};
use cssame_ir::{Object, Pointer, VariableId};

impl Lowering<'_> {
    /// The value of an expression, if it is one that is known before the program runs.
    pub fn datum(&mut self, unit: u32, expr: ExprId) -> Done<Option<Datum>> {
        let tree = self.unit(unit);
        let place = tree.expressions[expr].place;
        match tree.constant(expr) {
            Some(Constant::Integer(value)) => Ok(Some(Datum::Integer(value))),
            Some(Constant::Floating(value)) => Ok(Some(Datum::Floating(value))),
            Some(Constant::Address { base, offset }) => self.address_constant(unit, base, offset, place),
            _ => Ok(None),
        }
    }

    fn address_constant(&mut self, unit: u32, base: AddressBase, offset: i128, place: Place) -> Done<Option<Datum>> {
        let (variable, byte) = match base {
            AddressBase::Nothing => return Ok(Some(Datum::Integer(offset))),
            AddressBase::Label(_) => return Ok(None),
            AddressBase::String(string) => (self.literal(unit, string, None, place)?, offset),
            AddressBase::Declaration(decl) => {
                let key = self.input.links.resolve(self.unit(unit), unit, decl);
                let declared = &self.unit(key.unit).declarations[key.decl];
                if declared.kind == DeclKind::Function && self.input.facts.functions.contains(&key) && offset == 0 {
                    let variable = self.stand_in(key);
                    return Ok(Some(Datum::Pointer(Pointer::to(Object::Global(variable), 0))));
                }
                if declared.kind != DeclKind::Object || declared.storage != Storage::Static {
                    return Ok(None);
                }
                let Some(&variable) = self.variables.get(&key) else { return Ok(None) };
                (variable, offset)
            }
        };
        Ok(Some(Datum::Pointer(Pointer::to(Object::Global(variable), 0).plus(byte as i64))))
    }

    /// The variable of an object with static storage.
    pub fn variable_of(&self, key: DeclKey) -> Option<VariableId> {
        self.variables.get(&key).copied()
    }
}
