//! Which variable a place of the text reads or writes.
//!
//! The fields of all objects of a class are one variable each, and the elements of an array are one. Two locals of one
//! name are two variables.

use super::code::{NONE, Owner};
use super::compile::{Compiler, Result};
use super::value::Ty;
use cssame::front::csm::syntax::ast::{Expr, ExprKind};

impl Compiler<'_> {
    /// Notes of what variable the place with that name is.
    pub fn own(&mut self, name: u32, expr: &Expr) -> Result<()> {
        let owner = self.owner(expr)?;
        self.code.owners.insert(name, owner);
        Ok(())
    }

    fn owner(&mut self, expr: &Expr) -> Result<Owner> {
        let outside = |name: String| Owner { name, declared: NONE };
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(local) = self.local(name) {
                    return Ok(Owner { name: name.clone(), declared: local.declared });
                }
                if self.field(name).is_some() {
                    let class = self.frame.class.ok_or("a field outside a class")?;
                    return Ok(outside(format!("{}.{name}", self.class_name(class))));
                }
                Ok(outside(name.clone()))
            }
            ExprKind::Field { object, field } => {
                let Ty::Class(class) = self.object_type(object)? else { return Err("a field of no object".to_owned()) };
                Ok(outside(format!("{}.{}", self.class_name(class), field.name)))
            }
            _ => Err("no variable".to_owned()),
        }
    }

    fn object_type(&mut self, expr: &Expr) -> Result<Ty> {
        match &expr.kind {
            ExprKind::This => Ok(Ty::Class(self.frame.class.ok_or("this outside a class")?)),
            ExprKind::Name(name) => {
                if let Some(local) = self.local(name) {
                    return Ok(local.ty);
                }
                if let Some(field) = self.field(name) {
                    return Ok(field.ty);
                }
                Ok(self.globals.get(name.as_str()).ok_or_else(|| format!("no variable {name}"))?.ty)
            }
            ExprKind::Field { object, field } => {
                let Ty::Class(class) = self.object_type(object)? else { return Err("a field of no object".to_owned()) };
                Ok(self.classes[class].fields.get(field.name.as_str()).ok_or("no such field")?.ty)
            }
            ExprKind::Index { array, .. } => self.object_type(array),
            _ => Err("no object".to_owned()),
        }
    }

    fn class_name(&self, class: usize) -> &str {
        self.class_ids.iter().find(|(_, id)| **id == class).map_or("", |(name, _)| name)
    }
}
