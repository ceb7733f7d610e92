//! The length of a text, as counted for tables.
//!
//! In: a text. Out: the number of its lines that contain more than blanks and comments, according to the tokens.

use super::csm::format::pieces::{Kind, pieces};

/// The lines of a text that hold more than blanks and comments.
#[must_use]
pub fn lines_of_code(text: &str) -> usize {
    let tokens = pieces(text).into_iter().filter(|piece| matches!(piece.kind, Kind::Token(_)));
    let mut lines: Vec<u32> = tokens.map(|piece| piece.line).collect();
    lines.dedup();
    lines.len()
}

#[cfg(test)]
mod tests {
    use super::lines_of_code;

    #[test]
    fn comments_and_empty_lines_are_no_code() {
        let text =
            "// one\n\nint x; // two\n/* three\n   four */ int y;\n/* five */\nprint(\"// no comment\"); /* six\n*/\n";
        assert_eq!(lines_of_code(text), 3);
    }

    #[test]
    fn what_looks_like_a_comment_in_a_text_is_none() {
        assert_eq!(lines_of_code("print(\"/*\");\nint x;\nprint(\"a\\\"/*\");\nint y;"), 4);
        assert_eq!(lines_of_code(""), 0);
    }
}
