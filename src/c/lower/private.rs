//! What each thread has of its own, in functions.
//!
//! In: what a function may use of it (`own`). Out: in `main`, which runs once, global variables; in the function that a thread begins
//! with, local ones; in any other function parameters that the text does not show, which lead to those of the thread.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::facts::Own;
use super::home::Home;
use super::link::DeclKey;
use super::owner::Owner;
use super::program::Lowering;
use crate::supported::Reason;
use crate::tree::{DeclId, Place as TreePlace};
use cssame_ir::{
    Base, LeafKind, Object, Operand, Place, Pointer, ScalarType, Storage, TextId, Type, Value, VariableId,
};
use cssame_source::Span;

impl Lowering<'_> {
    /// What something is called, where that is declared, and the type of it.
    fn own_head(&mut self, own: Own) -> Done<(TextId, Span, Type)> {
        Ok(match own {
            Own::Variable(key) => {
                let (place, ty) = self.declared(key);
                let ty = self.ir_type(key.unit, ty, &Owner::Object(key), place)?;
                (self.declared_name(key.unit, key.decl), place.span, ty)
            }
            Own::Errno => {
                let ty = Type::Single(LeafKind::Data(ScalarType::Int));
                let name = Some("__errno_location");
                let all = self.input.units.iter().flat_map(|unit| unit.declarations.iter());
                let declared =
                    all.filter(|declared| declared.name.as_deref() == name).map(|declared| declared.place.span);
                let span = declared.min().unwrap_or_default();
                (self.text("errno"), span, ty)
            }
            Own::Key(key) => {
                let ty = Type::Single(LeafKind::Data(ScalarType::Pointer));
                (self.value_name(key), self.declared(key).0.span, ty)
            }
        })
    }

    fn declared(&self, key: DeclKey) -> (TreePlace, crate::tree::TypeId) {
        let declared = &self.unit(key.unit).declarations[key.decl];
        (declared.place, declared.ty)
    }

    /// What the value of a key is called: `k.value`.
    pub fn value_name(&mut self, key: DeclKey) -> TextId {
        let name = self.declared_name(key.unit, key.decl);
        let text = format!("{}.value", self.program.texts.get(name));
        self.text(&text)
    }

    /// The variable of one thread, with what it begins with.
    fn own_variable(&mut self, own: Own, storage: Storage) -> Done<VariableId> {
        if let Own::Variable(key) = own {
            let variable = self.object(key, storage)?;
            // Its name leads to several variables.
            self.variables.remove(&key);
            self.initialise(variable, key)?;
            return Ok(variable);
        }
        let (name, span, ty) = self.own_head(own)?;
        let kind = match ty {
            Type::Single(kind) => kind,
            Type::Array(_) | Type::Class(_) => LeafKind::Data(ScalarType::Int),
        };
        let name = self.program.texts.get(name).to_owned();
        let variable = self.hidden(&name, span, kind);
        self.program.variables[variable].storage = storage;
        Ok(variable)
    }
}

impl Builder<'_, '_> {
    /// Takes the addresses of what the function uses as parameters.
    pub fn take_own(&mut self) -> Done<()> {
        for own in self.input().facts.own_of(self.key) {
            let (name, span, ty) = self.lowering.own_head(own)?;
            let register = self.new_register(Some(name), span, ScalarType::Pointer);
            self.function.registers[register].pointee = Some(ty);
            self.function.parameters.push(register);
            self.own.insert(own, register);
        }
        Ok(())
    }

    /// Makes what a thread has of its own, for the function that it begins with.
    pub fn make_own(&mut self) -> Done<Vec<Operand>> {
        let mut made = Vec::new();
        for own in self.input().facts.own_of(self.key) {
            let (name, span, ty) = self.lowering.own_head(own)?;
            let variable = self.lowering.own_variable(own, Storage::Local(self.id))?;
            let register = self.new_register(Some(name), span, ScalarType::Pointer);
            self.function.registers[register].pointee = Some(ty);
            self.allocated.push((register, variable, span));
            self.own.insert(own, register);
            made.push(Operand::Register(register));
        }
        Ok(made)
    }

    /// The address of what the thread has of its own.
    pub fn own_address(&mut self, own: Own) -> Done<Typed> {
        if let Some(&register) = self.own.get(&own) {
            return Ok(Typed::register(register, ScalarType::Pointer));
        }
        if !self.is_main() {
            let place = self.unit.declarations[self.key.decl].place;
            return self.refuse(Reason::ThreadLocal, place);
        }
        let variable = match self.lowering.own_of_main.get(&own) {
            Some(&known) => known,
            None => {
                let made = self.lowering.own_variable(own, Storage::Global)?;
                self.lowering.own_of_main.insert(own, made);
                made
            }
        };
        Ok(Typed::constant(Value::Pointer(Pointer::to(Object::Global(variable), 0))))
    }

    /// Where something is that the thread has of its own.
    pub fn own_home(&mut self, own: Own) -> Done<Home> {
        Ok(Home::Memory(match self.own_address(own)?.operand {
            Operand::Register(register) => Place::at(Base::Pointer(register), 0),
            Operand::Constant(Value::Pointer(pointer)) => match pointer.target() {
                Some((Object::Global(variable), 0)) => Place::global(variable),
                _ => return self.refuse(Reason::ThreadLocal, self.unit.declarations[self.key.decl].place),
            },
            Operand::Constant(_) => {
                return self.refuse(Reason::ThreadLocal, self.unit.declarations[self.key.decl].place);
            }
        }))
    }

    /// The thread-local variable that a name stands for.
    pub fn own_named(&self, decl: DeclId) -> Option<Own> {
        let key = self.input().links.resolve(self.unit, self.key.unit, decl);
        let declared = &self.lowering.unit(key.unit).declarations[key.decl];
        super::own::is_own(declared).then_some(Own::Variable(key))
    }
}
