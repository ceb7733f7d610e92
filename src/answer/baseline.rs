//! Baselines: known findings, as a file.
//!
//! **Input**: findings, or the text of a baseline. **Output**: the other of the two, and the findings that are new.
//!
//! **Algorithm**: an entry identifies a finding by data that moved lines do not change: its code, its file, the surrounding
//! function, the names that it is about, and its sentence without numbers. Findings with one entry are counted; as many as the
//! count are known.
//!
//! **Soundness and limits**: if one finding disappears and another one with the same entry appears, the new one counts as the old
//! one.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of `"schema"` in a baseline.
const SCHEMA: &str = "cssame-baseline/1";

/// A kind of findings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    /// `CS0401`
    pub code: String,
    /// The file, by its path from the baseline; none for a finding without a place.
    pub file: Option<String>,
    /// The function, the method or the class around it.
    pub function: Option<String>,
    /// The names that it is about.
    pub names: Vec<String>,
    /// The sentence; `#` stands for numbers.
    pub message: String,
}

/// The findings that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    counts: BTreeMap<Entry, u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    findings: Vec<Counted>,
}

#[derive(Serialize, Deserialize)]
struct Counted {
    #[serde(flatten)]
    entry: Entry,
    count: u64,
}

impl Baseline {
    /// The baseline of a text.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.schema != SCHEMA {
            return Err(format!("its `schema` is `{}`, not `{SCHEMA}`", document.schema));
        }
        let mut baseline = Baseline::default();
        for Counted { entry, count } in document.findings {
            let known = baseline.counts.entry(entry).or_default();
            *known = known.saturating_add(count);
        }
        Ok(baseline)
    }

    /// The text of it, which is the same for the same findings.
    #[must_use]
    pub fn to_text(&self) -> String {
        let findings = self.counts.iter().map(|(entry, &count)| Counted { entry: entry.clone(), count }).collect();
        let document = Document { schema: SCHEMA.to_owned(), findings };
        // Only a map with keys that are no strings could fail.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }

    /// Adds a finding.
    pub fn add(&mut self, entry: Entry) {
        *self.counts.entry(entry).or_default() += 1;
    }

    /// Whether a finding is known; that one is left out of the count then.
    pub fn take(&mut self, entry: &Entry) -> bool {
        match self.counts.get_mut(entry) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// A sentence without numbers; names keep their digits.
#[must_use]
pub fn without_numbers(text: &str) -> String {
    let mut kept = String::new();
    let mut before = ' ';
    for each in text.chars() {
        match each {
            '0'..='9' if before.is_alphabetic() || before == '_' => kept.push(each),
            '0'..='9' if before == '#' => continue,
            '0'..='9' => {
                kept.push('#');
                before = '#';
                continue;
            }
            _ => kept.push(each),
        }
        // A digit within a name is a part of the name.
        before = if each.is_ascii_digit() { 'x' } else { each };
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_and_names_stay() {
        assert_eq!(without_numbers("a race on `x1`, which holds -12"), "a race on `x1`, which holds -#");
        assert_eq!(without_numbers("cleared at 12:3, see n_20"), "cleared at #:#, see n_20");
    }

    #[test]
    fn a_text_is_read_again_and_counts_are_used_up() {
        let entry = Entry {
            code: "CS0401".to_owned(),
            file: Some("a.csm".to_owned()),
            function: None,
            names: vec!["x".to_owned()],
            message: "m".to_owned(),
        };
        let mut baseline = Baseline::default();
        baseline.add(entry.clone());
        baseline.add(entry.clone());
        let mut again = Baseline::parse(&baseline.to_text()).unwrap();
        assert_eq!(again, baseline);
        assert!(again.take(&entry) && again.take(&entry) && !again.take(&entry));
        assert!(Baseline::parse("{\"schema\": \"x\", \"findings\": []}").is_err());
        assert!(Baseline::parse("[").is_err());
    }
}
