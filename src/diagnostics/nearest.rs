//! Finds the intended name for a misspelt one.
//!
//! In: a name, and the declared names. Out: the first in alphabetical order that differs only in case and underscores, in one
//! letter, or in the order of two neighbours. Names are ASCII.

/// The name that was meant, if one comes near.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates.into_iter().filter(|candidate| is_near(candidate.as_bytes(), name.as_bytes())).min()
}

fn is_near(a: &[u8], b: &[u8]) -> bool {
    one_edit_apart(a, b) || letters(a).eq(letters(b))
}

fn letters(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter().filter(|&&byte| byte != b'_').map(u8::to_ascii_lowercase)
}

fn one_edit_apart(a: &[u8], b: &[u8]) -> bool {
    let longer = a.len().max(b.len());
    if a.len().abs_diff(b.len()) > 1 || longer < 3 {
        return false;
    }
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let suffix = a[prefix..].iter().rev().zip(b[prefix..].iter().rev()).take_while(|(x, y)| x == y).count();
    let turned = longer == prefix + suffix + 2 && a.len() == b.len() && a[prefix] == b[prefix + 1];
    longer - prefix - suffix <= 1 || turned && a[prefix + 1] == b[prefix]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn one_letter_case_and_underscores_are_near() {
        let names = ["notifyAll", "total", "x", "wait"];
        for (name, meant) in
            [("totl", "total"), ("totals", "total"), ("tutal", "total"), ("toatl", "total"), ("Wait", "wait")]
        {
            assert_eq!(nearest(name, names), Some(meant));
        }
        assert_eq!(nearest("notify_all", names), Some("notifyAll"));
        assert_eq!(nearest("y", names), None);
        assert_eq!(nearest("tote", names), None);
    }
}
