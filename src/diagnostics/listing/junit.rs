//! JUnit XML: a test suite for each file, a test case for each finding.
//!
//! **Input**: a [`Listing`]. **Output**: XML that build servers show as test results, by `quick-junit`. Errors and warnings are failures,
//! notes pass, findings that are suppressed are skipped. A file of which nothing was found has one test case, which passes; a bound
//! that was hit is an error, for nobody knows what stands behind it.

use super::{Listed, Listing};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// The text of a listing.
#[must_use]
pub(super) fn render(listing: &Listing) -> String {
    let mut report = Report::new("cssame");
    let first = listing.files.first().map(String::as_str);
    // What no file is to be had for, such as one that cannot be read, stands in a suite of its own.
    let is_listed = |file: &str| listing.files.iter().any(|listed| listed == file);
    let has_place = |finding: &Listed| finding.data.file.as_deref().or(first).is_some_and(is_listed);
    let elsewhere = if listing.findings.iter().all(has_place) { None } else { Some("") };
    for file in listing.files.iter().map(String::as_str).chain(elsewhere) {
        let is_own = |finding: &&Listed| match has_place(finding) {
            true => finding.data.file.as_deref().or(first) == Some(file),
            false => file.is_empty(),
        };
        let mut suite = TestSuite::new(format!("cssame {} {file}", listing.command).trim_end());
        let cases: Vec<TestCase> = listing.findings.iter().filter(is_own).map(|finding| case(finding, file)).collect();
        suite.add_test_cases(cases);
        if suite.test_cases.is_empty() {
            suite.add_test_case(named(listing.command, file, TestCaseStatus::success()));
        }
        report.add_test_suite(suite);
    }
    if !listing.bounds.is_empty() {
        let mut suite = TestSuite::new(format!("cssame {} bounds", listing.command));
        suite.add_test_cases(listing.bounds.iter().map(|bound| {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(bound.message.as_str()).set_type(bound.code).set_description(bound.notes.join("\n"));
            named(&bound.message, listing.command, status)
        }));
        report.add_test_suite(suite);
    }
    // A string takes everything that is written.
    report.to_string().unwrap_or_default()
}

fn case(finding: &Listed, file: &str) -> TestCase {
    let data = &finding.data;
    let status = match (finding.suppressed, data.severity) {
        (Some(by), _) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("suppressed by {}: {}", by.by, data.message));
            status
        }
        (None, "error" | "warning") => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(finding.sentence()).set_type(data.code).set_description(finding.text.as_str());
            status
        }
        (None, _) => TestCaseStatus::success(),
    };
    let place = data.line.map_or_else(String::new, |line| format!(" line {line}:"));
    named(&format!("{}{place} {}", data.code, data.message), file, status)
}

fn named(name: &str, class: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}
