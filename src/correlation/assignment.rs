//! Every assignment of a program, with the variables from which its value is computed, and the conditions on which it is control
//! dependent.
//!
//! **Input**: a program and its [`SourceVariables`]. **Output**: [`Assignments`].
//!
//! **Algorithm**
//! 1. For each function, callees first, compute the data flow within it ([`super::function`]). The result of a call depends on
//!    the memory and the parameters from which the callee computes its result. The arguments of this call replace the parameters.
//! 2. A parameter also stands for the arguments of all calls of its context ([`super::value_context`]), unless they are too many
//!    to be informative.
//! 3. The conditions are those of [`super::control`], and those on which every call of the function is control dependent.
//!
//! **Soundness and limits**: constant initialisers of declarations are not assignments, and neither are steps of a loop counter
//! (a private variable that a loop steps itself and reads in its own condition). An index selects a location and does not
//! contribute to the value, so it is not a source. The module does not see callees within a recursion, and data beyond the bounds
//! of [`Sources`], [`MAX_ARGUMENTS`] and [`MAX_CONDITIONS`].

use super::binding::{AccessSite, BoundProgram};
use super::function::{FunctionSources, Invocation, Parent, Site};
use super::row::{Row, Rows};
use super::source_variable::{SourceVariableId, SourceVariables};
use super::sources::Sources;
use cssame_ir::{BlockId, FunctionId, FunctionKind, Program};
use cssame_source::Span;
use cssame_source::arena::{Arena, id};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

id! {
    /// An assignment in the text.
    AssignmentId
}

/// A parameter that stands for more data than that stands for none of them.
pub(super) const MAX_ARGUMENTS: usize = 8;
/// Conditions that an assignment keeps.
const MAX_CONDITIONS: usize = 8;

/// A condition that an assignment stands under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Read by it.
    pub variable: SourceVariableId,
    /// Which row of it; nothing where the branch stands in a caller.
    pub row: Option<Row>,
    /// Where the branch stands.
    pub span: Span,
}

pub(super) type Conditions = SmallVec<[Condition; 2]>;

/// An assignment.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub target: SourceVariableId,
    pub sources: Sources,
    pub conditions: Conditions,
    pub parent: Option<Parent>,
    /// The row that is written.
    pub row: Option<Row>,
    pub span: Span,
    /// Where it stands in the text.
    pub place: AccessSite,
    /// Which write it is: assignments of several bindings of a function are one write if the value has the same origin.
    pub write: u32,
}

/// All assignments of a program.
#[derive(Clone, Debug)]
pub(super) struct Assignments {
    /// By function, block and position.
    pub all: Arena<AssignmentId, Assignment>,
    by_site: FxHashMap<(FunctionId, BlockId, u32), AssignmentId>,
}

impl Assignments {
    /// The assignment that an instruction makes.
    pub fn at(&self, function: FunctionId, block: BlockId, position: usize) -> Option<AssignmentId> {
        self.by_site.get(&(function, block, position as u32)).copied()
    }
}

/// Finds all assignments. `components` are those of the call graph, callees first.
pub(super) fn find_assignments(
    bound: &BoundProgram<'_>,
    data: &SourceVariables,
    rows: &Rows,
    components: &[Vec<FunctionId>],
) -> Assignments {
    let program = &*bound.program;
    let functions = find_sources(bound, data, rows, components);
    let mut counters = FixedBitSet::with_capacity(data.len());
    functions.iter().for_each(|function| counters.extend(function.counters.iter().map(|counter| counter.index())));
    let arguments = spread_arguments(&functions);
    let entry = entry_conditions(program, components, &functions);
    let mut all = Arena::new();
    let mut by_site = FxHashMap::default();
    let mut writes: FxHashMap<(AccessSite, Vec<SourceVariableId>), u32> = FxHashMap::default();
    for (function, conditions) in functions.into_iter().zip(&entry) {
        let id = function.id;
        for raw in &function.assignments {
            if counters.contains(raw.target.index()) {
                continue;
            }
            let mut sources = with_arguments(id, &raw.sources, &arguments);
            sources.retain(|variable| !counters.contains(variable.index()));
            let mut own = function.conditions_of(program, raw.block);
            own.extend_from_slice(conditions);
            limit(&mut own, &counters, raw.target);
            let place = (bound.origin(id), raw.block, raw.position);
            let next = writes.len() as u32;
            let write = *writes.entry((place, sources.iter().collect())).or_insert(next);
            let assignment = Assignment {
                target: raw.target,
                sources,
                conditions: own,
                parent: raw.parent.clone(),
                row: raw.row,
                span: raw.span,
                place,
                write,
            };
            by_site.insert((id, raw.block, raw.position), all.push(assignment));
        }
    }
    Assignments { all, by_site }
}

/// The flow of data in each function, by its number.
pub(super) fn find_sources(
    bound: &BoundProgram<'_>,
    data: &SourceVariables,
    rows: &Rows,
    components: &[Vec<FunctionId>],
) -> Vec<FunctionSources> {
    let mut functions: Vec<Option<FunctionSources>> = vec![None; bound.program.functions.len()];
    for &id in components.iter().flatten() {
        let found = FunctionSources::of(bound, (data, rows), &functions, id);
        functions[id.index()] = Some(found);
    }
    functions.into_iter().flatten().collect()
}

/// Keeps the nearest condition on each variable.
fn limit(conditions: &mut Conditions, counters: &FixedBitSet, target: SourceVariableId) {
    let mut seen: SmallVec<[SourceVariableId; 8]> = SmallVec::new();
    conditions.retain(|condition| {
        let variable = condition.variable;
        let keep = !seen.contains(&variable) && variable != target && !counters.contains(variable.index());
        if keep {
            seen.push(variable);
        }
        keep && seen.len() <= MAX_CONDITIONS
    });
}

/// A parameter of a function, as it is bound.
type Parameter = (FunctionId, SourceVariableId);

/// For each parameter, the data that its arguments are computed from.
fn spread_arguments(functions: &[FunctionSources]) -> FxHashMap<Parameter, Sources> {
    let mut arguments: FxHashMap<Parameter, Sources> = FxHashMap::default();
    let mut dependents: FxHashMap<Parameter, Vec<Parameter>> = FxHashMap::default();
    let mut waiting: Vec<Parameter> = Vec::new();
    for function in functions {
        for site in &function.sites {
            for (variable, sources) in site.arguments.iter().filter(|(_, sources)| sources.len() > 0) {
                let parameter = (site.callee, *variable);
                arguments.entry(parameter).or_default().add(sources);
                sources.iter().for_each(|source| dependents.entry((function.id, source)).or_default().push(parameter));
                waiting.push(parameter);
            }
        }
    }
    // Through parameters that are handed on.
    waiting.reverse();
    while let Some(parameter) = waiting.pop() {
        let Some(sources) = arguments.get(&parameter).cloned() else { continue };
        if sources.len() > MAX_ARGUMENTS {
            continue;
        }
        for dependent in dependents.get(&parameter).map_or(&[][..], Vec::as_slice) {
            let of = arguments.entry(*dependent).or_default();
            if of.len() <= MAX_ARGUMENTS && of.add(&sources) {
                waiting.push(*dependent);
            }
        }
    }
    arguments.retain(|_, sources| sources.len() <= MAX_ARGUMENTS);
    arguments
}

fn with_arguments(function: FunctionId, sources: &Sources, arguments: &FxHashMap<Parameter, Sources>) -> Sources {
    let mut all = sources.clone();
    for source in sources.iter() {
        if let Some(more) = arguments.get(&(function, source)) {
            all.add(more);
        }
    }
    all
}

/// For each function, the conditions that all its calls stand under; none where others may call it.
fn entry_conditions(
    program: &Program,
    components: &[Vec<FunctionId>],
    functions: &[FunctionSources],
) -> Vec<Conditions> {
    let mut entry: Vec<Option<Conditions>> = vec![None; functions.len()];
    for (id, function) in program.functions.entries() {
        let callable = program.main.is_none() && !matches!(function.kind, FunctionKind::Method { public: false });
        if callable || matches!(function.kind, FunctionKind::Main | FunctionKind::Arm) {
            entry[id.index()] = Some(Conditions::new());
        }
    }
    // Callers first.
    for &caller in components.iter().rev().flatten() {
        let above = entry[caller.index()].clone().unwrap_or_default();
        for Site { callee, block, invocation, .. } in &functions[caller.index()].sites {
            let mut here = Conditions::new();
            if *invocation == Invocation::Call {
                here = functions[caller.index()].conditions_of(program, *block);
                here.extend_from_slice(&above);
                here.truncate(MAX_CONDITIONS);
                here.iter_mut().for_each(|condition| condition.row = None);
            }
            let known = &mut entry[callee.index()];
            match known {
                None => *known = Some(here),
                Some(known) => known.retain(|each| here.iter().any(|other| other.variable == each.variable)),
            }
        }
    }
    entry.into_iter().map(Option::unwrap_or_default).collect()
}

impl FunctionSources {
    /// The conditions in this function that a block stands under.
    fn conditions_of(&self, program: &Program, block: BlockId) -> Conditions {
        let mut found = Conditions::new();
        for branch in self.control.conditions(block) {
            let span = program.functions[self.id].blocks[branch].terminator_span;
            let Some(sources) = self.branches.get(&branch) else { continue };
            found.extend(sources.with_rows().map(|(variable, row)| Condition { variable, row, span }));
        }
        found
    }
}
