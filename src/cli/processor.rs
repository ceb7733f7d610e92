//! The processor time of the process.
//!
//! **Input**: the clock of the system. **Output**: the total time of all threads.
//!
//! **Soundness and limits**: if the system has no such clock, it is the time since the first query.

use std::time::Duration;

/// The processor time so far.
#[cfg(unix)]
pub(super) fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The time since the first call.
#[cfg(not(unix))]
pub(super) fn processor_time() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let before = processor_time();
        assert!((0..100_000_000).any(|_| processor_time() > before));
    }
}
