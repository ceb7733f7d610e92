//! Programs that are ready to be driven.

use cssame::budget::{Budget, Limits};
use cssame::driver::{Expect, Input, Options, Package, drive};
use cssame::explore::{Query, Verdict, futures, select};
use cssame::form::Selection;
use cssame::form::{Form, analyse};
use cssame::front::compile;
use cssame::ir::Program;
use cssame::schedule::source_hash;
use cssame::source::SourceMap;
use cssame::vm::{self, Machine, Visibility};
use std::fs;
use std::path::PathBuf;

pub struct Fixture {
    pub sources: SourceMap,
    pub program: Program,
    pub form: Form,
    pub machine: Machine,
    pub options: Options,
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn fixture_of(name: &str, text: &str, expect: Expect) -> Fixture {
    fixture_with(name, text, expect, vm::Options::default())
}

pub fn fixture_with(name: &str, text: &str, expect: Expect, machine: vm::Options) -> Fixture {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let compiled = compile(&sources, file, &[]);
    let program = compiled.program.unwrap_or_else(|| panic!("{name}: {:?}", compiled.diagnostics));
    let form = analyse(&program).unwrap();
    let sharing = &form.concurrency.sharing;
    let visible = Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() };
    let machine = Machine::with_options(&program, &visible, machine);
    let options = Options {
        expect,
        file: name.to_owned(),
        hash: source_hash(text),
        inputs: Vec::new(),
        max_steps: 100_000,
        free: false,
    };
    Fixture { sources, program, form, machine, options }
}

/// Whether a sample is a program, and no library.
pub fn has_main(name: &str) -> bool {
    let mut sources = SourceMap::default();
    let text = fs::read_to_string(root().join(format!("samples/{name}.csm"))).unwrap();
    let file = sources.add(name, &text);
    compile(&sources, file, &[]).program.unwrap().main.is_some()
}

pub fn sample(name: &str, expect: Expect) -> Fixture {
    let path = format!("samples/{name}.csm");
    let text = fs::read_to_string(root().join(&path)).unwrap();
    fixture_of(&path, &text, expect)
}

impl Fixture {
    pub fn input(&self) -> Input<'_> {
        Input { sources: &self.sources, program: &self.program, form: &self.form, machine: &self.machine }
    }

    pub fn drive(&self, limits: &Limits) -> Package {
        let answer = futures(&self.machine, &Query::default(), &Budget::from(*limits));
        drive(&self.input(), &answer, &self.options).unwrap()
    }

    /// The selection of `READ=DEF`.
    pub fn selection(&self, read: &str, definition: &str) -> Selection {
        let (program, sources) = (&self.program, &self.sources);
        let reads = program.reads.ids().find(|&id| cssame::form::read_name(sources, program, id) == read);
        let definitions =
            program.definitions.ids().find(|&id| cssame::form::definition_name(sources, program, id) == definition);
        Selection { read: reads.unwrap(), instance: None, definition: definitions.unwrap() }
    }

    pub fn select(&self, selections: &[Selection]) -> Verdict {
        select(&self.machine, selections, &Budget::unlimited()).verdict
    }
}
