//! Confirms findings about correlated variables that a method touches in two regions of a lock (CS0501) by executions.
//!
//! **Input**: a file with a `main`, and its findings. **Output**: for each finding, the diagnostic to show in its place, and a
//! [`Confirmation`].
//!
//! **Algorithm**: the pairs are executed as in [`super::correlate()`], all of them together within the bounds. A finding is about
//! a correlation and a method. It is real if some pair confirms one of the endangered accesses of the two, impossible if all of
//! them are refuted in all pairs, otherwise open.
//!
//! If the program checks its results, and a search has shown that no execution fails or blocks, a finding becomes a note, and
//! nothing is executed.
//!
//! **Soundness and limits**: an impossible finding is impossible for the given inputs.

use super::confirm::{ConfirmRequest, Confirmation};
use super::correlate::{CorrelateAnswer, CorrelateRequest, Execute, correlate};
use super::hunt::HuntAnswer;
use cssame_budget::Limits;
use cssame_correlation as correlation;
use cssame_correlation::Status;
use cssame_correlation::check::Endangered;
use cssame_diagnostics::{Diagnostic, Severity};
use cssame_ir::{Instruction, Program};
use cssame_model::{Options, Unit};
use cssame_schedule as schedule;
use cssame_schedule::{ExecutionStatus, Scripted};
use cssame_source::{FileId, SourceMap};
use cssame_tear::pairs::AccessVerdict;

/// States that are visited at most, if nothing is said.
const MAX_STATES: u64 = 500_000;

/// Steps of an execution that is done again.
const MAX_STEPS: u64 = 100_000;

/// Says of the findings of a file (its place among the sources, and its inputs) whether executions show them.
pub(super) fn confirm_tears(
    (sources, file, inputs): (&SourceMap, FileId, &[(String, String)]),
    found: Vec<Endangered>,
    request: &ConfirmRequest<'_>,
) -> Vec<(Diagnostic, Confirmation)> {
    if found.is_empty() {
        return Vec::new();
    }
    let Ok(unit) = Unit::from_sources(sources.clone(), file, inputs) else { return Vec::new() };
    if request.hunted.is_some_and(HuntAnswer::all_end_well) && has_checks(&unit.program) {
        return found.into_iter().map(harmless).collect();
    }
    let options = Options { inputs: inputs.to_vec(), ..Options::default() };
    let threshold = correlation::Options::default().threshold;
    let asked = CorrelateRequest { threshold, rank: 0.0, sets: false, execute: Execute::Selected, options: &options };
    let max_states = Some(request.max_states.unwrap_or(MAX_STATES));
    let budget = request.budget.share(Limits { max_states, ..Limits::default() });
    let answer = correlate(unit, &asked, &budget);
    found.into_iter().map(|finding| judge(&answer, finding)).collect()
}

/// A finding of a program that checks what it computes, and of which no execution fails.
fn harmless(finding: Endangered) -> (Diagnostic, Confirmation) {
    let confirmation = open(&finding);
    let diagnostic = Diagnostic { severity: Severity::Note, ..finding.diagnostic };
    (diagnostic.with_note("no execution fails or blocks; whether one tears them was not checked"), confirmation)
}

/// What is said of a finding of which nothing is known yet.
fn open(finding: &Endangered) -> Confirmation {
    let (code, about) = (finding.diagnostic.code.number(), Confirmation::about(finding.variables.to_vec()));
    Confirmation { code, status: "open", ..about }
}

/// Whether a program can fail by what it says itself.
fn has_checks(program: &Program) -> bool {
    let blocks = program.functions.iter().flat_map(|function| function.blocks.iter());
    let mut instructions = blocks.flat_map(|block| &block.instructions);
    instructions.any(|each| matches!(each, Instruction::Assert { .. } | Instruction::Error { .. }))
}

fn judge(answer: &CorrelateAnswer, finding: Endangered) -> (Diagnostic, Confirmation) {
    let mut confirmation = open(&finding);
    let Endangered { method, correlation, variables, mut diagnostic } = finding;
    let pairs = 0..answer.analysis.pairs.len();
    let of_pairs = pairs.filter_map(|pair| Some((pair, answer.executed.of_pair(pair)?)));
    let of_pairs = of_pairs.flat_map(|(pair, of)| of.accesses.iter().map(move |access| (pair, access)));
    let mine = of_pairs.filter(|(_, (each, _))| each.method == method && each.access.correlation == correlation);
    let (mut status, mut any) = (Status::Refuted, false);
    for (pair, (_, verdict)) in mine {
        any = true;
        match verdict {
            AccessVerdict::Confirmed(witness) => {
                confirmation.harmful |= ends_badly(answer, pair, &witness.schedule);
                status = Status::Confirmed;
            }
            AccessVerdict::Refuted => {}
            AccessVerdict::Elsewhere(_) | AccessVerdict::Open(_) if status != Status::Confirmed => {
                status = Status::Potential;
            }
            AccessVerdict::Elsewhere(_) | AccessVerdict::Open(_) => {}
        }
    }
    let diagnostic = match status {
        Status::Confirmed => {
            confirmation.status = "real";
            let follows = if confirmation.harmful { ", and a failure or a deadlock can follow" } else { "" };
            diagnostic.with_note(format!("real: an execution tears the two apart{follows}"))
        }
        Status::Refuted if any => {
            confirmation.status = "impossible";
            let proof = format!("none of the {} states that were visited tears them", answer.states);
            diagnostic.severity = Severity::Note;
            diagnostic.message = format!("`{}` and `{}` are never torn apart here", variables[0], variables[1]);
            let note = format!("impossible: {proof}");
            confirmation.proof = Some(proof);
            Diagnostic { help: None, ..diagnostic }.with_note(note)
        }
        _ => diagnostic.with_note("open: no execution was found that tears them, and not all were looked at"),
    };
    (diagnostic, confirmation)
}

/// Whether an execution ends in a failure or a deadlock.
fn ends_badly(answer: &CorrelateAnswer, pair: usize, choices: &[cssame_vm::Choice]) -> bool {
    let Some(setting) = answer.executed.setting_of(pair) else { return false };
    let execution = schedule::run(setting.model.machine(), &mut Scripted::new(choices), MAX_STEPS, &mut ());
    matches!(execution.status, ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock)
}
