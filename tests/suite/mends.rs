//! Mends are held to executions: what makes a finding go brings no deadlock and no failure that was not there.

use cssame::answer::{CheckInput, Effort, FuturesRequest, check, futures, mends};
use cssame::budget::{Budget, Limits};
use cssame::explore::EndlessRequest;
use cssame::explore::report::Schedules;
use cssame::model::{Model, Options};
use cssame::source::SourceMap;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The kinds of what can go wrong in executions of a program; nothing where it is too large, or does not compile.
fn goes_wrong(text: &str) -> Option<BTreeSet<String>> {
    let model = Model::from_text("test.csm", text, &Options::default()).ok()?;
    let limits = Limits { max_states: Some(2_000), max_work: Some(10_000), ..Limits::default() };
    let request = FuturesRequest {
        selections: &[],
        count: Effort::IfCheap,
        outcomes: Effort::IfCheap,
        schedules: Schedules::OfFindings,
        endless: EndlessRequest::default(),
    };
    let answer = futures(&model, &request, &Budget::from(limits));
    answer
        .is_decided()
        .then(|| answer.findings(&model).list.iter().map(|one| one.diagnostic.code.to_string()).collect())
}

#[test]
fn what_mends_a_finding_breaks_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics/fail");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let paths = support::part(paths, 80);
    let (mut mended, mut explored) = (0, 0);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "csm")) {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", &text);
        let report =
            check(CheckInput { sources: sources.clone(), files: vec![(String::new(), Ok(file))] }, &[], 1, None);
        for finding in report.findings().list {
            let Some(mend) = mends(&sources, file, &finding.diagnostic).into_iter().next() else { continue };
            mended += 1;
            let mut changed = text.clone();
            for (span, new) in mend.edits.iter().rev() {
                changed.replace_range(span.start as usize..span.end as usize, new);
            }
            let (Some(before), Some(after)) = (goes_wrong(&text), goes_wrong(&changed)) else { continue };
            explored += 1;
            assert!(
                after.is_subset(&before),
                "{}: {}: {after:?} not {before:?}\n{changed}",
                path.display(),
                mend.title
            );
        }
    }
    assert!(support::has_new_seed() || mended >= 8 && explored >= 3, "{mended}, {explored}");
}
