//! What the executions of a program depend on beside its text, as schedule files keep it.

use crate::diagnostics::{Code, Diagnostics};
use crate::schedule::{SPURIOUS_WAKEUPS, Schedule};

/// Names of `input` constants, and their values.
pub type Inputs = Vec<(String, String)>;

/// What the executions of a program depend on beside its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Values of `input` constants.
    pub inputs: Inputs,
    /// Whether a wait for a condition may end without a notification.
    pub spurious_wakeups: bool,
}

impl Options {
    /// These options over those that a schedule was recorded with.
    ///
    /// # Errors
    ///
    /// The schedule has an option that this version does not know.
    pub fn over(&self, schedule: &Schedule) -> Result<Options, Diagnostics> {
        let known = |(name, value): &(&String, &String)| {
            *name == SPURIOUS_WAKEUPS && ["true", "false"].contains(&value.as_str())
        };
        if let Some((name, value)) = schedule.options.iter().find(|option| !known(option)) {
            let message = format!("the schedule has the option `{name}` = `{value}`, which this version does not know");
            return Err(Diagnostics::error(Code::ScheduleMismatch, message));
        }
        let mut inputs: Inputs = schedule.inputs.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        inputs.retain(|(name, _)| self.inputs.iter().all(|(given, _)| given != name));
        inputs.extend(self.inputs.iter().cloned());
        let recorded = schedule.options.get(SPURIOUS_WAKEUPS).is_some_and(|value| value == "true");
        Ok(Options { inputs, spurious_wakeups: self.spurious_wakeups || recorded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(inputs: &[(&str, &str)], spurious_wakeups: bool) -> Options {
        let inputs = inputs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Options { inputs, spurious_wakeups }
    }

    #[test]
    fn given_inputs_replace_recorded_ones() {
        let recorded = options(&[("n", "3"), ("m", "1")], true);
        let schedule = Schedule::new("a.csm", "", Vec::new());
        let schedule = schedule.recorded_with(&recorded.inputs, recorded.spurious_wakeups);
        let replayed = options(&[("n", "5")], false).over(&schedule).expect("its options are known");
        assert_eq!(replayed, options(&[("m", "1"), ("n", "5")], true));
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
