//! CS0501: a correlation that a method accesses in two mutex bodies, while another method may come between (a high-level race).
//!
//! **Input**: a program with a `main`, its CSSAME form, and the [`Analysis`]. **Output**: one warning for each correlation and method.
//!
//! **Algorithm**
//! 1. Consider only high-level races: every access of the method to the two variables, and every access of the other method,
//!    holds one common lock, so that no single access races (CS0401 reports those that race).
//! 2. The two accesses lie in mutex bodies of that lock that are entered at different places. The other method may run in
//!    parallel with both.
//! 3. The other method can tear the pair. If the method writes both variables, the other method accesses both, or writes one of
//!    them or a variable from which both are computed. If the method reads both, the other method writes both. If the method
//!    reads one and writes the other depending on it, the other method writes the one that is read.
//! 4. A private copy of a shared variable that is written back in a later mutex body counts as the variable itself.
//! 5. A method that only calls another one has no finding of its own at the places of that one.
//!
//! **Soundness and limits**: the check is stricter than the rank, which only suggests where to look, but it is no proof: it
//! ignores values, and whether the torn pair is ever used. `cssame futures` shows the actual behaviour.

use super::kind::AccessKind;
use super::locked_access::{Event, Events};
use super::names::Names;
use super::source_variable::SourceVariableId;
use super::text_rows::Relation;
use super::{Analysis, Correlation, MethodAccess, Options, Pattern, analyse};
use cssame_concurrency::lockset::holds_lock;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_form::Form;
use cssame_ir::{FunctionId, Program};
use cssame_source::{SourceMap, Span};
use rustc_hash::FxHashSet;

/// So many findings are enough for one program.
const MAX_FINDINGS: usize = 100;
/// So many touches of each kind are tried.
const MAX_TRIED: usize = 16;

/// A correlation that a method endangers.
#[derive(Clone, Debug)]
pub struct Endangered {
    /// The method.
    pub method: FunctionId,
    /// Index of the correlation in the analysis, with the options that are given by default.
    pub correlation: u32,
    /// Its variables.
    pub variables: [String; 2],
    /// What is said of it.
    pub diagnostic: Diagnostic,
}

/// Warns of endangered correlations. Nothing is said of a file without `main`, where nobody knows what runs in parallel.
#[must_use]
pub fn check(sources: &SourceMap, program: &Program, form: Option<&Form>) -> Vec<Diagnostic> {
    find(sources, program, form).into_iter().map(|found| found.diagnostic).collect()
}

/// The same, with what each warning is about.
#[must_use]
pub fn find(sources: &SourceMap, program: &Program, form: Option<&Form>) -> Vec<Endangered> {
    let Some(form) = form.filter(|form| !form.concurrency.merged) else { return Vec::new() };
    let analysis = analyse(program, Some(&form.concurrency), &Options::default());
    if analysis.pairs.iter().all(|pair| pair.endangered == 0) {
        return Vec::new();
    }
    let wanted = wanted_data(&analysis);
    let events = Events::collect(program, form, &analysis.data, &wanted);
    let names = Names::new(sources, program, &analysis);
    let checker = Checker { sources, program, form, analysis: &analysis, events, names };
    let mut done: FxHashSet<(FunctionId, u32)> = FxHashSet::default();
    let mut found = Vec::new();
    for pair in &analysis.pairs {
        for each in pair.accesses.iter().filter(|each| each.access.endangered) {
            let other = if pair.methods.0 == each.method { pair.methods.1 } else { pair.methods.0 };
            let key = (each.method, each.access.correlation);
            if found.len() < MAX_FINDINGS
                && !done.contains(&key)
                && let Some(diagnostic) = checker.finding(each, other)
            {
                done.insert(key);
                let (method, correlation) = key;
                let (variables, _) = checker.names.variables(&analysis.correlations[correlation as usize]);
                found.push(Endangered { method, correlation, variables, diagnostic });
            }
        }
    }
    of_own_text(program, found)
}

/// Of several methods with one finding at the same places, leaves the one in whose text they stand: the others only call it.
fn of_own_text(program: &Program, found: Vec<Endangered>) -> Vec<Endangered> {
    let places = |of: &Endangered| {
        let labels = of.diagnostic.primary.iter().chain(&of.diagnostic.secondary);
        (of.correlation, labels.map(|label| label.span).collect::<Vec<Span>>())
    };
    let is_own = |of: &Endangered| {
        let mut blocks = program.functions[of.method].blocks.iter();
        of.diagnostic.span().is_some_and(|span| blocks.any(|block| block.spans.contains(&span)))
    };
    let own: FxHashSet<(u32, Vec<Span>)> = found.iter().filter(|of| is_own(of)).map(places).collect();
    found.into_iter().filter(|of| is_own(of) || !own.contains(&places(of))).collect()
}

/// The data of endangered correlations, and what they are computed from.
fn wanted_data(analysis: &Analysis) -> FxHashSet<SourceVariableId> {
    let accesses = analysis.pairs.iter().flat_map(|pair| &pair.accesses);
    let mut indices: Vec<u32> =
        accesses.filter(|each| each.access.endangered).map(|each| each.access.correlation).collect();
    indices.sort_unstable();
    indices.dedup();
    let correlations = indices.iter().map(|&index| &analysis.correlations[index as usize]);
    correlations.flat_map(|of| [of.data.0, of.data.1].into_iter().chain(of.common.iter().copied())).collect()
}

struct Checker<'a> {
    sources: &'a SourceMap,
    program: &'a Program,
    form: &'a Form,
    analysis: &'a Analysis,
    events: Events<'a>,
    names: Names<'a>,
}

/// Two touches of a method, and what may come between.
struct Tear<'a> {
    first: &'a Event,
    second: &'a Event,
    lock: cssame_concurrency::LocationId,
    /// Where the lock is taken for each of them.
    taken: (Span, Span),
    interfering: Vec<&'a Event>,
    /// The variable that the other method writes, where it is neither of the two.
    through: Option<SourceVariableId>,
}

impl Checker<'_> {
    fn finding(&self, each: &MethodAccess, other: FunctionId) -> Option<Diagnostic> {
        let correlation = &self.analysis.correlations[each.access.correlation as usize];
        let (a, b) = correlation.data;
        let data = &self.analysis.data;
        let sides = match (data.is_shared(a), data.is_shared(b)) {
            (true, true) => [(a, each.access.kinds.0), (b, each.access.kinds.1)],
            // A private copy stands for its variable, read first and written back later.
            (true, false) if self.is_copied(correlation, each) => [(a, AccessKind::Read), (a, AccessKind::Write)],
            (false, true) if self.is_copied(correlation, each) => [(b, AccessKind::Read), (b, AccessKind::Write)],
            _ => return None,
        };
        let tear = self.tear(correlation, sides, each.method, other)?;
        Some(self.report(correlation, each.method, other, &tear))
    }

    /// Whether the access is the write of a private copy, and of the variable that it is copied from and back to.
    fn is_copied(&self, correlation: &Correlation, each: &MethodAccess) -> bool {
        correlation.mutual && each.access.kinds == (AccessKind::Write, AccessKind::Write)
    }

    /// The first two touches that the other method can tear apart.
    fn tear(
        &self,
        correlation: &Correlation,
        [first, second]: [(SourceVariableId, AccessKind); 2],
        method: FunctionId,
        other: FunctionId,
    ) -> Option<Tear<'_>> {
        let copied = first.0 == second.0;
        let all = |variable: SourceVariableId, of: FunctionId| {
            self.events.of(variable).filter(move |event| event.runs_in(of))
        };
        let lock = {
            let own = all(first.0, method).chain(all(second.0, method));
            let others = all(first.0, other).chain(all(second.0, other));
            self.events.common_lock(own.chain(others))?
        };
        let touches = |(variable, kind): (SourceVariableId, AccessKind)| {
            all(variable, method).filter(move |event| event.kinds & kind.bit() != 0).take(MAX_TRIED)
        };
        let mut pairs: Vec<(&Event, &Event)> = Vec::new();
        for a in touches(first) {
            pairs.extend(touches(second).filter(|b| b.activation(method) == a.activation(method)).map(|b| (a, b)));
        }
        self.sort_by_row(correlation, &mut pairs);
        for (a, b) in pairs {
            let (Some(one), Some(two)) = (self.events.acquired_at(a, lock), self.events.acquired_at(b, lock)) else {
                continue;
            };
            if one == two || copied && !self.events.follows(a, b) {
                continue;
            }
            let swapped = !copied && self.events.follows(b, a) && !self.events.follows(a, b);
            let (a, b, one, two) = if swapped { (b, a, two, one) } else { (a, b, one, two) };
            let read_anew = |read: &Event| read.kinds & 1 != 0 && self.events.acquired_at(read, lock) == Some(two);
            if copied && all(first.0, method).any(read_anew) {
                continue;
            }
            if let Some((interfering, through)) = self.interfering(correlation, (first, second), (a, b), other, lock) {
                return Some(Tear { first: a, second: b, lock, taken: (one, two), interfering, through });
            }
        }
        None
    }

    /// Of variables that belong together by row, those touches come first that are certainly in one; those that never are do not
    /// count.
    fn sort_by_row(&self, correlation: &Correlation, pairs: &mut Vec<(&Event, &Event)>) {
        if correlation.row.is_none() {
            return;
        }
        let relation = |pair: &(&Event, &Event)| self.analysis.rows.relation(pair.0.access, pair.1.access);
        pairs.retain(|pair| relation(pair) != Relation::Apart);
        pairs.sort_by_key(relation);
    }

    /// What the other method does that can tear the two touches apart.
    fn interfering(
        &self,
        correlation: &Correlation,
        (first, second): ((SourceVariableId, AccessKind), (SourceVariableId, AccessKind)),
        (a, b): (&Event, &Event),
        other: FunctionId,
        lock: cssame_concurrency::LocationId,
    ) -> Option<(Vec<&Event>, Option<SourceVariableId>)> {
        let parallel = |event: &&Event| {
            event.runs_in(other)
                && (self.form.concurrency.parallel(event.block, a.block)
                    || self.form.concurrency.parallel(event.block, b.block))
        };
        let touch = |variable: SourceVariableId, kinds: u8, near: Option<&Event>| {
            self.events
                .of(variable)
                .filter(parallel)
                .find(|event| event.kinds & kinds != 0 && near.is_none_or(|near| self.events.overlap(event, near)))
        };
        let (near_first, near_second) = if a.variable == first.0 { (a, b) } else { (b, a) };
        let (write, any) = (AccessKind::Write.bit(), 3);
        match (first.1, second.1) {
            (AccessKind::Write, AccessKind::Write) => {
                if let (Some(one), Some(two)) =
                    (touch(first.0, any, Some(near_first)), touch(second.0, any, Some(near_second)))
                {
                    return Some((vec![one, two], None));
                }
                let writes = touch(first.0, write, Some(near_first)).or(touch(second.0, write, Some(near_second)));
                if let Some(event) = writes {
                    return Some((vec![event], None));
                }
                let through =
                    correlation.common.iter().find_map(|&variable| Some((variable, touch(variable, write, None)?)));
                let (variable, event) = through.filter(|(_, event)| holds_lock(&event.locks, lock))?;
                Some((vec![event], Some(variable)))
            }
            (AccessKind::Read, AccessKind::Read) => {
                let one = touch(first.0, write, Some(near_first))?;
                Some((vec![one, touch(second.0, write, Some(near_second))?], None))
            }
            (AccessKind::Read, AccessKind::Write) if first.0 == second.0 || correlation.depends(second.0) => {
                (a.variable == first.0).then_some(())?;
                Some((vec![touch(first.0, write, Some(near_first))?], None))
            }
            (AccessKind::Write, AccessKind::Read) if correlation.depends(first.0) => {
                (a.variable == second.0).then_some(())?;
                Some((vec![touch(second.0, write, Some(near_second))?], None))
            }
            _ => None,
        }
    }

    fn report(&self, correlation: &Correlation, method: FunctionId, other: FunctionId, tear: &Tear<'_>) -> Diagnostic {
        let lock_leaf = self.form.concurrency.locations[tear.lock].leaf;
        let lock = self.program.texts.get(self.program.leaves[lock_leaf].name);
        let ([one, two], _) = self.names.variables(correlation);
        let (method, other) = (self.names.method(method), self.names.method(other));
        let message = format!("`{one}` and `{two}` belong together, but `{method}` frees `{lock}` between them");
        let says = |event: &Event, region: &str| {
            let name = self.names.side(correlation, event.variable);
            format!("{name} {} under `{lock}`, {region}", event.done())
        };
        let mut diagnostic = Diagnostic::warning(
            Code::EndangeredCorrelation,
            tear.second.span,
            message,
            says(tear.second, "taken again"),
        )
        .with_label(tear.first.span, says(tear.first, "which is then freed"));
        let mut shown = vec![tear.first.span, tear.second.span];
        for event in &tear.interfering {
            if !shown.contains(&event.span) {
                shown.push(event.span);
                let name = self.names.variable(event.variable);
                let label = format!("`{other}` may come between: {name} {} under `{lock}`", event.done());
                diagnostic = diagnostic.with_label(event.span, label);
            }
        }
        diagnostic = diagnostic.with_note(self.tie(correlation));
        if let Some(variable) = tear.through {
            let name = self.names.variable(variable);
            diagnostic = diagnostic.with_note(format!("both are computed from `{name}`, which `{other}` writes"));
        }
        let line = |span: Span| self.sources.line(span);
        diagnostic.with_help(format!(
            "hold `{lock}` from line {} until after line {}, and do not take it again at line {}",
            line(tear.taken.0),
            line(tear.second.span),
            line(tear.taken.1)
        ))
    }

    /// Which pattern ties the two, and where.
    fn tie(&self, correlation: &Correlation) -> String {
        let pattern = correlation.patterns.first().map_or("", |pattern: &Pattern| pattern.word());
        let places = correlation.evidence.first().map(|evidence| {
            let place = |span| self.sources.place(span);
            let with = evidence.other.map_or_else(String::new, |other| format!(" with {}", place(other)));
            format!(" at {}{with}", place(evidence.write))
        });
        let probability = 100.0 * correlation.probability();
        format!("tied by a {pattern} pattern{}, probability {probability:.0} %", places.unwrap_or_default())
    }
}
