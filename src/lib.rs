//! `cssame` analyses explicitly parallel programs: which writes can each read of a shared variable see, and what happens if
//! it sees each of them?
//!
//! Two threads add to one balance. What is read there may have been written by the other thread, or not; the sum at the
//! end depends on it. A test that runs the program sees one of the orders, and next time another one. `cssame` answers
//! from the text, and shows each answer by an execution that can be replayed:
//!
//! ```
//! use cssame::answer::{self, Effort, FuturesRequest};
//! use cssame::budget::Budget;
//! use cssame::model::{Model, Options};
//!
//! let text = "int balance = 10;
//! cobegin
//!   deposit: balance = balance + 5;
//!   payment: balance = balance - 3;
//! coend
//! assert(balance == 12);";
//! let model = Model::from_text("account.csm", text, &Options::default())?;
//!
//! // The pi functions: no execution reads from a write that is not listed.
//! let pis = answer::pi(model.unit()).pis;
//! let seen: Vec<&str> = pis[0].terms.iter().map(|term| term.def.as_str()).collect();
//! assert_eq!((pis[0].read.as_str(), seen), ("balance@3:22", vec!["balance@initial", "balance@4:12"]));
//!
//! // The futures: which of the terms really happen, how executions end, and where they fail.
//! let request = FuturesRequest { count: Effort::Always, outcomes: Effort::Always, ..FuturesRequest::default() };
//! let answer = answer::futures(&model, &request, &Budget::unlimited());
//! assert_eq!((answer.futures.complete, answer.futures.futures), (true, Some(4)));
//!
//! // A schedule: the steps of an execution that fails, as `cssame run --schedule` replays it.
//! let failure = &answer.futures.failures[0];
//! assert_eq!((failure.status, failure.at.as_str()), ("assert", "6:1"));
//! let file = model.schedule(failure.schedule.clone(), failure.status).to_text();
//! assert!(file.contains(r#"{"thread":"payment","at":"4:22","op":"read balance"}"#));
//! # Ok::<(), cssame::diagnostics::Diagnostics>(())
//! ```
//!
//! The layers are the modules below, in order; each is a crate of its own (`src/*/Cargo.toml` says what it uses), which uses only
//! what stands before it:
//!
//! | layer | from | to |
//! |---|---|---|
//! | [`source`], [`diagnostics`] | files | spans, positions; what is said of them |
//! | [`budget`] | bounds of a user | what work may cost, handed down as one value |
//! | [`ir`] | | the parallel flow graph, its printers and verifier |
//! | [`front`] | source text | the flow graph |
//! | [`c`] | files in C | their typed trees, and what of them is read |
//! | [`ssa`], [`concurrency`] | the flow graph | versions and phi functions; threads, order, locks held |
//! | [`form`] | both | the CSSAME form: pi functions, static findings, contradictions |
//! | [`correlation`] | the flow graph | variables that belong together, method pairs by rank |
//! | [`vm`], [`schedule`] | the flow graph | a machine; executions, policies, schedule files, traces |
//! | [`model`] | source text | all of that for one program, ready to be asked |
//! | [`harness`] | a file without `main` | programs in which two of its methods run in parallel |
//! | [`explore`] | a model | what all executions can do: futures, selections, counts |
//! | [`tear`] | a model, correlations | which accesses of a method other threads tear apart |
//! | [`race`] | a model | races: predicted, made real, judged |
//! | [`paths`] | a model | race-equivalent test cases, by branch-affect groups |
//! | [`coverage`] | executions | memory-access patterns and method pairs that they cover; tests for classes |
//! | [`driver`] | executions | packages of deterministic tests |
//! | [`answer`] | a request | the answer of each command, as a plain value |
//! | [`lsp`] | messages of an editor | answers, as messages |
//! | [`cli`] | arguments | the answer as text or JSON, and an exit status |
//!
//! Nothing but [`cli`] reads or writes files, and nothing else prints; [`lsp`] speaks to an editor over the standard streams.

#![forbid(unsafe_code)]

#[doc(inline)]
pub use cssame_source as source;

#[doc(inline)]
pub use cssame_diagnostics as diagnostics;

#[doc(inline)]
pub use cssame_budget as budget;

#[doc(inline)]
pub use cssame_ir as ir;

#[doc(inline)]
pub use cssame_c as c;

#[doc(inline)]
pub use cssame_front as front;

#[doc(inline)]
pub use cssame_ssa as ssa;

#[doc(inline)]
pub use cssame_concurrency as concurrency;

#[doc(inline)]
pub use cssame_form as form;

#[doc(inline)]
pub use cssame_correlation as correlation;

#[doc(inline)]
pub use cssame_vm as vm;

#[doc(inline)]
pub use cssame_schedule as schedule;

#[doc(inline)]
pub use cssame_model as model;

#[doc(inline)]
pub use cssame_harness as harness;

#[doc(inline)]
pub use cssame_explore as explore;

#[doc(inline)]
pub use cssame_tear as tear;

#[doc(inline)]
pub use cssame_race as race;

#[doc(inline)]
pub use cssame_paths as paths;

#[doc(inline)]
pub use cssame_coverage as coverage;

#[doc(inline)]
pub use cssame_driver as driver;

#[doc(inline)]
pub use cssame_answer as answer;

#[doc(inline)]
pub use cssame_lsp as lsp;

#[doc(inline)]
pub use cssame_cli as cli;
