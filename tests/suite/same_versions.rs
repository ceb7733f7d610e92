//! Reads that share the pi function of an earlier read see what it has seen, in every execution that was tried.

use cssame::form::{read_in_context, report};
use cssame::ir::{DefinitionId, ReadId};
use cssame::model::{Model, Options};
use cssame::schedule::{Random, run};
use cssame::vm::{CodeIndex, Event, Observer, PathId, ThreadName};
use std::collections::BTreeMap;
use support::generate::{self, Size};

fn model(text: &str) -> Model {
    let model = Model::from_text("same.csm", text, &Options::default()).unwrap();
    model.in_contexts().unwrap_or(model)
}

/// The reads of a program that see what an earlier one has seen.
fn same(text: &str) -> Vec<(String, String)> {
    let model = model(text);
    let report = report(model.sources(), model.program(), model.form());
    let all = report.pis.iter().chain(&report.single);
    let mut found: Vec<_> = all.filter_map(|of| Some((of.read.clone(), of.same_as.clone()?))).collect();
    found.sort();
    found
}

fn pair(read: &str, first: &str) -> (String, String) {
    (read.to_owned(), first.to_owned())
}

#[test]
fn figure_7_has_two_pi_functions() {
    let text = std::fs::read_to_string(support::root().join("samples/cssame_fig7.csm")).unwrap();
    assert_eq!(same(&text), [pair("a@26:11", "a@25:9")]);
    let model = model(&text);
    let report = report(model.sources(), model.program(), model.form());
    assert_eq!(report.pis.iter().filter(|of| of.same_as.is_none()).count(), 2);
}

#[test]
fn a_lock_that_is_given_back_in_between_ends_it() {
    let text = "int a; lock L;\ncobegin\nT1: { lock(L); a = 1; unlock(L); }\n\
                T2: { lock(L); print(a); unlock(L); lock(L); print(a); print(a); unlock(L); }\ncoend\n";
    assert_eq!(same(text), [pair("a@4:62", "a@4:52")]);
}

#[test]
fn a_writer_without_the_lock_ends_it() {
    let text = "int a; lock L;\ncobegin\nT1: a = 1;\nT2: { lock(L); print(a, a); unlock(L); }\ncoend\n";
    assert_eq!(same(text), []);
}

#[test]
fn an_own_write_and_a_branch_end_it() {
    let text = "int a, b; lock L;\ncobegin\nT1: { lock(L); a = 1; b = 1; unlock(L); }\n\
                T2: { lock(L); print(a); a = 2; print(a); if (b == 1) print(b); else skip; print(b); unlock(L); }\ncoend\n";
    // The read of `b` behind the branch is preceded by that of its condition on both ways.
    assert_eq!(same(text), [pair("b@4:61", "b@4:47"), pair("b@4:82", "b@4:47")]);
}

#[test]
fn atomic_blocks_let_nothing_in() {
    let text = "int a;\ncobegin\nT1: a = 1;\nT2: atomic { int x = a; print(x, a); }\ncoend\n";
    assert_eq!(same(text), [pair("a@4:34", "a@4:22")]);
}

/// What each thread has read last at each place.
struct Watch<'a> {
    model: &'a Model,
    last: BTreeMap<(PathId, ReadId), Option<DefinitionId>>,
    compared: u64,
    wrong: Option<String>,
}

impl Observer for Watch<'_> {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let Event::Read { read, writer, .. } = event else { return };
        self.last.insert((thread.path, read), writer);
        let Some(first) = self.model.form().same_as(read) else { return };
        self.compared += 1;
        if self.last.get(&(thread.path, first)) != Some(&writer) {
            let name = |read| read_in_context(self.model.sources(), self.model.program(), read);
            self.wrong = Some(format!("{} does not see what {} has seen", name(read), name(first)));
        }
    }
}

#[test]
fn no_execution_tells_them_apart() {
    let (mut compared, mut programs) = (0, 0);
    let size = Size { threads: 3, operations: 6, globals: 2, structured: true };
    for seed in 1..=support::programs(400) {
        let text = generate::program(seed, &size);
        let Ok(model) = Model::from_text("same.csm", &text, &Options::default()) else { continue };
        let model = model.in_contexts().unwrap_or(model);
        if model.form().shared_reads().iter().all(|&read| model.form().same_as(read).is_none()) {
            continue;
        }
        programs += 1;
        for execution in 0..20 {
            let mut watch = Watch { model: &model, last: BTreeMap::new(), compared: 0, wrong: None };
            run(model.machine(), &mut Random::new(seed * 100 + execution), 2_000, &mut watch);
            assert_eq!(watch.wrong, None, "seed {seed}\n{text}");
            compared += watch.compared;
        }
    }
    println!("{programs} programs, {compared} reads");
    assert!(compared > 100, "{programs} programs, {compared} reads");
}
