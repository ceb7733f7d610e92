//! Watches how much memory the system has given to the process.
//!
//! **Input**: `/proc/self/statm`. **Output**: a counter that the [`Budget`](crate::budget::Budget) compares with the bound, beside
//! that of the allocator.
//!
//! **Algorithm**: a thread of its own reads the file some two hundred times a second. An allocator cannot use every gap between its
//! blocks again, so the process may have a quarter more than what was given out.
//!
//! **Soundness and limits**: where there is no such file the counter stays 0. What is taken between two readings is seen late.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two readings.
const PAUSE: Duration = Duration::from_millis(5);

/// Bytes of a page where the system uses the usual ones; larger pages are seen as less, and never stop anything too early.
const PAGE: u64 = 4096;

/// Watches until it is dropped.
#[derive(Debug)]
pub(super) struct ResidentWatch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ResidentWatch {
    /// Begins to watch; without a thread for it nothing is seen.
    pub(super) fn start(counter: &'static AtomicU64) -> ResidentWatch {
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let watch = move || {
            while !is_over.load(Ordering::Relaxed)
                && let Some(bytes) = resident()
            {
                counter.store(bytes, Ordering::Relaxed);
                thread::park_timeout(PAUSE);
            }
        };
        let thread = thread::Builder::new().name("memory".to_owned()).spawn(watch).ok();
        ResidentWatch { over, thread }
    }
}

impl Drop for ResidentWatch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It does nothing that could fail.
            let _ = thread.join();
        }
    }
}

/// The bytes of memory that the process has now.
fn resident() -> Option<u64> {
    of_statm(&fs::read_to_string("/proc/self/statm").ok()?)
}

fn of_statm(statm: &str) -> Option<u64> {
    statm.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_counts_pages() {
        assert_eq!(of_statm("3000 25 7 1 0 40 0\n"), Some(25 * 4096));
        assert_eq!((of_statm("3000"), of_statm(""), of_statm("a b c")), (None, None, None));
    }

    #[test]
    fn a_watch_counts_and_ends_at_once() {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let watch = ResidentWatch::start(&COUNTER);
        while resident().is_some() && COUNTER.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        drop(watch);
        assert_eq!(COUNTER.load(Ordering::Relaxed) > 0, resident().is_some());
        for _ in 0..100 {
            drop(ResidentWatch::start(&COUNTER));
        }
    }
}
