//! The time limit of a command before its search checks the time.
//!
//! **Input**: the bound on time. **Output**: the time that is left when a search begins. From then on the search checks the clock
//! itself ([`Budget`](cssame_budget::Budget)) and ends with its partial result. If the time is up before that, nothing is known:
//! the process ends with a message and the status of a bound.
//!
//! **Soundness and limits**: the work of a command after its search, and parts of a search that do not check the clock, may take
//! longer.

use super::status::Status;
use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Counts from when it is made.
#[derive(Debug)]
pub struct Deadline {
    began: Instant,
    /// Its end tells the watch that a search has begun.
    watch: Mutex<Option<Sender<()>>>,
}

impl Deadline {
    /// Nothing ends the process.
    #[must_use]
    pub fn none() -> Deadline {
        Deadline { began: Instant::now(), watch: Mutex::new(None) }
    }

    /// The process ends after that time, unless a search has begun.
    #[must_use]
    pub fn after(timeout: Option<Duration>) -> Deadline {
        let watch = timeout.and_then(|timeout| {
            let (sender, receiver) = mpsc::channel();
            let watch = move || {
                if receiver.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
                    end(timeout);
                }
            };
            // Without a thread for it nothing is seen.
            thread::Builder::new().name("deadline".to_owned()).spawn(watch).ok()?;
            Some(sender)
        });
        Deadline { watch: Mutex::new(watch), ..Deadline::none() }
    }

    /// From now on a search looks at the clock.
    pub(super) fn search_begins(&self) {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The time so far.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// What is left of a bound on time.
    pub(super) fn left(&self, timeout: Duration) -> Duration {
        timeout.saturating_sub(self.began.elapsed())
    }
}

#[expect(clippy::exit, reason = "what is done before a search does not look at the clock")]
fn end(timeout: Duration) {
    let seconds = timeout.as_secs_f64();
    let text = format!(
        "error: the {seconds} seconds of `--timeout` were over before the program was compiled\n  \
         = help: raise it, or ask about a smaller program\n"
    );
    // There is no better place to complain about a broken standard error.
    let _ = io::stderr().write_all(text.as_bytes());
    std::process::exit(Status::Undecided.code().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_no_more_than_all() {
        let hour = Duration::from_secs(3600);
        for deadline in [Deadline::none(), Deadline::after(None), Deadline::after(Some(hour))] {
            deadline.search_begins();
            let left = deadline.left(hour);
            assert!(left <= hour && deadline.left(hour) <= left && left > Duration::ZERO);
            assert_eq!(deadline.left(Duration::ZERO), Duration::ZERO);
        }
    }
}
