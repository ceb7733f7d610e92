//! Elements of arrays, references to objects and arrays, and the names of threads whose handles are elements.
//!
//! An index is computed where it stands and tested where the place is used: an index out of range makes the reference go
//! astray, and the access, the operation or the call fails.

use super::code::{Label, NONE, Op, Shape, Slot};
use super::compile::{Compiler, Result};
use super::expression::{Target, without_indices};
use super::value::{Ty, Value};
use cssame::front::csm::syntax::ast::{Expr, ExprKind, Initialiser, Row};

impl Compiler<'_> {
    /// Pushes a reference to an element.
    pub fn element(&mut self, array: &Expr, index: &Expr, place: u32) -> Result<Shape> {
        let (ty, mut dims) = self.address(array)?;
        if dims.is_empty() {
            return Err("an element of no array".to_owned());
        }
        let len = dims.remove(0);
        let stride = self.size(ty, &dims);
        // What stands in the index has indices of its own.
        let outer = self.handle_indices.take();
        if !self.expr(index)?.fits(Ty::Long) {
            return Err("an index that is no integer".to_owned());
        }
        self.handle_indices = outer;
        if self.handle_indices.is_some() {
            let slot = self.frame.slot();
            self.emit(Op::StoreSlot(slot), place);
            self.emit(Op::LoadSlot(slot), place);
            self.handle_indices.get_or_insert_default().push((slot, len));
        }
        self.emit(Op::Index { len, stride }, place);
        Ok((ty, dims))
    }

    /// Pushes a reference that is formed here: to the object of a method, or as an argument.
    pub fn reference(&mut self, expr: &Expr) -> Result<Shape> {
        let shape = self.address(expr)?;
        self.emit(Op::Formed, expr.span.start);
        Ok(shape)
    }

    /// Pushes an object or an array for a parameter of that type.
    pub fn reference_argument(&mut self, argument: &Expr, ty: Ty, dims: &[u32]) -> Result<()> {
        let (given, have) = self.reference(argument)?;
        let fits = given == ty || (given, ty) == (Ty::ReentrantLock, Ty::Lock);
        if !fits || have.len() != dims.len() || have.get(1..) != dims.get(1..) {
            return Err(format!("another object than a {ty:?}"));
        }
        if let Some(&len) = have.first() {
            self.emit(Op::Measure(len), argument.span.start);
            // Whoever gets the array may share it.
            if let ExprKind::Name(name) = &without_indices(argument).kind
                && let Some(local) = self.local(name)
            {
                self.found.insert(local.declared);
            }
        }
        Ok(())
    }

    /// Pushes the length of the first dimension. That of a declared array is a constant, whatever stands in its indices.
    pub fn array_length(&mut self, array: &Expr, place: u32) -> Result<Ty> {
        let before = self.code.ops.len();
        let (_, dims) = self.address(array)?;
        let len = *dims.first().ok_or("the length of no array")?;
        if len == NONE {
            self.emit(Op::Length, place);
        } else {
            self.code.ops.truncate(before);
            self.code.places.truncate(before);
            self.emit(Op::Push(Value::Int(len as i32)), place);
        }
        Ok(Ty::Int)
    }

    /// The name of a thread that is always called the same.
    pub fn label(&mut self, text: &str) -> u32 {
        self.named(vec![text.to_owned()], Vec::new())
    }

    /// Pushes the place of the handle of a thread; gives the name of the thread: `w[2]`, by value.
    pub fn handle(&mut self, target: &Expr) -> Result<(Target, u32)> {
        self.handle_indices = Some(Vec::new());
        let found = self.target(target)?;
        let indices = self.handle_indices.take().unwrap_or_default();
        if found.ty() != Ty::Thread {
            return Err("no handle of a thread".to_owned());
        }
        let mut texts = vec![String::new()];
        spell(target, &mut texts);
        Ok((found, self.named(texts, indices)))
    }

    fn named(&mut self, texts: Vec<String>, indices: Vec<(Slot, u32)>) -> u32 {
        self.code.labels.push(Label { texts, indices });
        self.code.labels.len() as u32 - 1
    }
}

/// The texts between the indices of a place; the `this.` before a field is left out.
fn spell(expr: &Expr, texts: &mut Vec<String>) {
    match &expr.kind {
        ExprKind::Name(name) => spell_behind(texts, name),
        ExprKind::Field { object, field } if object.kind == ExprKind::This => spell_behind(texts, &field.name),
        ExprKind::Field { object, field } => {
            spell(object, texts);
            spell_behind(texts, &format!(".{}", field.name));
        }
        ExprKind::Index { array, .. } => {
            spell(array, texts);
            spell_behind(texts, "[");
            texts.push("]".to_owned());
        }
        _ => {}
    }
}

fn spell_behind(texts: &mut [String], text: &str) {
    if let Some(last) = texts.last_mut() {
        last.push_str(text);
    }
}

/// The elements that an initialiser gives, each with its number among all elements of an array of these dimensions.
pub fn elements<'a>(dims: &[u32], initialiser: Option<&'a Initialiser>) -> Vec<(usize, &'a Expr)> {
    fn row<'a>(dims: &[u32], first: usize, row: &'a Row, into: &mut Vec<(usize, &'a Expr)>) {
        match row {
            Row::Values(values, _) => {
                into.extend(values.iter().enumerate().map(|(place, value)| (first + place, value)))
            }
            Row::Rows(list, _) => rows(dims, first, list, into),
        }
    }
    fn rows<'a>(dims: &[u32], first: usize, list: &'a [Row], into: &mut Vec<(usize, &'a Expr)>) {
        let inner = dims.get(1..).unwrap_or_default();
        let width = inner.iter().product::<u32>() as usize;
        for (place, one) in list.iter().enumerate() {
            row(inner, first + place * width, one, into);
        }
    }
    let mut found = Vec::new();
    match initialiser {
        Some(Initialiser::List(values)) => found.extend(values.iter().enumerate()),
        Some(Initialiser::Rows(list)) => rows(dims, 0, list, &mut found),
        _ => {}
    }
    found
}
