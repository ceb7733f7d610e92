//! How much the tests try.
//!
//! **Input**: environment variables. **Output**: numbers of programs, seeds, and parts of lists.
//!
//! A run of `cargo test` is there to fail when something breaks, in seconds: each law tries some programs, the same each time.
//! `scripts/laws.sh` sets [`EFFORT`] and a seed, for the same laws to try as many as one has time for, and all of what the usual
//! run takes a part of.

/// How many times as much is tried as in a usual run.
pub const EFFORT: &str = "CSSAME_LAW_EFFORT";

/// The number that an environment variable sets.
#[must_use]
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn effort() -> u64 {
    setting(EFFORT, 1).max(1)
}

/// Whether this is a long run.
#[must_use]
pub fn is_long() -> bool {
    effort() > 1
}

/// The number of random programs that a law tries: `usual` times the effort, or what `CSSAME_LAW_PROGRAMS` says.
#[must_use]
pub fn programs(usual: u64) -> u64 {
    setting("CSSAME_LAW_PROGRAMS", usual * effort())
}

/// The seed of the first of them: `usual`, or what `CSSAME_LAW_SEED` says.
#[must_use]
pub fn first_seed(usual: u64) -> u64 {
    setting("CSSAME_LAW_SEED", usual)
}

/// Whether the random programs are others than usual: what these are like (how many can be compared, how many fail) is known of the
/// usual ones alone.
#[must_use]
pub fn has_new_seed() -> bool {
    std::env::var_os("CSSAME_LAW_SEED").is_some()
}

/// About `usual` of a list, spread over it; all of it in a long run. `CSSAME_LAW_SEED` says which.
#[must_use]
pub fn part<T>(list: Vec<T>, usual: usize) -> Vec<T> {
    let stride = if is_long() { 1 } else { list.len().div_ceil(usual.max(1)).max(1) };
    let first = setting("CSSAME_LAW_SEED", 0) as usize % stride;
    list.into_iter().skip(first).step_by(stride).collect()
}

/// A size: `usual`, or `long` in a long run.
#[must_use]
pub fn size(usual: usize, long: usize) -> usize {
    if is_long() { long } else { usual }
}
