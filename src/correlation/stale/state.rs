//! The known facts at a place of a function, for [`super::StaleUses`].
//!
//! In: the facts before. Out: the facts where two paths meet, and after others were let in.

use super::{From, Level, Origin};
use cssame_ir::{BlockId, Operand, RegisterId, SymbolId};
use std::collections::{BTreeMap, BTreeSet};

/// What a value may be computed from.
pub(super) type Values = BTreeSet<(Origin, Level)>;

/// What is known at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub registers: BTreeMap<RegisterId, Values>,
    /// What the branches were decided by that were passed, each as it was passed last.
    pub branches: BTreeMap<BlockId, Values>,
    /// Variables that were read and tested since the last synchronisation, on all ways.
    pub tested: BTreeSet<SymbolId>,
    /// What they were tested against.
    pub compared: BTreeSet<(SymbolId, From)>,
    /// Whether others may have been let in since the function began.
    pub synchronised: bool,
}

impl State {
    pub fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        for (&register, values) in &other.registers {
            self.registers.entry(register).or_default().extend(values);
        }
        for (&branch, values) in &other.branches {
            self.branches.entry(branch).or_default().extend(values);
        }
        self.tested.retain(|symbol| other.tested.contains(symbol));
        self.compared.retain(|pair| other.compared.contains(pair));
        self.synchronised |= other.synchronised;
        *self != before
    }

    pub fn all(&mut self) -> impl Iterator<Item = &mut Values> {
        self.registers.values_mut().chain(self.branches.values_mut())
    }

    /// What an operand may be computed from.
    pub fn operand(&self, operand: Operand) -> Values {
        match operand {
            Operand::Register(register) => self.registers.get(&register).cloned().unwrap_or_default(),
            Operand::Constant(_) => Values::new(),
        }
    }

    /// Others are let in.
    pub fn cross(&mut self) {
        self.all().for_each(|values| *values = raised(values, Level::Stale));
        self.tested.clear();
        self.compared.clear();
        self.synchronised = true;
    }
}

/// Values with at least that level.
fn raised(values: &Values, level: Level) -> Values {
    values.iter().map(|&(origin, own)| (origin, own.max(level))).collect()
}
