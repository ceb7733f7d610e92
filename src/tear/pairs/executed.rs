//! The results for executed pairs.

use cssame_budget::Bound;
use cssame_correlation::{Decision, MethodAccess, Status};
use cssame_ir::FunctionId;
use cssame_model::{Model, Unit};
use cssame_schedule::Step;
use cssame_vm::{Choice, Failure};

/// An execution that tears an access.
#[derive(Clone, Debug)]
pub struct TearWitness {
    /// The execution.
    pub schedule: Vec<Choice>,
    /// The functions and arms of the file that come between, in the order in which they do.
    pub by: Vec<FunctionId>,
}

/// What is known of an endangered access.
#[derive(Clone, Debug)]
pub enum AccessVerdict {
    /// An execution tears it, and the other method of the pair has a part in that.
    Confirmed(TearWitness),
    /// Executions tear it, but in none the other method of the pair has a part.
    Elsewhere(TearWitness),
    /// No execution does, whoever comes between.
    Refuted,
    /// It is not known, for that reason.
    Open(String),
}

impl AccessVerdict {
    /// The execution in which the pair tears it.
    #[must_use]
    pub fn schedule(&self) -> Option<&[Choice]> {
        match self {
            AccessVerdict::Confirmed(witness) => Some(&witness.schedule),
            AccessVerdict::Elsewhere(_) | AccessVerdict::Refuted | AccessVerdict::Open(_) => None,
        }
    }
}

/// What is known of a pair.
#[derive(Debug)]
pub struct ExecutedPair {
    /// Index of the pair in the analysis.
    pub pair: usize,
    /// Index of the program in which it was executed, of [`ExecutedPairs::settings`].
    pub setting: Option<usize>,
    /// Its endangered accesses.
    pub accesses: Vec<(MethodAccess, AccessVerdict)>,
    /// How it fails or blocks in programs that were made for it.
    pub ends: Vec<PairEnd>,
}

/// A failure or a deadlock of two methods that run in parallel.
#[derive(Clone, Debug)]
pub struct PairEnd {
    /// Index of the program in which it happens.
    pub setting: usize,
    /// The failure; none for a deadlock.
    pub failure: Option<Failure>,
    /// The execution.
    pub schedule: Vec<Choice>,
}

/// A program in which pairs are executed.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The program.
    pub model: &'a Model,
    /// The `main` that was added to the file.
    pub added: Option<&'a str>,
}

/// A program that was made for a pair.
#[derive(Debug)]
pub(super) struct ContextModel {
    pub model: Model,
    /// The `main` that was added to the file.
    pub main: String,
}

/// What the pairs are executed in.
#[derive(Debug)]
pub(super) enum Host {
    /// The program itself.
    Program(Box<Model>),
    /// Programs that were made for the pairs of a file; none where nothing was executed.
    Library { unit: Box<Unit>, contexts: Vec<ContextModel> },
}

/// What is known of all selected pairs of a file.
#[derive(Debug)]
pub struct ExecutedPairs {
    pub(super) host: Host,
    /// By rising index of the pair.
    pub(super) pairs: Vec<ExecutedPair>,
    /// The bound that was hit last.
    pub bound: Option<Bound>,
    /// States of all searches.
    pub states: u64,
}

impl ExecutedPairs {
    /// Nothing was executed.
    #[must_use]
    pub fn none(unit: Unit) -> ExecutedPairs {
        let host = Host::Library { unit: Box::new(unit), contexts: Vec::new() };
        ExecutedPairs { host, pairs: Vec::new(), bound: None, states: 0 }
    }

    /// The file.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        match &self.host {
            Host::Program(model) => model.unit(),
            Host::Library { unit, .. } => unit,
        }
    }

    /// The programs in which pairs were executed.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting<'_>> {
        match &self.host {
            Host::Program(model) => vec![Setting { model, added: None }],
            Host::Library { contexts, .. } => {
                contexts.iter().map(|of| Setting { model: &of.model, added: Some(&of.main) }).collect()
            }
        }
    }

    /// What is known of a pair.
    #[must_use]
    pub fn of_pair(&self, pair: usize) -> Option<&ExecutedPair> {
        let place = self.pairs.binary_search_by_key(&pair, |each| each.pair).ok()?;
        self.pairs.get(place)
    }

    /// The program in which a pair was executed.
    #[must_use]
    pub fn setting_of(&self, pair: usize) -> Option<Setting<'_>> {
        let index = self.of_pair(pair)?.setting?;
        match &self.host {
            Host::Program(model) => Some(Setting { model, added: None }),
            Host::Library { contexts, .. } => {
                contexts.get(index).map(|of| Setting { model: &of.model, added: Some(&of.main) })
            }
        }
    }

    /// Why a pair was not executed.
    #[must_use]
    pub fn reason(&self, pair: usize) -> Option<&str> {
        self.of_pair(pair)?.accesses.iter().find_map(|(_, verdict)| match verdict {
            AccessVerdict::Open(reason) => Some(reason.as_str()),
            AccessVerdict::Confirmed(_) | AccessVerdict::Elsewhere(_) | AccessVerdict::Refuted => None,
        })
    }

    /// The choices of an execution that a report shows by its steps.
    #[must_use]
    pub fn schedule_of(&self, pair: usize, steps: &[Step]) -> Option<&[Choice]> {
        let naming = self.setting_of(pair)?.model.naming();
        let mut all = self.of_pair(pair)?.accesses.iter().filter_map(|(_, verdict)| verdict.schedule());
        all.find(|schedule| naming.steps(schedule) == steps)
    }

    /// What a report says of an access.
    #[must_use]
    pub fn decision(&self, pair: usize, each: &MethodAccess) -> Decision<Vec<Step>> {
        let Some(of) = self.of_pair(pair) else {
            return Decision::potential("the rank of the pair is not above the threshold");
        };
        match of.accesses.iter().find(|(access, _)| access == each) {
            Some((_, AccessVerdict::Confirmed(witness))) => {
                let steps = self.setting_of(pair).map(|setting| setting.model.naming().steps(&witness.schedule));
                Decision { schedule: steps, by: witness.by.clone(), ..Decision::of(Status::Confirmed) }
            }
            Some((_, AccessVerdict::Elsewhere(witness))) => {
                Decision { by: witness.by.clone(), ..Decision::of(Status::Elsewhere) }
            }
            Some((_, AccessVerdict::Refuted)) => Decision::of(Status::Refuted),
            Some((_, AccessVerdict::Open(reason))) => Decision::potential(reason.clone()),
            None => Decision::potential("it was not executed"),
        }
    }
}
