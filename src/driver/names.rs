//! Names in generated Rust.
//!
//! In: names of the program. Out: identifiers that Rust takes, each one once.

use crate::ir::FunctionId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Words that are no identifiers in Rust, and names that the generated code needs itself.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "block", "body", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "format", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct",
    "super", "t", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "vec", "virtual", "where",
    "while", "yield",
];

/// Hands out names.
#[derive(Clone, Debug, Default)]
pub(super) struct Names<'a> {
    /// Names of the outside, which ours would hide.
    outer: Option<&'a FxHashSet<String>>,
    taken: FxHashSet<String>,
    /// By identifier: the last number that was tried behind it.
    counts: FxHashMap<String, u32>,
}

impl<'a> Names<'a> {
    /// Names that also differ from some others.
    pub(super) fn below(outer: &'a FxHashSet<String>) -> Names<'a> {
        Names { outer: Some(outer), ..Names::default() }
    }

    /// A name like the wanted one that was not handed out before.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let wanted = identifier(wanted);
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

/// An identifier in the style of Rust's variables and functions.
fn identifier(text: &str) -> String {
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
    if RESERVED.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// Text of the program or a name of a file in a comment: Rust takes no control characters there, nor such as change the
/// direction of text.
pub(super) fn comment(text: &str) -> String {
    let plain = |each: char| matches!(each, '"' | '\'' | '\\' | '\t');
    let mut shown = String::with_capacity(text.len());
    for each in text.chars() {
        if plain(each) {
            shown.push(each);
        } else {
            shown.extend(each.escape_debug());
        }
    }
    shown
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
        let mut names = Names::default();
        assert_eq!(names.fresh("acc.balance"), "acc_balance");
        assert_eq!(names.fresh("acc_balance"), "acc_balance_2");
        assert_eq!(names.fresh("a[1].balance"), "a_1_balance");
        assert_eq!(names.fresh("a_1__balance"), "a_1_balance_2");
        assert_eq!(names.fresh("match"), "match_");
        assert_eq!(names.fresh("t"), "t_");
        assert_eq!(names.fresh("_"), "_v");
        let outer = ["get".to_owned()].into_iter().collect();
        assert_eq!(Names::below(&outer).fresh("get"), "get_2");
        assert_eq!(package_name("samples/cssame_fig2.csm"), "drive_cssame_fig2");
    }

    #[test]
    fn comments_are_one_line_that_reads_from_left_to_right() {
        assert_eq!(comment("a\r\n\u{202e}b \"ü\"\t\\"), "a\\r\\n\\u{202e}b \"ü\"\t\\");
    }
}
