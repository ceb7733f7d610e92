//! The answer of each command: one library call, from a program and a request to a plain value that serialises.
//!
//! | command | call | answer |
//! |---|---|---|
//! | `check` | [`check()`], [`supported()`] | [`CheckAnswer`] |
//! | `ir` | [`ir()`], [`ir_tree()`], [`ir_source()`] | [`IrAnswer`] |
//! | `pi` | [`pi()`] | [`PiReport`] |
//! | `run` | [`run()`], [`run_seeds()`] | [`RunAnswer`], [`SeedsAnswer`] |
//! | `futures` | [`futures()`] | [`FuturesAnswer`] |
//! | `hunt` | [`hunt()`] | [`HuntAnswer`] |
//! | `races` | [`races()`], [`races_of()`] | [`RacesAnswer`] |
//! | `paths` | [`paths()`], [`paths_of()`], [`compare_paths()`], [`drive_paths()`] | [`PathsAnswer`], [`LibraryPaths`], [`ComparisonReport`] |
//! | `drive` | [`drive()`], [`drive_schedule()`], [`drive_pairs()`], [`drive_race()`], [`drive_latches()`] | [`DriveAnswer`] |
//! | `diff` | [`diff_programs()`], [`diff_executions()`] | [`ProgramsAnswer`], [`ExecutionsReport`] |
//! | `coverage` | [`coverage()`], [`generate_tests()`] | [`CoverageAnswer`], [`GenerateAnswer`] |
//! | `correlate` | [`correlate()`] | [`CorrelateAnswer`] |
//! | `ci` | [`ci_file()`] | [`CiReport`] |
//! | `fmt` | [`format_file()`] | [`FormatReport`] |
//! | `explain` | [`explain()`] | [`ExplainReport`] |
//!
//! The JSON of a command (docs/json.md) is that value. The text for readers, in the layer `cli`, is a view of it. Nothing here
//! reads a file, prints, or depends on a format.
//!
//! The layer is above `driver`, because answers combine several layers: selections and their contradictions with possible
//! behaviours, tears with correlations, packages with both. A second user interface, such as a language server, builds on this
//! layer.

mod baseline;
mod check;
mod ci;
mod closing;
mod collector;
mod compiled;
mod confirm;
mod confirm_tears;
mod correlate;
mod correlate_summary;
mod coverage;
mod coverage_generate;
mod declared;
mod diff;
mod drive;
mod drive_generated;
mod drive_pairs;
mod drive_paths;
mod drive_race;
mod endless;
mod explain;
pub mod finding;
mod findings;
mod format;
mod futures;
mod hunt;
mod ir;
mod ir_source;
mod levels;
mod listing;
mod mends;
mod paths;
mod paths_compare;
mod paths_explain;
mod paths_graph;
mod paths_library;
mod pi;
mod races;
mod report;
mod report_executions;
mod run;
mod run_chart;
mod run_seeds;
mod selection;
mod source_form;
mod supported;
mod suppress;
mod symmetric;
pub mod words;

pub use baseline::Baseline;
pub use check::{CheckInput, CheckReport, STACK_BYTES, check, static_findings};
pub use ci::{CiCommand, CiFile, CiOutcome, CiReport, CiRequest, ci_file};
pub use closing::ClosedReport;
pub use compiled::Compiled;
pub use confirm::{ConfirmRequest, Confirmation};
pub use correlate::{CorrelateAnswer, CorrelateRequest, Execute, correlate};
pub use correlate_summary::Summary as CorrelateSummary;
pub use coverage::{CoverageAnswer, CoverageRequest, coverage};
pub use coverage_generate::{
    EmittedTests, GenerateAnswer, GenerateRequest, GeneratedFailure, GeneratedNote, Shown, generate_tests,
};
pub use cssame_explore::EndlessRequest;
pub use cssame_explore::report::Schedules;
pub use diff::{
    Alignment, CarriedReport, Change, ComparedText, DeadlockChange, EndReport, ExecutionsReport, FailureChange,
    OutcomeChange, ProgramsAnswer, ReadChange, SeenReport, TermChange, count, diff_executions, diff_programs,
    step_text,
};
pub use drive::{DriveAnswer, DriveReport, DriveRequest, NotDriven, drive, drive_latches, drive_schedule};
pub use drive_generated::{NoTests, drive_generated};
pub use drive_pairs::drive_pairs;
pub use drive_paths::drive_paths;
pub use drive_race::{DriveRaceRequest, drive_race};
pub use endless::EndlessFindings;
pub use explain::{CodePage, ExplainReport, explain};
pub use findings::{BadEnd, BadEndKind};
pub use format::{Difference, FormatReport, FormattedFile, format_file};
pub use futures::{Effort, FuturesAnswer, FuturesRequest, futures};
pub use hunt::{HuntAnswer, HuntBounds, HuntReport, MetRace, WithPreemptions, hunt};
pub use ir::{Emit, FlowGraph, FormData, IrAnswer, IrReport, ir, ir_tree};
pub use ir_source::{FormHint, form_hints, ir_source};
pub use levels::{Codes, Level, Rule};
pub use listing::{listing, listing_of_failure};
pub use mends::{Mend, mends};
pub use paths::{EmittedReport, PathsAnswer, PathsRequest, paths};
pub use paths_compare::{Amount, ComparisonReport, ComparisonRow, compare_paths};
pub use paths_explain::{
    ConditionRow, ConditionTable, EvaluatedReport, ExplainedBranch, ExplainedReport, UseDefineReport,
};
pub use paths_graph::{paths_dot, paths_svg};
pub use paths_library::{DriverTests, LibraryPaths, PathsOf, paths_of};
pub use pi::{PiReport, pi};
pub use races::{RacesAnswer, RacesRequest, RacesTarget, race_pair, races, races_of};
pub use report::{ListedRaces, ReportAnswer, ReportData, ReportRequest, ReportedFinding, report};
pub use run::{Course, RunAnswer, RunCycle, RunReport, RunRequest, run};
pub use run_chart::run_chart;
pub use run_seeds::{CountedOutcome, SeedsAnswer, SeedsRequest, run_seeds};
pub use selection::{SelectedReport, SelectionReport};
pub use supported::{
    CheckAnswer, Refused, SupportedInput, SupportedObstacle, SupportedReason, SupportedReport, supported,
};
pub use suppress::{By, Examined, FileLints, Finding, Findings, Judged, Lints, Suppressed, judge};
pub use symmetric::group_symmetric;
