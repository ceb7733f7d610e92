//! The samples, which the page of `cssame serve` can open on every installation.
//!
//! **Output**: names and texts, sorted by name. `build.rs` makes the list of `samples/`.

/// Names and texts.
static SAMPLES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/samples.rs"));

/// The names.
pub(super) fn names() -> Vec<&'static str> {
    SAMPLES.iter().map(|&(name, _)| name).collect()
}

/// The text of a sample.
pub(super) fn text(name: &str) -> Option<&'static str> {
    SAMPLES.iter().find(|&&(other, _)| other == name).map(|&(_, text)| text)
}
