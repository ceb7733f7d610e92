//! SARIF 2.1.0, the exchange format of static analysis results (OASIS, 2020).
//!
//! **Input**: a [`Listing`]. **Output**: a log with one run. A finding is a result with its places; its execution is a code flow
//! with one thread flow for each thread, whose steps are numbered in the order of the execution. Suppressed findings are marked,
//! not left out, so that a server does not treat them as fixed. A bound that was hit is a notification of the run.
//!
//! **Limits**: at most the last [`STEPS`] steps of an execution are shown: servers cut longer flows.

use super::{Listed, ListedStep, Listing, Suppression};
use crate::Code;
use crate::json::{DiagnosticData, LabelData};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Steps of an execution that are shown.
const STEPS: usize = 1_000;

/// The name of the fingerprint of a result, with its version.
const FINGERPRINT: &str = "cssameFinding/v1";

/// The text of a listing.
#[must_use]
pub(super) fn render(listing: &Listing) -> String {
    let codes: BTreeSet<Code> = listing.findings.iter().map(|finding| finding.code).collect();
    let codes: Vec<Code> = codes.into_iter().collect();
    let results: Vec<Value> = listing.findings.iter().map(|finding| result(finding, &codes)).collect();
    let artifacts: Vec<Value> =
        listing.files.iter().map(|file| json!({ "location": artifact(file), "roles": ["analysisTarget"] })).collect();
    let notifications: Vec<Value> = listing.bounds.iter().map(notification).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cssame",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|&code| rule(code)).collect::<Vec<_>>(),
            } },
            "automationDetails": { "id": format!("cssame/{}/", listing.command) },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                // A program that does not compile was not analysed.
                "executionSuccessful": listing.status != 2,
                "exitCode": listing.status,
                "toolExecutionNotifications": notifications,
            }],
            "artifacts": artifacts,
            "results": results,
        }],
    });
    // Only a map with keys that are no strings could fail.
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.number(),
        "shortDescription": { "text": code.title() },
        "help": { "text": code.page(), "markdown": code.page() },
    })
}

fn result(finding: &Listed, codes: &[Code]) -> Value {
    let data = &finding.data;
    let mut result = json!({
        "ruleId": data.code,
        "ruleIndex": codes.binary_search(&finding.code).unwrap_or_default(),
        "level": data.severity,
        "message": { "text": message(finding) },
        "locations": data.labels.iter().take(1).map(location).collect::<Vec<_>>(),
        "partialFingerprints": { FINGERPRINT: finding.fingerprint },
        // An empty list says that nothing suppresses it.
        "suppressions": finding.suppressed.map(suppression).into_iter().collect::<Vec<_>>(),
    });
    if data.labels.len() > 1 {
        let others = data.labels[1..].iter().enumerate();
        let others = others.map(|(index, label)| with_id(location(label), index + 1));
        result["relatedLocations"] = others.collect();
    }
    if let Some(file) = data.file.as_ref().filter(|_| !finding.steps.is_empty()) {
        result["codeFlows"] = json!([code_flow(file, &finding.steps)]);
    }
    result
}

fn message(finding: &Listed) -> String {
    let help = finding.data.help.iter().map(|help| format!("help: {help}"));
    let more = finding.data.notes.iter().cloned().chain(help);
    std::iter::once(finding.sentence()).chain(more).collect::<Vec<_>>().join("\n")
}

fn suppression(of: Suppression) -> Value {
    let kind = if of.in_source { "inSource" } else { "external" };
    json!({ "kind": kind, "status": "accepted", "justification": format!("suppressed by {}", of.by) })
}

fn notification(of: &DiagnosticData) -> Value {
    let text = std::iter::once(&of.message).chain(&of.notes).cloned().collect::<Vec<_>>().join("\n");
    json!({ "level": of.severity, "message": { "text": text }, "descriptor": { "id": of.code } })
}

fn location(of: &LabelData) -> Value {
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": artifact(&of.file),
        "region": {
            "startLine": of.line,
            "startColumn": of.column,
            "endLine": of.end_line,
            "endColumn": of.end_column,
        },
    } });
    if !of.message.is_empty() {
        location["message"] = json!({ "text": of.message });
    }
    location
}

fn with_id(mut location: Value, id: usize) -> Value {
    location["id"] = id.into();
    location
}

/// One thread flow for each thread, in the order in which they begin.
fn code_flow(file: &str, steps: &[ListedStep]) -> Value {
    let left_out = steps.len().saturating_sub(STEPS);
    let numbered = || steps.iter().enumerate().skip(left_out);
    let mut threads: Vec<&str> = Vec::new();
    for (_, step) in numbered() {
        if !threads.contains(&step.thread.as_str()) {
            threads.push(&step.thread);
        }
    }
    let flow = |thread: &&str| {
        let own = numbered().filter(|(_, step)| step.thread == *thread);
        let locations: Vec<Value> = own.map(|(index, step)| flow_location(file, step, index)).collect();
        json!({ "id": thread, "message": { "text": format!("thread {thread}") }, "locations": locations })
    };
    let flows: Vec<Value> = threads.iter().map(flow).collect();
    let text = match left_out {
        0 => "an execution that shows it".to_owned(),
        left_out => format!("the last {STEPS} steps of an execution that shows it; {left_out} come before"),
    };
    json!({ "message": { "text": text }, "threadFlows": flows })
}

fn flow_location(file: &str, step: &ListedStep, index: usize) -> Value {
    json!({
        "executionOrder": index,
        "location": {
            "physicalLocation": {
                "artifactLocation": artifact(file),
                "region": { "startLine": step.line, "startColumn": step.column },
            },
            "message": { "text": format!("{}: {}", step.thread, step.operation) },
        },
    })
}

/// The place of a file: by its path as it was named, with what a URI may not contain escaped.
fn artifact(path: &str) -> Value {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let path = path.strip_prefix("./").unwrap_or(&path);
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    if path.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
    }
}
