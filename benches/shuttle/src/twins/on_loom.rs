//! The programs under loom.

pub mod sync {
    pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
    pub use loom::thread::{spawn, yield_now};
}

#[path = "programs.rs"]
pub mod programs;
