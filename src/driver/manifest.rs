//! The contents of a package, and the reasons for missing tests.
//!
//! In: the terms of the pi functions and the findings about them. Out: [`Manifest`], plain data, as JSON.

use super::{Expect, Input, Options, Target};
use cssame_budget::Bound;
use cssame_correlation::Status;
use cssame_correlation::report::Counts;
use cssame_explore::report::{BlockedReport, ThreadOutput};
use cssame_form::Selection;
use cssame_form::{definition_name, read_name, selected_contexts, selected_read};
use cssame_ir::{DefinitionId, DefinitionKind, ReadId};
use serde::Serialize;

/// The value of `"schema"` in a manifest.
pub(super) const SCHEMA: &str = "cssame-drive/1";

/// Whether a term can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermStatus {
    /// Some execution has it.
    Feasible,
    /// No execution has it.
    Impossible,
    /// A bound was hit before it was decided.
    Undecided,
    /// Tests in the paper's own form do not ask.
    NotAsked,
}

/// A term of a pi function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermEntry {
    /// `a@6:24`, or `a@6:24#2` for one instance.
    pub read: String,
    /// The contexts that are meant: `T1:a@6:24`; none where the place has one, or all are meant.
    pub context: Option<String>,
    /// `a@4:31` or `a@initial`.
    pub def: String,
    /// The contexts of the definition, likewise.
    pub def_context: Option<String>,
    /// Whether it can happen.
    pub status: TermStatus,
    /// The test that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The evaluation of the read, by its number in its thread from 1, that sees the definition in this test, where not every
    /// one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<u32>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A place where the program can fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureEntry {
    /// `assert`, `error`, …
    pub status: &'static str,
    /// What the program says, or what is wrong.
    pub message: String,
    /// `LINE:COL`
    pub at: String,
    /// The thread that fails.
    pub thread: String,
    /// The test that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadlockEntry {
    /// The threads that have not ended.
    pub threads: Vec<BlockedReport>,
    /// Threads each of which waits for the next one, the last for the first; none where there is no such cycle.
    pub cycle: Vec<String>,
    /// The test that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the program prints, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeEntry {
    /// `ok`, `assert`, `deadlock`, …
    pub status: &'static str,
    /// The printed lines, thread by thread.
    pub by_thread: Vec<ThreadOutput>,
    /// The test that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestEntry {
    /// The name of its function in `tests/futures.rs`.
    pub name: String,
    /// How the recorded execution ends: `ok`, `failure`, `deadlock`; `not-asked` where none is recorded.
    pub end: &'static str,
    /// The same in the word of an outcome: `assert`, `deadlock`; empty where none is recorded.
    #[serde(skip)]
    pub status: &'static str,
    /// What the program says where it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// All printed lines, grouped by thread.
    pub output: Vec<String>,
    /// The terms that it is the test of, `READ=DEF` each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<String>,
    /// The schedule file of its execution, as a path in the package; empty where none is recorded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub schedule: String,
    /// The program that the schedule belongs to, as a path in the package; none where it is the source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// A test of a pair of methods, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PairTestEntry {
    /// `tear`, `serial`, or `end` for a failure or a deadlock.
    pub kind: &'static str,
    /// Who is torn, or who comes first.
    pub method: String,
    /// Of a tear: the two variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<[String; 2]>,
    /// Of a tear: how each is accessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accesses: Option<[&'static str; 2]>,
    /// The test that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A pair of methods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairEntry {
    /// The two.
    pub methods: [String; 2],
    /// From 0 to 1.
    pub rank: f64,
    /// What executions show of it.
    pub status: Status,
    /// The `main` that was added to the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Its tests.
    pub tests: Vec<PairTestEntry>,
}

/// An order of two accesses that race, and its test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OrderEntry {
    /// The place of the access that comes first: `x@14:5`.
    pub first: String,
    /// The place of the other one.
    pub second: String,
    /// The threads that make them; none where no execution was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<[String; 2]>,
    /// The test that keeps this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RaceEntry {
    /// The first place in text order.
    pub a: String,
    /// The other one.
    pub b: String,
    /// `real`, `impossible`, `unconfirmed`.
    pub status: &'static str,
    /// Why it is impossible.
    pub proof: Option<String>,
    /// Both orders; of one place with itself, only one where they cannot be told apart. None where it is not real.
    pub orders: Vec<OrderEntry>,
}

/// A branch-affect group, and its test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupEntry {
    /// What is decided: `T1:15:9#1`.
    pub branch: String,
    /// Its number among the groups of that.
    pub group: u32,
    /// Who does what, in order.
    pub order: Vec<String>,
    /// How the branch comes out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// The test that follows this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The reduction of all pairs to tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PairCounts {
    /// Of the pairs.
    #[serde(flatten)]
    pub pairs: Counts,
    /// Tests of the package.
    pub tests: usize,
}

/// What is in a package, and what is not and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// `cssame-drive/1`.
    pub schema: &'static str,
    /// The version of the tool.
    pub tool: &'static str,
    /// The source file.
    pub file: String,
    /// A hash of its text.
    pub hash: String,
    /// Values of `input` constants.
    pub inputs: Vec<(String, String)>,
    /// The language of the package.
    pub target: Target,
    /// Whether it is in the paper's own form, with a latch for each version; only written where it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub latches: bool,
    /// When a test passes.
    pub expect: Expect,
    /// Whether every term was decided.
    pub complete: bool,
    /// How many states were visited to decide the terms; 0 where a selection was asked for.
    pub states: u64,
    /// Why there are no tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// The files but for this manifest and the recorded executions, as paths in the package.
    pub files: Vec<String>,
    /// The tests, in their order.
    pub tests: Vec<TestEntry>,
    /// The terms, in the order of the text.
    pub terms: Vec<TermEntry>,
    /// The failures that were found, where tests are about executions of the whole program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Vec<FailureEntry>>,
    /// The deadlocks that were found, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlocks: Option<Vec<DeadlockEntry>>,
    /// The outcomes, where each is to have a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Vec<OutcomeEntry>>,
    /// The pairs of methods, where the tests are about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Vec<PairEntry>>,
    /// How few pairs are tested, of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<PairCounts>,
    /// The race, where the tests are about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceEntry>,
    /// The branch-affect groups, where the tests are about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<GroupEntry>>,
    /// The bound that was hit.
    #[serde(skip)]
    bound: Option<Bound>,
}

impl Manifest {
    pub(super) fn new(options: &Options, bound: Option<Bound>, states: u64) -> Manifest {
        Manifest {
            schema: SCHEMA,
            tool: env!("CARGO_PKG_VERSION"),
            file: options.file.clone(),
            hash: options.hash.clone(),
            inputs: options.inputs.clone(),
            target: options.target,
            latches: false,
            expect: options.expect,
            complete: bound.is_none(),
            states,
            note: None,
            files: Vec::new(),
            tests: Vec::new(),
            terms: Vec::new(),
            failures: None,
            deadlocks: None,
            outcomes: None,
            pairs: None,
            counts: None,
            race: None,
            groups: None,
            bound,
        }
    }

    /// Lists the tests; where there are none, the note says why, if none was given before.
    pub(super) fn set_tests(&mut self, tests: Vec<TestEntry>) {
        self.note = match (tests.is_empty(), self.terms.is_empty()) {
            (false, _) => None,
            (true, _) if self.note.is_some() => self.note,
            (true, _) if self.pairs.as_ref().is_some_and(Vec::is_empty) => {
                Some("no test: no pair of methods is selected")
            }
            (true, _) if self.pairs.is_some() => Some("no test: the pairs say why"),
            (true, _) if self.race.is_some() => Some("no test: the orders of the race say why"),
            (true, _) if self.groups.as_ref().is_some_and(Vec::is_empty) => {
                Some("no test: no order of other threads can change a branch")
            }
            (true, _) if self.groups.is_some() => Some("no test: the groups say why"),
            (true, true) if self.failures.is_some() => {
                Some("no test: no execution of the program was followed to its end")
            }
            (true, true) => Some("no test: each read of the program can read from one definition only"),
            (true, false) => Some("no test: the terms say why"),
        };
        if let Some(counts) = &mut self.counts {
            counts.tests = tests.len();
        }
        self.tests = tests;
    }

    /// Lists pairs, and how few of all pairs they are.
    pub(super) fn set_pairs(&mut self, pairs: Vec<PairEntry>, counts: &Counts) {
        self.counts = Some(PairCounts { pairs: counts.clone(), tests: 0 });
        self.pairs = Some(pairs);
    }

    /// Lists a term.
    pub(super) fn add_term(&mut self, input: &Input<'_>, term: &Selection, status: TermStatus, test: Option<String>) {
        let reason = match status {
            TermStatus::Feasible | TermStatus::NotAsked => None,
            TermStatus::Impossible => {
                Some(format!("no execution has it; all {} states that the program can reach were visited", self.states))
            }
            TermStatus::Undecided => {
                self.complete = false;
                Some(match self.bound {
                    Some(bound) => format!("the bound {} was hit after {} states", bound.name(), self.states),
                    None => "it was not decided".to_owned(),
                })
            }
        };
        self.push(input, term, status, test, reason);
    }

    /// Lists a term whose execution was not followed to its end.
    pub(super) fn add_unfinished(&mut self, input: &Input<'_>, term: &Selection, reason: &str) {
        self.complete = false;
        let reason = format!("it can happen, but the execution that shows it {reason}");
        self.push(input, term, TermStatus::Undecided, None, Some(reason));
    }

    /// Lists a selected term whose read the execution does not come to.
    pub(super) fn add_unevaluated(&mut self, input: &Input<'_>, term: &Selection, test: &str) {
        let reason = "the execution that was found does not come to this read".to_owned();
        self.push(input, term, TermStatus::Undecided, Some(test.to_owned()), Some(reason));
    }

    fn push(
        &mut self,
        input: &Input<'_>,
        term: &Selection,
        status: TermStatus,
        test: Option<String>,
        reason: Option<String>,
    ) {
        let entry = entry(input, term);
        let read = selected_name(input, term);
        self.terms.push(TermEntry { read, status, test, reason, ..entry });
    }

    /// Lists a term that can happen, with its test, in which perhaps one evaluation alone sees the definition.
    pub(super) fn add_shown(&mut self, input: &Input<'_>, term: &Selection, test: &str) {
        let entry = entry(input, term);
        self.terms.push(TermEntry { test: Some(test.to_owned()), evaluation: term.instance, ..entry });
    }

    /// The text of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        // All keys are strings, so this cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// The entry of a term that can happen.
fn entry(input: &Input<'_>, term: &Selection) -> TermEntry {
    let Input { sources, program, .. } = *input;
    let (context, def_context) = selected_contexts(sources, program, term);
    TermEntry {
        read: read_name(sources, program, term.read()),
        context,
        def: definition_name(sources, program, term.definition()),
        def_context,
        status: TermStatus::Feasible,
        test: None,
        evaluation: None,
        reason: None,
    }
}

/// The read of a selection by its name in its contexts, with the evaluation if it is one alone.
pub(super) fn name_in_contexts(input: &Input<'_>, selection: &Selection) -> String {
    let read = selected_read(input.sources, input.program, selection);
    selection.instance.map_or(read.clone(), |instance| format!("{read}#{instance}"))
}

/// The name of a selected read.
pub(super) fn selected_name(input: &Input<'_>, selection: &Selection) -> String {
    let read = read_name(input.sources, input.program, selection.read());
    selection.instance.map_or(read.clone(), |instance| format!("{read}#{instance}"))
}

/// The terms of all pi functions, in the order of the text, the initial definition of each read first.
pub(super) fn pi_terms(input: &Input<'_>) -> Vec<(ReadId, DefinitionId)> {
    let program = input.program;
    let mut reads = input.form.shared_reads();
    reads.sort_by_key(|&read| (program.reads[read].span, read));
    let mut pairs = Vec::new();
    for read in reads {
        let mut terms = input.form.terms(read);
        if terms.len() < 2 {
            continue;
        }
        terms.sort_by_key(|&term| {
            let definition = &program.definitions[term];
            (matches!(definition.kind, DefinitionKind::Write(_)), definition.span, term)
        });
        pairs.extend(terms.into_iter().map(|term| (read, term)));
    }
    pairs
}
