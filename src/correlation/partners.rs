//! The correlation graph: for each source variable, its correlations and their other variables.
//!
//! **Input**: the correlations. **Output**: [`Partners`], which lists the correlations within a set of variables without
//! examining all of them.

use super::kind::{AccessKind, kinds_in, pair_bit};
use super::pattern::Correlation;
use super::source_variable::SourceVariableId;
use rustc_hash::FxHashMap;

/// The correlations of each variable.
pub(super) struct Partners(FxHashMap<SourceVariableId, Vec<(SourceVariableId, u32)>>);

impl Partners {
    pub fn new(correlations: &[Correlation]) -> Partners {
        let mut of: FxHashMap<SourceVariableId, Vec<(SourceVariableId, u32)>> = FxHashMap::default();
        for (index, correlation) in correlations.iter().enumerate() {
            let (a, b) = correlation.data;
            of.entry(a).or_default().push((b, index as u32));
            of.entry(b).or_default().push((a, index as u32));
        }
        Partners(of)
    }

    /// Whether a variable has any.
    pub fn contains(&self, variable: SourceVariableId) -> bool {
        self.0.contains_key(&variable)
    }

    /// The correlations within a set of data, each with the mask of the kinds.
    pub fn within(&self, kinds: &[(SourceVariableId, u8)], mut f: impl FnMut(u32, u8)) {
        for &(variable, first) in kinds {
            for &(partner, correlation) in self.0.get(&variable).map_or(&[][..], Vec::as_slice) {
                let second = if partner > variable { kinds_in(kinds, partner) } else { 0 };
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
