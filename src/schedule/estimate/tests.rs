//! Values from the literature, and boundary cases.

use super::*;

#[test]
fn intervals_are_those_of_the_literature() {
    // Newcombe 1998, table I, method 3.
    for (hits, trials, low, high) in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (10, 10, 0.7225, 1.0),
    ] {
        let interval = Rate { hits, trials }.wilson(Z_95);
        let is_close = |one: f64, other: f64| (one - other).abs() < 5e-5;
        assert!(is_close(interval.low, low) && is_close(interval.high, high), "{hits} of {trials}: {interval:?}");
    }
}

#[test]
fn an_interval_holds_what_was_observed() {
    assert_eq!(Rate::default().wilson(Z_95), Interval { low: 0.0, high: 1.0 });
    assert_eq!(Rate::default().proportion(), None);
    for trials in 1..60 {
        for hits in 0..=trials {
            let rate = Rate { hits, trials };
            let (Interval { low, high }, observed) = (rate.wilson(Z_95), rate.proportion().unwrap());
            assert!(0.0 <= low && low <= observed && observed <= high && high <= 1.0, "{hits} of {trials}");
        }
    }
    let mut rate = Rate::default();
    rate.count(true);
    rate.count(false);
    assert_eq!(rate, Rate { hits: 1, trials: 2 });
}

#[test]
fn the_first_hit_is_counted_from_one() {
    assert_eq!(FirstHit::of([false, false, true, true]), FirstHit::At(3));
    assert_eq!(FirstHit::of([false, false]), FirstHit::Censored(2));
    assert_eq!(FirstHit::of([]), FirstHit::Censored(0));
}

#[test]
fn the_median_respects_series_without_a_hit() {
    use FirstHit::{At, Censored};
    for (series, median) in [
        (vec![], None),
        (vec![At(3)], Some(At(3))),
        (vec![At(3), Censored(10), At(1)], Some(At(3))),
        (vec![At(1), Censored(5), Censored(5)], Some(Censored(5))),
        (vec![At(4), At(2), At(3), At(1)], Some(At(2))),
        // Behind the first one two are at risk: one of them is one half.
        (vec![Censored(1), At(2), At(4)], Some(At(2))),
        (vec![Censored(4), At(4), Censored(4)], Some(Censored(4))),
        (vec![Censored(4), At(4)], Some(At(4))),
    ] {
        assert_eq!(FirstHit::median(&series), median, "{series:?}");
    }
}
