//! JUnit XML: a test suite for each file, a test case for each finding.
//!
//! **Input**: a [`Listing`]. **Output**: XML that build servers show as test results. Errors and warnings are failures, notes
//! pass, and suppressed findings are skipped. A file without findings has one test case, which passes. A bound that was hit is an
//! error, since the results beyond it are unknown. Characters that XML does not allow are left out.

use super::{Listed, Listing};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// What has become of a test case.
enum Outcome {
    Passed,
    Skipped {
        message: String,
    },
    /// `error` or `failure`, as `element` says.
    Bad {
        element: &'static str,
        message: String,
        code: String,
        text: String,
    },
}

struct Case {
    name: String,
    class: String,
    outcome: Outcome,
}

struct Suite {
    name: String,
    cases: Vec<Case>,
}

/// The text of a listing.
#[must_use]
pub(super) fn render(listing: &Listing) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
    // A vector takes everything that is written.
    let written = write(&suites(listing), &mut writer);
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8(writer.into_inner()).unwrap_or_default() + "\n"
}

fn suites(listing: &Listing) -> Vec<Suite> {
    let first = listing.files.first().map(String::as_str);
    // What no file is to be had for, such as one that cannot be read, stands in a suite of its own.
    let is_listed = |file: &str| listing.files.iter().any(|listed| listed == file);
    let has_place = |finding: &Listed| finding.data.file.as_deref().or(first).is_some_and(is_listed);
    let elsewhere = if listing.findings.iter().all(has_place) { None } else { Some("") };
    let mut suites = Vec::new();
    for file in listing.files.iter().map(String::as_str).chain(elsewhere) {
        let is_own = |finding: &&Listed| match has_place(finding) {
            true => finding.data.file.as_deref().or(first) == Some(file),
            false => file.is_empty(),
        };
        let mut cases: Vec<Case> = listing.findings.iter().filter(is_own).map(|finding| case(finding, file)).collect();
        if cases.is_empty() {
            cases.push(Case { name: listing.command.to_owned(), class: file.to_owned(), outcome: Outcome::Passed });
        }
        suites.push(Suite { name: format!("cssame {} {file}", listing.command).trim_end().to_owned(), cases });
    }
    if !listing.bounds.is_empty() {
        let cases = listing.bounds.iter().map(|bound| Case {
            name: bound.message.clone(),
            class: listing.command.to_owned(),
            outcome: Outcome::Bad {
                element: "error",
                message: bound.message.clone(),
                code: bound.code.to_owned(),
                text: bound.notes.join("\n"),
            },
        });
        suites.push(Suite { name: format!("cssame {} bounds", listing.command), cases: cases.collect() });
    }
    suites
}

fn case(finding: &Listed, file: &str) -> Case {
    let data = &finding.data;
    let outcome = match (finding.suppressed, data.severity) {
        (Some(by), _) => Outcome::Skipped { message: format!("suppressed by {}: {}", by.by, data.message) },
        (None, "error" | "warning") => Outcome::Bad {
            element: "failure",
            message: finding.sentence(),
            code: data.code.to_owned(),
            text: finding.text.clone(),
        },
        (None, _) => Outcome::Passed,
    };
    let place = data.line.map_or_else(String::new, |line| format!(" line {line}:"));
    Case { name: format!("{}{place} {}", data.code, data.message), class: file.to_owned(), outcome }
}

/// How many cases there are, and how many of them are skipped, failures and errors.
fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> [usize; 4] {
    let mut counts = [0; 4];
    for case in cases {
        counts[0] += 1;
        match case.outcome {
            Outcome::Passed => {}
            Outcome::Skipped { .. } => counts[1] += 1,
            Outcome::Bad { element: "failure", .. } => counts[2] += 1,
            Outcome::Bad { .. } => counts[3] += 1,
        }
    }
    counts
}

/// What XML has a place for.
fn text(text: &str) -> String {
    let has_place = |sign: &char| match sign {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        sign => *sign >= ' ',
    };
    text.chars().filter(has_place).collect()
}

type Out = Writer<Vec<u8>>;

fn write(suites: &[Suite], writer: &mut Out) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let [tests, skipped, failures, errors] =
        counts(suites.iter().flat_map(|suite| &suite.cases)).map(|count| count.to_string());
    let attributes =
        [("name", "cssame"), ("tests", &tests), ("skipped", &skipped), ("failures", &failures), ("errors", &errors)];
    let element = writer.create_element("testsuites").with_attributes(attributes);
    if suites.is_empty() {
        return element.write_empty().map(|_| ());
    }
    element.write_inner_content(|writer| suites.iter().try_for_each(|suite| write_suite(suite, writer)))?;
    Ok(())
}

fn write_suite(suite: &Suite, writer: &mut Out) -> io::Result<()> {
    let [tests, skipped, failures, errors] = counts(suite.cases.iter()).map(|count| count.to_string());
    let name = text(&suite.name);
    let attributes =
        [("name", &name), ("tests", &tests), ("skipped", &skipped), ("errors", &errors), ("failures", &failures)];
    let element =
        writer.create_element("testsuite").with_attributes(attributes.map(|(key, value)| (key, value.as_str())));
    element.write_inner_content(|writer| suite.cases.iter().try_for_each(|case| write_case(case, writer)))?;
    Ok(())
}

fn write_case(case: &Case, writer: &mut Out) -> io::Result<()> {
    let (name, class) = (text(&case.name), text(&case.class));
    let element =
        writer.create_element("testcase").with_attributes([("name", name.as_str()), ("classname", class.as_str())]);
    match &case.outcome {
        Outcome::Passed => element.write_empty()?,
        Outcome::Skipped { message } => element.write_inner_content(|writer| {
            let message = text(message);
            writer.create_element("skipped").with_attribute(("message", message.as_str())).write_empty().map(|_| ())
        })?,
        Outcome::Bad { element: kind, message, code, text: description } => element.write_inner_content(|writer| {
            let message = text(message);
            let bad = writer.create_element(*kind).with_attributes([("message", message.as_str()), ("type", code)]);
            bad.write_text_content(BytesText::new(&text(description))).map(|_| ())
        })?,
    };
    Ok(())
}
