//! The display during a search: the progress bar, and Ctrl-C; and the last line, which reports the cost of searches.

use super::memory::PROCESS;
use super::options::{BoundOptions, Progress};
use super::output::{Output, note_at_once};
use super::resident::{self, ResidentWatch};
use cssame_budget::{Budget, Statistics};
use indicatif::{BinaryBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the bar is drawn anew.
const TICK: Duration = Duration::from_millis(120);

/// How often a line is written.
const SECOND: Duration = Duration::from_secs(1);

/// What a line of progress begins with.
pub const LINE: &str = "progress: ";

/// Watches one search. The bar vanishes with it.
#[derive(Debug)]
struct Monitor {
    bar: Option<ProgressBar>,
    /// When the last line was written, if lines are wanted.
    line: Option<Mutex<Instant>>,
    interrupt: Arc<AtomicBool>,
    search: Mutex<Search>,
}

/// What was done when it was looked at last.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// By the search that runs now, and when it has begun.
    done: u64,
    began: Instant,
    /// States of this search, and of those before.
    states: u64,
    states_before: u64,
}

/// Does work within the bounds that were asked for. While it runs, a bar is shown, and Ctrl-C ends it with what is known.
pub fn with_budget<T>(bounds: &BoundOptions, output: &Output, work: impl FnOnce(&Budget<'_>) -> T) -> T {
    let mut result = None;
    let mut work = Some(work);
    watched(bounds, output, &mut |budget| result = work.take().map(|work| work(budget)));
    #[expect(clippy::expect_used, reason = "`watched` calls once")]
    result.expect("the work has been done")
}

/// Calls once. It is no part of [`with_budget`] since that is compiled for each kind of work.
fn watched(bounds: &BoundOptions, output: &Output, work: &mut dyn FnMut(&Budget<'_>)) {
    // It holds since the beginning, unless it stands in a configuration that a command reads itself, such as that of a tree.
    if let Some(bytes) = bounds.max_memory {
        PROCESS.bound(bytes);
    }
    // Before there are other threads: so it is the same in each run.
    let given = PROCESS.given();
    let _watch = ResidentWatch::start(|bytes| {
        PROCESS.more(bytes);
    });
    let monitor = Monitor::start(output);
    let show = |now: &Statistics| monitor.update(now);
    work(&bounds.budget(monitor.interrupt(), given, output.deadline()).with_reporter(&show));
    if monitor.bar.is_some() || monitor.line.is_some() {
        let search = *monitor.search.lock().unwrap_or_else(PoisonError::into_inner);
        let states = search.states_before + search.states;
        let line = last_line(output.deadline().elapsed(), states, resident::peak());
        output.set_searched(if monitor.line.is_some() { format!("{LINE}{line}") } else { line });
    }
}

/// What searches have taken. States are told now and then, the last ones are not.
fn last_line(elapsed: Duration, states: u64, peak: Option<u64>) -> String {
    let time = format!("{:.2} s", elapsed.as_secs_f64());
    let states = if states > 0 { format!(", over {} states", HumanCount(states)) } else { String::new() };
    let peak = peak.map_or_else(String::new, |bytes| format!(", {} of memory at most", BinaryBytes(bytes)));
    format!("took {time}{states}{peak}\n")
}

impl Monitor {
    /// Shows a bar on a terminal, and from now on takes Ctrl-C as the wish to stop with what is known. A second Ctrl-C
    /// ends the process.
    fn start(output: &Output) -> Monitor {
        let interrupt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupt);
        // Where no handler can be set, Ctrl-C ends the process, as it does anywhere.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                exit_interrupted();
            }
        });
        let options = output.options();
        let lines = options.progress == Progress::Lines && !options.quiet;
        let line = lines.then(|| Mutex::new(Instant::now()));
        let search = Search { done: 0, began: Instant::now(), states: 0, states_before: 0 };
        let bar = (!lines && output.shows_progress()).then(bar);
        Monitor { bar, line, interrupt, search: Mutex::new(search) }
    }

    /// The flag that Ctrl-C sets.
    fn interrupt(&self) -> &AtomicBool {
        &self.interrupt
    }

    /// Shows how far the search has come.
    fn update(&self, statistics: &Statistics) {
        let done = statistics.states.max(statistics.executions);
        let mut search = self.search.lock().unwrap_or_else(PoisonError::into_inner);
        if done < search.done {
            // Another search has begun.
            search.began = Instant::now();
            search.states_before += search.states;
        }
        (search.done, search.states) = (done, statistics.states);
        if self.bar.is_none() && !self.is_time_for_a_line() {
            return;
        }
        let message = message(statistics, search.began.elapsed());
        match &self.bar {
            Some(bar) => bar.set_message(message),
            None => note_at_once(&format!("{LINE}{message}\n")),
        }
    }

    fn is_time_for_a_line(&self) -> bool {
        self.line.as_ref().is_some_and(|last| {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            let is_time = last.elapsed() >= SECOND;
            if is_time {
                *last = Instant::now();
            }
            is_time
        })
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Executions beyond which a number is of no use.
const MANY: u64 = 1_000_000_000_000;

/// `1,234 of about 5,678 executions, 300,000/s, 17 terms seen`, or the same of states.
fn message(statistics: &Statistics, elapsed: Duration) -> String {
    let Statistics { states, waiting, depth, executions, expected, terms, .. } = *statistics;
    let rate = |count: u64| (count as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
    let seen = if terms > 0 { format!(", {} terms seen", HumanCount(terms)) } else { String::new() };
    if states == 0 {
        let [done, all, rate] = [executions, expected.max(executions), rate(executions)].map(HumanCount);
        // An estimate that is so large says no more than that there are many.
        let all = if expected > MANY { "very many".to_owned() } else { format!("about {all}") };
        return format!("{done} of {all} executions, {rate}/s{seen}");
    }
    let [states, waiting, rate] = [states, waiting, rate(states)].map(HumanCount);
    format!("{states} states, {waiting} waiting, {depth} steps deep, {rate}/s{seen}")
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}

#[expect(clippy::exit, reason = "the search does not react to the first Ctrl-C")]
fn exit_interrupted() {
    // As a shell reports a process that was ended by this signal.
    std::process::exit(130);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_tells_what_was_taken() {
        let time = Duration::from_millis(1_234);
        let line = "took 1.23 s, over 4,096 states, 38.00 MiB of memory at most\n";
        assert_eq!(last_line(time, 4_096, Some(38 << 20)), line);
        assert_eq!(last_line(time, 0, None), "took 1.23 s\n");
    }

    #[test]
    fn the_line_tells_how_far_it_is() {
        let second = Duration::from_secs(2);
        let states =
            Statistics { states: 4_000, waiting: 12, depth: 7, executions: 3, terms: 5, ..Statistics::default() };
        assert_eq!(message(&states, second), "4,000 states, 12 waiting, 7 steps deep, 2,000/s, 5 terms seen");
        let executions = Statistics { executions: 500, expected: 1_024, ..Statistics::default() };
        assert_eq!(message(&executions, second), "500 of about 1,024 executions, 250/s");
        let many = Statistics { expected: u64::MAX, ..executions };
        assert_eq!(message(&many, second), "500 of very many executions, 250/s");
    }
}
