//! Names that mean nothing for the values that the inputs have, and something for others.
//!
//! **Input**: a program, and selections by name. **Output**: what they mean, or why they mean nothing: a place that is
//! not reached for `n = 0` is told from one that is not there.
//!
//! **Algorithm**: inputs are constants, so what depends on them may not be part of the program. Where a name is not found,
//! the text is compiled again as if one input, and then as if all inputs were not known; the first of these programs in
//! which the name is found tells the inputs that it depends on.
//!
//! **Soundness and limits**: that the place is there says nothing about whether some value leads to it.

use super::{Model, Unit};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_form::Selection;
use cssame_front::{DeclaredInput, UNKNOWN_INPUT, declared_inputs};

impl Model {
    /// The selections that several `READ=DEF` mean.
    ///
    /// # Errors
    ///
    /// A diagnostic for each of them that means nothing, or several things.
    pub fn selections(&self, texts: &[String]) -> Result<Vec<Selection>, Diagnostics> {
        self.lookup().selections(texts).map_err(|problems| self.unreached(texts).unwrap_or(problems))
    }

    /// Which of the selections are there for other values of the inputs; `None` where none is.
    fn unreached(&self, texts: &[String]) -> Option<Diagnostics> {
        let (unit, options) = (self.unit(), self.options());
        let mut inputs = declared_inputs(unit.text());
        for input in &mut inputs {
            if let Some((_, given)) = options.inputs.iter().rev().find(|(name, _)| *name == input.name) {
                input.value.clone_from(given);
            }
        }
        // One that has a range is not known already.
        inputs.retain(|input| input.value != "any" && !input.value.contains(".."));
        let tried = inputs.iter().map(std::slice::from_ref).chain([inputs.as_slice()]);
        let mut problems = Vec::new();
        for text in texts.iter().filter(|text| self.lookup().selection(text).is_err()) {
            let found = tried.clone().find(|unknown| self.is_there(text, unknown));
            problems.extend(found.filter(|of| !of.is_empty()).map(|of| problem(text, of)));
        }
        (!problems.is_empty()).then(|| Diagnostics::new(unit.sources.clone(), problems))
    }

    /// Whether a selection is there if these inputs are not known.
    fn is_there(&self, text: &str, unknown: &[DeclaredInput]) -> bool {
        let mut inputs = self.options().inputs.clone();
        inputs.extend(unknown.iter().map(|input| (input.name.clone(), UNKNOWN_INPUT.to_owned())));
        let unit = Unit::from_text(self.unit().name(), self.unit().text(), &inputs);
        let model = unit.ok().and_then(|unit| Model::new(unit, self.options().clone()).ok());
        let model = model.map(|model| model.in_contexts().unwrap_or(model));
        model.is_some_and(|model| model.lookup().selection(text).is_ok())
    }
}

fn problem(text: &str, inputs: &[DeclaredInput]) -> Diagnostic {
    let values: Vec<String> = inputs.iter().map(|input| format!("{} = {}", input.name, input.value)).collect();
    let message = format!("`{text}` is not reached for {}", values.join(", "));
    let help = |input: &DeclaredInput| {
        let range = if input.can_be_any { "any" } else { "0..8" };
        format!("`--input {}={range}`", input.name)
    };
    let help = inputs.iter().map(help).collect::<Vec<_>>().join(" ");
    Diagnostic::general(Code::UnknownName, Severity::Error, message)
        .with_note("code that depends on the value of an input is not part of the program for other values")
        .with_help(format!("give another value, or explore several: {help}"))
}
