//! Estimates from trials: the probability of a hit, and the number of trials until the first hit.
//!
//! **Input**: the number of hits in a number of trials; or, for several series of trials, the number of the first hit, if any.
//!
//! **Output**: the proportion with an interval that contains the true one with a given confidence; the median number of trials to
//! the first hit.
//!
//! **Algorithm**. The interval is Wilson's (1927): it contains those proportions p whose distance from the observed one is at
//! most z standard deviations of p itself. It stays within 0 and 1, and is sensible even if all or none of few trials are hits.
//! The median is that of Kaplan and Meier (1958): a series without a hit counts as a censored observation of its length.
//!
//! **Soundness and limits**. Both assume independent trials, such as those of different seeds. Trials of a search that learns, or
//! that ends with its first hit, are not independent: their first hit is meaningful, the proportion is not.

use std::cmp::Ordering;

/// The quantile of the normal distribution for a confidence of 95 %.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// How many of a number of trials were hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Those that were; not more than there were trials.
    pub hits: u64,
    /// All of them.
    pub trials: u64,
}

/// An interval of probabilities, its ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Rate {
    /// One more trial.
    pub fn count(&mut self, is_hit: bool) {
        self.hits += u64::from(is_hit);
        self.trials += 1;
    }

    /// The proportion of hits; `None` without trials.
    #[must_use]
    pub fn proportion(self) -> Option<f64> {
        (self.trials > 0).then(|| self.hits as f64 / self.trials as f64)
    }

    /// Wilson's interval for the probability of a hit. `z` is the quantile of the normal distribution for the
    /// confidence, such as [`Z_95`]. Without trials it is everything.
    #[must_use]
    pub fn wilson(self, z: f64) -> Interval {
        let Some(observed) = self.proportion() else { return Interval { low: 0.0, high: 1.0 } };
        let (trials, square) = (self.trials as f64, z * z);
        let centre = observed + square / (2.0 * trials);
        let half = z * (observed * (1.0 - observed) / trials + square / (4.0 * trials * trials)).sqrt();
        let scale = 1.0 + square / trials;
        // The ends are exactly 0 and 1 where none and all are hits; rounding must not say otherwise.
        let low = if self.hits == 0 { 0.0 } else { ((centre - half) / scale).max(0.0) };
        let high = if self.hits == self.trials { 1.0 } else { ((centre + half) / scale).min(1.0) };
        Interval { low, high }
    }
}

/// When the first hit of a series of trials came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstHit {
    /// With this trial, counted from 1.
    At(u64),
    /// Not within so many trials: the number that it takes is greater.
    Censored(u64),
}

impl FirstHit {
    /// Of a series of trials, in order, each of which is a hit or not.
    pub fn of(trials: impl IntoIterator<Item = bool>) -> FirstHit {
        let mut count = 0;
        for is_hit in trials {
            count += 1;
            if is_hit {
                return FirstHit::At(count);
            }
        }
        FirstHit::Censored(count)
    }

    /// The number of trials of the series, up to the hit.
    #[must_use]
    pub fn trials(self) -> u64 {
        match self {
            FirstHit::At(trials) | FirstHit::Censored(trials) => trials,
        }
    }

    fn is_hit(self) -> bool {
        matches!(self, FirstHit::At(_))
    }

    /// The median of several series: the smallest number of trials within which at least half of all series have a
    /// hit. It is censored, by the longest series, where they do not come to that. `None` without series.
    #[must_use]
    pub fn median(series: &[FirstHit]) -> Option<FirstHit> {
        let mut sorted = series.to_vec();
        // A series that ended at a trial without a hit was still at risk in it.
        sorted.sort_by(|one, other| match one.trials().cmp(&other.trials()) {
            Ordering::Equal => other.is_hit().cmp(&one.is_hit()),
            order => order,
        });
        let longest = sorted.last()?.trials();
        // The share of series that go on behind a number of trials.
        let mut surviving = 1.0;
        for (place, one) in sorted.iter().enumerate() {
            let at_risk = (sorted.len() - place) as f64;
            if one.is_hit() {
                surviving *= (at_risk - 1.0) / at_risk;
                // One half need not be exact after several products.
                if surviving <= 0.5 + 1e-9 {
                    return Some(*one);
                }
            }
        }
        Some(FirstHit::Censored(longest))
    }
}

#[cfg(test)]
mod tests;
