//! Operations on synchronisation objects: the operation for a word and its arguments.
//!
//! In: a call of a built-in word. Out: an [`Operation`] and the places of its objects.

use super::item::Checker;
use super::{Operation, Place, Scalar, StatementKind, Type};
use crate::csm::syntax::ast::{self, ExprKind};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::sync::{self, ObjectKind};
use cssame_source::Span;

impl Checker<'_> {
    /// An operation on synchronisation objects, as a statement; a verdict is dropped.
    pub(super) fn synchronisation(&mut self, name: &ast::Ident, arguments: &[ast::Expr]) -> StatementKind {
        self.operation(name, arguments).map_or(StatementKind::Skip, StatementKind::Synchronise)
    }

    /// An operation on synchronisation objects: the one of that word that takes so many, and such a one first.
    pub(super) fn operation(&mut self, name: &ast::Ident, arguments: &[ast::Expr]) -> Option<Operation> {
        let spelled = || sync::Kind::ALL.iter().copied().filter(|kind| is_spelled(*kind, &name.name));
        let fits = |kind: &sync::Kind| kind.operands().len() == arguments.len();
        let Some(mut kind) = spelled().find(fits) else {
            self.report_count(name, spelled().next().map_or(1, |kind| kind.operands().len()), arguments.len());
            return None;
        };
        let mut objects = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            if kind.operands()[index] == ObjectKind::Barrier {
                objects.push(self.barrier_argument(argument));
                continue;
            }
            let Some(place) = self.place(argument) else {
                objects.push(None);
                continue;
            };
            if index == 0 {
                let is_of_type = |kind: &sync::Kind| place.ty == type_of(kind.operands()[0]);
                kind = spelled().filter(fits).find(is_of_type).unwrap_or(kind);
            }
            objects.push(self.expect_of(place, type_of(kind.operands()[index]), argument.span, &name.name));
        }
        let objects: Option<Vec<Place>> = objects.into_iter().collect();
        Some(Operation { kind, objects: objects? })
    }

    /// A named barrier, or the hidden one of a constant count.
    fn barrier_argument(&mut self, argument: &ast::Expr) -> Option<Place> {
        let names_barrier = match &argument.kind {
            ExprKind::Name(name) => {
                let id = self.intern(name);
                self.type_of_name(id) == Some(Type::Barrier)
            }
            ExprKind::Field { .. } | ExprKind::Index { .. } => true,
            _ => false,
        };
        if names_barrier {
            return self.object(argument, Type::Barrier);
        }
        let count = self.constant(argument, Scalar::Int).and_then(super::Constant::integer)?;
        let count = self.barrier_count(count, argument.span)?;
        Some(self.anonymous_barrier(count, argument.span))
    }

    pub(super) fn barrier_count(&mut self, count: i64, span: Span) -> Option<u32> {
        if (1..=65_535).contains(&count) {
            return Some(count as u32);
        }
        let message = format!("a barrier cannot wait for {count} threads");
        self.report(Diagnostic::error(Code::BadSize, span, message, "must be from 1 to 65535"));
        None
    }
}

/// Other words for operations on synchronisation objects.
const SPELLINGS: &[(&str, sync::Kind)] = &[("Lock", sync::Kind::Lock), ("Unlock", sync::Kind::Unlock)];

fn is_spelled(kind: sync::Kind, word: &str) -> bool {
    kind.word() == word || SPELLINGS.contains(&(word, kind))
}

/// The words for operations on synchronisation objects.
pub fn words() -> impl Iterator<Item = &'static str> {
    let words = sync::Kind::ALL.iter().map(|kind| kind.word());
    words.chain(SPELLINGS.iter().map(|(word, _)| *word))
}

/// The type of what an operation works on.
fn type_of(object: ObjectKind) -> Type {
    match object {
        ObjectKind::Lock => Type::Lock,
        ObjectKind::RwLock => Type::RwLock,
        ObjectKind::Event => Type::Event,
        ObjectKind::Condition => Type::Condition,
        ObjectKind::Barrier => Type::Barrier,
        ObjectKind::Semaphore => Type::Semaphore,
    }
}

/// Whether an operation of that word has a verdict.
pub(super) fn has_verdict(word: &str) -> bool {
    sync::Kind::ALL.iter().any(|kind| kind.has_verdict() && is_spelled(*kind, word))
}
