//! The headers that come with the tool.
//!
//! They declare what ISO C and POSIX say, so far as programs with threads use it, and nothing of a system: a bare machine reads
//! the same program as any other. Functions are known by their names, so that a program may declare them itself.
//! Atomic operations are those of the compiler, `__atomic_*`.

/// Each header with its text.
macro_rules! headers {
    ($($name:literal),* $(,)?) => {
        const HEADERS: &[(&str, &str)] = &[$(($name, include_str!($name))),*];
    };
}

headers!(
    "alloca.h",
    "assert.h",
    "ctype.h",
    "err.h",
    "errno.h",
    "fcntl.h",
    "features.h",
    "float.h",
    "genmc.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "linux/futex.h",
    "locale.h",
    "malloc.h",
    "math.h",
    "memory.h",
    "pthread.h",
    "sched.h",
    "semaphore.h",
    "setjmp.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "strings.h",
    "sys/prctl.h",
    "sys/queue.h",
    "sys/stat.h",
    "sys/syscall.h",
    "sys/time.h",
    "sys/types.h",
    "sys/wait.h",
    "syscall.h",
    "threads.h",
    "time.h",
    "unistd.h",
);

/// The text of a header of that name.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of all headers.
pub fn names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|(name, _)| *name)
}
