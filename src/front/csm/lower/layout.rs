//! Layout: the leaves of memory variables.

use super::{Symbols, scalar_type, value};
use crate::front::csm::hir;
use crate::ir::{Definition, DefinitionKind, Leaf, LeafId, LeafKind, Program, Storage, Value, Variable, VariableId};
use crate::source::Span;
use crate::source::texts::TextId;

/// Makes the memory variable of a variable of the tree, with its leaves.
pub(super) fn lower_variable(
    program: &mut Program,
    symbols: &mut Symbols,
    tree: &hir::Program,
    id: hir::VariableId,
    storage: Storage,
) -> VariableId {
    let declared = &tree.variables[id];
    let variable = program.variables.push(Variable {
        name: declared.name,
        span: declared.span,
        storage,
        first_leaf: LeafId::new(program.leaves.len()),
        leaf_count: 0,
        size: 0,
    });
    let mut layout = Layout { program, symbols, tree, variable, offset: 0 };
    layout.add(declared.name, (declared.name, declared.span), declared.ty, &declared.initial);
    let size = layout.offset;
    let first = program.variables[variable].first_leaf.index();
    let count = program.leaves.len() - first;
    let made = &mut program.variables[variable];
    made.leaf_count = count as u32;
    made.size = size;
    variable
}

struct Layout<'a> {
    program: &'a mut Program,
    symbols: &'a mut Symbols,
    tree: &'a hir::Program,
    variable: VariableId,
    offset: u32,
}

impl Layout<'_> {
    /// Adds the leaves of a part of that type. Objects nest as deep as there are classes.
    fn add(&mut self, name: TextId, symbol: (TextId, Span), ty: hir::Type, initial: &[hir::Constant]) {
        let (kind, length, array) = match ty {
            hir::Type::Class(class) => {
                for field in &self.tree.classes[class].fields {
                    let text = format!("{}.{}", self.program.texts.get(name), self.program.texts.get(field.name));
                    let path = self.program.texts.intern(&text);
                    self.add(path, (field.name, field.span), field.ty, &field.initial);
                }
                return;
            }
            hir::Type::Scalar(scalar) => (LeafKind::Data(scalar_type(scalar)), 1, false),
            hir::Type::Array(scalar, length) => (LeafKind::Data(scalar_type(scalar)), length, true),
            hir::Type::Lock | hir::Type::Error => (LeafKind::Lock, 1, false),
            hir::Type::Event => (LeafKind::Event, 1, false),
            hir::Type::Barrier => {
                let count = initial.first().and_then(|count| count.integer()).unwrap_or(1);
                (LeafKind::Barrier(count as u32), 1, false)
            }
            hir::Type::Condition => (LeafKind::Condition, 1, false),
            hir::Type::Semaphore => (LeafKind::Semaphore, 1, false),
        };
        let name_end = self.program.texts.get(name).len() as u32;
        let dimensions = array.then_some(crate::ir::Dimension { length, stride: 1, name_end }).into_iter().collect();
        let initial: Vec<Value> = initial.iter().map(|&constant| value(constant)).collect();
        let symbol_id = self.symbols.get(self.program, symbol.0, symbol.1);
        let leaf = LeafId::new(self.program.leaves.len());
        let declaration = self.program.variables[self.variable].span;
        let initial_definition = matches!(kind, LeafKind::Data(_)).then(|| {
            self.program.definitions.push(Definition {
                name,
                symbol: symbol_id,
                span: declaration,
                kind: DefinitionKind::Initial(leaf),
                version: 0,
            })
        });
        self.program.leaves.push(Leaf {
            variable: self.variable,
            name,
            symbol: symbol_id,
            offset: self.offset,
            dimensions,
            kind,
            initial,
            initial_definition,
        });
        self.offset += length * kind.width();
    }
}
