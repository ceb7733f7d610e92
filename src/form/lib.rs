//! CSSAME form: pi functions, their terms, and the definitions that were pruned from them.
//!
//! **Input**: the PFG and its [`Concurrency`]. **Output**: [`Form`]: for every read of shared memory, the definitions that it
//! may see.
//!
//! **Algorithm** (CSSAME: Novillo, Unrau and Schaeffer, concurrent SSA with mutual exclusion; "Controlling the Future",
//! extended to the whole language)
//! 1. `access`: shared leaves become SSA variables over the value-flow graph, in which values pass through forked threads,
//!    barriers and signals.
//! 2. `reaching`: SSA finds the *control* definitions of a read. At a merge where all branches have run, a value from before the
//!    parting is dropped if some branch certainly overwrites it.
//! 3. `terms`: the *concurrent* definitions are those of blocks that may run in parallel, except those that a common lock hides
//!    (`exposure`): a definition that does not reach the exit of its mutex body, and any definition if the read is not
//!    upward-exposed in its own body.
//! 4. `guard`: after a branch on a flag, the initial value of a variable that was written before the flag was set is no term.
//! 5. `lock_state`: the mutex bodies of a lock, run one after the other with their values, show which definitions their reads
//!    see.
//! 6. `same`: a read under a lock sees the version that an earlier read in the same body has seen, if all writers take that lock.
//! 7. `constants`: if all terms of a read write one constant, and this decides a branch, the form is built again without the
//!    other side.
//!
//! Reads and definitions are grouped by class (blocks that are parallel with the same blocks), locks and exposure, so that no
//! product of reads and definitions is formed. Equal sets of terms are stored once.
//!
//! **Soundness and limits**: no execution reads a value whose writer is not a term. A term may be impossible because of values or
//! a lock built from variables; `futures` decides this.

mod access;
mod before;
pub mod check;
mod constants;
pub mod contradiction;
mod exposure;
mod guard;
mod lock_state;
pub mod print;
mod pruned;
pub mod races;
mod reaching;
mod report;
mod same;
mod selection;
mod swap;
mod terms;

pub use pruned::PrunedLists;
pub use report::{
    PiReport, PrunedData, ReadReport, Shared, TermData, context_of_definition, context_of_read, definition_in_context,
    definition_name, listed, read_in_context, read_name, report, selected_contexts, selected_definition, selected_read,
    variable_name,
};
pub use selection::Selection;

use access::Table;
use cssame_concurrency as concurrency;
use cssame_concurrency::lockset::{Locksets, find_locksets};
use cssame_concurrency::row_locks::RowLocks;
use cssame_concurrency::specialise::Specialised;
use cssame_concurrency::{Concurrency, KnownReads, LocationId, Sharing, ThreadId};
use cssame_ir::{DefinitionId, Program, ReadId};
use cssame_source::arena::id;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

id! {
    /// An interned set of definitions.
    TermSetId
}

/// The CSSAME form of a program.
#[derive(Clone, Debug)]
pub struct Form {
    /// The unfolded program.
    pub concurrency: Concurrency,
    /// Locks held.
    pub locksets: Locksets,
    /// Locks held of the rows of accesses.
    row_locks: RowLocks,
    table: Table,
    sets: Vec<Vec<DefinitionId>>,
    /// Reads of shared memory in their contexts, by block.
    reads: Vec<ReadInstance>,
    /// What reads do not see because of a branch on the way to them, or of the states of a lock.
    excluded: FxHashMap<ReadId, Vec<Pruned>>,
    /// Reads that see the same version as an earlier read.
    same: FxHashMap<ReadId, ReadId>,
}

/// A read in a context.
#[derive(Clone, Copy, Debug)]
struct ReadInstance {
    read: ReadId,
    /// Index of its access.
    access: u32,
    /// The definitions that reach it in its own thread, or from before and after other threads.
    control: TermSetId,
    /// Those of blocks that may run in parallel.
    concurrent: TermSetId,
}

/// Why a definition is no term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Under a common lock, and replaced before the lock is freed.
    KilledBeforeUnlock,
    /// Under a common lock, and the read follows a definition in its own body.
    NotUpwardExposed,
    /// The read comes first in every execution.
    OrderedAfter,
    /// Another definition always comes between.
    Overwritten,
    /// The two never run in one execution.
    Exclusive,
    /// The mutex bodies of a lock, with the values that they write, have no order in which the read sees it.
    LockState,
}

impl Reason {
    /// The word of the contract.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Reason::KilledBeforeUnlock => "killed-before-unlock",
            Reason::NotUpwardExposed => "not-upward-exposed",
            Reason::OrderedAfter => "ordered-after",
            Reason::Overwritten => "overwritten",
            Reason::Exclusive => "exclusive",
            Reason::LockState => "lock-state",
        }
    }
}

/// A definition that is no term, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pruned {
    /// The definition.
    pub definition: DefinitionId,
    /// Why.
    pub reason: Reason,
    /// The lock that hides it, for the three reasons that are about locks; `None` for an atomic block.
    pub lock: Option<LocationId>,
}

/// Brings a program into CSSAME form. `None` for a program without `main`: nothing runs in it.
#[must_use]
pub fn analyse(program: &Program) -> Option<Form> {
    analyse_sharing(program, &|_| {})
}

/// Reads and writes that count as shared whatever the analysis finds: those of a program before its functions were copied
/// for their contexts.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// By [`ReadId`].
    pub reads: FixedBitSet,
    /// By [`DefinitionId`].
    pub definitions: FixedBitSet,
}

/// Brings a program into CSSAME form, in which some reads and writes are certainly shared.
#[must_use]
pub fn analyse_visible(program: &Program, visible: &Visible) -> Option<Form> {
    analyse_sharing(program, &|sharing| {
        sharing.reads.union_with(&visible.reads);
        sharing.definitions.union_with(&visible.definitions);
    })
}

/// Brings a program into CSSAME form whose functions were copied for their contexts: what is shared in one context counts as
/// shared in all.
#[must_use]
pub fn analyse_copies(copies: &Specialised) -> Option<Form> {
    let Specialised { program, reads, definitions, merged } = copies;
    let mut form = analyse_sharing(program, &|sharing| {
        let shared: FxHashSet<ReadId> = sharing.reads.ones().map(|read| reads[read]).collect();
        sharing.reads.extend((0..reads.len()).filter(|&read| shared.contains(&reads[read])));
        let shared: FxHashSet<DefinitionId> = sharing.definitions.ones().map(|one| definitions[one]).collect();
        sharing.definitions.extend((0..definitions.len()).filter(|&one| shared.contains(&definitions[one])));
    })?;
    form.concurrency.merged |= merged;
    Some(form)
}

fn analyse_sharing(program: &Program, share: &dyn Fn(&mut Sharing)) -> Option<Form> {
    let mut known = KnownReads::default();
    let mut form = analyse_with(program, &known, share)?;
    for _ in 0..MAX_ROUNDS {
        let Some(found) = constants::find_known_reads(program, &form, &known) else { break };
        known = found;
        form = analyse_with(program, &known, share)?;
    }
    Some(form)
}

/// How often a form is built anew because a value that a read certainly sees decides a branch.
const MAX_ROUNDS: usize = 3;

fn analyse_with(program: &Program, known: &KnownReads, share: &dyn Fn(&mut Sharing)) -> Option<Form> {
    let mut concurrency = concurrency::analyse_with(program, known)?;
    share(&mut concurrency.sharing);
    let locksets = find_locksets(program, &concurrency);
    Some(terms::build(program, known, concurrency, locksets))
}

impl Form {
    /// The definitions that a read in the text may see, over all its contexts, sorted; empty where it reads nothing shared
    /// or never runs.
    #[must_use]
    pub fn terms(&self, read: ReadId) -> Vec<DefinitionId> {
        let mut all: Vec<DefinitionId> = self
            .instances_of(read)
            .flat_map(|of| self.set(of.control).iter().chain(self.set(of.concurrent)))
            .copied()
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// An earlier read of the same thread that sees the same version in every execution: no definition that the read may see can
    /// happen between the two.
    #[must_use]
    pub fn same_as(&self, read: ReadId) -> Option<ReadId> {
        self.same.get(&read).copied()
    }

    /// Those of the definitions that reach the read by control flow, sorted: what it sees if no parallel thread writes before it.
    #[must_use]
    pub fn control_definitions(&self, read: ReadId) -> Vec<DefinitionId> {
        let mut all: Vec<DefinitionId> = self.instances_of(read).flat_map(|of| self.set(of.control)).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// All reads of shared memory that can run, in the order of their ids.
    #[must_use]
    pub fn shared_reads(&self) -> Vec<ReadId> {
        let mut reads: Vec<ReadId> = self.reads.iter().map(|of| of.read).collect();
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// The threads that run a read.
    #[must_use]
    pub fn threads_of_read(&self, read: ReadId) -> Vec<ThreadId> {
        let blocks = self.instances_of(read).map(|of| self.table.block_of(of.access));
        let mut threads: Vec<ThreadId> = blocks.map(|block| self.concurrency.thread_of(block)).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The threads that run a write.
    #[must_use]
    pub fn threads_of_definition(&self, definition: DefinitionId) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> = self
            .table
            .events_of_definition(definition)
            .iter()
            .map(|&access| self.concurrency.thread_of(self.table.block_of(access)))
            .collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// Number of distinct sets of terms that are stored.
    #[must_use]
    pub fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// Number of reads of shared memory in their contexts.
    #[must_use]
    pub fn read_count(&self) -> usize {
        self.reads.len()
    }

    fn set(&self, id: TermSetId) -> &[DefinitionId] {
        &self.sets[id.index()]
    }

    /// Reads are sorted by their id.
    fn instances_of(&self, read: ReadId) -> impl Iterator<Item = &ReadInstance> {
        let start = self.reads.partition_point(|of| of.read < read);
        self.reads[start..].iter().take_while(move |of| of.read == read)
    }
}
