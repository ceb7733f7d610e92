//! Layout: the leaves of memory variables.

use super::types::lower_type;
use super::{Symbols, scalar_type, value};
use crate::csm::hir;
use cssame_ir::{
    Definition, DefinitionKind, Dimension, Leaf, LeafId, LeafKind, Program, Storage, Variable, VariableId,
};
use cssame_source::Span;
use cssame_source::texts::TextId;

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
        ty: lower_type(declared.ty),
        first_leaf: LeafId::new(program.leaves.len()),
        leaf_count: 0,
        size: 0,
        bytes: 0,
        heap: false,
    });
    let mut layout = Layout { program, symbols, tree, variable, dimensions: Vec::new() };
    layout.add(declared.name, (declared.name, declared.span), declared.ty, &declared.initial, 0);
    let size = tree.size_of(declared.ty);
    let first = program.variables[variable].first_leaf.index();
    let count = program.leaves.len() - first;
    let made = &mut program.variables[variable];
    made.leaf_count = count as u32;
    (made.size, made.bytes) = (size, size);
    variable
}

struct Layout<'a> {
    program: &'a mut Program,
    symbols: &'a mut Symbols,
    tree: &'a hir::Program,
    variable: VariableId,
    /// The arrays that the part lies in which is added now.
    dimensions: Vec<Dimension>,
}

impl Layout<'_> {
    /// Adds the leaves of a part of that type, which begins at `offset`. Objects nest as deep as there are classes.
    fn add(&mut self, name: TextId, symbol: (TextId, Span), ty: hir::Type, initial: &[hir::Constant], offset: u32) {
        match ty {
            hir::Type::Class(class) => {
                for field in &self.tree.classes[class].fields {
                    let text = format!("{}.{}", self.program.texts.get(name), self.program.texts.get(field.name));
                    let path = self.program.texts.intern(&text);
                    self.add(path, (field.name, field.span), field.ty, &field.initial, offset + field.offset);
                }
            }
            hir::Type::Array(id) => {
                let hir::Array { element, length } = self.tree.arrays[id];
                let name_end = self.program.texts.get(name).len() as u32;
                let stride = self.tree.size_of(element);
                self.dimensions.push(Dimension { length: length.unwrap_or(0), stride, bytes: stride, name_end });
                self.add(name, symbol, element, initial, offset);
                self.dimensions.pop();
            }
            hir::Type::Scalar(scalar) => self.leaf(name, symbol, LeafKind::Data(scalar_type(scalar)), initial, offset),
            hir::Type::Lock | hir::Type::Error => self.leaf(name, symbol, LeafKind::Lock, initial, offset),
            hir::Type::Event => self.leaf(name, symbol, LeafKind::Event, initial, offset),
            hir::Type::ReentrantLock => self.leaf(name, symbol, LeafKind::ReentrantLock, initial, offset),
            hir::Type::RwLock => self.leaf(name, symbol, LeafKind::RwLock, initial, offset),
            hir::Type::Barrier => {
                let count = initial.first().and_then(|count| count.integer()).unwrap_or(1);
                self.leaf(name, symbol, LeafKind::Barrier(count as u32), initial, offset);
            }
            hir::Type::Condition => self.leaf(name, symbol, LeafKind::Condition, initial, offset),
            hir::Type::Semaphore => self.leaf(name, symbol, LeafKind::Semaphore, initial, offset),
        }
    }

    fn leaf(&mut self, name: TextId, symbol: (TextId, Span), kind: LeafKind, initial: &[hir::Constant], offset: u32) {
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
        let mut made = Leaf {
            variable: self.variable,
            name,
            symbol: symbol_id,
            offset,
            byte: offset,
            dimensions: self.dimensions.clone(),
            kind,
            initial: Vec::new(),
            initial_definition,
        };
        // A field of the objects of an array begins alike in all of them.
        let count = made.element_count() as usize;
        made.initial = initial.iter().cycle().take(count).map(|&constant| value(constant)).collect();
        self.program.leaves.push(made);
    }
}
