//! Facts about the code of a machine, independent of its state.
//!
//! **Input**: the compiled program. **Output**: whether the code discards executions, tries locks, or creates locals in memory;
//! its actions while it reads under a readers-writer lock; and the instructions that access certain places. Searches use these
//! facts to choose what they have to examine.

use super::code::{Code, CodeIndex, NO_SLOT, Origin, TableIndex};
use super::machine::Machine;
use super::visibility::Visibility;
use cssame_ir::sync::Kind;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// How far a body of a reader has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct BodyPosition {
    /// The next instruction.
    at: u32,
    /// Whether that is in a function that the body has called.
    is_called: bool,
    /// The address of its lock, where that is known.
    lock: Option<u32>,
}

impl Machine {
    /// Whether an execution may be discarded: by an `assume`, or by a `choose` from nothing; every choice counts as one.
    #[must_use]
    pub fn may_discard(&self) -> bool {
        let code = &self.compiled.code;
        code.iter().any(|code| matches!(code, Code::Assume { .. } | Code::Choose { .. }))
    }

    /// By instruction: whether a step of a thread that stands before it may access one of these places of shared memory. A step
    /// that begins with an effect or an atomic block always may.
    #[must_use]
    pub fn steps_that_may_access(&self, wanted: &Visibility) -> FixedBitSet {
        let may_access = |code: &Code| match *code {
            Code::SharedLoad { read, .. } | Code::SharedLoadAt { read, .. } | Code::WatchedLoad { read, .. } => {
                wanted.read(read)
            }
            Code::SharedStore { definition, .. } | Code::SharedStoreAt { definition, .. } => {
                wanted.definition(definition)
            }
            Code::SharedFree { definition, .. } => wanted.definition(definition),
            Code::SharedAtomic { atomic } => {
                let atomic = self.compiled.atomics[atomic as usize];
                wanted.read(atomic.read) || wanted.definition(atomic.definition)
            }
            Code::Synchronise { .. }
            | Code::Fork { .. }
            | Code::Join
            | Code::Spawn { .. }
            | Code::JoinThread { .. }
            | Code::Choose { .. } => false,
            _ => true,
        };
        let code = self.compiled.code.iter().enumerate();
        code.filter(|(_, code)| may_access(code)).map(|(index, _)| index).collect()
    }

    /// The machine that knows where a thread gets a lock whose body may only look: read what others write in bodies of the same lock
    /// alone, and give the lock back. It does the same as this one.
    #[must_use]
    pub fn knowing_looks(mut self, places: &FxHashSet<Origin>) -> Machine {
        self.may_look = self.instructions_at(places);
        self
    }

    fn instructions_at(&self, places: &FxHashSet<Origin>) -> FixedBitSet {
        let origins = self.compiled.origins.iter().enumerate();
        origins.filter(|(_, origin)| places.contains(origin)).map(|(index, _)| index).collect()
    }

    /// Whether the body of the lock that an instruction takes may only look, as far as is [known](Machine::knowing_looks).
    #[must_use]
    pub fn may_look_behind(&self, at: CodeIndex) -> bool {
        self.may_look.contains(at.index())
    }

    /// Whether some thread tries to take a lock, so that it matters when others give theirs back.
    #[must_use]
    pub fn tries_locks(&self) -> bool {
        self.some_thread_does(Kind::tries)
    }

    /// Whether some thread works on a synchronisation object.
    #[must_use]
    pub fn synchronises(&self) -> bool {
        self.some_thread_does(|_| true)
    }

    fn some_thread_does(&self, wanted: impl Fn(Kind) -> bool) -> bool {
        self.compiled.code.iter().any(|code| matches!(code, Code::Synchronise { kind, .. } if wanted(*kind)))
    }

    /// Whether some thread clears an event, so that one that is set need not stay so.
    #[must_use]
    pub fn clears_events(&self) -> bool {
        self.some_thread_does(|kind| kind == Kind::Clear)
    }

    /// Whether some thread waits to be notified, on a condition or bare.
    #[must_use]
    pub fn waits_for_notifications(&self) -> bool {
        self.some_thread_does(|kind| matches!(kind, Kind::WaitCondition | Kind::TimedWait | Kind::WaitBare))
    }

    /// The addresses of conditions that are waited for, and of the locks that are given back for that: of waits by which both are known.
    pub fn fixed_waits(&self) -> impl Iterator<Item = (u32, u32)> {
        self.compiled.code.iter().filter_map(|code| match *code {
            Code::Synchronise { kind: Kind::WaitCondition, object, lock, .. } => {
                self.fixed_address(object).zip(self.fixed_address(lock))
            }
            _ => None,
        })
    }

    /// Whether there are readers-writer locks that prefer writers.
    #[must_use]
    pub fn prefers_writers(&self) -> bool {
        self.options.semantics.prefer_writers && self.has_readers()
    }

    /// Whether there are readers-writer locks, and whoever holds any of them for reading does nothing but to read memory, to work for
    /// itself, and to give it back: no other thread can tell when in the time of its lock it does that. Nobody tries to take any such
    /// lock, either.
    #[must_use]
    pub fn readers_only_read(&self) -> bool {
        let tries = |kind| matches!(kind, Kind::TryReadLock | Kind::TryWriteLock);
        let mut bodies = Vec::new();
        for (index, code) in self.compiled.code.iter().enumerate() {
            match *code {
                Code::Synchronise { kind, .. } if tries(kind) => return false,
                Code::Synchronise { kind: Kind::ReadLock, object, .. } => {
                    bodies.push(BodyPosition {
                        at: index as u32 + 1,
                        is_called: false,
                        lock: self.fixed_address(object),
                    });
                }
                _ => {}
            }
        }
        !bodies.is_empty() && self.all_only_read(bodies)
    }

    /// Whether all that bodies of readers do, up to where they give their locks back, is to read.
    fn all_only_read(&self, mut work: Vec<BodyPosition>) -> bool {
        let mut seen: FxHashSet<BodyPosition> = work.iter().copied().collect();
        while let Some(body) = work.pop() {
            let next: SmallVec<[BodyPosition; 2]> = match self.compiled.code[body.at as usize] {
                Code::Synchronise { kind: Kind::UnlockRw, object, .. } if !body.is_called => {
                    let given_back = self.fixed_address(object);
                    if body.lock.zip(given_back).is_some_and(|(lock, other)| lock != other) {
                        return false;
                    }
                    continue;
                }
                // It goes on behind the call.
                Code::Return { .. } if body.is_called => continue,
                Code::Jump { target } => smallvec![BodyPosition { at: target, ..body }],
                Code::Branch { then_target, else_target, .. } => {
                    smallvec![BodyPosition { at: then_target, ..body }, BodyPosition { at: else_target, ..body }]
                }
                Code::Call { call } => {
                    let function = self.compiled.calls[call as usize].function;
                    let called = BodyPosition { at: self.compiled.functions[function].entry, is_called: true, ..body };
                    smallvec![called, BodyPosition { at: body.at + 1, ..body }]
                }
                Code::Synchronise { .. }
                | Code::Return { .. }
                | Code::End { .. }
                | Code::SharedStore { .. }
                | Code::SharedStoreAt { .. }
                | Code::SharedAtomic { .. }
                | Code::SharedFree { .. }
                | Code::Free { .. }
                | Code::Choose { .. }
                | Code::Assume { .. }
                | Code::Fork { .. }
                | Code::Join
                | Code::Spawn { .. }
                | Code::JoinThread { .. }
                | Code::AtomicBegin
                | Code::AtomicEnd => return false,
                _ => smallvec![BodyPosition { at: body.at + 1, ..body }],
            };
            work.extend(next.into_iter().filter(|&each| seen.insert(each)));
        }
        true
    }

    /// The address of an object that is the same whenever an instruction names it.
    fn fixed_address(&self, place: TableIndex) -> Option<u32> {
        let place = self.compiled.places.get(place as usize)?;
        (place.reference == NO_SLOT && place.index.is_none()).then_some(place.address)
    }

    /// Whether threads make locals in memory, which other threads may use.
    #[must_use]
    pub fn makes_locals(&self) -> bool {
        self.compiled.code.iter().any(|code| matches!(code, Code::Allocate { .. }))
    }

    /// Whether threads give memory back that others may use.
    #[must_use]
    pub fn frees_shared_memory(&self) -> bool {
        self.compiled.frees
    }

    /// Whether the cell at an address is there as long as the program runs, if others than its own thread can take it away at all.
    #[must_use]
    pub fn stays(&self, address: Option<u32>) -> bool {
        !self.compiled.frees || address.is_some_and(|address| address < self.layout.global_count())
    }

    /// Whether an instruction is an atomic expression on shared memory: `cas`, `swap` or `fetch_add`.
    #[must_use]
    pub fn is_atomic(&self, at: CodeIndex) -> bool {
        matches!(self.compiled.code.get(at.index()), Some(Code::SharedAtomic { .. }))
    }
}
