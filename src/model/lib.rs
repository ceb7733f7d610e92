//! One program made ready to be asked.
//!
//! **Input**: the name and the text of a file, and the [`Options`] that its executions depend on.
//!
//! **Output**: a [`Model`]: the text, the parallel flow graph, its CSSAME form and the machine that executes it; or the
//! [`Diagnostics`] that say why there is none. A [`Unit`] is the part that a program without `main` has too: its text and
//! its flow graph.
//!
//! Nothing here reads or writes a file.
//!
//! ```
//! use cssame_model::{Model, Options};
//!
//! let text = "int x; cobegin A: x = 1; B: print(x); coend";
//! let model = Model::from_text("race.csm", text, &Options::default())?;
//! let selection = model.lookup().selection("x@1:35=x@1:19")?;
//! assert_eq!(model.form().terms(selection.read()).len(), 2);
//!
//! let problem = Model::from_text("slip.csm", "int x; y = 1;", &Options::default()).unwrap_err();
//! assert_eq!(problem.list[0].code.number(), "CS0201");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod lookup;
mod options;
mod unit;
mod unreached;

pub use lookup::Lookup;
pub use options::{Inputs, Options};
pub use unit::{NoMain, Unit};

use cssame_concurrency::specialise::{Specialised, specialise};
use cssame_diagnostics::Diagnostics;
use cssame_form as form;
use cssame_form::Form;
use cssame_ir::Program;
use cssame_schedule::{Naming, Replay, Schedule, Step};
use cssame_source::SourceMap;
use cssame_vm as vm;
use cssame_vm::{Machine, Visibility, interchangeable_bodies};
use std::borrow::Cow;

/// The program of a unit in its CSSAME form, in which reads and definitions are places in their calling contexts; iterations of
/// a `parfor` that are interchangeable are one context. None without a `main`.
#[must_use]
pub fn form_in_contexts(program: &Program) -> Option<(Cow<'_, Program>, Form)> {
    match specialise(program, &interchangeable_bodies(program)) {
        Some(copies) => {
            let form = form::analyse_copies(&copies)?;
            Some((Cow::Owned(copies.program), form))
        }
        None => Some((Cow::Borrowed(program), form::analyse(program)?)),
    }
}

/// A program with a `main`, what is known of it without running it, and its machine.
#[derive(Debug)]
pub struct Model {
    unit: Unit,
    form: Form,
    machine: Machine,
    options: Options,
}

impl Model {
    /// Compiles and analyses a program. `name` is how the file is called in all answers.
    ///
    /// # Errors
    ///
    /// The program does not compile, or has no `main`.
    pub fn from_text(name: &str, text: &str, options: &Options) -> Result<Model, Diagnostics> {
        Ok(Model::new(Unit::from_text(name, text, &options.inputs)?, options.clone())?)
    }

    /// Analyses a program that was compiled with the inputs of these options.
    ///
    /// # Errors
    ///
    /// It has no `main`. The unit is handed back.
    pub fn new(unit: Unit, options: Options) -> Result<Model, NoMain> {
        let Some(form) = form::analyse(&unit.program) else { return Err(NoMain(unit)) };
        let sharing = &form.concurrency.sharing;
        let visible = Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() };
        let of_machine = vm::Options { semantics: options.semantics, ..vm::Options::default() };
        let machine = Machine::with_options(&unit.program, &visible, of_machine);
        Ok(Model { unit, form, machine, options })
    }

    /// The same program with a copy of each function for each of its calling contexts: its reads and definitions are places in
    /// their contexts. It does the same steps, so its schedules are those of this model, and the other way round. None where
    /// no place has two contexts.
    #[must_use]
    pub fn in_contexts(&self) -> Option<Model> {
        let Specialised { program, reads, definitions, merged } =
            specialise(&self.unit.program, &interchangeable_bodies(&self.unit.program))?;
        // What is a step must not depend on what is known of a context.
        let sharing = &self.form.concurrency.sharing;
        let shared = form::Visible {
            reads: (0..reads.len()).filter(|&read| sharing.read(reads[read])).collect(),
            definitions: (0..definitions.len()).filter(|&one| sharing.definition(definitions[one])).collect(),
        };
        let mut form = form::analyse_visible(&program, &shared)?;
        form.concurrency.merged |= merged;
        let sharing = &form.concurrency.sharing;
        let visible = Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() };
        let machine = Machine::with_options(&program, &visible, *self.machine.options());
        let Unit { sources, file, .. } = &self.unit;
        let unit = Unit { sources: sources.clone(), file: *file, program };
        Some(Model { unit, form, machine, options: self.options.clone() })
    }

    /// The text and the program.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// The text.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.unit.sources
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.unit.program
    }

    /// Its CSSAME form.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Executes it. What several threads may access is visible.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What its executions depend on beside the text.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Finds reads and definitions by their names.
    #[must_use]
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup { sources: self.sources(), program: self.program(), form: &self.form }
    }

    /// Gives names to steps.
    #[must_use]
    pub fn naming(&self) -> Naming<'_> {
        Naming { program: self.program(), sources: self.sources(), machine: &self.machine }
    }

    /// The schedule file of an execution, with all that it depends on. `status` says how it ends or what it shows.
    #[must_use]
    pub fn schedule(&self, steps: Vec<Step>, status: &str) -> Schedule {
        let Options { inputs, semantics } = &self.options;
        let schedule = Schedule::new(self.unit.name(), self.unit.text(), steps);
        Schedule { status: Some(status.to_owned()), ..schedule.recorded_with(inputs, *semantics) }
    }

    /// Follows a schedule; strictly where it was recorded from this very text.
    #[must_use]
    pub fn replay<'a>(&'a self, schedule: &'a Schedule) -> Replay<'a> {
        let new = if self.has_recorded(schedule) { Replay::new } else { Replay::relocating };
        new(self.naming(), &schedule.steps)
    }

    /// Whether a schedule was recorded from this very text, as far as it says.
    #[must_use]
    pub fn has_recorded(&self, schedule: &Schedule) -> bool {
        schedule.hash.is_empty() || schedule.is_of(self.unit.text())
    }
}

#[cfg(test)]
mod tests;
