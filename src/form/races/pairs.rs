//! Pairs of accesses, made on demand.
//!
//! **Input**: the groups of accesses. **Output**: [`Pairs`], an iterator over the pairs of all variables or of one;
//! each once, sorted.
//!
//! **Algorithm**: visit the accesses in order. The partners of an access are the accesses of the groups that its groups may race
//! with, except those that come before it. The partners of a group are computed once.

use super::PotentialRaces;
use super::group::rows;
use cssame_ir::{Access, LeafId};
use rustc_hash::FxHashMap;

/// Pairs of accesses that may race.
#[derive(Clone, Debug)]
pub struct Pairs<'r> {
    races: &'r PotentialRaces<'r>,
    /// The only variable that counts.
    of: Option<LeafId>,
    /// The next of all sites whose access has not been looked at.
    next: usize,
    /// The access that all of `partners` go with.
    first: Option<Access>,
    partners: std::vec::IntoIter<Access>,
    /// For a group of a variable, the groups that it may meet.
    met: FxHashMap<(u32, u32), Vec<u32>>,
}

impl<'r> Pairs<'r> {
    pub(super) fn new(races: &'r PotentialRaces<'r>, of: Option<LeafId>) -> Pairs<'r> {
        Pairs { races, of, next: 0, first: None, partners: Vec::new().into_iter(), met: FxHashMap::default() }
    }

    /// The partners of an access that are not less than it.
    fn partners(&mut self, access: Access) -> Vec<Access> {
        let races = self.races;
        let mut partners = Vec::new();
        for site in races.sites.distinct(access) {
            if self.of.is_some_and(|of| races.leaf_of(site.variable) != of) {
                continue;
            }
            let groups = races.groups(site.variable);
            let met = self.met.entry((site.variable, site.group)).or_insert_with(|| {
                let key = groups[site.group as usize].key;
                let others = groups.iter().enumerate();
                let met = others.filter(|(_, other)| races.may_meet(site.variable, key, other.key));
                met.map(|(index, _)| index as u32).collect()
            });
            for &other in met.iter() {
                // Reads come before writes in the order of accesses, so that the second one of a pair always writes.
                for row in rows(&groups[other as usize].writes, site.element) {
                    partners.extend(row.iter().map(|&(_, partner)| partner).filter(|&partner| partner >= access));
                }
            }
        }
        partners.sort_unstable();
        partners.dedup();
        partners
    }
}

impl Iterator for Pairs<'_> {
    type Item = [Access; 2];

    fn next(&mut self) -> Option<[Access; 2]> {
        loop {
            if let (Some(first), Some(partner)) = (self.first, self.partners.next()) {
                return Some([first, partner]);
            }
            let access = self.races.sites.all().get(self.next)?.access;
            self.next += self.races.sites.of(access).len();
            self.first = Some(access);
            self.partners = self.partners(access).into_iter();
        }
    }
}
