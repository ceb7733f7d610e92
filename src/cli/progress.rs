//! What happens while a search runs: the progress bar, and Ctrl-C.

use super::output::Output;
use crate::explore::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the bar is drawn anew.
const TICK: Duration = Duration::from_millis(120);

/// Watches one search. The bar vanishes with it.
#[derive(Debug)]
pub struct Monitor {
    bar: Option<ProgressBar>,
    interrupt: Arc<AtomicBool>,
}

impl Monitor {
    /// Shows a bar on a terminal, and from now on takes Ctrl-C as the wish to stop with what is known. A second Ctrl-C
    /// ends the process.
    #[must_use]
    pub fn start(output: &Output) -> Monitor {
        let interrupt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupt);
        // Where no handler can be set, Ctrl-C ends the process, as it does anywhere.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                exit_interrupted();
            }
        });
        Monitor { bar: output.shows_progress().then(bar), interrupt }
    }

    /// The flag that Ctrl-C sets.
    #[must_use]
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }

    /// Shows how far the search has come.
    pub fn update(&self, progress: &Progress) -> ControlFlow<()> {
        if let Some(bar) = &self.bar {
            let Progress { states, waiting, depth, executions, .. } = progress;
            bar.set_message(format!("{states} states, {waiting} waiting, {depth} steps deep, {executions} executions"));
        }
        if self.interrupt.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
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
