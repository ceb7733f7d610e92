//! What the executions of a program depend on beside its text, as schedule files keep it.

use cssame_diagnostics::{Code, Diagnostics};
use cssame_schedule::Schedule;
use cssame_vm::Semantics;

/// Names of `input` constants, and their values.
pub type Inputs = Vec<(String, String)>;

/// What the executions of a program depend on beside its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Values of `input` constants.
    pub inputs: Inputs,
    /// Which executions there are.
    pub semantics: Semantics,
}

impl Options {
    /// These options over those that a schedule was recorded with.
    ///
    /// # Errors
    ///
    /// The schedule has an option that this version does not know.
    pub fn over(&self, schedule: &Schedule) -> Result<Options, Diagnostics> {
        let recorded = schedule.semantics().map_err(|(name, value)| {
            let message = format!("the schedule has the option `{name}` = `{value}`, which this version does not know");
            Diagnostics::error(Code::ScheduleMismatch, message)
        })?;
        let mut inputs: Inputs = schedule.inputs.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        inputs.retain(|(name, _)| self.inputs.iter().all(|(given, _)| given != name));
        inputs.extend(self.inputs.iter().cloned());
        let semantics = Semantics {
            spurious_wakeups: self.semantics.spurious_wakeups || recorded.spurious_wakeups,
            prefer_writers: self.semantics.prefer_writers || recorded.prefer_writers,
        };
        Ok(Options { inputs, semantics })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(inputs: &[(&str, &str)], semantics: Semantics) -> Options {
        let inputs = inputs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Options { inputs, semantics }
    }

    #[test]
    fn given_inputs_replace_recorded_ones() {
        let recorded = options(&[("n", "3"), ("m", "1")], Semantics { spurious_wakeups: true, ..Semantics::default() });
        let schedule = Schedule::new("a.csm", "", Vec::new());
        let schedule = schedule.recorded_with(&recorded.inputs, recorded.semantics);
        let given = Semantics { prefer_writers: true, ..Semantics::default() };
        let replayed = options(&[("n", "5")], given).over(&schedule).expect("its options are known");
        let both = Semantics { spurious_wakeups: true, prefer_writers: true };
        assert_eq!(replayed, options(&[("m", "1"), ("n", "5")], both));
    }

    #[test]
    fn an_unknown_option_of_a_schedule_is_an_error() {
        let mut schedule = Schedule::new("a.csm", "", Vec::new());
        schedule.options.insert("weak-memory".to_owned(), "true".to_owned());
        let problem = Options::default().over(&schedule).expect_err("the option is unknown");
        assert_eq!(problem.list[0].code, Code::ScheduleMismatch);
        assert!(problem.to_string().contains("`weak-memory` = `true`"), "{problem}");
    }
}
