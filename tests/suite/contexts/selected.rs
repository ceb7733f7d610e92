//! Random selections, of one context or of all, against all executions of the naive interpreter.

use super::hold;
use super::places::{Contexts, Index, Pair};
use cssame::budget::Limits;
use cssame::explore::{SelectAnswer, Subject, Verdict, select, select_by_executions, select_by_states};
use cssame::form::Selection;
use cssame::ir::{DefinitionId, Program, ReadId};
use std::collections::BTreeMap;
use support::generate::Rng;
use support::programs;

/// What each execution reads, by thread.
type Profile = Vec<(String, ReadId, DefinitionId)>;

/// How a selection stands in an execution.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Never,
    Satisfied,
    Missed,
}

/// The rule of docs/commands/futures.md for one selection.
fn standing(profile: &Profile, selection: &Selection) -> Standing {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut standing = Standing::Never;
    for (thread, _, definition) in profile.iter().filter(|of| selection.reads.contains(&of.1)) {
        let count = counts.entry(thread).or_default();
        *count += 1;
        if selection.instance.is_some_and(|wanted| wanted != *count) {
            continue;
        }
        if !selection.definitions.contains(definition) {
            return Standing::Missed;
        }
        standing = Standing::Satisfied;
    }
    standing
}

/// How many selections an execution satisfies, if it agrees with them.
fn agreement<'a>(profile: &Profile, selections: impl IntoIterator<Item = &'a Selection>) -> Option<usize> {
    let mut satisfied = 0;
    for selection in selections {
        match standing(profile, selection) {
            Standing::Missed => return None,
            Standing::Satisfied => satisfied += 1,
            Standing::Never => {}
        }
    }
    (satisfied > 0).then_some(satisfied)
}

/// Reads or definitions of the place of one, in all its contexts, or that one alone.
fn widened<I: Copy>(one: I, all: bool, ids: impl Iterator<Item = I>, is_same: impl Fn(I) -> bool) -> Vec<I> {
    if all { ids.filter(|&other| is_same(other)).collect() } else { vec![one] }
}

fn random_selection(program: &Program, terms: &[Pair], rng: &mut Rng) -> Selection {
    let (read, mut definition) = *rng.pick(terms);
    if rng.chance(15) {
        definition = rng.pick(terms).1;
    }
    let of = |read: ReadId| (program.reads[read].span, program.reads[read].symbol);
    let at = |one: DefinitionId| (program.definitions[one].span, program.definitions[one].symbol);
    let reads = widened(read, rng.chance(40), program.reads.ids(), |other| of(other) == of(read));
    let (ids, same) = (program.definitions.ids(), |other| at(other) == at(definition));
    let definitions = widened(definition, rng.chance(40), ids, same);
    Selection { reads, instance: rng.chance(25).then(|| 1 + rng.below(2) as u32), definitions }
}

/// Holds an answer to all executions.
fn judge(answer: &SelectAnswer, selections: &[Selection], profiles: &[Profile]) -> Result<(), String> {
    let best = profiles.iter().filter_map(|profile| agreement(profile, selections)).max();
    match (&answer.verdict, best) {
        (Verdict::Consistent { satisfied, .. }, Some(best)) => {
            let count = satisfied.iter().filter(|&&one| one).count();
            if count == best { Ok(()) } else { Err(format!("{count} are satisfied, {best} could be")) }
        }
        (Verdict::Inconsistent { core }, None) => {
            let holds = |part: &[usize]| {
                let part: Vec<&Selection> = part.iter().map(|&one| &selections[one]).collect();
                profiles.iter().any(|profile| agreement(profile, part.iter().copied()).is_some())
            };
            let without = |one: usize| core.iter().copied().filter(|&other| other != one).collect::<Vec<_>>();
            let is_smallest = core.len() == 1 || core.iter().all(|&one| holds(&without(one)));
            if holds(core) || !is_smallest { Err(format!("the core is {core:?}")) } else { Ok(()) }
        }
        (Verdict::Undecided, _) => Err(format!("undecided {:?}", answer.bound)),
        (verdict, best) => Err(format!("{verdict:?}, but {best:?} can be satisfied")),
    }
}

#[derive(Default)]
struct Answers {
    selections: u64,
    consistent: u64,
    by_executions: u64,
    by_slice: u64,
    programs: u64,
}

/// Random selections of a program.
fn select_as_executions_say(source: &str, rng: &mut Rng, tally: &mut Answers) -> Result<(), String> {
    let Some(contexts) = Contexts::new(source) else { return Ok(()) };
    let explored = contexts.explore(source, 1_500, true)?;
    if !explored.complete {
        return Ok(());
    }
    let model = contexts.model();
    let index = Index::new(model);
    let terms: Vec<Pair> = index.terms().into_iter().collect();
    if terms.is_empty() {
        return Ok(());
    }
    let mut profiles: Vec<Profile> = Vec::new();
    for readings in &explored.profiles {
        let mut profile = Profile::new();
        for (thread, read, write) in readings {
            profile.push((thread.clone(), index.read(read)?, index.definition(write)?));
        }
        profiles.push(profile);
    }
    tally.programs += 1;
    let limits = Limits::default();
    for _ in 0..6 {
        let count = 1 + rng.below(2);
        let selections: Vec<Selection> = (0..count).map(|_| random_selection(model.program(), &terms, rng)).collect();
        let question = |way: &str, problem: String| {
            let names = |one: &Selection| {
                let reads: Vec<String> = one.reads.iter().map(|&read| contexts.read_name(read)).collect();
                let of: Vec<String> = one.definitions.iter().map(|&of| contexts.definition_name(of)).collect();
                format!("{} #{:?} = {}", reads.join(","), one.instance, of.join(","))
            };
            let all: Vec<String> = selections.iter().map(names).collect();
            format!("select {way}: {problem} ({})", all.join("; "))
        };
        let machine = model.machine();
        let by_states = select_by_states(machine, &selections, &limits.into());
        judge(&by_states, &selections, &profiles).map_err(|problem| question("by states", problem))?;
        tally.selections += 1;
        tally.consistent += u64::from(matches!(by_states.verdict, Verdict::Consistent { .. }));
        if let Ok(found) = select_by_executions(machine, &selections, &limits.into()) {
            tally.by_executions += 1;
            judge(&found, &selections, &profiles).map_err(|problem| question("by executions", problem))?;
        }
        let found = select(machine, &selections, &limits.into());
        judge(&found, &selections, &profiles).map_err(|problem| question("by either", problem))?;
        let form = Some(model.form());
        let subject = Subject { program: model.program(), form, machine };
        let found = subject.select(&selections, &limits.into());
        judge(&found, &selections, &profiles).map_err(|problem| question("as cheaply as can be", problem))?;
        if let Ok(found) = subject.select_by_slice(&selections, &limits.into()) {
            tally.by_slice += 1;
            judge(&found, &selections, &profiles).map_err(|problem| question("by a slice", problem))?;
        }
    }
    Ok(())
}

#[test]
fn selections_are_decided_as_all_executions_say() {
    let programs = programs(30);
    let mut tally = Answers::default();
    hold(programs, 2 << 40, &mut |source, seed| select_as_executions_say(source, &mut Rng::new(seed), &mut tally));
    let Answers { selections, consistent, by_executions, by_slice, programs: all } = tally;
    println!("{selections} selections of {all} programs, {consistent} consistent");
    println!("{by_executions} also by executions, {by_slice} also by a slice");
    assert!(support::has_new_seed() || all * 3 >= programs, "{all}");
}
