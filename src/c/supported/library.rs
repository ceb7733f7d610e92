//! The functions that are known by name, whatever header they come from.
//!
//! POSIX threads, C11 threads, atomic operations and the parts of the C library that programs with threads use, as the
//! specification of C programs lists them; further the names that verification tasks use. A function with a body is what its body
//! says, but for those that [`is_meant_despite_body`] lists.

use super::reason::Reason;

/// What a known function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It does what the standard says.
    Meant,
    /// It takes a function, which it calls, or a thread will.
    TakesFunction,
    /// It does nothing that matters to threads.
    Nothing,
    /// The program has failed.
    Failure,
    /// The execution does not count if the argument is zero.
    Assumption,
    /// A value of which nothing is known.
    Choice,
    /// A section that excludes all others begins or ends.
    Section,
    /// It prints its arguments by a format: that argument is the format.
    Prints(usize),
    /// It is written in C ([`crate::library`]), and linked.
    Linked,
    /// It comes later.
    Later(Later),
}

/// Why a known function is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Later {
    /// Heap.
    Heap,
    /// Strings.
    Strings,
}

impl Later {
    /// The reason to give.
    #[must_use]
    pub fn reason(self) -> Reason {
        match self {
            Later::Heap => Reason::HeapAllocation,
            Later::Strings => Reason::StringFunction,
        }
    }
}

/// Known names by what they are.
const FUNCTIONS: &[(Known, &str)] = &[
    (
        Known::TakesFunction,
        "pthread_create thrd_create pthread_once call_once pthread_key_create tss_create atexit \
         __pthread_cleanup_push pthread_cleanup_push",
    ),
    (
        Known::Meant,
        "pthread_join pthread_detach pthread_exit pthread_self pthread_equal pthread_cancel pthread_testcancel \
         pthread_setcancelstate pthread_setcanceltype __pthread_cleanup_pop pthread_cleanup_pop \
         pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock \
         pthread_mutex_unlock pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype \
         pthread_mutexattr_gettype pthread_mutexattr_setpshared \
         pthread_cond_init pthread_cond_destroy pthread_cond_wait pthread_cond_timedwait pthread_cond_signal \
         pthread_cond_broadcast pthread_condattr_init pthread_condattr_destroy pthread_condattr_setclock \
         pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_rdlock pthread_rwlock_wrlock \
         pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock \
         pthread_rwlock_unlock pthread_rwlockattr_init pthread_rwlockattr_destroy \
         pthread_barrier_init pthread_barrier_destroy pthread_barrier_wait pthread_barrierattr_init \
         pthread_barrierattr_destroy pthread_spin_init pthread_spin_destroy pthread_spin_lock pthread_spin_trylock \
         pthread_spin_unlock pthread_key_delete pthread_getspecific pthread_setspecific \
         pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_getdetachstate \
         sem_init sem_destroy sem_wait sem_trywait sem_timedwait sem_post sem_getvalue \
         thrd_join thrd_detach thrd_exit thrd_current thrd_equal mtx_init mtx_destroy mtx_lock mtx_trylock \
         mtx_timedlock mtx_unlock cnd_init cnd_destroy cnd_wait cnd_timedwait cnd_signal cnd_broadcast \
         tss_delete tss_get tss_set malloc calloc aligned_alloc valloc free cfree \
         abs labs llabs ffs ffsl ffsll exit _Exit _exit quick_exit err errx __errno_location",
    ),
    (
        Known::Nothing,
        "sleep usleep nanosleep clock_nanosleep thrd_sleep sched_yield pthread_yield thrd_yield fflush srand srandom \
         srand48 __builtin_ia32_pause _mm_pause __yield prctl perror warn warnx setbuf setvbuf __ESBMC_yield \
         pthread_attr_setscope pthread_attr_setstacksize \
         pthread_attr_setschedpolicy pthread_attr_setinheritsched pthread_attr_setguardsize \
         pthread_attr_setschedparam pthread_setconcurrency pthread_setname_np pthread_setaffinity_np",
    ),
    (Known::Failure, "abort __assert_fail reach_error __VERIFIER_error"),
    (Known::Failure, "assert __assert __VERIFIER_assert __ESBMC_assert"),
    (
        Known::Assumption,
        "assume assume_abort_if_not __VERIFIER_assume __ESBMC_assume __CPROVER_assume __builtin_assume",
    ),
    (
        Known::Choice,
        "rand rand_r random lrand48 getenv time clock gettimeofday clock_gettime getpid scanf sscanf fscanf getchar",
    ),
    (Known::Section, "__VERIFIER_atomic_begin __VERIFIER_atomic_end __ESBMC_atomic_begin __ESBMC_atomic_end"),
    (Known::Prints(0), "printf"),
    (Known::Prints(1), "fprintf"),
    (Known::Meant, "puts putchar fputs fputc putc"),
    (Known::Meant, "memset memcpy memmove bzero bcopy"),
    (Known::Later(Later::Heap), "realloc posix_memalign"),
    (Known::Later(Later::Strings), "snprintf sprintf"),
];

/// What a function of that name is, if it is known.
#[must_use]
pub fn known(name: &str) -> Option<Known> {
    if name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_") {
        return Some(Known::Choice);
    }
    if crate::library::defines(name) {
        return Some(Known::Linked);
    }
    let found = FUNCTIONS.iter().find(|(_, names)| names.split_ascii_whitespace().any(|known| known == name));
    found.map(|(known, _)| *known)
}

/// Whether the name says what the function does even where the program gives it a body.
#[must_use]
pub fn is_meant_despite_body(name: &str) -> bool {
    let is_named = matches!(known(name), Some(Known::Failure | Known::Assumption | Known::Section));
    let is_choice = name.starts_with("__VERIFIER_nondet_");
    (is_named && !matches!(name, "abort" | "assume" | "assert")) || is_choice
}

/// Objects of the library that a program may name without defining them.
#[must_use]
pub fn is_known_object(name: &str) -> bool {
    matches!(name, "errno" | "stdin" | "stdout" | "stderr")
}

/// All names, for a list.
pub fn names() -> impl Iterator<Item = (&'static str, Known)> {
    FUNCTIONS.iter().flat_map(|(known, names)| names.split_ascii_whitespace().map(move |name| (name, *known)))
}
