//! The page of `report`.
//!
//! **Input**: the answer. **Output**: one HTML file, with its data as JSON in a separate element.
//!
//! **Soundness**: no text of a program is a part of the markup. In the data each `<` is written as `\u003c`, so that no text can
//! end the element. The scripts of the page put texts only into text nodes, and its policy forbids every connection.

use crate::json;
use cssame_answer::ReportAnswer;

/// The page without data, made by `web/check.sh`.
const PAGE: &str = include_str!("../../../web/dist/report.html");

/// What stands where the data go.
const PLACE: &str = "<script type=\"application/json\" id=\"data\">null</script>";

/// The page.
#[must_use]
pub fn page(file: &str, answer: &ReportAnswer) -> String {
    let data = json::compact("report", file, answer).replace('<', "\\u003c");
    PAGE.replacen(PLACE, &PLACE.replace("null", &data), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_place_for_data() {
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        assert!(PAGE.contains("default-src 'none'"));
    }
}
