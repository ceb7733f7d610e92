//! Names of tests and packages, and a generator of unique names.
//!
//! In: names of the program. Out: identifiers. Each target decides which of them its language accepts.

use cssame_ir::FunctionId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Hands out names.
#[derive(Clone, Debug)]
pub(super) struct Names<'a> {
    /// Makes an identifier of a text.
    identifier: fn(&str) -> String,
    /// Names of the outside, which ours would hide.
    outer: Option<&'a FxHashSet<String>>,
    taken: FxHashSet<String>,
    /// By identifier: the last number that was tried behind it.
    counts: FxHashMap<String, u32>,
}

impl<'a> Names<'a> {
    /// Names that were made identifiers so.
    pub(super) fn new(identifier: fn(&str) -> String) -> Names<'a> {
        Names { identifier, outer: None, taken: FxHashSet::default(), counts: FxHashMap::default() }
    }

    /// The same, which also differ from some others.
    pub(super) fn below(identifier: fn(&str) -> String, outer: &'a FxHashSet<String>) -> Names<'a> {
        Names { outer: Some(outer), ..Names::new(identifier) }
    }

    /// Names of tests.
    pub(super) fn of_tests() -> Names<'a> {
        Names::new(identifier)
    }

    /// A name like the wanted one that was not handed out before.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let wanted = (self.identifier)(wanted);
        if self.take(&wanted) {
            return wanted;
        }
        let mut count = self.counts.get(&wanted).copied().unwrap_or(1);
        loop {
            count += 1;
            let name = format!("{wanted}_{count}");
            if self.take(&name) {
                self.counts.insert(wanted, count);
                return name;
            }
        }
    }

    /// The first name of a row, such as `a1`, `a2`, that was not handed out before.
    pub(super) fn numbered(&mut self, wanted: &str) -> String {
        let wanted = (self.identifier)(wanted);
        let mut count = self.counts.get(&wanted).copied().unwrap_or(0);
        loop {
            count += 1;
            let name = format!("{wanted}{count}");
            if self.take(&name) {
                self.counts.insert(wanted, count);
                return name;
            }
        }
    }

    /// The names that were handed out.
    pub(super) fn taken(&self) -> &FxHashSet<String> {
        &self.taken
    }

    /// Keeps a name from being handed out.
    pub(super) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    fn take(&mut self, name: &str) -> bool {
        self.outer.is_none_or(|outer| !outer.contains(name)) && self.taken.insert(name.to_owned())
    }
}

/// What the functions of the program are called.
#[derive(Default)]
pub(super) struct FunctionNames {
    by_id: FxHashMap<FunctionId, String>,
    /// All of them; a variable of such a name would hide the function.
    pub(super) all: FxHashSet<String>,
}

impl FunctionNames {
    pub(super) fn add(&mut self, id: FunctionId, name: String) {
        self.all.insert(name.clone());
        self.by_id.insert(id, name);
    }

    /// The name of a function that main reaches.
    pub(super) fn get(&self, id: FunctionId) -> &str {
        self.by_id.get(&id).map_or("main", String::as_str)
    }
}

/// An identifier of lower-case letters, digits and underscores.
pub(super) fn identifier(text: &str) -> String {
    let letter = |each: char| if each.is_ascii_alphanumeric() { each.to_ascii_lowercase() } else { '_' };
    let mut name = String::with_capacity(text.len());
    for each in text.chars().map(letter) {
        // Two underscores in a row are not Rust's style: `a[1].balance` is `a_1_balance`.
        if each != '_' || !name.ends_with('_') {
            name.push(each);
        }
    }
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, 'v');
    }
    if name.chars().all(|each| each == '_') {
        name.push('v');
    }
    name
}

/// The name of the package for a source file.
pub(super) fn package_name(file: &str) -> String {
    let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = last.strip_suffix(".csm").unwrap_or(last);
    let letter = |each: char| if each.is_ascii_alphanumeric() { each.to_ascii_lowercase() } else { '_' };
    format!("drive_{}", stem.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_unlike() {
        let mut names = Names::of_tests();
        assert_eq!(names.fresh("acc.balance"), "acc_balance");
        assert_eq!(names.fresh("acc_balance"), "acc_balance_2");
        assert_eq!(names.fresh("a[1].balance"), "a_1_balance");
        assert_eq!(names.fresh("a_1__balance"), "a_1_balance_2");
        assert_eq!(names.fresh("_"), "_v");
        let outer = ["get".to_owned()].into_iter().collect();
        assert_eq!(Names::below(identifier, &outer).fresh("get"), "get_2");
        assert_eq!(package_name("samples/cssame_fig2.csm"), "drive_cssame_fig2");
    }
}
