//! Findings with names.
//!
//! **Input**: [`Findings`], with the text and the program that they refer to. **Output**: [`CoverageReport`], whose keys other
//! programs rely on (docs/json.md).

mod data;
mod lines;
mod met;

pub use data::*;
pub use lines::{BranchReport, LineReport, LinesReport, MAX_BRANCHES};

use super::find::{Findings, Terms};
use super::instance::Instance;
use super::pattern::{PatternId, Role};
use super::reason::Reason;
use super::universe::AccessId;
use cssame_form::{definition_name, read_name};
use cssame_ir::{DefinitionKind, FunctionId, FunctionKind, Instruction, Program};
use cssame_model::{Model, Unit};
use lines::lines;
use met::met;
use std::collections::{BTreeMap, BTreeSet};

/// Instances that are listed as missing at most.
pub const MAX_MISSING: usize = 10_000;

/// Gives names to what executions of a program cover, and to how they have failed.
#[must_use]
pub fn report(model: &Model, findings: &Findings) -> (CoverageReport, MetReport) {
    let mut report = Reporter::new(model.unit(), findings).report();
    report.pi_terms = findings.terms.as_ref().map(|terms| terms_report(model, findings, terms));
    let known = |terms: &TermsReport| terms.feasible.is_some() || terms.missing.is_empty();
    report.complete &= report.pi_terms.as_ref().is_none_or(known);
    (report, met(model, findings))
}

/// Gives names to what the drivers of a file without `main` cover.
#[must_use]
pub fn library_report(unit: &Unit, findings: &Findings) -> CoverageReport {
    Reporter::new(unit, findings).report()
}

struct Reporter<'a> {
    unit: &'a Unit,
    findings: &'a Findings,
    /// By access: the methods, or the functions, from which it is reached.
    methods: Vec<Vec<String>>,
    /// The numbers of the executions that were found for instances.
    witnesses: BTreeMap<Instance, usize>,
}

impl<'a> Reporter<'a> {
    fn new(unit: &'a Unit, findings: &'a Findings) -> Reporter<'a> {
        let numbered = (1..).zip(&findings.witnesses);
        let witnesses = numbered.flat_map(|(number, witness)| witness.instances.iter().map(move |&of| (of, number)));
        Reporter { unit, findings, methods: methods_of(&unit.program, findings), witnesses: witnesses.collect() }
    }

    fn report(&self) -> CoverageReport {
        let Findings { measured, bound, drivers, .. } = self.findings;
        let (missing, missing_omitted) = self.missing();
        CoverageReport {
            complete: bound.is_none() && !measured.is_cut && self.findings.is_decided(),
            bound: bound.map(cssame_budget::Bound::name),
            executions: measured.executions,
            discarded: measured.discarded,
            ends: measured.statuses.clone(),
            drivers: drivers.iter().map(|driver| driver.name.clone()).collect(),
            patterns: self.patterns(),
            variables: self.variables(),
            missing,
            missing_omitted,
            pi_terms: None,
            method_pairs: self.method_pairs(),
            lines: lines(self.unit, self.findings),
        }
    }

    fn patterns(&self) -> PatternsReport {
        let Findings { totals, measured, excluded, feasible, .. } = self.findings;
        let count = |is_in: &dyn Fn(PatternId) -> bool, total: u64| Counts {
            total,
            feasible: feasible.as_ref().map(|all| all.iter().filter(|one| is_in(one.pattern)).count() as u64),
            infeasible: Some(excluded.keys().filter(|one| is_in(one.pattern)).count() as u64),
            covered: measured.instances.keys().filter(|one| is_in(one.pattern)).count() as u64,
        };
        let by_pattern = totals.by_pattern.iter();
        let by_pattern = by_pattern.map(|(&id, &total)| (id.get().number, count(&|one| one == id, total)));
        PatternsReport { all: count(&|_| true, totals.all), by_pattern: by_pattern.collect() }
    }

    fn variables(&self) -> Vec<VariableReport> {
        let Findings { universe, totals, measured, .. } = self.findings;
        let mut covered = BTreeMap::new();
        for instance in measured.instances.keys() {
            *covered.entry(instance.variable(universe)).or_default() += 1;
        }
        let report = |(id, variable): (_, &super::universe::Variable)| VariableReport {
            variable: variable.name.clone(),
            reads: variable.reads.len(),
            writes: variable.writes.len(),
            total: totals.by_variable.get(&id).copied().unwrap_or(0),
            covered: covered.get(&id).copied().unwrap_or(0),
        };
        universe.variables.entries().map(report).collect()
    }

    /// The instances that are not covered, and how many more there are.
    fn missing(&self) -> (Vec<InstanceReport>, u64) {
        let Findings { universe, totals, measured, excluded, .. } = self.findings;
        let is_missing = |instance: &Instance| !measured.instances.contains_key(instance);
        let report = |instance: Instance| self.instance(&instance, excluded.get(&instance).copied());
        let missing: Vec<InstanceReport> =
            super::instance::instances(universe).filter(is_missing).take(MAX_MISSING).map(report).collect();
        let all = totals.all - measured.instances.len() as u64;
        let omitted = all - missing.len() as u64;
        (missing, omitted)
    }

    fn instance(&self, instance: &Instance, reason: Option<Reason>) -> InstanceReport {
        let methods = |role: Role| {
            let steps = instance.steps().filter(|(letter, _)| letter.role == role);
            let names: BTreeSet<&String> = steps.flat_map(|(_, access)| &self.methods[access.index()]).collect();
            names.into_iter().cloned().collect()
        };
        InstanceReport {
            pattern: instance.pattern.get().number,
            steps: steps_report(self.unit, self.findings, instance),
            methods: [methods(Role::A), methods(Role::B)],
            reason: reason.map(Reason::word),
            witness: self.witnesses.get(instance).copied(),
        }
    }

    fn method_pairs(&self) -> MethodPairsReport {
        let Findings { methods, measured, possible_pairs, .. } = self.findings;
        let report = |pair: super::method_pairs::MethodPair| {
            let executions = measured.pairs.get(&pair).copied().unwrap_or(0);
            let can = possible_pairs.as_ref().map(|possible| possible.contains(&pair));
            let feasible = if executions > 0 { Some(true) } else { can };
            let methods = pair.map(|method| methods.list[method].name.clone());
            MethodPairReport { methods, covered: executions > 0, feasible, executions }
        };
        MethodPairsReport {
            total: methods.pair_count(),
            feasible: possible_pairs.as_ref().map(|possible| possible.len() as u64),
            covered: measured.pairs.len() as u64,
            pairs: methods.pairs().map(report).collect(),
        }
    }
}

/// The accesses of an instance, in order.
fn steps_report(unit: &Unit, findings: &Findings, instance: &Instance) -> Vec<StepReport> {
    let step = |(letter, access): (super::pattern::Letter, AccessId)| {
        let of = &findings.universe.accesses[access];
        let access = format!("{}@{}", of.name, unit.sources.place(of.span));
        StepReport { thread: letter.role.word(), access, kind: letter.kind.word() }
    };
    instance.steps().map(step).collect()
}

/// By access: the public methods, or the functions, from which it is reached by calls.
fn methods_of(program: &Program, findings: &Findings) -> Vec<Vec<String>> {
    let is_entry = |kind| matches!(kind, FunctionKind::Function | FunctionKind::Method { public: true });
    let mut of_function: Vec<BTreeSet<FunctionId>> = vec![BTreeSet::new(); program.functions.len()];
    for (entry, _) in program.functions.entries().filter(|(_, function)| is_entry(function.kind)) {
        let mut work = vec![entry];
        while let Some(function) = work.pop() {
            if !of_function[function.index()].insert(entry) {
                continue;
            }
            for instruction in program.functions[function].blocks.iter().flat_map(|block| &block.instructions) {
                match instruction {
                    Instruction::Call { function, .. } => work.push(*function),
                    Instruction::Fork { threads, .. } => work.extend(threads.iter().map(|thread| thread.function)),
                    Instruction::Spawn { thread, .. } => work.push(thread.function),
                    _ => {}
                }
            }
        }
    }
    let binding = super::universe::Binding::new(&findings.universe, program);
    let mut methods = vec![Vec::new(); findings.universe.accesses.len()];
    let reads = program.reads.entries().map(|(id, read)| (cssame_ir::Access::Read(id), read.function));
    let writes = program.definitions.entries().filter_map(|(id, definition)| match definition.kind {
        DefinitionKind::Write(function) => Some((cssame_ir::Access::Write(id), function)),
        DefinitionKind::Initial(_) | DefinitionKind::Free(_) => None,
    });
    for (access, function) in reads.chain(writes) {
        let Some(access) = binding.of(access) else { continue };
        let names = of_function[function.index()].iter().map(|&id| program.texts.get(program.functions[id].name));
        methods[access.index()] = names.map(str::to_owned).collect();
    }
    methods
}

fn terms_report(model: &Model, findings: &Findings, terms: &Terms) -> TermsReport {
    let (program, sources) = (model.program(), model.sources());
    let seen = &findings.measured.terms;
    let mut missing: Vec<MissingTerms> = Vec::new();
    for list in terms.all.chunk_by(|one, other| one.0 == other.0) {
        let not_seen = list.iter().filter(|term| !seen.contains_key(term));
        let defs: Vec<MissingTerm> = not_seen
            .map(|term| MissingTerm {
                def: definition_name(sources, program, term.1),
                feasible: terms.feasible.as_ref().map(|feasible| feasible.contains(term)),
            })
            .collect();
        if !defs.is_empty() {
            missing.push(MissingTerms { read: read_name(sources, program, list[0].0), defs });
        }
    }
    TermsReport {
        all: terms.all.len(),
        feasible: terms.feasible.as_ref().map(BTreeSet::len),
        covered: terms.all.iter().filter(|term| seen.contains_key(term)).count(),
        missing,
    }
}
