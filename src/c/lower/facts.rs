//! What is known of a program before it is lowered: the functions and objects that can be reached, and by the calls of library
//! functions in them what integers are locks and handles, how mutexes, barriers and semaphores begin, whose address is taken, and
//! what runs in threads.

use super::link::DeclKey;
use super::owner::Owner;
use super::roles::Role;
use crate::supported::Obstacle;
use crate::tree::{ExprId, Place, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Something of which each thread has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Own {
    /// A thread-local variable.
    Variable(DeclKey),
    /// What `__errno_location` leads to.
    Errno,
    /// The value of a key, by the variable that holds the key.
    Key(DeclKey),
}

/// A key of `pthread_key_create`.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// What is called with the value of a thread that ends.
    pub destructor: Option<DeclKey>,
    /// How often that is written.
    pub creations: u32,
    pub place: Place,
}

/// The values that a kind of initialisation has for an object: `None` for one that is no constant.
pub type Values = FxHashMap<Owner, Vec<Option<i128>>>;

/// What is known of a program.
#[derive(Debug, Default)]
pub struct Facts {
    pub main: Option<DeclKey>,
    /// The functions that can be reached, in the order of the text.
    pub functions: BTreeSet<DeclKey>,
    /// The objects with static storage that are named.
    pub objects: BTreeSet<DeclKey>,
    /// Locals whose address something keeps.
    pub taken: FxHashSet<DeclKey>,
    /// Whether memory is asked for.
    pub asks_memory: bool,
    /// By unit: the types that the results of calls become pointers to.
    pub types_of_results: Vec<FxHashMap<ExprId, TypeId>>,
    /// Functions that give memory whose type their callers know.
    pub wrappers: BTreeSet<DeclKey>,
    /// Functions whose addresses are used as values.
    pub pointed: BTreeSet<DeclKey>,
    /// Functions that call through pointers.
    pub calls_pointed: FxHashSet<DeclKey>,
    /// Whether a thread begins with what a pointer leads to.
    pub starts_pointed: bool,
    /// Who calls whom.
    pub calls: FxHashMap<DeclKey, Vec<DeclKey>>,
    /// What threads begin with.
    pub routines: FxHashSet<DeclKey>,
    /// The functions that a thread can be in.
    pub in_threads: FxHashSet<DeclKey>,
    /// What integers are, and arrays of them.
    pub roles: FxHashMap<Owner, Role>,
    /// Objects and members of structures that are named in functions that a thread can be in.
    pub named_by_threads: FxHashSet<Owner>,
    /// The kinds that attributes of mutexes are set to.
    pub attribute_kinds: Values,
    /// The mutexes that are made with attributes, and these.
    pub with_attributes: Vec<(Owner, Owner, Place)>,
    /// The kinds of mutexes of C11.
    pub kinds: Values,
    /// The numbers of threads of barriers.
    pub barriers: Values,
    /// First values of semaphores.
    pub semaphores: Values,
    /// Whether some thread waits at a barrier.
    pub waits_at_barrier: bool,
    /// What each thread has of its own and functions use, themselves or by what they call.
    pub own: FxHashMap<DeclKey, BTreeSet<Own>>,
    /// Keys, by the variables that hold them.
    pub keys: BTreeMap<DeclKey, Key>,
    /// Functions that are called once by that name.
    pub once: FxHashSet<DeclKey>,
    /// Functions that end their thread.
    pub ends_thread: FxHashSet<DeclKey>,
    pub problems: Vec<Obstacle>,
}
