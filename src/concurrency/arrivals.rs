//! The number of arrivals at a barrier before a block, as an interval and a congruence.
//!
//! **Input**: control flow within the participants. **Output**: [`Arrivals`] for each block.
//!
//! **Algorithm** (intervals: Cousot and Cousot 1977; congruences: Granger 1989)
//! 1. A participant begins with exactly 0 arrivals; each arrival adds 1.
//! 2. At a merge the interval is the hull, and the modulus the greatest common divisor of both moduli and of the difference of
//!    the residues.
//! 3. A block that has changed more than [`WIDENING`] times gets an infinite upper bound, so that the iteration ends; the
//!    congruence has finite descending chains by itself.
//!
//! **Soundness and limits**: both parts cover every path. If the interval is infinite, the congruence still distinguishes the
//! phases of a loop with several arrivals.

use super::ThreadId;
use super::builder::GraphBuilder;
use cssame_ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};

/// Changes of a block's interval before its upper bound is given up.
const WIDENING: u32 = 4;

/// How many arrivals came before: an interval, and a congruence (modulus 0: exactly the residue).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrivals {
    pub low: u32,
    pub high: u32,
    pub residue: u32,
    pub modulus: u32,
}

/// The greatest common divisor; 0 counts as a multiple of everything.
pub(super) fn gcd(a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Arrivals {
    const START: Arrivals = Arrivals { low: 0, high: 0, residue: 0, modulus: 0 };

    /// One arrival more.
    fn next(self) -> Arrivals {
        let residue = self.residue.saturating_add(1);
        Arrivals {
            low: self.low.saturating_add(1),
            high: self.high.saturating_add(1),
            residue: if self.modulus == 0 { residue } else { residue % self.modulus },
            modulus: self.modulus,
        }
    }

    /// What covers both.
    fn join(self, other: Arrivals) -> Arrivals {
        let modulus = gcd(gcd(self.modulus, other.modulus), self.residue.abs_diff(other.residue));
        let residue = if modulus == 0 { self.residue } else { self.residue % modulus };
        Arrivals { low: self.low.min(other.low), high: self.high.max(other.high), residue, modulus }
    }

    /// Whether no number of arrivals belongs to both.
    pub fn disjoint(self, other: Arrivals) -> bool {
        let modulus = gcd(self.modulus, other.modulus);
        let residues = self.residue.abs_diff(other.residue);
        let incongruent = if modulus == 0 { residues != 0 } else { !residues.is_multiple_of(modulus) };
        self.high < other.low || other.high < self.low || incongruent
    }

    /// The number, where it is the same on all paths.
    pub fn exact(self) -> Option<u32> {
        (self.low == self.high && self.modulus == 0).then_some(self.low)
    }
}

/// The number of arrivals before each block of the participants.
pub(super) fn count_arrivals(
    builder: &GraphBuilder<'_>,
    local: &Graph,
    arrivals: &[u32],
    participants: &[ThreadId],
) -> FxHashMap<u32, Arrivals> {
    let arrivals: FxHashSet<u32> = arrivals.iter().copied().collect();
    let mut phases: FxHashMap<u32, Arrivals> = FxHashMap::default();
    let mut visits: FxHashMap<u32, u32> = FxHashMap::default();
    for &participant in participants {
        let entry = builder.unfolding.contexts[builder.unfolding.threads[participant].root].entry;
        phases.insert(entry, Arrivals::START);
        let mut waiting = vec![entry];
        while let Some(block) = waiting.pop() {
            let here = phases[&block];
            let out = if arrivals.contains(&block) { here.next() } else { here };
            for &target in local.successors(block) {
                let mut joined = phases.get(&target).map_or(out, |&known| known.join(out));
                if phases.get(&target) == Some(&joined) {
                    continue;
                }
                let rounds = visits.entry(target).or_default();
                *rounds += 1;
                if *rounds > WIDENING {
                    joined.high = u32::MAX;
                }
                phases.insert(target, joined);
                waiting.push(target);
            }
        }
    }
    phases
}
