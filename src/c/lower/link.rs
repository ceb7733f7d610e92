//! Linking: the one definition that each name of several units stands for.
//!
//! In: units. Out: for each declaration of an external name the declaration that defines it, in its unit or another one; any
//! other declaration stands for itself.

use crate::supported::{Obstacle, Reason};
use crate::tree::{DeclId, Definition, Linkage, Unit};
use rustc_hash::FxHashMap;

/// A declaration of one of several units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeclKey {
    /// The number of the unit.
    pub unit: u32,
    /// The declaration.
    pub decl: DeclId,
}

/// The definitions of external names.
#[derive(Debug, Default)]
pub struct Links {
    by_name: FxHashMap<Box<str>, (u8, DeclKey)>,
    /// Names that two units define.
    pub problems: Vec<Obstacle>,
}

impl Links {
    /// The definitions of these units.
    pub fn new(units: &[&Unit]) -> Links {
        let mut links = Links::default();
        for (number, unit) in units.iter().enumerate() {
            for (decl, declared) in unit.declarations.entries() {
                let (Linkage::External, Some(name)) = (declared.linkage, &declared.name) else { continue };
                let rank = match declared.definition {
                    Definition::Declared => 0,
                    Definition::Tentative => 1,
                    // Of several definitions the one counts that gives way to none.
                    Definition::Defined if declared.flags.weak || declared.flags.inline => 2,
                    Definition::Defined => 3,
                };
                let key = DeclKey { unit: number as u32, decl };
                let known = links.by_name.entry(name.clone()).or_insert((rank, key));
                if rank == 3 && known.0 == 3 && known.1 != key {
                    let reason = Reason::DefinedTwice(name.clone());
                    links.problems.push(Obstacle { place: declared.place, reason });
                }
                if rank > known.0 {
                    *known = (rank, key);
                }
            }
        }
        links
    }

    /// What a declaration of a unit stands for.
    pub fn resolve(&self, unit: &Unit, number: u32, decl: DeclId) -> DeclKey {
        let declared = &unit.declarations[decl];
        let own = DeclKey { unit: number, decl };
        match (declared.linkage, &declared.name) {
            (Linkage::External, Some(name)) => self.by_name.get(name).map_or(own, |&(_, key)| key),
            _ => own,
        }
    }

    /// Whether some unit defines a name.
    pub fn defines(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|&(rank, _)| rank > 0)
    }
}
