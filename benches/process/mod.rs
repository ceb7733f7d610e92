//! A process, measured from outside: what it takes of the processor and of memory.
//!
//! In: a command. Out: its output and status, the processor time of all its threads in steps of 10 ms, and the most memory that it
//! has taken. Both are what the system tells in `/proc` (`stat`, `VmHWM`), looked at every millisecond; without a `/proc` they are 0.

use std::fs;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// A process that has ended.
pub struct Measured {
    pub status: ExitStatus,
    #[allow(dead_code, reason = "not every bench reads it")]
    pub output: String,
    /// Processor time.
    #[allow(dead_code, reason = "not every bench reads it")]
    pub seconds: f64,
    /// In MiB.
    pub peak: f64,
}

/// Processor time of a process that runs or has ended and was not waited for, and whether it has ended.
fn time(process: u32) -> Option<(f64, bool)> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some(((ticks(11)? + ticks(12)?) / 100.0, fields.first() == Some(&"Z")))
}

/// Runs a command to its end. The streams but standard output are as the caller has set them.
pub fn measure(command: &mut Command) -> Measured {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program is there");
    let stream = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let status = format!("/proc/{}/status", child.id());
    let (mut seconds, mut peak) = (0.0, 0);
    let status = loop {
        let now = fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        peak = peak.max(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0));
        let mut ended = true;
        if let Some((so_far, over)) = time(child.id()) {
            (seconds, ended) = (so_far, over);
        }
        // Until it is waited for, its times can be read.
        if ended && let Some(status) = child.try_wait().expect("the process can be waited for") {
            break status;
        }
        thread::sleep(Duration::from_millis(1));
    };
    Measured { status, output: reader.join().unwrap_or_default(), seconds, peak: peak as f64 / 1024.0 }
}
