//! Declarations with their initialisers.

use super::{Copier, Input, decl, expr, stmt};
use crate::tree::declaration::{Decl, DeclFlags, DeclKind, Definition, InitialValue, Linkage, Storage};
use crate::tree::types::BitField;
use rucc_sema::{DeclFlags as ReadFlags, Eval, InitEntry};

impl Copier<'_> {
    pub(super) fn declaration(&mut self, id: rucc_sema::DeclId) -> Decl {
        let tree = self.input.tree();
        let read = &tree[id];
        if read.duration != rucc_sema::StorageDuration::Automatic {
            self.fold_initial(read);
        }
        let flags = DeclFlags {
            inline: read.flags.contains(ReadFlags::DECLARED_INLINE),
            no_return: read.flags.contains(ReadFlags::NORETURN),
            weak: read.flags.contains(ReadFlags::WEAK),
            startup: read.startup.asked(),
            alias: read.alias.is_some() || read.register.is_some(),
        };
        Decl {
            name: read.name.map(|name| self.input.name(name)),
            ty: self.types.get(read.ty),
            kind: match read.kind {
                rucc_sema::DeclKind::Object => DeclKind::Object,
                rucc_sema::DeclKind::Function => DeclKind::Function,
                rucc_sema::DeclKind::Type => DeclKind::Type,
            },
            linkage: match read.linkage {
                rucc_sema::Linkage::None => Linkage::None,
                rucc_sema::Linkage::Internal => Linkage::Internal,
                rucc_sema::Linkage::External => Linkage::External,
            },
            storage: match read.duration {
                rucc_sema::StorageDuration::Static => Storage::Static,
                rucc_sema::StorageDuration::Thread => Storage::Thread,
                rucc_sema::StorageDuration::Automatic => Storage::Automatic,
            },
            definition: match read.state {
                rucc_sema::Definition::Declared => Definition::Declared,
                rucc_sema::Definition::Tentative => Definition::Tentative,
                rucc_sema::Definition::Defined => Definition::Defined,
            },
            align: read.alignment.map(u64::from),
            initial: read.init.map(|list| tree[list].iter().map(initial).collect()),
            cleanup: read.cleanup.map(decl),
            parameters: tree[read.params].iter().map(|&id| decl(id)).collect(),
            body: read.body.map(stmt),
            flags,
            place: self.input.place(tree.definition_span(id)),
        }
    }

    /// The values that an object has before the program runs are constants, addresses among them.
    fn fold_initial(&mut self, read: &rucc_sema::Decl) {
        let Input { checked, names, target, .. } = self.input;
        for entry in read.init.map_or(&[][..], |list| &checked.tast[list]) {
            let mut eval = Eval::new(&checked.tast, &checked.types, target, names).objects(true);
            if let Ok(value) = eval.initializer(entry.value) {
                let constant = self.constant(value);
                self.constants.entry(expr(entry.value)).or_insert(constant);
            }
        }
    }
}

fn initial(read: &InitEntry) -> InitialValue {
    let bits = read.is_bit_field().then_some(BitField { first: read.bit_offset, width: read.bit_width });
    InitialValue { offset: read.offset, bits, value: expr(read.value) }
}
