//! Which data are correlated with a datum.
//!
//! In: the correlations. Out: [`Neighbours`], which lists those within a set of data without looking at all of them.

use super::access::{AccessKind, kinds_in, pair_bit};
use super::datum::DatumId;
use super::pattern::Correlation;
use rustc_hash::FxHashMap;

/// The correlations of each datum.
pub(super) struct Neighbours(FxHashMap<DatumId, Vec<(DatumId, u32)>>);

impl Neighbours {
    pub fn new(correlations: &[Correlation]) -> Neighbours {
        let mut of: FxHashMap<DatumId, Vec<(DatumId, u32)>> = FxHashMap::default();
        for (index, correlation) in correlations.iter().enumerate() {
            let (a, b) = correlation.data;
            of.entry(a).or_default().push((b, index as u32));
            of.entry(b).or_default().push((a, index as u32));
        }
        Neighbours(of)
    }

    /// Whether a datum has any.
    pub fn contains(&self, datum: DatumId) -> bool {
        self.0.contains_key(&datum)
    }

    /// The correlations within a set of data, each with the mask of the kinds.
    pub fn within(&self, kinds: &[(DatumId, u8)], mut f: impl FnMut(u32, u8)) {
        for &(datum, first) in kinds {
            for &(partner, correlation) in self.0.get(&datum).map_or(&[][..], Vec::as_slice) {
                let second = if partner > datum { kinds_in(kinds, partner) } else { 0 };
                if second != 0 {
                    f(correlation, mask(first, second));
                }
            }
        }
    }
}

fn mask(first: u8, second: u8) -> u8 {
    let mut mask = 0;
    for a in AccessKind::ALL {
        for b in AccessKind::ALL {
            if first & a.bit() != 0 && second & b.bit() != 0 {
                mask |= pair_bit(a, b);
            }
        }
    }
    mask
}
