//! What of a program is read, and what is not, by name.
//!
//! In: a [`Unit`]. Out: [`Obstacle`]s: each use of something that comes in a later stage of the front end, or never, with its
//! place. A program without one lies within stages 1 and 2: scalars, arrays, structures, pointers to named objects, locks through
//! pointers, C11 atomics. `walk` goes over what can be executed, `library` knows functions by their names.
//!
//! It looks at types and names alone: what a pointer leads to is known when it is used, and memory that is used as another type than
//! it was made for is not read then.

mod formats;
pub mod library;
mod pointers;
mod reason;
#[cfg(test)]
mod tests;
pub(crate) mod unions;
mod walk;

pub use formats::is_standard;
pub(crate) use pointers::{is_null, without_conversions};
pub use reason::Reason;

use crate::tree::{
    Conversion, DeclId, DeclKind, ExprId, ExprKind, Length, Linkage, Place, Reading, TypeId, TypeKind, Unit,
};
use cssame_diagnostics::{Code, Diagnostic};
use std::path::Path;

/// Something in a program that is not read, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Obstacle {
    /// Where.
    pub place: Place,
    /// What.
    pub reason: Reason,
}

impl Obstacle {
    /// The diagnostic that refuses the program for it.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let coming = match self.reason.stage() {
            Some(stage) => format!("it comes in stage {stage} of the C front end"),
            None => "it is not planned".to_owned(),
        };
        let one = Diagnostic::error(Code::UnreadC, self.place.span, format!("{} is not read", self.reason), "");
        let one = match &self.reason {
            Reason::OtherFile(_) => one.with_help("name both files"),
            Reason::UnknownFunction(_) | Reason::UnknownObject(_) => one,
            _ => one.with_note(coming),
        };
        if self.place.is_from_macro() { one.with_label(self.place.used, "the macro is used here") } else { one }
    }
}

/// All that stands in the way of reading a unit, sorted by place; nothing for one that is read.
#[must_use]
pub fn obstacles(unit: &Unit) -> Vec<Obstacle> {
    let mut walk = walk::Walk::new(unit);
    walk.run();
    let mut found = walk.found;
    found.sort();
    found.dedup();
    found
}

/// Why a file is not read that has no tree.
#[must_use]
pub fn refusal(reading: &Reading) -> Reason {
    // A header of C has an ending.
    let is_of_cpp = |name: &String| name.starts_with(char::is_alphabetic) && !name.contains(['.', '/']);
    match reading.missing.first() {
        Some(name) if is_of_cpp(name) => Reason::CPlusPlus,
        Some(name) => Reason::MissingHeader(name.as_str().into()),
        None => Reason::NotC,
    }
}

/// The compound literal whose value an expression is.
pub(crate) fn initialiser(unit: &Unit, value: ExprId) -> Option<DeclId> {
    match unit.expressions[value].kind {
        ExprKind::Convert { conversion: Conversion::Read, operand } | ExprKind::Cast(operand) => {
            initialiser(unit, operand)
        }
        ExprKind::CompoundLiteral(decl) => Some(decl),
        _ => None,
    }
}

/// The lengths in a type that are evaluated where the declaration runs.
pub(crate) fn lengths(unit: &Unit, ty: TypeId) -> Vec<ExprId> {
    let (mut ty, mut found) = (ty, Vec::new());
    loop {
        match unit.types[ty].kind {
            TypeKind::Array { element, length } => {
                if let Length::Variable(count) = length {
                    found.push(count);
                }
                ty = element;
            }
            TypeKind::Pointer(target) => ty = target,
            _ => return found,
        }
    }
}

/// Whether the name of a file says that it is one of C++.
#[must_use]
pub fn is_cpp(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("C" | "cc" | "cpp" | "cxx" | "c++"))
}

/// The functions that a unit defines for others: none where it is a program of its own.
pub fn offered(unit: &Unit) -> impl Iterator<Item = &str> {
    let of = |id: &DeclId| {
        let decl = &unit.declarations[*id];
        let is_offered = decl.kind == DeclKind::Function && decl.body.is_some() && decl.linkage == Linkage::External;
        decl.name.as_deref().filter(|_| is_offered)
    };
    let is_program = unit.globals.iter().filter_map(of).any(|name| name == "main");
    unit.globals.iter().filter_map(of).filter(move |_| !is_program)
}
