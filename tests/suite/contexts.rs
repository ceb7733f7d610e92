//! Reads and writes in their calling contexts, random programs, against the naive interpreter of `support`.
//!
//! The interpreter knows of each access the thread, the calls and spawns that led there, and the cell. What it sees is held
//! to the program with copies of functions: each pair that happens is a term; what `futures` finds is what happens; the
//! copies do the same steps; and a selection is consistent if all executions together say so.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::support::generate::{self, Rng, Size};
use crate::support::oracle::{Explored, Located, Options, Visible, explore_source};
use crate::support::{possible_model, setting};
use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, SelectAnswer, Subject, Verdict, futures, select, select_by_executions, select_by_states};
use cssame::form::{Selection, definition_in_context, definition_name, read_in_context, read_name};
use cssame::ir::{AccessContext, DefinitionId, LeafId, Program, ReadId};
use cssame::model::Model;
use cssame::vm::{Choice, CodeIndex, Event, Observer, Progress, Tables, ThreadName};
use std::collections::{BTreeMap, BTreeSet};

type Pair = (ReadId, DefinitionId);

/// A program, and the places of its reads and definitions in their contexts.
struct Contexts {
    plain: Model,
    /// With a copy of each function for each context; none where no place has two.
    copies: Option<Model>,
}

impl Contexts {
    fn new(source: &str) -> Option<Contexts> {
        let plain = possible_model(source)?;
        Some(Contexts { copies: plain.in_contexts(), plain })
    }

    fn model(&self) -> &Model {
        self.copies.as_ref().unwrap_or(&self.plain)
    }

    fn read_name(&self, read: ReadId) -> String {
        read_in_context(self.model().sources(), self.model().program(), read)
    }

    fn definition_name(&self, definition: DefinitionId) -> String {
        definition_in_context(self.model().sources(), self.model().program(), definition)
    }

    fn pair_name(&self, pair: &Pair) -> String {
        format!("{}={}", self.read_name(pair.0), self.definition_name(pair.1))
    }

    /// All that the interpreter sees, by all interleavings of what is a step: of the variables that are shared, and of those that
    /// are accessed at a place where in another context a shared one is.
    fn explore(&self, source: &str, max_executions: u64, profiles: bool) -> Result<Explored, String> {
        let (sources, program) = (self.plain.sources(), self.plain.program());
        let sharing = &self.plain.form().concurrency.sharing;
        let name = |leaf| program.texts.get(program.leaves[LeafId::new(leaf)].name).to_owned();
        let mut visible: BTreeSet<String> = sharing.leaves.ones().map(name).collect();
        let reads = program.reads.ids().filter(|&read| sharing.read(read));
        let reads: BTreeSet<String> = reads.map(|read| read_name(sources, program, read)).collect();
        let definitions = program.definitions.ids().filter(|&one| sharing.definition(one));
        let definitions: BTreeSet<String> = definitions.map(|one| definition_name(sources, program, one)).collect();
        loop {
            let options = Options {
                visible: Visible::Named(visible.clone()),
                max_executions,
                futures: false,
                contexts: true,
                profiles,
                ..Options::default()
            };
            let explored = explore_source(source, &options)?;
            let before = visible.len();
            for (read, write, _) in &explored.located {
                if reads.contains(&read.name) || definitions.contains(&write.name) {
                    visible.insert(read.variable.clone());
                }
            }
            if visible.len() == before {
                return Ok(explored);
            }
        }
    }
}

/// The places of the model in contexts by their names in the text.
struct Index<'a> {
    model: &'a Model,
    reads: BTreeMap<String, Vec<ReadId>>,
    definitions: BTreeMap<String, Vec<DefinitionId>>,
    shared: BTreeSet<ReadId>,
}

impl<'a> Index<'a> {
    fn new(model: &'a Model) -> Index<'a> {
        let (sources, program) = (model.sources(), model.program());
        let mut index = Index {
            model,
            reads: BTreeMap::new(),
            definitions: BTreeMap::new(),
            shared: model.form().shared_reads().into_iter().collect(),
        };
        for read in program.reads.ids() {
            index.reads.entry(read_name(sources, program, read)).or_default().push(read);
        }
        for definition in program.definitions.ids() {
            index.definitions.entry(definition_name(sources, program, definition)).or_default().push(definition);
        }
        index
    }

    /// The read that a place in its calls is.
    fn read(&self, at: &Located) -> Result<ReadId, String> {
        let program = self.model.program();
        let context = |read: ReadId| (program.contexts.reads.get(&read), program.texts.get(program.reads[read].name));
        self.only(at, self.reads.get(&at.name), context)
    }

    fn definition(&self, at: &Located) -> Result<DefinitionId, String> {
        let program = self.model.program();
        let of = |one: DefinitionId| {
            (program.contexts.definitions.get(&one), program.texts.get(program.definitions[one].name))
        };
        self.only(at, self.definitions.get(&at.name), of)
    }

    fn only<'p, I: Copy>(
        &'p self,
        at: &Located,
        candidates: Option<&Vec<I>>,
        context: impl Fn(I) -> (Option<&'p AccessContext>, &'p str),
    ) -> Result<I, String> {
        let program = self.model.program();
        let candidates = candidates.map_or(&[][..], Vec::as_slice);
        let calls = |of: &AccessContext| -> Vec<String> {
            of.calls.iter().map(|&call| self.model.sources().position(call).to_string()).collect()
        };
        let fits = |&one: &I| {
            context(one).0.is_none_or(|of| {
                let thread = program.texts.get(of.thread);
                is_thread(thread, &at.thread) && (is_merged(thread) || calls(of) == at.calls)
            })
        };
        let found: Vec<I> = candidates.iter().copied().filter(fits).collect();
        let [one] = found[..] else {
            let listed = candidates.iter().map(|&one| match context(one).0 {
                Some(of) => format!("{} {:?}", program.texts.get(of.thread), calls(of)),
                None => "no context".to_owned(),
            });
            return Err(format!("context: {} are {at:?} of {:?}", found.len(), listed.collect::<Vec<_>>()));
        };
        if let (Some(of), written) = context(one) {
            let named = program.texts.get(of.variable);
            let element = at.element.map(|element| format!("{}[{element}]", at.variable));
            if named != at.variable && Some(named) != element.as_deref() && named != written {
                return Err(format!("object: {at:?} is called {named}"));
            }
        }
        Ok(one)
    }

    /// The pairs that happen, of reads that are shared.
    fn realised(&self, explored: &Explored) -> Result<BTreeSet<Pair>, String> {
        let mut pairs = BTreeSet::new();
        for (read, write, is_step) in &explored.located {
            let pair = (self.read(read)?, self.definition(write)?);
            if *is_step || self.shared.contains(&pair.0) {
                pairs.insert(pair);
            }
        }
        Ok(pairs)
    }

    fn terms(&self) -> BTreeSet<Pair> {
        let form = self.model.form();
        self.shared.iter().flat_map(|&read| form.terms(read).into_iter().map(move |term| (read, term))).collect()
    }
}

/// Where calls are not told apart.
fn is_merged(thread: &str) -> bool {
    thread.is_empty() || thread.starts_with("any thread")
}

/// Whether the path of a thread is that of a context: `#2` is left out there, and the number where it stands for several.
fn is_thread(context: &str, path: &str) -> bool {
    if is_merged(context) {
        return true;
    }
    let (context, path): (Vec<&str>, Vec<&str>) = (context.split('/').collect(), path.split('/').collect());
    let is_part = |(named, part): (&&str, &&str)| {
        let part = part.split('#').next().unwrap_or_default();
        match named.strip_suffix("[*]") {
            Some(named) => part.split('[').next() == Some(named),
            None => *named == part,
        }
    };
    context.len() == path.len() && context.iter().zip(&path).all(is_part)
}

#[derive(Default)]
struct Tally {
    programs: u64,
    with_contexts: u64,
    incomplete: u64,
    exact: u64,
    terms: u64,
    realised: u64,
    pairs: u64,
    pairs_in_contexts: u64,
}

/// What is realised is a term; and of programs that are explored completely, `futures` finds just that.
fn check(source: &str, max_executions: u64, tally: &mut Tally) -> Result<(), String> {
    let Some(contexts) = Contexts::new(source) else { return Ok(()) };
    let model = contexts.model();
    cssame::ir::verify::verify(model.program()).map_err(|violations| format!("verifier: {violations:?}"))?;
    let explored = contexts.explore(source, max_executions, false)?;
    let index = Index::new(model);
    let (realised, terms) = (index.realised(&explored)?, index.terms());
    tally.programs += 1;
    tally.with_contexts += u64::from(contexts.copies.is_some());
    if let Some(pair) = realised.iter().find(|pair| !terms.contains(pair)) {
        return Err(format!("no term: {} happens", contexts.pair_name(pair)));
    }
    let known = |pair: &&Pair| model.program().contexts.reads.contains_key(&pair.0);
    tally.pairs += realised.len() as u64;
    tally.pairs_in_contexts += realised.iter().filter(known).count() as u64;
    if !explored.complete {
        tally.incomplete += 1;
        return Ok(());
    }
    tally.exact += 1;
    tally.terms += terms.len() as u64;
    tally.realised += realised.len() as u64;
    let limits = Limits { max_states: Some(2_000_000), ..Limits::default() };
    let answer = futures(model.machine(), &Query::default(), &Budget::from(limits));
    if !answer.is_complete() {
        return Err("bound: the exploration is not complete".to_owned());
    }
    let feasible = answer.terms.iter().map(|term| (term.read, term.definition));
    let feasible: BTreeSet<Pair> = feasible.filter(|pair| index.shared.contains(&pair.0)).collect();
    let names = |pairs: Vec<&Pair>| pairs.into_iter().map(|pair| contexts.pair_name(pair)).collect::<Vec<_>>();
    if feasible != realised {
        let (missing, extra) = (realised.difference(&feasible).collect(), feasible.difference(&realised).collect());
        return Err(format!("futures: missing {:?}, extra {:?}", names(missing), names(extra)));
    }
    Ok(())
}

/// A program of either kind.
fn program(seed: u64) -> String {
    match seed % 8 {
        0 => generate::program(seed, &Size { threads: 2, operations: 5, globals: 2, structured: true }),
        1 => generate::racy(seed, &Size { threads: 3, operations: 3, globals: 2, structured: true }),
        _ => generate::contexts(seed),
    }
}

/// Runs a law on programs, and shrinks those that break it, one for each kind of mistake.
fn hold(programs: u64, salt: u64, law: &mut dyn FnMut(&str, u64) -> Result<(), String>) {
    let first = setting("CSSAME_LAW_SEED", 1);
    let mut failures: BTreeMap<String, String> = BTreeMap::new();
    let kind = |message: &str| message.split(':').next().unwrap_or_default().to_owned();
    for seed in first..first + programs {
        let source = program(seed ^ salt);
        if let Err(message) = law(&source, seed)
            && !failures.contains_key(&kind(&message))
        {
            let mut fails = |text: &str| law(text, seed).is_err_and(|other| kind(&other) == kind(&message));
            let small = generate::shrink(&source, &mut fails);
            let shrunk = law(&small, seed).err().unwrap_or_default();
            failures.insert(kind(&message), format!("seed {seed}: {shrunk}\n{small}"));
        }
    }
    let text: Vec<&str> = failures.values().map(String::as_str).collect();
    assert!(failures.is_empty(), "{}", text.join("\n"));
}

#[test]
fn what_happens_in_a_context_is_a_term_and_futures_are_exact_there() {
    let programs = setting("CSSAME_LAW_PROGRAMS", 250);
    let mut tally = Tally::default();
    hold(programs, 0, &mut |source, _| check(source, 4_000, &mut tally));
    let Tally { programs: all, with_contexts, incomplete, exact, terms, realised, pairs, pairs_in_contexts } = tally;
    println!("{all} programs, {with_contexts} with contexts, {exact} explored completely, {incomplete} too large");
    println!("{pairs} pairs happen, {pairs_in_contexts} of them in a context; {realised} of {terms} terms");
    assert!(with_contexts * 2 >= programs && exact * 2 >= programs, "{with_contexts} {exact}");
}

/// Names of what an execution reads.
#[derive(Default)]
struct Reads(Vec<Pair>);

impl Observer for Reads {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.0.push((read, definition));
        }
    }
}

/// Runs a model and its copies side by side, by random steps: the same steps are possible, and do the same.
fn side_by_side(contexts: &Contexts, rng: &mut Rng) -> Result<(), String> {
    let Some(copies) = &contexts.copies else { return Ok(()) };
    let models = [&contexts.plain, copies];
    let mut tables = [Tables::new(), Tables::new()];
    let mut reads = [Reads::default(), Reads::default()];
    let mut states = [0, 1].map(|side: usize| models[side].machine().start(&mut tables[side], &mut reads[side]));
    for _ in 0..400 {
        let mut moves = [Vec::new(), Vec::new()];
        let mut names = [Vec::new(), Vec::new()];
        for side in 0..2 {
            let (machine, state) = (models[side].machine(), &states[side]);
            machine.enabled(state, &mut moves[side]);
            let naming = models[side].naming();
            let named = |&choice: &Choice| {
                naming.step(state, &tables[side], choice, machine.alternatives(state, choice.thread))
            };
            names[side] = moves[side].iter().map(named).collect();
        }
        if names[0] != names[1] || moves[0] != moves[1] {
            return Err(format!("steps: {:?} against {:?}", names[0], names[1]));
        }
        if moves[0].is_empty() {
            break;
        }
        let chosen = *rng.pick(&moves[0]);
        let progress = [0, 1].map(|side: usize| {
            models[side].machine().step(&mut states[side], &mut tables[side], chosen, &mut reads[side])
        });
        let told = [0, 1].map(|side: usize| match progress[side] {
            Progress::Failed(failure) => {
                format!(
                    "{:?} {}",
                    failure.kind,
                    models[side].sources().position(models[side].machine().span(failure.at))
                )
            }
            other => format!("{other:?}"),
        });
        if told[0] != told[1] {
            return Err(format!("progress: {} against {}", told[0], told[1]));
        }
        if progress[0] != Progress::Running {
            break;
        }
    }
    let seen = [0, 1].map(|side: usize| {
        let (sources, program) = (models[side].sources(), models[side].program());
        let name = |&(read, of): &Pair| (read_name(sources, program, read), definition_name(sources, program, of));
        reads[side].0.iter().map(name).collect::<Vec<_>>()
    });
    let printed = [0, 1].map(|side: usize| {
        let (machine, tables) = (models[side].machine(), &tables[side]);
        let lines = |&(path, output): &_| (machine.path_name(tables, path), format!("{:?}", tables.lines(output)));
        machine.outputs(&states[side], tables).iter().map(lines).collect::<Vec<_>>()
    });
    if seen[0] != seen[1] {
        return Err(format!("reads: {:?} against {:?}", seen[0], seen[1]));
    }
    if printed[0] != printed[1] { Err(format!("output: {:?} against {:?}", printed[0], printed[1])) } else { Ok(()) }
}

#[test]
fn the_copies_do_the_steps_of_the_program() {
    let programs = setting("CSSAME_LAW_PROGRAMS", 300);
    let mut runs = 0;
    hold(programs, 1 << 40, &mut |source, seed| {
        let Some(contexts) = Contexts::new(source) else { return Ok(()) };
        let mut rng = Rng::new(seed);
        runs += 10 * u64::from(contexts.copies.is_some());
        (0..10).try_for_each(|_| side_by_side(&contexts, &mut rng))
    });
    println!("{runs} executions side by side");
}

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
        let concurrency = Some(&model.form().concurrency);
        let subject = Subject { program: model.program(), concurrency, machine };
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
    let programs = setting("CSSAME_LAW_PROGRAMS", 120);
    let mut tally = Answers::default();
    hold(programs, 2 << 40, &mut |source, seed| select_as_executions_say(source, &mut Rng::new(seed), &mut tally));
    let Answers { selections, consistent, by_executions, by_slice, programs: all } = tally;
    println!("{selections} selections of {all} programs, {consistent} consistent");
    println!("{by_executions} also by executions, {by_slice} also by a slice");
    assert!(all * 3 >= programs, "{all}");
}
