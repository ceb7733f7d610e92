//! Programs from source text, for the tests of this layer.

use super::{Decision, Policy, View};
use crate::front::compile;
use crate::ir::Program;
use crate::source::SourceMap;
use crate::vm::{Choice, Machine, Move, Visibility};
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
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
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
