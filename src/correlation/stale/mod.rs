//! Stale values: values that a method has read from shared memory, keeps in a local, and uses after it has let others in.
//!
//! **Input**: a program. **Output**: [`StaleUses`]: for each function, with calls inlined, which reads reach which local, and
//! which reads reach which effect with synchronisation in between. Effects are writes to memory that are computed from the value
//! or are under a condition on it. Values that are printed, returned or asserted after the variable was read again are effects
//! too.
//!
//! **Algorithm** (forward data flow for each function, callees first; see [`flow`])
//! 1. The state contains, for each register, the reads and the parameters from which it may be computed, each with a [`Level`].
//!    It contains the same for the branches that were passed.
//! 2. A synchronisation operation makes all of them stale. A write under a condition on a stale value is no effect if the
//!    variable has been read and tested again since the last synchronisation (a waiting loop, an optimistic check). A write
//!    computed from a stale value is no effect if the test compares the two values. A `cas` performs the test itself.
//! 3. A value *steers* an effect that is under a condition on it. A value also only steers if the function writes its variable
//!    before it lets others in: a drawn number is meant to be the old one.
//! 4. A call contributes its results and the effects of its callee on its parameters.
//!
//! **Soundness and limits**: values that flow through private memory, to another thread, or through a recursion are not followed.
//! An index selects a location and is not a value. The uses found are possible; executions show whether they occur.

mod flow;
mod object;
mod state;

use super::calls;
use cssame_ir::{DefinitionId, FunctionId, Program, ReadId, RegisterId, SymbolId};
use flow::Flow;
use object::Object;
use std::collections::BTreeSet;

/// What a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    Read(ReadId),
    Parameter(u32),
}

/// What a value comes from, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    from: From,
    /// Whether it only decides about the value, or the variable was written in the same region, so that the old value is meant.
    steers: bool,
    /// Of what it was read.
    object: Object,
}

impl Origin {
    fn of(from: From) -> Origin {
        Origin { from, steers: false, object: Object::Unknown }
    }

    fn steering(self) -> Origin {
        Origin { steers: true, ..self }
    }
}

/// What has happened since a value was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Nothing.
    Fresh,
    /// Others were let in.
    Stale,
    /// Then the variable was read anew.
    Repeated,
}

/// What a stale value reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A write to memory.
    Write(DefinitionId),
    /// Something beside a value of the same variable that was read later.
    Repeated,
}

/// What a function does with values, calls inlined.
#[derive(Clone, Debug, Default)]
struct Summary {
    /// Which local may hold what.
    holds: BTreeSet<(FunctionId, RegisterId, From)>,
    /// What reaches which effect, at which level.
    uses: BTreeSet<(Origin, Level, Effect)>,
    /// Its writes, whether others were let in before within the function, and what was tested anew.
    writes: Vec<(DefinitionId, bool, BTreeSet<SymbolId>)>,
    reads: BTreeSet<(SymbolId, Object)>,
    returns: BTreeSet<(Origin, Level)>,
    /// Whether it synchronises.
    synchronises: bool,
}

/// The stale values of all functions.
#[derive(Clone, Debug)]
pub struct StaleUses {
    summaries: Vec<Summary>,
}

impl StaleUses {
    /// Finds them.
    #[must_use]
    pub fn of(program: &Program) -> StaleUses {
        let mut summaries: Vec<Summary> = vec![Summary::default(); program.functions.len()];
        for &id in calls::components(program).iter().flatten() {
            let summary = Flow::new(program, &summaries, id).run();
            summaries[id.index()] = summary;
        }
        StaleUses { summaries }
    }

    /// The reads of a variable in a method that a local may hold the value of, and what they reach when it is stale; true where the
    /// value itself gets there, false where it steers the effect.
    #[must_use]
    pub fn reached(
        &self,
        program: &Program,
        method: FunctionId,
        (function, local): (FunctionId, RegisterId),
        symbol: SymbolId,
    ) -> Vec<(ReadId, Effect, bool)> {
        let summary = &self.summaries[method.index()];
        let held = |read: ReadId| {
            program.reads[read].symbol == symbol && summary.holds.contains(&(function, local, From::Read(read)))
        };
        let found = summary.uses.iter().filter_map(|&(origin, level, effect)| match origin.from {
            From::Read(read) if level != Level::Fresh && held(read) => Some((read, effect, !origin.steers)),
            _ => None,
        });
        found.collect::<BTreeSet<_>>().into_iter().collect()
    }
}
