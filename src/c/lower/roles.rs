//! Roles: what the functions of the library take their arguments for.
//!
//! In: the name of a function. Out: which of its arguments lead to synchronisation objects and handles, and of what kind.

use cssame_ir::LeafKind;

/// What an object is for the functions that are called with its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A mutex or a spin lock.
    Lock,
    /// A readers-writer lock.
    RwLock,
    /// A condition.
    Condition,
    /// A barrier.
    Barrier,
    /// A semaphore.
    Semaphore,
    /// The handle of a thread.
    Handle,
    /// Attributes: known before the program runs, and nothing in memory.
    Attribute,
}

impl Role {
    /// The kind of leaf that an object of the role is, where it is one of its own.
    pub fn leaf(self) -> Option<LeafKind> {
        Some(match self {
            Role::Lock => LeafKind::Lock,
            Role::RwLock => LeafKind::RwLock,
            Role::Condition => LeafKind::Condition,
            Role::Barrier => LeafKind::Barrier(0),
            Role::Semaphore => LeafKind::Semaphore,
            Role::Handle | Role::Attribute => return None,
        })
    }
}

/// Names without what tells the operations of one kind apart, the longer ones first.
const PREFIXES: &[(&str, Role)] = &[
    ("pthread_mutexattr_", Role::Attribute),
    ("pthread_mutex_", Role::Lock),
    ("pthread_spin_", Role::Lock),
    ("pthread_rwlockattr_", Role::Attribute),
    ("pthread_rwlock_", Role::RwLock),
    ("pthread_condattr_", Role::Attribute),
    ("pthread_cond_", Role::Condition),
    ("pthread_barrierattr_", Role::Attribute),
    ("pthread_barrier_", Role::Barrier),
    ("pthread_attr_", Role::Attribute),
    ("sem_", Role::Semaphore),
    ("mtx_", Role::Lock),
    ("cnd_", Role::Condition),
];

/// The roles of the arguments of a function, by their numbers.
pub fn roles(name: &str) -> Vec<(usize, Role)> {
    let mut roles: Vec<(usize, Role)> = match name {
        "pthread_create" => vec![(0, Role::Handle), (1, Role::Attribute)],
        "thrd_create" => vec![(0, Role::Handle)],
        "sem_open" | "sem_close" | "sem_unlink" => vec![],
        _ => {
            let found = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix));
            found.map(|&(_, role)| (0, role)).into_iter().collect()
        }
    };
    match name {
        "pthread_mutex_init" | "pthread_rwlock_init" | "pthread_cond_init" | "pthread_barrier_init" => {
            roles.push((1, Role::Attribute));
        }
        "pthread_cond_wait" | "pthread_cond_timedwait" | "cnd_wait" | "cnd_timedwait" => roles.push((1, Role::Lock)),
        _ => {}
    }
    roles
}
