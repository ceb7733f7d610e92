//! Every pair of terms of two pi functions, on every sample: `select` against all executions.
//!
//! What the executions of a sample are is told by the naive explorer of `support`, which shares nothing with the analyser but
//! the parser. Samples with more executions than it can run are left to a search of this file through pairs of a state of
//! the machine and the terms that were read so far; it shares the machine with `select`, but neither engine nor rule. No sample
//! and no pair is left out.

use cssame::budget::Limits;
use cssame::explore::{SelectAnswer, Subject, Verdict, select, select_by_executions, select_by_states};
use cssame::form::Selection;
use cssame::form::contradiction::{Explanation, explain};
use cssame::form::{definition_name, read_name};
use cssame::ir::{DefinitionId, LeafId, ReadId};
use cssame::model::Model;
use cssame::vm::{self, Choice, CodeIndex, Encoding, Event, Observer, State, Tables, ThreadName};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use support::oracle::{Options, Visible, explore_source};
use support::{self, possible_model};

/// Executions of a sample that the naive explorer runs.
const EXECUTIONS: u64 = 60_000;

/// Pairs of states and terms that the search of this file visits.
const VISITS: usize = 60_000;

type Pair = (ReadId, DefinitionId);

struct Sample {
    name: String,
    model: Model,
}

/// All samples but the libraries.
fn samples() -> Vec<Sample> {
    let model = |(name, text): (String, String)| Some(Sample { name, model: possible_model(&text)? });
    support::samples().into_iter().filter_map(model).collect()
}

/// What complete executions read: each set of pairs that some execution has.
type Executions = BTreeSet<BTreeSet<Pair>>;

impl Sample {
    /// The executions by the naive explorer, if they are not too many.
    fn by_oracle(&self) -> Option<Executions> {
        let leaves = self.model.form().concurrency.sharing.leaves.ones();
        let name =
            |leaf| self.model.program().texts.get(self.model.program().leaves[LeafId::new(leaf)].name).to_owned();
        let visible = Visible::Named(leaves.map(name).collect());
        let options = Options { visible, max_executions: EXECUTIONS, max_steps: 300, ..Options::default() };
        let explored = explore_source(self.model.unit().text(), &options).unwrap();
        if !explored.complete {
            return None;
        }
        let reads: BTreeMap<String, ReadId> = self
            .model
            .program()
            .reads
            .ids()
            .map(|id| (read_name(self.model.sources(), self.model.program(), id), id))
            .collect();
        let definitions: BTreeMap<String, DefinitionId> = self
            .model
            .program()
            .definitions
            .ids()
            .map(|id| (definition_name(self.model.sources(), self.model.program(), id), id))
            .collect();
        let pairs = |future: &support::oracle::Future| {
            future.reads.iter().map(|of| (reads[&of.read], definitions[&of.def])).collect::<BTreeSet<Pair>>()
        };
        Some(explored.futures.iter().map(pairs).collect())
    }

    /// The executions by a search through states, each with the pairs that were read on the way.
    fn by_search(&self) -> Option<Executions> {
        let mut found = Executions::new();
        let mut seen: HashSet<(Vec<u64>, BTreeSet<Pair>)> = HashSet::new();
        let mut tables = Tables::new();
        let mut reads = Reads::default();
        let state = self.model.machine().start(&mut tables, &mut reads);
        let mut waiting: Vec<(State, BTreeSet<Pair>)> = vec![(state, reads.0)];
        let (mut encoding, mut choices) = (Encoding::default(), Vec::new());
        while let Some((state, pairs)) = waiting.pop() {
            self.model.machine().encode(&state, &mut encoding);
            if !seen.insert((encoding.words().to_vec(), pairs.clone())) {
                continue;
            }
            if seen.len() > VISITS {
                return None;
            }
            self.model.machine().enabled(&state, &mut choices);
            if choices.is_empty() {
                found.insert(pairs);
                continue;
            }
            for &choice in &choices {
                self.step(&state, &pairs, choice, (&mut tables, &mut waiting, &mut found));
            }
        }
        Some(found)
    }

    fn step(
        &self,
        state: &State,
        pairs: &BTreeSet<Pair>,
        choice: Choice,
        (tables, waiting, found): (&mut Tables, &mut Vec<(State, BTreeSet<Pair>)>, &mut Executions),
    ) {
        let (mut next, mut reads) = (state.clone(), Reads(pairs.clone()));
        match self.model.machine().step(&mut next, tables, choice, &mut reads) {
            vm::Progress::Running => waiting.push((next, reads.0)),
            vm::Progress::Finished | vm::Progress::Failed(_) => {
                found.insert(reads.0);
            }
            vm::Progress::Discarded => {}
        }
    }

    /// The pairs of terms of two pi functions.
    fn selections(&self) -> Vec<[Selection; 2]> {
        let pis: Vec<Vec<Selection>> = self
            .model
            .form()
            .shared_reads()
            .into_iter()
            .map(|read| {
                let select = |definition| Selection::of(read, definition);
                self.model.form().terms(read).into_iter().map(select).collect()
            })
            .filter(|terms: &Vec<Selection>| terms.len() > 1)
            .collect();
        let mut all = Vec::new();
        for (index, pi) in pis.iter().enumerate() {
            for other in &pis[index + 1..] {
                all.extend(pi.iter().flat_map(|one| other.iter().map(|two| [one.clone(), two.clone()])));
            }
        }
        all
    }
}

/// The pairs that an execution has read.
#[derive(Clone, Default)]
struct Reads(BTreeSet<Pair>);

impl Observer for Reads {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.0.insert((read, definition));
        }
    }
}

/// The rule of docs/commands/futures.md: in some execution every evaluation of each selected read reads from its write, and
/// one at least is evaluated.
fn is_consistent(executions: &Executions, selections: &[Selection]) -> bool {
    executions.iter().any(|pairs| {
        let mut evaluated = pairs
            .iter()
            .flat_map(|pair| selections.iter().filter(|one| one.selects(pair.0)).map(|one| one.accepts(Some(pair.1))));
        let first = evaluated.next();
        first == Some(true) && evaluated.all(|holds| holds)
    })
}

fn verdict(answer: &SelectAnswer) -> bool {
    match answer.verdict {
        Verdict::Consistent { .. } => true,
        Verdict::Inconsistent { .. } => false,
        Verdict::Undecided => panic!("undecided: {:?}", answer.bound),
    }
}

#[derive(Default)]
struct Tally {
    samples: u32,
    by_search: Vec<String>,
    by_executions: u32,
    sliced: u32,
    decided: [u32; 2],
    explained: u32,
}

/// Holds the answers on one sample to what its executions are.
fn compare(sample: &Sample, tally: &mut Tally) {
    let all = sample.selections();
    if all.is_empty() {
        return;
    }
    let executions = sample.by_oracle().or_else(|| {
        tally.by_search.push(sample.name.clone());
        sample.by_search()
    });
    let executions = executions.unwrap_or_else(|| panic!("{}: too many states and terms", sample.name));
    tally.samples += 1;
    let limits = Limits::default();
    for selections in &all {
        let expected = is_consistent(&executions, selections);
        let name = |one: &Selection| {
            let of = |definition| definition_name(sample.model.sources(), sample.model.program(), definition);
            format!(
                "{}={}",
                read_name(sample.model.sources(), sample.model.program(), one.read()),
                of(one.definition())
            )
        };
        let question = || format!("{}: {}, {}", sample.name, name(&selections[0]), name(&selections[1]));
        tally.decided[usize::from(expected)] += 1;
        let states = select_by_states(sample.model.machine(), selections, &limits.into());
        assert_eq!(verdict(&states), expected, "by states, {}", question());
        if let Ok(found) = select_by_executions(sample.model.machine(), selections, &limits.into()) {
            tally.by_executions += 1;
            assert_eq!(verdict(&found), expected, "by executions, {}", question());
        }
        let either = select(sample.model.machine(), selections, &limits.into());
        assert_eq!(verdict(&either), expected, "{}", question());
        let subject = Subject::from(&sample.model);
        let cheapest = subject.select(selections, &limits.into());
        assert_eq!(verdict(&cheapest), expected, "by slices, {}", question());
        tally.sliced += u32::from(subject.select_by_slice(selections, &limits.into()).is_ok());
        let has_both =
            |pairs: &BTreeSet<Pair>| selections.iter().all(|one| pairs.contains(&(one.read(), one.definition())));
        match explain(sample.model.program(), sample.model.form(), selections) {
            Explanation::None(_) => {}
            _ => {
                assert!(!executions.iter().any(has_both), "a cycle forbids what happens: {}", question());
                tally.explained += u32::from(!expected);
            }
        }
    }
}

#[test]
fn every_pair_of_terms_is_decided_as_all_executions_say() {
    let mut tally = Tally::default();
    let samples = support::part(samples(), 6);
    let asked = samples.len() as u32;
    for sample in samples {
        compare(&sample, &mut tally);
    }
    println!("{} samples; consistent: {}, not: {}", tally.samples, tally.decided[1], tally.decided[0]);
    println!("also by executions: {} pairs", tally.by_executions);
    println!("also in a slice: {} pairs", tally.sliced);
    println!("too many interleavings for the naive explorer: {}", tally.by_search.join(", "));
    println!("explained by a cycle or by branches: {}", tally.explained);
    assert!(tally.samples * 3 >= asked && tally.decided.iter().all(|&count| count > asked), "{:?}", tally.decided);
}
