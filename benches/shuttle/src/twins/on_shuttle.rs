//! The programs under shuttle.

pub mod sync {
    pub use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};
    pub use shuttle::thread::{spawn, yield_now};
}

#[path = "programs.rs"]
pub mod programs;
