//! Watches how much memory the system has given to the process.
//!
//! **Input**: `/proc/self/statm`, and `/proc/self/status`. **Output**: the number of bytes, and the maximum so far, on request;
//! and from time to time for an observer.
//!
//! **Algorithm**: a separate thread reads the file about two hundred times a second. An allocator cannot reuse every gap between
//! its blocks, so the process may have a quarter more than what was allocated.
//!
//! **Soundness and limits**: if there is no such file, nothing is reported. An allocation between two readings is seen late. The
//! allocator sees it only if it asks itself.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    pub(super) fn start(note: fn(u64)) -> ResidentWatch {
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let watch = move || {
            while !is_over.load(Ordering::Relaxed)
                && let Some(bytes) = resident()
            {
                note(bytes);
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

/// The bytes of memory that the process has now. It takes no memory to find them.
pub(super) fn resident() -> Option<u64> {
    let mut line = [0; 200];
    let length = File::open("/proc/self/statm").ok()?.read(&mut line).ok()?;
    of_statm(str::from_utf8(line.get(..length)?).ok()?)
}

fn of_statm(statm: &str) -> Option<u64> {
    statm.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(PAGE)
}

/// The most bytes of memory that the process has had.
pub(super) fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    of_status(&status)
}

fn of_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn the_second_number_counts_pages() {
        assert_eq!(of_statm("3000 25 7 1 0 40 0\n"), Some(25 * 4096));
        assert_eq!((of_status("VmPeak:\t 9 kB\nVmHWM:\t    12 kB\n"), of_status("")), (Some(12 << 10), None));
        assert_eq!((of_statm("3000"), of_statm(""), of_statm("a b c")), (None, None, None));
    }

    #[test]
    fn a_watch_counts_and_ends_at_once() {
        static SEEN: AtomicU64 = AtomicU64::new(0);
        let seen = || SEEN.load(Ordering::Relaxed);
        let note: fn(u64) = |bytes| SEEN.store(bytes, Ordering::Relaxed);
        let watch = ResidentWatch::start(note);
        while resident().is_some() && seen() == 0 {
            thread::yield_now();
        }
        drop(watch);
        assert_eq!(seen() > 0, resident().is_some());
        for _ in 0..100 {
            drop(ResidentWatch::start(note));
        }
    }
}
