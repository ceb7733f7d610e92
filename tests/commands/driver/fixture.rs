//! Programs that are ready to be driven.

use cssame::budget::{Budget, Limits};
use cssame::driver::{Contents, Expect, Input, Options, Package, Target, Wanted, drive};
use cssame::explore::{Query, Verdict, futures, select};
use cssame::form::Selection;
use cssame::model::{self, Model, Unit};
use cssame::schedule::source_hash;
use std::fs;
use std::path::PathBuf;

pub struct Fixture {
    pub model: Model,
    pub options: Options,
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn fixture_of(name: &str, text: &str, expect: Expect) -> Fixture {
    fixture_with(name, text, expect, &model::Options::default())
}

pub fn fixture_with(name: &str, text: &str, expect: Expect, of_model: &model::Options) -> Fixture {
    let model = Model::from_text(name, text, of_model).unwrap();
    let options = Options {
        target: Target::Rust,
        expect,
        file: name.to_owned(),
        hash: source_hash(text),
        inputs: of_model.inputs.clone(),
        semantics: of_model.semantics,
        max_steps: 100_000,
        free: false,
    };
    Fixture { model, options }
}

/// Whether a sample is a program, and no library.
pub fn has_main(name: &str) -> bool {
    let text = fs::read_to_string(root().join(format!("samples/{name}.csm"))).unwrap();
    Unit::from_text(name, &text, &[]).unwrap().program.main.is_some()
}

pub fn sample(name: &str, expect: Expect) -> Fixture {
    let path = format!("samples/{name}.csm");
    let text = fs::read_to_string(root().join(&path)).unwrap();
    fixture_of(&path, &text, expect)
}

impl Fixture {
    pub fn input(&self) -> Input<'_> {
        Input {
            sources: self.model.sources(),
            program: self.model.program(),
            form: self.model.form(),
            machine: self.model.machine(),
        }
    }

    /// The tests of terms alone.
    pub fn drive(&self, limits: &Limits) -> Package {
        self.drive_with(limits, Contents::Terms, false)
    }

    pub fn drive_with(&self, limits: &Limits, contents: Contents, distinct: bool) -> Package {
        let answer = futures(self.model.machine(), &Query::default(), &Budget::from(*limits));
        let wanted = Wanted { answer: &answer, contents, distinct, code: self.input() };
        drive(&self.input(), &wanted, &Budget::from(*limits), &self.options).unwrap()
    }

    /// The selection of `READ=DEF`.
    pub fn selection(&self, read: &str, definition: &str) -> Selection {
        self.model.lookup().selection(&format!("{read}={definition}")).unwrap()
    }

    pub fn select(&self, selections: &[Selection]) -> Verdict {
        select(self.model.machine(), selections, &Budget::unlimited()).verdict
    }
}
