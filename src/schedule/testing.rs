//! Builds programs from source text, for the tests of this layer.

use super::{Decision, Policy, View, run};
use cssame_front::compile;
use cssame_ir::{DefinitionKind, Program};
use cssame_source::SourceMap;
use cssame_vm::{Choice, Machine, Move, Visibility};
use std::path::{Path, PathBuf};

/// A program in which every access is a step; `None` where the text has errors.
pub(super) fn compiled(text: &str) -> Option<(Program, Machine)> {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let program = compile(&sources, file, &[]).program?;
    let machine = Machine::new(&program, &Visibility::all(&program));
    Some((program, machine))
}

/// All samples that compile alone, with their paths.
pub(super) fn samples() -> Vec<(PathBuf, Machine)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let machine = |path: PathBuf| {
        let (_, machine) = compiled(&std::fs::read_to_string(&path).unwrap())?;
        Some((path, machine))
    };
    paths.into_iter().filter_map(machine).collect()
}

/// Lets the thread in the first slot that can move do so.
pub(super) struct First;

impl Policy for First {
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Decision {
        Decision::Step(Choice { thread: moves[0].thread, alternative: 0 })
    }
}

/// Lets the thread in the last slot that can move do so.
pub(super) struct Last;

impl Policy for Last {
    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Decision {
        Decision::Step(Choice { thread: moves[moves.len() - 1].thread, alternative: 0 })
    }
}

/// The share of executions, by so many seeds, that end in that way.
pub(super) fn share<P: Policy>(machine: &Machine, status: &str, seeds: u64, policy: impl Fn(u64) -> P) -> f64 {
    let ends = |seed: &u64| run(machine, &mut policy(*seed), 10_000, &mut ()).status.word() == status;
    (0..seeds).filter(ends).count() as f64 / seeds as f64
}

/// Whether a share of so many executions is within four standard deviations of a probability.
#[track_caller]
pub(super) fn assert_close(share: f64, probability: f64, executions: u64) {
    let deviation = (probability * (1.0 - probability) / executions as f64).sqrt();
    assert!((share - probability).abs() <= 4.0 * deviation, "{share} is far from {probability}");
}

/// The accesses to variables of these names, but for initial definitions.
pub(super) fn accesses_to(program: &Program, names: &[&str]) -> Visibility {
    let mut accesses = Visibility::none(program);
    for id in program.reads.ids() {
        let is_named = names.contains(&program.texts.get(program.reads[id].name));
        accesses.reads.set(id.index(), is_named);
    }
    for id in program.definitions.ids() {
        let definition = &program.definitions[id];
        let is_initial = matches!(definition.kind, DefinitionKind::Initial(_));
        let is_named = names.contains(&program.texts.get(definition.name));
        accesses.definitions.set(id.index(), is_named && !is_initial);
    }
    accesses
}

/// One thread writes `fillers` variables and then asserts that x is 1, which the other one writes at once.
pub(super) fn late_assertion(fillers: usize) -> (Program, Machine) {
    let work: String = (0..fillers).map(|filler| format!("f[{filler}] = 1; ")).collect();
    let text = format!("int x; int f[{}]; cobegin A: {{ {work}assert(x == 1); }} B: x = 1; coend", fillers.max(1));
    compiled(&text).unwrap()
}
