//! Maps places of an old text to places of a new text.
//!
//! **Input**: two texts. **Output**: an [`Alignment`]: for tokens of the old text, their places in the new one.
//!
//! **Algorithm**:
//! 1. Match lines with the same tokens: a longest common subsequence of the lines, whatever is between the tokens.
//! 2. Match the remaining lines, again in order: this finds a moved function.
//! 3. Between two lines that were matched in step 1, match the remaining tokens, by a longest common subsequence.
//!
//! **Soundness and limits**: the alignment uses only the text, so a name that was changed everywhere matches nothing. Sequences
//! that are too long for the quadratic table are matched greedily. A wrong match creates one or two spurious differences; it
//! never makes two different verdicts equal.

use cssame_source::Position;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// Entries of the table of a longest common subsequence.
const TABLE: usize = 4_000_000;

/// How often lines that are left are matched.
const PASSES: usize = 4;

/// Places of an old text in a new one.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    places: BTreeMap<(u32, u32), (u32, u32)>,
    lines: BTreeMap<u32, u32>,
}

/// A word, a number, a text or a sign.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    line: u32,
    column: u32,
}

impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Which lines have a line of the other text.
struct Matched {
    old: Vec<bool>,
    new: Vec<bool>,
}

fn by_line<'a>(tokens: &[Token<'a>]) -> Vec<Vec<Token<'a>>> {
    tokens.chunk_by(|one, other| one.line == other.line).map(<[Token<'a>]>::to_vec).collect()
}

/// The tokens of those lines of a range that have no line of the other text.
fn unmatched<'a>(lines: &[Vec<Token<'a>>], matched: &[bool], range: Range<usize>) -> Vec<Token<'a>> {
    range.filter(|&line| !matched[line]).flat_map(|line| lines[line].iter().copied()).collect()
}

fn key(line: &[Token<'_>]) -> String {
    line.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}

impl Alignment {
    /// Aligns two texts.
    #[must_use]
    pub fn of(old: &str, new: &str) -> Alignment {
        let (old, new) = (tokens(old), tokens(new));
        let (old, new) = (by_line(&old), by_line(&new));
        let mut made = Alignment::default();
        let anchors = lcs(&old, &new);
        let mut matched = Matched { old: vec![false; old.len()], new: vec![false; new.len()] };
        let mut pairs = anchors.clone();
        for _ in 0..=PASSES {
            for &(one, other) in &pairs {
                made.add(&old[one], &new[other]);
                (matched.old[one], matched.new[other]) = (true, true);
            }
            let left = |lines: &[bool]| (0..lines.len()).filter(|&line| !lines[line]).collect::<Vec<usize>>();
            let (one, other) = (left(&matched.old), left(&matched.new));
            let text = |from: &[usize], lines: &[Vec<Token<'_>>]| from.iter().map(|&at| key(&lines[at])).collect();
            let (texts, others): (Vec<String>, Vec<String>) = (text(&one, &old), text(&other, &new));
            pairs = lcs(&texts, &others).into_iter().map(|(first, second)| (one[first], other[second])).collect();
        }
        let mut start = (0, 0);
        for &(one, other) in anchors.iter().chain([&(old.len(), new.len())]) {
            let first = unmatched(&old, &matched.old, start.0..one);
            let second = unmatched(&new, &matched.new, start.1..other);
            for (first_at, second_at) in lcs(&first, &second) {
                made.add(&first[first_at..=first_at], &second[second_at..=second_at]);
            }
            start = (one + 1, other + 1);
        }
        made
    }

    fn add(&mut self, old: &[Token<'_>], new: &[Token<'_>]) {
        for (one, other) in old.iter().zip(new) {
            self.places.insert((one.line, one.column), (other.line, other.column));
            self.lines.entry(one.line).or_insert(other.line);
        }
    }

    /// The place of a token in the new text.
    #[must_use]
    pub fn position(&self, old: Position) -> Option<Position> {
        let &(line, column) = self.places.get(&(old.line, old.column))?;
        Some(Position { line, column })
    }

    /// The places of the new text that are places of the old one.
    pub fn targets(&self) -> impl Iterator<Item = Position> {
        self.places.values().map(|&(line, column)| Position { line, column })
    }

    /// A name with all places in it in the new text: `x@3:9`, `parfor@7[2]`. `None` where a place is not there.
    #[must_use]
    pub fn name(&self, old: &str) -> Option<String> {
        let mut made = String::new();
        let mut rest = old;
        while let Some(start) = rest.find(|each: char| each.is_ascii_digit()) {
            let (before, from) = rest.split_at(start);
            let (line, behind) = digits(from);
            made += before;
            // A place begins the name, or stands behind one of these.
            let is_place = before.is_empty() && made.is_empty() || before.ends_with(['@', '~', ' ']);
            let column = behind.strip_prefix(':').map(digits).filter(|(column, _)| !column.is_empty());
            match (line.parse().ok(), column) {
                (Some(line), Some((column, behind))) if is_place => {
                    let place = Position { line, column: column.parse().ok()? };
                    made += &self.position(place)?.to_string();
                    rest = behind;
                }
                (Some(number), None) if before.ends_with('@') => {
                    made += &self.lines.get(&number)?.to_string();
                    rest = behind;
                }
                _ => {
                    made += line;
                    rest = behind;
                }
            }
        }
        made += rest;
        Some(made)
    }
}

/// The digits at the start of a text, and what stands behind them.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|each: char| !each.is_ascii_digit()).unwrap_or(text.len()))
}

/// The tokens of a text, without comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut line, mut column) = (1, 1);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest, first);
        let (token, behind) = rest.split_at(length);
        if !first.is_whitespace() && !token.starts_with("//") && !token.starts_with("/*") {
            found.push(Token { text: token, line, column });
        }
        for each in token.chars() {
            (line, column) = if each == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        rest = behind;
    }
    found
}

fn token_length(rest: &str, first: char) -> usize {
    let until = |stop: &dyn Fn(char) -> bool| rest.find(stop).unwrap_or(rest.len());
    if rest.starts_with("//") {
        until(&|each| each == '\n')
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else if first.is_alphanumeric() || first == '_' {
        until(&|each| !each.is_alphanumeric() && each != '_')
    } else if first == '"' {
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|&(_, each)| {
            let ends = !escaped && each == '"' || each == '\n';
            escaped = !escaped && each == '\\';
            ends
        });
        end.map_or(rest.len(), |(end, _)| end + 1)
    } else {
        first.len_utf8()
    }
}

/// The pairs of places of a longest common subsequence, in order.
fn lcs<T: PartialEq>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let front = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let back = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let (one, other) = (&old_rest[..old_rest.len() - back], &new_rest[..new_rest.len() - back]);
    let middle = if one.len().saturating_mul(other.len()) <= TABLE { by_table(one, other) } else { greedy(one, other) };
    let mut pairs: Vec<(usize, usize)> = (0..front).map(|place| (place, place)).collect();
    pairs.extend(middle.into_iter().map(|(one, other)| (one + front, other + front)));
    pairs.extend((1..=back).rev().map(|place| (old.len() - place, new.len() - place)));
    pairs
}

fn by_table<T: PartialEq>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    // The length of a longest common subsequence of what begins at both places.
    let mut table = vec![0u32; (old.len() + 1) * width];
    for one in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            table[one * width + other] = if old[one] == new[other] {
                table[(one + 1) * width + other + 1] + 1
            } else {
                table[(one + 1) * width + other].max(table[one * width + other + 1])
            };
        }
    }
    let (mut one, mut other, mut pairs) = (0, 0, Vec::new());
    while one < old.len() && other < new.len() {
        if old[one] == new[other] {
            pairs.push((one, other));
            (one, other) = (one + 1, other + 1);
        } else if table[(one + 1) * width + other] >= table[one * width + other + 1] {
            one += 1;
        } else {
            other += 1;
        }
    }
    pairs
}

/// Takes for each element the next equal one.
fn greedy<T: PartialEq>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let (mut start, mut pairs) = (0, Vec::new());
    for (place, one) in old.iter().enumerate() {
        // Far behind it is more likely another one.
        let near = &new[start..new.len().min(start + 1_000)];
        if let Some(found) = near.iter().position(|other| one == other) {
            pairs.push((place, start + found));
            start += found + 1;
        }
    }
    pairs
}

/// Pairs up the equal keys of two lists, each at most once, in order.
pub(super) fn pair_up<K: Eq + std::hash::Hash>(
    old: impl Iterator<Item = Option<K>>,
    new: impl Iterator<Item = K>,
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut by_key: FxHashMap<K, Vec<usize>> = FxHashMap::default();
    let mut count = 0;
    for (place, key) in new.enumerate() {
        by_key.entry(key).or_default().push(place);
        count += 1;
    }
    by_key.values_mut().for_each(|places| places.reverse());
    let mut used = vec![false; count];
    let mut pairs = Vec::new();
    for (place, key) in old.enumerate() {
        let found = key.and_then(|key| by_key.get_mut(&key)?.pop());
        if let Some(found) = found {
            used[found] = true;
        }
        pairs.push((Some(place), found));
    }
    pairs.extend((0..count).filter(|&place| !used[place]).map(|place| (None, Some(place))));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(alignment: &Alignment, name: &str) -> Option<String> {
        alignment.name(name)
    }

    #[test]
    fn lines_that_move_keep_their_tokens() {
        let old = "int x;\nT1: x = 1;\nT2: print(x);\n";
        let alignment =
            Alignment::of(old, "// new\nint x;\nlock L;\n  T1: x = 1;\nT2: { lock(L); print(x); unlock(L); }\n");
        assert_eq!(place(&alignment, "x@2:5").as_deref(), Some("x@4:7"));
        assert_eq!(place(&alignment, "T2:x@3:11").as_deref(), Some("T2:x@5:22"));
        assert_eq!(place(&alignment, "x@initial").as_deref(), Some("x@initial"));
        assert_eq!(place(&alignment, "x@9:1"), None);
        assert_eq!(place(&alignment, "parfor@2[12]").as_deref(), Some("parfor@4[12]"));
        assert_eq!(place(&alignment, "n@1:1~3:5").as_deref(), Some("n@2:1~5:16"));
    }

    #[test]
    fn of_equal_statements_those_in_order_match() {
        let alignment = Alignment::of("x = 1;\nx = 2;\n", "x = 0;\nx = 1;\nx = 2;\n");
        assert_eq!(place(&alignment, "x@1:1").as_deref(), Some("x@2:1"));
        assert_eq!(place(&alignment, "x@2:1").as_deref(), Some("x@3:1"));
    }

    #[test]
    fn functions_may_change_places() {
        let (one, other) = ("void f() {\n  x = 1;\n  y = 2;\n}\n", "void g() {\n  print(x);\n}\n");
        let alignment = Alignment::of(&format!("{one}{other}"), &format!("{other}{one}"));
        assert_eq!(place(&alignment, "x@2:3").as_deref(), Some("x@5:3"));
        assert_eq!(place(&alignment, "x@6:9").as_deref(), Some("x@2:9"));
    }

    #[test]
    fn texts_and_comments_are_single_tokens() {
        let found: Vec<&str> = tokens("a = \"x \\\" y\"; // b\n/* c\n */ d2").iter().map(|token| token.text).collect();
        assert_eq!(found, ["a", "=", "\"x \\\" y\"", ";", "d2"]);
    }
}
