//! Coverage in the tracefile format of LCOV, for `genhtml` and many services.
//!
//! The hits of a line are the executions that access shared memory in it. A branch represents an instance whose first access is
//! in the line. Its block is the number of the pattern, and its count is the number of executions that cover it; it is `-` if no
//! execution has reached the line.

use cssame_coverage::report::{LineReport, LinesReport};
use std::fmt::Write;

/// The text of the tracefile.
#[must_use]
pub fn lcov(file: &str, report: &LinesReport) -> String {
    let mut text = String::new();
    if report.omitted > 0 {
        text += &format!("# {} more instances are not listed as branches\n", report.omitted);
    }
    // A name on several lines would be several records.
    let file: String = file.chars().map(|each| if each.is_control() { '?' } else { each }).collect();
    text += &format!("TN:cssame\nSF:{file}\n");
    for (&line, of) in &report.lines {
        branches(&mut text, line, of);
    }
    let all = || report.lines.values().flat_map(|of| &of.branches);
    let hit = all().filter(|branch| branch.executions > 0).count();
    text += &format!("BRF:{}\nBRH:{hit}\n", all().count());
    for (line, of) in &report.lines {
        text += &format!("DA:{line},{}\n", of.hits);
    }
    let hit = report.lines.values().filter(|of| of.hits > 0).count();
    text + &format!("LF:{}\nLH:{hit}\nend_of_record\n", report.lines.len())
}

fn branches(text: &mut String, line: u32, of: &LineReport) {
    for list in of.branches.chunk_by(|one, other| one.pattern == other.pattern) {
        for (number, branch) in list.iter().enumerate() {
            let taken = if of.hits == 0 { "-".to_owned() } else { branch.executions.to_string() };
            // A string takes all that is written to it.
            let _ = writeln!(text, "BRDA:{line},{},{number},{taken}", branch.pattern);
        }
    }
}
