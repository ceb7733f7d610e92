//! The weight of findings of each kind: the rules of options and configuration files for codes.
//!
//! **Input**: rules in the order in which they were given. **Output**: the level of a code.
//!
//! **Algorithm**: among the command-line rules that name a code, or all codes, the last one applies; if there is none, the same
//! holds for the rules of the configuration. If the finding is then a warning, by itself or by a rule, the last rule for
//! `warnings` applies to it.

use cssame_diagnostics::{Code, Severity, nearest};

/// What a finding of some code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Suppressed.
    Allow,
    /// A warning.
    Warn,
    /// An error.
    Deny,
}

impl Level {
    /// All levels, by the words for them.
    pub const WORDS: [(&'static str, Level); 3] =
        [("allow", Level::Allow), ("warn", Level::Warn), ("deny", Level::Deny)];

    /// The severity of a finding of that level; none where it is suppressed.
    #[must_use]
    pub fn severity(self) -> Option<Severity> {
        match self {
            Level::Allow => None,
            Level::Warn => Some(Severity::Warning),
            Level::Deny => Some(Severity::Error),
        }
    }
}

/// The codes that a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codes {
    /// One of them.
    One(Code),
    /// All that can be suppressed.
    All,
    /// All findings that are warnings.
    Warnings,
}

impl Codes {
    /// The codes of a word: `CS0401`, `all` or `warnings`.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and what helps.
    pub fn parse(text: &str) -> Result<Codes, String> {
        match text {
            "all" => return Ok(Codes::All),
            "warnings" => return Ok(Codes::Warnings),
            _ => {}
        }
        match Code::parse(text) {
            Some(code) if code.is_suppressible() => Ok(Codes::One(code)),
            Some(code) => Err(format!("`{code}` ({}) has no level: {}", code.title(), Code::NOT_SUPPRESSIBLE)),
            None => {
                let word = nearest(text, ["all", "warnings"]);
                let meant = word.or_else(|| Code::nearest(text).map(Code::number));
                let meant = meant.map_or_else(
                    || "`cssame explain` lists all codes".to_owned(),
                    |meant| format!("did you mean `{meant}`?"),
                );
                Err(format!("there is no code `{text}`; {meant}"))
            }
        }
    }
}

/// Gives codes a level.
pub type Rule = (Codes, Level);

/// The rules of the command line, and those of the configuration that holds for a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Levels<'a> {
    /// In the order in which they were given.
    pub options: &'a [Rule],
    /// In the order of the configuration.
    pub config: &'a [Rule],
}

/// Where the level of a finding comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Option,
    /// A configuration file.
    Config,
}

impl Levels<'_> {
    /// The severity of a finding of that code; or where it is said that it is suppressed.
    ///
    /// # Errors
    ///
    /// It is suppressed.
    pub fn severity(&self, code: Code, own: Severity) -> Result<Severity, Origin> {
        if !code.is_suppressible() {
            return Ok(own);
        }
        let apply = |severity: Severity, found: Option<(Level, Origin)>| match found {
            None => Ok(severity),
            Some((level, origin)) => level.severity().ok_or(origin),
        };
        let severity = apply(own, self.last(|codes| codes == Codes::All || codes == Codes::One(code)))?;
        if severity == Severity::Warning {
            return apply(severity, self.last(|codes| codes == Codes::Warnings));
        }
        Ok(severity)
    }

    fn last(&self, wanted: impl Fn(Codes) -> bool) -> Option<(Level, Origin)> {
        let of = |rules: &[Rule], origin| {
            rules.iter().rev().find(|(codes, _)| wanted(*codes)).map(|&(_, level)| (level, origin))
        };
        of(self.options, Origin::Option).or_else(|| of(self.config, Origin::Config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACE: Code = Code::UnprotectedAccess;

    fn with(options: &[Rule], config: &[Rule], own: Severity) -> Result<Severity, Origin> {
        Levels { options, config }.severity(RACE, own)
    }

    #[test]
    fn later_rules_win_and_options_win_over_the_configuration() {
        let (allow, deny) = ((Codes::One(RACE), Level::Allow), (Codes::One(RACE), Level::Deny));
        assert_eq!(with(&[], &[], Severity::Note), Ok(Severity::Note));
        assert_eq!(with(&[allow, deny], &[], Severity::Warning), Ok(Severity::Error));
        assert_eq!(with(&[deny, allow], &[], Severity::Warning), Err(Origin::Option));
        assert_eq!(with(&[deny], &[allow], Severity::Warning), Ok(Severity::Error));
        assert_eq!(with(&[], &[allow], Severity::Warning), Err(Origin::Config));
        assert_eq!(with(&[deny, (Codes::All, Level::Allow)], &[], Severity::Note), Err(Origin::Option));
    }

    #[test]
    fn a_rule_for_warnings_is_for_what_is_one_in_the_end() {
        let warnings = |level| (Codes::Warnings, level);
        assert_eq!(with(&[warnings(Level::Deny)], &[], Severity::Warning), Ok(Severity::Error));
        assert_eq!(with(&[warnings(Level::Deny)], &[], Severity::Note), Ok(Severity::Note));
        assert_eq!(
            with(&[warnings(Level::Deny), (Codes::One(RACE), Level::Allow)], &[], Severity::Warning),
            Err(Origin::Option)
        );
        assert_eq!(
            with(&[warnings(Level::Allow), (Codes::One(RACE), Level::Warn)], &[], Severity::Error),
            Err(Origin::Option)
        );
        assert_eq!(with(&[warnings(Level::Allow)], &[], Severity::Error), Ok(Severity::Error));
    }

    #[test]
    fn errors_of_types_have_no_level() {
        let all: [Rule; 1] = [(Codes::All, Level::Allow)];
        let levels = Levels { options: &all, config: &[] };
        assert_eq!(levels.severity(Code::WrongType, Severity::Error), Ok(Severity::Error));
        assert!(Codes::parse("CS0203").unwrap_err().contains("has no level"));
        assert!(Codes::parse("CS0491").unwrap_err().contains("did you mean"));
        assert_eq!(Codes::parse("cs0401"), Ok(Codes::One(RACE)));
    }
}
